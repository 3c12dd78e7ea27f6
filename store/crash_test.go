package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
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
	out, err := killtest.Command(t, "announcer", dir).CombinedOutput()
	check.Require(t, err == nil, "play the rest: %v\n%s", err, out)
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

func (l logSink) Play(ctx context.Context, clips <-chan audio.Clip, _ *audio.Fader) (played time.Duration, err error) {
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

// checkFile is the child process that checks a store.
func checkFile(args []string) error { return store.Check(args[0]) }

// checkInChild checks a store in a child process, as the server does, and returns its error.
func checkInChild(t *testing.T, path string) (failure string) {
	t.Helper()
	out, err := killtest.Command(t, "check", path).CombinedOutput()
	check.That(t, err == nil || len(out) != 0, "the check ended with %v and no text", err)
	check.That(t, err != nil || len(out) == 0, "the check succeeded and wrote %s", out)
	return string(out)
}

// filled returns a closed store with 200 calibrations.
func filled(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pressbox.db")
	s := check.Must(store.Open(path, store.Options{}))(t)
	for i := range 200 {
		check.NoError(t, s.SaveCalibration(fmt.Sprint("voice ", i), bytes.Repeat([]byte("x"), 300)))
	}
	check.NoError(t, s.Close())
	return path
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data := check.Must(os.ReadFile(from))(t)
	check.NoError(t, os.WriteFile(to, data, 0o600))
}

// An unclean shutdown is reported until MarkChecked.
func TestUncleanShutdown_untilChecked(t *testing.T) {
	t.Parallel()
	path := filled(t)
	check.That(t, !store.UncleanShutdown(path), "unclean after Close")
	s := check.Must(store.Open(path, store.Options{}))(t)
	crashed := filepath.Join(t.TempDir(), "pressbox.db") // as a power cut would leave it
	copyFile(t, path, crashed)
	copyFile(t, path+".open", crashed+".open")
	check.That(t, store.UncleanShutdown(path), "not unclean while it is open")
	check.NoError(t, s.Close())
	again := check.Must(store.Open(crashed, store.Options{}))(t)
	check.NoError(t, again.Close())
	check.That(t, store.UncleanShutdown(crashed), "not unclean after it was opened and closed without a check")
	check.NoError(t, store.MarkChecked(crashed))
	check.That(t, !store.UncleanShutdown(crashed), "unclean after a check")
}

func TestCheck_failures(t *testing.T) {
	t.Parallel()
	good := filled(t)
	for name, tt := range map[string]struct {
		damage func(path string) error
		want   string // "" means no error
	}{
		"valid":         {func(string) error { return nil }, ""},
		"empty":         {func(path string) error { return os.Truncate(path, 0) }, "damaged"},
		"cut off":       {func(path string) error { return os.Truncate(path, 5*4096) }, "damaged"},
		"no metas":      {func(path string) error { return write(path, 0, make([]byte, 2*4096)) }, "damaged"},
		"a zeroed page": {zeroLeaf, "damaged"},
		"an endless page": {func(path string) error { // by its number of overflow pages
			return writeLeaf(path, 12, bytes.Repeat([]byte{0xff}, 4))
		}, "MiB of memory"},
		"not a store": {func(path string) error {
			return write(path, 0, bytes.Repeat([]byte("no store"), 1<<15))
		}, "damaged"},
		"missing": {os.Remove, "no such file"},
		"a folder": {func(path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		}, "store"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "pressbox.db")
			copyFile(t, good, path)
			check.NoError(t, tt.damage(path))
			got := checkInChild(t, path)
			if strings.Contains(got, "unexpected fault address") {
				got = "damaged" // callers take a crash for damage, too: it depends on where the free pages are listed
			}
			check.That(t, (got == "") == (tt.want == "") && strings.Contains(got, tt.want),
				"check: %q, want %q", got, tt.want)
		})
	}
	t.Run("in use", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "pressbox.db")
		copyFile(t, good, path)
		store.OpenForTest(t, path, store.Options{})
		check.ErrorIs(t, store.Check(path), store.ErrLocked, "a store in use")
	})
}

// The check of a file with overwritten bytes ends, and a file that passes can be opened and read to its end.
func TestAll_checkRandom(t *testing.T) {
	t.Parallel()
	good := filled(t)
	size := check.Must(os.Stat(good))(t).Size()
	random := rand.New(rand.NewPCG(1, 2))
	const rounds = 20
	passed := 0
	for i := range rounds {
		path := filepath.Join(t.TempDir(), "pressbox.db")
		copyFile(t, good, path)
		junk := make([]byte, 1+random.IntN(600))
		for j := range junk {
			junk[j] = byte(random.Uint32())
		}
		at := random.Int64N(min(size, 30*4096)) // where there is data
		if i%2 == 0 {
			at = random.Int64N(2 * 4096)
		}
		check.NoError(t, write(path, at, junk))
		if checkInChild(t, path) != "" {
			continue
		}
		passed++
		s, err := store.Open(path, store.Options{})
		check.Require(t, err == nil, "%d bytes at %d: passed the check, and Open: %v", len(junk), at, err)
		check.ErrorIs(t, s.Backup(io.Discard), nil, "%d bytes at %d: passed the check, and Backup", len(junk), at)
		_ = s.Close()
	}
	t.Logf("%d of %d passed", passed, rounds)
}

func write(path string, at int64, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, at)
	return errors.Join(err, f.Close())
}

// zeroLeaf zeroes a page that holds calibrations.
func zeroLeaf(path string) error { return writeLeaf(path, 0, make([]byte, 4096)) }

// writeLeaf overwrites a part of a page that holds calibrations.
func writeLeaf(path string, at int64, part []byte) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	last := bytes.LastIndex(data, []byte("voice 199"))
	return write(path, int64(last/4096)*4096+at, part)
}

// PruneBackups leaves the newest backups, which can be restored.
func TestAddBackup_pruned(t *testing.T) {
	t.Parallel()
	s := store.OpenForTest(t, filled(t), store.Options{})
	dir := filepath.Join(t.TempDir(), "backups")
	for i := range 5 {
		check.NoError(t, s.SaveCalibration("newest", fmt.Append(nil, i)))
		made, err := s.AddBackup(t.Context(), dir, store.Check)
		check.Require(t, err == nil && made.Number == i+1 && made.Size != 0, "backup %d: %+v, %v", i+1, made, err)
	}
	check.NoError(t, store.PruneBackups(dir, 3))
	all, err := store.Backups(dir)
	var numbers []int
	for _, b := range all {
		numbers = append(numbers, b.Number)
	}
	check.Require(t, slices.Equal(numbers, []int{5, 4, 3}) && err == nil, "backups %v, %v; want 5, 4, 3", numbers, err)
	restored := filepath.Join(t.TempDir(), "pressbox.db")
	check.NoError(t, store.Restore(restored, check.Must(os.Open(all[1].Path))(t), store.Check))
	r := store.OpenForTest(t, restored, store.Options{})
	got, ok, err := r.Calibration("newest")
	check.That(t, string(got) == "3" && ok && err == nil, "the fourth backup has %q, %t, %v; want 3", got, ok, err)
}

// A failed backup leaves no file, and other files are not backups.
func TestAddBackup_failed(t *testing.T) {
	t.Parallel()
	s := store.OpenForTest(t, filled(t), store.Options{})
	dir := t.TempDir()
	_, err := s.AddBackup(t.Context(), dir, func(string) error { return store.ErrCorrupt })
	check.ErrorIs(t, err, store.ErrCorrupt, "a bad copy")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.ErrorIs(t, check.Err(s.AddBackup(ctx, dir, store.Check)), context.Canceled, "an ended context")
	left, err := os.ReadDir(dir)
	check.That(t, len(left) == 0 && err == nil, "left behind: %v, %v", left, err)
	none, err := store.Backups(filepath.Join(dir, "nowhere"))
	check.That(t, len(none) == 0 && err == nil, "a missing folder has %v, %v", none, err)
	for _, name := range []string{
		"pressbox-1.db.gz", "pressbox-x-1.db", "pressbox--1.db", "other-1.db", ".new-1.db", "pressbox-0-1.db",
	} {
		check.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	none, err = store.Backups(dir)
	check.That(t, len(none) == 0 && err == nil, "other files are backups %v, %v", none, err)
}

// A stamp may be that of an earlier store that was set aside, or of an interrupted attempt.
func TestSetAside_sameStamp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	for _, tt := range []struct{ content, aside string }{
		{"first", path + ".damaged-1"}, {"second", path + ".damaged-1-2"},
	} {
		check.NoError(t, os.WriteFile(path, []byte(tt.content), 0o600))
		for range 2 {
			aside, err := store.SetAside(path, "damaged", "1")
			check.That(t, aside == tt.aside && err == nil,
				"%s: set aside as %s, %v, want %s", tt.content, aside, err, tt.aside)
		}
		got, err := os.ReadFile(tt.aside)
		check.That(t, string(got) == tt.content && err == nil, "%s has %q, %v", tt.aside, got, err)
		check.NoError(t, os.Remove(path))
	}
}

// A backup that cannot be read leaves the store as it is.
func TestRestore_missingBackup(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	check.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	check.ErrorIs(t, store.Restore(path, iotest.ErrReader(fs.ErrNotExist), nil), fs.ErrNotExist, "restored")
	got, err := os.ReadFile(path)
	check.That(t, string(got) == "old" && err == nil, "then the file has %q, %v; want what it had", got, err)
}

// A file that root creates belongs to the owner of its folder, once it was checked.
func TestWriteAtomic_owner(t *testing.T) {
	s := store.NewForTest(t, store.Options{})
	const otherUser = 65534
	dir := t.TempDir()
	owner := os.Getuid()
	if owner == 0 {
		owner = otherUser
		check.NoError(t, os.Chown(dir, otherUser, otherUser))
	}
	uid := func(path string) int { return int(check.Must(os.Stat(path))(t).Sys().(*syscall.Stat_t).Uid) }
	path := filepath.Join(dir, "copy.db")
	checked := func(path string) error {
		check.Equal(t, uid(path), os.Getuid(), "before it is checked, %s belongs to", path)
		return nil
	}
	check.Must(store.WriteAtomic(path, s.Backup, checked))(t)
	check.Equal(t, uid(path), owner, "%s belongs to", path)
}

// AddBackup removes old unfinished backups, and no others.
func TestAddBackup_unfinished(t *testing.T) {
	s := store.NewForTest(t, store.Options{})
	dir := t.TempDir()
	stays := map[string]bool{".new-1": false, ".new-2": true, ".new-3.db": false, "new-4.db": true}
	for name := range stays {
		path := filepath.Join(dir, name)
		check.NoError(t, os.WriteFile(path, []byte("half"), 0o600))
		if name == ".new-2" {
			continue
		}
		check.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-25*time.Hour)))
	}
	b := check.Must(s.AddBackup(t.Context(), dir, nil))(t)
	stays[filepath.Base(b.Path)] = true
	for name, want := range stays {
		_, err := os.Stat(filepath.Join(dir, name))
		check.That(t, (err == nil) == want, "%s: %v, want it to stay: %v", name, err, want)
	}
}
