package speakable

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A region is a variety of English.
type region int

const (
	american region = iota // 11/20 is in November; one hundred five
	british                // all others
)

func regionOf(lang string) region {
	if lang == "en" || strings.HasPrefix(lang, "en-us") {
		return american
	}
	return british
}

// window limits, in bytes, how far one rule looks ahead, so that the work stays
// linear.
const window = 96

// A form is a pattern of text and its expansion.
type form struct {
	like *regexp.Regexp // anchored
	// say returns a match in words; "" means that the form does not apply.
	say func(r *reader, m []string) string
}

// tables holds the reader's constant data.
type tables struct {
	numbers       [2]numbers // by region
	numeric       []form     // forms that start with a digit, point, currency or bracket; the first match applies
	units         map[string]unit
	months        map[string]int
	abbreviations map[string]abbreviation
	symbols       map[rune]string
	sets          map[string]map[string]bool
}

// static is the only instance.
var static = &tables{
	numbers:       [2]numbers{newNumbers(american), newNumbers(british)},
	numeric:       numericForms(),
	units:         unitTable(),
	months:        monthTable(),
	abbreviations: abbreviationTable(),
	symbols:       symbolTable(),
	sets:          wordSets(),
}

// numericForms returns the numeric forms in the order in which they are tried.
func numericForms() []form {
	table := [][]form{
		dates(), clocks(), phones(), money(), dotted(), baseball(), ordinals(), fractions(), measures(), plainNumbers(),
	}
	var all []form
	for _, forms := range table {
		all = append(all, forms...)
	}
	return all
}

// A reader scans English text once and expands what is not words.
type reader struct {
	*tables
	numbers
	region region
	src    string
	at     int // position in src
	out    strings.Builder
	word   string // the word before, as written; "" after a sentence mark
	begins bool   // that word starts a sentence
	quote  bool   // inside double quotes
	chunk  chunk  // at the reader's position
}

// read expands English text to words.
func read(s string, region region) string {
	r := &reader{tables: static, numbers: static.numbers[region], region: region, src: s, begins: true}
	r.out.Grow(len(s) + len(s)/2)
	for r.at < len(r.src) {
		r.step()
	}
	return r.out.String()
}

// step reads the text at the reader's position.
func (r *reader) step() {
	c, size := utf8.DecodeRuneInString(r.src[r.at:])
	switch {
	case r.number(c):
	case isWord(c):
		r.readWord()
	case r.symbol(c):
	default:
		r.pass(size, c)
	}
}

// pass copies one character between words.
func (r *reader) pass(size int, c rune) {
	switch c {
	case '"':
		r.quote = !r.quote
	case '.', '!', '?', '\n':
		r.word = ""
	}
	r.out.WriteString(r.src[r.at : r.at+size])
	r.at += size
}

// number tries the numeric forms where one may start.
func (r *reader) number(c rune) bool {
	before, _ := utf8.DecodeLastRuneInString(r.src[:r.at])
	if r.at > 0 && (isWord(before) && !unicode.Is(unicode.So, before)) {
		return false
	}
	switch {
	case isDigit(c), unicode.Is(unicode.No, c), unicode.Is(unicode.Sc, c):
	case strings.ContainsRune(".('+UCA", c) && numericStart(r.clip(0)):
	default:
		return false
	}
	view := r.clip(0)
	for _, f := range r.numeric {
		m := f.like.FindStringSubmatch(view)
		if m == nil || !r.ends(m[0]) {
			continue
		}
		if spoken := f.say(r, m); spoken != "" {
			if strings.HasSuffix(m[0], ".") && !strings.HasSuffix(spoken, ".") && r.endsSentence(len(m[0]), false) {
				spoken += "."
			}
			r.emit(spoken, len(m[0]))
			r.word, r.begins = m[0], false
			return true
		}
	}
	return false
}

// numericStart reports whether a number may start with the mark at the start of
// s.
func numericStart(s string) bool {
	for i := 1; i < len(s) && i < 4; i++ {
		if isDigit(rune(s[i])) || strings.ContainsRune("$£€", rune(s[i])) || strings.HasPrefix(s[i:], "£") || strings.HasPrefix(s[i:], "€") {
			return true
		}
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return false
}

// ends reports whether a match ends at the end of a word.
func (r *reader) ends(match string) bool {
	last, _ := utf8.DecodeLastRuneInString(match)
	next, _ := utf8.DecodeRuneInString(r.src[r.at+len(match):])
	return r.at+len(match) == len(r.src) || !isWord(next) || !isWord(last)
}

// emit writes separate words in place of the next n bytes.
func (r *reader) emit(spoken string, n int) {
	if spoken != "" {
		if isWord(r.last()) {
			r.out.WriteByte(' ')
		}
		r.out.WriteString(spoken)
		next, _ := utf8.DecodeRuneInString(r.src[r.at+n:])
		if r.at+n < len(r.src) && isWord(next) {
			r.out.WriteByte(' ')
		}
	}
	r.at += n
}

// last returns the last rune written.
func (r *reader) last() rune {
	s := r.out.String()
	c, _ := utf8.DecodeLastRuneInString(s)
	return c
}

// next returns the text after the next n bytes, without leading spaces.
func (r *reader) next(n int) string { return strings.TrimLeft(r.clip(n), " ") }

// clip returns the text after the next n bytes, at most window bytes of it.
func (r *reader) clip(n int) string {
	s := r.src[r.at+n:]
	if len(s) <= window {
		return s
	}
	end := window
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// nextWord returns the word after the next n bytes, as written.
func (r *reader) nextWord(n int) string {
	s := r.next(n)
	if s == "" || !isWord(first(s)) {
		return ""
	}
	return token(s)
}

// is reports whether a word is in a set, in any case.
func (r *reader) is(set, word string) bool { return r.sets[set][strings.ToLower(word)] }

// endsSentence reports whether a point n bytes ahead also ends a sentence: a
// capitalised word follows, or nothing. With strict, the word must be one that
// often starts sentences.
func (r *reader) endsSentence(n int, strict bool) bool {
	s := r.next(n)
	if s == "" || s[0] == '\n' {
		return true
	}
	c, size := utf8.DecodeRuneInString(s)
	if !unicode.IsUpper(c) {
		return false
	}
	if strict {
		return r.is("starters", token(s))
	}
	second, _ := utf8.DecodeRuneInString(s[size:])
	return !unicode.IsUpper(second)
}

func first(s string) rune {
	c, _ := utf8.DecodeRuneInString(s)
	return c
}

func capital(word string) bool { return unicode.IsUpper(first(word)) }
