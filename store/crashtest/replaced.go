package crashtest

import (
	"bytes"
	"fmt"
)

// Replaced checks that a file, whenever the power is cut, has its earlier content
// or the new one, as a whole, and the new one once a process has acknowledged it.
// It returns the number of states.
func (t Trace) Replaced(name string, earlier, replacement []byte) (states int, err error) {
	all := t.States(Bounds{All: 4, Random: 8})
	for _, s := range all {
		content, _ := s.Content(name)
		acknowledged := len(t.Acks(s.Next)) > 0
		switch {
		case bytes.Equal(content, replacement):
		case acknowledged:
			return len(all), fmt.Errorf("%s does not have its new content, which was acknowledged; "+
				"before operation %d, %s", name, s.Next, s.How)
		case !bytes.Equal(content, earlier):
			return len(all), fmt.Errorf("%s has %d bytes, which are neither its earlier content nor the new one; "+
				"before operation %d, %s",
				name, len(content), s.Next, s.How)
		}
	}
	return len(all), nil
}
