package idp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/idp"
	"pressbox/auth/session"
	"pressbox/packaging/check"
	"pressbox/store"
)

// localRig is the local provider over a store, on a host whose clock can be set.
type localRig struct {
	*idp.Local
	t        *testing.T
	host     *authtest.Host
	log      check.Log
	sessions *session.Sessions
}

const (
	callback = "http://box.local:8888/api/auth/idp/callback/server"
	phrase   = "a dog in a boat"
)

// cheap returns the cost of hashes in tests that are not about it.
func cheap() idp.Cost { return idp.Cost{Memory: 64, Time: 1} }

// newLocalRig returns the rig of a parallel test.
func newLocalRig(t *testing.T) *localRig {
	t.Helper()
	t.Parallel()
	return serialLocalRig(t)
}

func serialLocalRig(t *testing.T) *localRig {
	t.Helper()
	s := check.Must(store.Open(filepath.Join(t.TempDir(), "pressbox.db"), store.Options{}))(t)
	check.Close(t, s)
	r := &localRig{t: t, host: authtest.NewHost()}
	c := check.Must(session.OpenClock(t.Context(), s.Auth(), r.host.Source(), authtest.Released))(t)
	r.sessions = session.New(s.Auth(), c, 0, slog.New(slog.NewTextHandler(&r.log, nil)))
	r.start(auth.SignUpOpen, cheap)
	return r
}

// start starts the provider, or restarts it with another cost.
func (r *localRig) start(signUp auth.SignUpPolicy, cost func() idp.Cost) {
	r.Local = idp.NewLocal(idp.LocalConfig{
		Accounts: r.sessions.LocalAccounts(), Throttle: session.NewThrottle(r.host.Now, nil, netip.Addr.IsLoopback),
		Hasher: idp.NewHasher(cost), SignUp: signUp, Now: r.host.Now, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
	})
}

// request starts a flow and returns its authorization request as the page reads it.
func (r *localRig) request() (auth.AuthorizationRequest, auth.LocalRequest) {
	r.t.Helper()
	request := newRequest()
	request.Redirect = callback
	to, err := r.Provider().Authorize(r.t.Context(), request)
	check.Require(r.t, err == nil && strings.HasPrefix(to, auth.AuthorizePath+"?"), "authorize: %s, %v", to, err)
	local := check.Must(r.ParseRequest(query(r.t, to), callback))(r.t)
	return request, local
}

func credentials(name, passphrase string) auth.Credentials {
	return auth.Credentials{Name: name, Passphrase: passphrase, From: netip.MustParseAddr("127.0.0.1")}
}

// signIn signs in an hour later, when nothing is throttled.
func (r *localRig) signIn(name, passphrase string) error {
	r.t.Helper()
	r.host.Pass(time.Hour)
	_, local := r.request()
	_, err := r.SignIn(r.t.Context(), local, credentials(name, passphrase))
	return err
}

// create creates an account and returns the request and its code.
func (r *localRig) create(name string) (auth.AuthorizationRequest, string) {
	r.t.Helper()
	request, local := r.request()
	to, err := r.Create(r.t.Context(), local, credentials(name, phrase))
	check.Require(r.t, err == nil, "create %s: %v", name, err)
	q := query(r.t, to)
	if q.Get("state") != request.State || q.Get("iss") != auth.LocalIssuer || !strings.HasPrefix(to, callback+"?") {
		r.t.Fatalf("redirected to %s", to)
	}
	return request, q.Get("code")
}

// A local account signs in like that of any provider, with a subject that is not its name.
func TestLocal_flow(t *testing.T) {
	r := newLocalRig(t)
	request, code := r.create("Anna")
	first, err := r.Provider().Identify(t.Context(), request, code)
	check.Require(t, err == nil && first.Name == "Anna" && first.Provider == auth.Local &&
		!strings.Contains(first.Subject, "nna"), "identified %+v, %v", first, err)
	request, local := r.request()
	to := check.Must(r.SignIn(t.Context(), local, credentials(" ANNA ", phrase)))(t)
	again, err := r.Provider().Identify(t.Context(), request, query(t, to).Get("code"))
	check.That(t, err == nil && again == first, "identified %+v, %v; want %+v", again, err, first)
	if to := r.Deny(local); query(t, to).Get("error") != "access_denied" || query(t, to).Get("state") != local.State {
		t.Errorf("denied to %s", to)
	}
}

// There are no default accounts.
func TestLocal_noDefaultAccounts(t *testing.T) {
	r := newLocalRig(t)
	for _, name := range []string{"admin", "root", "pressbox", "guest", "pi"} {
		for _, passphrase := range []string{"", name, "password", "raspberry"} {
			check.ErrorIs(t, r.signIn(name, passphrase), auth.ErrWrongCredentials, "%s, %q", name, passphrase)
		}
	}
}

// Without an invite, a new and an existing name are refused alike, and neither costs a hash.
func TestLocal_signUpJudgedFirst(t *testing.T) {
	r := newLocalRig(t)
	r.create("alice")
	_, local := r.request()
	for _, policy := range []auth.SignUpPolicy{auth.SignUpClosed, auth.SignUpInvite, auth.SignUpLocal} {
		r.start(policy, func() idp.Cost { t.Error("a passphrase was hashed"); return cheap() })
		for _, name := range []string{"alice", "bob"} {
			c := credentials(name, phrase)
			c.From, c.Invite = netip.MustParseAddr("203.0.113.5"), auth.NewToken(auth.KindInvite).Reveal()
			if _, err := r.Create(t.Context(), local, c); !errors.Is(err, auth.ErrNotInvited) {
				t.Errorf("SIGN_UP=%s, %s: %v, want %v", policy, name, err, auth.ErrNotInvited)
			}
		}
	}
}

// All spellings of a name share one throttle; the right passphrase works
// after the wait. New accounts are throttled by address.
func TestLocal_throttled(t *testing.T) {
	r := newLocalRig(t)
	r.create("alice")
	_, local := r.request()
	try := func(name, passphrase string) error {
		c := credentials(name, passphrase)
		c.From = netip.MustParseAddr("192.168.1.8")
		_, err := r.SignIn(t.Context(), local, c)
		return err
	}
	if err := try("Alice", "wrong wrong"); !errors.Is(err, auth.ErrWrongCredentials) {
		t.Fatal(err)
	}
	for _, name := range []string{"alice", "ALICE", "ａｌｉｃｅ "} {
		wait, ok := errors.AsType[*auth.ThrottledError](try(name, phrase))
		check.That(t, ok && wait.Wait == time.Second, "%s: %v, want to wait 1s", name, wait)
	}
	r.host.Pass(time.Second)
	check.NoError(t, try("alice", phrase)) // after the wait
	remote := credentials("x", phrase)
	remote.From = netip.MustParseAddr("192.168.1.9")
	var err error
	for i := range 6 {
		remote.Name = strings.Repeat("x", i+1)
		_, err = r.Create(t.Context(), local, remote)
	}
	_, ok := errors.AsType[*auth.ThrottledError](err)
	check.That(t, ok, "the sixth new account of one address: %v, want to wait", err)
}

// ChangePassphrase needs the present passphrase; ResetPassphrase does not. No passphrase is logged.
func TestLocal_changePassphrase(t *testing.T) {
	r := newLocalRig(t)
	r.create("anna")
	for _, tt := range []struct {
		present, next string
		want          error
	}{
		{"not the one", "another dog", auth.ErrWrongCredentials},
		{phrase, "short", auth.ErrPassphraseTooShort},
		{phrase, "another dog", nil},
	} {
		r.host.Pass(time.Hour)
		err := r.ChangePassphrase(t.Context(), credentials("anna", tt.present), tt.next)
		check.That(t, errors.Is(err, tt.want), "change %q to %q: %v, want %v", tt.present, tt.next, err, tt.want)
	}
	check.ErrorIs(t, r.signIn("anna", phrase), auth.ErrWrongCredentials, "sign in with the old one")
	check.NoError(t, r.signIn("anna", "another dog")) // sign in with the new one
	random, err := r.ResetPassphrase(t.Context(), "Anna")
	check.That(t, err == nil && r.signIn("anna", random) == nil && r.signIn("anna", "another dog") != nil,
		"reset to %d characters, %v", len(random), err)
	check.ErrorIs(t, check.Err(r.ResetPassphrase(t.Context(), "unknown")), auth.ErrNotFound, "reset of an unknown name")
	check.That(t, !strings.Contains(r.log.String(), random) && !strings.Contains(r.log.String(), phrase),
		"a passphrase is in the log")
}

// exchange sends a token request.
func (r *localRig) exchange(form url.Values) (status int) {
	r.t.Helper()
	body := strings.NewReader(form.Encode())
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, "http://local.invalid/token", body)
	check.NoError(r.t, err)
	resp := check.Must(r.RoundTrip(req))(r.t)
	defer resp.Body.Close()
	check.Must(io.Copy(io.Discard, resp.Body))(r.t)
	return resp.StatusCode
}

// A code is valid once, for a minute, for its client, redirect URI and verifier (CVE-2026-28513, CVE-2026-28512).
func TestLocal_codeBound(t *testing.T) {
	r := newLocalRig(t)
	names := 0
	fresh := func() url.Values {
		names++
		request, code := r.create(strings.Repeat("n", names))
		return url.Values{
			"grant_type": {"authorization_code"}, "client_id": {"pressbox"}, "code": {code},
			"redirect_uri": {callback}, "code_verifier": {request.Verifier},
		}
	}
	for name, tt := range map[string]struct {
		change func(url.Values)
		want   int
	}{
		"right":                {func(url.Values) {}, 200},
		"at a minute":          {func(url.Values) { r.host.Pass(time.Minute) }, 200},
		"late":                 {func(url.Values) { r.host.Pass(time.Minute + time.Nanosecond) }, 400},
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
		check.Equal(t, r.exchange(form), tt.want, "%s: status", name)
	}
	form := fresh()
	first, second := r.exchange(form), r.exchange(form)
	check.That(t, first == 200 && second == 400, "twice: %d, %d; want 200, 400", first, second)
	form = fresh()
	wrong := url.Values{"grant_type": form["grant_type"], "code": form["code"]}
	first, second = r.exchange(wrong), r.exchange(form)
	check.That(t, first == 400 && second == 400, "wrong, then right: %d, %d; want 400, 400", first, second)
}

// CVE-2026-28512: every parameter of an authorization request is checked.
func TestLocal_parseRequest(t *testing.T) {
	r := newLocalRig(t)
	request := newRequest()
	request.Redirect = callback
	to := check.Must(r.Provider().Authorize(t.Context(), request))(t)
	refused := func(name string, values []string) {
		t.Helper()
		q := query(t, to)
		q[name] = values
		local, err := r.ParseRequest(q, callback)
		check.That(t, err != nil, "%s = %q is accepted: %+v", name, values, local)
	}
	for name, values := range map[string][]string{
		"client_id": {"other"}, "response_type": {"token"}, "code_challenge": {"short"},
		"code_challenge_method": {"plain"},
		"redirect_uri":          {"http://box.local:8888@evil/api/auth/idp/callback/server"}, "state": nil,
	} {
		refused(name, values)
	}
	refused("redirect_uri", []string{callback, callback})
	refused("client_id", []string{"pressbox", "pressbox"})
}

// Create refuses invalid, taken and uninvited names and weak passphrases.
func TestLocal_createRefuses(t *testing.T) {
	r := newLocalRig(t)
	r.create("anna")
	for _, tt := range []struct {
		name, passphrase string
		policy           auth.SignUpPolicy
		want             error
	}{
		{"", phrase, auth.SignUpOpen, auth.ErrInvalidName},
		{"a\nb", phrase, auth.SignUpOpen, auth.ErrInvalidName},
		{"ANNA", phrase, auth.SignUpOpen, auth.ErrNameTaken},
		{"bert", "password", auth.SignUpOpen, auth.ErrPassphraseTooCommon},
		{"bert", phrase, auth.SignUpInvite, auth.ErrNotInvited},
	} {
		r.start(tt.policy, cheap)
		_, local := r.request()
		_, err := r.Create(t.Context(), local, credentials(tt.name, tt.passphrase))
		check.ErrorIs(t, err, tt.want, "create %q", tt.name)
	}
	r.start(auth.SignUpInvite, cheap)
	_, local := r.request()
	c := credentials("bert", phrase)
	c.Invite = check.Must(r.sessions.CreateInvite(t.Context()))(t).Reveal()
	check.Must(r.Create(t.Context(), local, c))(t)
}

// Every character of a passphrase counts, in any Unicode composition.
func TestHasher_verify(t *testing.T) {
	t.Parallel()
	hasher := idp.NewHasher(cheap)
	long := strings.Repeat("ü", 127)
	hash := check.Must(hasher.Hash(t.Context(), long+"a"))(t)
	for passphrase, want := range map[string]bool{
		long + "a": true, long + "b": false, long: false,
		strings.Repeat("u\u0308", 127) + "a": true,
	} {
		right, _, err := hasher.Verify(t.Context(), hash, passphrase)
		check.That(t, err == nil && right == want, "%.10q…: %v, %v; want %v", passphrase, right, err, want)
	}
}

// Hashes are argon2id with at least the recommended cost and a random salt; a hash with another cost is recognized.
func TestHasher_argon2id(t *testing.T) {
	t.Parallel()
	check.Equal(t, idp.Calibrate(0), idp.MinCost(), "calibrated for no time")
	cost := idp.Calibrate(time.Hour)
	check.That(t, cost.Memory >= 19<<10 && cost.Time > 2 && cost.Time <= 64, "calibrated for an hour: %+v", cost)
	hasher := idp.NewHasher(idp.MinCost)
	one := check.Must(hasher.Hash(t.Context(), phrase))(t)
	two := check.Must(hasher.Hash(t.Context(), phrase))(t)
	check.That(t, one != two && strings.HasPrefix(one, "$argon2id$v=19$m=19456,t=2,p=1$"), "hashes %s and %s", one, two)
	right, old, err := idp.NewHasher(cheap).Verify(t.Context(), one, phrase)
	check.That(t, right && old && err == nil, "a hash with another cost: %v, %v, %v", right, old, err)
	for _, bad := range []string{
		"x", "$argon2i$v=19$m=64,t=1,p=1$AA$AA", "$argon2id$v=19$m=99999999,t=1,p=1$AA$AA",
		"$argon2id$v=19$m=64,t=1,p=1$AA$AA",
	} {
		right, _, err := hasher.Verify(t.Context(), bad, phrase)
		check.That(t, !right && err != nil, "%q verifies: %v, %v", bad, right, err)
	}
}

// An unknown name takes as much of argon2id as a wrong passphrase, told by the memory of a hash, and
// returns the same error. The test is not parallel, so that it counts the memory of no other.
func TestLocal_unknownNameCost(t *testing.T) {
	const memory = 64 << 20
	r := serialLocalRig(t)
	r.start(auth.SignUpOpen, func() idp.Cost { return idp.Cost{Memory: memory >> 10, Time: 1} })
	r.create("anna")
	for _, name := range []string{"anna", "unknown"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		check.ErrorIs(t, r.signIn(name, "another dog"), auth.ErrWrongCredentials, "%s", name)
		runtime.ReadMemStats(&after)
		got := after.TotalAlloc - before.TotalAlloc
		check.That(t, got >= memory && got <= 2*memory, "%s takes %d bytes, want about %d", name, got, memory)
	}
}

// A sign-in replaces a hash with an old cost.
func TestLocal_rehash(t *testing.T) {
	r := newLocalRig(t)
	r.create("anna")
	before := check.Must(r.sessions.LocalAccounts().Find(t.Context(), "anna"))(t)
	r.start(auth.SignUpOpen, func() idp.Cost { return idp.Cost{Memory: 64, Time: 2} })
	for range 2 {
		check.NoError(t, r.signIn("anna", phrase))
	}
	after, err := r.sessions.LocalAccounts().Find(t.Context(), "anna")
	check.That(t, err == nil && after.Hash != before.Hash && strings.Contains(after.Hash, "t=2"),
		"hash %s, %v", after.Hash, err)
}

// The cost is calibrated once and cached; a cached cost below the minimum is ignored.
func TestCalibratedCost_cached(t *testing.T) {
	t.Parallel()
	c := new(cache)
	first := idp.CalibratedCost(c)()
	if raw, err := json.Marshal(first); err != nil || string(c.values["argon2id"]) != string(raw) {
		t.Errorf("cached %s, want %s, %v", c.values["argon2id"], raw, err)
	}
	c.values["argon2id"] = []byte(`{"memory":20000,"time":7}`)
	check.Equal(t, idp.CalibratedCost(c)(), idp.Cost{Memory: 20000, Time: 7}, "read")
	c.values["argon2id"] = []byte(`{"memory":1,"time":1}`)
	got := idp.CalibratedCost(c)()
	check.That(t, got.Memory >= idp.MinCost().Memory, "accepted %+v", got)
}

// A malformed hash is an error, never a panic.
func FuzzVerify(f *testing.F) {
	hasher := idp.NewHasher(func() idp.Cost { return idp.Cost{Memory: 8, Time: 1} })
	hash := check.Must(hasher.Hash(context.Background(), phrase))(f)
	for _, seed := range []string{hash, "", "$argon2id$v=19$m=8,t=1,p=1$$", "$$$$$"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 200 || strings.Contains(s, "m=") && !strings.Contains(s, "m=8,t=1,p=1$") {
			return // too expensive
		}
		right, _, err := hasher.Verify(t.Context(), s, phrase)
		check.That(t, !right || (s == hash || strings.HasPrefix(s, "$argon2id$")) && err == nil,
			"%q verifies, %v", s, err)
	})
}
