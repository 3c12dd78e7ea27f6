package speakable_test

import (
	"strings"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice/speakable"
)

// A spaced dash is "to" only between two of a kind: what stands beside it is read as it is alone.
func TestText_spacedDash(t *testing.T) {
	t.Parallel()
	for lang, kinds := range map[string][]string{
		"en-us": {
			"May 25", "3 pm", "€15", "Bus 42", "Room 12", "5 min", "12 °C", "20 %", "8 kg", "Monday", "v1.2.3", "#12",
			"A4", "dinner", "No. 5",
		},
		"de": {"25. Mai", "15 Uhr", "15 €", "Bus 42", "Zimmer 12", "5 min", "12 °C", "20 %", "8 kg", "Montag", "Essen"},
	} {
		to := map[string]string{"en-us": " to ", "de": " bis "}[lang]
		for _, before := range kinds {
			for _, after := range kinds {
				if got := speakable.Text(before+" – "+after, lang, nil); before != after && strings.Contains(got, to) {
					t.Errorf("%q is read %q", before+" – "+after, got)
				}
			}
		}
	}
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
