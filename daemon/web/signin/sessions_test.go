package signin_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

// B2, D7: who renews by the cookie gets cookies and no token in the body; who
// sends the token in the body gets it in the body and no cookie.
func TestD7_ModesDoNotMix(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	b.SignIn()
	old := b.RefreshToken()
	p := b.Post("/api/auth/refresh").Want(200)
	if len(p.Cookies()) != 2 || b.RefreshToken() == old || webtest.AnyToken.MatchString(p.Text) {
		t.Errorf("by the cookie: %d cookies, body %s", len(p.Cookies()), p.Text)
	}
	if want := `{"token_type":"Bearer","expires_in":3600}`; strings.TrimSpace(p.Text) != want {
		t.Errorf("by the cookie: %s, want %s", p.Text, want)
	}
	cookie := b.RefreshToken()
	p = b.RefreshWith(cookie).Want(200)
	if len(p.Cookies()) != 0 || p.Field("access_token") == "" || p.Field("refresh_token") == "" || p.Field("token_type") != "Bearer" {
		t.Errorf("in the body: %d cookies, body %s", len(p.Cookies()), p.Text)
	}
	if b.RefreshToken() != cookie {
		t.Error("a token in the body planted a session")
	}
	native := webtest.NewSignInRig(t).Browser(t)
	native.Get("/api/auth/me", webtest.Bearer(p.Field("access_token"))...).Want(401) // another house
	b.Browser(t).Get("/api/auth/me", webtest.Bearer(p.Field("access_token"))...).Want(200)
}

// D7: a token in the body beats the cookie, and fails by itself.
func TestD7_BodyBeatsCookie(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	b.SignIn()
	p := b.RefreshWith(auth.NewToken(auth.KindRefresh).Reveal()).Want(401)
	if len(p.Cookies()) != 0 {
		t.Errorf("cookies %v", p.Cookies())
	}
	b.Post("/api/auth/refresh").Want(200)
}

// B4, D11: logging out clears both cookies where they are, ends the session on
// the server, and may be done twice.
func TestD11_Logout(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	b.SignIn()
	access, refresh := b.AccessToken(), b.RefreshToken()
	b.Get("/api/auth/logout").Want(405)
	for range 2 {
		p := b.Post("/api/auth/logout").Want(204)
		for name, path := range map[string]string{"pressbox_access": "/api", "pressbox_refresh": "/api/auth"} {
			c := p.SetCookie(name)
			if want := name + "=; Path=" + path + "; Max-Age=0; HttpOnly; SameSite=Lax"; c == nil || c.Raw != want {
				t.Errorf("Set-Cookie: %v, want %s", c, want)
			}
		}
	}
	if b.AccessToken() != "" || b.RefreshToken() != "" {
		t.Error("cookies remain")
	}
	b.Get("/api/auth/me", webtest.Bearer(access)...).Want(401)
	b.RefreshWith(refresh).Want(401)
}

// D11: either cookie serves to log out, and so does a header.
func TestD11_EitherToken(t *testing.T) {
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

// D8, D12: a page of another site can neither renew nor end a session.
func TestD12_OtherSites(t *testing.T) {
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
	if b.RefreshToken() != before {
		t.Error("a token was consumed")
	}
	b.Post("/api/auth/refresh", "Origin", b.Origin).Want(200)
}

// B5: of several cookies of one name any may be the good one.
func TestB5_SeveralCookies(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	bad := auth.NewToken(auth.KindRefresh).Reveal()
	other := h.Browser(t)
	other.Get("/api/auth/me", "Cookie", "pressbox_access=garbage; pressbox_access="+b.AccessToken()).Want(200)
	other.Post("/api/auth/refresh", "Cookie", "pressbox_refresh=garbage; pressbox_refresh="+bad+"; pressbox_refresh="+b.RefreshToken()).Want(200)
	other = h.Browser(t)
	other.Get("/api/auth/me", "Cookie", `pressbox_access="`+b.AccessToken()).Want(401)
}

// B6: with Secure on, only the prefixed name is believed.
func TestB6_PrefixedNameOnly(t *testing.T) {
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

// C1: nothing presented, and something bad presented, are told apart.
func TestC1_Challenges(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	for _, tt := range []struct {
		headers []string
		want    string
		code    string
	}{
		{nil, `Bearer realm="pressbox"`, "unauthenticated"},
		{webtest.Bearer(auth.NewToken(auth.KindAccess).Reveal()), `Bearer realm="pressbox", error="invalid_token"`, "invalid_token"},
		{[]string{"Cookie", "pressbox_access=x"}, `Bearer realm="pressbox", error="invalid_token"`, "invalid_token"},
	} {
		p := h.Browser(t).Get("/api/auth/me", tt.headers...).Want(401)
		if got := p.Header.Get("WWW-Authenticate"); got != tt.want || p.Field("code") != tt.code {
			t.Errorf("%.20v: %s %s, want %s %s", tt.headers, got, p.Field("code"), tt.want, tt.code)
		}
	}
}

// C2: a malformed header is refused, never fatal (GHSA-xmf8-cvqr-rfgj).
func TestC2_Headers(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	b.SignIn()
	access := b.AccessToken()
	native := b.Browser(t)
	native.Get("/api/auth/me", "Authorization", "bEARER "+access).Want(200)
	for _, header := range []string{"Bearer", "Bearer a b", "Basic YTpi", "x", "Bearer " + strings.Repeat("a", 1<<20), "Bearer " + access + ","} {
		native.Get("/api/auth/me", "Authorization", header).Want(401)
	}
}

// C3: a token in the address is none.
func TestC3_NoTokenInTheAddress(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	b.SignIn()
	b.Browser(t).Get("/api/auth/me?access_token=" + b.AccessToken()).Want(401)
	b.Browser(t).Post("/api/auth/refresh?refresh_token=" + b.RefreshToken()).Want(401)
}

// C4: a bad header is not rescued by a good cookie, and a good one needs none.
func TestC4_HeaderBeatsCookie(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	b.SignIn()
	b.Get("/api/auth/me", webtest.Bearer("bad")...).Want(401)
	b.Browser(t).Get("/api/auth/me", append(webtest.Bearer(b.AccessToken()), "Cookie", "pressbox_access=bad")...).Want(200)
}

// C5: neither token serves as the other.
func TestC5_TokensAreNotSwapped(t *testing.T) {
	t.Parallel()
	b := webtest.NewSignInRig(t).Browser(t)
	b.SignIn()
	other := b.Browser(t)
	other.Get("/api/auth/me", webtest.Bearer(b.RefreshToken())...).Want(401)
	other.RefreshWith(b.AccessToken()).Want(401)
}

// C6: a disabled or deleted account, and an ended session, are out at once.
func TestC6_OutAtOnce(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	id := b.Get("/api/auth/me").Want(200).Field("id")
	if err := h.Sessions.SetDisabled(t.Context(), id, true); err != nil {
		t.Fatal(err)
	}
	b.Get("/api/auth/me").Want(401)
	p := b.Post("/api/auth/refresh").Want(401)
	if p.SetCookie("pressbox_refresh") == nil {
		t.Error("the dead cookies are not cleared")
	}
	b.Callback(b.Begin(), "code").WantError(auth.CodeAccountDisabled)
	if err := h.Sessions.SetDisabled(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	b.SignIn()
	b.Send(http.MethodDelete, "/api/auth/me", "").Want(204)
	b.Get("/api/auth/me").Want(401)
	b.SignIn()
	if again := b.Get("/api/auth/me").Want(200).Field("id"); again == id {
		t.Error("a deleted account came back")
	}
}

// D1, D2, F8: a refresh token that comes again after its grace ends its family,
// the browser's cookies with it, and is logged.
func TestD2_Reuse(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b, elsewhere := h.Browser(t), h.Browser(t)
	b.SignIn()
	elsewhere.SignIn()
	stolen := b.RefreshToken()
	b.Post("/api/auth/refresh").Want(200)
	h.Clock.Advance(auth.ReuseGrace + time.Second)
	h.Browser(t).RefreshWith(stolen).Want(401)
	b.Get("/api/auth/me").Want(401)
	if p := b.Post("/api/auth/refresh").Want(401); p.SetCookie("pressbox_access") == nil {
		t.Error("the dead cookies are not cleared")
	}
	elsewhere.Get("/api/auth/me").Want(200)
	if !strings.Contains(h.Log.String(), "used twice") {
		t.Error("it is not logged")
	}
}

// D3, D5: an unknown token, and one that is late, change nothing and clear no
// cookie.
func TestD5_LosersClearNothing(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	first := b.RefreshToken()
	b.Post("/api/auth/refresh").Want(200)
	b.Post("/api/auth/refresh").Want(200)
	for _, token := range []string{first, auth.NewToken(auth.KindRefresh).Reveal(), "garbage"} {
		p := h.Browser(t).Post("/api/auth/refresh", "Cookie", "pressbox_refresh="+token).Want(401)
		if len(p.Cookies()) != 0 {
			t.Errorf("cookies %v", p.Cookies())
		}
	}
	b.Post("/api/auth/refresh").Want(200)
}

// D4: tabs that renew at the same time all succeed, with the same cookies.
func TestD4_Tabs(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	token := b.RefreshToken()
	pages := make([]webtest.Page, 5)
	var wg sync.WaitGroup
	for i := range pages {
		tab := h.Browser(t)
		wg.Go(func() { pages[i] = tab.Post("/api/auth/refresh", "Cookie", "pressbox_refresh="+token) })
	}
	wg.Wait()
	for _, p := range pages {
		p.Want(200)
		if p.SetCookie("pressbox_refresh").Value != pages[0].SetCookie("pressbox_refresh").Value {
			t.Error("two successors")
		}
	}
}

// D9: a month after the sign-in it is over, however diligently it was renewed.
func TestD9_AbsoluteLifetime(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	token := b.RefreshToken()
	for range 30 {
		h.Clock.Advance(24*time.Hour - time.Minute)
		token = h.Browser(t).RefreshWith(token).Want(200).Field("refresh_token")
	}
	h.Clock.Advance(time.Hour)
	h.Browser(t).RefreshWith(token).Want(401)
}

// D10: what the body of a renewal may be.
func TestD10_Bodies(t *testing.T) {
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
		{`{"refresh_token":"` + strings.Repeat("x", 64<<10-len(`{"refresh_token":""}`)) + `"}`, webtest.AsJSON, "invalid_token", 401},
		{`{"refresh_token":"` + strings.Repeat("x", 64<<10) + `"}`, webtest.AsJSON, "body_too_large", 413},
	} {
		var headers []string
		if tt.media != "" {
			headers = []string{"Content-Type", tt.media}
		}
		p := h.Browser(t).Send(http.MethodPost, "/api/auth/refresh", tt.body, headers...).Want(tt.want)
		if p.Field("code") != tt.code {
			t.Errorf("%.40q: code %s, want %s", tt.body, p.Field("code"), tt.code)
		}
	}
	b.Send(http.MethodPost, "/api/auth/refresh", `{"extra":true}`, "Content-Type", webtest.AsJSON).Want(200) // the cookie serves
}

// What a proxy or a client says beside the credential opens nothing
// (CVE-2025-54576, -64484, CVE-2026-41059, -40575, -34457).
func TestCVE_NothingElseOpens(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	b := h.Browser(t)
	b.SignIn()
	id := b.Get("/api/auth/me").Field("id")
	for _, headers := range [][]string{
		{"X-Forwarded-Uri", "/health"},
		{"X-Original-Url", "/health"},
		{"X-Forwarded-User", id},
		{"X_Forwarded_User", id},
		{"Remote-User", id},
		{"X-Forwarded-Email", "anna@example.com"},
		{"User-Agent", "kube-probe/1.0"},
		{"X-Forwarded-Method", "OPTIONS"},
	} {
		h.Browser(t).Get("/api/auth/me", headers...).Want(401)
	}
	for _, path := range []string{"/api/auth/me?x=/health", "/api/auth/me?account=" + id, "/api/auth/me%23/health"} {
		if p := h.Browser(t).Get(path); p.StatusCode != 401 && p.StatusCode != 404 {
			t.Errorf("GET %s: status %d", path, p.StatusCode)
		}
	}
	other := h.Browser(t)
	other.Send(http.MethodDelete, "/api/auth/me", `{"id":"`+id+`","userId":"`+id+`"}`, "Content-Type", webtest.AsJSON).Want(401)
	b.Get("/api/auth/me").Want(200)
}

// F6: one's devices are listed, and one of them or all can be signed out;
// another's cannot (CVE-2025-61928).
func TestF6_Sessions(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t)
	phone, desk, stranger := h.Browser(t), h.Browser(t), h.Browser(t)
	phone.Header.Set("User-Agent", "Mozilla/5.0 (Linux; Android 14) Chrome/126.0 Mobile Safari/537.36")
	phone.SignIn()
	desk.SignIn()
	p := desk.Get("/api/auth/sessions").Want(200)
	if !strings.Contains(p.Text, `"device":"Chrome on Android","network":"192.168.1.0/24"`) || strings.Count(p.Text, `"current":true`) != 1 {
		t.Errorf("sessions %s", p.Text)
	}
	id := sessionID(t, p.Text, "Chrome on Android")
	h.Provider.Identity.Subject = "2"
	stranger.SignIn()
	stranger.Send(http.MethodDelete, "/api/auth/sessions/"+id, "").Want(404)
	desk.Send(http.MethodDelete, "/api/auth/sessions/"+id, "").Want(204)
	phone.Get("/api/auth/me").Want(401)
	desk.Send(http.MethodDelete, "/api/auth/sessions/"+id, "").Want(404)
	desk.Post("/api/auth/logout-all").Want(204)
	if desk.AccessToken() != "" {
		t.Error("cookies remain")
	}
	stranger.Get("/api/auth/me").Want(200)
	stranger.Send(http.MethodDelete, "/api/auth/sessions/"+sessionID(t, stranger.Get("/api/auth/sessions").Text, "Unknown"), "").Want(204)
	if stranger.AccessToken() != "" {
		t.Error("one's own session leaves its cookies")
	}
}

// sessionID is the id of the session of a device in a list.
func sessionID(t *testing.T, list, device string) string {
	t.Helper()
	at := strings.Index(list, `"device":"`+device)
	if at < 0 {
		t.Fatalf("no session of %s in %s", device, list)
	}
	_, id, _ := strings.Cut(list[strings.LastIndex(list[:at], "{"):], `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}

// Whoever is signed in may announce from anywhere below /api, by the cookie or
// the header; an API token may where NOTIFY_ACCESS asks for one, and opens no
// account.
func TestSessionsAndTokensAtTheOtherDoors(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.Access = web.Token })
	b, out := h.Browser(t), h.Browser(t)
	b.SignIn()
	b.Get("/api/notify").Want(200)
	b.Get("/notify").Want(401)
	out.Get("/api/notify").Want(401)
	out.Get("/api/notify", webtest.Bearer(b.AccessToken())...).Want(200)
	out.Get("/notify", webtest.Bearer(b.AccessToken())...).Want(401)
	admin := h.Send(t, h.AdminHandler(), webtest.NewRequest("POST", "/admin/tokens", `{"name":"door","network":"192.168.1.0/24"}`, "Content-Type", webtest.AsJSON))
	token := admin.Want(201, "").Field("token")
	h.Secret("token", token)
	out.Get("/notify", webtest.Bearer(token)...).Want(200)
	out.Get("/api/notify", webtest.Bearer(token)...).Want(200)
	out.Get("/api/auth/me", webtest.Bearer(token)...).Want(401)
	out.From = "192.168.2.1:1000"
	out.Get("/notify", webtest.Bearer(token)...).Want(401)
	list := h.Send(t, h.AdminHandler(), webtest.NewRequest("GET", "/admin/tokens", "")).Want(200, "")
	if strings.Contains(list.Body.String(), token) || !strings.Contains(list.Body.String(), `"network":"192.168.1.0/24"`) {
		t.Errorf("tokens %s", list.Body)
	}
	h.Send(t, h.AdminHandler(), webtest.NewRequest("DELETE", "/admin/tokens/"+admin.Field("id"), "")).Want(204, "")
	h.Send(t, h.AdminHandler(), webtest.NewRequest("DELETE", "/admin/tokens/"+admin.Field("id"), "")).Want(404, "not_found")
	out.From = "192.168.1.9:1000"
	out.Get("/notify", webtest.Bearer(token)...).Want(401)
	for _, body := range []string{`{}`, `{"name":""}`, `{"name":"x","network":"here"}`, `{"name":"x","ttl":-1}`, `{"name":"x","scope":"all"}`} {
		h.Send(t, h.AdminHandler(), webtest.NewRequest("POST", "/admin/tokens", body, "Content-Type", webtest.AsJSON)).Want(422, "")
	}
}
