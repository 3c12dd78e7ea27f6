package german

import (
	"strings"

	"pressbox/voice/speakable/recognize"
)

// coins are the names of a currency and of its hundredth, if that is spoken. They have no plural.
type coins struct{ one, cent string }

// currency returns the coins of a currency's code, the code for an unknown one.
func currency(code string) coins {
	switch code {
	case "EUR":
		return coins{"Euro", "Cent"}
	case "USD":
		return coins{"Dollar", "Cent"}
	case "US":
		return coins{"US-Dollar", "Cent"}
	case "CAD":
		return coins{"kanadische Dollar", "Cent"}
	case "AUD":
		return coins{"australische Dollar", "Cent"}
	case "NZD":
		return coins{"Neuseeland-Dollar", "Cent"}
	case "GBP":
		return coins{"Pfund", "Pence"}
	case "CHF":
		return coins{"Schweizer Franken", "Rappen"}
	case "JPY":
		return coins{"Yen", ""}
	case "INR":
		return coins{"Rupien", ""}
	}
	return coins{code, ""}
}

// magnitude returns the name of a magnitude.
func magnitude(sign string) string {
	switch sign {
	case "k":
		return "Tausend"
	case "M":
		return "Millionen"
	case "B":
		return "Milliarden"
	case "T":
		return "Billionen"
	}
	return ""
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
