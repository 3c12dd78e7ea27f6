package speakable

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/voice/speakable/recognize"
)

// A Lexicon maps written text to replacements. The zero value and nil have no entries. It is safe for
// concurrent use.
type Lexicon struct {
	entries map[string][]entry // by the pattern's first token in lower case; the first match applies
}

type entry struct {
	line    int
	lang    string // "" means all languages
	pattern string
	exact   bool // the pattern matches only its own case
	say     string
}

// maxLexiconLine limits the length of a line, in bytes.
const maxLexiconLine = 4096

var (
	langTag   = regexp.MustCompile(`^\[([A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*)\]\s+`)
	separator = regexp.MustCompile(`\s=(?:\s|$)`)
	closing   = regexp.MustCompile(`"\s+=(?:\s|$)`)
)

// maxInvalid is the number of invalid lines in an error of [ParseLexicon].
const maxInvalid = 10

// ParseLexicon parses a lexicon in the format of the package comment. The error names the invalid lines, of
// many the first ones, with the reasons, separated by semicolons; the lexicon has the valid lines.
func ParseLexicon(r io.Reader) (*Lexicon, error) {
	lex := &Lexicon{entries: map[string][]entry{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 512), maxLexiconLine)
	var wrong []error
	n := 0
	for lines.Scan() {
		n++
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\uFEFF"))
		if text == "" || text[0] == '#' {
			continue
		}
		e, err := parseEntry(text)
		if err == nil {
			e.line = n
			err = lex.add(e)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %w", n, err))
		}
	}
	if err := lines.Err(); err != nil {
		wrong = append(wrong, fmt.Errorf("line %d: %w", n+1, err))
	}
	for _, same := range lex.entries {
		slices.SortFunc(same, closer)
	}
	return lex, invalidLines(wrong)
}

// invalidLines returns one error for the errors of lines, nil for none.
func invalidLines(wrong []error) error {
	if len(wrong) == 0 {
		return nil
	}
	lines := make([]string, 0, maxInvalid+1)
	for _, err := range wrong[:min(len(wrong), maxInvalid)] {
		lines = append(lines, err.Error())
	}
	if more := len(wrong) - maxInvalid; more > 0 {
		lines = append(lines, fmt.Sprintf("%d more", more))
	}
	return errors.New(strings.Join(lines, "; "))
}

// parseEntry parses a line with an entry.
func parseEntry(text string) (entry, error) {
	var e entry
	if !utf8.ValidString(text) {
		return e, errors.New("not UTF-8")
	}
	if m := langTag.FindStringSubmatch(text); m != nil {
		e.lang = language(m[1])
		text = text[len(m[0]):]
	}
	ends := separator
	if strings.HasPrefix(text, `"`) {
		ends, text = closing, text[1:]
	}
	at := ends.FindStringIndex(text)
	if at == nil {
		return e, errors.New(`want "pattern = replacement", with a space on both sides of the =`)
	}
	e.pattern = strings.Join(strings.Fields(tidy(text[:at[0]])), " ")
	e.exact = strings.ToLower(e.pattern) != e.pattern
	e.say = strings.TrimSpace(clean(text[at[1]:]))
	return e, e.check()
}

// check returns an error if an entry is invalid.
func (e entry) check() error {
	blocks := rawBlock.FindAllString(e.say, -1)
	switch {
	case e.pattern == "" || strings.Contains(e.pattern, hidden):
		return errors.New("the pattern, left of the =, is empty")
	case strings.Contains(e.pattern, "[["):
		return errors.New("a pattern cannot have phonemes")
	case e.say == "":
		return errors.New("the replacement, right of the =, is empty")
	case strings.Count(e.say, "[[") != len(blocks) || strings.Count(e.say, "]]") != len(blocks):
		return errors.New("phonemes are written [[ like this ]], both ends on one line")
	case !HasSpeech(e.say):
		return errors.New("the replacement, right of the =, has no sound")
	}
	return nil
}

// add adds an entry; a pattern may occur once per language.
func (l *Lexicon) add(e entry) error {
	first := recognize.Head(e.pattern)
	key := strings.ToLower(first)
	for _, old := range l.entries[key] {
		if old.pattern == e.pattern && old.lang == e.lang {
			return fmt.Errorf("%q is already on line %d", e.pattern, old.line)
		}
	}
	l.entries[key] = append(l.entries[key], e)
	return nil
}

// closer orders entries that match at one position: the longer pattern first, then the exact one, then the
// more specific language.
func closer(a, b entry) int {
	switch {
	case len(a.pattern) != len(b.pattern):
		return len(b.pattern) - len(a.pattern)
	case a.exact != b.exact && a.exact:
		return -1
	case a.exact != b.exact:
		return 1
	}
	return len(b.lang) - len(a.lang)
}

// apply applies the lexicon to s, except blocks of raw phonemes.
func (l *Lexicon) apply(s, lang string) string {
	if l == nil || len(l.entries) == 0 {
		return s
	}
	return around(s, func(s string) string { return l.replace(s, lang) })
}

// replace scans s by tokens and replaces the patterns that start at one.
func (l *Lexicon) replace(s, lang string) string {
	var b strings.Builder
	for s != "" {
		head := recognize.Head(s)
		e, n := l.match(s, strings.ToLower(head), lang)
		if n == 0 {
			b.WriteString(head)
			s = s[len(head):]
			continue
		}
		b.WriteString(e.say)
		s = s[n:]
		if !endsWord(e.pattern) && endsWord(e.say) && recognize.IsWord(recognize.First(s)) {
			b.WriteByte(' ') // as in C++11
		}
	}
	return b.String()
}

// match returns the best entry at the start of s and the number of bytes that it replaces, 0 for none. key is
// the first token of s in lower case.
func (l *Lexicon) match(s, key, lang string) (entry, int) {
	for _, e := range l.entries[key] {
		if e.lang != "" && lang != e.lang && !strings.HasPrefix(lang, e.lang+"-") {
			continue
		}
		if n := e.prefix(s); n > 0 {
			return e, n
		}
	}
	return entry{}, 0
}

// prefix returns the length of the entry's pattern at the start of s, matched as whole words, 0 if it does
// not match. A space matches any white space.
func (e entry) prefix(s string) int {
	at := 0
	var p, r rune
	for _, p = range e.pattern {
		if at == len(s) {
			return 0
		}
		var n int
		r, n = utf8.DecodeRuneInString(s[at:])
		switch {
		case p == ' ' && unicode.IsSpace(r):
			n = len(s) - at - len(strings.TrimLeftFunc(s[at:], unicode.IsSpace))
		case r != p && (e.exact || unicode.ToLower(r) != p):
			return 0
		}
		at += n
	}
	next, _ := utf8.DecodeRuneInString(s[at:])
	if recognize.IsWord(p) && at < len(s) && recognize.IsWord(next) {
		return 0
	}
	return at
}

func endsWord(s string) bool {
	c, _ := utf8.DecodeLastRuneInString(s)
	return recognize.IsWord(c)
}
