package speakable_test

import (
	"strings"
	"testing"
	"time"

	"pressbox/voice/speakable"
)

const (
	passage = "Good evening, everybody. Doors open at 6:30 pm and the first pitch is at 7:05, so please be " +
		"seated by then. Mr. Alvarez throws out the ball for the 22nd time, and " +
		"parking is $5 at lot No. 3 on Main St. tonight. It " +
		"is 72°F outside. "
	longest = 5_000                 // characters of a message
	limit   = 30 * time.Millisecond // for a message of any kind
)

// BenchmarkText reads a message of the greatest length made of one kind of token, and reports its time as a
// part of the limit.
func BenchmarkText(b *testing.B) {
	for _, kind := range []struct{ name, text string }{
		{"passage", passage},
		{"duration", "1h 5m "},
		{"clock", "6:30a-7p "},
		{"date", "11/22 "},
		{"money", "$5.99/mo "},
		{"quantity", "21,5 °C "},
		{"identifier", "CVE-2024-3094 "},
		{"telephone", "+1 555-123-4567 "},
		{"ratio", "3/4 disks "},
		{"range", "Mon-Fri "},
		{"label", "Gate 4C "},
		{"code", "PIN 0420 "},
		{"version", "v1.2.3 "},
		{"address", "example.com/a "},
		{"path", "/var/log/x "},
		{"abbreviation", "St. "},
		{"homograph", "close the "},
		{"capitals", "IT IS "},
		{"emoji", "🚨🔥"},
		{"script", "漢 "},
		{"digits", "1"},
		{"sign", "->"},
		{"bracket", "[["},
	} {
		b.Run(kind.name, func(b *testing.B) {
			text := strings.Repeat(kind.text, longest/len([]rune(kind.text)))
			b.ReportAllocs()
			for b.Loop() {
				speakable.Text(text, "en-us", nil)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(limit), "of-limit")
		})
	}
}
