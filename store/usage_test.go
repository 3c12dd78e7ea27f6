package store

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"pressbox/auth"
	"pressbox/game/live"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
)

// checkUsage checks that the counted size of each bucket is its size, and that its pages take no more.
func checkUsage(t *testing.T, s *Store) {
	t.Helper()
	look(t, s, func(tx *bolt.Tx) {
		for _, row := range bucketRows() {
			b := tx.Bucket(row.name)
			counted, size := tableOf(tx, row.name).bytes(), sizeOf(b)
			stats := b.Stats()
			pages := int64(stats.BranchAlloc + stats.LeafAlloc)
			check.That(t, counted == size && pages <= size+2*pageSize,
				"%s: counted %d bytes, has %d, takes %d", row.name, counted, size, pages)
		}
	})
}

// The shares have room together in a store of any size, and each is nearly full at 90 %.
func TestShares_limits(t *testing.T) {
	t.Parallel()
	for _, most := range []int64{2 << 20, 8 << 20, 64 << 20, 512 << 20, 8 << 30} {
		st := Stats{Max: most}
		sum, s := int64(0), &Store{maxSize: most}
		for sh := range shareCount {
			sum += s.limit(sh)
			for used, want := range map[int64]bool{s.limit(sh) / 10 * 9: false, s.limit(sh)/10*9 + 1: true} {
				got := (Share{Used: used, Max: s.limit(sh)}).nearlyFull()
				check.Equal(t, got, want, "%s with %d of %d bytes is nearly full", sh, used, s.limit(sh))
			}
		}
		check.That(t, sum <= st.left()-st.reserve() && sum >= most/8, "of %d bytes, all shares have %d", most, sum)
	}
}

// A wrong size is corrected when the store is opened after an unclean shutdown; right ones are not written.
func TestOpen_recounts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pressbox.db")
	s := check.Must(Open(path, Options{}))(t)
	check.NoError(t, s.SaveTeamData(t.Context(), "url", []byte("{}")))
	check.NoError(t, appendGame(s, "g1", 1, 30, "{}"))
	check.NoError(t, s.update(t.Context(), func(tx *bolt.Tx) error {
		usage := tx.Bucket(usageBucket)
		return errors.Join(usage.Put(movesBucket, number(1<<40)), usage.Delete(teamDataBucket))
	}))
	check.NoError(t, s.Close())
	for _, want := range []int{2, 0} {
		var log check.Log
		s := check.Must(Open(path, Options{Recount: true, Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
		checkUsage(t, s)
		if got := strings.Count(log.String(), "counted wrongly"); got != want || want == 0 && s.commits.Load() != 0 {
			t.Errorf("%d wrong sizes, %d commits, want %d wrong sizes:\n%s", got, s.commits.Load(), want, log.String())
		}
		check.NoError(t, s.Close())
	}
}

// documentedShares returns the share of each bucket in the table of the package comment.
func documentedShares(t *testing.T) map[string]string {
	t.Helper()
	source := check.Must(os.ReadFile("store.go"))(t)
	_, rows, _ := strings.Cut(string(source), "//	bucket ")
	rows, _, _ = strings.Cut(rows, "//\n")
	shares := map[string]string{}
	for _, row := range strings.Split(rows, "\n//	")[1:] {
		if f := strings.Fields(row); len(f) >= 4 { // bucket, owner, share, bound
			shares[f[0]] = f[2]
		}
	}
	return shares
}

// Every bucket of a store has a row in the package comment and, unless its size
// is fixed, in bucketRows, with the same share.
func TestBuckets_documented(t *testing.T) {
	t.Parallel()
	shares := documentedShares(t)
	rows := map[string]string{string(metaBucket): "-", string(usageBucket): "-"}
	for _, row := range bucketRows() {
		rows[string(row.name)] = row.share.String()
	}
	check.That(t, maps.Equal(shares, rows), "the package comment has the shares\n%v, bucketRows\n%v", shares, rows)
	s := OpenForTest(t, "", Options{})
	check.NoError(t, s.view(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
			check.That(t, rows[string(name)] != "",
				"the bucket %s has no bound: add a row to the package comment and to bucketRows", name)
			return nil
		})
	}))
}

// fillAuth writes records into a table of sign-in until it is rejected.
func fillAuth(t *testing.T, s *Store, table string) (err error) {
	t.Helper()
	for i := 0; err == nil; i++ {
		err = s.Auth().Update(t.Context(), func(tx auth.Tx) error {
			for j := range 100 {
				key := fmt.Appendf(nil, "%s-%032d", table, i*100+j)
				if err := tx.Put(auth.Table(table), key, make([]byte, 300)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return err
}

// A full share rejects its own data only. Accounts leave half of theirs to sessions.
func TestShares_independent(t *testing.T) {
	s := NewForTest(t, Options{MaxSize: 8 << 20})
	for name, err := range map[string]error{
		"accounts": fillAuth(t, s, "auth_user"),
		"sessions": fillAuth(t, s, "auth_session"),
	} {
		check.That(t, err != nil && strings.Contains(err.Error(), ErrFull.Error()),
			"%s: %v, want %v", name, err, ErrFull)
	}
	box := make([]byte, 20_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(box) // it fails never
	games := 0
	for ; appendGame(s, fmt.Sprintf("g%06d", games), 1, 30, string(box)) == nil; games++ {
	}
	for i := range 30 {
		check.NoError(t, s.SaveTeamData(t.Context(), fmt.Sprint("https://example.org/", i), make([]byte, 60_000)))
	}
	check.NoError(t, s.SaveCalibration("5e1f", []byte("{}")))
	for i := range 100 {
		err := postEnded(s, uint64(i+1), announce.IdempotencyKey{Key: fmt.Sprint(i)}, s.now())
		check.Require(t, err == nil, "announcement %d: %v", i, err)
	}
	checkUsage(t, s)
	st := check.Must(s.Stats())(t)
	t.Logf("%d games; %+v", games, st)
	check.That(t, st.NearlyFull() == "sign-in" && s.Health() == nil && st.Size <= 8<<20,
		"nearly full: %q, health %v, %d bytes", st.NearlyFull(), s.Health(), st.Size)
	check.NoError(t, s.Auth().Update(t.Context(), func(tx auth.Tx) error { // a full share shrinks
		return tx.Delete("auth_user", fmt.Appendf(nil, "auth_user-%032d", 0))
	}))
	check.Must(s.Games().Append(t.Context(), live.Change{Game: "g000000"}))(t)
	checkUsage(t, s)
}
