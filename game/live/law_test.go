package live_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
)

// What one side has sealed nobody else sees before it is resolved, whichever way he looks.
func TestSealedCallsAreHidden(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, nil) // Ann is at home, in the field first
	a, b, c := watch(t, h, ann, g.ID, 0), watch(t, h, bob, g.ID, 0), watch(t, h, carl, g.ID, 0)
	var lobby watcher
	_, leave := h.WatchLobby(lobby.tell)
	defer leave()
	const call = "pitch around"
	rev := do(t, h, ann, g.ID, "Pitch around")
	if !strings.Contains(text(t, a.last("event")), call) {
		t.Errorf("Ann does not see her own call: %s", text(t, a.last("event")))
	}
	for _, w := range []*watcher{b, c} {
		if m := w.last("skip"); m == nil || m.Revision != rev || m.Data != nil {
			t.Errorf("told %s, want a skip of %d", text(t, m), rev)
		}
	}
	for name, seen := range map[string]string{
		"Bob's socket": text(t, b.told()[1:]), "Carl's socket": text(t, c.told()), "the lobby": text(t, lobby.told()),
		"Carl's game": text(t, look(t, h, carl, g.ID)), "Bob's game": text(t, look(t, h, bob, g.ID)),
		"Bob's events": events(t, h, bob, g.ID), "Carl's events": events(t, h, carl, g.ID),
	} {
		if strings.Contains(seen, call) {
			t.Errorf("%s shows the call: %s", name, seen)
		}
	}
	if !b.last("presence").Data.(*protocol.Presence).Home.Decided {
		t.Errorf("Bob is not told that Ann has decided: %s", text(t, b.last("presence")))
	}
	do(t, h, bob, g.ID, "Swing away")
	if b.last("presence").Data.(*protocol.Presence).Home.Decided {
		t.Errorf("Bob is not told that Ann has not decided yet what comes now: %s", text(t, b.last("presence")))
	}
	for name, w := range map[string]*watcher{"Bob": b, "Carl": c, "the lobby": &lobby} {
		var found bool
		for _, m := range w.told("event") {
			e := m.Data.(*protocol.Event)
			found = found || (e.Kind == protocol.Played || e.Kind == protocol.Questioned) && (e.Calls != nil && e.Calls.Defence.Pitch == call)
		}
		if !found {
			t.Errorf("%s is not told the call after the play: %s", name, text(t, w.told("event")))
		}
	}
}

// still returns all there is to see of a game but who is there: how long that is changes by itself.
func still(tb testing.TB, h *live.Games, id string) string {
	tb.Helper()
	all := ""
	for _, who := range []protocol.Person{ann, bob, {}} {
		g := look(tb, h, who, id)
		g.Presence = nil
		all += events(tb, h, who, id) + text(tb, g)
	}
	return all
}

func events(tb testing.TB, h *live.Games, who protocol.Person, id string) string {
	tb.Helper()
	all, err := h.Events(tb.Context(), who, id, 0)
	if err != nil {
		tb.Fatal(err)
	}
	return text(tb, all)
}

// Before the start the other side sees only that a line-up is in.
func TestLineupsAreHiddenUntilTheStart(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g, err := h.Create(t.Context(), ann, request(nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Join(t.Context(), bob, g.ID); err != nil {
		t.Fatal(err)
	}
	b := watch(t, h, bob, g.ID, 0)
	l, err := h.Suggest(t.Context(), ann, g.ID, game.Home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.SetLineup(t.Context(), ann, g.ID, game.Home, l); err != nil {
		t.Fatal(err)
	}
	if seen := text(t, b.told()); strings.Contains(seen, "batting_order") || !strings.Contains(seen, `"kind":"lineup"`) {
		t.Errorf("Bob's socket shows %s", seen)
	}
	if g := look(t, h, bob, g.ID); !g.Home.LineupSubmitted || g.Home.Lineup != nil {
		t.Errorf("Bob sees %s", text(t, g.Home))
	}
	if g := look(t, h, ann, g.ID); g.Home.Lineup == nil {
		t.Error("Ann does not see her own line-up")
	}
	if l, err = h.Suggest(t.Context(), bob, g.ID, game.Away); err != nil {
		t.Fatal(err)
	}
	if g, err = h.SetLineup(t.Context(), bob, g.ID, game.Away, l); err != nil {
		t.Fatal(err)
	}
	if g.Status != protocol.Active || g.Home.Lineup == nil || g.Away.Lineup == nil {
		t.Errorf("with both in the game is %s, line-ups %v, %v", g.Status, g.Home.Lineup, g.Away.Lineup)
	}
}

// The same command again, however late, is one move; over a restart too.
func TestTheSameCommandTwiceIsOneMove(t *testing.T) {
	t.Parallel()
	j := newJournal()
	h := newHall(t, j)
	g := begin(t, h, nil)
	c := command(t, h, ann, g.ID, choice(t, h, ann, g.ID, "Pitch to the batter").Action)
	rev, _, err := h.Submit(t.Context(), ann, g.ID, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	again := func(h *live.Games) {
		t.Helper()
		before := still(t, h, g.ID)
		w := &watcher{}
		got, dup, err := h.Submit(t.Context(), ann, g.ID, c, w.tell)
		if err != nil || !dup || got != rev {
			t.Errorf("again: revision %d, dup %v, %v, want %d", got, dup, err, rev)
		}
		if m := w.last("ack"); m == nil || m.Revision != rev || m.CommandID != c.ID || m.Data != (protocol.Ack{Dup: true}) {
			t.Errorf("acknowledged %s", text(t, w.told()))
		}
		if after := still(t, h, g.ID); after != before {
			t.Errorf("the game changed from %s to %s", before, after)
		}
	}
	again(h)
	if _, _, err := h.Submit(t.Context(), bob, g.ID, protocol.Command{ID: c.ID, Revision: rev, Action: choice(t, h, bob, g.ID, "Swing").Action}, nil); err != nil {
		t.Errorf("the same id of somebody else: %v", err)
	}
	again(h)
	again(newHall(t, j))
}

// Two connections that decide for one side at one revision: one is taken, the other refused.
func TestOfTwoDecisionsAtOneRevisionOneIsTaken(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, nil)
	for range 30 {
		if look(t, h, ann, g.ID).Status != protocol.Active {
			break
		}
		var racing sync.WaitGroup
		codes := make(chan protocol.Code, 8)
		for _, who := range []protocol.Person{ann, bob} {
			legal := look(t, h, who, g.ID).Legal
			if len(legal) == 0 {
				continue
			}
			for range 4 {
				c := command(t, h, who, g.ID, legal[0].Action)
				racing.Go(func() {
					_, _, err := h.Submit(t.Context(), who, g.ID, c, nil)
					codes <- code(t, err)
				})
			}
		}
		racing.Wait()
		close(codes)
		count := map[protocol.Code]int{}
		sum := 0
		for c := range codes {
			count[c]++
			sum++
		}
		if count[""] != sum/4 || count[protocol.AlreadySealed]+count[protocol.StaleRevision] != sum-sum/4 {
			t.Fatalf("of %d: %v, want one of four for each side", sum, count)
		}
	}
}

// Who may not, gets the code that says so, and nothing changes.
func TestCommandsAreRefusedWithTheirCode(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, nil)
	pending, err := h.Create(t.Context(), ann, request(nil))
	if err != nil {
		t.Fatal(err)
	}
	anns, bobs := look(t, h, ann, g.ID).Legal[0].Action, look(t, h, bob, g.ID).Legal[0].Action
	yes := true
	for _, tt := range []struct {
		name string
		who  protocol.Person
		id   string
		c    protocol.Command
		want protocol.Code
	}{
		{"no such game", ann, "nosuchgame", protocol.Command{ID: "1", Action: anns}, protocol.UnknownGame},
		{"a spectator", carl, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: anns}, protocol.Forbidden},
		{"nobody", protocol.Person{}, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: anns}, protocol.Forbidden},
		{"the other side's", ann, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: bobs}, protocol.NotYourSide},
		{"the other side's, by name", ann, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "offence", Side: "away", Call: "swing"}}, protocol.NotYourSide},
		{"concede for the other", ann, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "concede", Side: "away"}}, protocol.NotYourSide},
		{"one's own side, not at bat", ann, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "offence", Side: "home", Call: "swing"}}, protocol.IllegalAction},
		{"an earlier decision", ann, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "defence", Decision: anns.Decision + 7}}, protocol.StaleRevision},
		{"an earlier revision", ann, g.ID, protocol.Command{ID: "1", Revision: 1, Action: protocol.Action{Verb: "defence"}}, protocol.StaleRevision},
		{"a revision to come", ann, g.ID, protocol.Command{ID: "1", Revision: g.Revision + 1, Action: anns}, protocol.StaleRevision},
		{"no id", ann, g.ID, protocol.Command{Revision: g.Revision, Action: anns}, protocol.Malformed},
		{"a long id", ann, g.ID, protocol.Command{ID: strings.Repeat("x", 65), Revision: g.Revision, Action: anns}, protocol.Malformed},
		{"a strange id", ann, g.ID, protocol.Command{ID: "é", Revision: g.Revision, Action: anns}, protocol.Malformed},
		{"no action", ann, g.ID, protocol.Command{ID: "1", Revision: g.Revision}, protocol.Malformed},
		{"a strange action", ann, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "cheat"}}, protocol.Malformed},
		{"an illegal call", bob, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "offence", Call: "steal home"}}, protocol.IllegalAction},
		{"an unknown call", bob, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "offence", Call: "pray"}}, protocol.IllegalAction},
		{"no call", bob, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "offence"}}, protocol.IllegalAction},
		{"nothing was asked", bob, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "answer", Bold: &yes}}, protocol.IllegalAction},
		{"nothing to undo", bob, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "undo"}}, protocol.IllegalAction},
		{"not paused", bob, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "resume"}}, protocol.IllegalAction},
		{"no substitutes", bob, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "substitute"}}, protocol.IllegalAction},
		{"an unknown substitute", bob, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "substitute", Subs: []protocol.Sub{{Player: "x", Slot: 1, Position: game.PinchHitter}}}}, protocol.IllegalAction},
		{"the other is not gone", ann, g.ID, protocol.Command{ID: "1", Revision: g.Revision, Action: protocol.Action{Verb: "takeover", Side: "away", On: &yes}}, protocol.IllegalAction},
		{"not begun", ann, pending.ID, protocol.Command{ID: "1", Revision: 1, Action: anns}, protocol.NotActive},
	} {
		before := still(t, h, g.ID)
		_, dup, err := h.Submit(t.Context(), tt.who, tt.id, tt.c, func(m *protocol.Message) bool {
			t.Errorf("%s: told %s", tt.name, text(t, m))
			return true
		})
		if got := code(t, err); got != tt.want || dup {
			t.Errorf("%s: %q, dup %v, want %q", tt.name, got, dup, tt.want)
		}
		if after := still(t, h, g.ID); after != before {
			t.Errorf("%s: the game changed from %s to %s", tt.name, before, after)
		}
	}
}

// A decision holds as long as it is open: what was told meanwhile does not matter.
func TestAnOlderRevisionOfTheSameDecisionIsTaken(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, nil)
	legal := look(t, h, bob, g.ID).Legal[0].Action
	do(t, h, ann, g.ID, "Pitch to the batter")
	do(t, h, ann, g.ID, "Pause")
	do(t, h, ann, g.ID, "Resume")
	legal.Decision = 0 // by the revision alone
	if _, _, err := h.Submit(t.Context(), bob, g.ID, protocol.Command{ID: "late", Revision: g.Revision, Action: legal}, nil); err != nil {
		t.Errorf("three revisions late: %v", err)
	}
	if _, _, err := h.Submit(t.Context(), bob, g.ID, protocol.Command{ID: "too late", Revision: g.Revision, Action: legal}, nil); code(t, err) != protocol.StaleRevision {
		t.Errorf("after the play: %v, want %s", err, protocol.StaleRevision)
	}
}

// If the journal keeps nothing, nothing has happened: not to who commanded, not to who watches, not to the game.
func TestWhatIsNotKeptDidNotHappen(t *testing.T) {
	t.Parallel()
	j := newJournal()
	h := newHall(t, j)
	g := begin(t, h, nil)
	w := watch(t, h, carl, g.ID, 0)
	broken := errors.New("the disk is gone")
	for n := range 40 {
		who, label := ann, look(t, h, ann, g.ID).Legal
		if len(label) == 0 {
			who, label = bob, look(t, h, bob, g.ID).Legal
		}
		if len(label) == 0 {
			break
		}
		before, heard := still(t, h, g.ID), len(w.told("event", "skip", "state"))
		c := command(t, h, who, g.ID, label[0].Action)
		j.setFull(broken)
		_, _, err := h.Submit(t.Context(), who, g.ID, c, func(m *protocol.Message) bool {
			t.Errorf("told %s", text(t, m))
			return true
		})
		if code(t, err) != protocol.Unavailable || !errors.Is(err, broken) {
			t.Fatalf("command %d: %v, want %s because of %v", n, err, protocol.Unavailable, broken)
		}
		if after := still(t, h, g.ID); after != before {
			t.Fatalf("command %d: the game changed from %s to %s", n, before, after)
		}
		if now := len(w.told("event", "skip", "state")); now != heard {
			t.Fatalf("command %d: Carl was told of it", n)
		}
		j.setFull(nil)
		if _, dup, err := h.Submit(t.Context(), who, g.ID, c, nil); err != nil || dup {
			t.Fatalf("command %d, kept: dup %v, %v", n, dup, err)
		}
	}
	if _, err := h.Create(t.Context(), ann, request(nil)); err != nil {
		t.Fatal(err)
	}
	j.setFull(broken)
	lists, err := h.List(ann, live.Query{})
	if _, err := h.Create(t.Context(), ann, request(nil)); code(t, err) != protocol.Unavailable {
		t.Errorf("create: %v", err)
	}
	if after, _ := h.List(ann, live.Query{}); err != nil || text(t, after) != text(t, lists) {
		t.Errorf("the lists changed from %s to %s, %v", text(t, lists), text(t, after), err)
	}
	if err := h.Cancel(t.Context(), ann, lists.Pending[0].ID); code(t, err) != protocol.Unavailable {
		t.Errorf("cancel: %v", err)
	}
	look(t, h, ann, lists.Pending[0].ID)
}

// First it is kept, then acknowledged, then told.
func TestKeptThenAcknowledgedThenTold(t *testing.T) {
	t.Parallel()
	j := newJournal()
	h := newHall(t, j)
	g := begin(t, h, func(o *protocol.Options) { o.Opponent = protocol.Bot })
	kept := func() uint64 {
		moves, err := j.Moves(t.Context(), g.ID)
		if err != nil {
			t.Fatal(err)
		}
		return uint64(len(moves))
	}
	acked := false
	spectator, err := h.Watch(t.Context(), carl, g.ID, g.Revision, func(m *protocol.Message) bool {
		if (m.Type == "event" || m.Type == "skip") && (!acked || kept() < m.Revision) {
			t.Errorf("told of %d before it was acknowledged, or kept", m.Revision)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	defer spectator()
	for range 25 {
		legal := look(t, h, ann, g.ID).Legal
		if len(legal) == 0 {
			break
		}
		acked = false
		c := command(t, h, ann, g.ID, legal[0].Action)
		rev, _, err := h.Submit(t.Context(), ann, g.ID, c, func(m *protocol.Message) bool {
			if m.Type != "ack" || kept() < m.Revision || acked {
				t.Errorf("told %s with %d kept", text(t, m), kept())
			}
			acked = true
			return true
		})
		if err != nil || !acked || rev != c.Revision+1 {
			t.Fatalf("revision %d after %d, acknowledged %v, %v", rev, c.Revision, acked, err)
		}
	}
}

// Who does not take what he is told is let go, and nobody waits for him.
func TestWhoDoesNotKeepUpIsLetGo(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, func(o *protocol.Options) { o.Opponent = protocol.Bot })
	slow, quick := &watcher{limit: 1}, watch(t, h, carl, g.ID, g.Revision)
	slow.join(t, h, bob, g.ID, g.Revision)
	for range 20 {
		do(t, h, ann, g.ID, look(t, h, ann, g.ID).Legal[0].Label)
	}
	if n := len(slow.told()); n > 2 {
		t.Errorf("who takes one message got %d", n)
	}
	if p := look(t, h, ann, g.ID).Presence; p.Watchers != 1 {
		t.Errorf("%d watch, want 1", p.Watchers)
	}
	checkContiguous(t, quick.told("event", "skip"), g.Revision+1, look(t, h, ann, g.ID).Revision)
}

// checkContiguous checks that revisions have no holes.
func checkContiguous(tb testing.TB, all []*protocol.Message, first, last uint64) {
	tb.Helper()
	for i, m := range all {
		if m.Revision != first+uint64(i) {
			tb.Fatalf("revision %d at place %d, want %d", m.Revision, i, first+uint64(i))
		}
	}
	if n := uint64(len(all)); first+n != last+1 {
		tb.Errorf("%d revisions from %d, want up to %d", n, first, last)
	}
}

// Whoever sees the same is handed the same message, so that it is prepared once.
func TestTheSameIsToldOnce(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, nil)
	a, b, c := watch(t, h, carl, g.ID, g.Revision), watch(t, h, protocol.Person{ID: "u-dora"}, g.ID, g.Revision), watch(t, h, bob, g.ID, g.Revision)
	do(t, h, ann, g.ID, "Pitch to the batter")
	do(t, h, bob, g.ID, "Swing away")
	all, others, bobs := a.told("event", "skip"), b.told("event", "skip"), c.told("event", "skip")
	for i, m := range all {
		if m != others[i] {
			t.Errorf("two spectators were told of %d in two messages", m.Revision)
		}
	}
	last := len(all) - 1
	if bobs[last] == all[last] || bobs[last].Data.(*protocol.Event).Legal == nil || all[last].Data.(*protocol.Event).Legal != nil {
		t.Errorf("Bob was told %s, spectators %s", text(t, bobs[last]), text(t, all[last]))
	}
}
