package chance_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/gametest"
	"pressbox/game/league"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// A fixture holds the sides of a simulated game.
type fixture struct {
	clubs     [2]game.Club
	lineups   [2]game.Lineup
	ratings   chance.Ratings
	park      chance.ParkFactors
	relievers map[game.PlayerID]bool
	fast      float64 // share of the runners who steal
}

func newFixture(clubs [2]game.Club, lineups [2]game.Lineup) fixture {
	f := fixture{clubs: clubs, lineups: lineups, relievers: map[game.PlayerID]bool{}}
	for _, c := range clubs {
		for _, p := range c.Players {
			f.relievers[p.ID] = p.Positions[0] == "RP"
		}
	}
	return f
}

// averageFixture returns two clubs of average players with their starters number n and n+2. 42 % of plate appearances
// are left-handed, 27 % of pitchers. Players 1–9 bat, 10–14 start, 15–22 relieve, 23–26 are substitutes.
func averageFixture(n int) fixture {
	var clubs [2]game.Club
	var lineups [2]game.Lineup
	for side, prefix := range []string{"a", "h"} {
		c := &clubs[side]
		c.ID = prefix
		for i := 1; i <= 26; i++ {
			c.Players = append(c.Players, averagePlayer(prefix, i))
		}
		lineups[side] = gametest.Lineup(*c, true)
		lineups[side].Pitcher = c.Players[9+(n+2*side)%5].ID
	}
	return newFixture(clubs, lineups)
}

func averagePlayer(prefix string, i int) game.Player {
	p := game.Player{ID: game.PlayerID(fmt.Sprintf("%s%d", prefix, i)), Bats: game.Right, Throws: game.Right}
	switch {
	case i <= 9:
		p.Positions = []game.Role{game.Role(gametest.Positions()[i-1].String())}
		if i%2 == 0 {
			p.Bats = game.Left
		}
	case i <= 14:
		p.Positions = []game.Role{"SP"}
	case i <= 22:
		p.Positions = []game.Role{"RP"}
	default:
		p.Positions = []game.Role{"LF", "2B", "C"}
	}
	if i >= 10 && i%4 == 2 {
		p.Throws = game.Left
	}
	return p
}

// averageLeague returns clubs of average players, of whom a third are fast: average runners do not steal.
func averageLeague() []fixture {
	ratings := chance.Ratings{}
	for i := 1; i <= 9; i++ {
		speed := -.5
		if i%3 == 0 {
			speed = 1
		}
		for _, club := range []string{"a", "h"} {
			ratings[game.PlayerID(fmt.Sprintf("%s%d", club, i))] = chance.Rating{Speed: speed}
		}
	}
	var all []fixture
	for n := range 5 {
		f := averageFixture(n)
		f.ratings, f.fast = ratings, 1./3
		all = append(all, f)
	}
	return all
}

// builtInLeague returns all pairs of clubs of the last season, at the park of each, with each starter.
func builtInLeague(tb testing.TB) []fixture {
	tb.Helper()
	clubs := check.Must(league.Season(league.LastSeason))(tb)
	var all []fixture
	for n := range 5 {
		for _, home := range clubs {
			for _, away := range clubs {
				if away.Team.ID == home.Team.ID {
					continue
				}
				both := [2]game.Club{away.Club(), home.Club()}
				f := newFixture(both, [2]game.Lineup{firstNine(both[0], n), firstNine(both[1], n)})
				f.fast = .23
				f.ratings, f.park = teams.Ratings(away, home), home.Team.Park.Factors
				all = append(all, f)
			}
		}
	}
	return all
}

// firstNine returns the line-up of the first nine players of a built-in club at the first position of each.
func firstNine(c game.Club, starter int) game.Lineup {
	l := game.Lineup{Pitcher: c.Players[13+starter].ID}
	for _, p := range c.Players[:9] {
		var at game.Position
		_ = at.UnmarshalText([]byte(p.Positions[0])) // game.New rejects an unknown one
		l.Order = append(l.Order, game.Slot{Player: p.ID, Position: at})
	}
	return l
}

// start returns the simulator of game n and its first state.
func (f *fixture) start(tb testing.TB, n uint64, o game.Options) (*chance.Simulator, game.State) {
	tb.Helper()
	var seed chance.Seed
	binary.BigEndian.PutUint64(seed[:], n)
	s := check.Must(game.New(o, f.clubs, f.lineups))(tb)
	return chance.NewSimulator(chance.Setup{Seed: seed, Clubs: f.clubs, Ratings: f.ratings, Park: f.park}), s
}

// at returns the top of the first in a base-out state, 3·mask + outs. Batters 7 to 9 of the order are on base.
func (f *fixture) at(tb testing.TB, baseOut int) game.State {
	tb.Helper()
	_, s := f.start(tb, 0, game.Options{DH: true})
	s.Outs = baseOut % 3
	for i := range s.Bases {
		if baseOut/3&(1<<i) != 0 {
			s.Bases[i].Player = s.Teams[game.Away].Order[8-i].Player
		}
	}
	return s
}

// relieve replaces a tired pitcher, and any pitcher when a lead of up to three goes into the ninth. The two best relief
// pitchers are saved for the eighth and ninth of close games; the last one pitches when the game is out of reach, the
// middle one when it is nearly lost.
func (f *fixture) relieve(sim *chance.Simulator, s *game.State, m chance.Progress) {
	side := s.Fielding()
	team := &s.Teams[side]
	lead := s.Score[side] - s.Score[side.Other()]
	closing := s.Inning >= 9 && lead > 0 && lead <= 3 && chance.BaseOut(s) == 0 && m.Workloads[side].Batters > 1
	if sim.Fatigue(s, m) < 1 && !closing || team.BattersFaced < 3 {
		return
	}
	pen := slices.DeleteFunc(slices.Clone(team.Bench), func(id game.PlayerID) bool { return !f.relievers[id] })
	if len(pen) == 0 {
		return
	}
	slices.SortStableFunc(pen,
		func(a, b game.PlayerID) int { return cmp.Compare(f.pitchingValue(b), f.pitchingValue(a)) })
	next := len(pen) - 1
	switch {
	case lead > 0 && lead <= 4:
		next = min(max(9-s.Inning, 0), 2, next)
	case lead == 0:
		next = min(2, next)
	case lead == -1 || lead == -2:
		next /= 2
	}
	if closing && sim.Fatigue(s, m) < 1 && f.pitchingValue(team.Pitcher) >= f.pitchingValue(pen[next]) {
		return
	}
	relief := game.Substitution{Side: side, Player: pen[next], Position: game.Pitcher}
	if after, err := s.Substitute(relief); err == nil {
		*s = after
	}
}

// pitchingValue returns strikeouts less walks, hits and, three times, home runs.
func (f *fixture) pitchingValue(id game.PlayerID) float64 {
	r := f.ratings[id].Pitching
	return r.K - r.BB - r.Single - r.Double - 3*r.HR
}

// wantGames is the required number of whole games per second of one core, rules and chance without text.
const wantGames = 4000

// BenchmarkGames plays whole games with pitching changes. Each creates its simulator and line-ups.
func BenchmarkGames(b *testing.B) {
	league := builtInLeague(b)
	n, before := 0, cpuTime(b)
	for b.Loop() {
		f := &league[n%len(league)]
		sim, s := f.start(b, uint64(n), game.Options{DH: true})
		for m := (chance.Progress{}); !s.Over(); {
			f.relieve(sim, &s, m)
			r, err := sim.Resolve(&s, m, chance.Tactics{})
			check.NoError(b, err)
			if s, err = s.Apply(r.Play); err != nil {
				b.Fatal(err)
			}
			m = r.Next
		}
		n++
	}
	rate := float64(n) / (cpuTime(b) - before).Seconds()
	b.ReportMetric(rate, "games/s") // per second of processor time
	b.ReportMetric(rate/wantGames, "x-limit")
}

// cpuTime returns the processor time of the process, with the garbage collector.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var used syscall.Rusage
	check.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// turn returns a function that resolves and applies a turn with a runner on first and second and one out.
func turn(tb testing.TB) func() {
	tb.Helper()
	f := averageFixture(0)
	sim, _ := f.start(tb, 0, game.Options{DH: true})
	s := f.at(tb, 3*3+1)
	var m chance.Progress
	return func() {
		r := check.Must(sim.Resolve(&s, m, chance.Tactics{}))(tb)
		if _, err := s.Apply(r.Play); err != nil {
			tb.Fatal(err)
		}
		m.Turns++
	}
}

// A turn allocates nothing as long as its text is not requested.
func TestSimulator_allocatesNothing(t *testing.T) {
	got := testing.AllocsPerRun(1000, turn(t))
	check.That(t, got == 0, "a turn allocates %v times", got)
}

// A released version of the rules gives the same plays for ever: a game keeps the version that it began with.
func TestSimulator_sameForever(t *testing.T) {
	t.Parallel()
	const want = "55fa591204aca569" // of version 2
	hash := sha256.New()
	league := builtInLeague(t)
	for n := range 8 {
		f := &league[11*n]
		rng := rand.New(rand.NewPCG(uint64(n), 21))
		sim, s := f.start(t, uint64(n), game.Options{DH: true})
		var m chance.Progress
		for !s.Over() {
			c := f.manage(sim, &s, m, rng, stealRates())
			for _, d := range chance.LegalDefense(&s, m) {
				unset := c.Defense == chance.Defense{}
				if unset && d.Pitch != chance.PickoffThrow && d.Infield != chance.CornersIn && rng.Float64() < .03 {
					c.Defense = d
				}
			}
			for _, o := range chance.LegalOffense(&s) {
				if c.Offense == chance.SwingAway && rng.Float64() < .02 {
					c.Offense = o
				}
			}
			r := check.Must(sim.Resolve(&s, m, c))(t)
			play := r.Final(rng.Float64() < .5)
			check.NoError(t, json.NewEncoder(hash).Encode(play))
			s, m = check.Must(s.Apply(play))(t), r.Next
		}
	}
	check.Equal(t, fmt.Sprintf("%.8x", hash.Sum(nil)), want, "a change needs a new version of the rules: plays' hash")
}
