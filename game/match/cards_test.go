package match

import (
	"encoding/json"
	"testing"
	"time"

	"pressbox/game"
	"pressbox/game/card"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// cardOf returns a player's card.
func cardOf(tb testing.TB, m *Match, side game.Side, id game.PlayerID) card.Player {
	tb.Helper()
	for _, p := range m.cards(side) {
		if p.ID == id {
			return p
		}
	}
	tb.Fatalf("%s has no %s", side, id)
	return card.Player{}
}

func text(tb testing.TB, v any) string {
	tb.Helper()
	return string(check.Must(json.Marshal(v))(tb))
}

// newMatch returns a match of two bots, so far without a play, and the first starter of the visitors.
func newMatch(tb testing.TB, change func(o *Origin, starter game.PlayerID)) (*Match, game.PlayerID) {
	tb.Helper()
	rosters := check.Must(league.Season(1))(tb)
	o := &Origin{
		Rules: Rules, Options: protocol.Defaults(), Clubs: [2]Club{ClubOf(&rosters[0]), ClubOf(&rosters[1])},
		Bots: [2]bool{true, true},
	}
	var starter game.PlayerID
	for _, p := range o.Clubs[0].Players {
		if starter == "" && p.CanPitch() {
			starter = p.ID
		}
	}
	change(o, starter)
	tx := check.Must(Create("id", o, protocol.Person{ID: "ann"}, time.Unix(0, 0)))(tb)
	return check.Must(load(check.Must(tx.Moves())(tb)))(tb), starter
}

// Days of rest and fatigue before the game come from the work of the days before, for pitchers only.
func TestCards_restDays(t *testing.T) {
	t.Parallel()
	m, starter := newMatch(t, func(o *Origin, starter game.PlayerID) {
		o.Recent = chance.RecentWork{starter: {0, 0, 100}, o.Clubs[0].Players[0].ID: {20}}
	})
	c := cardOf(t, m, game.Away, starter)
	check.That(t, c.RestDays == 2 && c.Fatigue == .22 && c.Today == nil && c.Source == card.BuiltIn,
		"three days after 100 pitches: %+v", c.Card)
	c = cardOf(t, m, game.Away, m.Origin.Clubs[0].Players[0].ID)
	check.That(t, c.RestDays == 5 && c.Fatigue == 0, "a hitter: %+v", c.Card)
	rested, _ := newMatch(t, func(*Origin, game.PlayerID) {})
	c = cardOf(t, rested, game.Away, starter)
	check.That(t, c.RestDays == 5 && c.Fatigue == 0, "rested: %+v", c.Card)
}

// A card does not show the form of the day: it is the same whatever the seed.
func TestCards_withoutForm(t *testing.T) {
	t.Parallel()
	of := func(seed byte) string {
		m, _ := newMatch(t, func(o *Origin, _ game.PlayerID) { o.Seed[0] = seed })
		return text(t, m.cards(game.Away)) + text(t, m.cards(game.Home))
	}
	a, b := of(1), of(2)
	check.That(t, a == b, "the cards of two seeds differ")
}

// After each move of a real game, what the state says of batter and pitcher is what their cards say and what the
// box score counts.
func TestCards_duringGame(t *testing.T) {
	t.Parallel()
	moves := journal(t)
	last := map[game.PlayerID]float64{}
	for n := 1; n < len(moves); n += 23 {
		m := check.Must(load(moves[:n]))(t)
		v := m.View()
		check.Require(t, (v.AtBat == nil) == (v.State == nil || v.Over()), "at %d: at bat %+v", m.Revision, v.AtBat)
		if v.AtBat == nil {
			continue
		}
		batter, pitcher := cardOf(t, m, v.Batting, v.Batter), cardOf(t, m, v.Batting.Other(), v.Pitcher)
		if text(t, batter.Form) != text(t, v.AtBat.Batter) || text(t, pitcher.Form) != text(t, v.AtBat.Pitcher) {
			t.Errorf("at %d: cards %+v and %+v, at bat %+v", m.Revision, batter.Form, pitcher.Form, v.AtBat)
		}
		if pitcher.Pitches > 0 && pitcher.Today.Pitching == nil || pitcher.Fatigue < last[v.Pitcher] {
			t.Errorf("at %d: batter %+v, pitcher %+v after a fatigue of %v",
				m.Revision, batter.Card, pitcher.Card, last[v.Pitcher])
		}
		last[v.Pitcher] = pitcher.Fatigue
	}
	final := check.Must(load(moves))(t)
	box := final.BoxScore()
	var hits, pitches int
	for side := game.Away; side <= game.Home; side++ {
		for _, c := range final.cards(side) {
			if c.Today != nil && c.Today.Batting != nil {
				hits += c.Today.Batting.Hits
			}
			pitches += c.Pitches
		}
		for _, l := range box.Teams[side].Pitching {
			pitches -= l.Pitches
		}
		hits -= box.Teams[side].Hits
	}
	check.That(t, hits == 0 && pitches == 0, "cards and box score differ by %d hits and %d pitches", hits, pitches)
}
