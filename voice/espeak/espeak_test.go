package espeak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/espeak/confine"
)

func TestMain(m *testing.M) {
	confine.Main(os.Args)
	m.Run()
}

// newPhonemizer returns a Phonemizer with limits for a busy host.
func newPhonemizer(tb testing.TB, path string, helper ...string) *Phonemizer {
	tb.Helper()
	check.Part(tb, "espeak-ng")
	p := New(path, helper...)
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
	return check.Must(p.Phonemes(tb.Context(), lang, clause))(tb)
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
		{"de", "kurz", "kˈʊɐts"},
		{"de", "Hamburg, Sturm?", "hˈambʊɐk\nʃtˈʊɐm"},
	} {
		got, err := p.Phonemes(t.Context(), tt.lang, tt.clause)
		check.That(t, err == nil && got == tt.want, "%s %q: %q, %v; want %q", tt.lang, tt.clause, got, err, tt.want)
	}
}

func TestPhonemizer_unknownLanguage(t *testing.T) {
	p := parallel(t, "")
	for _, lang := range []string{"tlh-nowhere", "-m", ""} {
		_, err := p.Phonemes(t.Context(), lang, "hello")
		check.Contains(t, fmt.Sprint(err), fmt.Sprintf("%q", lang), "the error")
		check.That(t, !errors.Is(err, voice.ErrUnavailable), "voice %q: %v, want not ErrUnavailable", lang, err)
	}
	got, err := p.Phonemes(t.Context(), "en-us", "hello")
	check.That(t, err == nil && got != "", "after an unknown voice: %q, %v", got, err)
}

func TestPhonemizer_programMissing(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/nowhere/espeak-ng", "espeak-of-nowhere"} {
		_, err := newPhonemizer(t, path).Phonemes(t.Context(), "en-us", "hello")
		if !errors.Is(err, ErrNotInstalled) || !errors.Is(err, voice.ErrUnavailable) ||
			!strings.Contains(err.Error(), "install the package espeak-ng") {
			t.Errorf("%s: %v, want %v", path, err, ErrNotInstalled)
		}
	}
}

func TestPhonemizer_replacesDeadChild(t *testing.T) {
	p := parallel(t, "")
	want := mustPhonemes(t, p, "en-us", "hello")
	killed := p.children[0]
	check.NoError(t, killed.cmd.Process.Kill())
	got, err := p.Phonemes(t.Context(), "en-us", "hello")
	check.That(t, err == nil && got == want, "after its end: %q, %v; want %q", got, err, want)
	check.That(t, p.children[0] != killed, "the dead child was not replaced")
}

// script writes a shell script that replaces espeak-ng.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "espeak-ng")
	syscall.ForkLock.RLock() // a process that another test starts would hold the file open: ETXTBSY
	defer syscall.ForkLock.RUnlock()
	check.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+readAnswer+body), 0o700))
	return path
}

// readAnswer defines a function that reads a clause and answers it with nothing.
const readAnswer = `marker() { echo "$end" | sed 's/[][]//g; s/C/ç/g; s/?/ʔ/g'; }
answer() { read -r clause; read -r end; marker; }
`

// hangs answers the first clause, which checks that it runs, and no other.
const hangs = "answer; while read more; do :; done\n"

func TestPhonemizer_replacesHangingChild(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"at a clause": hangs, "at its start": "exec sleep 1000\n"} {
		p := newPhonemizer(t, script(t, body))
		p.limits.timeout = 200 * time.Millisecond
		begun := time.Now()
		_, err := p.Phonemes(t.Context(), "en-us", "hello")
		check.That(t, errors.Is(err, errDied) && errors.Is(err, os.ErrDeadlineExceeded),
			"%s: %v, want %v by a deadline", name, err, errDied)
		took := time.Since(begun)
		check.That(t, took >= 2*p.limits.timeout, "%s: gave up after %v, want twice %v", name, took, p.limits.timeout)
		check.That(t, len(p.children) == 0, "%s: the hanging child was retained", name)
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
	for _, err := range []error{err, <-asked} {
		check.That(t, errors.Is(err, context.DeadlineExceeded), "%v, want the context's error", err)
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
		err := check.Err(p.Phonemes(ctx, "en-us", "hello there"))
		check.Require(t, err == nil || errors.Is(err, context.Canceled), "%v", err)
	}
	check.That(t, len(p.children) == 1 && p.children[0] == asked, "a cancelled request replaced the child")
}

func TestPhonemizer_endlessAnswer(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"lines": "answer; read -r clause; exec yes",
		"line":  "answer; read -r clause; exec cat /dev/zero",
	} {
		_, err := newPhonemizer(t, script(t, body)).Phonemes(t.Context(), "en-us", "hello")
		check.ErrorIs(t, err, errDied, "endless %s", name)
	}
}

// A child that writes more than its answer, or another clause's marker, is ended.
func TestPhonemizer_wrongMarker(t *testing.T) {
	t.Parallel()
	const again = "read -r clause; read -r end; while read -r more; do :; done\n"
	for name, tt := range map[string]struct {
		body string
		want error
	}{
		"old marker": {
			"answer; old=$end; read -r clause; read -r end; end=$old; echo secret; marker; " + again,
			os.ErrDeadlineExceeded,
		},
		"output after": {
			`answer; read -r clause; read -r end; printf '%s\nsecret\n' "$(marker)"; ` + again, errUnasked,
		},
	} {
		p := newPhonemizer(t, script(t, tt.body))
		if errors.Is(tt.want, os.ErrDeadlineExceeded) {
			p.limits.timeout = 500 * time.Millisecond
		}
		got, err := p.Phonemes(t.Context(), "en-us", "hello")
		check.That(t, errors.Is(err, errDied) && errors.Is(err, tt.want) && len(p.children) == 0,
			"%s: %q, %v, %d children; want %v and none", name, got, err, len(p.children), tt.want)
	}
}

// Output between two clauses ends the child, too; signals do not.
func TestChild_checkSilent(t *testing.T) {
	t.Parallel()
	out, childOut, err := os.Pipe()
	check.NoError(t, err)
	defer out.Close()
	c := &child{out: out}
	signals, end := context.WithCancel(t.Context())
	go func() { // as the runtime sends them to its threads
		for signals.Err() == nil {
			_ = syscall.Kill(os.Getpid(), syscall.SIGURG)
		}
	}()
	for range 20_000 {
		check.NoError(t, c.checkSilent())
	}
	end()
	check.Must(childOut.WriteString("stale\n"))(t)
	check.ErrorIs(t, c.checkSilent(), errUnasked, "after output")
	childOut.Close()
}

// In Arabic and Persian four hamzas have the phonemes ʔʔʔʔ, which ended every answer once: the next clause
// got those of the one before.
func TestPhonemizer_fourHamzas(t *testing.T) {
	p := parallel(t, "")
	for _, lang := range []string{"ar", "fa"} {
		want := mustPhonemes(t, p, lang, "سلام")
		check.Equal(t, mustPhonemes(t, p, lang, "ءءءء"), "ʔʔʔʔ", "%s", lang)
		got := mustPhonemes(t, p, lang, "سلام")
		check.That(t, got == want && want != "", "%s after four hamzas: %q, want %q", lang, got, want)
	}
}

// No IPA holds a question mark, which voices take for a mark of the text.
func TestKnown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ lang, ipa, want string }{
		{"de", "ɡəbˈ??tstɑːk", "ɡəbˈʊɐtstɑːk"},
		{"de-at", "k??ts", "kʊɐts"},
		{"de", "a?b", "ab"},
		{"den", "a??b", "ab"},
		{"en-us", "ʔ", "ʔ"},
		{"en-us", "", ""},
	} {
		check.Equal(t, known(tt.lang, tt.ipa), tt.want, "%s %q", tt.lang, tt.ipa)
	}
}

// Every language of espeak-ng prints the markers unchanged.
func TestMarker_everyLanguage(t *testing.T) {
	p := parallel(t, "")
	list := check.Must(exec.CommandContext(t.Context(), "espeak-ng", "--voices").Output())(t)
	n := 0
	for line := range strings.Lines(string(list)) {
		lang := strings.Fields(line)[1]
		// the heading, and one that 1.51 lists and does not find
		if lang == "Language" || lang == "chr-US-Qaaa-x-west" {
			continue
		}
		n++
		for range 5 {
			got, err := p.Phonemes(t.Context(), lang, "")
			check.Require(t, err == nil && got == "", "%s: %q, %v", lang, got, err)
		}
	}
	check.That(t, n >= 100, "%d languages, want more", n)
}

// A crash is an error for its clause only.
func TestPhonemizer_crash(t *testing.T) {
	p := parallel(t, script(t, `answer
while read -r clause; do read -r end; [ "$clause" = crash ] && kill -SEGV $$; echo "$clause"; marker; done
`))
	mustPhonemes(t, p, "ml", "one")
	mustPhonemes(t, p, "en-us", "one")
	other := p.children[1]
	got, err := p.Phonemes(t.Context(), "ml", "crash")
	check.That(t, errors.Is(err, voice.ErrUnreadable) && !errors.Is(err, voice.ErrUnavailable),
		"%q, %v; want %v, for the clause alone", got, err, voice.ErrUnreadable)
	check.Equal(t, mustPhonemes(t, p, "ml", "two"), "two", "after a crash")
	if got := mustPhonemes(t, p, "en-us", "two"); got != "two" || !slices.Contains(p.children, other) {
		t.Errorf("another language after a crash: %q, want two", got)
	}
}

// The child sees none of the server's environment, and the confined one is restricted.
func TestPhonemizer_process(t *testing.T) {
	t.Setenv("IDP_CLIENT_SECRET", "secret")
	plain, confined := newPhonemizer(t, ""), newPhonemizer(t, "", confine.Command()...)
	for _, clause := range []string{"Hello", "Mr. Smith"} {
		got, want := mustPhonemes(t, confined, "en-us", clause), mustPhonemes(t, plain, "en-us", clause)
		check.Equal(t, got, want, "confined, %q", clause)
	}
	for _, p := range []*Phonemizer{plain, confined} {
		const want = "PATH=/usr/local/bin:/usr/bin:/bin\x00LANG=C.UTF-8\x00"
		check.Equal(t, procFile(t, p, "environ"), want, "environment")
	}
	status := procFile(t, confined, "status")
	for _, want := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
		check.That(t, strings.Contains(status, want), "status of the confined child lacks %q:\n%s", want, status)
	}
	// The helper has more than 16 MiB.
	got, limit := resident(t, confined), resident(t, plain)+4<<10
	check.That(t, got <= limit, "confined: %d KiB resident, want at most %d", got, limit)
}

// procFile returns a file of the first child in /proc.
func procFile(t *testing.T, p *Phonemizer, name string) string {
	t.Helper()
	return string(check.Must(os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.children[0].cmd.Process.Pid, name)))(t))
}

// resident returns the memory of the first child, in KiB.
func resident(t *testing.T, p *Phonemizer) (kib int) {
	t.Helper()
	_, rest, _ := strings.Cut(procFile(t, p, "status"), "VmRSS:")
	check.Must(fmt.Sscan(rest, &kib))(t)
	return kib
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
	check.That(t, check.Err(p.Phonemes(t.Context(), "en-us", strings.Repeat("word ", 400))) != nil,
		"a clause of 2,000 bytes is accepted")
	got, err := p.Phonemes(t.Context(), "en-us", strings.TrimSpace(strings.Repeat("word ", maxClause/5)))
	n := len(strings.Fields(got))
	check.That(t, err == nil && n == maxClause/5, "%d words have the phonemes of %d, %v", maxClause/5, n, err)
}

func TestPhonemizer_closed(t *testing.T) {
	p := parallel(t, "")
	mustPhonemes(t, p, "en-us", "a")
	child := p.children[0]
	p.Close()
	check.That(t, child.cmd.ProcessState != nil, "the child was not waited for")
	check.That(t, check.Err(p.Phonemes(t.Context(), "en-us", "a")) != nil, "a closed phonemizer answers")
}

// languages are those of the fuzz target: those in which something was found, and some of other scripts.
var languages = []string{"en-us", "ar", "fa", "ml", "de", "ru", "cmn"}

// An answer is that to its own clause, and a crash is an error for its clause only.
func FuzzPhonemes(f *testing.F) {
	for _, s := range []string{
		"Hello", "?", "🎉", "[[????]]", "\x01", "[ [[x", "ʔʔʔʔ", "<b>", "\n\n", "ꙮ", "٣", "[[[[????]]]]",
	} {
		for i := range languages {
			f.Add(uint8(i), s)
		}
	}
	p := newPhonemizer(f, "", confine.Command()...)
	const known = "1 2 3"
	want := make(map[string]string)
	f.Fuzz(func(t *testing.T, i uint8, clause string) {
		lang := languages[int(i)%len(languages)]
		if want[lang] == "" {
			want[lang] = mustPhonemes(t, newPhonemizer(t, ""), lang, known)
		}
		_, err := p.Phonemes(t.Context(), lang, clause)
		check.Require(t, err == nil || len(clause) > maxClause || lang == "ml" && errors.Is(err, errDied),
			"%s %q: %v", lang, clause, err)
		if got, err := p.Phonemes(t.Context(), lang, known); err != nil || got != want[lang] {
			t.Fatalf("%s after %q: %q, %v; want %q", lang, clause, got, err, want[lang])
		}
	})
}

func TestBreakInitials(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("a.", 15) + "word." + strings.Repeat("a.", 15)
	for _, tt := range []struct{ clause, want string }{
		{"U.S.A.", "U.S.A."},
		{strings.Repeat("a.", maxInitials-1), strings.Repeat("a.", maxInitials-1)},
		{strings.Repeat("a.", maxInitials), strings.Repeat("a.", maxInitials-1) + "a "},
		{strings.Repeat("é.", 20), strings.Repeat("é.", 15) + "é " + strings.Repeat("é.", 4)},
		{strings.Repeat("e\u0301. ", 17), strings.Repeat("e\u0301. ", 15) + "e\u0301  e\u0301. "},
		{strings.Repeat("word.", 17), strings.Repeat("word.", 17)},
		{whole, whole},
	} {
		check.Equal(t, breakInitials(tt.clause), tt.want, "%q", tt.clause)
	}
}

// espeak-ng 1.51 overflows a buffer on its stack for long runs of initials.
func TestPhonemizer_longInitials(t *testing.T) {
	p := parallel(t, "")
	mustPhonemes(t, p, "en-us", "hello")
	child := p.children[0]
	alive := func() bool { return len(p.children) == 1 && p.children[0] == child }
	for _, initial := range []string{
		"a.", "é.", "я.", "中.", "𐐨.", "e\u0301.", "a. ", "a .", " a . ", "ß.", "가.", "ﬁ.", "A.", "a.\u00ad", "\u200ba.",
	} {
		for _, n := range []int{58, 100} {
			if _, err := p.Phonemes(t.Context(), "en-us", strings.Repeat(initial, n)); err != nil || !alive() {
				t.Fatalf("%d times %q: %v; the same child is alive: %t", n, initial, err, alive())
			}
		}
	}
	mustPhonemes(t, p, "en-us", strings.Repeat("a.", maxClause/2))
	check.Equal(t, strings.Count(mustPhonemes(t, p, "en-us", strings.Repeat("x.", 40)), "ɛks"), 40, "letters spoken")
}
