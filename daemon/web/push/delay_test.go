package push

import (
	"testing"
	"time"

	"pressbox/packaging/check"
)

// Every form of a delay that ntfy documents, and what is refused: the whole text counts.
func TestParseDelay(t *testing.T) {
	t.Parallel()
	zone := check.Must(time.LoadLocation("Europe/Berlin"))(t)
	now := time.Date(2026, 11, 28, 15, 30, 0, 0, zone) // a Saturday
	for _, row := range check.Rows(`
		90                  | 15:31:30
		15.0s               | 15:30:15
		0.2s                | 15:30:01
		1h30m               | 17:00:00
		30m                 | 16:00:00
		2 hours             | 17:30:00
		30MIN               | 16:00:00
		1d                  | 29 15:30:00
		3 weeks             | 19 15:30:00
		366days             | 29 15:30:00
		1795880000          | 16:33:20
		6:30pm              | 18:30:00
		10am                | 29 10:00:00
		15:30               | 29 15:30:00
		tomorrow, 10am      | 29 10:00:00
		Tomorrow at 5 p.m.  | 29 17:00:00
		Monday, 7am         | 30 07:00:00
		next friday at noon | 4 12:00:00
		in 2 hours          | 17:30:00
		24 dec 6pm          | 24 18:00:00
		0                   | refused
		0s                  | refused
		-5m                 | refused
		5 fortnights        | refused
		m                   | refused
		367d                | refused
		40000000            | refused
		99999999999999999999 | refused
		99999999999999999999 weeks | refused
		banana              | refused
		tomorrow banana     | refused
		say it tomorrow     | refused
		yesterday           | refused
		5 minutes ago       | refused
		6:30pm or so        | refused
	`) {
		d, ok := parseDelay(row[0], now)
		at := d.at
		if d.in > 0 {
			at = now.Add(time.Duration(d.in) * time.Second)
		}
		got := at.In(zone).Format("2 15:04:05")
		if at.In(zone).Day() == now.Day() {
			got = at.In(zone).Format("15:04:05")
		}
		if !ok {
			got = "refused"
		}
		check.Equal(t, got, row[1], "%s", row[0])
	}
}

// No text of a stranger's makes it fail.
func FuzzParseDelay(f *testing.F) {
	for _, text := range []string{"15.0s", "tomorrow, 10am", "3 weeks", "1795880000", "24 dec 6pm", "next friday"} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 28, 15, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := parseDelay(text, now)
		check.That(t, !ok || d.in > 0 || d.at.Unix() >= firstTime, "%q: %+v", text, d)
	})
}
