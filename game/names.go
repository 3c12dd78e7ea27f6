package game

import (
	"encoding/json"
	"fmt"
	"strconv"
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

// value returns the value with a name.
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

// parse returns the value with a name. The error names the enumeration.
func (n names) parse(enumeration string, text []byte) (uint8, error) {
	v, ok := n.value(string(text))
	if !ok {
		return 0, fmt.Errorf("unknown %s %q", enumeration, text)
	}
	return v, nil
}

// parseJSON returns the value with the name in a JSON string. Journals of version 1 hold the value itself, a JSON number.
func (n names) parseJSON(enumeration string, data []byte) (uint8, error) {
	if len(data) == 0 || data[0] != '"' {
		v, err := strconv.ParseUint(string(data), 10, 8)
		if err != nil || int(v) > strings.Count(string(n), "|") {
			return 0, fmt.Errorf("unknown %s %s", enumeration, data)
		}
		return uint8(v), nil
	}
	var name string
	if err := json.Unmarshal(data, &name); err != nil {
		return 0, fmt.Errorf("read %s: %w", enumeration, err)
	}
	return n.parse(enumeration, []byte(name))
}
