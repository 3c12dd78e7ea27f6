// Package recognize normalizes text for speech, in three steps: a tokenizer splits the text, a classifier
// gives each token its type (a duration, a clock time, a date, money, a quantity, an identifier and so on),
// and the [Verbalizer] of a language returns it in words.
//
// Tokenizer and classifier, the [tokenizer], are the same for all languages. What differs between them is a
// [Locale]: the decimal mark, the order of dates, the names of months, units and currencies, and tables of
// words that decide between two readings, such as "for" before 5m (minutes) and "cable" after it (meters). A
// locale is read from text files, which a contributor extends without reading code; [ParseLocale] describes
// their format.
//
// # Order
//
// The text is scanned once. At each position the first rule that applies makes a token, in this order:
//
//  1. text in a script that the voice cannot read
//  2. what starts with a digit or a sign of a number ([numeric]): addresses, dates, telephone numbers, clock
//     times, money, versions, codes, ratios and fractions, durations, quantities, plain numbers
//  3. words ([words]): dates with a month's name, addresses, identifiers, abbreviations, acronyms, homographs,
//     Roman numbers
//  4. signs ([signs]): ranges, operators, tags and mentions, emoji
//
// What no rule takes is [Text] and stays as it is.
package recognize

// A Token is a part of a text: one of the types below.
type Token any

// A Verbalizer returns tokens in the words of one language.
type Verbalizer interface {
	// Verbalize returns any token except a [Text] in words, without a mark at the end. The words are not
	// looked at again.
	Verbalize(t Token) string
}

type (
	// A Text is text that is spoken as it is written, with the marks between words.
	Text string

	// A Word has been replaced by a table of the locale; Spoken is in words.
	Word struct{ Spoken string }

	// Letters are spelled: the name of each letter.
	Letters struct{ Letters string }

	// A Number consists of digits without separators. Whole is empty in ".5"; Fraction is empty without a
	// decimal mark. Grouped numbers were written with separators and are never years.
	Number struct {
		Whole, Fraction string
		Grouped         bool
	}

	// An Average is three digits after a bare period, as in baseball: .275.
	Average struct{ Digits string }

	// An Ordinal is 22nd, or the Roman number of a ruler, which has Article. Noun is the word after it, "" if
	// it is not known.
	Ordinal struct {
		N       int
		Article bool
		Noun    string
		Case    Case
	}

	// A Counted is a lone 1 before Noun, with an Adjective ("" for none) between them: ein neues Paket.
	Counted struct {
		Adjective, Noun string
		Case            Case
	}

	// A Decade is the 1990s (Century 19, Tens 90) or the '90s (Century 0).
	Decade struct{ Century, Tens int }

	// ShortYear is a year without its century: '05.
	ShortYear struct{ Year int }

	// A Fraction is Num/Den, after a whole number or without ("").
	Fraction struct {
		Whole    string
		Num, Den int
		Unit     Unit
		Compound bool   // it stands before a noun: 3½" floppy
		Noun     string // the word after it, in languages that inflect
		Case     Case
	}

	// A Unit is a unit of measure as written. Its Symbol is a key of the locale's units, "" for none.
	Unit struct {
		Symbol   string
		Power    int    // 2 square, 3 cubic, otherwise 0
		PerCount string // 100 in l/100 km
		Per      string // a unit's symbol or a word of the role [Period]
		PerPower int
	}

	// A Rate is a unit per another without a number, in words: km/h.
	Rate struct{ Many, Per string }

	// Per is the denominator after a number or sign: 120/m. It is a unit's symbol or a word of the role
	// [Period].
	Per struct {
		Per   string
		Power int
	}

	// A Quantity is a number with a unit. A Compound stands before a noun: a 5-meter cable.
	Quantity struct {
		Number   Number
		Unit     Unit
		Compound bool
		Case     Case
	}

	// A Duration is a list of parts, the longest unit first.
	Duration struct {
		Parts    []DurationPart
		Compound bool
		Case     Case
	}

	// A DurationPart is a number of years 'y', weeks 'w', days 'd', hours 'h', minutes 'm' or seconds 's'.
	DurationPart struct {
		Number Number
		Unit   byte
	}

	// FeetInches is 5'11".
	FeetInches struct{ Feet, Inches int }

	// A Size is 2x4 or 8.5 × 11.
	Size struct{ Sides []Number }

	// A Times is 3x: three times.
	Times struct{ Number Number }

	// A Clock is a time of day, or of a stopwatch if Hour exceeds 24. Second is −1 if there is none. Half is
	// 'a', 'p' or 0.
	Clock struct {
		Hour, Minute, Second int
		Split                string // digits after the seconds' decimal point
		Half                 byte
		Central              int // 7 in 8/7c
	}

	// A Date has a Year and Day of 0 if none is written, and a Month of 0 if only a year is. Article is set
	// if the day stands first and no article is written. Comma stands before the year.
	Date struct {
		Year, Month, Day int
		To               int // last day of a range, 0 for none
		DayFirst         bool
		Article          bool
		Comma            bool
		Clock            *Clock // written with the date; nil for none
		UTC              bool
		Case             Case
	}

	// A Weekday is 0 (Sunday) to 6, written in a short form.
	Weekday struct{ Day int }

	// A Month is 1 to 12, written in a short form.
	Month struct{ Month int }

	// A Money is an amount, or a range up to it if Low has digits. Currency is an ISO code, or US for dollars
	// that are written US$ or USD; Magnitude is "", "k", "M", "B" or "T". A Compound stands before a noun: a
	// twenty-dollar bill.
	Money struct {
		Currency     string
		Low, Amount  Number
		LowMagnitude string
		Magnitude    string
		Per          string // a unit's symbol or a word of the role [Period]
		Compound     bool
		Negative     bool // the minus stands after the currency
	}

	// A Pair is two numbers of which Join is the relation.
	Pair struct {
		A, B Number
		Join Join
		Unit Unit
	}

	// Digits are spoken one by one, in the groups that are written. Plus is set for +49 30 901820.
	Digits struct {
		Groups    []string
		Plus      bool
		Extension bool // the extension of the number before
	}

	// An Identifier is a code of letters and digits: its runs in order. The name of a flight, road or room is
	// Paired.
	Identifier struct {
		Runs   []string
		Paired bool // 747 is seven forty-seven
	}

	// A Label is a number with a letter: gate 12C, apartment 4B.
	Label struct{ Number, Letter string }

	// A Version has the numbers of 1.2.3. Named has a v before it.
	Version struct {
		Parts []string
		Named bool
	}

	// A Scientific is 1.5e-3.
	Scientific struct {
		Number   Number
		Negative bool
		Exponent string
	}

	// An Address is a web or mail address, a host or a path, without its scheme and query.
	Address struct{ Text string }

	// A Tag is a #name.
	Tag struct{ Name string }

	// A Mention is an @name.
	Mention struct{ Name string }

	// An Emoji is a picture of which the locale has the name.
	Emoji struct{ Name string }

	// Stars are a rating: N of Of; Of is 0 if only full stars are written.
	Stars struct{ N, Of int }

	// A Script is a passage that the voice cannot read.
	Script struct{ Name string }

	// A Sign is spoken: its name in the table of signs.
	Sign struct{ Sign string }
)

// Join is the relation of a pair.
type Join int

// The relations of a pair.
const (
	Of    Join = iota // 3 of 4 disks
	Over              // 120 over 80
	To                // 16 to 9
	Plain             // 24/7
	And               // a 12-8 record
	By                // 6 x 7
	Share             // split it 60/40
	Rates             // 94/12 Mbit/s: down and up
	For               // 0-for-4
)
