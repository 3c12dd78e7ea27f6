package live

import (
	"context"
	"errors"
	"slices"
	"time"

	"pressbox/game"
	"pressbox/game/protocol"
)

// Limits of the games of the person who created them.
const (
	maxFinishedPerPerson = 500 // another game replaces the oldest
	// maxUnfinished is the most games that are not finished. Each takes disk space, memory and a place in lists.
	maxUnfinished = 200
	// unfinishedShare is the part of the room for games that those which are not finished, and so are never deleted
	// for others, can take: a quarter.
	unfinishedShare = 4
)

// A holding is what one person's games take.
type holding struct {
	finished, unfinished  int
	bytes, unfinishedSize int64    // in the journal
	oldest                *summary // of the finished games that are not in memory, the one that finished first
}

// add adds a game. g.mu must be held.
func (h *holding) add(g *Games, s *summary) {
	h.bytes += s.bytes
	if s.Status != protocol.Finished {
		h.unfinished++
		h.unfinishedSize += s.bytes
		return
	}
	h.finished++
	if g.loaded[s.ID] == nil && (h.oldest == nil || s.Finished.Before(h.oldest.Finished)) {
		h.oldest = s
	}
}

// holding returns what a person's games take. g.mu must be held.
func (g *Games) holding(by protocol.Person) (h holding) {
	for _, s := range g.summaries {
		if s.Creator.ID == by.ID {
			h.add(g, s)
		}
	}
	return h
}

// checkUnfinished returns an error if by may not have so many more games that are not finished, or these take too much
// of the room.
func (g *Games) checkUnfinished(by protocol.Person, more int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch h := g.holding(by); {
	case h.unfinished+more > maxUnfinished:
		return protocol.Refuse(protocol.TooManyGames, "%d games that you created are not finished: end or cancel some",
			maxUnfinished)
	case g.room > 0 && h.unfinishedSize >= g.room/unfinishedShare:
		return protocol.Refuse(protocol.StoreFull,
			"the unfinished games of %s take %d bytes, the most of one account: end or cancel some", by.Name,
			g.room/unfinishedShare)
	}
	return nil
}

// save saves a change. On a full disk it first makes room for by, who created the game.
func (g *Games) save(ctx context.Context, c Change, by protocol.Person) (saved Space, err error) {
	saved, err = g.config.Journal.Append(ctx, c)
	for errors.Is(err, ErrFull) && g.makeRoom(ctx, by) {
		saved, err = g.config.Journal.Append(ctx, c)
	}
	if err != nil {
		return saved, unavailable(err, "save the game")
	}
	return saved, nil
}

// makeRoom deletes the finished game, listed or private, that finished first: of those that by created, or else of
// the person who holds most, if that is more than by does: nobody makes room at the cost of those who have less. It
// returns false if there is none.
func (g *Games) makeRoom(ctx context.Context, by protocol.Person) bool {
	g.mu.Lock()
	found := g.holding(by)
	if found.oldest == nil {
		people := map[string]*holding{}
		for _, s := range g.summaries {
			if people[s.Creator.ID] == nil {
				people[s.Creator.ID] = &holding{}
			}
			people[s.Creator.ID].add(g, s)
		}
		for _, h := range people {
			if h.oldest != nil && h.bytes > found.bytes {
				found = *h
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
		h := g.holding(by)
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
