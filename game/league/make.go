package league

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"pressbox/game"
	"pressbox/game/chance"
)

// maker draws the league, season after season.
type maker struct {
	dice   chance.Dice
	teams  [][]*person
	office []float64 // by team
	names  map[string]bool
	ids    map[string]int // how many have the same eight-letter stem
	league chance.Rates
}

// person is a player through the seasons: what he is, and how far from average, in standard deviations.
type person struct {
	Player
	job    job
	skills [skills]float64
}

// A job is a place on the roster.
type job struct {
	positions string // best first
	speed     float64
	bench     bool
	left      bool // may throw left-handed
}

// jobs of a club: every position is covered twice. Speed is what the position has, in standard deviations (estimate).
func jobs() []job {
	return []job{
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

func (j job) pitches() bool { return j.positions == "SP" || j.positions == "RP" }

// The skills that spread.
const (
	contact  = iota // avoids, or causes, strikeouts
	eye             // walks
	power           // home runs
	babip           // hits on balls in play
	gap             // doubles
	triples         //
	bruises         // hit by pitches
	legs            // speed, or a pitcher's hold on runners
	arm             //
	reach           //
	hands           //
	strength        // stamina
	skills
)

// newMaker draws season 1.
func newMaker() *maker {
	m := &maker{
		dice:   chance.Seed([]byte("pressbox: the built-in league 01")).Dice(0),
		names:  map[string]bool{},
		ids:    map[string]int{},
		league: chance.LeagueRates(),
	}
	for range identities() {
		var team []*person
		office := frontOffice * m.normal()
		m.office = append(m.office, office)
		for _, j := range jobs() {
			team = append(team, m.person(j, m.age(), office))
		}
		m.teams = append(m.teams, team)
	}
	m.level()
	for _, team := range m.teams {
		m.number(team)
	}
	return m
}

// winter makes a season of the one before: everybody is a year older and a little different, the oldest retire for
// rookies, and a few change clubs.
func (m *maker) winter() {
	for t, team := range m.teams {
		for i, p := range team {
			if p.Age++; p.Age > 38 || p.Age > 33 && m.dice.Float64() < .2 {
				team[i] = m.person(p.job, 21+int(4*m.dice.Float64()), m.office[t])
				continue
			}
			p.change(m)
		}
	}
	for i := range jobs() { // about one job in three sees a trade
		a, b := m.one(len(m.teams)), m.one(len(m.teams))
		if m.dice.Float64() < .33 {
			m.teams[a][i], m.teams[b][i] = m.teams[b][i], m.teams[a][i]
		}
	}
	m.level()
	for _, team := range m.teams {
		m.number(team)
	}
}

// change moves a player's skills: from one season to the next true talent correlates by about .9, and it declines after
// 30 by a fifteenth of a standard deviation a year (estimates).
func (p *person) change(m *maker) {
	const stays = .9
	for i := range p.skills {
		p.skills[i] = stays*p.skills[i] + math.Sqrt(1-stays*stays)*m.normal()
		if p.Age > 30 {
			p.skills[i] -= 1. / 15
		}
	}
}

// level takes out of every skill what those who play most have of it on average, so that the league as a whole plays as
// the one it was measured in: regulars, starters and relief pitchers each by themselves; the bench goes with the regulars.
func (m *maker) level() {
	var mean [3][skills]float64
	var n [3]float64
	for _, team := range m.teams {
		for _, p := range team {
			if !p.job.bench {
				n[p.job.level()]++
				for i, x := range p.skills {
					mean[p.job.level()][i] += x
				}
			}
		}
	}
	for _, team := range m.teams {
		for _, p := range team {
			for i := range p.skills {
				p.skills[i] -= mean[p.job.level()][i] / n[p.job.level()]
			}
		}
	}
}

// level is the group that a job is levelled with.
func (j job) level() int {
	switch j.positions {
	case "SP":
		return 1
	case "RP":
		return 2
	default:
		return 0
	}
}

// frontOffice is how much better a good club finds players, in standard deviations of a skill: clubs thrown together by
// chance alone would be more alike than clubs are (true winning percentages spread by about .065, 2015–19).
const frontOffice = .22

// person draws somebody new, for a club whose front office is that good.
func (m *maker) person(j job, age int, office float64) *person {
	p := &person{job: j}
	p.Age = age
	p.Name = m.name()
	p.ID = m.id(p.Name)
	for r := range strings.FieldsSeq(j.positions) {
		p.Positions = append(p.Positions, game.Role(r))
	}
	p.Bats, p.Throws = m.hands(j)
	for i := range p.skills {
		p.skills[i] = m.normal()
	}
	// Those who strike out more hit more home runs, and those who hit them are pitched around (estimate: .5 and .4).
	p.skills[contact] = mix(.5, p.skills[power], p.skills[contact])
	p.skills[eye] = mix(.4, p.skills[power], p.skills[eye])
	for _, i := range [...]int{eye, power, babip, gap} {
		p.skills[i] += office
	}
	if j.pitches() {
		p.skills[contact] += office
	}
	if j.bench {
		p.skills[power] -= .7
		p.skills[babip] -= .3
	}
	return p
}

// mix correlates b with a.
func mix(by, a, b float64) float64 { return by*a + math.Sqrt(1-by*by)*b }

// hands: of turns at bat 42 % are taken from the left, of pitchers 27 % are left-handed (2015–17, 2019).
func (m *maker) hands(j job) (bats, throws game.Hand) {
	u, v := m.dice.Float64(), m.dice.Float64()
	bats, throws = game.Right, game.Right
	if j.pitches() {
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
	if j.left && bats == game.Left && v < .5 {
		throws = game.Left
	}
	return bats, throws
}

// name draws a name that nobody has.
func (m *maker) name() string {
	begin, end, given := surnameBeginnings(), surnameEnds(), givenNames()
	for {
		last := begin[m.one(len(begin))] + end[m.one(len(end))]
		if !m.names[last] {
			m.names[last] = true
			return given[m.one(len(given))] + " " + last
		}
	}
}

// id is a player's id in Retrosheet's form: four letters of the surname, one of the given name, a number.
func (m *maker) id(name string) game.PlayerID {
	given, last, _ := strings.Cut(strings.ToLower(name), " ")
	stem := last[:4] + given[:1]
	m.ids[stem]++
	return game.PlayerID(fmt.Sprintf("%s%03d", stem, 900+m.ids[stem]))
}

// number gives numbers to those who have none, or whose is taken in their club.
func (m *maker) number(team []*person) {
	taken := map[string]bool{}
	for _, p := range team {
		for p.Number == "" || taken[p.Number] {
			p.Number = strconv.Itoa(1 + m.one(79))
		}
		taken[p.Number] = true
	}
}

func (m *maker) age() int { return 22 + int(7*m.dice.Float64()+6*m.dice.Float64()) }

// one draws a number below n.
func (m *maker) one(n int) int { return int(m.dice.Float64() * float64(n)) }

// normal draws from the normal distribution, cut at ± 2.5: nobody is better or worse by more.
func (m *maker) normal() float64 {
	for {
		r := math.Sqrt(-2 * math.Log(1-m.dice.Float64()))
		if z := r * math.Cos(2*math.Pi*m.dice.Float64()); math.Abs(z) <= 2.5 {
			return z
		}
	}
}

// clubs returns the league as it stands.
func (m *maker) clubs(season int) []Club {
	m.rate()
	var clubs []Club
	for i, who := range identities() {
		f := who.factors
		c := Club{
			ID: who.id, Season: season, Abbrev: who.id, Name: who.city + " " + who.nickname, City: who.city, Nickname: who.nickname,
			Color: who.color, Text: who.text,
			Park: Park{Name: who.park, Factors: chance.ParkFactors{HR: f[0], Double: f[1], Single: f[2], K: f[3]}},
		}
		for _, p := range m.teams[i] {
			c.Players = append(c.Players, p.Player)
		}
		clubs = append(clubs, c)
	}
	return clubs
}
