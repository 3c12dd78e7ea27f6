// Package german has the tables and the grammar of German. Numbers stay in digits where espeak-ng reads them right: its
// reading of 48 is better than that of "achtundvierzig", which it pronounces with a w. In words are ordinals, years
// before 2000, clock times, the article "ein", and digits that are spelled.
//
// The tables are text files, described at [recognize.Tables]:
//
//	context.txt        words that decide between two readings, and genders
//	calendar.txt       months and weekdays
//	units.txt          units of measure
//	abbreviations.txt  short and long forms
//	signs.txt          names of signs, scripts and currencies, and the words of the verbalizer
//	emoji.txt          names of emoji, from Unicode CLDR 48.2 (license Unicode-3.0); see emoji/gen.go
package german

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
	//go:embed signs.txt
	signs string
	//go:embed emoji.txt
	emoji string
)

// static is the only instance.
var static = verbalizer()

// German returns the verbalizer of German.
func German() *verbalize.Verbalizer { return static }

func verbalizer() *verbalize.Verbalizer {
	v := &verbalize.Verbalizer{Locale: recognize.ParseLocale(recognize.Locale{
		DecimalComma:  true,
		PeriodOrdinal: true,
		CapitalNouns:  true,
		Cases:         true,
		Readable:      []*unicode.RangeTable{unicode.Latin},
		EmojiName:     recognize.EmojiNames(emoji),
	}, recognize.Tables{
		Context: context, Calendar: calendar, Units: units, Abbreviations: abbreviations, Signs: signs,
	})}
	v.Grammar = &grammar{v}
	return v
}
