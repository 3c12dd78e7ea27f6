package web_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
)

const asJSON = "application/json"

// bearer is the header of a token.
func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

// renewInBody refreshes as older clients do.
func (b *browser) renewInBody(token string) page {
	b.t.Helper()
	return b.send(http.MethodPost, "/api/auth/refresh", `{"refresh_token":"`+token+`"}`, "Content-Type", asJSON)
}

// B2, D7: who renews by the cookie gets cookies and no token in the body; who
// sends the token in the body gets it in the body and no cookie.
func TestD7_ModesDoNotMix(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	b.signIn()
	old := b.refreshToken()
	p := b.post("/api/auth/refresh").want(200)
	if len(p.Cookies()) != 2 || b.refreshToken() == old || anyToken.MatchString(p.body) {
		t.Errorf("by the cookie: %d cookies, body %s", len(p.Cookies()), p.body)
	}
	if want := `{"token_type":"Bearer","expires_in":3600}`; strings.TrimSpace(p.body) != want {
		t.Errorf("by the cookie: %s, want %s", p.body, want)
	}
	cookie := b.refreshToken()
	p = b.renewInBody(cookie).want(200)
	if len(p.Cookies()) != 0 || p.field("access_token") == "" || p.field("refresh_token") == "" || p.field("token_type") != "Bearer" {
		t.Errorf("in the body: %d cookies, body %s", len(p.Cookies()), p.body)
	}
	if b.refreshToken() != cookie {
		t.Error("a token in the body planted a session")
	}
	native := newHouse(t).browser(t)
	native.get("/api/auth/me", bearer(p.field("access_token"))...).want(401) // another house
	b.browser(t).get("/api/auth/me", bearer(p.field("access_token"))...).want(200)
}

// D7: a token in the body beats the cookie, and fails by itself.
func TestD7_BodyBeatsCookie(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	b.signIn()
	p := b.renewInBody(auth.NewToken(auth.KindRefresh).Reveal()).want(401)
	if len(p.Cookies()) != 0 {
		t.Errorf("cookies %v", p.Cookies())
	}
	b.post("/api/auth/refresh").want(200)
}

// B4, D11: logging out clears both cookies where they are, ends the session on
// the server, and may be done twice.
func TestD11_Logout(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	b.signIn()
	access, refresh := b.access(), b.refreshToken()
	b.get("/api/auth/logout").want(405)
	for range 2 {
		p := b.post("/api/auth/logout").want(204)
		for name, path := range map[string]string{"pressbox_access": "/api", "pressbox_refresh": "/api/auth"} {
			c := p.cookie(name)
			if want := name + "=; Path=" + path + "; Max-Age=0; HttpOnly; SameSite=Lax"; c == nil || c.Raw != want {
				t.Errorf("Set-Cookie: %v, want %s", c, want)
			}
		}
	}
	if b.access() != "" || b.refreshToken() != "" {
		t.Error("cookies remain")
	}
	b.get("/api/auth/me", bearer(access)...).want(401)
	b.renewInBody(refresh).want(401)
}

// D11: either cookie serves to log out, and so does a header.
func TestD11_EitherToken(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, how := range []func(access, refresh string) []string{
		func(access, _ string) []string { return []string{"Cookie", "pressbox_access=" + access} },
		func(_, refresh string) []string { return []string{"Cookie", "pressbox_refresh=" + refresh} },
		func(access, _ string) []string { return bearer(access) },
	} {
		b := h.browser(t)
		b.signIn()
		access, refresh := b.access(), b.refreshToken()
		h.browser(t).post("/api/auth/logout", how(access, refresh)...).want(204)
		b.get("/api/auth/me").want(401)
	}
}

// D8, D12: a page of another site can neither renew nor end a session.
func TestD12_OtherSites(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	b.signIn()
	before := b.refreshToken()
	for _, headers := range [][]string{
		{"Origin", "http://evil"},
		{"Origin", "null"},
		{"Origin", "http://pressbox.local:9999"},
		{"Origin", "http://evil", "Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
	} {
		b.post("/api/auth/refresh", headers...).want(403)
		b.post("/api/auth/logout", headers...).want(403)
		b.send(http.MethodDelete, "/api/auth/me", "", headers...).want(403)
	}
	if b.refreshToken() != before {
		t.Error("a token was consumed")
	}
	b.post("/api/auth/refresh", "Origin", b.origin).want(200)
}

// B5: of several cookies of one name any may be the good one.
func TestB5_SeveralCookies(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.browser(t)
	b.signIn()
	bad := auth.NewToken(auth.KindRefresh).Reveal()
	other := h.browser(t)
	other.get("/api/auth/me", "Cookie", "pressbox_access=garbage; pressbox_access="+b.access()).want(200)
	other.post("/api/auth/refresh", "Cookie", "pressbox_refresh=garbage; pressbox_refresh="+bad+"; pressbox_refresh="+b.refreshToken()).want(200)
	other = h.browser(t)
	other.get("/api/auth/me", "Cookie", `pressbox_access="`+b.access()).want(401)
}

// B6: with Secure on, only the prefixed name is believed.
func TestB6_PrefixedNameOnly(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *web.Config) { c.SignIn.Secure = true }, behindProxy)
	b := h.browser(t)
	b.throughProxy()
	b.signIn()
	access := b.token("__Secure-pressbox_access", "/api")
	other := h.browser(t)
	other.throughProxy()
	other.get("/api/auth/me", "Cookie", "__Secure-pressbox_access="+access).want(200)
	other.get("/api/auth/me", "Cookie", "pressbox_access="+access).want(401)
}

// C1: nothing presented, and something bad presented, are told apart.
func TestC1_Challenges(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, tt := range []struct {
		headers []string
		want    string
		code    string
	}{
		{nil, `Bearer realm="pressbox"`, "unauthenticated"},
		{bearer(auth.NewToken(auth.KindAccess).Reveal()), `Bearer realm="pressbox", error="invalid_token"`, "invalid_token"},
		{[]string{"Cookie", "pressbox_access=x"}, `Bearer realm="pressbox", error="invalid_token"`, "invalid_token"},
	} {
		p := h.browser(t).get("/api/auth/me", tt.headers...).want(401)
		if got := p.Header.Get("WWW-Authenticate"); got != tt.want || p.field("code") != tt.code {
			t.Errorf("%.20v: %s %s, want %s %s", tt.headers, got, p.field("code"), tt.want, tt.code)
		}
	}
}

// C2: a malformed header is refused, never fatal (GHSA-xmf8-cvqr-rfgj).
func TestC2_Headers(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	b.signIn()
	access := b.access()
	native := b.browser(t)
	native.get("/api/auth/me", "Authorization", "bEARER "+access).want(200)
	for _, header := range []string{"Bearer", "Bearer a b", "Basic YTpi", "x", "Bearer " + strings.Repeat("a", 1<<20), "Bearer " + access + ","} {
		native.get("/api/auth/me", "Authorization", header).want(401)
	}
}

// C3: a token in the address is none.
func TestC3_NoTokenInTheAddress(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	b.signIn()
	b.browser(t).get("/api/auth/me?access_token=" + b.access()).want(401)
	b.browser(t).post("/api/auth/refresh?refresh_token=" + b.refreshToken()).want(401)
}

// C4: a bad header is not rescued by a good cookie, and a good one needs none.
func TestC4_HeaderBeatsCookie(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	b.signIn()
	b.get("/api/auth/me", bearer("bad")...).want(401)
	b.browser(t).get("/api/auth/me", append(bearer(b.access()), "Cookie", "pressbox_access=bad")...).want(200)
}

// C5: neither token serves as the other.
func TestC5_TokensAreNotSwapped(t *testing.T) {
	t.Parallel()
	b := newHouse(t).browser(t)
	b.signIn()
	other := b.browser(t)
	other.get("/api/auth/me", bearer(b.refreshToken())...).want(401)
	other.renewInBody(b.access()).want(401)
}

// C6: a disabled or deleted account, and an ended session, are out at once.
func TestC6_OutAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.browser(t)
	b.signIn()
	id := b.get("/api/auth/me").want(200).field("id")
	if err := h.book.SetDisabled(t.Context(), id, true); err != nil {
		t.Fatal(err)
	}
	b.get("/api/auth/me").want(401)
	p := b.post("/api/auth/refresh").want(401)
	if p.cookie("pressbox_refresh") == nil {
		t.Error("the dead cookies are not cleared")
	}
	b.back(b.begin(), "code").failed(auth.CodeAccountDisabled)
	if err := h.book.SetDisabled(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	b.signIn()
	b.send(http.MethodDelete, "/api/auth/me", "").want(204)
	b.get("/api/auth/me").want(401)
	b.signIn()
	if again := b.get("/api/auth/me").want(200).field("id"); again == id {
		t.Error("a deleted account came back")
	}
}

// D1, D2, F8: a refresh token that comes again after its grace ends its family,
// the browser's cookies with it, and is logged.
func TestD2_Reuse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b, elsewhere := h.browser(t), h.browser(t)
	b.signIn()
	elsewhere.signIn()
	stolen := b.refreshToken()
	b.post("/api/auth/refresh").want(200)
	h.now.pass(auth.ReuseGrace + time.Second)
	h.browser(t).renewInBody(stolen).want(401)
	b.get("/api/auth/me").want(401)
	if p := b.post("/api/auth/refresh").want(401); p.cookie("pressbox_access") == nil {
		t.Error("the dead cookies are not cleared")
	}
	elsewhere.get("/api/auth/me").want(200)
	if !strings.Contains(h.log.String(), "used twice") {
		t.Error("it is not logged")
	}
}

// D3, D5: an unknown token, and one that is late, change nothing and clear no
// cookie.
func TestD5_LosersClearNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.browser(t)
	b.signIn()
	first := b.refreshToken()
	b.post("/api/auth/refresh").want(200)
	b.post("/api/auth/refresh").want(200)
	for _, token := range []string{first, auth.NewToken(auth.KindRefresh).Reveal(), "garbage"} {
		p := h.browser(t).post("/api/auth/refresh", "Cookie", "pressbox_refresh="+token).want(401)
		if len(p.Cookies()) != 0 {
			t.Errorf("cookies %v", p.Cookies())
		}
	}
	b.post("/api/auth/refresh").want(200)
}

// D4: tabs that renew at the same time all succeed, with the same cookies.
func TestD4_Tabs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.browser(t)
	b.signIn()
	token := b.refreshToken()
	pages := make([]page, 5)
	var wg sync.WaitGroup
	for i := range pages {
		tab := h.browser(t)
		wg.Go(func() { pages[i] = tab.post("/api/auth/refresh", "Cookie", "pressbox_refresh="+token) })
	}
	wg.Wait()
	for _, p := range pages {
		p.want(200)
		if p.cookie("pressbox_refresh").Value != pages[0].cookie("pressbox_refresh").Value {
			t.Error("two successors")
		}
	}
}

// D9: a month after the sign-in it is over, however diligently it was renewed.
func TestD9_AbsoluteLifetime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.browser(t)
	b.signIn()
	token := b.refreshToken()
	for range 30 {
		h.now.pass(24*time.Hour - time.Minute)
		token = h.browser(t).renewInBody(token).want(200).field("refresh_token")
	}
	h.now.pass(time.Hour)
	h.browser(t).renewInBody(token).want(401)
}

// D10: what the body of a renewal may be.
func TestD10_Bodies(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.browser(t)
	b.signIn()
	for _, tt := range []struct {
		body, media, code string
		want              int
	}{
		{"", "", "missing_token", 401},
		{"  \n", "", "missing_token", 401},
		{"{}", asJSON, "missing_token", 401},
		{`{"refresh_token":""}`, asJSON, "missing_token", 401},
		{`{"refresh_token":7}`, asJSON, "wrong_type", 422},
		{`{"refresh_token":"x"}`, asJSON, "invalid_token", 401},
		{`{"refresh_token":"x","extra":1}`, asJSON, "invalid_token", 401},
		{`{"refresh_token":"x"}`, "text/plain", "unsupported_media_type", 415},
		{`[]`, asJSON, "not_json", 400},
		{`{`, asJSON, "not_json", 400},
		{`{"refresh_token":"` + strings.Repeat("x", 64<<10-len(`{"refresh_token":""}`)) + `"}`, asJSON, "invalid_token", 401},
		{`{"refresh_token":"` + strings.Repeat("x", 64<<10) + `"}`, asJSON, "body_too_large", 413},
	} {
		var headers []string
		if tt.media != "" {
			headers = []string{"Content-Type", tt.media}
		}
		p := h.browser(t).send(http.MethodPost, "/api/auth/refresh", tt.body, headers...).want(tt.want)
		if p.field("code") != tt.code {
			t.Errorf("%.40q: code %s, want %s", tt.body, p.field("code"), tt.code)
		}
	}
	b.send(http.MethodPost, "/api/auth/refresh", `{"extra":true}`, "Content-Type", asJSON).want(200) // the cookie serves
}

// What a proxy or a client says beside the credential opens nothing
// (CVE-2025-54576, -64484, CVE-2026-41059, -40575, -34457).
func TestCVE_NothingElseOpens(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.browser(t)
	b.signIn()
	id := b.get("/api/auth/me").field("id")
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
		h.browser(t).get("/api/auth/me", headers...).want(401)
	}
	for _, path := range []string{"/api/auth/me?x=/health", "/api/auth/me?account=" + id, "/api/auth/me%23/health"} {
		if p := h.browser(t).get(path); p.StatusCode != 401 && p.StatusCode != 404 {
			t.Errorf("GET %s: status %d", path, p.StatusCode)
		}
	}
	other := h.browser(t)
	other.send(http.MethodDelete, "/api/auth/me", `{"id":"`+id+`","userId":"`+id+`"}`, "Content-Type", asJSON).want(401)
	b.get("/api/auth/me").want(200)
}

// F6: one's devices are listed, and one of them or all can be signed out;
// another's cannot (CVE-2025-61928).
func TestF6_Sessions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	phone, desk, stranger := h.browser(t), h.browser(t), h.browser(t)
	phone.header.Set("User-Agent", "Mozilla/5.0 (Linux; Android 14) Chrome/126.0 Mobile Safari/537.36")
	phone.signIn()
	desk.signIn()
	p := desk.get("/api/auth/sessions").want(200)
	if !strings.Contains(p.body, `"device":"Chrome on Android","network":"192.168.1.0/24"`) || strings.Count(p.body, `"current":true`) != 1 {
		t.Errorf("sessions %s", p.body)
	}
	id := sessionID(t, p.body, "Chrome on Android")
	h.voucher.who.Subject = "2"
	stranger.signIn()
	stranger.send(http.MethodDelete, "/api/auth/sessions/"+id, "").want(404)
	desk.send(http.MethodDelete, "/api/auth/sessions/"+id, "").want(204)
	phone.get("/api/auth/me").want(401)
	desk.send(http.MethodDelete, "/api/auth/sessions/"+id, "").want(404)
	desk.post("/api/auth/logout-all").want(204)
	if desk.access() != "" {
		t.Error("cookies remain")
	}
	stranger.get("/api/auth/me").want(200)
	stranger.send(http.MethodDelete, "/api/auth/sessions/"+sessionID(t, stranger.get("/api/auth/sessions").body, "Unknown"), "").want(204)
	if stranger.access() != "" {
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
	h := newHouse(t, func(c *web.Config) { c.Access = web.Token })
	b, out := h.browser(t), h.browser(t)
	b.signIn()
	b.get("/api/notify").want(200)
	b.get("/notify").want(401)
	out.get("/api/notify").want(401)
	out.get("/api/notify", bearer(b.access())...).want(200)
	out.get("/notify", bearer(b.access())...).want(401)
	admin := h.send(t, h.AdminHandler(), newRequest("POST", "/admin/tokens", `{"name":"door","network":"192.168.1.0/24"}`, "Content-Type", asJSON))
	token := admin.want(201, "").field("token")
	h.secret("token", token)
	out.get("/notify", bearer(token)...).want(200)
	out.get("/api/notify", bearer(token)...).want(200)
	out.get("/api/auth/me", bearer(token)...).want(401)
	out.from = "192.168.2.1:1000"
	out.get("/notify", bearer(token)...).want(401)
	list := h.send(t, h.AdminHandler(), newRequest("GET", "/admin/tokens", "")).want(200, "")
	if strings.Contains(list.Body.String(), token) || !strings.Contains(list.Body.String(), `"network":"192.168.1.0/24"`) {
		t.Errorf("tokens %s", list.Body)
	}
	h.send(t, h.AdminHandler(), newRequest("DELETE", "/admin/tokens/"+admin.field("id"), "")).want(204, "")
	h.send(t, h.AdminHandler(), newRequest("DELETE", "/admin/tokens/"+admin.field("id"), "")).want(404, "not_found")
	out.from = "192.168.1.9:1000"
	out.get("/notify", bearer(token)...).want(401)
	for _, body := range []string{`{}`, `{"name":""}`, `{"name":"x","network":"here"}`, `{"name":"x","ttl":-1}`, `{"name":"x","scope":"all"}`} {
		h.send(t, h.AdminHandler(), newRequest("POST", "/admin/tokens", body, "Content-Type", asJSON)).want(422, "")
	}
}
