package recovery

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pressbox/daemon/settings"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/crashtest"
	"pressbox/store/killtest"
)

// A scenario is what happens to a disk before the power cut.
type scenario struct {
	name    string
	prepare func(tb testing.TB, cfg settings.Config)  // before the record begins; nil: the disk is empty
	lives   []string                                  // processes, one after the other; see runLife
	fail    func(n int, o crashtest.Op) syscall.Errno // what fails in the first life; nil: nothing
}

var scenarios = []scenario{
	{name: "serve", lives: []string{"serve 24", "crash 16", "serve 16", "crash 2", "serve 2"}},
	{name: "backups", lives: []string{"backups 5", "command 3", "crash 2"}},
	{name: "restore", prepare: prepareRestore, lives: []string{"restore 0", "serve 2"}},
	{name: "salvage", prepare: prepareDamaged, lives: []string{"salvage 2", "serve 2"}},
	{name: "salvage without backup", prepare: prepareWithoutBackup, lives: []string{"salvage 2", "serve 2"}},
	{name: "failed sync of pages", lives: []string{"unreliable 4", "serve 4"}, fail: failSync(false, 16)},
	{name: "failed sync of meta page", lives: []string{"unreliable 4", "serve 4"}, fail: failSync(true, 16)},
	{name: "failed syncs before a crash", lives: []string{"unreliable-crash 4", "serve 4"}, fail: failSync(true, 20)},
}

// failSync returns a plan by which the n-th sync fails, counted from 0: of those after a write to
// a meta page of the store, or of the others.
func failSync(meta bool, n int) func(int, crashtest.Op) syscall.Errno {
	wasMeta := false
	return func(_ int, o crashtest.Op) syscall.Errno {
		if o.Kind == crashtest.Write {
			wasMeta = strings.HasSuffix(o.Name, ".db") && o.Offset < 2*4096
		}
		if o.Kind != crashtest.Sync || wasMeta != meta {
			return 0
		}
		if n--; n != -1 {
			return 0
		}
		return syscall.EIO
	}
}

// record returns the trace of a scenario. Long lives are shorter by a divisor.
func (s scenario) record(tb testing.TB, divisor int) crashtest.Trace {
	tb.Helper()
	dir := crashtest.TempDir(tb)
	if s.prepare != nil {
		s.prepare(tb, configIn(dir))
	}
	disk := crashtest.Mount(tb, dir)
	plan := s.fail
	for n, life := range s.lives {
		disk.Fail(plan)
		plan = nil
		what, count, _ := strings.Cut(life, " ")
		rounds, _ := strconv.Atoi(count)
		rounds = max(rounds/divisor, min(rounds, 6))
		if out, err := lifeCommand(tb, disk.Dir, n, what, strconv.Itoa(rounds)).CombinedOutput(); err != nil {
			tb.Fatalf("%s, %s: %v\n%s", s.name, life, err, out)
		}
	}
	trace := disk.Trace()
	if now, err := crashtest.ReadImage(dir); err != nil || !now.Equal(trace.Last()) {
		tb.Fatalf("%s: the trace leads to another content than the disk has, %v", s.name, err)
	}
	return trace
}

// lifeCommand returns the command of a process that uses the disk at dir.
func lifeCommand(tb testing.TB, dir string, number int, what, rounds string) *exec.Cmd {
	tb.Helper()
	return killtest.Command(tb, "life", dir, strconv.Itoa(number), what, rounds)
}

// A life is a process that uses a disk.
type life struct {
	cfg    settings.Config
	ledger *ledger
	number int
	what   string // it does
	rounds int    // of changes
}

// runLife is the process. Its arguments are the folder, its number, what it does, and the number of rounds.
func runLife(args []string) error {
	number, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	rounds, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	acks, err := os.OpenFile(crashtest.Acks(args[0]), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	l := life{configIn(args[0]), &ledger{file: acks}, number, args[2], rounds}
	switch ctx := context.Background(); l.what {
	case "restore":
		return l.restore(ctx)
	case "command":
		return l.backUp(ctx)
	default:
		return l.serve(ctx)
	}
}

// serve does what a server does, without its network: it opens the store, makes changes, and
// closes the store or, in a life with crash in its name, does not.
func (l life) serve(ctx context.Context) error {
	if err := l.ledger.setExpected(l.cfg); err != nil {
		return err
	}
	st, salvaged, err := Open(ctx, l.cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if (salvaged != "") != (l.what == "salvage") {
		return fmt.Errorf("life %d, %s: salvaged %q", l.number, l.what, salvaged)
	}
	if salvaged != "" {
		_ = l.ledger.set("salvage/said", "yes") // nil
	}
	if err := l.change(ctx, st); err != nil {
		return err
	}
	if strings.HasSuffix(l.what, "crash") {
		os.Exit(0)
	}
	return st.Close()
}

// change makes rounds of changes. One must fail in a life with unreliable in its name, and none in others.
func (l life) change(ctx context.Context, st *store.Store) error {
	s, err := newSite(ctx, st)
	if err != nil {
		return err
	}
	s.life, s.ledger = l.number, l.ledger
	var failures []error
	for i := range l.rounds {
		err := s.round(i)
		if err == nil && l.what == "backups" {
			err = addBackup(ctx, st, l.cfg)
		}
		if err != nil {
			failures = append(failures, err)
		}
	}
	if !strings.HasPrefix(l.what, "unreliable") {
		return errors.Join(failures...)
	}
	if len(failures) == 0 {
		return errors.New("nothing has failed")
	}
	return nil
}

// addBackup makes a backup as [Schedule] does.
func addBackup(ctx context.Context, st *store.Store, cfg settings.Config) error {
	if _, err := st.AddBackup(ctx, cfg.BackupDir(), checker(ctx)); err != nil {
		return err
	}
	return store.PruneBackups(cfg.BackupDir(), retention)
}

// backUp does what "pressbox backup FILE" does.
func (l life) backUp(ctx context.Context) error {
	l.ledger.begin("backup/by-hand.db", "intact")
	_, err := Backup(ctx, l.cfg, filepath.Join(diskOf(l.cfg), "by-hand.db"), slog.New(slog.DiscardHandler))
	return l.ledger.ack("backup/by-hand.db", err)
}

// restore does what "pressbox restore FILE" does. The calibration of "which" is that of
// the replaced store, or that of the backup.
func (l life) restore(ctx context.Context) error {
	_ = l.ledger.set("calibration/which", "2") // nil
	l.ledger.begin("calibration/which", "1")
	_, err := Restore(ctx, l.cfg, filepath.Join(diskOf(l.cfg), "backup.db"))
	return l.ledger.ack("calibration/which", err)
}

// saved writes a store with a calibration of "which".
func saved(tb testing.TB, cfg settings.Config, which string, then func(*store.Store) error) {
	tb.Helper()
	st, _, err := Open(tb.Context(), cfg, slog.New(slog.DiscardHandler))
	check.NoError(tb, err)
	check.NoError(tb, errors.Join(st.SaveCalibration("which", []byte(which)), then(st), st.Close()))
}

func nothing(*store.Store) error { return nil }

func prepareRestore(tb testing.TB, cfg settings.Config) {
	tb.Helper()
	saved(tb, cfg, "1", func(st *store.Store) error {
		_, err := WriteBackup(tb.Context(), filepath.Join(diskOf(cfg), "backup.db"), st.Backup)
		return err
	})
	saved(tb, cfg, "2", nothing)
}

// prepareDamaged writes a store that is damaged, and a backup of it.
func prepareDamaged(tb testing.TB, cfg settings.Config) {
	tb.Helper()
	saved(tb, cfg, "1", func(st *store.Store) error { return addBackup(tb.Context(), st, cfg) })
	prepareWithoutBackup(tb, cfg)
	expect(tb, cfg, "salvage/damaged\tyes", "calibration/which\t1")
}

func prepareWithoutBackup(tb testing.TB, cfg settings.Config) {
	tb.Helper()
	saved(tb, cfg, "2", nothing)
	junk := []byte(strings.Repeat("This is no store. ", 2000))
	check.NoError(tb, errors.Join(
		os.WriteFile(cfg.StorePath(), junk, 0o600), os.WriteFile(cfg.StorePath()+".open", nil, 0o600),
	))
	expect(tb, cfg, "salvage/damaged\tyes")
}

// unpack writes the store of a released version.
func unpack(tb testing.TB, version string, cfg settings.Config) {
	tb.Helper()
	packed := check.Must(os.Open("../../store/testdata/" + version + ".db.gz"))(tb)
	defer packed.Close()
	plain := check.Must(gzip.NewReader(packed))(tb)
	content, err := io.ReadAll(plain)
	check.NoError(tb, errors.Join(err, os.MkdirAll(cfg.StateDir, 0o700), os.WriteFile(cfg.StorePath(), content, 0o600)))
}

// expect lets the first life record what the store has before.
func expect(tb testing.TB, cfg settings.Config, lines ...string) {
	tb.Helper()
	check.NoError(tb, os.WriteFile(expectedPath(cfg), []byte(strings.Join(lines, "\n")), 0o600))
}

// expectedPath returns the file with the inventory of the store before the record begins.
func expectedPath(cfg settings.Config) string { return filepath.Join(diskOf(cfg), "expected") }

// setExpected records what the store had before.
func (l *ledger) setExpected(cfg settings.Config) error {
	text, err := os.ReadFile(expectedPath(cfg))
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		l.set(key, value)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
