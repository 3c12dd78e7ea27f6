package speakable_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"pressbox/packaging/check"
	"pressbox/voice/speakable"
)

// A saying is a text and its expansion.
type saying struct{ written, spoken string }

// sayings reads a table of testdata: "written ⇒ spoken", with \n for a line break.
func sayings(tb testing.TB, file string) []saying {
	tb.Helper()
	text := check.Must(os.ReadFile("testdata/" + file))(tb)
	var table []saying
	for row := range strings.Lines(string(text)) {
		row = strings.TrimSuffix(row, "\n")
		at := strings.LastIndex(row, " ⇒ ")
		if at < 0 {
			continue
		}
		written := strings.ReplaceAll(row[:at], `\n`, "\n")
		table = append(table, saying{written, row[at+len(" ⇒ "):]})
	}
	return table
}

var tables = []struct {
	file, lang string
	least      int
}{
	{"american.txt", "en-us", 500},
	{"british.txt", "en_GB", 10},
	{"german.txt", "de", 20},
}

func TestText_tables(t *testing.T) {
	t.Parallel()
	for _, tt := range tables {
		table := sayings(t, tt.file)
		check.That(t, len(table) >= tt.least, "%s has %d rows, want at least %d", tt.file, len(table), tt.least)
		for _, row := range table {
			for _, text := range []string{row.written, row.spoken} { // what is spoken does not change again
				check.Equal(t, speakable.Text(text, tt.lang, nil), row.spoken, "Text(%q, %s)", text, tt.lang)
			}
		}
	}
}

func TestText_withoutSpeech(t *testing.T) {
	t.Parallel()
	for _, silent := range []string{
		"", " ", "\n\t\r\n", "...", "?!", "---", "***", "\u200b\ufeff", "<b></b>", "|---|", "\x00\x07", "()", "“”",
		"\uE000",
	} {
		check.That(t, !speakable.HasSpeech(silent), "HasSpeech(%q) = true", silent)
		check.Equal(t, speakable.Text(silent, "en-us", nil), "", "Text(%q)", silent)
	}
	for _, audible := range []string{"a", "7", "⚾", "%", "+", "日", "½", "[[ a ]]", "é", "$"} {
		got := speakable.Text(audible, "en-us", nil)
		check.That(t, speakable.HasSpeech(audible) && got != "",
			"HasSpeech(%q) = %t, Text = %q", audible, speakable.HasSpeech(audible), got)
	}
}

// TestText_espeakReadsNoSigns runs espeak-ng on the whole table and looks for the names of signs that the
// texts do not have in words.
func TestText_espeakReadsNoSigns(t *testing.T) {
	if testing.Short() {
		t.Skip("runs espeak-ng")
	}
	t.Parallel()
	espeak, err := exec.LookPath("espeak-ng")
	if err != nil {
		t.Fatal("espeak-ng is missing (\"make parts\" installs it)")
	}
	var in bytes.Buffer
	rows := 0
	for _, row := range sayings(t, "american.txt") {
		if spoken := strings.ToLower(row.spoken); !named.MatchString(spoken) {
			in.WriteString(speakable.Text(row.written, "en-us", nil) + "\n")
			rows++
		}
	}
	cmd := exec.CommandContext(t.Context(), espeak, "-q", "--ipa", "-v", "en-us")
	cmd.Stdin = &in
	out := check.Must(cmd.Output())(t)
	lines := bytes.Count(out, []byte("\n"))
	check.Require(t, lines >= rows, "espeak-ng read %d lines of %d rows", lines, rows)
	for line := range strings.Lines(string(out)) {
		for _, sign := range []string{
			"dˈæʃ", "slˈæʃ", "hˈæʃ", "ɹˌoʊmən", "ˈæstɚɹˌɪsk", "tˈɪldə", "ˌʌndɚskˈoːɹ", "kˈoʊlən",
		} {
			check.That(t, !strings.Contains(line, sign), "espeak-ng says %q in %q", sign, line)
		}
	}
}

// named matches names of signs that are spoken on purpose, and raw phonemes.
var named = regexp.MustCompile(`dash|slash|colon|hash|underscore|\[\[`)

// TestText_linearTime repeats parts for which a step could be quadratic: then 16 times the text would take
// 256 times as long instead of 16. One of a few attempts must succeed.
func TestText_linearTime(t *testing.T) {
	for _, part := range []string{
		"1", "a", "a.", "1.", "1,", "1-", "-", "[", "[[", "[[a", "](", "[a](b", "<b ", "<!--", "&", "&amp", "http://",
		"a@", "#", "$1", "\n", "\n- ", "| ", "*", "'", "\"", "🇺🇸", "👩\u200d", "é", "\u0301", "½", "10:", "A.",
		"x ", "1 ", "(", "\\", "…", "—", "π ", "Ж, ", "漢 ", "★", "🔥", "🔥 ", "1/2 ", "5m ",
		"a/", "/a", "</", "<style>", "\x1b[", "::", "A-",
		".a", "1h", "Mon-", "IT ", "#1", "\uE000",
	} {
		linear(t, part, "en-us")
	}
	for _, part := range []string{"1.", "1,", "1. ", "z. ", "str.", "am 1. und ", "1 ein ", "10.10.", "in 1 "} {
		linear(t, part, "de")
	}
}

// linear fails if the time for a repeated part is not linear in its length.
func linear(t *testing.T, part, lang string) {
	t.Helper()
	var ratio float64
	for range 6 {
		once, more := readingTime(t, part, lang, 1_000), readingTime(t, part, lang, 16_000)
		if ratio = float64(more) / float64(once); ratio < 64 {
			return
		}
	}
	t.Errorf("%s: 16 times as much of %q takes %.0f times as long", lang, part, ratio)
}

// readingTime returns the processor time for n bytes of a repeated part.
func readingTime(t *testing.T, part, lang string, n int) time.Duration {
	t.Helper()
	text := strings.Repeat(part, n/len(part))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := cpuTime(t)
	speakable.Text(text, lang, nil)
	return cpuTime(t) - begin
}

// cpuTime returns the processor time of this thread.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var now unix.Timespec
	check.NoError(t, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now))
	return time.Duration(now.Nano())
}

func FuzzText(f *testing.F) {
	for _, tt := range tables {
		for _, row := range sayings(f, tt.file) {
			f.Add(row.written, tt.lang)
		}
	}
	f.Fuzz(func(t *testing.T, s, lang string) {
		got := speakable.Text(s, lang, nil)
		check.Require(t, utf8.ValidString(got), "Text(%q) = %q, not UTF-8", s, got)
		check.Require(t, !strings.ContainsAny(got, "\n\r\u2028\u2029"), "Text(%q) = %q has several lines", s, got)
		check.Require(t, len(got) <= 64*len(s)+1, "Text(%q) has %d bytes", s, len(got))
		if got != "" && !strings.ContainsAny(got[len(got)-1:], ".!?") {
			t.Fatalf("Text(%q) = %q does not end with a mark", s, got)
		}
		check.Require(t, speakable.HasSpeech(s) == (got != ""),
			"HasSpeech(%q) = %t, but Text is %q", s, speakable.HasSpeech(s), got)
		const block = "[[ ˈx..a ]]"
		if !strings.Contains(s, "[") && !strings.Contains(s, "]") &&
			!strings.Contains(speakable.Text(s+" "+block+" "+s, lang, nil), block) {
			t.Fatalf("the block is lost behind %q", s)
		}
	})
}
