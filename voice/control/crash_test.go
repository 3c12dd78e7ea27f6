package control_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/killtest"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/control"
)

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
	if got := len(s.announcer.List().Queue); got != want || got < 10 {
		t.Errorf("%d announcements of %d minutes", got, want)
	}
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
func (mute) Play(context.Context, <-chan audio.Clip) (time.Duration, error) {
	return 0, errors.New("not used")
}

func (mute) Speak(context.Context, announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(func(announce.Clip, error) bool) {}
}
