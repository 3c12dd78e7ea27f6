package chance_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
)

// drawn is how often draws resolves a situation.
const drawn = 20000

// draws resolves one situation many times and hands each turn on with the state after it.
func draws(tb testing.TB, at int, c chance.Tactics, ratings chance.Ratings, see func(*game.State, *chance.Resolution, *game.State)) {
	tb.Helper()
	f := averageFixture(0)
	table := chance.NewSimulator(chance.Seed{1, byte(at)}, f.clubs, ratings, chance.ParkFactors{})
	s := situation(tb, &f, at)
	for i := range drawn {
		turn, err := table.Resolve(&s, chance.Progress{Turns: uint64(i)}, c)
		if err != nil {
			tb.Fatal(err)
		}
		after, err := s.Apply(turn.Play)
		if err != nil {
			tb.Fatal(err)
		}
		see(&s, &turn, &after)
	}
}

// share returns how often something is so.
func share(tb testing.TB, at int, c chance.Tactics, ratings chance.Ratings, is func(*game.State, *game.Play) bool) float64 {
	tb.Helper()
	so := 0
	draws(tb, at, c, ratings, func(s *game.State, turn *chance.Resolution, _ *game.State) {
		if is(s, &turn.Play) {
			so++
		}
	})
	return float64(so) / drawn
}

func isKind(k ...game.PlayKind) func(*game.State, *game.Play) bool {
	return func(_ *game.State, p *game.Play) bool {
		return slices.Contains(k, p.Kind)
	}
}

func isDouble(s *game.State, p *game.Play) bool {
	return p.Ball.Contact == game.GroundBall && s.Tally(*p).DoublePlay
}

// Each decision does what it is for, and costs what it costs. Standard error of a difference of shares is at most .005.
func TestDecisions(t *testing.T) {
	t.Parallel()
	in := func(d chance.Defence) chance.Tactics { return chance.Tactics{Defence: d} }
	tests := []struct {
		name  string
		at    int // 3·mask + outs
		calls chance.Tactics
		is    func(*game.State, *game.Play) bool
		least float64 // change of the share against no decision
		most  float64
	}{
		{"pitching around walks more", 6, in(chance.Defence{Pitch: chance.PitchAround}), isKind(game.Walk), .08, .25},
		{"pitching around gives up fewer home runs", 6, in(chance.Defence{Pitch: chance.PitchAround}), isKind(game.HomeRun), -.03, -.003},
		{"an intentional walk is one", 6, in(chance.Defence{Pitch: chance.IntentionalWalk}), isKind(game.IntentionalWalk), 1, 1},
		{"taking walks more", 0, chance.Tactics{Offence: chance.Take}, isKind(game.Walk), .005, .05},
		{"the infield in lets singles through", 13, in(chance.Defence{Infield: chance.InfieldIn}), isKind(game.Single), .015, .06},
		{"the infield in keeps the runner on third from scoring", 13, in(chance.Defence{Infield: chance.InfieldIn}), groundScores, -.08, -.02},
		{"corners in do so less", 13, in(chance.Defence{Infield: chance.CornersIn}), groundScores, -.05, -.005},
		{"double-play depth gets more of them", 3, in(chance.Defence{Infield: chance.DoublePlayDepth}), isDouble, .003, .03},
		{"a hit and run stays out of them", 3, chance.Tactics{Offence: chance.HitAndRun}, isDouble, -.10, -.02},
		{"a hit and run strikes out and throws out", 3, chance.Tactics{Offence: chance.HitAndRun}, isKindAlso(game.CaughtStealing), .03, .12},
		{"behind the runner fewer singles fall in", 3, in(chance.Defence{PlayBehind: true}), isKind(game.Single), -.03, -.008},
		{"a deep outfield gives up fewer doubles", 0, in(chance.Defence{Outfield: chance.Deep}), isKind(game.Double), -.02, -.002},
		{"a shallow one more", 0, in(chance.Defence{Outfield: chance.Shallow}), isKind(game.Double), .002, .02},
		{"guarding the lines gives up fewer", 0, in(chance.Defence{GuardLines: true}), isKind(game.Double), -.02, -.002},
		{"a sacrifice moves the runner", 3, chance.Tactics{Offence: chance.Sacrifice}, sacrificedOne, .55, .7},
		{"a bunt for a hit with nobody on", 0, chance.Tactics{Offence: chance.BuntForHit}, isKind(game.Single), .1, .25},
		{"a squeeze brings the run in", 13, chance.Tactics{Offence: chance.Squeeze}, scoresThird, .2, .5},
	}
	for _, tt := range tests {
		got := share(t, tt.at, tt.calls, nil, tt.is) - share(t, tt.at, chance.Tactics{}, nil, tt.is)
		if got < tt.least || got > tt.most {
			t.Errorf("%s: %+.4f, want %+.3f to %+.3f", tt.name, got, tt.least, tt.most)
		}
	}
}

func groundScores(_ *game.State, p *game.Play) bool {
	return p.Kind == game.BattedOut && p.Ball.Contact == game.GroundBall && p.Advances[game.Third].To == game.HomePlate
}

func scoresThird(_ *game.State, p *game.Play) bool {
	return p.Advances[game.Third].To == game.HomePlate
}

func sacrificedOne(_ *game.State, p *game.Play) bool {
	return p.Flags.Has(game.SacrificeHit) && p.Advances[game.First].To == game.Second
}

func isKindAlso(k game.PlayKind) func(*game.State, *game.Play) bool {
	return func(_ *game.State, p *game.Play) bool { return p.Kind == game.Strikeout && p.Also == k }
}

// A sacrifice with a man on first and nobody out costs runs: .20 when it works as planned (.909 to .709), somewhat less
// over all that comes of it, since some bunters reach first.
func TestSacrificeCostsRuns(t *testing.T) {
	t.Parallel()
	if cost := runs(t, 3, chance.Tactics{}, nil) - runs(t, 3, chance.Tactics{Offence: chance.Sacrifice}, nil); cost < .05 || cost > .25 {
		t.Errorf("a sacrifice costs %.3f runs", cost)
	}
}

// runs returns the runs of an inning from a situation on, when these calls are made once.
func runs(tb testing.TB, at int, c chance.Tactics, ratings chance.Ratings) float64 {
	tb.Helper()
	var sum float64
	draws(tb, at, c, ratings, func(s *game.State, turn *chance.Resolution, after *game.State) {
		sum += float64(s.Tally(turn.Play).Runs) + chance.RunExpectancy(after)
	})
	return sum / drawn
}

// A bunt for a hit is for the fast: they get the .44 of those who were measured, the average man a third, and it costs
// him runs; so nobody wins by bunting all day. Standard error of a share .0035, of runs .008.
func TestBuntsForHitsAreForTheFast(t *testing.T) {
	t.Parallel()
	bunt := chance.Tactics{Offence: chance.BuntForHit}
	legs := func(speed float64) chance.Ratings {
		r := chance.Ratings{}
		for i := range 9 {
			r[game.PlayerID(fmt.Sprintf("a%d", i+1))] = chance.Rating{Speed: speed}
		}
		return r
	}
	for speed, want := range map[float64]float64{-1.5: .22, 0: .32, 1.3: .44, 2: .50} {
		if got := share(t, 0, bunt, legs(speed), isKind(game.Single)); math.Abs(got-want) > .02 {
			t.Errorf("bunters of speed %+.1f reached %.3f, want %.2f", speed, got, want)
		}
	}
	for outs := range 3 {
		if gain := runs(t, outs, bunt, nil) - runs(t, outs, chance.Tactics{}, nil); gain > 0 {
			t.Errorf("with %d out an average man gains %+.3f runs by bunting", outs, gain)
		}
	}
	if fastest, swings := runs(t, 0, bunt, legs(2.5)), runs(t, 0, chance.Tactics{}, legs(2.5)); fastest < swings {
		t.Errorf("the fastest bunts for %.3f runs, swings for %.3f", fastest, swings)
	}
}

// What people are shown beside a steal is how often it succeeds; skills and decisions move it the right way.
func TestStealOdds(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	s := situation(t, &f, 3)
	steal := chance.Tactics{Offence: chance.StealSecond}
	odds := func(r chance.Ratings, d chance.Defence) float64 {
		table := chance.NewSimulator(chance.Seed{}, f.clubs, r, chance.ParkFactors{})
		return table.Odds(&s, chance.Progress{}, chance.Tactics{Offence: steal.Offence, Defence: d}).Chance
	}
	average := odds(nil, chance.Defence{})
	if got := share(t, 3, steal, nil, isKind(game.StolenBase)); math.Abs(got-average) > .012 {
		t.Errorf("shown %.3f, happened %.3f", average, got)
	}
	for name, got := range map[string]float64{
		"a fast runner":  odds(chance.Ratings{"a9": {Speed: 1}}, chance.Defence{}) - average,
		"not held":       odds(nil, chance.Defence{PlayBehind: true}) - average,
		"a weak catcher": odds(chance.Ratings{"h8": {Arm: -1}}, chance.Defence{}) - average,
		"a strong one":   average - odds(chance.Ratings{"h8": {Arm: 1}}, chance.Defence{}),
		"a quick move":   average - odds(chance.Ratings{"h12": {Hold: 1}}, chance.Defence{}),
		"a pitch-out":    average - odds(nil, chance.Defence{Pitch: chance.PitchOut}),
	} {
		if got < .02 || got > .35 {
			t.Errorf("%s changes the odds of a steal by %.3f", name, got)
		}
	}
}

// A fast runner scores from second on more singles, and a strong arm holds him.
func TestLegsAndArms(t *testing.T) {
	t.Parallel()
	scores := func(r chance.Ratings) float64 {
		is := func(_ *game.State, p *game.Play) bool {
			return p.Kind == game.Single && p.Advances[game.Second].To == game.HomePlate
		}
		return share(t, 7, chance.Tactics{}, r, is) / share(t, 7, chance.Tactics{}, r, isKind(game.Single))
	}
	average := scores(nil)
	if math.Abs(average-.494) > .03 { // of 2,888 singles in that situation; three standard errors of as many here
		t.Errorf("from second on a single with one out scored %.3f, want .494", average)
	}
	if fast := scores(chance.Ratings{"a8": {Speed: 2}}); fast < average+.06 {
		t.Errorf("the fastest scored %.3f, the average %.3f", fast, average)
	}
	strong := chance.Rating{Arm: 2}
	if got := scores(chance.Ratings{"h1": strong, "h5": strong, "h7": strong}); got > average-.02 {
		t.Errorf("on the strongest arms scored %.3f, on average ones %.3f", got, average)
	}
}

// The odds that a question shows are true: bold choices succeed as often as promised, and who never answers plays by the
// percentages.
func TestQuestionsAreHonest(t *testing.T) {
	t.Parallel()
	type record struct{ asked, promised, kept float64 }
	found := map[chance.Question]*record{}
	for at := range 24 {
		draws(t, at, chance.Tactics{}, nil, func(s *game.State, turn *chance.Resolution, _ *game.State) {
			if turn.Question == chance.NoQuestion {
				return
			}
			r := found[turn.Question]
			if r == nil {
				r = &record{}
				found[turn.Question] = r
			}
			bold := turn.Final(true)
			r.asked++
			r.promised += turn.SuccessChance
			if worked(turn.Question, s, &bold) {
				r.kept++
			}
			if offence := turn.Question == chance.SendRunner; offence != (turn.Decider == s.Batting()) {
				t.Errorf("%q was asked of the %s team", turn.Question, turn.Decider)
			}
		})
	}
	for _, q := range []chance.Question{chance.SendRunner, chance.ThrowHome, chance.TurnTwo, chance.ThrowPlate} {
		r := found[q]
		if r == nil || r.asked < 300 {
			t.Errorf("%q is hardly ever asked: %+v", q, r)
			continue
		}
		within := 3.5 * math.Sqrt(r.asked*.25)
		if math.Abs(r.kept-r.promised) > within {
			t.Errorf("%q: %.0f of %.0f succeeded, %.0f ± %.0f promised", q, r.kept, r.asked, r.promised, within)
		}
		if bold, safe := q.Labels(); bold == "" || safe == "" {
			t.Errorf("%q has no words for its choices", q)
		}
	}
}

// worked reports whether the bold choice turned out as its odds say.
func worked(q chance.Question, s *game.State, bold *game.Play) bool {
	switch q {
	case chance.SendRunner:
		return !isOut(bold, lead(s, bold))
	case chance.ThrowHome:
		return isOut(bold, lead(s, bold))
	case chance.TurnTwo:
		return s.Tally(*bold).Outs > 1
	default: // the runner from third is out
		return isOut(bold, game.Third)
	}
}

// lead is the runner for whom an extra base is in question.
func lead(s *game.State, p *game.Play) game.Base {
	second, third := s.RunnerOn(game.Second).Player != "", s.RunnerOn(game.Third).Player != ""
	switch {
	case p.Kind == game.Single && second, p.Kind == game.BattedOut && !third:
		return game.Second
	case p.Kind == game.BattedOut:
		return game.Third
	default:
		return game.First
	}
}

func isOut(p *game.Play, from game.Base) bool {
	for _, o := range p.Outs {
		if o.Kind != game.NotOut && o.Runner == from {
			return true
		}
	}
	return false
}

// The pitches lead where the play says: what the count was before the last one, and the letter that ended it.
func TestPitchesLeadToTheOutcome(t *testing.T) {
	t.Parallel()
	pitches, turns := 0, 0
	draws(t, 0, chance.Tactics{}, nil, func(_ *game.State, turn *chance.Resolution, _ *game.State) {
		p := turn.Final(true)
		var balls, strikes int8
		for i, l := range p.Pitches {
			if i == len(p.Pitches)-1 {
				break
			}
			switch l {
			case 'B':
				balls++
			case 'C', 'S':
				strikes++
			case 'F':
				strikes = min(strikes+1, 2)
			default:
				t.Errorf("%s goes on after %c", p.Pitches, l)
			}
		}
		if (game.Count{Balls: balls, Strikes: strikes}) != p.Count || balls > 3 || strikes > 2 {
			t.Errorf("%s leads to %+v, told as %+v", p.Pitches, game.Count{Balls: balls, Strikes: strikes}, p.Count)
		}
		last := p.Pitches[len(p.Pitches)-1]
		switch {
		case p.Kind == game.Strikeout && strikes == 2 && (last == 'C' || last == 'S'):
		case p.Kind == game.Walk && balls == 3 && last == 'B':
		case p.Kind == game.HitByPitch && last == 'H':
		case p.Kind == game.FoulError && last == 'F':
		case p.Kind != game.Strikeout && p.Kind != game.Walk && p.Kind != game.HitByPitch && last == 'X':
		default:
			t.Errorf("a %s ends %s", p.Kind, p.Pitches)
		}
		pitches += len(p.Pitches)
		turns++
	})
	if per := float64(pitches) / float64(turns); math.Abs(per-3.88) > .06 {
		t.Errorf("%.3f pitches a turn, want 3.88", per)
	}
}

// After an interruption the same batter stays, the count goes on, and his pitches are told whole.
func TestInterruptedTurn(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	table := chance.NewSimulator(chance.Seed{3}, f.clubs, nil, chance.ParkFactors{})
	s := situation(t, &f, 3)
	steal, err := table.Resolve(&s, chance.Progress{}, chance.Tactics{Offence: chance.StealSecond})
	if err != nil {
		t.Fatal(err)
	}
	p := steal.Final(true)
	next, err := s.Apply(p)
	if err != nil {
		t.Fatal(err)
	}
	if p.Pitches != ">B" || next.Count != (game.Count{Balls: 1}) || next.Batter() != s.Batter() {
		t.Errorf("a steal tells %q, count %+v, %s at bat", p.Pitches, next.Count, next.Batter())
	}
	turn, err := table.Resolve(&next, steal.Next, chance.Tactics{})
	if err != nil {
		t.Fatal(err)
	}
	if got := turn.Final(true).Pitches; len(got) < 4 || got[:3] != ">B." {
		t.Errorf("the turn goes on as %q, want >B. and more", got)
	}
}

// What is expected of a turn is what comes of it, but for what happens between pitches.
func TestExpect(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	table := chance.NewSimulator(chance.Seed{}, f.clubs, nil, chance.ParkFactors{})
	s := situation(t, &f, 0)
	want := table.ExpectedRates(&s, chance.Progress{}, chance.Tactics{})
	for kind, p := range map[game.PlayKind]float64{
		game.Strikeout: want.K, game.Walk: want.BB, game.Single: want.Single, game.Double: want.Double, game.HomeRun: want.HR,
	} {
		got := share(t, 0, chance.Tactics{}, nil, isKind(kind))
		if within := 3.5 * math.Sqrt(p*(1-p)/drawn); math.Abs(got-p) > within {
			t.Errorf("%s: %.4f of turns, expected %.4f ± %.4f", kind, got, p, within)
		}
	}
}
