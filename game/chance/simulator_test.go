package chance_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/packaging/check"
)

// Every run checks the same properties of the same values.
var _ = flag.Set("rapid.seed", "1")

// The dice are SHA-256 in counter mode. The expected numbers are from
//
//	h = hashlib.sha256(bytes(range(32)) + (7).to_bytes(8, "big") + (0).to_bytes(8, "big")).digest()
//	[(int.from_bytes(h[i:i+8], "big") >> 11) / 2**53 for i in range(0, 32, 8)]
func TestDice_sha256CounterMode(t *testing.T) {
	t.Parallel()
	var seed chance.Seed
	for i := range seed {
		seed[i] = byte(i)
	}
	dice := seed.Dice(7)
	for i, want := range []float64{0.2774777471623543, 0.6109906015080336, 0.3910391176620318, 0.8278524159710564} {
		check.Equal(t, dice.Float64(), want, "number %d of turn 7", i)
	}
	commitment := seed.Commitment()
	const want = "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"
	got := hex.EncodeToString(commitment[:])
	check.That(t, got == want, "the commitment of 00…1f is %s, not its SHA-256", got)
}

// anyTactics draws tactics, legal or not.
func anyTactics() *rapid.Generator[chance.Tactics] {
	return rapid.Custom(func(t *rapid.T) chance.Tactics {
		return chance.Tactics{
			Offense: rapid.SampledFrom([]chance.Offense{
				chance.SwingAway, chance.SwingAway, chance.Take, chance.Sacrifice, chance.BuntForHit, chance.Squeeze,
				chance.HitAndRun, chance.StealSecond, chance.StealThird, chance.StealHome, chance.DoubleSteal, "balk",
			}).Draw(t, "offense"),
			Defense: chance.Defense{
				Pitch: rapid.SampledFrom([]chance.Pitch{
					chance.PitchTo, chance.PitchTo, chance.PitchAround, chance.IntentionalWalk, chance.PitchOut,
					chance.PickoffThrow, "spit",
				}).Draw(t, "pitch"),
				Infield: rapid.SampledFrom([]chance.Infield{
					chance.NormalDepth, chance.InfieldIn, chance.CornersIn, chance.DoublePlayDepth,
				}).Draw(t, "infield"),
				Outfield: rapid.SampledFrom(
					[]chance.Outfield{chance.NormalOutfield, chance.Shallow, chance.Deep}).Draw(t, "outfield"),
				PlayBehind: rapid.Bool().Draw(t, "behind"),
				GuardLines: rapid.Bool().Draw(t, "lines"),
			},
		}
	})
}

// Any tactics in any reachable state are illegal, or give plays that the rules and the official scorer accept,
// whatever the answer to the question. The same turn gives the same plays.
func TestSimulator_anyTactics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkAnyTactics)
}

func FuzzAnyTactics(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkAnyTactics)) }

func checkAnyTactics(t *rapid.T) {
	f := averageFixture(0)
	var seed chance.Seed
	copy(seed[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "seed"))
	sim := chance.NewSimulator(chance.Setup{Seed: seed, Clubs: f.clubs})
	s := check.Must(game.New(game.Options{DH: true, Innings: rapid.SampledFrom([]int{1, 3, 9}).Draw(t, "innings")},
		f.clubs, f.lineups))(t)
	book := game.NewScorebook(&s, f.clubs)
	var m chance.Progress
	tactics, most := anyTactics(), rapid.IntRange(20, 120).Draw(t, "turns")
	for range most {
		if s.Over() {
			break
		}
		c := tactics.Draw(t, "tactics")
		r, err := sim.Resolve(&s, m, c)
		if err != nil {
			if _, illegal := errors.AsType[*chance.IllegalTacticError](err); !illegal {
				t.Fatalf("%+v: %v, want an IllegalTacticError", c, err)
			}
			c = chance.Tactics{}
			if r, err = sim.Resolve(&s, m, c); err != nil {
				t.Fatalf("no tactics: %v", err)
			}
		}
		if again, _ := sim.Resolve(&s, m, c); again != r {
			t.Fatal("the same turn came out differently")
		}
		bold := rapid.Bool().Draw(t, "bold")
		for _, p := range []game.Play{r.Final(!bold), r.Final(bold)} {
			after, err := s.Apply(p)
			if err != nil {
				t.Fatalf("%+v at %+v, %d out: %+v: %v", c, s.Bases, s.Outs, p, err)
			}
			if err := checkCount(&p, &after); err != nil {
				t.Fatalf("%+v: %v", p, err)
			}
		}
		p := r.Final(bold)
		next, _ := s.Apply(p)
		book.RecordPlay(&s, &p, &next)
		check.NoError(t, book.Prove(&next))
		s, m = next, r.Next
	}
	if text, err := json.Marshal(m); err != nil || json.Unmarshal(text, &m) != nil {
		t.Fatalf("progress in JSON: %v", err)
	}
}

// checkCount checks that the count of a play is that of its pitches before the last, as on scorecards, and the
// count of the state afterwards that of all pitches.
func checkCount(p *game.Play, after *game.State) error {
	var before, all game.Count
	for _, letter := range []byte(p.Pitches) {
		if letter >= 'A' {
			before, all = all, all.After(letter)
		}
	}
	if last := p.Pitches[max(0, len(p.Pitches)-1):]; last == "" || last < "A" || p.Kind == game.IntentionalWalk {
		before = all // there was no pitch on the play
	}
	switch {
	case p.Count != before:
		return fmt.Errorf("count %v on pitches %q", p.Count, p.Pitches)
	case !p.Kind.EndsPlateAppearance() && after.Count != all && after.Count != game.Count{}: // zero: the side is out
		return fmt.Errorf("count %v after pitches %q", after.Count, p.Pitches)
	}
	return nil
}

// LegalOffense returns exactly the tactics that Resolve accepts, LegalDefense legal ones.
func TestLegalOffense_matchesResolve(t *testing.T) {
	t.Parallel()
	all := []chance.Offense{
		chance.SwingAway, chance.Take, chance.Sacrifice, chance.BuntForHit, chance.Squeeze, chance.HitAndRun,
		chance.StealSecond, chance.StealThird, chance.StealHome, chance.DoubleSteal,
	}
	f := averageFixture(0)
	sim := chance.NewSimulator(chance.Setup{Clubs: f.clubs})
	for at := range 24 {
		s := f.at(t, at)
		legal := map[chance.Offense]bool{}
		for _, o := range chance.LegalOffense(&s) {
			legal[o] = true
		}
		for _, o := range all {
			if _, err := sim.Resolve(&s, chance.Progress{}, chance.Tactics{Offense: o}); (err == nil) != legal[o] {
				t.Errorf("base-out state %d, %q: legal %v, Resolve returned %v", at, o, legal[o], err)
			}
		}
		offers := chance.LegalDefense(&s, chance.Progress{})
		check.Equal(t, offers[0], (chance.Defense{}), "base-out state %d: the first defense", at)
		for _, d := range offers {
			_, err := sim.Resolve(&s, chance.Progress{}, chance.Tactics{Defense: d})
			check.That(t, err == nil, "base-out state %d, %+v: %v", at, d, err)
		}
	}
}

// The odds of two players who differ from the league in one rate multiply: o = o_batter · o_pitcher ÷ o_league.
func TestMatchup_multipliesOdds(t *testing.T) {
	t.Parallel()
	l := chance.LeagueRates()
	odds := func(p float64) float64 { return p / (1 - p) }
	with := func(hr float64) chance.Rates { // the other rates in proportion
		f := (1 - hr) / (1 - l.HR)
		return chance.Rates{
			K: f * l.K, BB: f * l.BB, HBP: f * l.HBP, Single: f * l.Single, Double: f * l.Double,
			Triple: f * l.Triple, HR: hr,
		}
	}
	b, p := with(.06), with(.02)
	// The exponent of strikeouts nearly cancels out if both sides have the same rate.
	got, want := odds(chance.Matchup(b, p).HR), odds(.06)*odds(.02)/odds(l.HR)
	check.That(t, math.Abs(got/want-1) <= .002, "odds of a home run %.5f, want %.5f", got, want)
	if r := chance.Matchup(l, l); math.Abs(r.K-l.K) > 1e-9 || math.Abs(r.Out()-l.Out()) > 1e-9 {
		t.Errorf("two average players: %+v, want the league's %+v", r, l)
	}
}

// Progress and pitches survive JSON.
func TestProgress_json(t *testing.T) {
	t.Parallel()
	pitches := chance.Pitches{}
	err := pitches.UnmarshalText([]byte("BC1>F.P"))
	check.Require(t, err == nil && pitches.String() == "BC1>F.P", "read %q, %v", pitches.String(), err)
	at := chance.Progress{
		Turns: 7, Workloads: [2]chance.Workload{{Pitcher: "p", Batters: 3, Pitches: 11}}, PickoffThrows: 1,
		Pitches: pitches,
	}
	data := check.Must(json.Marshal(at))(t)
	var again chance.Progress
	err = json.Unmarshal(data, &again)
	check.That(t, err == nil && again == at, "%s: read %+v, %v, want %+v", data, again, err, at)
	err = pitches.UnmarshalText(make([]byte, 41))
	check.That(t, err != nil, "41 pitches: no error")
}
