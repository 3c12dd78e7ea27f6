package recovery

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/store/crashtest"
)

// faulty are short scenarios of one life, each of whose operations fails in turn.
var faulty = []scenario{
	{name: "create", lives: []string{"serve 2"}},
	{name: "backups", lives: []string{"backups 2"}},
	{name: "backup command", prepare: prepareRestore, lives: []string{"command 0"}},
	{name: "restore", prepare: prepareRestore, lives: []string{"restore 0"}},
	{name: "salvage", prepare: prepareDamaged, lives: []string{"salvage 1"}},
}

// Whichever operation fails while a store is created, used, backed up, restored or salvaged: no
// process crashes, and a disk that works again has everything that was acknowledged.
func TestAll_openDiskFails(t *testing.T) {
	t.Parallel()
	failures := crashtest.Failures()
	for _, s := range faulty {
		t.Run(s.name, func(t *testing.T) {
			all := check.Must(s.failing(t, nil).run())(t)
			step := max(1, all*len(failures)/8)
			if stateLimit(t) > 500 {
				step = 1
			}
			var wait sync.WaitGroup
			turns := make(chan func(), 1)
			for range runtime.GOMAXPROCS(0) {
				wait.Go(func() {
					for turn := range turns {
						turn()
					}
				})
			}
			n := 0
			for i, f := range failures {
				for first := i * step / len(failures); first < all; first += step {
					n++
					turns <- func() {
						check.ErrorIs(t, s.fails(t, first, f), nil, "%s, operation %d of %d", f.Name, first, all)
					}
				}
			}
			close(turns)
			wait.Wait()
			t.Logf("%d operations, %d failures", all, n)
		})
	}
}

// A failingLife is the first life of a scenario on a disk of its own.
type failingLife struct {
	scenario
	tb   testing.TB
	dir  string
	disk *crashtest.Disk
	end  func()
}

// failing returns the first life of a scenario on a disk that fails by a plan.
func (s scenario) failing(tb testing.TB, plan func(int, crashtest.Op) syscall.Errno) failingLife {
	tb.Helper()
	l := failingLife{scenario: s, tb: tb, dir: crashtest.TempDir(tb)}
	if s.prepare != nil {
		s.prepare(tb, configIn(l.dir))
	}
	l.disk, l.end = crashtest.MountUntil(tb, l.dir)
	l.disk.Fail(plan)
	return l
}

// run runs the process and returns the number of its operations.
func (l failingLife) run() (operations int, err error) {
	defer l.end()
	what, rounds, _ := strings.Cut(l.lives[0], " ")
	cmd := lifeCommand(l.tb, l.disk.Dir, 0, what, rounds)
	late := time.AfterFunc(maxOpening, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) }) // prints the stacks
	defer late.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return l.disk.Operations(), err
}

// fails runs the first life on a disk that fails from an operation on, and then opens the store.
func (s scenario) fails(t *testing.T, first int, f crashtest.Failure) error {
	t.Helper()
	plan, _ := f.Plan(first)
	l := s.failing(t, plan)
	defer os.RemoveAll(l.dir)
	_, err := l.run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() != 1 {
		return fmt.Errorf("the process crashed: %w", err)
	}
	trace := l.disk.Trace()
	known := histories(trace.Acks(len(trace.Ops)))
	o := startOpener(t)
	defer func() { o.end() }()
	a := o.ask(question{l.dir, keysOf(known)})
	if a.Failed != "" {
		return errors.New(a.Failed)
	}
	if wrong := contradictions(known, a, strings.HasPrefix(s.name, "salvage")); wrong != "" {
		return errors.New(wrong)
	}
	return nil
}
