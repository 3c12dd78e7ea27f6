package pagetest_test

import (
	"testing"

	"github.com/chromedp/cdproto/network"
)

// A page whose style sheet or one of whose modules cannot be loaded is loaded again, until it is whole.
func TestPage_missingFile(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, file := range []string{"style.css", "lit-html.js", "kiosk.js", "lean-qr.js"} {
		b := newTab(t, s)
		b.expect("/page/", "dynamically imported module")
		b.open("/about")
		blocked := []*network.BlockPattern{{URLPattern: "*://*:*/*/" + file, Block: true}}
		send(b, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: blocked})
		b.is(`(location.href = "/kiosk", true)`)
		b.await(`Number(sessionStorage.getItem("pressbox.reloads")) > 1`)
		send(b, network.SetBlockedURLs, network.SetBlockedURLsParams{})
		b.await(`!reloading && $(".wall-join .qr path") && getComputedStyle($(".wall-empty")).display === "grid"`)
	}
}

// A script that an extension of the browser adds is not the page's: without it, the page stays.
func TestPage_missingExtension(t *testing.T) {
	b := begin(t)
	b.expect("extension.example")
	b.open("/about")
	if value[bool](b, `new Promise((done) => {
		const script = Object.assign(document.createElement("script"),
			{ src: "https://extension.example/x.js", onerror: () => done(Boolean(reloading)) });
		document.head.append(script);
	})`) {
		t.Error("the page is loaded again")
	}
}
