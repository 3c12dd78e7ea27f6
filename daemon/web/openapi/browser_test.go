package openapi_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"pressbox/daemon/browsertest"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// Swagger UI works in a browser offline and under the Content-Security-Policy, and
// can create an announcement.
func TestDocs_inBrowser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	r := webtest.NewRig(t)
	base := r.ListenTCP(t)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), browsertest.Options()...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	var mu sync.Mutex
	var problems []string
	err := chromedp.Listen(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *log.EventEntryAdded:
			if !strings.HasSuffix(e.Entry.URL, "/favicon.ico") {
				problems = append(problems, e.Entry.Text+" "+e.Entry.URL)
			}
		case *runtime.EventExceptionThrown:
			problems = append(problems, e.ExceptionDetails.Text)
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, base+"/") && !strings.HasPrefix(e.Request.URL, "data:") {
				problems = append(problems, "request to "+e.Request.URL)
			}
		}
	})
	check.NoError(t, err)
	ctx, cancel = context.WithTimeout(ctx, browsertest.MaxWait)
	defer cancel()
	const post = "#operations-announcements-createAnnouncement "
	if err := chromedp.Do(ctx, chromedp.Navigate(base+"/docs"), chromedp.WaitVisible(post)); err != nil {
		t.Fatalf("%v; the browser reported %q", err, problems)
	}
	const ids = `[...document.querySelectorAll(".opblock")].map(e => e.id)`
	operations, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](ids))
	check.NoError(t, err)
	err = chromedp.Do(
		ctx,
		chromedp.Click(post+".opblock-summary-control"),
		chromedp.Click(post+".try-out__btn"),
		chromedp.Click(post+".execute"),
		chromedp.WaitVisible(post+".live-responses-table"),
	)
	if err != nil {
		t.Fatalf("%v; the browser reported %q", err, problems)
	}
	response := check.Must(chromedp.Run(ctx, chromedp.Text(post+".live-responses-table")))(t)
	documented := 0
	for _, methods := range r.Check.Paths {
		documented += len(methods)
	}
	if len(operations) != documented {
		t.Errorf("the page shows %d operations, the document has %d: %q", len(operations), documented, operations)
	}
	if !strings.Contains(response, "202") || !strings.Contains(response, "queued") {
		t.Errorf("the response is %s", response)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(problems) > 0 {
		t.Errorf("the browser reported %q", problems)
	}
}
