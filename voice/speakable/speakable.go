// Package speakable converts a message as people and programs write it to text that a speech engine reads
// correctly, and applies the operator's lexicon.
//
// Its one law: no speech in a message is lost. It remains, in words or in a form that espeak-ng reads
// correctly, on one line of complete sentences. Only what is not read aloud is removed: markup, the scheme
// and query of an address, invisible characters.
//
// # Steps
//
// The first steps apply to every language: HTML tags and entities, Markdown, invisible and unusual
// characters, line ends. Then follow the lexicon and, for a language that has a [recognize.Verbalizer], two
// steps: package recognize splits the text into typed tokens, and the language's package says each token. The
// recognizer is shared, and what differs between languages is in tables. For other languages espeak-ng reads
// numbers and signs, and only web addresses are shortened. The last step is punctuation.
//
// To add a language, see ARCHITECTURE.md.
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
// The pattern is left of the first " = ", the replacement right of it; the replacement may have phonemes.
// Only whole words are replaced. A pattern in lower case matches any case; one with a capital letter matches
// exactly. The longest pattern wins, then the exact one. A tag limits an entry to a language and its regions:
// [en] also matches en-gb, and the more specific tag wins. Quotes protect what would be read as a comment, a
// tag or a sign; they are not part of the pattern. A replacement is not looked up again, but is made
// speakable like the rest.
package speakable

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/voice/speakable/english"
	"pressbox/voice/speakable/german"
	"pressbox/voice/speakable/recognize"
)

// Text returns s as one line of sentences that can be spoken in lang, a language code such as "en-us",
// "en_GB" or "de". The line ends with a sentence mark; it is empty if s has no speech. lex may be nil. The
// work is linear in the length of s.
func Text(s, lang string, lex *Lexicon) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(Lines(s, lang, lex))
}

// Lines returns what [Text] does, with a line break instead of a space where a paragraph ends, and between a colon and
// the lines that follow it, such as those of a list; and with a tab after a comma that is a dash.
func Lines(s, lang string, lex *Lexicon) string {
	lang = language(lang)
	s = clean(s)
	if !strings.ContainsFunc(s, speaks) {
		return ""
	}
	s = lex.apply(s, lang)
	verbalizer, locale := verbalizerOf(lang)
	s = around(s, func(s string) string {
		if verbalizer != nil {
			return say(s, verbalizer, locale)
		}
		return named(addresses(s), lang)
	})
	return around(s, punctuate) // blocks are also those of homographs
}

// verbalizerOf returns the verbalizer and the locale of a language, nil if espeak-ng reads its numbers and signs.
func verbalizerOf(lang string) (recognize.Verbalizer, *recognize.Locale) {
	switch {
	case lang == "en" || strings.HasPrefix(lang, "en-us"):
		return english.American(), english.American().Locale
	case strings.HasPrefix(lang, "en-"):
		return english.British(), english.British().Locale
	case lang == "de" || strings.HasPrefix(lang, "de-"):
		return german.German(), german.German().Locale
	}
	return nil, nil
}

// say returns text with its tokens in words. Words are separated by spaces from what stands next to them.
func say(text string, verbalizer recognize.Verbalizer, locale *recognize.Locale) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/2)
	spoken, last := false, ' ' // whether a token that is not text stands before; the last rune
	for _, t := range recognize.Tokens(text, locale) {
		text, plain := t.(recognize.Text)
		words := string(text)
		if !plain {
			words = verbalizer.Verbalize(t)
		}
		if words == "" {
			if recognize.IsWord(last) {
				b.WriteByte(' ')
				last = ' '
			}
			continue
		}
		next := recognize.First(words)
		if (spoken || !plain) && apart(last, next, plain) {
			b.WriteByte(' ')
		}
		b.WriteString(words)
		last, _ = utf8.DecodeLastRuneInString(words)
		spoken = !plain
	}
	return b.String()
}

// apart reports whether a space is missing between two runes, of which one belongs to a token. Plain text
// after a token may start with a mark.
func apart(last, next rune, plain bool) bool {
	if plain {
		return recognize.IsWord(next) || strings.ContainsRune("\"([{*_", next)
	}
	return recognize.IsWord(last) || strings.ContainsRune("\")]}*_", last)
}

var webAddress = regexp.MustCompile(`(?i)\b(?:https?|ftp|wss?|rtsp)://[^\s<>"\x{E000}]+|\bwww\.[^\s<>"\x{E000}]+`)

// addresses shortens web addresses to what is spoken, for languages in which espeak-ng has the names of their
// signs.
func addresses(s string) string {
	if !strings.Contains(s, "://") && !strings.Contains(s, "www.") {
		return s
	}
	return webAddress.ReplaceAllStringFunc(s, func(a string) string {
		if host := recognize.Readable(a); strings.ContainsFunc(host, speaks) {
			return host + a[len(recognize.TrimMarks(a)):]
		}
		return a
	})
}

// HasSpeech reports whether [Text] of s is not empty, in any language.
func HasSpeech(s string) bool {
	return strings.ContainsFunc(clean(s), speaks)
}

// escapes matches the escape sequences of terminals: colors, cursor, titles.
var escapes = regexp.MustCompile(`\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*\x07)`)

// clean applies the steps for all languages.
func clean(s string) string {
	return around(strings.ToValidUTF8(s, ""), func(s string) string {
		return unmark(tidy(untag(escapes.ReplaceAllString(s, ""))))
	})
}

// speaks reports whether r is read aloud by itself.
func speaks(r rune) bool {
	return recognize.IsWord(r) || strings.ContainsRune("$%&+<=>@#", r) || r > unicode.MaxLatin1 && unicode.IsSymbol(r)
}

// language normalizes a language code to the form "en-us".
func language(code string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(code), "_", "-"))
}
