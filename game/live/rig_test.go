package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pressbox/game"
	"pressbox/game/league"
	"pressbox/game/live"
	"pressbox/game/protocol"
)

// A journal keeps games in memory. full, if set, is why it keeps nothing; crowded says that room is short.
type journal struct {
	mu      sync.Mutex
	full    error
	crowded bool
	heads   map[string][]byte
	moves   map[string][][]byte
	boxes   map[string][]byte
	syncs   int
}

func newJournal() *journal {
	return &journal{heads: map[string][]byte{}, moves: map[string][][]byte{}, boxes: map[string][]byte{}}
}

func (j *journal) Append(ctx context.Context, c live.Change) (bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if j.full != nil {
		return false, j.full
	}
	j.syncs++
	if c.Summary == nil {
		delete(j.heads, c.Game)
		delete(j.moves, c.Game)
		delete(j.boxes, c.Game)
		return false, nil
	}
	if c.First != uint64(len(j.moves[c.Game]))+1 {
		return false, fmt.Errorf("move %d after %d", c.First, len(j.moves[c.Game]))
	}
	j.heads[c.Game] = c.Summary
	j.moves[c.Game] = append(j.moves[c.Game], c.Moves...)
	if c.Box != nil {
		j.boxes[c.Game] = c.Box
	}
	return j.crowded, nil
}

func (j *journal) Summaries(context.Context) (map[string][]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.heads), nil
}

func (j *journal) Moves(_ context.Context, game string) ([][]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.moves[game]), nil
}

func (j *journal) Boxes(_ context.Context, games []string) (map[string][]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	found := map[string][]byte{}
	for _, id := range games {
		if box, ok := j.boxes[id]; ok {
			found[id] = box
		}
	}
	return found, nil
}

// setFull lets the journal keep nothing, or all again.
func (j *journal) setFull(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.full = err
}

// cut returns a journal that has a game's first moves only, under the same head.
func (j *journal) cut(id string, moves int) *journal {
	c := newJournal()
	c.heads[id], c.moves[id] = j.heads[id], j.moves[id][:moves]
	return c
}

// builtIn returns the built-in league.
var builtIn = sync.OnceValue(func() *league.League { return league.New(league.LastSeason) })

// said is an announcer who writes down what he was given.
type said struct {
	mu    sync.Mutex
	lines []string
	look  func() int // if set, how many events were told
	told  int        // as the last line was said
}

func (s *said) Comment(_, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.look != nil {
		s.told = s.look()
	}
	s.lines = append(s.lines, text)
}

var (
	ann  = protocol.Person{ID: "u-ann", Name: "Ann"}
	bob  = protocol.Person{ID: "u-bob", Name: "Bob"}
	carl = protocol.Person{ID: "u-carl", Name: "Carl"}

	sides = [2]game.Side{game.Away, game.Home}
)

func newHall(tb testing.TB, j live.Journal) *live.Games {
	tb.Helper()
	h, err := live.New(tb.Context(), live.Config{Journal: j, Rosters: builtIn(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// clubs returns the ids of two clubs of the newest season.
func clubs() (home, away string) { return "BWH", "CPR" }

// request returns a wish with the default options, changed.
func request(change func(*protocol.Options)) protocol.Request {
	home, away := clubs()
	r := protocol.Request{HomeTeam: home, AwayTeam: away, Options: protocol.Defaults()}
	if change != nil {
		change(&r.Options)
	}
	return r
}

// begin makes a game and brings it to its first pitch: Ann makes it, Bob joins, if the seat is open.
func begin(tb testing.TB, h *live.Games, change func(*protocol.Options)) protocol.Game {
	tb.Helper()
	r := request(change)
	g, err := h.Create(tb.Context(), ann, r)
	if err != nil {
		tb.Fatal(err)
	}
	managers := map[string]protocol.Person{"home": ann, "away": ann}
	if r.Options.Opponent == protocol.Open {
		if g, err = h.Join(tb.Context(), bob, g.ID); err != nil {
			tb.Fatal(err)
		}
		managers["away"] = bob
		if r.Options.Side == "away" {
			managers["home"], managers["away"] = bob, ann
		}
	}
	for _, side := range []game.Side{game.Away, game.Home} {
		seat := g.Away
		if side == game.Home {
			seat = g.Home
		}
		if seat.Bot {
			continue
		}
		l, err := h.Suggest(tb.Context(), managers[side.String()], g.ID, side)
		if err != nil {
			tb.Fatal(err)
		}
		if g, err = h.SetLineup(tb.Context(), managers[side.String()], g.ID, side, l); err != nil {
			tb.Fatal(err)
		}
	}
	if g.Status != protocol.Active {
		tb.Fatalf("the game is %s with both line-ups in, want active", g.Status)
	}
	return g
}

// A watcher collects what he is told.
type watcher struct {
	mu    sync.Mutex
	all   []*protocol.Message
	limit int // of messages that he takes; 0 means any number
	leave func()
}

// watch lets somebody watch a game.
func watch(tb testing.TB, h *live.Games, who protocol.Person, id string, since uint64) *watcher {
	tb.Helper()
	w := &watcher{}
	w.join(tb, h, who, id, since)
	return w
}

func (w *watcher) join(tb testing.TB, h *live.Games, who protocol.Person, id string, since uint64) {
	tb.Helper()
	leave, err := h.Watch(tb.Context(), who, id, since, w.tell)
	if err != nil {
		tb.Fatal(err)
	}
	w.leave = leave
}

func (w *watcher) tell(m *protocol.Message) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit > 0 && len(w.all) >= w.limit {
		return false
	}
	if m.Batch != nil {
		w.all = append(w.all, m.Batch...)
	} else {
		w.all = append(w.all, m)
	}
	return true
}

// told returns what the watcher was told so far, of these types; of none, all.
func (w *watcher) told(types ...string) []*protocol.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []*protocol.Message
	for _, m := range w.all {
		if len(types) == 0 || slices.Contains(types, m.Type) {
			found = append(found, m)
		}
	}
	return found
}

// last returns the last message of a type, nil if there is none.
func (w *watcher) last(t string) *protocol.Message {
	all := w.told(t)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// kinds returns the kinds of the events the watcher was told, "skip" for what was hidden.
func (w *watcher) kinds() []string {
	var kinds []string
	for _, m := range w.told("event", "skip") {
		if e, ok := m.Data.(*protocol.Event); ok {
			kinds = append(kinds, string(e.Kind))
		} else {
			kinds = append(kinds, "skip")
		}
	}
	return kinds
}

// text returns a value as JSON.
func text(tb testing.TB, v any) string {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// choice returns what somebody may do now whose label begins so.
func choice(tb testing.TB, h *live.Games, who protocol.Person, id, label string) protocol.Choice {
	tb.Helper()
	g := look(tb, h, who, id)
	for _, c := range append(slices.Clone(g.Legal), g.Offers...) {
		if strings.HasPrefix(c.Label, label) {
			return c
		}
	}
	tb.Fatalf("%s has no %q at %d: %s", who.Name, label, g.Revision, text(tb, append(g.Legal, g.Offers...)))
	return protocol.Choice{}
}

func look(tb testing.TB, h *live.Games, who protocol.Person, id string) protocol.Game {
	tb.Helper()
	g, err := h.Game(tb.Context(), who, id)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// commands counts, so that each command has an id of its own.
var commands atomic.Uint64

// command makes a command of an action for the game as it is now.
func command(tb testing.TB, h *live.Games, who protocol.Person, id string, a protocol.Action) protocol.Command {
	tb.Helper()
	return protocol.Command{ID: fmt.Sprint("c", commands.Add(1)), Revision: look(tb, h, who, id).Revision, Action: a}
}

// do does what somebody may do now whose label begins so, and returns the revision.
func do(tb testing.TB, h *live.Games, who protocol.Person, id, label string) uint64 {
	tb.Helper()
	rev, dup, err := h.Submit(tb.Context(), who, id, command(tb, h, who, id, choice(tb, h, who, id, label).Action), nil)
	if err != nil || dup {
		tb.Fatalf("%s does %q: dup %v, %v", who.Name, label, dup, err)
	}
	return rev
}

// code returns the code of an error of the hall; "" of none.
func code(tb testing.TB, err error) protocol.Code {
	tb.Helper()
	if err == nil {
		return ""
	}
	refused, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		tb.Fatalf("%v is a %T, want a *protocol.Error", err, err)
	}
	return refused.Code
}
