package pagetest_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"

	"pressbox/packaging/check"
)

// The wall display shows the game in progress, the announcements and how to
// join, without a session.
func TestKiosk_gameAndAnnouncements(t *testing.T) {
	wall, anna := beginTwo(t)
	wall.open("/kiosk")
	wall.says(".wall-empty", "field is empty")
	wall.shows(".wall-join .qr path")
	wall.looks("kiosk-empty")
	anna.join("Anna")
	anna.newGame(map[string]string{"opponent": "bot", "innings": "3"})
	anna.handIn("home")
	wall.says(".wall-game", "Anna")
	anna.playTo(`$$(".half").length > 2`)
	anna.settle()
	score := value[string](anna, `$$(".board tbody tr td:nth-last-child(3)").map((e) => e.innerText).join(" ")`)
	const shown = `$$(".wall-game tbody td:nth-last-child(3)").map((e) => e.innerText).join(" ")`
	wall.await(shown+` === %q`, score)
	wall.await(`$$(".wall-now dd").length === 2 && $(".wall-play").innerText`)
	play := value[string](wall, `$(".wall-play").innerText`)
	wall.open("/kiosk") // in mid-game it shows the same
	wall.await(shown+` === %q`, score)
	wall.says(".wall-play", play)
	anna.open("/announcements")
	anna.do(chromedp.SendKeys("#message", "Dinner is ready."), chromedp.Click("main form .primary"))
	wall.says(".wall-air", "Dinner is ready.")
	wall.looks("kiosk")
	id := strings.TrimPrefix(value[string](anna, `json("/api/games").then((g) => g.active[0].id)`), "/")
	if status := anna.status("POST", "/api/games/"+id+"/concede"); status != 200 {
		t.Fatalf("concede: status %d", status)
	}
	wall.says(".wall-final", "Conceded") // and stays
	wall.says(".wall-play", "concedes")
	wall.open("/kiosk")
	wall.says(".wall-final", "Conceded")
}

// scan reads the QR code in a screenshot of an element. It tries again as a camera does: the picture may be
// taken while the page is drawn again.
func (b *tab) scan(selector string) string {
	b.t.Helper()
	var err error
	for range 5 {
		// a camera has more pixels than the screen
		picture := check.Must(chromedp.Run(b.ctx, chromedp.ScreenshotScale(selector, 3)))(b.t)
		decoded := check.Must(png.Decode(bytes.NewReader(picture)))(b.t)
		bitmap := check.Must(gozxing.NewBinaryBitmapFromImage(decoded))(b.t)
		var code *gozxing.Result
		if code, err = qrcode.NewQRCodeReader().Decode(bitmap, nil); err == nil {
			return code.GetText()
		}
		b.drawn()
	}
	b.t.Fatalf("%s is not a QR code: %v", selector, err)
	return ""
}

// Each QR code contains the address beside it, in both themes and at each
// width: of the game that needs an opponent, and of the page.
func TestQRCodes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b, wall := newTab(t, s), newTab(t, s)
	b.join("Anna")
	id := b.newGame(nil)
	b.shows(".invite .qr path")
	wall.open("/kiosk")
	wall.shows(".wall-join .qr path")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range widths {
			for _, tab := range []*tab{b, wall} {
				tab.emulate("prefers-color-scheme", scheme)
				tab.do(chromedp.EmulateViewport(width, 800))
			}
			if code, link := b.scan(".invite .qr"), value[string](b, `$("#invite").value`); code != link ||
				!strings.HasSuffix(link, "/games/"+id) {
				t.Errorf("%s, width %d: the code of game %s is %q, the link %q", scheme, width, id, code, link)
			}
			if code, link := wall.scan(".wall-join .qr"),
				value[string](wall, `$(".wall-join p").innerText`); code != "http://"+link+"/" {
				t.Errorf("%s, width %d: the code is %q, the link %q", scheme, width, code, link)
			}
		}
	}
}
