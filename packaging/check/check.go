// Package check provides what the tests of every package need: it ends a test at
// an unexpected error, closes and runs things until the test ends, and records a log.
package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

// A T is a testing.TB or a rapid.T.
type T interface {
	Helper()
	Fatal(args ...any)
}

// NoError ends the test unless err is nil.
func NoError(tb T, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Must returns a function that returns v, or ends the test if err is not nil:
//
//	file := check.Must(os.Open(path))(t)
func Must[V any](v V, err error) func(tb T) V {
	return func(tb T) V {
		tb.Helper()
		NoError(tb, err)
		return v
	}
}

// Equal reports an error unless got is want; what, in the form of fmt.Sprintf, names it.
func Equal[V comparable](tb testing.TB, got, want V, what string, args ...any) {
	tb.Helper()
	if got != want {
		tb.Errorf("%s: got %#v, want %#v", fmt.Sprintf(what, args...), got, want)
	}
}

// Contains reports an error unless text contains want; what, in the form of fmt.Sprintf, names the text.
func Contains(tb testing.TB, text, want, what string, args ...any) {
	tb.Helper()
	if !strings.Contains(text, want) {
		tb.Errorf("%s lacks %q: %s", fmt.Sprintf(what, args...), want, text)
	}
}

// ErrorIs reports an error unless err is want.
func ErrorIs(tb testing.TB, err, want error, what string, args ...any) {
	tb.Helper()
	if !errors.Is(err, want) {
		tb.Errorf("%s: %v, want %v", fmt.Sprintf(what, args...), err, want)
	}
}

// Close closes c when the test ends, which must not fail.
func Close(tb testing.TB, c io.Closer) {
	tb.Helper()
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Error(err)
		}
	})
}

// Run calls run in a goroutine and cancels its context when the test ends; it must
// not return an error. A stop before the end of the test is possible, repeatedly.
func Run(tb testing.TB, run func(context.Context) error) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := run(ctx); err != nil {
			tb.Errorf("Run: %v", err)
		}
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	tb.Cleanup(stop)
	return stop
}

// A Log is a buffer that may be read while it is written.
type Log struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

// Write appends p.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns what has been written.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
