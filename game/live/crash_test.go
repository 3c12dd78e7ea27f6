package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/killtest"
)

// TestMain runs the tests, or, as a child process, plays games until it is killed.
func TestMain(m *testing.M) { killtest.Main(m, map[string]killtest.Child{"players": playUntilKilled}) }

// TestCrash kills a process that plays four games, again and again at random moments. The process writes every ack and
// every event that it receives into a diary. In the end no acknowledged command is missing or saved twice, and every
// published event has the revision and the state's hash of the saved game.
func TestCrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for life := range killtest.Rounds(t, 20) {
		killtest.Kill(t, life, 150*time.Millisecond, "players", dir, strconv.Itoa(life))
	}
	s := check.Must(store.Open(filepath.Join(dir, "pressbox.db"), store.Options{}))(t)
	defer s.Close()
	checkDiary(rigWith(t, nil, live.Config{Journal: s.Games()}), s.Games(), filepath.Join(dir, "diary"))
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
	for _, side := range sides {
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
	if _, _, err := p.Submit(p.Context(), who, p.id, c, p.record(who)); err != nil {
		p.Fatalf("%s sends %+v: %v", who.Name, c, err)
	}
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
