package game

import (
	"fmt"
	"strings"
)

// names holds the names of an enumeration's values, from value 0, separated by |.
type names string

// name returns the name of value i, or ?i if it has none.
func (n names) name(i uint8) string {
	v := uint8(0)
	for name := range strings.SplitSeq(string(n), "|") {
		if v == i {
			return name
		}
		v++
	}
	return fmt.Sprintf("?%d", i)
}

func (n names) value(name string) (uint8, bool) {
	v := uint8(0)
	for candidate := range strings.SplitSeq(string(n), "|") {
		if candidate == name {
			return v, true
		}
		v++
	}
	return 0, false
}

// parse sets v to the value whose name is text. The error names the enumeration.
func parse[T ~uint8](v *T, enumeration string, n names, text []byte) error {
	i, ok := n.value(string(text))
	if !ok {
		return fmt.Errorf("unknown %s %q", enumeration, text)
	}
	*v = T(i)
	return nil
}
