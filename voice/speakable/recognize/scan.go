package recognize

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// window limits, in bytes, how far one recognizer looks ahead, so that the work stays linear.
const window = 96

// memory is the number of words before the position that are remembered.
const memory = 4

// A tokenizer scans a text once.
type tokenizer struct {
	*Locale
	*tables
	src       string
	at        int // position in src
	tokens    []Token
	copied    int            // src[copied:at] is text that is not yet in tokens
	words     [memory]string // the words before, the last one first, as written; "" before the start of a sentence
	begins    bool           // words[0] starts a sentence
	spoken    bool           // there was a word
	quote     bool           // inside double quotes
	demand    Case           // what was demanded of the last date or ordinal
	loud      bool           // the text is in capitals
	last      Token          // the token before the position, nil if there are words in between
	chunk     chunk
	isMinutes bool // the last lone "m" was minutes
	angle     int  // position of the ">" that ends the <name> before
}

// Tokens returns the tokens of a text. It takes a time linear in its length.
func Tokens(src string, l *Locale) []Token {
	s := &tokenizer{Locale: l, tables: static, src: src, loud: l.loud(src)}
	for s.at < len(s.src) {
		s.step()
	}
	s.flush()
	return s.tokens
}

// step reads the text at the position.
func (s *tokenizer) step() {
	c, size := utf8.DecodeRuneInString(s.src[s.at:])
	switch {
	case c >= 0x80 && s.foreign():
	case s.numeric(c):
	case IsWord(c):
		s.word()
	case s.sign(c):
	default:
		s.pass(size, c)
	}
}

// pass leaves one character between words as it is.
func (s *tokenizer) pass(size int, c rune) {
	switch c {
	case '"':
		s.quote = !s.quote
	case '.', '!', '?', '\n':
		if c != '.' || s.at+1 == len(s.src) || s.src[s.at+1] == ' ' || s.src[s.at+1] == '\n' {
			s.words, s.last = [memory]string{}, nil
		}
	}
	s.at += size
}

// flush makes a token of the text that is copied.
func (s *tokenizer) flush() {
	if s.copied < s.at {
		s.tokens = append(s.tokens, Text(s.src[s.copied:s.at]))
	}
	s.copied = s.at
}

// take makes a token of the next n bytes. A period at their end that also ends a sentence remains.
func (s *tokenizer) take(t Token, n int) bool {
	s.flush()
	written := s.src[s.at : s.at+n]
	period := n > 1 && written[n-1] == '.' && s.endsSentence(n, s.ownsPeriod(t)) && !s.zoned(t, n)
	t = s.inflected(t, n)
	s.tokens = append(s.tokens, t)
	s.at += n
	s.copied = s.at
	if period {
		s.tokens = append(s.tokens, Text("."))
	}
	if sign, ok := t.(Sign); ok && joining(sign.Sign) {
		return true // what stands before it is still before what follows
	}
	s.remember(written)
	if period {
		s.words = [memory]string{}
	}
	s.last = t
	return true
}

// ownsPeriod reports whether the period at the end of a token belongs to it, so that it also ends a sentence
// only before words that often start one.
func (s *tokenizer) ownsPeriod(t Token) bool {
	switch t.(type) {
	case Date, Ordinal, Quantity, Duration, Money:
		return s.PeriodOrdinal
	}
	return false
}

// zoned reports whether a time of n bytes stands before what may be its zone: 7 p.m. EST.
func (s *tokenizer) zoned(t Token, n int) bool {
	word := s.nextWord(n)
	_, time := t.(Clock)
	return time && len(word) > 1 && strings.ToUpper(word) == word
}

// joining reports whether a sign joins two tokens of one kind.
func joining(sign string) bool {
	switch sign {
	case "", "to", "&", "@":
		return true
	}
	return false
}

// takeInner makes a token of the next n bytes; a period at their end is part of it.
func (s *tokenizer) takeInner(t Token, n int) bool {
	s.flush()
	t = s.inflected(t, n)
	s.tokens = append(s.tokens, t)
	written := s.src[s.at : s.at+n]
	s.at += n
	s.copied = s.at
	s.remember(strings.TrimSuffix(written, "."))
	s.last = t
	return true
}

// remember adds a word to the words before the position.
func (s *tokenizer) remember(word string) {
	s.begins = s.words[0] == ""
	s.spoken = s.spoken || strings.ContainsFunc(word, IsWord)
	copy(s.words[1:], s.words[:])
	s.words[0] = word
	if !s.Is(Joiner, word) {
		s.last = nil
	}
}

// skip leaves the next n bytes, a word, as they are.
func (s *tokenizer) skip(n int) {
	word := s.src[s.at : s.at+n]
	clitic := s.at > 1 && s.src[s.at-1] == '\'' && s.words[0] != "" && strings.HasSuffix(s.src[:s.at-1], s.words[0])
	s.at += n
	if clitic { // don't, John's
		s.words[0] += "'" + word
		return
	}
	s.remember(word)
}

// before returns the i-th word before the position, the last one for 0.
func (s *tokenizer) before(i int) string { return s.words[i] }

// glued reports whether a word ends directly before the position.
func (s *tokenizer) glued() bool {
	c, _ := utf8.DecodeLastRuneInString(s.src[:s.at])
	return s.at > 0 && IsWord(c)
}

// previous returns the character before the position, ' ' at the start.
func (s *tokenizer) previous() rune {
	if s.at == 0 {
		return ' '
	}
	c, _ := utf8.DecodeLastRuneInString(s.src[:s.at])
	return c
}

// rest returns the text after the next n bytes, at most window bytes of it.
func (s *tokenizer) rest(n int) string {
	text := s.src[s.at+n:]
	if len(text) <= window {
		return text
	}
	end := window
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// next returns the text after the next n bytes, without leading spaces.
func (s *tokenizer) next(n int) string { return strings.TrimLeft(s.rest(n), " ") }

// nextWord returns the word after the next n bytes and spaces, "" for none.
func (s *tokenizer) nextWord(n int) string {
	text := s.next(n)
	if text == "" || !IsWord(First(text)) {
		return ""
	}
	return Head(text)
}

// nextWords returns up to k words after the next n bytes, up to a mark.
func (s *tokenizer) nextWords(n, k int) []string {
	var words []string
	text := s.rest(n)
	for range k {
		text = strings.TrimLeft(text, " ")
		if text == "" || !IsWord(First(text)) {
			break
		}
		word := Head(text)
		words = append(words, word)
		text = text[len(word):]
	}
	return words
}

// is reports whether a token is a T.
func is[T Token](t Token) bool {
	_, ok := t.(T)
	return ok
}

// followed reports whether a text stands after the next n bytes.
func (s *tokenizer) followed(n int, text string) bool { return strings.HasPrefix(s.rest(n), text) }

// preceded reports whether the word before has a role.
func (s *tokenizer) preceded(role Role) bool { return s.Is(role, s.words[0]) }

// nears reports whether one of the words before has a role.
func (s *tokenizer) nears(role Role) bool {
	for _, word := range s.words {
		if s.Is(role, word) {
			return true
		}
	}
	return false
}

// follows reports whether one of the next k words after n bytes has a role.
func (s *tokenizer) follows(role Role, n, k int) bool {
	for _, word := range s.nextWords(n, k) {
		if s.Is(role, word) {
			return true
		}
	}
	return false
}

// ends reports whether a match at the position ends at the end of a word.
func (s *tokenizer) ends(match string) bool {
	c, _ := utf8.DecodeLastRuneInString(match)
	next, _ := utf8.DecodeRuneInString(s.src[s.at+len(match):])
	return s.at+len(match) == len(s.src) || !IsWord(next) || !IsWord(c)
}

// endsSentence reports whether a period at the end of the next n bytes also ends a sentence: a capitalized
// word follows, or nothing. With strict, the word must be one that often starts sentences.
func (s *tokenizer) endsSentence(n int, strict bool) bool {
	text := s.next(n)
	if text == "" || text[0] == '\n' {
		return true
	}
	if c, _ := utf8.DecodeRuneInString(text); !unicode.IsUpper(c) {
		return false
	}
	if strict {
		return s.Is(Starter, Head(text))
	}
	if word := Head(text); len(word) == 1 && word != "I" && word != "A" {
		return false
	}
	return true
}

// loud reports whether a text is a sentence in capitals: at least two words of two letters, one of which is a
// word such as THE, and no small letters.
func (l *Locale) loud(text string) bool {
	words, small := 0, false
	for len(text) > 0 {
		word := Head(text)
		text = text[len(word):]
		if len(word) < 2 || !unicode.IsLetter(First(word)) {
			continue
		}
		if strings.ContainsFunc(word, unicode.IsLower) {
			return false
		}
		words++
		small = small || l.Is(Lower, word)
	}
	return words > 1 && small
}

// IsWord reports whether c is part of a word: a letter, digit or mark.
func IsWord(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || IsDigit(c) ||
		c >= 0x80 && (unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsMark(c))
}

// IsDigit reports whether c is an ASCII digit.
func IsDigit(c rune) bool { return '0' <= c && c <= '9' }

func isLetter(c rune) bool { return IsWord(c) && !unicode.IsNumber(c) }

// Head returns the word, or the single other character, at the start of s.
func Head(s string) string {
	n := strings.IndexFunc(s, func(c rune) bool { return !IsWord(c) })
	switch n {
	case -1:
		return s
	case 0:
		_, n = utf8.DecodeRuneInString(s)
	}
	return s[:n]
}

// First returns the first rune of s.
func First(s string) rune {
	c, _ := utf8.DecodeRuneInString(s)
	return c
}

func capital(word string) bool { return unicode.IsUpper(First(word)) }

func startsWithDigit(s string) bool { return s != "" && IsDigit(rune(s[0])) }

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// Atoi returns the number in a few digits, 0 for none.
func Atoi(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
