package session_test

import (
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/session"
	"pressbox/clock"
)

const year = 365 * 24 * time.Hour

// A clock that is corrected by decades in the middle of a session, or by a day
// backwards, changes nobody's age.
func TestClock_CorrectionsAgeNobody(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{40 * year, -24 * time.Hour} {
		h := newHouse(t)
		granted, begun := h.signIn(), h.begin()
		h.machine.correct(by)
		if moved := h.clock.Corrected(); moved != by {
			t.Errorf("Check = %v, want %v", moved, by)
		}
		if moved := h.clock.Corrected(); moved != 0 {
			t.Errorf("Check again = %v, want 0", moved)
		}
		h.mustBeIn(granted.Access)
		if _, err := h.Finish(t.Context(), back(begun)); err != nil { // a state across a step
			t.Errorf("corrected by %v: %v", by, err)
		}
		h.machine.pass(auth.AccessTTL + time.Second)
		h.mustBeOut(granted.Access)
		h.refresh(granted.Refresh)
	}
}

// Corrected during one boot, the records of that boot are in their right place
// for the next one.
func TestClock_CorrectedThenRestarted(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	granted := h.signIn() // while the clock is decades behind
	h.machine.correct(40 * year)
	h.clock.Corrected()
	if err := session.SaveClock(t.Context(), h.keeper, h.clock); err != nil {
		t.Fatal(err)
	}
	h.machine.pass(time.Hour)
	h.machine.restart("second", time.Minute)
	h.start()
	h.mustBeOut(granted.Access)
	h.refresh(granted.Refresh)
}

// After a restart with the time behind, the time is what was seen last.
func TestClock_RestartWithTheTimeBehind(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	granted := h.signIn()
	h.machine.pass(10 * time.Minute)
	if err := session.SaveClock(t.Context(), h.keeper, h.clock); err != nil {
		t.Fatal(err)
	}
	seen := h.clock.Wall()
	h.machine.restart("second", -3*year)
	h.start()
	if now := h.clock.Wall(); now.Before(seen) || now.After(seen.Add(time.Minute)) {
		t.Errorf("after a restart it is %v, want about %v", now, seen)
	}
	h.mustBeIn(granted.Access)
	h.machine.correct(3*year + 8*24*time.Hour) // the time arrives from the network
	h.clock.Corrected()
	h.mustBeOut(granted.Access)
	h.notRefreshed(granted.Refresh, auth.ErrSessionEnded)
}

// Eight days in a drawer end a session.
func TestClock_EightDaysLater(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	granted := h.signIn()
	h.machine.restart("second", 8*24*time.Hour)
	h.start()
	h.notRefreshed(granted.Refresh, auth.ErrSessionEnded)
}

// The program's restart within one boot changes nothing.
func TestClock_ProgramRestarted(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	granted := h.signIn()
	h.machine.correct(5 * year)
	h.start()
	h.mustBeIn(granted.Access)
	h.machine.pass(auth.AccessTTL + time.Second)
	h.mustBeOut(granted.Access)
}

// A record of a boot that nobody remembers is older than anything valid, and so
// many boots are remembered.
func TestClock_ForgottenBoots(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if age := h.clock.Age(clock.Instant{Boot: "unheard of"}); age < year {
		t.Errorf("age %v, want more than anything", age)
	}
	for i := range 1100 {
		h.machine.restart(time.Duration(i).String(), time.Minute)
		clock, err := session.OpenClock(t.Context(), h.keeper, h.machine.source(), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if age := clock.Age(clock.Now()); age != 0 {
			t.Fatalf("now is %v ago", age)
		}
	}
	if n := h.keeper.count("meta_clock"); n > 1000 {
		t.Errorf("%d boots are kept, want at most 1000", n)
	}
}
