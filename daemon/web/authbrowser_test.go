package web_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"pressbox/auth"
	"pressbox/daemon/web"
)

// lanName is a name that a browser takes for one of the network, as it does not
// know that it leads to this machine. What browsers do on plain http depends on
// the name alone.
const lanName = "pressbox.home.arpa"

// serveAt answers at lanName, on plain http or https, and is its origin.
func serveAt(t *testing.T, scheme string, handler http.Handler) (origin string) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	if scheme == "https" {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return scheme + "://" + net.JoinHostPort(lanName, port)
}

// pageOf answers every request with a page.
func pageOf(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, text)
	})
}

// A tab is one of a real browser, Chromium.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func newTab(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("host-resolver-rules", "MAP "+lanName+" 127.0.0.1"),
		chromedp.Flag("ignore-certificate-errors", true))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // the first call starts the browser, and must not have a deadline
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(cancel)
	return &tab{t, ctx}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// join makes an account through the page, and waits until the browser arrives
// where arrived is seen.
func (b *tab) join(origin, name, arrived string) {
	b.t.Helper()
	b.do(
		chromedp.Navigate(origin+"/api/auth/idp/login"),
		chromedp.WaitVisible("#new-passphrase"),
		chromedp.SendKeys("#new-name", name),
		chromedp.SendKeys("#new-passphrase", phrase+"\r"),
		chromedp.WaitVisible(arrived),
	)
}

// fetch asks from a script in the page, with cookies, and is the status, or
// "blocked" when the script may not see the answer.
func (b *tab) fetch(method, address string) string {
	b.t.Helper()
	script := fmt.Sprintf(`fetch(%q, {method: %q, credentials: "include"}).then(r => "" + r.status, () => "blocked")`, address, method)
	said, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return said
}

// cookies are what the browser keeps for some addresses: name, path, and
// whether they are for https and hidden from scripts.
func (b *tab) cookies(addresses ...string) string {
	b.t.Helper()
	kept, err := chromedp.Run(b.ctx, func(ctx context.Context, t *chromedp.Target) (network.GetCookiesResult, error) {
		return chromedp.Call(ctx, network.GetCookies, network.GetCookiesParams{URLs: addresses})
	})
	if err != nil {
		b.t.Fatal(err)
	}
	var all []string
	for _, c := range kept.Cookies {
		all = append(all, fmt.Sprintf("%s %s %v %v", c.Name, c.Path, c.Secure, c.HTTPOnly))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

const home = `main a[href="/docs"]`

// On plain http and on https a browser signs in through the page under its
// policy, keeps the cookies under their right names, sends each where it
// belongs, and shows none to a script.
func TestBrowserKeepsTheCookies(t *testing.T) {
	t.Parallel()
	for scheme, prefix := range map[string]string{"http": "", "https": "__Secure-"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			secure := scheme == "https"
			h := newLocalHouse(t, auth.SignUpOpen, func(c *web.Config) { c.SignIn.Secure = secure })
			origin := serveAt(t, scheme, h.Handler())
			b := newTab(t)
			b.join(origin, "Anna", home)
			want := fmt.Sprintf("%spressbox_access /api %v true; %spressbox_refresh /api/auth %v true", prefix, secure, prefix, secure)
			if got := b.cookies(origin + "/api/auth/me"); got != want {
				t.Errorf("cookies %s, want %s", got, want)
			}
			if got, want := b.cookies(origin+"/api/ws"), fmt.Sprintf("%spressbox_access /api %v true", prefix, secure); got != want {
				t.Errorf("cookies for the websocket %s, want %s", got, want)
			}
			if got := b.cookies(origin + "/socket.io/"); got != "" {
				t.Errorf("cookies elsewhere: %s", got)
			}
			if seen, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.cookie")); err != nil || seen != "" {
				t.Errorf("a script sees %q, %v", seen, err)
			}
			for _, step := range []struct{ method, path, want string }{
				{"GET", "/api/auth/me", "200"},
				{"POST", "/api/auth/refresh", "200"},
				{"GET", "/api/auth/sessions", "200"},
				{"POST", "/api/auth/logout", "204"},
				{"GET", "/api/auth/me", "401"},
			} {
				if got := b.fetch(step.method, origin+step.path); got != step.want {
					t.Errorf("%s %s: %s, want %s", step.method, step.path, got, step.want)
				}
			}
			if got := b.cookies(origin + "/api/auth/idp/login"); got != "" {
				t.Errorf("after logging out: cookies %s", got)
			}
		})
	}
}

// B7: cookies for https are dropped on plain http, so a page says so instead.
func TestB7_BrowserDropsSecureCookies(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	setter := serveAt(t, "http", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Set-Cookie", "plain=1; Path=/")
		w.Header().Add("Set-Cookie", "__Secure-pressbox_access=1; Path=/; Secure")
	}))
	b.do(chromedp.Navigate(setter))
	if got := b.cookies(setter); got != "plain / false false" {
		t.Errorf("the browser keeps %s", got)
	}
	h := newLocalHouse(t, auth.SignUpOpen, func(c *web.Config) { c.SignIn.Secure = true })
	b.do(chromedp.Navigate(serveAt(t, "http", h.Handler()) + "/api/auth/idp/login"))
	if said, err := chromedp.Run(b.ctx, chromedp.Text("main")); err != nil || !strings.Contains(said, auth.CodeInsecureTransport.Description()) {
		t.Errorf("the page says %q, %v", said, err)
	}
}

// F13, D12: a client at another port is reached through the form, and may use
// the session; a page at a third port has the cookies sent along and gets
// nothing by them.
func TestBrowserWithAClientElsewhere(t *testing.T) {
	t.Parallel()
	client := serveAt(t, "http", pageOf(`<p id="arrived">the client</p>`))
	stranger := serveAt(t, "http", pageOf(`<p id="arrived">another program of this machine</p>`))
	h := newLocalHouse(t, auth.SignUpOpen, func(c *web.Config) {
		c.SignIn.Frontend, c.TrustedOrigins = client, []string{client}
	})
	origin := serveAt(t, "http", h.Handler())
	b := newTab(t)
	b.join(origin, "Anna", "#arrived")
	for _, step := range []struct{ from, method, path, want string }{
		{client, "GET", "/api/auth/me", "200"},
		{client, "POST", "/api/auth/refresh", "200"},
		{stranger, "GET", "/api/auth/me", "blocked"},
		{stranger, "POST", "/api/auth/logout", "blocked"},
		{stranger, "DELETE", "/api/auth/me", "blocked"},
		{client, "GET", "/api/auth/me", "200"},
		{client, "DELETE", "/api/auth/me", "204"},
		{client, "GET", "/api/auth/me", "401"},
	} {
		b.do(chromedp.Navigate(step.from), chromedp.WaitVisible("#arrived"))
		if got := b.fetch(step.method, origin+step.path); got != step.want {
			t.Errorf("%s %s from %s: %s, want %s", step.method, step.path, step.from, got, step.want)
		}
	}
}
