package pagetest_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"pressbox/daemon/browsertest"
	"pressbox/daemon/lantest"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

// attack is a page of another site that makes the browser send whatever it sends without
// the permission of the server. %[1]s is the server's URL.
const attack = `<!doctype html><meta name="referrer" content="no-referrer"><title>x</title>
<link rel="prefetch" href="%[1]s/ntfy/prefetch/publish?message=x">
<img src="%[1]s/ntfy/image/publish?message=x" referrerpolicy="no-referrer">
<img src="%[1]s/notify/publish?message=x"><img src="%[1]s/notify?message=x">
<iframe name="frame"></iframe>
<form id="text" method="post" enctype="text/plain" action="%[1]s/ntfy/form" target="frame">
<input name="message" value="x"></form>
<a id="link" rel="noreferrer" href="%[1]s/ntfy/link/publish?message=x">x</a>
<script>
const send = (path, body) => fetch("%[1]s" + path,
	{method: "POST", mode: "no-cors", referrerPolicy: "no-referrer", body})
const form = new FormData()
form.set("message", "x")
Promise.allSettled([
  send("/notify", "x"), send("/notify", new Blob(['{"message": "x"}'])), send("/ntfy/text", "x"),
	send("/message", form),
  send("/", '{"message": "x"}'), send("/notify", new URLSearchParams({message: "x"})),
	fetch("%[1]s/ntfy/get/publish?message=x", {mode: "no-cors"}),
]).then(() => {
  navigator.sendBeacon("%[1]s/ntfy/beacon", "x")
  document.getElementById("text").submit()
})
</script>`

// A page of another site, on a private address over plain http, where browsers send no
// Sec-Fetch-Site: neither an image without a referrer, a link, a prefetch, a form nor a
// fetch queues anything, although the address of the browser may announce.
func TestOtherSite_speaksNothing(t *testing.T) {
	if !lantest.Inside(t) {
		return
	}
	p := servertest.Run(t, servertest.Silent, "HOST="+lantest.Address, "LOG_LEVEL=DEBUG", "WYOMING=off")
	ln := check.Must(new(net.ListenConfig).Listen(t.Context(), "tcp", lantest.Address+":0"))(t)
	other := &httptest.Server{
		Listener: ln,
		Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = fmt.Fprintf(w, attack, p.URL)
		})},
	}
	other.Start()
	t.Cleanup(other.Close)

	options := browsertest.Options(chromedp.Flag("host-resolver-rules", "MAP other.example "+lantest.Address))
	allocator, free := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(free)
	browser, quit := chromedp.NewContext(allocator)
	t.Cleanup(quit)
	check.NoError(t, chromedp.Do(browser)) // starts it
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	check.NoError(t, chromedp.Do(browser, chromedp.Navigate("http://other.example:"+port+"/")))
	arrived := func(paths ...string) {
		t.Helper()
		for _, path := range paths {
			check.That(t, p.AwaitLog("path="+path+" "), "the browser did not request %s", path)
		}
	}
	arrived("/ntfy/image/publish", "/ntfy/get/publish", "/notify/publish", "/notify", "/ntfy/text", "/message", "/",
		"/ntfy/form", "/ntfy/beacon", "/ntfy/prefetch/publish")
	check.NoError(t, chromedp.Do(browser, chromedp.Click("#link")))
	arrived("/ntfy/link/publish")

	req := check.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+"/notify", nil))(t)
	resp := check.Must(http.DefaultClient.Do(req))(t)
	defer func() { _ = resp.Body.Close() }()
	list := make([]byte, 200)
	n, _ := resp.Body.Read(list)
	check.Equal(t, strings.TrimSpace(string(list[:n])),
		`{"queue":[],"recent":[],"scheduled":[]}`, "what a page of another site announced")
	if log := p.Logged(); strings.Contains(log, "announcement accepted") || strings.Contains(log, "message=x") {
		t.Errorf("the log: %s", log)
	}
	check.NoError(t, p.End(syscall.SIGTERM))
}
