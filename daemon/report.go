package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"pressbox/daemon/systemd"
	"pressbox/daemon/web"
)

// reportEvery is how often "systemctl status" is brought up to date besides at
// every announcement.
const reportEvery = 10 * time.Second

// reports keeps the line of "systemctl status" true. Without a service manager it
// waits for ctx.
func (h *house) reports(ctx context.Context) error {
	if os.Getenv("NOTIFY_SOCKET") == "" {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	events, stop := h.announcer.Watch()
	defer func() { stop() }()
	for last := ""; ; {
		if line := h.inOneLine(); line != last {
			h.tell(systemd.Status(line))
			last = line
		}
		select {
		case _, more := <-events:
			if !more { // more came than was read
				stop()
				events, stop = nil, func() {}
			}
		case <-tick.C:
			if events == nil {
				events, stop = h.announcer.Watch()
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// inOneLine says how the daemon is.
func (h *house) inOneLine() string {
	s := h.announcer.Stats()
	line := "Speaking"
	if s.Current == "" {
		line = "Silent"
	}
	line += fmt.Sprintf(", %d of %d waiting; %d voices; on %s", s.Waiting, s.Max, len(h.voices.Voices()), strings.Join(h.addresses, ", "))
	if sink := h.sink.Status().Sink; sink != "" {
		line += "; sink " + sink
	}
	for _, check := range h.checks() {
		if c := check.Report(); c.Health == web.Degraded || c.Health == web.Failing {
			line += fmt.Sprintf("; %s %s: %s", check.Name, c.Health, c.Detail)
		}
	}
	return line
}
