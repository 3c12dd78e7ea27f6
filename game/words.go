package game

import (
	"fmt"
	"strings"
)

// A vocabulary turns a small closed type into words and back: word i, counted from 0 and separated by |, is the text of
// value i.
type vocabulary string

// text returns word i, or ?i for a value without a word.
func (v vocabulary) text(i uint8) string {
	n := uint8(0)
	for word := range strings.SplitSeq(string(v), "|") {
		if n == i {
			return word
		}
		n++
	}
	return fmt.Sprintf("?%d", i)
}

// find returns the value of a word.
func (v vocabulary) find(text string) (uint8, bool) {
	n := uint8(0)
	for word := range strings.SplitSeq(string(v), "|") {
		if word == text {
			return n, true
		}
		n++
	}
	return 0, false
}

// parse is find with an error that names what was sought.
func (v vocabulary) parse(what string, text []byte) (uint8, error) {
	i, ok := v.find(string(text))
	if !ok {
		return 0, fmt.Errorf("%s %q is not known", what, text)
	}
	return i, nil
}
