package bot_test

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// rated returns the situation, with a DH, with other ratings: the batter's rates, and the speed of the runners, or
// of the batter if there are none.
func (at situation) rated(tb testing.TB, batting chance.Rates, speed float64) *bottest.Game {
	tb.Helper()
	p := *fixtures(tb, true)[0]
	p.Ratings = maps.Clone(p.Ratings)
	before := at.start(tb)
	batter := p.Ratings[before.State.Batter()]
	batter.Batting = batting
	if before.State.Bases == [3]game.Runner{} {
		batter.Speed = speed
	}
	p.Ratings[before.State.Batter()] = batter
	for _, r := range before.State.Bases {
		if r.Player != "" {
			runner := p.Ratings[r.Player]
			runner.Speed = speed
			p.Ratings[r.Player] = runner
		}
	}
	g := p.Start(tb, 1, game.Options{ExtraInnings: game.Standard}, [2]bool{true, true})
	g.State, g.Progress = before.State, before.Progress
	return g
}

func batters() map[string]chance.Rates {
	return map[string]chance.Rates{
		"slugger": {K: .1, BB: .2, HBP: .01, Single: .13, Double: .06, Triple: .002, HR: .1},
		"regular": chance.LeagueRates(),
	}
}

// situationOf reads "9b 2 -2- 0-0": inning, half, outs, runners, score.
func situationOf(t *testing.T, text string) (at situation) {
	t.Helper()
	var half rune
	_, err := fmt.Sscanf(text, "%d%c %d %s %d-%d", &at.inning, &half, &at.outs, &at.bases, &at.score[0], &at.score[1])
	check.NoError(t, err)
	if half == 'b' {
		at.half = game.Bottom
	}
	return at
}

// What the side in the field calls in situations that a fan agrees on.
func TestDefense_situations(t *testing.T) {
	t.Parallel()
	in := func(d chance.Defense) bool { return d.Infield == chance.InfieldIn }
	walks := func(d chance.Defense) bool { return d.Pitch == chance.IntentionalWalk || d.Pitch == chance.PitchAround }
	calls := map[string]func(chance.Defense) bool{
		"walk": walks, "in": in,
		"in or walk": func(d chance.Defense) bool { return in(d) || walks(d) },
		"in or deep": func(d chance.Defense) bool { return in(d) || d.Infield == chance.DoublePlayDepth },
	}
	for _, f := range check.Rows(`
a slugger with first open and the winning run on second | 9b 2 -2- 0-0 | slugger | walk | yes
the same slugger leads off | 9b 0 --- 0-0 | slugger | walk | no
the same slugger with the bases full | 9b 1 123 0-0 | slugger | walk | no
a regular with the bases full | 3t 2 123 0-0 | regular | walk | no
the winning run on third | 9b 1 --3 0-0 | regular | in or walk | yes
a run on third with a lead of six | 7t 0 --3 0-6 | regular | in | no
two out | 5t 2 1-- 0-0 | regular | in or deep | no
`) {
		g := situationOf(t, f[1]).rated(t, batters()[f[2]], 0)
		got := g.Managers[g.State.Fielding()].Defense(g.Turn())
		check.That(t, calls[f[3]](got) == (f[4] == "yes"), "%s: %+v", f[0], got)
	}
}

// The first baseman holds a fast runner and plays behind a slow one: what both are worth.
func TestDefense_holdsRunner(t *testing.T) {
	t.Parallel()
	for speed, holds := range map[float64]bool{3: true, -3: false} {
		g := situation{inning: 3, outs: 1, bases: "1"}.rated(t, batters()["regular"], speed)
		values := g.Turn().DefenseValues()
		behind := values[0]
		for _, v := range values {
			if v.Call == (chance.Defense{PlayBehind: true}) {
				behind = v
			}
		}
		if got := values[0].WinProbability >= behind.WinProbability; got != holds {
			t.Errorf("a runner of speed %+.0f: holding is worth %.4f, playing behind %.4f",
				speed, values[0].WinProbability, behind.WinProbability)
		}
	}
}

// Against a fast batter who hits little the corners come in sometimes, and the batter bunts sometimes: neither can be
// exploited. Against a slow one they stay.
func TestManager_bunters(t *testing.T) {
	t.Parallel()
	weak := chance.Rates{K: .2, BB: .07, HBP: .01, Single: .15, Double: .04, Triple: .004, HR: .015}
	for speed, mixes := range map[float64]bool{3: true, -3: false} {
		g := situation{inning: 3}.rated(t, weak, speed)
		in, bunts := 0, 0
		const turns = 400
		for turn := range uint64(turns) {
			g.Progress.Turns = turn
			tactics := g.Tactics()
			if tactics.Defense.Infield == chance.CornersIn {
				in++
			}
			if tactics.Offense == chance.BuntForHit {
				bunts++
			}
		}
		mixed := in > turns/20 && in < turns && bunts > 0 && bunts < turns
		check.That(t, mixed == mixes && (mixes || in+bunts == 0),
			"speed %+.0f: corners in %d times, %d bunts of %d", speed, in, bunts, turns)
	}
}

// What the side at bat calls in situations that a fan agrees on.
func TestOffense_situations(t *testing.T) {
	t.Parallel()
	for _, f := range check.Rows(`
no runner goes when six behind in the ninth | 9t 0 1-- 0-6 | regular | 0 | steal second, hit and run, sacrifice
a slow runner stays | 2t 2 1-- 0-0 | regular | -3 | steal second
a slugger does not bunt | 7t 0 1-- 0-0 | slugger | 0 | sacrifice, bunt for hit
third is not stolen with two out | 5t 2 -2- 0-0 | regular | 0 | steal third
`) {
		speed := check.Must(strconv.ParseFloat(f[3], 64))(t)
		g := situationOf(t, f[1]).rated(t, batters()[f[2]], speed)
		for turn := range uint64(40) { // of several calls that are expected, each is made sometimes
			g.Progress.Turns = turn
			got := g.Managers[g.State.Batting()].Offense(g.Turn())
			for call := range strings.SplitSeq(f[4], ", ") {
				check.That(t, string(got) != call, "%s: turn %d: %s", f[0], turn, got)
			}
		}
	}
}

// A tired pitcher is relieved, a fresh one stays; the best arm pitches in a close game, the last when it is decided.
func TestSubstitutions_pitchers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		at      situation
		relieve bool
	}{
		{"a fresh starter", situation{inning: 4, batters: 12}, false},
		{"a starter who has faced 30 batters", situation{inning: 7, batters: 30}, true},
		{"a starter who has faced two batters", situation{inning: 1, batters: 2, score: [2]int{2, 0}}, false},
		{"a starter with a shutout and a lead", situation{inning: 7, batters: 22, score: [2]int{0, 3}}, false},
	} {
		g := tt.at.start(t)
		side := g.State.Fielding()
		subs := g.Managers[side].Substitutions(&g.State, g.Progress)
		check.That(t, (subs != nil) == tt.relieve, "%s: %+v", tt.name, subs)
	}
	runs := func(score [2]int) float64 {
		g := situation{inning: 8, batters: 33, score: score}.start(t)
		subs := g.Managers[game.Home].Substitutions(&g.State, g.Progress)
		check.Require(t, len(subs) == 1, "score %v: %+v", score, subs)
		v, err := g.Bot(game.Home).SubstitutionValue(&g.State, g.Progress, subs...)
		check.NoError(t, err)
		return v.Runs
	}
	if closeGame, decided := runs([2]int{3, 4}), runs([2]int{12, 3}); closeGame >= decided {
		t.Errorf("the pitcher of a close game allows %.3f runs, that of a decided one %.3f", closeGame, decided)
	}
}
