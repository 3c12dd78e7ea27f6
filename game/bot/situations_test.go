package bot_test

import (
	"maps"
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

func slugger() chance.Rates {
	return chance.Rates{K: .1, BB: .2, HBP: .01, Single: .13, Double: .06, Triple: .002, HR: .1}
}

func regular() chance.Rates { return chance.LeagueRates() }

// What the side in the field calls in situations that a fan agrees on.
func TestDefense_situations(t *testing.T) {
	t.Parallel()
	walks := func(d chance.Defense) bool {
		return d.Pitch == chance.IntentionalWalk || d.Pitch == chance.PitchAround
	}
	for _, tt := range []struct {
		name   string
		at     situation
		batter chance.Rates
		is     func(chance.Defense) bool
		want   bool
	}{
		{
			"a slugger with first open and the winning run on second",
			situation{inning: 9, half: game.Bottom, outs: 2, bases: "-2"},
			slugger(), walks, true,
		},
		{"the same slugger leads off", situation{inning: 9, half: game.Bottom}, slugger(), walks, false},
		{
			"the same slugger with the bases full",
			situation{inning: 9, half: game.Bottom, outs: 1, bases: "123"},
			slugger(), walks, false,
		},
		{"a regular with the bases full", situation{inning: 3, outs: 2, bases: "123"}, regular(), walks, false},
		{
			"the winning run on third",
			situation{inning: 9, half: game.Bottom, outs: 1, bases: "--3"},
			regular(),
			func(d chance.Defense) bool {
				return d.Infield == chance.InfieldIn || walks(d)
			}, true,
		},
		{
			"a run on third with a lead of six",
			situation{inning: 7, outs: 0, bases: "--3", score: [2]int{0, 6}},
			regular(), func(d chance.Defense) bool {
				return d.Infield == chance.InfieldIn
			}, false,
		},
		{"two out", situation{inning: 5, outs: 2, bases: "1"}, regular(), func(d chance.Defense) bool {
			return d.Infield == chance.InfieldIn || d.Infield == chance.DoublePlayDepth
		}, false},
	} {
		g := tt.at.rated(t, tt.batter, 0)
		got := g.Managers[g.State.Fielding()].Defense(g.Turn())
		check.That(t, tt.is(got) == tt.want, "%s: %+v", tt.name, got)
	}
}

// The first baseman holds a fast runner and plays behind a slow one: what both are worth.
func TestDefense_holdsRunner(t *testing.T) {
	t.Parallel()
	for speed, holds := range map[float64]bool{3: true, -3: false} {
		g := situation{inning: 3, outs: 1, bases: "1"}.rated(t, regular(), speed)
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
		if mixed := in > turns/20 && in < turns && bunts > 0 && bunts < turns; mixed != mixes ||
			!mixes && in+bunts > 0 {
			t.Errorf("speed %+.0f: corners in %d times, %d bunts of %d", speed, in, bunts, turns)
		}
	}
}

// What the side at bat calls in situations that a fan agrees on.
func TestOffense_situations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		at     situation
		batter chance.Rates
		speed  float64
		never  []chance.Offense
	}{
		{
			"no runner goes when six behind in the ninth",
			situation{inning: 9, bases: "1", score: [2]int{0, 6}},
			regular(), 0,
			[]chance.Offense{chance.StealSecond, chance.HitAndRun, chance.Sacrifice},
		},
		{
			"a slow runner stays",
			situation{inning: 2, bases: "1", outs: 2},
			regular(), -3,
			[]chance.Offense{chance.StealSecond},
		},
		{
			"a slugger does not bunt",
			situation{inning: 7, bases: "1"},
			slugger(), 0,
			[]chance.Offense{chance.Sacrifice, chance.BuntForHit},
		},
		{
			"third is not stolen with two out",
			situation{inning: 5, bases: "-2", outs: 2},
			regular(), 0,
			[]chance.Offense{chance.StealThird},
		},
	} {
		g := tt.at.rated(t, tt.batter, tt.speed)
		for turn := range uint64(40) { // of several calls that are expected, each is made sometimes
			g.Progress.Turns = turn
			got := g.Managers[g.State.Batting()].Offense(g.Turn())
			for _, call := range tt.never {
				check.That(t, got != call, "%s: turn %d: %s", tt.name, turn, got)
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
		if subs := g.Managers[side].Substitutions(&g.State, g.Progress); (subs != nil) != tt.relieve {
			t.Errorf("%s: %+v", tt.name, subs)
		}
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
