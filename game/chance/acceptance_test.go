package chance_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"text/tabwriter"

	"pgregory.net/rapid"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// The counters of a tally, both teams together.
const (
	games = iota
	runs
	turns
	atBats
	hits
	walks // with the intentional ones
	hitByPitch
	sacrificeFlies
	strikeouts
	homeRuns
	doublePlays
	errs
	leftOnBase
	halves
	scoreless
	counters
)

// A tally counts simulated games.
type tally struct {
	n             [counters]int
	times, scored [24]int // by base-out state, innings 1–8: turns begun, runs to the end of the half-inning
}

func (t *tally) per(n, of int) float64 { return float64(t.n[n]) / float64(t.n[of]) }

// A target is a measurement of 2015–17 and 2019 and the allowed deviation in 20,000 games.
type target struct {
	name            string
	want, tolerance float64
	of              func(*tally) float64
}

func targets() []target {
	perTeam := func(n int) func(*tally) float64 { return func(t *tally) float64 { return t.per(n, games) / 2 } }
	percent := func(n, of int) func(*tally) float64 { return func(t *tally) float64 { return 100 * t.per(n, of) } }
	all := []target{
		{"runs per team and game", 4.55, .10, perTeam(runs)},
		{"plate appearances per team and game", 38.1, .4, perTeam(turns)},
		{"batting average", .254, .003, func(t *tally) float64 { return t.per(hits, atBats) }},
		{"on-base average", .321, .003, func(t *tally) float64 {
			reached := t.n[hits] + t.n[walks] + t.n[hitByPitch]
			return float64(reached) / float64(reached-t.n[hits]+t.n[atBats]+t.n[sacrificeFlies])
		}},
		{"strikeouts, % of turns", 21.5, .4, percent(strikeouts, turns)},
		{"walks, % of turns", 8.2, .3, percent(walks, turns)},
		{"home runs, % of turns", 3.16, .12, percent(homeRuns, turns)},
		{"double plays per team and game", .88, .05, perTeam(doublePlays)},
		{"left on base per team and game", 6.8, .2, perTeam(leftOnBase)},
		{"errors per team and game", .59, .05, perTeam(errs)},
		{"scoreless half-innings, %", 71.9, 1, percent(scoreless, halves)},
	}
	for at, want := range measuredExpectancy() {
		within := .05
		if at/3 >= 4 && at%3 == 0 {
			within = .08 // less than 3,500 turns in four seasons
		}
		bases := [8]string{"---", "1--", "-2-", "12-", "--3", "1-3", "-23", "123"}[at/3]
		all = append(all, target{
			fmt.Sprintf("run expectancy, %s %d out", bases, at%3), want, within * want,
			func(t *tally) float64 { return float64(t.scored[at]) / float64(t.times[at]) },
		})
	}
	return all
}

// measuredExpectancy returns runs to the end of the half-inning by base-out state, innings 1–8 of 2015–17 and 2019.
func measuredExpectancy() [24]float64 {
	return [24]float64{
		.517, .277, .109, .909, .535, .234, 1.163, .709, .325, 1.519, .954, .445,
		1.407, .981, .382, 1.780, 1.208, .501, 2.034, 1.430, .583, 2.274, 1.630, .785,
	}
}

// measurement is the result for one target.
type measurement struct {
	target
	got, err float64 // err is the standard error
}

// batchCount is the number of parts of a sample whose scatter gives the standard errors: enough for a sample of
// any size.
const batchCount = 40

// simulate plays games of average clubs and measures all targets.
func simulate(tb testing.TB, games int) []measurement {
	tb.Helper()
	league, batches := averageLeague(), make([]tally, batchCount)
	batch := games / batchCount
	var sum tally
	for b := range batches {
		for n := range batch {
			f := &league[(b*batch+n)%len(league)]
			f.play(tb, b*batch+n, &batches[b])
		}
		sum.add(&batches[b])
	}
	var found []measurement
	for _, want := range targets() {
		var mean, square, counted float64
		for b := range batches {
			if x := want.of(&batches[b]); !math.IsNaN(x) {
				mean += x
				square += x * x
				counted++
			}
		}
		mean /= counted
		found = append(found, measurement{want, want.of(&sum), math.Sqrt((square/counted - mean*mean) / counted)})
	}
	return found
}

// report prints the table and fails where a measurement differs from its target by more than the tolerance and the
// given number of standard errors.
func report(tb testing.TB, found []measurement, errors float64) {
	tb.Helper()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "average clubs\tmeasured\ttarget\ttolerance")
	for _, m := range found {
		allowed := m.tolerance + errors*m.err
		mark := ""
		if !(math.Abs(m.got-m.want) <= allowed) {
			mark = "MISSED"
			tb.Errorf("%s %.4g, want %.4g ± %.2g", m.name, m.got, m.want, allowed)
		}
		fmt.Fprintf(w, "%s\t%.4g\t%.4g\t%.2g\t%s\n", m.name, m.got, m.want, m.tolerance, mark)
	}
	if _, bench := tb.(*testing.B); bench || testing.Verbose() {
		check.NoError(tb, w.Flush())
	}
}

// The simulated games match the measured seasons: a smaller sample than BenchmarkAcceptance, with four standard errors
// on top of the tolerances. What depends on clubs that differ, such as home wins and one-run games, is in
// game/realismtest.
func TestAcceptance(t *testing.T) {
	t.Parallel()
	report(t, simulate(t, sampleSize(2000)), 4)
}

func BenchmarkAcceptance(b *testing.B) {
	for b.Loop() {
		report(b, simulate(b, 20000), 0)
	}
}

// manageFast manages with steals of the fast runners only, who have the measured chance of success.
func (f *fixture) manageFast(sim *chance.Simulator, s *game.State, m chance.Progress, rng *rand.Rand) chance.Tactics {
	const breakEven = .65 // chance of success
	rates := stealRates()
	for at := range rates {
		rates[at] /= f.fast
	}
	t := f.manage(sim, s, m, rng, rates)
	if (t.Offense == chance.StealSecond || t.Offense == chance.StealThird) && sim.Odds(s, m, t).Chance < breakEven {
		return chance.Tactics{}
	}
	return t
}

// manage returns tactics as frequent as in the measured seasons, with these steals, regardless of the players, and
// relieves tired pitchers.
func (f *fixture) manage(
	sim *chance.Simulator, s *game.State, m chance.Progress, rng *rand.Rand, steals [24]float64,
) chance.Tactics {
	f.relieve(sim, s, m)
	if m.Pitches != (chance.Pitches{}) {
		return chance.Tactics{}
	}
	steal := chance.StealSecond
	if s.RunnerOn(game.Second).Player != "" {
		steal = chance.StealThird
	}
	at, u := chance.BaseOut(s), rng.Float64()
	for _, frequent := range []struct {
		rates   [24]float64
		tactics chance.Tactics
	}{
		{intentionalWalkRates(), chance.Tactics{Defense: chance.Defense{Pitch: chance.IntentionalWalk}}},
		{sacrificeRates(), chance.Tactics{Offense: chance.Sacrifice}},
		{steals, chance.Tactics{Offense: steal}},
	} {
		if u < frequent.rates[at] {
			return frequent.tactics
		}
		u -= frequent.rates[at]
	}
	return chance.Tactics{}
}

// intentionalWalkRates returns the share of turns by base-out state (2015–17, 2019).
func intentionalWalkRates() [24]float64 {
	return [24]float64{
		6: .0038, 7: .0186, 8: .0447, 11: .0008, 12: .0041, 13: .0257, 14: .0346, 15: .0073, 16: .0053, 17: .0057,
		18: .0346, 19: .1007, 20: .0732,
	}
}

// sacrificeRates returns the share of turns with a sacrifice attempt: successes divided by the rate of success.
func sacrificeRates() [24]float64 {
	return [24]float64{3: .0556, 4: .0229, 6: .0692, 7: .0017, 9: .0934, 10: .0176, 15: .025, 16: .033}
}

// stealRates returns the share of turns with an attempt to steal second or third.
func stealRates() [24]float64 {
	var r [24]float64
	for outs := range 3 {
		second, third := [3]float64{.0594, .0691, .0733}[outs], [3]float64{.0123, .0250, .0140}[outs]
		r[3+outs], r[15+outs], r[6+outs], r[9+outs] = second, second, third, third
	}
	return r
}

// play plays a game and counts it.
func (f *fixture) play(tb testing.TB, n int, sum *tally) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), 20))
	sim, s := f.start(tb, uint64(n), game.Options{DH: true, ExtraInnings: game.Standard})
	var m chance.Progress
	var h half
	for !s.Over() {
		tactics := f.manageFast(sim, &s, m, rng)
		if m.Pitches == (chance.Pitches{}) {
			h.begin(&s)
		}
		r := check.Must(sim.Resolve(&s, m, tactics))(tb)
		next, err := s.Apply(r.Play)
		if err != nil {
			tb.Fatalf("game %d, %v in %d %v, %d out, %v: %v: %+v",
				n, tactics, s.Inning, s.Half, s.Outs, s.Bases, err, r.Final(r.Bold))
		}
		sum.count(&s, &r.Play, &h)
		if next.Half != s.Half || next.Over() {
			h.end(&s, sum)
		}
		s, m = next, r.Next
	}
	sum.n[games]++
}

// half counts one half-inning.
type half struct {
	at, before       []int // of the turns begun: base-out state, and runs so far
	ended, runs, out int
}

func (h *half) begin(s *game.State) {
	h.at, h.before = append(h.at, chance.BaseOut(s)), append(h.before, h.runs)
}

func (h *half) end(s *game.State, sum *tally) {
	sum.n[halves]++
	if h.runs == 0 {
		sum.n[scoreless]++
	}
	sum.n[leftOnBase] += h.ended - h.runs - h.out
	if s.Inning <= 8 {
		for i, at := range h.at {
			sum.times[at]++
			sum.scored[at] += h.runs - h.before[i]
		}
	}
	*h = half{at: h.at[:0], before: h.before[:0]}
}

func (t *tally) count(s *game.State, p *game.Play, h *half) {
	one := s.Tally(*p)
	t.n[runs] += one.Runs
	h.runs += one.Runs
	h.out += one.Outs
	t.n[errs] += one.Errors
	if one.DoublePlay {
		t.n[doublePlays]++
	}
	if !one.PlateAppearance {
		return
	}
	h.ended++
	t.n[turns]++
	if one.AtBat {
		t.n[atBats]++
	}
	if one.HitBases > 0 {
		t.n[hits]++
	}
	if p.Flags.Has(game.SacrificeFly) {
		t.n[sacrificeFlies]++
	}
	switch p.Kind {
	case game.Strikeout:
		t.n[strikeouts]++
	case game.Walk, game.IntentionalWalk:
		t.n[walks]++
	case game.HitByPitch:
		t.n[hitByPitch]++
	case game.HomeRun:
		t.n[homeRuns]++
	default:
	}
}

func (t *tally) add(u *tally) {
	for i, n := range u.n {
		t.n[i] += n
	}
	for i := range u.times {
		t.times[i] += u.times[i]
		t.scored[i] += u.scored[i]
	}
}

// Every run checks the same properties of the same values.
var _ = flag.Set("rapid.seed", "1")

// The dice are SHA-256 in counter mode. The expected numbers are from
//
//	h = hashlib.sha256(bytes(range(32)) + (7).to_bytes(8, "big") + (0).to_bytes(8, "big")).digest()
//	[(int.from_bytes(h[i:i+8], "big") >> 11) / 2**53 for i in range(0, 32, 8)]
//
// and for the judgments, of a side 0 or 1, with the first number of
//
//	hashlib.sha256(bytes(range(32)) + b"bot" + bytes([side]) + (7).to_bytes(8, "big")).digest()
func TestDice_sha256CounterMode(t *testing.T) {
	t.Parallel()
	var seed chance.Seed
	for i := range seed {
		seed[i] = byte(i)
	}
	dice := seed.Dice(7)
	for i, want := range []float64{0.2774777471623543, 0.6109906015080336, 0.3910391176620318, 0.8278524159710564} {
		check.Equal(t, dice.Float64(), want, "number %d of turn 7", i)
	}
	sim := chance.NewSimulator(chance.Setup{Seed: seed})
	for side, want := range []float64{0.5271729180378585, 0.7093803133494254} {
		check.Equal(t, sim.Judgment(game.Side(side), 7), want, "the judgment of side %d in turn 7", side)
	}
	commitment := seed.Commitment()
	const want = "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"
	got := hex.EncodeToString(commitment[:])
	check.That(t, got == want, "the commitment of 00…1f is %s, not its SHA-256", got)
}

// anyTactics draws tactics, legal or not.
func anyTactics() *rapid.Generator[chance.Tactics] {
	return rapid.Custom(func(t *rapid.T) chance.Tactics {
		return chance.Tactics{
			Offense: rapid.SampledFrom([]chance.Offense{
				chance.SwingAway, chance.SwingAway, chance.Take, chance.Sacrifice, chance.BuntForHit, chance.Squeeze,
				chance.HitAndRun, chance.StealSecond, chance.StealThird, chance.StealHome, chance.DoubleSteal, "balk",
			}).Draw(t, "offense"),
			Defense: chance.Defense{
				Pitch: rapid.SampledFrom([]chance.Pitch{
					chance.PitchTo, chance.PitchTo, chance.PitchAround, chance.IntentionalWalk, chance.PitchOut,
					chance.PickoffThrow, "spit",
				}).Draw(t, "pitch"),
				Infield: rapid.SampledFrom([]chance.Infield{
					chance.NormalDepth, chance.InfieldIn, chance.CornersIn, chance.DoublePlayDepth,
				}).Draw(t, "infield"),
				Outfield: rapid.SampledFrom(
					[]chance.Outfield{chance.NormalOutfield, chance.Shallow, chance.Deep}).Draw(t, "outfield"),
				PlayBehind: rapid.Bool().Draw(t, "behind"),
				GuardLines: rapid.Bool().Draw(t, "lines"),
			},
		}
	})
}

// Any tactics in any reachable state are illegal, or give plays that the rules and the official scorer accept,
// whatever the answer to the question. The same turn gives the same plays.
func TestSimulator_anyTactics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkAnyTactics)
}

func FuzzAnyTactics(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkAnyTactics)) }

func checkAnyTactics(t *rapid.T) {
	f := averageFixture(0)
	var seed chance.Seed
	copy(seed[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "seed"))
	sim := chance.NewSimulator(chance.Setup{Seed: seed, Clubs: f.clubs})
	s := check.Must(game.New(game.Options{DH: true, Innings: rapid.SampledFrom([]int{1, 3, 9}).Draw(t, "innings")},
		f.clubs, f.lineups))(t)
	book := game.NewScorebook(&s, f.clubs)
	var m chance.Progress
	tactics, most := anyTactics(), rapid.IntRange(20, 120).Draw(t, "turns")
	for range most {
		if s.Over() {
			break
		}
		c := tactics.Draw(t, "tactics")
		r, err := sim.Resolve(&s, m, c)
		if err != nil {
			_, illegal := errors.AsType[*chance.IllegalTacticError](err)
			check.Require(t, illegal, "%+v: %v, want an IllegalTacticError", c, err)
			c = chance.Tactics{}
			r, err = sim.Resolve(&s, m, c)
			check.Require(t, err == nil, "no tactics: %v", err)
		}
		if again, _ := sim.Resolve(&s, m, c); again != r {
			t.Fatal("the same turn came out differently")
		}
		bold := rapid.Bool().Draw(t, "bold")
		for _, p := range []game.Play{r.Final(!bold), r.Final(bold)} {
			after, err := s.Apply(p)
			check.Require(t, err == nil, "%+v at %+v, %d out: %+v: %v", c, s.Bases, s.Outs, p, err)
			if err := checkCount(&p, &after); err != nil {
				t.Fatalf("%+v: %v", p, err)
			}
		}
		p := r.Final(bold)
		next, _ := s.Apply(p)
		book.RecordPlay(&s, &p, &next)
		check.NoError(t, book.Prove(&next))
		s, m = next, r.Next
	}
	text, err := json.Marshal(m)
	check.Require(t, err == nil && json.Unmarshal(text, &m) == nil, "progress in JSON: %v", err)
}

// checkCount checks that the count of a play is that of its pitches before the last, as on scorecards, and the
// count of the state afterwards that of all pitches.
func checkCount(p *game.Play, after *game.State) error {
	var before, all game.Count
	for _, letter := range []byte(p.Pitches) {
		if letter >= 'A' {
			before, all = all, all.After(letter)
		}
	}
	if last := p.Pitches[max(0, len(p.Pitches)-1):]; last == "" || last < "A" || p.Kind == game.IntentionalWalk {
		before = all // there was no pitch on the play
	}
	switch {
	case p.Count != before:
		return fmt.Errorf("count %v on pitches %q", p.Count, p.Pitches)
	case !p.Kind.EndsPlateAppearance() && after.Count != all && after.Count != game.Count{}: // zero: the side is out
		return fmt.Errorf("count %v after pitches %q", after.Count, p.Pitches)
	}
	return nil
}

// LegalOffense returns exactly the tactics that Resolve accepts, LegalDefense legal ones.
func TestLegalOffense_matchesResolve(t *testing.T) {
	t.Parallel()
	all := []chance.Offense{
		chance.SwingAway, chance.Take, chance.Sacrifice, chance.BuntForHit, chance.Squeeze, chance.HitAndRun,
		chance.StealSecond, chance.StealThird, chance.StealHome, chance.DoubleSteal,
	}
	f := averageFixture(0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
	for at := range 24 {
		s := f.at(t, at)
		legal := map[chance.Offense]bool{}
		for _, o := range chance.LegalOffense(&s) {
			legal[o] = true
		}
		for _, o := range all {
			if _, err := sim.Resolve(&s, chance.Progress{}, chance.Tactics{Offense: o}); (err == nil) != legal[o] {
				t.Errorf("base-out state %d, %q: legal %v, Resolve returned %v", at, o, legal[o], err)
			}
		}
		offers := chance.LegalDefense(&s, chance.Progress{})
		check.Equal(t, offers[0], (chance.Defense{}), "base-out state %d: the first defense", at)
		for _, d := range offers {
			_, err := sim.Resolve(&s, chance.Progress{}, chance.Tactics{Defense: d})
			check.That(t, err == nil, "base-out state %d, %+v: %v", at, d, err)
		}
	}
}

// The odds of two players who differ from the league in one rate multiply: o = o_batter · o_pitcher ÷ o_league.
func TestMatchup_multipliesOdds(t *testing.T) {
	t.Parallel()
	l := chance.LeagueRates()
	odds := func(p float64) float64 { return p / (1 - p) }
	with := func(hr float64) chance.Rates { // the other rates in proportion
		f := (1 - hr) / (1 - l.HR)
		return chance.Rates{
			K: f * l.K, BB: f * l.BB, HBP: f * l.HBP, Single: f * l.Single, Double: f * l.Double,
			Triple: f * l.Triple, HR: hr,
		}
	}
	b, p := with(.06), with(.02)
	// The exponent of strikeouts nearly cancels out if both sides have the same rate.
	got, want := odds(chance.Matchup(b, p).HR), odds(.06)*odds(.02)/odds(l.HR)
	check.That(t, math.Abs(got/want-1) <= .002, "odds of a home run %.5f, want %.5f", got, want)
	if r := chance.Matchup(l, l); math.Abs(r.K-l.K) > 1e-9 || math.Abs(r.Out()-l.Out()) > 1e-9 {
		t.Errorf("two average players: %+v, want the league's %+v", r, l)
	}
}

// Progress and pitches survive JSON.
func TestProgress_json(t *testing.T) {
	t.Parallel()
	pitches := chance.Pitches{}
	err := pitches.UnmarshalText([]byte("BC1>F.P"))
	check.Require(t, err == nil && pitches.String() == "BC1>F.P", "read %q, %v", pitches.String(), err)
	at := chance.Progress{
		Turns: 7, Workloads: [2]chance.Workload{{Pitcher: "p", Batters: 3, Pitches: 11}}, PickoffThrows: 1,
		Pitches: pitches,
	}
	data := check.Must(json.Marshal(at))(t)
	var again chance.Progress
	err = json.Unmarshal(data, &again)
	check.That(t, err == nil && again == at, "%s: read %+v, %v, want %+v", data, again, err, at)
	err = pitches.UnmarshalText(make([]byte, 41))
	check.That(t, err != nil, "41 pitches: no error")
}
