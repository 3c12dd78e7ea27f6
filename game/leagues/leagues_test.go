package leagues_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pressbox/game"
	"pressbox/game/card"
	"pressbox/game/leagues"
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
		err := second(r.Create(r.Context(), protocol.Person{}, leagues.RoundRobin, request("open", "open")))
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
		r.wantCode("join without an account", second(r.Join(ctx, protocol.Person{}, k, id, -1)), protocol.Forbidden)
		r.wantCode("join a series of that id", second(r.Join(ctx, bob, leagues.Series, id, -1)), protocol.UnknownLeague)
		r.wantCode("take the bot's seat", second(r.Join(ctx, bob, k, id, 2)), protocol.SeatTaken)
		r.wantCode("take a seat that does not exist", second(r.Join(ctx, bob, k, id, 4)), protocol.SeatTaken)
		r.wantCode("start", second(r.Start(ctx, bob, k, id)), protocol.Forbidden)
		r.wantCode("cancel", r.Cancel(ctx, bob, k, id), protocol.Forbidden)
		v := check.Must(r.Join(ctx, bob, k, id, 3))(r)
		check.That(r, v.You != nil && *v.You == 3 && v.Status == leagues.Pending && v.Seats[3].Manager.Name == "Bob",
			"Bob's view: %+v", v)
		again := check.Must(r.Join(ctx, bob, k, id, 1))(r)
		check.That(r, *again.You == 3, "Bob has seat %d after joining twice", *again.You)
		if v = check.Must(r.Join(ctx, carl, k, id, -1))(r); v.Status != leagues.Active || v.Day != 1 {
			r.Errorf("with its last seat the league is %s", v.Status)
		}
		r.wantCode("join an active league", second(r.Join(ctx, protocol.Person{ID: "u-dora"}, k, id, -1)),
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
		r.wantCode("the sixth", second(r.Create(r.Context(), ann, leagues.Series, series(1, "bot", "bot"))),
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
		r.wantCode("the first", second(r.Get(ann, leagues.Series, ids[0])), protocol.UnknownLeague)
		r.get(ids[1])
	})
}

// With the most leagues that there may be, a new one replaces the oldest finished one of the account that has most.
func TestCreate_inAll(t *testing.T) {
	inBubble(t, func(r *rig) {
		oldest := r.create(series(1, "bot", "bot")).ID
		pass(0)
		person := func(i int) protocol.Person { return protocol.Person{ID: fmt.Sprint("u-", i)} }
		for i := 1; i < leagues.MaxLeagues; i++ {
			check.Must(r.Create(r.Context(), person(i/5), leagues.RoundRobin, request("open", "open")))(r)
		}
		r.get(oldest)
		check.Must(r.Create(r.Context(), bob, leagues.RoundRobin, request("open", "open")))(r)
		r.wantCode("the oldest", second(r.Get(ann, leagues.Series, oldest)), protocol.UnknownLeague)
		r.wantCode("one more", second(r.Create(r.Context(), bob, leagues.RoundRobin, request("open", "open"))),
			protocol.TooManyLeagues)
		check.Equal(r, len(r.Stored()), leagues.MaxLeagues, "leagues")
	})
}
