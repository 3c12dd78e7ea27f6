// Package killtest runs and kills child processes of a test: copies of the test
// program that call a function instead of testing.
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

	"pressbox/packaging/check"
)

// A Child is the function of a child process.
type Child func(args []string) error

// childKey is the environment variable with the name of the child.
const childKey = "PRESSBOX_TEST_CHILD"

// Main is the TestMain of a package with child processes. It runs the tests, or
// the child that [Command] has named, and exits.
func Main(m *testing.M, children map[string]Child) {
	child, ok := children[os.Getenv(childKey)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := child(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Command returns the command of a child process, which ends with the test.
func Command(tb testing.TB, child string, args ...string) *exec.Cmd {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), os.Args[0], args...) //nolint:gosec // the test itself
	cmd.Env = append(os.Environ(), childKey+"="+child)
	return cmd
}

// Kill runs a child process and kills it after a random time up to longest: in one of five rounds from its start,
// otherwise from the first line that it prints. What it writes to standard error fails the test.
func Kill(tb testing.TB, round int, longest time.Duration, child string, args ...string) {
	tb.Helper()
	cmd := Command(tb, child, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out := check.Must(cmd.StdoutPipe())(tb)
	check.NoError(tb, cmd.Start())
	if round%5 != 4 {
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			tb.Errorf("round %d: %s is not ready: %v", round, child, err)
		}
	}
	kill := time.AfterFunc(Moment(round, longest), func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_ = cmd.Wait() // returns that it was killed
	check.That(tb, stderr.Len() == 0, "round %d: %s", round, stderr.String())
}

// Moment returns the time up to longest after which a child process is killed in a round.
func Moment(round int, longest time.Duration) time.Duration {
	random := rand.New(rand.NewPCG(uint64(round), 1)) //nolint:gosec // the same in each run
	return time.Duration(random.Int64N(int64(longest)))
}

// Rounds returns the number of rounds: PRESSBOX_CRASH_ROUNDS, or else n, or a fifth of n with -short.
func Rounds(tb testing.TB, n int) int {
	tb.Helper()
	set := os.Getenv("PRESSBOX_CRASH_ROUNDS")
	switch {
	case set == "" && testing.Short():
		return max(1, n/5)
	case set == "":
		return n
	}
	return check.Must(strconv.Atoi(set))(tb)
}
