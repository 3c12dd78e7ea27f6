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
	t.Logf("%d processes, %d announcements accepted, %d cancelled, %d played, %d of them started more than once",
		d.processes, len(d.accepted), len(d.cancelled), len(d.played), d.repeated())
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
			waitEmpty(a)
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

// waitEmpty returns when every announcement was played.
func waitEmpty(a *announcer.Announcer) {
	for {
		events, stop := a.Watch()
		for waiting(a) {
			if _, ok := <-events; !ok {
				break
			}
		}
		stop()
		if !waiting(a) {
			return
		}
	}
}

// client posts numbers for ever, some to be played later, and cancels some. It calls ready when the first
// was accepted.
func client(a *announcer.Announcer, log *os.File, number int, ready func()) {
	for {
		events, stop := a.Watch()
		number++
		r := announce.Request{Content: announce.Content{Message: strconv.Itoa(number), Urgent: number%3 == 0}}
		if number%5 == 0 {
			r.At = time.Now().Add(20 * time.Millisecond)
		}
		v, err := a.Announce(context.Background(), r)
		if errors.Is(err, announce.ErrFull) || errors.Is(err, announce.ErrScheduleFull) {
			<-events
			stop()
			continue
		}
		stop()
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

// events holds the events of the log.
type events struct {
	dir       string
	processes int
	last      map[int]int   // process → the number that was started last
	accepted  map[int]bool  // number
	cancelled map[int]int   // number → line
	played    map[int]bool  // number
	started   map[int][]int // number → the processes that started it
	startedAt map[int]int   // number → line of the last start
}

func readEvents(t *testing.T, dir string) *events {
	t.Helper()
	data := check.Must(os.ReadFile(filepath.Join(dir, "log")))(t)
	d := &events{
		dir: dir, last: make(map[int]int), accepted: make(map[int]bool), cancelled: make(map[int]int),
		played: make(map[int]bool), started: make(map[int][]int), startedAt: make(map[int]int),
	}
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		what, rest, _ := strings.Cut(line, " ")
		number, err := strconv.Atoi(rest)
		check.Require(t, err == nil, "line %d: %v", i, err)
		switch what {
		case "process":
			d.processes++
		case "accepted":
			d.accepted[number] = true
		case "cancelled":
			d.cancelled[number] = i
		case "started":
			d.started[number] = append(d.started[number], d.processes)
			d.startedAt[number] = i
			d.last[d.processes] = number
		case "stopped": // by a cancellation or an urgent one: it may be started again
			d.started[number] = d.started[number][:len(d.started[number])-1]
		case "played":
			d.played[number] = true
		}
	}
	return d
}

// check compares the events with what is promised, and with the store.
func (d *events) check(t *testing.T) {
	t.Helper()
	check.True(t, len(d.accepted) >= d.processes/2 && len(d.played) != 0,
		"only %d were accepted and %d played in %d processes", len(d.accepted), len(d.played), d.processes)
	for number, processes := range d.started {
		for i, process := range processes[:max(0, len(processes)-1)] {
			check.True(t, d.last[process] == number && processes[i+1] != process,
				"%d was started in processes %v, but was not the last in %d", number, processes, process)
		}
	}
	for number, line := range d.cancelled {
		check.True(t, d.startedAt[number] <= line, "%d was started after its cancellation was acknowledged", number)
	}
	d.checkStore(t)
}

// checkStore checks that every accepted announcement has ended as logged. The
// process may have been killed between a cancellation and its log entry.
func (d *events) checkStore(t *testing.T) {
	t.Helper()
	waiting, over, err := store.OpenForTest(t, filepath.Join(d.dir, "pressbox.db"), store.Options{}).Load(t.Context())
	check.True(t, err == nil && len(waiting) == 0, "%d are waiting, %v", len(waiting), err)
	status := make(map[int]announce.Status)
	for _, n := range over {
		number, _ := strconv.Atoi(n.Message)
		status[number] = n.Status
	}
	for number := range d.accepted {
		_, cancelled := d.cancelled[number]
		switch s := status[number]; {
		case s == announce.Done && d.played[number] && !cancelled:
		case s == announce.Cancelled && number%7 == 0:
		case s == "" && len(over) > 4000 && (d.played[number] || number%7 == 0):
			// Deleted beyond announce.EndedMaxBytes.
		default:
			t.Errorf("%d was accepted and is %q; played %v, cancelled %v", number, s, d.played[number], cancelled)
		}
	}
}

// repeated returns how many were started more than once.
func (d *events) repeated() (n int) {
	for _, processes := range d.started {
		if len(processes) > 1 {
			n++
		}
	}
	return n
}
