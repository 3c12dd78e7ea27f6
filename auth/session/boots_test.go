package session_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/session"
	"pressbox/packaging/check"
	"pressbox/store/clock"
)

const year = 365 * 24 * time.Hour

// A correction of the wall clock during a session changes no age.
func TestClock_corrected(t *testing.T) {
	r := newRig(t)
	for _, by := range []time.Duration{40 * year, -24 * time.Hour} {
		result, flow := r.signIn(), r.begin()
		r.host.Correct(by)
		first, second := r.clock.Corrected(), r.clock.Corrected()
		check.That(t, first == by && second == 0, "corrected by %v, then %v; want %v, 0", first, second, by)
		r.valid(result.Access)
		check.ErrorIs(t, check.Err(r.Finish(t.Context(), authtest.Callback(flow))), nil, "corrected by %v", by)
		r.host.Pass(auth.AccessTTL + time.Second)
		r.invalid(result.Access)
		r.refresh(result.Refresh)
	}
}

// The ages of records from before a correction are right also after a restart.
func TestClock_correctedThenRestarted(t *testing.T) {
	r := newRig(t)
	result := r.signIn() // while the clock is decades behind
	r.host.Correct(40 * year)
	r.clock.Corrected()
	check.NoError(t, session.SaveClock(t.Context(), r.store.Auth(), r.clock))
	r.host.Pass(time.Hour)
	r.host.Restart("second", time.Minute)
	r.start()
	r.invalid(result.Access)
	r.refresh(result.Refresh)
}

// After a restart with the wall clock behind, the time is the last known one.
func TestClock_restartedBehind(t *testing.T) {
	r := newRig(t)
	result := r.signIn()
	r.host.Pass(10 * time.Minute)
	check.NoError(t, session.SaveClock(t.Context(), r.store.Auth(), r.clock))
	seen := r.clock.Wall()
	r.host.Restart("second", -3*year)
	r.start()
	if now := r.clock.Wall(); now.Before(seen) || now.After(seen.Add(time.Minute)) {
		t.Errorf("after a restart it is %v, want about %v", now, seen)
	}
	r.valid(result.Access)
	r.host.Correct(3*year + 8*24*time.Hour) // by the network
	r.clock.Corrected()
	r.invalid(result.Access)
	r.notRefreshed(result.Refresh, auth.ErrSessionEnded)
}

// Eight days without power end a session; a restart of the program changes nothing.
func TestClock_restarted(t *testing.T) {
	r := newRig(t)
	result := r.signIn()
	r.host.Correct(5 * year)
	r.start()
	r.valid(result.Access)
	r.host.Pass(auth.AccessTTL + time.Second)
	r.invalid(result.Access)
	r.host.Restart("second", 8*24*time.Hour)
	r.start()
	r.notRefreshed(result.Refresh, auth.ErrSessionEnded)
}

// An unknown boot is older than any lifetime, and a thousand boots are stored: the oldest is deleted.
func TestOpenClock_bounded(t *testing.T) {
	r := newRig(t)
	age := r.clock.Age(clock.Instant{Boot: "unknown"})
	check.That(t, age >= year, "age %v, want more than any lifetime", age)
	check.NoError(t, r.store.Auth().Update(t.Context(), func(tx auth.Tx) error {
		for i := range uint64(998) { // with the first one, one less than the limit
			id := fmt.Sprint("boot", i)
			value, err := json.Marshal(clock.Boot{Start: authtest.Released, Seen: authtest.Released})
			if err != nil {
				return err
			}
			if err := tx.Put("meta_clock", []byte(id), value); err != nil {
				return err
			}
			if err := tx.Put("meta_clock_order", binary.BigEndian.AppendUint64(nil, i+1), []byte(id)); err != nil {
				return err
			}
		}
		return nil
	}))
	for i := range 5 {
		r.host.Restart(fmt.Sprint("new", i), time.Minute)
		r.start()
		check.Equal(t, r.clock.Age(r.clock.Now()), 0, "the age of now")
	}
	boots := r.records("meta_clock")
	n, order := len(boots), len(r.records("meta_clock_order"))
	check.That(t, n == 1000 && order == 1000, "%d boots in an order of %d, want 1000", n, order)
	for id, want := range map[string]bool{"first": false, "boot2": false, "boot3": true, "new0": true, "new4": true} {
		_, ok := boots[id]
		check.That(t, ok == want, "boot %s is stored: %v, want %v", id, ok, want)
	}
}
