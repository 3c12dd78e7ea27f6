package bot_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// Every club of the built-in league has a line-up with all players at positions of theirs.
func TestSuggestLineup_builtInLeague(t *testing.T) {
	t.Parallel()
	for n := 1; n <= league.LastSeason; n++ {
		for _, c := range season(t, n) {
			club := c.Club()
			for _, dh := range []bool{true, false} {
				l := check.Must(bot.SuggestLineup(club, teams.Ratings(c), nil, dh))(t)
				for _, slot := range l.Order {
					p, _ := club.Player(slot.Player)
					if !has(p, slot.Position) {
						t.Errorf("season %d, %s: %s with positions %v is at %s",
							n, club.Abbrev, p.Name, p.Positions, slot.Position)
					}
				}
			}
		}
	}
}

func has(p game.Player, at game.Position) bool {
	return at == game.DesignatedHitter || at == game.Pitcher && p.CanPitch() ||
		slices.Contains(p.Positions, game.Role(at.String()))
}

// Any roster gives a line-up without violations, or the violations.
func TestSuggestLineup_anyRoster(t *testing.T) {
	t.Parallel()
	roles := []game.Role{"SP", "RP", "P", "C", "1B", "2B", "3B", "SS", "LF", "CF", "RF", "DH", "OF", "IF", "?"}
	rapid.Check(t, func(rt *rapid.T) {
		club := game.Club{Abbrev: "ANY"}
		ratings := chance.Ratings{}
		for i := range rapid.IntRange(0, 26).Draw(rt, "players") {
			p := game.Player{
				ID:        game.PlayerID(fmt.Sprint(i)),
				Positions: rapid.SliceOfN(rapid.SampledFrom(roles), 0, 3).Draw(rt, "roles"),
			}
			club.Players = append(club.Players, p)
			if rapid.Bool().Draw(rt, "rated") {
				ratings[p.ID] = chance.Rating{
					Batting: chance.LeagueRates(), Range: rapid.Float64Range(-3, 3).Draw(rt, "range"),
				}
			}
		}
		dh := rapid.Bool().Draw(rt, "dh")
		l, err := bot.SuggestLineup(club, ratings, nil, dh)
		var invalid *game.LineupError
		switch {
		case err == nil:
			if found := l.Check(club, dh); found != nil {
				rt.Fatalf("%+v", found)
			}
		case !errors.As(err, &invalid) || len(invalid.Violations) == 0:
			rt.Fatalf("%v, want a LineupError", err)
		case enough(club, dh):
			rt.Fatalf("%d players: %v", len(club.Players), err)
		}
	})
}

// enough reports whether a club has a pitcher and enough other players.
func enough(c game.Club, dh bool) bool {
	least := 9
	if dh {
		least = 10
	}
	return len(c.Players) >= least && slices.ContainsFunc(c.Players, game.Player.CanPitch)
}

// A better batter replaces a worse one at the position and bats early.
func TestSuggestLineup_betterBatter(t *testing.T) {
	t.Parallel()
	c := season(t, 1)[0]
	club, ratings := c.Club(), teams.Ratings(c)
	great := chance.LeagueRates()
	great.HR, great.BB = .09, .15
	star := game.Player{ID: "star", Name: "A Star", Bats: "L", Throws: "R", Positions: []game.Role{"SS"}}
	club.Players = append(club.Players, star)
	ratings[star.ID] = chance.Rating{Batting: great}
	l := check.Must(bot.SuggestLineup(club, ratings, nil, true))(t)
	for i, slot := range l.Order {
		if slot.Player == star.ID {
			check.That(t, slot.Position == game.Shortstop && i <= 3, "the star bats %d at %s", i+1, slot.Position)
			return
		}
	}
	t.Errorf("the star does not play: %+v", l)
}

// In games on consecutive days the five starters take turns, the best first; each has four days of rest.
func TestSuggestLineup_rotation(t *testing.T) {
	t.Parallel()
	c := season(t, 1)[0]
	club, ratings := c.Club(), teams.Ratings(c)
	var recent chance.RecentWork
	var starters []game.PlayerID
	for day := range 12 {
		starter := check.Must(bot.SuggestLineup(club, ratings, recent, true))(t).Pitcher
		p, _ := club.Player(starter)
		check.That(t, slices.Contains(p.Positions, "SP"), "day %d: %s starts, who is no starter", day, p.Name)
		check.That(t, day < 5 || starter == starters[day-5],
			"day %d: %s starts, want who is rested again of %v", day, starter, starters)
		starters = append(starters, starter)
		recent = recent.Tomorrow(map[game.PlayerID]int{starter: 95})
	}
}
