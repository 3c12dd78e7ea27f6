package chance

import (
	"math"
	"slices"
	"strings"

	"pressbox/game"
)

// figure is a player ready for the odds ratio.
type figure struct {
	Rating
	bats, throws game.Hand
	batting      [classes]float64 // his rates against the league's
	pitching     [classes]float64
	starter      bool
	hold         float64 // how much oftener than others he picks a runner off
}

// stamina in batters, for those whose rating does not say. Starters are lifted around the third time through the order,
// 22 to 27 batters (2015–19), relief pitchers after about an inning and a half.
const (
	StarterStamina  = 23
	RelieverStamina = 6
)

// NewSimulator sets a game up for chance. Players that are not among the ratings are average for what they are.
func NewSimulator(seed Seed, clubs [2]game.Club, ratings Ratings, park ParkFactors) *Simulator {
	t := &Simulator{seed: seed, park: park.filled(), players: map[game.PlayerID]*figure{}, data: static()}
	for _, c := range clubs {
		for _, p := range c.Players {
			t.players[p.ID] = t.data.figure(p, ratings[p.ID])
		}
	}
	return t
}

func (p ParkFactors) filled() ParkFactors {
	for _, f := range [...]*float64{&p.HR, &p.Double, &p.Single, &p.K} {
		if *f == 0 {
			*f = 1
		}
	}
	return p
}

func (d *data) figure(p game.Player, r Rating) *figure {
	f := &figure{Rating: r, bats: p.Bats, throws: p.Throws, starter: slices.Contains(p.Positions, "SP")}
	if f.Stamina == 0 {
		f.Stamina = RelieverStamina
		if f.starter {
			f.Stamina = StarterStamina
		}
	}
	switch onlyPitches := p.CanPitch() && !hasFieldRole(p); {
	case f.Batting != Rates{}:
		f.batting = d.ratios(f.Batting)
	case onlyPitches:
		f.batting = d.known.pitcher
	default:
		f.batting = d.known.average
	}
	switch {
	case f.Pitching != Rates{}:
		f.pitching = d.ratios(f.Pitching)
	case p.CanPitch():
		f.pitching = d.known.average
	default:
		f.pitching = d.known.amateur
	}
	f.hold = math.Exp(.2 * f.Hold)
	return f
}

// amateur are the rates of a position player on the mound: few strikeouts, many walks, hard contact (estimate, from the
// earned-run averages around 8 that position players had in 2015–19).
func (d *data) amateur() Rates {
	l := d.league
	return Rates{K: .35 * l.K, BB: 1.3 * l.BB, HBP: 1.3 * l.HBP, Single: 1.3 * l.Single, Double: 1.5 * l.Double, Triple: 1.5 * l.Triple, HR: 2 * l.HR}
}

// hasFieldRole reports whether a player plays anything but the mound.
func hasFieldRole(p game.Player) bool {
	for _, r := range p.Positions {
		if !strings.Contains(string(r), "P") {
			return true
		}
	}
	return false
}

// figure returns a player of the game; one whom the clubs did not name is average.
func (t *Simulator) figure(id game.PlayerID) *figure {
	if f := t.players[id]; f != nil {
		return f
	}
	return t.data.figure(game.Player{ID: id, Bats: game.Right, Throws: game.Right}, Rating{Pitching: t.data.league})
}

// A duel is one turn while it is resolved: who meets, what both sides called, and the play as it is told.
type duel struct {
	t       *Simulator
	s       *game.State
	calls   Tactics
	dice    Dice
	turn    Resolution
	at      int // situation
	held    int // bases, as a mask
	batter  *figure
	pitcher *figure
	side    int // the batter stands: 0 left, 1 right
	work    Workload
	runner  [4]*figure // on first, second, third; 0 is the batter
	place   int        // fielder who got the ball, 1–9
	field   int        // where that is: infield, left, center, right
	contact game.Contact
	view    float64 // the scorer's: decides between an error and none, a pop and a grounder
}

// begin sets the duel up, in place: it is large, and made for each turn.
func (d *duel) begin(t *Simulator, s *game.State, m *Progress, c Tactics) {
	d.t, d.s, d.calls, d.turn.Next = t, s, c, *m
	d.dice = t.seed.Dice(m.Turns)
	d.held = occupied(s)
	d.at = 3*d.held + s.Outs
	d.batter, d.pitcher, d.work = t.figure(s.Batter()), t.figure(s.Pitcher()), m.Workloads[s.Fielding()]
	if d.work.Pitcher != s.Pitcher() {
		d.work = Workload{Pitcher: s.Pitcher()}
	}
	d.side = hand(d.batter.bats)
	if d.batter.bats == game.Switch {
		d.side = 1 - hand(d.pitcher.throws)
	}
	d.runner[0] = d.batter
	for i := range s.Bases {
		if s.Bases[i].Player != "" {
			d.runner[i+1] = t.figure(s.Bases[i].Player)
		}
	}
}

// hand is 0 for left and 1 for right.
func hand(h game.Hand) int {
	if h == game.Left {
		return 0
	}
	return 1
}

// Fatigue returns how much of his strength the pitcher in the field has used: 0 when he comes in, 1 when he should go.
func (t *Simulator) Fatigue(s *game.State, m Progress) float64 {
	w := m.Workloads[s.Fielding()]
	if w.Pitcher != s.Pitcher() {
		return 0
	}
	return float64(w.Batters) / float64(t.figure(w.Pitcher).Stamina)
}

// fielders adds up how far and how surely the seven behind the pitcher reach the ball, in standard deviations.
func (d *duel) fielders() (reach, hands float64) {
	team := &d.s.Teams[d.s.Fielding()]
	for i := range team.Order {
		if p := team.Order[i].Position; p > game.Catcher && p <= game.RightField {
			f := d.t.figure(team.Order[i].Player)
			reach += f.Range
			hands += f.Hands
		}
	}
	return reach, hands
}

// The effects of fielders. A standard deviation of one man is about ten plays a season, of 4,100 balls in play behind a
// club (estimate: the spread of published fielding runs); in hits, which are 30 % of them, .0083. A standard deviation
// of hands is a quarter of one man's errors (estimate), of which each of seven makes a part.
const (
	reachPerHit   = .0083
	handsPerError = .25 / 7
)

// weights are the odds of each class now: the league in this situation, times what batter, pitcher, their hands, the
// times through the order, park, home, fielders and decisions change.
func (d *duel) weights() [classes]float64 {
	w := d.t.data.share[d.at]
	pair := &d.t.data.platoon[d.side][hand(d.pitcher.throws)]
	for c := range w {
		w[c] *= d.batter.batting[c] * d.pitcher.pitching[c] * pair[c]
	}
	d.tire(&w)
	reach, hands := d.fielders()
	hits := exp(-reachPerHit * reach)
	p := &d.t.park
	home := homeEdge
	if d.s.Batting() == game.Away {
		home = 1 / homeEdge
	}
	w[onError] *= exp(-handsPerError * hands)
	w[single] *= hits * p.Single * home
	w[double] *= hits * p.Double
	w[triple] *= p.Double
	w[homeRun] *= p.HR * home
	w[walk] *= home
	w[strikeout] *= p.K
	d.decide(&w)
	return w
}

// homeEdge multiplies singles, walks and home runs of the home team and divides the visitors'. It is tuned: with it the
// home team wins as often as it did in 2015–17 and 2019, .52 to .545 (BenchmarkAcceptanceSpread).
const homeEdge = 1.035

// exp spares average players the logarithmic scale.
func exp(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Exp(x)
}

// tire applies the times through the order to starters, whose rates are those of all their innings, and wears out
// everybody beyond his stamina: 1 % more hits and walks and 1 % fewer strikeouts for each batter (estimate; the fourth
// time through is too selective to measure).
func (d *duel) tire(w *[classes]float64) {
	if d.pitcher.starter {
		times := &d.t.data.times[min(d.work.Batters/9, 3)]
		for c := range w {
			w[c] *= times[c]
		}
	}
	if over := d.work.Batters - d.pitcher.Stamina; over > 0 {
		worse := 1 + .01*float64(over)
		w[strikeout] /= worse
		for _, c := range [...]class{walk, hitByPitch, single, double, triple, homeRun} {
			w[c] *= worse
		}
	}
}

// Matchup returns how a turn ends between a batter and a pitcher of these rates, wherever nothing else matters: the odds
// ratio against the league.
func Matchup(batter, pitcher Rates) Rates {
	d := static()
	b, p, l := d.ratios(batter), d.ratios(pitcher), d.league
	r := Rates{
		K: l.K * b[strikeout] * p[strikeout], BB: l.BB * b[walk] * p[walk], HBP: l.HBP * b[hitByPitch] * p[hitByPitch],
		Single: l.Single * b[single] * p[single], Double: l.Double * b[double] * p[double],
		Triple: l.Triple * b[triple] * p[triple], HR: l.HR * b[homeRun] * p[homeRun],
	}
	return r.fill(l.Out() * b[flyOut] * p[flyOut])
}
