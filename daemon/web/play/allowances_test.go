package play

import (
	"fmt"
	"testing"
	"time"

	"pressbox/packaging/check"
)

func TestAllowance_perAccount(t *testing.T) {
	t.Parallel()
	c := hourly(creationsPerHour)
	now := time.Now()
	for i := range creationsPerHour {
		wait := c.reserve("ann", now)
		check.Require(t, wait == 0, "game %d: wait %s", i, wait)
	}
	check.Equal(t, c.reserve("ann", now), 2*time.Minute, "one more: wait")
	check.Equal(t, c.reserve("bob", now), 0, "another account: wait")
	check.Equal(t, c.reserve("ann", now.Add(2*time.Minute)), 0, "two minutes later: wait")
	for i := range 2 * maxAccounts {
		c.reserve(fmt.Sprint(i), now.Add(time.Duration(i)*time.Hour))
	}
	n := len(c.byAccount)
	check.That(t, n <= maxAccounts, "%d accounts are counted, want at most %d", n, maxAccounts)
}
