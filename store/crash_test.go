package store_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/killtest"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
)

// A process that accepts and plays announcements is killed again and again at random moments; then the rest is
// played. The process logs each event before it continues, so the log has what a listener and a client knew.
func TestCrash_losesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range killtest.Rounds(t, 20) {
		killtest.Kill(t, round, 100*time.Millisecond, "announcer", dir, strconv.Itoa(round))
	}
	if out, err := killtest.Command(t, "announcer", dir).CombinedOutput(); err != nil {
		t.Fatalf("play the rest: %v\n%s", err, out)
	}
	d := readEvents(t, dir)
	d.check(t)
	t.Logf("%d announcements in %d processes", len(d.of), d.processes)
}

// runAnnouncer is the child process. Its arguments are a folder and the round;
// without a round it plays the rest and ends.
func runAnnouncer(args []string) error {
	dir := args[0]
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	fmt.Fprintln(log, "process 0")
	s, err := store.Open(filepath.Join(dir, "pressbox.db"), store.Options{})
	if err != nil {
		return err
	}
	c := announce.Config{Max: 40, TTL: 24 * time.Hour, Rate: 170, Volume: 100, History: true}
	a, err := announcer.New(c, announcer.Parts{
		Outbox: s, Speaker: numbers{}, Sink: logSink{log}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if len(args) == 1 {
		go func() {
			for waiting(a) {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
	} else {
		first, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		ready := sync.OnceFunc(func() { fmt.Println("ready") })
		for i := range 4 {
			go client(a, log, (first*4+i+1)*100_000, ready)
		}
	}
	return errors.Join(a.Run(ctx), s.Close())
}

// waiting reports whether an announcement is to be played.
func waiting(a *announcer.Announcer) bool {
	l := a.List()
	return len(l.Queue)+len(l.Scheduled) > 0
}

// client posts numbers for ever, some to be played later, and cancels some. It calls ready when the first
// was accepted.
func client(a *announcer.Announcer, log *os.File, number int, ready func()) {
	for {
		number++
		r := announce.Request{Content: announce.Content{Message: strconv.Itoa(number), Urgent: number%3 == 0}}
		if number%5 == 0 {
			r.At = time.Now().Add(20 * time.Millisecond)
		}
		v, err := a.Announce(context.Background(), r)
		if errors.Is(err, announce.ErrFull) || errors.Is(err, announce.ErrScheduleFull) {
			time.Sleep(time.Millisecond)
			continue
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		fmt.Fprintln(log, "accepted", number)
		ready()
		if number%7 != 0 {
			continue
		}
		if _, err := a.Cancel(context.Background(), v.ID); err == nil {
			fmt.Fprintln(log, "cancelled", number)
		} else if !errors.Is(err, announce.ErrEnded) {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// numbers is a speaker that returns two clips of one sample, whose rate is the message.
type numbers struct{}

func (numbers) Voice(string) (string, error) { return "anna", nil }

func (numbers) Speak(_ context.Context, u announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(yield func(announce.Clip, error) bool) {
		number, err := strconv.Atoi(u.Message)
		clip := announce.Clip{Clip: audio.Clip{Rate: number, Samples: []float32{0}}}
		for range 2 {
			if !yield(clip, err) {
				return
			}
		}
	}
}

// logSink is a sink that logs what it plays.
type logSink struct{ log *os.File }

func (l logSink) Play(ctx context.Context, clips <-chan audio.Clip) (played time.Duration, err error) {
	number := 0
	for {
		select {
		case clip, ok := <-clips:
			switch {
			case ctx.Err() != nil:
			case !ok:
				fmt.Fprintln(l.log, "played", number)
				return 0, nil
			case number == 0:
				number = clip.Rate
				fmt.Fprintln(l.log, "started", number)
			}
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			if number != 0 {
				fmt.Fprintln(l.log, "stopped", number)
			}
			return 0, ctx.Err()
		}
	}
}

// A fate is what the log has of an announcement.
type fate struct {
	accepted, cancelled, played bool
	started                     []int // the processes that started it
	afterCancel                 bool  // started after its cancellation was acknowledged
}

// events holds the events of the log.
type events struct {
	dir       string
	processes int
	last      map[int]int   // process → the number that was started last
	of        map[int]*fate // number → its fate
}

func readEvents(t *testing.T, dir string) *events {
	t.Helper()
	data := check.Must(os.ReadFile(filepath.Join(dir, "log")))(t)
	d := &events{dir: dir, last: map[int]int{}, of: map[int]*fate{}}
	for line := range strings.Lines(string(data)) {
		what, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		number := check.Must(strconv.Atoi(rest))(t)
		if what == "process" {
			d.processes++
			continue
		}
		f := d.of[number]
		if f == nil {
			f = new(fate)
			d.of[number] = f
		}
		switch what {
		case "accepted":
			f.accepted = true
		case "cancelled":
			f.cancelled = true
		case "started":
			f.started, d.last[d.processes] = append(f.started, d.processes), number
			f.afterCancel = f.afterCancel || f.cancelled
		case "stopped": // by a cancellation or an urgent one: it may be started again
			f.started = f.started[:len(f.started)-1]
		case "played":
			f.played = true
		}
	}
	return d
}

// check compares the events with what is promised, and with the store: every accepted announcement has ended as
// logged. The process may have been killed between a cancellation and its log entry.
func (d *events) check(t *testing.T) {
	t.Helper()
	waiting, over, err := store.OpenForTest(t, filepath.Join(d.dir, "pressbox.db"), store.Options{}).Load(t.Context())
	check.That(t, err == nil && len(waiting) == 0, "%d are waiting, %v", len(waiting), err)
	status := make(map[int]announce.Status)
	for _, n := range over {
		number, _ := strconv.Atoi(n.Message)
		status[number] = n.Status
	}
	accepted, played := 0, 0
	for number, f := range d.of {
		check.That(t, !f.afterCancel, "%d was started after its cancellation was acknowledged", number)
		for i, process := range f.started[:max(0, len(f.started)-1)] {
			check.That(t, d.last[process] == number && f.started[i+1] != process,
				"%d was started in processes %v, but was not the last in %d", number, f.started, process)
		}
		if f.played {
			played++
		}
		if !f.accepted {
			continue
		}
		accepted++
		switch s := status[number]; {
		case s == announce.Done && f.played && !f.cancelled:
		case s == announce.Cancelled && number%7 == 0:
		case s == "" && len(over) > 4000 && (f.played || number%7 == 0):
			// Deleted beyond announce.EndedMaxBytes.
		default:
			t.Errorf("%d was accepted and is %q: %+v", number, s, f)
		}
	}
	check.That(t, accepted >= d.processes/2 && played != 0,
		"only %d were accepted and %d played in %d processes", accepted, played, d.processes)
}
