package game

import "fmt"

// A vocabulary turns a small closed type into words and back: word i is the text of value i.
type vocabulary []string

func (v vocabulary) text(i uint8) string {
	if int(i) < len(v) {
		return v[i]
	}
	return fmt.Sprintf("?%d", i)
}

func (v vocabulary) find(text string) (uint8, bool) {
	for i, w := range v {
		if w == text {
			return uint8(i), true //nolint:gosec // no vocabulary has 256 words
		}
	}
	return 0, false
}

func (v vocabulary) parse(what string, text []byte) (uint8, error) {
	i, ok := v.find(string(text))
	if !ok {
		return 0, fmt.Errorf("%s %q is not known", what, text)
	}
	return i, nil
}
