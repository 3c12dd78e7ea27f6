package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"pressbox/auth"
	"pressbox/auth/session"
	"pressbox/clock"
)

// anna is a sign-in provider that knows one person.
type anna struct{}

func (anna) Authorize(_ context.Context, f auth.AuthorizationRequest) (string, error) {
	return "/?state=" + f.State, nil
}
func (anna) Issuer(context.Context) (string, bool, error) { return "", false, nil }
func (anna) Identify(context.Context, auth.AuthorizationRequest, string) (auth.Identity, error) {
	return auth.Identity{Provider: "test", Subject: "1", Name: "Anna"}, nil
}

// newDoor makes a door whose book is s.
func newDoor(tb testing.TB, s *Store) *session.SignIn {
	tb.Helper()
	began := time.Now()
	clock, err := session.OpenClock(tb.Context(), s.Auth(), clock.Source{
		Wall: time.Now, Since: func() time.Duration { return time.Since(began) }, Boot: "boot",
	}, time.Time{})
	if err != nil {
		tb.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	return &session.SignIn{
		Provider: anna{}, ProviderName: "test", SignUp: auth.SignUpOpen, Log: log,
		Sessions: session.New(s.Auth(), clock, 0, log),
	}
}

// begin begins a sign-in.
func begin(tb testing.TB, d *session.SignIn) auth.StartedFlow {
	tb.Helper()
	begun, err := d.Begin(tb.Context(), auth.FlowOptions{Redirect: "x"})
	if err != nil {
		tb.Fatal(err)
	}
	return begun
}

// enter signs Anna in.
func enter(tb testing.TB, d *session.SignIn) auth.TokenPair {
	tb.Helper()
	begun := begin(tb, d)
	granted, err := d.Finish(tb.Context(), auth.Callback{State: begun.State, Binding: begun.Binding, Code: "c"})
	if err != nil {
		tb.Fatal(err)
	}
	return granted.TokenPair
}

func TestEveryTableOfAuthHasItsBucket(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	for _, table := range session.Tables() {
		err := s.view(func(tx *bolt.Tx) error {
			if tx.Bucket([]byte(table)) == nil {
				return errors.New("it has none")
			}
			return nil
		})
		if err != nil {
			t.Errorf("table %s: %v", table, err)
		}
	}
}

// D6: sessions, and the marks on used tokens, survive the end of the process
// that made them.
func TestD6_SessionsSurvive(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := newDoor(t, s)
	first := enter(t, d)
	second, err := d.Sessions.Refresh(t.Context(), first.Refresh)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d = newDoor(t, s)
	if again, err := d.Sessions.Refresh(t.Context(), first.Refresh); err != nil || again != second {
		t.Errorf("the lost answer, asked for again: %v", err)
	}
	caller, err := d.Sessions.Authenticate(t.Context(), auth.RequestCredentials{Cookies: []string{second.Access.Reveal()}})
	if err != nil || caller.Account.Name != "Anna" {
		t.Errorf("authenticate: %+v, %v", caller, err)
	}
}

// goldenToken is where the refresh token of testdata's newest store lies.
func goldenToken(schema int) string {
	return filepath.Join("testdata", fmt.Sprintf("schema%d.token", schema))
}

// enterGolden signs Anna in to a store that will be read for ever.
func enterGolden(t *testing.T, s *Store) {
	t.Helper()
	token := enter(t, newDoor(t, s)).Refresh.Reveal()
	if err := os.WriteFile(goldenToken(len(migrations)), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Sessions of every schema that has them go on.
func TestOldSessionsGoOn(t *testing.T) {
	t.Parallel()
	for schema := 2; schema <= len(migrations); schema++ {
		text, err := os.ReadFile(goldenToken(schema))
		if err != nil {
			t.Fatal(err)
		}
		token, ok := auth.ParseToken(string(text))
		if !ok {
			t.Fatalf("schema %d: no token", schema)
		}
		s, err := Open(unpack(t, fmt.Sprintf("schema%d.db", schema)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		pair, err := newDoor(t, s).Sessions.Refresh(t.Context(), token)
		if err != nil {
			t.Errorf("schema %d: renew: %v", schema, err)
		}
		caller, err := newDoor(t, s).Sessions.Authenticate(t.Context(), auth.RequestCredentials{FrameToken: pair.Access.Reveal()})
		if err != nil || caller.Account.Name != "Anna" || caller.Account.Created.IsZero() {
			t.Errorf("schema %d: %+v, %v", schema, caller, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// C7: no token can be found in the file.
func TestC7_TheFileHasNoToken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := newDoor(t, s)
	pair, begun := enter(t, d), begin(t, d)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(file, []byte("Anna")) {
		t.Fatal("the file does not have what was kept")
	}
	for name, secret := range map[string]string{
		"access token": pair.Access.Reveal()[3:], "refresh token": pair.Refresh.Reveal()[3:],
		"state": begun.State, "binding": begun.Binding,
	} {
		if bytes.Contains(file, []byte(secret)) {
			t.Errorf("the file has the %s", name)
		}
	}
}

// D4: however many refresh at once with one token, there is one successor, and
// one of them writes.
func TestD4_ConcurrentRefreshOnDisk(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	d := newDoor(t, s)
	first := enter(t, d)
	pairs := make([]auth.TokenPair, 8)
	var wg sync.WaitGroup
	for i := range pairs {
		wg.Go(func() {
			var err error
			if pairs[i], err = d.Sessions.Refresh(t.Context(), first.Refresh); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, pair := range pairs[1:] {
		if pair != pairs[0] {
			t.Error("two successors of one token")
		}
	}
	if n := count(t, s, []byte("auth_refresh")); n != 2 {
		t.Errorf("%d refresh tokens are kept, want 2", n)
	}
}

// A refresh is one transaction, which is one sync; looking somebody up is none.
func TestARefreshIsOneCommit(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	d := newDoor(t, s)
	pair := enter(t, d)
	commits := func(do func()) uint64 {
		before := s.commits.Load()
		do()
		return s.commits.Load() - before
	}
	if n := commits(func() {
		if _, err := d.Sessions.Refresh(t.Context(), pair.Refresh); err != nil {
			t.Error(err)
		}
	}); n != 1 {
		t.Errorf("a refresh is %d commits, want 1", n)
	}
	if n := commits(func() {
		if _, err := d.Sessions.Refresh(t.Context(), pair.Refresh); err != nil { // its repetition
			t.Error(err)
		}
		if _, err := d.Sessions.Authenticate(t.Context(), auth.RequestCredentials{FrameToken: pair.Access.Reveal()}); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("a repeated refresh and a look-up are %d commits, want 0", n)
	}
}

// A9: ten thousand sign-ins that are begun leave 256, and a file that does not
// grow by the others.
func TestA9_SignInsBegunAreBoundedOnDisk(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	d := newDoor(t, s)
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 100 {
				if _, err := d.Begin(t.Context(), auth.FlowOptions{Redirect: "x"}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := count(t, s, []byte("auth_state")); n != auth.MaxPendingFlows {
		t.Errorf("%d sign-ins are kept, want %d", n, auth.MaxPendingFlows)
	}
	stats, err := s.Stats()
	if err != nil || stats.Size-stats.Free > 1<<20 {
		t.Errorf("%d bytes are used, %v; want at most 1 MiB", stats.Size-stats.Free, err)
	}
}

// What sign-in providers publish is kept apart.
func TestIdpCache(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	if value, err := s.Cached(t.Context(), "a"); err != nil || value != nil {
		t.Errorf("nothing kept: %q, %v", value, err)
	}
	if err := s.SaveCached(t.Context(), "a", []byte("b")); err != nil {
		t.Fatal(err)
	}
	if value, err := s.Cached(t.Context(), "a"); err != nil || string(value) != "b" {
		t.Errorf("kept: %q, %v", value, err)
	}
}

// An error inside a transaction undoes it, and comes out as it is.
func TestAuthTransactionsAreWhole(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	table := session.Tables()[0]
	err := s.Auth().Update(t.Context(), func(tx auth.Tx) error {
		return errors.Join(tx.Put(table, []byte("a"), []byte("1")), errRefused)
	})
	if !errors.Is(err, errRefused) || count(t, s, []byte(table)) != 0 {
		t.Errorf("refused: %v, and %d records", err, count(t, s, []byte(table)))
	}
	err = s.Auth().Update(t.Context(), func(tx auth.Tx) error {
		for _, key := range []string{"a/1", "a/2", "b/1"} {
			if err := tx.Put(table, []byte(key), []byte(key)); err != nil {
				return err
			}
		}
		return tx.Delete(table, []byte("a/1"))
	})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	err = s.Auth().View(t.Context(), func(tx auth.Tx) error {
		return tx.Each(table, []byte("a/"), func(key, value []byte) error {
			seen = append(seen, fmt.Sprintf("%s=%s %s", key, value, tx.Get(table, key)))
			return nil
		})
	})
	if err != nil || fmt.Sprint(seen) != "[a/2=a/2 a/2]" {
		t.Errorf("seen %v, %v", seen, err)
	}
}

// BenchmarkSignInStart keeps the states of sign-ins that begin: 500 a second
// must be possible, with a bounded store.
func BenchmarkSignInStart(b *testing.B) {
	s := newStore(b, Options{})
	d := newDoor(b, s)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			begin(b, d)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "starts/s")
}

// BenchmarkRefresh renews sessions, each of which is one sync.
func BenchmarkRefresh(b *testing.B) {
	s := newStore(b, Options{})
	d := newDoor(b, s)
	pair := enter(b, d)
	before := s.commits.Load()
	for b.Loop() {
		var err error
		if pair, err = d.Sessions.Refresh(b.Context(), pair.Refresh); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(s.commits.Load()-before)/float64(b.N), "syncs/op")
}

// BenchmarkAuthenticate looks up who holds an access token.
func BenchmarkAuthenticate(b *testing.B) {
	s := newStore(b, Options{})
	d := newDoor(b, s)
	credentials := auth.RequestCredentials{Cookies: []string{enter(b, d).Access.Reveal()}}
	for b.Loop() {
		if _, err := d.Sessions.Authenticate(b.Context(), credentials); err != nil {
			b.Fatal(err)
		}
	}
}
