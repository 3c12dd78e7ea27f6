package live

import (
	"context"
	"io"

	"pressbox/game"
	"pressbox/game/protocol"
)

// Game returns one game with all that viewer may do in it.
func (g *Games) Game(ctx context.Context, viewer protocol.Person, id string) (protocol.Game, error) {
	m, err := g.open(ctx, id)
	if err != nil {
		return protocol.Game{}, err
	}
	defer m.release()
	return m.detailed(ctx, viewer), nil
}

func (g *Games) exists(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.summaries[id] != nil
}

// Listed reports whether there is a game and it is in the public lists.
func (g *Games) Listed(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.summaries[id]
	return s != nil && s.Listed()
}

// Playing reports whether there is a game that is not over.
func (g *Games) Playing(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.summaries[id]
	return s != nil && s.Status != protocol.Finished
}

// CheckCreator returns an error unless by has created a game.
func (g *Games) CheckCreator(by protocol.Person, id string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch s := g.summaries[id]; {
	case s == nil:
		return protocol.Refuse(protocol.UnknownGame, "there is no such game")
	case s.Creator.ID != by.ID:
		return protocol.Refuse(protocol.Forbidden, "only the creator of the game may do this")
	}
	return nil
}

// CheckGuestSeat returns an error unless by has created a game that a guest can join.
func (g *Games) CheckGuestSeat(ctx context.Context, by protocol.Person, id string) error {
	if err := g.CheckCreator(by, id); err != nil {
		return err
	}
	m, err := g.open(ctx, id)
	if err != nil {
		return err
	}
	defer m.release()
	return m.CheckOpenSide()
}

// Invitation returns a pending game, listed or private, as its link shows it to everyone.
func (g *Games) Invitation(id string) (protocol.Game, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.summaries[id]; s != nil && s.Status == protocol.Pending {
		return s.Game(protocol.Person{}), nil
	}
	return protocol.Game{}, protocol.Refuse(protocol.UnknownGame, "there is no such invitation")
}

// detailed returns the game with its detail, as viewer sees it.
func (m *liveMatch) detailed(ctx context.Context, viewer protocol.Person) protocol.Game {
	v := m.Game(viewer)
	m.addSeasons(ctx, &v)
	s := m.snapshot(m.Sides(viewer))
	if !m.games.exists(v.Rematch) {
		v.Rematch = "" // cancelled, declined or expired
	}
	v.Legal, v.Offers, v.Clock, v.Presence = s.Legal, s.Offers, s.Clock, s.Presence
	if m.Status != protocol.Pending {
		v.State = s.State
	}
	return v
}

// openStarted returns the match of a game that has started, loaded and locked.
func (g *Games) openStarted(ctx context.Context, id string) (*liveMatch, error) {
	m, err := g.open(ctx, id)
	if err != nil {
		return nil, err
	}
	if m.Status == protocol.Pending {
		m.release()
		return nil, protocol.Refuse(protocol.NotActive, "the game has not started")
	}
	return m, nil
}

// Box returns the box score of a game that has started.
func (g *Games) Box(ctx context.Context, viewer protocol.Person, id string) (protocol.Game, game.BoxScore, error) {
	m, err := g.openStarted(ctx, id)
	if err != nil {
		return protocol.Game{}, game.BoxScore{}, err
	}
	defer m.release()
	return m.Summary().Game(viewer), m.BoxScore(), nil
}

// LiveScore returns what displays show of a game that has started.
func (g *Games) LiveScore(ctx context.Context, id string) (*protocol.LiveScore, error) {
	m, err := g.openStarted(ctx, id)
	if err != nil {
		return nil, err
	}
	defer m.release()
	return m.LiveScore(), nil
}

// WinProbability returns the win probability of a game that has started.
func (g *Games) WinProbability(ctx context.Context, id string) (protocol.WinProbability, error) {
	m, err := g.openStarted(ctx, id)
	if err != nil {
		return protocol.WinProbability{}, err
	}
	defer m.release()
	return m.WinProbability(), nil
}

// Scorecard writes a game that has started as a Retrosheet event file.
func (g *Games) Scorecard(ctx context.Context, id string, w io.Writer) error {
	m, err := g.openStarted(ctx, id)
	if err != nil {
		return err
	}
	write, err := m.Scorecard()
	m.release()
	if err != nil {
		return err
	}
	return write(w)
}
