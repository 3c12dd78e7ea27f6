package recognize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// picture recognizes emoji and ratings. A run of one emoji is said once; one at either end of a sentence is not
// said, but as its subject, nor one beside its own name. Between words it stands between pauses. A flag is the
// name of its country.
func (s *tokenizer) picture(c rune) bool {
	switch c {
	case '★', '☆', '⭐', '🌟':
		return s.stars()
	}
	if s.EmojiName == nil {
		return false
	}
	name, n := s.emoji(s.rest(0))
	if n == 0 {
		return false
	}
	for end := n; ; {
		gap := len(s.rest(end)) - len(strings.TrimLeft(s.rest(end), " "))
		again, more := s.emoji(s.rest(end + gap))
		if more == 0 || again != name {
			break
		}
		end += gap + more
		n = end
	}
	begun, goesOn := IsWord(First(strings.TrimLeft(s.words[0], "$€£+-"))), s.speaks(n)
	named := c < firstPictograph || regional(c) || strings.ContainsRune(s.src[s.at:s.at+n], flagEnd)
	switch {
	case s.beside(name, n):
		return s.take(Sign{""}, n)
	case named, !begun && s.Is(Predicate, s.nextWord(n)), !goesOn && !s.spoken:
		return s.take(Emoji{name}, n)
	case begun != goesOn, !goesOn:
		return s.take(Sign{""}, n)
	}
	s.flush()
	s.tokens = append(s.tokens, Text(","))
	s.take(Emoji{name}, n)
	s.tokens = append(s.tokens, Text(","))
	return true
}

// speaks reports whether the sentence has words after the next n bytes.
func (s *tokenizer) speaks(n int) bool {
	text := s.rest(n)
	for len(text) > 0 {
		if _, size := s.emoji(text); size > 0 {
			text = text[size:]
			continue
		}
		c, size := utf8.DecodeRuneInString(text)
		switch {
		case IsWord(c), unicode.Is(unicode.Sc, c):
			return true
		case strings.ContainsRune(".!?\n", c):
			return false
		}
		text = text[size:]
	}
	return false
}

// firstPictograph is the first emoji that is no sign of texts, such as ©.
const firstPictograph = 0x2300

// flagEnd ends the flag of a region.
const flagEnd = '\U000E007F'

// stars recognizes a rating: ★★★★☆ and ⭐⭐⭐.
func (s *tokenizer) stars() bool {
	full, empty, n := 0, 0, 0
	for _, c := range s.src[s.at:] {
		switch c {
		case '★', '⭐', '🌟':
			full++
		case '☆':
			empty++
		default:
			c = -1
		}
		if c < 0 {
			break
		}
		n += utf8.RuneLen(c)
	}
	of := full + empty
	if empty == 0 {
		of = 0
	}
	return s.take(Stars{full, of}, n)
}

// emoji returns the name and length of the longest emoji with a name at the start of text.
func (s *tokenizer) emoji(text string) (name string, n int) {
	if text == "" || text[0] < 0x80 {
		return "", 0
	}
	n = sequence(text)
	for n > 0 {
		if name = s.signs[text[:n]]; name != "" {
			return name, n
		}
		if name = s.EmojiName(text[:n]); name != "" {
			return name, n
		}
		_, size := utf8.DecodeLastRuneInString(text[:n])
		n -= size
	}
	return "", 0
}

// sequence returns the length of the emoji sequence at the start of text: symbols with joiners between them,
// or the two letters of a flag.
func sequence(text string) int {
	n, joined := 0, true
	for i, c := range text {
		flag := regional(c) && regional(First(text)) && i == utf8.RuneLen(c)
		switch {
		case c == '\u200D':
			joined = true
			continue
		case n > 0 && 0xE0020 <= c && c <= 0xE007F: // the letters of a region's flag
			n = i + utf8.RuneLen(c)
			continue
		case !flag && (!joined || IsWord(c) || c < 0x80):
			return n
		}
		n, joined = i+utf8.RuneLen(c), false
	}
	return n
}

// regional reports whether c is a letter of a flag.
func regional(c rune) bool { return 0x1F1E6 <= c && c <= 0x1F1FF }

// beside reports whether the last word of an emoji's name is one of the next two words after n bytes, or the
// word before.
func (s *tokenizer) beside(name string, n int) bool {
	words := append(s.nextWords(n, 3), s.before(0))
	for label := range strings.FieldsSeq(name) {
		for _, word := range words {
			if len(label) > 2 && sameWord(word, label) {
				return true
			}
		}
	}
	return false
}

// sameWord reports whether two words are equal but for their case and a plural.
func sameWord(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || a == b+"s" || a+"s" == b
}

// scripts are the scripts that have a name in the table of signs.
//
//nolint:gochecknoglobals // a table
var scripts = strings.Fields("Latin Greek Cyrillic Han Hiragana Katakana Hangul Arabic Hebrew Thai Devanagari " +
	"Bengali Tamil " +
	"Telugu Kannada Malayalam Gujarati Gurmukhi Georgian Armenian Ethiopic Khmer Lao Myanmar Sinhala Tibetan Mongolian")

// scriptOf returns the name of a letter's script, "" if it is none of [scripts].
func scriptOf(c rune) string {
	if c < 0x250 || !unicode.IsLetter(c) && !unicode.IsMark(c) {
		return ""
	}
	for _, name := range scripts {
		if unicode.Is(unicode.Scripts[name], c) {
			return name
		}
	}
	return ""
}

// foreign recognizes a passage in a script that the locale's voices cannot read: words and the spaces and
// marks between them. A single letter of an alphabet stays, as espeak-ng has its name.
func (s *tokenizer) foreign() bool {
	c := First(s.src[s.at:])
	script := scriptOf(c)
	if script == "" || s.readable(c) {
		return false
	}
	if script == "Greek" || script == "Cyrillic" {
		if next, _ := utf8.DecodeRuneInString(s.src[s.at+utf8.RuneLen(c):]); scriptOf(next) != script {
			return false
		}
	}
	end, name := 0, script
	for i, c := range s.src[s.at:] {
		now := scriptOf(c)
		switch {
		case now == "Hiragana" || now == "Katakana":
			name = "Hiragana"
		case now != "" && now != script && !s.sameText(now, script):
			return s.take(Script{name}, end)
		case now == "" && !unicode.IsMark(c) && !strings.ContainsRune(" ,、，。·・ー'-.", c):
			return s.take(Script{name}, end)
		}
		if now != "" || unicode.IsMark(c) || c == 'ー' {
			end = i + utf8.RuneLen(c)
		}
	}
	return s.take(Script{name}, end)
}

// sameText reports whether two scripts are used in one text.
func (s *tokenizer) sameText(a, b string) bool {
	const east = "Han Hiragana Katakana"
	return strings.Contains(east, a) && strings.Contains(east, b)
}

func (s *tokenizer) readable(c rune) bool { return unicode.In(c, s.Readable...) }
