// Package english says tokens in American or British English. Its tables are text files, described at
// [recognize.Tables]:
//
//	context.txt        words that decide between two readings
//	units.txt          units of measure
//	abbreviations.txt  short and long forms
//	homographs.txt     words with two pronunciations, respelled for espeak-ng
//	names.txt          names that espeak-ng says wrong, in phonemes
//	signs.txt          names of signs, directions and scripts
//	emoji.txt          names of emoji, from Unicode CLDR 48.2 (license Unicode-3.0); gen.go converts them
package english

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
	//go:embed homographs.txt
	homographs string
	//go:embed names.txt
	names string
	//go:embed signs.txt
	signs string
	//go:embed emoji.txt
	emoji string
)

const months = `1 january jan
2 february feb
3 march mar
4 april apr
5 may
6 june jun
7 july jul
8 august aug
9 september sep sept
10 october oct
11 november nov
12 december dec`

const weekdays = `0 sunday sun su
1 monday mon mo
2 tuesday tue tues tu
3 wednesday wed we weds
4 thursday thu thur thurs th
5 friday fri fr
6 saturday sat sa`

// A Verbalizer says tokens in one variety of English. It is not changed once it is made.
type Verbalizer struct {
	*recognize.Locale
	numbers
	british bool
}

// varieties has the two varieties of English.
type varieties struct{ american, british *Verbalizer }

// static is the only instance.
var static = &varieties{verbalizer(false), verbalizer(true)}

// American returns the variety in which 11/20 is in November.
func American() *Verbalizer { return static.american }

// British returns the variety in which 105 has an "and".
func British() *Verbalizer { return static.british }

func verbalizer(british bool) *Verbalizer {
	own := names
	if british {
		own = "" // their phonemes are American
	}
	locale := recognize.ParseLocale(recognize.Locale{
		MonthFirst: !british,
		Readable:   []*unicode.RangeTable{unicode.Latin},
		EmojiName:  recognize.EmojiNames(emoji),
	}, recognize.Tables{
		Context: context, Units: units, Abbreviations: abbreviations, Homographs: homographs, Names: own, Signs: signs,
		Months: months, Weekdays: weekdays,
	})
	return &Verbalizer{Locale: locale, numbers: newNumbers(british), british: british}
}
