package crashtest

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
)

// Bounds limit the states that [Trace.States] derives from the operations that are not on the disk yet.
type Bounds struct {
	All    int // up to this many: every subset; more: each one missing, and Random subsets
	Random int
}

// A State is what a power cut can leave.
type State struct {
	Image
	Next int    // the power cut came before this operation, at the latest
	How  string // what of the trace is in the image
}

// States returns the different states in which a power cut could leave the disk, by the time of the power cut.
func (t Trace) States(b Bounds) []State {
	e := enumerator{bounds: b, seed: maphash.MakeSeed(), bases: []Image{t.Base}, found: map[uint64]*State{}}
	e.add(-1, choice{})
	for i, o := range t.Ops {
		switch {
		case o.changesData() || o.changesNames():
			e.pending = append(e.pending, pending{o, i})
			e.extend(i)
		case o.Kind == Sync || o.Kind == SyncDir:
			e.sync(i, o)
		default:
		}
	}
	e.close(len(t.Ops), func(*candidate) bool { return true })
	states := make([]State, 0, len(e.found))
	for _, s := range e.found {
		states = append(states, *s)
	}
	slices.SortFunc(states, func(a, b State) int {
		return cmp.Or(cmp.Compare(a.Next, b.Next), cmp.Compare(a.How, b.How))
	})
	return states
}

// A pending operation is not on the disk yet.
type pending struct {
	Op
	at int // its index in the trace
}

// A choice is what of the pending operations a power cut leaves: nil means all of
// an operation, otherwise the operations that stand for a part of it.
type choice struct {
	parts map[int][]Op // index in the trace → what is left of it; empty for nothing
	how   string
}

// A candidate is a state that is possible until an operation that it lacks becomes permanent.
type candidate struct {
	State
	key   uint64
	after int // the index of the last operation that it may have
	lacks map[int][]Op
}

type enumerator struct {
	bounds  Bounds
	seed    maphash.Seed
	bases   []Image // on the disk for certain; two after a failed sync: with and without what was lost
	pending []pending
	open    []*candidate
	found   map[uint64]*State
}

// extend adds the states that have at least a part of the newest operation.
func (e *enumerator) extend(at int) {
	last := len(e.pending) - 1
	for _, c := range e.choices(last) {
		e.add(at, c)
	}
}

// choices returns the choices among the pending operations that have the last.
func (e *enumerator) choices(last int) []choice {
	all := []choice{{how: "all"}}
	switch {
	case last == 0:
	case last < e.bounds.All:
		for bits := 1; bits < 1<<last; bits++ {
			all = append(all, e.without(func(i int) bool { return i < last && bits>>i&1 == 1 }))
		}
	default:
		all = append(all, e.without(func(i int) bool { return i < last }))
		for missing := range last {
			all = append(all, e.without(func(i int) bool { return i == missing }))
		}
		seed := rand.NewPCG(uint64(e.pending[0].at), uint64(e.pending[last].at)) //nolint:gosec // places in a trace
		random := rand.New(seed)                                                 //nolint:gosec // the same in each run
		for range e.bounds.Random {
			all = append(all, e.mixed(random, last))
		}
	}
	for _, part := range tear(e.pending[last].Op) {
		at := map[int][]Op{e.pending[last].at: part.ops}
		all = append(all, choice{at, part.how})
		if last > 0 {
			alone := e.without(func(i int) bool { return i < last })
			alone.parts[e.pending[last].at] = part.ops
			alone.how += ", " + part.how
			all = append(all, alone)
		}
	}
	return all
}

// without returns the choice that lacks some pending operations.
func (e *enumerator) without(missing func(i int) bool) choice {
	c := choice{parts: map[int][]Op{}, how: "without"}
	for i, p := range e.pending {
		if missing(i) {
			c.parts[p.at] = nil
			c.how += fmt.Sprintf(" %d", p.at)
		}
	}
	return c
}

// mixed returns a random choice: a third of the operations is missing, and a sixth is torn.
func (e *enumerator) mixed(random *rand.Rand, last int) choice {
	c := choice{parts: map[int][]Op{}, how: "random:"}
	for _, p := range e.pending[:last] {
		torn := tear(p.Op)
		switch n := random.IntN(6); {
		case n < 2:
			c.parts[p.at] = nil
			c.how += fmt.Sprintf(" without %d", p.at)
		case n == 2 && len(torn) > 0:
			part := torn[random.IntN(len(torn))]
			c.parts[p.at] = part.ops
			c.how += fmt.Sprintf(" %d %s", p.at, part.how)
		default:
		}
	}
	return c
}

// A part is what is left of a torn write.
type part struct {
	ops []Op
	how string
}

// tear returns parts of a write: its beginning and its end, torn after the first
// piece, in the middle and before the last one; and its length without its data.
func tear(o Op) (parts []part) {
	if o.Kind != Write || len(o.Data) == 0 {
		return nil
	}
	cuts := map[int]bool{}
	for _, piece := range [...]int{512, pageSize} {
		count := len(o.Data) / piece
		for _, n := range [...]int{1, count / 2, count - 1} {
			if cut := n * piece; cut > 0 && cut < len(o.Data) && !cuts[cut] {
				cuts[cut] = true
				start, end := o, o
				start.Data = o.Data[:cut]
				end.Data, end.Offset = o.Data[cut:], o.Offset+int64(cut)
				parts = append(parts,
					part{[]Op{start}, fmt.Sprintf("torn after %d bytes", cut)},
					part{[]Op{end}, fmt.Sprintf("torn before %d bytes", cut)})
			}
		}
	}
	zeros := o
	zeros.Data, zeros.Offset = o.Data[:0], o.Offset+int64(len(o.Data))
	return append(parts, part{[]Op{zeros}, "only its length"})
}

// add adds a choice of the pending operations on each base.
func (e *enumerator) add(at int, c choice) {
	for i, m := range e.bases {
		for _, p := range e.pending {
			part, chosen := c.parts[p.at]
			if !chosen {
				part = []Op{p.Op}
			}
			for _, o := range part {
				m = m.apply(o)
			}
		}
		how := fmt.Sprintf("after operation %d: %s", at, c.how)
		if i > 0 {
			how += ", without what failed syncs lost"
		}
		e.open = append(e.open, &candidate{State{m, 0, how}, m.hash(e.seed), at, c.parts})
	}
}

// sync makes pending operations permanent, or loses them if the sync failed.
func (e *enumerator) sync(at int, o Op) {
	var done []pending
	e.pending = slices.DeleteFunc(e.pending, func(p pending) bool {
		if o.commits(p.Op) {
			done = append(done, p)
		}
		return o.commits(p.Op)
	})
	if len(done) == 0 {
		return
	}
	if o.Failed && len(e.bases) == 1 {
		e.bases = append(e.bases, e.bases[0])
	}
	for i := range e.bases {
		for _, p := range done {
			if !o.Failed || i == 0 {
				e.bases[i] = e.bases[i].apply(p.Op)
			}
		}
	}
	if o.Failed {
		return // what was possible stays possible
	}
	e.close(at, func(c *candidate) bool {
		return slices.ContainsFunc(done, func(p pending) bool {
			_, lacks := c.lacks[p.at]
			return lacks || p.at > c.after
		})
	})
}

// close ends the candidates that are impossible from operation at on.
func (e *enumerator) close(at int, impossible func(*candidate) bool) {
	e.open = slices.DeleteFunc(e.open, func(c *candidate) bool {
		if !impossible(c) {
			return false
		}
		c.Next = at
		if s := e.found[c.key]; s == nil || s.Next < at {
			e.found[c.key] = &c.State
		}
		return true
	})
}
