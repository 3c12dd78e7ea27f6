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

	"pressbox/voice/speakable"
)

// A saying is what is written and what is said for it.
type saying struct{ written, said string }

// sayings reads a table of testdata: "written ⇒ said", \n for the end of a line.
func sayings(tb testing.TB, file string) []saying {
	tb.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		tb.Fatal(err)
	}
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

func TestTextSaysWhatIsMeant(t *testing.T) {
	t.Parallel()
	for _, tt := range tables {
		table := sayings(t, tt.file)
		if len(table) < tt.least {
			t.Errorf("%s has %d rows, want at least %d", tt.file, len(table), tt.least)
		}
		for _, row := range table {
			if got := speakable.Text(row.written, tt.lang, nil); got != row.said {
				t.Errorf("Text(%q, %s) = %q, want %q", row.written, tt.lang, got, row.said)
			}
		}
	}
}

func TestTextOfTextIsTheSame(t *testing.T) {
	t.Parallel()
	for _, tt := range tables {
		for _, row := range sayings(t, tt.file) {
			if again := speakable.Text(row.said, tt.lang, nil); again != row.said {
				t.Errorf("Text(%q, %s) = %q, want it unchanged", row.said, tt.lang, again)
			}
		}
	}
}

func TestTextWithoutSpeechIsEmpty(t *testing.T) {
	t.Parallel()
	for _, silent := range []string{"", " ", "\n\t\r\n", "...", "?!", "---", "***", "\u200b\ufeff", "<b></b>", "|---|", "\x00\x07", "()", "“”", "\uE000"} {
		if speakable.HasSpeech(silent) {
			t.Errorf("HasSpeech(%q) = true", silent)
		}
		if got := speakable.Text(silent, "en-us", nil); got != "" {
			t.Errorf("Text(%q) = %q, want nothing", silent, got)
		}
	}
	for _, heard := range []string{"a", "7", "⚾", "%", "+", "日", "½", "[[ a ]]", "é", "$"} {
		if !speakable.HasSpeech(heard) || speakable.Text(heard, "en-us", nil) == "" {
			t.Errorf("%q has speech, but HasSpeech = %t and Text = %q", heard, speakable.HasSpeech(heard), speakable.Text(heard, "en-us", nil))
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 0}, {" - ", 0}, {"one", 1}, {"twenty-six, don't!", 2}, {"  a  b\nc ", 3}, {"seven p.m.", 2}, {"[[ bˈæt mæn ]].", 2}, {"Über alles", 2},
	} {
		if got := speakable.Words(tt.text); got != tt.want {
			t.Errorf("Words(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}

// TestEspeakNamesNoSigns has espeak-ng read the whole table and listens for the
// names of signs that nobody wrote out.
func TestEspeakNamesNoSigns(t *testing.T) {
	t.Parallel()
	espeak, err := exec.LookPath("espeak-ng")
	if err != nil {
		t.Fatal("espeak-ng is missing; make test installs it")
	}
	var in bytes.Buffer
	rows := 0
	for _, row := range sayings(t, "american.txt") {
		if said := strings.ToLower(row.said); !named.MatchString(said) {
			in.WriteString(speakable.Text(row.written, "en-us", nil) + "\n")
			rows++
		}
	}
	cmd := exec.CommandContext(t.Context(), espeak, "-q", "--ipa", "-v", "en-us")
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(out, []byte("\n")); lines < rows {
		t.Fatalf("espeak-ng read %d lines of %d rows", lines, rows)
	}
	for line := range strings.Lines(string(out)) {
		for _, sign := range []string{"dˈæʃ", "slˈæʃ", "hˈæʃ", "ɹˌoʊmən", "ˈæstɚɹˌɪsk", "tˈɪldə", "ˌʌndɚskˈoːɹ", "kˈoʊlən"} {
			if strings.Contains(line, sign) {
				t.Errorf("espeak-ng says %q in %q", sign, line)
			}
		}
	}
}

// named finds the names of signs that are meant to be heard, and raw phonemes.
var named = regexp.MustCompile(`dash|slash|colon|hash|underscore|\[\[`)

// TestTextIsLinear repeats what a step could be quadratic in. Sixteen times the
// text takes sixteen times as long, 256 times if it were; one of a few attempts
// shows it.
func TestTextIsLinear(t *testing.T) {
	for _, part := range []string{
		"1", "a", "a.", "1.", "1,", "1-", "-", "[", "[[", "[[a", "](", "[a](b", "<b ", "<!--", "&", "&amp", "http://", "a@", "#", "$1", "\n", "\n- ",
		"| ", "*", "'", "\"", "🇺🇸", "👩\u200d", "é", "\u0301", "½", "10:", "A.", "x ", "1 ", "(", "\\", "…", "—",
	} {
		var ratio float64
		for range 6 {
			once, more := reading(t, part, 1_000), reading(t, part, 16_000)
			if ratio = float64(more) / float64(once); ratio < 64 {
				break
			}
		}
		if ratio >= 64 {
			t.Errorf("16 times as much of %q takes %.0f times as long", part, ratio)
		}
	}
}

// reading is how long a processor takes to read n bytes of a repeated part, whatever
// else it does meanwhile.
func reading(t *testing.T, part string, n int) time.Duration {
	t.Helper()
	text := strings.Repeat(part, n/len(part))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := worked(t)
	speakable.Text(text, "en-us", nil)
	return worked(t) - begin
}

// worked is how long a processor has worked for this thread.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		t.Fatal(err)
	}
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
		if !utf8.ValidString(got) {
			t.Fatalf("Text(%q) = %q, not UTF-8", s, got)
		}
		if strings.ContainsAny(got, "\n\r\u2028\u2029") {
			t.Fatalf("Text(%q) = %q has several lines", s, got)
		}
		if len(got) > 64*len(s)+1 {
			t.Fatalf("Text(%q) has %d bytes", s, len(got))
		}
		if got != "" && !strings.ContainsAny(got[len(got)-1:], ".!?") {
			t.Fatalf("Text(%q) = %q does not end with a mark", s, got)
		}
		if speakable.HasSpeech(s) != (got != "") {
			t.Fatalf("HasSpeech(%q) = %t, but Text is %q", s, speakable.HasSpeech(s), got)
		}
		const block = "[[ ˈx**1 ]]"
		if !strings.Contains(s, "[") && !strings.Contains(s, "]") && !strings.Contains(speakable.Text(s+" "+block+" "+s, lang, nil), block) {
			t.Fatalf("the block is lost behind %q", s)
		}
	})
}
