package speakable_test

import (
	"strings"
	"testing"

	"pressbox/voice/speakable"
)

const passage = "Good evening, everybody. Doors open at 6:30 pm and the first pitch is at 7:05, so please be seated by then. " +
	"Mr. Alvarez throws out the ball for the 22nd time, and parking is $5 at lot No. 3 on Main St. tonight. It is 72°F outside. "

func BenchmarkText(b *testing.B) {
	text := strings.Repeat(passage, 5000/len(passage)+1)[:5000]
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		speakable.Text(text, "en-us", nil)
	}
}
