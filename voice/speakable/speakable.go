// Package speakable converts a message as people and programs write it to text
// that a speech engine reads correctly, and applies the operator's lexicon.
//
// Its one law: no speech in a message is lost. It remains, in words or in a form
// that espeak-ng reads correctly, on one line of complete sentences. Only what is
// not read aloud is removed: markup, the scheme and query of an address,
// invisible characters.
//
// # Steps
//
// The first steps apply to every language: HTML tags and entities, Markdown,
// invisible and unusual characters, web addresses, line ends, punctuation. Then
// follow the lexicon and, for English ("en", "en-gb", …), the [reader], which
// converts numbers, money, dates, times, units, abbreviations, addresses, symbols
// and emoji to words. For other languages espeak-ng does that.
//
// Blocks of raw phonemes, [[ like this ]], are not changed.
//
// # The lexicon
//
// A lexicon is a text file in UTF-8, one entry per line:
//
//	# pronunciation of our names
//	Kowalczyk = Kovalchick
//	sql       = sequel
//	The SBA   = the Sunday Baseball Association
//	[en] cwt  = hundredweight
//	[de] Bahn = [[ bˈɑːn ]]
//	"#1"      = number one
//
// The pattern is left of the first " = ", the replacement right of it; the
// replacement may have phonemes. Only whole words are replaced. A pattern in
// lower case matches any case; one with a capital letter matches exactly. The
// longest pattern wins, then the exact one. A tag limits an entry to a language
// and its regions: [en] also matches en-gb, and the more specific tag wins.
// Quotes protect what would be read as a comment, a tag or a sign; they are not
// part of the pattern. A replacement is not looked up again, but is made speakable
// like the rest.
//
// The names of emoji and symbols in emoji.txt come from Unicode CLDR 48.2
// (licence Unicode-3.0); gen.go converts them.
package speakable

import (
	"strings"
	"unicode"
)

// Text returns s as one line of sentences that can be spoken in lang, a
// language code such as "en-us", "en_GB" or "de". The line ends with a sentence
// mark; it is empty if s has no speech. lex may be nil. The work is linear in
// the length of s.
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

// HasSpeech reports whether [Text] of s is not empty, in any language.
func HasSpeech(s string) bool {
	return strings.ContainsFunc(clean(s), speaks)
}

// clean applies the steps for all languages.
func clean(s string) string {
	return around(strings.ToValidUTF8(s, ""), func(s string) string {
		return unmark(tidy(untag(s)))
	})
}

// speaks reports whether r is read aloud by itself.
func speaks(r rune) bool {
	return isWord(r) || strings.ContainsRune("$%&+<=>@#", r) || r > unicode.MaxLatin1 && unicode.IsSymbol(r)
}

// language normalises a language code to the form "en-us".
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
