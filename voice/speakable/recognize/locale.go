package recognize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Locale is what the recognizer has to know of a language. It is not changed once it is made, and safe for
// concurrent use.
type Locale struct {
	DecimalComma  bool // 3,14 and 1.000
	MonthFirst    bool // 11/20 is in November
	TwelveHours   bool // 9 a.m. and 9 p.m., otherwise the day has 24 hours
	PeriodOrdinal bool // 22. is an ordinal, 24.12. a date
	CapitalNouns  bool // nouns have capitals
	Cases         bool // articles and ordinals have the case that a preposition demands
	// Readable are the scripts that the language's voices can read.
	Readable []*unicode.RangeTable
	// EmojiName returns the name of a symbol or sequence, "" for none; nil leaves all symbols to espeak-ng.
	EmojiName func(symbol string) string

	roles         map[string]Roles
	months        map[string]int
	weekdays      map[string]int
	names         [2]map[int]string // full names of the months and weekdays
	units         map[string]unitNames
	abbreviations map[string][]abbreviation
	homographs    map[string][]homograph
	signs         map[string]string
	forms         map[string][]string // of signs that have several
	endings       []string            // the keys of abbreviations that start with a dash
}

// Roles is a set of [Role].
type Roles [2]uint64

// with returns the roles with another one.
func (r Roles) with(role Role) Roles {
	r[role/64] |= 1 << (role % 64)
	return r
}

// has reports whether a role is among them.
func (r Roles) has(role Role) bool { return r[role/64]&(1<<(role%64)) != 0 }

// A Role is what a word decides about its neighbors.
type Role int

// Roles of words, in the order of roleNames.
const (
	Minutes      Role = iota // a lone 5m near it is minutes
	MinutesAfter             // … directly after it
	Meters                   // a lone 5m near it is meters
	MetersAfter              // … directly after it
	Time                     // 9a and 2d after it is a time
	Elapsed                  // 6w before it is a time
	Seat                     // 4C after it is a label
	Boarding                 // 4C after it and a Filler is a label
	Occupant                 // 4C after it and a Whereabouts is a label
	Whereabouts              // in, from
	State                    // five digits after it are a postal code
	Thermal                  // 4 C beside it is a temperature
	Scale                    // a number after it may have the other decimal mark
	Space                    // living: 21C after "living room" is a temperature
	Electric                 // 10A after it is amperes
	Compound                 // a quantity before it is an adjective
	Determiner               // before a quantity that is an adjective
	Extent                   // after a quantity that is no adjective
	Part                     // 3/4 after it is three of four
	Parts                    // 3/4 before it is three of four
	Portion                  // 3/4 before it is three quarters
	Pressure                 // 120/80 after it has "over"
	DateBefore               // 11/22 after it is a date
	DateAfter                // … before it
	Code                     // digits after it are spelled
	Lock                     // groups of digits after it are numbers
	Refusal                  // "no." after it is the word "no"
	Filler                   // between a Code and its digits
	Dialed                   // a short number before it is a telephone number
	Carrier                  // a number after letters or words that name a flight, road or train
	Owner                    // 30s after it is a decade
	Period                   // denominator of a price or rate
	Note                     // a price before it is an adjective
	Ruler                    // a Roman number after it is an ordinal
	Chapter                  // a Roman number after it is a number
	Starter                  // often starts a sentence
	Lower                    // a word in sentences in capitals
	Shouted                  // a word wherever it stands in capitals
	Spelled                  // letters that espeak-ng reads as a word
	Calm                     // spelled only among small letters
	Joiner                   // joins two of a kind: and
	Countable                // 5M before it is millions
	Moment                   // a time of day in a word: noon
	Zone                     // time zones
	TopLevel                 // ends a host's name
	Highway                  // a letter after its number is a direction
	NameDay                  // a short form that is also a word or a name
	Urge                     // an imperative follows: please
	Objective                // the object of an imperative begins with it
	Instant                  // 1:05:09 after it is a time of day
	Predicate                // an emoji before it is the subject
	Interjection             // the code of a state that is one
	Copula                   // 3/4 and a sum after it are values: is
	Article                  // before a day of a month
	Numbering                // # after it is not said
	Release                  // digits with periods after it are no date
	Ending                   // the letters after an ordinal's digits: 22nd
	Until                    // between two ordinals, of which the second has no ending of its own
	Partitive                // a month or what there is some of after it: the 4th of July, 2 in of snow
	Side                     // NE before it is northeast: corner
	AtBat                    // 3-2 before it are balls and strikes
	Record                   // 12-8 before it are wins and losses
	ClockBefore              // 19.30 after it is a time of day
	ClockAfter               // … before it

	// For languages that inflect numbers.
	WeakBefore    // an ordinal after it is Oblique
	ArticleBefore // … is Definite
	DativeBefore  // a number after it is Dative
	DativeArticle // an article in the dative after a DativeBefore
	About         // between such a word and the number
	Ranked        // a noun after an ordinal without an article
	YearBefore    // a year follows
	Feminine      // nouns of which the ending does not show the gender
	Masculine     // …
	Neuter        // …
	numRoles
)

// roleNames returns the names in context.txt, in the order of the constants.
func roleNames() [numRoles]string {
	return [numRoles]string{
		"minutes", "minutes-after", "meters", "meters-after", "time", "elapsed", "seat", "boarding", "occupant",
		"whereabouts", "state", "thermal", "scale", "space", "electric", "compound", "determiner", "extent",
		"part", "parts", "portion", "pressure", "date-before", "date-after", "code", "lock", "refusal", "filler",
		"dialed", "carrier", "owner",
		"period", "note", "ruler", "chapter", "starter", "lower", "shouted", "spelled", "calm", "joiner",
		"countable",
		"moment", "zone", "top-level", "highway",
		"name-day", "urge", "objective", "instant", "predicate", "interjection",
		"copula", "article", "numbering", "release", "ending", "until", "partitive", "side", "at-bat", "record",
		"clock-before", "clock-after",
		"weak-before", "article-before", "dative-before",
		"dative-article", "about", "ranked",
		"year-before", "feminine", "masculine",
		"neuter",
	}
}

type unitNames struct{ One, Many string }

// An abbreviation is replaced by its long form where its condition applies.
type abbreviation struct {
	long string
	// see [Tables]
	period, number, afterNumber, year, name, named, place, inner bool
	next                                                         string // the word that must follow, "" for any
}

// A homograph is replaced if the word before or after is listed.
type homograph struct {
	say           string
	before, after []string // "" in before is the start of a sentence
	not           []string // words before that forbid it
	verb          bool     // it is an imperative: at the start of a sentence, before a determiner or pronoun
	name          bool     // it has a capital
}

// Tables are the files of a locale.
//
//	Context        role: words …             one row per role, may be repeated
//	Units          symbol | one | many | prefixes
//	Abbreviations  short = long ; condition
//	Homographs     word = respelling ; before: … ; after: … ; not: …
//	Calendar       month 1 january jan       number and names, the full one first
//	               weekday 0 sunday sun
//	Names          name = phonemes           with a capital
//	Signs          sign TAB name             or form | form
//
// Empty lines, and lines that start with "# " and have no tab, are comments.
//
// Context has the words that decide between two readings; the roles are those of [Role], by their names in
// roleNames. Units may have underscores for spaces; many is the singular with an s if it is empty and the
// singular if it is =. A row with the prefixes "k M" also stands for kW and MW; "-k M" for these only.
//
// Several rows of Abbreviations may have the same short form; the first applies of which all conditions are
// met: "period" needs its period, "number" a number after it, "year" a year after it, "after-number" a number
// before it, "name" a capitalized word after it, "named" a capitalized word or ordinal before it and none
// after it, "place" a comma and a name before it, "+of" the word "of" after it. "inner" never ends a sentence.
// A short form with a dash before it
// is the end of a word. Several rows of Homographs may have the same word; a row applies if the word before
// is in before, the word after in after, and the word before not in not; "verb" is the
// start of a sentence, or a word of the role [Urge], before an [Objective]. Two words before are
// joined by an underscore: take_a. ^ is the start of a sentence.
type Tables struct {
	Context, Units, Abbreviations, Homographs, Names, Calendar, Signs string
}

// prefixNames returns the names of the prefixes of units.
func prefixNames() map[string]string {
	return map[string]string{
		"n": "nano", "μ": "micro", "m": "milli", "c": "centi", "d": "deci", "h": "hecto", "k": "kilo", "M": "mega",
		"G": "giga", "T": "tera", "P": "peta",
		"Ki": "kibi", "Mi": "mebi", "Gi": "gibi", "Ti": "tebi",
	}
}

// ParseLocale adds tables to a locale. It panics on an invalid row: tables are part of the program, and a
// test reads them.
func ParseLocale(l Locale, t Tables) *Locale {
	l.roles, l.units, l.abbreviations = map[string]Roles{}, map[string]unitNames{}, map[string][]abbreviation{}
	l.homographs, l.signs = map[string][]homograph{}, map[string]string{}
	l.months, l.names[0] = numbered(t.Calendar, "month ")
	l.weekdays, l.names[1] = numbered(t.Calendar, "weekday ")
	l.forms, l.endings = map[string][]string{}, nil
	for row := range rows(t.Context) {
		l.addRole(row)
	}
	for row := range rows(t.Units) {
		l.addUnit(row)
	}
	for row := range rows(t.Abbreviations) {
		l.addAbbreviation(row)
	}
	for row := range rows(t.Homographs) {
		l.addHomograph(row)
	}
	for row := range rows(t.Names) {
		name, phonemes, _ := strings.Cut(row, " = ")
		l.homographs[name] = append(l.homographs[name], homograph{say: "[[" + phonemes + "]]", name: true})
	}
	for row := range rows(t.Signs) {
		sign, name, _ := strings.Cut(row, "\t")
		l.signs[sign] = strings.TrimSpace(name)
		if forms := strings.Split(l.signs[sign], " | "); len(forms) > 1 {
			l.forms[sign] = forms
		}
	}
	return &l
}

// rows yields the rows of a table.
func rows(table string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for row := range strings.Lines(table) {
			row = strings.TrimSpace(row)
			if row == "" || row == "#" || strings.HasPrefix(row, "# ") && !strings.Contains(row, "\t") {
				continue
			}
			if !yield(row) {
				return
			}
		}
	}
}

// numbered returns the numbers of the rows of a kind by their names, and the first name of each, which is the full one.
func numbered(table, kind string) (numbers map[string]int, names map[int]string) {
	numbers, names = map[string]int{}, map[int]string{}
	for row := range rows(table) {
		row, ok := strings.CutPrefix(row, kind)
		if !ok {
			continue
		}
		words := strings.Fields(row)
		n := Atoi(words[0])
		for _, name := range words[1:] {
			numbers[name] = n
		}
		first, size := utf8.DecodeRuneInString(words[1])
		names[n] = string(unicode.ToUpper(first)) + words[1][size:]
	}
	return numbers, names
}

func (l *Locale) addRole(row string) {
	name, words, _ := strings.Cut(row, ":")
	for role, known := range roleNames() {
		if known != name {
			continue
		}
		for word := range strings.FieldsSeq(words) {
			l.roles[word] = l.roles[word].with(Role(role))
		}
		return
	}
	panic(fmt.Sprintf("there is no role %q", name))
}

func (l *Locale) addAbbreviation(row string) {
	short, long, _ := strings.Cut(row, "=")
	long, when, _ := strings.Cut(long, ";")
	a := abbreviation{long: strings.TrimSpace(long)}
	flags := map[string]*bool{
		"period": &a.period, "number": &a.number, "year": &a.year, "after-number": &a.afterNumber, "name": &a.name,
		"named": &a.named, "place": &a.place, "inner": &a.inner,
	}
	for condition := range strings.FieldsSeq(when) {
		next, word := strings.CutPrefix(condition, "+")
		switch {
		case word:
			a.next = next
		case flags[condition] == nil:
			panic(fmt.Sprintf("abbreviation %q has an unknown condition %q", row, condition))
		default:
			*flags[condition] = true
		}
	}
	if short = strings.TrimSpace(short); strings.HasPrefix(short, "-") {
		l.endings = append(l.endings, short)
	}
	l.abbreviations[short] = append(l.abbreviations[short], a)
}

func (l *Locale) addUnit(row string) {
	fields := strings.Split(row, "|")
	for i := range fields {
		fields[i] = strings.ReplaceAll(strings.TrimSpace(fields[i]), "_", " ")
	}
	for len(fields) < 4 {
		fields = append(fields, "")
	}
	one, many := fields[1], fields[2]
	switch many {
	case "":
		many = one + "s"
	case "=":
		many = one
	}
	if !strings.HasPrefix(fields[3], "-") {
		l.units[fields[0]] = unitNames{one, many}
	}
	prefixes := prefixNames()
	for p := range strings.FieldsSeq(strings.TrimPrefix(fields[3], "-")) {
		l.units[p+fields[0]] = unitNames{prefixed(prefixes[p], one), prefixed(prefixes[p], many)}
	}
}

// prefixed returns a unit's name with a prefix, which takes over its capital.
func prefixed(prefix, unit string) string {
	if c, n := utf8.DecodeRuneInString(unit); unicode.IsUpper(c) && prefix != "" {
		return strings.ToUpper(prefix[:1]) + prefix[1:] + string(unicode.ToLower(c)) + unit[n:]
	}
	return prefix + unit
}

func (l *Locale) addHomograph(row string) {
	parts := strings.Split(row, ";")
	word, say, _ := strings.Cut(parts[0], "=")
	h := homograph{say: strings.TrimSpace(say)}
	for _, part := range parts[1:] {
		kind, words, _ := strings.Cut(strings.TrimSpace(part), ":")
		if kind == "verb" {
			h.verb = true
			continue
		}
		to := map[string]*[]string{"before": &h.before, "after": &h.after, "not": &h.not}[kind]
		if to == nil {
			panic(fmt.Sprintf("homograph %q has an unknown part %q", row, kind))
		}
		*to = strings.Fields(strings.ReplaceAll(words, "^", " ^ "))
	}
	word = strings.TrimSpace(word)
	l.homographs[word] = append(l.homographs[word], h)
}

// Is reports whether a word, in any case, has a role.
func (l *Locale) Is(role Role, word string) bool {
	return word != "" && l.roles[strings.ToLower(word)].has(role)
}

// Unit returns the singular and plural of a unit's symbol.
func (l *Locale) Unit(symbol string) (one, many string, ok bool) {
	u, ok := l.units[symbol]
	return u.One, u.Many, ok
}

// MonthName returns the name of a month, 1–12, "" for 0.
func (l *Locale) MonthName(month int) string { return l.names[0][month] }

// WeekdayName returns the name of a weekday, 0 (Sunday) to 6.
func (l *Locale) WeekdayName(day int) string { return l.names[1][day] }

// Forms returns the forms of a word in the table of signs, nil if it has less than two.
func (l *Locale) Forms(key string) []string { return l.forms[key] }

// SignName returns the name of a sign, "" if it has none.
func (l *Locale) SignName(sign string) string { return l.signs[sign] }
