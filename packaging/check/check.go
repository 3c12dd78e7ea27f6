// Package check provides what the tests of every package need: it ends a test at
// an unexpected error, closes and runs things until the test ends, and records a log.
package check

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

// Close closes c when the test ends, which must not fail.
func Close(tb testing.TB, c io.Closer) {
	tb.Helper()
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Error(err)
		}
	})
}

// Part returns the path of something that a test runs: a program in PATH, or a file that "make parts" puts into the
// repository, such as .build/mosquitto. It skips the test in a short run, which has Go alone.
func Part(tb testing.TB, name string) string {
	tb.Helper()
	if testing.Short() {
		tb.Skipf("a short run has no %s", name)
	}
	if strings.Contains(name, "/") {
		name = filepath.Join(Root(tb), name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		tb.Fatalf("a part of the tests is missing, \"make parts\" installs it: %v", err)
	}
	return path
}

// Root returns the root of the repository, above the working directory.
func Root(tb testing.TB) string {
	tb.Helper()
	dir := Must(os.Getwd())(tb)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("the working directory is not in the repository")
		}
		dir = filepath.Dir(dir)
	}
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
