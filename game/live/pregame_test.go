package live_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
)

// Everything that is wrong with a wish is said at once, by its path; nothing is made.
func TestAWishIsChecked(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	home, away := clubs()
	for _, tt := range []struct {
		change func(*protocol.Request)
		want   string // paths
	}{
		{func(r *protocol.Request) { r.HomeTeam, r.AwayTeam = "", "" }, "/home_team /away_team"},
		{func(r *protocol.Request) { r.AwayTeam = home }, "/away_team"},
		{func(r *protocol.Request) { r.AwayTeam = "XYZ" }, "/away_team"},
		{func(r *protocol.Request) { r.HomeTeam = "XYZ" }, "/home_team"},
		{func(r *protocol.Request) { r.Season = 99 }, "/away_team"},
		{func(r *protocol.Request) { r.Options.Innings = 4; r.Options.Side = "left" }, "/options/innings /options/side"},
		{func(r *protocol.Request) { r.Options.Innings = 0 }, "/options/innings"},
		{func(r *protocol.Request) { r.Options.ExtraInnings, r.Options.Opponent = "none", "me" }, "/options/extra_innings /options/opponent"},
		{func(r *protocol.Request) { r.Options.Announce, r.Options.Visibility = "loud", "secret" }, "/options/announce /options/visibility"},
		{func(r *protocol.Request) { r.Options.TurnSeconds = -1 }, "/options/turn_seconds"},
		{func(r *protocol.Request) { r.Options.TurnSeconds = 86_401 }, "/options/turn_seconds"},
		{func(r *protocol.Request) { *r = protocol.Request{HomeTeam: home, AwayTeam: away} }, "/options/innings /options/extra_innings /options/side /options/opponent /options/announce /options/visibility"},
	} {
		r := request(nil)
		tt.change(&r)
		_, err := h.Create(t.Context(), ann, r)
		if c := code(t, err); c != protocol.Invalid && c != protocol.UnknownTeam {
			t.Errorf("%+v: %v", r, err)
			continue
		}
		var paths []string
		for _, v := range faults(err) {
			paths = append(paths, v.Path)
			if v.Code == "" || v.Detail == "" {
				t.Errorf("%+v: %+v says too little", r, v)
			}
		}
		if got := strings.Join(paths, " "); got != tt.want {
			t.Errorf("%+v: %q, want %q", r, got, tt.want)
		}
	}
	r := request(func(o *protocol.Options) { o.TurnSeconds = 86_400 })
	if _, err := h.Create(t.Context(), ann, r); err != nil {
		t.Errorf("a day for each decision: %v", err)
	}
	if l, err := h.List(ann, live.Query{}); err != nil || len(l.Pending) != 1 {
		t.Errorf("%d games were made, %v, want 1", len(l.Pending), err)
	}
}

// A game has two sides, each with one manager, who alone may touch it.
func TestOnlyASidesManagerTouchesIt(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g, err := h.Create(t.Context(), ann, request(nil))
	if err != nil {
		t.Fatal(err)
	}
	if g.YourSide != "home" || g.Away.Manager != nil || g.Home.Manager.Name != "Ann" || g.Status != protocol.Pending || g.Revision != 1 {
		t.Errorf("made %s", text(t, g))
	}
	l, err := h.Suggest(t.Context(), ann, g.ID, game.Home)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		err  error
		want protocol.Code
	}{
		"the creator joins":         {second(h.Join(t.Context(), ann, g.ID)), protocol.SeatTaken},
		"a stranger hands in":       {second(h.SetLineup(t.Context(), bob, g.ID, game.Home, l)), protocol.Forbidden},
		"the wrong side's":          {second(h.SetLineup(t.Context(), ann, g.ID, game.Away, l)), protocol.NotYourSide},
		"a stranger's suggestion":   {second(h.Suggest(t.Context(), bob, g.ID, game.Home)), protocol.Forbidden},
		"the other's suggestion":    {second(h.Suggest(t.Context(), ann, g.ID, game.Away)), protocol.NotYourSide},
		"a stranger starts":         {second(h.Start(t.Context(), bob, g.ID)), protocol.Forbidden},
		"too early":                 {second(h.Start(t.Context(), ann, g.ID)), protocol.NotReady},
		"conceded before it begins": {second(h.Concede(t.Context(), ann, g.ID)), protocol.NotActive},
		"a rematch of it":           {second(h.Rematch(t.Context(), ann, g.ID)), protocol.NotFinished},
		"a stranger's rematch":      {second(h.Rematch(t.Context(), bob, g.ID)), protocol.Forbidden},
		"a stranger cancels":        {h.Cancel(t.Context(), bob, g.ID), protocol.Forbidden},
		"no such game":              {h.Cancel(t.Context(), ann, "nothing"), protocol.UnknownGame},
		"its box score":             {third(h.Box(t.Context(), ann, g.ID)), protocol.NotActive},
		"its win probability":       {second(h.WinProbability(t.Context(), g.ID)), protocol.NotActive},
	} {
		if got := code(t, tt.err); got != tt.want {
			t.Errorf("%s: %v, want %s", name, tt.err, tt.want)
		}
	}
	if err := second(h.Start(t.Context(), ann, g.ID)); !strings.Contains(err.Error(), "away team has no manager") || !strings.Contains(err.Error(), "line-up of the home team") {
		t.Errorf("what is missing: %v", err)
	}
	if g, err = h.Join(t.Context(), bob, g.ID); err != nil || g.YourSide != "away" {
		t.Errorf("Bob joins: %s, %v", text(t, g), err)
	}
	if g, err = h.Join(t.Context(), bob, g.ID); err != nil || g.Revision != 2 {
		t.Errorf("Bob joins again: revision %d, %v", g.Revision, err)
	}
	if err := second(h.Join(t.Context(), carl, g.ID)); code(t, err) != protocol.SeatTaken {
		t.Errorf("Carl joins: %v", err)
	}
}

// faults returns what an error lists.
func faults(err error) []game.Violation {
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return refused.Errors
	}
	return nil
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }

// All that is wrong with a line-up is said at once; it may be handed in again until the game starts.
func TestLineupsAreCheckedAndReplaced(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g, err := h.Create(t.Context(), ann, request(nil))
	if err != nil {
		t.Fatal(err)
	}
	good, err := h.Suggest(t.Context(), ann, g.ID, game.Home)
	if err != nil {
		t.Fatal(err)
	}
	bad := game.Lineup{Order: slices.Clone(good.Order), Pitcher: "nobody"}
	bad.Order[3].Player, bad.Order[4].Position = "stranger", game.Pitcher
	err = second(h.SetLineup(t.Context(), ann, g.ID, game.Home, bad))
	if code(t, err) != protocol.Invalid || len(faults(err)) < 3 || look(t, h, ann, g.ID).Home.LineupSubmitted {
		t.Errorf("a bad one: %v, submitted %v", err, look(t, h, ann, g.ID).Home.LineupSubmitted)
	}
	for range 2 {
		if g, err = h.SetLineup(t.Context(), ann, g.ID, game.Home, good); err != nil || !g.Home.LineupSubmitted || g.Status != protocol.Pending {
			t.Fatalf("a good one: %s, %v", g.Status, err)
		}
		good.Order[0], good.Order[1] = good.Order[1], good.Order[0]
	}
	if first := look(t, h, ann, g.ID).Home.Lineup.Order[0]; first != good.Order[1] {
		t.Errorf("%+v bats first, want the second line-up's %+v", first, good.Order[1])
	}
	if _, err := h.Join(t.Context(), bob, g.ID); err != nil {
		t.Fatal(err)
	}
	theirs, err := h.Suggest(t.Context(), bob, g.ID, game.Away)
	if err != nil {
		t.Fatal(err)
	}
	b := watch(t, h, bob, g.ID, 0)
	if g, err = h.SetLineup(t.Context(), bob, g.ID, game.Away, theirs); err != nil || g.Status != protocol.Active {
		t.Fatalf("both in: %s, %v", g.Status, err)
	}
	if err := second(h.SetLineup(t.Context(), ann, g.ID, game.Home, good)); code(t, err) != protocol.NotPending {
		t.Errorf("after the start: %v", err)
	}
	if g, err := h.Start(t.Context(), ann, g.ID); err != nil || g.Status != protocol.Active {
		t.Errorf("started again: %v", err)
	}
	if e := b.last("event").Data.(*protocol.Event); e.Kind != protocol.Started || len(e.Legal) == 0 || e.Lineups == nil || e.State == nil {
		t.Errorf("Bob was told %s", text(t, b.last("event")))
	}
}

// Private games are found by their id alone, and by who plays them; the newest come first.
func TestListsShowWhatTheyShould(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	private := func(o *protocol.Options) { o.Visibility, o.Opponent, o.Innings = protocol.Private, protocol.Bot, 3 }
	hidden := begin(t, h, private)
	open, err := h.Create(t.Context(), ann, request(nil))
	if err != nil {
		t.Fatal(err)
	}
	over := begin(t, h, func(o *protocol.Options) { o.Opponent, o.Innings = protocol.HotSeat, 3 })
	if _, err := h.Concede(t.Context(), ann, over.ID); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		who                       protocol.Person
		status                    protocol.Status
		pending, active, finished int
	}{
		{ann, "", 1, 1, 1}, {bob, "", 1, 0, 1}, {protocol.Person{}, "", 1, 0, 1}, {ann, protocol.Active, 0, 1, 0}, {ann, protocol.Pending, 1, 0, 0},
	} {
		l, err := h.List(tt.who, live.Query{Status: tt.status})
		if err != nil || len(l.Pending) != tt.pending || len(l.Active) != tt.active || len(l.Finished) != tt.finished {
			t.Errorf("%q, %q: %s, %v", tt.who.Name, tt.status, text(t, l), err)
		}
	}
	var lobby watcher
	games, leave := h.WatchLobby(lobby.tell)
	defer leave()
	if len(games) != 1 || games[0].ID != open.ID || strings.Contains(text(t, games), ann.ID) {
		t.Errorf("the lobby shows %s", text(t, games))
	}
	do(t, h, ann, hidden.ID, look(t, h, ann, hidden.ID).Legal[0].Label)
	if all := lobby.told(); len(all) != 0 {
		t.Errorf("of a private game the lobby was told %s", text(t, all))
	}
	if g := look(t, h, carl, hidden.ID); g.YourSide != "" || g.Home.Manager.Name != "Ann" {
		t.Errorf("by its id Carl sees %s", text(t, g))
	}
	if err := h.Cancel(t.Context(), ann, over.ID); code(t, err) != protocol.NotPending {
		t.Errorf("cancel a game that is over: %v", err)
	}
	w := watch(t, h, carl, open.ID, 0)
	if err := h.Cancel(t.Context(), ann, open.ID); err != nil {
		t.Fatal(err)
	}
	if lobby.last("gone") == nil || w.last("bye") == nil {
		t.Errorf("of the end the lobby was told %s, Carl %s", text(t, lobby.told()), text(t, w.told()))
	}
	if err := second(h.Game(t.Context(), ann, open.ID)); code(t, err) != protocol.UnknownGame {
		t.Errorf("a game that was cancelled: %v", err)
	}
	for _, q := range []live.Query{{Status: "lost"}, {Before: "yesterday"}, {Before: hidden.ID}} {
		if _, err := h.List(ann, q); code(t, err) != protocol.Invalid {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// Finished games are shown a hundred at a time, each once.
func TestFinishedGamesArePaged(t *testing.T) {
	t.Parallel()
	j := newJournal()
	h := newHall(t, j)
	g := begin(t, h, func(o *protocol.Options) { o.Opponent = protocol.HotSeat })
	if _, err := h.Concede(t.Context(), ann, g.ID); err != nil {
		t.Fatal(err)
	}
	head := string(j.heads[g.ID])
	at := `"finished_at":` + text(t, look(t, h, ann, g.ID).Finished)
	for i := range 250 {
		id := fmt.Sprintf("game%d", i)
		ended := time.Date(2026, 1, 1, 0, 0, i/3, 0, time.UTC) // three at a time
		j.heads[id] = []byte(strings.Replace(strings.Replace(head, g.ID, id, 1), at, `"finished_at":`+text(t, ended), 1))
	}
	h = newHall(t, j)
	seen, before := map[string]bool{}, ""
	for pages := 0; ; pages++ {
		l, err := h.List(carl, live.Query{Status: protocol.Finished, Before: before})
		if err != nil || pages == 2 && len(l.Finished) != 51 || pages < 2 && len(l.Finished) != 100 {
			t.Fatalf("page %d: %d games, %v", pages, len(l.Finished), err)
		}
		for i, g := range l.Finished {
			if seen[g.ID] || i > 0 && g.Finished.After(l.Finished[i-1].Finished) {
				t.Fatalf("page %d: %s again, or too late", pages, g.ID)
			}
			seen[g.ID], before = true, g.ID
		}
		if pages == 2 {
			break
		}
	}
	l, err := h.List(carl, live.Query{Before: "2026-01-01T00:00:02Z"})
	if err != nil || len(l.Finished) != 6 {
		t.Errorf("before the third second: %d, %v, want 6", len(l.Finished), err)
	}
}

// A rematch brings the same two together again: the seat of the other one is kept for him.
func TestARematchKeepsTheSeats(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, func(o *protocol.Options) { o.Innings, o.DH = 3, false })
	c := watch(t, h, carl, g.ID, 0)
	if g, err := h.Concede(t.Context(), bob, g.ID); err != nil || g.Result.Winner != "home" || g.Result.How != "conceded" {
		t.Fatalf("conceded: %s, %v", text(t, g.Result), err)
	}
	if kinds := c.kinds(); !slices.Equal(kinds[len(kinds)-2:], []string{"conceded", "finished"}) {
		t.Errorf("Carl was told %v", kinds)
	}
	var racing sync.WaitGroup
	ids := make(chan string, 8)
	for range 4 {
		racing.Go(func() {
			next, err := h.Rematch(t.Context(), bob, g.ID)
			if err != nil {
				t.Error(err)
			}
			ids <- next.ID
		})
	}
	racing.Wait()
	id := <-ids
	for range 3 {
		if other := <-ids; other != id {
			t.Errorf("two rematches: %s and %s", id, other)
		}
	}
	next := look(t, h, bob, id)
	options := look(t, h, bob, g.ID).Options
	options.Side = "away" // the creator's, who is Bob now
	if next.YourSide != "away" || next.Home.Manager != nil || !next.Reserved || next.RematchOf != g.ID || next.Options != options {
		t.Errorf("Bob's rematch: %s", text(t, next))
	}
	if next.Dice.Commitment == g.Dice.Commitment {
		t.Error("the rematch has the same dice")
	}
	if e, ok := c.last("event").Data.(*protocol.Event); !ok || e.Kind != protocol.RematchCreated || e.Rematch != id {
		t.Errorf("Carl was told %s", text(t, c.last("event")))
	}
	if err := second(h.Join(t.Context(), carl, id)); code(t, err) != protocol.Forbidden {
		t.Errorf("Carl takes Ann's seat: %v", err)
	}
	if next, err := h.Rematch(t.Context(), ann, g.ID); err != nil || next.ID != id || next.YourSide != "home" || next.Reserved {
		t.Errorf("Ann's rematch: %s, %v", text(t, next), err)
	}
	if next, err := h.Rematch(t.Context(), ann, g.ID); err != nil || next.ID != id {
		t.Errorf("Ann's rematch again: %s, %v", next.ID, err)
	}
	if err := h.Cancel(t.Context(), bob, id); err != nil {
		t.Fatal(err)
	}
	if next, err := h.Rematch(t.Context(), ann, g.ID); err != nil || next.ID == id {
		t.Errorf("after it was cancelled: %s, %v", next.ID, err)
	}
}

// In hot seat one person manages both sides, and each thing he may do says for which.
func TestInHotSeatEveryChoiceSaysItsSide(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, func(o *protocol.Options) { o.Opponent = protocol.HotSeat })
	if g.YourSide != "both" || len(g.State.Waiting) != 2 {
		t.Errorf("%s waits for %v", g.YourSide, g.State.Waiting)
	}
	for _, c := range g.Legal {
		if c.Side == "" || c.Action.Side != c.Side || (c.Group == "offence") != (c.Side == "away") {
			t.Errorf("%s", text(t, c))
		}
	}
	do(t, h, ann, g.ID, "Pitch to the batter")
	if now := look(t, h, ann, g.ID); len(now.State.Waiting) != 1 || now.Legal[0].Group != "offence" {
		t.Errorf("after the defence: %s", text(t, now.Legal))
	}
	if c := choice(t, h, ann, g.ID, "Take the call back"); c.Side != "home" {
		t.Errorf("%s", text(t, c))
	}
	c := choice(t, h, ann, g.ID, "Concede for "+g.Home.Team.Name)
	if _, _, err := h.Submit(t.Context(), ann, g.ID, command(t, h, ann, g.ID, c.Action), nil); err != nil {
		t.Fatal(err)
	}
	if end := look(t, h, ann, g.ID); end.Result.Winner != "away" || end.Result.How != "conceded" {
		t.Errorf("conceded for the home team: %s", text(t, end.Result))
	}
}

// Who watches and then joins is a manager from then on, and present; what he is told is what a manager is told.
func TestASpectatorWhoJoinsIsAManager(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, newJournal())
		defer run(t, h)()
		g, err := h.Create(t.Context(), ann, request(nil))
		if err != nil {
			t.Fatal(err)
		}
		a, b := watch(t, h, ann, g.ID, 0), watch(t, h, bob, g.ID, 0)
		defer b.leave()
		pass(time.Hour)
		if _, err := h.Join(t.Context(), bob, g.ID); err != nil {
			t.Fatal(err)
		}
		if p := a.last("presence").Data.(*protocol.Presence); p.Away == nil || !p.Away.Online {
			t.Errorf("Ann is told %s", text(t, p))
		}
		a.leave()
		pass(time.Hour)
		for side, who := range map[game.Side]protocol.Person{game.Away: bob, game.Home: ann} {
			l, err := h.Suggest(t.Context(), who, g.ID, side)
			if err != nil {
				t.Fatal(err)
			}
			if g, err = h.SetLineup(t.Context(), who, g.ID, side, l); err != nil {
				t.Fatal(err)
			}
		}
		e := b.last("event").Data.(*protocol.Event)
		if e.Kind != protocol.Started || len(e.Legal) == 0 {
			t.Errorf("Bob is told %s", text(t, e))
		}
		if p := g.Presence; p.Home.Gone || p.Home.GoneIn != 60 || !p.Away.Online {
			t.Errorf("as it starts: %s, want a minute for Ann, who left before", text(t, p))
		}
	})
}

// Who has not signed in takes no seat.
func TestNobodyTakesNoSeat(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	if err := second(h.Create(t.Context(), protocol.Person{}, request(nil))); code(t, err) != protocol.Forbidden {
		t.Errorf("create: %v", err)
	}
	g, err := h.Create(t.Context(), ann, request(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := second(h.Join(t.Context(), protocol.Person{}, g.ID)); code(t, err) != protocol.Forbidden {
		t.Errorf("join: %v", err)
	}
	if err := h.Cancel(t.Context(), protocol.Person{}, g.ID); code(t, err) != protocol.Forbidden {
		t.Errorf("cancel: %v", err)
	}
}

// When room gets short, the private game that ended first goes; what is listed or goes on stays.
func TestWhenRoomIsShortOldPrivateGamesGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		h := newHall(t, j)
		defer run(t, h)()
		var ids []string
		for n := range 4 {
			g := begin(t, h, func(o *protocol.Options) {
				o.Opponent = protocol.HotSeat
				if n > 0 {
					o.Visibility = protocol.Private
				}
			})
			if n < 3 {
				if _, err := h.Concede(t.Context(), ann, g.ID); err != nil {
					t.Fatal(err)
				}
			}
			ids = append(ids, g.ID)
			pass(time.Minute + time.Second) // nobody looks at it any more
		}
		standings, err := h.Standings(t.Context(), 3)
		if err != nil || standings[0].Games != 3 {
			t.Fatalf("%s, %v", text(t, standings), err)
		}
		j.crowded = true
		for n, want := range []string{"0123", "023", "03", "03"} {
			got := ""
			for i, id := range ids {
				if err := second(h.Game(t.Context(), ann, id)); err == nil {
					got += fmt.Sprint(i)
				} else if code(t, err) != protocol.UnknownGame {
					t.Fatal(err)
				}
			}
			if got != want || len(j.heads) != len(want) {
				t.Errorf("after %d moves games %s are left, %d in the journal, want %s", n, got, len(j.heads), want)
			}
			pass(time.Minute + time.Second)
			do(t, h, ann, ids[3], look(t, h, ann, ids[3]).Legal[0].Label)
		}
		if standings, err = h.Standings(t.Context(), 3); err != nil || standings[0].Games != 1 {
			t.Errorf("%s, %v", text(t, standings), err)
		}
	})
}
