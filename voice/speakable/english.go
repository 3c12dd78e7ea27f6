package speakable

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A region is a way of writing and saying English.
type region int

const (
	american region = iota // 11/20 is in November; one hundred five
	british                // everybody else
)

func regionOf(lang string) region {
	if lang == "en" || strings.HasPrefix(lang, "en-us") {
		return american
	}
	return british
}

// window bounds, in bytes, what one rule looks at, so that the work stays linear.
const window = 96

// A form is a way to write something, and how it is said.
type form struct {
	like *regexp.Regexp // anchored
	// say puts a match into words; "" means that it is something else.
	say func(r *reader, m []string) string
}

// tables are what the reader knows. They are made once and never change.
type tables struct {
	numbers       [2]numbers // by region
	numeric       []form     // what begins with a digit, a point, a currency or a bracket; the first to fit wins
	units         map[string]unit
	months        map[string]int
	abbreviations map[string]abbreviation
	symbols       map[rune]string
	sets          map[string]map[string]bool
}

// static is the only one of them.
var static = &tables{
	numbers:       [2]numbers{newNumbers(american), newNumbers(british)},
	numeric:       numericForms(),
	units:         unitTable(),
	months:        monthTable(),
	abbreviations: abbreviationTable(),
	symbols:       symbolTable(),
	sets:          wordSets(),
}

// numericForms are tried in this order.
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

// A reader walks once over English text and puts into words what is not.
type reader struct {
	*tables
	numbers
	region region
	src    string
	at     int // where in src the reader stands
	out    strings.Builder
	word   string // the word before, as written; "" after a sentence mark
	begins bool   // whether that word begins a sentence
	quote  bool   // inside double quotes
	chunk  chunk  // what stands between spaces at the reader's place
}

// read puts English text into words.
func read(s string, region region) string {
	r := &reader{tables: static, numbers: static.numbers[region], region: region, src: s, begins: true}
	r.out.Grow(len(s) + len(s)/2)
	for r.at < len(r.src) {
		r.step()
	}
	return r.out.String()
}

// step reads what stands at the reader's place.
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

// pass copies one character that is between words.
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

// number tries the numeric forms where one may begin.
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
		if said := f.say(r, m); said != "" {
			if strings.HasSuffix(m[0], ".") && !strings.HasSuffix(said, ".") && r.endsSentence(len(m[0]), false) {
				said += "."
			}
			r.emit(said, len(m[0]))
			r.word, r.begins = m[0], false
			return true
		}
	}
	return false
}

// numericStart says whether a number may begin with the mark that s begins with.
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

// ends says whether a match ends where a word may end.
func (r *reader) ends(match string) bool {
	last, _ := utf8.DecodeLastRuneInString(match)
	next, _ := utf8.DecodeRuneInString(r.src[r.at+len(match):])
	return r.at+len(match) == len(r.src) || !isWord(next) || !isWord(last)
}

// emit says something in place of the next n bytes, as words of its own.
func (r *reader) emit(said string, n int) {
	if said != "" {
		if isWord(r.last()) {
			r.out.WriteByte(' ')
		}
		r.out.WriteString(said)
		next, _ := utf8.DecodeRuneInString(r.src[r.at+n:])
		if r.at+n < len(r.src) && isWord(next) {
			r.out.WriteByte(' ')
		}
	}
	r.at += n
}

// last is the last rune that was said.
func (r *reader) last() rune {
	s := r.out.String()
	c, _ := utf8.DecodeLastRuneInString(s)
	return c
}

// next is what follows the next n bytes, without spaces.
func (r *reader) next(n int) string { return strings.TrimLeft(r.clip(n), " ") }

// clip is a window on what follows the next n bytes.
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

// nextWord is the word after the next n bytes, as written.
func (r *reader) nextWord(n int) string {
	s := r.next(n)
	if s == "" || !isWord(first(s)) {
		return ""
	}
	return token(s)
}

// is says whether a word is in one of the reader's sets, in any case.
func (r *reader) is(set, word string) bool { return r.sets[set][strings.ToLower(word)] }

// endsSentence says whether a point n bytes ahead also ends a sentence: a word
// with a capital follows, or none. strict wants one that often begins sentences.
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
