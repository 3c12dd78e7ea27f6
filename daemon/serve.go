package main

import (
	"context"
	"errors"
	"net"
	"strconv"

	"pressbox/audio/pulse"
	"pressbox/daemon/systemd"
)

// run is the daemon: it opens what it keeps, puts its parts together, listens,
// and runs until ctx ends. Then it stops accepting, finishes the sentence that
// is being spoken, and closes everything in reverse.
func run(ctx context.Context, l launch) (err error) {
	kept, salvaged, err := openStore(ctx, l.cfg, l.log)
	if errors.Is(err, errInterrupted) { // it was told to end before it began
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	h, err := build(l, kept, pulse.New(soundConfig(l.cfg, l.log))) //nolint:contextcheck // what is read at the start is short
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.phonemizer.Close()) }()
	doors, err := listen(l.cfg)
	if err != nil {
		return err
	}
	if doors.differ != "" {
		l.log.Warn("HOST and PORT are not where systemd listens", "listening", doors.differ,
			"settings", net.JoinHostPort(l.cfg.Host, strconv.Itoa(l.cfg.Port)))
	}
	h.salvaged, h.inherited = salvaged, doors.inherited
	return h.run(ctx, doors)
}

// run runs the parts, each stage on those before it.
func (h *house) run(ctx context.Context, doors sockets) error {
	asked, stop := hangUps() // from before anybody knows of us: they would end us
	defer stop()
	reloads := func(ctx context.Context) error { return h.reloads(ctx, asked) }
	serving := []runner{h.announcer.Run, func(own context.Context) error { return h.farewell(ctx, own) }}
	for _, l := range doors.http {
		h.log.Info("listening", "version", version, "url", webAddress(l))
		h.addresses = append(h.addresses, webAddress(l))
		serving = append(serving, func(ctx context.Context) error { return h.web.Serve(ctx, l) })
	}
	for _, l := range doors.admin {
		serving = append(serving, func(ctx context.Context) error { return h.web.ServeAdmin(ctx, l) })
	}
	h.tell(systemd.Ready(h.inOneLine()))
	around := []runner{h.voices.Run, reloads, h.doorway.run, h.rosters.Run, h.hall.Run, h.watch, h.reports, h.backups, h.idles}
	return supervise(ctx, []runner{h.sink.Run}, around, serving)
}

// farewell waits for the end of its stage, the first one to end, and says that the
// daemon stops, if it was told to.
func (h *house) farewell(told, own context.Context) error {
	<-own.Done()
	if told.Err() != nil {
		h.log.Info("stopping")
		h.tell(systemd.Stopping())
	}
	return nil
}

// tell logs that the service manager could not be told something; there is no
// other use in knowing.
func (h *house) tell(err error) {
	if err != nil {
		h.log.Warn("the service manager does not listen", "err", err)
	}
}
