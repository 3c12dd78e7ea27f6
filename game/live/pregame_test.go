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
	"pressbox/game/chance"
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
		g.Status == protocol.Pending && g.Revision == 1, "created %s", text(t, g))
	l, ctx := r.suggest(ann, game.Home), t.Context()
	_, _, boxErr := r.Box(ctx, ann, r.id)
	for name, tt := range map[string]struct {
		err  error
		want protocol.Code
	}{
		"the creator joins":              {check.Err(r.Join(ctx, ann, r.id)), protocol.SeatTaken},
		"a stranger submits":             {check.Err(r.SetLineup(ctx, bob, r.id, game.Home, l)), protocol.Forbidden},
		"the wrong side":                 {check.Err(r.SetLineup(ctx, ann, r.id, game.Away, l)), protocol.NotYourSide},
		"a stranger's suggestion":        {check.Err(r.Suggest(ctx, bob, r.id, game.Home)), protocol.Forbidden},
		"the other's suggestion":         {check.Err(r.Suggest(ctx, ann, r.id, game.Away)), protocol.NotYourSide},
		"a stranger starts":              {check.Err(r.Start(ctx, bob, r.id)), protocol.Forbidden},
		"too early":                      {check.Err(r.Start(ctx, ann, r.id)), protocol.NotReady},
		"conceded before the start":      {check.Err(r.Concede(ctx, ann, r.id)), protocol.NotActive},
		"a rematch of it":                {check.Err(r.Rematch(ctx, ann, r.id)), protocol.NotFinished},
		"a stranger's rematch":           {check.Err(r.Rematch(ctx, bob, r.id)), protocol.Forbidden},
		"a stranger cancels":             {r.Cancel(ctx, bob, r.id), protocol.Forbidden},
		"no such game":                   {r.Cancel(ctx, ann, "nothing"), protocol.UnknownGame},
		"its box score":                  {boxErr, protocol.NotActive},
		"its win probability":            {check.Err(r.WinProbability(ctx, r.id)), protocol.NotActive},
		"an anonymous person creates":    {check.Err(r.Create(ctx, protocol.Person{}, request())), protocol.Forbidden},
		"an anonymous person joins":      {check.Err(r.Join(ctx, protocol.Person{}, r.id)), protocol.Forbidden},
		"an anonymous person cancels it": {r.Cancel(ctx, protocol.Person{}, r.id), protocol.Forbidden},
	} {
		r.wantCode(name, tt.err, tt.want)
	}
	err := check.Err(r.Start(ctx, ann, r.id))
	check.Contains(t, err.Error(), "away team has no manager", "what is missing")
	check.Contains(t, err.Error(), "line-up of the home team", "what is missing")
	for range 2 {
		g := r.join(bob)
		check.That(t, g.YourSide == "away" && g.Revision == 2, "Bob joins: %s", text(t, g))
	}
	r.wantCode("Carl joins", check.Err(r.Join(ctx, carl, r.id)), protocol.SeatTaken)
}

// A line-up is refused with all its violations. Until the start it may be replaced, which takes no room: the journal
// has the present one only, under the revision of the first, and nobody is notified.
func TestSetLineup_checkedAndReplaced(t *testing.T) {
	t.Parallel()
	r := newRig(t, newJournal())
	r.create()
	good := r.suggest(ann, game.Home)
	bad := game.Lineup{Order: slices.Clone(good.Order), Pitcher: "unknown"}
	bad.Order[3].Player, bad.Order[4].Position = "stranger", game.Pitcher
	err := check.Err(r.SetLineup(t.Context(), ann, r.id, game.Home, bad))
	check.That(t, code(t, err) == protocol.Invalid && len(violations(err)) >= 3 && !r.get(ann).Home.LineupSubmitted,
		"a bad one: %v, submitted %v", err, r.get(ann).Home.LineupSubmitted)
	r.submitLineup(ann, game.Home)
	c, size := r.watch(carl, 0), r.journal.size(r.id)
	for range 301 { // the last one is another than the first
		good.Order[0], good.Order[1] = good.Order[1], good.Order[0]
		g, err := r.SetLineup(t.Context(), ann, r.id, game.Home, good)
		check.Require(t, err == nil && g.Home.LineupSubmitted && g.Status == protocol.Pending && g.Revision == 2,
			"a good one: %s at %d, %v", g.Status, g.Revision, err)
	}
	grown := r.journal.size(r.id) - size // a time has up to four digits less
	check.That(t, len(r.journal.moves[r.id]) == 2 && grown*grown <= 16 && len(c.received("event")) == 2,
		"%d moves, %d bytes more, want 2 and 0; Carl received %s", len(r.journal.moves[r.id]), grown,
		text(t, c.received()))
	again := r.reloaded(r.journal)
	check.Equal(t, again.visible(), r.visible(), "after a restart")
	check.Equal(t, again.get(ann).Home.Lineup.Order[0], good.Order[0], "who bats first")
	r.join(bob)
	b := r.watch(bob, 0)
	g := r.submitLineup(bob, game.Away)
	check.Require(t, g.Status == protocol.Active, "with both line-ups: %s", g.Status)
	r.wantCode("after the start", check.Err(r.SetLineup(t.Context(), ann, r.id, game.Home, good)), protocol.NotPending)
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
		next.Options == options, "Bob's rematch: %s", text(t, next))
	check.That(t, next.Dice.Commitment != first.Dice.Commitment, "the rematch has the same seed")
	e := c.event()
	check.That(t, e.Kind == protocol.RematchCreated && e.Rematch == r.id, "Carl received %s", text(t, e))
	r.wantCode("Carl takes Ann's side", check.Err(r.Join(t.Context(), carl, r.id)), protocol.Forbidden)
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
		if err := check.Err(r.Game(r.Context(), ann, id)); err == nil {
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
		r.wantCode("one more", check.Err(r.Create(ctx, ann, request())), protocol.TooManyGames)
	}
	refused()
	check.NoError(r, check.Err(r.Create(ctx, bob, request())))
	check.NoError(r, r.Cancel(ctx, ann, r.id))
	r.create()
	refused()
	r.id = active
	r.concede(ann)
	check.NoError(r, check.Err(r.Rematch(ctx, ann, active)))
	refused()
	lists, err := r.List(ann, live.Query{})
	check.That(t, err == nil && len(lists.Pending) == 201, "%d pending games, %v", len(lists.Pending), err)
}

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
	g := r.get(carl)
	check.That(t, len(offers) == 1 && offers[0].ID == r.id && g.Home.Reserved != nil && g.Home.Reserved.Name == "Ann" &&
		g.Away.Reserved == nil, "Ann is offered %s", text(t, offers))
	r.wantCode("Bob declines the own offer", r.Decline(t.Context(), bob, r.id), protocol.Forbidden)
	r.wantCode("Carl declines", r.Decline(t.Context(), carl, r.id), protocol.Forbidden)
	check.NoError(r, r.Decline(t.Context(), ann, r.id))
	r.wantCode("the declined one", check.Err(r.Game(t.Context(), bob, r.id)), protocol.UnknownGame)
	old := check.Must(r.Game(t.Context(), bob, first))(r)
	check.That(t, old.Rematch == "", "the game has the rematch %s, which was declined", old.Rematch)
	want("declined", "gone", "declined")
	offer()
	check.NoError(r, r.Cancel(t.Context(), bob, r.id))
	want("cancelled", "gone", "gone")
	offer()
	check.NoError(r, check.Err(r.Join(t.Context(), ann, r.id)))
	want("accepted", "gone", "gone")
	r.wantCode("declined after all", r.Decline(t.Context(), ann, r.id), protocol.Forbidden)
}

// fixture returns a game of three innings between two managers; the zero Person is the bot.
func fixture(id string, away, home protocol.Person) *live.Fixture {
	q := request(innings(3))
	return &live.Fixture{
		ID: id, Competition: protocol.Competition{ID: "kitchen"}, Creator: carl, Options: q.Options,
		Teams: [2]string{q.AwayTeam, q.HomeTeam}, Managers: [2]protocol.Person{away, home},
	}
}

// A game between two bots is played when it is created, in one change of the journal, and read back the same;
// creating it again changes nothing.
func TestHost_bots(t *testing.T) {
	t.Parallel()
	j, changes := newJournal(), 0
	j.before = func(live.Change) error { changes++; return nil }
	var finished []string
	r := rigWith(t, j, live.Config{Journal: j, Finished: func(id string) { finished = append(finished, id) }})
	f := fixture("final", protocol.Person{}, protocol.Person{})
	for range 2 {
		check.NoError(t, r.Host(t.Context(), f))
	}
	check.That(t, changes == 1 && len(finished) == 1, "%d changes, want 1; finished %v", changes, finished)
	r.id = "final"
	g := r.get(ann)
	check.That(t, g.Status == protocol.Finished && g.Result.How == "final" && g.Competition.ID == "kitchen" &&
		g.YourSide == "", "the game is %s, %+v, of league %+v", g.Status, g.Result, g.Competition)
	after := r.reloaded(j)
	check.That(t, after.visible() == r.visible(), "the game differs after it was loaded again")
	o := check.Must(r.Outcome(t.Context(), "final"))(t)
	_, box, err := r.Box(t.Context(), ann, "final")
	check.NoError(t, err)
	pitches := 0
	for _, n := range o.Pitches {
		pitches += n
	}
	check.That(t, o.Score == [2]int{box.Teams[0].Runs, box.Teams[1].Runs} && o.Conceded == "" && pitches >= 60,
		"outcome %+v of %d pitches, box score %d–%d", o, pitches, box.Teams[0].Runs, box.Teams[1].Runs)
	if players, _, err := r.Players(t.Context(), g.Season, ""); err != nil || len(players) == 0 {
		t.Errorf("the game is not in the statistics: %v", err)
	}
}

// A game that cannot be saved does not exist.
func TestHost_notSaved(t *testing.T) {
	t.Parallel()
	j := newJournal()
	r := newRig(t, j)
	j.setErr(live.ErrFull)
	f := fixture("final", protocol.Person{}, protocol.Person{})
	r.wantCode("host", r.Host(t.Context(), f), protocol.StoreFull)
	o, err := r.Outcome(t.Context(), "final")
	check.That(t, err == nil && o.Status == "", "outcome %+v, %v", o, err)
	j.setErr(nil)
	check.NoError(t, r.Host(t.Context(), f))
}

// The suggested starter of a game in a season is rested.
func TestHost_restedStarter(t *testing.T) {
	t.Parallel()
	r := newRig(t, newJournal())
	f := fixture("first", ann, bob)
	check.NoError(t, r.Host(t.Context(), f))
	r.id = f.ID
	starter := r.suggest(ann, game.Away).Pitcher
	f.ID, f.Recent = "second", chance.RecentWork{}.Tomorrow(map[game.PlayerID]int{starter: 90})
	check.NoError(t, r.Host(t.Context(), f))
	r.id = f.ID
	next := r.suggest(ann, game.Away).Pitcher
	check.That(t, next != starter, "%s starts on two days in a row", next)
}

// The bot covers managers who are absent: their line-ups, their sides, the rest of the game. Who is present plays on.
func TestCover(t *testing.T) {
	t.Parallel()
	withoutGame(t, func(r *rig) {
		check.NoError(r, r.Host(r.Context(), fixture("one", ann, bob)))
		r.id = "one"
		r.wantCode("cancel", r.Cancel(r.Context(), carl, "one"), protocol.Forbidden)
		leave := r.watch(ann, 0).leave
		pass(time.Minute)
		check.NoError(r, r.Cover(r.Context(), "one", false))
		g := r.get(ann)
		check.Require(r, g.Status == protocol.Active && !g.State.BotManages.Away && g.State.BotManages.Home,
			"with Ann present the game is %s, the bot manages %+v", g.Status, g.State.BotManages)
		r.decide(ann)
		r.do(ann, "Pause")
		check.NoError(r, r.Cover(r.Context(), "one", false))
		if g = r.get(ann); g.Status != protocol.Active || g.State.Paused == nil {
			r.Errorf("Ann's pause has ended; the game is %s", g.Status)
		}
		leave()
		pass(time.Second)
		check.NoError(r, r.Cover(r.Context(), "one", false))
		g = r.get(ann)
		check.That(r, g.Status == protocol.Active, "a moment after Ann left, the game is %s", g.Status)
		pass(time.Minute)
		check.NoError(r, r.Cover(r.Context(), "one", false))
		g = r.get(ann)
		check.That(r, g.Status == protocol.Finished, "with no manager present the game is %s", g.Status)
		check.NoError(r, r.Cover(r.Context(), "one", false))
		r.wantCode("an unknown game", r.Cover(r.Context(), "none", false), protocol.UnknownGame)
	})
}

// Everyone is covered who is present and does not decide.
func TestCover_everyone(t *testing.T) {
	t.Parallel()
	withoutGame(t, func(r *rig) {
		check.NoError(r, r.Host(r.Context(), fixture("one", ann, protocol.Person{})))
		r.id = "one"
		r.watch(ann, 0)
		check.NoError(r, r.Cover(r.Context(), "one", true))
		g := r.get(ann)
		check.That(r, g.Status == protocol.Finished, "the game is %s", g.Status)
	})
}

// A manager who concedes loses whatever the score.
func TestOutcome_conceded(t *testing.T) {
	t.Parallel()
	r := begun(t, withBot)
	r.concede(ann)
	o := check.Must(r.Outcome(t.Context(), r.id))(t)
	check.That(t, o.Conceded == "home" && o.Score == [2]int{9, 0}, "outcome %+v", o)
}
