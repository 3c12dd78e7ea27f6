package live_test

import (
	"testing"
	"time"

	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// playAlone lets a person decide for both sides of a game in hot seat until there has been a play.
func (r *rig) playAlone(by protocol.Person) {
	r.Helper()
	before := r.get(by).State.Decision
	for g := r.get(by); g.State.Decision == before || len(g.State.Waiting) < 2; {
		g = r.decide(by)
	}
}

// When space runs out, the finished game of the person who created most that finished first is deleted, listed or not.
// Unfinished games and those in memory stay.
func TestMakeRoom_nearlyFull(t *testing.T) {
	t.Parallel()
	withoutGame(t, func(r *rig) {
		ids := r.fourGames([4]bool{false, true, false, true})
		standings := func(want int) {
			r.Helper()
			s, err := r.Standings(r.Context(), 3)
			check.That(r, err == nil && s[0].Games == want, "%s, %v, want %d games", text(r, s), err, want)
		}
		standings(3)
		r.journal.crowded = true
		for n, want := range []string{"0123", "123", "23", "3", "3"} {
			got := r.found(ids)
			check.That(r, got == want && len(r.journal.summaries) == len(want),
				"after %d moves games %s exist, %d in the journal, want %s", n, got, len(r.journal.summaries), want)
			pass(time.Minute + time.Second)
			r.decide(ann)
		}
	})
}

// finish creates a game in hot seat and finishes it.
func (r *rig) finish(by protocol.Person) (id string) {
	r.Helper()
	r.id = check.Must(r.Create(r.Context(), by, request(hotSeat)))(r).ID
	for _, side := range sides {
		r.submitLineup(by, side)
	}
	r.playAlone(by)
	r.concede(by)
	pass(time.Second) // games finish one after another
	return r.id
}

// A new game without room takes it from its creator's finished games first, then from the person who created most.
func TestMakeRoom_ownFirst(t *testing.T) {
	t.Parallel()
	withoutGame(t, func(r *rig) {
		first := r.finish(bob)
		ids := [4]string{r.finish(ann), r.finish(ann), first, r.finish(bob)}
		third := r.finish(ann)
		pass(time.Minute + time.Second)
		room := len(r.journal.summaries)
		r.journal.before = func(c live.Change) error {
			if c.First == 1 && len(r.journal.summaries) >= room {
				return live.ErrFull
			}
			return nil
		}
		for _, tt := range []struct {
			by   protocol.Person
			want string
		}{{bob, "013"}, {bob, "01"}, {carl, "1"}, {carl, ""}} {
			_, err := r.Create(r.Context(), tt.by, request())
			check.Require(r, err == nil, "%s: %v", tt.by.Name, err)
			check.Equal(r, r.found(ids), tt.want, "after a game of %s, exist", tt.by.Name)
			pass(time.Minute + time.Second) // found has loaded them
		}
		if _, err := r.Create(r.Context(), carl, request()); err != nil {
			r.Fatal(err)
		}
		r.wantCode("all deleted", second(r.Game(r.Context(), ann, third)), protocol.UnknownGame)
		r.wantCode("without finished games", second(r.Create(r.Context(), ann, request())), protocol.StoreFull)
	})
}

// A game that ended without a play is deleted when it leaves memory, and does not count in the standings.
func TestConcede_withoutPlay(t *testing.T) {
	t.Parallel()
	withoutGame(t, func(r *rig) {
		played := r.finish(ann)
		r.begin(hotSeat)
		r.concede(ann)
		s, err := r.Standings(r.Context(), 3)
		check.That(r, err == nil && s[0].Games == 1, "standings: %s, %v, want one game", text(r, s), err)
		r.get(ann)
		pass(time.Minute + time.Second)
		r.wantCode("the game without a play", second(r.Game(r.Context(), ann, r.id)), protocol.UnknownGame)
		if _, err := r.Game(r.Context(), ann, played); err != nil || len(r.journal.summaries) != 1 {
			r.Errorf("the other game: %v; %d in the journal", err, len(r.journal.summaries))
		}
	})
}

// Remove deletes a game of any status, in memory or not, and disconnects its subscribers.
func TestRemove_anyStatus(t *testing.T) {
	t.Parallel()
	withoutGame(t, func(r *rig) {
		finished := r.finish(ann)
		pass(time.Minute + time.Second)
		pending := r.create().ID
		r.begin(hotSeat)
		for _, id := range []string{finished, pending, r.id} {
			err := r.Remove(r.Context(), id)
			check.That(r, err == nil, "remove: %v", err)
			r.wantCode("a removed game", second(r.Game(r.Context(), ann, id)), protocol.UnknownGame)
			r.wantCode("remove it again", r.Remove(r.Context(), id), protocol.UnknownGame)
		}
		if s, err := r.Standings(r.Context(), 3); err != nil || len(s) != 0 || len(r.journal.summaries) != 0 {
			r.Errorf("standings: %s, %v; %d games in the journal", text(r, s), err, len(r.journal.summaries))
		}
	})
}
