package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/idp"
	"pressbox/auth/session"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store/clock"
	"pressbox/voice/announce"
)

// A release describes the content of a store that the packages of a released
// version wrote (sign-ins, a queue, games played at random):
// testdata/vX.Y.Z.json beside vX.Y.Z.db.gz. Neither is ever written again.
type release struct {
	Auth struct {
		Wall  time.Time
		Up    time.Duration `json:"up_ns"`
		Boot  string
		Ann   struct{ ID, Access, Refresh, Passphrase string }
		Bob   struct{ ID, Access, Refresh, Spent string }
		Out   struct{ ID, Access string } // disabled
		API   string
		Flows []struct{ State, Binding string }

		Invite string
	}
	Announcements struct {
		Made           time.Time
		Waiting, Ended []string
		KeyID          string `json:"key_id"` // of the announcement with the idempotency key
	}
	Games []releasedGame
}

type releasedGame struct {
	ID, Status, Result string
	Rev                uint64
	Inning, Home, Away int
	Events             int
	Scorecard          string
	Box                []releasedBox
}

type releasedBox struct {
	Line               []int
	Runs, Hits, Errors int
	LeftOnBase         int `json:"left_on_base"`
	EarnedRuns         int `json:"earned_runs"`
	Batting, Pitching  int // number of lines
}

// openRelease returns a migrated store of a release and what must be in it.
func openRelease(t *testing.T, version string) (*Store, release) {
	t.Helper()
	var want release
	data := check.Must(os.ReadFile(filepath.Join("testdata", version+".json")))(t)
	check.NoError(t, json.Unmarshal(data, &want))
	path := unpack(t, version+".db")
	s := check.Must(Open(path, Options{}))(t)
	if err := s.Close(); err != nil { // it is read after its migration and a restart
		t.Fatal(err)
	}
	return OpenForTest(t, path, Options{}), want
}

func TestUpgrade_signIn(t *testing.T) {
	t.Parallel()
	s, r := openRelease(t, "v0.1.0")
	want := r.Auth
	c, err := session.OpenClock(t.Context(), s.Auth(), clock.Source{ // a minute later, after a restart of the host
		Wall: func() time.Time { return want.Wall.Add(time.Minute) }, Since: func() time.Duration { return time.Second }, Boot: "next",
	}, time.Time{})
	check.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	sessions := session.New(s.Auth(), c, 0, log)

	for text, id := range map[string]string{want.Ann.Access: want.Ann.ID, want.Bob.Access: want.Bob.ID, want.Out.Access: "", want.API: ""} {
		caller, err := sessions.Authenticate(t.Context(), auth.RequestCredentials{
			Authorization: []string{"Bearer " + text}, From: netip.MustParseAddr("192.168.1.9"),
		})
		if disabled := text == want.Out.Access; caller.Account.ID != id || (err != nil) != disabled {
			t.Errorf("token of %q: account %q, %v", id, caller.Account.ID, err)
		}
	}
	for _, text := range []string{want.Ann.Refresh, want.Bob.Refresh} {
		token, _ := auth.ParseToken(text)
		check.Must(sessions.Refresh(t.Context(), token))(t)
	}
	spent, _ := auth.ParseToken(want.Bob.Spent)
	if _, err := sessions.Refresh(t.Context(), spent); err == nil {
		t.Error("a used refresh token was accepted")
	}

	in := &session.SignIn{Provider: &authtest.Provider{Identity: auth.Identity{Subject: "unknown"}}, ProviderName: "discord", SignUp: auth.SignUpInvite, Sessions: sessions, Log: log}
	check.Must(in.Begin(t.Context(), auth.FlowOptions{Redirect: "x", Invite: want.Invite}))(t)
	for i, f := range want.Flows {
		_, err := in.Finish(t.Context(), auth.Callback{State: f.State, Binding: f.Binding, Code: "c"})
		if auth.CodeOf(err) != auth.CodeNotInvited { // the flow is valid, the unknown user has no invite
			t.Errorf("flow %d: %v", i, err)
		}
	}
	if n := count(t, s, flowOrderBucket); n != 1 {
		t.Errorf("%d pending flows, want the new one", n)
	}
	local := check.Must(sessions.LocalAccounts().Find(t.Context(), "ann"))(t)
	if right, _, err := idp.NewHasher(idp.MinCost).Verify(t.Context(), local.Hash, want.Ann.Passphrase); !right || err != nil {
		t.Errorf("passphrase: %v, %v", right, err)
	}
}

func TestUpgrade_announcements(t *testing.T) {
	t.Parallel()
	s, r := openRelease(t, "v0.1.0")
	want := r.Announcements
	s.now = func() clock.Moment { return at(want.Made.Add(time.Minute), "next", time.Second) }
	waiting, ended, err := s.Load(t.Context())
	check.NoError(t, err)
	texts := func(ns []announce.Announcement) (texts []string) {
		for _, n := range ns {
			texts = append(texts, n.Message)
		}
		return texts
	}
	if !slices.Equal(texts(waiting), want.Waiting) || !slices.Equal(texts(ended), want.Ended) {
		t.Errorf("waiting %q, ended %q; want %q and %q", texts(waiting), texts(ended), want.Waiting, want.Ended)
	}
	for _, n := range waiting {
		if left := n.Expires.Sub(s.now().Wall); n.Status != announce.Queued || left <= 0 {
			t.Errorf("%q is %s with %v left", n.Message, n.Status, left)
		}
	}
	if waiting[0].ID != want.KeyID || !waiting[1].Urgent || waiting[1].Rate != 200 {
		t.Errorf("waiting %+v", waiting)
	}
	if _, _, err := s.Find(t.Context(), announce.IdempotencyKey{Key: "key-1"}); !errors.Is(err, announce.ErrKeyReused) {
		t.Errorf("the idempotency key with another request: %v, want %v", err, announce.ErrKeyReused)
	}
}

func TestUpgrade_games(t *testing.T) {
	t.Parallel()
	s, r := openRelease(t, "v0.1.0")
	games := check.Must(live.New(t.Context(), live.Config{Journal: s.Games(), Log: slog.New(slog.DiscardHandler)}))(t)
	ann := protocol.Person{ID: "u-ann", Name: "Ann"}
	for _, want := range r.Games {
		got := describe(t, games, ann, want.ID)
		if want.Status == "active" {
			addBegunHalf(want.Box, got.Box)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("game %+v\nwant %+v", got, want)
		}
		if want.Status == "active" {
			finish(t, games, want.ID)
		}
	}
	lists, err := games.List(ann, live.Query{})
	if err != nil || len(lists.Pending) != 1 || len(lists.Active) != 0 || len(lists.Finished) != len(r.Games)-1 {
		t.Errorf("%d pending, %d active, %d finished games, %v", len(lists.Pending), len(lists.Active), len(lists.Finished), err)
	}
}

// addBegunHalf adds the half-inning without a play that has begun: since 0.4.0 its first
// record begins it, such as a substitution, and it counts with 0 runs.
func addBegunHalf(want, got []releasedBox) {
	for i := range want {
		if begun := append(slices.Clone(want[i].Line), 0); slices.Equal(got[i].Line, begun) {
			want[i].Line = begun
		}
	}
}

// describe returns what a release's description says of a game.
func describe(t *testing.T, games *live.Games, viewer protocol.Person, id string) releasedGame {
	t.Helper()
	g := check.Must(games.Game(t.Context(), viewer, id))(t)
	d := releasedGame{ID: id, Status: string(g.Status), Rev: g.Revision, Inning: g.Inning}
	if g.Score != nil {
		d.Home, d.Away = g.Score.Home, g.Score.Away
	}
	if g.Result != nil {
		d.Result = g.Result.Winner + " " + g.Result.How
	}
	events := check.Must(games.Events(t.Context(), viewer, id, 0))(t)
	d.Events = len(events)
	if g.Status == protocol.Pending {
		return d
	}
	var card strings.Builder
	check.NoError(t, games.Scorecard(t.Context(), id, &card))
	d.Scorecard = card.String()
	_, box, err := games.Box(t.Context(), viewer, id)
	check.NoError(t, err)
	for _, team := range box.Teams {
		d.Box = append(d.Box, releasedBox{
			Line: team.LineScore, Runs: team.Runs, Hits: team.Hits, Errors: team.Errors, LeftOnBase: team.LeftOnBase,
			EarnedRuns: team.EarnedRuns, Batting: len(team.Batting), Pitching: len(team.Pitching),
		})
	}
	return d
}

// finish plays a game to its end by the first legal action of each side.
func finish(t *testing.T, games *live.Games, id string) {
	t.Helper()
	for i := range 2000 {
		for _, who := range []protocol.Person{{ID: "u-ann", Name: "Ann"}, {ID: "u-bob", Name: "Bob"}} {
			g := check.Must(games.Game(t.Context(), who, id))(t)
			if g.Status == protocol.Finished {
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
