package pulsetest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
)

// maxAttempts limits the attempts of Retry.
const maxAttempts = 6

// An Attempt is one run of a test in real time. It collects errors; Fatal still ends the test.
type Attempt struct {
	*testing.T
	failures []string
}

// Errorf records an error of this attempt.
func (a *Attempt) Errorf(format string, args ...any) {
	a.failures = append(a.failures, fmt.Sprintf(format, args...))
}

// Error records an error of this attempt.
func (a *Attempt) Error(args ...any) {
	a.failures = append(a.failures, fmt.Sprint(args...))
}

// Retry fails the test unless one of a few attempts succeeds. A busy host that stalls in mid-word or starts a
// program too late spoils what is recorded, which is no fault of the code under test; a real fault shows
// every time.
func Retry(t *testing.T, attempt func(a *Attempt)) {
	t.Helper()
	var failures []string
	for n := range maxAttempts {
		a := &Attempt{T: t}
		attempt(a)
		if len(a.failures) == 0 {
			return
		}
		failures = append(failures, fmt.Sprintf("attempt %d: %s", n+1, strings.Join(a.failures, "\n")))
	}
	t.Error(strings.Join(failures, "\n"))
}

// FreePort returns a TCP port without a listener. It is outside the ephemeral range, so the kernel does not
// assign it to others.
func FreePort(tb testing.TB) int {
	tb.Helper()
	const first, last = 20_000, 29_999
	for range last - first {
		port := first + rand.N(last-first) //nolint:gosec // not a secret
		l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			tb.Fatal(err)
		}
		return port
	}
	tb.Fatal("no free port")
	return 0
}
