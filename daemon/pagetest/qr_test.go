package pagetest_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
)

// photograph reads the QR code that is shown, from its picture, as a telephone
// does.
func (b *tab) photograph(selector string) string {
	b.t.Helper()
	picture, err := chromedp.Run(b.ctx, chromedp.Screenshot(selector))
	if err != nil {
		b.t.Fatal(err)
	}
	shown, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		b.t.Fatal(err)
	}
	seen, err := gozxing.NewBinaryBitmapFromImage(shown)
	if err != nil {
		b.t.Fatal(err)
	}
	read, err := qrcode.NewQRCodeReader().Decode(seen, nil)
	if err != nil {
		b.t.Fatalf("%s is no QR code: %v", selector, err)
	}
	return read.GetText()
}

// The codes lead where the words beside them say: to the game that waits for
// an opponent, and from the wall to the page; by day and by night, on a small
// screen too.
func TestQRCodes(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	b, wall := newTab(t, a), newTab(t, a)
	b.join("Anna")
	id := b.newGame(nil)
	b.await(`document.querySelector(".invite .qr path")`)
	wall.open("/kiosk")
	wall.await(`document.querySelector(".wall-join .qr path")`)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range widths {
			for _, tab := range []*tab{b, wall} {
				tab.emulate("prefers-color-scheme", scheme)
				tab.do(chromedp.EmulateViewport(width, 800))
			}
			if read, link := b.photograph(".invite .qr"), value[string](b, `document.querySelector("#invite").value`); read != link || !strings.HasSuffix(link, "/games/"+id) {
				t.Errorf("%s, %d wide: the code of game %s says %q, the words say %q", scheme, width, id, read, link)
			}
			if read, link := wall.photograph(".wall-join .qr"), value[string](wall, `document.querySelector(".wall-join p").innerText`); read != "http://"+link+"/" {
				t.Errorf("%s, %d wide: the code says %q, the words say %q", scheme, width, read, link)
			}
		}
	}
}
