package speakable

import (
	_ "embed"
	"sort"
	"strings"
	"unicode/utf8"
)

// emojiNames has the lines "symbol TAB name", sorted.
//
//go:embed emoji.txt
var emojiNames string

// emoji reads the longest symbol with a known name.
func (r *reader) emoji() bool {
	view := r.clip(0)
	n := sequence(view)
	for n > 0 {
		if name := emojiName(view[:n]); name != "" {
			r.emit(name, n)
			return true
		}
		_, size := utf8.DecodeLastRuneInString(view[:n])
		n -= size
	}
	return false
}

// sequence returns the length of the emoji sequence at the start of s: symbols
// with joiners between them, or the two letters of a flag.
func sequence(s string) int {
	n, joined := 0, true
	for i, c := range s {
		flag := regional(c) && regional(first(s)) && i == utf8.RuneLen(c)
		switch {
		case c == '\u200D':
			joined = true
			continue
		case !flag && (!joined || isWord(c) || c < 0x80):
			return n
		}
		n, joined = i+utf8.RuneLen(c), false
	}
	return n
}

// regional reports whether c is a letter of a flag.
func regional(c rune) bool { return 0x1F1E6 <= c && c <= 0x1F1FF }

// emojiName returns the name of a symbol or sequence, "" if it has none.
func emojiName(symbol string) string {
	key := symbol + "\t"
	at := sort.Search(len(emojiNames), func(i int) bool { return emojiNames[lineStart(i):] >= key })
	name, ok := strings.CutPrefix(emojiNames[lineStart(at):], key)
	if !ok {
		return ""
	}
	name, _, _ = strings.Cut(name, "\n")
	return name
}

// lineStart returns the start of the line of byte i.
func lineStart(i int) int { return strings.LastIndexByte(emojiNames[:i], '\n') + 1 }
