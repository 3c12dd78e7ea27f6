// Package odds computes the chance of each side to win.
//
// Its one law: the chance now is the mean of the chances after the next plate appearance. The model is a Markov
// chain over inning, half, base-out state and lead with the transitions that game/chance measured. It is solved
// backwards from the last out; nothing is drawn.
//
// Clubs are league-average. Three factors are tuned to the home teams' wins from known leads in 2010–17 and 2019
// (the table is in odds_test.go): the home team's; the leader's, because the leader is more often the better club;
// and a greater one late in the game, when the leader brings the best relief pitchers.
package odds

import (
	"math"
	"sync"

	"pressbox/game"
	"pressbox/game/chance"
)

// Factors on singles, walks and home runs of the side with the edge; the other side's are divided by them. In 2020
// leading sides scored 1.11 times as much as trailing ones in innings 1–6, and with leads up to three 1.26 times
// in 7–9: edges of 1.045 and 1.105. These are the tuned values: the largest error of a spot value is .018, the
// root mean square .008.
const (
	homeEdge = 1.04
	leadEdge = 1.04
	lateEdge = 1.13 // in the last third of the scheduled innings, and after
)

// maxLead is the lead beyond which a further run makes no difference.
const maxLead = 20

// A Model holds the chances for one set of options. It never changes and may be shared.
type Model struct {
	innings [][2]byLead // by half; the last is for all extra innings
	begin   int         // base-out state in which halves of extra innings begin
}

// byLead holds the chances of the side at bat by its lead + maxLead.
type byLead [2*maxLead + 1]byState

// byState holds the chances with one lead, by base-out state.
type byState [chance.BaseOutStates]float64

// New returns the model of games with options o. Only the scheduled innings, the kind of extra innings and the
// side that bats first matter.
func New(o game.Options) *Model {
	sv := solver{Model: &Model{innings: make([][2]byLead, o.ScheduledInnings()+1)}, options: o, order: endingFirst()}
	begin := 0
	if o.ExtraInnings != game.Standard {
		begin = runnerOnSecond
	}
	sv.begin = begin
	extra := o.ScheduledInnings()
	// A tied extra inning is followed by another one like it. The chance of the side that bats first is a linear
	// function of its chance in the next inning, and equal to it.
	var line [2]float64
	for tied := range line {
		sv.solveLastInning(extra, begin, float64(tied))
		line[tied] = sv.innings[extra][game.Top][maxLead][begin]
	}
	tied := line[0] / (1 - line[1] + line[0])
	sv.solveLastInning(extra, begin, tied)
	sv.solveLastInning(extra-1, 0, tied)
	for i := extra - 2; i >= 0; i-- {
		sv.solveInning(i)
	}
	return sv.Model
}

// models holds the models of games of up to nine innings, without and with standard extra innings, made when they are
// first needed.
var models = func() (all [maxInnings + 1][2]func() *Model) {
	for innings := range all {
		for i, extra := range [...]game.ExtraInnings{game.AutomaticRunner, game.Standard} {
			all[innings][i] = sync.OnceValue(
				func() *Model { return New(game.Options{Innings: innings, ExtraInnings: extra}) })
		}
	}
	return all
}()

// maxInnings is the largest number of innings of which [For] keeps models.
const maxInnings = 9

// For returns the model of games with options o as [New] does, and keeps it if such games are usual.
func For(o game.Options) *Model {
	extra := 0
	if o.ExtraInnings == game.Standard {
		extra = 1
	}
	if o.ScheduledInnings() > maxInnings || o.HomeBatsFirst {
		return New(o)
	}
	return models[o.ScheduledInnings()][extra]()
}

// runnerOnSecond is the base-out state with a runner on second and none out.
const runnerOnSecond = 3 * 2

// HomeWin returns the chance that the home side wins from a state with the model's options: 1 or 0 after a win or
// loss, .5 after a tie that was called.
func (m *Model) HomeWin(s *game.State) float64 {
	if s.Over() {
		switch winner, won := s.Winner(); {
		case !won:
			return .5
		case winner == game.Home:
			return 1
		default:
			return 0
		}
	}
	p := m.AtBat(s.Inning, s.Half, chance.BaseOut(s), s.Lead())
	if s.Batting() == game.Away {
		p = 1 - p
	}
	return p
}

// averageSwing is the mean change of the chances by a plate appearance, over 500 simulated games of nine innings.
const averageSwing = .035

// Leverage returns how much the plate appearance that begins in s may change the chances, as a multiple of what one
// does on average in nine innings; 0 of a game that is over.
func (m *Model) Leverage(s *game.State) float64 {
	if s.Over() {
		return 0
	}
	lead, now, swing := s.Lead(), m.AtBat(s.Inning, s.Half, chance.BaseOut(s), s.Lead()), 0.
	for _, t := range averageTransitions()[chance.BaseOut(s)] {
		after := m.SideOut(s.Inning, s.Half, lead+t.Runs)
		if t.To < chance.BaseOutStates {
			after = m.AtBat(s.Inning, s.Half, t.To, lead+t.Runs)
		}
		swing += t.P * math.Abs(after-now)
	}
	return swing / averageSwing
}

// averageTransitions returns the transitions of average players.
var averageTransitions = sync.OnceValue( //nolint:gochecknoglobals // computed once, never changed
	func() [chance.BaseOutStates][]chance.Transition { return chance.Transitions(1) })

// AtBat returns the chance of the side at bat, which has a lead, from a base-out state on.
func (m *Model) AtBat(inning int, half game.Half, at, lead int) float64 {
	return m.innings[min(inning, len(m.innings))-1][half][index(lead)][at]
}

// SideOut returns the chance of the side at bat, which has a lead, if it is out now.
func (m *Model) SideOut(inning int, half game.Half, lead int) float64 {
	scheduled := len(m.innings) - 1
	decisive := inning >= scheduled
	switch {
	case decisive && lead < 0:
		return 0
	case decisive && lead > 0 && half == game.Bottom:
		return 1
	case half == game.Top:
		return 1 - m.AtBat(inning, game.Bottom, m.beginning(inning), -lead)
	default:
		return 1 - m.AtBat(inning+1, game.Top, m.beginning(inning+1), -lead)
	}
}

// beginning returns the base-out state in which the halves of an inning begin.
func (m *Model) beginning(inning int) int {
	if inning < len(m.innings) {
		return 0
	}
	return m.begin
}

// index returns the index of a lead in byLead.
func index(lead int) int { return min(max(lead, -maxLead), maxLead) + maxLead }
