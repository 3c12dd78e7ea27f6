package recognize

import (
	"sort"
	"strings"
)

// EmojiNames returns the lookup of a table with the lines "symbol TAB name", sorted by bytes. The lookup
// returns "" for a symbol that is not in it.
func EmojiNames(table string) func(symbol string) string {
	lineStart := func(i int) int { return strings.LastIndexByte(table[:i], '\n') + 1 }
	return func(symbol string) string {
		key := symbol + "\t"
		at := sort.Search(len(table), func(i int) bool { return table[lineStart(i):] >= key })
		name, ok := strings.CutPrefix(table[lineStart(at):], key)
		if !ok {
			return ""
		}
		name, _, _ = strings.Cut(name, "\n")
		return name
	}
}
