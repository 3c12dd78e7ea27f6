package live

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"pressbox/game/match"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// deletions is a journal that records deleted games.
type deletions struct {
	Journal
	games []string
}

func (d *deletions) Append(_ context.Context, c Change) (Space, error) {
	d.games = append(d.games, c.Game)
	return Space{}, nil
}

// The 501st finished game of a person replaces the oldest one, and no one else's.
func TestDeleteExcess_oldestOwn(t *testing.T) {
	t.Parallel()
	ann, bob := protocol.Person{ID: "ann"}, protocol.Person{ID: "bob"}
	journal := &deletions{}
	g := &Games{
		config: Config{Journal: journal, Log: slog.New(slog.DiscardHandler)}, summaries: map[string]*summary{},
		loaded: map[string]*liveMatch{},
	}
	finished := time.Now().Add(-time.Hour)
	add := func(by protocol.Person, n int) {
		id := fmt.Sprint(by.ID, n)
		g.summaries[id] = &summary{Summary: &match.Summary{
			ID: id, Creator: by, Status: protocol.Finished, Finished: finished.Add(time.Duration(n) * time.Second),
		}}
	}
	add(bob, 0)
	for n := 1; n < maxFinishedPerPerson; n++ {
		add(ann, n)
	}
	g.deleteExcess(t.Context(), ann)
	check.That(t, len(journal.games) == 0, "below the limit, %v were deleted", journal.games)
	add(ann, maxFinishedPerPerson)
	g.deleteExcess(t.Context(), ann)
	check.That(t, slices.Equal(journal.games, []string{"ann1"}) && len(g.summaries) == maxFinishedPerPerson,
		"%v were deleted, %d are left; want ann1 and %d", journal.games, len(g.summaries), maxFinishedPerPerson)
}

// InMemory returns the number of matches in memory.
func (g *Games) InMemory() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.loaded)
}

// Seasons returns the number of seasons whose statistics are cached.
func (g *Games) Seasons() int {
	g.season.mu.Lock()
	defer g.season.mu.Unlock()
	return len(g.season.bySeason)
}
