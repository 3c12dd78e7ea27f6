package espeak

import (
	"crypto/rand"
	"strings"
)

// A marker is the line that follows a clause: random phonemes.
type marker struct {
	text string // in espeak's notation
	ipa  string // as espeak-ng prints it
}

// markerPhonemes are phonemes that all languages of espeak-ng 1.51 print in the same way beside each other.
// They are voiceless: espeak-ng computes the samples of what it prints, and those of voiced ones take ten
// times as long.
var markerPhonemes = [4]marker{{"f", "f"}, {"q", "q"}, {"C", "ç"}, {"?", "ʔ"}} //nolint:gochecknoglobals // a table

// newMarker returns a marker of 64 random bits, so that no clause can contain it.
func newMarker() marker {
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	var text, ipa strings.Builder
	for _, b := range random {
		for range 4 {
			text.WriteString(markerPhonemes[b%4].text)
			ipa.WriteString(markerPhonemes[b%4].ipa)
			b /= 4
		}
	}
	return marker{"[[" + text.String() + "]]", ipa.String()}
}
