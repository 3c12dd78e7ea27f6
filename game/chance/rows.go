package chance

import (
	"math/bits"

	"pressbox/game"
)

// A measuredRow is one line of the measured table: how often a class of plate appearance in a base-out state left
// certain bases occupied, with how many outs and runs. It does not name the runners.
type measuredRow struct {
	class             class
	baseOut           int // state before
	bases, outs, runs int // occupied afterwards, as a mask; outs made; runs scored
}

// An advanceRow is a measuredRow with each runner's advance and each out assigned.
type advanceRow struct {
	weight   float64
	outcome  outcome
	traits   traits
	to       [4]game.Base // by starting base; 0: stays, is out, or the base is empty
	outs     [3]rowOut    // in the order in which they are made
	outCount uint8
	runs     uint8
	value    float64 // runs scored plus the run expectancy afterwards
	next     int     // state afterwards; baseOutStates if the side is out
}

type rowOut struct {
	runner, base game.Base
	kind         game.OutKind
}

// outcome is the result of the one risk in a row: a runner who may take an extra base, or the relay to first in a
// double play. A manager may choose between declining it and taking it; chance decides between success and
// failure.
type outcome uint8

const (
	noRisk outcome = iota
	success
	failure
	declined
	outcomes
)

// traits are the properties of a row that tactics change the weight of.
type traits uint8

const (
	multipleOuts         traits = 1 << iota
	thirdScores                 // the runner from third scored
	thirdHolds                  // the runner from third stayed
	thirdOutAtHome              // the runner from third was put out at home
	runnerAdvances              // the batter is out and a runner advanced
	batterTakesExtraBase        // the batter is past the base that the hit is worth
	runnersOnStrikeout          // a runner advanced or was caught on a strikeout
)

// bases returns the number of bases that a hit of the class is worth, 1 for other classes.
func (c class) bases() int {
	if c > single {
		return int(c-single) + 1
	}
	return 1
}

// assignRunners returns the row with the most plausible assignment of the outs to the batter and the runners. It
// reports false if no assignment fits, or if the row belongs to the plays between pitches, as one does in which a
// runner who was stealing advances on an interference, unforced.
func (m measuredRow) assignRunners() (advanceRow, bool) {
	var best advanceRow
	least := -1.0
	for set := range 1 << 4 { // mask of the outs; bit 0 is the batter
		r, cost, ok := m.tryAssignment(set)
		if ok && (least < 0 || cost < least) {
			best, least = r, cost
		}
	}
	if least < 0 {
		return advanceRow{}, false
	}
	best.runs = uint8(m.runs) //nolint:gosec // at most 4
	best.next = baseOutStates
	if outs := m.baseOut%3 + m.outs; outs < 3 {
		best.next = 3*m.bases + outs
	}
	m.setTraits(&best)
	if before := m.baseOut / 3; m.class == interference && m.bases != (before|(before+1))&7 {
		return best, false
	}
	return best, m.class != strikeout || best.traits&runnersOnStrikeout == 0
}

// tryAssignment assigns the outs to the set and the advances to the others, lead runner first. It returns the row
// and the implausibility of the assignment, and reports whether it is possible.
func (m measuredRow) tryAssignment(set int) (advanceRow, float64, bool) {
	var r advanceRow
	players, over := 1|m.baseOut/3<<1, m.baseOut%3+m.outs >= 3
	if set&^players != 0 || bits.OnesCount(uint(set)) != m.outs {
		return r, 0, false
	}
	runs, bases := m.runs, m.bases
	cost := 0.0
	for from := 3; from >= 0; from-- {
		if players&^set&(1<<from) == 0 {
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
		bases &^= 1 << (to - 1) // no effect for home
		c, ok := m.advanceCost(from, to, over)
		if !ok {
			return r, 0, false
		}
		cost += c
		if to != from {
			r.to[from] = game.Base(to)
		}
	}
	if runs != 0 || bases != 0 || !m.assignOuts(&r, set) {
		return r, 0, false
	}
	if set&1 != 0 && m.class.isHit() {
		cost++ // runners are thrown out more often than the batter
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

// advanceCost returns how implausible an advance between two bases is for the class of plate appearance, and reports
// whether it is possible.
func (m measuredRow) advanceCost(from, to int, over bool) (float64, bool) {
	least := 0
	if from == 0 {
		least = 1
		if m.class.isHit() && !over {
			least = m.class.bases()
		}
	}
	advance := to - from
	forced := m.baseOut/3&(1<<from-1) == 1<<from-1 // of a runner: all bases behind are occupied
	switch {
	case advance < least || from != 0 && advance < 0:
		return 0, false
	case m.class == groundOut && advance == 0 && forced && !over:
		return 5, true
	case m.class.isHit() && advance == 0 && forced:
		return 5, true
	case m.class == groundOut && advance > 1:
		return 2 * float64(advance-1), true
	case from == 0 && advance > least && to == 4 && m.outs > 0:
		return 2, true // if the batter scores, only the batter can be out on the hit
	case from == 0 && advance > least:
		return .5 * float64(advance-least), true
	}
	return 0, true
}

// assignOuts sets base, kind and order of the outs of the set, and reports whether they are possible.
func (m measuredRow) assignOuts(r *advanceRow, set int) bool {
	batter := set&1 != 0
	timing := m.baseOut%3+m.outs >= 3 && m.runs > 0 // a run counts on the third out, 5.08(a)
	switch m.class {
	case walk, hitByPitch, interference, homeRun:
		return set == 0
	case strikeout, flyOut, lineOut, popOut:
		if set == 0 {
			return m.class == strikeout
		}
		if !batter || timing && set == 1 {
			return false
		}
		how := game.FlyOut
		if m.class == strikeout {
			how = game.StruckOut
		}
		r.addOut(game.AtBat, game.AtBat, how)
	case groundOut:
		return m.assignGroundOuts(r, set, timing)
	default:
	}
	for from := game.Third; from >= game.First; from-- {
		if set&(1<<from) == 0 {
			continue
		}
		at, how := m.outBase(from)
		r.addOut(from, at, how)
	}
	if batter && (m.class == reachedOnError || m.class.isHit()) {
		r.addOut(game.AtBat, game.Base(m.class.bases())+1, game.TagOut) //nolint:gosec // 1–3
	}
	return true
}

// outBase returns where and how a runner is put out, except on ground balls: doubled off, or on the way to the
// next base.
func (m measuredRow) outBase(from game.Base) (game.Base, game.OutKind) {
	switch {
	case m.class == lineOut, m.class == popOut, m.class == flyOut && from == game.First:
		return from, game.AppealOut
	case m.class == flyOut, m.class == strikeout:
		return from + 1, game.TagOut
	default:
		return min(from+game.Base(m.class.bases())+1, game.HomePlate), game.TagOut //nolint:gosec // 1–3
	}
}

// assignGroundOuts sets the outs on a ground ball: forced runners from the lead, the batter, then the runners who
// are not forced. If a run counts on the third out, that out was a tag (5.08(a)).
func (m measuredRow) assignGroundOuts(r *advanceRow, set int, timing bool) bool {
	batter := set&1 != 0
	if timing && set == 1 {
		return false
	}
	if timing && batter {
		r.addOut(game.AtBat, game.First, game.OutBeforeFirst)
	}
	for from := game.Third; from >= game.First; from-- {
		if set&(1<<from) != 0 && m.isForced(from) && !timing {
			r.addOut(from, from+1, game.ForceOut)
		}
	}
	if batter && !timing {
		r.addOut(game.AtBat, game.First, game.OutBeforeFirst)
	}
	for from := game.Third; from >= game.First; from-- {
		if set&(1<<from) != 0 && (!m.isForced(from) || timing) {
			r.addOut(from, from+1, game.TagOut)
		}
	}
	return true
}

// isForced reports whether the runner on a base is forced to advance by the batter.
func (m measuredRow) isForced(from game.Base) bool {
	all := 1<<from - 1
	return m.baseOut/3&all == all
}

func (r *advanceRow) addOut(runner, base game.Base, kind game.OutKind) {
	if int(r.outCount) == len(r.outs) {
		return
	}
	r.outs[r.outCount] = rowOut{runner, base, kind}
	r.outCount++
}

func (r *advanceRow) isOut(from game.Base) bool {
	for _, o := range r.outs[:r.outCount] {
		if o.runner == from {
			return true
		}
	}
	return false
}

// leadAdvance returns the starting base of the lead runner who advanced, AtBat if none did.
func (r *advanceRow) leadAdvance() game.Base {
	for from := game.Third; from > game.AtBat; from-- {
		if r.to[from] != 0 {
			return from
		}
	}
	return game.AtBat
}

// extraBaseRunner returns the starting base of the last runner who advanced further than the hit, AtBat if none did.
func (r *advanceRow) extraBaseRunner(c class) game.Base {
	for from := game.First; from <= game.Third; from++ {
		if int(r.to[from]) > int(from)+c.bases() {
			return from
		}
	}
	return game.AtBat
}

func (m measuredRow) setTraits(r *advanceRow) {
	held := m.baseOut / 3
	set := func(is bool, trait traits) {
		if is {
			r.traits |= trait
		}
	}
	set(r.outCount > 1, multipleOuts)
	if held&onThird != 0 {
		set(r.to[game.Third] == game.HomePlate, thirdScores)
		set(r.isOut(game.Third), thirdOutAtHome)
		set(r.to[game.Third] == 0 && !r.isOut(game.Third), thirdHolds)
	}
	advanced := r.to[game.First] != 0 || r.to[game.Second] != 0 || r.to[game.Third] != 0
	set(r.isOut(game.AtBat) && r.outCount == 1 && advanced, runnerAdvances)
	set(m.class.isHit() && int(r.to[game.AtBat]) > m.class.bases(), batterTakesExtraBase)
	set(m.class == strikeout && (r.outCount > 1 || r.isOut(game.AtBat) && advanced), runnersOnStrikeout)
	r.outcome = m.outcomeOf(r)
}

func (m measuredRow) outcomeOf(r *advanceRow) outcome {
	from := m.riskedRunner()
	switch {
	case from == game.AtBat:
		return noRisk
	case m.class == groundOut && from == game.First:
		switch {
		case r.outCount > 1:
			return success
		case r.outCount == 1 && !r.isOut(game.AtBat):
			return failure
		case r.outCount == 1:
			return declined
		}
		return noRisk
	case m.class == groundOut:
		switch {
		case r.isOut(game.Third) && r.outCount == 1:
			return success
		case r.outCount == 0 && r.to[game.Third] == game.HomePlate:
			return failure
		case r.outCount == 1 && r.to[game.Third] == game.HomePlate:
			return declined
		}
		return noRisk
	}
	sure := game.Base(0) // bases gained without risk
	if m.class.isHit() {
		sure = game.Base(m.class.bases()) //nolint:gosec // 1–3
	}
	to := r.to[from]
	if to == 0 && !r.isOut(from) {
		to = from
	}
	switch {
	case r.isOut(from):
		return failure
	case to > from+sure:
		return success
	case to == from+sure:
		return declined
	}
	return noRisk
}

// riskedRunner returns the starting base of the runner at risk, AtBat for none: a runner who may take an extra
// base, the runner from first in a double play, the runner from third on a ground ball.
func (m measuredRow) riskedRunner() game.Base {
	held, outs := m.baseOut/3, m.baseOut%3
	has := func(b int) bool { return held&b != 0 }
	switch {
	case m.class == single && has(onSecond):
		return game.Second
	case (m.class == single || m.class == double) && has(onFirst):
		return game.First
	case m.class == groundOut && outs < 2 && has(onFirst):
		return game.First
	case (m.class == groundOut || m.class == flyOut) && outs < 2 && has(onThird):
		return game.Third
	case m.class == flyOut && outs < 2 && has(onSecond):
		return game.Second
	}
	return game.AtBat
}

// valueRows sets the value of each row to the batting side.
func (d *measurements) valueRows() {
	for at := range d.rows {
		for c := range d.rows[at] {
			for i := range d.rows[at][c] {
				r := &d.rows[at][c][i]
				r.value = float64(r.runs)
				if r.next < baseOutStates {
					r.value += d.runExpectancy[r.next]
				}
			}
		}
	}
}
