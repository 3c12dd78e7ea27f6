package english

import (
	_ "embed"
	"sort"
	"strings"
)

// emojiNames has the lines "symbol TAB name", sorted.
//
//go:embed emoji.txt
var emojiNames string

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
