package leagues_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game"
	"pressbox/game/card"
	"pressbox/game/chance"
	"pressbox/game/leagues"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// An invalid request creates nothing; every violation is listed.
func TestCreate_validation(t *testing.T) {
	inBubble(t, func(r *rig) {
		long := strings.Repeat("ü", 60)
		for _, f := range check.Rows(createCases) {
			q := request("me", "open")
			text := string(check.Must(json.Marshal(q))(r))
			from, to, _ := strings.Cut(strings.ReplaceAll(f[2], "ü×60", long), "→")
			from, to = strings.TrimSpace(from), strings.TrimSpace(to)
			check.Contains(r, text, from, "%s: the request", f[0])
			q = leagues.Request{}
			check.NoError(r, json.Unmarshal([]byte(strings.Replace(text, from, to, 1)), &q))
			v, err := r.Create(r.Context(), ann, leagues.Kind(f[1]), q)
			got := strings.TrimSpace(violations(err))
			check.That(r, got == f[3] && (got != "" || err == nil), "%s: %q, %v, want %q", f[0], got, err, f[3])
			if err == nil {
				check.NoError(r, r.Remove(r.Context(), v.ID))
			}
		}
		check.Equal(r, len(r.Stored()), 0, "leagues were created")
		err := check.Err(r.Create(r.Context(), protocol.Person{}, leagues.RoundRobin, request("open", "open")))
		r.wantCode("without an account", err, protocol.Forbidden)
	})
}

// A row has the kind, a change of the text of a valid request, and the path and code of each violation.
const createCases = `
nothing wrong | league | |
longest name | league | "Kitchen" → "ü×60" |
name too long | league | "Kitchen" → "ü×60ü" | /name out_of_range
empty name | league | "Kitchen" → "\u0020" | /name out_of_range
line break | league | "Kitchen" → "a\nb" | /name out_of_range
most meetings | league | "meetings":1 → "meetings":6 |
too many meetings | league | "meetings":1 → "meetings":7 | not_possible
no meetings | league | "meetings":1 → "meetings":0 | /meetings out_of_range
series of a league | series | | /meetings out_of_range
one seat | league | ,{"team":"CPR","manager":"open"} → | not_possible
best of two | league | "best_of":1 → "best_of":2 | not_possible
shortest cover | league | "cover_hours":48 → "cover_hours":1 |
no cover | league | "cover_hours":48 → "cover_hours":0 | /cover_hours out_of_range
longest cover | league | "cover_hours":48 → "cover_hours":144 |
cover too long | league | "cover_hours":48 → "cover_hours":145 | /cover_hours out_of_range
last minute | league | "play_at":"" → "play_at":"23:59" |
no such hour | league | "play_at":"" → "play_at":"24:00" | /play_at invalid
not a time | league | "play_at":"" → "play_at":"8 pm" | /play_at invalid
one club twice | league | "CPR" → "BWH" | /seats/1/team same_team
no club | league | "CPR" → "" | /seats/1/team required
unknown club | league | "CPR" → "NONE" | /seats/1/team unknown_team
two own seats | league | "open" → "me" | /seats/1/manager seat_taken
unknown manager | league | "manager":"open" → "manager":"Ann" | /seats/1/manager not_an_option
options of games | league | "innings":3 → "innings":4 | /options/innings not_an_option
level of the bot | league | "bot_level":1 → "bot_level":4 | /options/bot_level not_an_option
two violations | league | "Kitchen","season":0,"play_at":"" → "","play_at":"x" | /name out_of_range, /play_at invalid
`

func violations(err error) string {
	refused, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		return ""
	}
	var all []string
	for _, v := range refused.Errors {
		all = append(all, v.Path+" "+string(v.Code))
	}
	return strings.Join(all, ", ")
}

// Who may do what with a league before it starts, and that it starts with its last seat.
func TestJoin(t *testing.T) {
	inBubble(t, func(r *rig) {
		ctx, k := r.Context(), leagues.RoundRobin
		id := r.create(request("me", "open", "bot", "open")).ID
		r.wantCode("join without an account", check.Err(r.Join(ctx, protocol.Person{}, k, id, -1)), protocol.Forbidden)
		r.wantCode("join a series of it", check.Err(r.Join(ctx, bob, leagues.Series, id, -1)), protocol.UnknownLeague)
		r.wantCode("take the bot's seat", check.Err(r.Join(ctx, bob, k, id, 2)), protocol.SeatTaken)
		r.wantCode("take a seat that does not exist", check.Err(r.Join(ctx, bob, k, id, 4)), protocol.SeatTaken)
		r.wantCode("start", check.Err(r.Start(ctx, bob, k, id)), protocol.Forbidden)
		r.wantCode("cancel", r.Cancel(ctx, bob, k, id), protocol.Forbidden)
		v := check.Must(r.Join(ctx, bob, k, id, 3))(r)
		check.That(r, v.You != nil && *v.You == 3 && v.Status == leagues.Pending && v.Seats[3].Manager.Name == "Bob",
			"Bob's view: %+v", v)
		again := check.Must(r.Join(ctx, bob, k, id, 1))(r)
		check.That(r, *again.You == 3, "Bob has seat %d after joining twice", *again.You)
		v = check.Must(r.Join(ctx, carl, k, id, -1))(r)
		check.That(r, v.Status == leagues.Active && v.Day == 1, "with its last seat the league is %s", v.Status)
		r.wantCode("join an active league", check.Err(r.Join(ctx, protocol.Person{ID: "u-dora"}, k, id, -1)),
			protocol.NotPending)
		r.wantCode("cancel an active league", r.Cancel(ctx, ann, k, id), protocol.NotPending)
		pass(0)
		check.Equal(r, r.statuses(id), "map[pending:2 scheduled:4]", "the games of the first day")
	})
}

// The bot takes the seats that are open at the start.
func TestStart(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.create(series(3, "me", "open")).ID
		for range 2 {
			v := check.Must(r.Start(r.Context(), ann, leagues.Series, id))(r)
			check.That(r, v.Status == leagues.Active && v.Seats[1].Bot, "started: %+v", v)
		}
	})
}

// A private league is in the list of those whom it concerns; its games are private. Visitors see no ids of accounts.
func TestList(t *testing.T) {
	inBubble(t, func(r *rig) {
		q := request("me", "open")
		r.create(q)
		q.Options.Visibility = protocol.Private
		id := r.create(q).ID
		r.create(series(1, "me", "open"))
		for who, want := range map[protocol.Person]int{ann: 2, bob: 1, {}: 1} {
			all := r.List(who, leagues.RoundRobin)
			check.That(r, len(all) == want, "%s's list has %d leagues, want %d", who.Name, len(all), want)
			shown := all[0].Creator.ID != "" && all[0].Seats[0].Manager.ID != ""
			check.That(r, shown == (who.ID != ""), "ids are shown to %q: %t", who.Name, shown)
		}
		check.Must(r.Join(r.Context(), bob, leagues.RoundRobin, id, -1))(r)
		check.That(r, len(r.List(bob, leagues.RoundRobin)) == 2, "a private league is not in its manager's list")
		pass(0)
		g := check.Must(r.games.Game(r.Context(), bob, r.schedule(id)[0].Game))(r)
		check.That(r, g.Options.Visibility == protocol.Private && g.Competition.ID == id && g.Away.Manager != nil &&
			g.Home.Manager != nil,
			"its game is %s, with managers %v and %v", g.Options.Visibility, g.Away.Manager, g.Home.Manager)
	})
}

// In a series the starters are rested: five of them take turns.
func TestSeries_rotation(t *testing.T) {
	inBubble(t, func(r *rig) {
		q := series(7, "bot", "bot")
		q.Options.Innings = 9
		id := r.create(q).ID
		pass(0)
		last := map[game.PlayerID]int{}
		for n, g := range r.schedule(id) {
			_, box, err := r.games.Box(r.Context(), ann, g.Game)
			check.NoError(r, err)
			for side := range box.Teams {
				starter := box.Teams[side].Pitching[0].Player
				before, ok := last[starter]
				check.That(r, !ok || n-before >= 4, "%s starts games %d and %d", starter, before+1, n+1)
				last[starter] = n
			}
		}
		check.That(r, len(last) >= 8, "%d pitchers started in %d games", len(last), len(r.schedule(id)))
	})
}

// A player is as rested in the league as in its next game.
func TestRest(t *testing.T) {
	inBubble(t, func(r *rig) {
		q := series(7, "me", "bot")
		q.CoverHours = 1
		id := r.create(q).ID
		pass(time.Hour)
		next := r.schedule(id)[1].Game
		season, rest, err := r.Rest(id)
		check.NoError(r, err)
		tired := 0
		for _, club := range []string{"BWH", "CPR"} {
			roster := check.Must(builtIn().Roster(r.Context(), season, club))(r)
			for _, p := range card.Roster(&roster, nil) {
				rest(&p)
				want, _, err := r.games.Player(r.Context(), ann, next, p.ID)
				if err != nil || p.RestDays != want.RestDays || p.Fatigue != want.Fatigue {
					r.Errorf("%s: %d days, fatigue %v; in the game %d and %v, %v",
						p.Name, p.RestDays, p.Fatigue, want.RestDays, want.Fatigue, err)
				}
				if p.RestDays == 0 && p.Fatigue > 0 {
					tired++
				}
			}
		}
		check.That(r, tired >= 2, "%d pitchers are tired after the first game", tired)
		_, _, err = r.Rest("none")
		r.wantCode("no league", err, protocol.UnknownLeague)
	})
}

// An account can have five unfinished leagues; of its finished ones the last twenty remain.
func TestCreate_perPerson(t *testing.T) {
	inBubble(t, func(r *rig) {
		for range 5 {
			r.create(request("me", "open"))
		}
		r.wantCode("the sixth", check.Err(r.Create(r.Context(), ann, leagues.Series, series(1, "bot", "bot"))),
			protocol.TooManyLeagues)
		check.Must(r.Create(r.Context(), bob, leagues.Series, series(1, "bot", "bot")))(r)
		var ids []string
		for i := range 21 {
			if i == 20 {
				r.get(ids[0])
			}
			q := series(1, "bot", "bot")
			q.Name = fmt.Sprint("Series ", i)
			ids = append(ids, check.Must(r.Create(r.Context(), carl, leagues.Series, q))(r).ID)
			pass(time.Second)
		}
		r.wantCode("the first", check.Err(r.Get(ann, leagues.Series, ids[0])), protocol.UnknownLeague)
		r.get(ids[1])
	})
}

// Twenty accounts with as many leagues as they can have leave room for the first ones of others. With the most that
// there may be, a new one replaces the oldest finished one of the account that has most.
func TestCreate_inAll(t *testing.T) {
	inBubble(t, func(r *rig) {
		oldest := r.create(series(1, "bot", "bot")).ID
		pass(0)
		create := func(i int) error {
			who := protocol.Person{ID: fmt.Sprint("u-", i)}
			return check.Err(r.Create(r.Context(), who, leagues.RoundRobin, request("open", "open")))
		}
		for i := range 100 {
			err := create(i / 5)
			if i < 60 || i%5 == 0 {
				check.Require(r, err == nil, "league %d: %v", i, err)
			} else {
				r.wantCode("not the first of its account", err, protocol.TooManyLeagues)
			}
		}
		for i := 20; i < 51; i++ {
			check.NoError(r, create(i))
		}
		r.get(oldest)
		check.NoError(r, create(51))
		r.wantCode("the oldest", check.Err(r.Get(ann, leagues.Series, oldest)), protocol.UnknownLeague)
		r.wantCode("one more", create(52), protocol.TooManyLeagues)
		check.Equal(r, len(r.Stored()), leagues.MaxLeagues, "leagues")
	})
}

// A league of four bots plays itself: each pair once, then a play-off of the first two, whose winner is the champion.
func TestRun_bots(t *testing.T) {
	inBubble(t, func(r *rig) {
		q := request("bot", "bot", "bot", "bot")
		q.BestOf = 3
		id := r.create(q).ID
		pass(0)
		v := r.get(id)
		s := check.Must(r.Standings(ann, leagues.RoundRobin, id))(r)
		check.Require(r, v.Status == leagues.Finished && v.Champion != nil && !v.Finished.IsZero(),
			"the league is %s; champion %v", v.Status, v.Champion)
		check.That(r, len(s.Playoff) == 2 && s.Playoff[0].Wins+s.Playoff[1].Wins >= 2 &&
			(*v.Champion == s.Playoff[0].Seat || *v.Champion == s.Playoff[1].Seat),
			"champion %d of the play-off %+v", *v.Champion, s.Playoff)
		if got := s.Standings[0].Entrant; got != s.Playoff[0].Seat && got != s.Playoff[1].Seat {
			r.Errorf("the first, %d, is not in the play-off %+v", got, s.Playoff)
		}
		for _, row := range s.Standings {
			check.That(r, row.Games == 3, "%+v", row)
		}
		checkGames(r, id)
	})
}

// checkGames compares the results of a finished league with its games: each was played once, none is left over,
// and the pitchers' work before each game is what they did on the days before.
func checkGames(r *rig, id string) {
	r.Helper()
	games := r.schedule(id)
	check.That(r, len(games) == len(r.disk.summaries),
		"%d games are on the calendar, %d on disk", len(games), len(r.disk.summaries))
	var work chance.RecentWork
	today, day := map[game.PlayerID]int{}, 1
	for _, g := range games {
		o, err := r.games.Outcome(r.Context(), g.Game)
		check.NoError(r, err)
		check.That(r, o.Status == protocol.Finished && *g.Score == (protocol.Score{Away: o.Score[0], Home: o.Score[1]}),
			"day %d: the calendar has %+v, the game %+v", g.Day, g.Score, o)
		if g.Day > day {
			work, today, day = work.Tomorrow(today), map[game.PlayerID]int{}, g.Day
		}
		var created struct {
			Origin struct{ Recent chance.RecentWork }
		}
		check.NoError(r, json.Unmarshal(r.disk.moves[g.Game][0], &created))
		check.That(r, maps.Equal(created.Origin.Recent, work),
			"day %d: the game knows the work %v, want %v", g.Day, created.Origin.Recent, work)
		for player, n := range o.Pitches {
			today[player] += n
		}
	}
}

// The process dies at each write, before it is on disk or after it. The next one goes on: no game is lost or
// played twice.
func TestRun_crash(t *testing.T) {
	t.Parallel()
	for _, written := range []bool{false, true} {
		for dieAt := 2; ; dieAt++ { // the first write is acknowledged to the client
			finished := false
			synctest.Test(t, func(t *testing.T) {
				d := newDisk()
				d.dieAt, d.written = dieAt, written
				r := open(t, d)
				id := r.create(series(3, "bot", "bot")).ID
				pass(time.Minute)
				finished = r.get(id).Status == leagues.Finished
				r.stop()
				d.dieAt = 0
				r = open(t, d)
				defer r.stop()
				pass(0)
				v := r.get(id)
				check.Require(t, v.Status == leagues.Finished,
					"died at write %d (on disk: %t): the league is %s on day %d", dieAt, written, v.Status, v.Day)
				checkGames(r, id)
			})
			if finished {
				break
			}
		}
	}
}

// Games between bots are played at the hour of the host's clock, one day of the league each day, also over a change to
// summer time; a server that was off at that time plays when it is back.
func TestRun_playAt(t *testing.T) {
	zone := check.Must(time.LoadLocation("Europe/Berlin"))(t)
	inBubble(t, func(r *rig) {
		time.Sleep(time.Until(time.Date(2026, 3, 28, 20, 0, 1, 0, zone))) // a second too late for this evening
		q := request("bot", "bot", "bot", "bot")
		q.PlayAt, q.BestOf = "20:00", 0
		id := r.create(q).ID
		at := time.Date(2026, 3, 29, 20, 0, 0, 0, zone)
		g := r.schedule(id)[0]
		check.That(r, g.PlaysAt.Equal(at) && g.Game == "", "the first day is at %s, want %s", g.PlaysAt, at)
		pass(time.Until(at) - time.Second)
		check.Equal(r, r.statuses(id), "map[scheduled:6]", "before the hour")
		pass(time.Second)
		check.Equal(r, r.statuses(id), "map[finished:2 scheduled:4]", "at the hour")
		pass(24*time.Hour - time.Second)
		r.stop()
		time.Sleep(3 * time.Hour)
		*r = *open(r.TB, r.disk, func(c *leagues.Config) { c.Zone = zone })
		pass(0)
		check.Equal(r, r.statuses(id), "map[finished:4 scheduled:2]", "after the hour")
		pass(time.Until(time.Date(2026, 3, 31, 20, 0, 0, 0, zone)))
		v := r.get(id)
		check.That(r, v.Status == leagues.Finished, "after three days the league is %s", v.Status)
	}, func(c *leagues.Config) { c.Zone = zone })
}

// Managers who are absent are covered when the limit is over and not before: nothing keeps the league from its end.
func TestRun_cover(t *testing.T) {
	inBubble(t, func(r *rig) {
		q := request("me", "open", "bot")
		q.CoverHours = 1
		id := r.create(q).ID
		pass(time.Hour)
		v := r.get(id)
		check.Require(r, v.Status == leagues.Pending, "with an open seat the league is %s", v.Status)
		check.Must(r.Join(r.Context(), bob, leagues.RoundRobin, id, -1))(r)
		pass(time.Hour - time.Second)
		check.Equal(r, r.statuses(id), "map[pending:1 scheduled:2]", "before the limit")
		pass(time.Second)
		check.Equal(r, r.statuses(id), "map[finished:1 pending:1 scheduled:1]", "at the limit")
		pass(4 * time.Hour)
		v = r.get(id)
		check.That(r, v.Status == leagues.Finished, "the league is %s", v.Status)
	})
}

// Who is present at the limit decides for twice as long; after that the bot acts for everyone.
func TestRun_coverPresent(t *testing.T) {
	inBubble(t, func(r *rig) {
		q := series(1, "me", "bot")
		q.CoverHours = 1
		id := r.create(q).ID
		pass(0)
		g := r.schedule(id)[0].Game
		leave := check.Must(r.games.Watch(r.Context(), ann, g, 0, func(*protocol.Message) bool { return true }))(r)
		defer leave()
		pass(2*time.Hour - time.Second)
		check.Equal(r, r.statuses(id), "map[active:1]", "with Ann present after one limit")
		pass(coverEvery)
		v := r.get(id)
		check.That(r, v.Status == leagues.Finished, "after two limits the series is %s", v.Status)
	})
}

// coverEvery is longer than the time between two looks at absent managers.
const coverEvery = 3 * time.Minute

// A server that has just started waits for managers to connect again before it acts for them.
func TestRun_coverAfterStart(t *testing.T) {
	inBubble(t, func(r *rig) {
		q := series(1, "me", "bot")
		q.CoverHours = 1
		id := r.create(q).ID
		pass(0)
		r.stop()
		time.Sleep(2 * time.Hour)
		*r = *open(r.TB, r.disk)
		pass(time.Minute)
		check.Equal(r, r.statuses(id), "map[pending:1]", "a minute after the start")
		pass(coverEvery)
		v := r.get(id)
		check.That(r, v.Status == leagues.Finished, "the series is %s", v.Status)
	})
}

// A manager who leaves gives the seat to the bot, in the game that waits for the line-up as in all that follow;
// the league needs no limit to be over. The process dies at each write of that, before it is on disk or after it.
func TestLeave_crash(t *testing.T) {
	t.Parallel()
	for _, written := range []bool{false, true} {
		for n := 1; ; n++ {
			survived := false
			synctest.Test(t, func(t *testing.T) {
				d := newDisk()
				r := open(t, d)
				id := r.create(series(3, "me", "bot")).ID
				pass(0)
				d.die(n, written)
				_, err := r.Leave(t.Context(), ann, leagues.Series, id)
				pass(time.Minute)
				survived = err == nil && r.get(id).Status == leagues.Finished
				r.stop()
				d.die(0, false)
				r = open(t, d)
				defer r.stop()
				if v := r.get(id); !v.Seats[0].Bot {
					check.Require(t, !written && n <= 1,
						"died at write %d (on disk: %t): the seat is still Ann's", n, written)
					check.Must(r.Leave(t.Context(), ann, leagues.Series, id))(t)
				}
				pass(0)
				v := r.get(id)
				check.Require(t, v.Status == leagues.Finished && v.Seats[0].Left == "Ann" &&
					v.Seats[0].Manager == nil && v.You == nil,
					"died at write %d (on disk: %t): the series is %s, the seat %+v", n, written, v.Status, v.Seats[0])
				checkGames(r, id)
			})
			if survived {
				break
			}
		}
	}
}

// In a game that is played the bot takes the side at once, and its manager may do nothing there; the other manager
// plays on.
func TestLeave_duringGame(t *testing.T) {
	inBubble(t, func(r *rig) {
		ctx, k := r.Context(), leagues.Series
		id := r.create(series(1, "me", "open")).ID
		check.Must(r.Join(ctx, bob, k, id, -1))(r)
		pass(0)
		g := r.schedule(id)[0].Game
		for side, who := range map[game.Side]protocol.Person{game.Away: bob, game.Home: ann} {
			check.Must(r.games.SetLineup(ctx, who, g, side, check.Must(r.games.Suggest(ctx, who, g, side))(r)))(r)
		}
		r.wantCode("Carl has no seat", check.Err(r.Leave(ctx, carl, k, id)), protocol.Forbidden)
		check.Must(r.Leave(ctx, ann, k, id))(r)
		pass(0)
		v := check.Must(r.games.Game(ctx, bob, g))(r)
		check.That(r, v.Status == protocol.Active && v.Home.Bot && v.Home.Manager == nil &&
			v.Away.Manager.Name == "Bob" && len(v.Legal) != 0,
			"the game is %s between %+v and %+v; Bob has %d choices", v.Status, v.Away, v.Home, len(v.Legal))
		r.wantCode("Ann concedes", check.Err(r.games.Concede(ctx, ann, g)), protocol.Forbidden)
		check.Must(r.games.Concede(ctx, bob, g))(r)
		pass(0)
		if v := r.get(id); v.Status != leagues.Finished {
			r.Errorf("the series is %s", v.Status)
		}
		r.wantCode("leave a finished series", check.Err(r.Leave(ctx, bob, k, id)), protocol.NotActive)
	})
}

// Before the start a seat that is left is open again.
func TestLeave_beforeStart(t *testing.T) {
	inBubble(t, func(r *rig) {
		ctx, k := r.Context(), leagues.RoundRobin
		id := r.create(request("me", "open", "open")).ID
		check.Must(r.Join(ctx, bob, k, id, 1))(r)
		v := check.Must(r.Leave(ctx, bob, k, id))(r)
		check.That(r, v.Seats[1] == (leagues.SeatView{Team: v.Seats[1].Team}), "the seat is %+v", v.Seats[1])
		v = check.Must(r.Join(ctx, carl, k, id, 1))(r)
		check.That(r, *v.You == 1, "Carl has seat %d", *v.You)
	})
}

// A league that has not started is deleted after seven days.
func TestRun_pendingExpires(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.create(request("me", "open")).ID
		pass(7*24*time.Hour - time.Second)
		r.get(id)
		pass(time.Second)
		r.wantCode("after seven days", check.Err(r.Get(ann, leagues.RoundRobin, id)), protocol.UnknownLeague)
	})
}

// failing are games that cannot be created.
type failing struct {
	leagues.Games
	hosted *[]time.Time
}

func (f failing) Host(context.Context, *live.Fixture) error {
	*f.hosted = append(*f.hosted, time.Now())
	return protocol.Wrap(errors.New("no route to host"), protocol.Unavailable, "the server cannot read the roster")
}

// A league that cannot advance is tried again, after 5 seconds, 10, 20 and so on to 10 minutes; it shows why, and
// goes on.
func TestRun_backOff(t *testing.T) {
	var hosted []time.Time
	inBubble(t, func(r *rig) {
		id := r.create(series(1, "bot", "bot")).ID
		pass(time.Hour)
		var waits []string
		for i := range hosted[1:] {
			waits = append(waits, fmt.Sprint(hosted[i+1].Sub(hosted[i]).Round(time.Second)))
		}
		want := []string{"5s", "10s", "20s", "40s", "1m20s", "2m40s", "5m20s", "10m0s", "10m0s", "10m0s", "10m0s"}
		check.That(r, slices.Equal(waits, want), "attempts after %v, want %v", waits, want)
		v := r.get(id)
		check.That(r, v.Stalled == "the server cannot read the roster", "stalled: %q", v.Stalled)
		r.stop()
		*r = *open(r.TB, r.disk)
		pass(0)
		if v := r.get(id); v.Status != leagues.Finished || v.Stalled != "" {
			r.Errorf("the series is %s, stalled %q", v.Status, v.Stalled)
		}
	}, func(c *leagues.Config) { c.Games = failing{c.Games, &hosted} })
}

// A result that cannot be saved is recorded later.
func TestRun_diskFull(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.create(series(1, "me", "bot")).ID
		pass(0)
		g := r.schedule(id)[0].Game
		l := check.Must(r.games.Suggest(r.Context(), ann, g, game.Home))(r)
		check.Must(r.games.SetLineup(r.Context(), ann, g, game.Home, l))(r)
		r.disk.setErr(leagues.ErrFull)
		check.Must(r.games.Concede(r.Context(), ann, g))(r)
		pass(time.Second)
		if v := r.get(id); v.Status != leagues.Active || v.Stalled != "there is no room for the league" {
			r.Errorf("on a full disk the series is %s, stalled %q", v.Status, v.Stalled)
		}
		r.disk.setErr(nil)
		pass(time.Minute)
		v, s := r.get(id), r.schedule(id)[0]
		check.That(r, v.Status == leagues.Finished && *v.Champion == 1 && s.Conceded == "home" &&
			*s.Score == (protocol.Score{Away: 9}), "the series is %s, the game %+v", v.Status, s)
	})
}
