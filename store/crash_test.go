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
	"pressbox/store"
	"pressbox/store/killtest"
	"pressbox/voice/announce"
)

// TestCrash kills a process that accepts and speaks, again and again at random
// moments, and then has the rest spoken. The talker writes down what happens
// before it goes on, so that the diary knows what a listener and a client knew.
func TestCrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range killtest.Rounds(t, 20) {
		killtest.Kill(t, round, 100*time.Millisecond, "talker", dir, strconv.Itoa(round))
	}
	if out, err := killtest.Play(t, "talker", dir).CombinedOutput(); err != nil {
		t.Fatalf("say what is left: %v\n%s", err, out)
	}
	d := readDiary(t, dir)
	d.check(t)
	t.Logf("%d lives, %d announcements accepted, %d cancelled, %d spoken, %d of them begun more than once",
		d.lives, len(d.accepted), len(d.cancelled), len(d.heard), d.repeated())
}

// talk is the talker. It is told where, and in which round it is; without one it says what
// is left, and ends.
func talk(args []string) error {
	dir := args[0]
	diary, err := os.OpenFile(filepath.Join(dir, "diary"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	fmt.Fprintln(diary, "life 0")
	s, err := store.Open(filepath.Join(dir, "pressbox.db"), store.Options{})
	if err != nil {
		return err
	}
	c := announce.Config{Max: 40, TTL: 24 * time.Hour, Rate: 170, Volume: 100}
	a, err := announce.New(c, s, numbers{}, paper{diary}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if len(args) == 1 {
		go func() {
			awaitSilence(a)
			cancel()
		}()
	} else {
		first, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		ready := sync.OnceFunc(func() { fmt.Println("ready") })
		for i := range 4 {
			go client(a, diary, (first*4+i+1)*100_000, ready)
		}
	}
	return errors.Join(a.Run(ctx), s.Close())
}

// awaitSilence returns when nothing waits and nothing is spoken.
func awaitSilence(a *announce.Announcer) {
	for {
		events, stop := a.Watch()
		for queue, _ := a.Queue(); len(queue) > 0; queue, _ = a.Queue() {
			if _, ok := <-events; !ok {
				break
			}
		}
		stop()
		if queue, _ := a.Queue(); len(queue) == 0 {
			return
		}
	}
}

// client posts numbers for ever, and cancels some. It is ready when the first was
// accepted: how long that takes is up to the disk.
func client(a *announce.Announcer, diary *os.File, number int, ready func()) {
	for {
		events, stop := a.Watch()
		number++
		v, err := a.Announce(context.Background(), announce.Request{Message: strconv.Itoa(number), Urgent: number%3 == 0})
		if errors.Is(err, announce.ErrFull) {
			<-events
			stop()
			continue
		}
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		fmt.Fprintln(diary, "accepted", number)
		ready()
		if number%7 != 0 {
			continue
		}
		if _, err := a.Cancel(context.Background(), v.ID); err == nil {
			fmt.Fprintln(diary, "cancelled", number)
		} else if !errors.Is(err, announce.ErrEnded) {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// numbers is a speaker: two clips whose rate is the number that is the message.
type numbers struct{}

func (numbers) Voice(string) (string, error) { return "anna", nil }

func (numbers) Speak(_ context.Context, _, message string, _ int) iter.Seq2[audio.Clip, error] {
	return func(yield func(audio.Clip, error) bool) {
		number, err := strconv.Atoi(message)
		clip := audio.Clip{Rate: number}
		for range 2 {
			if !yield(clip, err) {
				return
			}
		}
	}
}

// paper is a sink that takes no time: it notes what it hears.
type paper struct{ diary *os.File }

func (p paper) Play(ctx context.Context, clips <-chan audio.Clip) error {
	number := 0
	for {
		select {
		case clip, ok := <-clips:
			switch {
			case !ok:
				fmt.Fprintln(p.diary, "heard", number)
				return nil
			case number == 0:
				number = clip.Rate
				fmt.Fprintln(p.diary, "begun", number)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A diary is what happened, by line.
type diary struct {
	dir       string
	lives     int
	last      map[int]int   // by life: the number that was begun last
	accepted  map[int]bool  // by number
	cancelled map[int]int   // by number: the line
	heard     map[int]bool  // by number
	begun     map[int][]int // by number: the lives in which it was begun
	begunAt   map[int]int   // by number: the line of the last time
}

func readDiary(t *testing.T, dir string) *diary {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "diary"))
	if err != nil {
		t.Fatal(err)
	}
	d := &diary{
		dir: dir, last: make(map[int]int), accepted: make(map[int]bool), cancelled: make(map[int]int),
		heard: make(map[int]bool), begun: make(map[int][]int), begunAt: make(map[int]int),
	}
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		what, rest, _ := strings.Cut(line, " ")
		number, err := strconv.Atoi(rest)
		if err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
		switch what {
		case "life":
			d.lives++
		case "accepted":
			d.accepted[number] = true
		case "cancelled":
			d.cancelled[number] = i
		case "begun":
			d.begun[number] = append(d.begun[number], d.lives)
			d.begunAt[number] = i
			d.last[d.lives] = number
		case "heard":
			d.heard[number] = true
		}
	}
	return d
}

// check holds the diary against what is promised, and against the store.
func (d *diary) check(t *testing.T) {
	t.Helper()
	if len(d.accepted) < d.lives/2 || len(d.heard) == 0 {
		t.Errorf("only %d were accepted and %d heard in %d lives", len(d.accepted), len(d.heard), d.lives)
	}
	for number, lives := range d.begun {
		for i, life := range lives[:len(lives)-1] {
			if d.last[life] != number || lives[i+1] == life {
				t.Errorf("%d was begun in lives %v, but in life %d it was not the last", number, lives, life)
			}
		}
	}
	for number, line := range d.cancelled {
		if d.begunAt[number] > line {
			t.Errorf("%d was begun after its cancellation was told", number)
		}
	}
	d.checkStore(t)
}

// checkStore checks that what was accepted has ended, as it was heard. The
// talker may have been killed between a cancellation and its note of it.
func (d *diary) checkStore(t *testing.T) {
	t.Helper()
	waiting, over, err := open(t, filepath.Join(d.dir, "pressbox.db"), store.Options{}).Load(t.Context())
	if err != nil || len(waiting) > 0 {
		t.Errorf("%d still wait, %v", len(waiting), err)
	}
	status := make(map[int]announce.Status)
	for _, n := range over {
		number, _ := strconv.Atoi(n.Message)
		status[number] = n.Status
	}
	for number := range d.accepted {
		_, cancelled := d.cancelled[number]
		switch s := status[number]; {
		case s == announce.Done && d.heard[number] && !cancelled:
		case s == announce.Cancelled && number%7 == 0:
		case s == "" && len(over) == announce.EndedMax && (d.heard[number] || number%7 == 0): // forgotten
		default:
			t.Errorf("%d was accepted and is %q; heard %v, cancelled %v", number, s, d.heard[number], cancelled)
		}
	}
}

// repeated returns how many were begun more than once.
func (d *diary) repeated() (n int) {
	for _, lives := range d.begun {
		if len(lives) > 1 {
			n++
		}
	}
	return n
}
