package site_test

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/auth"
	"pressbox/auth/session"
	"pressbox/daemon/downloads"
	"pressbox/daemon/health"
	"pressbox/daemon/settings"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/voice/catalog"
)

// newAdministrator returns a client of an administrator, Anna, on the local network.
func newAdministrator(t *testing.T, change ...func(*site.Config)) *webtest.Player {
	t.Helper()
	r := webtest.NewLocalRig(t, auth.SignUpOpen, change...)
	anna := r.LocalPlayer(t, "Anna")
	promote(t, anna)
	return anna
}

// promote makes the account of a client an administrator's.
func promote(t *testing.T, p *webtest.Player) {
	t.Helper()
	admin := true
	id := p.Get("/api/auth/me").Want(200).Field("id")
	check.NoError(t, p.Sessions.ChangeAccount(t.Context(), id, session.AccountChange{Admin: &admin}))
}

// administrationRoutes returns the routes for administrators' accounts, with paths that can be requested.
func administrationRoutes() []web.Route {
	var routes []web.Route
	for _, rt := range site.Routes() {
		if rt.Class.Administers() {
			rt.Path = strings.NewReplacer(":id", "x", ":name", "x").Replace(rt.Path)
			routes = append(routes, rt)
		}
	}
	return routes
}

// code returns the problem code that a client receives for a route; "" for another response.
func code(p *webtest.Player, rt web.Route, headers ...string) string {
	p.T.Helper()
	if rt.Operation.Request != "" {
		headers = append(headers, "Content-Type", webtest.AsJSON)
	}
	resp := p.Send(rt.Method, rt.Path, "{", headers...) // a body that no route accepts
	if resp.Header.Get("Content-Type") != "application/problem+json" {
		return ""
	}
	return resp.Field("code")
}

// Each route of the administration refuses clients that are not signed in, not an administrator, or
// neither local nor on https, and pages of other sites.
func TestAdministration_guards(t *testing.T) {
	t.Parallel()
	anna := newAdministrator(t, webtest.BehindProxy, quickAdministration)
	bob := anna.LocalPlayer(t, "Bob")
	stranger := &webtest.Player{Browser: anna.Rig.Browser(t), T: t, Name: "stranger"}
	for _, rt := range administrationRoutes() {
		name := rt.Method + " " + rt.Path
		check.Equal(t, code(stranger, rt), "unauthenticated", "%s without a session", name)
		check.Equal(t, code(bob, rt), "not_administrator", "%s with another account", name)
		token := anna.AccessToken()
		abroad := &webtest.Player{Browser: anna.Rig.Browser(t), T: t, Name: "abroad"}
		abroad.From = webtest.ForeignClient
		check.Equal(t, code(abroad, rt, webtest.Bearer(token)...),
			"https_required", "%s from another network over http", name)
		abroad.UseProxy()
		abroad.Header.Set("X-Forwarded-For", "203.0.113.5")
		if got := code(abroad, rt, webtest.Bearer(token)...); refusals[got] {
			t.Errorf("%s from another network over https: %q", name, got)
		}
		if rt.Method != http.MethodGet {
			check.Equal(t, code(anna, rt, "Sec-Fetch-Site", "cross-site"), "cross_origin", "%s of another site", name)
		}
		if got := code(anna, rt); refusals[got] {
			t.Errorf("%s by an administrator: %q", name, got)
		}
	}
}

var refusals = map[string]bool{
	"unauthenticated": true, "not_administrator": true,
	"https_required": true, "reauthentication_required": true, "cross_origin": true, "too_many_requests": true,
}

// Accounts, tokens and backups require an authentication within 15 minutes: a sign-in or the
// passphrase, which must be right.
func TestAdministration_reauthentication(t *testing.T) {
	t.Parallel()
	anna := newAdministrator(t, quickAdministration)
	stale := func() (routes int) {
		for _, rt := range administrationRoutes() {
			got := code(anna, rt) == "reauthentication_required"
			check.That(t, !got || rt.Class == web.RecentAdministrator,
				"%s %s requires the passphrase again", rt.Method, rt.Path)
			if got {
				routes++
			}
		}
		return routes
	}
	anna.Clock.Pass(auth.ReauthAge - time.Second)
	if got := stale(); got != 0 {
		t.Fatalf("%d routes refuse a sign-in of less than 15 minutes", got)
	}
	anna.Clock.Pass(2 * time.Second)
	all := stale()
	check.Require(t, all >= 9, "%d routes refuse a sign-in of more than 15 minutes", all)
	enter := func(passphrase string) webtest.Page {
		return anna.Send("POST", "/api/auth/reauthenticate",
			`{"passphrase": "`+passphrase+`"}`, "Content-Type", webtest.AsJSON)
	}
	enter("another cat in a boat").Want(422, "wrong")
	check.Equal(t, stale(), all, "after a wrong passphrase")
	anna.Clock.Pass(time.Minute) // the throttle
	enter(webtest.Passphrase).Want(204)
	check.Equal(t, stale(), 0, "after the passphrase")
	anna.Clock.Pass(auth.ReauthAge + time.Second)
	check.Equal(t, stale(), all, "15 minutes later")
	anna.FollowForm(anna.Submit(anna.LocalForm(), "name", "Anna", "passphrase", webtest.Passphrase))
	check.Equal(t, stale(), 0, "after a new sign-in")
}

// Each change is logged with the account of the administrator, reading is not.
func TestAdministration_journal(t *testing.T) {
	t.Parallel()
	anna := newAdministrator(t)
	id := anna.Get("/api/auth/me").Want(200).Field("id")
	anna.Get("/api/admin/users").Want(200)
	if line := anna.LogLine("administered"); line != "" {
		t.Errorf("reading is logged: %s", line)
	}
	anna.Post("/api/admin/invites").Want(201)
	line := anna.LogLine("administered")
	for _, want := range []string{"method=POST", "path=/api/admin/invites", "account=" + id, "name=Anna", "request="} {
		check.Contains(t, line, want, "the log")
	}
}

// An address may send as many requests of administrators at once as the burst is large, with or without a session.
func TestAdministration_limit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t)
		for i := range 121 {
			want := 401
			if i == 120 {
				want = 429
			}
			r.Do(t, "GET", "/api/admin/users", "").Want(want)
		}
		r.Do(t, "GET", "/api/admin/users", "", "Client", "192.168.1.21:40000").Want(401)
	})
}

// An administrator can change and delete other accounts, and not the own one.
func TestAdministration_users(t *testing.T) {
	t.Parallel()
	anna := newAdministrator(t)
	bob := anna.LocalPlayer(t, "Bob")
	own, other := anna.Get("/api/auth/me").Field("id"), bob.Get("/api/auth/me").Field("id")
	change := func(id, body string) webtest.Page {
		return anna.Send("PATCH", "/api/admin/users/"+id, body, "Content-Type", webtest.AsJSON)
	}
	for _, body := range []string{`{"admin": false}`, `{"disabled": true}`} {
		change(own, body).Want(409, "own_account")
	}
	anna.Send("DELETE", "/api/admin/users/"+own, "").Want(409, "own_account")
	change(own, `{"admin": true}`).Want(204)
	change(other, `{"admin": true}`).Want(204)
	bob.Get("/api/admin/users").Want(200)
	change(other, `{"disabled": true}`).Want(204)
	bob.Get("/api/auth/me").Want(401)
	anna.Send("DELETE", "/api/admin/users/"+other, "").Want(204)
	anna.Send("DELETE", "/api/admin/users/"+other, "").Want(404)
}

// An invite is listed without its secret until it is revoked.
func TestAdministration_invites(t *testing.T) {
	t.Parallel()
	anna := newAdministrator(t)
	secret := anna.Post("/api/admin/invites").Want(201).Field("invite")
	var list struct {
		Invites []struct {
			ID      string `json:"id"`
			Expires int64  `json:"expires_in"`
		} `json:"invites"`
	}
	page := anna.Get("/api/admin/invites").Want(200)
	page.Decode(&list)
	if len(list.Invites) != 1 || list.Invites[0].Expires != int64(auth.InviteTTL.Seconds()) ||
		strings.Contains(page.Text, secret) {
		t.Fatalf("the invites: %s", page.Text)
	}
	anna.Send("DELETE", "/api/admin/invites/"+list.Invites[0].ID, "").Want(204)
	anna.Send("DELETE", "/api/admin/invites/"+list.Invites[0].ID, "").Want(404)
	if got := anna.Get("/api/admin/invites").Want(200).Text; strings.TrimSpace(got) != `{"invites":[]}` {
		t.Errorf("after the revocation: %s", got)
	}
	if err := anna.Accounts.MayCreate(t.Context(), auth.SignUpInvite, secret); err == nil {
		t.Error("a revoked invite is valid")
	}
}

// An account that is not an administrator's learns whether there is an administrator.
func TestAdministration_exists(t *testing.T) {
	t.Parallel()
	r := webtest.NewLocalRig(t, auth.SignUpOpen)
	r.Do(t, "GET", "/api/admin", "").Want(401)
	anna, bob := r.LocalPlayer(t, "Anna"), r.LocalPlayer(t, "Bob")
	for _, tt := range []struct {
		by   *webtest.Player
		want string
	}{
		{anna, `{"administrator":false,"exists":false,"code":false}`},
		{anna, `{"administrator":true,"exists":true,"code":false}`},
		{bob, `{"administrator":false,"exists":true,"code":false}`},
	} {
		check.Equal(t, strings.TrimSpace(tt.by.Get("/api/admin").Want(200).Text), tt.want, "%s", tt.by.Name)
		promote(t, anna)
	}
}

// noSettings is without settings.
type noSettings struct{}

func (noSettings) List() ([]settings.Value, error)                  { return nil, nil }
func (noSettings) Change(context.Context, map[string]*string) error { return nil }

// noBackups is without backups.
type noBackups struct{}

func (noBackups) List() ([]store.Backup, error) { return nil, nil }
func (noBackups) Create(context.Context) (store.Backup, error) {
	return store.Backup{}, store.ErrCorrupt
}
func (noBackups) Open(context.Context, string) (*os.File, error) { return nil, fs.ErrNotExist }

// noVoices is without voices.
type noVoices struct{}

func (noVoices) Voices() []downloads.Voice                 { return nil }
func (noVoices) Last() downloads.Download                  { return downloads.Download{} }
func (noVoices) Start(context.Context, string, bool) error { return nil }
func (noVoices) Remove(string) error                       { return catalog.ErrUnknown }

func (noVoices) Offers(context.Context, string) (downloads.Offers, error) {
	return downloads.Offers{Languages: []string{}}, nil
}

// quickAdministration replaces what takes long.
func quickAdministration(c *site.Config) {
	c.Admin.Settings, c.Admin.Backups, c.Admin.Voices = noSettings{}, noBackups{}, noVoices{}
	c.Admin.Diagnose = func(context.Context) []health.Finding { return []health.Finding{} }
}

// The administrator code makes the account that sends it an administrator's, once. A code
// that would be guessed is refused.
func TestAdminCode_redeem(t *testing.T) {
	t.Parallel()
	r := webtest.NewLocalRig(t, auth.SignUpOpen)
	anna := r.LocalPlayer(t, "Anna")
	redeemAs := func(b *webtest.Browser, code string) webtest.Page {
		return b.Send("POST", "/api/auth/admin-code", `{"code": "`+code+`"}`, "Content-Type", webtest.AsJSON)
	}
	redeem := func(code string) webtest.Page { return redeemAs(anna.Browser, code) }
	redeem("opening day").Want(404, "not_found")
	set := func(code string) webtest.Page {
		return r.Administer(t, "PUT", "/admin/code", `{"code": "`+code+`"}`)
	}
	set("7 chars").Want(422, "too_short")
	set("password1").Want(422, "too_common")
	set("opening day").Want(204)
	if got := anna.Get("/api/admin").Want(200); got.Field("code") != "true" {
		t.Errorf("with a code: %s", got.Text)
	}
	guesser := r.LocalPlayer(t, "Mallory")
	for range auth.MaxCodeTries {
		redeemAs(guesser.Browser, "a guess").Want(422, "wrong")
	}
	redeemAs(guesser.Browser, "opening day").Want(429)
	redeem("closing day").Want(422, "wrong")
	redeem("opening day").Want(204)
	anna.Get("/api/admin/users").Want(200)
	redeem("opening day").Want(404, "not_found")
}
