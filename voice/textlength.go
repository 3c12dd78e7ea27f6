package voice

import (
	"strings"
	"time"
	"unicode"
)

// A textLength measures text without knowing its phonemes.
type textLength struct {
	words    int
	letters  int // a digit counts as several
	numbers  int // words with digits or a hyphen, as in "twenty-one"
	marks    int // inside segments
	segments int
	pauses   int           // between sentences, and after semicolons
	longer   time.Duration // than [Pause] are these together; negative if shorter
}

// digitLetters is the number of letters in the word for a digit.
const digitLetters = 4

// lengthOf returns the length of a segment, without a pause before it.
func lengthOf(clauses []clause) textLength {
	m := textLength{segments: 1}
	for i, c := range clauses {
		for word := range strings.FieldsSeq(c.text) {
			if n := letters(word); n > 0 {
				m.letters += n
				m.words++
				if strings.ContainsAny(word, "-0123456789") {
					m.numbers++
				}
			}
		}
		if c.mark != 0 && i < len(clauses)-1 {
			m.marks++
		}
	}
	return m
}

// length returns the length of all clauses.
func (s clauses) length() textLength {
	var all textLength
	for seg := range s.segments() {
		m := seg.length()
		all = textLength{
			all.words + m.words, all.letters + m.letters, all.numbers + m.numbers, all.marks + m.marks,
			all.segments + m.segments, all.pauses + m.pauses, all.longer + m.longer,
		}
	}
	return all
}

// length returns the length of a segment, including the pause before it.
func (s segment) length() textLength {
	m := lengthOf(s.clauses)
	if s.pause > 0 {
		m.pauses++
		m.longer += s.pause - Pause
	}
	return m
}

func (m textLength) minus(o textLength) textLength {
	return textLength{
		m.words - o.words, m.letters - o.letters, m.numbers - o.numbers, m.marks - o.marks,
		m.segments - o.segments, m.pauses - o.pauses, m.longer - o.longer,
	}
}

// letters returns the number of letters of a word, with digits converted.
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
