package live

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"pressbox/game"
	"pressbox/game/match"
	"pressbox/game/protocol"
)

// rebuildAtOnce is the number of summaries that are built again concurrently, so that the journal can save them
// together.
const rebuildAtOnce = 32

func (g *Games) readSummaries(ctx context.Context) error {
	stored, err := g.config.Journal.Summaries(ctx)
	if err != nil {
		return err
	}
	var outdated []string
	for id, of := range stored {
		if s, ok := match.DecodeSummary(id, of.Summary); ok {
			g.addSummary(s, of.Bytes)
		} else {
			outdated = append(outdated, id)
		}
	}
	for ids := range slices.Chunk(outdated, rebuildAtOnce) {
		var rebuilding sync.WaitGroup
		for _, id := range ids {
			rebuilding.Go(func() { g.rebuildSummary(ctx, id, stored[id].Bytes) })
		}
		rebuilding.Wait()
	}
	if len(outdated) > 0 {
		g.config.Log.Info("game summaries rebuilt", "games", len(outdated))
	}
	return ctx.Err()
}

// addSummary adds a summary that was read.
func (g *Games) addSummary(s *match.Summary, bytes int64) {
	age := max(0, time.Since(s.Created))
	g.mu.Lock()
	defer g.mu.Unlock()
	g.summaries[s.ID] = &summary{s, time.Now().Add(-age), bytes}
}

// rebuildSummary builds the summary of a game, and the box score of a finished one, from its moves and saves them.
// If they cannot be saved, they are built again by the next start.
func (g *Games) rebuildSummary(ctx context.Context, id string, bytes int64) {
	var s *match.Summary
	var box *game.BoxScore
	moves, err := g.config.Journal.Moves(ctx, id)
	if err == nil {
		err = recovered(func() error {
			s, box, err = match.Summarize(id, moves)
			return err
		})
	}
	if err != nil {
		g.config.Log.Error("game unreadable", "game", id, "err", err)
		return
	}
	g.addSummary(s, bytes)
	c := Change{Game: id, First: s.Revision + 1}
	if c.Summary, err = s.Encode(); err == nil && box != nil {
		c.Box, err = json.Marshal(box)
	}
	if err == nil {
		_, err = g.config.Journal.Append(ctx, c)
	}
	if err != nil {
		g.config.Log.Error("game summary not saved", "game", id, "err", err)
	}
}

// updateSummary replaces the summary of a game that has changed, and is saved.
func (g *Games) updateSummary(s *match.Summary, saved Space) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := time.Now()
	if old := g.summaries[s.ID]; old != nil {
		known = old.known
	}
	g.summaries[s.ID], g.room = &summary{s, known, saved.Game}, saved.All
}

// publishSummary publishes to the lobby what it may see of a game that has changed: its events, its entry in
// lists, and, unless it is nil, its score.
func (g *Games) publishSummary(s *match.Summary, events []match.Rendered, score func() *protocol.LiveScore) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.publishRematch(s)
	if !s.Listed() || len(g.lobby) == 0 {
		return
	}
	visible := false
	for i := range events {
		if events[i].Public.Type == "event" {
			g.publishToLobby(events[i].Public)
			visible = true
		}
	}
	public := s.Game(protocol.Person{})
	g.publishToLobby(&protocol.Message{Type: "game", Game: s.ID, Revision: s.Revision, Data: &public})
	if visible && s.Status != protocol.Pending {
		g.publishToLobby(&protocol.Message{Type: "score", Game: s.ID, Revision: s.Revision, Data: score()})
	}
}

// publishTurns publishes to the lobby which managers a new decision waits for.
func (g *Games) publishTurns(s *match.Summary, sides []game.Side) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.lobby) == 0 {
		return
	}
	public := s.Game(protocol.Person{})
	for _, side := range sides {
		if manager := public.Seat(side).Manager; manager != nil {
			g.publishToLobby(&protocol.Message{
				Type: "turn", Game: s.ID, Revision: s.Revision, Data: &protocol.Turn{Side: side, Manager: manager.Name},
			})
		}
	}
}

// publishToLobby sends a message to the lobby's subscribers. g.mu must be held.
func (g *Games) publishToLobby(m *protocol.Message) {
	for s := range g.lobby {
		if !s.send(m) {
			delete(g.lobby, s)
		}
	}
}

// WatchLobby subscribes send to listed games: "event" for each event as the public sees it, "game" when the game's
// entry in lists has changed, "score" with what displays show of a game that has started, "turn" for each manager
// that a new decision waits for, "gone" when a game was cancelled. It returns the listed games that are not
// finished, oldest first.
func (g *Games) WatchLobby(send Send) (games []protocol.Game, leave func()) {
	s := &subscriber{send: send}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, known := range g.summaries {
		if known.Listed() && known.Status != protocol.Finished {
			games = append(games, known.Game(protocol.Person{}))
		}
	}
	slices.SortFunc(games, func(a, b protocol.Game) int { return byTime(a.Created, b.Created, a.ID, b.ID) })
	g.lobby[s] = struct{}{}
	return games, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.lobby, s)
	}
}
