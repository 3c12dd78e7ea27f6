package english

import (
	"strings"

	"pressbox/voice/speakable/recognize"
)

// coins are the names of a currency: one, many, and its hundredth if that is spoken.
type coins struct{ one, many, cent, cents string }

func currency(code string) coins {
	return map[string]coins{
		"USD": {"dollar", "dollars", "cent", "cents"},
		"US":  {"U.S dollar", "U.S dollars", "cent", "cents"},
		"CAD": {"Canadian dollar", "Canadian dollars", "cent", "cents"},
		"AUD": {"Australian dollar", "Australian dollars", "cent", "cents"},
		"NZD": {"New Zealand dollar", "New Zealand dollars", "cent", "cents"},
		"GBP": {"pound", "pounds", "pence", "pence"},
		"EUR": {"euro", "euros", "cent", "cents"},
		"JPY": {"yen", "yen", "", ""},
		"INR": {"rupee", "rupees", "", ""},
		"CHF": {"Swiss franc", "Swiss francs", "", ""},
	}[code]
}

func magnitude(m string) string {
	return map[string]string{"k": "thousand", "M": "million", "B": "billion", "T": "trillion"}[m]
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
	if recognize.Atoi(digits) == 1 {
		return "one " + one
	}
	if len(digits) == 2 {
		return s.cardinal(recognize.Atoi(digits)) + " " + many
	}
	return s.plain(recognize.Number{Whole: digits}) + " " + many
}
