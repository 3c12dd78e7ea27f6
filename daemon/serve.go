package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"pressbox/audio/pulse"
	"pressbox/daemon/systemd"
)

// run is the daemon: it opens what it keeps, puts its parts together, listens,
// and runs until ctx ends. Then it stops accepting, finishes the sentence that
// is being spoken, and closes everything in reverse.
func run(ctx context.Context, cfg Config, log *slog.Logger) (err error) {
	kept, err := openStore(cfg, log) //nolint:contextcheck // what is read at the start is short
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	h, err := build(cfg, kept, pulse.New(soundConfig(cfg, log)), log) //nolint:contextcheck // as above
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.phonemizer.Close()) }()
	doors, err := listen(cfg)
	if err != nil {
		return err
	}
	return h.run(ctx, doors)
}

// run runs the parts, each stage on those before it.
func (h *house) run(ctx context.Context, doors sockets) error {
	serving := []runner{h.announcer.Run}
	var addresses []string
	for _, l := range doors.http {
		h.log.Info("listening", "version", version, "url", webAddress(l))
		addresses = append(addresses, webAddress(l))
		serving = append(serving, func(ctx context.Context) error { return h.web.Serve(ctx, l) })
	}
	for _, l := range doors.admin {
		serving = append(serving, func(ctx context.Context) error { return h.web.ServeAdmin(ctx, l) })
	}
	defer context.AfterFunc(ctx, func() {
		h.log.Info("stopping")
		h.tell(systemd.Stopping())
	})()
	h.tell(systemd.Ready("Listening on " + strings.Join(addresses, ", ")))
	return supervise(ctx, []runner{h.sink.Run}, []runner{h.voices.Run, h.reloads, h.doorway.run}, serving)
}

// tell logs that the service manager could not be told something; there is no
// other use in knowing.
func (h *house) tell(err error) {
	if err != nil {
		h.log.Warn("the service manager does not listen", "err", err)
	}
}

// reloads takes over changes at each SIGHUP. On a terminal it leaves that signal alone:
// there it means that the terminal was closed.
func (h *house) reloads(ctx context.Context) error {
	if _, err := unix.IoctlGetTermios(int(os.Stdin.Fd()), unix.TCGETS); err == nil {
		<-ctx.Done()
		return nil
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGHUP)
	defer signal.Stop(asked)
	for {
		select {
		case <-asked:
			h.reload()
		case <-ctx.Done():
			return nil
		}
	}
}
