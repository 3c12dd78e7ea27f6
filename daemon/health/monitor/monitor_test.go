package monitor

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/audio/pulse"
	"pressbox/daemon/health"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/voice/announce"
)

// A store that fills up is degraded before it rejects data, and failing then.
func TestMonitor_storeFillsUp(t *testing.T) {
	t.Parallel()
	st := check.Must(store.Open(filepath.Join(t.TempDir(), "pressbox.db"), store.Options{MaxSize: 4 << 20}))(t)
	defer st.Close()
	m := &Monitor{Store: st}
	var states []health.Health
	for n := 1; ; n++ {
		c := m.store()
		if len(states) == 0 || states[len(states)-1] != c.Health {
			states = append(states, c.Health)
		}
		check.That(t, (c.Health == "") == (c.Detail == ""), "%q with the detail %q", c.Health, c.Detail)
		if c.Health == health.Failing {
			break
		}
		a := announce.Announcement{
			ID: fmt.Sprint(n), Seq: uint64(n), Content: announce.Content{Message: strings.Repeat("x", 10<<10)},
			Status: announce.Queued,
		}
		_, _, err := st.Append(t.Context(), a, announce.IdempotencyKey{})
		check.NoError(t, err)
	}
	check.Equal(t, fmt.Sprint(states), "[ degraded failing]", "the states of the store")
}

// A sink that is muted or at 0 is degraded, as doctor reports it, with the same remedy.
func TestMonitor_silentSink(t *testing.T) {
	t.Parallel()
	speaker := pulse.Status{Server: "PulseAudio 16.1", Address: "unix:/run/a"}
	speaker.Name, speaker.Volume = "speaker", 1
	with := func(change func(*pulse.Status)) pulse.Status {
		s := speaker
		change(&s)
		return s
	}
	for name, tt := range map[string]struct {
		status pulse.Status
		err    error
		want   health.Health
		detail string
	}{
		"audible": {speaker, nil, "", ""},
		"muted": {
			with(func(s *pulse.Status) { s.Muted = true }), nil, health.Degraded,
			"pactl --server=unix:/run/a set-sink-mute speaker 0",
		},
		"at 0": {
			with(func(s *pulse.Status) { s.Volume = 0 }), nil, health.Degraded,
			"pactl --server=unix:/run/a set-sink-volume speaker 100%",
		},
		"not connected": {pulse.Status{}, errors.New("no sound server"), health.Degraded, "no sound server"},
		"starting":      {pulse.Status{}, nil, "", ""},
	} {
		if c := audioCondition(tt.status, tt.err); c.Health != tt.want || !strings.Contains(c.Detail, tt.detail) ||
			(tt.detail == "") != (c.Detail == "") {
			t.Errorf("%s: %q, %q; want %q, %q", name, c.Health, c.Detail, tt.want, tt.detail)
		}
	}
}

// /health is public: an error of the connection to the broker does not name the broker.
func TestWithoutAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:1", "broker.invalid:1883"} {
		_, err := net.Dial("tcp", address)
		host, _, _ := strings.Cut(address, ":")
		got := withoutAddress(fmt.Errorf("connect to %s: %w", address, err))
		check.That(t, err != nil && got != "" && !strings.Contains(got, host), "%s: %q", address, got)
	}
	check.Equal(t, withoutAddress(fmt.Errorf("bad user name or password")),
		"bad user name or password", "another error")
}
