package live_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// violations returns what an error lists.
func violations(err error) []game.Violation {
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return refused.Errors
	}
	return nil
}

// A request is refused with all its violations, by path; nothing is created.
func TestCreate_violations(t *testing.T) {
	t.Parallel()
	r := newRig(t, newJournal())
	for _, tt := range []struct {
		change func(*protocol.Request)
		want   string // paths
	}{
		{func(q *protocol.Request) { q.HomeTeam, q.AwayTeam = "", "" }, "/home_team /away_team"},
		{func(q *protocol.Request) { q.AwayTeam = q.HomeTeam }, "/away_team"},
		{func(q *protocol.Request) { q.AwayTeam = "XYZ" }, "/away_team"},
		{func(q *protocol.Request) { q.HomeTeam = "XYZ" }, "/home_team"},
		{func(q *protocol.Request) { q.Season = 99 }, "/away_team"},
		{func(q *protocol.Request) { q.Options.Innings, q.Options.Side = 4, "left" }, "/options/innings /options/side"},
		{func(q *protocol.Request) { q.Options.Innings = 0 }, "/options/innings"},
		{
			func(q *protocol.Request) { q.Options.ExtraInnings, q.Options.Opponent = "none", "me" },
			"/options/extra_innings /options/opponent",
		},
		{
			func(q *protocol.Request) { q.Options.Announce, q.Options.Visibility = "loud", "secret" },
			"/options/announce /options/visibility",
		},
		{func(q *protocol.Request) { q.Options.TurnSeconds = -1 }, "/options/turn_seconds"},
		{func(q *protocol.Request) { q.Options.TurnSeconds = 86_401 }, "/options/turn_seconds"},
		{
			func(q *protocol.Request) { q.Options = protocol.Options{} },
			"/options/innings /options/extra_innings /options/side /options/opponent /options/announce " +
				"/options/visibility",
		},
	} {
		q := request()
		tt.change(&q)
		_, err := r.Create(t.Context(), ann, q)
		if c := code(t, err); c != protocol.Invalid && c != protocol.UnknownTeam {
			t.Errorf("%+v: %v", q, err)
			continue
		}
		var paths []string
		for _, v := range violations(err) {
			paths = append(paths, v.Path)
			check.That(t, v.Code != "" && v.Detail != "", "%+v: %+v lacks a code or a detail", q, v)
		}
		check.Equal(t, strings.Join(paths, " "), tt.want, "%+v", q)
	}
	r.create(turnSeconds(86_400))
	l, err := r.List(ann, live.Query{})
	check.That(t, err == nil && len(l.Pending) == 1, "%d games were created, %v, want 1", len(l.Pending), err)
}

// Each side has one manager, who alone may act for it; an anonymous person has no side.
func TestPregame_refusals(t *testing.T) {
	t.Parallel()
	r := newRig(t, newJournal())
	g := r.create()
	check.That(t, g.YourSide == "home" && g.Away.Manager == nil && g.Home.Manager.Name == "Ann" &&
		g.Status == protocol.Pending && g.Revision == 1,
		"created %s", text(t, g))
	l, ctx := r.suggest(ann, game.Home), t.Context()
	_, _, boxErr := r.Box(ctx, ann, r.id)
	for name, tt := range map[string]struct {
		err  error
		want protocol.Code
	}{
		"the creator joins":              {second(r.Join(ctx, ann, r.id)), protocol.SeatTaken},
		"a stranger submits":             {second(r.SetLineup(ctx, bob, r.id, game.Home, l)), protocol.Forbidden},
		"the wrong side":                 {second(r.SetLineup(ctx, ann, r.id, game.Away, l)), protocol.NotYourSide},
		"a stranger's suggestion":        {second(r.Suggest(ctx, bob, r.id, game.Home)), protocol.Forbidden},
		"the other's suggestion":         {second(r.Suggest(ctx, ann, r.id, game.Away)), protocol.NotYourSide},
		"a stranger starts":              {second(r.Start(ctx, bob, r.id)), protocol.Forbidden},
		"too early":                      {second(r.Start(ctx, ann, r.id)), protocol.NotReady},
		"conceded before the start":      {second(r.Concede(ctx, ann, r.id)), protocol.NotActive},
		"a rematch of it":                {second(r.Rematch(ctx, ann, r.id)), protocol.NotFinished},
		"a stranger's rematch":           {second(r.Rematch(ctx, bob, r.id)), protocol.Forbidden},
		"a stranger cancels":             {r.Cancel(ctx, bob, r.id), protocol.Forbidden},
		"no such game":                   {r.Cancel(ctx, ann, "nothing"), protocol.UnknownGame},
		"its box score":                  {boxErr, protocol.NotActive},
		"its win probability":            {second(r.WinProbability(ctx, r.id)), protocol.NotActive},
		"an anonymous person creates":    {second(r.Create(ctx, protocol.Person{}, request())), protocol.Forbidden},
		"an anonymous person joins":      {second(r.Join(ctx, protocol.Person{}, r.id)), protocol.Forbidden},
		"an anonymous person cancels it": {r.Cancel(ctx, protocol.Person{}, r.id), protocol.Forbidden},
	} {
		r.wantCode(name, tt.err, tt.want)
	}
	err := second(r.Start(ctx, ann, r.id))
	check.That(t, strings.Contains(err.Error(), "away team has no manager") &&
		strings.Contains(err.Error(), "line-up of the home team"),
		"what is missing: %v", err)
	for range 2 {
		g := r.join(bob)
		check.That(t, g.YourSide == "away" && g.Revision == 2, "Bob joins: %s", text(t, g))
	}
	r.wantCode("Carl joins", second(r.Join(ctx, carl, r.id)), protocol.SeatTaken)
}

// A line-up is refused with all its violations; it may be replaced until the start, and the same again is no move.
func TestSetLineup_checkedAndReplaced(t *testing.T) {
	t.Parallel()
	r := newRig(t, newJournal())
	r.create()
	good := r.suggest(ann, game.Home)
	bad := game.Lineup{Order: slices.Clone(good.Order), Pitcher: "unknown"}
	bad.Order[3].Player, bad.Order[4].Position = "stranger", game.Pitcher
	err := second(r.SetLineup(t.Context(), ann, r.id, game.Home, bad))
	check.That(t, code(t, err) == protocol.Invalid && len(violations(err)) >= 3 && !r.get(ann).Home.LineupSubmitted,
		"a bad one: %v, submitted %v", err, r.get(ann).Home.LineupSubmitted)
	for n := range 2 {
		for range 3 {
			g, err := r.SetLineup(t.Context(), ann, r.id, game.Home, good)
			if err != nil || !g.Home.LineupSubmitted || g.Status != protocol.Pending || g.Revision != uint64(n+2) {
				t.Fatalf("a good one: %s at %d, %v", g.Status, g.Revision, err)
			}
		}
		good.Order[0], good.Order[1] = good.Order[1], good.Order[0]
	}
	check.Equal(t, r.get(ann).Home.Lineup.Order[0], good.Order[1], "who bats first")
	r.join(bob)
	b := r.watch(bob, 0)
	g := r.submitLineup(bob, game.Away)
	check.Require(t, g.Status == protocol.Active, "with both line-ups: %s", g.Status)
	r.wantCode("after the start", second(r.SetLineup(t.Context(), ann, r.id, game.Home, good)), protocol.NotPending)
	if g, err := r.Start(t.Context(), ann, r.id); err != nil || g.Status != protocol.Active {
		t.Errorf("started again: %v", err)
	}
	if e := b.event(); e.Kind != protocol.Started || len(e.Legal) == 0 || e.Lineups == nil || e.State == nil {
		t.Errorf("Bob received %s", text(t, e))
	}
}

// A rematch has the same clubs and managers; the other side is reserved for its manager.
func TestRematch_reservesTheSide(t *testing.T) {
	t.Parallel()
	r := begun(t, innings(3), withoutDH)
	first := r.get(bob)
	c := r.watch(carl, 0)
	end := r.concede(bob)
	check.Require(t, end.Result.Winner == "home" && end.Result.How == "conceded", "conceded: %s", text(t, end.Result))
	kinds := c.kinds()
	check.That(t, slices.Equal(kinds[len(kinds)-2:], []string{"conceded", "finished"}), "Carl received %v", kinds)
	rematch := func(who protocol.Person) protocol.Game {
		t.Helper()
		return check.Must(r.Rematch(t.Context(), who, first.ID))(r)
	}
	var racing sync.WaitGroup
	ids := make([]string, 4)
	for i := range ids {
		racing.Go(func() { ids[i] = rematch(bob).ID })
	}
	racing.Wait()
	all := slices.Compact(ids)
	check.Require(t, len(all) == 1, "several rematches: %v", all)
	r.id = ids[0]
	next, options := r.get(bob), first.Options
	options.Side = "away" // the creator's, who is Bob now
	check.That(t, next.YourSide == "away" && next.Home.Manager == nil && next.Reserved && next.RematchOf == first.ID &&
		next.Options == options,
		"Bob's rematch: %s", text(t, next))
	check.That(t, next.Dice.Commitment != first.Dice.Commitment, "the rematch has the same seed")
	e := c.event()
	check.That(t, e.Kind == protocol.RematchCreated && e.Rematch == r.id, "Carl received %s", text(t, e))
	r.wantCode("Carl takes Ann's side", second(r.Join(t.Context(), carl, r.id)), protocol.Forbidden)
	for range 2 {
		next := rematch(ann)
		check.That(t, next.ID == r.id && next.YourSide == "home" && !next.Reserved, "Ann's rematch: %s", text(t, next))
	}
	check.NoError(r, r.Cancel(t.Context(), bob, r.id))
	next = rematch(ann)
	check.That(t, next.ID != r.id, "the rematch after a cancelled one is the cancelled one")
}

// fourGames begins four games in hot seat and ends the first three; those for which private is set are private.
func (r *rig) fourGames(private [4]bool) (ids [4]string) {
	for n := range ids {
		r.begin(hotSeat, func(o *protocol.Options) {
			if private[n] {
				o.Visibility = protocol.Private
			}
		})
		if n < 3 {
			r.playAlone(ann)
			r.concede(ann)
		}
		ids[n] = r.id
		pass(time.Minute + time.Second) // evicted
	}
	return ids
}

// found returns the numbers of the games that still exist.
func (r *rig) found(ids [4]string) (numbers string) {
	for i, id := range ids {
		if err := second(r.Game(r.Context(), ann, id)); err == nil {
			numbers += fmt.Sprint(i)
		} else {
			r.wantCode("a deleted game", err, protocol.UnknownGame)
		}
	}
	return numbers
}

// One person may have created 200 games that are not finished; ending or canceling one makes room for another.
func TestCreate_limitPerPerson(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	active, ctx := r.id, t.Context()
	for range 199 {
		r.create()
	}
	refused := func() {
		t.Helper()
		r.wantCode("one more", second(r.Create(ctx, ann, request())), protocol.TooManyGames)
	}
	refused()
	check.NoError(r, second(r.Create(ctx, bob, request())))
	check.NoError(r, r.Cancel(ctx, ann, r.id))
	r.create()
	refused()
	r.id = active
	r.concede(ann)
	check.NoError(r, second(r.Rematch(ctx, ann, active)))
	refused()
	lists, err := r.List(ann, live.Query{})
	check.That(t, err == nil && len(lists.Pending) == 201, "%d pending games, %v", len(lists.Pending), err)
}
