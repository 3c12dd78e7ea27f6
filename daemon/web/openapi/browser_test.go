package openapi_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"pressbox/daemon/web/webtest"
)

// The page about the API works in a browser: offline, under our policy, and so
// that something can be announced from it.
func TestDocsInABrowser(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	base := r.ListenTCP(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(10*time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	var mu sync.Mutex
	var complaints []string
	err := chromedp.Listen(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *log.EventEntryAdded:
			if !strings.HasSuffix(e.Entry.URL, "/favicon.ico") {
				complaints = append(complaints, e.Entry.Text+" "+e.Entry.URL)
			}
		case *runtime.EventExceptionThrown:
			complaints = append(complaints, e.ExceptionDetails.Text)
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, base+"/") && !strings.HasPrefix(e.Request.URL, "data:") {
				complaints = append(complaints, "asked "+e.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	const post = "#operations-announcements-createAnnouncement "
	if err := chromedp.Do(ctx, chromedp.Navigate(base+"/docs"), chromedp.WaitVisible(post)); err != nil {
		t.Fatalf("%v; the browser said %q", err, complaints)
	}
	operations, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".opblock")].map(e => e.id)`))
	if err != nil {
		t.Fatal(err)
	}
	err = chromedp.Do(
		ctx,
		chromedp.Click(post+".opblock-summary-control"),
		chromedp.Click(post+".try-out__btn"),
		chromedp.Click(post+".execute"),
		chromedp.WaitVisible(post+".live-responses-table"),
	)
	if err != nil {
		t.Fatalf("%v; the browser said %q", err, complaints)
	}
	answer, err := chromedp.Run(ctx, chromedp.Text(post+".live-responses-table"))
	if err != nil {
		t.Fatal(err)
	}
	documented := 0
	for _, methods := range r.Check.Paths {
		documented += len(methods)
	}
	if len(operations) != documented {
		t.Errorf("the page shows %d operations, the document has %d: %q", len(operations), documented, operations)
	}
	if !strings.Contains(answer, "202") || !strings.Contains(answer, "queued") {
		t.Errorf("executing it showed %s", answer)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(complaints) > 0 {
		t.Errorf("the browser complains: %q", complaints)
	}
}
