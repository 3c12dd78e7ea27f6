package chance_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// runsPerTurn returns the run value of the batter due against the pitcher in s, by linear weights of 2015–19.
func runsPerTurn(sim *chance.Simulator, s *game.State, m chance.Progress) float64 {
	r := sim.ExpectedRates(s, m, chance.Tactics{})
	return .31*r.BB + .34*r.HBP + .46*r.Single + .76*r.Double + 1.04*r.Triple + 1.39*r.HR - .26*(r.K+r.Out())
}

// worked returns the progress of a pitcher who has faced batters with pitches.
func worked(s *game.State, batters, pitches int) chance.Progress {
	return chance.Progress{
		Workloads: [2]chance.Workload{game.Home: {Pitcher: s.Pitcher(), Batters: batters, Pitches: pitches}},
	}
}

// Pitches tire as batters do, the third time through the order costs, the fourth no less, and from the pitcher's
// stamina on each batter costs more than the one before.
func TestFatigue_pitchesAndBatters(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	s := f.at(t, 0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
	after := func(batters, pitches int) float64 { return runsPerTurn(sim, &s, worked(&s, batters, pitches)) }
	usual := func(batters int) float64 { return after(batters, batters*39/10) }
	a, b := after(21, 70), after(21, 120)
	check.That(t, b >= a+.005, "after 70 pitches %+.4f runs per batter, after 120 %+.4f", a, b)
	if a, b, c := usual(0), usual(10), usual(19); b < a+.005 || c < b+.002 {
		t.Errorf("times through the order: %+.4f, %+.4f, %+.4f runs per batter", a, b, c)
	}
	cost := usual(24) - usual(23)
	for n := 24; n < 36; n++ {
		next := usual(n+1) - usual(n)
		check.That(t, next > 0 && (next >= cost-.0005 || n <= 26),
			"batter %d costs %+.4f runs more than the one before, that one %+.4f", n+1, next, cost)
		cost = next
	}
	spent := worked(&s, chance.StarterStamina, chance.StarterStamina*39/10)
	if tired := sim.Fatigue(&s, spent); math.Abs(tired-1) > .02 {
		t.Errorf("after %d batters a starter's fatigue is %.3f, want 1", chance.StarterStamina, tired)
	}
}

// relieved returns the state with another pitcher of the home team who came in as a relief pitcher.
func relieved(tb testing.TB, s game.State, id game.PlayerID) game.State {
	tb.Helper()
	s.Teams[game.Home].BattersFaced = 3
	return check.Must(s.Substitute(game.Substitution{Side: game.Home, Player: id, Position: game.Pitcher}))(tb)
}

// What a pitcher did on the last days costs, less with each day, most for a starter who relieves. The first batter of a
// relief pitcher costs.
func TestRecentWork_effects(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	start := f.at(t, 0)
	relief, other := f.clubs[1].Players[15].ID, f.clubs[1].Players[9].ID
	if other == start.Pitcher() {
		other = f.clubs[1].Players[10].ID
	}
	runsWith := func(s game.State, recent chance.RecentWork, batters int) float64 {
		sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs, Recent: recent})
		return runsPerTurn(sim, &s, worked(&s, batters, batters*39/10))
	}
	for name, s := range map[string]game.State{"starter": start, "relief pitcher": relieved(t, start, relief)} {
		last := math.Inf(1)
		for day := range chance.RecentDays {
			var days [chance.RecentDays]int
			days[day] = 40
			runs := runsWith(s, chance.RecentWork{s.Pitcher(): days}, 1)
			check.That(t, runs < last || day <= 0 || last <= runsWith(s, chance.RecentWork{}, 1),
				"%s: 40 pitches %d days ago cost as much as on the day after", name, day+1)
			last = runs
		}
		check.That(t, math.Abs(last-runsWith(s, chance.RecentWork{}, 1)) <= 1e-9,
			"%s: %d days ago still cost", name, chance.RecentDays)
		tired := chance.RecentWork{s.Pitcher(): {45}}
		if rested := chance.NewSimulator(chance.Setup{Clubs: f.clubs}); rested.Fatigue(&s, worked(&s, 5, 20)) >=
			chance.NewSimulator(chance.Setup{Clubs: f.clubs, Recent: tired}).Fatigue(&s, worked(&s, 5, 20)) {
			t.Errorf("%s: the stamina of a tired pitcher is that of a rested one", name)
		}
	}
	in := relieved(t, start, other)
	rested, between, short := runsWith(in, chance.RecentWork{}, 1), runsWith(in, nil, 1),
		runsWith(in, chance.RecentWork{other: {95}}, 1)
	if between < rested+.01 || short < between+.005 {
		t.Errorf("a starter in relief: rested %+.4f, between starts %+.4f, on the day after a start %+.4f runs",
			rested, between, short)
	}
	if first, second := runsWith(in, chance.RecentWork{}, 0), rested; first < second+.005 {
		t.Errorf("the first batter of a relief pitcher: %+.4f runs, the second %+.4f", first, second)
	}
}

// A day moves the work back and adds the pitches of today; what is older is gone.
func TestRecentWork_tomorrow(t *testing.T) {
	t.Parallel()
	w := chance.RecentWork{"a": {1, 2, 3, 4, 5}, "b": {0, 0, 0, 0, 9}, "c": {7}}
	before := maps.Clone(w)
	next := w.Tomorrow(map[game.PlayerID]int{"c": 20, "d": 15, "e": 0})
	want := (chance.RecentWork{"a": {0, 1, 2, 3, 4}, "c": {20, 7}, "d": {15}})
	check.That(t, reflect.DeepEqual(next, want) && reflect.DeepEqual(w, before),
		"the next day %v, want %v; the day before %v", next, want, w)
	var again chance.RecentWork
	data, err := json.Marshal(next)
	check.That(t, err == nil && json.Unmarshal(data, &again) == nil && reflect.DeepEqual(again, next),
		"in JSON %v, %v", again, err)
}

// The form of the day differs between games and pitchers, is the same for a whole game, and does not show in odds.
func TestForm_hidden(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	s := f.at(t, 0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
	want := sim.ExpectedRates(&s, chance.Progress{}, chance.Tactics{})
	var shares []float64
	for n := range 40 {
		one := sim.WithSeed(chance.Seed{byte(n)})
		got := one.ExpectedRates(&s, chance.Progress{}, chance.Tactics{})
		check.Require(t, got == want, "seed %d shows %+v, want %+v", n, got, want)
		strikeouts := 0.
		const turns = 1000
		for i := range turns {
			r := check.Must(one.Resolve(&s, chance.Progress{Turns: uint64(i)}, chance.Tactics{}))(t)
			if r.Play.Kind == game.Strikeout {
				strikeouts++
			}
		}
		shares = append(shares, strikeouts/turns)
	}
	mean, square := 0.0, 0.0
	for _, x := range shares {
		mean += x / float64(len(shares))
		square += x * x / float64(len(shares))
	}
	noise := math.Sqrt(mean * (1 - mean) / 1000)
	if scatter := math.Sqrt(square - mean*mean); scatter < 1.2*noise || math.Abs(mean-want.K) > .015 {
		t.Errorf("strikeouts %s ± %.4f over games, want %.4f and more than %.4f",
			fmt.Sprintf("%.4f", mean), scatter, want.K, 1.2*noise)
	}
}

// Spent is 1 where Fatigue is, begins at what the days before took, and is the same on a good and on a bad day.
func TestSimulator_spent(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	s := f.at(t, 0)
	starter := s.Pitcher()
	work := chance.RecentWork{starter: {0, 100}}
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs, Recent: work})
	got := sim.Spent(&s, chance.Progress{}, starter)
	check.That(t, math.Abs(got-.4*.8) <= 1e-9, "two days after a start %.3f of the stamina is spent, want 0.32", got)
	got = sim.Spent(&game.State{}, chance.Progress{}, starter)
	check.That(t, math.Abs(got-.4*.8) <= 1e-9, "before the game: %.3f", got)
	last := -1.
	for n := range 40 {
		m := worked(&s, n, n*39/10)
		spent, fatigue := sim.Spent(&s, m, starter), sim.Fatigue(&s, m)
		check.That(t, spent > last && (spent >= 1) == (fatigue >= 1),
			"after %d batters %.3f are spent, fatigue %.3f", n, spent, fatigue)
		other := sim.WithSeed(chance.Seed{9}).Spent(&s, m, starter)
		check.That(t, other == spent, "with another seed %.3f are spent, not %.3f", other, spent)
		last = spent
	}
}

// Rest days are counted from yesterday, 0, to RecentDays.
func TestRecentWork_restDays(t *testing.T) {
	t.Parallel()
	for days, want := range map[[chance.RecentDays]int]int{
		{20}: 0, {0, 20}: 1, {0, 0, 0, 0, 1}: 4, {}: chance.RecentDays,
	} {
		check.Equal(t, (chance.RecentWork{"p": days}).RestDays("p"), want, "%v: days", days)
	}
	check.Equal(t, chance.RecentWork(nil).RestDays("p"), chance.RecentDays, "without work: days")
}

// The averages of the positions are around the league's, and differ as positions do.
func TestPositionAverage(t *testing.T) {
	t.Parallel()
	positions := []game.Role{"C", "1B", "2B", "3B", "SS", "LF", "CF", "RF", "DH"}
	var hr, k float64
	for _, at := range positions {
		r := chance.PositionAverage([]game.Role{at, "DH"})
		hr, k = hr+r.Batting.HR/9, k+r.Batting.K/9
		out := r.Batting.Out()
		check.That(t, out >= .4 && out <= .55, "%s: %.3f outs", at, out)
	}
	l := chance.LeagueRates()
	check.That(t, math.Abs(hr/l.HR-1) <= .01 && math.Abs(k/l.K-1) <= .01,
		"all positions: %.4f home runs, %.4f strikeouts, want %.4f, %.4f", hr, k, l.HR, l.K)
	first, short := chance.PositionAverage([]game.Role{"1B"}), chance.PositionAverage([]game.Role{"SS"})
	check.That(t, first.Batting.HR >= 1.5*short.Batting.HR && first.Speed <= short.Speed-1,
		"first base %+v, shortstop %+v", first, short)
	for _, none := range [][]game.Role{nil, {"SP"}, {"RP", "1B"}} {
		check.Equal(t, chance.PositionAverage(none), (chance.Rating{}), "%v", none)
	}
}

// A player without rates has those that the simulator takes for them.
func TestEffective(t *testing.T) {
	t.Parallel()
	l := chance.LeagueRates()
	hitter := chance.Effective(game.Player{Positions: []game.Role{"SS"}}, chance.Rating{})
	starter := chance.Effective(game.Player{Positions: []game.Role{"SP"}}, chance.Rating{})
	reliever := chance.Effective(game.Player{Positions: []game.Role{"RP"}}, chance.Rating{})
	both := chance.Effective(game.Player{Positions: []game.Role{"SP", "DH"}}, chance.Rating{})
	check.That(t, hitter.Batting == l && hitter.Pitching.HR > l.HR && starter.Pitching == l &&
		starter.Batting.K > l.K && both.Batting == l, "hitter %+v, starter %+v, both %+v", hitter, starter, both)
	check.That(t, starter.Stamina == chance.StarterStamina && reliever.Stamina == chance.RelieverStamina,
		"stamina %d and %d", starter.Stamina, reliever.Stamina)
}

// cell is a result without its probability.
type cell struct {
	over     bool
	to, runs int
}

func cells(o *chance.Outlook) map[cell]float64 {
	found := map[cell]float64{}
	o.Each(func(r chance.Result) { found[cell{r.TurnOver, r.To, r.Runs}] = r.P })
	return found
}

// tacticPairs returns each tactic of either side alone, and pairs of which one changes what the other does.
func tacticPairs(s *game.State) []chance.Tactics {
	var all []chance.Tactics
	for _, o := range chance.LegalOffense(s) {
		all = append(all, chance.Tactics{Offense: o})
		for _, d := range []chance.Defense{
			{Pitch: chance.PickoffThrow}, {Pitch: chance.PitchOut}, {Infield: chance.CornersIn}, {PlayBehind: true},
		} {
			if c := (chance.Tactics{Offense: o, Defense: d}); o != chance.SwingAway &&
				c.Check(s, chance.Progress{}) == nil {
				all = append(all, c)
			}
		}
	}
	for _, d := range chance.LegalDefense(s, chance.Progress{})[1:] {
		all = append(all, chance.Tactics{Defense: d})
	}
	return all
}

// The outlook sums to one, and simulated turns have each result as often, for all tactics in every base-out state.
func TestAll_outlookAgreesWithDice(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
	seed, compared := uint64(0), 0
	for at := range 24 {
		s := f.at(t, at)
		s.Inning, s.Score[game.Home] = 8, 5 // defensive indifference is possible
		for _, c := range tacticPairs(&s) {
			turns := sampleSize(1500)
			if c == (chance.Tactics{}) {
				turns *= 5
			}
			outlook := sim.Outlook(&s, chance.Progress{}, c)
			want := cells(&outlook)
			sum := 0.0
			for _, p := range want {
				sum += p
			}
			check.That(t, math.Abs(sum-1) <= 1e-9, "base-out state %d, %+v: the outlook sums to %v", at, c, sum)
			got := map[cell]float64{}
			for range turns {
				seed++
				var random chance.Seed
				binary.BigEndian.PutUint64(random[:], seed)
				r := check.Must(sim.WithSeed(random).Resolve(&s, chance.Progress{}, c))(t)
				tally, after := s.Tally(r.Play), check.Must(s.Apply(r.Play))(t)
				to := chance.BaseOutStates
				if after.Half == s.Half {
					to = chance.BaseOut(&after)
				}
				got[cell{r.Play.Kind.EndsPlateAppearance(), to, tally.Runs}] += 1 / float64(turns)
			}
			for k, p := range got {
				check.That(t, want[k] != 0,
					"base-out state %d, %+v: %+v happens in %.4f of turns, the outlook has none", at, c, k, p)
			}
			for k, p := range want {
				compared++
				if within := 5*math.Sqrt(p*(1-p)/float64(turns)) + 2/float64(turns); math.Abs(got[k]-p) > within {
					t.Errorf("base-out state %d, %+v: %+v happens in %.4f of turns, the outlook has %.4f ± %.4f",
						at, c, k, got[k], p, within)
				}
			}
		}
	}
	check.That(t, compared >= 3000, "%d results compared", compared)
}

// The outlook of swinging away from each state on has about the measured run expectancy.
func TestOutlook_runs(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
	for at := range 24 {
		s := f.at(t, at)
		o := sim.Outlook(&s, chance.Progress{}, chance.Tactics{})
		got, want := o.Runs(), chance.RunExpectancy(&s)
		check.That(t, math.Abs(got-want) <= .05+.04*want, "base-out state %d: %.3f runs, measured %.3f", at, got, want)
	}
	s := f.at(t, 0)
	o := sim.Outlook(&s, chance.Progress{}, chance.Tactics{Offense: chance.Squeeze})
	check.That(t, o == (chance.Outlook{}), "illegal tactics have an outlook")
}

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
