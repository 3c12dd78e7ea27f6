package pagetest_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Twelve tabs of one browser receive announcements at once, and fifty full loads in a row
// each finish: with HTTP/1.1 a browser has six connections, which the tabs' streams, or those
// of pages that were left, would use up.
func TestAll_manyTabs(t *testing.T) {
	first := begin(t)
	tabs := []*tab{first}
	for range 11 {
		tabs = append(tabs, first.another())
	}
	for _, b := range tabs {
		b.open("/announcements")
		b.shows(".link-state.on")
	}
	tabs[11].do(chromedp.SendKeys("#message", "Dinner is ready."), chromedp.Click("main form .primary"))
	for _, b := range tabs {
		b.says("main", "Dinner is ready.")
	}
	var slowest time.Duration
	b := first.another()
	for i := range 50 {
		began := time.Now()
		b.open([]string{"/announcements", "/kiosk", "/about", "/"}[i%4])
		b.shows([]string{".link-state.on", ".wall.live", "main h1", ".cover"}[i%4])
		slowest = max(slowest, time.Since(began))
	}
	t.Logf("the slowest load took %v", slowest)
	tabs[0].do(chromedp.Navigate("about:blank")) // the one that opened the stream
	b.open("/announcements")
	b.do(chromedp.SendKeys("#message", "Bedtime."), chromedp.Click("main form .primary"))
	tabs[5].says("main", "Bedtime.")
}
