package recovery

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/daemon/exitcode"
	"pressbox/daemon/settings"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/crashtest"
	"pressbox/store/killtest"
)

// Whenever the power is cut, the server opens the store, has everything that was
// acknowledged, reports what it salvaged, and works.
func TestAll_powerCut(t *testing.T) {
	t.Parallel()
	limit, opened, ran := stateLimit(t), 0, 0
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			opened += s.enumerate(t, limit/len(scenarios)+1)
			ran++
		})
	}
	t.Logf("%d states opened", opened)
	least := min(limit, 20_000)
	check.That(t, ran != len(scenarios) || opened >= least, "%d different states, want at least %d", opened, least)
}

// enumerate opens up to limit of the states in which a power cut could leave the disk, at equal
// distances, and returns how many.
func (s scenario) enumerate(t *testing.T, limit int) (opened int) {
	t.Helper()
	divisor := 1
	if limit < 1000 {
		divisor = 4
	}
	trace := s.record(t, divisor)
	states := trace.States(bounds)
	acknowledged := strings.Count(strings.Join(trace.Acks(len(trace.Ops)), "\n"), "ack\t")
	t.Logf("%d operations, %d writes, %d syncs of files and %d of folders, %d acknowledged, %d states",
		len(trace.Ops), trace.Count(crashtest.Write), trace.Count(crashtest.Sync), trace.Count(crashtest.SyncDir),
		acknowledged, len(states))
	states = evenly(states, limit)
	start := time.Now()
	wrong := s.judge(t, trace, states)
	for _, state := range wrong[:min(len(wrong), maxReports)] {
		t.Error(state)
	}
	check.That(t, len(wrong) <= maxReports, "%d of %d states are wrong", len(wrong), len(states))
	t.Logf("%d states opened in %v", len(states), time.Since(start).Round(time.Second/10))
	return len(states)
}

// bounds are those of the states that are enumerated.
var bounds = crashtest.Bounds{All: 4, Random: 4}

// The enumeration finds what a disk loses that ignores every second sync.
func TestAll_powerCutSyncsIgnored(t *testing.T) {
	t.Parallel()
	s := scenario{name: "serve", lives: []string{"serve 6"}}
	trace := s.record(t, 1).WithoutSyncs(2)
	states := trace.States(bounds)
	wrong := s.judge(t, trace, evenly(states, 100))
	check.That(t, len(wrong) != 0, "no wrong state was found")
	t.Logf("%d of 100 states, of %d, are wrong", len(wrong), len(states))
}

// stateLimit returns the number of states that are opened: PRESSBOX_CRASH_STATES, or 500.
func stateLimit(tb testing.TB) int {
	tb.Helper()
	switch set := os.Getenv("PRESSBOX_CRASH_STATES"); set {
	case "":
		return 500
	case "all":
		return math.MaxInt32
	default:
		return check.Must(strconv.Atoi(set))(tb)
	}
}

// evenly returns n of all, at equal distances.
func evenly(all []crashtest.State, n int) []crashtest.State {
	if n >= len(all) {
		return all
	}
	chosen := make([]crashtest.State, n)
	for i := range chosen {
		chosen[i] = all[i*len(all)/n]
	}
	return chosen
}

// maxReports is the number of wrong states that are described.
const maxReports = 10

// judge opens states, in several processes, and describes those that are wrong.
func (s scenario) judge(t *testing.T, trace crashtest.Trace, states []crashtest.State) (wrong []string) {
	t.Helper()
	dir := crashtest.TempDir(t)
	next := make(chan int)
	var mu sync.Mutex // guards wrong
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			o := startOpener(t)
			defer func() { o.end() }()
			for i := range next {
				found := s.judgeOne(o, trace, states[i], filepath.Join(dir, strconv.Itoa(i)))
				if found == "" {
					continue
				}
				mu.Lock()
				wrong = append(wrong, fmt.Sprintf("before operation %d, %s: %s", states[i].Next, states[i].How, found))
				mu.Unlock()
			}
		})
	}
	for i := range states {
		next <- i
	}
	close(next)
	wait.Wait()
	return wrong
}

// judgeOne returns what is wrong with a state; "" for nothing.
func (s scenario) judgeOne(o *opener, trace crashtest.Trace, state crashtest.State, dir string) (wrong string) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err.Error()
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			wrong += err.Error()
		}
	}()
	if err := state.Extract(dir); err != nil {
		return err.Error()
	}
	known := histories(trace.Acks(state.Next))
	a := o.ask(question{dir, keysOf(known)})
	if a.Failed != "" {
		return a.Failed
	}
	return contradictions(known, a, strings.HasPrefix(s.name, "salvage"))
}

// keysOf returns the keys of histories, in order.
func keysOf(known map[string]*history) []string { return slices.Sorted(maps.Keys(known)) }

// contradictions returns how an answer contradicts what was acknowledged; "" for nothing.
func contradictions(known map[string]*history, a answer, damaged bool) string {
	var all []string
	for key, h := range known {
		if !h.allows(a.Found[key]) && key != "salvage/said" {
			all = append(all, fmt.Sprintf("%s is %.60q: %v", key, a.Found[key], h))
		}
	}
	said := known["salvage/said"] != nil || a.Salvaged != ""
	switch {
	case damaged && !said:
		all = append(all, "the salvage was not said")
	case !damaged && a.Salvaged != "":
		all = append(all, "salvaged: "+a.Salvaged)
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// A question is about the state of a disk, in a folder.
type question struct {
	Dir  string
	Keys []string // of a ledger
}

// An answer is what the server finds.
type answer struct {
	Salvaged string            // see Open
	Found    map[string]string // key → value
	Failed   string            // what did not work; "" for nothing
}

// runOpener is the process that opens states, as the server does, until its standard input
// ends: a damaged store could end the process or stop it.
func runOpener([]string) error {
	lines, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return err
		}
		a := answer{Found: map[string]string{}}
		if err := a.find(q); err != nil {
			a.Failed = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return lines.Err()
}

// find opens the store, looks for the keys, saves something, closes the store, and checks every page.
func (a *answer) find(q question) (err error) {
	ctx, cfg := context.Background(), configIn(q.Dir)
	var st *store.Store
	var log check.Log
	if st, a.Salvaged, err = Open(ctx, cfg, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if text := log.String(); strings.Contains(text, "counted wrongly") {
		return errors.Join(errors.New(text), st.Close())
	}
	if err := a.look(ctx, st, cfg, q.Keys); err != nil {
		return errors.Join(err, st.Close())
	}
	if err := errors.Join(st.SaveCalibration("the next update", []byte("{}")), st.Health(), st.Close()); err != nil {
		return fmt.Errorf("the next update: %w", err)
	}
	if store.UncleanShutdown(cfg.StorePath()) {
		return errors.New("the mark of an unclean shutdown stays")
	}
	return store.Check(cfg.StorePath())
}

func (a *answer) look(ctx context.Context, st *store.Store, cfg settings.Config, keys []string) error {
	s, err := newSite(ctx, st)
	if err != nil {
		return err
	}
	for _, key := range keys {
		var value string
		switch what, rest, _ := strings.Cut(key, "/"); what {
		case "backup": // that a command wrote
			if store.Check(filepath.Join(diskOf(cfg), rest)) == nil {
				value = "intact"
			}
		case "salvage":
			value = a.salvage(cfg, rest)
		default:
			value, err = s.look(key)
		}
		if err != nil {
			return fmt.Errorf("look for %s: %w", key, err)
		}
		a.Found[key] = value
	}
	return nil
}

// salvage returns whether the salvage was said, or the damaged store was retained.
func (a *answer) salvage(cfg settings.Config, what string) string {
	if what == "said" && a.Salvaged != "" || what == "damaged" && len(DamagedStores(cfg)) > 0 {
		return "yes"
	}
	return ""
}

// diskOf returns the folder in which STATE_DIR lies.
func diskOf(cfg settings.Config) string { return filepath.Dir(cfg.StateDir) }

// configIn returns the settings of a server whose disk is at dir.
func configIn(dir string) settings.Config {
	return settings.Config{StateDir: filepath.Join(dir, "state")}
}

// An opener is a child process that answers questions.
type opener struct {
	tb  testing.TB
	cmd *exec.Cmd
	in  *json.Encoder
	out *bufio.Reader
	err strings.Builder // its standard error
	end func()
}

// maxOpening is the time after which a state counts as one that the server cannot open.
const maxOpening = 30 * time.Second

func startOpener(tb testing.TB) *opener {
	tb.Helper()
	o := &opener{tb: tb, cmd: killtest.Command(tb, "opener")}
	in := check.Must(o.cmd.StdinPipe())(tb)
	out := check.Must(o.cmd.StdoutPipe())(tb)
	o.cmd.Stderr = &o.err
	o.in, o.out = json.NewEncoder(in), bufio.NewReader(out)
	check.NoError(tb, o.cmd.Start())
	o.end = func() {
		_ = in.Close()   // the process ends
		_ = o.cmd.Wait() // what it did was judged by its answers
	}
	return o
}

// ask returns the answer to a question. A process that does not answer in time, or that crashed, is replaced.
func (o *opener) ask(q question) (a answer) {
	o.tb.Helper()
	late := time.AfterFunc(maxOpening, func() { _ = o.cmd.Process.Kill() }) // ends the read below
	err := o.in.Encode(q)
	var line []byte
	if err == nil {
		line, err = o.out.ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if !late.Stop() {
		err = fmt.Errorf("the server needs more than %v", maxOpening)
	}
	if err != nil {
		_ = o.cmd.Process.Kill() // it may have ended
		o.end()
		a.Failed = fmt.Sprintf("%v: %.2000s", err, o.err.String())
		*o = *startOpener(o.tb)
	}
	return a
}

// faulty are short scenarios of one life, each of whose operations fails in turn.
var faulty = []scenario{
	{name: "create", lives: []string{"serve 2"}},
	{name: "backups", lives: []string{"backups 2"}},
	{name: "backup command", prepare: prepareRestore, lives: []string{"command 0"}},
	{name: "restore", prepare: prepareRestore, lives: []string{"restore 0"}},
	{name: "salvage", prepare: prepareDamaged, lives: []string{"salvage 1"}},
}

// Whichever operation fails while a store is created, used, backed up, restored or salvaged: no
// process crashes, and a disk that works again has everything that was acknowledged.
func TestAll_openDiskFails(t *testing.T) {
	t.Parallel()
	failures := crashtest.Failures()
	for _, s := range faulty {
		t.Run(s.name, func(t *testing.T) {
			all := check.Must(s.failing(t, nil).run())(t)
			step := max(1, all*len(failures)/8)
			if stateLimit(t) > 500 {
				step = 1
			}
			var wait sync.WaitGroup
			turns := make(chan func(), 1)
			for range runtime.GOMAXPROCS(0) {
				wait.Go(func() {
					for turn := range turns {
						turn()
					}
				})
			}
			n := 0
			for i, f := range failures {
				for first := i * step / len(failures); first < all; first += step {
					n++
					turns <- func() {
						check.ErrorIs(t, s.fails(t, first, f), nil, "%s, operation %d of %d", f.Name, first, all)
					}
				}
			}
			close(turns)
			wait.Wait()
			t.Logf("%d operations, %d failures", all, n)
		})
	}
}

// A failingLife is the first life of a scenario on a disk of its own.
type failingLife struct {
	scenario
	tb   testing.TB
	dir  string
	disk *crashtest.Disk
	end  func()
}

// failing returns the first life of a scenario on a disk that fails by a plan.
func (s scenario) failing(tb testing.TB, plan func(int, crashtest.Op) syscall.Errno) failingLife {
	tb.Helper()
	l := failingLife{scenario: s, tb: tb, dir: crashtest.TempDir(tb)}
	if s.prepare != nil {
		s.prepare(tb, configIn(l.dir))
	}
	l.disk, l.end = crashtest.MountUntil(tb, l.dir)
	l.disk.Fail(plan)
	return l
}

// run runs the process and returns the number of its operations.
func (l failingLife) run() (operations int, err error) {
	defer l.end()
	what, rounds, _ := strings.Cut(l.lives[0], " ")
	cmd := lifeCommand(l.tb, l.disk.Dir, 0, what, rounds)
	late := time.AfterFunc(maxOpening, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) }) // prints the stacks
	defer late.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return l.disk.Operations(), err
}

// fails runs the first life on a disk that fails from an operation on, and then opens the store.
func (s scenario) fails(t *testing.T, first int, f crashtest.Failure) error {
	t.Helper()
	plan, _ := f.Plan(first)
	l := s.failing(t, plan)
	defer os.RemoveAll(l.dir)
	_, err := l.run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() != 1 {
		return fmt.Errorf("the process crashed: %w", err)
	}
	trace := l.disk.Trace()
	known := histories(trace.Acks(len(trace.Ops)))
	o := startOpener(t)
	defer func() { o.end() }()
	a := o.ask(question{l.dir, keysOf(known)})
	if a.Failed != "" {
		return errors.New(a.Failed)
	}
	if wrong := contradictions(known, a, strings.HasPrefix(s.name, "salvage")); wrong != "" {
		return errors.New(wrong)
	}
	return nil
}

// TestMain is also the program of the child processes.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == CheckCommand {
		err := CheckStore(os.Args[2])
		if err == nil {
			os.Exit(0)
		}
		fmt.Fprintln(os.Stderr, err)
		code, _ := exitcode.Of(err)
		os.Exit(code)
	}
	killtest.Main(m, map[string]killtest.Child{"life": runLife, "opener": runOpener})
}

// One backup a day is made, the last three are retained, and a failed one is tried again in an hour.
func TestBackups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := settings.Config{StateDir: t.TempDir()}
		var log bytes.Buffer // read when Run has ended
		st := check.Must(store.Open(cfg.StorePath(), store.Options{}))(t)
		defer st.Close()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		s := &Backups{Store: st, Dir: cfg.BackupDir(), Log: slog.New(slog.NewTextHandler(&log, nil))}
		go func() { ended <- s.Run(ctx) }()
		count := func(after time.Duration) int {
			time.Sleep(after)
			synctest.Wait()
			all, _ := store.Backups(cfg.BackupDir()) // it may not be a directory
			return len(all)
		}
		for _, tt := range []struct {
			after time.Duration
			want  int
		}{{startupWait - time.Second, 0}, {2 * time.Second, 1}, {Interval, 2}, {Interval, 3}, {Interval, 3}} {
			check.Equal(t, count(tt.after), tt.want, "%v later there", tt.after)
		}
		check.NoError(t, errors.Join(os.RemoveAll(cfg.BackupDir()), os.WriteFile(cfg.BackupDir(), nil, 0o600)))
		check.Equal(t, count(Interval), 0, "with a file in place of the directory")
		check.NoError(t, os.Remove(cfg.BackupDir()))
		check.Equal(t, count(retryDelay), 1, "an hour after that")
		stop()
		check.NoError(t, <-ended)
		check.Equal(t, strings.Count(log.String(), `level=ERROR msg="backup failed"`),
			1, "want one failed backup in the log:\n%s", &log)
	})
}

// An interrupted salvage changes nothing, and the next start begins it again.
func TestOpen_interruptedSalvage(t *testing.T) {
	t.Parallel()
	cfg := settings.Config{StateDir: t.TempDir()}
	path := cfg.StorePath()
	log := slog.New(slog.DiscardHandler)
	st, _, err := Open(t.Context(), cfg, log)
	check.NoError(t, err)
	backup, err := st.AddBackup(t.Context(), cfg.BackupDir(), nil)
	check.NoError(t, errors.Join(err, st.Close()))
	junk := strings.Repeat("This is no store. ", 2000)
	check.NoError(t, os.WriteFile(path, []byte(junk), 0o600))
	for _, unclean := range []bool{false, true} {
		if unclean {
			check.NoError(t, os.WriteFile(path+".open", nil, 0o600))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := Open(ctx, cfg, log)
		check.ErrorIs(t, err, exitcode.ErrInterrupted, "interrupted, unclean %t", unclean)
		check.Equal(t, string(check.Must(os.ReadFile(path))(t)), junk, "interrupted, unclean %t: the store", unclean)
		check.Equal(t, len(DamagedStores(cfg)), 0, "interrupted, unclean %t: damaged stores", unclean)
	}
	st, salvaged, err := Open(t.Context(), cfg, log)
	check.Require(t, err == nil && strings.Contains(salvaged, "restored backup: "+backup.Path),
		"the next start: %q, %v", salvaged, err)
	check.NoError(t, st.Close())
	damaged := DamagedStores(cfg)
	check.Require(t, len(damaged) == 1, "damaged stores: %v", damaged)
	check.Equal(t, string(check.Must(os.ReadFile(damaged[0]))(t)), junk, "the damaged store")
}

// A salvage is described at each start until the server was stopped.
func TestOpen_describesSalvageAgain(t *testing.T) {
	t.Parallel()
	cfg := settings.Config{StateDir: t.TempDir()}
	log := slog.New(slog.DiscardHandler)
	check.NoError(t, os.WriteFile(cfg.StorePath(), []byte("This is no store."), 0o600))
	st, first, err := Open(t.Context(), cfg, log)
	check.Require(t, err == nil && first != "", "salvaged %q, %v", first, err)
	mark, err := os.ReadFile(cfg.StorePath() + ".open")
	check.NoError(t, errors.Join(err, st.Close()))
	if err := os.WriteFile(cfg.StorePath()+".open", mark, 0o600); err != nil { // the process was killed instead
		t.Fatal(err)
	}
	for _, want := range []string{first, ""} {
		st, salvaged, err := Open(t.Context(), cfg, log)
		check.Require(t, err == nil && salvaged == want, "salvaged %q, %v; want %q", salvaged, err, want)
		check.NoError(t, st.Close())
	}
}

// A backup that could not be restored this time is not given up.
func TestUnusable(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		store.ErrCorrupt: true, store.ErrNewer: true, store.ErrOlder: true, syscall.EIO: true, fs.ErrPermission: true,
		syscall.ENOSPC: false, syscall.EROFS: false, syscall.ENOMEM: false, context.DeadlineExceeded: false,
	} {
		check.Equal(t, unusable(fmt.Errorf("restore: %w", err)), want, "%v", err)
	}
}

func TestUntilBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	wait := untilBackup(dir, now)
	check.That(t, wait <= 0, "without a backup: %v", wait)
	path := filepath.Join(dir, "pressbox-000007-20261121.db")
	check.NoError(t, os.WriteFile(path, nil, 0o600))
	for age, want := range map[time.Duration]time.Duration{
		time.Hour: 23 * time.Hour, 30 * time.Hour: -6 * time.Hour,
		-time.Hour: 0, // from a wrong clock
	} {
		check.NoError(t, os.Chtimes(path, now.Add(-age), now.Add(-age)))
		check.Equal(t, untilBackup(dir, now), want, "%v after the last backup", age)
	}
}

// A page of cyclic.db refers to a page above it, so that the check of its pages has no
// end. It is a state of TestAll_powerCutSyncsIgnored.
func TestCheckInChild_cyclicPages(t *testing.T) {
	t.Parallel()
	file := check.Must(os.Open("testdata/cyclic.db.gz"))(t)
	defer check.Close(t, file)
	unpacked := check.Must(gzip.NewReader(file))(t)
	path := filepath.Join(t.TempDir(), "pressbox.db")
	check.NoError(t, os.WriteFile(path, check.Must(io.ReadAll(unpacked))(t), 0o600))
	check.ErrorIs(t, CheckInChild(t.Context(), path), store.ErrCorrupt, "a store whose pages are cyclic")
}

// Backups that are made at the same time are two, which can be opened; a damaged one, and files
// that are no backups, cannot.
func TestBackups_open(t *testing.T) {
	t.Parallel()
	cfg := settings.Config{StateDir: t.TempDir()}
	st := check.Must(store.Open(cfg.StorePath(), store.Options{}))(t)
	check.Close(t, st)
	b := &Backups{Store: st, Dir: cfg.BackupDir(), Log: slog.New(slog.DiscardHandler)}
	older := cfg.StorePath() + ".schema-1"
	check.NoError(t, os.WriteFile(older, nil, 0o600))
	check.NoError(t, os.Chtimes(older, time.Time{}, time.Now().Add(-2*copyRetention)))
	var made sync.WaitGroup
	for range 2 {
		made.Go(func() { check.ErrorIs(t, check.Err(b.Create(t.Context())), nil, "create") })
	}
	made.Wait()
	check.ErrorIs(t, check.Err(os.Stat(older)), fs.ErrNotExist, "the copy before an old migration")
	all := check.Must(b.List())(t)
	check.Require(t, len(all) == 2 && all[0].Number == 2 && all[1].Number == 1, "the backups: %+v", all)
	name := filepath.Base(all[0].Path)
	f := check.Must(b.Open(t.Context(), name))(t)
	check.Equal(t, check.Must(f.Stat())(t).Size(), all[0].Size, "bytes")
	check.NoError(t, f.Close())
	for _, missing := range []string{"pressbox-000009-20261121.db", "../pressbox.db", ""} {
		check.ErrorIs(t, check.Err(b.Open(t.Context(), missing)), fs.ErrNotExist, "open %q", missing)
	}
	check.NoError(t, os.Truncate(all[0].Path, all[0].Size/2))
	check.ErrorIs(t, check.Err(b.Open(t.Context(), name)), store.ErrCorrupt, "open a damaged backup")
}
