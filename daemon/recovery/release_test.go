package recovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/idp"
	"pressbox/auth/session"
	"pressbox/game/leagues"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/clock"
	"pressbox/voice/announce"
	"pressbox/voice/announce/policy"
	"pressbox/voice/control"
	"pressbox/voice/control/hours"
)

// A release describes what a store of a released version has: testdata/vX.Y.Z.json beside
// vX.Y.Z.db.gz of package store. Neither is ever written again.
//
// Those of 0.5.0 were made by its packages (commit ffdf6d0), in a test of package recovery in a
// bubble of synctest, from 18:00 on 24 November 2026, on a host whose boot id and time since boot
// were set: an announcer accepted and ended announcements, with each field of a request; games were
// played by choices among the legal actions, until leagues had played and open games; three local
// accounts signed in, and one was disabled. The closed store was opened again for the texts below,
// which the functions of this file made, and compacted by bbolt.Compact.
type release struct {
	Made     time.Time
	Accounts map[string]string // name → id
	Tokens   map[string]string
	Flow     struct{ State, Binding string } // pending, with the token "invite"

	Queue, Scheduled, Recent []string // announcements
	Keyed                    string   // id of that with an idempotency key

	Volume, Quiet        string
	Favorites, Schedules []string

	Games   []releasedGame
	Leagues []releasedLeague
}

type releasedGame struct{ ID, Text, Scorecard string }

type releasedLeague struct {
	ID, Text         string
	Kind             leagues.Kind
	Games, Standings []string
}

// An opened release is a test of it, in a bubble a minute after it was made.
type opened struct {
	*testing.T
	*store.Store
	want release
}

// inRelease runs a test with the store of 0.5.0.
func inRelease(t *testing.T, test func(o opened)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var want release
		data := check.Must(os.ReadFile("../../store/testdata/v0.5.0.json"))(t)
		check.NoError(t, json.Unmarshal(data, &want))
		time.Sleep(time.Until(want.Made.Add(time.Minute)))
		cfg := configIn(t.TempDir())
		unpack(t, "v0.5.0", cfg)
		st, salvaged, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
		check.Require(t, err == nil && salvaged == "", "open: salvaged %q, %v", salvaged, err)
		defer check.Close(t, st)
		test(opened{t, st, want})
	})
}

func TestRelease_signIn(t *testing.T) {
	inRelease(t, func(o opened) {
		t, st, want := o.T, o.Store, o.want
		ctx, log := t.Context(), slog.New(slog.DiscardHandler)
		sessions := openSessions(t, st)
		for name, owner := range map[string]string{
			"Ann access": "Ann", "Bob access": "Bob", "renewed access": "Bob", "Out access": "",
			"doorbell": "", "remote": "",
		} {
			caller, err := sessions.Authenticate(ctx, auth.RequestCredentials{
				Authorization: []string{"Bearer " + want.Tokens[name]}, From: netip.MustParseAddr("192.168.1.9"),
			})
			check.That(t, caller.Account.Name == owner && (err != nil) == (name == "Out access"),
				"%s is of %q, %v; want %q", name, caller.Account.Name, err, owner)
		}
		for _, name := range []string{"Ann refresh", "Bob refresh", "renewed refresh", "spent refresh"} {
			token, _ := auth.ParseToken(want.Tokens[name])
			_, err := sessions.Refresh(ctx, token)
			check.That(t, (err != nil) == (name == "spent refresh"), "%s: %v", name, err)
		}

		local := check.Must(sessions.LocalAccounts().Find(ctx, "ann"))(t)
		account := check.Must(sessions.LocalAccounts().Account(ctx, local))(t)
		check.That(t, account.ID == want.Accounts["Ann"] && account.Admin, "the account of Ann is %+v", account)
		right, _, err := idp.NewHasher(idp.MinCost).Verify(ctx, local.Hash, "the passphrase of Ann")
		check.That(t, right && err == nil, "Ann's passphrase is right: %t, %v", right, err)
		found, err := sessions.HasAdminCode(ctx)
		check.That(t, found && err == nil, "there is an administrator's code: %t, %v", found, err)

		provider := &authtest.Provider{Identity: auth.Identity{Subject: "new", Name: "New"}}
		in := &session.SignIn{
			Provider: provider, ProviderName: auth.Local, SignUp: auth.SignUpInvite, Sessions: sessions, Log: log,
		}
		r, err := in.Finish(ctx, auth.Callback{State: want.Flow.State, Binding: want.Flow.Binding, Code: "code"})
		check.That(t, err == nil && r.Account.Name == "New",
			"the pending flow ends with the account %+v, %v", r.Account, err)
	})
}

// openSessions returns the sessions of a store after a restart of the host.
func openSessions(t *testing.T, st *store.Store) *session.Sessions {
	t.Helper()
	c, err := session.OpenClock(t.Context(), st.Auth(), clock.Source{
		Wall: time.Now, Since: func() time.Duration { return time.Second }, Boot: "next",
	}, authtest.Released)
	check.NoError(t, err)
	return session.New(st.Auth(), c, 0, slog.New(slog.DiscardHandler))
}

func TestRelease_announcements(t *testing.T) {
	inRelease(t, func(o opened) {
		t, st, want := o.T, o.Store, o.want
		a := check.Must(newAnnouncer(st))(t)
		all := a.List()
		equal(t, "queue", texts(all.Queue), want.Queue)
		equal(t, "scheduled", texts(all.Scheduled), want.Scheduled)
		equal(t, "recent", texts(all.Recent), want.Recent)

		again := announce.Request{
			Content: announce.Content{Message: "Ball four."}, IdempotencyKey: "key-1",
			Sender: announce.Sender{Client: "scoreboard"},
		}
		check.Equal(t, check.Must(a.Announce(t.Context(), again))(t).ID, want.Keyed, "the answer to a repetition")
		again.Message = "Ball three."
		_, err := a.Announce(t.Context(), again)
		check.ErrorIs(t, err, announce.ErrKeyReused, "its key with another request")
	})
}

// texts returns each stored field of announcements.
func texts(all []announce.View) (lines []string) {
	for _, a := range all {
		r := a.Rooms
		lines = append(lines, fmt.Sprintf(
			"%d %s %s %q %q %s/%d, urgent %t/%d, volume %d, chime %q, created %s, ttl %s, until %s, at %s/%t, "+
				"%d/%d times every %s, sender %q %q, rooms %+v %v, sentence %d, error %q, place %d, played %s to %s",
			a.Seq, a.ID, a.Status, a.Title, a.Message, a.Voice, a.Rate, a.Urgent, a.Priority, a.Volume, a.Chime,
			stamp(a.Created), a.TTL, stamp(a.Expires), stamp(a.At), a.FixedTime,
			a.Spoken, a.Repeat.Times, a.Repeat.Every, a.Sender.Kind, a.Sender.Name,
			[]any{r.From, r.Only, r.Voice, r.Rate, r.Cancelled}, r.States(),
			a.Sentence, a.Error, a.InitialPosition, stamp(a.Started), stamp(a.Ended),
		))
	}
	return lines
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	check.That(t, slices.Equal(got, want), "%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
}

func TestRelease_controls(t *testing.T) {
	inRelease(t, func(o opened) {
		t, st, want := o.T, o.Store, o.want
		controls, schedules := openControls(t, st)
		check.Equal(t, volumeText(controls), want.Volume, "volume")
		check.Equal(t, quietText(controls), want.Quiet, "quiet")
		equal(t, "favorites", jsonOf(t, controls.Favorites()), want.Favorites)
		equal(t, "schedules", jsonOf(t, schedules.List()), want.Schedules)
	})
}

func openControls(t *testing.T, st *store.Store) (*control.Controls, *control.Schedules) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	controls := check.Must(control.NewControls(control.Config{
		Volume: 80, QuietHours: check.Must(hours.Parse("22:00-07:00"))(t), QuietMode: policy.Silence, QuietVolume: 20,
		UrgentMinVolume: 50, Zone: time.UTC,
	}, st, st.Now, log))(t)
	return controls, check.Must(control.NewSchedules(control.ScheduleParts{
		Repository: st, Announcer: check.Must(newAnnouncer(st))(t), Hub: controls.Hub(), Now: time.Now,
		ClockSet: func() bool { return true }, Log: log,
	}))(t)
}

func volumeText(c *control.Controls) string {
	v := c.Volume()
	return fmt.Sprintf("%d, muted %t, set %t", v.Volume, v.Muted, v.Set)
}

func quietText(c *control.Controls) string {
	q := c.Quiet(time.Now())
	return fmt.Sprint(q.Mode, " until ", stamp(q.Until))
}

// jsonOf returns the JSON of each value, as clients get it.
func jsonOf[T any](t *testing.T, all []T) (lines []string) {
	t.Helper()
	for _, v := range all {
		lines = append(lines, string(check.Must(json.Marshal(v))(t)))
	}
	return lines
}

func TestRelease_games(t *testing.T) {
	inRelease(t, func(o opened) {
		t, st, want := o.T, o.Store, o.want
		games, _, err := newGames(t.Context(), st)
		check.NoError(t, err)
		ann, bob := want.person("Ann"), want.person("Bob")
		for _, g := range want.Games {
			got := describe(t, games, ann, g.ID)
			check.That(t, reflect.DeepEqual(got, g), "game %+v\nwant %+v", got, g)
			finish(t, games, g.ID, ann, bob)
		}
	})
}

func (r release) person(name string) protocol.Person {
	return protocol.Person{ID: r.Accounts[name], Name: name}
}

func describe(t *testing.T, games *live.Games, viewer protocol.Person, id string) releasedGame {
	t.Helper()
	g := check.Must(games.Game(t.Context(), viewer, id))(t)
	d := releasedGame{ID: id, Text: fmt.Sprintf("%s %s-%s, revision %d, inning %d",
		g.Status, g.Away.Team.ID, g.Home.Team.ID, g.Revision, g.Inning)}
	if g.Status == protocol.Pending {
		return d
	}
	if g.Result != nil {
		d.Text += fmt.Sprintf(", %s %s", g.Result.Winner, g.Result.How)
	}
	events := check.Must(games.Events(t.Context(), viewer, id, 0))(t)
	d.Text += fmt.Sprintf(", %d:%d, %d events", g.Score.Away, g.Score.Home, len(events))
	var card strings.Builder
	check.NoError(t, games.Scorecard(t.Context(), id, &card))
	d.Scorecard = card.String()
	_, box, err := games.Box(t.Context(), viewer, id)
	check.NoError(t, err)
	for _, team := range box.Teams {
		d.Text += fmt.Sprintf(", %v: %d-%d-%d, %d left on base, %d earned, %d batted, %d pitched", team.LineScore,
			team.Runs, team.Hits, team.Errors, team.LeftOnBase, team.EarnedRuns, len(team.Batting), len(team.Pitching))
	}
	return d
}

// finish plays a game that has started to its end by the first legal action of each side.
func finish(t *testing.T, games *live.Games, id string, managers ...protocol.Person) {
	t.Helper()
	for i := range 2000 {
		for _, who := range managers {
			g := check.Must(games.Game(t.Context(), who, id))(t)
			if g.Status != protocol.Active {
				return
			}
			if len(g.Legal) == 0 {
				continue
			}
			c := protocol.Command{ID: fmt.Sprint("new", i), Revision: g.Revision, Action: g.Legal[0].Action}
			if _, _, err := games.Submit(t.Context(), who, id, c, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Errorf("game %s has no end", id)
}

func TestRelease_leagues(t *testing.T) {
	inRelease(t, func(o opened) {
		t, st, want := o.T, o.Store, o.want
		games, all, err := newGames(t.Context(), st)
		check.NoError(t, err)
		ann := want.person("Ann")
		for _, l := range want.Leagues {
			got := describeLeague(t, all, ann, l.Kind, l.ID)
			check.That(t, reflect.DeepEqual(got, l), "%+v\nwant %+v", got, l)
		}

		// The open game of a league is played to its end, and the league goes on.
		l := want.Leagues[0]
		schedule := check.Must(all.Schedule(t.Context(), ann, l.Kind, l.ID))(t)
		at := slices.IndexFunc(schedule.Games, func(g leagues.GameView) bool {
			return g.Status == string(protocol.Active)
		})
		finish(t, games, schedule.Games[at].Game, ann)
		end := check.Run(t, all.Run)
		time.Sleep(time.Hour)
		synctest.Wait()
		end()
		after := describeLeague(t, all, ann, l.Kind, l.ID)
		check.That(t, !slices.Equal(after.Standings, l.Standings) && !slices.Equal(after.Games, l.Games),
			"after the game: %+v", after)
	})
}

func describeLeague(
	t *testing.T, all *leagues.Leagues, viewer protocol.Person, k leagues.Kind, id string,
) releasedLeague {
	t.Helper()
	v := check.Must(all.Get(viewer, k, id))(t)
	schedule := check.Must(all.Schedule(t.Context(), viewer, k, id))(t)
	d := releasedLeague{ID: id, Kind: k}
	d.Text = fmt.Sprintf("%s %q of %s, %d seats", v.Status, v.Name, v.Creator.Name, len(v.Seats))
	for _, g := range schedule.Games {
		line := fmt.Sprintf("day %d: %d at %d, %s", g.Day, g.Away, g.Home, g.Status)
		if g.Score != nil {
			line += fmt.Sprintf(" %d:%d", g.Score.Away, g.Score.Home)
		}
		d.Games = append(d.Games, line)
	}
	d.Standings = jsonOf(t, check.Must(all.Standings(viewer, k, id))(t).Standings)
	return d
}

func TestRelease_others(t *testing.T) {
	inRelease(t, func(o opened) {
		t, st := o.T, o.Store
		ctx := t.Context()
		calibration, _, err := st.Calibration("5e1f")
		team, teamErr := st.TeamData(ctx, "https://teams.example/teams")
		document, documentErr := st.Cached(ctx, "keys")
		ducked, duckedErr := st.Ducked()
		season, seasonErr := st.Season(ctx, 2020)
		check.NoError(t, errors.Join(err, teamErr, documentErr, duckedErr, seasonErr))
		got := []string{string(calibration), string(team), string(document), string(ducked), string(season)}
		equal(t, "other data", got, []string{
			`{"gain":1.25,"rate":[1,2,3]}`, `{"teams":[]}`, `{"keys":[]}`,
			`{"streams":[{"name":"music","volume":0.8}]}`, `{"year":2020,"clubs":[]}`,
		})
	})
}
