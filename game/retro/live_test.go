package retro_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/game/retro"
	"pressbox/game/teams"
)

var liveGames = flag.Int("live.games", 60, "games that TestLiveGames plays")

// TestLiveGames: a game that was played here, written on a scorecard as it went and read back, is the same game: the same
// plays in the same states, the same substitutions, and the same box score, runs earned by reconstruction included. Bots
// play in all combinations of options, and every third game people who decide anything; every tenth game is conceded.
// -live.games plays more.
func TestLiveGames(t *testing.T) {
	t.Parallel()
	var clubs [][]teams.Roster
	for n := range league.LastSeason {
		season, err := league.Season(n + 1)
		if err != nil {
			t.Fatal(err)
		}
		clubs = append(clubs, season)
	}
	for n := range *liveGames {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			if err := playLive(t, n, clubs[n%league.LastSeason]).check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A liveGame is a game between two bots, with its book and its scorecard.
type liveGame struct {
	id       string
	people   bool // decide, not the bots, who only mend the field behind them
	clubs    [2]game.Club
	table    *chance.Simulator
	managers [2]*bot.Manager
	state    game.State
	at       chance.Progress
	book     *game.Scorebook
	card     *retro.Scorecard
	moves    []move
	states   []game.State // before each move
}

func playLive(t *testing.T, n int, clubs []teams.Roster) *liveGame {
	t.Helper()
	g := newLive(t, n, clubs)
	people := restless{rand.New(rand.NewPCG(uint64(n), 4))}
	for !g.state.Over() {
		if n%10 == 9 && len(g.moves) >= 25+n {
			g.concede(t, game.Side(n/10%2))
			break
		}
		calls := chance.Tactics{}
		bold := people.lot.IntN(2) == 0
		if g.people {
			if subs := people.substitutions(&g.state); legal(&g.state, subs) {
				g.substitute(t, subs)
			}
			calls = people.calls(&g.state, g.at)
		}
		for _, m := range g.managers {
			for subs := m.Substitutions(&g.state, g.at); subs != nil; subs = m.Substitutions(&g.state, g.at) {
				g.substitute(t, subs)
			}
		}
		if !g.people {
			calls.Offence = g.managers[g.state.Batting()].Offence(&g.state, g.at)
			calls.Defence = g.managers[g.state.Fielding()].Defence(&g.state, g.at)
		}
		turn, err := g.table.Resolve(&g.state, g.at, calls)
		if err != nil {
			t.Fatalf("game %d: %v", n, err)
		}
		if turn.Question != chance.NoQuestion && !g.people {
			bold = g.managers[turn.Decider].AnswerQuestion(&g.state, &turn)
		}
		g.play(t, turn.Final(bold))
		g.at = turn.Next
	}
	return g
}

// newLive sets a game up: the clubs of the built-in league in turn, and the options so that all combinations come.
func newLive(t *testing.T, n int, clubs []teams.Roster) *liveGame {
	t.Helper()
	away, home := clubs[n%len(clubs)], clubs[(n+1+n/len(clubs)%(len(clubs)-1))%len(clubs)]
	o := game.Options{
		DH: n%2 == 0, Innings: []int{9, 7, 5, 3}[n/2%4],
		ExtraInnings:  []game.ExtraInnings{game.AutomaticRunner, game.Standard}[n/8%2],
		HomeBatsFirst: n%16 == 15,
	}
	g := &liveGame{
		people: n%3 == 2,
		id:     fmt.Sprintf("%s2026%02d%02d%d", home.Team.ID, 4+n/200%6, 1+n/8%25, n%8),
		clubs:  [2]game.Club{away.Club(), home.Club()},
	}
	ratings := teams.Ratings(away, home)
	var seed chance.Seed
	binary.BigEndian.PutUint64(seed[:], uint64(n))
	g.table = chance.NewSimulator(seed, g.clubs, ratings, home.Team.Park.Factors)
	var lineups [2]game.Lineup
	for side := range g.clubs {
		var err error
		if lineups[side], err = bot.SuggestLineup(g.clubs[side], ratings, o.DH); err != nil {
			t.Fatal(err)
		}
		g.managers[side] = bot.New(game.Side(side), g.clubs[side], ratings, g.table)
	}
	var err error
	if g.state, err = game.New(o, g.clubs, lineups); err != nil {
		t.Fatal(err)
	}
	g.book = game.NewScorebook(&g.state, g.clubs)
	g.card = retro.NewScorecard(g.id, &g.state, g.clubs)
	return g
}

func (g *liveGame) substitute(t *testing.T, subs []game.Substitution) {
	t.Helper()
	before := g.state
	after, err := before.Substitute(subs...)
	if err != nil {
		t.Fatalf("%s: %+v: %v", g.id, subs, err)
	}
	g.book.RecordSubstitutions(&before, subs, &after)
	g.card.RecordSubstitutions(&before, subs)
	for _, sub := range subs {
		g.note(before, move{sub: sub})
		if before, err = before.Substitute(sub); err != nil {
			t.Fatalf("%s: %+v: %v", g.id, sub, err)
		}
	}
	g.state = after
}

func (g *liveGame) play(t *testing.T, p game.Play) {
	t.Helper()
	before := g.state
	after, err := before.Apply(p)
	if err != nil {
		t.Fatalf("%s: %+v: %v", g.id, p, err)
	}
	g.book.RecordPlay(&before, &p, &after)
	g.card.RecordPlay(&before, p)
	if p.Kind != game.NoPlay {
		g.note(before, move{play: p})
	}
	g.state = after
}

func (g *liveGame) concede(t *testing.T, by game.Side) {
	t.Helper()
	var err error
	if g.state, err = g.state.Forfeit(by); err != nil {
		t.Fatal(err)
	}
	g.book.RecordStoppage(&g.state)
}

func (g *liveGame) note(before game.State, m move) {
	g.states, g.moves = append(g.states, before), append(g.moves, m)
}

// check writes the scorecard, reads it, replays what was read, and compares.
func (g *liveGame) check() error {
	written, err := g.card.EventFile(&g.state, g.book)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := retro.Write(&file, written); err != nil {
		return err
	}
	text := file.String()
	for read, err := range retro.Read(&file) {
		if err != nil {
			return err
		}
		if err := g.compare(read); err != nil {
			return fmt.Errorf("%w\n%s", err, text)
		}
	}
	return nil
}

func (g *liveGame) compare(read *retro.Game) error {
	n := 0
	var differs error
	end, err := read.Replay(func(step *retro.Step, _ *game.Scorebook) {
		if step.Substitutions == nil && step.Play.Kind == game.NoPlay || differs != nil {
			return
		}
		if n < len(g.moves) {
			differs = sameMove(&g.states[n], &g.moves[n], step)
		}
		n++
	})
	switch {
	case err != nil:
		return err
	case differs != nil:
		return differs
	case n != len(g.moves):
		return fmt.Errorf("%d moves, %d when written and read", len(g.moves), n)
	}
	if err := sameState(&g.state, &end.End); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	want, got := g.book.BoxScore(&g.state), end.Scorebook.BoxScore(&end.End)
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("the box score is\n%s\nwhen written and read\n%s",
			boxText(&retro.ReplayResult{End: g.state, Scorebook: g.book}), boxText(end))
	}
	return nil
}

// sameMove compares a move with its replay, but for the rulings on runs: the file gives those that live play leaves to
// the book.
func sameMove(before *game.State, m *move, step *retro.Step) error {
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
	if err := sameState(before, &step.Before); err != nil {
		return fmt.Errorf("line %d %s: before it %w", step.Line, step.Event, err)
	}
	return nil
}

// sameState compares states, but for the bench: a file knows only those who appeared.
func sameState(want, got *game.State) error {
	a, b := *want, *got
	for side := range a.Teams {
		a.Teams[side].Bench, b.Teams[side].Bench = nil, nil
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("%+v, written and read %+v", a, b)
	}
	return nil
}
