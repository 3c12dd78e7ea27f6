package german

import (
	"strings"
	"unicode/utf8"

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
func (s *Verbalizer) genderOf(noun string) gender {
	noun = strings.ToLower(noun)
	switch {
	case s.Is(recognize.Feminine, noun):
		return feminine
	case s.Is(recognize.Neuter, noun):
		return neuter
	case s.Is(recognize.Masculine, noun), strings.HasSuffix(noun, "termin"):
		return masculine
	}
	for n := 1; n < len(noun)-3; n++ { // the last part of a compound decides: Haustür
		if !utf8.RuneStart(noun[n]) {
			continue
		}
		switch last := noun[n:]; {
		case s.Is(recognize.Feminine, last):
			return feminine
		case s.Is(recognize.Neuter, last):
			return neuter
		}
	}
	switch {
	case hasEnding(noun, "ung", "heit", "keit", "schaft", "ion", "tät", "ik", "ei", "enz", "anz", "ur", "in", "e"):
		return feminine
	case hasEnding(noun, "chen", "lein", "ment", "um", "tum", "nis"):
		return neuter
	}
	return masculine
}

func hasEnding(noun string, endings ...string) bool {
	for _, ending := range endings {
		if strings.HasSuffix(noun, ending) && len(noun) > len(ending)+2 {
			return true
		}
	}
	return false
}

// article returns the indefinite article of a noun.
func (s *Verbalizer) article(noun string, c recognize.Case) string {
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
func (s *Verbalizer) ranked(n int, noun string, c recognize.Case) string {
	switch g := s.genderOf(noun); {
	case c == recognize.Oblique, c == recognize.Dative:
		return ordinal(n) + "en"
	case c == recognize.Definite, noun != "" && g == feminine:
		return ordinal(n) + "e"
	case noun != "" && g == neuter:
		return ordinal(n) + "es"
	}
	return ordinal(n) + "er"
}

// counted says a lone 1 before a noun, or before an adjective and a noun.
func (s *Verbalizer) counted(t recognize.Counted) string {
	if t.Noun == "Uhr" {
		return "ein"
	}
	if strings.HasSuffix(t.Adjective, "en") && t.Case != recognize.Dative && s.genderOf(t.Noun) == masculine {
		return "einen"
	}
	return s.article(t.Noun, t.Case)
}

// half says one half of a noun: eine halbe Stunde.
func (s *Verbalizer) half(noun string, c recognize.Case) string {
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
