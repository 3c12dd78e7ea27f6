// Package verbalize says the tokens whose words and order are in the tables of a language. What the language inflects
// or puts in an order of its own, its [Grammar] says.
package verbalize

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/voice/speakable/recognize"
)

// A Grammar says the rest: what a language inflects.
type Grammar interface {
	// Say says any token that [Verbalizer.Verbalize] does not, times of day, and dates without one.
	Say(t recognize.Token) string
	Number(n recognize.Number) string
	// Spelled writes letters so that espeak-ng spells them.
	Spelled(letters string) string
	// AddressPart says a word of an address, in small letters, which may be hexadecimal.
	AddressPart(part string, hex bool) string
	// Count says a number of things that have a singular, a plural and perhaps more forms: coins of a
	// [recognize.Money], units of a [recognize.Quantity], parts of a [recognize.Duration].
	Count(n recognize.Number, names []string, of recognize.Token) string
}

// A Verbalizer says tokens in one language. It is not changed once it is made. The words of its own are in the table of
// signs: "word per", "address .", "currency USD", "period h" and so on.
type Verbalizer struct {
	*recognize.Locale
	Grammar Grammar
}

// Verbalize implements [recognize.Verbalizer].
func (v *Verbalizer) Verbalize(t recognize.Token) string {
	switch t := t.(type) {
	case recognize.Letters:
		return v.Grammar.Spelled(t.Letters)
	case recognize.Sign:
		return v.SignName(t.Sign)
	case recognize.Emoji:
		return t.Name
	case recognize.Script:
		return v.SignName("script " + t.Name)
	case recognize.Address:
		hex := strings.Contains(t.Text, "::")
		return recognize.SayAddress(t.Text, func(c rune) string { return v.SignName("address " + string(c)) },
			func(part string) string { return v.Grammar.AddressPart(strings.ToLower(part), hex) })
	case recognize.Tag:
		return v.word("hashtag") + " " + v.camel(t.Name)
	case recognize.Mention:
		return v.word("mention") + " " + v.camel(t.Name)
	case recognize.Version:
		return v.version(t)
	case recognize.Digits:
		return v.digits(t)
	case recognize.Weekday:
		return v.WeekdayName(t.Day)
	case recognize.Month:
		return v.MonthName(t.Month)
	case recognize.Date:
		return v.date(t)
	}
	return v.amount(t)
}

// amount says numbers and what is measured.
func (v *Verbalizer) amount(t recognize.Token) string {
	switch t := t.(type) {
	case recognize.Number:
		return v.Grammar.Number(t)
	case recognize.Stars:
		return v.stars(t)
	case recognize.Duration:
		parts := make([]string, len(t.Parts))
		for i, part := range t.Parts {
			parts[i] = v.Grammar.Count(part.Number, v.Forms("period "+string(part.Unit)), t)
		}
		return strings.Join(parts, " ")
	case recognize.Quantity:
		one, many := v.UnitNames(t.Unit)
		return v.Grammar.Count(t.Number, []string{one, many}, t) + v.perUnit(t.Unit)
	case recognize.Unit:
		_, many := v.UnitNames(t)
		return many + v.perUnit(t)
	case recognize.Rate:
		return t.Many + v.between("per") + t.Per
	case recognize.Per:
		return v.word("per") + " " + v.per("", t.Per, t.Power)
	case recognize.FeetInches:
		return v.count(t.Feet) + v.between("foot") + v.count(t.Inches)
	case recognize.Size:
		sides := make([]string, len(t.Sides))
		for i, side := range t.Sides {
			sides[i] = v.Grammar.Number(side)
		}
		return strings.Join(sides, v.between("size"))
	case recognize.Times:
		return v.Grammar.Number(t.Number) + " " + v.word("times")
	case recognize.Money:
		return v.money(t)
	case recognize.Pair:
		return v.pair(t)
	case recognize.Scientific:
		exponent := v.signed(t.Negative, v.count(recognize.Atoi(t.Exponent)))
		return v.Grammar.Number(t.Number) + v.between("exponent") + exponent
	}
	return v.Grammar.Say(t)
}

// word returns a word of the table.
func (v *Verbalizer) word(key string) string { return v.SignName("word " + key) }

// between returns a word of the table with spaces around it, one space without a word.
func (v *Verbalizer) between(key string) string {
	if word := v.word(key); word != "" {
		return " " + word + " "
	}
	return " "
}

// count says a number that is no year.
func (v *Verbalizer) count(n int) string { return v.plain(recognize.Number{Whole: strconv.Itoa(n)}) }

func (v *Verbalizer) plain(n recognize.Number) string {
	n.Grouped = true
	return v.Grammar.Number(n)
}

func (v *Verbalizer) signed(negative bool, spoken string) string {
	if negative {
		return v.word("minus") + " " + spoken
	}
	return spoken
}

// pair says two numbers and what they have to do with each other.
func (v *Verbalizer) pair(p recognize.Pair) string {
	join := [...]string{
		recognize.Of: "of", recognize.Over: "over", recognize.To: "to", recognize.Plain: "plain", recognize.And: "and",
		recognize.By: "by", recognize.Share: "share", recognize.Rates: "rates", recognize.For: "for",
	}[p.Join]
	first := v.Grammar.Number(p.A)
	if p.Join == recognize.For && p.A.Whole == "0" {
		first = v.word("none")
	}
	spoken := first + v.between(join) + v.Grammar.Number(p.B)
	if p.Unit.Symbol != "" {
		_, many := v.UnitNames(p.Unit)
		spoken += " " + many
	}
	return spoken + v.perUnit(p.Unit)
}

// UnitNames returns the singular and plural of a unit without its denominator.
func (v *Verbalizer) UnitNames(u recognize.Unit) (one, many string) {
	one, many, _ = v.Unit(u.Symbol)
	return v.raised(u.Power, one), v.raised(u.Power, many)
}

// raised returns a unit's name with its power: square meter, Quadratmeter.
func (v *Verbalizer) raised(power int, name string) string {
	if power < 2 {
		return name
	}
	word := v.word("power " + strconv.Itoa(power))
	if word, joined := strings.CutSuffix(word, "-"); joined {
		return word + strings.ToLower(name)
	}
	return word + " " + name
}

func (v *Verbalizer) perUnit(u recognize.Unit) string {
	if u.Per == "" {
		return ""
	}
	return v.between("per") + v.per(u.PerCount, u.Per, u.PerPower)
}

// per says a denominator: "second", "hundred kilometers".
func (v *Verbalizer) per(count, sign string, power int) string {
	one, many, ok := v.Unit(sign)
	if !ok {
		one, many = sign, sign+v.word("plural")
	}
	if names := v.Forms("per " + sign); names != nil {
		one, many = names[0], names[1]
	}
	switch {
	case count != "":
		return v.plain(recognize.Number{Whole: count}) + " " + many
	case power > 0 && (sign == "s" || sign == "h"):
		return one + " " + v.word("squared")
	}
	return v.raised(power, one)
}

// money says an amount, or a range of amounts.
func (v *Verbalizer) money(m recognize.Money) string {
	spoken := v.sum(m)
	if low := m.Low; low.Whole != "" {
		from := v.plain(low)
		if m.LowMagnitude != "" && m.LowMagnitude != m.Magnitude {
			from = v.scaled(low, m.LowMagnitude)
		}
		spoken = from + v.between("until") + spoken
	}
	spoken = v.signed(m.Negative, spoken)
	if m.Per != "" {
		spoken += v.between("per") + v.per("", m.Per, 0)
	}
	return spoken
}

// sum says one amount: three dollars and fifty cents, 3 Euro 50.
func (v *Verbalizer) sum(m recognize.Money) string {
	names := v.Forms("currency " + m.Currency) // one, many, and its hundredth if that is spoken
	if names == nil {
		names = []string{m.Currency, m.Currency}
	}
	n, hundredths := m.Amount, len(m.Amount.Fraction) == 2 && len(names) == 4
	cents := strings.TrimLeft(n.Fraction, "0")
	coins := func(digits string, names []string) string {
		return v.Grammar.Count(recognize.Number{Whole: digits}, names, m)
	}
	switch {
	case m.Magnitude != "":
		return strings.TrimSpace(v.scaled(n, m.Magnitude) + " " + names[1])
	case m.Compound:
		return strings.ReplaceAll(v.plain(n), " ", "-") + "-" + names[0]
	case cents == "" && (n.Fraction == "" || len(n.Fraction) == 2):
		return coins(n.Whole, names)
	case hundredths && strings.Trim(n.Whole, "0") == "":
		return coins(cents, names[2:])
	case hundredths && v.word("and coins") == "":
		return coins(n.Whole, names) + " " + cents
	case hundredths:
		return coins(n.Whole, names) + v.between("and coins") + coins(cents, names[2:])
	}
	return v.plain(n) + " " + names[1]
}

// scaled says a number of thousands or millions, such as "M".
func (v *Verbalizer) scaled(n recognize.Number, magnitude string) string {
	if forms := v.Forms("magnitude " + magnitude); forms != nil {
		return v.Grammar.Count(n, forms, recognize.Quantity{Number: n})
	}
	return v.plain(n) + " " + v.SignName("magnitude "+magnitude)
}

// stars says a rating.
func (v *Verbalizer) stars(t recognize.Stars) string {
	names := v.Forms("stars") // one, many, many of a rating
	switch {
	case t.Of > 0:
		return v.count(t.N) + v.between("of") + v.count(t.Of) + " " + names[2]
	case t.N == 1:
		return names[0]
	}
	return v.count(t.N) + " " + names[1]
}

// date says a date, and the time that is written with it.
func (v *Verbalizer) date(d recognize.Date) string {
	clock, utc := d.Clock, d.UTC
	d.Clock, d.UTC = nil, false
	spoken := v.Grammar.Say(d)
	if clock != nil {
		spoken += ", " + v.Grammar.Say(*clock)
	}
	if utc {
		spoken += " " + v.Grammar.Spelled("UTC")
	}
	return strings.TrimSpace(spoken)
}

// Digits says the digits of a text one by one. Other characters separate groups, and in some languages so does every
// fourth digit of a long run.
func (v *Verbalizer) Digits(text string) string {
	var b strings.Builder
	names, run, most := v.Forms("small"), 0, recognize.Atoi(v.word("digits"))
	for _, c := range text {
		if !recognize.IsDigit(c) {
			run = 0
			continue
		}
		switch {
		case run == 0 && b.Len() > 0, run > 0 && most > 0 && run%most == 0 && len(text) > 6:
			b.WriteString(", ")
		case run > 0:
			b.WriteByte(' ')
		}
		b.WriteString(names[c-'0'])
		run++
	}
	return b.String()
}

// digits says digits one by one, in groups.
func (v *Verbalizer) digits(d recognize.Digits) string {
	spoken := v.Digits(strings.Join(d.Groups, " "))
	switch {
	case d.Plus:
		return v.word("plus") + " " + spoken
	case d.Extension:
		return v.word("extension") + " " + spoken
	}
	return spoken
}

// version says 1.2.3: one point two point three.
func (v *Verbalizer) version(t recognize.Version) string {
	var spoken []string
	if t.Named {
		spoken = append(spoken, v.word("version"))
	}
	number := false // the part before is one
	for _, part := range t.Parts {
		if part == "" {
			number = false
			continue
		}
		is := recognize.IsDigit(rune(part[0]))
		if is && number {
			spoken = append(spoken, v.word("point"))
		}
		number = is
		switch {
		case !is && len(part) < 3:
			part = v.Grammar.Spelled(strings.ToUpper(part))
		case is && len(part) > 3 && !IsYear(part):
			part = v.Digits(part)
		case is:
			part = v.Grammar.Number(recognize.Number{Whole: part})
		}
		spoken = append(spoken, part)
	}
	return strings.Join(spoken, " ")
}

// IsYear reports whether digits are a year of our time.
func IsYear(digits string) bool {
	return len(digits) == 4 && (strings.HasPrefix(digits, "19") || strings.HasPrefix(digits, "20"))
}

// camel splits a name such as OpenDay2026 into its words.
func (v *Verbalizer) camel(name string) string {
	var b strings.Builder
	before := ' '
	for i, c := range name {
		after, _ := utf8.DecodeRuneInString(name[i+utf8.RuneLen(c):])
		switch {
		case c == '_' || c == '-':
			c = ' '
		case unicode.IsUpper(c) && (unicode.IsLower(before) || unicode.IsUpper(before) && unicode.IsLower(after)),
			recognize.IsDigit(c) && unicode.IsLetter(before),
			unicode.IsUpper(c) && recognize.IsDigit(before):
			b.WriteByte(' ')
		}
		b.WriteRune(c)
		before = c
	}
	words := strings.Fields(b.String())
	for i, word := range words {
		if strings.Trim(word, "0123456789") == "" {
			words[i] = v.Grammar.Number(recognize.Number{Whole: word})
		}
	}
	return strings.Join(words, " ")
}
