package pagetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// shots is where screenshots go of all that the tests look at; "" for none.
var shots = os.Getenv("PAGETEST_SHOTS")

// widths are those of a small phone, a tablet and a large screen.
var widths = []int64{360, 820, 1920}

// audits have axe-core look for what WCAG 2.2 AA forbids, and what else it
// knows to be bad practice; in the dark only for what depends on colours.
var audits = map[string]string{
	"light": `{runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}`,
	"dark":  `{runOnly: ["color-contrast"]}`,
}

// audit is what comes of one of them, each violation a text.
const audit = `axe.run(document, %s).then((r) => r.violations
	.map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ") + " " + n.failureSummary.replace(/\s+/g, " ")).join(" | ")))`

// looks holds what is shown against the rules of accessibility, in light and
// dark, and sees that it needs no scrolling to the side at any width.
func (b *tab) looks(name string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.emulate("prefers-color-scheme", scheme)
		if !value[bool](b, `typeof axe === "object"`) {
			value[bool](b, axe+"; true")
		}
		if violations := value[[]string](b, fmt.Sprintf(audit, audits[scheme])); len(violations) > 0 {
			b.t.Errorf("%s, %s:\n%s", name, scheme, strings.Join(violations, "\n"))
		}
		for _, width := range widths {
			b.do(chromedp.EmulateViewport(width, 800))
			if wide := value[int64](b, "document.documentElement.scrollWidth"); wide > width {
				b.t.Errorf("%s is %d wide on a screen of %d", name, wide, width)
			}
			b.shoot(fmt.Sprintf("%s-%s-%d.png", name, scheme, width))
		}
		b.do(chromedp.EmulateViewport(1280, 800))
	}
	b.emulate("prefers-color-scheme", "light")
}

// emulate sets a media feature.
func (b *tab) emulate(feature, is string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: feature, Value: is}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// shoot keeps a screenshot, if somebody wants to see it.
func (b *tab) shoot(name string) {
	b.t.Helper()
	if shots == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shots, name), picture, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
