// Package display runs the browser of a wall display on the display of this host, within a
// compositor that was started for it.
//
// One law: a page that has answered and does so no more is given up; one that never answered is
// left to the browser, which loads it again by itself.
package display

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// ErrPage is the error of a page that has stopped.
var ErrPage = errors.New("the page of the wall display does not answer")

const (
	pollInterval = 10 * time.Second
	patience     = 2 * time.Minute // until a page that does not answer is given up
)

// chromium returns the command of the browser, which shows no questions and no messages.
func chromium() []string {
	return []string{
		"chromium", "--kiosk", "--ozone-platform=wayland",
		"--no-first-run", "--noerrdialogs", "--hide-crash-restore-bubble",
		"--disable-session-crashed-bubble", "--disable-infobars",
		"--disable-translate", "--password-store=basic", "--ipc-connection-timeout=300",
	}
}

// A Display is a browser that shows a page.
type Display struct {
	URL     string
	Profile string // a directory that is replaced by an empty one

	log            io.Writer // of the programs that it runs
	browser        []string  // a program and its arguments
	poll, patience time.Duration
}

// New returns a display with its profile in dir, which should be a tmpfs: a power cut then leaves
// nothing that the browser would ask about.
func New(url, dir string) *Display {
	return &Display{url, filepath.Join(dir, "pressbox-kiosk"), os.Stderr, chromium(), pollInterval, patience}
}

// Run shows the page until the browser ends or ctx does, or the page has stopped ([ErrPage]). It
// ends the browser ten minutes after the last input, if there was any: an account that signed in
// at the display is then signed out.
func (d *Display) Run(ctx context.Context) error {
	if err := d.clear(); err != nil {
		return fmt.Errorf("make the browser's profile: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := d.command(ctx)
	tools, err := start(cmd)
	if err != nil {
		return fmt.Errorf("start the browser: %w", err)
	}
	defer tools.close()
	ended := make(chan error, 1)
	var waited sync.WaitGroup
	waited.Go(func() { ended <- cmd.Wait() })
	defer waited.Wait()
	stopIdle := d.endWhenIdle(ctx, cmd.Process.Pid)
	defer stopIdle()
	defer cancel() // kills the browser before it is waited for
	return d.watch(ctx, tools, ended)
}

// clear makes an empty profile.
func (d *Display) clear() error {
	if err := os.RemoveAll(d.Profile); err != nil {
		return err
	}
	return os.Mkdir(d.Profile, 0o700)
}

// command returns the browser's command, which is killed with its children when ctx ends: nothing
// of its profile is needed again.
func (d *Display) command(ctx context.Context) *exec.Cmd {
	arguments := append(d.browser[1:len(d.browser):len(d.browser)],
		"--user-data-dir="+d.Profile, "--remote-debugging-pipe", d.URL)
	//nolint:gosec // the page's URL is the only argument that is not ours
	cmd := exec.CommandContext(ctx, d.browser[0], arguments...)
	cmd.Stdout, cmd.Stderr = d.log, d.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// watch returns when the browser has ended, or its page has stopped.
func (d *Display) watch(ctx context.Context, tools *devtools, ended <-chan error) error {
	w := watchdog{patience: d.patience}
	for {
		select {
		case err := <-ended:
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("the browser has ended: %w", err)
			}
			return nil
		case <-time.After(d.poll):
		}
		if w.stopped(time.Now(), tools.answers(ctx, d.poll)) {
			return ErrPage
		}
	}
}

// A watchdog decides when a page has stopped.
type watchdog struct {
	patience time.Duration
	answered time.Time // last; zero: never
}

// stopped takes whether the page answers at a moment, and reports whether it has answered before
// and has not for too long.
func (w *watchdog) stopped(now time.Time, answers bool) bool {
	if answers {
		w.answered = now
	}
	return !w.answered.IsZero() && now.Sub(w.answered) >= w.patience
}

// endWhenIdle ends the browser ten minutes after the last input, if there was any. Without
// swayidle, or a display that reports input, it does nothing. stop waits for its end.
func (d *Display) endWhenIdle(ctx context.Context, browser int) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	used := filepath.Join(d.Profile, "used")
	cmd := exec.CommandContext(ctx, "swayidle", "-w", "timeout", "1", "true", "resume", `touch "$used"`,
		"timeout", "600", `test ! -e "$used" || kill "$browser"`)
	cmd.Env = append(os.Environ(), "used="+used, "browser="+strconv.Itoa(browser))
	cmd.Stdout, cmd.Stderr = d.log, d.log
	if err := cmd.Start(); err != nil {
		_, _ = fmt.Fprintf(d.log, "sessions do not end without input: %v\n", err)
		cancel()
		return func() {}
	}
	return func() {
		cancel()
		_ = cmd.Wait() // killed
	}
}
