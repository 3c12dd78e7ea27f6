// Package killtest is for tests that kill a process: a copy of their own program, which plays a part.
package killtest

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// A Part is what a copy of the test's program does instead of testing.
type Part func(args []string) error

// partKey names the part, in the environment of a copy.
const partKey = "PRESSBOX_TEST_PART"

// Main is TestMain of a package whose program plays parts: it runs the tests, or the part that [Play] has named, and ends
// the process.
func Main(m *testing.M, parts map[string]Part) {
	part, ok := parts[os.Getenv(partKey)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := part(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Play returns a copy of the test's program that plays a part. It has not been started, and ends with the test.
func Play(tb testing.TB, part string, args ...string) *exec.Cmd {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), os.Args[0], args...) //nolint:gosec // the test itself
	cmd.Env = append(os.Environ(), partKey+"="+part)
	return cmd
}

// Kill lets a part live for a random while, at longest as told: from its birth in one of five rounds, otherwise from when
// it has written a line. What it complains of fails the test.
func Kill(tb testing.TB, round int, longest time.Duration, part string, args ...string) {
	tb.Helper()
	cmd := Play(tb, part, args...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	if round%5 != 4 {
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			tb.Errorf("round %d: the %s is not ready: %v", round, part, err)
		}
	}
	kill := time.AfterFunc(rand.N(longest), func() { _ = cmd.Process.Kill() }) //nolint:gosec // any moment will do
	defer kill.Stop()
	_ = cmd.Wait() // it says that it was killed
	if complaints.Len() > 0 {
		tb.Errorf("round %d: %s", round, complaints.String())
	}
}

// Rounds is how often to kill: PRESSBOX_CRASH_ROUNDS, or as usual.
func Rounds(tb testing.TB, usual int) int {
	tb.Helper()
	set := os.Getenv("PRESSBOX_CRASH_ROUNDS")
	if set == "" {
		return usual
	}
	rounds, err := strconv.Atoi(set)
	if err != nil {
		tb.Fatalf("PRESSBOX_CRASH_ROUNDS: %v", err)
	}
	return rounds
}
