package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/store"
	"pressbox/store/killtest"
)

// TestMain runs the tests, or, as a child process, plays games until it is killed.
func TestMain(m *testing.M) {
	killtest.Main(m, map[string]killtest.Part{"players": play})
}

// TestCrash kills a process that plays four games, again and again at random moments. The process writes every ack and
// every event that it receives into a diary. In the end no acknowledged command is missing or saved twice, and every
// published event has the revision and the state's hash of the saved game.
func TestCrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for life := range killtest.Rounds(t, 20) {
		killtest.Kill(t, life, 150*time.Millisecond, "players", dir, strconv.Itoa(life))
	}
	s, err := store.Open(filepath.Join(dir, "pressbox.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	checkDiary(t, dir, s.Games())
}

// A player plays games until the process is killed.
type player struct {
	games *live.Games
	life  string
	diary *os.File
	ready func()                      // called when a command is acknowledged
	sent  map[string]protocol.Command // by game and person: commands of earlier lives without an ack
}

// play plays until the process is killed. Its arguments are the folder and the number of the life.
func play(args []string) error {
	dir := args[0]
	d := &player{life: args[1]}
	var err error
	if d.sent, err = unacknowledged(filepath.Join(dir, "diary")); err != nil {
		return err
	}
	if d.diary, err = os.OpenFile(filepath.Join(dir, "diary"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	s, err := store.Open(filepath.Join(dir, "pressbox.db"), store.Options{})
	if err != nil {
		return err
	}
	ctx := context.Background()
	d.games, err = live.New(ctx, live.Config{Journal: s.Games(), Rosters: builtIn(), Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return err
	}
	ids, err := d.open(ctx)
	if err != nil {
		return err
	}
	d.ready = sync.OnceFunc(func() { fmt.Println("ready") })
	var playing sync.WaitGroup
	failed := make(chan error, len(ids))
	for _, id := range ids {
		playing.Go(func() { failed <- d.play(ctx, id) })
	}
	if err := <-failed; err != nil {
		return err
	}
	playing.Wait()
	return nil
}

// open returns the ids of four games to play: those that exist, and new ones.
func (d *player) open(ctx context.Context) ([]string, error) {
	l, err := d.games.List(ann, live.Query{})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, g := range append(l.Active, l.Pending...) {
		ids = append(ids, g.ID)
	}
	for n := len(ids); n < 4; n++ {
		id, err := d.begin(ctx, []protocol.Opponent{protocol.Open, protocol.Bot, protocol.HotSeat}[n%3])
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// begin creates a game; Bob joins if a side is open.
func (d *player) begin(ctx context.Context, opponent protocol.Opponent) (string, error) {
	g, err := d.games.Create(ctx, ann, request(innings(3), func(o *protocol.Options) { o.Opponent = opponent }))
	if err == nil && opponent == protocol.Open {
		_, err = d.games.Join(ctx, bob, g.ID)
	}
	return g.ID, err
}

// play plays a game, then others like it.
func (d *player) play(ctx context.Context, id string) error {
	for {
		over, err := d.prepare(ctx, id)
		for n := 0; err == nil && !over; n++ {
			over, err = d.turn(ctx, id, n)
		}
		if err != nil {
			return fmt.Errorf("game %s: %w", id, err)
		}
		g, err := d.games.Game(ctx, ann, id)
		if err != nil {
			return err
		}
		if id, err = d.begin(ctx, g.Options.Opponent); err != nil {
			return err
		}
	}
}

// prepare brings a game to its first pitch, sends unacknowledged commands again, and lets a spectator watch.
func (d *player) prepare(ctx context.Context, id string) (over bool, err error) {
	g, err := d.games.Game(ctx, ann, id)
	if err != nil {
		return false, err
	}
	for side, info := range map[int]*protocol.Seat{0: &g.Away, 1: &g.Home} {
		if g.Status != protocol.Pending || info.LineupSubmitted {
			continue
		}
		who := ann
		if info.Manager == nil {
			if _, err := d.games.Join(ctx, bob, id); err != nil {
				return false, err
			}
		}
		if info.Manager == nil || info.Manager.ID == bob.ID {
			who = bob
		}
		l, err := d.games.Suggest(ctx, who, id, sides[side])
		if err != nil {
			return false, err
		}
		if _, err := d.games.SetLineup(ctx, who, id, sides[side], l); err != nil {
			return false, err
		}
	}
	for _, who := range []protocol.Person{ann, bob} {
		if c, ok := d.sent[id+" "+who.ID]; ok {
			if _, _, err := d.games.Submit(ctx, who, id, c, d.note(who)); err != nil {
				return false, fmt.Errorf("%s sends %+v again: %w", who.Name, c, err)
			}
		}
	}
	_, err = d.games.Watch(ctx, carl, id, 0, d.note(carl))
	g, err2 := d.games.Game(ctx, ann, id)
	if err == nil {
		err = err2
	}
	return g.Status == protocol.Finished, err
}

// turn lets each manager decide once.
func (d *player) turn(ctx context.Context, id string, n int) (over bool, err error) {
	for _, who := range []protocol.Person{ann, bob} {
		g, err := d.games.Game(ctx, who, id)
		if err != nil || g.Status == protocol.Finished {
			return true, err
		}
		if len(g.Legal) == 0 {
			continue
		}
		c := protocol.Command{ID: fmt.Sprintf("%s-%d", d.life, n), Revision: g.Revision, Action: g.Legal[n*5%len(g.Legal)].Action}
		text, err := json.Marshal(c)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(d.diary, "sent %s %s %s %s\n", id, who.ID, c.ID, text)
		if _, _, err := d.games.Submit(ctx, who, id, c, d.note(who)); err != nil {
			return false, fmt.Errorf("%s does %s: %w", who.Name, text, err)
		}
	}
	return false, nil
}

// note returns a subscriber that writes what it receives into the diary.
func (d *player) note(who protocol.Person) live.Send {
	return func(m *protocol.Message) bool {
		all := m.Batch
		if all == nil {
			all = []*protocol.Message{m}
		}
		var lines strings.Builder
		for _, m := range all {
			switch e := m.Data.(type) {
			case protocol.Ack:
				fmt.Fprintf(&lines, "acked %s %s %s %d\n", m.Game, who.ID, m.CommandID, m.Revision)
				defer d.ready()
			case *protocol.Event:
				fmt.Fprintf(&lines, "received %s %d %s %s\n", m.Game, m.Revision, e.Kind, e.Hash)
			case nil:
				fmt.Fprintf(&lines, "received %s %d skip %s\n", m.Game, m.Revision, "")
			}
		}
		d.diary.WriteString(lines.String())
		return true
	}
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
func checkDiary(t *testing.T, dir string, j live.Journal) {
	t.Helper()
	h, err := live.New(t.Context(), live.Config{Journal: j, Rosters: builtIn(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "diary"))
	if err != nil {
		t.Fatal(err)
	}
	saved := map[string]map[string]bool{} // by game, the lines that the diary may have
	acked, received := 0, 0
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5)
		if f[0] == "sent" {
			continue
		}
		if saved[f[1]] == nil {
			saved[f[1]] = savedLines(t, h, j, f[1])
		}
		if f[0] == "acked" {
			acked++
		} else {
			received++
		}
		if !saved[f[1]][line] {
			t.Errorf("the diary has %q, which was not saved", line)
		}
	}
	if acked == 0 || received < acked {
		t.Errorf("%d commands acknowledged, %d events received", acked, received)
	}
	t.Logf("%d games, %d commands acknowledged, %d events received", len(saved), acked, received)
}

// savedLines returns the lines that the diary may have of a game.
func savedLines(t *testing.T, h *live.Games, j live.Journal, id string) map[string]bool {
	t.Helper()
	lines := map[string]bool{}
	all, err := h.Events(t.Context(), carl, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if e, ok := m.Data.(*protocol.Event); ok {
			lines[fmt.Sprintf("received %s %d %s %s\n", id, m.Revision, e.Kind, e.Hash)] = true
		} else {
			lines[fmt.Sprintf("received %s %d skip \n", id, m.Revision)] = true
		}
	}
	moves, err := j.Moves(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	once := map[string]bool{}
	for _, data := range moves {
		var m struct {
			Rev uint64          `json:"rev"`
			By  protocol.Person `json:"by"`
			CID string          `json:"cid"`
		}
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		if key := m.By.ID + " " + m.CID; m.CID != "" && once[key] {
			t.Errorf("game %s has the command %s twice", id, key)
		} else {
			once[key] = true
		}
		lines[fmt.Sprintf("acked %s %s %s %d\n", id, m.By.ID, m.CID, m.Rev)] = true
	}
	return lines
}
