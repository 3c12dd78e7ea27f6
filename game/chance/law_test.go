package chance_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"pressbox/game"
	"pressbox/game/chance"
)

// The dice are what dice.go says, computed here by other means once and for all:
//
//	python3 -c 'import hashlib; h = hashlib.sha256(bytes(range(32)) + (7).to_bytes(8, "big") + (0).to_bytes(8, "big")).digest();
//	print([(int.from_bytes(h[i:i+8], "big") >> 11) / 2**53 for i in range(0, 32, 8)])'
func TestDiceAreSHA256InCounterMode(t *testing.T) {
	t.Parallel()
	var seed chance.Seed
	for i := range seed {
		seed[i] = byte(i)
	}
	dice := seed.Dice(7)
	for i, want := range []float64{0.2774777471623543, 0.6109906015080336, 0.3910391176620318, 0.8278524159710564} {
		if got := dice.Float64(); got != want {
			t.Errorf("number %d of turn 7 is %v, want %v", i, got, want)
		}
	}
	commitment := seed.Commitment()
	if got := hex.EncodeToString(commitment[:]); got != "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd" {
		t.Errorf("the commitment of 00…1f is %s, not its SHA-256", got)
	}
}

// anyCalls draws decisions without asking whether they are legal.
func anyCalls() *rapid.Generator[chance.Tactics] {
	return rapid.Custom(func(t *rapid.T) chance.Tactics {
		return chance.Tactics{
			Offence: rapid.SampledFrom([]chance.Offence{
				chance.SwingAway, chance.SwingAway, chance.Take, chance.Sacrifice, chance.BuntForHit, chance.Squeeze, chance.HitAndRun,
				chance.StealSecond, chance.StealThird, chance.StealHome, chance.DoubleSteal, "balk",
			}).Draw(t, "offence"),
			Defence: chance.Defence{
				Pitch: rapid.SampledFrom([]chance.Pitch{
					chance.PitchTo, chance.PitchTo, chance.PitchAround, chance.IntentionalWalk, chance.PitchOut, chance.PickoffThrow, "spit",
				}).Draw(t, "pitch"),
				Infield:    rapid.SampledFrom([]chance.Infield{chance.NormalDepth, chance.InfieldIn, chance.CornersIn, chance.DoublePlayDepth}).Draw(t, "infield"),
				Outfield:   rapid.SampledFrom([]chance.Outfield{chance.NormalOutfield, chance.Shallow, chance.Deep}).Draw(t, "outfield"),
				PlayBehind: rapid.Bool().Draw(t, "behind"),
				GuardLines: rapid.Bool().Draw(t, "lines"),
			},
		}
	})
}

// Any decisions in any state that can be reached are refused, or make plays, whatever the answer to the question, that
// the rules and the official scorer accept; and the game is the same again.
func TestAnyDecisions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, anyDecisions)
}

func FuzzAnyDecisions(f *testing.F) { f.Fuzz(rapid.MakeFuzz(anyDecisions)) }

func anyDecisions(t *rapid.T) {
	f := averageFixture(0)
	var seed chance.Seed
	copy(seed[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "seed"))
	table := chance.NewSimulator(seed, f.clubs, nil, chance.ParkFactors{})
	s, err := game.New(game.Options{DH: true, Innings: rapid.SampledFrom([]int{1, 3, 9}).Draw(t, "innings")}, f.clubs, f.cards)
	if err != nil {
		t.Fatal(err)
	}
	book := game.NewScorebook(&s, f.clubs)
	var m chance.Progress
	calls, most := anyCalls(), rapid.IntRange(20, 120).Draw(t, "turns")
	for range most {
		if s.Over() {
			break
		}
		c := calls.Draw(t, "calls")
		turn, err := table.Resolve(&s, m, c)
		if err != nil {
			if _, refused := errors.AsType[*chance.IllegalTacticError](err); !refused {
				t.Fatalf("%+v: %v is no refusal", c, err)
			}
			c = chance.Tactics{}
			if turn, err = table.Resolve(&s, m, c); err != nil {
				t.Fatalf("nothing but the usual: %v", err)
			}
		}
		if again, _ := table.Resolve(&s, m, c); again != turn {
			t.Fatal("the same turn came out differently")
		}
		bold := rapid.Bool().Draw(t, "bold")
		for _, p := range []game.Play{turn.Final(!bold), turn.Final(bold)} {
			after, err := s.Apply(p)
			if err != nil {
				t.Fatalf("%+v at %+v, %d out: %+v: %v", c, s.Bases, s.Outs, p, err)
			}
			if err := sameCount(&p, &after); err != nil {
				t.Fatalf("%+v: %v", p, err)
			}
		}
		p := turn.Final(bold)
		next, _ := s.Apply(p)
		book.RecordPlay(&s, &p, &next)
		if err := book.Prove(&next); err != nil {
			t.Fatal(err)
		}
		s, m = next, turn.Next
	}
	if text, err := json.Marshal(m); err != nil || json.Unmarshal(text, &m) != nil {
		t.Fatalf("a moment that cannot be kept: %v", err)
	}
}

// sameCount checks that a play's count is that of its pitches but for the last, as scorecards have it, and that the count
// in the state afterwards is that of all of them.
func sameCount(p *game.Play, after *game.State) error {
	var before, all game.Count
	for _, letter := range []byte(p.Pitches) {
		if letter >= 'A' {
			before, all = all, all.After(letter)
		}
	}
	if last := p.Pitches[max(0, len(p.Pitches)-1):]; last == "" || last < "A" || p.Kind == game.IntentionalWalk {
		before = all // nothing was thrown on the play
	}
	switch {
	case p.Count != before:
		return fmt.Errorf("count %v on pitches %q", p.Count, p.Pitches)
	case !p.Kind.EndsPlateAppearance() && after.Count != all && after.Count != game.Count{}: // zero: the side is out
		return fmt.Errorf("count %v after pitches %q", after.Count, p.Pitches)
	}
	return nil
}

// What LegalOffence and LegalDefence offer is legal, and everything else is refused.
func TestLegalIsWhatResolveTakes(t *testing.T) {
	t.Parallel()
	all := []chance.Offence{
		chance.SwingAway, chance.Take, chance.Sacrifice, chance.BuntForHit, chance.Squeeze, chance.HitAndRun,
		chance.StealSecond, chance.StealThird, chance.StealHome, chance.DoubleSteal,
	}
	f := averageFixture(0)
	table := chance.NewSimulator(chance.Seed{}, f.clubs, nil, chance.ParkFactors{})
	for at := range 24 {
		s := situation(t, &f, at)
		legal := map[chance.Offence]bool{}
		for _, o := range chance.LegalOffence(&s) {
			legal[o] = true
		}
		for _, o := range all {
			if _, err := table.Resolve(&s, chance.Progress{}, chance.Tactics{Offence: o}); (err == nil) != legal[o] {
				t.Errorf("situation %d, %q: offered %v, but Resolve says %v", at, o, legal[o], err)
			}
		}
		offers := chance.LegalDefence(&s, chance.Progress{})
		if offers[0] != (chance.Defence{}) {
			t.Errorf("situation %d: the first offer is %+v", at, offers[0])
		}
		for _, d := range offers {
			if _, err := table.Resolve(&s, chance.Progress{}, chance.Tactics{Defence: d}); err != nil {
				t.Errorf("situation %d, %+v: %v", at, d, err)
			}
		}
	}
}

// situation is the top of the first with bases and outs as 3·mask + outs; places 7 to 9 of the order are on base.
func situation(tb testing.TB, f *fixture, at int) game.State {
	tb.Helper()
	s, err := game.New(game.Options{DH: true}, f.clubs, f.cards)
	if err != nil {
		tb.Fatal(err)
	}
	s.Outs = at % 3
	for i := range s.Bases {
		if at/3&(1<<i) != 0 {
			s.Bases[i].Player = s.Teams[game.Away].Order[8-i].Player
		}
	}
	return s
}

// Two men who differ from the league in one thing only meet as odds multiply: o = o_batter · o_pitcher ÷ o_league.
func TestMeetMultipliesOdds(t *testing.T) {
	t.Parallel()
	l := chance.LeagueRates()
	odds := func(p float64) float64 { return p / (1 - p) }
	with := func(hr float64) chance.Rates { // everything else in proportion
		f := (1 - hr) / (1 - l.HR)
		return chance.Rates{K: f * l.K, BB: f * l.BB, HBP: f * l.HBP, Single: f * l.Single, Double: f * l.Double, Triple: f * l.Triple, HR: hr}
	}
	b, p := with(.06), with(.02)
	// Strikeouts carry an exponent; with the same strikeouts on both sides of the league it cancels almost, not quite.
	got, want := odds(chance.Matchup(b, p).HR), odds(.06)*odds(.02)/odds(l.HR)
	if math.Abs(got/want-1) > .002 {
		t.Errorf("odds of a home run %.5f, want %.5f", got, want)
	}
	if r := chance.Matchup(l, l); math.Abs(r.K-l.K) > 1e-9 || math.Abs(r.Out()-l.Out()) > 1e-9 {
		t.Errorf("two average men come to %+v, not the league's %+v", r, l)
	}
}

// A season is pulled towards the league by the ballast of each event; nothing seen is the league's.
func TestShrink(t *testing.T) {
	t.Parallel()
	l := chance.LeagueRates()
	if r := (chance.Totals{}).Rates(l); math.Abs(r.HR-l.HR) > 1e-12 || math.Abs(r.Out()-l.Out()) > 1e-12 {
		t.Errorf("nothing seen gives %+v, want %+v", r, l)
	}
	r := chance.Totals{PA: 600, K: 60, BB: 90, HBP: 5, Single: 100, Double: 30, Triple: 3, HR: 40}.Rates(l)
	if r.HR <= l.HR || r.HR >= 40./600 {
		t.Errorf("40 home runs in 600 turns are rated %.4f, want between the league's %.4f and %.4f", r.HR, l.HR, 40./600)
	}
	if math.Abs(r.HR-(40+300*l.HR)/(600+300)) > .003 {
		t.Errorf("40 home runs in 600 turns are rated %.4f, want about (40 + 300·league)/900", r.HR)
	}
}

// A moment that was written down is the same moment when it is read.
func TestAMomentSurvivesJSON(t *testing.T) {
	t.Parallel()
	thrown := chance.Pitches{}
	if err := thrown.UnmarshalText([]byte("BC1>F.P")); err != nil || thrown.String() != "BC1>F.P" {
		t.Fatalf("read %q, %v", thrown.String(), err)
	}
	at := chance.Progress{Turns: 7, Workloads: [2]chance.Workload{{Pitcher: "p", Batters: 3, Pitches: 11}}, PickoffThrows: 1, Pitches: thrown}
	data, err := json.Marshal(at)
	if err != nil {
		t.Fatal(err)
	}
	var again chance.Progress
	if err := json.Unmarshal(data, &again); err != nil || again != at {
		t.Errorf("%s is read as %+v, %v, want %+v", data, again, err, at)
	}
	if err := thrown.UnmarshalText(make([]byte, 41)); err == nil {
		t.Error("41 pitches were read")
	}
}
