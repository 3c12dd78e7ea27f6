package live

import (
	"context"
	"encoding/json"
	"fmt"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/match"
	"pressbox/game/protocol"
)

// A Fixture is a game that a league has scheduled.
type Fixture struct {
	ID       string          // of the game
	Creator  protocol.Person // of the league
	Season   int
	Options  protocol.Options
	Teams    [2]string          // ids, visitors first
	Managers [2]protocol.Person // zero: the bot's
	Recent   chance.RecentWork

	Competition protocol.Competition
}

// Host creates the game of a fixture, unless it exists. One between two bots is played at once, and saved as a whole.
func (g *Games) Host(ctx context.Context, f *Fixture) error {
	g.mu.Lock()
	exists := g.summaries[f.ID] != nil
	g.mu.Unlock()
	if exists {
		return nil
	}
	o, err := g.origin(ctx, protocol.Request{
		AwayTeam: f.Teams[game.Away], HomeTeam: f.Teams[game.Home], Season: f.Season, Options: f.Options,
	})
	if err != nil {
		return err
	}
	o.Competition, o.Recent, o.Managers = f.Competition, f.Recent, f.Managers
	for side := range o.Managers {
		o.Bots[side] = o.Managers[side].ID == ""
	}
	return g.create(ctx, f.ID, f.Creator, o)
}

// playOut starts a match between two bots and plays it to its end.
func (g *Games) playOut(tx *match.Tx, o *match.Origin) error {
	if err := g.start(tx, o); err != nil {
		return err
	}
	return tx.PlayOut()
}

// Cover lets the bot do what a game waits for in the place of the managers who are absent, or of everyone: it
// submits the missing line-ups, whosever they are, starts the game, and decides for the absent managers. If they
// are all absent, it plays the game to its end. A manager who returns before that decides again.
func (g *Games) Cover(ctx context.Context, id string, everyone bool) error {
	g.mu.Lock()
	unused := g.loaded[id] == nil // for longer than [goneAfter]
	g.mu.Unlock()
	m, err := g.open(ctx, id)
	if err != nil {
		return err
	}
	defer m.release()
	if m.Status == protocol.Finished {
		return nil
	}
	return m.update(ctx, protocol.Person{}, "", nil, func(tx *match.Tx) error {
		if err := tx.SubmitMissing(); err != nil {
			return err
		}
		if m.Status == protocol.Pending {
			if err := m.start(tx); err != nil {
				return err
			}
		}
		var absent [2]bool
		for side := range absent {
			absent[side] = everyone || unused || m.isAbsent(game.Side(side))
		}
		return tx.Cover(absent)
	})
}

// Vacate gives the sides of a manager who has left to the bot for good, in a game that is not over; with all line-ups
// submitted, the game starts. It changes nothing if who manages no side of it.
func (g *Games) Vacate(ctx context.Context, id string, who protocol.Person) error {
	g.mu.Lock()
	s := g.summaries[id]
	g.mu.Unlock()
	if s == nil || s.Status == protocol.Finished || len(s.Sides(who)) == 0 {
		return nil
	}
	m, err := g.open(ctx, id)
	if err != nil {
		return err
	}
	defer m.release()
	if m.Status == protocol.Finished {
		return nil
	}
	return m.update(ctx, protocol.Person{}, "", nil, func(tx *match.Tx) error {
		for _, side := range m.Sides(who) {
			ready, err := tx.Vacate(side)
			if err == nil && ready {
				err = m.start(tx)
			}
			if err != nil {
				return err
			}
		}
		return tx.PlayOut()
	})
}

// An Outcome is what a game has come to.
type Outcome struct {
	Status   protocol.Status       // "": there is no such game
	Score    [2]int                // of a finished game: what counts in standings, visitors first
	Conceded string                // "away" or "home": the side that lost whatever the score; "": none
	Pitches  map[game.PlayerID]int // of a finished game, by pitcher
}

// Outcome returns what a game has come to.
func (g *Games) Outcome(ctx context.Context, id string) (Outcome, error) {
	g.mu.Lock()
	s := g.summaries[id]
	g.mu.Unlock()
	switch {
	case s == nil:
		return Outcome{}, nil
	case s.Status != protocol.Finished:
		return Outcome{Status: s.Status}, nil
	}
	o := Outcome{Status: s.Status, Score: s.Standing()}
	if how := s.Result.How; how == "conceded" || how == "forfeit" {
		o.Conceded = map[string]string{"home": "away", "away": "home"}[s.Result.Winner]
	}
	boxes, err := g.config.Journal.Boxes(ctx, []string{id})
	if err != nil {
		return Outcome{}, unavailable(err, "read the box score")
	}
	var box game.BoxScore
	if err := json.Unmarshal(boxes[id], &box); err != nil {
		return Outcome{},
			protocol.Wrap(fmt.Errorf("game %s: %w", id, err), protocol.UnreadableGame, "a box score cannot be read")
	}
	o.Pitches = map[game.PlayerID]int{}
	for side := range box.Teams {
		for _, line := range box.Teams[side].Pitching {
			o.Pitches[line.Player] += line.Pitches
		}
	}
	return o, nil
}

// finish counts a game that has ended and is saved.
func (g *Games) finish(s *match.Summary, box *game.BoxScore) {
	g.season.add(s, *box)
	if g.config.Finished != nil {
		g.config.Finished(s.ID)
	}
}
