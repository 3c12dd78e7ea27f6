package retro_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/game/gametest"
	"pressbox/game/league"
	"pressbox/game/retro"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

var liveGames = flag.Int("live.games", 60, "number of games for TestScorecard_liveGames")

// A simulated game, recorded on a scorecard, written and read back, has the same plays in the same states, the same
// substitutions and the same box score, with earned runs by reconstruction. Games cover all combinations of options; in
// every third one random tactics and substitutions replace the bots'; every tenth is forfeited.
func TestScorecard_liveGames(t *testing.T) {
	t.Parallel()
	var clubs [league.LastSeason][]teams.Roster
	for n := range clubs {
		var err error
		if clubs[n], err = league.Season(n + 1); err != nil {
			t.Fatal(err)
		}
	}
	games := *liveGames
	if testing.Short() {
		games = min(games, 20)
	}
	for n := range games {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			check.NoError(t, playLive(t, n, clubs[n%len(clubs)]).check())
		})
	}
}

// A liveGame is a simulated game with its scorebook, its scorecard, and each move with the state before it.
type liveGame struct {
	*bottest.Game
	book   *game.Scorebook
	card   *retro.Scorecard
	moves  []move
	states []game.State
}

func playLive(t *testing.T, n int, clubs []teams.Roster) *liveGame {
	t.Helper()
	away, home := clubs[n%len(clubs)], clubs[(n+1+n/len(clubs)%(len(clubs)-1))%len(clubs)]
	p := bottest.Pair(t, away, home, n%2 == 0)
	g := &liveGame{Game: p.Start(t, uint64(n), game.Options{
		Innings:       []int{9, 7, 5, 3}[n/2%4],
		ExtraInnings:  []game.ExtraInnings{game.AutomaticRunner, game.Standard}[n/8%2],
		HomeBatsFirst: n%16 == 15,
	}, [2]bool{true, true})}
	g.book = game.NewScorebook(&g.State, p.Clubs)
	g.card = retro.NewScorecard(fmt.Sprintf("%s2026%02d%02d%d", home.Team.ID, 4+n/200%6, 1+n/8%25, n%8),
		&g.State, p.Clubs)
	g.OnSubstitutions, g.OnPlay = g.recordSubstitutions, g.recordPlay
	random := randomManager{rand.New(rand.NewPCG(uint64(n), 4))}
	for !g.State.Over() {
		if n%10 == 9 && len(g.moves) >= 25+n {
			g.forfeit(t, game.Side(n/10%2))
			break
		}
		tactics, answer := g.Tactics, g.Answer
		if n%3 == 2 {
			if subs := random.substitutions(&g.State); isPlayable(&g.State, subs) {
				g.Substitute(subs)
			}
			tactics = func() chance.Tactics { return random.tactics(&g.State, g.Progress) }
			answer = func(*chance.Resolution) bool { return random.IntN(2) == 0 }
		}
		g.Manage()
		g.Play(tactics(), answer)
	}
	return g
}

func (g *liveGame) recordSubstitutions(before *game.State, subs []game.Substitution, after *game.State) {
	g.book.RecordSubstitutions(before, subs, after)
	g.card.RecordSubstitutions(before, subs)
	s := *before
	for _, sub := range subs {
		g.states, g.moves = append(g.states, s), append(g.moves, move{sub: sub})
		s, _ = s.Substitute(sub)
	}
}

func (g *liveGame) recordPlay(before *game.State, _ *chance.Resolution, p *game.Play, after *game.State) {
	g.book.RecordPlay(before, p, after)
	g.card.RecordPlay(before, *p)
	if p.Kind != game.NoPlay {
		g.states, g.moves = append(g.states, *before), append(g.moves, move{play: *p})
	}
}

func (g *liveGame) forfeit(t *testing.T, by game.Side) {
	t.Helper()
	var err error
	if g.State, err = g.State.Forfeit(by); err != nil {
		t.Fatal(err)
	}
	g.book.RecordStoppage(&g.State)
}

// check writes the scorecard, reads and replays it, and compares.
func (g *liveGame) check() error {
	_, read, err := gametest.WriteRead(g.card, &g.State, g.book)
	if err != nil {
		return err
	}
	n := 0
	var difference error
	end, err := read.Replay(func(step *retro.Step, _ *game.Scorebook) {
		if step.Substitutions == nil && step.Play.Kind == game.NoPlay || difference != nil {
			return
		}
		if n < len(g.moves) {
			difference = compareMove(&g.states[n], &g.moves[n], step)
		}
		n++
	})
	switch {
	case err != nil:
		return err
	case difference != nil:
		return difference
	case n != len(g.moves):
		return fmt.Errorf("%d moves, %d when written and read", len(g.moves), n)
	}
	if err := compareState(&g.State, &end.End); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	want, got := g.book.BoxScore(&g.State), end.Scorebook.BoxScore(&end.End)
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("the box score is\n%s\nwhen written and read\n%s",
			boxText(&retro.ReplayResult{End: g.State, Scorebook: g.book}), boxText(end))
	}
	return nil
}

// compareMove compares a move with its replay. Rulings on runs are in the file, but not in a live play.
func compareMove(before *game.State, m *move, step *retro.Step) error {
	got := move{play: step.Play}
	if step.Substitutions != nil {
		got = move{sub: step.Substitutions[0]}
	}
	for b := range got.play.Advances {
		got.play.Advances[b].Earned, got.play.Advances[b].RBI = m.play.Advances[b].Earned, m.play.Advances[b].RBI
	}
	if *m != got {
		return fmt.Errorf("line %d %s: %+v, written and read %+v", step.Line, step.Event, *m, got)
	}
	if err := compareState(before, &step.Before); err != nil {
		return fmt.Errorf("line %d %s: before it %w", step.Line, step.Event, err)
	}
	return nil
}

// compareState compares states without the bench: a file has only players who appeared.
func compareState(want, got *game.State) error {
	a, b := *want, *got
	for side := range a.Teams {
		a.Teams[side].Bench, b.Teams[side].Bench = nil, nil
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("%+v, written and read %+v", a, b)
	}
	return nil
}
