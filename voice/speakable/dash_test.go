package speakable_test

import (
	"strings"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice/speakable"
)

// A spaced dash is "to" between two of a kind.
func TestText_spacedDash(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"5 – 7 kg":              "five to seven kilograms.",
		"10 – 12 °C":            "ten to twelve degrees Celsius.",
		"9 – 11 am":             "nine to eleven a.m.",
		"3 pm – 5 pm":           "three p.m to five p.m.",
		"May 5 – 7":             "May fifth to seventh.",
		"€15 – 20":              "fifteen to twenty euros.",
		"5 – 7 people":          "five to seven people.",
		"Mets 3 – 2":            "Mets three to two.",
		"20 % – 30 %":           "twenty percent to thirty percent.",
		"May 5 - 3 pm: dentist": "May fifth, three p.m: dentist.",
		"Ticket €15 – 20:00":    "Ticket fifteen euros, twenty hundred.",
		"Bus 42 – 5 min late":   "Bus forty-two, five minutes late.",
	} {
		got := strings.Replace(speakable.Text(written, "en-us", nil), " – ", ", ", 1)
		check.Equal(t, got, want, "%q", written)
	}
}
