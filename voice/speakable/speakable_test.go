package speakable_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
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

// Paragraphs and what follows a colon are lines of their own, however they are marked up; other lines are not. A tab
// follows a dash.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"One.\nTwo.", "One. Two."},
		{"One.\n\nTwo", "One.\nTwo."},
		{"One,\r\n \r\ntwo", "One,\ntwo."},
		{"<p>One</p><p>Two</p>", "One.\nTwo."},
		{"# Today\n\nRain", "Today.\nRain."},
		{"Shopping list:\n- milk\n- eggs", "Shopping list:\nmilk. eggs."},
		{"Shopping list:\n\n* milk", "Shopping list:\nmilk."},
		{"Note: milk", "Note: milk."},
		{"1. Eggs\n\n2. Milk\nor cream\n\n3. Tea", "one, Eggs.\ntwo, Milk. or cream.\nthree, Tea."},
		{"Bring:\n4. Eggs\n5. Milk", "Bring:\nfour, Eggs. five, Milk."},
		{"\n\nOne\n\n", "One."},
		{"Dinner — now - or -- never", "Dinner,\tnow,\tor,\tnever."},
		{"one-way, 3-4", "one-way, three to four."},
	} {
		check.Equal(t, speakable.Lines(tt.text, "en-us", nil), tt.want, "%q", tt.text)
		plain := strings.NewReplacer("\n", " ", "\t", " ").Replace(tt.want)
		check.Equal(t, speakable.Text(tt.text, "en-us", nil), plain, "%q", tt.text)
	}
}

// Languages without a verbalizer have their words for a minus, degrees and money, each row of which is one.
func TestText_otherLanguages(t *testing.T) {
	t.Parallel()
	for _, row := range [][3]string{
		{"fr", "Dehors : -3 °C, 5 €", "Dehors: moins 3 degrés, 5 euros."},
		{"fr-fr", "Il fait −12°", "Il fait moins 12 degrés."},
		{"es", "-3 °C y $5,50", "menos 3 grados y 5,50 dólares."},
		{"pl", "€20 (-1)", "20 euro, minus 1."},
		{"da", "a-3 og 5-3", "a-3 og 5-3."},
		{"ru", "-3 °C", "минус 3 градусов."},
		{"xx", "-3 °C", "-3 °C."},
	} {
		check.Equal(t, speakable.Text(row[1], row[0], nil), row[2], "%s: %q", row[0], row[1])
	}
	rows := strings.Split(string(check.Must(os.ReadFile("others.txt"))(t)), "\n")
	for _, row := range rows[2 : len(rows)-1] {
		words := strings.Fields(row)
		check.Require(t, len(words) == 5, "the row %q has %d words", row, len(words))
		want := words[1] + " 3 " + words[2] + ", 5 " + words[3] + ", 6 " + words[4] + "."
		check.Equal(t, speakable.Text("-3 °C, 5 €, $6", words[0], nil), want, "%s", words[0])
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
	f.Add("http://.", "fr")
	f.Add("http://=", "en")
	f.Add("- ", "en") // a dash at the end, before a block
	f.Fuzz(func(t *testing.T, s, lang string) {
		got := speakable.Text(s, lang, nil)
		check.Require(t, utf8.ValidString(got), "Text(%q) = %q, not UTF-8", s, got)
		check.Require(t, !strings.ContainsAny(got, "\n\r\u2028\u2029"), "Text(%q) = %q has several lines", s, got)
		check.Require(t, len(got) <= 64*len(s)+1, "Text(%q) has %d bytes", s, len(got))
		check.Require(t, got == "" || strings.ContainsAny(got[len(got)-1:], ".!?"),
			"Text(%q) = %q does not end with a mark", s, got)
		check.Require(t, speakable.HasSpeech(s) == (got != ""),
			"HasSpeech(%q) = %t, but Text is %q", s, speakable.HasSpeech(s), got)
		const block = "[[ ˈx..a ]]"
		if !strings.Contains(s, "[") && !strings.Contains(s, "]") &&
			!strings.Contains(speakable.Text(s+" "+block+" "+s, lang, nil), block) {
			t.Fatalf("the block is lost behind %q", s)
		}
	})
}

func TestLexicon_replaces(t *testing.T) {
	t.Parallel()
	const file = "\uFEFF# names\r\n" + `
sql = sequel
Polish = Pole ish
polish = shine
new york = Gotham
New York Yankees = the Yanks
york = Yorick
"#1" = the best
"[de]" = Germany
c++ = see plus plus
[en] boot = trunk
[en-gb] boot = boot of the car
[de] boot = [[ boːt ]]
km run = $5 dash
café = coffee house
wifi = why fi [[ ɪks ]]
`
	lex := check.Must(speakable.ParseLexicon(strings.NewReader(file)))(t)
	for _, row := range append(check.Table(t, "testdata/lexicon-texts.txt"), []string{"en", "new\tYork", "Gotham."}) {
		check.Equal(t, speakable.Text(row[1], row[0], lex), row[2], "Text(%q, %s)", row[1], row[0])
	}
}

func TestLexicon_empty(t *testing.T) {
	t.Parallel()
	for _, lex := range []*speakable.Lexicon{nil, {}} {
		check.Equal(t, speakable.Text("sql", "en", lex), "sql.", "Text without the entry")
	}
}

func TestParseLexicon_errors(t *testing.T) {
	t.Parallel()
	for _, row := range append(check.Table(t, "testdata/lexicon-errors.txt"),
		[]string{"a = ", "line 1: the replacement, right of the =, is empty"},
		[]string{"a = \xff", "line 1: not UTF-8"},
		[]string{"a = b\n" + strings.Repeat("x", 5000), "line 2: "}) {
		file := row[0]
		lex, err := speakable.ParseLexicon(strings.NewReader(file + "\nZyx = the end\n"))
		check.That(t, err != nil && strings.Contains(err.Error(), row[1]),
			"ParseLexicon(%.40q) = %v, want %q", file, err, row[1])
		kept := speakable.Text("Zyx", "en", lex) == "the end."
		check.That(t, kept || len(file) >= 5000, "ParseLexicon(%.40q): the valid line is lost", file)
	}
}

func FuzzParseLexicon(f *testing.F) {
	f.Add("a = b\n[en] C++ = see\n\"#\" = [[ x ]]", "a C++ # text")
	f.Add("New York = x", "new  york New\nYork")
	f.Fuzz(func(t *testing.T, file, s string) {
		lex, err := speakable.ParseLexicon(strings.NewReader(file))
		if err != nil {
			check.Require(t, strings.HasPrefix(err.Error(), "line "),
				"ParseLexicon(%q): %v has no line number", file, err)
		}
		got := speakable.Text(s, "en-us", lex)
		check.Require(t, !strings.ContainsAny(got, "\n\r"), "Text(%q) with %q = %q", s, file, got)
		check.Require(t, !speakable.HasSpeech(s) || got != "", "Text(%q) with %q is empty", s, file)
	})
}

// numerals returns German text with numbers in digits, as espeak-ng reads them: it says "achtundvierzig" with
// a w and 48 as people do, so that phonemes of numbers in words would be those of no person. Of the years
// before 2000 only the last two digits are converted.
func numerals(text string) string {
	words := strings.Split(text, " ")
	for i, word := range words {
		bare := strings.TrimRight(word, ".,;:!?")
		marks := word[len(bare):]
		if century, rest, ok := strings.Cut(bare, "zehnhundert"); ok && century != "" {
			if v, ok := numeral(rest); ok && rest != "" {
				words[i] = century + "zehnhundert " + strconv.Itoa(v) + marks
			}
			continue
		}
		if v, ok := numeral(bare); ok && v > 12 {
			words[i] = strconv.Itoa(v) + marks
		}
	}
	return strings.Join(words, " ")
}

func digitNames() []string {
	return []string{
		"", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf",
		"dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
	}
}

func tenNames() []string {
	return []string{"-", "-", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"}
}

// numeral returns the value of a German number in words below a million.
func numeral(word string) (int, bool) {
	if head, rest, ok := strings.Cut(word, "tausend"); ok {
		return sum(head, rest, 1000)
	}
	if head, rest, ok := strings.Cut(word, "hundert"); ok {
		return sum(head, rest, 100)
	}
	if v := slices.Index(digitNames(), strings.Replace(word, "eins", "ein", 1)); v >= 0 {
		return v, true
	}
	one, ten, ok := strings.Cut(word, "und")
	if !ok {
		one, ten = "", word
	}
	v, t := slices.Index(digitNames(), one), slices.Index(tenNames(), ten)
	return 10*t + v, v >= 0 && v < 10 && t > 1
}

// sum returns head · unit + rest; an empty head is one.
func sum(head, rest string, unit int) (int, bool) {
	h, r := 1, 0
	ok := true
	if head != "" {
		h, ok = numeral(head)
	}
	if ok && rest != "" {
		r, ok = numeral(rest)
	}
	return h*unit + r, ok
}

// A comparison is a row of testdata/LANG/CLASS.tsv.
type comparison struct {
	class, written string
	wordings       []string
}

// TestText_soundsAsTheWords compares, as phonemes of espeak-ng, what Text returns with the words that a person
// says. A text that espeak-ng alone reads as well should be left to it, which the error says.
func TestText_soundsAsTheWords(t *testing.T) {
	if testing.Short() {
		t.Skip("runs espeak-ng")
	}
	t.Parallel()
	for dir, lang := range map[string]string{"en": "en-us", "de": "de"} {
		rows := comparisons(t, dir)
		var texts []string
		for _, row := range rows {
			if spoken := speakable.Text(row.written, lang, nil); !same(spoken, row.wordings) {
				texts = append(append(texts, row.written, spoken), row.wordings...)
			}
		}
		ipa := phonemes(t, lang, texts)
		for _, row := range rows {
			spoken := speakable.Text(row.written, lang, nil)
			if !same(spoken, row.wordings) && !ipa.equal(spoken, row.wordings) {
				t.Errorf("%s/%s: %q is spoken %q, want %q; espeak-ng alone is right: %t", dir, row.class, row.written,
					spoken, row.wordings, ipa.equal(row.written, row.wordings))
			}
		}
	}
}

// TestText_phonemes holds what espeak-ng says in the end against a dictionary: where a respelling misses, both sides of
// the comparison with words sound alike.
func TestText_phonemes(t *testing.T) {
	if testing.Short() {
		t.Skip("runs espeak-ng")
	}
	t.Parallel()
	for dir, lang := range map[string]string{"en": "en-us", "de": "de"} {
		rows := comparisonsOf(t, "testdata/phonemes/"+dir+".tsv")
		texts := make([]string, len(rows))
		for i, row := range rows {
			texts[i] = speakable.Text(row.written, lang, nil)
		}
		ipa := phonemes(t, lang, texts)
		for i, row := range rows {
			got := ipa.of(texts[i])
			has := func(want string) bool { return strings.Contains(got, want) }
			check.That(t, slices.ContainsFunc(row.wordings, has), "%q is %s, want %s", row.written, got, row.wordings)
		}
	}
}

// comparisons reads the tables of a language.
func comparisons(tb testing.TB, dir string) []comparison {
	tb.Helper()
	files := check.Must(filepath.Glob("testdata/" + dir + "/*.tsv"))(tb)
	var rows []comparison
	for _, file := range files {
		for _, row := range comparisonsOf(tb, file) {
			if dir == "de" {
				row.wordings = strings.Split(numerals(strings.Join(row.wordings, " | ")), " | ")
			}
			rows = append(rows, row)
		}
	}
	check.Require(tb, len(rows) >= 100, "testdata/%s has %d rows", dir, len(rows))
	return rows
}

// comparisonsOf reads one table.
func comparisonsOf(tb testing.TB, file string) []comparison {
	tb.Helper()
	var rows []comparison
	for line := range strings.Lines(string(check.Must(os.ReadFile(file))(tb))) {
		written, words, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		rows = append(rows, comparison{
			class:    strings.TrimSuffix(filepath.Base(file), ".tsv"),
			written:  strings.ReplaceAll(written, `\n`, "\n"),
			wordings: strings.Split(words, " | "),
		})
	}
	return rows
}

// A pronunciation maps texts to their phonemes.
type pronunciation map[string]string

// equal reports whether spoken sounds as one of the wordings does, with or without pauses.
func (p pronunciation) equal(spoken string, wordings []string) bool {
	for _, words := range wordings {
		if p.unstressed(spoken) == p.unstressed(words) ||
			p.unstressed(unpaused(spoken)) == p.unstressed(unpaused(words)) {
			return true
		}
	}
	return false
}

// of returns the phonemes of a text, with those of its blocks.
func (p pronunciation) of(text string) string {
	between, blocks := blocksOf(text)
	var b strings.Builder
	for i, part := range between {
		b.WriteString(p[part])
		if i < len(blocks) {
			b.WriteString(blocks[i])
		}
	}
	return b.String()
}

// unstressed returns the phonemes of a text without stress, spaces and pauses.
func (p pronunciation) unstressed(text string) string { return unstressed.Replace(p.of(text)) }

var block = regexp.MustCompile(`\[\[([^\[\]]*)\]\]`)

// blocksOf returns the text around raw phonemes, and these.
func blocksOf(text string) (between, blocks []string) {
	for _, found := range block.FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, found[1])
	}
	return block.Split(text, -1), blocks
}

// same reports whether spoken has the letters of one of the wordings and no digits, so that espeak-ng need not be run.
func same(spoken string, wordings []string) bool {
	return !strings.ContainsFunc(spoken, unicode.IsDigit) &&
		slices.ContainsFunc(wordings, func(words string) bool { return letters(spoken) == letters(words) })
}

// letters returns the words of a text, in small letters but for those with capitals inside, which espeak-ng may spell.
func letters(text string) string {
	words := strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && c != '\'' })
	for i, word := range words {
		_, first := utf8.DecodeRuneInString(word)
		if rest := word[first:]; rest == strings.ToLower(rest) {
			words[i] = strings.ToLower(word)
		}
	}
	return strings.Join(words, " ")
}

// phonemes runs espeak-ng once on texts, and on them without pauses.
func phonemes(tb testing.TB, lang string, texts []string) pronunciation {
	tb.Helper()
	espeak, err := exec.LookPath("espeak-ng")
	if err != nil {
		tb.Fatal("espeak-ng is missing (\"make parts\" installs it)")
	}
	var parts []string
	for _, text := range texts {
		paused, _ := blocksOf(text)
		unpaused, _ := blocksOf(unpaused(text))
		parts = append(append(parts, paused...), unpaused...)
	}
	const mark, markIPA = "[[????]]", "ʔʔʔʔ"
	var in bytes.Buffer
	for _, text := range parts {
		in.WriteString(strings.ReplaceAll(text, "\n", " ") + "\n" + mark + "\n")
	}
	cmd := exec.CommandContext(tb.Context(), espeak, "-q", "--ipa", "-b", "1", "-v", lang)
	cmd.Stdin = &in
	out := check.Must(cmd.Output())(tb)
	all := pronunciation{}
	var ipa strings.Builder
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != markIPA {
			ipa.WriteString(line)
			continue
		}
		check.Require(tb, len(parts) != 0, "espeak-ng has answered more often than it was asked")
		all[parts[0]] = ipa.String()
		parts = parts[1:]
		ipa.Reset()
	}
	check.Require(tb, len(parts) == 0, "espeak-ng has not answered %q", parts)
	return all
}

var (
	unstressed = strings.NewReplacer("ˈ", "", "ˌ", "", " ", "", "_", "")
	pauses     = strings.NewReplacer(", ", " ", "; ", " ", ": ", " ", ". ", " ", "! ", " ", "? ", " ")
)

// unpaused returns a text without the marks between words.
func unpaused(text string) string { return strings.TrimRight(pauses.Replace(text), ".!?,;:") }
