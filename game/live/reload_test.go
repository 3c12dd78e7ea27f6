package live_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/game/retro"
	"pressbox/game/teams"
)

var update = flag.Bool("update", false, "write the journal of this version into testdata")

// A game that is loaded is the game that was played, whatever revision it had come to, and for everybody who looks.
func TestALoadedGameIsTheOneThatWasPlayed(t *testing.T) {
	t.Parallel()
	for _, opponent := range []protocol.Opponent{protocol.Open, protocol.Bot, protocol.HotSeat} {
		t.Run(string(opponent), func(t *testing.T) {
			t.Parallel()
			j := newJournal()
			h := newHall(t, j)
			g := begin(t, h, func(o *protocol.Options) { o.Opponent, o.Innings, o.DH = opponent, 3, false })
			seen := map[int]string{}
			for n := 0; ; n++ {
				moves, _ := j.Moves(t.Context(), g.ID)
				seen[len(moves)] = still(t, h, g.ID)
				if look(t, h, ann, g.ID).Status == protocol.Finished {
					break
				}
				step(t, h, g.ID, n)
			}
			if len(seen) < 20 {
				t.Fatalf("only %d positions", len(seen))
			}
			for n, want := range seen {
				if got := still(t, newHall(t, j.cut(g.ID, n)), g.ID); got != want {
					t.Fatalf("loaded at %d: %s", n, difference(got, want))
				}
			}
		})
	}
}

// difference returns where two texts part.
func difference(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	around := func(s string) string { return s[max(0, i-120):min(len(s), i+120)] }
	return fmt.Sprintf("\n%s\nwant\n%s", around(got), around(want))
}

// step lets whoever may do something, now and then something else than the first.
func step(tb testing.TB, h *live.Games, id string, n int) {
	tb.Helper()
	for _, who := range []protocol.Person{ann, bob} {
		g := look(tb, h, who, id)
		if len(g.Legal) == 0 {
			continue
		}
		c := g.Legal[n*7%len(g.Legal)]
		if n%5 == 4 && len(g.Offers) > 0 && g.Offers[0].Group == "substitution" {
			c = g.Offers[n%len(g.Offers)]
		}
		if a := c.Action.Verb; a == "concede" || a == "pause" || a == "takeover" {
			c = g.Legal[0]
		}
		if _, _, err := h.Submit(tb.Context(), who, id, command(tb, h, who, id, c.Action), nil); err != nil {
			tb.Fatalf("%s does %q: %v", who.Name, c.Label, err)
		}
	}
}

// Anybody can run a game again: the seed fits the hash that was shown before, and with what both sides had called it
// gives every play.
func TestTheDiceCanBeChecked(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, func(o *protocol.Options) { o.Innings = 5 })
	for n := 0; look(t, h, ann, g.ID).Status == protocol.Active; n++ {
		step(t, h, g.ID, n)
	}
	end := look(t, h, carl, g.ID)
	var seed chance.Seed
	if n, err := hex.Decode(seed[:], []byte(end.Dice.Seed)); n != len(seed) || err != nil {
		t.Fatalf("seed %q: %v", end.Dice.Seed, err)
	}
	if sum := seed.Commitment(); hex.EncodeToString(sum[:]) != g.Dice.Commitment {
		t.Errorf("the seed %s does not give %s", end.Dice.Seed, g.Dice.Commitment)
	}
	home, away := clubs()
	var both [2]game.Club
	var rosters [2]teams.Roster
	for side, id := range []string{away, home} {
		r, err := builtIn().Roster(t.Context(), 0, id)
		if err != nil {
			t.Fatal(err)
		}
		both[side], rosters[side] = r.Club(), r
	}
	table := chance.NewSimulator(seed, both, teams.Ratings(rosters[:]...), rosters[game.Home].Team.Park.Factors)
	s, err := game.New(game.Options{DH: true, Innings: 5, ExtraInnings: game.AutomaticRunner}, both, [2]game.Lineup{*end.Away.Lineup, *end.Home.Lineup})
	if err != nil {
		t.Fatal(err)
	}
	var at chance.Progress
	var bold *bool
	plays := 0
	all, err := h.Events(t.Context(), carl, g.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		e, ok := m.Data.(*protocol.Event)
		switch {
		case !ok:
		case e.Kind == protocol.Substituted:
			if s, err = s.Substitute(e.Subs...); err != nil {
				t.Fatal(err)
			}
		case e.Kind == protocol.Answered:
			bold = e.Bold
		case e.Kind == protocol.Played:
			turn, err := table.Resolve(&s, at, *e.Calls)
			if err != nil {
				t.Fatal(err)
			}
			play := turn.Final(bold != nil && *bold)
			if text(t, play) != text(t, e.Play) {
				t.Fatalf("revision %d: %s, the dice give %s", m.Revision, text(t, e.Play), text(t, play))
			}
			if s, err = s.Apply(play); err != nil {
				t.Fatal(err)
			}
			at, bold = turn.Next, nil
			plays++
		}
	}
	if plays < 30 || !s.Over() || s.Score != [2]int{end.Score.Away, end.Score.Home} {
		t.Errorf("%d plays led to %v, over %v, want %+v", plays, s.Score, s.Over(), end.Score)
	}
}

// A journal that is damaged, or of a newer version, is refused, and costs only its own game.
func TestADamagedJournalIsRefused(t *testing.T) {
	t.Parallel()
	j := newJournal()
	h := newHall(t, j)
	g, other := begin(t, h, nil), begin(t, h, nil)
	whole := j.moves[g.ID]
	replaced := func(i int, old, text string) [][]byte {
		moves := bytes.Clone(whole[i])
		moves = bytes.Replace(moves, []byte(old), []byte(text), 1)
		return append(append(append([][]byte{}, whole[:i]...), moves), whole[i+1:]...)
	}
	for name, tt := range map[string]struct {
		moves [][]byte
		want  protocol.Code
	}{
		"no moves":         {nil, protocol.UnreadableGame},
		"no JSON":          {[][]byte{[]byte("}")}, protocol.UnreadableGame},
		"one is missing":   {append(append([][]byte{}, whole[0]), whole[2:]...), protocol.UnreadableGame},
		"one twice":        {append(append([][]byte{}, whole[0]), whole...), protocol.UnreadableGame},
		"an unknown kind":  {replaced(1, `"joined"`, `"jumped"`), protocol.UnreadableGame},
		"an unknown side":  {replaced(1, `"side":"away"`, `"side":"middle"`), protocol.UnreadableGame},
		"a bad line-up":    {replaced(2, `"position":"C"`, `"position":"P"`), protocol.UnreadableGame},
		"a short seed":     {replaced(0, `"seed":"`, `"seed":"00`), protocol.UnreadableGame},
		"rules to come":    {replaced(0, `"rules":1`, `"rules":2`), protocol.NewerRules},
		"rules of nobody":  {replaced(0, `"rules":1`, `"rules":0`), protocol.NewerRules},
		"starts too early": {append(append([][]byte{}, whole[:2]...), bytes.Replace(whole[len(whole)-1], fmt.Appendf(nil, `"rev":%d`, len(whole)), []byte(`"rev":3`), 1)), protocol.UnreadableGame},
	} {
		c := newJournal()
		maps.Copy(c.heads, j.heads)
		maps.Copy(c.moves, j.moves)
		c.moves[g.ID] = tt.moves
		h := newHall(t, c)
		for range 2 {
			if _, err := h.Game(t.Context(), ann, g.ID); code(t, err) != tt.want {
				t.Errorf("%s: %v, want %s", name, err, tt.want)
			}
		}
		look(t, h, ann, other.ID)
	}
	j.heads["nonsense"] = []byte("}")
	if l, err := newHall(t, j).List(ann, live.Query{}); err != nil || len(l.Active) != 2 {
		t.Errorf("with a head that cannot be read, %d games are active, %v", len(l.Active), err)
	}
}

// A journal that cannot list its games gives no hall.
func TestAHallNeedsItsJournal(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := live.New(t.Context(), live.Config{Journal: &unlisted{newJournal(), broken}, Rosters: builtIn(), Log: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, broken) {
		t.Errorf("new: %v, want %v", err, broken)
	}
}

type unlisted struct {
	*journal
	broken error
}

func (u *unlisted) Summaries(context.Context) (map[string][]byte, error) { return nil, u.broken }

// Journals that earlier versions wrote are played to the same end for ever: every revision has the hash it had, the box
// score and the scorer's card are the same.
func TestJournalsOfOldAreReplayed(t *testing.T) {
	t.Parallel()
	if *update {
		writeWhole(t, filepath.Join("testdata", "journal-2-whole"))
		synctest.Test(t, func(t *testing.T) { writeInterrupted(t, filepath.Join("testdata", "journal-2-interrupted")) })
	}
	found, err := filepath.Glob(filepath.Join("testdata", "journal-*.gz"))
	if err != nil || len(found) == 0 {
		t.Fatalf("journals: %v, %v", found, err)
	}
	kinds := map[protocol.EventKind]bool{}
	for _, path := range found {
		j := readJournal(t, path)
		for id, moves := range j.moves {
			want, err := os.ReadFile(strings.TrimSuffix(path, ".gz") + ".golden")
			if err != nil {
				t.Fatal(err)
			}
			if got := trace(t, newHall(t, j), id); got != string(want) {
				t.Errorf("%s has come to %s", path, difference(got, string(want)))
			}
			for _, m := range moves {
				var is struct {
					Kind protocol.EventKind `json:"kind"`
				}
				if err := json.Unmarshal(m, &is); err != nil {
					t.Fatal(err)
				}
				kinds[is.Kind] = true
			}
		}
	}
	for _, k := range []protocol.EventKind{
		protocol.Created, protocol.Joined, protocol.LineupSubmitted, protocol.Started, protocol.Sealed, protocol.Unsealed, protocol.Played, protocol.Questioned, protocol.Answered,
		protocol.Substituted, protocol.Paused, protocol.Resumed, protocol.BotTookOver, protocol.SideReturned, protocol.TimedOut, protocol.Conceded, protocol.Ended, protocol.RematchCreated,
	} {
		if !kinds[k] {
			t.Errorf("no journal of version 1 has a %s", k)
		}
	}
}

// trace returns what must not change of a game that was played.
func trace(t *testing.T, h *live.Games, id string) string {
	t.Helper()
	var b strings.Builder
	all, err := h.Events(t.Context(), protocol.Person{}, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if e, ok := m.Data.(*protocol.Event); ok {
			fmt.Fprintf(&b, "%d %s %s %s\n", m.Revision, e.Kind, e.Notation, e.Hash)
		} else {
			fmt.Fprintf(&b, "%d skip\n", m.Revision)
		}
	}
	g, box, err := h.Box(t.Context(), protocol.Person{}, id)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "%s\n%s\n", text(t, g.Result), text(t, box))
	if err := h.Scorecard(t.Context(), id, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// writeWhole plays a game to its last out and writes it down.
func writeWhole(t *testing.T, path string) {
	t.Helper()
	j := newJournal()
	h := newHall(t, j)
	g := begin(t, h, func(o *protocol.Options) { o.DH = false })
	for n := 0; look(t, h, ann, g.ID).Status == protocol.Active; n++ {
		step(t, h, g.ID, n)
	}
	if _, err := h.Rematch(t.Context(), ann, g.ID); err != nil {
		t.Fatal(err)
	}
	writeJournal(t, h, j, g.ID, path)
}

// writeInterrupted plays, in a bubble of time, a game in which all happens that may come between.
func writeInterrupted(t *testing.T, path string) {
	t.Helper()
	j := newJournal()
	h := newHall(t, j)
	defer run(t, h)()
	g := begin(t, h, func(o *protocol.Options) { o.TurnSeconds = 90 })
	a, b := watch(t, h, ann, g.ID, 0), watch(t, h, bob, g.ID, 0)
	defer a.leave()
	pass(90 * time.Second)
	b.leave()
	pass(61 * time.Second)
	do(t, h, ann, g.ID, look(t, h, ann, g.ID).Legal[0].Label)
	b = watch(t, h, bob, g.ID, 0)
	defer b.leave()
	for n := 0; len(look(t, h, ann, g.ID).State.Waiting) < 2; n++ {
		step(t, h, g.ID, n)
	}
	do(t, h, ann, g.ID, look(t, h, ann, g.ID).Legal[1].Label)
	do(t, h, ann, g.ID, "Take the call back")
	do(t, h, ann, g.ID, "Pause")
	do(t, h, bob, g.ID, "Resume")
	do(t, h, bob, g.ID, "Let the bot manage")
	do(t, h, ann, g.ID, look(t, h, ann, g.ID).Legal[0].Label)
	do(t, h, bob, g.ID, "Take your side back")
	do(t, h, bob, g.ID, "Concede")
	writeJournal(t, h, j, g.ID, path)
}

// writeJournal writes a game down: id, head and moves, each after its length.
func writeJournal(t *testing.T, h *live.Games, j *journal, id, path string) {
	t.Helper()
	var data bytes.Buffer
	z := gzip.NewWriter(&data)
	for _, part := range append([][]byte{[]byte(id), j.heads[id]}, j.moves[id]...) {
		z.Write(append(binary.AppendUvarint(nil, uint64(len(part))), part...))
	}
	z.Close()
	for name, content := range map[string][]byte{".gz": data.Bytes(), ".golden": []byte(trace(t, h, id))} {
		if err := os.WriteFile(path+name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readJournal reads what writeJournal wrote.
func readJournal(t *testing.T, path string) *journal {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if _, err := data.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	var parts [][]byte
	for plain := data.Bytes(); len(plain) > 0; {
		n, size := binary.Uvarint(plain)
		parts, plain = append(parts, plain[size:size+int(n)]), plain[size+int(n):]
	}
	j := newJournal()
	id := string(parts[0])
	j.heads[id], j.moves[id] = parts[1], parts[2:]
	return j
}

// The card of a game can be read as an event file, and replayed to the same score.
func TestTheScorecardIsReplayed(t *testing.T) {
	t.Parallel()
	for _, dh := range []bool{true, false} {
		h := newHall(t, newJournal())
		g := begin(t, h, func(o *protocol.Options) { o.DH = dh })
		if err := h.Scorecard(t.Context(), g.ID, &bytes.Buffer{}); err != nil {
			t.Errorf("before the first pitch: %v", err)
		}
		for n := 0; look(t, h, ann, g.ID).Status == protocol.Active; n++ {
			step(t, h, g.ID, n)
		}
		var card bytes.Buffer
		if err := h.Scorecard(t.Context(), g.ID, &card); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(card.String(), "id,BWH") {
			t.Errorf("begins with %.20q", card.String())
		}
		end := look(t, h, ann, g.ID)
		for read, err := range retro.Read(&card) {
			if err != nil {
				t.Fatal(err)
			}
			again, err := read.Replay(func(*retro.Step, *game.Scorebook) {})
			if err != nil {
				t.Fatal(err)
			}
			if again.End.Score != [2]int{end.Score.Away, end.Score.Home} {
				t.Errorf("dh %v: the card comes to %v, want %+v", dh, again.End.Score, end.Score)
			}
		}
	}
}
