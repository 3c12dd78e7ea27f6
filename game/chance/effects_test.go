package chance_test

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// sampleSize returns n, or a fifth of it with -short.
func sampleSize(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// slack returns the further tolerance of a share or a mean in a smaller sample: that times as many standard errors.
func slack(tolerance float64) float64 {
	if testing.Short() {
		return tolerance
	}
	return 0
}

// sample resolves a turn in one base-out state many times and passes each resolution on with the states around it.
func sample(
	tb testing.TB, at int, c chance.Tactics, ratings chance.Ratings,
	see func(*game.State, *chance.Resolution, *game.State),
) (n int) {
	tb.Helper()
	f := averageFixture(0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs, Ratings: ratings})
	s := f.at(tb, at)
	n = sampleSize(20000)
	for i := range n {
		seed := chance.Seed{1, byte(at), byte(i), byte(i >> 8)} // each game has its form of the day
		r := check.Must(sim.WithSeed(seed).Resolve(&s, chance.Progress{}, c))(tb)
		after := check.Must(s.Apply(r.Play))(tb)
		see(&s, &r, &after)
	}
	return n
}

// A predicate reports whether a play in a state has a property.
type predicate func(*game.State, *game.Play) bool

// shares returns how often plays satisfy each predicate. Standard errors are at most .0035 with 20,000 turns.
func shares(tb testing.TB, at int, c chance.Tactics, ratings chance.Ratings, is ...predicate) []float64 {
	tb.Helper()
	counted := make([]float64, len(is))
	n := sample(tb, at, c, ratings, func(s *game.State, r *chance.Resolution, _ *game.State) {
		for i, p := range is {
			if p(s, &r.Play) {
				counted[i]++
			}
		}
	})
	for i := range counted {
		counted[i] /= float64(n)
	}
	return counted
}

// expectedRuns returns the runs of the half-inning from a base-out state on if the tactics are called once. The
// standard error is .008 with 20,000 turns.
func expectedRuns(tb testing.TB, at int, c chance.Tactics, ratings chance.Ratings) float64 {
	tb.Helper()
	var sum float64
	n := sample(tb, at, c, ratings, func(s *game.State, r *chance.Resolution, after *game.State) {
		sum += float64(s.Tally(r.Play).Runs) + chance.RunExpectancy(after)
	})
	return sum / float64(n)
}

func isKind(kinds ...game.PlayKind) predicate {
	return func(_ *game.State, p *game.Play) bool { return slices.Contains(kinds, p.Kind) }
}

func isGroundDoublePlay(s *game.State, p *game.Play) bool {
	return p.Ball.Contact == game.GroundBall && s.Tally(*p).DoublePlay
}

func scoresOnGroundOut(_ *game.State, p *game.Play) bool {
	return p.Kind == game.BattedOut && p.Ball.Contact == game.GroundBall && p.Advances[game.Third].To == game.HomePlate
}

func scoresFromThird(_ *game.State, p *game.Play) bool {
	return p.Advances[game.Third].To == game.HomePlate
}

func scoresFromSecond(_ *game.State, p *game.Play) bool {
	return p.Kind == game.Single && p.Advances[game.Second].To == game.HomePlate
}

func isSacrifice(_ *game.State, p *game.Play) bool {
	return p.Flags.Has(game.SacrificeHit) && p.Advances[game.First].To == game.Second
}

func isSteal(_ *game.State, p *game.Play) bool {
	return p.Kind == game.StolenBase || p.Also == game.StolenBase
}

func isStrikeoutDoublePlay(_ *game.State, p *game.Play) bool {
	return p.Kind == game.Strikeout && p.Also == game.CaughtStealing
}

// Each tactic has its effect and its cost.
func TestTactics_effects(t *testing.T) {
	t.Parallel()
	kinds := map[string]predicate{
		"walk": isKind(game.Walk), "intentional walk": isKind(game.IntentionalWalk), "single": isKind(game.Single),
		"double": isKind(game.Double), "home run": isKind(game.HomeRun),
		"ground double play": isGroundDoublePlay, "strikeout double play": isStrikeoutDoublePlay,
		"sacrifice": isSacrifice, "score on a ground out": scoresOnGroundOut, "score from third": scoresFromThird,
	}
	tests := map[int][][]string{}
	for _, f := range check.Rows(tacticCases) {
		at := check.Must(strconv.Atoi(f[1]))(t)
		tests[at] = append(tests[at], f)
	}
	for at, rows := range tests {
		var is []predicate
		for _, f := range rows {
			is = append(is, kinds[f[3]])
		}
		usual := shares(t, at, chance.Tactics{}, nil, is...)
		for i, f := range rows {
			var tactics chance.Tactics
			if strings.HasPrefix(f[2], "{") {
				check.NoError(t, json.Unmarshal([]byte(f[2]), &tactics.Defense))
			} else {
				tactics.Offense = chance.Offense(f[2])
			}
			var least, most float64
			check.Must(fmt.Sscan(f[4], &least, &most))(t)
			got := shares(t, at, tactics, nil, is[i])[0] - usual[i]
			check.That(t, got >= least-slack(.01) && got <= most+slack(.01),
				"%s: %+.4f, want %+.3f to %+.3f", f[0], got, least, most)
		}
	}
}

// A row has the base-out state, 3·mask + outs; the call of the side at bat or, in braces, of the side in the field;
// what happens; and by how much its share changes against no tactics.
const tacticCases = `
pitching around walks more | 6 | {"pitch":"pitch around"} | walk | .08 .25
pitching around allows fewer home runs | 6 | {"pitch":"pitch around"} | home run | -.03 -.003
an intentional walk is one | 6 | {"pitch":"intentional walk"} | intentional walk | 1 1
taking walks more | 0 | take | walk | .005 .05
the infield in allows singles | 13 | {"infield":"in"} | single | .015 .06
the infield in holds the runner on third | 13 | {"infield":"in"} | score on a ground out | -.08 -.02
corners in hold the runner less | 13 | {"infield":"corners in"} | score on a ground out | -.05 -.005
double-play depth turns more double plays | 3 | {"infield":"double-play depth"} | ground double play | .003 .03
a hit and run avoids double plays | 3 | hit and run | ground double play | -.10 -.02
a hit and run strikes out and throws out | 3 | hit and run | strikeout double play | .03 .12
playing behind the runner allows fewer singles | 3 | {"behind":true} | single | -.03 -.008
a deep outfield allows fewer doubles | 0 | {"outfield":"deep"} | double | -.02 -.002
a shallow outfield allows more doubles | 0 | {"outfield":"shallow"} | double | .002 .02
guarding the lines allows fewer doubles | 0 | {"lines":true} | double | -.02 -.002
a sacrifice advances the runner | 3 | sacrifice | sacrifice | .55 .7
a bunt for a hit with the bases empty | 0 | bunt for hit | single | .1 .25
a squeeze scores the runner | 13 | squeeze | score from third | .1 .5
`

// A sacrifice with a runner on first and none out costs runs: .20 if it succeeds (.909 to .709), less on average,
// because some bunters reach first.
func TestTactics_sacrificeCostsRuns(t *testing.T) {
	t.Parallel()
	cost := expectedRuns(t, 3, chance.Tactics{}, nil) -
		expectedRuns(t, 3, chance.Tactics{Offense: chance.Sacrifice}, nil)
	check.That(t, cost >= .05-slack(.03) && cost <= .25+slack(.03), "a sacrifice costs %.3f runs", cost)
}

// Of the measured .44 of fast batters and a third of average ones who bunt for a hit, a fifth miss or foul, which
// costs runs.
func TestTactics_buntForHit(t *testing.T) {
	t.Parallel()
	bunt := chance.Tactics{Offense: chance.BuntForHit}
	rated := func(speed float64) chance.Ratings {
		r := chance.Ratings{}
		for i := range 9 {
			r[game.PlayerID(fmt.Sprintf("a%d", i+1))] = chance.Rating{Speed: speed}
		}
		return r
	}
	for speed, want := range map[float64]float64{-1.5: .17, 0: .26, 1.3: .35, 2: .40} {
		if got := shares(t, 0, bunt, rated(speed), isKind(game.Single))[0]; math.Abs(got-want) > .02+slack(.02) {
			t.Errorf("bunters of speed %+.1f reached %.3f, want %.2f", speed, got, want)
		}
	}
	for outs := range 3 {
		gain := expectedRuns(t, outs, bunt, nil) - expectedRuns(t, outs, chance.Tactics{}, nil)
		check.That(t, gain <= slack(.03), "with %d out an average batter gains %+.3f runs by bunting", outs, gain)
	}
	bunts, swings := expectedRuns(t, 0, bunt, rated(2.5)), expectedRuns(t, 0, chance.Tactics{}, rated(2.5))
	check.That(t, bunts >= swings-slack(.03), "the fastest bunts for %.3f runs, swings for %.3f", bunts, swings)
}

// With two out a bunt with a man on third scores exactly if the batter reaches first, and there is no fielder's choice:
// of 513 measured ones 2.
func TestTactics_buntWithTwoOut(t *testing.T) {
	t.Parallel()
	reaches := func(_ *game.State, p *game.Play) bool { return p.Advances[game.AtBat].To == game.First }
	scoresOtherwise := func(_ *game.State, p *game.Play) bool {
		scores, reaches := p.Advances[game.Third].To == game.HomePlate, p.Advances[game.AtBat].To == game.First
		return p.Ball.Contact.IsBunt() && scores != reaches
	}
	for at := 3*4 + 2; at < 24; at += 3 {
		got := shares(t, at, chance.Tactics{Offense: chance.BuntForHit}, nil,
			isKind(game.FieldersChoice), scoresOtherwise, reaches)
		check.That(t, got[0] == 0 && got[1] == 0, "state %d: %.3f choices, %.3f score otherwise", at, got[0], got[1])
		check.That(t, got[2] > .15 && got[2] < .35, "state %d: %.3f reach first", at, got[2])
	}
}

// The odds shown with a steal are its frequency, and skills and tactics change them in the right direction.
func TestSimulator_stealOdds(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	s := f.at(t, 3)
	steal := chance.Tactics{Offense: chance.StealSecond}
	odds := func(r chance.Ratings, d chance.Defense) float64 {
		sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs, Ratings: r})
		return sim.Odds(&s, chance.Progress{}, chance.Tactics{Offense: steal.Offense, Defense: d}).Chance
	}
	average := odds(nil, chance.Defense{})
	got := shares(t, 3, steal, nil, isSteal)[0]
	check.That(t, math.Abs(got-average) <= .012+slack(.015), "shown %.3f, frequency %.3f", average, got)
	for name, got := range map[string]float64{
		"a fast runner":    odds(chance.Ratings{"a9": {Speed: 1}}, chance.Defense{}) - average,
		"playing behind":   odds(nil, chance.Defense{PlayBehind: true}) - average,
		"a weak catcher":   odds(chance.Ratings{"h8": {Arm: -1}}, chance.Defense{}) - average,
		"a strong catcher": average - odds(chance.Ratings{"h8": {Arm: 1}}, chance.Defense{}),
		"a quick move":     average - odds(chance.Ratings{"h12": {Hold: 1}}, chance.Defense{}),
		"a pitch-out":      average - odds(nil, chance.Defense{Pitch: chance.PitchOut}),
	} {
		check.That(t, got >= .02 && got <= .35, "%s changes the odds of a steal by %.3f", name, got)
	}
}

// A fast runner scores from second on more singles, and strong arms hold the runner.
func TestSimulator_speedAndArms(t *testing.T) {
	t.Parallel()
	scores := func(r chance.Ratings) float64 {
		of := shares(t, 7, chance.Tactics{}, r, scoresFromSecond, isKind(game.Single))
		return of[0] / of[1]
	}
	average, strong := scores(nil), chance.Rating{Arm: 2}
	if math.Abs(average-.494) > .03+slack(.04) { // of 2,888 singles; three standard errors of as many
		t.Errorf("from second on a single with one out scored %.3f, want .494", average)
	}
	fast := scores(chance.Ratings{"a8": {Speed: 2}})
	check.That(t, fast >= average+.06-slack(.04), "the fastest scored %.3f, the average %.3f", fast, average)
	if got := scores(chance.Ratings{"h1": strong, "h5": strong, "h7": strong}); got > average-.02+slack(.04) {
		t.Errorf("on the strongest arms scored %.3f, on average ones %.3f", got, average)
	}
}

// Bold choices succeed as often as the question shows, and without an answer the percentages decide.
func TestResolution_questionOdds(t *testing.T) {
	t.Parallel()
	type record struct{ asked, expected, succeeded float64 }
	found := map[chance.Question]*record{}
	for at := range 24 {
		sample(t, at, chance.Tactics{}, nil, func(s *game.State, r *chance.Resolution, _ *game.State) {
			if r.Question == chance.NoQuestion {
				return
			}
			rec := found[r.Question]
			if rec == nil {
				rec = &record{}
				found[r.Question] = rec
			}
			bold := r.Final(true)
			rec.asked++
			rec.expected += r.SuccessChance
			if succeeded(r.Question, s, &bold) {
				rec.succeeded++
			}
			offense := r.Question == chance.SendRunner
			check.That(t, offense == (r.Decider == s.Batting()), "%q is for the %s team", r.Question, r.Decider)
		})
	}
	for _, q := range []chance.Question{chance.SendRunner, chance.ThrowHome, chance.TurnTwo, chance.ThrowPlate} {
		rec := found[q]
		if rec == nil || int(rec.asked) < sampleSize(300) {
			t.Errorf("%q is rarely asked: %+v", q, rec)
			continue
		}
		within := 3.5 * math.Sqrt(rec.asked*.25)
		check.That(t, math.Abs(rec.succeeded-rec.expected) <= within,
			"%q: %.0f of %.0f succeeded, want %.0f ± %.0f", q, rec.succeeded, rec.asked, rec.expected, within)
		bold, safe := q.Labels()
		check.That(t, bold != "" && safe != "" && q.Text() != "", "%q has no words", q)
	}
}

// succeeded reports whether the bold choice succeeded.
func succeeded(q chance.Question, s *game.State, bold *game.Play) bool {
	switch q {
	case chance.SendRunner:
		return bold.OutIndex(riskedRunner(s, bold)) < 0
	case chance.ThrowHome:
		return bold.OutIndex(riskedRunner(s, bold)) >= 0
	case chance.TurnTwo:
		return s.Tally(*bold).Outs > 1
	default:
		return bold.OutIndex(game.Third) >= 0
	}
}

// riskedRunner returns the base of the runner who may take an extra base.
func riskedRunner(s *game.State, p *game.Play) game.Base {
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

// The pitches lead to the play: to the count before the last one, and to the ending.
func TestResolution_pitchesMatchPlay(t *testing.T) {
	t.Parallel()
	pitches := 0
	n := sample(t, 0, chance.Tactics{}, nil, func(_ *game.State, r *chance.Resolution, _ *game.State) {
		p := r.Final(true)
		var balls, strikes int8
		last := len(p.Pitches) - 1
		for _, l := range p.Pitches[:last] {
			switch l {
			case 'B':
				balls++
			case 'C', 'S':
				strikes++
			case 'F':
				strikes = min(strikes+1, 2)
			default:
				t.Errorf("%s continues after %c", p.Pitches, l)
			}
		}
		check.That(t, (game.Count{Balls: balls, Strikes: strikes}) == p.Count && balls <= 3 && strikes <= 2,
			"%s leads to %d-%d, the play has %+v", p.Pitches, balls, strikes, p.Count)
		switch l := p.Pitches[last]; {
		case p.Kind == game.Strikeout && strikes == 2 && (l == 'C' || l == 'S'):
		case p.Kind == game.Walk && balls == 3 && l == 'B':
		case p.Kind == game.HitByPitch && l == 'H':
		case p.Kind == game.FoulError && l == 'F':
		case p.Kind != game.Strikeout && p.Kind != game.Walk && p.Kind != game.HitByPitch && l == 'X':
		default:
			t.Errorf("a %s ends %s", p.Kind, p.Pitches)
		}
		pitches += len(p.Pitches)
	})
	per := float64(pitches) / float64(n)
	check.That(t, math.Abs(per-3.88) <= .06+slack(.05), "%.3f pitches a turn, want 3.88", per)
}

// After a play between pitches the batter and the count stay, and the play has all pitches.
func TestResolution_interruptedTurn(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	sim := chance.NewSimulator(chance.Setup{Seed: chance.Seed{4}, Clubs: f.clubs})
	s := f.at(t, 3)
	steal := check.Must(sim.Resolve(&s, chance.Progress{}, chance.Tactics{Offense: chance.StealSecond}))(t)
	p := steal.Final(true)
	next := check.Must(s.Apply(p))(t)
	check.That(t, p.Pitches == ">C" && next.Count == (game.Count{Strikes: 1}) && next.Batter() == s.Batter(),
		"a steal has pitches %q, count %+v, %s at bat", p.Pitches, next.Count, next.Batter())
	r := check.Must(sim.Resolve(&next, steal.Next, chance.Tactics{}))(t)
	got := r.Final(true).Pitches
	check.That(t, len(got) >= 4 && got[:3] == ">C.", "the turn continues as %q, want >C. and more", got)
}

// The pitch on which a runner steals is a ball or a strike.
func TestSimulator_pitchOfSteal(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
	s := f.at(t, 3)
	pitches := map[string]int{}
	for turn := range uint64(200) {
		c := chance.Tactics{Offense: chance.StealSecond}
		steal := check.Must(sim.Resolve(&s, chance.Progress{Turns: turn}, c))(t)
		pitches[steal.Final(true).Pitches]++
	}
	if strikes := pitches[">C"]; strikes < 70 || strikes > 130 || pitches[">B"] != 200-strikes {
		t.Errorf("the pitches of 200 steals are %v, want about as many >B as >C", pitches)
	}
}

// The expected rates are the frequencies, except for plays between pitches.
func TestSimulator_expectedRates(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	s := f.at(t, 0)
	want := chance.NewSimulator(chance.Setup{Clubs: f.clubs}).ExpectedRates(&s, chance.Progress{}, chance.Tactics{})
	kinds := []game.PlayKind{game.Strikeout, game.Walk, game.Single, game.Double, game.HomeRun}
	var is []predicate
	for _, k := range kinds {
		is = append(is, isKind(k))
	}
	got := shares(t, 0, chance.Tactics{}, nil, is...)
	for i, p := range []float64{want.K, want.BB, want.Single, want.Double, want.HR} {
		within := 3.5 * math.Sqrt(p*(1-p)/float64(sampleSize(20000)))
		check.That(t, math.Abs(got[i]-p) <= within, "%s: %.4f of turns, want %.4f ± %.4f", kinds[i], got[i], p, within)
	}
}

// dimensions returns the settings of each part of the defense, the usual one first.
func dimensions() [][]chance.Defense {
	return [][]chance.Defense{
		{{}, {Infield: chance.InfieldIn}, {Infield: chance.CornersIn}, {Infield: chance.DoublePlayDepth}},
		{{}, {Outfield: chance.Shallow}, {Outfield: chance.Deep}},
		{{}, {PlayBehind: true}},
		{{}, {GuardLines: true}},
	}
}

// batters returns ratings for all batters of the visitors: kinds of hitters that managers position their fielders for.
func batters() map[string]chance.Rating {
	l := chance.LeagueRates()
	with := func(change func(*chance.Rates), speed float64) chance.Rating {
		r := l
		change(&r)
		return chance.Rating{Batting: r, Speed: speed}
	}
	return map[string]chance.Rating{
		"average": with(func(*chance.Rates) {}, 0),
		"slugger": with(func(r *chance.Rates) {
			r.Double, r.Triple, r.HR, r.Single = 1.5*r.Double, 1.5*r.Triple, 1.6*r.HR, .85*r.Single
		}, -1),
		"contact": with(func(r *chance.Rates) { r.K, r.Single, r.HR = .5*r.K, 1.25*r.Single, .3*r.HR }, 1),
		"slap": with(func(r *chance.Rates) {
			r.Double, r.Triple, r.HR, r.Single = .4*r.Double, .3*r.Triple, .1*r.HR, 1.1*r.Single
		}, 1.5),
		"weak": with(func(r *chance.Rates) {
			r.Single, r.Double, r.Triple, r.HR = .6*r.Single, .5*r.Double, .3*r.Triple, .3*r.HR
		}, -1),
		"gap":  with(func(r *chance.Rates) { r.Double, r.Triple = 1.3*r.Double, 4*r.Triple }, 1.5),
		"fast": with(func(*chance.Rates) {}, 2.5),
	}
}

// Each setting of the defense is the best by at least .01 runs in some situation: a base-out state, a kind of
// batter, a call of the offense. Each but the usual one is the worst in another.
func TestDefense_everyDepthMatters(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	type extreme struct {
		by    float64
		where string
	}
	best, worst := map[[2]int]extreme{}, map[[2]int]extreme{}
	for name, rating := range batters() {
		ratings := chance.Ratings{}
		for i := range 9 {
			ratings[game.PlayerID(fmt.Sprintf("a%d", i+1))] = rating
		}
		sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs, Ratings: ratings})
		for at := range 24 {
			s := f.at(t, at)
			for _, call := range chance.LegalOffense(&s) {
				for n, settings := range dimensions() {
					type option struct {
						i    int
						runs float64
					}
					var legal []option
					for i, d := range settings {
						c := chance.Tactics{Offense: call, Defense: d}
						if c.Check(&s, chance.Progress{}) == nil {
							o := sim.Outlook(&s, chance.Progress{}, c)
							legal = append(legal, option{i, o.Runs()})
						}
					}
					if len(legal) < 2 {
						continue
					}
					slices.SortFunc(legal, func(a, b option) int { return cmp.Compare(a.runs, b.runs) })
					last := len(legal) - 1
					where := fmt.Sprintf("%s batters, base-out state %d, %q", name, at, call)
					first, end := [2]int{n, legal[0].i}, [2]int{n, legal[last].i}
					if by := legal[1].runs - legal[0].runs; by > best[first].by {
						best[first] = extreme{by, where}
					}
					if by := legal[last].runs - legal[last-1].runs; by > worst[end].by {
						worst[end] = extreme{by, where}
					}
				}
			}
		}
	}
	for n, settings := range dimensions() {
		for i, d := range settings {
			b, w := best[[2]int{n, i}], worst[[2]int{n, i}]
			check.That(t, b.by >= .01, "%+v is the best by %.4f runs at most, want .01", d, b.by)
			check.That(t, i == 0 || w.by >= .005, "%+v is the worst by %.4f runs at most", d, w.by)
		}
	}
}

// The risk of a question holds what the answers lead to: the bold choice is one of the successes as often as its chance
// says and otherwise one of the failures, and the safe choice is one of the safe results.
func TestAll_riskHoldsResults(t *testing.T) {
	t.Parallel()
	f := averageFixture(0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
	type count struct{ asked, bold, expected float64 }
	counts := map[chance.Question]*count{}
	for seed := range uint64(sampleSize(30_000)) {
		s := f.at(t, int(seed%24))
		var random chance.Seed
		binary.BigEndian.PutUint64(random[:], seed)
		r := check.Must(sim.WithSeed(random).Resolve(&s, chance.Progress{}, chance.Tactics{}))(t)
		risk := sim.Risk(&s, chance.Progress{}, chance.Tactics{}, &r)
		if r.Question == chance.NoQuestion {
			check.Require(t, len(risk.Success)+len(risk.Failure)+len(risk.Safe) == 0,
				"no question, and the risk %+v", risk)
			continue
		}
		for _, results := range [][]chance.Transition{risk.Success, risk.Failure, risk.Safe} {
			sum := probability(results, nil)
			check.Require(t, math.Abs(sum-1) <= 1e-9, "%s: %+v sums to %v", r.Question, results, sum)
		}
		bold, safe := after(t, &s, r.Final(true)), after(t, &s, r.Final(false))
		succeeds, fails := probability(risk.Success, &bold), probability(risk.Failure, &bold)
		check.Require(t, succeeds+fails != 0 && probability(risk.Safe, &safe) != 0,
			"%s leads to %+v or %+v, want one of %+v", r.Question, bold, safe, risk)
		c := counts[r.Question]
		if c == nil {
			c = &count{}
			counts[r.Question] = c
		}
		if fails == 0 || succeeds == 0 { // a result that is in both proves nothing
			c.asked++
			c.expected += r.SuccessChance
			if succeeds > 0 {
				c.bold++
			}
		}
	}
	check.Equal(t, len(counts), 4, "kinds of questions")
	for q, c := range counts {
		if within := 4 * math.Sqrt(c.asked) / 2; math.Abs(c.bold-c.expected) > within || c.asked < 20 {
			t.Errorf("%s: %.0f of %.0f bold choices succeed, want %.0f ± %.0f", q, c.bold, c.asked, c.expected, within)
		}
	}
}

// after returns the transition that a play is, with probability 0.
func after(t *testing.T, s *game.State, p game.Play) chance.Transition {
	t.Helper()
	next := check.Must(s.Apply(p))(t)
	to := chance.BaseOutStates
	if next.Half == s.Half {
		to = chance.BaseOut(&next)
	}
	return chance.Transition{To: to, Runs: s.Tally(p).Runs}
}

// probability returns the sum of the probabilities, of all results or of one.
func probability(all []chance.Transition, of *chance.Transition) float64 {
	sum := 0.0
	for _, r := range all {
		if of == nil || r.To == of.To && r.Runs == of.Runs {
			sum += r.P
		}
	}
	return sum
}
