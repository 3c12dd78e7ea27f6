package live_test

import (
	"cmp"
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
	"testing/synctest"
	"time"

	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/league"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// A journal is a journal in memory.
type journal struct {
	mu        sync.Mutex
	err       error                   // if set, of Append
	listErr   error                   // if set, of Summaries
	before    func(live.Change) error // if set, called by Append
	space     live.Space              // that Append returns, with the size of the game
	summaries map[string][]byte
	moves     map[string][][]byte
	boxes     map[string][]byte
}

func newJournal() *journal {
	return &journal{summaries: map[string][]byte{}, moves: map[string][][]byte{}, boxes: map[string][]byte{}}
}

func (j *journal) Append(ctx context.Context, c live.Change) (live.Space, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.before != nil {
		if err := j.before(c); err != nil {
			return live.Space{}, err
		}
	}
	if err := cmp.Or(ctx.Err(), j.err); err != nil {
		return live.Space{}, err
	}
	if c.Summary == nil {
		delete(j.summaries, c.Game)
		delete(j.moves, c.Game)
		delete(j.boxes, c.Game)
		return live.Space{}, nil
	}
	if n := uint64(len(j.moves[c.Game])); c.Replace {
		j.moves[c.Game] = slices.Clone(j.moves[c.Game])
		j.moves[c.Game][c.First-1], c.Moves = c.Moves[0], nil
	} else if c.First != n+1 {
		return live.Space{}, fmt.Errorf("move %d after %d", c.First, n)
	}
	j.summaries[c.Game] = c.Summary
	j.moves[c.Game] = append(j.moves[c.Game], c.Moves...)
	if c.Box != nil {
		j.boxes[c.Game] = c.Box
	}
	saved := j.space
	saved.Game = j.size(c.Game)
	return saved, nil
}

// size returns the bytes of a game. j.mu must be held.
func (j *journal) size(id string) int64 {
	return int64(len(j.summaries[id]) + len(slices.Concat(j.moves[id]...)))
}

func (j *journal) Summaries(context.Context) (map[string]live.Stored, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := map[string]live.Stored{}
	for id, summary := range j.summaries {
		all[id] = live.Stored{Summary: summary, Bytes: j.size(id)}
	}
	return all, j.listErr
}

func (j *journal) Moves(_ context.Context, id string) ([][]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.moves[id]), nil
}

func (j *journal) Boxes(_ context.Context, ids []string) (map[string][]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	found := maps.Clone(j.boxes)
	maps.DeleteFunc(found, func(id string, _ []byte) bool { return !slices.Contains(ids, id) })
	return found, nil
}

// setErr sets the error of Append; nil: it works again.
func (j *journal) setErr(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = err
}

// cut returns a journal with a game's first moves only, and the same summary.
func (j *journal) cut(id string, moves int) *journal {
	c := newJournal()
	c.summaries[id], c.moves[id] = j.summaries[id], slices.Clip(j.moves[id][:moves])
	return c
}

// builtIn returns the built-in league.
var builtIn = sync.OnceValue(func() *league.League { return league.New(league.LastSeason) })

var (
	ann  = protocol.Person{ID: "u-ann", Name: "Ann"}
	bob  = protocol.Person{ID: "u-bob", Name: "Bob"}
	carl = protocol.Person{ID: "u-carl", Name: "Carl"}
)

// A rig is one game: Ann creates it and manages the home side, Bob the visitors. Its methods fail the test on errors.
type rig struct {
	testing.TB
	*live.Games
	journal *journal
	log     *check.Log
	id      string
}

// newRig returns a rig over a journal, without a game.
func newRig(tb testing.TB, j *journal) *rig {
	tb.Helper()
	return rigWith(tb, j, live.Config{Journal: j})
}

// rigWith returns a rig with a configuration; what it lacks is added.
func rigWith(tb testing.TB, j *journal, c live.Config) *rig {
	tb.Helper()
	r := &rig{TB: tb, journal: j, log: &check.Log{}}
	c.Log = slog.New(slog.NewTextHandler(r.log, nil))
	if c.Rosters == nil {
		c.Rosters = builtIn()
	}
	if c.Seeds == nil {
		c.Seeds = bottest.Seeds()
	}
	games := check.Must(live.New(tb.Context(), c))(r)
	r.Games = games
	return r
}

// begun returns a rig with a game that is at its first pitch.
func begun(tb testing.TB, options ...option) *rig {
	tb.Helper()
	r := newRig(tb, newJournal())
	r.begin(options...)
	return r
}

// reloaded returns a rig with the same game, loaded from a journal.
func (r *rig) reloaded(j *journal) *rig {
	r.Helper()
	next := newRig(r.TB, j)
	next.id = r.id
	return next
}

// An option changes the options of a game.
type option func(*protocol.Options)

func hotSeat(o *protocol.Options)   { o.Opponent = protocol.HotSeat }
func withBot(o *protocol.Options)   { o.Opponent = protocol.Bot }
func private(o *protocol.Options)   { o.Visibility = protocol.Private }
func withoutDH(o *protocol.Options) { o.DH = false }

func turnSeconds(n int) option { return func(o *protocol.Options) { o.TurnSeconds = n } }
func innings(n int) option     { return func(o *protocol.Options) { o.Innings = n } }

// request asks for a game of two clubs of the newest season.
func request(options ...option) protocol.Request {
	q := protocol.Request{HomeTeam: "BWH", AwayTeam: "CPR", Options: protocol.Defaults()}
	q.Options.TurnSeconds = 0
	for _, change := range options {
		change(&q.Options)
	}
	return q
}

// create creates a game of Ann's and makes it the rig's.
func (r *rig) create(options ...option) protocol.Game {
	r.Helper()
	g := check.Must(r.Create(r.Context(), ann, request(options...)))(r)
	r.id = g.ID
	return g
}

// begin brings a game of Ann's to its first pitch; Bob joins if a side is open.
func (r *rig) begin(options ...option) protocol.Game {
	r.Helper()
	g := r.create(options...)
	managers := [2]protocol.Person{ann, ann}
	if g.Options.Opponent == protocol.Open {
		r.join(bob)
		managers[g.Options.CreatorSide().Other()] = bob
	}
	for side, info := range [2]protocol.Seat{g.Away, g.Home} {
		if !info.Bot {
			g = r.submitLineup(managers[side], game.Side(side))
		}
	}
	check.Require(r, g.Status == protocol.Active, "the game is %s with both line-ups, want active", g.Status)
	return g
}

func (r *rig) join(who protocol.Person) protocol.Game {
	r.Helper()
	return check.Must(r.Join(r.Context(), who, r.id))(r)
}

func (r *rig) suggest(who protocol.Person, side game.Side) game.Lineup {
	r.Helper()
	return check.Must(r.Suggest(r.Context(), who, r.id, side))(r)
}

// submitLineup submits the suggested line-up.
func (r *rig) submitLineup(who protocol.Person, side game.Side) protocol.Game {
	r.Helper()
	return check.Must(r.SetLineup(r.Context(), who, r.id, side, r.suggest(who, side)))(r)
}

func (r *rig) concede(who protocol.Person) protocol.Game {
	r.Helper()
	return check.Must(r.Concede(r.Context(), who, r.id))(r)
}

// get returns the game as who sees it.
func (r *rig) get(who protocol.Person) protocol.Game {
	r.Helper()
	return check.Must(r.Game(r.Context(), who, r.id))(r)
}

// events returns the game's events as who sees them.
func (r *rig) events(who protocol.Person) string {
	r.Helper()
	all := check.Must(r.Events(r.Context(), who, r.id, 0))(r)
	return text(r, all)
}

// visible returns all that anyone sees of the game, but for presence, which changes with time, and the seasons of
// the players, which other games change.
func (r *rig) visible() string {
	r.Helper()
	all := ""
	for _, who := range []protocol.Person{ann, bob, {}} {
		g := r.get(who)
		g.Presence = nil
		for _, side := range game.Sides() {
			for i := range g.Rosters.Of(side).Players {
				g.Rosters.Of(side).Players[i].Season = nil
			}
		}
		all += r.events(who) + text(r, g)
	}
	return all
}

// choice returns what who may do now whose label has a prefix.
func (r *rig) choice(who protocol.Person, label string) protocol.Choice {
	r.Helper()
	g := r.get(who)
	all := append(slices.Clone(g.Legal), g.Offers...)
	i := slices.IndexFunc(all, func(c protocol.Choice) bool { return strings.HasPrefix(c.Label, label) })
	check.Require(r, i >= 0, "%s has no %q at %d: %s", who.Name, label, g.Revision, text(r, all))
	return all[i]
}

// commands makes the ids of commands unique.
var commands atomic.Uint64

// command returns a command with an action for the present revision. Its id is unlike those in testdata's journals.
func (r *rig) command(who protocol.Person, a protocol.Action) protocol.Command {
	r.Helper()
	id := fmt.Sprintf("%s-%d", r.Name(), commands.Add(1))
	return protocol.Command{ID: id, Revision: r.get(who).Revision, Action: a}
}

// send submits a command.
func (r *rig) send(who protocol.Person, c protocol.Command) error {
	_, dup, err := r.Submit(r.Context(), who, r.id, c, nil)
	if dup {
		r.Helper()
		r.Errorf("%s sent %+v twice", who.Name, c)
	}
	return err
}

// try submits an action.
func (r *rig) try(who protocol.Person, a protocol.Action) error {
	r.Helper()
	return r.send(who, r.command(who, a))
}

// do does what who may do now whose label has a prefix, and returns the revision.
func (r *rig) do(who protocol.Person, label string) uint64 {
	r.Helper()
	c := r.command(who, r.choice(who, label).Action)
	err := r.send(who, c)
	check.Require(r, err == nil, "%s does %q: %v", who.Name, label, err)
	return c.Revision + 1
}

// decide makes who's first legal decision and returns the game after it.
func (r *rig) decide(who protocol.Person) protocol.Game {
	r.Helper()
	legal := r.get(who).Legal
	check.Require(r, len(legal) != 0, "%s has nothing to decide", who.Name)
	err := r.try(who, legal[0].Action)
	check.Require(r, err == nil, "%s: %v", legal[0].Label, err)
	return r.get(who)
}

// step lets each manager decide, now and then something else than the first choice.
func (r *rig) step(n int) {
	r.Helper()
	for _, who := range []protocol.Person{ann, bob} {
		g := r.get(who)
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
		err := r.try(who, c.Action)
		check.Require(r, err == nil, "%s does %q: %v", who.Name, c.Label, err)
	}
}

// playOut plays to the end with varied decisions.
func (r *rig) playOut() protocol.Game {
	r.Helper()
	for n := 0; r.get(ann).Status == protocol.Active; n++ {
		r.step(n)
	}
	return r.get(ann)
}

// playOn lets both managers decide until there has been a play and both must decide again.
func (r *rig) playOn() {
	r.Helper()
	before := r.get(ann).State.Decision
	for {
		for _, who := range []protocol.Person{ann, bob} {
			if len(r.get(who).Legal) > 0 {
				r.decide(who)
			}
		}
		if now := r.get(ann); now.State.Decision > before && len(now.State.Waiting) == 2 {
			return
		}
	}
}

// run runs the games, in a synctest bubble, until stop is called.
func (r *rig) run() (stop func()) { return check.Run(r, r.Run) }

// pass advances the time of a bubble, and waits for all that is due then.
func pass(d time.Duration) {
	time.Sleep(d) // in a bubble, which costs no time
	synctest.Wait()
}

// inBubble runs a test in a bubble with a rig that runs and whose game is at its first pitch.
func inBubble(t *testing.T, test func(r *rig), options ...option) {
	t.Helper()
	withoutGame(t, func(r *rig) {
		r.begin(options...)
		test(r)
	})
}

// withoutGame runs a test in a bubble with a rig that runs.
func withoutGame(t *testing.T, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newJournal())
		defer r.run()()
		test(r)
	})
}

// difference returns the first difference of two texts, with what surrounds it.
func difference(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	around := func(s string) string { return s[max(0, i-120):min(len(s), i+120)] }
	return fmt.Sprintf("\n%s\nwant\n%s", around(got), around(want))
}

// text returns a value as JSON.
func text(tb testing.TB, v any) string {
	tb.Helper()
	data := check.Must(json.Marshal(v))(tb)
	return string(data)
}

// code returns the code of a refusal; "" of nil.
func code(tb testing.TB, err error) protocol.Code {
	tb.Helper()
	if err == nil {
		return ""
	}
	refused, ok := errors.AsType[*protocol.Error](err)
	check.Require(tb, ok, "%v is a %T, want a *protocol.Error", err, err)
	return refused.Code
}

// wantCode checks the code of an error.
func (r *rig) wantCode(what string, err error, want protocol.Code) {
	r.Helper()
	got := code(r, err)
	check.That(r, got == want, "%s: %v, want %q", what, err, want)
}

// A watcher is a subscriber that collects messages.
type watcher struct {
	mu    sync.Mutex
	all   []*protocol.Message
	limit int // of messages that it accepts; 0: any number
	leave func()
}

// watch subscribes to the game.
func (r *rig) watch(who protocol.Person, since uint64) *watcher {
	r.Helper()
	w := &watcher{}
	r.rejoin(w, who, since)
	return w
}

// watchBoth subscribes both managers.
func (r *rig) watchBoth() (a, b *watcher) {
	r.Helper()
	return r.watch(ann, 0), r.watch(bob, 0)
}

// rejoin subscribes a watcher again.
func (r *rig) rejoin(w *watcher, who protocol.Person, since uint64) {
	r.Helper()
	leave := check.Must(r.Watch(r.Context(), who, r.id, since, w.send))(r)
	w.leave = leave
}

func (w *watcher) send(m *protocol.Message) bool {
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

// received returns the messages of these types; of none, all.
func (w *watcher) received(types ...string) []*protocol.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.all),
		func(m *protocol.Message) bool { return len(types) > 0 && !slices.Contains(types, m.Type) })
}

// last returns the last message of a type, nil if there is none.
func (w *watcher) last(of string) *protocol.Message {
	all := w.received(of)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// event returns the last event.
func (w *watcher) event() *protocol.Event { return w.last("event").Data.(*protocol.Event) }

// presence returns the last presence.
func (w *watcher) presence() *protocol.Presence { return w.last("presence").Data.(*protocol.Presence) }

// kinds returns the kinds of the events received, "skip" for hidden ones.
func (w *watcher) kinds() []string {
	var kinds []string
	for _, m := range w.received("event", "skip") {
		if e, ok := m.Data.(*protocol.Event); ok {
			kinds = append(kinds, string(e.Kind))
		} else {
			kinds = append(kinds, "skip")
		}
	}
	return kinds
}

// lastKind returns the last of kinds.
func (w *watcher) lastKind() string {
	kinds := w.kinds()
	return kinds[len(kinds)-1]
}

// checkContiguous checks that revisions have no gaps.
func checkContiguous(tb testing.TB, all []*protocol.Message, first, last uint64) {
	tb.Helper()
	for i, m := range all {
		check.Require(tb, m.Revision == first+uint64(i),
			"revision %d at place %d, want %d", m.Revision, i, first+uint64(i))
	}
	n := uint64(len(all))
	check.That(tb, first+n == last+1, "%d revisions from %d, want up to %d", n, first, last)
}
