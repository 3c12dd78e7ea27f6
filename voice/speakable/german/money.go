package german

import (
	"strings"

	"pressbox/voice/speakable/recognize"
)

// coins are the names of a currency and of its hundredth, if that is spoken. They have no plural.
type coins struct{ one, cent string }

// currency returns the coins of a currency's code, the code for an unknown one.
func currency(code string) coins {
	if names, ok := map[string]coins{
		"EUR": {"Euro", "Cent"},
		"USD": {"Dollar", "Cent"},
		"US":  {"US-Dollar", "Cent"},
		"CAD": {"kanadische Dollar", "Cent"},
		"AUD": {"australische Dollar", "Cent"},
		"NZD": {"Neuseeland-Dollar", "Cent"},
		"GBP": {"Pfund", "Pence"},
		"CHF": {"Schweizer Franken", "Rappen"},
		"JPY": {"Yen", ""},
		"INR": {"Rupien", ""},
	}[code]; ok {
		return names
	}
	return coins{code, ""}
}

func magnitude(sign string) string {
	return map[string]string{"k": "Tausend", "M": "Millionen", "B": "Milliarden", "T": "Billionen"}[sign]
}

// money says an amount, or a range of amounts.
func (s *Verbalizer) money(m recognize.Money) string {
	spoken := s.sum(m)
	if m.Low.Whole != "" {
		low := number(m.Low)
		if m.LowMagnitude != m.Magnitude {
			low += " " + magnitude(m.LowMagnitude)
		}
		spoken = low + " bis " + spoken
	}
	if m.Negative {
		spoken = "minus " + spoken
	}
	if m.Per != "" {
		spoken += " pro " + s.per("", m.Per, 0)
	}
	return spoken
}

// sum says one amount: 3 Euro 50.
func (s *Verbalizer) sum(m recognize.Money) string {
	names := currency(m.Currency)
	n := m.Amount
	none := strings.Trim(n.Whole, "0") == ""
	switch {
	case m.Magnitude != "":
		return strings.TrimSpace(number(n) + " " + magnitude(m.Magnitude) + " " + names.one)
	case n.Fraction == "" || strings.Trim(n.Fraction, "0") == "" && len(n.Fraction) == 2:
		return s.coins(n.Whole, names.one)
	case len(n.Fraction) == 2 && names.cent != "" && none:
		return s.coins(strings.TrimLeft(n.Fraction, "0"), names.cent)
	case len(n.Fraction) == 2 && names.cent != "":
		return s.coins(n.Whole, names.one) + " " + strings.TrimLeft(n.Fraction, "0")
	}
	return number(n) + " " + names.one
}

// coins says a number of coins.
func (s *Verbalizer) coins(whole, name string) string {
	if whole == "1" {
		return "ein " + name
	}
	return number(recognize.Number{Whole: whole}) + " " + name
}
