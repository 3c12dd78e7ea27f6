package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"pressbox/game"
	"pressbox/game/odds"
	"pressbox/game/stats"
	"pressbox/game/teams"
)

// seasons are tables that are made once: win probabilities by options, statistics by season.
type seasons struct {
	making sync.Mutex // guards odds
	odds   map[game.Options]*odds.Model

	mu   sync.Mutex      // guards kept
	kept map[int]*season // of the finished games; none: to be added up
}

// A season is its finished games, added up.
type season struct {
	table stats.Accumulator
	games map[string]struct{} // in it
}

// add adds a finished game, once.
func (s *season) add(g *Game, box game.BoxScore) {
	if _, ok := s.games[g.ID]; ok {
		return
	}
	s.games[g.ID] = struct{}{}
	r := stats.FinishedGame{Score: g.standing(), Box: box}
	for side := game.Away; side <= game.Home; side++ {
		team := &g.side(side).Team
		r.Teams[side] = teams.Ref{ID: team.ID, Abbrev: team.Abbrev, Name: team.Name}
	}
	s.table.Add(r)
}

// oddsOf returns the win probabilities of games with these options.
func (s *seasons) oddsOf(o game.Options) *odds.Model {
	o.DH = false // makes no difference
	s.making.Lock()
	defer s.making.Unlock()
	if s.odds == nil {
		s.odds = map[game.Options]*odds.Model{}
	}
	if s.odds[o] == nil {
		s.odds[o] = odds.New(o)
	}
	return s.odds[o]
}

// add adds a game that has just ended to its season, if that was added up already.
func (s *seasons) add(g *Game, box game.BoxScore) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept := s.kept[g.Season]; kept != nil {
		kept.add(g, box)
	}
}

// forget lets a season be added up again.
func (s *seasons) forget(season int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, season)
}

// Standings returns the standings of a season over the finished games, best first.
func (h *Games) Standings(ctx context.Context, season int) ([]stats.Standing, error) {
	var all []stats.Standing
	err := h.statistics(ctx, season, func(t *stats.Accumulator) { all = t.Standings() })
	return all, err
}

// Players returns what everybody has done in a season's finished games; team, if not "", is the club's id.
func (h *Games) Players(ctx context.Context, season int, team string) (batting []stats.Batting, pitching []stats.Pitching, err error) {
	err = h.statistics(ctx, season, func(t *stats.Accumulator) { batting, pitching = t.Batting(team), t.Pitching(team) })
	return batting, pitching, err
}

// statistics lends the table of a season.
func (h *Games) statistics(ctx context.Context, number int, read func(*stats.Accumulator)) error {
	s := &h.season
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.kept[number]
	if all == nil {
		var err error
		if all, err = h.addUp(ctx, number); err != nil {
			return err
		}
	}
	if s.kept == nil {
		s.kept = map[int]*season{}
	}
	if len(all.games) > 0 { // anybody can ask for any number
		s.kept[number] = all
	}
	read(&all.table)
	return nil
}

// addUp adds the finished games of a season up, in the order in which they ended.
func (h *Games) addUp(ctx context.Context, number int) (*season, error) {
	games := h.finished(number)
	ids := make([]string, len(games))
	for i := range games {
		ids[i] = games[i].ID
	}
	boxes, err := h.config.Journal.Boxes(ctx, ids)
	if err != nil {
		return nil, unavailable(err, "read the box scores")
	}
	all := &season{games: map[string]struct{}{}}
	for i := range games {
		data, ok := boxes[games[i].ID]
		if !ok {
			continue // it has gone meanwhile
		}
		var box game.BoxScore
		if err := json.Unmarshal(data, &box); err != nil {
			return nil, &Error{Code: UnreadableGame, Detail: "a box score cannot be read", cause: fmt.Errorf("game %s: %w", games[i].ID, err)}
		}
		all.add(&games[i], box)
	}
	return all, nil
}

// finished returns a season's finished games in the order in which they ended.
func (h *Games) finished(season int) []Game {
	h.mu.Lock()
	defer h.mu.Unlock()
	var games []Game
	for _, head := range h.heads {
		if head.Game.Status == Finished && head.Game.Season == season {
			games = append(games, head.Game)
		}
	}
	slices.SortFunc(games, func(a, b Game) int { return cmp.Or(a.Finished.Compare(b.Finished), cmp.Compare(a.ID, b.ID)) })
	return games
}

// standing returns the score as it goes into the standings: 9 to 0 for who did not forfeit (7.03).
func (g *Game) standing() [2]int {
	score := [2]int{g.Score.Away, g.Score.Home}
	if g.Result.How != "conceded" && g.Result.How != "forfeit" {
		return score
	}
	if g.Result.Winner == game.Home.String() {
		return [2]int{0, 9}
	}
	return [2]int{9, 0}
}

// makeRoom removes the private game that ended first, unless somebody looks at it. It returns false if there is none.
func (h *Games) makeRoom(ctx context.Context) bool {
	h.mu.Lock()
	var its *head
	for _, head := range h.heads {
		g := &head.Game
		if g.Status == Finished && g.Options.Visibility == Private && h.tables[g.ID] == nil && (its == nil || g.Finished.Before(its.Game.Finished)) {
			its = head
		}
	}
	if its == nil {
		h.mu.Unlock()
		return false
	}
	oldest := &its.Game
	delete(h.heads, oldest.ID)
	h.mu.Unlock()
	if _, err := h.config.Journal.Append(context.WithoutCancel(ctx), Change{Game: oldest.ID}); err != nil {
		h.config.Log.Error("an old game could not be removed", "game", oldest.ID, "err", err)
		h.mu.Lock()
		h.heads[oldest.ID] = its
		h.mu.Unlock()
		return false
	}
	h.season.forget(oldest.Season)
	return true
}
