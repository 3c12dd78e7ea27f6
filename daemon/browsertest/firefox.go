package browsertest

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"pressbox/packaging/check"
)

// Firefox is a running Firefox, controlled by WebDriver BiDi (W3C). Its methods
// are for one goroutine and end the test when a command fails.
type Firefox struct {
	tb             testing.TB
	conn           *websocket.Conn
	lastID         int
	errors         []string // that pages logged
	ErrorsExpected bool     // pages are expected to log errors
}

// A FirefoxTab is a tab with cookies and storage of its own, unless [FirefoxTab.Beside] opened it.
type FirefoxTab struct {
	*Firefox
	context, user string // ids
}

// A message is a response or an event.
type message struct {
	ID      int             `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   string          `json:"error"`
	Message string          `json:"message"`
}

// StartFirefox starts Firefox with an empty profile and ends it after the test.
// A page that logs an error fails the test.
func StartFirefox(tb testing.TB) *Firefox {
	tb.Helper()
	const announced = "WebDriver BiDi listening on "
	ctx, cancel := context.WithCancel(context.Background())
	//nolint:gosec // a folder of the test
	cmd := exec.CommandContext(ctx, check.Part(tb, "firefox-esr"), "--headless", "--no-remote",
		"--remote-debugging-port", "0", "--profile", tb.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with its content processes
	cmd.WaitDelay = 10 * time.Second
	stderr := check.Must(cmd.StderrPipe())(tb)
	check.NoError(tb, cmd.Start())
	address := make(chan string, 1)
	var read sync.WaitGroup
	read.Go(func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if _, url, ok := strings.Cut(lines.Text(), announced); ok {
				address <- url
			}
		}
		close(address)
	})
	tb.Cleanup(func() {
		cancel()
		read.Wait()
		_ = cmd.Wait() // it was killed
	})
	url, ok := <-address
	if !ok {
		tb.Fatal("firefox-esr ended before it listened")
	}
	conn, _, err := websocket.DefaultDialer.Dial(url+"/session", nil)
	check.NoError(tb, err)
	f := &Firefox{tb: tb, conn: conn}
	tb.Cleanup(func() {
		_ = conn.Close() // the browser ends
		if len(f.errors) > 0 && !f.ErrorsExpected {
			tb.Errorf("Firefox logged %q", f.errors)
		}
	})
	f.command("session.new", map[string]any{"capabilities": map[string]any{}}, nil)
	f.command("session.subscribe", map[string]any{"events": []string{"log.entryAdded"}}, nil)
	return f
}

// command sends a command and decodes its result, unless result is nil.
func (f *Firefox) command(method string, params map[string]any, result any) {
	f.tb.Helper()
	if err := f.try(method, params, result); err != nil {
		f.tb.Fatal(err)
	}
}

func (f *Firefox) try(method string, params map[string]any, result any) error {
	f.lastID++
	if err := f.conn.WriteJSON(map[string]any{"id": f.lastID, "method": method, "params": params}); err != nil {
		return fmt.Errorf("send %s: %w", method, err)
	}
	_ = f.conn.SetReadDeadline(time.Now().Add(MaxWait))
	for {
		var m message
		if err := f.conn.ReadJSON(&m); err != nil {
			return fmt.Errorf("receive the response to %s: %w", method, err)
		}
		switch {
		case m.Method == "log.entryAdded":
			f.log(m.Params)
		case m.ID == f.lastID && m.Error != "":
			return fmt.Errorf("%s: %s: %s", method, m.Error, m.Message)
		case m.ID == f.lastID && result == nil:
			return nil
		case m.ID == f.lastID:
			return json.Unmarshal(m.Result, result)
		}
	}
}

// log records an entry of a page's log if it is an error.
func (f *Firefox) log(params json.RawMessage) {
	var entry struct{ Level, Text string }
	err := json.Unmarshal(params, &entry)
	if strings.Contains(entry.Text, "error loading dynamically imported module") {
		return // a page was left while a module was loading
	}
	if err != nil || entry.Level == "error" {
		f.errors = append(f.errors, entry.Text)
	}
}

// Tab opens a tab.
func (f *Firefox) Tab() *FirefoxTab {
	f.tb.Helper()
	var user struct{ UserContext string }
	f.command("browser.createUserContext", map[string]any{}, &user)
	return (&FirefoxTab{Firefox: f, user: user.UserContext}).Beside()
}

// Preload runs a script in each document, before the scripts of the page.
func (f *Firefox) Preload(script string) {
	f.tb.Helper()
	f.command("script.addPreloadScript", map[string]any{"functionDeclaration": "() => {" + script + "}"}, nil)
}

// Beside opens a tab that shares the cookies and the storage of t.
func (t *FirefoxTab) Beside() *FirefoxTab {
	t.tb.Helper()
	var tab struct{ Context string }
	t.command("browsingContext.create", map[string]any{"type": "tab", "userContext": t.user}, &tab)
	return &FirefoxTab{t.Firefox, tab.Context, t.user}
}

// Open navigates to a URL and waits until it is loaded.
func (t *FirefoxTab) Open(url string) {
	t.tb.Helper()
	t.command("browsingContext.navigate", map[string]any{"context": t.context, "url": url, "wait": "complete"}, nil)
}

// Resize sets the size of the page's viewport, in CSS pixels.
func (t *FirefoxTab) Resize(width, height int) {
	t.tb.Helper()
	t.command("browsingContext.setViewport",
		map[string]any{"context": t.context, "viewport": map[string]int{"width": width, "height": height}}, nil)
}

// Text returns the value of an expression as a string.
func (t *FirefoxTab) Text(expression string) string {
	t.tb.Helper()
	value, err := t.evaluate("String(" + expression + ")")
	check.NoError(t.tb, err)
	return value
}

func (t *FirefoxTab) evaluate(expression string) (string, error) {
	var result struct {
		Result           struct{ Value string }
		ExceptionDetails *struct{ Text string }
	}
	err := t.try("script.evaluate", map[string]any{
		"expression": expression,
		"target":     map[string]string{"context": t.context}, "awaitPromise": true,
	}, &result)
	if err == nil && result.ExceptionDetails != nil {
		err = errors.New(result.ExceptionDetails.Text)
	}
	return result.Result.Value, err
}

// Await waits until an expression is true, also over navigations.
func (t *FirefoxTab) Await(expression string) {
	t.tb.Helper()
	script := fmt.Sprintf("String(Boolean((() => { try { return %s; } catch { return false; } })()))", expression)
	for end := time.Now().Add(MaxWait); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if value, err := t.evaluate(script); err == nil && value == "true" { // an error: the page was left meanwhile
			return
		}
	}
	t.tb.Fatalf("never true: %s\n%s", expression, t.Text("location.href + document.body.innerText"))
}

// Says waits until an element contains a text.
func (t *FirefoxTab) Says(selector, text string) {
	t.tb.Helper()
	t.Await(fmt.Sprintf("document.querySelector(%q).textContent.includes(%q)", selector, text))
}

// Press waits for an element that is enabled, and clicks on it.
func (t *FirefoxTab) Press(selector string) {
	t.tb.Helper()
	t.Await(fmt.Sprintf("document.querySelector(%q + \":not(:disabled)\")", selector))
	t.Text(fmt.Sprintf("document.querySelector(%q).click()", selector))
}

// Type types a text into an element, key by key.
func (t *FirefoxTab) Type(selector, text string) {
	t.tb.Helper()
	t.Await(fmt.Sprintf("document.querySelector(%q)", selector))
	t.Text(fmt.Sprintf("document.querySelector(%q).focus()", selector))
	t.Keys(text)
}

// Keys presses keys, one after the other.
func (t *FirefoxTab) Keys(text string) {
	t.tb.Helper()
	var keys []map[string]string
	for _, r := range text {
		keys = append(keys, map[string]string{"type": "keyDown", "value": string(r)},
			map[string]string{"type": "keyUp", "value": string(r)})
	}
	t.command("input.performActions", map[string]any{
		"context": t.context, "actions": []any{map[string]any{"type": "key", "id": "keyboard", "actions": keys}},
	}, nil)
}

// Screenshot returns a PNG of what the viewport shows.
func (t *FirefoxTab) Screenshot() []byte {
	t.tb.Helper()
	var shot struct{ Data string }
	t.command("browsingContext.captureScreenshot", map[string]any{"context": t.context}, &shot)
	return check.Must(base64.StdEncoding.DecodeString(shot.Data))(t.tb)
}

// Close closes the tab.
func (t *FirefoxTab) Close() {
	t.tb.Helper()
	t.command("browsingContext.close", map[string]any{"context": t.context}, nil)
}
