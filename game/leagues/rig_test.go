package leagues_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game/bot/bottest"
	"pressbox/game/league"
	"pressbox/game/leagues"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

var errDead = errors.New("the disk is gone")

// A disk is a journal of games and a repository of leagues in memory, which fails at a write if that is requested.
type disk struct {
	mu      sync.Mutex
	writes  int
	dieAt   int   // the write from which on all fail; 0: never
	written bool  // the first write that fails is on disk nevertheless: the process died before it knew
	err     error // of saving a league; nil: none

	summaries map[string][]byte
	moves     map[string][][]byte
	boxes     map[string][]byte
	leagues   map[string][]byte
}

func newDisk() *disk {
	return &disk{
		summaries: map[string][]byte{}, moves: map[string][][]byte{}, boxes: map[string][]byte{},
		leagues: map[string][]byte{},
	}
}

// write calls do unless the disk is gone.
func (d *disk) write(do func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes++
	if d.dieAt == 0 || d.writes < d.dieAt || d.written && d.writes == d.dieAt {
		do()
	}
	if d.dieAt > 0 && d.writes >= d.dieAt {
		return errDead
	}
	return nil
}

// die makes the nth write from now on fail, and all that follow; 0: none fails.
func (d *disk) die(n int, written bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dieAt, d.written = 0, written
	if n > 0 {
		d.dieAt = d.writes + n
	}
}

// setErr sets the error of saving a league; nil: it succeeds again.
func (d *disk) setErr(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

func (d *disk) Append(_ context.Context, c live.Change) (live.Space, error) {
	return live.Space{}, d.write(func() {
		if c.Summary == nil {
			delete(d.summaries, c.Game)
			delete(d.moves, c.Game)
			delete(d.boxes, c.Game)
			return
		}
		d.summaries[c.Game] = c.Summary
		d.moves[c.Game] = append(d.moves[c.Game], c.Moves...)
		if c.Box != nil {
			d.boxes[c.Game] = c.Box
		}
	})
}

func (d *disk) Summaries(context.Context) (map[string]live.Stored, error) {
	all := map[string]live.Stored{}
	for id, summary := range d.read(d.summaries) {
		all[id] = live.Stored{Summary: summary}
	}
	return all, nil
}

func (d *disk) Leagues(context.Context) (map[string][]byte, error) { return d.read(d.leagues), nil }

func (d *disk) read(table map[string][]byte) map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(table)
}

func (d *disk) Moves(_ context.Context, id string) ([][]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.moves[id]), nil
}

func (d *disk) Boxes(_ context.Context, ids []string) (map[string][]byte, error) {
	found := d.read(d.boxes)
	maps.DeleteFunc(found, func(id string, _ []byte) bool { return !slices.Contains(ids, id) })
	return found, nil
}

func (d *disk) SaveLeague(_ context.Context, id string, data []byte) error {
	d.mu.Lock()
	err := d.err
	d.mu.Unlock()
	return cmp.Or(err, d.write(func() { d.leagues[id] = data }))
}

func (d *disk) DeleteLeague(_ context.Context, id string) error {
	return d.write(func() { delete(d.leagues, id) })
}

// builtIn returns the built-in league.
var builtIn = sync.OnceValue(func() *league.League { return league.New(league.LastSeason) })

var (
	ann  = protocol.Person{ID: "u-ann", Name: "Ann"}
	bob  = protocol.Person{ID: "u-bob", Name: "Bob"}
	carl = protocol.Person{ID: "u-carl", Name: "Carl"}
)

// A rig is a server's leagues and games over a disk.
type rig struct {
	testing.TB
	*leagues.Leagues
	disk  *disk
	games *live.Games
	log   *check.Log
	stop  func() // ends what runs
}

// open returns a rig that runs; it is called in a bubble.
func open(tb testing.TB, d *disk, change ...func(*leagues.Config)) *rig {
	tb.Helper()
	r := &rig{TB: tb, disk: d, log: &check.Log{}}
	log := slog.New(slog.NewTextHandler(r.log, nil))
	r.games = check.Must(live.New(tb.Context(), live.Config{
		Journal: d, Rosters: builtIn(), Seeds: bottest.Seeds(), Log: log, Finished: func(string) { r.Wake() },
	}))(tb)
	c := leagues.Config{Repository: d, Games: r.games, Rosters: builtIn(), Zone: time.UTC, Log: log}
	for _, f := range change {
		f(&c)
	}
	r.Leagues = check.Must(leagues.New(tb.Context(), c))(tb)
	ends := []func(){check.Run(tb, r.games.Run), check.Run(tb, r.Run)}
	r.stop = func() {
		for _, end := range slices.Backward(ends) {
			end()
		}
	}
	return r
}

// inBubble runs a test in a bubble with a rig over an empty disk.
func inBubble(t *testing.T, test func(r *rig), change ...func(*leagues.Config)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := open(t, newDisk(), change...)
		defer func() { r.stop() }()
		test(r)
	})
}

// pass advances the time of a bubble, and waits for all that is due then.
func pass(d time.Duration) {
	synctest.Wait()
	time.Sleep(d) // in a bubble, which costs no time
	synctest.Wait()
}

// request asks for a league of three innings between these managers: "me", "open", "bot".
func request(managers ...string) leagues.Request {
	r := leagues.Defaults(leagues.RoundRobin)
	r.Name, r.Meetings, r.BestOf, r.Options.Innings, r.Options.BotLevel = "Kitchen", 1, 1, 3, 1
	clubs := []string{"BWH", "CPR", "DUN", "FEN", "HLX", "OKV", "STW", "VRG"}
	for i, m := range managers {
		r.Seats = append(r.Seats, leagues.SeatRequest{Team: clubs[i], Manager: m})
	}
	return r
}

// series asks for a series of three innings.
func series(bestOf int, managers ...string) leagues.Request {
	r := request(managers...)
	r.Meetings, r.BestOf = 0, bestOf
	return r
}

// create creates a league of Ann's.
func (r *rig) create(q leagues.Request) leagues.View {
	r.Helper()
	k := leagues.RoundRobin
	if q.Meetings == 0 {
		k = leagues.Series
	}
	return check.Must(r.Create(r.Context(), ann, k, q))(r)
}

func (r *rig) get(id string) leagues.View {
	r.Helper()
	for _, k := range []leagues.Kind{leagues.RoundRobin, leagues.Series} {
		if v, err := r.Get(ann, k, id); err == nil {
			return v
		}
	}
	r.Fatalf("there is no league %s", id)
	return leagues.View{}
}

// schedule returns the calendar of a league.
func (r *rig) schedule(id string) []leagues.GameView {
	r.Helper()
	s := check.Must(r.Schedule(r.Context(), ann, r.get(id).Kind, id))(r)
	return s.Games
}

// statuses returns the number of games of each status, as text.
func (r *rig) statuses(id string) string {
	r.Helper()
	counts := map[string]int{}
	for _, g := range r.schedule(id) {
		counts[g.Status]++
	}
	return fmt.Sprint(counts)
}

// wantCode checks the code of a refusal; "" is none.
func (r *rig) wantCode(what string, err error, want protocol.Code) {
	r.Helper()
	var code protocol.Code
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		code = refused.Code
	}
	check.That(r, code == want && (want != "" || err == nil), "%s: %v, want %q", what, err, want)
}
