package chance

import (
	"math/bits"

	"pressbox/game"
)

// A measuredRow is a row of the measured table: a class of plate appearance in a situation, and what was left afterwards.
// It counts men; it does not say who they are.
type measuredRow struct {
	class             class
	from              int // situation
	bases, outs, runs int // held afterwards, as a mask; outs made; runs scored
}

// A row is a transition told man by man.
type row struct {
	weight float64
	fate   fate
	marks  marks
	to     [4]game.Base // by starting base; 0 stays, or is out, or nobody
	outs   [3]rowOut    // in order
	made   uint8        // outs
	runs   uint8
	value  float64 // runs, and those to be expected afterwards
	next   int     // situation afterwards; situations if the side is out
}

type rowOut struct {
	who, at game.Base
	how     game.OutKind
}

// fate is what became of the man for whom, or at whom, something was risked: the runner who might take an extra base, or
// the relay to first in a double play. Someone may choose between declining and the gamble; chance between won and lost.
type fate uint8

const (
	plain fate = iota // nothing was risked
	won
	lost
	declined
	fates
)

// marks are what decisions look at.
type marks uint8

const (
	doubled   marks = 1 << iota // more than one out
	scores3                     // the runner from third scored
	stays3                      // he stayed
	outHome                     // he was put out at home
	moved                       // the batter is out and a runner moved up
	stretched                   // the batter is on a further base than his hit is worth
	running                     // somebody moved or was caught on a strikeout
)

// bases returns how many a hit of the class is worth; a man who is safe otherwise reaches first.
func (c class) bases() int {
	if c > single {
		return int(c-single) + 1
	}
	return 1
}

// script finds who did what: of all ways to name the men who were put out, the one that baseball would think of first.
// It is false for rows that cannot be told, or that belong to what happens between pitches.
func (t measuredRow) script() (row, bool) {
	var best row
	least := -1.0
	for set := range 1 << 4 { // who is out, bit 0 the batter
		r, cost, ok := t.assign(set)
		if ok && (least < 0 || cost < least) {
			best, least = r, cost
		}
	}
	if least < 0 {
		return row{}, false
	}
	best.runs = uint8(t.runs) //nolint:gosec // at most 4
	best.next = situations
	if outs := t.from%3 + t.outs; outs < 3 {
		best.next = 3*t.bases + outs
	}
	t.mark(&best)
	return best, t.class != strikeout || best.marks&running == 0
}

// assign sends the men who are not out to where somebody was afterwards, those in front first, and says how odd that is.
func (t measuredRow) assign(set int) (row, float64, bool) {
	var r row
	men, over := 1|t.from/3<<1, t.from%3+t.outs >= 3
	if set&^men != 0 || bits.OnesCount(uint(set)) != t.outs {
		return r, 0, false
	}
	runs, bases := t.runs, t.bases
	cost := 0.0
	for from := 3; from >= 0; from-- {
		if men&^set&(1<<from) == 0 {
			continue
		}
		to := highest(bases)
		if runs > 0 {
			to = 4
			runs--
		}
		if to == 0 {
			return r, 0, false
		}
		bases &^= 1 << (to - 1) // nothing at home
		odd, ok := t.oddity(from, to, over)
		if !ok {
			return r, 0, false
		}
		cost += odd
		if to != from {
			r.to[from] = game.Base(to)
		}
	}
	if runs != 0 || bases != 0 || !t.putOut(&r, set) {
		return r, 0, false
	}
	if set&1 != 0 && t.class.hit() {
		cost++ // a runner is thrown out oftener than the batter
	}
	return r, cost, true
}

// highest returns the highest base of a mask, 0 for none.
func highest(bases int) int {
	for b := 3; b > 0; b-- {
		if bases&(1<<(b-1)) != 0 {
			return b
		}
	}
	return 0
}

// oddity says how far a man's way from one base to another is from what his class of play usually does; false if he
// cannot have gone it.
func (t measuredRow) oddity(from, to int, over bool) (float64, bool) {
	least := 0
	if from == 0 {
		least = 1
		if t.class.hit() && !over {
			least = t.class.bases()
		}
	}
	gone := to - from
	forced := t.from/3&(1<<from-1) == 1<<from-1 // of a runner: every base behind him up to his own is held
	switch {
	case gone < least || from != 0 && gone < 0:
		return 0, false
	case t.class == grounder && gone == 0 && forced && !over:
		return 5, true
	case t.class.hit() && gone == 0 && forced:
		return 5, true
	case t.class == grounder && gone > 1:
		return 2 * float64(gone-1), true
	case from == 0 && gone > least && to == 4 && t.outs > 0:
		return 2, true // nobody is out on a hit that the batter comes home on, if not he
	case from == 0 && gone > least:
		return .5 * float64(gone-least), true
	}
	return 0, true
}

// putOut says where, how and in which order the men of the set are put out; false if they cannot be.
func (t measuredRow) putOut(r *row, set int) bool {
	batter := set&1 != 0
	timing := t.from%3+t.outs >= 3 && t.runs > 0 // a run counts although the side is out: 5.08(a)
	switch t.class {
	case walk, hitByPitch, interference, homeRun:
		return set == 0
	case strikeout, flyOut, lineOut, popOut:
		if set == 0 {
			return t.class == strikeout
		}
		if !batter || timing && set == 1 {
			return false
		}
		how := game.FlyOut
		if t.class == strikeout {
			how = game.StruckOut
		}
		r.add(game.AtBat, game.AtBat, how)
	case grounder:
		return t.putOutOnGround(r, set, timing)
	default:
	}
	for from := game.Third; from >= game.First; from-- {
		if set&(1<<from) == 0 {
			continue
		}
		at, how := t.wayOut(from)
		r.add(from, at, how)
	}
	if batter && (t.class == onError || t.class.hit()) {
		r.add(game.AtBat, game.Base(t.class.bases())+1, game.TagOut) //nolint:gosec // 1–3
	}
	return true
}

// wayOut says where and how a runner is put out on anything but a grounder: doubled off, or going further.
func (t measuredRow) wayOut(from game.Base) (game.Base, game.OutKind) {
	switch {
	case t.class == lineOut, t.class == popOut, t.class == flyOut && from == game.First:
		return from, game.AppealOut
	case t.class == flyOut, t.class == strikeout:
		return from + 1, game.TagOut
	default:
		return min(from+game.Base(t.class.bases())+1, game.HomePlate), game.TagOut //nolint:gosec // 1–3
	}
}

// putOutOnGround: forced runners first, from the lead, then the batter, then who was not forced. When a run counts
// although the side is out, the third out was a tag (5.08(a)).
func (t measuredRow) putOutOnGround(r *row, set int, timing bool) bool {
	batter := set&1 != 0
	if timing && set == 1 {
		return false
	}
	if timing && batter {
		r.add(game.AtBat, game.First, game.OutBeforeFirst)
	}
	for from := game.Third; from >= game.First; from-- {
		if set&(1<<from) != 0 && t.forced(from) && !timing {
			r.add(from, from+1, game.ForceOut)
		}
	}
	if batter && !timing {
		r.add(game.AtBat, game.First, game.OutBeforeFirst)
	}
	for from := game.Third; from >= game.First; from-- {
		if set&(1<<from) != 0 && (!t.forced(from) || timing) {
			r.add(from, from+1, game.TagOut)
		}
	}
	return true
}

// forced reports whether the runner from a base must run when the batter does.
func (t measuredRow) forced(from game.Base) bool {
	all := 1<<from - 1
	return t.from/3&all == all
}

func (r *row) add(who, at game.Base, how game.OutKind) {
	if int(r.made) == len(r.outs) {
		return
	}
	r.outs[r.made] = rowOut{who, at, how}
	r.made++
}

// isOut reports whether the man from a base is put out.
func (r *row) isOut(from game.Base) bool {
	for _, o := range r.outs[:r.made] {
		if o.who == from {
			return true
		}
	}
	return false
}

// ahead returns the foremost runner who moved, AtBat if none did.
func (r *row) ahead() game.Base {
	for from := game.Third; from > game.AtBat; from-- {
		if r.to[from] != 0 {
			return from
		}
	}
	return game.AtBat
}

// extra returns the hindmost runner who went further than the hit, AtBat if none did.
func (r *row) extra(c class) game.Base {
	for from := game.First; from <= game.Third; from++ {
		if int(r.to[from]) > int(from)+c.bases() {
			return from
		}
	}
	return game.AtBat
}

// mark notes what decisions and gambles look at.
func (t measuredRow) mark(r *row) {
	held := t.from / 3
	set := func(is bool, m marks) {
		if is {
			r.marks |= m
		}
	}
	set(r.made > 1, doubled)
	if held&onThird != 0 {
		set(r.to[game.Third] == game.HomePlate, scores3)
		set(r.isOut(game.Third), outHome)
		set(r.to[game.Third] == 0 && !r.isOut(game.Third), stays3)
	}
	up := r.to[game.First] != 0 || r.to[game.Second] != 0 || r.to[game.Third] != 0
	set(r.isOut(game.AtBat) && r.made == 1 && up, moved)
	set(t.class.hit() && int(r.to[game.AtBat]) > t.class.bases(), stretched)
	set(t.class == strikeout && (r.made > 1 || r.isOut(game.AtBat) && up), running)
	r.fate = t.fate(r)
}

// fate says what became of what was risked.
func (t measuredRow) fate(r *row) fate {
	who := t.risked()
	switch {
	case who == game.AtBat:
		return plain
	case t.class == grounder && who == game.First:
		switch {
		case r.made > 1:
			return won
		case r.made == 1 && !r.isOut(game.AtBat):
			return lost
		case r.made == 1:
			return declined
		}
		return plain
	case t.class == grounder:
		switch {
		case r.isOut(game.Third) && r.made == 1:
			return won
		case r.made == 0 && r.to[game.Third] == game.HomePlate:
			return lost
		case r.made == 1 && r.to[game.Third] == game.HomePlate:
			return declined
		}
		return plain
	}
	usual := game.Base(0) // bases he gains in any case
	if t.class.hit() {
		usual = game.Base(t.class.bases()) //nolint:gosec // 1–3
	}
	to := r.to[who]
	if to == 0 && !r.isOut(who) {
		to = who
	}
	switch {
	case r.isOut(who):
		return lost
	case to > who+usual:
		return won
	case to == who+usual:
		return declined
	}
	return plain
}

// risked returns the base of the man at whom something may be risked: a runner who could take an extra base, the runner
// from first who may be the first of two outs, the runner from third on a grounder; AtBat for nobody.
func (t measuredRow) risked() game.Base {
	held, outs := t.from/3, t.from%3
	has := func(b int) bool { return held&b != 0 }
	switch {
	case t.class == single && has(onSecond):
		return game.Second
	case (t.class == single || t.class == double) && has(onFirst):
		return game.First
	case t.class == grounder && outs < 2 && has(onFirst):
		return game.First
	case (t.class == grounder || t.class == flyOut) && outs < 2 && has(onThird):
		return game.Third
	case t.class == flyOut && outs < 2 && has(onSecond):
		return game.Second
	}
	return game.AtBat
}

// valueRows works out what each row is worth to the side at bat.
func (d *data) valueRows() {
	for at := range d.rows {
		for c := range d.rows[at] {
			for i := range d.rows[at][c] {
				r := &d.rows[at][c][i]
				r.value = float64(r.runs)
				if r.next < situations {
					r.value += d.runs[r.next]
				}
			}
		}
	}
}
