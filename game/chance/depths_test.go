package chance_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

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
