package limits_test

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressbox/daemon/limits"
	"pressbox/packaging/check"
)

var update = flag.Bool("update", false, "rewrite the table of writes in SECURITY.md")

// SECURITY.md has the table.
func TestWrites_documented(t *testing.T) {
	t.Parallel()
	path := filepath.Join(check.Root(t), "SECURITY.md")
	text := string(check.Must(os.ReadFile(path))(t))
	const head = "| what is saved | whose | changes | transactions | KiB | share | all of it |\n" +
		"|---|---|---|---|---|---|---|\n"
	table := head
	for _, w := range limits.Writes() {
		rate := "others limit them"
		if w.Rate > 0 {
			per := map[time.Duration]string{time.Minute: "a minute", time.Hour: "an hour"}[w.Per]
			rate = fmt.Sprintf("%d %s, %d at once", w.Rate, per, w.Burst)
		}
		table += fmt.Sprintf("| %s | %s | %s | %d | %d | %s | %s |\n",
			w.Name, w.Owner, rate, w.Syncs, (w.Bytes+1023)>>10, w.Share, w.Bound)
	}
	before, rest, found := strings.Cut(text, head)
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	check.Require(t, found, "SECURITY.md has no table with the head %q", head)
	if want := before + table + rest; want != text {
		check.That(t, *update, "the table in SECURITY.md differs (go test -update rewrites it):\n%s", table)
		if *update {
			check.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		}
	}
}

// An account has its allowance whatever its addresses are, and an address that of eight accounts.
func TestWriteLimiter_owners(t *testing.T) {
	t.Parallel()
	l := limits.Write{Owner: limits.Account, Rate: 60, Per: time.Minute, Burst: 10}.Limiter(nil)
	now := time.Unix(1_700_000_000, 0)
	address := netip.MustParseAddr("192.0.2.1")
	permitted := func(account string, client netip.Addr) (n int) {
		for l.Reserve(account, client, now) == 0 {
			n++
		}
		return n
	}
	check.Equal(t, permitted("anna", address), 10, "changes of an account")
	address = address.Next()
	check.Equal(t, l.Reserve("anna", address, now), time.Second, "until the next, from another address")
	all := 0
	for i := range 20 {
		all += permitted(fmt.Sprint(i), address)
	}
	check.Equal(t, all, 10*limits.Household, "changes of 20 accounts of an address")
	check.Equal(t, permitted("bob", netip.Addr{}), 10, "changes of an account on the host")
	check.Equal(t, l.Reserve("", netip.Addr{}, now), 0, "a request without an account on the host waits")
	now = now.Add(time.Second)
	check.Equal(t, permitted("anna", address.Next()), 1, "changes of an account a second later")
}
