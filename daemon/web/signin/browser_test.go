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

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"pressbox/auth"
	"pressbox/daemon/browsertest"
	"pressbox/daemon/lantest"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// lanName is a name of the local network.
const lanName = "pressbox.home.arpa"

// serveAt serves handler on http or https at [lantest.Address] and returns the origin with the name host.
func serveAt(t *testing.T, scheme, host string, handler http.Handler) (origin string) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	check.NoError(t, server.Listener.Close())
	var err error
	server.Listener = check.Must(net.Listen("tcp", lantest.Address+":0"))(t)
	if scheme == "https" {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	check.NoError(t, err)
	return scheme + "://" + net.JoinHostPort(host, port)
}

// pageOf returns a handler that serves one page.
func pageOf(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, text)
	})
}

// A tab is a tab of Chromium.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func newTab(t *testing.T) *tab {
	t.Helper()
	options := browsertest.Options(
		chromedp.Flag("host-resolver-rules", "MAP "+lanName+" "+lantest.Address),
		chromedp.Flag("ignore-certificate-errors", true))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // starts the browser; without a deadline, which would end it
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, browsertest.MaxWait)
	t.Cleanup(cancel)
	return &tab{t, ctx}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	check.NoError(b.t, browsertest.Do(b.ctx, actions...))
}

// signUp creates an account through the server's page and waits for the element wait.
func (b *tab) signUp(origin, name, wait string) {
	b.t.Helper()
	b.do(
		chromedp.Navigate(origin),
		chromedp.Click(`main a[href^="/api/auth/idp/login"]`),
		chromedp.WaitVisible("#new-passphrase"),
		chromedp.SendKeys("#new-name", name),
		chromedp.SendKeys("#new-passphrase", webtest.Passphrase+"\r"),
		chromedp.WaitVisible(wait),
	)
}

// fetch sends a request from a script in the page and returns the status, or
// "blocked" if the script cannot read the response.
func (b *tab) fetch(method, address string) string {
	b.t.Helper()
	script := fmt.Sprintf(`fetch(%q, {method: %q, credentials: "include"}).then(r => "" + r.status, () => "blocked")`,
		address, method)
	return check.Must(chromedp.Run(b.ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise)))(b.t)
}

// cookies returns name, path, Secure and HttpOnly of the cookies for the addresses.
func (b *tab) cookies(addresses ...string) string {
	b.t.Helper()
	result := check.Must(chromedp.Run(b.ctx, func(ctx context.Context,
		t *chromedp.Target,
	) (network.GetCookiesResult, error) {
		return chromedp.Call(ctx, network.GetCookies, network.GetCookiesParams{URLs: addresses})
	}))(b.t)
	var all []string
	for _, c := range result.Cookies {
		all = append(all, fmt.Sprintf("%s %s %v %v", c.Name, c.Path, c.Secure, c.HTTPOnly))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

const home = `header a[href="/account"]`

// A recorder records the cookies and the origin of requests.
type recorder struct {
	http.Handler

	mu   sync.Mutex        // guards sent
	sent map[string]string // method and path → names of cookies, and Sec-Fetch-Site
}

func (w *recorder) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
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

// want fails the test unless the request had these cookies and this Sec-Fetch-Site.
func (w *recorder) want(t *testing.T, request, site string, cookies ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	check.Equal(t, w.sent[request], fmt.Sprintf("%q %q", cookies, site), "%s", request)
}

// On http and https a browser signs in under the pages' policy, stores the cookies with their names, sends each to its
// path and hides them from scripts. On plain http it sends no Sec-Fetch-Site and may still change data.
func TestBrowser_cookies(t *testing.T) {
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
			seen := &recorder{Handler: h.Handler(), sent: map[string]string{}}
			origin := serveAt(t, tt.scheme, tt.host, seen)
			b := newTab(t)
			b.signUp(origin, "Anna", home)
			access, refresh, page := tt.prefix+"pressbox_access",
				tt.prefix+"pressbox_refresh", tt.prefix+"pressbox_session"
			want := fmt.Sprintf("%s /api %[4]v true; %[2]s /api/auth %[4]v true; %[3]s / %[4]v true",
				access, refresh, page, secure)
			check.Equal(t, b.cookies(origin+"/api/auth/me"), want, "cookies")
			script, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.cookie"))
			check.That(t, err == nil && script == "", "a script sees %q, %v", script, err)
			for _, step := range []struct{ method, path, want string }{
				{"GET", "/api/ws", "404"},
				{"GET", "/socket.io/", "404"},
				{"GET", "/api/auth/me", "200"},
				{"POST", "/api/auth/refresh", "200"},
				{"GET", "/api/auth/sessions", "200"},
				{"POST", "/api/auth/logout", "204"},
			} {
				check.Equal(t, b.fetch(step.method, origin+step.path), step.want, "%s %s", step.method, step.path)
			}
			seen.want(t, "GET /api/ws", tt.site, access, page)
			seen.want(t, "GET /socket.io/", tt.site, page)
			seen.want(t, "POST /api/auth/refresh", tt.site, access, refresh, page)
			check.Equal(t, b.fetch("GET", origin+"/api/auth/me"), "401", "after logging out")
			check.Equal(t, b.cookies(origin+"/api/auth/idp/login"), "", "after logging out: cookies")
		})
	}
}

// The browser drops Secure cookies on plain http, so a page explains the failure.
func TestBrowser_dropsSecureCookies(t *testing.T) {
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
		check.Equal(t, b.cookies(origin), "plain / false false", "cookies of %s", origin)
	}
	h := webtest.NewLocalRig(t, auth.SignUpOpen, func(c *site.Config) { c.SignIn.Secure = true })
	b.do(chromedp.Navigate(serveAt(t, "http", lanName, h.Handler()) + "/api/auth/idp/login"))
	text, err := chromedp.Run(b.ctx, chromedp.Text("main"))
	check.That(t, err == nil && strings.Contains(text, "needs https"),
		"page %q, %v", text, err)
}

// A web client at another port receives the redirect of the form and uses the
// session; a page at a third port cannot, although the browser sends its cookies.
func TestBrowser_otherOrigins(t *testing.T) {
	t.Parallel()
	if !lantest.Inside(t) {
		return
	}
	client := serveAt(t, "http", lanName, pageOf(`<p id="arrived">the client</p>`))
	other := serveAt(t, "http", lanName, pageOf(`<p id="arrived">another page</p>`))
	h := webtest.NewLocalRig(t, auth.SignUpOpen, func(c *site.Config) {
		c.SignIn.Frontend, c.TrustedOrigins = client, []string{client}
	})
	origin := serveAt(t, "http", lanName, h.Handler())
	b := newTab(t)
	b.signUp(origin, "Anna", "#arrived")
	for _, step := range []struct{ from, method, path, want string }{
		{client, "GET", "/api/auth/me", "200"},
		{client, "POST", "/api/auth/refresh", "200"},
		{other, "GET", "/api/auth/me", "blocked"},
		{other, "POST", "/api/auth/logout", "blocked"},
		{other, "DELETE", "/api/auth/me", "blocked"},
		{client, "GET", "/api/auth/me", "200"},
		{client, "DELETE", "/api/auth/me", "204"},
		{client, "GET", "/api/auth/me", "401"},
	} {
		b.do(chromedp.Navigate(step.from), chromedp.WaitVisible("#arrived"))
		check.Equal(t, b.fetch(step.method, origin+step.path),
			step.want, "%s %s from %s", step.method, step.path, step.from)
	}
}
