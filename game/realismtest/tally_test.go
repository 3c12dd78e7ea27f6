package realismtest

import (
	"math"

	"pressbox/game"
	"pressbox/game/chance"
)

// The counters of a tally, both teams together.
const (
	games = iota
	runs
	turns
	atBats
	hits
	singles
	doubles
	triples
	homeRuns
	walks // with the intentional ones
	intentionalWalks
	strikeouts
	hitByPitch
	sacrificeHits
	sacrificeFlies
	stolenBases
	caughtStealing
	stealsOfThird // attempts
	doubleSteals
	errs
	wildPitches
	passedBalls
	doublePlays
	leftOnBase
	pitches
	pitchers
	starterOuts
	shortStarts   // gone before the fifth inning ended
	longStarts    // more than 125 pitches
	completeGames // by one pitcher
	pinchHitters
	homeWins
	oneRun  // margins
	tenRuns // margins of ten and more
	extraInnings
	shutouts
	groundRule // doubles
	indifference
	strikeoutThrow // strikeouts with a runner caught stealing
	pickedStealing // runners picked off stealing
	unassisted     // forces at second
	pitchersTurns  // at bat
	counters
)

// A tally counts games.
type tally struct {
	n             [counters]int
	times, scored [24]int // by base-out state, innings 1–8: turns begun, runs to the end of the half-inning

	// By the win probability of the home team before each play; each game has the weight 1.
	expected, won, moments [10]float64
}

func (t *tally) add(u *tally) {
	for i, n := range u.n {
		t.n[i] += n
	}
	for i := range u.moments {
		t.expected[i] += u.expected[i]
		t.won[i] += u.won[i]
		t.moments[i] += u.moments[i]
	}
	for i := range u.times {
		t.times[i] += u.times[i]
		t.scored[i] += u.scored[i]
	}
}

func (t *tally) countIf(n int, is bool) {
	if is {
		t.n[n]++
	}
}

// countPlay counts what no box score has.
func (t *tally) countPlay(before *game.State, p *game.Play) {
	stole := 0
	for from := game.First; from <= game.Third; from++ {
		reason := p.Advances[from].Reason
		if reason == game.Stole {
			stole++
		}
		t.countIf(stealsOfThird, from == game.Second && (reason == game.Stole || reason == game.Caught))
		t.countIf(pickedStealing, reason == game.PickedOffStealing && p.Kind == game.PickOff)
	}
	t.countIf(doubleSteals, stole > 1)
	t.countIf(passedBalls, p.Kind == game.PassedBall || p.Also == game.PassedBall)
	t.countIf(pitchersTurns, p.Kind.EndsPlateAppearance() && before.Batter() == before.Teams[before.Batting()].Pitcher)
	t.countIf(groundRule, p.Flags.Has(game.GroundRuleDouble))
	t.countIf(indifference, p.Kind == game.Indifference)
	t.countIf(strikeoutThrow, p.Kind == game.Strikeout && p.Also == game.CaughtStealing)
	t.countIf(unassisted, p.Outs[0].Kind == game.ForceOut && p.Outs[0].At == game.Second &&
		len(p.Outs[0].Fielders) == 1)
	t.n[doublePlays] += map[bool]int{true: 1}[before.Tally(*p).DoublePlay]
}

// countGame counts a box score.
func (t *tally) countGame(s *game.State, box *game.BoxScore) {
	t.n[games]++
	for side := range box.Teams {
		team := &box.Teams[side]
		t.n[runs] += team.Runs
		t.n[hits] += team.Hits
		t.n[errs] += team.Errors
		t.n[leftOnBase] += team.LeftOnBase
		t.countIf(shutouts, team.Runs == 0)
		for _, l := range team.Batting {
			t.n[turns] += l.PlateAppearances
			t.n[atBats] += l.AtBats
			t.n[doubles] += l.Doubles
			t.n[triples] += l.Triples
			t.n[homeRuns] += l.HomeRuns
			t.n[singles] += l.Hits - l.Doubles - l.Triples - l.HomeRuns
			t.n[walks] += l.Walks
			t.n[intentionalWalks] += l.IntentionalWalks
			t.n[strikeouts] += l.Strikeouts
			t.n[hitByPitch] += l.HitByPitch
			t.n[sacrificeHits] += l.SacrificeHits
			t.n[sacrificeFlies] += l.SacrificeFlies
			t.n[stolenBases] += l.StolenBases
			t.n[caughtStealing] += l.CaughtStealing
		}
		for i, l := range team.Pitching {
			t.n[pitchers]++
			t.n[pitches] += l.Pitches
			t.n[wildPitches] += l.WildPitches
			if i == 0 {
				t.n[starterOuts] += l.Outs
				t.countIf(shortStarts, l.Outs < 15)
				t.countIf(longStarts, l.Pitches > 125)
				t.countIf(completeGames, len(team.Pitching) == 1)
			}
		}
	}
	margin := s.Score[game.Home] - s.Score[game.Away]
	t.countIf(homeWins, margin > 0)
	t.countIf(oneRun, margin == 1 || margin == -1)
	t.countIf(tenRuns, margin >= 10 || margin <= -10)
	t.countIf(extraInnings, s.Inning > 9)
}

// countChances counts the win probabilities of a game.
func (t *tally) countChances(chances []float64, won bool) {
	share := 1 / float64(len(chances)) // moments of one game are not independent
	for _, p := range chances {
		bin := min(int(10*p), 9)
		t.expected[bin] += p * share
		t.moments[bin] += share
		if won {
			t.won[bin] += share
		}
	}
}

// calibrationError returns the mean difference of the chance shown and the share of games won.
func (t *tally) calibrationError() float64 {
	sum := 0.0
	for i := range t.moments {
		sum += math.Abs(t.won[i] - t.expected[i])
	}
	return sum / float64(t.n[games])
}

// half counts one half-inning.
type half struct {
	at, before []int // of the turns begun: base-out state, and runs so far
	runs       int
}

func (h *half) count(t *tally, before *game.State, p *game.Play, after *game.State) {
	if before.Count == (game.Count{}) && (p.Kind.EndsPlateAppearance() || !h.begun(before)) {
		h.at, h.before = append(h.at, chance.BaseOut(before)), append(h.before, h.runs)
	}
	h.runs += before.Tally(*p).Runs
	if after.Half == before.Half && !after.Over() {
		return
	}
	if before.Inning <= 8 {
		for i, at := range h.at {
			t.times[at]++
			t.scored[at] += h.runs - h.before[i]
		}
	}
	*h = half{at: h.at[:0], before: h.before[:0]}
}

// begun reports whether the last turn counted is this one: the same state.
func (h *half) begun(s *game.State) bool {
	n := len(h.at)
	return n > 0 && h.at[n-1] == chance.BaseOut(s) && h.before[n-1] == h.runs
}
