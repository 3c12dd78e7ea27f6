package live_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// A subscriber whose queue is full is dropped.
func TestWatch_slowSubscriberIsDropped(t *testing.T) {
	t.Parallel()
	r := begun(t, withBot)
	rev := r.get(ann).Revision
	slow, quick := &watcher{limit: 1}, r.watch(carl, rev)
	r.rejoin(slow, bob, rev)
	for range 20 {
		r.decide(ann)
	}
	n := len(slow.received())
	check.That(t, n <= 2, "a subscriber with room for one message received %d", n)
	p := r.get(ann).Presence
	check.That(t, p.Watchers == 1, "%d subscribers, want 1", p.Watchers)
	checkContiguous(t, quick.received("event", "skip"), rev+1, r.get(ann).Revision)
}

// Subscribers that see the same receive the same message, so that it is encoded once.
func TestWatch_sharedMessages(t *testing.T) {
	t.Parallel()
	r := begun(t)
	rev := r.get(ann).Revision
	a, b, c := r.watch(carl, rev), r.watch(protocol.Person{ID: "u-dora"}, rev), r.watch(bob, rev)
	r.do(ann, "Pitch to the batter")
	r.do(bob, "Swing away")
	all, others, bobs := a.received("event", "skip"), b.received("event", "skip"), c.received("event", "skip")
	for i, m := range all {
		check.That(t, m == others[i], "two spectators received revision %d in two messages", m.Revision)
	}
	last := len(all) - 1
	check.That(t, bobs[last] != all[last] && bobs[last].Data.(*protocol.Event).Legal != nil &&
		all[last].Data.(*protocol.Event).Legal == nil,
		"Bob received %s, spectators %s", text(t, bobs[last]), text(t, all[last]))
}

// The number of watchers is published now and then, not for each.
func TestWatch_numberOfWatchers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		a := r.watch(ann, 0)
		before := len(a.received("presence"))
		for range 100 {
			r.watch(carl, 0)
		}
		pass(10 * time.Second)
		all := a.received("presence")[before:]
		check.That(r, len(all) == 1 && a.presence().Watchers == 101, "100 came, Ann received %s", text(r, all))
	})
}

// That a manager has called is published after a moment, and not if the turn is over by then.
func TestWatch_called(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		b := r.watch(bob, 0)
		before := len(b.received("presence"))
		published := func() int { return len(b.received("presence")) - before }
		r.do(ann, "Pitch to the batter")
		r.do(bob, "Swing away")
		pass(time.Second)
		n := published()
		check.That(r, n == 0, "%d presence messages for two calls at once", n)
		for _, tt := range []struct {
			by     protocol.Person
			call   string
			called bool // Ann has
		}{{ann, "Pitch to the batter", true}, {bob, "Swing away", false}} {
			r.do(tt.by, tt.call)
			pass(99 * time.Millisecond)
			n := published()
			check.That(r, n == 0, "%s: %d presence messages too early", tt.call, n)
			pass(2 * time.Millisecond)
			if n := published(); n != 1 || b.presence().Home.Decided != tt.called {
				r.Errorf("%s: %d presence messages, the last %s, want one of Ann's call: %v",
					tt.call, n, text(r, b.presence()), tt.called)
			}
			before = len(b.received("presence"))
		}
	})
}

// A manager's reaction reaches all who follow, once a second and 30 times an hour; it changes nothing of the game. A
// spectator has none.
func TestReact(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		a, c, lobby := r.watch(ann, 0), r.watch(carl, 0), &watcher{}
		_, leave := r.WatchLobby(lobby.send)
		defer leave()
		before := r.get(ann).Revision
		react := func(who protocol.Person) error { return r.React(r.Context(), who, r.id, "clap") }
		r.wantCode("a spectator's reaction", react(carl), protocol.Forbidden)
		for n := range 30 {
			check.NoError(r, react(ann))
			for _, w := range []*watcher{a, c, lobby} {
				check.Equal(r, len(w.received("reaction")), n+1, "reactions received")
			}
			pass(999 * time.Millisecond)
			r.wantCode("another within a second", react(ann), protocol.RateLimited)
			pass(time.Millisecond)
		}
		r.wantCode("the 31st of an hour", react(ann), protocol.RateLimited)
		check.NoError(r, react(bob)) // has 30 too
		pass(time.Hour - 31*time.Second)
		r.wantCode("the 31st of an hour", react(ann), protocol.RateLimited)
		pass(time.Second)
		check.NoError(r, react(ann))
		got := c.last("reaction").Data.(*protocol.Reaction)
		check.That(r, got.Name == "clap" && r.get(ann).Revision == before, "%+v, revision %d", got, r.get(ann).Revision)
		later := r.watch(carl, 0)
		check.Equal(r, len(later.received("reaction")), 0, "reactions that are sent again")
	})
}

// A spectator who joins the game is a manager from then on: present, and sent what a manager is sent.
func TestWatch_spectatorBecomesManager(t *testing.T) {
	t.Parallel()
	withoutGame(t, func(r *rig) {
		r.create()
		a, b := r.watchBoth()
		pass(time.Hour)
		r.join(bob)
		p := a.presence()
		check.That(r, p.Away != nil && p.Away.Online, "Ann received %s", text(r, p))
		a.leave()
		pass(time.Hour)
		r.submitLineup(bob, game.Away)
		g := r.submitLineup(ann, game.Home)
		e := b.event()
		check.That(r, e.Kind == protocol.Started && len(e.Legal) != 0, "Bob received %s", text(r, e))
		if p := g.Presence; p.Home.Gone || p.Home.GoneIn != 60 || !p.Away.Online {
			r.Errorf("at the start: %s, want a minute for Ann, who left before", text(r, p))
		}
	})
}

// When the server stops, every subscriber receives bye and nothing is accepted.
func TestRun_closingSendsBye(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := begun(t)
		stop := r.run()
		a := r.watch(ann, 0)
		var lobby watcher
		_, leave := r.WatchLobby(lobby.send)
		defer leave()
		stop()
		for name, w := range map[string]*watcher{"Ann": a, "the lobby": &lobby} {
			m := w.last("bye")
			check.That(t, m != nil && m.Data == (protocol.Bye{Code: "restart"}), "%s received %s", name, text(t, m))
		}
		r.wantCode("watch", check.Err(r.Watch(t.Context(), ann, r.id, 0, a.send)), protocol.Unavailable)
	})
}

// A game stays in memory while it is watched, and a minute longer.
func TestMemory_evictedAfterAMinute(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		want := func(when string, games int) {
			r.Helper()
			check.Equal(r, r.InMemory(), games, "%s: games in memory", when)
		}
		w := r.watch(carl, 0)
		pass(time.Hour)
		want("while Carl watches", 1)
		before := r.events(ann)
		w.leave()
		pass(59 * time.Second)
		want("59 s after Carl left", 1)
		pass(2 * time.Second)
		want("61 s after Carl left", 0)
		after := r.events(ann)
		check.That(r, after == before, "loaded again: %s", difference(after, before))
		pass(61 * time.Second)
		want("61 s after a request", 0)
	})
}

// Requests for many old games do not fill the memory: of those without subscribers the longest unused are evicted.
func TestMemory_limit(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	watched, j := r.id, r.journal
	r.begin(hotSeat)
	r.concede(ann)
	summary := string(j.summaries[r.id])
	for i := range 200 {
		id := fmt.Sprintf("%016d", i)
		j.summaries[id], j.moves[id] = []byte(strings.ReplaceAll(summary, r.id, id)), j.moves[r.id]
	}
	r = newRig(t, j)
	r.id = watched
	w := r.watch(carl, 0)
	for i := range 200 {
		check.NoError(r, check.Err(r.Game(t.Context(), ann, fmt.Sprintf("%016d", i))))
		n := r.InMemory()
		check.Require(t, n <= 65, "after %d games %d are in memory, want at most 64 and the watched one", i+1, n)
	}
	check.Equal(t, r.InMemory(), 65, "games in memory")
	r.do(ann, "Pitch to the batter")
	check.Equal(t, w.lastKind(), "skip", "Carl, who watches all the time, received")
}

// A panickingAnnouncer panics once, after it is armed.
type panickingAnnouncer struct{ armed atomic.Bool }

func (p *panickingAnnouncer) Comment(string, string) {
	if p.armed.CompareAndSwap(true, false) {
		panic("boom")
	}
}

// A panic in one game, by a clock or a command, affects neither other games nor what is saved; its subscribers
// reconnect.
func TestPanic_gameIsReloaded(t *testing.T) {
	t.Parallel()
	for name, provoke := range map[string]func(r *rig){
		"by the clock": func(*rig) { pass(30 * time.Second) },
		"by a command": func(r *rig) {
			defer func() { check.That(r, recover() != nil, "no panic") }()
			r.do(ann, "Pitch to the batter")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, j := &panickingAnnouncer{}, newJournal()
				r := rigWith(t, j, live.Config{Journal: j, Announcer: p})
				defer r.run()()
				r.begin(turnSeconds(30), withBot, func(o *protocol.Options) { o.Announce = protocol.AnnounceAll })
				other := *r
				started := other.begin(turnSeconds(30), func(o *protocol.Options) { o.Announce = protocol.AnnounceOff })
				a := r.watch(ann, 0)
				other.watch(bob, 0)
				p.armed.Store(true)
				provoke(r)
				if bye := a.last("bye"); bye == nil || bye.Data != (protocol.Bye{Code: "restart"}) {
					t.Errorf("Ann received %s", text(t, bye))
				}
				n := strings.Count(r.log.String(), "game evicted after a panic")
				check.That(t, (n == 1) == (name == "by the clock"), "logged %q", r.log)
				r.rejoin(a, ann, 0)
				if now := r.get(ann); now.Revision != uint64(len(j.moves[r.id])) {
					t.Errorf("the game is at %d, %d moves are saved", now.Revision, len(j.moves[r.id]))
				}
				for range 3 {
					r.decide(ann)
				}
				pass(30 * time.Second)
				now := other.get(bob)
				check.That(t, now.Revision != started.Revision, "the other game's clock has stopped")
			})
		})
	}
}

// The loudspeaker speaks what the game's option asks for, after the screen has it: nothing; the start, the scoring
// plays and the end; or all.
func TestAnnouncer_levels(t *testing.T) {
	t.Parallel()
	for _, level := range []protocol.Announce{protocol.AnnounceOff, protocol.AnnounceScoring, protocol.AnnounceAll} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			j, spoken := newJournal(), &recordingAnnouncer{}
			r := rigWith(t, j, live.Config{Journal: j, Announcer: spoken})
			r.begin(hotSeat, func(o *protocol.Options) { o.Announce = level })
			w := r.watch(carl, 0)
			spoken.watch = w
			plays, scoring := 0, 0
			for before := r.get(ann); before.Status == protocol.Active; {
				lines := len(spoken.said())
				after := r.decide(ann)
				if after.State.Decision != before.State.Decision && after.State.Question == nil {
					plays++
				}
				runs := *after.Score != *before.Score
				if runs {
					scoring++
				}
				spoke := len(spoken.said()) > lines
				if events := len(w.received("event")); spoke && spoken.events != events {
					t.Errorf("spoke when %d of %d events were published", spoken.events, events)
				}
				check.That(t, level != protocol.AnnounceScoring || spoke == (runs || after.Status == protocol.Finished),
					"runs %v, spoke %v: %v", runs, spoke, spoken.said()[lines:])
				before = after
			}
			want := map[protocol.Announce]int{
				protocol.AnnounceOff: 0, protocol.AnnounceScoring: 1 + scoring, protocol.AnnounceAll: 1 + plays,
			}[level]
			if n := len(spoken.said()); n < want || level == protocol.AnnounceOff && n > 0 ||
				level == protocol.AnnounceScoring && n > want+1 {
				t.Errorf("%d lines, want about %d: %q", n, want, spoken.said())
			}
		})
	}
}

// A recordingAnnouncer records comments.
type recordingAnnouncer struct {
	mu     sync.Mutex
	lines  []string
	watch  *watcher // if set, its events are counted
	events int      // received at the time of the last comment
}

// said returns the comments so far.
func (a *recordingAnnouncer) said() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.lines)
}

func (a *recordingAnnouncer) Comment(_, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = append(a.lines, text)
	if a.watch != nil {
		a.events = len(a.watch.received("event"))
	}
}
