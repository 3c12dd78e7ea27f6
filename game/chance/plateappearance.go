package chance

import (
	"math"
	"slices"

	"pressbox/game"
)

// A ratedPlayer is a player with rates relative to the league's, as the odds ratio needs them.
type ratedPlayer struct {
	Rating
	bats, throws game.Hand
	batting      [classes]float64 // ratio to the league's rate, by class
	pitching     [classes]float64
	starter      bool
	hold         float64 // factor on the chance to pick a runner off
}

// A Setup holds what a game is simulated from. Players without a rating are average.
type Setup struct {
	Seed    Seed
	Clubs   [2]game.Club
	Ratings Ratings
	Park    ParkFactors // of the home club
	Recent  RecentWork
}

// NewSimulator returns the simulator of a game.
func NewSimulator(s Setup) *Simulator {
	sim := &Simulator{
		seed: s.Seed, park: s.Park.filled(), players: map[game.PlayerID]*ratedPlayer{}, recent: s.Recent,
		data: measuredData(),
	}
	for _, c := range s.Clubs {
		for _, p := range c.Players {
			sim.players[p.ID] = sim.data.ratedPlayer(p, s.Ratings[p.ID])
		}
	}
	return sim
}

// WithSeed returns the simulator of a game that differs only in the seed.
func (sim *Simulator) WithSeed(s Seed) *Simulator {
	other := *sim
	other.seed = s
	return &other
}

func (p ParkFactors) filled() ParkFactors {
	for _, f := range [...]*float64{&p.HR, &p.Double, &p.Single, &p.K} {
		if *f == 0 {
			*f = 1
		}
	}
	return p
}

func (d *measurements) ratedPlayer(p game.Player, r Rating) *ratedPlayer {
	r = d.effective(p, r)
	return &ratedPlayer{
		Rating: r, bats: p.Bats, throws: p.Throws, starter: isStarter(p),
		batting: d.ratios(r.Batting), pitching: d.ratios(r.Pitching), hold: math.Exp(.2 * r.Hold),
	}
}

func isStarter(p game.Player) bool { return slices.Contains(p.Positions, "SP") }

// positionPlayerPitching returns the rates of a position player who pitches: few strikeouts, many walks, hard contact
// (estimate, from their earned-run averages around 8 in 2015–19).
func (d *measurements) positionPlayerPitching() Rates {
	l := d.leagueRates
	return l.times(Rates{K: .35, BB: 1.3, HBP: 1.3, Single: 1.3, Double: 1.5, Triple: 1.5, HR: 2})
}

// player returns a player by id, an average one if the clubs do not have the id.
func (sim *Simulator) player(id game.PlayerID) *ratedPlayer {
	if f := sim.players[id]; f != nil {
		return f
	}
	return sim.data.ratedPlayer(game.Player{ID: id, Bats: game.Right, Throws: game.Right},
		Rating{Pitching: sim.data.leagueRates})
}

// A plateAppearance is the state of one call of [Simulator.Resolve]: the players, the tactics, and the play being
// built.
type plateAppearance struct {
	sim        *Simulator
	state      *game.State
	tactics    Tactics
	dice       Dice
	result     Resolution
	baseOut    int // 3·bases + outs
	bases      int // occupied, as a mask
	batter     *ratedPlayer
	pitcher    *ratedPlayer
	batterSide int // 0 left, 1 right
	workload   Workload
	form       float64         // of the pitcher; 0 where odds are shown
	runners    [4]*ratedPlayer // by starting base; 0 is the batter
	fielder    int             // who gets the ball, 1–9; 0 for none
	zone       int             // of the fielder
	contact    game.Contact
	scorerDraw float64 // uniform; decides what the official scorer rules
}

// init prepares pa in place, because it is large and needed for every turn.
func (pa *plateAppearance) init(t *Simulator, s *game.State, m *Progress, c Tactics) {
	pa.sim, pa.state, pa.tactics, pa.result.Next = t, s, c, *m
	pa.dice = t.seed.Dice(m.Turns)
	pa.bases = occupied(s)
	pa.baseOut = 3*pa.bases + s.Outs
	pa.batter, pa.pitcher, pa.workload = t.player(s.Batter()), t.player(s.Pitcher()), m.Workloads[s.Fielding()]
	if pa.workload.Pitcher != s.Pitcher() {
		pa.workload = Workload{Pitcher: s.Pitcher()}
	}
	pa.batterSide = handIndex(pa.batter.bats)
	if pa.batter.bats == game.Switch {
		pa.batterSide = 1 - handIndex(pa.pitcher.throws)
	}
	pa.runners[0] = pa.batter
	for i := range s.Bases {
		if s.Bases[i].Player != "" {
			pa.runners[i+1] = t.player(s.Bases[i].Player)
		}
	}
}

// scorerChance reports whether an event of probability p happens by scorerDraw.
func (pa *plateAppearance) scorerChance(p float64) bool {
	if pa.dice.path != nil {
		return pa.dice.chance(p)
	}
	return pa.scorerDraw < p
}

// handIndex returns 0 for left, 1 for right.
func handIndex(h game.Hand) int {
	if h == game.Left {
		return 0
	}
	return 1
}

// fieldingSkill returns the sums of range and hands of the seven fielders behind the pitcher and catcher, in standard
// deviations.
func (pa *plateAppearance) fieldingSkill() (reach, hands float64) {
	team := &pa.state.Teams[pa.state.Fielding()]
	for i := range team.Order {
		if p := team.Order[i].Position; p > game.Catcher && p <= game.RightField {
			f := pa.sim.player(team.Order[i].Player)
			reach += f.Range
			hands += f.Hands
		}
	}
	return reach, hands
}

// Effects of fielding. A standard deviation of range is about ten plays a season of a club's 4,100 balls in play
// (estimate: the spread of published fielding runs), .0083 of the hits, which are 30 % of them. A standard
// deviation of hands is a quarter of a fielder's errors (estimate), and each of the seven makes a seventh of them.
const (
	hitsPerRange   = .0083
	errorsPerHands = .25 / 7
)

// classWeights returns the weight of each class: the league's in this base-out state, times the factors of batter,
// pitcher, their sides, times through the order, park, home field, fielders and tactics.
func (pa *plateAppearance) classWeights() [classes]float64 {
	w := pa.sim.data.classShares[pa.baseOut]
	platoon := &pa.sim.data.platoon[pa.batterSide][handIndex(pa.pitcher.throws)]
	for c := range w {
		w[c] *= pa.batter.batting[c] * pa.pitcher.pitching[c] * platoon[c]
	}
	for c, level := range levels() {
		w[c] *= level
	}
	pa.applyFatigue(&w)
	reach, hands := pa.fieldingSkill()
	hits := expOrOne(-hitsPerRange * reach)
	p := &pa.sim.park
	home := homeEdge
	if pa.state.Batting() == game.Away {
		home = 1 / home
	}
	w[reachedOnError] *= expOrOne(-errorsPerHands * hands)
	w[single] *= hits * p.Single * home
	w[double] *= hits * p.Double
	w[triple] *= p.Double
	w[homeRun] *= p.HR * home
	w[walk] *= home
	w[strikeout] *= p.K
	pa.applyTactics(&w)
	return w
}

// levels returns the factors by which both average clubs (BenchmarkAcceptance) and games between bots, with their
// line-ups and positions of fielders (game/realismtest), have the rates of 2015–19.
func levels() [classes]float64 {
	return [classes]float64{
		strikeout: .985, walk: .96, hitByPitch: .965, interference: 1, reachedOnError: 1, groundOut: 1, flyOut: 1,
		lineOut: 1, popOut: 1, single: .978, double: 1.03, triple: 1.07, homeRun: .975,
	}
}

// homeEdge is the factor on singles, walks and home runs of the home team; the visitors' are divided by it. It is
// tuned so that the home team wins .52 to .545 of games, as in 2015–17 and 2019 (game/realismtest).
const homeEdge = 1.04

// expOrOne returns e to the x, without computing it for 0.
func expOrOne(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Exp(x)
}

// Matchup returns the rates of plate appearances of a batter against a pitcher with these rates, by the odds ratio
// against the league's.
func Matchup(batter, pitcher Rates) Rates {
	d := measuredData()
	b, p := d.ratios(batter), d.ratios(pitcher)
	r := d.leagueRates.times(ratesOf(&b, 1)).times(ratesOf(&p, 1))
	f := 1 / (1 - r.Out() + d.leagueRates.Out()*b[flyOut]*p[flyOut])
	return r.times(Rates{f, f, f, f, f, f, f})
}
