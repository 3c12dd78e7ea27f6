package openapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"pressbox/daemon/browsertest"
	"pressbox/daemon/web/openapi"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

func TestDocument_validOpenAPI(t *testing.T) {
	t.Parallel()
	text := check.Must(site.OpenAPI("1.2.3"))(t)
	published := check.Must(os.Open("testdata/openapi-3.1.json"))(t)
	defer published.Close()
	webtest.WantValid(t, text, jsonschema.Draft2020, "https://spec.openapis.org/oas/3.1/schema", published)
}

// Every schema is valid and used, every reference resolves, every JSON has a schema, and operation ids are unique.
func TestDocument_references(t *testing.T) {
	t.Parallel()
	text := check.Must(site.OpenAPI("1.2.3"))(t)
	var doc struct {
		Components map[string]map[string]any
	}
	check.NoError(t, json.Unmarshal(text, &doc))
	checker := webtest.NewChecker(t)
	for name := range doc.Components["schemas"] {
		checker.Schema(t, "#/components/schemas/"+name)
	}
	used := map[string]bool{}
	refs := regexp.MustCompile(`"#/components/([A-Za-z]+)/([A-Za-z-]+)"`)
	for _, ref := range refs.FindAllStringSubmatch(string(text), -1) {
		used[ref[1]+"/"+ref[2]] = true
		check.That(t, doc.Components[ref[1]][ref[2]] != nil, "%s does not resolve", ref[0])
	}
	for kind, all := range doc.Components {
		for name := range all {
			check.That(t, kind == "securitySchemes" || used[kind+"/"+name], "%s/%s is unused", kind, name)
		}
	}
	checker.Each(func(op webtest.Operation, method, template string) {
		for status, response := range op.Responses {
			if media, ok := response.Content["application/json"]; ok && media.Schema.Ref == "" {
				t.Errorf("%s %s names no type of the body of %s", method, template, status)
			}
		}
	})
	ids := map[string]string{}
	for path, methods := range checker.Paths {
		for method, op := range methods {
			if other := ids[op.ID]; other != "" || op.ID == "" {
				t.Errorf("operation id %q of %s %s is empty or also that of %s", op.ID, method, path, other)
			}
			ids[op.ID] = method + " " + path
		}
	}
}

func TestDocs_assets(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, path := range []string{"/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js"} {
		plain := r.Do(t, "GET", path, "").Want(200).Text
		gzipped := r.Do(t, "GET", path, "", "Accept-Encoding", "br, gzip").Want(200)
		if gzipped.Header.Get("Content-Encoding") != "gzip" || gzipped.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("GET %s: %v", path, gzipped.Header)
		}
		z := check.Must(gzip.NewReader(gzipped.Body))(t)
		unzipped, err := io.ReadAll(z)
		if err != nil || plain != string(unzipped) || len(plain) < 50_000 {
			t.Errorf("GET %s: %d bytes plain, %d unzipped, %v", path, len(plain), len(unzipped), err)
		}
		tag := gzipped.Header.Get("ETag")
		for etag, want := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, `"x"`: 200} {
			w := r.Do(t, "GET", path, "", "Accept-Encoding", "gzip", "If-None-Match", etag)
			if w.StatusCode != want || (len(w.Text) == 0) != (want == 304) {
				t.Errorf("GET %s with If-None-Match %s: status %d and %d bytes, want %d",
					path, etag, w.StatusCode, len(w.Text), want)
			}
		}
		for _, accept := range []string{"gzip;q=0", "br", "gzip; q=0.000, br", "x-gzip"} {
			w := r.Do(t, "GET", path, "", "Accept-Encoding", accept).Want(200)
			check.That(t, w.Header.Get("Content-Encoding") == "" && len(w.Text) == len(plain),
				"GET %s with Accept-Encoding %s: %v", path, accept, w.Header)
		}
		r.Do(t, "GET", path, "", "Accept-Encoding", "gzip", "Range", "bytes=999999999-").Want(200)
	}
}

// The schema is AsyncAPI's (Apache-2.0), from the npm package @asyncapi/specs 6.11.1.
func TestAsyncAPI_validDocument(t *testing.T) {
	t.Parallel()
	text := check.Must(openapi.AsyncAPI("1.2.3"))(t)
	gzipped := check.Must(os.ReadFile("testdata/asyncapi-3.0.0.json.gz"))(t)
	published := check.Must(gzip.NewReader(bytes.NewReader(gzipped)))(t)
	webtest.WantValid(t, text, jsonschema.Draft7, "http://asyncapi.com/definitions/3.0.0/asyncapi.json", published)
}

// Both documents have the same shared schemas, and /docs links to this one.
func TestAsyncAPI_served(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	got := r.Do(t, "GET", "/asyncapi.json", "").Want(200).Text
	want, err := openapi.AsyncAPI("1.2.3")
	if err != nil || got != string(want) {
		t.Errorf("GET /asyncapi.json differs from AsyncAPI(version), %v", err)
	}
	if page := r.Do(t, "GET", "/docs", "").Text; !strings.Contains(page, `href="/asyncapi.json"`) {
		t.Error("/docs does not link to /asyncapi.json")
	}
	open := check.Must(site.OpenAPI("1.2.3"))(t)
	type document struct {
		Components struct{ Schemas map[string]any }
	}
	var socket, http document
	check.NoError(t, json.Unmarshal([]byte(got), &socket))
	check.NoError(t, json.Unmarshal(open, &http))
	shared := 0
	for name, schema := range socket.Components.Schemas {
		other, ok := http.Components.Schemas[name]
		if !ok {
			continue
		}
		shared++
		a, _ := json.Marshal(schema)
		b, _ := json.Marshal(other)
		check.That(t, bytes.Equal(a, b), "the documents differ in schema %s", name)
	}
	check.That(t, shared >= 10, "the documents share %d schemas", shared)
}

// Swagger UI works in a browser offline and under the Content-Security-Policy, shows each operation once, and can
// create an announcement in each of its forms.
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
	if err := browsertest.Do(ctx, chromedp.Navigate(base+"/docs"), chromedp.WaitVisible(post)); err != nil {
		t.Fatalf("%v; the browser reported %q", err, problems)
	}
	const ids = `[...document.querySelectorAll(".opblock")].map(e => e.id)`
	operations, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](ids))
	check.NoError(t, err)
	err = browsertest.Do(ctx, chromedp.Click(post+".opblock-summary-control"), chromedp.Click(post+".try-out__btn"))
	check.NoError(t, err)
	const media = post + ".opblock-section-request-body .content-type"
	for _, form := range []string{
		"application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
	} {
		check.NoError(t, browsertest.Do(ctx, chromedp.SetValue(media, form)))
		err := browsertest.Do(
			ctx,
			chromedp.Click(post+".execute"),
			chromedp.WaitVisible(post+".live-responses-table"),
		)
		if err != nil {
			t.Fatalf("%s: %v; the browser reported %q", form, err, problems)
		}
		response := check.Must(chromedp.Run(ctx, chromedp.Text(post+".live-responses-table")))(t)
		check.That(t, strings.Contains(response, "202") && strings.Contains(response, "queued"),
			"%s: the response is %s", form, response)
		check.NoError(t, browsertest.Do(ctx, chromedp.Click(post+".btn-clear")))
	}
	documented := 0
	for path, methods := range r.Check.Paths {
		plain, twin := strings.CutPrefix(path, "/api")
		if twin = twin && r.Check.Paths[plain] != nil; !twin {
			documented += len(methods)
		}
	}
	check.That(t, len(operations) == documented,
		"the page shows %d operations, the document has %d: %q", len(operations), documented, operations)
	mu.Lock()
	defer mu.Unlock()
	check.That(t, len(problems) == 0, "the browser reported %q", problems)
}
