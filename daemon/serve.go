package main

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"pressbox/audio/pulse"
	"pressbox/daemon/cli"
	"pressbox/daemon/doctor"
	"pressbox/daemon/exitcode"
	"pressbox/daemon/recovery"
	"pressbox/daemon/systemd"
	"pressbox/daemon/watchdog"
)

// serve opens the store, builds the parts, listens, and runs until ctx ends. Then it stops
// accepting, finishes the current sentence, and closes everything in reverse.
func serve(ctx context.Context, o cli.ServeOptions) (err error) {
	limitMemory(os.DirFS("/"))
	st, salvaged, err := recovery.Open(ctx, o.Config, o.Log)
	if errors.Is(err, exitcode.ErrInterrupted) { // stopped during the check of the store
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	sound := doctor.PulseConfig(o.Config)
	sound.Log, sound.Ducked = o.Log, st
	a, err := build(o, st, pulse.New(sound)) //nolint:contextcheck // the reads at the start are short
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.phonemizer.Close()) }()
	s, err := listen(o.Config)
	if err != nil {
		return err
	}
	if s.mismatch != "" {
		o.Log.Warn("HOST and PORT ignored: socket passed by systemd",
			"listening", s.mismatch, "settings", o.Config.Address())
	}
	if permitted := o.Config.Exposed(); permitted != "" {
		o.Log.Warn("open to every address", "permitted", permitted)
	}
	a.monitor.Salvaged = salvaged
	return a.run(ctx, s)
}

// run runs the parts, each stage on those before it.
func (a *app) run(ctx context.Context, s sockets) error {
	hangups, stop := watchHangups() // before READY=1: an unhandled SIGHUP would end the process
	defer stop()
	serving := []runner{a.announcer.Run, a.runBroker, func(own context.Context) error { return a.logStop(ctx, own) }}
	for _, l := range s.http {
		url := urlOf(l)
		a.Log.Info("listening", "version", version, "url", url)
		a.monitor.Addresses = append(a.monitor.Addresses, url)
		serving = append(serving, func(ctx context.Context) error { return a.web.Serve(ctx, l) })
	}
	serving = append(serving, a.sideRunners(s)...)
	for _, l := range s.admin {
		serving = append(serving, func(ctx context.Context) error { return a.web.ServeAdmin(ctx, l) })
	}
	a.monitor.Notify(systemd.Ready(a.monitor.StatusLine()))
	debug.FreeOSMemory() // the start takes more memory than the server does, and an idle one would not return it
	background := []runner{
		a.store.Run, a.voices.Run, a.signIn.Run, a.rosters.Run,
		a.games.Run, a.leagues.Run, a.runControls, a.schedules.Run, a.rooms.Run, a.monitor.Run,
		watchdog.Watchdog{Components: a.components(), OK: a.metrics.WatchdogOK, Log: a.Log}.Run,
		a.backups.Run, a.downloads.Run, a.events.Run,
		func(ctx context.Context) error { return a.reloadOn(ctx, hangups) },
		func(ctx context.Context) error { return a.runIdle(ctx, s.fromSystemd) },
	}
	return supervise(ctx, []runner{a.sink.Run}, background, serving)
}

// logStop waits for the end of its stage, the first to end, and reports that the server
// stops if a signal was the cause.
func (a *app) logStop(signaled, own context.Context) error {
	<-own.Done()
	if signaled.Err() != nil {
		a.Log.Info("stopping")
		a.monitor.Notify(systemd.Stopping())
	}
	return nil
}

// A runner runs until its context ends, then returns nil.
type runner func(ctx context.Context) error

// supervise runs stages of runners; each stage depends on the stages before it. When ctx
// or any runner ends, it ends the last stage and waits for it, then the stage before, and
// so on. It returns the errors of all runners.
func supervise(ctx context.Context, stages ...[]runner) error {
	ctx, endAll := context.WithCancel(ctx)
	defer endAll()
	ends := make([]func() error, len(stages))
	for i, stage := range stages {
		own, end := context.WithCancel(context.WithoutCancel(ctx))
		var group errgroup.Group
		for _, run := range stage {
			group.Go(func() error {
				defer endAll()
				return run(own)
			})
		}
		ends[i] = func() error {
			end()
			return group.Wait()
		}
	}
	<-ctx.Done()
	var errs []error
	for _, end := range slices.Backward(ends) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// limitMemory makes the garbage collector work harder from half of the memory
// that the control group may use, unless GOMEMLIMIT is set. The other half is for
// voices and the page cache, which the Go runtime does not see.
func limitMemory(root fs.FS) {
	if limit := groupMemory(root); limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 2)
	}
}

// groupMemory returns the bytes that the control group of this process and those
// above it may use (cgroups(7), version 2): the lowest memory.high and memory.max.
// 0 means no limit. root is the root directory.
func groupMemory(root fs.FS) (limit int64) {
	own, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	_, group, found := strings.Cut(string(own), "0::")
	if !found {
		return 0
	}
	limit = math.MaxInt64
	group, _, _ = strings.Cut(group, "\n")
	for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
		for _, name := range []string{"memory.high", "memory.max"} {
			text, err := fs.ReadFile(root, path.Join("sys/fs/cgroup", dir, name))
			if err != nil {
				continue
			}
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // else "max"
				limit = min(limit, n)
			}
		}
		if dir == "/" {
			break
		}
	}
	if limit == math.MaxInt64 {
		return 0
	}
	return limit
}
