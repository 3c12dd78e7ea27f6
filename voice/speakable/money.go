package speakable

import (
	"regexp"
	"strings"
)

// amount matches a number: whole digits, with or without separators, and a
// fraction.
const amount = `(\d{1,3}(?:,\d{2,3})*,\d{3}|\d+)(\.\d+)?`

const magnitude = `(?: ?((?i:thousand|million|billion|trillion)|mn|bn|tn|[kKmMB])\b)?`

func money() []form {
	return []form{
		{regexp.MustCompile(`^([$£€])\s?(\d{1,3}(?:\.\d{3})+),(\d\d)`), (*reader).continental},
		{regexp.MustCompile(`^(?:(US|C|CA|A|AU|NZ) ?)?([$£€¥₹])\s?(?:` + amount + magnitude + ` ?[-–] ?[$£€]?)?` + amount + magnitude), (*reader).price},
		{regexp.MustCompile(`^([$£€])(\.\d\d)`), (*reader).cents},
	}
}

// price returns an amount, or a range of amounts, of one currency in words.
func (r *reader) price(m []string) string {
	country, sign := dollars(m[1]), m[2]
	from, to := m[3:6], m[6:9]
	if from[0] == "" {
		return r.sum(country, sign, to, r.nextWord(len(m[0])))
	}
	if from[2] == "" {
		from[2] = to[2]
	}
	low := r.decimal(from[0], from[1])
	if from[2] != to[2] {
		low += " " + magnitudes(from[2])
	}
	return low + " to " + r.sum(country, sign, to, r.nextWord(len(m[0])))
}

// sum returns one amount in words: whole, fraction and magnitude of value.
func (r *reader) sum(country, sign string, value []string, next string) string {
	one, many, cent := coins(sign)
	one, many = country+one, country+many
	whole, fraction := value[0], value[1]
	switch {
	case value[2] != "":
		return r.decimal(whole, fraction) + " " + magnitudes(value[2]) + " " + many
	case r.is("notes", next) && fraction == "":
		return strings.ReplaceAll(r.whole(whole), " ", "-") + "-" + one
	case fraction == ".00":
		return r.coins(whole, one, many)
	case len(fraction) == len(".50") && cent != "" && strings.Trim(whole, "0") == "":
		return r.coin(fraction[1:], cent)
	case len(fraction) == len(".50") && cent != "":
		return r.coins(whole, one, many) + " and " + r.coin(fraction[1:], cent)
	case fraction != "":
		return r.decimal(whole, fraction) + " " + many
	}
	return r.coins(whole, one, many)
}

// continental expands an amount with points for commas and a comma for the
// point.
func (r *reader) continental(m []string) string {
	return r.sum("", m[1], []string{strings.ReplaceAll(m[2], ".", ""), "." + m[3], ""}, "")
}

// cents expands an amount without a whole part: $.50.
func (r *reader) cents(m []string) string {
	_, _, cent := coins(m[1])
	return r.coin(m[2][1:], cent)
}

func (r *reader) coins(whole, one, many string) string {
	if whole == "1" {
		return "one " + one
	}
	return r.whole(whole) + " " + many
}

func (r *reader) coin(digits, cent string) string {
	spoken := r.cardinal(atoi(digits)) + " " + cent
	if atoi(digits) != 1 && cent == "cent" {
		spoken += "s"
	}
	return spoken
}

// coins returns the names of a currency: one, many, and its hundredth if that
// is spoken.
func coins(sign string) (one, many, cent string) {
	switch sign {
	case "£":
		return "pound", "pounds", "pence"
	case "€":
		return "euro", "euros", "cent"
	case "¥":
		return "yen", "yen", ""
	case "₹":
		return "rupee", "rupees", ""
	}
	return "dollar", "dollars", "cent"
}

// dollars returns the adjective of a country's dollars.
func dollars(code string) string {
	switch code {
	case "US":
		return "U.S "
	case "C", "CA":
		return "Canadian "
	case "A", "AU":
		return "Australian "
	case "NZ":
		return "New Zealand "
	}
	return ""
}

func magnitudes(m string) string {
	switch m {
	case "k", "K":
		return "thousand"
	case "m", "M", "mn":
		return "million"
	case "B", "bn":
		return "billion"
	case "tn":
		return "trillion"
	}
	return strings.ToLower(m)
}
