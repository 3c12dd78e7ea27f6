package english

import (
	"strings"

	"pressbox/voice/speakable/recognize"
)

// coins are the names of a currency: one, many, and its hundredth if that is spoken.
type coins struct{ one, many, cent, cents string }

// currency returns the names of a currency.
func currency(code string) coins {
	switch code {
	case "USD":
		return coins{"dollar", "dollars", "cent", "cents"}
	case "US":
		return coins{"U.S dollar", "U.S dollars", "cent", "cents"}
	case "CAD":
		return coins{"Canadian dollar", "Canadian dollars", "cent", "cents"}
	case "AUD":
		return coins{"Australian dollar", "Australian dollars", "cent", "cents"}
	case "NZD":
		return coins{"New Zealand dollar", "New Zealand dollars", "cent", "cents"}
	case "GBP":
		return coins{"pound", "pounds", "pence", "pence"}
	case "EUR":
		return coins{"euro", "euros", "cent", "cents"}
	case "JPY":
		return coins{"yen", "yen", "", ""}
	case "INR":
		return coins{"rupee", "rupees", "", ""}
	case "CHF":
		return coins{"Swiss franc", "Swiss francs", "", ""}
	}
	return coins{}
}

// magnitude returns the name of a magnitude.
func magnitude(m string) string {
	switch m {
	case "k":
		return "thousand"
	case "M":
		return "million"
	case "B":
		return "billion"
	case "T":
		return "trillion"
	}
	return ""
}

// money says an amount, or a range of amounts.
func (s *Verbalizer) money(m recognize.Money) string {
	spoken := s.sum(m)
	if low := m.Low; low.Whole != "" {
		from := s.plain(low)
		if m.LowMagnitude != "" && m.LowMagnitude != m.Magnitude {
			from += " " + magnitude(m.LowMagnitude)
		}
		spoken = from + " to " + spoken
	}
	if m.Negative {
		spoken = "minus " + spoken
	}
	if m.Per != "" {
		spoken += " per " + s.per("", m.Per, 0)
	}
	return spoken
}

// plain says a number that is no year.
func (s *Verbalizer) plain(n recognize.Number) string {
	n.Grouped = true
	return s.number(n)
}

// sum says one amount.
func (s *Verbalizer) sum(m recognize.Money) string {
	names := currency(m.Currency)
	n := m.Amount
	switch {
	case m.Magnitude != "":
		return strings.TrimSpace(s.plain(n) + " " + magnitude(m.Magnitude) + " " + names.many)
	case m.Compound:
		return strings.ReplaceAll(s.plain(n), " ", "-") + "-" + names.one
	case n.Fraction == "00" || n.Fraction == "":
		return s.coins(n.Whole, names.one, names.many)
	case len(n.Fraction) == 2 && names.cent != "" && strings.Trim(n.Whole, "0") == "":
		return s.coins(n.Fraction, names.cent, names.cents)
	case len(n.Fraction) == 2 && names.cent != "":
		return s.coins(n.Whole, names.one, names.many) + " and " + s.coins(n.Fraction, names.cent, names.cents)
	}
	return s.plain(n) + " " + names.many
}

// coins says a number of coins.
func (s *Verbalizer) coins(digits, one, many string) string {
	if atoi(digits) == 1 {
		return "one " + one
	}
	if len(digits) == 2 {
		return s.cardinal(atoi(digits)) + " " + many
	}
	return s.plain(recognize.Number{Whole: digits}) + " " + many
}
