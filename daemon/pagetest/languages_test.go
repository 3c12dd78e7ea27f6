package pagetest_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/network"
)

// The page is in the language of the browser, until its user selects another.
// What the server says in words is marked as English.
func TestLanguage(t *testing.T) {
	t.Parallel()
	b := newTab(t, newServer(t))
	send(b, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": "de-DE,de;q=0.9"}})
	b.open("/")
	b.says("nav", "Durchsagen")
	b.await(`document.documentElement.lang === "de"`)
	b.looks("german-lobby")
	choose := func(name, heading string) {
		value[bool](b, fmt.Sprintf(`(() => {
			const language = [...document.querySelectorAll("footer select")].at(-1);
			language.value = %q;
			return language.dispatchEvent(new Event("change"));
		})()`, name))
		b.says("nav", heading)
	}
	choose("en", "Announce")
	choose("", "Durchsagen")
}
