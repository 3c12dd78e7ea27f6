package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
)

const phrase = "a dog in a boat"

var formAction = regexp.MustCompile(`<form method="post" action="([^"]+)"`)

// form opens the page of local accounts, as a sign-in leads to it, and is where
// its forms go.
func (b *browser) form() (action string) {
	b.t.Helper()
	to := b.get("/api/auth/idp/login").want(http.StatusFound).Header.Get("Location")
	p := b.get(to).want(http.StatusOK)
	found := formAction.FindStringSubmatch(p.body)
	if found == nil {
		b.t.Fatalf("no form in %s", p.body)
	}
	return html.UnescapeString(found[1])
}

// enter follows where a form that succeeded leads, to the end.
func (b *browser) enter(p page) {
	b.t.Helper()
	p.want(http.StatusSeeOther)
	if p = b.get(p.Header.Get("Location")).want(http.StatusSeeOther); p.Header.Get("Location") != "/" {
		b.t.Fatalf("sent to %s", p.Header.Get("Location"))
	}
}

// join makes an account and signs in with it.
func (b *browser) join(name string) {
	b.t.Helper()
	b.enter(b.submit(b.form(), "form", "create", "name", name, "passphrase", phrase))
}

// A13: an account is made and signed in to through the same flow as any
// provider's, by 303s that leave the passphrase behind.
func TestLocalAccounts(t *testing.T) {
	t.Parallel()
	h := newLocalHouse(t, auth.SignUpOpen)
	b := h.browser(t)
	b.join("  Anna ") // stray spaces are not part of it
	me := b.get("/api/auth/me").want(200)
	if me.field("name") != "Anna" || me.field("provider") != "local" {
		t.Errorf("me: %s", me.body)
	}
	again := h.browser(t)
	again.enter(again.submit(again.form(), "form", "signin", "name", "ANNA", "passphrase", phrase))
	if got := again.get("/api/auth/me").want(200); got.field("id") != me.field("id") {
		t.Errorf("me: %s, want %s", got.body, me.body)
	}
	plain := h.browser(t) // the first form needs no hidden field
	plain.enter(plain.submit(plain.form(), "name", "anna", "passphrase", phrase))
}

// Who would rather not is sent back with that.
func TestLocalCancel(t *testing.T) {
	t.Parallel()
	b := newLocalHouse(t, auth.SignUpOpen).browser(t)
	to := b.get("/api/auth/idp/login").want(http.StatusFound).Header.Get("Location")
	p := b.get(to).want(http.StatusOK)
	_, link, _ := strings.Cut(p.body, `<p><a href="`)
	link, _, _ = strings.Cut(link, `"`)
	b.get(html.UnescapeString(link)).failed(auth.CodeAccessDenied)
}

// F2, F3: what is wrong is said on the page, with status 422; of a wrong name
// no more than of a wrong passphrase.
func TestF2_WrongForms(t *testing.T) {
	t.Parallel()
	h := newLocalHouse(t, auth.SignUpOpen)
	h.browser(t).join("anna")
	for _, tt := range []struct {
		form, name, passphrase, want string
	}{
		{"create", "bert", "1234567", auth.ErrPassphraseTooShort.Error()},
		{"create", "bert", "password1", auth.ErrPassphraseTooCommon.Error()},
		{"create", "bert", strings.Repeat("x", 129), auth.ErrPassphraseTooLong.Error()},
		{"create", "", phrase, auth.ErrInvalidName.Error()},
		{"create", "ANNA", phrase, auth.ErrNameTaken.Error()},
		{"signin", "anna", "another dog", auth.ErrWrongCredentials.Error()},
		{"signin", "nobody", "another dog", auth.ErrWrongCredentials.Error()},
	} {
		b := h.browser(t)
		b.from = "127.0.0.1:1000"
		p := b.submit(b.form(), "form", tt.form, "name", tt.name, "passphrase", tt.passphrase).want(422)
		if !strings.Contains(p.body, html.EscapeString(tt.want)) || strings.Contains(p.body, `value="`+tt.passphrase) {
			t.Errorf("%+v: %s", tt, p.body)
		}
	}
	b := h.browser(t)
	b.from = "127.0.0.1:1000"
	b.enter(b.submit(b.form(), "form", "create", "name", "bert", "passphrase", strings.Repeat("ü", 64)))
}

// What is typed comes back as text.
func TestLocalPageEscapes(t *testing.T) {
	t.Parallel()
	b := newLocalHouse(t, auth.SignUpOpen).browser(t)
	p := b.submit(b.form(), "form", "signin", "name", `"><script>alert(1)</script>`, "passphrase", "another dog").want(422)
	if strings.Contains(p.body, "<script") {
		t.Error(p.body)
	}
}

// F4: who tries too often waits, is told how long, and is let in then.
func TestF4_Throttled(t *testing.T) {
	t.Parallel()
	h := newLocalHouse(t, auth.SignUpOpen)
	h.browser(t).join("alice")
	b := h.browser(t)
	b.submit(b.form(), "name", "Alice", "passphrase", "another dog").want(422)
	p := b.submit(b.form(), "name", "ALICE", "passphrase", phrase).want(429)
	if p.Header.Get("Retry-After") != "1" || !strings.Contains(p.body, "wait 1 s") {
		t.Errorf("Retry-After %s: %s", p.Header.Get("Retry-After"), p.body)
	}
	h.now.pass(time.Second)
	b.enter(b.submit(b.form(), "name", "ALICE", "passphrase", phrase))
}

// F1: without an account there is none, and where an invite is needed the form
// asks for it.
func TestF1_SignUpPolicy(t *testing.T) {
	t.Parallel()
	closed := newLocalHouse(t, auth.SignUpClosed).browser(t)
	action := closed.form()
	if p := closed.get(action); strings.Contains(p.body, "Create account") {
		t.Error("closed, and there is a form to make accounts")
	}
	p := closed.submit(action, "form", "create", "name", "anna", "passphrase", phrase).want(422)
	if !strings.Contains(p.body, auth.ErrNotInvited.Error()) {
		t.Error(p.body)
	}
	h := newLocalHouse(t, auth.SignUpInvite)
	made := h.send(t, h.AdminHandler(), newRequest("POST", "/admin/invites", "")).want(201, "").field("invite")
	b := h.browser(t)
	if p := b.get(b.form()); !strings.Contains(p.body, `name="invite"`) {
		t.Error("the form does not ask for an invite")
	}
	b.submit(b.form(), "form", "create", "name", "anna", "passphrase", phrase).want(422)
	b.enter(b.submit(b.form(), "form", "create", "name", "anna", "passphrase", phrase, "invite", made))
	b.submit(b.form(), "form", "create", "name", "bert", "passphrase", phrase, "invite", made).want(422)
}

// F5: a new passphrase needs the present one, and can end all sessions.
func TestF5_ChangePassphrase(t *testing.T) {
	t.Parallel()
	h := newLocalHouse(t, auth.SignUpOpen)
	b := h.browser(t)
	b.from = "127.0.0.1:1000"
	b.join("anna")
	change := func(body string) page {
		return b.send(http.MethodPut, "/api/auth/passphrase", body, "Content-Type", asJSON)
	}
	for body, code := range map[string]string{
		`{}`: "invalid", `{"current":"` + phrase + `","passphrase":"short"}`: "too_short",
		`{"current":"` + phrase + `","passphrase":"password"}`: "too_common",
	} {
		if p := change(body).want(422); p.field("code") != code {
			t.Errorf("%s: %s, want %s", body, p.body, code)
		}
	}
	if p := change(`{"current":"not the one","passphrase":"another dog"}`).want(422); p.field("code") != "wrong" {
		t.Errorf("by a wrong one: %s", p.body)
	}
	change(`{"current":"` + phrase + `","passphrase":"another dog"}`).want(429) // it was wrong a moment ago
	h.secret("passphrase", "another dog")

	c := h.browser(t)
	c.from = "127.0.0.1:1000"
	c.join("bert")
	elsewhere := h.browser(t)
	elsewhere.enter(elsewhere.submit(elsewhere.form(), "name", "bert", "passphrase", phrase))
	c.send(http.MethodPut, "/api/auth/passphrase", `{"current":"`+phrase+`","passphrase":"another dog"}`, "Content-Type", asJSON).want(204)
	elsewhere.get("/api/auth/me").want(200)
	c.send(http.MethodPut, "/api/auth/passphrase", `{"current":"another dog","passphrase":"a third dog","sign_out_everywhere":true}`, "Content-Type", asJSON).want(204)
	elsewhere.get("/api/auth/me").want(401)
	if c.access() != "" {
		t.Error("cookies remain")
	}
	other := newHouse(t).browser(t)
	other.signIn()
	other.send(http.MethodPut, "/api/auth/passphrase", `{"current":"x","passphrase":"another dog"}`, "Content-Type", asJSON).want(404)
}

// F6: the operator lists people, shuts them out and gives them another
// passphrase.
func TestF6_Administration(t *testing.T) {
	t.Parallel()
	h := newLocalHouse(t, auth.SignUpOpen)
	b := h.browser(t)
	b.join("anna")
	admin := func(method, path, body string) reply {
		return h.send(t, h.AdminHandler(), newRequest(method, path, body, "Content-Type", asJSON))
	}
	id := b.get("/api/auth/me").field("id")
	if list := admin("GET", "/admin/users", "").want(200, ""); !strings.Contains(list.Body.String(), id) {
		t.Errorf("users %s", list.Body)
	}
	given := admin("POST", "/admin/passphrases", `{"name":"Anna"}`).want(200, "").field("passphrase")
	b.get("/api/auth/me").want(401)
	b.enter(b.submit(b.form(), "name", "anna", "passphrase", given))
	admin("PATCH", "/admin/users/"+id, `{"disabled":true}`).want(204, "")
	b.get("/api/auth/me").want(401)
	p := b.submit(b.form(), "name", "anna", "passphrase", given).want(http.StatusSeeOther)
	b.get(p.Header.Get("Location")).failed(auth.CodeAccountDisabled)
	admin("PATCH", "/admin/users/nobody", `{"disabled":true}`).want(404, "not_found")
	admin("POST", "/admin/passphrases", `{"name":"nobody"}`).want(404, "not_found")
	admin("PATCH", "/admin/users/"+id, `{"admin":true}`).want(422, "")
}

// F11: the token page of the local provider is nowhere on the network.
func TestF11_NoTokenPage(t *testing.T) {
	t.Parallel()
	b := newLocalHouse(t, auth.SignUpOpen).browser(t)
	for _, path := range []string{"/api/auth/local/token", "/api/auth/local/userinfo", "/token", "/userinfo"} {
		b.post(path).want(404)
	}
	foreign := newHouse(t).browser(t)
	foreign.get(auth.AuthorizePath).want(404)
}

// F13: the page has no script, one style that is known by its hash, and forms
// that end here or in the client.
func TestF13_ContentSecurityPolicy(t *testing.T) {
	t.Parallel()
	for frontend, ends := range map[string]string{"": "'self'", "http://pressbox.local:3000": "'self' http://pressbox.local:3000"} {
		b := newLocalHouse(t, auth.SignUpOpen, func(c *web.Config) { c.SignIn.Frontend = frontend }).browser(t)
		p := b.get(b.form()).want(200)
		_, style, _ := strings.Cut(p.body, "<style>")
		style, _, _ = strings.Cut(style, "</style>")
		sum := sha256.Sum256([]byte(style))
		want := fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; form-action %s; frame-ancestors 'none'; base-uri 'none'",
			base64.StdEncoding.EncodeToString(sum[:]), ends)
		if got := p.Header.Get("Content-Security-Policy"); got != want || style == "" {
			t.Errorf("Content-Security-Policy: %s, want %s", got, want)
		}
		if strings.Contains(p.body, "<script") || strings.Contains(p.body, " style=") || strings.Contains(p.body, " on") && strings.Contains(p.body, "onclick") {
			t.Error("the page has a script")
		}
	}
}

// The page shows itself for a sign-in that was begun here, to the letter
// (CVE-2026-28512).
func TestLocalPageNeedsARequest(t *testing.T) {
	t.Parallel()
	b := newLocalHouse(t, auth.SignUpOpen).browser(t)
	b.get(auth.AuthorizePath).want(400)
	action := b.form()
	b.get(strings.Replace(action, "pressbox.local", "pressbox.local%40evil.example", 1)).want(400)
	b.submit(strings.Replace(action, "S256", "plain", 1), "name", "a", "passphrase", "b").want(400)
	b.send(http.MethodPost, action, `{"name":"a"}`, "Content-Type", asJSON).want(415)
	b.send(http.MethodPost, action, "name=a&passphrase="+strings.Repeat("b", 70_000), "Content-Type", "application/x-www-form-urlencoded").want(413)
	// A page of another site can make nobody sign in as somebody else.
	b.send(http.MethodPost, action, "name=a&passphrase=b", "Content-Type", "application/x-www-form-urlencoded", "Origin", "http://evil").want(403)
}

// Whatever the cookies and the header, the answer is 200 or 401 (or the header
// is too odd for HTTP at all).
func FuzzCredentials(f *testing.F) {
	for _, seed := range [][2]string{{"", ""}, {"pressbox_access=x", ""}, {"", "Bearer x"}, {`pressbox_access="a;b`, "Basic"}, {"a=b;;=;pressbox_access=", "\t"}} {
		f.Add(seed[0], seed[1])
	}
	h := newHouse(f)
	f.Fuzz(func(t *testing.T, cookie, header string) {
		r := newRequest("GET", "/api/auth/me", "")
		r.Header["Cookie"] = []string{cookie}
		if header != "" {
			r.Header["Authorization"] = []string{header}
		}
		h.send(t, h.Handler(), r).want(401, "")
	})
}

// Whatever the callback's query, the browser ends on the client's page.
func FuzzCallback(f *testing.F) {
	for _, seed := range []string{"", "state=a&code=b", "state=a&state=b", "error=<script>", "%zz", "state=%00&iss=x", ";"} {
		f.Add(seed)
	}
	h := newHouse(f)
	f.Fuzz(func(t *testing.T, query string) {
		r := newRequest("GET", callbackURL, "")
		r.URL.RawQuery = query
		w := h.send(t, h.Handler(), r)
		to, err := url.Parse(w.Header().Get("Location"))
		if w.Code != http.StatusSeeOther || err != nil || to.Path != "/auth/callback" || to.Host != "" {
			t.Errorf("%q: status %d, to %v", query, w.Code, errors.Join(err, errors.New(w.Header().Get("Location"))))
		}
	})
}
