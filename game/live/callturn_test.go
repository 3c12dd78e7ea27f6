package live_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

func callTurn(o *protocol.Options) { o.CallTurn, o.Announce = true, protocol.AnnounceOff }

// turnRig returns a rig in a game that says whose turn it is and nothing else, and what is spoken.
func turnRig(t *testing.T, options ...option) (*rig, *recordingAnnouncer) {
	t.Helper()
	j, spoken := newJournal(), &recordingAnnouncer{}
	r := rigWith(t, j, live.Config{Journal: j, Announcer: spoken})
	r.begin(append([]option{callTurn}, options...)...)
	return r, spoken
}

// turnsOf returns the names that a comment calls.
func turnsOf(comment string) (names []string) {
	for _, who := range []protocol.Person{ann, bob} {
		if strings.Contains(comment, who.Name) {
			names = append(names, who.Name)
		}
	}
	return names
}

// The loudspeaker says once whose decision it is: not again when one of two has decided, has taken the call back,
// or has made a substitution that changes nothing for the other.
func TestCallTurn_oncePerDecision(t *testing.T) {
	t.Parallel()
	r, spoken := turnRig(t)
	want := func(what string, lines int, names ...string) {
		t.Helper()
		check.That(t, len(spoken.said()) == lines && slices.Equal(turnsOf(spoken.said()[len(spoken.said())-1]), names),
			"%s: %q, want %d with %v", what, spoken.said(), lines, names)
	}
	want("at the start", 1, "Ann", "Bob")
	r.decide(ann)
	want("after Ann's call", 1, "Ann", "Bob")
	r.do(ann, "Take the call back")
	want("after it is taken back", 1, "Ann", "Bob")
	substitution := slices.IndexFunc(r.get(bob).Offers,
		func(c protocol.Choice) bool { return c.Group == "substitution" })
	r.do(bob, r.get(bob).Offers[substitution].Label)
	want("after a substitution that voids no call", 1, "Ann", "Bob")
	r.do(ann, "Pause")
	r.do(ann, "Resume")
	want("after a pause", 1, "Ann", "Bob")
	r.decide(ann)
	substitution = slices.IndexFunc(r.get(bob).Offers,
		func(c protocol.Choice) bool { return c.Group == "substitution" })
	r.do(bob, r.get(bob).Offers[substitution].Label)
	want("after a substitution that voids Ann's call", 2, "Ann")
	before := r.get(ann).State.Decision
	r.playOn()
	if got := len(spoken.said()) - 2; got < 1 || got > int(r.get(ann).State.Decision-before) {
		t.Errorf("%d decisions were opened, and %d called: %q", r.get(ann).State.Decision-before, got, spoken.said())
	}
}

// The bot is not called, and without the option no one is.
func TestCallTurn_notTheBot(t *testing.T) {
	t.Parallel()
	r, spoken := turnRig(t, withBot)
	for range 12 {
		r.decide(ann)
	}
	notHers := func(line string) bool { return len(turnsOf(line)) != 1 || strings.Contains(line, "bot") }
	check.That(t, len(spoken.said()) >= 8 && !slices.ContainsFunc(spoken.said(), notHers), "%q", spoken.said())
	silent, none := turnRig(t, func(o *protocol.Options) { o.CallTurn = false })
	silent.playOn()
	check.That(t, len(none.lines) == 0, "without the option: %q", none.lines)
}

// What happened and whose turn it is are one comment, so that neither replaces the other.
func TestCallTurn_withPlay(t *testing.T) {
	t.Parallel()
	r, spoken := turnRig(t, func(o *protocol.Options) { o.Announce = protocol.AnnounceAll })
	lines := len(spoken.said())
	r.playOn()
	last := spoken.said()[len(spoken.said())-1]
	if len(spoken.said()) == lines || len(turnsOf(last)) != 2 || len(last) < len("Your call, Ann and Bob.")+15 {
		t.Errorf("%q", spoken.said())
	}
}

// The clock's default decision opens the next decision, which is called; a manager who is away for the bot is not.
func TestCallTurn_clock(t *testing.T) {
	t.Parallel()
	spoken := &recordingAnnouncer{}
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := rigWith(t, j, live.Config{Journal: j, Announcer: spoken})
		r.begin(callTurn, turnSeconds(30))
		defer r.run()()
		_, b := r.watchBoth()
		before := len(spoken.said())
		pass(30 * time.Second)
		check.That(t, len(spoken.said()) == before+1, "after the clock ran out: %q", spoken.said()[before:])
		b.leave()
		pass(61 * time.Second)
		before = len(spoken.said())
		r.decide(ann)
		for _, line := range spoken.said()[before:] {
			check.That(t, !slices.Contains(turnsOf(line), "Bob"), "with the bot for Bob: %q", line)
		}
	})
}
