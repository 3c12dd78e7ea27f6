package session_test

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/auth"
)

// A1: a state is 256 random bits, and no two are the same.
func TestA1_StateIsRandom(t *testing.T) {
	t.Parallel()
	h, seen := newHouse(t), make(map[string]bool)
	for range 1000 {
		state := h.begin().State
		raw, err := base64.RawURLEncoding.DecodeString(state)
		if err != nil || len(raw) != 32 || len(state) != 43 {
			t.Fatalf("state %q: %d bytes, %v; want 32 bytes in 43 characters", state, len(raw), err)
		}
		seen[state] = true
	}
	if len(seen) != 1000 {
		t.Errorf("1000 sign-ins have %d states", len(seen))
	}
}

// A2: a state serves once, for ten minutes, whatever comes of it.
func TestA2_StateServesOnce(t *testing.T) {
	t.Parallel()
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		begun := h.begin()
		if _, err := h.Finish(t.Context(), back(begun)); err != nil {
			t.Fatal(err)
		}
		h.refused(back(begun), auth.CodeInvalidState)
	})
	t.Run("late", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		begun, inTime := h.begin(), h.begin()
		h.machine.pass(auth.FlowTTL)
		if _, err := h.Finish(t.Context(), back(inTime)); err != nil {
			t.Fatalf("at ten minutes: %v", err)
		}
		h.machine.pass(time.Second)
		late := back(begun)
		late.Binding = "" // its cookie has expired too
		h.refused(late, auth.CodeStateExpired)
	})
	t.Run("exchange fails", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		begun := h.begin()
		h.idp.err = &auth.RefusalError{Code: auth.CodeExchangeFailed}
		h.refused(back(begun), auth.CodeExchangeFailed)
		h.idp.err = nil
		h.refused(back(begun), auth.CodeInvalidState)
	})
	t.Run("at once", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		begun := h.begin()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { _, _ = h.Finish(t.Context(), back(begun)) })
		}
		wg.Wait()
		if n := len(h.idp.codes); n != 1 {
			t.Errorf("20 callbacks with one state: %d exchanges, want 1", n)
		}
	})
}

// A3: a state serves the browser that began, and no other.
func TestA3_StateIsBoundToTheBrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	other := h.begin()
	for name, binding := range map[string]string{
		"none": "", "garbage": "x", "another flow's": other.Binding,
	} {
		c := back(h.begin())
		c.Binding = binding
		h.refused(c, auth.CodeBrowserMismatch)
		if len(h.idp.codes) != 0 {
			t.Errorf("binding %s: the code was exchanged", name)
		}
	}
}

// A4, A7: verifier and nonce are each flow's own and stay on the server.
func TestA4_VerifierStays(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.signIn()
	h.signIn()
	asked, exchanged, again := h.idp.flows[0], h.idp.flows[1], h.idp.flows[2]
	if asked != exchanged {
		t.Errorf("asked with %+v, exchanged with %+v", asked, exchanged)
	}
	if asked.Verifier == again.Verifier || asked.Nonce == again.Nonce || len(asked.Verifier) < 43 {
		t.Errorf("two flows with verifiers %q, %q", asked.Verifier, again.Verifier)
	}
	if begun := h.begin(); strings.Contains(begun.URL, h.idp.flows[4].Verifier) {
		t.Errorf("the verifier is in %s", begun.URL)
	}
}

// A5: the redirect URI of the exchange is the one of the request.
func TestA5_RedirectURIIsTheSame(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.signIn()
	for _, flow := range h.idp.flows {
		if flow.Redirect != "https://box.example/cb" {
			t.Errorf("redirect URI %q", flow.Redirect)
		}
	}
}

// A6: an answer from another issuer, or from none where there always is one, is
// refused, errors included; so is a flow begun with another provider.
func TestA6_MixUp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, issuer, got, errorGiven string
		always                        bool
		want                          auth.Code // "": let in
	}{
		{"unknown", "", "", "", false, ""},
		{"right", "https://idp.example", "https://idp.example", "", true, ""},
		{"not sent, not promised", "https://idp.example", "", "", false, ""},
		{"not sent though promised", "https://idp.example", "", "", true, auth.CodeIssuerMismatch},
		{"another", "https://idp.example", "https://evil", "", false, auth.CodeIssuerMismatch},
		{"another by a slash", "https://idp.example", "https://idp.example/", "", true, auth.CodeIssuerMismatch},
		{"another's error", "https://idp.example", "https://evil", "access_denied", true, auth.CodeIssuerMismatch},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.idp.issuer, h.idp.always = tt.issuer, tt.always
			c := back(h.begin())
			c.Issuer, c.Error = tt.got, tt.errorGiven
			if tt.want != "" {
				h.refused(c, tt.want)
				return
			}
			if _, err := h.Finish(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("begun with another provider", func(t *testing.T) { // GHSA-x445-f3h2-j279
		t.Parallel()
		h := newHouse(t)
		begun := h.begin()
		h.ProviderName = "another"
		h.refused(back(begun), auth.CodeInvalidState)
	})
}

// A8: the way back is a path in the client, or its default.
func TestA8_NoOpenRedirect(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/lobby": "/lobby", "/games/7?side=home": "/games/7?side=home", "/": "/",
		"": "", "lobby": "", "//evil": "", "///evil": "", `/\evil`: "", `\\evil`: "", "/%09/evil": "", "/%5cevil": "",
		"/%2f/evil": "", "https:evil": "", "https://evil/": "", "/./..//evil": "", "/a/../b": "", "/a//b": "",
		"javascript:alert(1)": "", "/\tevil": "", "/ evil": "", "/a\r\nSet-Cookie:x": "", "/a#b": "", "/é": "",
		"/" + strings.Repeat("a", 600): "", "/%zz": "",
	} {
		if got := auth.ReturnPath(in); got != want {
			t.Errorf("ReturnPath(%q) = %q, want %q", in, got, want)
		}
	}
	h := newHouse(t)
	begun, err := h.Begin(t.Context(), auth.FlowOptions{Redirect: "x", Return: "/games/7"})
	if err != nil {
		t.Fatal(err)
	}
	granted, err := h.Finish(t.Context(), back(begun))
	if err != nil || granted.Return != "/games/7" {
		t.Errorf("returned to %q, %v", granted.Return, err)
	}
}

// A9: however many begin, so many are kept; the newest can finish.
func TestA9_StatesAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.begin()
	var last auth.StartedFlow
	for range 600 {
		h.machine.pass(time.Millisecond)
		last = h.begin()
		if n := h.keeper.count("auth_state"); n > auth.MaxPendingFlows {
			t.Fatalf("%d states are kept, want at most %d", n, auth.MaxPendingFlows)
		}
	}
	h.refused(back(first), auth.CodeInvalidState)
	if _, err := h.Finish(t.Context(), back(last)); err != nil {
		t.Errorf("the newest: %v", err)
	}
	h.machine.pass(3 * auth.FlowTTL)
	if err := h.Sessions.DeleteExpired(t.Context()); err != nil || h.keeper.count("auth_state") != 0 {
		t.Errorf("after a sweep %d states remain, %v", h.keeper.count("auth_state"), err)
	}
}

// A9: a callback with an invented state costs no write.
func TestA9_UnknownStateCostsNoWrite(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	before := h.keeper.writes
	h.refused(auth.Callback{State: auth.NewSecret(), Code: "c", Binding: "b"}, auth.CodeInvalidState)
	if h.keeper.writes != before {
		t.Errorf("%d writes, want none", h.keeper.writes-before)
	}
}

// A10: the provider's errors become ours.
func TestA10_ErrorsAreMapped(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]auth.Code{
		"access_denied": auth.CodeAccessDenied, "login_required": auth.CodeAccessDenied,
		"zzz": auth.CodeProviderError, "<script>": auth.CodeProviderError, "server_error": auth.CodeProviderError,
	} {
		h := newHouse(t)
		c := back(h.begin())
		c.Error, c.Code = given, ""
		h.refused(c, want)
		if strings.Contains(want.Description(), given) {
			t.Errorf("%q is echoed", given)
		}
	}
	for _, code := range auth.Codes() {
		if code != auth.CodeServerError && code.Description() == auth.CodeServerError.Description() {
			t.Errorf("%s has no description", code)
		}
	}
}

// A11: parameters that are missing, doubled or absurd are refused.
func TestA11_Parameters(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.refused(auth.Callback{}, auth.CodeInvalidState)
	c := back(h.begin())
	c.Code = ""
	h.refused(c, auth.CodeProviderError)
	for _, query := range []string{
		"state=a&state=b&code=c", "state=a&code=c&code=d", "iss=a&iss=b", "state=a&code=" + strings.Repeat("c", 100_000),
	} {
		if _, err := auth.ParseCallback(values(t, query)); auth.CodeOf(err) != auth.CodeInvalidState {
			t.Errorf("ParseCallback(%.40q): %v, want a refusal", query, err)
		}
	}
	got, err := auth.ParseCallback(values(t, "state=a&code=b%2Fc&iss=d&error=e&extra=f&extra=g"))
	if want := (auth.Callback{State: "a", Code: "b/c", Issuer: "d", Error: "e"}); err != nil || !same(got, want) {
		t.Errorf("ParseCallback = %+v, %v; want %+v", got, err, want)
	}
}

func values(t *testing.T, query string) url.Values {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func same(a, b auth.Callback) bool {
	return a.State == b.State && a.Code == b.Code && a.Issuer == b.Issuer && a.Error == b.Error
}

// A14: signing in again ends what this browser had, and nothing else
// (CVE-2026-34454).
func TestA14_SignInReplacesTheSession(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	elsewhere, first := h.signIn(), h.signIn()
	second := h.signIn(first.Access, first.Refresh)
	h.mustBeOut(first.Access)
	h.notRefreshed(first.Refresh, auth.ErrSessionEnded)
	h.mustBeIn(second.Access)
	h.mustBeIn(elsewhere.Access)
	h.idp.who.Subject = "2"
	third := h.signIn(second.Access)
	h.mustBeOut(second.Access)
	h.mustBeIn(third.Access)
}

// An identity is a provider, an issuer and a subject; names are for display
// (GHSA-g38m-r43w-p2q7).
func TestCVE_IdentityIsNeverAName(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	anna := h.signIn().Account
	h.idp.who.Name = "Anna Maria"
	if again := h.signIn().Account; again.ID != anna.ID || again.Name != "Anna Maria" {
		t.Errorf("the same subject is %+v, want %s with its new name", again, anna.ID)
	}
	for _, who := range []auth.Identity{
		{Provider: "test", Subject: "2", Name: "Anna"},
		{Provider: "test", Issuer: "x", Subject: "1", Name: "Anna"},
		{Provider: "other", Subject: "1", Name: "Anna"},
		{Provider: "test", Issuer: "", Subject: "Anna", Name: "1"},
	} {
		h.idp.who = who
		if other := h.signIn().Account; other.ID == anna.ID {
			t.Errorf("%+v is taken for %+v", who, anna)
		}
	}
}

// Who may have an account: anybody, the invited, or those who have one.
func TestSignUp(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	known := h.idp.who
	h.signIn()
	stranger := auth.Identity{Provider: "test", Subject: "9", Name: "Zoe"}

	h.SignUp, h.idp.who = auth.SignUpClosed, stranger
	h.refused(back(h.begin()), auth.CodeNotInvited)
	h.idp.who = known
	h.signIn()

	h.SignUp, h.idp.who = auth.SignUpInvite, stranger
	h.refused(back(h.begin()), auth.CodeNotInvited)
	invite, err := h.Sessions.CreateInvite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	with := func(invite string) auth.Callback {
		begun, err := h.Begin(t.Context(), auth.FlowOptions{Redirect: "x", Invite: invite})
		if err != nil {
			t.Fatal(err)
		}
		return back(begun)
	}
	if _, err := h.Finish(t.Context(), with(invite.Reveal())); err != nil {
		t.Fatalf("invited: %v", err)
	}
	h.idp.who.Subject = "10"
	h.refused(with(invite.Reveal()), auth.CodeNotInvited) // F1: once
	late, err := h.Sessions.CreateInvite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.machine.pass(auth.InviteTTL + time.Second)
	h.refused(with(late.Reveal()), auth.CodeNotInvited) // F1: for a week
}

// A full disk lets nobody in and says so as our own fault.
func TestDoorWithoutDisk(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	begun := h.begin()
	h.keeper.full = true
	if _, err := h.Begin(t.Context(), auth.FlowOptions{}); err == nil || auth.CodeOf(err) != auth.CodeServerError {
		t.Errorf("begin: %v, want server_error", err)
	}
	h.refused(back(begun), auth.CodeServerError)
}

// A refusal keeps its cause for the log and its code for the client.
func TestRefusal(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	err := auth.Refuse(auth.CodeUnreachable, cause)
	if !errors.Is(err, cause) || auth.CodeOf(auth.Refuse(auth.CodeServerError, err)) != auth.CodeUnreachable {
		t.Errorf("%v loses its cause or its code", err)
	}
}
