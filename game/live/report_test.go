package live_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/league"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/game/retro"
	"pressbox/game/retro/eventfile"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// Box score, win probability and statistics agree with the plays, before and after a restart.
func TestReports_agreeWithPlays(t *testing.T) {
	t.Parallel()
	r := newRig(t, newJournal())
	var games []protocol.Game
	for n := range 3 {
		r.begin(innings(3), hotSeat)
		if n == 2 {
			r.playAlone(ann)
			r.concede(ann)
		}
		games = append(games, r.playOut())
		checkStats(r, games)
		checkStats(r.reloaded(r.journal), games)
	}
	for _, g := range games[:2] {
		_, box, err := r.Box(t.Context(), carl, g.ID)
		check.That(t, err == nil && box.Teams[game.Home].Runs == g.Score.Home &&
			box.Teams[game.Away].Runs == g.Score.Away && box.WinningPitcher != "",
			"box %s, %v, want %+v", text(t, box), err, g.Score)
		w, err := r.WinProbability(t.Context(), g.ID)
		check.Require(t, err == nil && len(w.Points) >= 18 && w.Start >= .5 && w.Start <= .56,
			"win probability %s, %v", text(t, w), err)
		at := w.Start
		for _, p := range w.Points {
			if at += p.Added; math.Abs(at-p.Home) > 1e-9 || p.Home < 0 || p.Home > 1 {
				t.Errorf("revision %d: %v, but the sum is %v", p.Revision, p.Home, at)
			}
		}
		if won := g.Result.Winner == "home"; math.Abs(at) > 1e-9 && !won || math.Abs(at-1) > 1e-9 && won {
			t.Errorf("%s won with a final probability of %v for home", g.Result.Winner, at)
		}
	}
}

func checkStats(r *rig, games []protocol.Game) {
	r.Helper()
	standings, err := r.Standings(r.Context(), league.LastSeason)
	check.Require(r, err == nil && len(standings) == 2, "standings %s, %v", text(r, standings), err)
	wins, runs := map[string]int{}, map[string]int{}
	for _, g := range games {
		winner, score := g.Home.Team.ID, *g.Score
		if g.Result.Winner == "away" {
			winner = g.Away.Team.ID
		}
		if g.Result.How == "conceded" {
			score = protocol.Score{Home: 9}
			if g.Result.Winner == "away" {
				score = protocol.Score{Away: 9}
			}
		}
		wins[winner]++
		runs[g.Home.Team.ID] += score.Home
		runs[g.Away.Team.ID] += score.Away
	}
	for _, s := range standings {
		check.That(r, s.Games == len(games) && s.Wins == wins[s.Team.ID] && s.RunsScored == runs[s.Team.ID],
			"%s, want %d games, %d won, %d runs", text(r, s), len(games), wins[s.Team.ID], runs[s.Team.ID])
	}
	batting, pitching, err := r.Players(r.Context(), league.LastSeason, games[0].Home.Team.ID)
	check.That(r, err == nil && len(batting) >= 9 && len(pitching) >= 1,
		"%d batters, %d pitchers, %v", len(batting), len(pitching), err)
}

// Seasons without games are not cached, so that requests for them cannot fill the memory.
func TestStandings_emptySeasonsNotCached(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	for season := range 100 {
		all, err := r.Standings(t.Context(), season)
		check.Require(t, err == nil && len(all) == 0, "season %d: %s, %v", season, text(t, all), err)
	}
	check.Equal(t, r.Seasons(), 0, "seasons are cached")
	r.playAlone(ann)
	g := r.concede(ann)
	if all, err := r.Standings(t.Context(), g.Season); err != nil || len(all) != 2 || r.Seasons() != 1 {
		t.Errorf("after a game: %s, %v, %d cached", text(t, all), err, r.Seasons())
	}
}

// checkScorecard checks that a game's scorecard can be read as an event file and replays to the score.
func checkScorecard(r *rig, end protocol.Game) {
	r.Helper()
	var card bytes.Buffer
	check.NoError(r, r.Scorecard(r.Context(), r.id, &card))
	check.That(r, strings.HasPrefix(card.String(), "id,"), "begins with %.20q", card.String())
	for read, err := range eventfile.Read(&card) {
		check.NoError(r, err)
		replayed := check.Must(read.Replay(func(*retro.Step, *game.Scorebook) {}))(r)
		check.That(r, replayed.End.Score == [2]int{end.Score.Away, end.Score.Home},
			"the scorecard replays to %v, want %+v", replayed.End.Score, end.Score)
	}
}

func TestScorecard_replays(t *testing.T) {
	t.Parallel()
	for _, dh := range []bool{true, false} {
		r := begun(t, func(o *protocol.Options) { o.DH = dh })
		check.NoError(t, r.Scorecard(t.Context(), r.id, &bytes.Buffer{})) // before the first pitch
		checkScorecard(r, r.playOut())
	}
}

// quotedLeague is a league whose names need quoting.
type quotedLeague struct{ *league.League }

func (l quotedLeague) Roster(ctx context.Context, season int, id string) (teams.Roster, error) {
	roster, err := l.League.Roster(ctx, season, id)
	if err != nil {
		return roster, err
	}
	roster.Players = slices.Clone(roster.Players)
	for i := range roster.Players {
		p := &roster.Players[i]
		p.ID, p.Name = game.PlayerID(`Ö,"`+string(p.ID)+`",<b> %s\`), `Ö"`+p.Name+`", Jr. <script>`
	}
	roster.Team.Abbrev, roster.Team.Name = `,"`, `The "Odd", `+roster.Team.Name
	return roster, nil
}

// Players and clubs may have any names: their games are played to the end, are loaded, and have a scorecard.
func TestRosters_namesThatNeedQuoting(t *testing.T) {
	t.Parallel()
	j := newJournal()
	r := rigWith(t, j, live.Config{Journal: j, Rosters: quotedLeague{builtIn()}})
	g := r.begin(innings(3), hotSeat)
	for _, c := range g.Offers {
		check.That(t, c.Group != "substitution" || strings.HasPrefix(c.Label, `Ö"`) ||
			strings.HasPrefix(c.Label, "Double switch"),
			"a label begins %.20q", c.Label)
	}
	checkScorecard(r, r.playFirst())
	got, want := r.reloaded(j).events(ann), r.events(ann)
	check.That(t, got == want, "loaded: %s", difference(got, want))
}

// A subscriber that receives the end of a game finds it in the standings.
func TestStandings_whenTheEndIsPublished(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat, innings(3))
	r.playAlone(ann)
	var games []int
	_, err := r.Watch(t.Context(), ann, r.id, 0, func(*protocol.Message) bool {
		read := make(chan int)
		go func() { // a subscriber must not call Games itself
			all, _ := r.Standings(context.WithoutCancel(t.Context()), league.LastSeason)
			read <- len(all)
		}()
		games = append(games, <-read)
		return true
	})
	check.NoError(t, err)
	r.concede(ann)
	check.That(t, games[len(games)-1] == 2, "with the last message the standings have %d clubs", games[len(games)-1])
}
