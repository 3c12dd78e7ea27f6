package control_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/packaging/check"
	"pressbox/store/clock"
	"pressbox/voice/announce"
	"pressbox/voice/announce/policy"
	"pressbox/voice/control"
	"pressbox/voice/control/hours"
)

func TestVolume_settingReplacesSet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		settings []int // VOLUME of each start after the volume was set to 30
		want     control.Volume
	}{
		{"same", []int{70}, control.Volume{Volume: 30, Muted: true, Set: true}},
		{"changed", []int{80}, control.Volume{Volume: 80}},
		{"changed back", []int{80, 70}, control.Volume{Volume: 70}},
	} {
		for _, reload := range []bool{false, true} {
			r := newRig(t, day)
			volume, muted := 30, true
			check.Must(r.SetVolume(t.Context(), &volume, &muted))(t)
			cfg := day
			for _, cfg.Volume = range tt.settings {
				if reload {
					r.Configure(cfg)
				} else {
					r.restart(cfg)
				}
			}
			check.Equal(t, r.Volume(), tt.want, "%s, reload %v", tt.name, reload)
			r.restart(cfg)
			check.Equal(t, r.Volume(), tt.want, "%s, reload %v, started again", tt.name, reload)
		}
	}
}

func TestVolume_oneOfBoth(t *testing.T) {
	t.Parallel()
	r := newRig(t, day)
	volume, muted := 0, true
	check.Must(r.SetVolume(t.Context(), nil, &muted))(t)
	if got := r.State(time.Now()); got.Volume != 70 || !got.Muted || got.UrgentMinVolume != 40 ||
		got.QuietVolume != 25 {
		t.Errorf("muted: %+v", got)
	}
	check.Must(r.SetVolume(t.Context(), &volume, nil))(t)
	if got := r.State(time.Now()); got.Volume != 0 || !got.Muted {
		t.Errorf("at volume 0: %+v", got)
	}
}

func TestControls_notSavedNotApplied(t *testing.T) {
	t.Parallel()
	r := newRig(t, day)
	changes, stop := r.Hub().Watch()
	defer stop()
	r.repo.fail(errDisk)
	volume := 5
	_, errVolume := r.SetVolume(t.Context(), &volume, nil)
	_, errQuiet := r.SwitchOn(t.Context(), time.Hour, policy.Soft)
	a := announce.Payload{Content: announce.Content{Message: "a"}}
	_, errFavorites := r.SetFavorites(t.Context(), []control.Favorite{{Payload: a}})
	for _, err := range []error{errVolume, errQuiet, errFavorites} {
		check.That(t, errors.Is(err, control.ErrUnavailable) && errors.Is(err, errDisk), "%v, want it unavailable", err)
	}
	if s := r.State(time.Now()); s.Volume != 70 || s.Quiet.Active || len(r.Favorites()) > 0 || len(changes) > 0 {
		t.Errorf("applied %+v, %d favorites, %d changes", s, len(r.Favorites()), len(changes))
	}
}

func TestFavorites_saved(t *testing.T) {
	t.Parallel()
	r := newRig(t, day)
	want := check.Must(r.SetFavorites(t.Context(), []control.Favorite{
		{Payload: announce.Payload{
			Content: announce.Content{Title: "Kitchen", Message: "Dinner is ready.", Volume: 30},
		}},
		{Name: "B", Payload: announce.Payload{
			Content: announce.Content{Message: "b"}, Repeat: &announce.Repetition{Times: 2, Every: 10},
		}},
	}))(t)
	r.restart(day)
	check.That(t, reflect.DeepEqual(r.Favorites(), want), "favorites %+v, want %+v", r.Favorites(), want)
}

// The favorites of 0.5.0 have no ids. They get them once.
func TestFavorites_identified(t *testing.T) {
	t.Parallel()
	r := newRig(t, day)
	check.NoError(t, r.repo.SaveControl(t.Context(), "favourites", //nolint:misspell // the store's key
		[]byte(`[{"message": "a"}, {"message": "a"}]`)))
	r.restart(day)
	got := r.Favorites()
	check.That(t, len(got) == 2 && got[0].ID != "" && got[1].ID != "" && got[0].ID != got[1].ID, "favorites %+v", got)
	r.restart(day)
	check.That(t, reflect.DeepEqual(r.Favorites(), got), "favorites %+v, want %+v", r.Favorites(), got)
}

// A favorite without a name is called by its title or first words.
func TestFavorite_defaultName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 20)
	for want, content := range map[string]announce.Content{
		"Kitchen":          {Title: "Kitchen", Message: "Dinner"},
		"Dinner is ready.": {Message: "Dinner\nis ready."},
		strings.TrimSpace(strings.Repeat("word ", 12)): {Message: long},
		strings.Repeat("x", 64):                        {Message: strings.Repeat("x", 65)},
	} {
		f := control.Favorite{Payload: announce.Payload{Content: content}}
		check.Equal(t, f.DefaultName(), want, "%+v", content)
	}
}

// at returns an hour of the first day of the bubble.
func at(hour int) time.Time { return time.Date(2000, 1, 1, hour, 0, 0, 0, time.UTC) }

// states returns quiet from a moment on, as far as it is known then, for two days.
func states(r *rig, from time.Time) string {
	var all []string
	last := "none"
	for minutes := range 48 * 60 {
		moment := from.Add(time.Duration(minutes) * time.Minute)
		q := r.Quiet(moment)
		text := "-"
		if q.Active {
			text = fmt.Sprintf("%s %s until %s", q.Reason, q.Mode, q.Until.UTC().Format("Mon 15:04"))
		}
		if text != last {
			all = append(all, moment.UTC().Format("Mon 15:04 ")+text)
			last = text
		}
	}
	return strings.Join(all, ", ")
}

func TestQuiet_switchOverHours(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, hours string
		now         time.Time
		change      func(r *rig) error
		want        string
	}{
		{"none", "", at(12), nil, "Sat 12:00 -"},
		{"hours", "Sat 22:00-07:00", at(12), nil, "Sat 12:00 -, Sat 22:00 hours silence until Sun 07:00, Sun 07:00 -"},
		{"on", "", at(12), on(time.Hour, ""), "Sat 12:00 switch silence until Sat 13:00, Sat 13:00 -"},
		{"on, soft", "", at(12), on(time.Minute, policy.Soft), "Sat 12:00 switch soft until Sat 12:01, Sat 12:01 -"},
		{"longest", "", at(12), on(25*time.Hour, ""), "Sat 12:00 switch silence until Sun 12:00, Sun 12:00 -"},
		{"on, then off", "", at(12), both(on(time.Hour, ""), off), "Sat 12:00 -"},
		{
			"into the hours", "Sat 22:00-07:00", at(21), on(2*time.Hour, ""),
			"Sat 21:00 switch silence until Sun 07:00, Sat 23:00 hours silence until Sun 07:00, Sun 07:00 -",
		},
		{
			"into the hours, hold", "Sat 22:00-07:00", at(21), on(2*time.Hour, policy.Hold),
			"Sat 21:00 switch hold until Sat 23:00, Sat 23:00 hours silence until Sun 07:00, Sun 07:00 -",
		},
		{
			"in the hours, soft", "Sat 22:00-07:00", at(23), on(time.Hour, policy.Soft),
			"Sat 23:00 switch soft until Sun 00:00, Sun 00:00 hours silence until Sun 07:00, Sun 07:00 -",
		},
		{"off in the hours", "22:00-07:00", at(23), off, "Sat 23:00 -, Sun 22:00 hours silence until Mon 07:00, Mon " +
			"07:00 -, Mon 22:00 hours silence until Tue 07:00"},
		{"off for a day", "Sat-Mon 00:00-24:00", at(12), off, "Sat 12:00 -, Sun 12:00 hours silence until Tue 00:00"},
	} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(tt.now))
			cfg := withHours(t, tt.hours)
			r := newRig(t, cfg)
			if tt.change != nil {
				check.NoError(t, tt.change(r))
			}
			for _, restarted := range []bool{false, true} {
				if restarted {
					r.restart(cfg)
				}
				check.Equal(t, states(r, time.Now()), tt.want, "%s, restarted %v", tt.name, restarted)
			}
			cfg.QuietVolume++
			r.restart(cfg)
			before := newRig(t, cfg)
			check.Equal(t, states(r, time.Now()), states(before, time.Now()), "%s, QUIET_VOLUME changed", tt.name)
		})
	}
}

// on switches quiet on.
func on(d time.Duration, mode policy.Mode) func(*rig) error {
	return func(r *rig) error {
		_, err := r.SwitchOn(context.Background(), d, mode)
		return err
	}
}

func off(r *rig) error { return r.SwitchOff(context.Background()) }

func both(a, b func(*rig) error) func(*rig) error {
	return func(r *rig) error { return errors.Join(a(r), b(r)) }
}

// The switch has a duration: a correction of the wall clock does not change it, in one boot. Over a boot the
// wall clock counts, and never more than the duration.
func TestQuiet_switchOverRestart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		boot string
		off  time.Duration // of the wall clock, after half an hour
		want time.Duration // left of an hour
	}{
		{"process", "first", 0, 30 * time.Minute},
		{"process, clock set", "first", 20 * 365 * 24 * time.Hour, 30 * time.Minute},
		{"boot", "second", 0, 30 * time.Minute},
		{"boot, clock not set", "second", -20 * 365 * 24 * time.Hour, time.Hour},
		{"boot, next day", "second", 24 * time.Hour, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, day)
			check.NoError(t, on(time.Hour, policy.Hold)(r))
			time.Sleep(30 * time.Minute)
			r.host.boot = tt.boot
			r.host.setClock(true, tt.off)
			r.restart(day)
			q := r.Quiet(time.Now())
			check.That(t, q.Active == (tt.want > 0) && (!q.Active || time.Until(q.Until) == tt.want),
				"%s: %+v, want %s left", tt.name, q, tt.want)
		})
	}
}

// Run calls reconsider when something has changed, and at no other time.
func TestRun_reconsidersAtChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withHours(t, "22:00-07:00"))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		calls := make(chan string, 100)
		go func() {
			ended <- r.Controls.Run(ctx, func() { calls <- time.Now().UTC().Format("15:04") })
		}()
		changes, unwatch := r.Hub().Watch()
		defer unwatch()
		expect := func(want string) {
			t.Helper()
			synctest.Wait()
			var times, names []string
			for len(calls) > 0 {
				times = append(times, <-calls)
			}
			for len(changes) > 0 {
				names = append(names, string(<-changes))
			}
			slices.Sort(names)
			check.Equal(t, strings.Join(append(slices.Compact(times), slices.Compact(names)...), " "), want, "all")
		}
		time.Sleep(12 * time.Hour)
		expect("07:00 quiet")
		volume := 50
		check.Must(r.SetVolume(t.Context(), &volume, nil))(t)
		expect("12:00 volume")
		check.NoError(t, on(90*time.Minute, "")(r))
		expect("12:00 quiet")
		time.Sleep(2 * time.Hour)
		expect("13:30 quiet")
		r.Controls.ClockChanged()
		expect("14:00")
		r.Configure(withHours(t, "15:00-16:00"))
		expect("14:00 quiet")
		r.Configure(withHours(t, "15:00-16:00"))
		expect("")
		time.Sleep(10 * time.Hour)
		expect("15:00 16:00 quiet")
		stop()
		check.NoError(t, <-ended)
	})
}

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

// A rig has controls and schedules on a repository. The time of the bubble begins on Saturday, 2000-01-01, 00:00 UTC.
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
	key := r.Sender.Client + " " + r.IdempotencyKey
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
	if r.Voice != "" && !r.Stored {
		return announce.Announcement{}, &announce.RequestError{
			Violations: []announce.Violation{{Path: "voice", Code: announce.CodeUnknownVoice}},
			Voice:      &announce.UnknownVoiceError{Name: r.Voice},
		}
	}
	return announce.Announcement{}, nil
}

var errDisk = errors.New("disk full")
