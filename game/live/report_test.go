package live_test

import (
	"log/slog"
	"math"
	"testing"

	"pressbox/game"
	"pressbox/game/league"
	"pressbox/game/live"
	"pressbox/game/protocol"
)

// The loudspeaker tells what the game wishes, after the screen has it: nothing; the start, the scoring plays and the end;
// or all.
func TestTheAnnouncerTellsWhatIsWished(t *testing.T) {
	t.Parallel()
	for _, level := range []protocol.Announce{protocol.AnnounceOff, protocol.AnnounceScoring, protocol.AnnounceAll} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			s := &said{}
			h, err := live.New(t.Context(), live.Config{Journal: newJournal(), Rosters: builtIn(), Announcer: s, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			g := begin(t, h, func(o *protocol.Options) { o.Announce, o.Opponent = level, protocol.HotSeat })
			var told int
			leave, err := h.Watch(t.Context(), carl, g.ID, 0, func(m *protocol.Message) bool {
				if m.Type == "event" {
					told++
				}
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			defer leave()
			s.look = func() int { return told }
			plays, scoring := 0, 0
			for look(t, h, ann, g.ID).Status == protocol.Active {
				before, lines := look(t, h, ann, g.ID), len(s.lines)
				do(t, h, ann, g.ID, before.Legal[0].Label)
				after := look(t, h, ann, g.ID)
				if after.State.Decision != before.State.Decision && after.State.Question == nil {
					plays++
				}
				runs := *after.Score != *before.Score
				if runs {
					scoring++
				}
				spoke := len(s.lines) > lines
				if spoke && s.told != told {
					t.Errorf("spoke when %d of %d events had been told", s.told, told)
				}
				if level == protocol.AnnounceScoring && spoke != (runs || after.Status == protocol.Finished) {
					t.Errorf("runs %v, spoke %v: %v", runs, spoke, s.lines[lines:])
				}
			}
			want := map[protocol.Announce]int{protocol.AnnounceOff: 0, protocol.AnnounceScoring: 1 + scoring, protocol.AnnounceAll: 1 + plays}[level]
			if n := len(s.lines); n < want || level == protocol.AnnounceOff && n > 0 || level == protocol.AnnounceScoring && n > want+1 {
				t.Errorf("%d lines, want about %d: %q", n, want, s.lines)
			}
		})
	}
}

// Box score, win probability and statistics are those of the plays.
func TestReportsAddUp(t *testing.T) {
	t.Parallel()
	j := newJournal()
	h := newHall(t, j)
	var games []protocol.Game
	for n := range 3 {
		g := begin(t, h, func(o *protocol.Options) { o.Innings, o.Opponent = 3, protocol.HotSeat })
		if n == 2 {
			if _, err := h.Concede(t.Context(), ann, g.ID); err != nil {
				t.Fatal(err)
			}
		}
		games = append(games, playOut(t, h, g.ID))
		checkStats(t, h, games)
		checkStats(t, newHall(t, j), games)
	}
	for _, g := range games[:2] {
		_, box, err := h.Box(t.Context(), carl, g.ID)
		if err != nil || box.Teams[game.Home].Runs != g.Score.Home || box.Teams[game.Away].Runs != g.Score.Away || box.WinningPitcher == "" {
			t.Errorf("box %s, %v, want %+v", text(t, box), err, g.Score)
		}
		w, err := h.WinProbability(t.Context(), g.ID)
		if err != nil || len(w.Points) < 18 || w.Start < .5 || w.Start > .56 {
			t.Fatalf("win probability %s, %v", text(t, w), err)
		}
		at := w.Start
		for _, p := range w.Points {
			if at += p.Added; math.Abs(at-p.Home) > 1e-9 || p.Home < 0 || p.Home > 1 {
				t.Errorf("revision %d: %v, but it added up to %v", p.Revision, p.Home, at)
			}
		}
		if won := g.Result.Winner == "home"; math.Abs(at) > 1e-9 && !won || math.Abs(at-1) > 1e-9 && won {
			t.Errorf("%s won with a probability of %v for home", g.Result.Winner, at)
		}
	}
}

func checkStats(t *testing.T, h *live.Games, games []protocol.Game) {
	t.Helper()
	standings, err := h.Standings(t.Context(), league.LastSeason)
	if err != nil || len(standings) != 2 {
		t.Fatalf("standings %s, %v", text(t, standings), err)
	}
	wins, runs := map[string]int{}, map[string]int{}
	for _, g := range games {
		winner := g.Home.Team.ID
		if g.Result.Winner == "away" {
			winner = g.Away.Team.ID
		}
		wins[winner]++
		home, away := g.Score.Home, g.Score.Away
		if g.Result.How == "conceded" {
			home, away = 9, 0
			if g.Result.Winner == "away" {
				home, away = 0, 9
			}
		}
		runs[g.Home.Team.ID] += home
		runs[g.Away.Team.ID] += away
	}
	for _, s := range standings {
		if s.Games != len(games) || s.Wins != wins[s.Team.ID] || s.RunsScored != runs[s.Team.ID] {
			t.Errorf("%s, want %d games, %d won, %d runs", text(t, s), len(games), wins[s.Team.ID], runs[s.Team.ID])
		}
	}
	batting, pitching, err := h.Players(t.Context(), league.LastSeason, games[0].Home.Team.ID)
	if err != nil || len(batting) < 9 || len(pitching) < 1 {
		t.Errorf("%d batters, %d pitchers, %v", len(batting), len(pitching), err)
	}
	for _, s := range []int{1, 99} {
		if none, err := h.Standings(t.Context(), s); err != nil || len(none) != 0 {
			t.Errorf("season %d: %s, %v", s, text(t, none), err)
		}
	}
}
