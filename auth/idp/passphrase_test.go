package idp_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/idp"
	"pressbox/auth/session"
)

// F2: a passphrase has 8 to 128 characters of any sort, none is cut off, and
// only the very ones that everybody has are refused.
func TestF2_Passphrases(t *testing.T) {
	t.Parallel()
	for passphrase, want := range map[string]error{
		"1234567": auth.ErrPassphraseTooShort, "": auth.ErrPassphraseTooShort, "ééééééé": auth.ErrPassphraseTooShort,
		"password1": auth.ErrPassphraseTooCommon, "12345678": auth.ErrPassphraseTooCommon, "correct horse battery staple": auth.ErrPassphraseTooCommon,
		"password1x": nil, "my password1": nil, "Password1 ": nil, "password1\nqwertyui": nil,
		strings.Repeat("é", 64): nil, strings.Repeat("é", 128): nil, strings.Repeat("é", 129): auth.ErrPassphraseTooLong,
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

// worked is how long processors have worked for this process: other than the time
// that passes, it does not depend on what else the machine does.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// F3: an unknown name costs what a wrong passphrase costs, and is told the same.
// This test is not parallel, so that nobody else's work is counted.
func TestF3_UnknownNameTakesAsLong(t *testing.T) {
	h := newHome(t, auth.SignUpOpen)
	h.Local = idp.NewLocal(idp.LocalConfig{
		Accounts: h.book.LocalAccounts(), Throttle: session.NewThrottle(func() time.Time { return h.now }, netip.Addr.IsLoopback),
		Hasher: idp.NewHasher(idp.MinCost), Now: func() time.Time { return h.now }, Log: slog.New(slog.DiscardHandler),
		SignUp: auth.SignUpOpen,
	})
	h.create("anna")
	_, r := h.request()
	measure := func() (ratio float64) {
		took := map[string][]time.Duration{}
		for range 9 {
			for _, name := range []string{"anna", "nobody"} {
				h.now = h.now.Add(time.Hour)
				began := worked(t)
				if _, err := h.SignIn(t.Context(), r, claim(name, "another dog")); !errors.Is(err, auth.ErrWrongCredentials) {
					t.Fatalf("%s: %v, want %v", name, err, auth.ErrWrongCredentials)
				}
				took[name] = append(took[name], worked(t)-began)
			}
		}
		return float64(median(took["nobody"])) / float64(median(took["anna"]))
	}
	// Something else may spoil a measurement; what takes no time never passes.
	var ratio float64
	for range 5 {
		if ratio = measure(); 0.8 <= ratio && ratio <= 1.25 {
			return
		}
	}
	t.Errorf("an unknown name takes %.2f times as long, want 0.8 to 1.25", ratio)
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
	before, err := h.book.LocalAccounts().Find(t.Context(), "anna")
	if err != nil {
		t.Fatal(err)
	}
	h.Local = idp.NewLocal(idp.LocalConfig{
		Accounts: h.book.LocalAccounts(), Throttle: session.NewThrottle(func() time.Time { return h.now }, netip.Addr.IsLoopback),
		Hasher: idp.NewHasher(func() idp.Cost { return idp.Cost{Memory: 64, Time: 2} }), Now: func() time.Time { return h.now },
		Log: slog.New(slog.DiscardHandler),
	})
	_, r := h.request()
	for range 2 {
		if _, err := h.SignIn(t.Context(), r, claim("anna", phrase)); err != nil {
			t.Fatal(err)
		}
	}
	after, err := h.book.LocalAccounts().Find(t.Context(), "anna")
	if err != nil || after.Hash == before.Hash || !strings.Contains(after.Hash, "t=2") {
		t.Errorf("hash %s, %v", after.Hash, err)
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
