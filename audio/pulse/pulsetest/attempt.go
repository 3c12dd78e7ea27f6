package pulsetest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
)

// tries is how often something is tried that a machine may spoil.
const tries = 6

// An Attempt at something that happens in real time collects what is wrong with it.
// What ends a test at once still does.
type Attempt struct {
	*testing.T
	wrong []string
}

// Errorf notes what is wrong with this attempt.
func (a *Attempt) Errorf(format string, args ...any) {
	a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
}

// Error notes what is wrong with this attempt.
func (a *Attempt) Error(args ...any) {
	a.wrong = append(a.wrong, fmt.Sprint(args...))
}

// Retry fails the test unless nothing is wrong with one of a few attempts. Sound
// does not wait: a machine that stands still in mid-word, or starts a program too
// late, spoils what is heard, and that proves nothing of who plays. What is wrong
// with the product is wrong each time.
func Retry(t *testing.T, attempt func(a *Attempt)) {
	t.Helper()
	var wrong []string
	for n := range tries {
		a := &Attempt{T: t}
		attempt(a)
		if len(a.wrong) == 0 {
			return
		}
		wrong = append(wrong, fmt.Sprintf("attempt %d: %s", n+1, strings.Join(a.wrong, "\n")))
	}
	t.Error(strings.Join(wrong, "\n"))
}

// FreePort is a port of TCP on which nobody listens. It is none of those that the
// system hands out by itself, so nobody gets it by chance before it is used.
func FreePort(tb testing.TB) int {
	tb.Helper()
	const first, last = 20_000, 29_999
	for range last - first {
		port := first + rand.N(last-first) //nolint:gosec // no secret
		l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			tb.Fatal(err)
		}
		return port
	}
	tb.Fatal("every port is taken")
	return 0
}
