package idp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/idp"
	"pressbox/auth/session"
	"pressbox/clock"
)

// rows is an auth.Keeper in memory, for one goroutine's writes at a time.
type rows struct {
	mu sync.Mutex
	m  map[string][]byte
}

func (k *rows) View(_ context.Context, look func(auth.Tx) error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return look(k)
}

func (k *rows) Update(ctx context.Context, change func(auth.Tx) error) error {
	return k.View(ctx, change)
}

func (k *rows) Get(table auth.Table, key []byte) []byte { return k.m[string(table)+string(key)] }

func (k *rows) Put(table auth.Table, key, value []byte) error {
	k.m[string(table)+string(key)] = value
	return nil
}

func (k *rows) Delete(table auth.Table, key []byte) error {
	delete(k.m, string(table)+string(key))
	return nil
}

func (k *rows) Each(table auth.Table, prefix []byte, visit func(key, value []byte) error) error {
	for key, value := range k.m {
		if rest, ok := strings.CutPrefix(key, string(table)); ok && strings.HasPrefix(rest, string(prefix)) {
			if err := visit([]byte(rest), value); err != nil {
				return err
			}
		}
	}
	return nil
}

// home is the appliance's own accounts.
type home struct {
	*idp.Local
	t    *testing.T
	now  time.Time
	log  bytes.Buffer
	book *session.Sessions
}

const (
	callback = "http://box.local:8888/api/auth/idp/callback/server"
	phrase   = "a dog in a boat"
)

func newHome(t *testing.T, signUp auth.SignUpPolicy) *home {
	t.Helper()
	h := &home{t: t, now: time.Now()}
	now := func() time.Time { return h.now }
	boot := h.now
	clock := clock.New(clock.Source{
		Wall: now, Since: func() time.Duration { return h.now.Sub(boot) }, Boot: "b",
	}, time.Time{}, nil)
	log := slog.New(slog.NewTextHandler(&h.log, nil))
	h.book = session.New(&rows{m: map[string][]byte{}}, clock, 0, log)
	h.Local = idp.NewLocal(idp.LocalConfig{
		Accounts: h.book.LocalAccounts(), Throttle: session.NewThrottle(now, netip.Addr.IsLoopback),
		Hasher: idp.NewHasher(func() idp.Cost { return idp.Cost{Memory: 64, Time: 1} }),
		SignUp: signUp, Now: now, Log: log,
	})
	return h
}

// request begins a flow and is its authorization request, as the page reads it.
func (h *home) request() (auth.AuthorizationRequest, auth.LocalRequest) {
	h.t.Helper()
	flow := newFlow()
	flow.Redirect = callback
	to, err := h.Provider().Authorize(h.t.Context(), flow)
	if err != nil || !strings.HasPrefix(to, auth.AuthorizePath+"?") {
		h.t.Fatalf("authorize: %s, %v", to, err)
	}
	r, err := h.ParseRequest(query(h.t, to), callback)
	if err != nil {
		h.t.Fatal(err)
	}
	return flow, r
}

func claim(name, passphrase string) auth.Credentials {
	return auth.Credentials{Name: name, Passphrase: passphrase, From: netip.MustParseAddr("127.0.0.1")}
}

// create makes an account and is the code for it.
func (h *home) create(name string) (auth.AuthorizationRequest, string) {
	h.t.Helper()
	flow, r := h.request()
	to, err := h.Create(h.t.Context(), r, claim(name, phrase))
	if err != nil {
		h.t.Fatalf("create %s: %v", name, err)
	}
	q := query(h.t, to)
	if q.Get("state") != flow.State || q.Get("iss") != auth.LocalIssuer || !strings.HasPrefix(to, callback+"?") {
		h.t.Fatalf("sent to %s", to)
	}
	return flow, q.Get("code")
}

// An account is made and signed in to by the same path as any provider's, under
// a subject that is no name.
func TestLocal(t *testing.T) {
	t.Parallel()
	h := newHome(t, auth.SignUpOpen)
	flow, code := h.create("Anna")
	first, err := h.Provider().Identify(t.Context(), flow, code)
	if err != nil || first.Name != "Anna" || first.Provider != auth.Local || strings.Contains(first.Subject, "nna") {
		t.Fatalf("identified %+v, %v", first, err)
	}
	flow, r := h.request()
	to, err := h.SignIn(t.Context(), r, claim(" ANNA ", phrase))
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.Provider().Identify(t.Context(), flow, query(t, to).Get("code"))
	if err != nil || again != first {
		t.Errorf("identified %+v, %v; want %+v", again, err, first)
	}
	if to := h.Deny(r); query(t, to).Get("error") != "access_denied" || query(t, to).Get("state") != r.State {
		t.Errorf("denied to %s", to)
	}
}

// F1: there is no account that nobody made.
func TestF1_NoDefaultAccounts(t *testing.T) {
	t.Parallel()
	h := newHome(t, auth.SignUpOpen)
	_, r := h.request()
	for _, name := range []string{"admin", "root", "pressbox", "guest", "pi"} {
		for _, passphrase := range []string{"", name, "password", "raspberry"} {
			h.now = h.now.Add(time.Hour)
			if _, err := h.SignIn(t.Context(), r, claim(name, passphrase)); !errors.Is(err, auth.ErrWrongCredentials) {
				t.Errorf("%s, %q: %v, want %v", name, passphrase, err, auth.ErrWrongCredentials)
			}
		}
	}
}

// F4: one counter for all spellings; the right passphrase works after the wait.
func TestF4_WrongPassphrases(t *testing.T) {
	t.Parallel()
	h := newHome(t, auth.SignUpOpen)
	h.create("alice")
	_, r := h.request()
	try := func(name, passphrase string) error {
		_, err := h.SignIn(t.Context(), r, claim(name, passphrase))
		return err
	}
	if err := try("Alice", "wrong wrong"); !errors.Is(err, auth.ErrWrongCredentials) {
		t.Fatal(err)
	}
	for _, name := range []string{"alice", "ALICE", "ａｌｉｃｅ "} {
		wait, ok := errors.AsType[*auth.ThrottledError](try(name, phrase))
		if !ok || wait.Wait != time.Second {
			t.Errorf("%s: %v, want to wait 1s", name, wait)
		}
	}
	h.now = h.now.Add(time.Second)
	if err := try("alice", phrase); err != nil {
		t.Errorf("after the wait: %v", err)
	}
	far := claim("x", phrase)
	far.From = netip.MustParseAddr("192.168.1.9")
	var err error
	for i := range 6 {
		far.Name = strings.Repeat("x", i+1)
		_, err = h.Create(t.Context(), r, far)
	}
	if _, ok := errors.AsType[*auth.ThrottledError](err); !ok {
		t.Errorf("the sixth new account of one address: %v, want to wait", err)
	}
}

// F5: a new passphrase needs the present one; a reset does not, and is the
// operator's.
func TestF5_ChangeOfPassphrase(t *testing.T) {
	t.Parallel()
	h := newHome(t, auth.SignUpOpen)
	h.create("anna")
	_, r := h.request()
	in := func(passphrase string) error {
		h.now = h.now.Add(time.Hour)
		_, err := h.SignIn(t.Context(), r, claim("anna", passphrase))
		return err
	}
	if err := h.ChangePassphrase(t.Context(), claim("anna", "not the one"), "another dog"); !errors.Is(err, auth.ErrWrongCredentials) {
		t.Errorf("by a wrong one: %v", err)
	}
	h.now = h.now.Add(time.Hour)
	if err := h.ChangePassphrase(t.Context(), claim("anna", phrase), "short"); !errors.Is(err, auth.ErrPassphraseTooShort) {
		t.Errorf("to a short one: %v", err)
	}
	if err := h.ChangePassphrase(t.Context(), claim("anna", phrase), "another dog"); err != nil {
		t.Fatal(err)
	}
	if err := in(phrase); !errors.Is(err, auth.ErrWrongCredentials) {
		t.Errorf("the old one: %v", err)
	}
	if err := in("another dog"); err != nil {
		t.Errorf("the new one: %v", err)
	}
	given, err := h.ResetPassphrase(t.Context(), "Anna")
	if err != nil || in(given) != nil || in("another dog") == nil {
		t.Errorf("reset to %d characters, %v", len(given), err)
	}
	if _, err := h.ResetPassphrase(t.Context(), "nobody"); !errors.Is(err, auth.ErrNotFound) {
		t.Errorf("reset of nobody: %v", err)
	}
	if strings.Contains(h.log.String(), given) || strings.Contains(h.log.String(), phrase) {
		t.Error("a passphrase is in the log")
	}
}

// exchange asks the token page directly, as no network can.
func (h *home) exchange(form url.Values) int {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, "http://local.invalid/token", strings.NewReader(form.Encode()))
	if err != nil {
		h.t.Fatal(err)
	}
	resp, err := h.RoundTrip(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		h.t.Fatal(err)
	}
	return resp.StatusCode
}

// F12: a code serves once, within its minute, for its client, its redirect URI
// and its verifier; each of these alone refuses it (CVE-2026-28513, -28512).
func TestF12_CodesAreBound(t *testing.T) {
	t.Parallel()
	h := newHome(t, auth.SignUpOpen)
	names := 0
	fresh := func() url.Values {
		names++
		flow, code := h.create(strings.Repeat("n", names))
		return url.Values{
			"grant_type": {"authorization_code"}, "client_id": {"pressbox"}, "code": {code},
			"redirect_uri": {callback}, "code_verifier": {flow.Verifier},
		}
	}
	for name, tt := range map[string]struct {
		change func(url.Values)
		want   int
	}{
		"right":                {func(url.Values) {}, 200},
		"at a minute":          {func(url.Values) { h.now = h.now.Add(time.Minute) }, 200},
		"late":                 {func(url.Values) { h.now = h.now.Add(time.Minute + time.Nanosecond) }, 400},
		"another client":       {func(f url.Values) { f.Set("client_id", "other") }, 400},
		"another redirect URI": {func(f url.Values) { f.Set("redirect_uri", callback+"/") }, 400},
		"good@evil":            {func(f url.Values) { f.Set("redirect_uri", "http://box.local:8888@evil/") }, 400},
		"another verifier":     {func(f url.Values) { f.Set("code_verifier", auth.NewSecret()) }, 400},
		"no verifier":          {func(f url.Values) { f.Del("code_verifier") }, 400},
		"another code":         {func(f url.Values) { f.Set("code", auth.NewSecret()) }, 400},
		"another grant":        {func(f url.Values) { f.Set("grant_type", "password") }, 400},
	} {
		form := fresh()
		tt.change(form)
		if got := h.exchange(form); got != tt.want {
			t.Errorf("%s: status %d, want %d", name, got, tt.want)
		}
	}
	form := fresh()
	wrong := url.Values{"grant_type": form["grant_type"], "code": form["code"]}
	if first, second := h.exchange(form), h.exchange(form); first != 200 || second != 400 {
		t.Errorf("twice: %d, %d; want 200, 400", first, second)
	}
	form = fresh()
	wrong.Set("code", form.Get("code"))
	if first, second := h.exchange(wrong), h.exchange(form); first != 400 || second != 400 {
		t.Errorf("wrong, then right: %d, %d; want 400, 400", first, second)
	}
}

// A4, CVE-2026-28512: the page takes one authorization request, to the letter.
func TestLocal_Parse(t *testing.T) {
	t.Parallel()
	h := newHome(t, auth.SignUpOpen)
	flow := newFlow()
	flow.Redirect = callback
	to, err := h.Provider().Authorize(t.Context(), flow)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range map[string][]string{
		"client_id": {"other"}, "response_type": {"token"}, "code_challenge_method": {"plain"}, "code_challenge": {"short"},
		"redirect_uri": {"http://box.local:8888@evil/api/auth/idp/callback/server"}, "state": nil,
	} {
		q := query(t, to)
		q[name] = values
		if r, err := h.ParseRequest(q, callback); err == nil {
			t.Errorf("%s = %q is taken: %+v", name, values, r)
		}
		q = query(t, to)
		if q[name] = append(q[name], q.Get(name)); name == "redirect_uri" || name == "client_id" {
			if r, err := h.ParseRequest(q, callback); err == nil {
				t.Errorf("%s twice is taken: %+v", name, r)
			}
		}
	}
}

// F1: where an invite is needed, none, a wrong and a used one make no account.
func TestF1_Invites(t *testing.T) {
	t.Parallel()
	h := newHome(t, auth.SignUpInvite)
	_, r := h.request()
	c := claim("anna", phrase)
	if _, err := h.Create(t.Context(), r, c); !errors.Is(err, auth.ErrNotInvited) {
		t.Errorf("without: %v", err)
	}
	invite, err := h.book.CreateInvite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Invite = invite.Reveal()
	if _, err := h.Create(t.Context(), r, c); err != nil {
		t.Errorf("with: %v", err)
	}
	c.Name = "bert"
	if _, err := h.Create(t.Context(), r, c); !errors.Is(err, auth.ErrNotInvited) {
		t.Errorf("a second time: %v", err)
	}
}

// What cannot be an account is not made one.
func TestLocal_CreateRefuses(t *testing.T) {
	t.Parallel()
	h := newHome(t, auth.SignUpOpen)
	h.create("anna")
	_, r := h.request()
	for _, tt := range []struct {
		claim auth.Credentials
		want  error
	}{
		{claim("", phrase), auth.ErrInvalidName},
		{claim("a\nb", phrase), auth.ErrInvalidName},
		{claim("ANNA", phrase), auth.ErrNameTaken},
		{claim("bert", "password"), auth.ErrPassphraseTooCommon},
	} {
		if _, err := h.Create(t.Context(), r, tt.claim); !errors.Is(err, tt.want) {
			t.Errorf("create %q: %v, want %v", tt.claim.Name, err, tt.want)
		}
	}
}
