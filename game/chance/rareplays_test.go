package chance_test

import (
	"math"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

func isUnassistedForce(_ *game.State, p *game.Play) bool {
	return p.Outs[0].Kind == game.ForceOut && p.Outs[0].At == game.Second && len(p.Outs[0].Fielders) == 1
}

func isGroundRuleDouble(_ *game.State, p *game.Play) bool { return p.Flags.Has(game.GroundRuleDouble) }

func isPickedOffStealing(_ *game.State, p *game.Play) bool {
	return p.Advances[game.First].Reason == game.PickedOffStealing
}

func isStrikeoutSteal(_ *game.State, p *game.Play) bool {
	return p.Kind == game.Strikeout && p.Also == game.StolenBase
}

// Plays that happen in real games more than once in fifty happen.
func TestSimulator_rarePlays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		at          int
		tactics     chance.Tactics
		is          predicate
		least, most float64
	}{
		{"an unassisted force", 3, chance.Tactics{}, isUnassistedForce, .008, .03},
		{"a ground-rule double", 0, chance.Tactics{}, isGroundRuleDouble, .002, .006},
		{"picked off stealing", 3, chance.Tactics{}, isPickedOffStealing, .002, .008},
		{"a strikeout and a steal", 3, chance.Tactics{}, isStrikeoutSteal, .005, .012},
		{"a strikeout and a throw-out", 3, chance.Tactics{}, isStrikeoutDoublePlay, .004, .01},
	} {
		if got := shares(t, tt.at, tt.tactics, nil, tt.is)[0]; got < tt.least-slack(.002) || got > tt.most+slack(.004) {
			t.Errorf("%s: %.4f of turns, want %.3f to %.3f", tt.name, got, tt.least, tt.most)
		}
	}
}

// The defense does not care about a lone runner on first when it leads late; otherwise it does.
func TestSimulator_indifference(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
	for _, tt := range []struct {
		inning, lead, at int
		want             bool
	}{
		{9, 3, 3, true},
		{9, 2, 3, false},
		{8, 4, 3, true},
		{8, 3, 3, false},
		{7, 9, 3, false},
		{9, 4, 9, false},
		{9, 4, 0, false},
		{10, 3, 3, true},
	} {
		s := f.at(t, tt.at)
		s.Inning, s.Score[game.Home] = tt.inning, tt.lead
		found := false
		for i := range 300 {
			r := check.Must(sim.Resolve(&s, chance.Progress{Turns: uint64(i)}, chance.Tactics{}))(t)
			found = found || r.Play.Kind == game.Indifference
		}
		check.Equal(t, found, tt.want, "inning %d, lead %d, base-out state %d: indifference", tt.inning, tt.lead, tt.at)
	}
}

// With the limit of 2023 the third throw that retires no runner is a balk, and there is no fourth. Without it a
// throw costs a little, and a limit keeps the notation readable.
func TestPickoffThrow_limits(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	throw := chance.Tactics{Defense: chance.Defense{Pitch: chance.PickoffThrow}}
	for _, tt := range []struct {
		limit        game.Disengagements
		before       int
		legal, balks bool
	}{
		{game.Limit2023, 0, true, false},
		{game.Limit2023, 1, true, false},
		{game.Limit2023, 2, true, true},
		{game.Limit2023, 3, false, false},
		{game.Unlimited, 2, true, false},
		{game.Unlimited, 8, true, false},
		{game.Unlimited, 9, false, false},
	} {
		s := f.at(t, 3)
		s.Options.Disengagements = tt.limit
		sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
		m := chance.Progress{PickoffThrows: tt.before}
		r, err := sim.Resolve(&s, m, throw)
		switch {
		case err == nil != tt.legal:
			t.Errorf("%q after %d throws: %v", tt.limit, tt.before, err)
		case err != nil:
		case tt.balks && (r.Play.Kind != game.Balk || r.Next.PickoffThrows != 0),
			!tt.balks && (r.Play.Kind != game.NoPlay || r.Next.PickoffThrows != tt.before+1):
			t.Errorf("%q after %d throws: %s, then %d throws", tt.limit, tt.before, r.Play.Kind, r.Next.PickoffThrows)
		}
	}
}

// A throw over is worth nothing against a runner who stands, a little against one who goes, and helps the batter.
func TestPickoffThrow_price(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
	runs := func(at int, m chance.Progress, c chance.Tactics) float64 {
		s := f.at(t, at)
		o := sim.Outlook(&s, m, c)
		return o.Runs()
	}
	throw, steal := chance.Defense{Pitch: chance.PickoffThrow}, chance.StealSecond
	for outs := range 3 {
		s := f.at(t, 3+outs)
		thrown := runs(3+outs, chance.Progress{}, chance.Tactics{Defense: throw})
		if gain := chance.RunExpectancy(&s) - thrown; math.Abs(gain) > .003 {
			t.Errorf("%d out: a throw is worth %+.4f runs", outs, gain)
		}
		gain := runs(3+outs, chance.Progress{}, chance.Tactics{Offense: steal}) -
			runs(3+outs, chance.Progress{}, chance.Tactics{Offense: steal, Defense: throw})
		check.That(t, gain >= -.06 && gain <= .06, "%d out: a throw against a steal is worth %+.4f runs", outs, gain)
	}
	a, b := runs(3, chance.Progress{}, chance.Tactics{}), runs(3, chance.Progress{PickoffThrows: 2}, chance.Tactics{})
	check.That(t, b >= a+.002, "after two throws %.4f runs, before them %.4f", b, a)
}

// Runners who go from another base than the one that is thrown to have gone when the throw retires no runner.
func TestPickoffThrow_othersGo(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	c := chance.Tactics{Offense: chance.StealHome, Defense: chance.Defense{Pitch: chance.PickoffThrow}}
	stolen := 0
	for seed := range uint64(200) {
		s := f.at(t, 3*5) // first and third, no outs
		r, err := chance.NewSimulator(chance.Setup{Clubs: f.clubs, Seed: chance.Seed{byte(seed)}}).Resolve(&s,
			chance.Progress{}, c)
		check.NoError(t, err)
		check.Must(s.Apply(r.Play))(t)
		if r.Play.Kind == game.StolenBase {
			stolen++
			check.Require(t, r.Play.Advances[game.Third].Reason == game.Stole, "a steal of home is %+v", r.Play)
		}
	}
	check.That(t, stolen >= 150, "home was stolen %d times of 200", stolen)
}

// A game in which the defense walks everybody ends with the mercy rule.
func TestSimulator_walkingEverybodyEnds(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	sim, s := f.start(t, 1, game.Options{DH: true, Mercy: game.MercyOn})
	var m chance.Progress
	walk := chance.Tactics{Defense: chance.Defense{Pitch: chance.IntentionalWalk}}
	for n := range 30 {
		if s.Over() {
			break
		}
		r, err := sim.Resolve(&s, m, walk)
		check.Require(t, err == nil, "turn %d: %v", n, err)
		s, m = check.Must(s.Apply(r.Final(true)))(t), r.Next
	}
	check.That(t, s.End == game.CalledGame && s.Score == [2]int{20, 0}, "after 30 walks: %q, %v", s.End, s.Score)
}
