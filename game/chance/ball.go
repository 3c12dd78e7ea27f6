package chance

import "pressbox/game"

// Where balls go, by parts of the field.
const (
	infield = iota
	left
	center
	right
	fields
)

// aim draws how the ball left the bat and who got it.
func (d *duel) aim(c class) {
	switch c {
	case grounder, onError:
		d.contact = game.GroundBall
		d.place = 1 + d.dice.pick(groundBalls(d.side))
	case flyOut:
		d.contact = game.FlyBall
		d.place = 7 + d.dice.pick(flies(d.side))
	case lineOut:
		d.contact = game.LineDrive
		d.place = 1 + d.dice.pick(lines(d.side))
	case popOut:
		d.contact = game.PopUp
		d.place = 1 + d.dice.pick(pops(d.side))
	case single:
		d.aimSingle()
	case double, triple, homeRun:
		d.aimFar(c)
	default:
		return
	}
	d.field = max(infield, d.place-6)
}

// Who got the ball, pitcher first, for batters who stand left or right. 505,000 batted balls of 2015–17 and 2019; line-outs
// are what lines the hits leave, by the share of each hand.
func groundBalls(side int) []float64 {
	if side == 0 {
		return []float64{7686, 599, 19064, 28359, 6810, 14178}
	}
	return []float64{10163, 910, 5531, 18925, 34219, 39634}
}

func flies(side int) []float64 { // from left field
	if side == 0 {
		return []float64{16816, 15282, 7359}
	}
	return []float64{10464, 20900, 22552}
}

func lines(side int) []float64 {
	if side == 0 {
		return []float64{342, 0, 1214, 1527, 892, 1495, 3876, 5839, 5190}
	}
	return []float64{489, 0, 869, 2077, 1797, 2113, 6233, 8021, 5903}
}

func pops(side int) []float64 {
	if side == 0 {
		return []float64{97, 933, 922, 2027, 5060, 4734}
	}
	return []float64{139, 1630, 6963, 7100, 1905, 3843}
}

// aimSingle: 15.7 % of singles stay in the infield, all but all on the ground; of the others 38 % are grounders, 57 %
// lines, 5 % flies. The field is that of all hits on grounders and lines by hand.
func (d *duel) aimSingle() {
	if d.dice.chance(.157) {
		d.contact, d.place = game.GroundBall, 1+d.dice.pick(groundBalls(d.side))
		return
	}
	d.contact = [...]game.Contact{game.GroundBall, game.LineDrive, game.FlyBall}[d.dice.pick([]float64{.38, .57, .05})]
	by := []float64{.370, .352, .278}
	if d.side == 0 {
		by = []float64{.278, .345, .377}
	}
	d.place = 7 + d.dice.pick(by)
}

// aimFar: extra-base hits. Contact is measured in 2015–17 and 2019; the field of doubles, triples and home runs in 2020,
// split by hand as outfield hits are (doubles) or as pulled flies are (home runs, estimate).
func (d *duel) aimFar(c class) {
	var lined float64
	var by []float64
	switch {
	case c == double && d.side == 0:
		lined, by = .83, []float64{.36, .26, .38}
	case c == double:
		lined, by = .83, []float64{.48, .27, .25}
	case c == triple:
		lined, by = .67, []float64{.11, .42, .47}
	case d.side == 0:
		lined, by = .25, []float64{.22, .27, .51}
	default:
		lined, by = .25, []float64{.62, .27, .11}
	}
	d.contact = game.FlyBall
	if d.dice.chance(lined) {
		d.contact = game.LineDrive
	}
	d.place = 7 + d.dice.pick(by)
}

// byField returns how much likelier each fate of a row is with the ball where it is, against everywhere. Measured in
// 2015–17 and 2019, by outs where those matter: chance to take the extra base, to be out, to stop.
func (d *duel) byField(c class, r *row) float64 {
	if r.fate == plain && c != lineOut {
		return 1
	}
	switch c {
	case single:
		if d.held&onSecond != 0 {
			return [3][fates][fields]float64{
				{won: {.44, .89, 1.34, 1.02}, lost: {.7, 1.2, 1.2, .9}, declined: {1.2, 1.12, .77, 1.03}, plain: {1, 1, 1, 1}},
				{won: {.36, .95, 1.33, 1.03}, lost: {.6, 1.3, .9, .9}, declined: {1.55, 1.08, .66, 1.0}, plain: {1, 1, 1, 1}},
				{won: {.35, 1.06, 1.24, 1.11}, lost: {1.27, 1.29, .62, .98}, declined: {3.42, .70, .18, .57}, plain: {1, 1, 1, 1}},
			}[d.s.Outs][r.fate][d.field]
		}
		return [fates][fields]float64{
			won: {.62, .54, 1.15, 1.42}, lost: {1.5, .8, .9, 1.2}, declined: {1.14, 1.19, .94, .83}, plain: {1, 1, 1, 1},
		}[r.fate][d.field]
	case double:
		return [fates][fields]float64{
			won: {1, .97, 1.42, .90}, lost: {1, 1, 1.2, .9}, declined: {1, 1.02, .69, 1.08}, plain: {1, 1, 1, 1},
		}[r.fate][d.field]
	case flyOut:
		if d.held&onThird != 0 {
			return [fates][fields]float64{
				won: {1, .955, 1.10, .91}, lost: {1, 1.2, .7, 1.2}, declined: {1, 1.12, .71, 1.26}, plain: {1, 1, 1, 1},
			}[r.fate][d.field]
		}
		return [fates][fields]float64{
			won: {1, .30, 1.20, 1.38}, lost: {1, 1.1, .9, 1}, declined: {1, 1.36, .88, .81}, plain: {1, 1, 1, 1},
		}[r.fate][d.field]
	case lineOut:
		return d.lined(r)
	default:
		return 1
	}
}

// lined: runners are doubled off when an infielder catches the line, .377 of the time from first, and go on only when an
// outfielder does; 26.8 % of line-outs are the infield's.
func (d *duel) lined(r *row) float64 {
	in := d.field == infield
	switch {
	case r.marks&doubled != 0:
		if in {
			return 1 / .268
		}
		return 0
	case r.marks&moved != 0:
		if in {
			return 0
		}
		return 1 / .732
	case in:
		return .7
	default:
		return 1.1
	}
}
