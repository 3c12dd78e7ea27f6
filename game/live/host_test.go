package live_test

import (
	"testing"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

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
	if g.Status != protocol.Finished || g.Result.How != "final" || g.Competition.ID != "kitchen" || g.YourSide != "" {
		t.Errorf("the game is %s, %+v, of league %+v", g.Status, g.Result, g.Competition)
	}
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
		if g = r.get(ann); g.Status != protocol.Active {
			r.Errorf("a moment after Ann left, the game is %s", g.Status)
		}
		pass(time.Minute)
		check.NoError(r, r.Cover(r.Context(), "one", false))
		if g = r.get(ann); g.Status != protocol.Finished {
			r.Errorf("with no manager present the game is %s", g.Status)
		}
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
