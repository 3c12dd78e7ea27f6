package speakable

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/voice/speakable/recognize"
)

var (
	link = regexp.MustCompile(
		`!?\[([^\[\]\x{E000}\n]*)\]\(([^()\s\x{E000}]*(?:\([^()\s\x{E000}]*\)[^()\s\x{E000}]*)*)` +
			`(?: +"[^"\x{E000}\n]*")?\)`,
	)
	linkRef  = regexp.MustCompile(`\[([^\[\]\x{E000}\n]+)\]\[[^\[\]\x{E000}\n]*\]`)
	footnote = regexp.MustCompile(`\[\^\w{1,32}\]:?`)
	escaped  = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
	heading  = regexp.MustCompile(`^ {0,3}#{1,6} +`)
	item     = regexp.MustCompile(`^\s*(?:[-*+•◦▪‣·–—] +(?:\[[ xX]\] +)?|(\d{1,3})[.)] +)`)
	quoted   = regexp.MustCompile(`^\s*(?:> ?)+`)
	rule     = regexp.MustCompile(`^\s*(?:[|:+*_=~-]\s*){2,}$|^\s*$`)
	fence    = regexp.MustCompile("^\\s*(?:```+|~~~+)[\\w+-]*\\s*$")
)

// A line is a line of a message without its Markdown.
type line struct {
	text  string
	block bool // a heading, item or row: a sentence of its own
}

// unmark removes Markdown from s and joins lines: a paragraph, a heading, an item and a row of a table end
// with "\n"; a wrapped line is continued. [punctuate] removes the marks of emphasis.
func unmark(s string) string {
	if strings.Contains(s, "]") {
		s = link.ReplaceAllStringFunc(s, linkText)
		s = linkRef.ReplaceAllString(s, "$1")
		s = footnote.ReplaceAllString(s, "")
	}
	if strings.Contains(s, `\`) {
		s = escaped.ReplaceAllString(s, "$1")
	}
	lines := strings.Split(s, "\n")
	var b strings.Builder
	b.Grow(len(s))
	before := line{block: true}
	items := listed(lines)
	for i, raw := range lines {
		now := readLine(raw, len(lines) > 1, items[i])
		if i > 0 {
			b.WriteString(between(before, now))
		}
		b.WriteString(now.text)
		before = now
	}
	return b.String()
}

// listed returns which lines that begin with a number and a period are items: the first one, and one before or
// after its neighbor, also with other lines between them. Another one is a date: 25. Mai.
func listed(lines []string) []bool {
	items := make([]bool, len(lines))
	last, n := 0, 0 // the numbered line before, and its number
	for i, line := range lines {
		now := numberOf(line)
		if now == 0 {
			continue
		}
		next := now == n+1 && n > 0
		items[i] = now == 1 || next
		items[last] = items[last] || next
		last, n = i, now
	}
	return items
}

// numberOf returns the number of an item, 0 for none.
func numberOf(line string) int {
	m := item.FindStringSubmatch(line)
	if m == nil {
		return 0
	}
	return recognize.Atoi(m[1])
}

func linkText(l string) string {
	m := link.FindStringSubmatch(l)
	if strings.TrimSpace(m[1]) == "" && l[0] != '!' {
		return m[2]
	}
	return m[1]
}

// readLine removes the marks of a line. A single "- 5" is a number and not an item; a single "> 5" is not a
// quotation.
func readLine(s string, several, listed bool) line {
	if rule.MatchString(s) || fence.MatchString(s) {
		return line{block: true}
	}
	if q := quoted.FindString(s); q != "" && !startsWithDigit(s[len(q):]) &&
		!strings.ContainsRune("$£€", recognize.First(s[len(q):])) {
		s = s[len(q):]
	}
	if h := heading.FindString(s); h != "" {
		return line{text: strings.TrimRight(s[len(h):], "# "), block: true}
	}
	if m := item.FindStringSubmatch(s); m != nil {
		rest := s[len(m[0]):]
		switch {
		case m[1] != "" && listed && several:
			return line{text: m[1] + ", " + rest, block: true}
		case m[1] == "" && (several || !startsWithDigit(rest)):
			return line{text: rest, block: true}
		}
	}
	row := strings.HasPrefix(strings.TrimSpace(s), "|")
	return line{text: strings.Trim(s, " |"), block: row}
}

func startsWithDigit(s string) bool { return s != "" && (recognize.IsDigit(rune(s[0])) || s[0] == '.') }

// wrapped is the minimum length of a line that may have been wrapped, in bytes.
const wrapped = 60

// between returns the separator of two lines. A line is continued if it is long or the next one starts with a
// lower-case letter.
func between(a, b line) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(b.text, " \"'(*_"))
	runsOn := !a.block && !b.block && (len(a.text) >= wrapped || unicode.IsLower(first))
	if runsOn && b.text != "" && a.text != "" {
		return " "
	}
	return "\n"
}
