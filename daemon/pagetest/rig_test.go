// Package pagetest holds the page against the daemon that serves it: the
// program itself, as it is installed, and a real browser.
//
// One law: a page that complains fails the test that opened it. Whatever a
// browser logs as an error, each breach of the Content-Security-Policy, and
// each request to somebody else counts.
package pagetest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// What all tests share: the program, and one browser in which each has a
// context of its own, with its own cookies and cache.
var (
	program string
	axe     string // the source of axe-core
	root    string // of the repository
	chrome  context.Context
)

func TestMain(m *testing.M) {
	code, err := prepare(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func prepare(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "pagetest")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if root, err = filepath.Abs("../.."); err != nil {
		return 0, err
	}
	source, err := os.ReadFile(filepath.Join(root, ".build/page/node_modules/axe-core/axe.min.js"))
	if err != nil {
		return 0, fmt.Errorf("read axe-core, which \"make parts\" installs: %w", err)
	}
	axe, program = string(source), filepath.Join(dir, "pressbox")
	if out, err := exec.Command("go", "build", "-o", program, "pressbox/daemon").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build the daemon: %w\n%s", err, out)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(late),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("autoplay-policy", "no-user-gesture-required"))
	allocator, free := chromedp.NewExecAllocator(context.Background(), options...)
	defer free()
	browser, quit := chromedp.NewContext(allocator)
	defer quit()
	if err := chromedp.Do(browser); err != nil { // the first call starts the browser, and must not have a deadline
		return 0, fmt.Errorf("start the browser: %w", err)
	}
	chrome = browser //nolint:fatcontext // all tests share the browser
	return m.Run(), nil
}

// An appliance is a daemon of the test's own, with a store of its own and
// without sound.
type appliance struct {
	t        testing.TB
	dir      string
	url      string
	settings []string // besides those that every one has
	stop     func()
}

var listening = regexp.MustCompile(`msg=listening .*url=(\S+)`)

func newAppliance(tb testing.TB, settings ...string) *appliance {
	tb.Helper()
	a := &appliance{t: tb, dir: tb.TempDir(), settings: settings}
	a.start("0")
	tb.Cleanup(func() { a.stop() })
	return a
}

// start runs the daemon until it listens; stop ends it.
func (a *appliance) start(port string) {
	a.t.Helper()
	cmd := exec.Command(program, "serve")
	cmd.Dir = a.dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + a.dir, "HOST=127.0.0.1", "PORT=" + port, "LOG_LEVEL=INFO",
		"MODEL_DIR=" + filepath.Join(root, "models"), "PULSE_SERVER=unix:/nowhere",
		"ONNXRUNTIME_LIB=" + filepath.Join(root, "bin/libonnxruntime.so"),
	}, a.settings...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	url := make(chan string, 1)
	ended := make(chan struct{})
	var said strings.Builder
	go func() {
		defer close(ended)
		listen(io.TeeReader(stderr, &said), url)
		_ = cmd.Wait() // it was told to end
	}()
	a.stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		<-ended
		if strings.Contains(said.String(), "level=ERROR") {
			a.t.Errorf("the daemon said\n%s", said.String())
		}
	})
	select {
	case a.url = <-url:
	case <-ended:
		a.t.Fatalf("the daemon ended:\n%s", said.String())
	}
}

// listen reads the log to its end, and tells where the daemon listens.
func listen(stderr io.Reader, url chan<- string) {
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			url <- found[1]
		}
	}
}

// A tab is one of a person's own browser.
type tab struct {
	t   testing.TB
	a   *appliance
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	expected   []string // parts of complaints that the test provokes
	requests   int
	dialogs    chan string
	asked      []string // of the API: paths with their queries
	bytes      float64  // received, as sent: packed
}

const phrase = "four strikes and you are out"

// late is when something that has not come never will, on any machine.
const late = 10 * time.Minute

// newTab opens one, at 1280 × 800.
func newTab(tb testing.TB, a *appliance) *tab {
	tb.Helper()
	ctx, cancel := chromedp.NewContext(chrome, chromedp.WithNewBrowserContext())
	tb.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 3*late)
	tb.Cleanup(cancel)
	b := &tab{t: tb, a: a, ctx: ctx, dialogs: make(chan string, 1)}
	b.do(chromedp.EmulateViewport(1280, 800))
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.complaints) > 0 {
			tb.Errorf("the browser complains: %q", b.complaints)
		}
	})
	return b
}

// ofSlowness are parts of complaints of a machine that is slow, not of the page.
var ofSlowness = []string{"preloaded using link preload but not used within a few seconds", "Slow network is detected"}

// hear writes down what the browser complains of. Whether somebody is signed
// in is asked of the API, as no script can see the cookies; its 401 is an
// answer, which Chromium logs as an error all the same.
func (b *tab) hear(event any) {
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
		asked := strings.HasSuffix(e.Entry.URL, "/api/auth/me") || strings.HasSuffix(e.Entry.URL, "/api/auth/refresh")
		if !asked || !strings.Contains(e.Entry.Text, "401") {
			complain(e.Entry.Text + " " + e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		said := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			said += " " + e.ExceptionDetails.Exception.Description
		}
		complain(said)
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
		if path, ok := strings.CutPrefix(e.Request.URL, b.a.url+"/"); !ok {
			complain("asked " + e.Request.URL)
		} else if strings.HasPrefix(path, "api/") {
			b.asked = append(b.asked, "/"+path)
		}
	case *network.EventLoadingFinished:
		b.bytes += e.EncodedDataLength
	}
}

// expect says which complaints a test provokes.
func (b *tab) expect(parts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, parts...)
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatalf("%v\n%s", err, b.seen())
	}
}

// seen is what the page says, for a test that failed.
func (b *tab) seen() string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf("%s %v %q", text, err, b.complaints)
}

func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.a.url + path))
}

// await waits until an expression of the page is true.
func (b *tab) await(expression string) {
	b.t.Helper()
	script := fmt.Sprintf(`new Promise((done) => {
		const look = () => { try { return Boolean(%s); } catch { return false; } };
		if (look()) return done(true);
		const timer = setInterval(() => { if (look()) { clearInterval(timer); done(true); } }, 15);
	})`, expression)
	ctx, cancel := context.WithTimeout(b.ctx, late)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script, chromedp.EvalAwaitPromise))
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			b.t.Fatalf("it never was so: %s\n%s", expression, b.seen())
		}
	}
}

// says waits until an element that a selector names says something.
func (b *tab) says(selector, text string) {
	b.t.Helper()
	b.await(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.innerText.replace(/\s+/g, " ").toLowerCase().includes(%q.toLowerCase()))`, selector, text))
}

// press clicks the first element that is there and can be used.
func (b *tab) press(selector string) {
	b.t.Helper()
	b.await(fmt.Sprintf(`!(document.querySelector(%q) ?? {disabled: true}).disabled`, selector))
	b.do(chromedp.Click(selector))
}

// confirm clicks what has to be confirmed, does so or not, and is what was asked.
func (b *tab) confirm(selector string, yes bool) (question string) {
	b.t.Helper()
	clicked := make(chan error, 1)
	go func() { clicked <- chromedp.Do(b.ctx, chromedp.Click(selector)) }() // ends when it is answered
	select {
	case question = <-b.dialogs:
	case err := <-clicked:
		b.t.Fatalf("nothing is asked (%v)\n%s", err, b.seen())
	}
	_, err := chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: yes})
	if err = errors.Join(err, <-clicked); err != nil {
		b.t.Fatal(err)
	}
	return question
}

// value is what an expression of the page is.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", expression, err, b.seen())
	}
	return v
}

// join makes an account from the page's cover on.
func (b *tab) join(name string) {
	b.t.Helper()
	b.open("/")
	b.press(`main a[href^="/api/auth/idp/login"]`)
	b.await(`document.querySelector("#new-passphrase")`)
	b.do(
		chromedp.SendKeys("#new-name", name),
		chromedp.SendKeys("#new-passphrase", phrase+"\r"),
	)
	b.says(`header a[href="/account"]`, name)
}

// signIn signs in with an account that is there, from the page's own link on.
func (b *tab) signIn(name, passphrase string) {
	b.t.Helper()
	b.open("/")
	b.press(`main a[href^="/api/auth/idp/login"]`)
	b.await(`document.querySelector("#passphrase")`)
	b.do(chromedp.SendKeys("#name", name), chromedp.SendKeys("#passphrase", passphrase+"\r"))
}
