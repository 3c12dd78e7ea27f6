package signin_test

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// Local accounts sign in through the flow of any provider, by redirects with 303.
func TestLocal_accounts(t *testing.T) {
	t.Parallel()
	h := webtest.NewLocalRig(t, auth.SignUpOpen)
	b := h.Browser(t)
	b.CreateAccount("  Anna ") // surrounding spaces are trimmed
	me := b.Get("/api/auth/me").Want(200)
	check.That(t, me.Field("name") == "Anna" && me.Field("provider") == "local", "me: %s", me.Text)
	again := h.Browser(t)
	again.FollowForm(again.Submit(again.LocalForm(),
		"form", "signin", "name", "ANNA", "passphrase", webtest.Passphrase))
	check.Equal(t, again.Get("/api/auth/me").Want(200).Field("id"), me.Field("id"), "id")
	plain := h.Browser(t) // the field form is optional
	plain.FollowForm(plain.Submit(plain.LocalForm(), "name", "anna", "passphrase", webtest.Passphrase))
}

// Cancel redirects with access_denied.
func TestLocal_cancel(t *testing.T) {
	t.Parallel()
	b := webtest.NewLocalRig(t, auth.SignUpOpen).Browser(t)
	to := b.Get("/api/auth/idp/login").Want(http.StatusFound).Header.Get("Location")
	p := b.Get(to).Want(http.StatusOK)
	_, link, _ := strings.Cut(p.Text, `<p><a href="`)
	link, _, _ = strings.Cut(link, `"`)
	b.Get(html.UnescapeString(link)).WantError(auth.CodeAccessDenied)
}

// The page shows the error with status 422; an unknown name and a wrong
// passphrase look the same. The submitted name is escaped.
func TestLocal_formErrors(t *testing.T) {
	t.Parallel()
	h := webtest.NewLocalRig(t, auth.SignUpOpen)
	h.Browser(t).CreateAccount("anna")
	for _, tt := range []struct {
		form, name, passphrase, want string
	}{
		{"create", "bert", "1234567", "at least 8 characters"},
		{"create", "bert", "password1", "most common ones"},
		{"create", "bert", strings.Repeat("x", 129), "at most 128 characters"},
		{"create", "", webtest.Passphrase, "1 to 40 printable characters"},
		{"create", "ANNA", webtest.Passphrase, "name is taken"},
		{"signin", "anna", "another dog", "passphrase is wrong"},
		{"signin", "unknown", "another dog", "passphrase is wrong"},
		{"signin", `"><script>alert(1)</script>`, "another dog", "passphrase is wrong"},
	} {
		b := h.Browser(t)
		b.From = "127.0.0.1:1000"
		p := b.Submit(b.LocalForm(), "form", tt.form, "name", tt.name, "passphrase", tt.passphrase).Want(422)
		check.That(t, strings.Contains(p.Text, html.EscapeString(tt.want)) &&
			!strings.Contains(p.Text, `value="`+tt.passphrase) && !strings.Contains(p.Text, "<script"),
			"%+v: %s", tt, p.Text)
	}
	b := h.Browser(t)
	b.From = "127.0.0.1:1000"
	b.FollowForm(b.Submit(b.LocalForm(), "form", "create", "name", "bert", "passphrase", strings.Repeat("ü", 64)))
}

// Repeated failures are throttled; the page shows the time to wait.
func TestLocal_throttled(t *testing.T) {
	t.Parallel()
	h := webtest.NewLocalRig(t, auth.SignUpOpen)
	h.Browser(t).CreateAccount("alice")
	b := h.Browser(t)
	b.Submit(b.LocalForm(), "name", "Alice", "passphrase", "another dog").Want(422)
	p := b.Submit(b.LocalForm(), "name", "ALICE", "passphrase", webtest.Passphrase).Want(429)
	check.That(t, p.Header.Get("Retry-After") == "1" && strings.Contains(p.Text, "wait 1 s"),
		"Retry-After %s: %s", p.Header.Get("Retry-After"), p.Text)
	h.Clock.Pass(time.Second)
	b.FollowForm(b.Submit(b.LocalForm(), "name", "ALICE", "passphrase", webtest.Passphrase))
}

// Closed sign-up offers no form; sign-up by invite requires an unused invite.
func TestLocal_signUpPolicy(t *testing.T) {
	t.Parallel()
	closed := webtest.NewLocalRig(t, auth.SignUpClosed).Browser(t)
	check.That(t, !strings.Contains(closed.Get(closed.LocalForm()).Text, "Create account"), "the page has a form")
	check.Contains(t, create(closed, "anna").Want(422).Text, "needs a valid invite", "the page")
	h := webtest.NewLocalRig(t, auth.SignUpInvite)
	made := h.Administer(t, "POST", "/admin/invites", "").Want(201).Field("invite")
	b := h.Browser(t)
	check.Contains(t, b.Get(b.LocalForm()).Text, `name="invite"`, "the form")
	create(b, "anna").Want(422)
	b.FollowForm(create(b, "anna", "invite", made))
	create(b, "bert", "invite", made).Want(422)
}

// create submits the form of a new account; more alternates names and values of its fields.
func create(b *webtest.Browser, name string, more ...string) webtest.Page {
	b.T.Helper()
	fields := []string{"form", "create", "name", name, "passphrase", webtest.Passphrase}
	return b.Submit(b.LocalForm(), append(fields, more...)...)
}

// From outside of the local network, SIGN_UP=open asks for an invite, which a link to the sign-in can contain.
func TestLocal_inviteLink(t *testing.T) {
	t.Parallel()
	h := webtest.NewLocalRig(t, auth.SignUpLocal)
	here := h.Browser(t)
	check.That(t, !strings.Contains(here.Get(here.LocalForm()).Text, `name="invite"`), "a local client is asked")
	here.CreateAccount("anna")
	invite := h.Administer(t, "POST", "/admin/invites", "").Want(201).Field("invite")
	away := h.Browser(t)
	away.From = webtest.ForeignClient
	create(away, "bert").Want(422)
	form := away.Get(away.Get("/api/auth/idp/login?invite=" + invite).Want(302).Header.Get("Location")).Want(200)
	check.That(t, strings.Contains(form.Text, `name="invite"`) && strings.Contains(form.Text, `value="`+invite+`"`),
		"the form has no invite: %s", form.Text)
	away.FollowForm(create(away, "bert", "invite", invite))
	away.Get("/api/auth/me").Want(200)
}

// Another provider never receives the invite, and the callback uses it up.
func TestFlow_inviteOfProvider(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.SignIn.SignIn.SignUp = auth.SignUpLocal })
	invite := h.Administer(t, "POST", "/admin/invites", "").Want(201).Field("invite")
	b := h.Browser(t)
	b.From = webtest.ForeignClient
	b.Callback(b.Begin(), "code "+auth.NewSecret()).WantError(auth.CodeNotInvited)
	to := b.Get("/api/auth/idp/login?invite=" + invite).Want(302)
	check.That(t, !strings.Contains(to.Header.Get("Location"), invite),
		"the provider receives the invite: %s", to.Header.Get("Location"))
	b.Callback(to.Query("state"), "code "+auth.NewSecret()).Want(303)
	b.Get("/api/auth/me").Want(200)
}

// A new passphrase requires the current one and can end all sessions.
func TestChangePassphrase_sessions(t *testing.T) {
	t.Parallel()
	h := webtest.NewLocalRig(t, auth.SignUpOpen)
	change := func(b *webtest.Browser, body string) webtest.Page {
		body = strings.Replace(body, "present", webtest.Passphrase, 1)
		return b.Send(http.MethodPut, "/api/auth/passphrase", body, "Content-Type", webtest.AsJSON)
	}
	b, c, elsewhere := h.Browser(t), h.Browser(t), h.Browser(t)
	b.From, c.From = "127.0.0.1:1000", "127.0.0.1:1000"
	b.CreateAccount("anna")
	change(b, `{}`).Want(422, "invalid")
	change(b, `{"current":"present","passphrase":"short"}`).Want(422, "too_short")
	change(b, `{"current":"present","passphrase":"password"}`).Want(422, "too_common")
	change(b, `{"current":"not the one","passphrase":"another dog"}`).Want(422, "wrong")
	change(b, `{"current":"present","passphrase":"another dog"}`).Want(429) // throttled after the wrong one
	h.Secret("passphrase", "another dog")

	c.CreateAccount("bert")
	elsewhere.FollowForm(elsewhere.Submit(elsewhere.LocalForm(), "name", "bert", "passphrase", webtest.Passphrase))
	change(c, `{"current":"present","passphrase":"another dog"}`).Want(204)
	elsewhere.Get("/api/auth/me").Want(200)
	change(c, `{"current":"another dog","passphrase":"a third dog","sign_out_everywhere":true}`).Want(204)
	elsewhere.Get("/api/auth/me").Want(401)
	check.That(t, c.AccessToken() == "", "cookies remain")
	other := webtest.NewSignInRig(t).Browser(t)
	other.SignIn()
	change(other, `{"current":"x","passphrase":"another dog"}`).Want(404)
}

// The administrator lists accounts, disables them and resets passphrases.
func TestAdmin_accounts(t *testing.T) {
	t.Parallel()
	h := webtest.NewLocalRig(t, auth.SignUpOpen)
	b := h.Browser(t)
	b.CreateAccount("anna")
	admin := func(method, path, body string) webtest.Page { return h.Administer(t, method, path, body) }
	id := b.Get("/api/auth/me").Field("id")
	check.Contains(t, admin("GET", "/admin/users", "").Want(200).Text, id, "users")
	given := admin("POST", "/admin/passphrases", `{"name":"Anna"}`).Want(200).Field("passphrase")
	b.Get("/api/auth/me").Want(401)
	b.FollowForm(b.Submit(b.LocalForm(), "name", "anna", "passphrase", given))
	admin("PATCH", "/admin/users/"+id, `{"disabled":true}`).Want(204)
	b.Get("/api/auth/me").Want(401)
	p := b.Submit(b.LocalForm(), "name", "anna", "passphrase", given).Want(http.StatusSeeOther)
	b.Get(p.Header.Get("Location")).WantError(auth.CodeAccountDisabled)
	admin("PATCH", "/admin/users/unknown", `{"disabled":true}`).Want(404, "not_found")
	admin("POST", "/admin/passphrases", `{"name":"unknown"}`).Want(404, "not_found")
	admin("PATCH", "/admin/users/"+id, `{}`).Want(422)
	admin("PATCH", "/admin/users/"+id, `{"disabled":false,"admin":true}`).Want(204)
	list := admin("GET", "/admin/users", "").Want(200)
	check.Contains(t, list.Text, `"admin":true,"disabled":false`, "users")
}

// The local provider has no token endpoint.
func TestLocal_noTokenEndpoint(t *testing.T) {
	t.Parallel()
	b := webtest.NewLocalRig(t, auth.SignUpOpen).Browser(t)
	for _, path := range []string{"/api/auth/local/token", "/api/auth/local/userinfo", "/token", "/userinfo"} {
		b.Post(path).Want(404)
	}
	foreign := webtest.NewSignInRig(t).Browser(t)
	foreign.Get(auth.AuthorizePath).Want(404)
}

// The page has no script, and the style of the page; its forms end at the server or in the web client.
func TestLocal_contentSecurityPolicy(t *testing.T) {
	t.Parallel()
	for frontend, ends := range map[string]string{
		"": "'self'", "http://pressbox.local:3000": "'self' http://pressbox.local:3000",
	} {
		b := webtest.NewLocalRig(t, auth.SignUpOpen, func(c *site.Config) { c.SignIn.Frontend = frontend }).Browser(t)
		p := b.Get(b.LocalForm()).Want(200)
		want := "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; form-action " +
			ends + "; frame-ancestors 'none'; base-uri 'none'"
		check.Equal(t, p.Header.Get("Content-Security-Policy"), want, "Content-Security-Policy")
		if strings.Contains(p.Text, "<script") || strings.Contains(p.Text, "<style") ||
			strings.Contains(p.Text, " style=") || strings.Contains(p.Text, " on") &&
			strings.Contains(p.Text, "onclick") {
			t.Error("the page has a script")
		}
	}
}

// The page requires an unmodified authorization request (CVE-2026-28512).
func TestLocal_invalidRequest(t *testing.T) {
	t.Parallel()
	b := webtest.NewLocalRig(t, auth.SignUpOpen).Browser(t)
	b.Get(auth.AuthorizePath).Want(400)
	action := b.LocalForm()
	b.Get(strings.Replace(action, "pressbox.local", "pressbox.local%40evil.example", 1)).Want(400)
	b.Submit(strings.Replace(action, "S256", "plain", 1), "name", "a", "passphrase", "b").Want(400)
	b.Send(http.MethodPost, action, `{"name":"a"}`, "Content-Type", webtest.AsJSON).Want(415)
	b.Send(http.MethodPost, action, "name=a&passphrase="+strings.Repeat("b", 70_000),
		"Content-Type", "application/x-www-form-urlencoded").Want(413)
	// A page of another site cannot submit the form.
	b.Send(http.MethodPost, action, "name=a&passphrase=b",
		"Content-Type", "application/x-www-form-urlencoded", "Origin", "http://evil").Want(403)
}

// Any cookies and header without a valid token are refused.
func FuzzCredentials(f *testing.F) {
	for _, seed := range [][2]string{
		{"", ""},
		{"pressbox_access=x", ""},
		{"", "Bearer x"},
		{`pressbox_access="a;b`, "Basic"},
		{"a=b;;=;pressbox_access=", "\t"},
	} {
		f.Add(seed[0], seed[1])
	}
	h := webtest.NewSignInRig(f)
	f.Fuzz(func(t *testing.T, cookie, header string) {
		r := webtest.NewRequest("GET", "/api/auth/me", "")
		r.Header["Cookie"] = []string{cookie}
		if header != "" {
			r.Header["Authorization"] = []string{header}
		}
		h.Send(t, h.Handler(), r).Want(401)
	})
}

// Any query of the callback leads to the client's page.
func FuzzCallback(f *testing.F) {
	for _, seed := range []string{
		"", "state=a&code=b", "state=a&state=b", "error=<script>", "%zz", "state=%00&iss=x", ";",
	} {
		f.Add(seed)
	}
	h := webtest.NewSignInRig(f)
	f.Fuzz(func(t *testing.T, query string) {
		r := webtest.NewRequest("GET", callbackURL, "")
		r.URL.RawQuery = query
		w := h.Send(t, h.Handler(), r)
		to, err := url.Parse(w.Header.Get("Location"))
		check.That(t, w.StatusCode == http.StatusSeeOther && err == nil && to.Path == "/auth/callback" && to.Host == "",
			"%q: status %d, to %v", query, w.StatusCode, errors.Join(err, errors.New(w.Header.Get("Location"))))
	})
}

// The pages are in the language of the page, texts and errors.
func TestLocal_language(t *testing.T) {
	t.Parallel()
	b := webtest.NewLocalRig(t, auth.SignUpInvite).Browser(t)
	b.From = "127.0.0.1:1000"
	action := b.LocalForm()
	german := func(method, path, body string, want int) string {
		t.Helper()
		headers := []string{"Accept-Language", "de"}
		if body != "" {
			headers = append(headers, "Content-Type", "application/x-www-form-urlencoded")
		}
		p := b.Send(method, path, body, headers...).Want(want)
		check.That(t, strings.Contains(p.Text, `<html lang="de">`) && p.Header.Get("Content-Language") == "de",
			"%s %s: %s", method, path, p.Text)
		return p.Text
	}
	text := german("GET", action, "", 200)
	for _, want := range []string{"<h1>Anmelden<", "Konto anlegen", "Abbrechen", "Einladung", "Mindestens 8 Zeichen"} {
		check.Contains(t, text, want, "the page")
	}
	text = german("POST", action, "name=anna&passphrase=unknown+dog", 422)
	check.Contains(t, text, "Name oder Passphrase ist falsch.", "the page")
	check.Contains(t, german("GET", auth.AuthorizePath+"?x=1", "", 400), "Nicht angemeldet", "the page")
}

// A token is valid from its network in any notation; invalid networks and names are refused.
func TestCreateToken_network(t *testing.T) {
	t.Parallel()
	h := webtest.NewSignInRig(t, func(c *site.Config) { c.Access = web.Token })
	for network, want := range map[string]string{
		"192.168.1.7/24":         "192.168.1.0/24",
		"192.168.1.20":           "192.168.1.20/32",
		"::ffff:192.168.1.0/120": "192.168.1.0/24",
		"::ffff:192.168.1.20":    "192.168.1.20/32",
		"fd00::1/64":             "fd00::/64",
		"fd00::1":                "fd00::1/128",
	} {
		body := fmt.Sprintf(`{"name": "x", "network": %q}`, network)
		created := h.Administer(t, "POST", "/admin/tokens", body).Want(201)
		check.Equal(t, created.Field("network"), want, "network %s", network)
		status := map[bool]int{true: 200, false: 401}[strings.HasPrefix(want, "192")]
		h.Do(t, "GET", "/notify", "", webtest.Bearer(created.Field("token"))...).Want(status)
	}
	for body, want := range map[string]string{
		`{}`:                            "/name required",
		`{"name": "x", "scope": "all"}`: "/scope unknown_field",
		`{"name": ""}`:                  "/name too_short",
		`{"name": "` + strings.Repeat("ä", 101) + `"}`: "/name too_long",
		`{"name": "x", "network": "here"}`:             "/network invalid",
		`{"name": "x", "network": "10.0.0.0/33"}`:      "/network invalid",
		`{"name": "x", "network": "::ffff:0:0/95"}`:    "/network invalid",
		`{"name": "x", "ttl": -1}`:                     "/ttl out_of_range",
	} {
		w := h.Administer(t, "POST", "/admin/tokens", body).Want(422)
		check.Equal(t, w.Violations(), want, "%.60s", body)
	}
}
