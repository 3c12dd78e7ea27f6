package chance_test

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
)

// tally is what some games came to, both teams together.
type tally struct {
	games                         int
	runs, turns, atBats, hits     int
	total, walks, hitBy, flies    int // bases, walks with the intentional, hit batters, sacrifice flies
	strikeouts, homers            int
	doublePlays, errors, left     int
	halves, scoreless             int
	homeWins, oneRun, extra, shut int
	pitches                       int
	steals, caught                int
	times, scored                 [24]int // by situation, innings 1–8: turns begun, runs to the end of the half
}

// manage is how baseball was managed in the years that the targets were measured in: pitchers leave when they are tired,
// and runners steal, batters sacrifice and are walked as often as they were, whoever they are.
func (f *fixture) manage(t *chance.Simulator, s *game.State, m chance.Progress, lot *rand.Rand) chance.Tactics {
	f.relieve(t, s, m)
	if m.Pitches != (chance.Pitches{}) {
		return chance.Tactics{}
	}
	at := 3*mask(s) + s.Outs
	u := lot.Float64()
	for _, call := range []struct {
		rates [24]float64
		calls chance.Tactics
	}{
		{walked(), chance.Tactics{Defence: chance.Defence{Pitch: chance.IntentionalWalk}}},
		{sacrificed(), chance.Tactics{Offence: chance.Sacrifice}},
		{stole(), chance.Tactics{Offence: steal(s)}},
	} {
		if u < call.rates[at] {
			return call.calls
		}
		u -= call.rates[at]
	}
	return chance.Tactics{}
}

func steal(s *game.State) chance.Offence {
	if s.RunnerOn(game.Second).Player != "" {
		return chance.StealThird
	}
	return chance.StealSecond
}

// walked is how often a turn was an intentional walk, by bases and outs (2015–17, 2019).
func walked() [24]float64 {
	return [24]float64{
		6: .0038, 7: .0186, 8: .0447, 11: .0008, 12: .0041, 13: .0257, 14: .0346, 15: .0073, 16: .0053, 17: .0057,
		18: .0346, 19: .1007, 20: .0732,
	}
}

// sacrificed is how often a sacrifice was tried: successes by the rate of success.
func sacrificed() [24]float64 {
	return [24]float64{3: .0556, 4: .0229, 6: .0692, 7: .0017, 9: .0934, 10: .0176, 15: .025, 16: .033}
}

// stole is how often second, or third, was tried.
func stole() [24]float64 {
	var r [24]float64
	for outs := range 3 {
		second, third := [3]float64{.0594, .0691, .0733}[outs], [3]float64{.0123, .0250, .0140}[outs]
		r[3+outs], r[15+outs], r[6+outs], r[9+outs] = second, second, third, third
	}
	return r
}

// relieve changes a tired pitcher, and anybody for the closer when a lead of up to three goes into the ninth; nobody
// keeps his closer for a tie.
// The two best of the bullpen are kept for the eighth and the ninth of close games; the last man in it pitches when the
// game is out of reach, one of the middle when it is just lost.
func (f *fixture) relieve(t *chance.Simulator, s *game.State, m chance.Progress) {
	side := s.Fielding()
	team := &s.Teams[side]
	lead := s.Score[side] - s.Score[side.Other()]
	closing := s.Inning >= 9 && lead > 0 && lead <= 3 && s.Outs == 0 && mask(s) == 0 && m.Workloads[side].Batters > 1
	if t.Fatigue(s, m) < 1 && !closing || team.BattersFaced < 3 {
		return
	}
	var pen []game.PlayerID // best first
	for _, id := range team.Bench {
		if f.relievers[id] {
			pen = append(pen, id)
		}
	}
	if len(pen) == 0 {
		return
	}
	slices.SortStableFunc(pen, func(a, b game.PlayerID) int { return cmp.Compare(f.worth(b), f.worth(a)) })
	next := len(pen) - 1
	switch {
	case lead > 0 && lead <= 4:
		next = min(max(9-s.Inning, 0), 2, next)
	case lead == 0:
		next = min(2, next)
	case lead == -1 || lead == -2:
		next /= 2
	}
	if closing && t.Fatigue(s, m) < 1 && f.worth(team.Pitcher) >= f.worth(pen[next]) {
		return
	}
	if after, err := s.Substitute(game.Substitution{Side: side, Player: pen[next], Position: game.Pitcher}); err == nil {
		*s = after
	}
}

// worth is how well a player pitches: strikeouts less walks, hits and, thrice, home runs.
func (f *fixture) worth(id game.PlayerID) float64 {
	r := f.ratings[id].Pitching
	return r.K - r.BB - r.Single - r.Double - 3*r.HR
}

func mask(s *game.State) int {
	at := 0
	for i := range s.Bases {
		if s.Bases[i].Player != "" {
			at |= 1 << i
		}
	}
	return at
}

// play plays one game and counts it.
func (f *fixture) play(tb testing.TB, n int, sum *tally) {
	tb.Helper()
	var seed chance.Seed
	binary.BigEndian.PutUint64(seed[:], uint64(n))
	lot := rand.New(rand.NewPCG(uint64(n), 20))
	table := chance.NewSimulator(seed, f.clubs, f.ratings, f.park)
	s, err := game.New(game.Options{DH: true, ExtraInnings: game.Standard}, f.clubs, f.cards)
	if err != nil {
		tb.Fatal(err)
	}
	var m chance.Progress
	var h half
	for !s.Over() {
		calls := f.manage(table, &s, m, lot)
		if m.Pitches == (chance.Pitches{}) {
			h.begin(&s)
		}
		turn, err := table.Resolve(&s, m, calls)
		if err != nil {
			tb.Fatal(err)
		}
		next, err := s.Apply(turn.Play)
		if err != nil {
			tb.Fatalf("game %d, %v in %d %v, %d out, %v: %v: %+v", n, calls, s.Inning, s.Half, s.Outs, s.Bases, err, turn.Final(turn.Bold))
		}
		sum.count(&s, &turn.Play, &h)
		if next.Half != s.Half || next.Over() {
			h.end(&s, sum)
		}
		s, m = next, turn.Next
	}
	sum.finish(&s)
}

// half is one half-inning while it is counted.
type half struct {
	at               [40]int // situations of the turns begun
	before           [40]int // runs then
	turns            int
	ended, runs, out int
}

func (h *half) begin(s *game.State) {
	if h.turns < len(h.at) {
		h.at[h.turns], h.before[h.turns] = 3*mask(s)+s.Outs, h.runs
		h.turns++
	}
}

func (h *half) end(s *game.State, sum *tally) {
	sum.halves++
	if h.runs == 0 {
		sum.scoreless++
	}
	sum.left += h.ended - h.runs - h.out
	if s.Inning <= 8 {
		for i := range h.turns {
			sum.times[h.at[i]]++
			sum.scored[h.at[i]] += h.runs - h.before[i]
		}
	}
	*h = half{}
}

func (t *tally) count(s *game.State, p *game.Play, h *half) {
	one := s.Tally(*p)
	t.runs += one.Runs
	h.runs += one.Runs
	h.out += one.Outs
	t.errors += one.Errors
	if one.DoublePlay {
		t.doublePlays++
	}
	switch p.Kind {
	case game.StolenBase:
		t.steals++
	case game.CaughtStealing:
		t.caught++
	default:
	}
	if !one.PlateAppearance {
		return
	}
	h.ended++
	t.turns++
	if one.AtBat {
		t.atBats++
	}
	if one.HitBases > 0 {
		t.hits++
		t.total += one.HitBases
	}
	if p.Flags.Has(game.SacrificeFly) {
		t.flies++
	}
	switch p.Kind {
	case game.Strikeout:
		t.strikeouts++
	case game.Walk, game.IntentionalWalk:
		t.walks++
	case game.HitByPitch:
		t.hitBy++
	case game.HomeRun:
		t.homers++
	default:
	}
}

func (t *tally) finish(s *game.State) {
	t.games++
	if w, _ := s.Winner(); w == game.Home {
		t.homeWins++
	}
	if d := s.Score[0] - s.Score[1]; d == 1 || d == -1 {
		t.oneRun++
	}
	if s.Inning > 9 {
		t.extra++
	}
	for _, r := range s.Score {
		if r == 0 {
			t.shut++
		}
	}
}

// add adds the games of u.
func (t *tally) add(u *tally) {
	sum := func(a *int, b int) { *a += b }
	for i, p := range t.numbers() {
		sum(p, *u.numbers()[i])
	}
	for i := range t.times {
		t.times[i] += u.times[i]
		t.scored[i] += u.scored[i]
	}
}

func (t *tally) numbers() []*int {
	return []*int{
		&t.games, &t.runs, &t.turns, &t.atBats, &t.hits, &t.total, &t.walks, &t.hitBy, &t.flies, &t.strikeouts, &t.homers,
		&t.doublePlays, &t.errors, &t.left, &t.halves, &t.scoreless, &t.homeWins, &t.oneRun, &t.extra, &t.shut, &t.pitches, &t.steals, &t.caught,
	}
}
