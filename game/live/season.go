package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"pressbox/game"
	"pressbox/game/match"
	"pressbox/game/protocol"
	"pressbox/game/stats"
	"pressbox/game/teams"
)

// seasons caches the statistics of seasons, which are expensive to compute.
type seasons struct {
	mu       sync.Mutex      // guards bySeason
	bySeason map[int]*season // of the finished games; absent: not computed yet
}

// A season holds the statistics of a season's finished games.
type season struct {
	stats stats.Accumulator
	games map[string]struct{} // counted in stats
}

// add adds a finished game, once; a game without a play does not count.
func (s *season) add(g *match.Summary, box game.BoxScore) {
	if _, ok := s.games[g.ID]; ok || withoutPlay(box) {
		return
	}
	s.games[g.ID] = struct{}{}
	r := stats.FinishedGame{Score: g.Standing(), Box: box}
	if g.Listed() { // who knows a private game's id may watch it
		r.ID = g.ID
	}
	for side := range r.Teams {
		team := &g.Seats[side].Team
		r.Teams[side] = teams.Ref{ID: team.ID, Abbrev: team.Abbrev, Name: team.Name}
	}
	s.stats.Add(r)
}

// add adds a game that has just ended to its season, if that is cached.
func (s *seasons) add(g *match.Summary, box game.BoxScore) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cached := s.bySeason[g.Season]; cached != nil {
		cached.add(g, box)
	}
}

// invalidate removes a season from the cache.
func (s *seasons) invalidate(season int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.bySeason, season)
}

// Standings returns the standings of a season over its finished games, best first.
func (g *Games) Standings(ctx context.Context, season int) ([]stats.Standing, error) {
	var all []stats.Standing
	err := g.readStatistics(ctx, season, func(t *stats.Accumulator) { all = t.Standings() })
	return all, err
}

// Players returns the players' statistics over a season's finished games; team is a club's id, "" for all.
func (g *Games) Players(
	ctx context.Context, season int, team string,
) (batting []stats.Batting, pitching []stats.Pitching, err error) {
	err = g.readStatistics(ctx, season,
		func(t *stats.Accumulator) { batting, pitching = t.Batting(team), t.Pitching(team) })
	return batting, pitching, err
}

// Leaders returns the leaders and the records of a season's finished games.
func (g *Games) Leaders(ctx context.Context, season int) (stats.Leaders, error) {
	var all stats.Leaders
	err := g.readStatistics(ctx, season, func(t *stats.Accumulator) { all = t.Leaders() })
	return all, err
}

// Managers returns the managers by rating, over the listed games of a season that were finished; season 0 means all.
func (g *Games) Managers(season int) []stats.ManagerRecord {
	var ladder stats.Ladder
	for _, s := range g.finished(season) {
		if !s.Listed() {
			continue
		}
		r := stats.ManagedGame{Score: s.Standing(), Innings: s.Options.Innings, Unrated: s.EndedEarly()}
		for side := range s.Seats {
			of := &s.Seats[side]
			r.Managers[side] = stats.Manager{ID: of.Manager.ID, Name: of.Manager.Name, Bot: of.Bot}
			if of.Bot {
				r.Managers[side].Level = cmp.Or(s.Options.BotLevel, protocol.MaxBotLevel)
			}
			r.Clubs[side] = fmt.Sprint(s.Season, " ", of.Team.ID)
		}
		ladder.Add(r)
	}
	return ladder.Managers()
}

// readStatistics calls read with the statistics of a season.
func (g *Games) readStatistics(ctx context.Context, number int, read func(*stats.Accumulator)) error {
	s := &g.season
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.bySeason[number]
	if found == nil {
		var err error
		if found, err = g.computeSeason(ctx, number); err != nil {
			return err
		}
	}
	if s.bySeason == nil {
		s.bySeason = map[int]*season{}
	}
	if len(found.games) > 0 { // clients may ask for any number
		s.bySeason[number] = found
	}
	read(&found.stats)
	return nil
}

// computeSeason computes the statistics of a season, game by game in the order in which they ended.
func (g *Games) computeSeason(ctx context.Context, number int) (*season, error) {
	computed := &season{games: map[string]struct{}{}}
	games := g.finished(number)
	if len(games) == 0 {
		return computed, nil
	}
	ids := make([]string, len(games))
	for i := range games {
		ids[i] = games[i].ID
	}
	boxes, err := g.config.Journal.Boxes(ctx, ids)
	if err != nil {
		return nil, unavailable(err, "read the box scores")
	}
	for _, s := range games {
		data, ok := boxes[s.ID]
		if !ok {
			continue // deleted meanwhile
		}
		var box game.BoxScore
		if err := json.Unmarshal(data, &box); err != nil {
			return nil,
				protocol.Wrap(fmt.Errorf("game %s: %w", s.ID, err), protocol.UnreadableGame,
					"a box score cannot be read")
		}
		computed.add(s.Summary, box)
	}
	return computed, nil
}

// finished returns a season's finished games, of all seasons for 0, in the order in which they ended.
func (g *Games) finished(season int) []*summary {
	g.mu.Lock()
	defer g.mu.Unlock()
	var games []*summary
	for _, s := range g.summaries {
		if s.Status == protocol.Finished && (season == 0 || s.Season == season) {
			games = append(games, s)
		}
	}
	slices.SortFunc(games, func(a, b *summary) int { return byTime(a.Finished, b.Finished, a.ID, b.ID) })
	return games
}
