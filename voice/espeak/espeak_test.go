package espeak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressbox/check"
	"pressbox/voice"
)

// newPhonemizer returns a Phonemizer with limits for a busy host. It skips the
// test in short mode.
func newPhonemizer(tb testing.TB, path string) *Phonemizer {
	tb.Helper()
	if testing.Short() {
		tb.Skip("runs espeak-ng")
	}
	if _, err := exec.LookPath("espeak-ng"); err != nil {
		tb.Fatalf("espeak-ng is missing (\"make parts\" installs it): %v", err)
	}
	p := New(path)
	p.limits = limits{5 * time.Minute, 5 * time.Minute}
	tb.Cleanup(func() { p.Close() })
	return p
}

// parallel is newPhonemizer for a parallel test.
func parallel(t *testing.T, path string) *Phonemizer {
	t.Helper()
	t.Parallel()
	return newPhonemizer(t, path)
}

func mustPhonemes(tb testing.TB, p *Phonemizer, lang, clause string) string {
	tb.Helper()
	ipa := check.Must(p.Phonemes(tb.Context(), lang, clause))(tb)
	return ipa
}

func TestPhonemizer_phonemes(t *testing.T) {
	p := parallel(t, "")
	for _, tt := range []struct{ lang, clause, want string }{
		{"en-us", "Test 1", "tˈɛst wˈʌn"},
		{"en-us", "Hello — world", "həlˈoʊ\nwˈɜːld"},
		{"en-us", "Mr. Smith", "mˈɪstɚ\nsmˈɪθ"},
		{"ar", "test", "(en)tˈɛst(ar)"},
		{"en-us", "--help", "hˈɛlp"},
		{"en-us", "-5 dogs", "mˈaɪnəs fˈaɪv dˈɑːɡz"},
		{"en-us", "a\nb\r\x00c\x01d", "ɐ bˈiː sˈiː dˈiː"},
		{"en-us", "[[_:]] dogs", "kˈoʊlən dˈɑːɡz"},
		{"en-us", "?", ""},
		{"en-us", `"`, ""},
		{"en-us", "", ""},
		{"en-us", "after nothing", "ˈæftɚ nˈʌθɪŋ"},
		{"de", "Hallo", "hˈaloː"},
	} {
		got, err := p.Phonemes(t.Context(), tt.lang, tt.clause)
		if err != nil || got != tt.want {
			t.Errorf("%s %q: %q, %v; want %q", tt.lang, tt.clause, got, err, tt.want)
		}
	}
}

func TestPhonemizer_unknownLanguage(t *testing.T) {
	p := parallel(t, "")
	for _, lang := range []string{"tlh-nowhere", "-m", ""} {
		_, err := p.Phonemes(t.Context(), lang, "hello")
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", lang)) || errors.Is(err, voice.ErrUnavailable) {
			t.Errorf("voice %q: %v, want an error that names it and not ErrUnavailable", lang, err)
		}
	}
	if got, err := p.Phonemes(t.Context(), "en-us", "hello"); err != nil || got == "" {
		t.Errorf("after an unknown voice: %q, %v", got, err)
	}
}

func TestPhonemizer_programMissing(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/nowhere/espeak-ng", "espeak-of-nowhere"} {
		_, err := newPhonemizer(t, path).Phonemes(t.Context(), "en-us", "hello")
		if !errors.Is(err, ErrNotInstalled) || !errors.Is(err, voice.ErrUnavailable) || !strings.Contains(err.Error(), "install the package espeak-ng") {
			t.Errorf("%s: %v, want %v", path, err, ErrNotInstalled)
		}
	}
}

func TestPhonemizer_replacesDeadChild(t *testing.T) {
	p := parallel(t, "")
	want := mustPhonemes(t, p, "en-us", "hello")
	killed := p.children[0]
	check.NoError(t, killed.cmd.Process.Kill())
	if got, err := p.Phonemes(t.Context(), "en-us", "hello"); err != nil || got != want {
		t.Errorf("after its end: %q, %v; want %q", got, err, want)
	}
	if p.children[0] == killed {
		t.Error("the dead child was not replaced")
	}
}

// script writes a shell script that replaces espeak-ng.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "espeak-ng")
	check.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o700))
	return path
}

// hangs answers the first clause, which checks that it runs, and no other.
const hangs = "read clause; read end; echo ʔʔʔʔ; while read more; do :; done\n"

func TestPhonemizer_replacesHangingChild(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"at a clause": hangs, "at its start": "exec sleep 1000\n"} {
		p := newPhonemizer(t, script(t, body))
		p.limits.timeout = 200 * time.Millisecond
		begun := time.Now()
		_, err := p.Phonemes(t.Context(), "en-us", "hello")
		if !errors.Is(err, errDied) || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v, want %v by a deadline", name, err, errDied)
		}
		if took := time.Since(begun); took < 2*p.limits.timeout {
			t.Errorf("%s: gave up after %v, want twice %v", name, took, p.limits.timeout)
		}
		if len(p.children) != 0 {
			t.Errorf("%s: the hanging child was retained", name)
		}
	}
}

func TestPhonemizer_contextEndsWait(t *testing.T) {
	p := parallel(t, script(t, hangs))
	p.limits.grace = time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	asked := make(chan error)
	go func() {
		_, err := p.Phonemes(ctx, "en-us", "hello")
		asked <- err
	}()
	_, err := p.Phonemes(ctx, "en-us", "hello") // one of the two waits for the other
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the context's error", err)
	}
	if err := <-asked; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the context's error", err)
	}
}

// A cancelled request does not stop the child.
func TestPhonemizer_cancelRetainsChild(t *testing.T) {
	p := parallel(t, "")
	mustPhonemes(t, p, "en-us", "hello")
	asked := p.children[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 30 { // each may be processed or not
		if _, err := p.Phonemes(ctx, "en-us", "hello there"); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if len(p.children) != 1 || p.children[0] != asked {
		t.Error("a cancelled request replaced the child")
	}
}

func TestPhonemizer_endlessAnswer(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"lines": "read clause; read end; echo ʔʔʔʔ; exec yes",
		"line":  "read clause; read end; echo ʔʔʔʔ; exec cat /dev/zero",
	} {
		if _, err := newPhonemizer(t, script(t, body)).Phonemes(t.Context(), "en-us", "hello"); !errors.Is(err, errDied) {
			t.Errorf("endless %s: %v, want %v", name, err, errDied)
		}
	}
}

func TestPhonemizer_limitsChildren(t *testing.T) {
	p := parallel(t, "")
	langs := []string{"en-us", "de", "fr", "es", "it", "en-us"}
	for _, lang := range langs {
		mustPhonemes(t, p, lang, "a")
	}
	if len(p.children) != maxChildren || p.children[maxChildren-1].lang != "en-us" || p.children[0].lang != "fr" {
		t.Errorf("%d children, the oldest %s", len(p.children), p.children[0].lang)
	}
}

func TestPhonemizer_rejectsLongClause(t *testing.T) {
	p := parallel(t, "")
	if _, err := p.Phonemes(t.Context(), "en-us", strings.Repeat("word ", 400)); err == nil {
		t.Error("a clause of 2,000 bytes is accepted")
	}
	got, err := p.Phonemes(t.Context(), "en-us", strings.TrimSpace(strings.Repeat("word ", maxClause/5)))
	if n := len(strings.Fields(got)); err != nil || n != maxClause/5 {
		t.Errorf("%d words have the phonemes of %d, %v", maxClause/5, n, err)
	}
}

func TestPhonemizer_closed(t *testing.T) {
	p := parallel(t, "")
	mustPhonemes(t, p, "en-us", "a")
	child := p.children[0]
	p.Close()
	if child.cmd.ProcessState == nil {
		t.Error("the child was not waited for")
	}
	if _, err := p.Phonemes(t.Context(), "en-us", "a"); err == nil {
		t.Error("a closed phonemizer answers")
	}
}

// No clause affects the answer to the next one.
func FuzzPhonemes(f *testing.F) {
	for _, s := range []string{"Hello", "?", "🎉", "[[????]]", "\x01", "[ [[x", "ʔʔʔʔ", "<b>", "\n\n", "ꙮ", "٣", "[[[[????]]]]"} {
		f.Add(s)
	}
	p := newPhonemizer(f, "")
	want := mustPhonemes(f, p, "en-us", "hello there")
	f.Fuzz(func(t *testing.T, clause string) {
		if _, err := p.Phonemes(t.Context(), "en-us", clause); err != nil && len(clause) <= maxClause {
			t.Fatalf("%q: %v", clause, err)
		}
		if got, err := p.Phonemes(t.Context(), "en-us", "hello there"); err != nil || got != want {
			t.Fatalf("after %q: %q, %v; want %q", clause, got, err, want)
		}
	})
}

func BenchmarkPhonemes(b *testing.B) {
	p := newPhonemizer(b, "")
	for b.Loop() {
		mustPhonemes(b, p, "en-us", "Dinner is ready in the kitchen")
	}
}
