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
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/live"
	"pressbox/game/match"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/killtest"
)

var update = flag.Bool("update", false, "write the journals of this version into testdata")

// A game that is loaded, at any revision, is the game that was played, for every viewer.
func TestLoad_equalsPlayed(t *testing.T) {
	t.Parallel()
	for _, opponent := range []protocol.Opponent{protocol.Open, protocol.Bot, protocol.HotSeat} {
		t.Run(string(opponent), func(t *testing.T) {
			t.Parallel()
			r := begun(t, innings(3), withoutDH, func(o *protocol.Options) { o.Opponent = opponent })
			seen := map[int]string{}
			for n := 0; ; n++ {
				seen[len(r.journal.moves[r.id])] = r.visible()
				if r.get(ann).Status == protocol.Finished {
					break
				}
				r.step(n)
			}
			check.Require(t, len(seen) >= 20, "only %d positions", len(seen))
			for n, want := range seen {
				if testing.Short() && n%4 != 0 {
					continue
				}
				got := r.reloaded(r.journal.cut(r.id, n)).visible()
				check.Require(t, got == want, "loaded at %d: %s", n, difference(got, want))
			}
		})
	}
}

// The seed fits the hash that was shown before the game, and with both sides' calls it gives every play.
func TestDice_verifiable(t *testing.T) {
	t.Parallel()
	r := begun(t, innings(5))
	commitment := r.get(ann).Dice.Commitment
	end := r.playOut()
	var seed chance.Seed
	n, err := hex.Decode(seed[:], []byte(end.Dice.Seed))
	check.Require(t, n == len(seed) && err == nil, "seed %q: %v", end.Dice.Seed, err)
	sum := seed.Commitment()
	check.That(t, hex.EncodeToString(sum[:]) == commitment, "the seed %s does not give %s", end.Dice.Seed, commitment)
	sim, s := simulator(r, seed, end)
	var at chance.Progress
	var bold *bool
	plays := 0
	all := check.Must(r.Events(t.Context(), carl, r.id, 0))(r)
	for _, m := range all {
		e, ok := m.Data.(*protocol.Event)
		switch {
		case !ok:
		case e.Kind == protocol.Substituted:
			s = check.Must(s.Substitute(e.Subs...))(r)
		case e.Kind == protocol.Answered:
			bold = e.Bold
		case e.Kind == protocol.Played:
			turn := check.Must(sim.Resolve(&s, at, chance.Tactics(*e.Calls)))(r)
			if bold == nil { // no question was asked: the percentages decide
				bold = &turn.Bold
			}
			play := turn.Final(*bold)
			check.Require(t, text(t, play) == text(t, e.Play),
				"revision %d: %s, the seed gives %s", m.Revision, text(t, e.Play), text(t, play))
			s = check.Must(s.Apply(play))(r)
			at, bold = turn.Next, nil
			plays++
		}
	}
	check.That(t, plays >= 30 && s.Over() && s.Score == [2]int{end.Score.Away, end.Score.Home},
		"%d plays led to %v, over %v, want %+v", plays, s.Score, s.Over(), end.Score)
}

// simulator returns what draws a game of the rig's clubs, and its first state.
func simulator(r *rig, seed chance.Seed, end protocol.Game) (*chance.Simulator, game.State) {
	r.Helper()
	ratings := chance.Ratings{}
	var clubs [2]game.Club
	var park chance.ParkFactors
	for side, id := range []string{end.Away.Team.ID, end.Home.Team.ID} {
		roster := check.Must(builtIn().Roster(r.Context(), 0, id))(r)
		c := match.ClubOf(&roster)
		maps.Copy(ratings, c.Ratings)
		clubs[side], park = c.Club, c.Park
	}
	options := game.Options{DH: end.Options.DH, Innings: end.Options.Innings, ExtraInnings: end.Options.ExtraInnings}
	s := check.Must(game.New(options, clubs, [2]game.Lineup{*end.Away.Lineup, *end.Home.Lineup}))(r)
	recent := seed.Rest(clubs[game.Away])
	maps.Copy(recent, seed.Rest(clubs[game.Home]))
	return chance.NewSimulator(chance.Setup{
		Seed: seed, Clubs: clubs, Ratings: ratings, Park: park, Recent: recent,
	}), s
}

// A journal that is damaged, or of another version, is refused, and affects only its own game.
func TestLoad_damagedJournal(t *testing.T) {
	t.Parallel()
	r := begun(t)
	other := *r
	other.begin()
	j, whole := r.journal, r.journal.moves[r.id]
	replaced := func(i int, old, text string) [][]byte {
		moves := slices.Clone(whole)
		moves[i] = bytes.Replace(moves[i], []byte(old), []byte(text), 1)
		return moves
	}
	last := len(whole) - 1
	early := bytes.Replace(whole[last], fmt.Appendf(nil, `"rev":%d`, last+1), []byte(`"rev":3`), 1)
	for name, tt := range map[string]struct {
		moves [][]byte
		want  protocol.Code
	}{
		"no moves":          {nil, protocol.UnreadableGame},
		"no JSON":           {[][]byte{[]byte("}")}, protocol.UnreadableGame},
		"one is missing":    {slices.Concat(whole[:1], whole[2:]), protocol.UnreadableGame},
		"one twice":         {slices.Concat(whole[:1], whole), protocol.UnreadableGame},
		"an unknown kind":   {replaced(1, `"joined"`, `"jumped"`), protocol.UnreadableGame},
		"an unknown side":   {replaced(1, `"side":"away"`, `"side":"middle"`), protocol.UnreadableGame},
		"a bad line-up":     {replaced(2, `"position":"C"`, `"position":"P"`), protocol.UnreadableGame},
		"a short seed":      {replaced(0, `"seed":"`, `"seed":"00`), protocol.UnreadableGame},
		"newer rules":       {replaced(0, `"rules":2`, `"rules":3`), protocol.NewerRules},
		"older rules":       {replaced(0, `"rules":2`, `"rules":1`), protocol.UnreadableGame},
		"a newer journal":   {replaced(1, `"v":3`, `"v":4`), protocol.NewerRules},
		"an older journal":  {replaced(1, `"v":3`, `"v":2`), protocol.UnreadableGame},
		"an older one yet":  {replaced(1, `"v":3,`, ``), protocol.UnreadableGame},
		"starts too early":  {slices.Concat(whole[:2], [][]byte{early}), protocol.UnreadableGame},
		"an unknown number": {replaced(0, `"v":3`, `"v":"two"`), protocol.UnreadableGame},
	} {
		c := newJournal()
		maps.Copy(c.summaries, j.summaries)
		maps.Copy(c.moves, j.moves)
		c.moves[r.id] = tt.moves
		damaged := r.reloaded(c)
		for range 2 {
			err := check.Err(damaged.Game(t.Context(), ann, r.id))
			damaged.wantCode(name, err, tt.want)
			migrated := strings.Contains(err.Error(), "0.5.0")
			check.That(t, migrated == strings.Contains(name, "older"), "%s: %v", name, err)
		}
		damaged.id = other.id
		damaged.get(ann)
	}
	j.summaries["nonsense"] = []byte("}")
	again := newRig(t, j)
	l, err := again.List(ann, live.Query{})
	check.That(t, err == nil && len(l.Active) == 2 && strings.Count(again.log.String(), "game unreadable") == 1,
		"with an unreadable summary, %d games are active, %v, logged %q", len(l.Active), err, again.log)
}

// New fails if the journal cannot list its games.
func TestNew_journalError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := live.New(t.Context(), live.Config{Journal: &journal{listErr: broken}})
	check.ErrorIs(t, err, broken, "new")
}

// A summary of another version, or none at all, is built again from the moves and saved, with the box score of a
// finished game; a present one is not touched.
func TestNew_rebuildsOldSummaries(t *testing.T) {
	t.Parallel()
	r := begun(t, withBot)
	r.decide(ann)
	played := *r
	played.begin(hotSeat, private, innings(3))
	played.playOut()
	want := maps.Clone(r.journal.summaries)
	boxes := maps.Clone(r.journal.boxes)
	lists := check.Must(r.List(ann, live.Query{}))(r)
	for name, old := range map[string]string{
		"older": `{"version":2,"id":"x"}`, "newer": `{"version":99,"id":"x"}`, "broken": "}",
	} {
		for id := range want {
			r.journal.summaries[id] = []byte(old)
		}
		for id := range boxes {
			r.journal.boxes[id] = []byte("{}")
		}
		again := r.reloaded(r.journal)
		if got, err := again.List(ann, live.Query{}); err != nil || text(t, got) != text(t, lists) {
			t.Errorf("%s: lists %s, %v", name, difference(text(t, got), text(t, lists)), err)
		}
		for id := range want {
			got := string(r.journal.summaries[id])
			check.That(t, got == string(want[id]), "%s: saved %s", name, difference(got, string(want[id])))
		}
		for id := range boxes {
			got := string(r.journal.boxes[id])
			check.That(t, got == string(boxes[id]), "%s: saved box score %s", name, difference(got, string(boxes[id])))
		}
		check.That(t, len(boxes) == 1 && len(r.journal.boxes) == 1,
			"%s: %d box scores, then %d; want that of the finished game", name, len(boxes), len(r.journal.boxes))
		again.decide(ann) // the journal still takes the next move
		want = maps.Clone(r.journal.summaries)
		lists = check.Must(again.List(ann, live.Query{}))(r)
	}
	for id := range want {
		r.journal.summaries[id] = []byte("}")
	}
	r.journal.setErr(errFull)
	again := r.reloaded(r.journal)
	if got, err := again.List(ann, live.Query{}); err != nil || text(t, got) != text(t, lists) ||
		strings.Count(again.log.String(), "game summary not saved") != 2 {
		t.Errorf("on a full disk: lists %s, %v, logged %q", text(t, got), err, again.log)
	}
}

// The journals of 0.5.0 are replayed to the same end for ever: every revision has its state hash, and the
// scorecard and the box score are the same. They have every kind of move.
func TestJournal_replays(t *testing.T) {
	t.Parallel()
	if *update {
		writeWhole(t, filepath.Join("testdata", "journal-3-whole"))
		writeInterrupted(t, filepath.Join("testdata", "journal-3-interrupted"))
	}
	kinds := map[protocol.EventKind]bool{}
	for _, name := range []string{"whole", "interrupted"} {
		path := filepath.Join("testdata", "journal-3-"+name)
		want := check.Must(os.ReadFile(path + ".golden"))(t)
		id, j := readJournal(t, path+".gz")
		r := newRig(t, j)
		r.id = id
		got := r.trace()
		check.That(t, got == string(want), "%s replays to %s", path, difference(got, string(want)))
		for _, m := range j.moves[id] {
			var move struct {
				Kind protocol.EventKind `json:"kind"`
			}
			check.NoError(r, json.Unmarshal(m, &move))
			kinds[move.Kind] = true
		}
	}
	for _, k := range []protocol.EventKind{
		protocol.Created, protocol.Joined, protocol.LineupSubmitted, protocol.Started, protocol.Sealed,
		protocol.Unsealed, protocol.Played, protocol.Questioned, protocol.Answered, protocol.Substituted,
		protocol.Paused, protocol.Resumed, protocol.BotTookOver, protocol.SideReturned, protocol.TimedOut,
		protocol.Conceded, protocol.Ended, protocol.RematchCreated,
	} {
		check.That(t, kinds[k], "no journal has the kind %s", k)
	}
}

// A game that was begun in 0.5.0 is played to its end.
func TestJournal_continues(t *testing.T) {
	t.Parallel()
	id, old := readJournal(t, filepath.Join("testdata", "journal-3-whole.gz"))
	for _, moves := range []int{20, 60, 121} {
		r := newRig(t, old.cut(id, moves))
		r.id = id
		if g := r.get(ann); g.Status != protocol.Active || g.Revision != uint64(moves) {
			t.Fatalf("loaded at %d of %d moves, %s", g.Revision, moves, g.Status)
		}
		end := r.playOut()
		check.That(t, end.Result != nil && end.Result.How == "final", "from %d: ended %+v", moves, end.Result)
		got, want := r.reloaded(r.journal).visible(), r.visible()
		check.That(t, got == want, "from %d, loaded: %s", moves, difference(got, want))
		checkScorecard(r, end)
	}
}

// trace returns what must never change of a game that was played.
func (r *rig) trace() string {
	r.Helper()
	var b strings.Builder
	all := check.Must(r.Events(r.Context(), protocol.Person{}, r.id, 0))(r)
	for _, m := range all {
		if e, ok := m.Data.(*protocol.Event); ok {
			fmt.Fprintf(&b, "%d %s %s %s\n", m.Revision, e.Kind, e.Notation, e.Hash)
		} else {
			fmt.Fprintf(&b, "%d skip\n", m.Revision)
		}
	}
	g, box, err := r.Box(r.Context(), protocol.Person{}, r.id)
	check.NoError(r, err)
	fmt.Fprintf(&b, "%s\n%s\n", text(r, g.Result), text(r, box))
	check.NoError(r, r.Scorecard(r.Context(), r.id, &b))
	return b.String()
}

// writeWhole writes the journal of a game that is played to its last out.
func writeWhole(t *testing.T, path string) {
	t.Helper()
	r := begun(t, withoutDH)
	r.playOut()
	check.NoError(r, check.Err(r.Rematch(t.Context(), ann, r.id)))
	r.writeJournal(path)
}

// writeInterrupted writes the journal of a game with every kind of move between plays.
func writeInterrupted(t *testing.T, path string) {
	t.Helper()
	inBubble(t, func(r *rig) {
		_, b := r.watchBoth()
		pass(90 * time.Second)
		b.leave()
		pass(61 * time.Second)
		r.decide(ann)
		r.watch(bob, 0)
		for n := 0; len(r.get(ann).State.Waiting) < 2; n++ {
			r.step(n)
		}
		r.do(ann, r.get(ann).Legal[1].Label)
		r.do(ann, "Take the call back")
		r.do(ann, "Pause")
		r.do(bob, "Resume")
		r.do(bob, "Let the bot manage")
		r.decide(ann)
		r.do(bob, "Take your side back")
		r.do(bob, "Concede")
		r.writeJournal(path)
	}, turnSeconds(90))
}

// writeJournal writes a game: id, summary and moves, each after its length.
func (r *rig) writeJournal(path string) {
	r.Helper()
	var data bytes.Buffer
	z := gzip.NewWriter(&data)
	for _, part := range append([][]byte{[]byte(r.id), r.journal.summaries[r.id]}, r.journal.moves[r.id]...) {
		z.Write(append(binary.AppendUvarint(nil, uint64(len(part))), part...))
	}
	z.Close()
	for name, content := range map[string][]byte{".gz": data.Bytes(), ".golden": []byte(r.trace())} {
		check.NoError(r, os.WriteFile(path+name, content, 0o644))
	}
}

// readJournal reads what writeJournal wrote.
func readJournal(tb testing.TB, path string) (id string, j *journal) {
	tb.Helper()
	f := check.Must(os.Open(path))(tb)
	defer f.Close()
	z := check.Must(gzip.NewReader(f))(tb)
	var data bytes.Buffer
	check.Must(data.ReadFrom(z))(tb)
	var parts [][]byte
	for plain := data.Bytes(); len(plain) > 0; {
		n, size := binary.Uvarint(plain)
		parts, plain = append(parts, plain[size:size+int(n)]), plain[size+int(n):]
	}
	j = newJournal()
	id = string(parts[0])
	j.summaries[id], j.moves[id] = parts[1], parts[2:]
	return id, j
}

// TestMain runs the tests, or, as a child process, plays games until it is killed.
func TestMain(m *testing.M) { killtest.Main(m, map[string]killtest.Child{"players": playUntilKilled}) }

// TestCrash kills a process that plays four games, again and again at random moments. The process writes every ack and
// every event that it receives into a diary. In the end no acknowledged command is missing or saved twice, and every
// published event has the revision and the state's hash of the saved game. A hundred lives share a store: after some
// hundreds the person who creates all games would have more than are kept.
func TestCrash(t *testing.T) {
	t.Parallel()
	const most = 100
	for rounds := killtest.Rounds(t, 20); rounds > 0; rounds -= most {
		dir := t.TempDir()
		for life := range min(rounds, most) {
			killtest.Kill(t, life, 150*time.Millisecond, "players", dir, strconv.Itoa(life))
		}
		s := check.Must(store.Open(filepath.Join(dir, "pressbox.db"), store.Options{}))(t)
		checkDiary(rigWith(t, nil, live.Config{Journal: s.Games()}), s.Games(), filepath.Join(dir, "diary"))
		check.NoError(t, s.Close())
	}
}

// A processTB lets a process that is not a test use a rig: what fails ends the process.
type processTB struct{ testing.TB }

func (processTB) Context() context.Context            { return context.Background() }
func (processTB) Helper()                             {}
func (p processTB) Fatal(args ...any)                 { p.Fatalf("%s", fmt.Sprint(args...)) }
func (p processTB) Errorf(format string, args ...any) { p.Fatalf(format, args...) }
func (processTB) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

// A player plays one game after another until the process is killed.
type player struct {
	*rig
	life  string
	diary *os.File
	ready func()                      // called when a command is acknowledged
	sent  map[string]protocol.Command // by game and person: commands of earlier lives without an ack
}

// playUntilKilled plays four games at a time: those that exist, and new ones. Its arguments are the folder and the
// number of the life.
func playUntilKilled(args []string) error {
	diary := filepath.Join(args[0], "diary")
	p := player{life: args[1], ready: sync.OnceFunc(func() { fmt.Println("ready") })}
	var err error
	if p.sent, err = unacknowledged(diary); err != nil {
		return err
	}
	if p.diary, err = os.OpenFile(diary, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	s, err := store.Open(filepath.Join(args[0], "pressbox.db"), store.Options{})
	if err != nil {
		return err
	}
	r := rigWith(processTB{}, nil, live.Config{Journal: s.Games()})
	l, err := r.List(ann, live.Query{})
	if err != nil {
		return err
	}
	unfinished := append(l.Active, l.Pending...)
	var playing sync.WaitGroup
	for n := range 4 {
		own := *r
		player := p
		player.rig = &own
		if n < len(unfinished) {
			own.id = unfinished[n].ID
		} else {
			player.create([]protocol.Opponent{protocol.Open, protocol.Bot, protocol.HotSeat}[n%3])
		}
		playing.Go(player.play)
	}
	playing.Wait()
	return nil
}

func (p *player) create(opponent protocol.Opponent) {
	p.rig.create(innings(3), func(o *protocol.Options) { o.Opponent = opponent })
}

// play plays games.
func (p *player) play() {
	for {
		p.prepare()
		n := 0
		for p.get(ann).Status != protocol.Finished {
			p.turn(n)
			n++
		}
		p.create(p.get(ann).Options.Opponent)
	}
}

// prepare brings a game to its first pitch, sends unacknowledged commands again, and lets a spectator watch.
func (p *player) prepare() {
	for _, side := range game.Sides() {
		g := p.get(ann)
		info := [2]protocol.Seat{g.Away, g.Home}[side]
		if g.Status != protocol.Pending || info.LineupSubmitted {
			continue
		}
		who := ann
		if info.Manager == nil {
			p.join(bob)
		}
		if info.Manager == nil || info.Manager.ID == bob.ID {
			who = bob
		}
		p.submitLineup(who, side)
	}
	for _, who := range []protocol.Person{ann, bob} {
		if c, ok := p.sent[p.id+" "+who.ID]; ok {
			p.submit(who, c)
		}
	}
	check.Must(p.Watch(p.Context(), carl, p.id, 0, p.record(carl)))(p)
}

// turn lets each manager decide once.
func (p *player) turn(n int) {
	for _, who := range []protocol.Person{ann, bob} {
		g := p.get(who)
		if len(g.Legal) == 0 {
			continue
		}
		c := protocol.Command{
			ID: fmt.Sprintf("%s-%d", p.life, n), Revision: g.Revision, Action: g.Legal[n*5%len(g.Legal)].Action,
		}
		fmt.Fprintf(p.diary, "sent %s %s %s %s\n", p.id, who.ID, c.ID, text(p, c))
		p.submit(who, c)
	}
}

func (p *player) submit(who protocol.Person, c protocol.Command) {
	_, _, err := p.Submit(p.Context(), who, p.id, c, p.record(who))
	check.Require(p, err == nil, "%s sends %+v: %v", who.Name, c, err)
}

// record returns a subscriber that writes what it receives into the diary.
func (p *player) record(who protocol.Person) live.Send {
	return func(m *protocol.Message) bool {
		all := m.Batch
		if all == nil {
			all = []*protocol.Message{m}
		}
		var lines strings.Builder
		for _, m := range all {
			if _, ok := m.Data.(protocol.Ack); ok {
				fmt.Fprintf(&lines, "acked %s %s %s %d\n", m.Game, who.ID, m.CommandID, m.Revision)
				defer p.ready()
			} else if m.Type == "event" || m.Type == "skip" {
				lines.WriteString(received(m))
			}
		}
		p.diary.WriteString(lines.String())
		return true
	}
}

// received returns the diary's line for an event or skip.
func received(m *protocol.Message) string {
	if e, ok := m.Data.(*protocol.Event); ok {
		return fmt.Sprintf("received %s %d %s %s\n", m.Game, m.Revision, e.Kind, e.Hash)
	}
	return fmt.Sprintf("received %s %d skip \n", m.Game, m.Revision)
}

// unacknowledged returns the last command of each person in each game, if it has no ack.
func unacknowledged(diary string) (map[string]protocol.Command, error) {
	sent := map[string]protocol.Command{}
	data, err := os.ReadFile(diary)
	if os.IsNotExist(err) {
		return sent, nil
	}
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5)
		switch f[0] {
		case "sent":
			var c protocol.Command
			if err := json.Unmarshal([]byte(f[4]), &c); err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
			sent[f[1]+" "+f[2]] = c
		case "acked":
			delete(sent, f[1]+" "+f[2])
		}
	}
	return sent, err
}

// checkDiary compares the diary with what was saved.
func checkDiary(r *rig, j live.Journal, diary string) {
	r.Helper()
	data := check.Must(os.ReadFile(diary))(r)
	saved := map[string]map[string]bool{} // by game, the lines that the diary may have
	count := map[string]int{}
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5)
		count[f[0]]++
		if f[0] == "sent" {
			continue
		}
		if saved[f[1]] == nil {
			r.id = f[1]
			saved[f[1]] = savedLines(r, j)
		}
		check.That(r, saved[f[1]][line], "the diary has %q, which was not saved", line)
	}
	check.That(r, count["acked"] != 0 && count["received"] >= count["acked"], "the diary has %v", count)
	r.Logf("%d games, %v", len(saved), count)
}

// savedLines returns the lines that the diary may have of the rig's game.
func savedLines(r *rig, j live.Journal) map[string]bool {
	r.Helper()
	lines := map[string]bool{}
	all := check.Must(r.Events(r.Context(), carl, r.id, 0))(r)
	for _, m := range all {
		lines[received(m)] = true
	}
	moves := check.Must(j.Moves(r.Context(), r.id))(r)
	once := map[string]bool{}
	for _, data := range moves {
		var m struct {
			Rev uint64          `json:"rev"`
			By  protocol.Person `json:"by"`
			CID string          `json:"cid"`
		}
		check.NoError(r, json.Unmarshal(data, &m))
		if key := m.By.ID + " " + m.CID; m.CID != "" && once[key] {
			r.Errorf("game %s has the command %s twice", r.id, key)
		} else {
			once[key] = true
		}
		lines[fmt.Sprintf("acked %s %s %s %d\n", r.id, m.By.ID, m.CID, m.Rev)] = true
	}
	return lines
}
