package live_test

import (
	"testing"

	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// A rematch is offered to the opponent alone, on every connection, until it is accepted, declined or cancelled;
// who asked for it is notified of the refusal.
func TestRematches_offer(t *testing.T) {
	t.Parallel()
	r := begun(t, innings(3), private)
	first := r.id
	r.concede(bob)
	var anns, bobs, carls watcher
	for who, w := range map[*protocol.Person]*watcher{&ann: &anns, &bob: &bobs, &carl: &carls} {
		offers, leave := r.WatchRematches(*who, w.send)
		check.That(t, len(offers) == 0, "%s is offered %s", who.Name, text(t, offers))
		defer leave()
	}
	want := func(what, toAnn, toBob string) {
		t.Helper()
		for w, want := range map[*watcher]string{&anns: toAnn, &bobs: toBob, &carls: ""} {
			got := ""
			if last := w.last(want); last != nil && last.Game == r.id {
				got = last.Type
			}
			check.That(t, got == want && (want != "" || len(w.received()) == 0),
				"%s: received %s, want %q", what, text(t, w.received()), want)
		}
		anns, bobs = watcher{}, watcher{}
	}
	offer := func() {
		t.Helper()
		r.id = check.Must(r.Rematch(t.Context(), bob, first))(r).ID
		want("offered", "rematch", "")
	}
	offer()
	offers, leave := r.WatchRematches(ann, anns.send)
	leave()
	if g := r.get(carl); len(offers) != 1 || offers[0].ID != r.id || g.Home.Reserved == nil ||
		g.Home.Reserved.Name != "Ann" || g.Away.Reserved != nil {
		t.Errorf("Ann is offered %s", text(t, offers))
	}
	r.wantCode("Bob declines the own offer", r.Decline(t.Context(), bob, r.id), protocol.Forbidden)
	r.wantCode("Carl declines", r.Decline(t.Context(), carl, r.id), protocol.Forbidden)
	check.NoError(r, r.Decline(t.Context(), ann, r.id))
	r.wantCode("the declined one", second(r.Game(t.Context(), bob, r.id)), protocol.UnknownGame)
	old := check.Must(r.Game(t.Context(), bob, first))(r)
	check.That(t, old.Rematch == "", "the game has the rematch %s, which was declined", old.Rematch)
	want("declined", "gone", "declined")
	offer()
	check.NoError(r, r.Cancel(t.Context(), bob, r.id))
	want("cancelled", "gone", "gone")
	offer()
	check.NoError(r, second(r.Join(t.Context(), ann, r.id)))
	want("accepted", "gone", "gone")
	r.wantCode("declined after all", r.Decline(t.Context(), ann, r.id), protocol.Forbidden)
}
