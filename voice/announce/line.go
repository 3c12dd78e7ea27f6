package announce

import (
	"cmp"
	"context"
	"slices"
)

// An entry is a notice as the announcer works with it.
type entry struct {
	Announcement
	// ending is set by whoever is recording the notice's end or has asked the
	// stage to; the first one wins, nobody else may.
	ending bool

	// Of the head only:
	silence context.CancelCauseFunc // ends its sound; the cause says why
	settled chan struct{}           // closed when it ended, or waits again
	unsaved error                   // why its end could not be kept; read after settled
}

// A line is the entries that wait, in the order in which they are spoken.
type line []*entry

// before orders: urgent ones first, first come first served inside each.
func before(a, b *entry) int {
	if a.Urgent != b.Urgent {
		if a.Urgent {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Seq, b.Seq)
}

func (l *line) add(e *entry) {
	i, _ := slices.BinarySearchFunc(*l, e, before)
	*l = slices.Insert(*l, i, e)
}

func (l *line) remove(e *entry) {
	if i, ok := slices.BinarySearchFunc(*l, e, before); ok {
		*l = slices.Delete(*l, i, i+1)
	}
}

// place returns how many of the line are spoken before e, which need not be in it.
func (l line) place(e *entry) int {
	i, _ := slices.BinarySearchFunc(l, e, before)
	return i
}

// places counts promised places.
type places struct{ urgent, plain int }

func (p places) sum() int { return p.urgent + p.plain }

// add promises one place, or takes the promise back when by is -1.
func (p *places) add(urgent bool, by int) {
	if urgent {
		p.urgent += by
	} else {
		p.plain += by
	}
}

// before returns how many of the promised are spoken before a new one.
func (p places) before(urgent bool) int {
	if urgent {
		return p.urgent
	}
	return p.sum()
}
