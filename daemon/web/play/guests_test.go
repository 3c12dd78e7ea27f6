package play_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/idp"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// guestRig returns a rig with local accounts, and Anna, who has created an open game.
func guestRig(t *testing.T, policy auth.SignUpPolicy) (r *webtest.Rig, anna *webtest.Player, game string) {
	t.Helper()
	var local *idp.Local
	r = webtest.NewGamesRig(t, webtest.WithTeams, webtest.WithLocalAccounts(auth.SignUpOpen, authtest.NewHost()),
		func(cfg *site.Config) {
			cfg.Access = web.Token
			local, _ = cfg.SignIn.Local.(*idp.Local)
		})
	anna = r.LocalPlayer(t, "Anna")
	game = anna.CreateGame(`{}`).ID
	local.LocalConfig.SignUp = policy // after Anna has come
	return r, anna, game
}

// code returns a code for a game of a player's.
func code(p *webtest.Player, game string) string {
	p.T.Helper()
	return p.Ask("POST", "/api/games/"+game+"/guest", "", 201, nil).Field("code")
}

// stranger returns a browser without a session, at an address of its own.
func stranger(r *webtest.Rig, n int) *webtest.Player {
	p := &webtest.Player{Browser: r.Browser(r.T), T: r.T, Name: "Mia"}
	p.From = fmt.Sprintf("192.168.9.%d:40000", n)
	return p
}

// admit makes a browser a guest's.
func (g guest) admit(status int, problem ...string) webtest.Page {
	g.T.Helper()
	return g.Ask("POST", "/api/auth/guest", fmt.Sprintf(`{"code": %q, "name": "Mia"}`, g.code), status, nil).
		Want(status, problem...)
}

type guest struct {
	*webtest.Player
	code string
}

// A guest takes the open seat by a code and a name, plays that game to its end, and may do nothing else.
func TestGuest_plays(t *testing.T) {
	t.Parallel()
	r, anna, game := guestRig(t, auth.SignUpOpen)
	other := anna.CreateGame(`{}`).ID
	var made struct {
		Code, URL string
		Expires   time.Time `json:"expires_at"`
	}
	anna.Ask("POST", "/api/games/"+game+"/guest", "", 201, &made)
	check.That(t, len(made.Code) == 10 && strings.HasSuffix(made.URL, "/join/"+made.Code) &&
		time.Until(made.Expires) > 59*time.Minute, "created %+v", made)
	mia := guest{stranger(r, 1), strings.ToLower(made.Code)}
	page := mia.Get("/join/" + made.Code).Want(200)
	check.Contains(t, page.Header.Get("Content-Type"), "text/html", "the page")
	answer := mia.admit(201)
	check.Equal(t, answer.Field("name"), "Mia (guest)", "name")
	check.Equal(t, answer.Field("guest"), game, "game")
	check.That(t, !strings.Contains(answer.Text, "token"), "a token in the body: %s", answer.Text)
	guest{stranger(r, 2), made.Code}.admit(404, "unknown_code") // taken

	g := mia.SuggestLineup(game, "away")
	check.Equal(t, g.You, "away", "side")
	anna.SuggestLineup(game, "home")
	mia.Ask("GET", "/api/auth/me", "", 200, nil)
	var detail struct {
		Rosters struct {
			Home struct{ Players []struct{ ID string } }
		}
	}
	mia.Ask("GET", "/api/games/"+game, "", 200, &detail)
	player := detail.Rosters.Home.Players[0].ID
	for path, want := range map[string]int{
		"/api/games/" + game: 200, "/api/games/" + game + "/boxscore": 200,
		"/api/players/" + player + "?game=" + game: 200, "/api/players/" + player: 401,
		"/api/games/" + other: 401, "/api/games": 401, "/api/auth/sessions": 403, "/api/admin": 403,
		"/api/leagues": 401,
	} {
		mia.Ask("GET", path, "", want, nil)
	}
	for _, path := range []string{
		"/api/games/" + other + "/join", "/api/games/" + game + "/rematch", "/api/games/" + game + "/guest",
		"/api/auth/logout-all", "/api/games",
	} {
		mia.Refused("POST", path, `{"home_team": "BWH", "away_team": "CPR"}`, 403, map[bool]string{
			true: "forbidden", false: "guest",
		}[strings.HasSuffix(path, "/guest")])
	}
	mia.Ask("POST", "/notify", `{"message": "x"}`, 401, nil)

	address := r.Open(t)
	socket := mia.Dial(address)
	socket.Sendf(`{"t":"join","g":%q,"d":{"since":0}}`, other)
	socket.WantNak("unknown_game")
	socket.Sendf(`{"t":"join","g":%q,"d":{"since":0}}`, game)
	check.Contains(t, string(socket.Until("hello").D), `"manager"`, "role")
	mia.Ask("POST", "/api/games/"+game+"/concede", "", 200, nil)
	mia.Ask("GET", "/api/auth/me", "", 401, nil) // with the game, the session is over
	mia.Ask("POST", "/api/auth/refresh", "", 401, nil)
}

// A guest becomes an account, during the game and for a while after it, which keeps the games.
func TestGuest_kept(t *testing.T) {
	t.Parallel()
	r, anna, game := guestRig(t, auth.SignUpOpen)
	mia := guest{stranger(r, 1), code(anna, game)}
	mia.Ask("POST", "/api/auth/keep", `{"name": "Mia", "passphrase": "a long one of mine"}`, 401, nil)
	id := mia.admit(201).Field("id")
	keep := func(status int, name, passphrase string, problem ...string) webtest.Page {
		t.Helper()
		body := check.Must(json.Marshal(map[string]string{"name": name, "passphrase": passphrase}))(t)
		return mia.Ask("POST", "/api/auth/keep", string(body), status, nil).Want(status, problem...)
	}
	keep(422, "Mia", "short")
	keep(422, "", "a long one of mine")
	keep(409, "ANNA", "a long one of mine", "name_taken")
	mia.SuggestLineup(game, "away")
	anna.SuggestLineup(game, "home")
	anna.Ask("POST", "/api/games/"+game+"/concede", "", 200, nil)
	mia.Ask("GET", "/api/auth/me", "", 401, nil)
	kept := keep(201, "Mia", "a long one of mine")
	check.Equal(t, kept.Field("id"), id, "the account's id")
	check.Equal(t, kept.Field("name")+" "+kept.Field("provider")+kept.Field("guest"), "Mia local", "the account")
	me := mia.Ask("GET", "/api/auth/me", "", 200, nil)
	check.Equal(t, me.Field("id"), id, "who is signed in")
	mia.Ask("GET", "/api/games", "", 200, nil)
	mia.Refused("POST", "/api/auth/keep", `{"name": "Mia2", "passphrase": "a long one of mine"}`, 401, "invalid_token")
	again := r.Browser(t)
	again.FollowForm(again.Submit(again.LocalForm(), "form", "sign-in", "name", "Mia", "passphrase",
		"a long one of mine"))
	check.Equal(t, again.Get("/api/auth/me").Want(200).Field("id"), id, "who has signed in again")
}

// Who may create a code, for which games, and how it is revoked and expires.
func TestGuest_codes(t *testing.T) {
	t.Parallel()
	r, anna, game := guestRig(t, auth.SignUpOpen)
	ben := r.LocalPlayer(t, "Ben")
	path := "/api/games/" + game + "/guest"
	ben.Refused("POST", path, "", 403, "forbidden")
	ben.Refused("DELETE", path, "", 403, "forbidden")
	anna.Refused("POST", "/api/games/none/guest", "", 404, "unknown_game")
	anna.Refused("POST", "/api/games/"+anna.CreateGame(`{"opponent": "bot"}`).ID+"/guest", "", 409, "seat_taken")

	revoked := guest{stranger(r, 1), code(anna, game)}
	anna.Ask("DELETE", path, "", 204, nil)
	revoked.admit(404, "unknown_code")
	var codes []string
	for range auth.MaxGuestsEach + 1 {
		r.Clock.Pass(time.Second)
		codes = append(codes, code(anna, game))
	}
	guest{stranger(r, 2), codes[0]}.admit(404, "unknown_code") // the oldest of five
	late := guest{stranger(r, 3), codes[1]}
	for _, name := range []string{"", "  ", strings.Repeat("x", auth.MaxGuestName+1), "a\tb"} {
		body := check.Must(json.Marshal(map[string]string{"code": late.code, "name": name}))(t)
		late.Ask("POST", "/api/auth/guest", string(body), 422, nil)
	}
	ben.Ask("POST", "/api/games/"+game+"/join", "", 200, nil)
	late.admit(409, "seat_taken")
	late.Ask("GET", "/api/auth/me", "", 401, nil)
	anna.Refused("POST", path, "", 409, "seat_taken")

	for _, from := range []string{"192.168.9.4:40000", "127.0.0.1:40000"} {
		most := guest{stranger(r, 4), "AAAAAAAAAA"}
		most.From = from
		for range 20 {
			most.admit(404, "unknown_code")
		}
		most.admit(429, "too_many_requests")
	}
}

// With SIGN_UP=invite the code admits a guest, who needs an invite to stay; with SIGN_UP=closed no one is admitted.
func TestGuest_signUp(t *testing.T) {
	t.Parallel()
	const keep = `{"name": "Mia", "passphrase": "a long one of mine"%s}`
	r, anna, game := guestRig(t, auth.SignUpInvite)
	mia := guest{stranger(r, 1), code(anna, game)}
	mia.admit(201)
	mia.Refused("POST", "/api/auth/keep", fmt.Sprintf(keep, ""), 403, "invite_required")
	mia.Refused("POST", "/api/auth/keep", fmt.Sprintf(keep, `, "invite": "xi_x"`), 403, "invite_required")
	invite := check.Must(r.Sessions.CreateInvite(t.Context()))(t)
	mia.Ask("POST", "/api/auth/keep", fmt.Sprintf(keep, `, "invite": "`+invite.Reveal()+`"`), 201, nil)

	r, anna, game = guestRig(t, auth.SignUpClosed)
	guest{stranger(r, 1), code(anna, game)}.admit(403, "sign_up_closed")
}

// A code is valid for an hour; a guest's session ends after seven days without use, and its account is deleted.
func TestGuest_expires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewGamesRig(t, webtest.WithTeams)
		anna := r.Player(t, "Anna")
		game := anna.CreateGame(`{}`).ID
		early, late := guest{stranger(r, 1), code(anna, game)}, guest{stranger(r, 2), code(anna, game)}
		r.Clock.Pass(time.Hour)
		early.admit(201)
		r.Clock.Pass(time.Second)
		late.admit(404, "unknown_code")
		accounts := func() int { return len(check.Must(r.Sessions.Accounts(t.Context()))(t)) }
		check.Equal(t, accounts(), 2, "accounts")
		r.Clock.Pass(auth.RefreshTTL - time.Minute)
		check.NoError(t, r.Sessions.DeleteExpired(t.Context()))
		check.Equal(t, accounts(), 2, "accounts after almost seven days")
		r.Clock.Pass(2 * time.Minute)
		check.NoError(t, r.Sessions.DeleteExpired(t.Context()))
		check.Equal(t, accounts(), 1, "accounts after seven days")
		early.Ask("POST", "/api/auth/refresh", "", http.StatusUnauthorized, nil)
	})
}
