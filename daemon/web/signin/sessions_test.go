package signin_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/session"
	"pressbox/daemon/web"
	"pressbox/daemon/web/signin"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// A refresh by the cookie sets cookies and returns no token; a refresh by the body returns tokens and sets no cookie.
func TestRefresh_bodyOrCookie(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	b.SignIn()
	old := b.RefreshToken()
	p := b.Post("/api/auth/refresh").Want(200)
	check.That(t, len(p.Cookies()) == 3 && p.SetCookie("pressbox_session").Value != "" && b.RefreshToken() != old &&
		!webtest.TokenPattern.MatchString(p.Text), "by the cookie: %d cookies, body %s", len(p.Cookies()), p.Text)
	check.Equal(t, strings.TrimSpace(p.Text), `{"token_type":"Bearer","expires_in":3600}`, "by the cookie")
	cookie := b.RefreshToken()
	p = b.RefreshWith(cookie).Want(200)
	check.That(t, len(p.Cookies()) == 0 && p.Field("access_token") != "" && p.Field("refresh_token") != "" &&
		p.Field("token_type") == "Bearer", "in the body: %d cookies, body %s", len(p.Cookies()), p.Text)
	check.That(t, b.RefreshToken() == cookie, "a token in the body sets a cookie")
	b.Browser(t).Get("/api/auth/me", webtest.Bearer(p.Field("access_token"))...).Want(200)
	// A bad token in the body takes precedence over a good cookie.
	check.Equal(t, len(b.RefreshWith(auth.NewToken(auth.KindRefresh).Reveal()).Want(401).Cookies()), 0, "cookies")
	b.Post("/api/auth/refresh").Want(200)
}

// Logout deletes both cookies, ends the session and is idempotent.
func TestLogout_clearsCookies(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	b.SignIn()
	access, refresh := b.AccessToken(), b.RefreshToken()
	b.Get("/api/auth/logout").Want(405)
	for range 2 {
		p := b.Post("/api/auth/logout").Want(204)
		for name, path := range map[string]string{
			"pressbox_access": "/api", "pressbox_refresh": "/api/auth", "pressbox_session": "/",
		} {
			c := p.SetCookie(name)
			want := name + "=; Path=" + path + "; Max-Age=0; HttpOnly; SameSite=Lax"
			check.That(t, c != nil && c.Raw == want, "Set-Cookie: %v, want %s", c, want)
		}
	}
	check.That(t, b.AccessToken() == "" && b.RefreshToken() == "", "cookies remain")
	b.Get("/api/auth/me", webtest.Bearer(access)...).Want(401)
	b.RefreshWith(refresh).Want(401)
}

// Either cookie or the header identifies the session to end.
func TestLogout_eitherToken(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	for _, how := range []func(access, refresh string) []string{
		func(access, _ string) []string { return []string{"Cookie", "pressbox_access=" + access} },
		func(_, refresh string) []string { return []string{"Cookie", "pressbox_refresh=" + refresh} },
		func(access, _ string) []string { return webtest.Bearer(access) },
	} {
		b := h.Browser(t)
		b.SignIn()
		access, refresh := b.AccessToken(), b.RefreshToken()
		h.Browser(t).Post("/api/auth/logout", how(access, refresh)...).Want(204)
		b.Get("/api/auth/me").Want(401)
	}
}

// A page of another site can neither refresh nor end a session.
func TestRefresh_otherSites(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	b.SignIn()
	before := b.RefreshToken()
	for _, headers := range [][]string{
		{"Origin", "http://evil"},
		{"Origin", "null"},
		{"Origin", "http://pressbox.local:9999"},
		{"Origin", "http://evil", "Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
	} {
		b.Post("/api/auth/refresh", headers...).Want(403)
		b.Post("/api/auth/logout", headers...).Want(403)
		b.Send(http.MethodDelete, "/api/auth/me", "", headers...).Want(403)
	}
	check.That(t, b.RefreshToken() == before, "a token was consumed")
	b.Post("/api/auth/refresh", "Origin", b.Origin).Want(200)
}

// With Secure, only the prefixed name is accepted.
func TestCookies_securePrefix(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.SignIn.Secure = true }, webtest.BehindProxy)
	b := h.Browser(t)
	b.UseProxy()
	b.SignIn()
	access := b.Cookie("__Secure-pressbox_access", "/api")
	other := h.Browser(t)
	other.UseProxy()
	other.Get("/api/auth/me", "Cookie", "__Secure-pressbox_access="+access).Want(200)
	other.Get("/api/auth/me", "Cookie", "pressbox_access="+access).Want(401)
}

// Which credentials authenticate a request.
func TestAuthenticate_credentials(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	access, refresh, id := b.AccessToken(), b.RefreshToken(), b.Get("/api/auth/me").Field("id")
	unknown := auth.NewToken(auth.KindRefresh).Reveal()
	type row struct {
		method, path string
		want         int
		headers      []string
	}
	rows := []row{
		{"GET", "/me", 200, []string{"Authorization", "bEARER " + access}},
		// any of several cookies of a name may be valid.
		{"GET", "/me", 200, []string{"Cookie", "pressbox_access=garbage; pressbox_access=" + access}},
		{"GET", "/me", 401, []string{"Cookie", `pressbox_access="` + access}},
		// a token in the URL is ignored.
		{"GET", "/me?access_token=" + access, 401, nil},
		{"POST", "/refresh?refresh_token=" + refresh, 401, nil},
		// the header takes precedence over the cookie.
		{"GET", "/me", 401, []string{"Authorization", "Bearer bad", "Cookie", "pressbox_access=" + access}},
		{"GET", "/me", 200, []string{"Authorization", "Bearer " + access, "Cookie", "pressbox_access=bad"}},
		// access and refresh tokens are not interchangeable.
		{"GET", "/me", 401, webtest.Bearer(refresh)},
		{"POST", "/refresh", 401, []string{"Cookie", "pressbox_refresh=" + access}},
		// CVE-2025-54576, CVE-2025-64484, CVE-2026-41059, CVE-2026-40575, CVE-2026-34457.
		{"GET", "/me?x=/health", 401, nil},
		{"GET", "/me?account=" + id, 401, nil},
		{"GET", "/me%23/health", 404, nil},
		{"POST", "/refresh", 200, []string{
			"Cookie", "pressbox_refresh=garbage; pressbox_refresh=" + unknown + "; pressbox_refresh=" + refresh,
		}},
	}
	for _, value := range []string{"Basic YTpi", "Bearer " + strings.Repeat("a", 1<<20), "Bearer " + access + ","} {
		rows = append(rows, row{"GET", "/me", 401, []string{"Authorization", value}})
	}
	for _, header := range [][]string{
		{"X-Forwarded-Uri", "/health"},
		{"X-Original-Url", "/health"},
		{"X-Forwarded-User", id},
		{"X_Forwarded_User", id},
		{"Remote-User", id},
		{"X-Forwarded-Email", "anna@example.com"},
		{"User-Agent", "kube-probe/1.0"},
		{"X-Forwarded-Method", "OPTIONS"},
	} {
		rows = append(rows, row{"GET", "/me", 401, header})
	}
	for _, tt := range rows {
		check.Equal(t, h.Browser(t).Send(tt.method, "/api/auth"+tt.path, "", tt.headers...).StatusCode, tt.want,
			"%s %.30s %.60q: status", tt.method, tt.path, tt.headers)
	}
	h.Browser(t).RefreshWith(access).Want(401)
	h.Browser(t).Send(http.MethodDelete, "/api/auth/me",
		`{"id":"`+id+`","userId":"`+id+`"}`, "Content-Type", webtest.AsJSON).Want(401)
	b.Get("/api/auth/me").Want(200)
}

// Missing and invalid credentials have different challenges.
func TestAuthenticate_challenges(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	for _, tt := range []struct {
		headers []string
		want    string
		code    string
	}{
		{nil, `Bearer realm="pressbox"`, "unauthenticated"},
		{
			webtest.Bearer(auth.NewToken(auth.KindAccess).Reveal()), `Bearer realm="pressbox", error="invalid_token"`,
			"invalid_token",
		},
		{[]string{"Cookie", "pressbox_access=x"}, `Bearer realm="pressbox", error="invalid_token"`, "invalid_token"},
	} {
		p := h.Browser(t).Get("/api/auth/me", tt.headers...).Want(401)
		if got := p.Header.Get("WWW-Authenticate"); got != tt.want || p.Field("code") != tt.code {
			t.Errorf("%.20v: %s %s, want %s %s", tt.headers, got, p.Field("code"), tt.want, tt.code)
		}
	}
}

// An unknown or late token changes nothing and deletes no cookie; that of an ended session deletes them.
func TestRefresh_deletesCookies(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	first := b.RefreshToken()
	b.Post("/api/auth/refresh").Want(200)
	b.Post("/api/auth/refresh").Want(200)
	for _, token := range []string{first, auth.NewToken(auth.KindRefresh).Reveal(), "garbage"} {
		p := h.Browser(t).Post("/api/auth/refresh", "Cookie", "pressbox_refresh="+token).Want(401)
		check.Equal(t, len(p.Cookies()), 0, "number of cookies")
	}
	b.Post("/api/auth/refresh").Want(200)
	ended, refresh := h.Browser(t), b.RefreshToken()
	b.Send(http.MethodDelete, "/api/auth/me", "").Want(204)
	p := ended.Post("/api/auth/refresh", "Cookie", "pressbox_refresh="+refresh).Want(401)
	check.That(t, p.SetCookie("pressbox_access") != nil && p.SetCookie("pressbox_refresh") != nil,
		"cookies %v, want both deleted", p.Cookies())
}

// A session is refreshed 12 times an hour; the next time is refused with the time to wait and keeps the cookies. A full
// store is a refusal as well.
func TestRefresh_limits(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	for range auth.MaxRenewals {
		b.Post("/api/auth/refresh").Want(200)
	}
	p := b.Post("/api/auth/refresh").Want(429, "too_many_requests")
	check.That(t, p.Header.Get("Retry-After") == "3600" && len(p.Cookies()) == 0, "%v", p.Header)
	b.Get("/api/auth/me").Want(200)
	h.Clock.Pass(time.Hour)
	b.Post("/api/auth/refresh").Want(200)
	full, _ := signin.Problem(fmt.Errorf("renew a session: %w", auth.ErrFull))
	check.That(t, full.Status == 503 && full.Code == "sign_in_full", "a full store: %+v", full)
}

// An administrator's account is deleted only by a session in which the passphrase was entered lately; others by any.
func TestDeleteMe_administrator(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b, yes := h.Browser(t), true
	b.SignIn()
	id := b.Get("/api/auth/me").Field("id")
	check.NoError(t, h.Sessions.ChangeAccount(t.Context(), id, session.AccountChange{Admin: &yes}))
	h.Clock.Pass(auth.ReauthAge + time.Second)
	b.Send(http.MethodDelete, "/api/auth/me", "").Want(403, "reauthentication_required")
	b.SignIn()
	h.Clock.Pass(auth.ReauthAge)
	b.Send(http.MethodDelete, "/api/auth/me", "").Want(204)
	b.SignIn()
	h.Clock.Pass(auth.ReauthAge + time.Second)
	b.Send(http.MethodDelete, "/api/auth/me", "").Want(204)
}

// Bodies of a refresh.
func TestRefresh_bodies(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	for _, tt := range []struct {
		body, media, code string
		want              int
	}{
		{"", "", "missing_token", 401},
		{"  \n", "", "missing_token", 401},
		{"{}", webtest.AsJSON, "missing_token", 401},
		{`{"refresh_token":""}`, webtest.AsJSON, "missing_token", 401},
		{`{"refresh_token":7}`, webtest.AsJSON, "wrong_type", 422},
		{`{"refresh_token":"x"}`, webtest.AsJSON, "invalid_token", 401},
		{`{"refresh_token":"x","extra":1}`, webtest.AsJSON, "invalid_token", 401},
		{`{"refresh_token":"x"}`, "text/plain", "unsupported_media_type", 415},
		{`[]`, webtest.AsJSON, "not_json", 400},
		{`{`, webtest.AsJSON, "not_json", 400},
		{
			`{"refresh_token":"` + strings.Repeat("x", 64<<10-len(`{"refresh_token":""}`)) + `"}`, webtest.AsJSON,
			"invalid_token", 401,
		},
		{`{"refresh_token":"` + strings.Repeat("x", 64<<10) + `"}`, webtest.AsJSON, "body_too_large", 413},
	} {
		var headers []string
		if tt.media != "" {
			headers = []string{"Content-Type", tt.media}
		}
		p := h.Browser(t).Send(http.MethodPost, "/api/auth/refresh", tt.body, headers...).Want(tt.want)
		check.Equal(t, p.Field("code"), tt.code, "%.40q: code", tt.body)
	}
	// by the cookie
	b.Send(http.MethodPost, "/api/auth/refresh", `{"extra":true}`, "Content-Type", webtest.AsJSON).Want(200)
}

// An account's sessions are listed and ended one by one or all; those of another
// account cannot be ended (CVE-2025-61928).
func TestSessions_listAndEnd(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	phone, desk, other := h.Browser(t), h.Browser(t), h.Browser(t)
	phone.Header.Set("User-Agent", "Mozilla/5.0 (Linux; Android 14) Chrome/126.0 Mobile Safari/537.36")
	phone.SignIn()
	desk.SignIn()
	p := desk.Get("/api/auth/sessions").Want(200)
	check.That(t, strings.Contains(p.Text, `"device":"Chrome on Android","network":"192.168.1.0/24"`) &&
		strings.Count(p.Text, `"current":true`) == 1, "sessions %s", p.Text)
	id := sessionID(t, p.Text, "Chrome on Android")
	h.Provider.Identity.Subject = "2"
	other.SignIn()
	other.Send(http.MethodDelete, "/api/auth/sessions/"+id, "").Want(404)
	desk.Send(http.MethodDelete, "/api/auth/sessions/"+id, "").Want(204)
	phone.Get("/api/auth/me").Want(401)
	desk.Send(http.MethodDelete, "/api/auth/sessions/"+id, "").Want(404)
	desk.Post("/api/auth/logout-all").Want(204)
	check.That(t, desk.AccessToken() == "", "cookies remain")
	other.Get("/api/auth/me").Want(200)
	current := sessionID(t, other.Get("/api/auth/sessions").Text, "Unknown")
	other.Send(http.MethodDelete, "/api/auth/sessions/"+current, "").Want(204)
	check.That(t, other.AccessToken() == "", "ending the current session leaves its cookies")
}

// sessionID returns the id of the session of a device.
func sessionID(t *testing.T, list, device string) string {
	t.Helper()
	at := strings.Index(list, `"device":"`+device)
	check.Require(t, at >= 0, "no session of %s in %s", device, list)
	_, id, _ := strings.Cut(list[strings.LastIndex(list[:at], "{"):], `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}

// Where NOTIFY_ACCESS is token, a session of an account that was invited may announce below /api, and an API token also
// at /notify. An API token opens no account.
func TestNotify_sessionsAndTokens(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.Access = web.Token })
	b, out := h.Browser(t), h.Browser(t)
	b.SignIn()
	b.Get("/api/notify").Want(403, "not_invited")
	invite := h.Administer(t, "POST", "/admin/invites", "").Want(201).Field("invite")
	login := b.Get("/api/auth/idp/login?invite=" + invite).Want(302)
	b.Callback(login.Query("state"), "code").Want(303)
	b.Get("/api/notify").Want(200)
	b.Get("/notify").Want(401)
	out.Get("/api/notify").Want(401)
	out.Get("/api/notify", webtest.Bearer(b.AccessToken())...).Want(200)
	out.Get("/notify", webtest.Bearer(b.AccessToken())...).Want(401)
	admin := h.Administer(t, "POST", "/admin/tokens", `{"name":"door","network":"192.168.1.0/24"}`)
	token := admin.Want(201).Field("token")
	h.Secret("token", token)
	out.Get("/notify", webtest.Bearer(token)...).Want(200)
	out.Get("/api/notify", webtest.Bearer(token)...).Want(200)
	out.Get("/api/auth/me", webtest.Bearer(token)...).Want(401)
	out.From = "192.168.2.1:1000"
	out.Get("/notify", webtest.Bearer(token)...).Want(401)
	list := h.Administer(t, "GET", "/admin/tokens", "").Want(200)
	check.That(t, !strings.Contains(list.Text, token) && strings.Contains(list.Text, `"network":"192.168.1.0/24"`),
		"tokens %s", list.Text)
	remove := webtest.NewRequest("DELETE", "/admin/tokens/"+admin.Field("id"), "")
	h.Send(t, h.AdminHandler(), remove).Want(204)
	h.Send(t, h.AdminHandler(), remove).Want(404, "not_found")
	out.From = "192.168.1.9:1000"
	out.Get("/notify", webtest.Bearer(token)...).Want(401)
}

// BenchmarkMe measures GET /api/auth/me with a cookie beside the same request without
// authentication. x-limit is the ratio to the limit, 1.25 times the other plus 40 µs.
func BenchmarkMe(b *testing.B) {
	h := webtest.NewSignInRig(b, func(c *site.Config) { c.Log = slog.New(slog.DiscardHandler) })
	br := h.Browser(b)
	br.SignIn()
	r := webtest.NewRequest("GET", "/api/auth/me", "", "Cookie", "pressbox_access="+br.AccessToken())
	ask := func(handler http.Handler) {
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code != http.StatusOK {
			b.Fatalf("status %d: %s", w.Code, w.Body)
		}
	}
	cfg := h.Config
	cfg.Sessions = fixedAccount{auth.Account{ID: "x", Name: "Anna", Provider: "test", Created: time.Now()}}
	other := check.Must(web.New(cfg.Config))(b)
	other.Mount(signin.Routes(other, &signin.Authenticator{}), nil)
	bare := other.Handler()
	var without, with time.Duration
	for b.Loop() { // in turn, so that load slows both
		began := time.Now()
		ask(bare)
		between := time.Now()
		ask(h.Handler())
		without += between.Sub(began)
		with += time.Since(between)
	}
	limit := without*5/4 + time.Duration(b.N)*40*time.Microsecond
	b.ReportMetric(float64(with)/float64(limit), "x-limit")
	b.ReportMetric(float64(without.Nanoseconds())/float64(b.N), "bare-ns/op")
}

// fixedAccount authenticates each request as the same account.
type fixedAccount struct{ account auth.Account }

func (a fixedAccount) SignedIn(*http.Request) (auth.Caller, error) {
	return auth.Caller{Account: a.account}, nil
}
