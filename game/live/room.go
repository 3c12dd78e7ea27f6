package live

import (
	"context"
	"slices"
	"time"

	"pressbox/game"
	"pressbox/game/protocol"
)

// maxFinishedPerPerson is the most finished games that one person created. Another game replaces the oldest.
const maxFinishedPerPerson = 500

// A holding is what one person's finished games take: their number, and the one that finished first of those that
// are not in memory.
type holding struct {
	finished int
	oldest   *summary
}

// holdings returns the holding of each person who created finished games, by id. g.mu must be held.
func (g *Games) holdings() map[string]holding {
	all := map[string]holding{}
	for _, s := range g.summaries {
		if s.Status != protocol.Finished {
			continue
		}
		h := all[s.Creator.ID]
		h.finished++
		if g.loaded[s.ID] == nil && (h.oldest == nil || s.Finished.Before(h.oldest.Finished)) {
			h.oldest = s
		}
		all[s.Creator.ID] = h
	}
	return all
}

// makeRoom deletes the finished game, listed or private, that finished first: of those that by created, or else of
// the person who created most. The zero Person created none. It returns false if there is none.
func (g *Games) makeRoom(ctx context.Context, by protocol.Person) bool {
	g.mu.Lock()
	all := g.holdings()
	found := all[by.ID]
	if found.oldest == nil {
		for _, h := range all {
			if h.oldest != nil &&
				(h.finished > found.finished || h.finished == found.finished &&
					h.oldest.Finished.Before(found.oldest.Finished)) {
				found = h
			}
		}
	}
	g.mu.Unlock()
	return found.oldest != nil && g.deleteFinished(ctx, found.oldest)
}

// deleteExcess deletes the oldest finished games that by created beyond [maxFinishedPerPerson], so that one more
// may end.
func (g *Games) deleteExcess(ctx context.Context, by protocol.Person) {
	for {
		g.mu.Lock()
		h := g.holdings()[by.ID]
		g.mu.Unlock()
		if h.finished < maxFinishedPerPerson || h.oldest == nil || !g.deleteFinished(ctx, h.oldest) {
			return
		}
	}
}

// deleteFinished deletes a finished game that is not in memory, and returns whether it could. It does nothing if
// the game was loaded or deleted meanwhile.
func (g *Games) deleteFinished(ctx context.Context, s *summary) bool {
	g.mu.Lock()
	if g.summaries[s.ID] == nil || g.loaded[s.ID] != nil {
		g.mu.Unlock()
		return true // the caller looks for another
	}
	delete(g.summaries, s.ID)
	g.mu.Unlock()
	if _, err := g.config.Journal.Append(context.WithoutCancel(ctx), Change{Game: s.ID}); err != nil {
		g.config.Log.Error("old game not deleted", "game", s.ID, "err", err)
		g.mu.Lock()
		g.summaries[s.ID] = s
		g.mu.Unlock()
		return false
	}
	g.season.invalidate(s.Season)
	return true
}

// A StoredGame describes a game to the administrator.
type StoredGame struct {
	ID       string          `json:"id"`
	Status   protocol.Status `json:"status"`
	Creator  string          `json:"creator"` // name of the account that created the game
	Away     string          `json:"away"`    // abbreviation of the visiting team
	Home     string          `json:"home"`
	Private  bool            `json:"private"`
	Created  time.Time       `json:"created_at"`
	Finished time.Time       `json:"finished_at,omitzero"`
}

// Stored returns all games, listed and private, oldest first.
func (g *Games) Stored() []StoredGame {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]StoredGame, 0, len(g.summaries))
	for _, s := range g.summaries {
		all = append(all, StoredGame{
			ID: s.ID, Status: s.Status, Creator: s.Creator.Name, Away: s.Seats[game.Away].Team.Abbrev,
			Home: s.Seats[game.Home].Team.Abbrev, Private: !s.Listed(), Created: s.Created, Finished: s.Finished,
		})
	}
	slices.SortFunc(all, func(a, b StoredGame) int { return byTime(a.Created, b.Created, a.ID, b.ID) })
	return all
}

// Remove deletes a game, whatever its status; its subscribers are disconnected.
func (g *Games) Remove(ctx context.Context, id string) error {
	m, err := g.lock(id)
	if err != nil {
		return err
	}
	defer m.mu.Unlock()
	g.mu.Lock()
	s := g.summaries[id]
	g.mu.Unlock()
	if err := m.delete(ctx, nil); err != nil {
		return err
	}
	if s != nil {
		g.season.invalidate(s.Season)
	}
	return nil
}

// isUnplayed reports whether the match ended without a play. Such a match is deleted when it leaves memory. m.mu
// must be held.
func (m *liveMatch) isUnplayed() bool {
	return m.Status == protocol.Finished && withoutPlay(m.BoxScore())
}

func withoutPlay(box game.BoxScore) bool {
	for side := range box.Teams {
		for _, batter := range box.Teams[side].Batting {
			if batter.PlateAppearances > 0 {
				return false
			}
		}
	}
	return true
}
