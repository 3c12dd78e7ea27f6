package store

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	bolt "go.etcd.io/bbolt"

	"pressbox/packaging/check"
	"pressbox/voice/announce"
	"pressbox/voice/control"
)

// Schedules take at most a quarter of the share of announcements; then they can
// still be replaced and deleted, and the volume can be set.
func TestControls_share(t *testing.T) {
	s := NewForTest(t, Options{MaxSize: 8 << 20})
	schedule := bytes.Repeat([]byte("x"), 30_000)
	n := 0
	var err error
	for ; err == nil; n++ {
		err = s.SaveControl(t.Context(), fmt.Sprint("schedule/", n), schedule)
	}
	var used int64
	look(t, s, func(tx *bolt.Tx) {
		used = tableOf(tx, controlsBucket).bytes()
	})
	limit := s.limit(announcementsShare) / 4
	check.That(t, errors.Is(err, ErrFull) && used <= limit && used >= limit-2*int64(len(schedule)),
		"%v after %d schedules that use %d of %d bytes", err, n, used, limit)
	check.NoError(t, s.SaveControl(t.Context(), "schedule/0", schedule))
	check.NoError(t, s.SaveControl(t.Context(), control.KeyVolume, []byte(`{"volume":10}`)))
	check.NoError(t, s.SaveControl(t.Context(), control.KeyQuiet, []byte(`{"on":true}`)))
	check.NoError(t, s.SaveControl(t.Context(), "schedule/0", nil))
	check.NoError(t, s.SaveControl(t.Context(), "schedule/new", schedule))
	check.NoError(t, postEnded(s, 1, announce.IdempotencyKey{}, s.now()))
	checkUsage(t, s)
}
