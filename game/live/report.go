package live

import (
	"context"
	"io"
	"slices"

	"pressbox/game"
	"pressbox/game/retro"
)

// Game returns one game with all that the viewer may do in it.
func (h *Games) Game(ctx context.Context, viewer Person, id string) (Game, error) {
	t, err := h.attend(ctx, id)
	if err != nil {
		return Game{}, err
	}
	defer t.release()
	return t.detail(viewer), nil
}

// detail returns the game as somebody sees it who looks at it alone.
func (t *table) detail(viewer Person) Game {
	sides := t.now.sides(viewer)
	g := headOf(t.id, &t.now).seen(viewer)
	s := t.standing(sides)
	g.Detail = &Detail{Legal: s.Legal, Offers: s.Offers, Clock: s.Clock, Presence: s.Presence}
	if t.now.status != Pending {
		g.State = s.State
	}
	for side := game.Away; side <= game.Home; side++ {
		*g.Rosters.of(side) = Roster{Players: t.now.origin.Clubs[side].Players}
		if t.now.status != Pending || slices.Contains(sides, side) {
			g.side(side).Lineup = t.now.seats[side].lineup
		}
	}
	return g
}

// begun gets a game that has begun.
func (h *Games) begun(ctx context.Context, id string) (*table, error) {
	t, err := h.attend(ctx, id)
	if err != nil {
		return nil, err
	}
	if t.now.status == Pending {
		t.release()
		return nil, refuse(NotActive, "the game has not begun")
	}
	return t, nil
}

// Box returns the box score of a game that has begun.
func (h *Games) Box(ctx context.Context, viewer Person, id string) (Game, game.BoxScore, error) {
	t, err := h.begun(ctx, id)
	if err != nil {
		return Game{}, game.BoxScore{}, err
	}
	defer t.release()
	return headOf(t.id, &t.now).seen(viewer), t.history.book.BoxScore(&t.now.state), nil
}

// WinProb is how likely the home side was to win, after each play.
type WinProb struct {
	Game   string     `json:"game"`
	Start  float64    `json:"start"`
	Points []WinPoint `json:"points"`
}

// A WinPoint is a play's.
type WinPoint struct {
	Rev    uint64    `json:"rev"`
	Inning int       `json:"inning"`
	Half   game.Half `json:"half"`
	Home   float64   `json:"home"`
	Added  float64   `json:"added"` // by the play
}

// WinProb returns the win probability of a game that has begun.
func (h *Games) WinProb(ctx context.Context, id string) (WinProb, error) {
	t, err := h.begun(ctx, id)
	if err != nil {
		return WinProb{}, err
	}
	defer t.release()
	w := t.history.win
	w.Points = slices.Clone(w.Points)
	return w, nil
}

// Scorecard writes a game that has begun as a Retrosheet event file.
func (h *Games) Scorecard(ctx context.Context, id string, w io.Writer) error {
	t, err := h.begun(ctx, id)
	if err != nil {
		return err
	}
	card, err := t.history.card.EventFile(&t.now.state, t.history.book)
	t.release()
	if err != nil {
		return err
	}
	return retro.Write(w, card)
}
