package league

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/teams"
)

// generator draws the league, season after season.
type generator struct {
	dice         chance.Dice
	teams        [][]*career
	frontOffices []float64 // quality by team, in standard deviations of a skill
	surnames     map[string]bool
	idStems      map[string]int // players by the first five letters of their id
	leagueRates  chance.Rates
}

// career is a player over the seasons. Skills are in standard deviations from the average.
type career struct {
	teams.Player
	role   rosterRole
	skills [skills]float64
}

// A rosterRole is a place on the roster.
type rosterRole struct {
	positions      string  // best first
	speed          float64 // of a player at these positions, in standard deviations (estimate)
	bench          bool
	leftThrowersOK bool
}

// rosterRoles returns the 26 places on a roster. Every position is covered twice.
func rosterRoles() []rosterRole {
	return []rosterRole{
		{"C", -.9, false, false},
		{"1B DH", -.8, false, true},
		{"2B SS", .4, false, false},
		{"3B 1B", -.2, false, false},
		{"SS 2B 3B", .6, false, false},
		{"LF RF", .1, false, true},
		{"CF LF RF", .9, false, true},
		{"RF CF LF", .2, false, true},
		{"DH 1B LF", -.6, false, true},
		{"C", -.9, true, false},
		{"SS 3B 2B", .5, true, false},
		{"CF RF LF", .7, true, true},
		{"1B 3B LF DH", -.3, true, false},
		{"SP", 0, false, true},
		{"SP", 0, false, true},
		{"SP", 0, false, true},
		{"SP", 0, false, true},
		{"SP", 0, false, true},
		{"RP", 0, false, true},
		{"RP", 0, false, true},
		{"RP", 0, false, true},
		{"RP", 0, false, true},
		{"RP", 0, false, true},
		{"RP", 0, false, true},
		{"RP", 0, false, true},
		{"RP", 0, false, true},
	}
}

func (r rosterRole) isPitcher() bool { return r.positions == "SP" || r.positions == "RP" }

// The skills. A pitcher's are those of the batters they face, with the sign reversed.
const (
	contact    = iota // strikeouts
	eye               // walks
	power             // home runs
	babip             // hits on balls in play
	gap               // doubles
	triples           //
	hitByPitch        //
	speed             // of a runner; of a pitcher: holding runners
	arm               //
	fielding          // range
	hands             // errors avoided
	stamina           //
	skills
)

// newGenerator draws season 1.
func newGenerator() *generator {
	g := &generator{
		dice:        chance.Seed([]byte("pressbox: the built-in league 01")).Dice(0),
		surnames:    map[string]bool{},
		idStems:     map[string]int{},
		leagueRates: chance.LeagueRates(),
	}
	for range clubs() {
		var team []*career
		frontOffice := frontOfficeSpread * g.normal()
		g.frontOffices = append(g.frontOffices, frontOffice)
		for _, r := range rosterRoles() {
			team = append(team, g.newCareer(r, g.startingAge(), frontOffice))
		}
		g.teams = append(g.teams, team)
	}
	g.center()
	for _, team := range g.teams {
		g.assignNumbers(team)
	}
	return g
}

// nextSeason turns a season into the following one: players age and their skills change, the oldest retire and rookies
// replace them, a few players are traded.
func (g *generator) nextSeason() {
	for t, team := range g.teams {
		for i, p := range team {
			if p.Age++; p.Age > 38 || p.Age > 33 && g.dice.Float64() < .2 {
				team[i] = g.newCareer(p.role, 21+int(4*g.dice.Float64()), g.frontOffices[t])
				continue
			}
			g.develop(p)
		}
	}
	for i := range rosterRoles() { // about one role in three sees a trade
		a, b := g.below(len(g.teams)), g.below(len(g.teams))
		if g.dice.Float64() < .33 {
			g.teams[a][i], g.teams[b][i] = g.teams[b][i], g.teams[a][i]
		}
	}
	g.center()
	for _, team := range g.teams {
		g.assignNumbers(team)
	}
}

// develop changes a player's skills by a year: true talent correlates by about .9 from one season to the next, and
// declines after 30 by a fifteenth of a standard deviation a year (estimates).
func (g *generator) develop(p *career) {
	const correlation = .9
	for i := range p.skills {
		p.skills[i] = correlation*p.skills[i] + math.Sqrt(1-correlation*correlation)*g.normal()
		if p.Age > 30 {
			p.skills[i] -= 1. / 15
		}
	}
}

// center subtracts from each skill its average among the players of a group who play most, so that the league
// plays like the one that was measured. The bench belongs to the regulars' group but does not count in its
// average.
func (g *generator) center() {
	var mean [3][skills]float64
	var n [3]float64
	for _, team := range g.teams {
		for _, p := range team {
			if !p.role.bench {
				n[p.role.group()]++
				for i, x := range p.skills {
					mean[p.role.group()][i] += x
				}
			}
		}
	}
	for _, team := range g.teams {
		for _, p := range team {
			for i := range p.skills {
				p.skills[i] -= mean[p.role.group()][i] / n[p.role.group()]
			}
		}
	}
}

// group returns 0 for hitters, 1 for starting pitchers, 2 for relief pitchers.
func (r rosterRole) group() int {
	switch r.positions {
	case "SP":
		return 1
	case "RP":
		return 2
	default:
		return 0
	}
}

// frontOfficeSpread is the standard deviation among clubs of the skill of the players they find, in standard
// deviations of that skill. Without it the clubs are more alike than real ones: true winning percentages spread by
// about .065 (2015–19).
const frontOfficeSpread = .22

// newCareer draws a new player for a club whose front office has this quality.
func (g *generator) newCareer(r rosterRole, age int, frontOffice float64) *career {
	p := &career{role: r}
	p.Age = age
	p.Name = g.name()
	p.ID = g.id(p.Name)
	for position := range strings.FieldsSeq(r.positions) {
		p.Positions = append(p.Positions, game.Role(position))
	}
	p.Bats, p.Throws = g.handedness(r)
	for i := range p.skills {
		p.skills[i] = g.normal()
	}
	// Strikeouts and walks correlate with power (estimate: .5 and .4).
	p.skills[contact] = correlate(.5, p.skills[power], p.skills[contact])
	p.skills[eye] = correlate(.4, p.skills[power], p.skills[eye])
	for _, i := range [...]int{eye, power, babip, gap} {
		p.skills[i] += frontOffice
	}
	if r.isPitcher() {
		p.skills[contact] += frontOffice
	}
	if r.bench {
		p.skills[power] -= .7
		p.skills[babip] -= .3
	}
	return p
}

// correlate returns b with the given correlation to a.
func correlate(by, a, b float64) float64 { return by*a + math.Sqrt(1-by*by)*b }

// handedness draws the sides a player bats and throws from: 42 % of plate appearances are left-handed, 27 % of pitchers
// (2015–17, 2019).
func (g *generator) handedness(r rosterRole) (bats, throws game.Hand) {
	u, v := g.dice.Float64(), g.dice.Float64()
	bats, throws = game.Right, game.Right
	if r.isPitcher() {
		if u < .27 {
			return game.Left, game.Left
		}
		return bats, throws
	}
	switch {
	case u < .30:
		bats = game.Left
	case u < .42:
		bats = game.Switch
	}
	if r.leftThrowersOK && bats == game.Left && v < .5 {
		throws = game.Left
	}
	return bats, throws
}

// name draws a name with a surname that is not taken.
func (g *generator) name() string {
	begin, end, given := surnameBeginnings(), surnameEnds(), givenNames()
	for {
		last := begin[g.below(len(begin))] + end[g.below(len(end))]
		if !g.surnames[last] {
			g.surnames[last] = true
			return given[g.below(len(given))] + " " + last
		}
	}
}

// id returns an id in Retrosheet's form: four letters of the surname, one of the given name, three digits.
func (g *generator) id(name string) game.PlayerID {
	given, last, _ := strings.Cut(strings.ToLower(name), " ")
	stem := last[:4] + given[:1]
	g.idStems[stem]++
	return game.PlayerID(fmt.Sprintf("%s%03d", stem, 900+g.idStems[stem]))
}

// assignNumbers draws uniform numbers for the players who have none or whose number a teammate has.
func (g *generator) assignNumbers(team []*career) {
	taken := map[string]bool{}
	for _, p := range team {
		for p.Number == "" || taken[p.Number] {
			p.Number = strconv.Itoa(1 + g.below(79))
		}
		taken[p.Number] = true
	}
}

func (g *generator) startingAge() int { return 22 + int(7*g.dice.Float64()+6*g.dice.Float64()) }

// below draws an integer in [0, n).
func (g *generator) below(n int) int { return int(g.dice.Float64() * float64(n)) }

// normal draws from the standard normal distribution, truncated at ± 2.5.
func (g *generator) normal() float64 {
	for {
		r := math.Sqrt(-2 * math.Log(1-g.dice.Float64()))
		if z := r * math.Cos(2*math.Pi*g.dice.Float64()); math.Abs(z) <= 2.5 {
			return z
		}
	}
}

// rosters returns the current season.
func (g *generator) rosters(season int) []teams.Roster {
	g.rate()
	var rosters []teams.Roster
	for i, team := range clubs() {
		team.Season = season
		r := teams.Roster{Team: team, Season: season, Source: teams.BuiltIn}
		for _, p := range g.teams[i] {
			r.Players = append(r.Players, p.Player)
		}
		rosters = append(rosters, r)
	}
	return rosters
}
