package idp_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/idp"
	"pressbox/packaging/check"
)

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

// Hashes are argon2id with at least the recommended cost and a random salt; a
// hash with another cost is recognized.
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
