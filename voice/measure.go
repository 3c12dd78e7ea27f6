package voice

import (
	"strings"
	"unicode"
)

// A measure is what can be known of a text's length without phonemes.
type measure struct {
	words   int
	letters int // a digit counts as several
	marks   int // inside pieces
	pieces  int
	pauses  int // between sentences
}

// digitLetters is how many letters the word for a digit has.
const digitLetters = 4

// measureOf returns the measure of one piece that is not the first of its
// sentence.
func measureOf(clauses []clause) measure {
	m := measure{pieces: 1}
	for i, c := range clauses {
		for word := range strings.FieldsSeq(c.text) {
			if n := letters(word); n > 0 {
				m.letters += n
				m.words++
			}
		}
		if c.mark != 0 && i < len(clauses)-1 {
			m.marks++
		}
	}
	return m
}

// measure returns the measure of the script.
func (s script) measure() measure {
	var all measure
	for p := range s.pieces() {
		m := p.measure()
		all = measure{
			all.words + m.words, all.letters + m.letters, all.marks + m.marks,
			all.pieces + m.pieces, all.pauses + m.pauses,
		}
	}
	return all
}

// measure returns the measure of a piece, with the pause before it.
func (p piece) measure() measure {
	m := measureOf(p.clauses)
	if p.pause {
		m.pauses++
	}
	return m
}

func (m measure) minus(o measure) measure {
	return measure{
		m.words - o.words, m.letters - o.letters, m.marks - o.marks,
		m.pieces - o.pieces, m.pauses - o.pauses,
	}
}

// letters returns how many letters a word has.
func letters(word string) int {
	n := 0
	for _, r := range word {
		switch {
		case unicode.IsLetter(r):
			n++
		case unicode.IsDigit(r):
			n += digitLetters
		}
	}
	return n
}
