// Package browsertest has the options with which tests start a browser.
//
// One law: all tests run the same Chromium, its headless shell, which "make parts" installs. It has no windows;
// Chromium draws those of each tab also when they are not shown, which takes a third of the processor time.
package browsertest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// MaxWait is the time for which a test waits for the browser, which is slow on a busy host.
const MaxWait = 3 * time.Minute

// Do runs steps one after another. One that fails because the page has replaced its element between the look for it and
// its use had no effect, and is repeated.
func Do(ctx context.Context, steps ...chromedp.Action[chromedp.Void]) error {
	for _, step := range steps {
		err := chromedp.Do(ctx, step)
		for err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "Could not find node with given id") {
			err = chromedp.Do(ctx, step)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Options returns the options of a browser, with further ones.
func Options(further ...chromedp.ExecAllocatorOption) []chromedp.ExecAllocatorOption {
	return slices.Concat(chromedp.DefaultExecAllocatorOptions[:], []chromedp.ExecAllocatorOption{
		chromedp.ExecPath("chromium-headless-shell"), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(MaxWait),
	}, further)
}
