// Package german says tokens in German. Numbers stay in digits where espeak-ng reads them right: its reading
// of 48 is better than that of "achtundvierzig", which it pronounces with a w. In words are ordinals, years
// before 2000, clock times, the article "ein", and digits that are spelled.
//
// The tables are text files, described at [recognize.Tables]:
//
//	context.txt        words that decide between two readings, and genders
//	units.txt          units of measure
//	abbreviations.txt  short and long forms
//	signs.txt          names of signs and scripts
//	emoji.txt          names of emoji, from Unicode CLDR 48.2 (license Unicode-3.0); english/gen.go converts them
package german

import (
	_ "embed"
	"unicode"

	"pressbox/voice/speakable/recognize"
)

// The tables.
var (
	//go:embed context.txt
	context string
	//go:embed units.txt
	units string
	//go:embed abbreviations.txt
	abbreviations string
	//go:embed signs.txt
	signs string
	//go:embed emoji.txt
	emoji string
)

const months = `1 januar jan jänner
2 februar feb
3 märz mär mrz
4 april apr
5 mai
6 juni jun
7 juli jul
8 august aug
9 september sep sept
10 oktober okt
11 november nov
12 dezember dez`

const weekdays = `0 sonntag so
1 montag mo
2 dienstag di
3 mittwoch mi
4 donnerstag do
5 freitag fr
6 samstag sa`

// A Verbalizer says tokens in German. It is not changed once it is made.
type Verbalizer struct{ *recognize.Locale }

// static is the only instance.
var static = &Verbalizer{recognize.ParseLocale(recognize.Locale{
	DecimalComma:  true,
	PeriodOrdinal: true,
	Readable:      []*unicode.RangeTable{unicode.Latin},
	EmojiName:     recognize.EmojiNames(emoji),
}, recognize.Tables{
	Context: context, Units: units, Abbreviations: abbreviations, Signs: signs, Months: months, Weekdays: weekdays,
})}

// German returns the verbalizer of German.
func German() *Verbalizer { return static }
