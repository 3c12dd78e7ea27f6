package signin_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"pressbox/auth"
	"pressbox/daemon/lantest"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

// lanName is a name of the local network.
const lanName = "pressbox.home.arpa"

// serveAt answers at a host, which leads to [lantest.Address], on plain http or
// https, and is its origin.
func serveAt(t *testing.T, scheme, host string, handler http.Handler) (origin string) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if server.Listener, err = net.Listen("tcp", lantest.Address+":0"); err != nil {
		t.Fatal(err)
	}
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
	return scheme + "://" + net.JoinHostPort(host, port)
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
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(10*time.Minute),
		chromedp.Flag("host-resolver-rules", "MAP "+lanName+" "+lantest.Address),
		chromedp.Flag("ignore-certificate-errors", true))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // the first call starts the browser, and must not have a deadline
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(cancel)
	return &tab{t, ctx}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// join makes an account, from the daemon's own page on, and waits until the
// browser arrives where arrived is seen.
func (b *tab) join(origin, name, arrived string) {
	b.t.Helper()
	b.do(
		chromedp.Navigate(origin),
		chromedp.Click(`main a[href^="/api/auth/idp/login"]`),
		chromedp.WaitVisible("#new-passphrase"),
		chromedp.SendKeys("#new-name", name),
		chromedp.SendKeys("#new-passphrase", webtest.Passphrase+"\r"),
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

const home = `header a[href="/account"]`

// A witness writes down what a browser sends.
type witness struct {
	http.Handler

	mu   sync.Mutex
	sent map[string]string // method and path → names of cookies, and Sec-Fetch-Site
}

func (w *witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var names []string
	for _, c := range r.Cookies() {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	w.mu.Lock()
	w.sent[r.Method+" "+r.URL.Path] = fmt.Sprintf("%q %q", names, r.Header.Get("Sec-Fetch-Site"))
	w.mu.Unlock()
	w.Handler.ServeHTTP(rw, r)
}

// saw fails the test unless a request was sent with these cookies, and from
// that kind of site.
func (w *witness) saw(t *testing.T, request, site string, cookies ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if want := fmt.Sprintf("%q %q", cookies, site); w.sent[request] != want {
		t.Errorf("%s came with %s, want %s", request, w.sent[request], want)
	}
}

// On plain http and on https a browser signs in through the page under its
// policy, keeps the cookies under their right names, sends each where it
// belongs, and shows none to a script. On plain http it does not say from what
// kind of site a request comes, and may change things all the same.
func TestBrowserKeepsTheCookies(t *testing.T) {
	t.Parallel()
	if !lantest.Inside(t) {
		return
	}
	for _, tt := range []struct{ scheme, host, prefix, site string }{
		{"http", lantest.Address, "", ""},
		{"http", lanName, "", ""},
		{"https", lanName, "__Secure-", "same-origin"},
	} {
		t.Run(tt.scheme+" "+tt.host, func(t *testing.T) {
			t.Parallel()
			secure := tt.scheme == "https"
			h := webtest.NewLocalRig(t, auth.SignUpOpen, func(c *site.Config) { c.SignIn.Secure = secure })
			seen := &witness{Handler: h.Handler(), sent: map[string]string{}}
			origin := serveAt(t, tt.scheme, tt.host, seen)
			b := newTab(t)
			b.join(origin, "Anna", home)
			access, refresh := tt.prefix+"pressbox_access", tt.prefix+"pressbox_refresh"
			want := fmt.Sprintf("%s /api %v true; %s /api/auth %v true", access, secure, refresh, secure)
			if got := b.cookies(origin + "/api/auth/me"); got != want {
				t.Errorf("cookies %s, want %s", got, want)
			}
			if script, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.cookie")); err != nil || script != "" {
				t.Errorf("a script sees %q, %v", script, err)
			}
			for _, step := range []struct{ method, path, want string }{
				{"GET", "/api/ws", "404"},
				{"GET", "/socket.io/", "404"},
				{"GET", "/api/auth/me", "200"},
				{"POST", "/api/auth/refresh", "200"},
				{"GET", "/api/auth/sessions", "200"},
				{"POST", "/api/auth/logout", "204"},
			} {
				if got := b.fetch(step.method, origin+step.path); got != step.want {
					t.Errorf("%s %s: %s, want %s", step.method, step.path, got, step.want)
				}
			}
			seen.saw(t, "GET /api/ws", tt.site, access)
			seen.saw(t, "GET /socket.io/", tt.site)
			seen.saw(t, "POST /api/auth/refresh", tt.site, access, refresh)
			if got := b.fetch("GET", origin+"/api/auth/me"); got != "401" {
				t.Errorf("after logging out: %s", got)
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
	if !lantest.Inside(t) {
		return
	}
	b := newTab(t)
	setter := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Set-Cookie", "plain=1; Path=/")
		w.Header().Add("Set-Cookie", "secure=1; Path=/; Secure")
		w.Header().Add("Set-Cookie", "__Secure-pressbox_access=1; Path=/; Secure")
	})
	for _, host := range []string{lantest.Address, lanName} {
		origin := serveAt(t, "http", host, setter)
		b.do(chromedp.Navigate(origin))
		if got := b.cookies(origin); got != "plain / false false" {
			t.Errorf("the browser keeps %s of %s", got, origin)
		}
	}
	h := webtest.NewLocalRig(t, auth.SignUpOpen, func(c *site.Config) { c.SignIn.Secure = true })
	b.do(chromedp.Navigate(serveAt(t, "http", lanName, h.Handler()) + "/api/auth/idp/login"))
	if said, err := chromedp.Run(b.ctx, chromedp.Text("main")); err != nil || !strings.Contains(said, auth.CodeInsecureTransport.Description()) {
		t.Errorf("the page says %q, %v", said, err)
	}
}

// F13, D12: a client at another port is reached through the form, and may use
// the session; a page at a third port has the cookies sent along and gets
// nothing by them.
func TestBrowserWithAClientElsewhere(t *testing.T) {
	t.Parallel()
	if !lantest.Inside(t) {
		return
	}
	client := serveAt(t, "http", lanName, pageOf(`<p id="arrived">the client</p>`))
	stranger := serveAt(t, "http", lanName, pageOf(`<p id="arrived">another program of this machine</p>`))
	h := webtest.NewLocalRig(t, auth.SignUpOpen, func(c *site.Config) {
		c.SignIn.Frontend, c.TrustedOrigins = client, []string{client}
	})
	origin := serveAt(t, "http", lanName, h.Handler())
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
