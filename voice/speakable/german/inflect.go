package german

import (
	"strings"

	"pressbox/voice/speakable/recognize"
)

// A gender of a noun.
type gender int

const (
	masculine gender = iota
	feminine
	neuter
)

// genderOf returns the gender of a noun by the tables, then by its ending.
func (s *grammar) genderOf(noun string) gender {
	noun = strings.ToLower(noun)
	switch {
	case s.Is(recognize.Feminine, noun):
		return feminine
	case s.Is(recognize.Neuter, noun):
		return neuter
	case s.Is(recognize.Masculine, noun), strings.HasSuffix(noun, "termin"):
		return masculine
	}
	g, ok := s.genderOfEnd(noun, "", 1, len(noun)-3) // the last part of a compound: Haustür
	if !ok {
		g, _ = s.genderOfEnd(noun, "-", 3, len(noun))
	}
	return g
}

// genderOfEnd returns the gender of the longest end of a noun that is in the tables, after a dash, and begins within
// the range.
func (s *grammar) genderOfEnd(noun, dash string, from, to int) (g gender, ok bool) {
	for n := from; n < to; n++ {
		switch end := dash + noun[n:]; {
		case s.Is(recognize.Feminine, end):
			return feminine, true
		case s.Is(recognize.Neuter, end):
			return neuter, true
		}
	}
	return masculine, false
}

// article returns the indefinite article of a noun.
func (s *grammar) article(noun string, c recognize.Case) string {
	g := s.genderOf(lastWord(noun))
	switch {
	case c == recognize.Dative && g == feminine:
		return "einer"
	case c == recognize.Dative:
		return "einem"
	case g == feminine:
		return "eine"
	}
	return "ein"
}

// ranked says an ordinal with its ending: erster, erste, ersten.
func (s *grammar) ranked(n int, noun string, c recognize.Case) string {
	switch g := s.genderOf(noun); {
	case c == recognize.Oblique, c == recognize.Dative:
		return s.ordinal(n) + "en"
	case c == recognize.Definite, noun != "" && g == feminine:
		return s.ordinal(n) + "e"
	case noun != "" && g == neuter:
		return s.ordinal(n) + "es"
	}
	return s.ordinal(n) + "er"
}

// counted says a lone 1 before a noun, or before an adjective and a noun.
func (s *grammar) counted(t recognize.Counted) string {
	if t.Noun == "Uhr" {
		return "ein"
	}
	if strings.HasSuffix(t.Adjective, "en") && t.Case != recognize.Dative && s.genderOf(t.Noun) == masculine {
		return "einen"
	}
	return s.article(t.Noun, t.Case)
}

// half says one half of a noun: eine halbe Stunde.
func (s *grammar) half(noun string, c recognize.Case) string {
	ending := "er"
	switch g := s.genderOf(noun); {
	case c == recognize.Dative:
		ending = "en"
	case g == feminine:
		ending = "e"
	case g == neuter:
		ending = "es"
	}
	return s.article(noun, c) + " halb" + ending
}

// lastWord returns the last word of a name: Stunde of "Kilometer pro Stunde" is not it, so that the words
// from "pro" on are left out.
func lastWord(name string) string {
	name, _, _ = strings.Cut(name, " pro ")
	return name[strings.LastIndexByte(name, ' ')+1:]
}
