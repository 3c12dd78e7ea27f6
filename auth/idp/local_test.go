package idp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/idp"
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
	book *auth.Book
}

const (
	callback = "http://box.local:8888/api/auth/idp/callback/server"
	phrase   = "a dog in a boat"
)

func newHome(t *testing.T, signUp auth.SignUp) *home {
	t.Helper()
	h := &home{t: t, now: time.Now()}
	now := func() time.Time { return h.now }
	boot := h.now
	clock := auth.NewClock(auth.Source{
		Wall: now, Since: func() time.Duration { return h.now.Sub(boot) }, Boot: "b",
	}, time.Time{}, nil)
	log := slog.New(slog.NewTextHandler(&h.log, nil))
	h.book = auth.NewBook(&rows{m: map[string][]byte{}}, clock, 0, log)
	h.Local = idp.NewLocal(idp.LocalConfig{
		Logins: h.book.Logins(), Throttle: auth.NewThrottle(now, netip.Addr.IsLoopback),
		Hasher: idp.NewHasher(func() idp.Cost { return idp.Cost{Memory: 64, Time: 1} }),
		SignUp: signUp, Now: now, Log: log,
	})
	return h
}

// request begins a flow and is its authorization request, as the page reads it.
func (h *home) request() (auth.Flow, auth.LocalRequest) {
	h.t.Helper()
	flow := newFlow()
	flow.Redirect = callback
	to, err := h.Provider().Authorize(h.t.Context(), flow)
	if err != nil || !strings.HasPrefix(to, auth.AuthorizePath+"?") {
		h.t.Fatalf("authorize: %s, %v", to, err)
	}
	r, err := h.Parse(query(h.t, to), callback)
	if err != nil {
		h.t.Fatal(err)
	}
	return flow, r
}

func claim(name, passphrase string) auth.Claim {
	return auth.Claim{Name: name, Passphrase: passphrase, From: netip.MustParseAddr("127.0.0.1")}
}

// create makes an account and is the code for it.
func (h *home) create(name string) (auth.Flow, string) {
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
			if _, err := h.SignIn(t.Context(), r, claim(name, passphrase)); !errors.Is(err, auth.ErrWrong) {
				t.Errorf("%s, %q: %v, want %v", name, passphrase, err, auth.ErrWrong)
			}
		}
	}
}

// F2: a passphrase has 8 to 128 characters of any sort, none is cut off, and
// only the very ones that everybody has are refused.
func TestF2_Passphrases(t *testing.T) {
	t.Parallel()
	for passphrase, want := range map[string]error{
		"1234567": auth.ErrTooShort, "": auth.ErrTooShort, "ééééééé": auth.ErrTooShort,
		"password1": auth.ErrTooCommon, "12345678": auth.ErrTooCommon, "correct horse battery staple": auth.ErrTooCommon,
		"password1x": nil, "my password1": nil, "Password1 ": nil, "password1\nqwertyui": nil,
		strings.Repeat("é", 64): nil, strings.Repeat("é", 128): nil, strings.Repeat("é", 129): auth.ErrTooLong,
		"        ": nil, "\x00\x01\x02\x03\x04\x05\x06\x07": nil,
	} {
		if err := auth.CheckPassphrase(passphrase); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", passphrase, err, want)
		}
	}
	hasher := idp.NewHasher(func() idp.Cost { return idp.Cost{Memory: 64, Time: 1} })
	long := strings.Repeat("ü", 127)
	hash, err := hasher.Hash(t.Context(), long+"a")
	if err != nil {
		t.Fatal(err)
	}
	for passphrase, want := range map[string]bool{
		long + "a": true, long + "b": false, long: false,
		strings.Repeat("u\u0308", 127) + "a": true, // composed otherwise
	} {
		if right, _, err := hasher.Verify(t.Context(), hash, passphrase); err != nil || right != want {
			t.Errorf("%.10q…: %v, %v; want %v", passphrase, right, err, want)
		}
	}
}

// F3: hashes are argon2id at no less than the recommended cost, with a salt
// each; an old hash is recognised as one.
func TestF3_Argon2id(t *testing.T) {
	t.Parallel()
	if cost := idp.Calibrate(0); cost != idp.MinCost() {
		t.Errorf("calibrated for no time: %+v, want %+v", cost, idp.MinCost())
	}
	if cost := idp.Calibrate(time.Hour); cost.Memory < 19<<10 || cost.Time <= 2 || cost.Time > 64 {
		t.Errorf("calibrated for an hour: %+v", cost)
	}
	hasher := idp.NewHasher(idp.MinCost)
	one, err := hasher.Hash(t.Context(), phrase)
	if err != nil {
		t.Fatal(err)
	}
	two, err := hasher.Hash(t.Context(), phrase)
	if err != nil {
		t.Fatal(err)
	}
	if one == two || !strings.HasPrefix(one, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("hashes %s and %s", one, two)
	}
	other := idp.NewHasher(func() idp.Cost { return idp.Cost{Memory: 64, Time: 1} })
	if right, old, err := other.Verify(t.Context(), one, phrase); !right || !old || err != nil {
		t.Errorf("an old hash: %v, %v, %v", right, old, err)
	}
	for _, bad := range []string{"x", "$argon2i$v=19$m=64,t=1,p=1$AA$AA", "$argon2id$v=19$m=99999999,t=1,p=1$AA$AA", "$argon2id$v=19$m=64,t=1,p=1$AA$AA"} {
		if right, _, err := hasher.Verify(t.Context(), bad, phrase); right || err == nil {
			t.Errorf("%q verifies: %v, %v", bad, right, err)
		}
	}
}

// F3: an unknown name costs what a wrong passphrase costs, and is told the same.
func TestF3_UnknownNameTakesAsLong(t *testing.T) {
	h := newHome(t, auth.SignUpOpen)
	h.Local = idp.NewLocal(idp.LocalConfig{
		Logins: h.book.Logins(), Throttle: auth.NewThrottle(func() time.Time { return h.now }, netip.Addr.IsLoopback),
		Hasher: idp.NewHasher(idp.MinCost), Now: func() time.Time { return h.now }, Log: slog.New(slog.DiscardHandler),
		SignUp: auth.SignUpOpen,
	})
	h.create("anna")
	_, r := h.request()
	took := map[string][]time.Duration{}
	for range 15 {
		for _, name := range []string{"anna", "nobody"} {
			h.now = h.now.Add(time.Hour)
			began := time.Now()
			if _, err := h.SignIn(t.Context(), r, claim(name, "another dog")); !errors.Is(err, auth.ErrWrong) {
				t.Fatalf("%s: %v, want %v", name, err, auth.ErrWrong)
			}
			took[name] = append(took[name], time.Since(began))
		}
	}
	ratio := float64(median(took["nobody"])) / float64(median(took["anna"]))
	if ratio < 0.8 || ratio > 1.25 {
		t.Errorf("an unknown name takes %.2f times as long, want 0.8 to 1.25", ratio)
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// F3: an account whose hash is old gets today's when its owner signs in.
func TestF3_HashesGrow(t *testing.T) {
	t.Parallel()
	h := newHome(t, auth.SignUpOpen)
	h.create("anna")
	before, err := h.book.Logins().Find(t.Context(), "anna")
	if err != nil {
		t.Fatal(err)
	}
	h.Local = idp.NewLocal(idp.LocalConfig{
		Logins: h.book.Logins(), Throttle: auth.NewThrottle(func() time.Time { return h.now }, netip.Addr.IsLoopback),
		Hasher: idp.NewHasher(func() idp.Cost { return idp.Cost{Memory: 64, Time: 2} }), Now: func() time.Time { return h.now },
		Log: slog.New(slog.DiscardHandler),
	})
	_, r := h.request()
	for range 2 {
		if _, err := h.SignIn(t.Context(), r, claim("anna", phrase)); err != nil {
			t.Fatal(err)
		}
	}
	after, err := h.book.Logins().Find(t.Context(), "anna")
	if err != nil || after.Hash == before.Hash || !strings.Contains(after.Hash, "t=2") {
		t.Errorf("hash %s, %v", after.Hash, err)
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
	if err := try("Alice", "wrong wrong"); !errors.Is(err, auth.ErrWrong) {
		t.Fatal(err)
	}
	for _, name := range []string{"alice", "ALICE", "ａｌｉｃｅ "} {
		wait, ok := errors.AsType[*auth.WaitError](try(name, phrase))
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
	if _, ok := errors.AsType[*auth.WaitError](err); !ok {
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
	if err := h.Change(t.Context(), claim("anna", "not the one"), "another dog"); !errors.Is(err, auth.ErrWrong) {
		t.Errorf("by a wrong one: %v", err)
	}
	h.now = h.now.Add(time.Hour)
	if err := h.Change(t.Context(), claim("anna", phrase), "short"); !errors.Is(err, auth.ErrTooShort) {
		t.Errorf("to a short one: %v", err)
	}
	if err := h.Change(t.Context(), claim("anna", phrase), "another dog"); err != nil {
		t.Fatal(err)
	}
	if err := in(phrase); !errors.Is(err, auth.ErrWrong) {
		t.Errorf("the old one: %v", err)
	}
	if err := in("another dog"); err != nil {
		t.Errorf("the new one: %v", err)
	}
	given, err := h.Reset(t.Context(), "Anna")
	if err != nil || in(given) != nil || in("another dog") == nil {
		t.Errorf("reset to %d characters, %v", len(given), err)
	}
	if _, err := h.Reset(t.Context(), "nobody"); !errors.Is(err, auth.ErrNotFound) {
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
		"another verifier":     {func(f url.Values) { f.Set("code_verifier", auth.Secret()) }, 400},
		"no verifier":          {func(f url.Values) { f.Del("code_verifier") }, 400},
		"another code":         {func(f url.Values) { f.Set("code", auth.Secret()) }, 400},
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
		if r, err := h.Parse(q, callback); err == nil {
			t.Errorf("%s = %q is taken: %+v", name, values, r)
		}
		q = query(t, to)
		if q[name] = append(q[name], q.Get(name)); name == "redirect_uri" || name == "client_id" {
			if r, err := h.Parse(q, callback); err == nil {
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
	invite, err := h.book.Invite(t.Context())
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
		claim auth.Claim
		want  error
	}{
		{claim("", phrase), auth.ErrBadName},
		{claim("a\nb", phrase), auth.ErrBadName},
		{claim("ANNA", phrase), auth.ErrNameTaken},
		{claim("bert", "password"), auth.ErrTooCommon},
	} {
		if _, err := h.Create(t.Context(), r, tt.claim); !errors.Is(err, tt.want) {
			t.Errorf("create %q: %v, want %v", tt.claim.Name, err, tt.want)
		}
	}
}

// The calibrated cost is found once and kept.
func TestCalibratedCost(t *testing.T) {
	t.Parallel()
	cache := new(shelf)
	first := idp.CalibratedCost(cache)()
	if raw, err := json.Marshal(first); err != nil || string(cache.rows["argon2id"]) != string(raw) {
		t.Errorf("kept %s, want %s, %v", cache.rows["argon2id"], raw, err)
	}
	cache.rows["argon2id"] = []byte(`{"memory":20000,"time":7}`)
	if got := idp.CalibratedCost(cache)(); got != (idp.Cost{Memory: 20000, Time: 7}) {
		t.Errorf("read %+v", got)
	}
	cache.rows["argon2id"] = []byte(`{"memory":1,"time":1}`)
	if got := idp.CalibratedCost(cache)(); got.Memory < idp.MinCost().Memory {
		t.Errorf("believed %+v", got)
	}
}

// A hash in whatever shape is refused, not fatal.
func FuzzVerify(f *testing.F) {
	hasher := idp.NewHasher(func() idp.Cost { return idp.Cost{Memory: 8, Time: 1} })
	hash, err := hasher.Hash(context.Background(), phrase)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{hash, "", "$argon2id$v=19$m=8,t=1,p=1$$", "$$$$$"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 200 || strings.Contains(s, "m=") && !strings.Contains(s, "m=8,t=1,p=1$") {
			return // of great cost, which the store's own hashes may have
		}
		if right, _, err := hasher.Verify(t.Context(), s, phrase); right && (s != hash && !strings.HasPrefix(s, "$argon2id$") || err != nil) {
			t.Errorf("%q verifies, %v", s, err)
		}
	})
}
