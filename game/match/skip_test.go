package match

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"pressbox/game"
	"pressbox/game/league"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

var (
	ann = protocol.Person{ID: "ann", Name: "Ann"}
	bob = protocol.Person{ID: "bob", Name: "Bob"}
)

// A table is a match that people play in a test.
type table struct {
	tb testing.TB
	*Match
	now time.Time
}

// begin starts a match of two clubs of the built-in league; a side without a manager is the bot's.
func begin(tb testing.TB, seed uint64, managers [2]protocol.Person) *table {
	tb.Helper()
	rosters := check.Must(league.Season(1))(tb)
	o := &Origin{
		Rules: Rules, Options: protocol.Defaults(), Clubs: [2]Club{ClubOf(&rosters[0]), ClubOf(&rosters[1])},
		Managers: managers,
	}
	binary.BigEndian.PutUint64(o.Seed[:], seed)
	for side := range managers {
		o.Bots[side] = managers[side].ID == ""
	}
	tx := check.Must(Create("id", o, ann, time.Unix(0, 0)))(tb)
	check.NoError(tb, tx.SubmitMissing())
	check.NoError(tb, tx.Start(0))
	check.NoError(tb, tx.Advance())
	return &table{tb: tb, Match: check.Must(load(check.Must(tx.Moves())(tb)))(tb), now: time.Unix(0, 0)}
}

// try sends an action, at the present revision.
func (m *table) try(by protocol.Person, action string) error {
	m.tb.Helper()
	c := protocol.Command{ID: "1", Revision: m.Revision}
	check.NoError(m.tb, json.Unmarshal([]byte(action), &c.Action))
	m.now = m.now.Add(time.Second)
	tx := m.Begin(by, "", m.now)
	if err := tx.Submit(c, [2]Absence{}); err != nil {
		return err
	}
	check.NoError(m.tb, tx.Advance())
	m.Commit(tx)
	return nil
}

func (m *table) do(by protocol.Person, action string) {
	m.tb.Helper()
	check.NoError(m.tb, m.try(by, action))
}

// decide makes the first decision that a manager is offered.
func (m *table) decide(by protocol.Person) {
	m.tb.Helper()
	legal := m.Legal(m.Sides(by))
	check.Require(m.tb, len(legal) > 0, "%s has nothing to decide", by.Name)
	m.do(by, text(m.tb, legal[0].Action))
}

// stops returns the reasons of the stops so far.
func (m *table) stops() (reasons []string) {
	for _, move := range m.history.moves {
		if move.Kind == protocol.Stopped {
			reasons = append(reasons, move.Reason)
		}
	}
	return reasons
}

// reload loads the moves so far again: the position must be the same.
func (m *table) reload() {
	m.tb.Helper()
	var moves [][]byte
	for _, move := range m.history.moves {
		moves = append(moves, check.Must(json.Marshal(move))(m.tb))
	}
	again := check.Must(load(moves))(m.tb)
	check.Equal(m.tb, dump(m.tb, &again.Position), dump(m.tb, &m.Position), "the position after loading")
}

// coached makes the coach's substitution, if there is one, and then the coach's pick; gain is what the best call is
// worth over the usual one before.
func (m *table) coached(by protocol.Person) (gain float64) {
	m.tb.Helper()
	sides := m.Sides(by)
	legal := m.Legal(sides)
	for _, c := range legal {
		if c.Worth != nil {
			gain = max(gain, c.WinProbability-legal[0].WinProbability)
		}
	}
	isPick := func(c protocol.Choice) bool { return c.Worth != nil && c.Coach }
	offers := m.Offers(sides, [2]Absence{})
	if i := slices.IndexFunc(offers, isPick); i >= 0 && m.question == nil {
		m.do(by, text(m.tb, offers[i].Action))
	}
	legal = m.Legal(sides)
	i := max(slices.IndexFunc(legal, isPick), 0)
	m.do(by, text(m.tb, legal[i].Action))
	return gain
}

// Of nine innings against the bot, about ten turns matter; the coach's are worth the margin, and few are others.
func TestSkip_untilLeverage(t *testing.T) {
	t.Parallel()
	var all, others []int
	for seed := range uint64(30) {
		m := begin(t, seed, [2]protocol.Person{game.Home: ann})
		m.do(ann, `{"a":"skip_until","until":"leverage","margin":0.3}`)
		stops, n := map[string]int{}, 0
		for m.Status == protocol.Active {
			reasons := m.stops()
			check.Require(t, len(reasons) > 0 && m.stopped, "game %d waits at a turn that does not matter", seed)
			reason, isNew := reasons[len(reasons)-1], len(reasons) > n // a question of the same turn is no further stop
			n = len(reasons)
			if isNew {
				stops[reason]++
			}
			if gain := m.coached(ann); isNew && reason == byCoach {
				check.That(t, gain > .0029, "game %d stops for %.4f of win probability", seed, gain)
			}
		}
		m.reload()
		all = append(all, len(m.stops()))
		others = append(others, len(m.stops())-stops[byCoach])
	}
	slices.Sort(all)
	slices.Sort(others)
	check.That(t, all[len(all)/2] > 3 && all[len(all)/2] <= 25, "stops in a game: %v", all)
	check.That(t, others[len(others)/2] <= 5, "other stops than the coach's in a game: %v", others)
}

func TestSkip_untilInning(t *testing.T) {
	t.Parallel()
	m := begin(t, 1, [2]protocol.Person{game.Away: ann})
	m.do(ann, `{"a":"skip_until","until":"inning","margin":5}`)
	for m.Status == protocol.Active {
		m.decide(ann)
	}
	innings := 0
	for _, reason := range m.stops() {
		if reason == byInning {
			innings++
		}
	}
	check.Equal(t, innings, m.state.Inning-1, "stops at the start of an inning")
}

// What is skipped never shows a call: a turn with a submitted call is not skipped, and what the other side sees does
// not depend on the call.
func TestSkip_sealed(t *testing.T) {
	t.Parallel()
	var seen []string
	for _, call := range []string{"swing", "take"} {
		m := begin(t, 3, [2]protocol.Person{ann, bob})
		before := m.Revision
		m.do(ann, `{"a":"offense","call":"`+call+`"}`)
		m.do(ann, `{"a":"skip_until","until":"never","margin":5}`)
		m.do(bob, `{"a":"skip_until","until":"never","margin":5}`)
		check.Require(t, m.Sealed() == [2]bool{true, false} && m.Decision == 1, "%s: the turn was skipped", call)
		seen = append(seen, text(t, m.Missed(before, m.Sides(bob)))+text(t, m.Legal(m.Sides(bob)))+text(t, m.View()))
		m.decide(bob)
		check.That(t, m.Decision > 2, "%s: the next turns were not skipped", call)
		m.reload()
	}
	check.Equal(t, seen[0], seen[1], "what Bob sees")
}

// Only both managers skip turns, and each ends it at once; a turn that matters to one is decided by both.
func TestSkip_both(t *testing.T) {
	t.Parallel()
	m := begin(t, 4, [2]protocol.Person{ann, bob})
	m.do(ann, `{"a":"skip_until","until":"leverage"}`)
	check.Require(t, m.Decision == 1 && len(m.Awaited()) == 2, "one manager skipped a turn of both")
	check.Equal(t, m.View().Skips.Away.Margin, protocol.DefaultMargin, "margin")
	m.do(bob, `{"a":"skip_until","until":"leverage","margin":5}`)
	check.Require(t, m.Decision > 1 && len(m.Awaited()) == 2, "waiting for %v", m.Awaited())
	reasons := m.stops()
	check.Require(t, len(reasons) == 1, "stops: %v", reasons)
	stop := m.Last(1)[0]
	hasReason := func(by protocol.Person) bool {
		return stop.For(m.Sides(by)).Data.(*protocol.Event).Reason != ""
	}
	own := m.Manager(m.history.moves[len(m.history.moves)-1].Side)
	check.That(t, hasReason(own) && !hasReason(protocol.Person{}), "the reason is for who stops")
	other := ann
	if own == ann {
		other = bob
	}
	check.That(t, !hasReason(other), "the other manager sees the reason")
	m.do(bob, `{"a":"skip_until","on":false}`)
	m.decide(ann)
	m.decide(bob)
	check.That(t, len(m.Awaited()) > 0 && m.stops() != nil && len(m.stops()) == 1, "a turn was skipped by one manager")
	m.reload()
}

// A manager who skips turns has not left, and the half-innings that are skipped do not count as idle.
func TestSkip_isNotIdle(t *testing.T) {
	t.Parallel()
	m := begin(t, 5, [2]protocol.Person{ann, bob})
	m.do(ann, `{"a":"skip_until","until":"never","margin":5}`)
	m.do(bob, `{"a":"skip_until","until":"never","margin":5}`)
	tried := 0
	for m.Status == protocol.Active && tried < 3 {
		if len(m.Awaited()) == 2 && m.state.Inning > 4 {
			m.decide(bob)
			check.Require(t, m.try(bob, `{"a":"end"}`) != nil, "Bob ended the game of Ann, who skips turns")
			tried++
		}
		for _, side := range m.Awaited() {
			m.decide(m.Manager(side))
		}
	}
	check.That(t, tried > 0, "no turn mattered after the fourth inning")
}

func TestSkip_hotSeat(t *testing.T) {
	t.Parallel()
	m := begin(t, 6, [2]protocol.Person{ann, ann})
	m.do(ann, `{"a":"skip_until","until":"inning","margin":1}`)
	check.That(t, m.Decision > 2 && m.skips[0].Skip != nil && m.skips[1].Skip != nil, "one side skips turns")
	spoken := m.Last(1)[0].spoken
	check.Contains(t, spoken, "plays: ", "what the announcer says at a stop")
	m.do(ann, `{"a":"skip_until","on":false}`)
	check.That(t, m.skips[0].Skip == nil && m.skips[1].Skip == nil, "turns are still skipped")
}

func TestSkip_refused(t *testing.T) {
	t.Parallel()
	m := begin(t, 7, [2]protocol.Person{game.Home: ann})
	before := dump(t, &m.Position)
	for _, action := range []string{
		`{"a":"skip_until"}`, `{"a":"skip_until","until":"lunch"}`, `{"a":"skip_until","margin":1}`,
		`{"a":"skip_until","until":"never","margin":0.09}`, `{"a":"skip_until","until":"never","margin":5.01}`,
		`{"a":"skip_until","until":"never","margin":-1}`, `{"a":"skip_until","on":false}`,
	} {
		checkRefused(t, m.try(ann, action))
		check.Equal(t, dump(t, &m.Position), before, "the position after a refused action")
	}
	checkRefused(t, m.try(bob, `{"a":"skip_until","until":"never"}`))
	for _, margin := range []string{"0.1", "5"} {
		m.do(ann, `{"a":"skip_until","until":"never","margin":`+margin+`}`)
	}
}
