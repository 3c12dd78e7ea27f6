package pagetest_test

import (
	"encoding/base64"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"pressbox/packaging/check"
)

var contact = flag.String("contact", "", "write contact sheets of every part of the page to this `folder`")

// contactSizes are those of phones, of displays at a Raspberry Pi, of a laptop and of a television;
// the wall display has wallSizes as well.
var (
	contactSizes = [][2]int64{{320, 640}, {360, 740}, {390, 844}, {800, 480}, {1024, 600}, {1280, 800}, {1920, 1080}}
	wallSizes    = [][2]int64{{3840, 2160}}
)

// sheets hold the cells of every part, in HTML, by size of the screen. Each part has one of each theme.
type sheets map[[2]int64]*strings.Builder

// Limits of a figure.
const (
	cellWidth   = 400 // pixels
	cellScreens = 2.5 // heights of the screen
)

// add has every size and theme of what a tab shows.
func (s sheets) add(b *tab, name string) {
	b.t.Helper()
	sizes := contactSizes
	if strings.HasPrefix(name, "wall") {
		sizes = slices.Concat(contactSizes, wallSizes)
	}
	for _, size := range sizes {
		if s[size] == nil {
			s[size] = &strings.Builder{}
		}
		b.do(chromedp.EmulateViewport(size[0], size[1]), chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`))
		for _, scheme := range []string{"light", "dark"} {
			b.emulate("prefers-color-scheme", scheme)
			b.drawn()
			height := min(value[float64](b, "document.documentElement.scrollHeight"), cellScreens*float64(size[1]))
			screen := send(b, page.CaptureScreenshot,
				page.CaptureScreenshotParams{Format: "png", CaptureBeyondViewport: new(true), Clip: &page.Viewport{
					Width: float64(size[0]), Height: height, Scale: min(1, cellWidth/float64(size[0])),
				}})
			fmt.Fprintf(s[size], `<figure><img src="data:image/png;base64,%s"><figcaption>%s</figcaption></figure>`,
				base64.StdEncoding.EncodeToString(screen.Data), name)
		}
	}
	b.do(chromedp.EmulateViewport(1280, 800))
	b.emulate("prefers-color-scheme", "light")
}

// write joins the cells of each size into a picture.
func (s sheets) write(t *testing.T, language string) {
	t.Helper()
	ctx, cancel := chromedp.NewContext(check.Must(rig())(t).browser)
	defer cancel()
	for size, cells := range s {
		name := fmt.Sprintf("%s-%dx%d.png", language, size[0], size[1])
		b := &tab{t: t, ctx: ctx}
		sheet := `<style>body { margin: 0; display: flex; flex-wrap: wrap; gap: 8px;
			background: gray } figure { margin: 0 } figcaption { font: 14px sans-serif }</style>` + cells.String()
		b.do(chromedp.EmulateViewport(8*(cellWidth+8), 800), chromedp.Navigate("about:blank"))
		value[bool](b, `(document.body.innerHTML = `+quote(sheet)+`,
			Promise.all([...document.images].map((i) => i.decode())).then(() => true))`)
		b.shoot(filepath.Join(*contact, name), chromedp.FullScreenshot(100))
	}
}
