package pagetest_test

import (
	"bytes"
	"flag"
	"image/png"
	"os"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"pressbox/packaging/check"
)

var update = flag.Bool("update", false, "renew the pictures of the README")

// The README's pictures: a game in progress, on the page and on the wall
// display. -update renews them after a change of the page.
const (
	picturePage = root + "/packaging/doc/page.png"
	pictureWall = root + "/packaging/doc/wall.png"
	pictureMax  = 200 << 10 // bytes
)

func TestPictures(t *testing.T) {
	t.Parallel()
	if *update {
		renewPictures(t)
	}
	for _, name := range []string{picturePage, pictureWall} {
		file := check.Must(os.ReadFile(name))(t)
		picture, err := png.DecodeConfig(bytes.NewReader(file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if picture.Width != 1280 || picture.Height != 800 || len(file) > pictureMax {
			t.Errorf("%s: %d × %d, %d bytes; want 1280 × 800, at most %d bytes", name, picture.Width, picture.Height,
				len(file), pictureMax)
		}
	}
}

// publicAddress replaces the address of the wall display's QR code.
const publicAddress = `new MutationObserver(() => {
	$('meta[name="pressbox-join"]')?.setAttribute("content", "http://pressbox.local/");
}).observe(document, { childList: true, subtree: true });`

func renewPictures(t *testing.T) {
	t.Helper()
	s := newServer(t)
	b, wall := newTab(t, s), newTab(t, s)
	send(wall, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: publicAddress})
	b.join("Anna")
	b.open("/new")
	b.newGame(map[string]string{"opponent": "bot"})
	b.handIn("home")
	wall.open("/kiosk")
	b.playTo("!" + callout + ` && $$(".half").length > 6 && $$(".base.taken").length > 1 && $(".calls li") &&
		$(".half .scoring")`)
	wall.shows(".wall-now")
	wall.shows(".qr path")
	b.is(`fetch("/api/notify", { method: "POST", headers: { "Content-Type": "application/json" },
		body: '{"message": "Dinner is ready."}' })`)
	wall.says(".wall-air", "Dinner is ready.")
	for name, tab := range map[string]*tab{picturePage: b, pictureWall: wall} {
		tab.emulate("prefers-color-scheme", "light")
		tab.drawn()
		tab.shoot(name, chromedp.CaptureScreenshot())
	}
}
