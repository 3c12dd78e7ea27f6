// Package pagetest tests the page in Chromium, against the server that serves it.
//
// One law: whatever the browser complains of fails the test that opened the page. That is each error it logs, each
// breach of the Content-Security-Policy and each request to another host.
package pagetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"pressbox/daemon/browsertest"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

const (
	root       = "../.." // of the repository
	passphrase = "four strikes and you are out"
	deadline   = browsertest.MaxWait // for anything that a test waits for
)

// shared holds what all tests use: one browser in which each tab has a context of its
// own, with its own cookies and cache.
type shared struct {
	axe     string // the source of axe-core
	browser context.Context
}

var (
	rig     = sync.OnceValues(newShared)
	cleanup = func() {}
)

func TestMain(m *testing.M) {
	code := servertest.Main(m)
	cleanup()
	os.Exit(code)
}

func newShared() (*shared, error) {
	axe, err := os.ReadFile(filepath.Join(root, ".build/page/node_modules/axe-core/axe.min.js"))
	if err != nil {
		return nil, fmt.Errorf("read axe-core, which \"make parts\" installs: %w", err)
	}
	options := browsertest.Options(
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("autoplay-policy", "no-user-gesture-required"))
	allocator, free := chromedp.NewExecAllocator(context.Background(), options...)
	browser, quit := chromedp.NewContext(allocator)
	cleanup = func() {
		quit()
		free()
	}
	if err := chromedp.Do(browser); err != nil { // the first call starts the browser, and must not have a deadline
		return nil, fmt.Errorf("start the browser: %w", err)
	}
	return &shared{axe: string(axe), browser: browser}, nil
}

// A server has a store of its own and no sound.
type server struct {
	*shared
	*servertest.Process
}

// newServer starts a server that must not log an error.
func newServer(tb testing.TB, settings ...string) *server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("needs Chromium")
	}
	return runServer(tb, servertest.CalibratedDir(tb), settings...)
}

// runServer starts a server in a directory, which must not log an error.
func runServer(tb testing.TB, dir string, settings ...string) *server {
	tb.Helper()
	s := check.Must(rig())(tb)
	p := servertest.RunIn(tb, dir, servertest.Environment(tb, append(settings, servertest.Silent)...))
	tb.Cleanup(func() {
		if err := p.End(syscall.SIGTERM); err != nil || strings.Contains(p.Logged(), "level=ERROR") {
			tb.Errorf("the server ended with %v and logged\n%s", err, p.Logged())
		}
	})
	return &server{s, p}
}

// A tab is the only one of a browser of its own.
type tab struct {
	*server
	t   testing.TB
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	expected   []string // parts of complaints that the test provokes
	requests   int
	paths      []string // requested from the API, with their queries
	bytes      float64  // received, compressed
	dialogs    chan string
}

// newTab opens a tab of 1280 × 800.
func newTab(tb testing.TB, s *server) *tab {
	tb.Helper()
	return s.newTab(s.browser, tb, chromedp.WithNewBrowserContext())
}

// begin starts a parallel test with a server and a tab.
func begin(t *testing.T, settings ...string) *tab {
	t.Helper()
	t.Parallel()
	return newTab(t, newServer(t, settings...))
}

// beginTwo is begin with two tabs, of browsers of their own.
func beginTwo(t *testing.T) (first, second *tab) {
	t.Helper()
	first = begin(t)
	return first, newTab(t, first.server)
}

// another opens another tab of the same browser, with its cookies and its cache.
func (b *tab) another() *tab {
	b.t.Helper()
	return b.newTab(b.ctx, b.t)
}

func (s *server) newTab(browser context.Context, tb testing.TB, options ...chromedp.ContextOption) *tab {
	tb.Helper()
	ctx, cancel := chromedp.NewContext(browser, options...)
	tb.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 10*deadline)
	tb.Cleanup(cancel)
	b := &tab{server: s, t: tb, ctx: ctx, dialogs: make(chan string, 1)}
	b.do(chromedp.EmulateViewport(1280, 800)) //nolint:contextcheck // the tab has its own
	send(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: shorthand})
	check.NoError(tb, chromedp.Listen(ctx, b.receive))
	tb.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		check.That(tb, len(b.complaints) == 0, "the browser complains: %q", b.complaints)
	})
	return b
}

// shorthand gives each document $, its first element of a selector, $$, a list of all, and json, what the API answers.
const shorthand = `
	globalThis.$ = (selector) => document.querySelector(selector);
	globalThis.$$ = (selector) => [...document.querySelectorAll(selector)];
	globalThis.json = (path, options) => fetch(path, options).then((r) => r.json());`

// ofSlowness are parts of complaints about a slow host, not about the page.
var ofSlowness = []string{"preloaded using link preload but not used within a few seconds", "Slow network is detected"}

// receive records requests and complaints. The page asks the API for its
// session, as scripts cannot read the cookies; Chromium logs that 401.
func (b *tab) receive(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	complain := func(text string) {
		for _, part := range slices.Concat(b.expected, ofSlowness) {
			if strings.Contains(text, part) {
				return
			}
		}
		b.complaints = append(b.complaints, text)
	}
	switch e := event.(type) {
	case *log.EventEntryAdded:
		session := strings.HasSuffix(e.Entry.URL, "/api/auth/me") || strings.HasSuffix(e.Entry.URL, "/api/auth/refresh")
		if !session || !strings.Contains(e.Entry.Text, "401") {
			complain(e.Entry.Text + " " + e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		complain(text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			complain(fmt.Sprintf("console: %s", e.Args[0].Value))
		}
	case *page.EventJavascriptDialogOpening:
		b.dialogs <- e.Message
	case *network.EventRequestWillBeSent:
		if strings.HasPrefix(e.Request.URL, "data:") || strings.HasPrefix(e.Request.URL, "blob:") {
			return
		}
		b.requests++
		if path, ok := strings.CutPrefix(e.Request.URL, b.URL+"/"); !ok {
			complain("requested " + e.Request.URL)
		} else if strings.HasPrefix(path, "api/") {
			b.paths = append(b.paths, "/"+path)
		}
	case *network.EventLoadingFinished:
		b.bytes += e.EncodedDataLength
	}
}

// expect allows complaints that contain one of parts.
func (b *tab) expect(parts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, parts...)
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := browsertest.Do(b.ctx, actions...); err != nil {
		b.t.Fatalf("%v\n%s", err, b.content())
	}
}

// preload runs a script in each document from now on, before the scripts of the page.
func (b *tab) preload(script string) {
	b.t.Helper()
	send(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// send sends a command of the DevTools protocol.
func send[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatalf("%s: %v", command.Method, err)
	}
	return result
}

// content returns the text of the page, for the message of a test that failed.
func (b *tab) content() string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf("%s %v %q", text, err, b.complaints)
}

func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.URL + path))
}

// await waits until an expression, or what it promises, is true. Arguments that it has are formatted with %q or %d.
func (b *tab) await(expression string, args ...any) {
	b.t.Helper()
	if len(args) > 0 {
		expression = fmt.Sprintf(expression, args...)
	}
	script := fmt.Sprintf(`(async () => {
		const test = async () => { try { return Boolean(await (%s)); } catch { return false; } };
		while (!(await test())) await new Promise((soon) => setTimeout(soon, 15));
		return true;
	})()`, expression)
	ctx, cancel := context.WithTimeout(b.ctx, deadline)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script, chromedp.EvalAwaitPromise))
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			b.t.Fatalf("never true: %s\n%s", expression, b.content())
		}
	}
}

// says waits until an element contains a text, in any case, with or without breaks.
func (b *tab) says(selector, text string) {
	b.t.Helper()
	b.await(`$$(%q).some((e) => e.innerText.replace(/\s+/g, " ").toLowerCase().includes(%q.toLowerCase()))`, selector,
		strings.ReplaceAll(text, "\u00a0", " "))
}

// shows waits until an element exists.
func (b *tab) shows(selector string) {
	b.t.Helper()
	b.await(`$(%q)`, selector)
}

// press clicks the first element of a selector, once it exists and is enabled.
func (b *tab) press(selector string) {
	b.t.Helper()
	b.await(`!($(%q) ?? {disabled: true}).disabled`, selector)
	b.await(resting, selector)
	b.do(chromedp.Click(selector))
}

// resting is true once an element has been in one place for two frames: a click meets the place.
const resting = `new Promise((done) => {
	const place = () => JSON.stringify($(%[1]q)?.getBoundingClientRect());
	const before = place();
	requestAnimationFrame(() => requestAnimationFrame(() => done(before !== undefined && before === place())));
})`

// pressNamed clicks the button with a text.
func (b *tab) pressNamed(text string) {
	b.t.Helper()
	b.await(`(() => {
		const button = $$("main button:not(:disabled)").find((e) => e.innerText === %q);
		button?.click();
		return button;
	})()`, text)
}

// focus focuses an element and types keys.
func (b *tab) focus(selector, keys string, options ...chromedp.KeyOption) {
	b.t.Helper()
	b.do(chromedp.Focus(selector), chromedp.KeyEvent(keys, options...))
}

// confirm clicks an element that opens a dialog, answers it, and returns its question.
func (b *tab) confirm(selector string, yes bool) (question string) {
	b.t.Helper()
	clicked := make(chan error, 1)
	go func() { clicked <- browsertest.Do(b.ctx, chromedp.Click(selector)) }() // returns after the answer
	select {
	case question = <-b.dialogs:
	case err := <-clicked:
		b.t.Fatalf("no dialog (%v)\n%s", err, b.content())
	}
	send(b, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: yes})
	check.NoError(b.t, <-clicked)
	return question
}

// value evaluates an expression.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", expression, err, b.content())
	}
	return v
}

// count returns the number of elements of a selector.
func (b *tab) count(selector string) int {
	b.t.Helper()
	return value[int](b, fmt.Sprintf("$$(%q).length", selector))
}

// get returns the JSON that the API answers to a GET.
func get[T any](b *tab, path string) T {
	b.t.Helper()
	return value[T](b, fmt.Sprintf("json(%q)", path))
}

// status returns the status that the API answers with.
func (b *tab) status(method, path string) int {
	b.t.Helper()
	return value[int](b, fmt.Sprintf("fetch(%q, { method: %q }).then((r) => r.status)", path, method))
}

// quote returns a string as a literal of JavaScript.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always has one
	}
	return string(quoted)
}

// join creates an account, starting at the cover.
func (b *tab) join(name string) {
	b.t.Helper()
	b.toForms()
	b.do(chromedp.SendKeys("#new-name", name), chromedp.SendKeys("#new-passphrase", passphrase+"\r"))
	b.says(`header a[href="/account"]`, name)
}

// signIn signs in with an account that exists, starting at the cover.
func (b *tab) signIn(name, passphrase string) {
	b.t.Helper()
	b.toForms()
	b.do(chromedp.SendKeys("#name", name), chromedp.SendKeys("#passphrase", passphrase+"\r"))
}

// toForms opens the forms of the local accounts, starting at the cover.
func (b *tab) toForms() {
	b.t.Helper()
	b.open("/")
	b.press(`main a[href^="/api/auth/idp/login"]`)
	b.shows("#new-passphrase")
}
