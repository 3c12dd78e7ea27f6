package live_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// Private games are found only by id and by the people they involve; lists show the newest first.
func TestList_visibility(t *testing.T) {
	t.Parallel()
	r := begun(t, private, withBot, innings(3))
	hidden := *r
	open := r.create()
	over := *r
	over.begin(hotSeat, innings(3))
	over.concede(ann)
	for _, tt := range []struct {
		who                       protocol.Person
		status                    protocol.Status
		pending, active, finished int
	}{
		{ann, "", 1, 1, 1},
		{bob, "", 1, 0, 1},
		{protocol.Person{}, "", 1, 0, 1},
		{ann, protocol.Active, 0, 1, 0},
		{ann, protocol.Pending, 1, 0, 0},
	} {
		l, err := r.List(tt.who, live.Query{Status: tt.status})
		if err != nil || len(l.Pending) != tt.pending || len(l.Active) != tt.active || len(l.Finished) != tt.finished {
			t.Errorf("%q, %q: %s, %v", tt.who.Name, tt.status, text(t, l), err)
		}
	}
	check.NoError(t, r.Host(t.Context(), fixture("bots", protocol.Person{}, protocol.Person{})))
	for people, want := range map[bool]int{false: 2, true: 1} {
		l := check.Must(r.List(bob, live.Query{People: people}))(t)
		check.That(t, len(l.Pending) == 1 && len(l.Finished) == want, "people %t: %s", people, text(t, l))
	}
	check.NoError(t, r.Remove(t.Context(), "bots"))
	check.Equal(t, text(t, r.CountByStatus()), `{"active":1,"finished":1,"pending":1}`, "counts")
	var lobby watcher
	games, leave := r.WatchLobby(lobby.send)
	defer leave()
	check.That(t, len(games) == 1 && games[0].ID == open.ID && !strings.Contains(text(t, games), ann.ID),
		"the lobby shows %s", text(t, games))
	hidden.decide(ann)
	all := lobby.received()
	check.That(t, len(all) == 0, "of a private game the lobby received %s", text(t, all))
	g := hidden.get(carl)
	check.That(t, g.YourSide == "" && g.Home.Manager.Name == "Ann", "by its id Carl sees %s", text(t, g))
	r.wantCode("cancel a finished game", r.Cancel(t.Context(), ann, over.id), protocol.NotPending)
	w := r.watch(carl, 0)
	check.NoError(r, r.Cancel(t.Context(), ann, r.id))
	check.That(t, lobby.last("gone") != nil && w.last("bye") != nil,
		"of the cancellation the lobby received %s, Carl %s", text(t, lobby.received()), text(t, w.received()))
	r.wantCode("a cancelled game", second(r.Game(t.Context(), ann, r.id)), protocol.UnknownGame)
	for _, q := range []live.Query{{Status: "lost"}, {Before: "yesterday"}} {
		r.wantCode(fmt.Sprint(q), second(r.List(ann, q)), protocol.Invalid)
	}
}

// Finished games are listed a hundred at a time, each once.
func TestList_pages(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	r.concede(ann)
	j := r.journal
	summary, finished := string(j.summaries[r.id]), `"finished_at":`
	for i := range 250 {
		id, ended := fmt.Sprintf("game%d", i), time.Date(2026, 1, 1, 0, 0, i/3, 0, time.UTC) // three at a time
		replaced := strings.NewReplacer(r.id, id, finished+text(t, r.get(ann).Finished), finished+text(t, ended))
		j.summaries[id] = []byte(replaced.Replace(summary))
	}
	r = newRig(t, j)
	var seen []string
	for page, want := range []int{100, 100, 51} {
		before := ""
		if page > 0 {
			before = seen[len(seen)-1]
		}
		l, err := r.List(carl, live.Query{Status: protocol.Finished, Before: before})
		check.Require(t, err == nil && len(l.Finished) == want,
			"page %d: %d games, %v, want %d", page, len(l.Finished), err, want)
		for i, g := range l.Finished {
			check.Require(t, !slices.Contains(seen, g.ID) && (i == 0 || !g.Finished.After(l.Finished[i-1].Finished)),
				"page %d: %s again, or out of order", page, g.ID)
			seen = append(seen, g.ID)
		}
	}
	l, err := r.List(carl, live.Query{Before: "2026-01-01T00:00:02Z"})
	check.That(t, err == nil && len(l.Finished) == 6, "before the third second: %d, %v, want 6", len(l.Finished), err)
}

// Each list has at most the limit, and goes on after one of its games; the others begin at their beginning.
func TestList_limit(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	for range 3 {
		r.create()
	}
	l, err := r.List(carl, live.Query{Limit: 2})
	check.Require(t, err == nil && len(l.Pending) == 2 && len(l.Active) == 1, "at most two: %s, %v", text(t, l), err)
	rest, err := r.List(carl, live.Query{Limit: 2, Before: l.Pending[1].ID})
	check.That(t, err == nil && len(rest.Pending) == 1 && rest.Pending[0].ID != l.Pending[0].ID &&
		rest.Pending[0].ID != l.Pending[1].ID && len(rest.Active) == 1,
		"after the second: %s, %v", text(t, rest), err)
}
