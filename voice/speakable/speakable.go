// Package speakable turns a message as people and programs write it into text
// that a speech engine reads as they meant it, and keeps the operator's lexicon.
//
// Its one law: whatever is speakable in a message is still there afterwards, in
// words or in a form that espeak-ng reads rightly, on one line of whole
// sentences. Only what nobody would read aloud is left out: markup, the scheme
// and query of an address, invisible characters.
//
// # Steps
//
// Cleaning holds for every language: HTML tags and entities, Markdown, invisible
// and odd characters, web addresses, line ends, punctuation. Then come the
// lexicon and, for English ("en", "en-gb", …), the [reader], which puts
// numbers, money, dates, times, units, abbreviations, addresses, symbols and
// emoji into words. Other languages keep theirs for espeak-ng, which knows them.
//
// Blocks of raw phonemes, [[ like this ]], come out as they went in.
//
// # The lexicon
//
// A lexicon is a text file in UTF-8, one entry on a line:
//
//	# how our names are said
//	Kowalczyk = Kovalchick
//	sql       = sequel
//	The SBA   = the Sunday Baseball Association
//	[en] cwt  = hundredweight
//	[de] Bahn = [[ bˈɑːn ]]
//	"#1"      = number one
//
// Left of the first " = " stands what is written, right of it what is said,
// which may hold phonemes. Only whole words are replaced. A pattern in small
// letters stands for any case; one with a capital letter only for itself. The
// longest pattern wins, then the one as written over the one of any case. A tag
// limits an entry to a language and its regions: [en] also holds for en-gb, and
// the closer tag wins. Quotes keep what would be read as a comment, a tag or a
// sign: they are not part of the pattern. What an entry says is not looked up
// again, but is made speakable like the rest.
//
// The names of emoji and symbols in emoji.txt come from Unicode CLDR 48.2
// (licence Unicode-3.0); gen.go says how.
package speakable

import (
	"strings"
	"unicode"
)

// Text returns s as one line of sentences that can be spoken in lang, a language
// code such as "en-us", "en_GB" or "de". It ends with a sentence mark and holds
// no newline; it is empty when s holds nothing to say. lex may be nil. The work
// grows linearly with the length of s.
func Text(s, lang string, lex *Lexicon) string {
	lang = language(lang)
	s = clean(s)
	if !strings.ContainsFunc(s, speaks) {
		return ""
	}
	s = lex.apply(s, lang)
	return around(s, func(s string) string {
		if english(lang) {
			s = read(s, regionOf(lang))
		} else {
			s = addresses(s)
		}
		return punctuate(s)
	})
}

// Words counts the words of speakable text: what stands between spaces and holds
// a letter or a digit.
func Words(s string) int {
	n, counted := 0, false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			counted = false
		case !counted && isWord(r):
			n, counted = n+1, true
		}
	}
	return n
}

// HasSpeech says whether s holds anything to say: whether [Text] makes something
// of it, whatever the language.
func HasSpeech(s string) bool {
	return strings.ContainsFunc(clean(s), speaks)
}

// clean does what holds for every language.
func clean(s string) string {
	return around(strings.ToValidUTF8(s, ""), func(s string) string {
		return unmark(tidy(untag(s)))
	})
}

// speaks says whether r is read aloud by itself.
func speaks(r rune) bool {
	return isWord(r) || strings.ContainsRune("$%&+<=>@#", r) || r > unicode.MaxLatin1 && unicode.IsSymbol(r)
}

// language brings a language code into the form "en-us".
func language(code string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(code), "_", "-"))
}

func english(lang string) bool { return lang == "en" || strings.HasPrefix(lang, "en-") }

func isWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || isDigit(r) ||
		r >= 0x80 && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
}

func isLetter(r rune) bool { return isWord(r) && !unicode.IsNumber(r) }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }
