// Package check provides what the tests of every package need: it ends a test at
// an unexpected error, closes and runs things until the test ends, and records a log.
package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
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
		tb.Errorf("%s: got %s, want %s", fmt.Sprintf(what, args...), shown(got), shown(want))
	}
}

// shown returns v as Equal reports it: a string in quotes.
func shown(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%+v", v)
}

// Rows returns the cells of a table: each line of text that is not empty is a row, and " | " separates its cells.
// It may be indented, and cells may be padded with spaces. All rows have as many cells as the longest: the last ones
// may be left out.
func Rows(text string) (rows [][]string) {
	longest := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		var row []string
		for more := true; more; {
			var cell string
			cell, line, more = strings.Cut(" "+line+" ", " | ")
			row = append(row, strings.TrimSpace(cell))
		}
		rows, longest = append(rows, row), max(longest, len(row))
	}
	for i, row := range rows {
		rows[i] = append(row, make([]string, longest-len(row))...)
	}
	return rows
}

// Table returns the [Rows] of a file, in which \n is a line break.
func Table(tb T, path string) [][]string {
	tb.Helper()
	rows := Rows(string(Must(os.ReadFile(path))(tb))) //nolint:gosec // of a test
	for _, row := range rows {
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], `\n`, "\n")
		}
	}
	return rows
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

// That reports an error, in the form of fmt.Sprintf, unless ok.
func That(tb testing.TB, ok bool, format string, args ...any) {
	tb.Helper()
	if !ok {
		tb.Errorf(format, args...)
	}
}

// Require ends the test with a text, in the form of fmt.Sprintf, unless ok.
func Require(tb T, ok bool, format string, args ...any) {
	tb.Helper()
	if !ok {
		tb.Fatal(fmt.Sprintf(format, args...))
	}
}

// Err returns the error of a call that also returns a value.
func Err[V any](_ V, err error) error { return err }

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
// repository, such as .build/mosquitto. It skips the test in a short run, which has Go alone, and fails one of
// "make test" whose part is installed for "make test-all" only.
func Part(tb testing.TB, name string) string {
	tb.Helper()
	if (name == "apprise" || name == "firefox-esr") && !strings.HasPrefix(tb.Name(), "TestAll_") {
		tb.Fatalf("%s is a part of \"make test-all\": name the test TestAll_…", name)
	}
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

// Fill sets each exported field of the struct at p, also of structs in it and behind pointers, to a value that is
// not zero, and different for each: a test of what treats all fields notices one that was forgotten.
func Fill(p any) {
	n := 0
	fill(reflect.ValueOf(p).Elem(), &n)
}

func fill(v reflect.Value, n *int) {
	*n++
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(int64(*n), 0).UTC()))
	case v.Kind() == reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				fill(f, n)
			}
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprint("x", *n))
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(int64(*n))
	case v.CanUint():
		v.SetUint(uint64(*n)) //nolint:gosec // it counts from 1
	}
}
