package control_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/killtest"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/control"
)

// each returns a plan for a message at times.
func each(cron, message string) control.Plan {
	return control.Plan{
		Name: message, Cron: cron, TimeZone: "UTC", Enabled: true,
		Payload: announce.Payload{Content: announce.Content{Message: message}},
	}
}

// inBubble runs a test with a rig in a bubble whose time begins on Saturday at midnight.
func inBubble(t *testing.T, test func(r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		test(newRig(t, day))
	})
}

func (r *rig) create(p control.Plan) control.Schedule {
	r.t.Helper()
	return check.Must(r.Create(r.t.Context(), "anna", p))(r.t)
}

// expect compares the accepted announcements, and forgets them.
func (r *rig) expect(want ...string) {
	r.t.Helper()
	synctest.Wait()
	check.Equal(r.t, r.take(), strings.Join(want, ", "), "accepted")
}

func TestSchedules_fireAtTimes(t *testing.T) {
	inBubble(t, func(r *rig) {
		stop := r.run()
		defer stop()
		r.create(each("30 6 * * *", "wake"))
		off := each("* * * * *", "off")
		off.Enabled = false
		r.create(off)
		berlin := each("0 9 * * sun", "church")
		berlin.TimeZone = "Europe/Berlin"
		late := r.create(berlin)
		time.Sleep(48 * time.Hour)
		r.expect("Sat 06:30:00 schedule wake", "Sun 06:30:00 schedule wake", "Sun 08:00:00 schedule church")
		check.Must(r.Replace(r.t.Context(), late.ID, each("0 1 * * *", "bells")))(r.t)
		time.Sleep(2 * time.Hour)
		check.NoError(r.t, r.Delete(r.t.Context(), late.ID))
		time.Sleep(24 * time.Hour)
		r.expect("Mon 01:00:00 schedule bells", "Mon 06:30:00 schedule wake")
	})
}

// A time that is left out is not announced, once, also after a restart and an edit of the text; nor are excepted dates,
// which are those of the schedule's zone.
func TestSchedules_skip(t *testing.T) {
	inBubble(t, func(r *rig) {
		at := func(days, hours int) time.Time { return day0.AddDate(0, 0, days).Add(time.Duration(hours) * time.Hour) }
		zoned := each("0 6 * * *", "wake")
		zoned.TimeZone, zoned.Except = "Pacific/Auckland", []string{"2000-01-02"} // where it is 13 hours later
		s := r.create(zoned)
		check.That(r.t, s.Next.Equal(at(1, 17)), "in Auckland: %+v", s)
		check.NoError(r.t, r.Delete(r.t.Context(), s.ID))
		plan := each("0 6 * * *", "wake")
		plan.Except = []string{"1999-12-31", "2000-01-03"}
		s = r.create(plan)
		check.Equal(r.t, len(s.Except), 1, "excepted dates")
		for range 2 { // the second one changes nothing
			s = check.Must(r.Skip(r.t.Context(), s.ID))(r.t)
			check.That(r.t, s.Skip.Equal(at(0, 6)) && s.Next.Equal(at(1, 6)), "skipped: %+v", s)
		}
		plan.Message = "up"
		s = check.Must(r.Replace(r.t.Context(), s.ID, plan))(r.t)
		check.That(r.t, s.Skip.Equal(at(0, 6)) && s.Next.Equal(at(1, 6)), "edited: %+v", s)
		s = check.Must(r.Restore(r.t.Context(), s.ID))(r.t)
		check.That(r.t, s.Skip.IsZero() && s.Next.Equal(at(0, 6)), "restored: %+v", s)
		s = check.Must(r.Skip(r.t.Context(), s.ID))(r.t)
		r.restart(day)
		stop := r.run()
		defer stop()
		time.Sleep(96 * time.Hour)
		r.expect("Sun 06:00:00 schedule up", "Tue 06:00:00 schedule up")
		s = check.Must(r.Find(s.ID))(r.t)
		check.That(r.t, s.Skip.IsZero() && len(s.Except) == 0, "what is past is kept: %+v", s)

		plan.Cron = "0 7 * * *"
		check.Must(r.Skip(r.t.Context(), s.ID))(r.t)
		s = check.Must(r.Replace(r.t.Context(), s.ID, plan))(r.t)
		check.That(r.t, s.Skip.IsZero(), "other times: %+v", s)
		plan.Enabled = false
		check.Must(r.Replace(r.t.Context(), s.ID, plan))(r.t)
		check.ErrorIs(r.t, check.Err(r.Skip(r.t.Context(), s.ID)), control.ErrNothingToSkip, "skip a disabled one")
		check.ErrorIs(r.t, check.Err(r.Skip(r.t.Context(), "x")), control.ErrNoSchedule, "skip an unknown one")
	})
}

// day0 is when a bubble begins.
var day0 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func TestSchedules_missed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		late time.Duration
		want string
	}{
		{10 * time.Minute, "Sat 06:40:00 schedule wake"},
		{10*time.Minute + time.Nanosecond, ""},
		{0, "Sat 06:30:00 schedule wake"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, day)
			r.create(each("30 6 * * *", "wake"))
			time.Sleep(6*time.Hour + 30*time.Minute + tt.late)
			r.restart(day)
			stop := r.run()
			defer stop()
			synctest.Wait()
			check.Equal(t, r.take(), tt.want, "%s late: accepted", tt.late)
			time.Sleep(24 * time.Hour)
			r.expect("Sun 06:30:00 schedule wake")
		})
	}
}

// Between the announcement and the next time of the schedule nothing is lost and nothing is spoken twice.
func TestSchedules_crashAfterAnnouncement(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.create(each("30 6 * * *", "wake"))
		stop := r.run()
		synctest.Wait()
		r.repo.fail(errDisk)
		time.Sleep(6*time.Hour + 31*time.Minute)
		stop()
		r.repo.fail(nil)
		r.expect("Sat 06:30:00 schedule wake")
		r.restart(day) // the repository has the time that was due
		stop = r.run()
		defer stop()
		r.expect()
		time.Sleep(24 * time.Hour)
		r.expect("Sun 06:30:00 schedule wake")
	})
}

func TestSchedules_triedAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want string // after a minute
	}{
		{announce.ErrFull, "Sat 06:31:00 schedule wake"},
		{fmt.Errorf("%w: %w", announce.ErrUnavailable, errDisk), "Sat 06:31:00 schedule wake"},
		{&announce.RequestError{}, ""},
		{announce.ErrKeyReused, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, day)
			r.create(each("30 6 * * *", "wake"))
			r.refuse(tt.err)
			stop := r.run()
			defer stop()
			time.Sleep(6*time.Hour + 30*time.Minute + 59*time.Second)
			r.expect()
			r.refuse(nil)
			time.Sleep(time.Hour)
			check.Equal(t, r.take(), tt.want, "%v: accepted", tt.err)
		})
	}
}

func TestSchedules_removedVoice(t *testing.T) {
	inBubble(t, func(r *rig) {
		s := r.create(each("30 6 * * *", "wake"))
		key := "schedule/" + s.ID
		record := strings.Replace(string(r.repo.records[key]), `"message"`, `"voice":"zoe","message"`, 1)
		r.repo.records[key] = []byte(record)
		r.restart(day)
		stop := r.run()
		defer stop()
		time.Sleep(7 * time.Hour)
		r.expect("Sat 06:30:00 schedule wake")
		off := r.List()[0].Plan
		off.Enabled, off.Cron = false, "0 7 * * *" // what is said stays
		if _, err := r.Replace(r.t.Context(), s.ID, off); err != nil {
			r.t.Errorf("turned off: %v", err)
		}
		off.Message = "other"
		if _, err := r.Replace(r.t.Context(), s.ID, off); err == nil {
			r.t.Error("another message for the removed voice is accepted")
		}
	})
}

// The wall clock is set while schedules wait.
func TestSchedules_clockSet(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.host.setClock(false, -30*365*24*time.Hour) // a Pi without a clock
		r.create(each("30 6 * * *", "wake"))
		stop := r.run()
		defer stop()
		set := func(off time.Duration) {
			synctest.Wait()
			r.host.setClock(true, off)
			r.Schedules.ClockChanged()
			synctest.Wait()
		}
		time.Sleep(24 * time.Hour)
		next := r.List()[0].Next
		check.That(r.t, next.IsZero(), "due at %s, want never before the clock is set", next)
		r.expect()
		set(0)
		time.Sleep(7 * time.Hour)
		r.expect("Sun 06:30:00 schedule wake")
		set(-time.Hour) // 06:00: the same time comes again
		time.Sleep(2 * time.Hour)
		r.expect()
		set(20 * time.Hour) // 05:00 of the next day
		time.Sleep(2 * time.Hour)
		r.expect("Sun 10:30:00 schedule wake")
		set(-30 * 24 * time.Hour) // it was a month ahead
		time.Sleep(24 * time.Hour)
		r.expect("Mon 06:30:00 schedule wake")
	})
}

func TestSchedules_limits(t *testing.T) {
	t.Parallel()
	r := newRig(t, day)
	for i := range 105 {
		_, err := r.Create(t.Context(), fmt.Sprint("client ", i/21), each("0 8 * * *", "x"))
		var want error
		if i%21 == 20 {
			want = control.ErrOwnSchedules
		}
		if i == 104 { // 100 are stored
			want = control.ErrManySchedules
		}
		check.ErrorIs(t, err, want, "schedule %d", i)
	}
	n := len(r.List())
	check.Require(t, n == control.MaxSchedules, "%d schedules, want %d", n, control.MaxSchedules)
	check.NoError(t, r.Delete(t.Context(), r.List()[0].ID))
	check.Must(r.Create(t.Context(), "another", each("0 8 * * *", "x")))(t)
}

func TestSchedules_invalid(t *testing.T) {
	t.Parallel()
	r := newRig(t, day)
	for _, tt := range []struct {
		change func(*control.Plan)
		want   string
	}{
		{func(*control.Plan) {}, ""},
		{func(p *control.Plan) { p.Name = strings.Repeat("ä", 100) + " " }, ""},
		{func(p *control.Plan) { p.Name = strings.Repeat("ä", 101) }, "name out_of_range"},
		{func(p *control.Plan) { p.Name = " " }, "name out_of_range"},
		{func(p *control.Plan) { p.Name = "x\x1b[2J" }, "name control_character"},
		{func(p *control.Plan) { p.Cron = "0 25 * * *" }, "cron invalid"},
		{func(p *control.Plan) { p.Except = slices.Repeat([]string{"2099-12-24"}, 100) }, ""},
		{func(p *control.Plan) { p.Except = slices.Repeat([]string{"2099-12-24"}, 101) }, "except out_of_range"},
		{func(p *control.Plan) { p.Except = []string{"2099-12-24", "24.12.2099"} }, "except/1 invalid_date"},
		{func(p *control.Plan) { p.TimeZone = "Mars/Base" }, "time_zone invalid"},
		{func(p *control.Plan) { p.TimeZone = "Local" }, "time_zone invalid"},
		{func(p *control.Plan) { p.TimeZone = "../etc/passwd" }, "time_zone invalid"},
		{func(p *control.Plan) { *p = control.Plan{} }, "name out_of_range, cron invalid, message required"},
	} {
		p := each("0 8 * * *", "x")
		tt.change(&p)
		_, err := r.Create(t.Context(), "anna", p)
		var got []string
		if wrong, ok := errors.AsType[*announce.RequestError](err); ok {
			for _, v := range wrong.Violations {
				got = append(got, v.Path+" "+v.Code)
			}
		}
		check.Equal(t, strings.Join(got, ", "), tt.want, "%+v", p)
	}
	check.ErrorIs(t, check.Err(r.Replace(t.Context(), "x", each("0 8 * * *", "x"))), control.ErrNoSchedule,
		"replace an unknown one")
	check.ErrorIs(t, r.Delete(t.Context(), "x"), control.ErrNoSchedule, "delete an unknown one")
}

func TestSchedules_notSavedNotApplied(t *testing.T) {
	t.Parallel()
	r := newRig(t, day)
	s := r.create(each("0 8 * * *", "old"))
	r.repo.fail(errDisk)
	_, errCreate := r.Create(t.Context(), "anna", each("0 9 * * *", "new"))
	_, errReplace := r.Replace(t.Context(), s.ID, each("0 9 * * *", "new"))
	for _, err := range []error{errCreate, errReplace, r.Delete(t.Context(), s.ID)} {
		if !errors.Is(err, control.ErrUnavailable) {
			t.Errorf("%v, want it unavailable", err)
		}
	}
	all := r.List()
	check.That(t, len(all) == 1 && all[0].Name == "old", "schedules %+v", all)
}

func TestMain(m *testing.M) {
	killtest.Main(m, map[string]killtest.Child{"scheduler": fireUntilKilled})
}

var firstDue = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// A process in which a schedule is due all the time is killed again and again at random moments: each minute
// has one announcement.
func TestSchedules_killedWhenDue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := check.Must(openSite(dir))(t)
	s.now.Store(firstDue.Add(-time.Minute).Unix())
	check.Must(s.Create(t.Context(), "anna", each("* * * * *", "due")))(t)
	check.NoError(t, s.store.Close())

	for round := range killtest.Rounds(t, 15) {
		killtest.Kill(t, round, 100*time.Millisecond, "scheduler", dir)
	}
	s = check.Must(openSite(dir))(t)
	due := s.List()[0].Next
	s.fireOnce(t.Context(), due)
	want := int(due.Sub(firstDue)/time.Minute) + 1
	got := len(s.announcer.List().Queue)
	check.That(t, got == want && got >= 10, "%d announcements of %d minutes", got, want)
	t.Logf("%d announcements", want)
	check.NoError(t, s.store.Close())
}

// fireUntilKilled is the child process: it sets the clock to the time at which the schedule is due, as often as
// it can.
func fireUntilKilled(args []string) error {
	s, err := openSite(args[0])
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		s.fireOnce(context.Background(), s.List()[0].Next)
		if i == 0 {
			fmt.Println("ready")
		}
	}
}

// A site is schedules on a store, with a clock that tests set.
type site struct {
	*control.Schedules
	store     *store.Store
	announcer *announcer.Announcer
	now       atomic.Int64 // Unix seconds
}

// fireOnce sets the clock, and runs the schedules until theirs is due at another time.
func (s *site) fireOnce(ctx context.Context, at time.Time) {
	s.now.Store(at.Unix())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changes, unwatch := s.Hub.Watch()
	defer unwatch()
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	<-changes
	stop()
	<-ended
}

// openSite opens the store in a folder.
func openSite(dir string) (*site, error) {
	st, err := store.Open(filepath.Join(dir, "pressbox.db"), store.Options{})
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	a, err := announcer.New(announce.Config{Max: 100_000, TTL: 24 * time.Hour, Rate: 170, Volume: 100}, announcer.Parts{
		Outbox: st, Speaker: mute{}, Sink: mute{}, Log: log,
	})
	if err != nil {
		return nil, err
	}
	c, err := control.NewControls(day, st, st.Now, log)
	if err != nil {
		return nil, err
	}
	s := &site{store: st, announcer: a}
	s.Schedules, err = control.NewSchedules(control.ScheduleParts{
		Repository: st, Announcer: a, Hub: c.Hub(), Now: func() time.Time { return time.Unix(s.now.Load(), 0) },
		ClockSet: func() bool { return true }, Log: log,
	})
	return s, err
}

// mute is a speaker and a sink that are not used: the announcer does not run.
type mute struct{}

func (mute) Voice(string) (string, error) { return "anna", nil }
func (mute) Play(context.Context, <-chan audio.Clip, *audio.Fader) (time.Duration, error) {
	return 0, errors.New("not used")
}

func (mute) Speak(context.Context, announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(func(announce.Clip, error) bool) {}
}
