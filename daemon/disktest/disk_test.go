// Package disktest runs the server on a disk that fails, and with a store that is full.
package disktest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pressbox/daemon/client"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
	"pressbox/store/crashtest"
	"pressbox/voice/announce"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m)) }

// Whichever operation of the store fails, for once or from then on: the server reports it,
// loses nothing that was acknowledged, does not crash, and works again on a disk that works.
func TestAll_serverDiskFails(t *testing.T) {
	t.Parallel()
	env := servertest.Environment(t, servertest.Silent)
	calibrated := servertest.CalibratedDir(t)
	all := operations(t, calibrated, env)
	step := stepOf(t, all)
	outcomes := map[string]int{}
	type run struct {
		crashtest.Failure
		first int
	}
	next := make(chan run)
	var mu sync.Mutex // guards outcomes
	var wait sync.WaitGroup
	for range atOnce {
		wait.Go(func() {
			for r := range next {
				outcome, err := attempt(t, calibrated, env, r.Failure, r.first)
				check.ErrorIs(t, err, nil, "%s, operation %d", r.Name, r.first)
				mu.Lock()
				outcomes[r.Name+", "+outcome]++
				mu.Unlock()
			}
		})
	}
	failures := crashtest.Failures()
	for i, f := range failures {
		for first := i * step / len(failures); first < all; first += step {
			next <- run{f, first}
		}
	}
	close(next)
	wait.Wait()
	t.Logf("%d operations, each %d-th: %v", all, step, outcomes)
}

// atOnce is the number of servers that run at the same time: each waits 5 s at its end for a sound server.
const atOnce = 6

// stepOf returns the distance of the operations that fail: 1 if PRESSBOX_CRASH_STATES is set.
func stepOf(tb testing.TB, all int) int {
	tb.Helper()
	if os.Getenv("PRESSBOX_CRASH_STATES") != "" {
		return 1
	}
	return max(1, all/4)
}

// operations returns the number of operations of a server on a disk that works.
func operations(tb testing.TB, calibrated string, env []string) int {
	tb.Helper()
	s := newSite(tb, calibrated, env)
	defer s.remove()
	check.NoError(tb, s.start())
	s.load()
	check.NoError(tb, s.End(syscall.SIGTERM))
	check.Require(tb, len(s.acknowledged) == loads,
		"on a disk that works, %d of %d announcements were accepted: %v", len(s.acknowledged), loads, s.refusals)
	return s.disk.Operations()
}

// attempt runs a server on a disk that fails from an operation on, and then on one that
// works. It returns what the server did.
func attempt(tb testing.TB, calibrated string, env []string,
	f crashtest.Failure, first int,
) (outcome string, err error) {
	tb.Helper()
	s := newSite(tb, calibrated, env)
	defer s.remove()
	plan, failed := f.Plan(first)
	s.disk.Fail(plan)
	outcome = "failed while it stopped"
	if err := s.start(); err != nil {
		outcome = "refused to start"
		if err := s.said(err.Error(), f.Err); err != nil {
			return outcome, err
		}
	} else {
		s.load()
		if failed() {
			outcome = "failed while it ran"
			err = s.reports(f)
		}
		stopped := s.End(syscall.SIGTERM)
		if err := errors.Join(err, crashed(s.Logged(), stopped)); err != nil {
			return outcome, fmt.Errorf("%w\n%s", err, s.Logged())
		}
	}
	s.disk.Fail(nil)
	return outcome, s.recovers()
}

// loads is the number of announcements that are posted.
const loads = 4

// A site is a server on a disk.
type site struct {
	*servertest.Process
	tb           testing.TB
	disk         *crashtest.Disk
	env          []string
	remove       func()
	client       *client.Client
	acknowledged map[string]string // id → status
	refusals     []error
}

func newSite(tb testing.TB, calibrated string, env []string) *site {
	tb.Helper()
	content := crashtest.TempDir(tb)
	check.NoError(tb, os.CopyFS(content, os.DirFS(calibrated)))
	disk, unmount := crashtest.MountUntil(tb, content)
	s := &site{tb: tb, disk: disk, acknowledged: map[string]string{}}
	s.remove = func() {
		unmount()
		_ = os.RemoveAll(content)
	}
	s.env = append(slices.Clone(env), "STATE_DIR="+filepath.Join(disk.Dir, "state"))
	return s
}

// start starts the server.
func (s *site) start() (err error) {
	if s.Process, err = servertest.Start(os.TempDir(), s.env); err != nil {
		return err
	}
	s.client = client.New(s.URL, "")
	return nil
}

// load posts announcements and cancels every second one.
func (s *site) load() {
	ctx, stop := context.WithTimeout(s.tb.Context(), time.Minute)
	defer stop()
	for i := range loads {
		r, err := s.client.Announce(ctx, saying("Announcement "+strconv.Itoa(i)))
		if err != nil {
			s.refusals = append(s.refusals, err)
			continue
		}
		s.acknowledged[r.ID] = "queued"
		if i%2 == 0 {
			continue
		}
		if err := s.client.Call(ctx, http.MethodDelete, "/notify/"+r.ID, nil, &r); err != nil {
			s.refusals = append(s.refusals, err)
			s.acknowledged[r.ID] = "" // either
		} else {
			s.acknowledged[r.ID] = "cancelled"
		}
	}
}

// reports checks that a server whose disk has failed says so.
func (s *site) reports(f crashtest.Failure) error {
	for _, err := range s.refusals {
		problem, ok := errors.AsType[*client.ProblemError](err)
		if !ok || problem.Status < 500 {
			return fmt.Errorf("a request was refused with %w", err)
		}
	}
	if !f.Lasting {
		return nil
	}
	if len(s.acknowledged) == loads && len(s.refusals) == 0 { // the failure came after the last write
		if _, err := s.client.Announce(s.tb.Context(), saying("One more.")); err == nil {
			return errors.New("an announcement was accepted on a disk that cannot be written")
		}
	}
	resp, err := http.Get(s.URL + "/health")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable {
		return fmt.Errorf("/health is %s, want 503", resp.Status)
	}
	if err := s.said(s.Logged(), f.Err); err != nil {
		return fmt.Errorf("the journal: %w", err)
	}
	cmd := exec.CommandContext(s.tb.Context(), "pressbox", "status")
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); !ok || failed.ExitCode() != 1 {
		return fmt.Errorf("status ended with %w, want exit code 1: %s", err, out)
	}
	if err := s.said(string(out), f.Err); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	return nil
}

// said checks that a text names the failure and is no crash.
func (s *site) said(text string, cause syscall.Errno) error {
	if !strings.Contains(text, cause.Error()) {
		return fmt.Errorf("no %q in %s", cause.Error(), text)
	}
	return crashed(text, nil)
}

// crashed returns an error if a process has crashed, judged by its log and its end.
func crashed(log string, ended error) error {
	failed, _ := errors.AsType[*exec.ExitError](ended)
	if strings.Contains(log, "goroutine ") || failed != nil && (failed.ExitCode() == 2 || failed.ExitCode() < 0) {
		return fmt.Errorf("the server crashed: %w: %s", ended, log)
	}
	return nil
}

// recovers checks that a server on the disk, which works again, has all that was acknowledged.
func (s *site) recovers() error {
	if err := s.start(); err != nil {
		return fmt.Errorf("on a disk that works again: %w", err)
	}
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(s.acknowledged)) {
		var r client.Report
		want := s.acknowledged[id]
		err := s.client.Call(s.tb.Context(), http.MethodGet, "/notify/"+id, nil, &r)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s, which was %s: %w", id, want, err))
		case want == "queued" && r.Ended(), want == "cancelled" && r.Status != want:
			errs = append(errs, fmt.Errorf("%s is %s, want %s", id, r.Status, want))
		}
	}
	if _, err := s.client.Announce(s.tb.Context(), saying("It works again.")); err != nil {
		errs = append(errs, err)
	}
	_ = s.End(syscall.SIGKILL) // the error says so
	return errors.Join(errs...)
}

// saying returns the request to announce a message now.
func saying(message string) announce.AnnouncementRequest {
	return servertest.Request(client.Announcement{Message: message})
}
