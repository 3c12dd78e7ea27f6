package live_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/league"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/game/retro"
	"pressbox/game/teams"
)

// odd is a league whose names need quoting.
type odd struct{ *league.League }

func (o odd) Roster(ctx context.Context, season int, id string) (teams.Roster, error) {
	r, err := o.League.Roster(ctx, season, id)
	if err != nil {
		return r, err
	}
	r.Players = slices.Clone(r.Players)
	for i := range r.Players {
		p := &r.Players[i]
		p.ID, p.Name = game.PlayerID(`Ö,"`+string(p.ID)+`",<b> %s\`), `Ö"`+p.Name+`", Jr. <script>`
	}
	r.Team.Abbrev, r.Team.Name = `,"`, `The "Odd", `+r.Team.Name
	return r, nil
}

// A league may call its players as it likes: their games are played to the end, and the card of one can be read.
func TestOddNamesAreNoTrouble(t *testing.T) {
	t.Parallel()
	j := newJournal()
	h, err := live.New(t.Context(), live.Config{Journal: j, Rosters: odd{builtIn()}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	g := begin(t, h, func(o *protocol.Options) { o.Innings, o.Opponent = 3, protocol.HotSeat })
	for _, c := range g.Offers {
		if c.Group == "substitution" && !strings.HasPrefix(c.Label, `Ö"`) && !strings.HasPrefix(c.Label, "Double switch") {
			t.Errorf("a label begins %.20q", c.Label)
		}
	}
	end := playOut(t, h, g.ID)
	var card bytes.Buffer
	if err := h.Scorecard(t.Context(), g.ID, &card); err != nil {
		t.Fatal(err)
	}
	for read, err := range retro.Read(&card) {
		if err != nil {
			t.Fatal(err)
		}
		again, err := read.Replay(func(*retro.Step, *game.Scorebook) {})
		if err != nil {
			t.Fatal(err)
		}
		if again.End.Score != [2]int{end.Score.Away, end.Score.Home} {
			t.Errorf("the card comes to %v, want %+v", again.End.Score, end.Score)
		}
	}
	if got, want := events(t, newHall(t, j), ann, g.ID), events(t, h, ann, g.ID); got != want {
		t.Errorf("loaded: %s", difference(got, want))
	}
}
