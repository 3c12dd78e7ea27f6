package play

import (
	"fmt"
	"testing"
	"time"
)

func TestCreations_perAccount(t *testing.T) {
	t.Parallel()
	var c creations
	now := time.Now()
	for i := range creationsPerHour {
		if wait := c.reserve("ann", now); wait != 0 {
			t.Fatalf("game %d: wait %s", i, wait)
		}
	}
	if wait := c.reserve("ann", now); wait != 2*time.Minute {
		t.Errorf("one more: wait %s, want 2m", wait)
	}
	if wait := c.reserve("bob", now); wait != 0 {
		t.Errorf("another account: wait %s", wait)
	}
	if wait := c.reserve("ann", now.Add(2*time.Minute)); wait != 0 {
		t.Errorf("two minutes later: wait %s", wait)
	}
	for i := range 2 * maxCreators {
		c.reserve(fmt.Sprint(i), now.Add(time.Duration(i)*time.Hour))
	}
	if n := len(c.byAccount); n > maxCreators {
		t.Errorf("%d accounts are counted, want at most %d", n, maxCreators)
	}
}
