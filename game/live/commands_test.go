package live_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// A sealed call is hidden from everyone but its manager until it is resolved, on every way to see the game.
func TestSubmit_sealedCallIsHidden(t *testing.T) {
	t.Parallel()
	r := begun(t) // Ann is at home, in the field first
	a, b, c := r.watch(ann, 0), r.watch(bob, 0), r.watch(carl, 0)
	var lobby watcher
	_, leave := r.WatchLobby(lobby.send)
	defer leave()
	const call = "pitch around"
	own := r.choice(ann, "Pitch around").Action
	rev := r.do(ann, "Pitch around")
	got := a.event().Call
	check.That(t, got != nil && text(t, got) == text(t, own), "Ann does not see her own call: %s", text(t, a.event()))
	for _, w := range []*watcher{b, c} {
		m := w.last("skip")
		check.That(t, m != nil && m.Revision == rev && m.Data == nil, "received %s, want a skip of %d", text(t, m), rev)
	}
	for name, seen := range map[string]string{
		"Bob's socket": text(t, b.received()[1:]), "Carl's socket": text(t, c.received()),
		"the lobby":   text(t, lobby.received()),
		"Carl's game": text(t, r.get(carl)), "Bob's game": text(t, r.get(bob)), "Bob's events": r.events(bob),
		"Carl's events": r.events(carl),
	} {
		check.That(t, !strings.Contains(seen, call), "%s shows the call: %s", name, seen)
	}
	r.do(bob, "Swing away")
	for name, w := range map[string]*watcher{"Bob": b, "Carl": c, "the lobby": &lobby} {
		if !slices.ContainsFunc(w.received("event"), func(m *protocol.Message) bool {
			e := m.Data.(*protocol.Event)
			return (e.Kind == protocol.Played || e.Kind == protocol.Questioned) && e.Calls != nil &&
				e.Calls.Defense.Pitch == call
		}) {
			t.Errorf("%s did not receive the call after the play: %s", name, text(t, w.received("event")))
		}
	}
}

// Before the start, the other side sees only that a line-up is submitted.
func TestSetLineup_hiddenUntilStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, newJournal())
	r.create()
	r.join(bob)
	b := r.watch(bob, 0)
	r.submitLineup(ann, game.Home)
	seen := text(t, b.received())
	check.That(t, !strings.Contains(seen, "batting_order") && strings.Contains(seen, `"kind":"lineup"`),
		"Bob's socket shows %s", seen)
	g := r.get(bob)
	check.That(t, g.Home.LineupSubmitted && g.Home.Lineup == nil, "Bob sees %s", text(t, g.Home))
	g = r.get(ann)
	check.That(t, g.Home.Lineup != nil, "Ann does not see her own line-up")
	g = r.submitLineup(bob, game.Away)
	check.That(t, g.Status == protocol.Active && g.Home.Lineup != nil && g.Away.Lineup != nil,
		"with both line-ups the game is %s, line-ups %v, %v", g.Status, g.Home.Lineup, g.Away.Lineup)
}

// A command id that is sent again, however late, and after a restart too, is one move.
func TestSubmit_duplicateIsOneMove(t *testing.T) {
	t.Parallel()
	r := begun(t)
	c := r.command(ann, r.choice(ann, "Pitch to the batter").Action)
	rev := c.Revision + 1
	check.NoError(r, r.send(ann, c))
	again := func(r *rig) {
		t.Helper()
		before := r.visible()
		w := &watcher{}
		got, dup, err := r.Submit(t.Context(), ann, r.id, c, w.send)
		check.That(t, err == nil && dup && got == rev, "again: revision %d, dup %v, %v, want %d", got, dup, err, rev)
		m := w.last("ack")
		check.That(t, m != nil && m.Revision == rev && m.CommandID == c.ID && m.Data == (protocol.Ack{Dup: true}),
			"acknowledged %s", text(t, w.received()))
		after := r.visible()
		check.That(t, after == before, "the game changed: %s", difference(after, before))
	}
	again(r)
	sameID := protocol.Command{ID: c.ID, Revision: rev, Action: r.choice(bob, "Swing").Action}
	check.NoError(t, r.send(bob, sameID))
	again(r)
	again(r.reloaded(r.journal))
}

// Of several connections that decide for one side at one revision, one is accepted and the others are refused.
func TestSubmit_raceAcceptsOne(t *testing.T) {
	t.Parallel()
	r := begun(t)
	for range 30 {
		if r.get(ann).Status != protocol.Active {
			break
		}
		var racing sync.WaitGroup
		codes := make(chan protocol.Code, 8)
		for _, who := range []protocol.Person{ann, bob} {
			legal := r.get(who).Legal
			if len(legal) == 0 {
				continue
			}
			for range 4 {
				c := r.command(who, legal[0].Action)
				racing.Go(func() { codes <- code(t, r.send(who, c)) })
			}
		}
		racing.Wait()
		close(codes)
		count, sum := map[protocol.Code]int{}, 0
		for c := range codes {
			count[c]++
			sum++
		}
		check.Require(t, count[""] == sum/4 && count[protocol.AlreadySealed]+count[protocol.StaleRevision] == sum-sum/4,
			"of %d: %v, want one of four for each side", sum, count)
	}
}

// A refused command has its code and changes nothing.
func TestSubmit_refusals(t *testing.T) {
	t.Parallel()
	r := begun(t)
	g := r.get(ann)
	pending := check.Must(r.Create(t.Context(), ann, request()))(r)
	anns, bobs := r.get(ann).Legal[0].Action, r.get(bob).Legal[0].Action
	yes := true
	type action = protocol.Action
	command := func(id string, revision uint64, a action) protocol.Command {
		return protocol.Command{ID: id, Revision: revision, Action: a}
	}
	now := func(a action) protocol.Command { return command("1", g.Revision, a) }
	stranger := action{Verb: "substitute", Subs: []protocol.Sub{{Player: "x", Slot: 1, Position: game.PinchHitter}}}
	for _, tt := range []struct {
		want protocol.Code
		name string
		who  protocol.Person
		id   string
		c    protocol.Command
	}{
		{protocol.UnknownGame, "no such game", ann, "nosuchgame", now(anns)},
		{protocol.Forbidden, "a spectator", carl, g.ID, now(anns)},
		{protocol.Forbidden, "not signed in", protocol.Person{}, g.ID, now(anns)},
		{protocol.NotYourSide, "the other side's", ann, g.ID, now(bobs)},
		{protocol.NotYourSide, "by name", ann, g.ID, now(action{Verb: "offense", Side: "away", Call: "swing"})},
		{protocol.NotYourSide, "concede for the other", ann, g.ID, now(action{Verb: "concede", Side: "away"})},
		{protocol.IllegalAction, "not at bat", ann, g.ID, now(action{Verb: "offense", Side: "home", Call: "swing"})},
		{protocol.StaleRevision, "a later decision", ann, g.ID, now(action{Verb: "defense", Decision: 99})},
		{protocol.StaleRevision, "an earlier revision", ann, g.ID, command("1", 1, action{Verb: "defense"})},
		{protocol.StaleRevision, "a later revision", ann, g.ID, command("1", g.Revision+1, anns)},
		{protocol.Malformed, "no id", ann, g.ID, command("", g.Revision, anns)},
		{protocol.Malformed, "a long id", ann, g.ID, command(strings.Repeat("x", 65), g.Revision, anns)},
		{protocol.Malformed, "an id that is not ASCII", ann, g.ID, command("é", g.Revision, anns)},
		{protocol.Malformed, "no action", ann, g.ID, now(action{})},
		{protocol.Malformed, "an unknown action", ann, g.ID, now(action{Verb: "cheat"})},
		{protocol.IllegalAction, "an illegal call", bob, g.ID, now(action{Verb: "offense", Call: "steal home"})},
		{protocol.IllegalAction, "an unknown call", bob, g.ID, now(action{Verb: "offense", Call: "pray"})},
		{protocol.IllegalAction, "no call", bob, g.ID, now(action{Verb: "offense"})},
		{protocol.IllegalAction, "no question", bob, g.ID, now(action{Verb: "answer", Bold: &yes})},
		{protocol.IllegalAction, "nothing to undo", bob, g.ID, now(action{Verb: "undo"})},
		{protocol.IllegalAction, "not paused", bob, g.ID, now(action{Verb: "resume"})},
		{protocol.IllegalAction, "no substitutes", bob, g.ID, now(action{Verb: "substitute"})},
		{protocol.IllegalAction, "an unknown substitute", bob, g.ID, now(stranger)},
		{protocol.IllegalAction, "not gone", ann, g.ID, now(action{Verb: "takeover", Side: "away", On: &yes})},
		{protocol.NotActive, "not started", ann, pending.ID, command("1", 1, anns)},
	} {
		before := r.visible()
		_, dup, err := r.Submit(t.Context(), tt.who, tt.id, tt.c, func(m *protocol.Message) bool {
			t.Errorf("%s: received %s", tt.name, text(t, m))
			return true
		})
		got := code(t, err)
		check.That(t, got == tt.want && !dup, "%s: %q, dup %v, want %q", tt.name, got, dup, tt.want)
		after := r.visible()
		check.That(t, after == before, "%s: the game changed: %s", tt.name, difference(after, before))
	}
}

// A decision is accepted while it is open, whatever was published meanwhile.
func TestSubmit_olderRevisionOfOpenDecision(t *testing.T) {
	t.Parallel()
	r := begun(t)
	rev, action := r.get(bob).Revision, r.get(bob).Legal[0].Action
	r.do(ann, "Pitch to the batter")
	r.do(ann, "Pause")
	r.do(ann, "Resume")
	action.Decision = 0                                                                        // by the revision alone
	check.NoError(t, r.send(bob, protocol.Command{ID: "late", Revision: rev, Action: action})) // three revisions late
	r.wantCode("after the play", r.send(bob, protocol.Command{ID: "too late", Revision: rev, Action: action}),
		protocol.StaleRevision)
}

// A command that cannot be saved changes nothing for the sender, the subscribers or the game.
func TestSubmit_unsavedChangesNothing(t *testing.T) {
	t.Parallel()
	r := begun(t)
	w := r.watch(carl, 0)
	broken := errors.New("the disk is gone")
	for n := range 40 {
		who := ann
		if len(r.get(ann).Legal) == 0 {
			who = bob
		}
		legal := r.get(who).Legal
		if len(legal) == 0 {
			break
		}
		before, received := r.visible(), len(w.received("event", "skip", "state"))
		c := r.command(who, legal[0].Action)
		r.journal.setErr(broken)
		_, _, err := r.Submit(t.Context(), who, r.id, c, func(m *protocol.Message) bool {
			t.Errorf("received %s", text(t, m))
			return true
		})
		check.Require(t, code(t, err) == protocol.Unavailable && errors.Is(err, broken),
			"command %d: %v, want %s because of %v", n, err, protocol.Unavailable, broken)
		after := r.visible()
		check.Require(t, after == before, "command %d: the game changed: %s", n, difference(after, before))
		now := len(w.received("event", "skip", "state"))
		check.Require(t, now == received, "command %d: Carl received it", n)
		r.journal.setErr(nil)
		check.NoError(r, r.send(who, c))
	}
	r.create()
	r.journal.setErr(broken)
	lists := check.Must(r.List(ann, live.Query{}))(r)
	r.wantCode("create", check.Err(r.Create(t.Context(), ann, request())), protocol.Unavailable)
	if after, err := r.List(ann, live.Query{}); err != nil || text(t, after) != text(t, lists) {
		t.Errorf("the lists changed from %s to %s, %v", text(t, lists), text(t, after), err)
	}
	r.wantCode("cancel", r.Cancel(t.Context(), ann, r.id), protocol.Unavailable)
	r.get(ann)
}

// A command is first saved, then acknowledged, then published.
func TestSubmit_savedAcknowledgedPublished(t *testing.T) {
	t.Parallel()
	r := begun(t, withBot)
	saved := func() uint64 {
		moves := check.Must(r.journal.Moves(t.Context(), r.id))(r)
		return uint64(len(moves))
	}
	acked := false
	leave := check.Must(r.Watch(t.Context(), carl, r.id, r.get(ann).Revision, func(m *protocol.Message) bool {
		check.That(t, m.Type != "event" && m.Type != "skip" || acked && saved() >= m.Revision,
			"revision %d was published before it was acknowledged, or saved", m.Revision)
		return true
	}))(r)
	defer leave()
	for range 25 {
		legal := r.get(ann).Legal
		if len(legal) == 0 {
			break
		}
		acked = false
		c := r.command(ann, legal[0].Action)
		rev, _, err := r.Submit(t.Context(), ann, r.id, c, func(m *protocol.Message) bool {
			check.That(t, m.Type == "ack" && saved() >= m.Revision && !acked,
				"received %s with %d saved", text(t, m), saved())
			acked = true
			return true
		})
		check.Require(t, err == nil && acked && rev == c.Revision+1,
			"revision %d after %d, acknowledged %v, %v", rev, c.Revision, acked, err)
	}
}

// A call can be undone until the other side's is in.
func TestSubmit_undo(t *testing.T) {
	t.Parallel()
	r := begun(t)
	rev := r.get(ann).Revision
	b := r.watch(bob, 0)
	r.do(ann, "Pitch around")
	legal := r.get(ann).Legal
	check.That(t, len(legal) == 0, "after sealing, %d decisions are legal", len(legal))
	decision := r.get(ann).State.Decision
	r.wantCode("a second call", r.try(ann, protocol.Action{Verb: "defense", Decision: decision}),
		protocol.AlreadySealed)
	r.do(ann, "Take the call back")
	legal = r.get(ann).Legal
	check.That(t, len(legal) != 0, "after the undo nothing is legal")
	r.do(ann, "Intentional walk")
	r.do(bob, "Swing away")
	kinds := b.kinds()[rev:]
	check.That(t, slices.Equal(kinds, []string{"skip", "skip", "skip", "play"}), "Bob received %v", kinds)
	check.Equal(t, b.event().Play.Kind.String(), "intentional walk", "the play")
	r.wantCode("undo after the play", r.try(ann, protocol.Action{Verb: "undo", Decision: decision}),
		protocol.StaleRevision)
}

// Actions that do not advance the game are limited until the next play, so that they cannot fill the disk or void
// the other side's calls for ever. An action that is not offered is refused; a paused game can always be resumed.
func TestSubmit_delaysAreLimited(t *testing.T) {
	t.Parallel()
	const most = 100
	on, off := true, false
	for verb, second := range map[string]protocol.Action{
		"pause": {Verb: "resume"}, "takeover": {Verb: "takeover", On: &off}, "undo": {Verb: "defense"},
	} {
		r := begun(t)
		first := protocol.Action{Verb: verb}
		if verb == "takeover" {
			first.On = &on
		}
		offered := func() bool {
			if verb == "undo" && len(r.get(ann).Legal) > 0 {
				r.do(ann, "Pitch to the batter")
			}
			return slices.ContainsFunc(r.get(ann).Offers, func(c protocol.Choice) bool { return c.Action.Verb == verb })
		}
		for n := range most + 1 {
			is := offered()
			check.Require(t, is == (n < most), "%s: offered for the time %d: %v", verb, n+1, is)
			err := r.try(ann, first)
			if n == most {
				r.wantCode(verb+": one too many", err, protocol.IllegalAction)
				break
			}
			check.Require(t, err == nil, "%s: time %d: %v", verb, n+1, err)
			err = r.try(ann, second)
			check.Require(t, err == nil, "%s: time %d, back: %v", verb, n+1, err)
		}
		r.do(bob, "Pause") // counted separately
		r.do(ann, "Resume")
		r.playOn()
		check.That(t, offered(), "%s: not offered after a play", verb)
	}
}

// Players who swap positions void the other side's call, which is limited; new players may always come in.
func TestSubmit_swapsAreLimited(t *testing.T) {
	t.Parallel()
	r := begun(t)
	swapTo := map[game.Position]game.Position{game.LeftField: game.RightField, game.RightField: game.LeftField}
	swap := func() error {
		state := r.get(ann).State
		a := protocol.Action{Verb: "substitute", Decision: state.Decision}
		for i, slot := range state.Teams[game.Home].Order {
			if at, ok := swapTo[slot.Position]; ok {
				a.Subs = append(a.Subs, protocol.Sub{Player: slot.Player, Slot: i + 1, Position: at})
			}
		}
		return r.try(ann, a)
	}
	n := 0
	for n < 100 && swap() == nil {
		n++
	}
	if err := swap(); n != 10 || code(t, err) != protocol.IllegalAction {
		t.Fatalf("left and right field swapped %d times, then %v", n, err)
	}
	offers := r.get(ann).Offers
	i := slices.IndexFunc(offers, func(c protocol.Choice) bool {
		return c.Action.Verb == "substitute" && c.Action.Subs[0].Position == game.LeftField
	})
	r.do(ann, offers[i].Label)
	r.wantCode("after a new player", swap(), protocol.IllegalAction)
	r.playOn()
	check.NoError(t, swap()) // after a play
}

// A manager may hand the side to the bot and take it back; meanwhile the manager decides nothing.
func TestSubmit_handOverToBot(t *testing.T) {
	t.Parallel()
	r := begun(t)
	r.do(bob, "Let the bot manage for you")
	now := r.get(bob)
	check.That(t, len(now.Legal) == 0 && now.State.BotManages.Away, "handed over: %s", text(t, now.State))
	on := true
	r.wantCode("a call while the bot manages",
		r.try(bob,
			protocol.Action{Verb: "offense", Call: "swing", Decision: now.State.Decision}), protocol.IllegalAction)
	r.wantCode("two bots", r.try(ann, protocol.Action{Verb: "takeover", On: &on}), protocol.IllegalAction)
	r.do(ann, "Pitch to the batter")
	r.do(bob, "Take your side back")
	check.That(t, !r.get(bob).State.BotManages.Away, "the side was not returned")
}

// Handing over after the other side has decided does not void that decision: the bot decides first, and
// substitutes later.
func TestSubmit_botKeepsOtherDecision(t *testing.T) {
	t.Parallel()
	id, played := readJournal(t, filepath.Join("testdata", "journal-3-whole.gz"))
	substituted := 0
	for _, at := range afterPlays(t, played.moves[id]) {
		r := newRig(t, played.cut(id, at))
		r.id = id
		if len(r.get(ann).State.Waiting) < 2 {
			continue
		}
		a := r.watch(ann, 0)
		r.decide(ann)
		rev := r.do(bob, "Let the bot manage")
		kinds := a.kinds()[rev:]
		check.That(t, kinds[0] == "play" || kinds[0] == "question",
			"at %d: after the hand-over Ann received %v", at, kinds)
		if slices.Contains(kinds, "substitution") {
			substituted++
		}
	}
	check.That(t, substituted != 0, "the bot never substituted")
}

// The mercy rule is on in private games and off in listed ones unless the request says otherwise.
func TestCreate_defaultOfMercy(t *testing.T) {
	t.Parallel()
	inLists := func(o *protocol.Options) { o.Visibility = protocol.Listed }
	set := func(m game.Mercy) option { return func(o *protocol.Options) { o.Mercy = m } }
	for name, tt := range map[string]struct {
		options []option
		want    game.Mercy
	}{
		"listed": {[]option{inLists}, game.MercyOff}, "private": {[]option{private}, game.MercyOn},
		"private, off": {[]option{private, set(game.MercyOff)}, game.MercyOff},
		"listed, on":   {[]option{inLists, set(game.MercyOn)}, game.MercyOn},
	} {
		r := begun(t, tt.options...)
		g := r.get(ann)
		check.That(t, g.Options.Mercy == tt.want && g.State.Options.Mercy == tt.want &&
			g.State.Options.Disengagements == game.Unlimited,
			"%s: options %+v, rules %+v", name, g.Options, g.State.Options)
	}
}

// A sealed call changes nothing that others receive, but that it was submitted: with any two calls, all messages
// and answers to the other manager and to a spectator are the same to the byte; without one, the other manager may
// do the same, with the same odds and values.
func FuzzSealed(f *testing.F) {
	id, played := readJournal(f, filepath.Join("testdata", "journal-3-whole.gz"))
	open := afterPlays(f, played.moves[id])
	for n := range uint(10) {
		f.Add(n*13, n%2 == 0, n, 3*n+1)
	}
	f.Fuzz(func(t *testing.T, at uint, home bool, first, second uint) {
		synctest.Test(t, func(t *testing.T) {
			start := func() *rig {
				r := newRig(t, played.cut(id, open[at%uint(len(open))]))
				r.id = id
				return r
			}
			caller, other := bob, ann
			if home {
				caller, other = ann, bob
			}
			none, a, b := start(), start(), start()
			g := none.get(caller)
			if g.Status != protocol.Active || g.State.Paused != nil || len(g.State.Waiting) < 2 {
				return
			}
			before := none.get(other)
			choice := func(n uint) protocol.Action { return g.Legal[n%uint(len(g.Legal))].Action }
			got, want := a.receivedAfter(choice(first), caller, other), b.receivedAfter(choice(second), caller, other)
			if got != want {
				t.Errorf("%s of %s and %s differ for others: %s",
					g.YourSide, text(t, choice(first)), text(t, choice(second)), difference(got, want))
			}
			after := a.get(other)
			may := func(g protocol.Game) string { return text(t, [][]protocol.Choice{g.Legal, g.Offers}) }
			if got, want := may(after), may(before); got != want {
				t.Errorf("%s of %s changes what the other manager may do: %s",
					g.YourSide, text(t, choice(first)), difference(got, want))
			}
			after.State.Waiting = before.State.Waiting
			if got, want := text(t, after.State), text(t, before.State); got != want {
				t.Errorf("%s of %s changes the state: %s", g.YourSide, text(t, choice(first)), difference(got, want))
			}
		})
	})
}

// afterPlays returns the numbers of moves after which a game waits for new decisions: the last move of each play
// but that which ends the game.
func afterPlays(tb testing.TB, moves [][]byte) []int {
	tb.Helper()
	var all []int
	for i, data := range moves {
		var m struct {
			Kind protocol.EventKind `json:"kind"`
		}
		check.NoError(tb, json.Unmarshal(data, &m))
		if m.Kind == protocol.Played {
			all = append(all, i+1)
		}
	}
	return all[:len(all)-1]
}

// receivedAfter submits a call and returns all that the other manager and a spectator receive: over connections
// made before and after it, and as answers.
func (r *rig) receivedAfter(call protocol.Action, caller, other protocol.Person) string {
	r.Helper()
	viewers := []protocol.Person{other, carl, {}}
	var watchers []*watcher
	watch := func() {
		for _, who := range viewers {
			watchers = append(watchers, r.watch(who, 0))
		}
	}
	watch()
	err := r.send(caller, protocol.Command{ID: "call", Revision: r.get(caller).Revision, Action: call})
	check.Require(r, err == nil, "%s does %s: %v", caller.Name, text(r, call), err)
	watch()
	all := ""
	for i, who := range viewers {
		all += r.events(who) + text(r, r.get(who)) + text(r, watchers[i].received()) +
			text(r, watchers[i+len(viewers)].received())
	}
	for _, w := range watchers {
		w.leave()
	}
	return all
}
