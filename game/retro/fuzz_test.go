package retro_test

import (
	"bytes"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/retro"
	"pressbox/game/retro/eventfile"
	"pressbox/packaging/check"
)

// FuzzParse reads arbitrary events with any runners and outs: no event breaks the parser or Apply, and a legal
// play that Format writes reads back the same.
func FuzzParse(f *testing.F) {
	for _, g := range ownGames(f) {
		for _, r := range g.Records {
			if r.Play != nil {
				f.Add(r.Play.Event, uint8(7))
			}
		}
	}
	g := ownGames(f)[0]
	start := check.Must(game.New(g.Setup()))(f)
	f.Fuzz(func(t *testing.T, event string, bases uint8) {
		s := start
		for i := range s.Bases {
			if bases&(1<<i) != 0 {
				s.Bases[i].Player = s.Teams[game.Away].Order[8-i].Player
			}
		}
		s.Outs = int(bases>>3) % 3
		p, err := retro.Parse(&s, event)
		if err != nil {
			return
		}
		if _, err := s.Apply(p); err != nil {
			return
		}
		text, err := retro.Format(&s, p)
		if err != nil {
			return // legal, but in an order without a notation
		}
		again, err := retro.Parse(&s, text)
		check.Require(t, err == nil, "%q was written as %q: %v", event, text, err)
		if second, err := retro.Format(&s, again); err != nil || second != text {
			t.Fatalf("%q was written as %q and then as %q, %v", event, text, second, err)
		}
	})
}

// FuzzRead reads and replays arbitrary event files: nothing breaks, and every replayed box score balances.
func FuzzRead(f *testing.F) {
	for _, g := range ownGames(f)[:3] {
		var b bytes.Buffer
		check.NoError(f, retro.Write(&b, g))
		f.Add(b.String())
	}
	f.Add("id,HAR202604010\nplay,1,0,a,00,,K\n")
	f.Fuzz(func(t *testing.T, text string) {
		for g, err := range eventfile.Read(strings.NewReader(text)) {
			if err != nil {
				return
			}
			end, err := g.Replay(func(step *retro.Step, b *game.Scorebook) {
				err := b.Prove(&step.After)
				check.Require(t, err == nil, "line %d %s: %v", step.Line, step.Event, err)
			})
			check.Require(t, err != nil || end.End.Over(), "a game replayed to its end is not over")
		}
	})
}
