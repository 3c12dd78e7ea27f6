package control_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/store/clock"
	"pressbox/voice/announce"
	"pressbox/voice/announce/policy"
	"pressbox/voice/control"
	"pressbox/voice/control/hours"
)

// A repository stores records in memory; it fails while err is not nil.
type repository struct {
	mu      sync.Mutex // guards the fields below
	records map[string][]byte
	err     error
}

func (r *repository) Controls(context.Context) (map[string][]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.records), nil
}

func (r *repository) SaveControl(_ context.Context, key string, value []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return r.err
	case value == nil:
		delete(r.records, key)
	default:
		r.records[key] = value
	}
	return nil
}

func (r *repository) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// A host has a wall clock that can be wrong.
type host struct {
	boot string

	mu  sync.Mutex    // guards the fields below
	off time.Duration // of the wall clock
	set bool          // the clock is set
}

func (h *host) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Round(0).Add(h.off)
}

func (h *host) clockSet() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.set
}

// setClock moves the wall clock by off from the right time.
func (h *host) setClock(set bool, off time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.set, h.off = set, off
}

func (h *host) moment() clock.Moment {
	since := time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
	return clock.Moment{Wall: h.now(), Instant: clock.Instant{Boot: h.boot, Since: since}}
}

// A rig has controls and schedules on a repository. The time of the bubble begins on Saturday, 2000-01-01,
// 00:00 UTC.
type rig struct {
	*control.Controls
	*control.Schedules
	t    *testing.T
	repo *repository
	host *host
	accepted
}

var day = control.Config{
	Volume: 70, QuietMode: policy.Silence, QuietVolume: 25, UrgentMinVolume: 40, Zone: time.UTC,
}

// withHours returns the settings with QUIET_HOURS.
func withHours(t *testing.T, text string) control.Config {
	t.Helper()
	cfg := day
	cfg.QuietHours = check.Must(hours.Parse(text))(t)
	return cfg
}

func newRig(t *testing.T, cfg control.Config) *rig {
	t.Helper()
	r := &rig{t: t, repo: &repository{records: map[string][]byte{}}, host: &host{boot: "first", set: true}}
	r.restart(cfg)
	return r
}

// restart replaces the controls and the schedules by new ones on the same records.
func (r *rig) restart(cfg control.Config) {
	r.t.Helper()
	log := slog.New(slog.DiscardHandler)
	r.Controls = check.Must(control.NewControls(cfg, r.repo, r.host.moment, log))(r.t)
	r.Schedules = check.Must(control.NewSchedules(control.ScheduleParts{
		Repository: r.repo, Announcer: &r.accepted, Hub: r.Hub(), Now: r.host.now, ClockSet: r.host.clockSet, Log: log,
	}))(r.t)
}

// run runs the schedules until the test calls stop.
func (r *rig) run() (stop func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error)
	go func() { ended <- r.Schedules.Run(ctx) }()
	return func() {
		cancel()
		check.NoError(r.t, <-ended)
	}
}

// An accepted records the announcements that it accepts, one for each key, and when.
type accepted struct {
	mu       sync.Mutex // guards the fields below
	err      error      // why it accepts none
	keys     map[string]bool
	accepted []string
}

func (a *accepted) Announce(_ context.Context, r announce.Request) (announce.View, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return announce.View{}, a.err
	}
	if _, err := a.Check(r); err != nil {
		return announce.View{}, err
	}
	key := r.Client + " " + r.IdempotencyKey
	if !a.keys[key] {
		if a.keys == nil {
			a.keys = map[string]bool{}
		}
		a.keys[key] = true
		now := time.Now().UTC().Format("Mon 15:04:05")
		a.accepted = append(a.accepted, fmt.Sprintf("%s %s %s", now, r.Sender.Kind, r.Message))
	}
	return announce.View{}, nil
}

// refuse makes the announcer return err; nil: accept.
func (a *accepted) refuse(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
}

// take returns the accepted announcements since the last call.
func (a *accepted) take() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := strings.Join(a.accepted, ", ")
	a.accepted = nil
	return text
}

func (a *accepted) Check(r announce.Request) (announce.Announcement, error) {
	if r.Message == "" {
		return announce.Announcement{}, &announce.RequestError{
			Violations: []announce.Violation{{Path: "message", Code: announce.CodeRequired}},
		}
	}
	if r.Voice != "" {
		return announce.Announcement{}, &announce.RequestError{
			Violations: []announce.Violation{{Path: "voice", Code: announce.CodeUnknownVoice}},
			Voice:      &announce.UnknownVoiceError{Name: r.Voice},
		}
	}
	return announce.Announcement{}, nil
}

var errDisk = errors.New("disk full")
