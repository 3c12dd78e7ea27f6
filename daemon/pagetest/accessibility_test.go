package pagetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"pressbox/packaging/check"
)

// screenshots is the folder for screenshots of all that looks is called for; ""
// for none.
var screenshots = os.Getenv("PAGETEST_SHOTS")

// widths are those of a small phone, which is also a screen of 1280 at 400 %, a tablet and a large screen.
var widths = []int64{320, 820, 1920}

// audits are the rules that axe-core checks: WCAG 2.2 AA and best practices; in
// the dark theme only what depends on colors.
var audits = map[string]string{
	"light": `{runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}`,
	"dark":  `{runOnly: ["color-contrast"]}`,
}

// audit returns the violations as texts.
const audit = `axe.run(document, %s).then((r) => r.violations
	.map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ") + " " + n.failureSummary.replace(/\s+/g, " "))
		.join(" | ")))`

// looks checks accessibility in both themes, and that no width needs horizontal
// scrolling.
func (b *tab) looks(name string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.emulate("prefers-color-scheme", scheme)
		b.accessible(name, scheme)
		for _, width := range widths {
			b.fits(name, width)
			if screenshots != "" {
				b.shoot(filepath.Join(screenshots, fmt.Sprintf("%s-%s-%d.png", name, scheme, width)),
					chromedp.FullScreenshot(100))
			}
		}
		b.do(chromedp.EmulateViewport(1280, 800))
	}
	b.emulate("prefers-color-scheme", "light")
}

// accessible checks accessibility in a theme.
func (b *tab) accessible(name, scheme string) {
	b.t.Helper()
	if !b.is(`typeof axe === "object"`) {
		value[bool](b, b.axe+"; true")
	}
	if violations := value[[]string](b, fmt.Sprintf(audit, audits[scheme])); len(violations) > 0 {
		b.t.Errorf("%s, %s:\n%s", name, scheme, strings.Join(violations, "\n"))
	}
}

// fits checks that a width does not need horizontal scrolling.
func (b *tab) fits(name string, width int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, 800))
	if wide := value[int64](b, "document.documentElement.scrollWidth"); wide > width {
		b.t.Errorf("%s is %d wide on a screen of %d", name, wide, width)
	}
}

// emulate sets a media feature.
func (b *tab) emulate(feature, value string) {
	b.t.Helper()
	send(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: feature, Value: value}},
	})
}

// shoot writes a screenshot.
func (b *tab) shoot(name string, screenshot chromedp.Action[[]byte]) {
	b.t.Helper()
	picture := check.Must(chromedp.Run(b.ctx, screenshot))(b.t)
	check.NoError(b.t, os.WriteFile(name, picture, 0o644))
}
