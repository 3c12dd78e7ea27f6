package chance

import "pressbox/game"

// The zones of the field.
const (
	infield = iota
	leftField
	centerField
	rightField
	fieldZones
)

// drawBattedBall draws the contact and the fielder who gets the ball.
func (pa *plateAppearance) drawBattedBall(c class) {
	switch c {
	case groundOut, reachedOnError:
		pa.contact = game.GroundBall
		pa.fielder = 1 + pa.dice.pick(groundBalls(pa.batterSide))
	case flyOut:
		pa.contact = game.FlyBall
		pa.fielder = 7 + pa.dice.pick(flyBalls(pa.batterSide))
	case lineOut:
		pa.contact = game.LineDrive
		pa.fielder = 1 + pa.dice.pick(lineDrives(pa.batterSide))
	case popOut:
		pa.contact = game.PopUp
		pa.fielder = 1 + pa.dice.pick(popUps(pa.batterSide))
	case single:
		pa.drawSingle()
	case double, triple, homeRun:
		pa.drawExtraBaseHit(c)
	default:
		return
	}
	pa.zone = max(infield, pa.fielder-6)
}

// groundBalls returns the number of ground balls to each infielder, pitcher first, for batters on the left (0) or
// right side. This and the following tables count 505,000 batted balls of 2015–17 and 2019; for line-outs, the
// line drives that were no hits, split by the share of each side.
func groundBalls(side int) []float64 {
	return [2][]float64{
		{7686, 599, 19064, 28359, 6810, 14178},
		{10163, 910, 5531, 18925, 34219, 39634},
	}[side]
}

// flyBalls returns the number of fly-outs to each outfielder, left field first.
func flyBalls(side int) []float64 {
	return [2][]float64{
		{16816, 15282, 7359},
		{10464, 20900, 22552},
	}[side]
}

func lineDrives(side int) []float64 {
	return [2][]float64{
		{342, 0, 1214, 1527, 892, 1495, 3876, 5839, 5190},
		{489, 0, 869, 2077, 1797, 2113, 6233, 8021, 5903},
	}[side]
}

func popUps(side int) []float64 {
	return [2][]float64{
		{97, 933, 922, 2027, 5060, 4734},
		{139, 1630, 6963, 7100, 1905, 3843},
	}[side]
}

// drawSingle draws contact and fielder of a single: 15.7 % stay in the infield, nearly all on the ground; of the
// others 38 % are ground balls, 57 % line drives, 5 % fly balls. Zones are those of all hits on ground balls and
// line drives by the batter's side.
func (pa *plateAppearance) drawSingle() {
	if pa.dice.chance(infieldSingles) {
		pa.contact, pa.fielder = game.GroundBall, 1+pa.dice.pick(groundBalls(pa.batterSide))
		return
	}
	pa.contact = [...]game.Contact{
		game.GroundBall, game.LineDrive, game.FlyBall,
	}[pa.dice.pick([]float64{.38, .57, .05})]
	pa.fielder = 7 + pa.dice.pick(singles(pa.batterSide))
}

// infieldSingles is the share of singles that stay in the infield.
const infieldSingles = .157

// singles returns the shares of the outfielders of the other singles.
func singles(side int) []float64 {
	return [2][]float64{
		{.278, .345, .377},
		{.370, .352, .278},
	}[side]
}

// zoneShares returns how often balls of a class go to each zone.
func (pa *plateAppearance) zoneShares(c class) [fieldZones]float64 {
	var outfield []float64
	inside := 0.0
	switch c {
	case flyOut:
		outfield = flyBalls(pa.batterSide)
	case lineOut:
		all := lineDrives(pa.batterSide)
		for _, n := range all[:6] {
			inside += n
		}
		outfield = all[6:]
	case single:
		outfield, inside = singles(pa.batterSide), infieldSingles/(1-infieldSingles)
	case double, triple, homeRun:
		_, outfield = extraBaseHits(c, pa.batterSide)
	default:
		return [fieldZones]float64{infield: 1}
	}
	all := inside
	for _, n := range outfield {
		all += n
	}
	return [fieldZones]float64{inside / all, outfield[0] / all, outfield[1] / all, outfield[2] / all}
}

// drawExtraBaseHit draws contact and fielder. Contact is measured in 2015–17 and 2019; the zones of doubles,
// triples and home runs in 2020, split by the batter's side like outfield hits (doubles) or pulled fly balls (home
// runs, estimate).
func (pa *plateAppearance) drawExtraBaseHit(c class) {
	lined, by := extraBaseHits(c, pa.batterSide)
	pa.contact = game.FlyBall
	if pa.dice.chance(lined) {
		pa.contact = game.LineDrive
	}
	pa.fielder = 7 + pa.dice.pick(by)
}

// extraBaseHits returns the share of line drives, and the shares of the outfielders.
func extraBaseHits(c class, side int) (lined float64, by []float64) {
	switch {
	case c == double && side == 0:
		return .83, []float64{.36, .26, .38}
	case c == double:
		return .83, []float64{.48, .27, .25}
	case c == triple:
		return .67, []float64{.11, .42, .47}
	case side == 0:
		return .25, []float64{.22, .27, .51}
	default:
		return .25, []float64{.62, .27, .11}
	}
}

// zoneWeight returns the factor on a row's weight for the zone of the ball, relative to all zones. Measured in 2015–17
// and 2019, by outs where those matter: the shares of extra bases taken, outs, and bases not tried.
func (pa *plateAppearance) zoneWeight(c class, r *advanceRow) float64 {
	if r.outcome == noRisk && c != lineOut {
		return 1
	}
	type byOutcome [outcomes][fieldZones]float64
	var w byOutcome
	switch {
	case c == lineOut:
		return pa.lineOutWeight(r)
	case c == single && pa.bases&onSecond != 0:
		w = [3]byOutcome{
			{{}, {.44, .89, 1.34, 1.02}, {.7, 1.2, 1.2, .9}, {1.2, 1.12, .77, 1.03}},
			{{}, {.36, .95, 1.33, 1.03}, {.6, 1.3, .9, .9}, {1.55, 1.08, .66, 1.0}},
			{{}, {.35, 1.06, 1.24, 1.11}, {1.27, 1.29, .62, .98}, {3.42, .70, .18, .57}},
		}[pa.state.Outs]
	case c == single:
		w = byOutcome{{}, {.62, .54, 1.15, 1.42}, {1.5, .8, .9, 1.2}, {1.14, 1.19, .94, .83}}
	case c == double:
		w = byOutcome{{}, {1, .97, 1.42, .90}, {1, 1, 1.2, .9}, {1, 1.02, .69, 1.08}}
	case c == flyOut && pa.bases&onThird != 0:
		w = byOutcome{{}, {1, .955, 1.10, .91}, {1, 1.2, .7, 1.2}, {1, 1.12, .71, 1.26}}
	case c == flyOut:
		w = byOutcome{{}, {1, .30, 1.20, 1.38}, {1, 1.1, .9, 1}, {1, 1.36, .88, .81}}
	default:
		return 1
	}
	return w[r.outcome][pa.zone]
}

// lineOutWeight returns the factor on a row of a line-out. Infielders, who catch 26.8 % of line-outs, double off
// .377 of the runners on first; runners advance only when an outfielder catches the ball.
func (pa *plateAppearance) lineOutWeight(r *advanceRow) float64 {
	toInfield := pa.zone == infield
	switch {
	case r.traits&multipleOuts != 0:
		if toInfield {
			return 1 / .268
		}
		return 0
	case r.traits&runnerAdvances != 0:
		if toInfield {
			return 0
		}
		return 1 / .732
	case toInfield:
		return .7
	default:
		return 1.1
	}
}
