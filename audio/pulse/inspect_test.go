package pulse_test

import (
	"bytes"
	"net"
	"path/filepath"
	"syscall"
	"testing"

	"pressbox/audio/pulse"
	"pressbox/audio/pulse/pulsetest"
	"pressbox/packaging/check"
)

func inspect(t *testing.T, cfg pulse.Config) pulse.Inspection {
	t.Helper()
	return check.Must(pulse.Inspect(t.Context(), cfg))(t)
}

func TestInspect_findsSinks(t *testing.T) {
	t.Parallel()
	server := pulsetest.Start(t, pulsetest.Config{})
	r := inspect(t, pulse.Config{Server: "unix:/nowhere/native " + server.Address})
	check.That(t, len(r.Attempts) == 2 && r.Attempts[0].Failure == pulse.NotFound && r.Attempts[1].Failure == "",
		"attempts: %+v", r.Attempts)
	check.Require(t, r.Default == "speaker" && r.Server != "" && len(r.Sinks) == 1, "%+v", r)
	s := r.Sinks[0]
	check.That(t, s.Name == "speaker" && !s.Muted && s.Volume == 100 && s.Null && !s.Unplugged, "the sink: %+v", s)
	server.Pactl("set-sink-mute", "speaker", "1")
	server.Pactl("set-sink-volume", "speaker", "30%")
	s = inspect(t, pulse.Config{Server: server.Address}).Sinks[0]
	check.That(t, s.Muted && s.Volume == 30, "the sink, muted and turned down: %+v", s)
	server.Pactl("unload-module", "module-null-sink")
	if r := inspect(t, pulse.Config{Server: server.Address}); len(r.Sinks) != 0 || r.Server == "" {
		t.Errorf("without a sink: %+v", r)
	}
}

func TestInspect_failures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, tcp := startTCP(t, file(t, bytes.Repeat([]byte("secret! "), 32)))
	stopped := pulsetest.Start(t, pulsetest.Config{})
	stopped.Signal(syscall.SIGSTOP)
	dead := filepath.Join(dir, "dead")
	l := check.Must(net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: dead}))(t)
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	for server, want := range map[string]pulse.Failure{
		"unix:" + filepath.Join(dir, "none"): pulse.NotFound,
		"unix:" + dead:                       pulse.Refused,
		tcp:                                  pulse.AccessDenied,
		stopped.Address:                      pulse.Timeout,
		listen(t, say("HTTP/1.1 400 Bad Request")): pulse.Other,
	} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			r := inspect(t, pulse.Config{Server: server})
			if len(r.Attempts) != 1 || r.Attempts[0].Failure != want || r.Attempts[0].Detail == "" || r.Server != "" {
				t.Errorf("%s: %+v, want %s", server, r, want)
			}
		})
	}
	check.That(t, check.Err(pulse.Inspect(t.Context(), pulse.Config{Server: "unix:relative"})) != nil,
		"Inspect accepts a configuration without a server")
}
