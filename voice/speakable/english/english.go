// Package english has the tables and the grammar of American and British English. The tables are text files, described
// at [recognize.Tables]:
//
//	context.txt        words that decide between two readings
//	calendar.txt       months and weekdays
//	units.txt          units of measure
//	abbreviations.txt  short and long forms
//	homographs.txt     words with two pronunciations, respelled for espeak-ng
//	names.txt          names that espeak-ng says wrong, in phonemes
//	signs.txt          names of signs, directions, scripts and currencies, and the words of the verbalizer
//	emoji.txt          names of emoji, from Unicode CLDR 48.2 (license Unicode-3.0); see emoji/gen.go
package english

import (
	_ "embed"
	"unicode"

	"pressbox/voice/speakable/recognize"
	"pressbox/voice/speakable/verbalize"
)

// The tables.
var (
	//go:embed context.txt
	context string
	//go:embed calendar.txt
	calendar string
	//go:embed units.txt
	units string
	//go:embed abbreviations.txt
	abbreviations string
	//go:embed homographs.txt
	homographs string
	//go:embed names.txt
	names string
	//go:embed signs.txt
	signs string
	//go:embed emoji.txt
	emoji string
)

// varieties has the two varieties of English.
type varieties struct{ american, british *verbalize.Verbalizer }

// static is the only instance.
var static = &varieties{verbalizer(false), verbalizer(true)}

// American returns the verbalizer of the variety in which 11/20 is in November.
func American() *verbalize.Verbalizer { return static.american }

// British returns the verbalizer of the variety in which 105 has an "and".
func British() *verbalize.Verbalizer { return static.british }

func verbalizer(british bool) *verbalize.Verbalizer {
	own := names
	if british {
		own = "" // their phonemes are American
	}
	locale := recognize.ParseLocale(recognize.Locale{
		MonthFirst:  !british,
		TwelveHours: true,
		Readable:    []*unicode.RangeTable{unicode.Latin},
		EmojiName:   recognize.EmojiNames(emoji),
	}, recognize.Tables{
		Context: context, Calendar: calendar, Units: units, Abbreviations: abbreviations, Homographs: homographs,
		Names: own, Signs: signs,
	})
	v := &verbalize.Verbalizer{Locale: locale}
	v.Grammar = newGrammar(v, british)
	return v
}
