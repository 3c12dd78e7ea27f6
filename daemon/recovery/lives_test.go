package recovery

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/idp"
	"pressbox/auth/session"
	"pressbox/daemon/settings"
	"pressbox/game/leagues"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/clock"
	"pressbox/store/crashtest"
	"pressbox/store/killtest"
	"pressbox/voice/announce"
	"pressbox/voice/announce/policy"
	"pressbox/voice/control"
	"pressbox/voice/control/hours"
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
	write := func(w io.Writer) error { return Backup(ctx, l.cfg, w, slog.New(slog.DiscardHandler)) }
	_, err := WriteBackup(ctx, filepath.Join(diskOf(l.cfg), "by-hand.db"), write)
	return l.ledger.ack("backup/by-hand.db", err)
}

// restore does what "pressbox restore FILE" does. The calibration of "which" is that of
// the replaced store, or that of the backup.
func (l life) restore(ctx context.Context) error {
	_ = l.ledger.set("calibration/which", "2") // nil
	l.ledger.begin("calibration/which", "1")
	backup, err := os.Open(filepath.Join(diskOf(l.cfg), "backup.db"))
	if err == nil {
		_, err = Restore(ctx, l.cfg, backup)
		err = errors.Join(err, backup.Close())
	}
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

// A release describes what a store of a released version has: testdata/vX.Y.Z.json beside
// vX.Y.Z.db.gz of package store. Neither is ever written again.
//
// Those of 0.5.0 were made by its packages (commit ffdf6d0), in a test of package recovery in a bubble of synctest,
// from 18:00 on 24 November 2026, on a host whose boot id and time since boot were set: an announcer accepted and
// ended announcements, with each field of a request; games were played by choices among the legal actions, until
// leagues had played and open games; three local accounts signed in, and one was disabled. The closed store was opened
// again for the texts below, which the functions of this file made, and compacted by bbolt.Compact.
type release struct {
	Made     time.Time
	Accounts map[string]string // name → id
	Tokens   map[string]string
	Flow     struct{ State, Binding string } // pending, with the token "invite"

	Queue, Scheduled, Recent []string // announcements
	Keyed                    string   // id of that with an idempotency key

	Volume, Quiet        string
	Favorites, Schedules []string

	Games   []releasedGame
	Leagues []releasedLeague
}

type releasedGame struct{ ID, Text, Scorecard string }

type releasedLeague struct {
	ID, Text         string
	Kind             leagues.Kind
	Games, Standings []string
}

// An opened release is a test of it, in a bubble a minute after it was made.
type opened struct {
	*testing.T
	*store.Store
	want release
}

// inRelease runs a test with the store of 0.5.0.
func inRelease(t *testing.T, test func(o opened)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var want release
		data := check.Must(os.ReadFile("../../store/testdata/v0.5.0.json"))(t)
		check.NoError(t, json.Unmarshal(data, &want))
		time.Sleep(time.Until(want.Made.Add(time.Minute)))
		cfg := configIn(t.TempDir())
		unpack(t, "v0.5.0", cfg)
		st, salvaged, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
		check.Require(t, err == nil && salvaged == "", "open: salvaged %q, %v", salvaged, err)
		defer check.Close(t, st)
		test(opened{t, st, want})
	})
}

func TestRelease_signIn(t *testing.T) {
	inRelease(t, func(o opened) {
		t, st, want := o.T, o.Store, o.want
		ctx, log := t.Context(), slog.New(slog.DiscardHandler)
		sessions := openSessions(t, st)
		for name, owner := range map[string]string{
			"Ann access": "Ann", "Bob access": "Bob", "renewed access": "Bob", "Out access": "",
			"doorbell": "", "remote": "",
		} {
			caller, err := sessions.Authenticate(ctx, auth.RequestCredentials{
				Authorization: []string{"Bearer " + want.Tokens[name]}, From: netip.MustParseAddr("192.168.1.9"),
			})
			check.That(t, caller.Account.Name == owner && (err != nil) == (name == "Out access"),
				"%s is of %q, %v; want %q", name, caller.Account.Name, err, owner)
		}
		for _, name := range []string{"Ann refresh", "Bob refresh", "renewed refresh", "spent refresh"} {
			token, _ := auth.ParseToken(want.Tokens[name])
			_, err := sessions.Refresh(ctx, token)
			check.That(t, (err != nil) == (name == "spent refresh"), "%s: %v", name, err)
		}

		local := check.Must(sessions.LocalAccounts().Find(ctx, "ann"))(t)
		account := check.Must(sessions.LocalAccounts().Account(ctx, local))(t)
		check.That(t, account.ID == want.Accounts["Ann"] && account.Admin, "the account of Ann is %+v", account)
		right, _, err := idp.NewHasher(idp.MinCost).Verify(ctx, local.Hash, "the passphrase of Ann")
		check.That(t, right && err == nil, "Ann's passphrase is right: %t, %v", right, err)
		found, err := sessions.HasAdminCode(ctx)
		check.That(t, found && err == nil, "there is an administrator's code: %t, %v", found, err)

		provider := &authtest.Provider{Identity: auth.Identity{Subject: "new", Name: "New"}}
		in := &session.SignIn{
			Provider: provider, ProviderName: auth.Local, SignUp: auth.SignUpInvite, Sessions: sessions, Log: log,
		}
		r, err := in.Finish(ctx, auth.Callback{State: want.Flow.State, Binding: want.Flow.Binding, Code: "code"})
		check.That(t, err == nil && r.Account.Name == "New",
			"the pending flow ends with the account %+v, %v", r.Account, err)
	})
}

// openSessions returns the sessions of a store after a restart of the host.
func openSessions(t *testing.T, st *store.Store) *session.Sessions {
	t.Helper()
	c, err := session.OpenClock(t.Context(), st.Auth(), clock.Source{
		Wall: time.Now, Since: func() time.Duration { return time.Second }, Boot: "next",
	}, authtest.Released)
	check.NoError(t, err)
	return session.New(st.Auth(), c, 0, slog.New(slog.DiscardHandler))
}

func TestRelease_announcements(t *testing.T) {
	inRelease(t, func(o opened) {
		t, st, want := o.T, o.Store, o.want
		a := check.Must(newAnnouncer(st))(t)
		all := a.List()
		equal(t, "queue", texts(all.Queue), want.Queue)
		equal(t, "scheduled", texts(all.Scheduled), want.Scheduled)
		equal(t, "recent", texts(all.Recent), want.Recent)

		again := announce.Request{
			Content: announce.Content{Message: "Ball four."}, IdempotencyKey: "key-1",
			Sender: announce.Sender{Client: "scoreboard"},
		}
		check.Equal(t, check.Must(a.Announce(t.Context(), again))(t).ID, want.Keyed, "the answer to a repetition")
		again.Message = "Ball three."
		_, err := a.Announce(t.Context(), again)
		check.ErrorIs(t, err, announce.ErrKeyReused, "its key with another request")
	})
}

// texts returns each stored field of announcements.
func texts(all []announce.View) (lines []string) {
	for _, a := range all {
		r := a.Rooms
		lines = append(lines, fmt.Sprintf(
			"%d %s %s %q %q %s/%d, urgent %t/%d, volume %d, chime %q, created %s, ttl %s, until %s, at %s/%t, "+
				"%d/%d times every %s, sender %q %q, rooms %+v %v, sentence %d, error %q, place %d, played %s to %s",
			a.Seq, a.ID, a.Status, a.Title, a.Message, a.Voice, a.Rate, a.Urgent, a.Priority, a.Volume, a.Chime,
			stamp(a.Created), a.TTL, stamp(a.Expires), stamp(a.At), a.FixedTime,
			a.Spoken, a.Repeat.Times, a.Repeat.Every, a.Sender.Kind, a.Sender.Name,
			[]any{r.From, r.Only, r.Voice, r.Rate, r.Cancelled}, r.States(),
			a.Sentence, a.Error, a.InitialPosition, stamp(a.Started), stamp(a.Ended),
		))
	}
	return lines
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	check.That(t, slices.Equal(got, want), "%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
}

func TestRelease_controls(t *testing.T) {
	inRelease(t, func(o opened) {
		t, st, want := o.T, o.Store, o.want
		controls, schedules := openControls(t, st)
		check.Equal(t, volumeText(controls), want.Volume, "volume")
		check.Equal(t, quietText(controls), want.Quiet, "quiet")
		var favorites []announce.Payload // without the ids, which they have now
		for _, f := range controls.Favorites() {
			favorites = append(favorites, f.Payload)
		}
		equal(t, "favorites", jsonOf(t, favorites), want.Favorites)
		equal(t, "schedules", jsonOf(t, schedules.List()), want.Schedules)
	})
}

func openControls(t *testing.T, st *store.Store) (*control.Controls, *control.Schedules) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	controls := check.Must(control.NewControls(control.Config{
		Volume: 80, QuietHours: check.Must(hours.Parse("22:00-07:00"))(t), QuietMode: policy.Silence, QuietVolume: 20,
		UrgentMinVolume: 50, Zone: time.UTC,
	}, st, st.Now, log))(t)
	return controls, check.Must(control.NewSchedules(control.ScheduleParts{
		Repository: st, Announcer: check.Must(newAnnouncer(st))(t), Hub: controls.Hub(), Now: time.Now,
		ClockSet: func() bool { return true }, Log: log,
	}))(t)
}

func volumeText(c *control.Controls) string {
	v := c.Volume()
	return fmt.Sprintf("%d, muted %t, set %t", v.Volume, v.Muted, v.Set)
}

func quietText(c *control.Controls) string {
	q := c.Quiet(time.Now())
	return fmt.Sprint(q.Mode, " until ", stamp(q.Until))
}

// jsonOf returns the JSON of each value, as clients get it.
func jsonOf[T any](t *testing.T, all []T) (lines []string) {
	t.Helper()
	for _, v := range all {
		lines = append(lines, string(check.Must(json.Marshal(v))(t)))
	}
	return lines
}

func TestRelease_games(t *testing.T) {
	inRelease(t, func(o opened) {
		t, st, want := o.T, o.Store, o.want
		games, _, err := newGames(t.Context(), st)
		check.NoError(t, err)
		ann, bob := want.person("Ann"), want.person("Bob")
		for _, g := range want.Games {
			got := describe(t, games, ann, g.ID)
			check.That(t, reflect.DeepEqual(got, g), "game %+v\nwant %+v", got, g)
			finish(t, games, g.ID, ann, bob)
		}
	})
}

func (r release) person(name string) protocol.Person {
	return protocol.Person{ID: r.Accounts[name], Name: name}
}

func describe(t *testing.T, games *live.Games, viewer protocol.Person, id string) releasedGame {
	t.Helper()
	g := check.Must(games.Game(t.Context(), viewer, id))(t)
	d := releasedGame{ID: id, Text: fmt.Sprintf("%s %s-%s, revision %d, inning %d",
		g.Status, g.Away.Team.ID, g.Home.Team.ID, g.Revision, g.Inning)}
	if g.Status == protocol.Pending {
		return d
	}
	if g.Result != nil {
		d.Text += fmt.Sprintf(", %s %s", g.Result.Winner, g.Result.How)
	}
	events := check.Must(games.Events(t.Context(), viewer, id, 0))(t)
	d.Text += fmt.Sprintf(", %d:%d, %d events", g.Score.Away, g.Score.Home, len(events))
	var card strings.Builder
	check.NoError(t, games.Scorecard(t.Context(), id, &card))
	d.Scorecard = card.String()
	_, box, err := games.Box(t.Context(), viewer, id)
	check.NoError(t, err)
	for _, team := range box.Teams {
		d.Text += fmt.Sprintf(", %v: %d-%d-%d, %d left on base, %d earned, %d batted, %d pitched", team.LineScore,
			team.Runs, team.Hits, team.Errors, team.LeftOnBase, team.EarnedRuns, len(team.Batting), len(team.Pitching))
	}
	return d
}

// finish plays a game that has started to its end by the first legal action of each side.
func finish(t *testing.T, games *live.Games, id string, managers ...protocol.Person) {
	t.Helper()
	for i := range 2000 {
		for _, who := range managers {
			g := check.Must(games.Game(t.Context(), who, id))(t)
			if g.Status != protocol.Active {
				return
			}
			if len(g.Legal) == 0 {
				continue
			}
			c := protocol.Command{ID: fmt.Sprint("new", i), Revision: g.Revision, Action: g.Legal[0].Action}
			if _, _, err := games.Submit(t.Context(), who, id, c, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Errorf("game %s has no end", id)
}

func TestRelease_leagues(t *testing.T) {
	inRelease(t, func(o opened) {
		t, st, want := o.T, o.Store, o.want
		games, all, err := newGames(t.Context(), st)
		check.NoError(t, err)
		ann := want.person("Ann")
		for _, l := range want.Leagues {
			got := describeLeague(t, all, ann, l.Kind, l.ID)
			check.That(t, reflect.DeepEqual(got, l), "%+v\nwant %+v", got, l)
		}

		// The open game of a league is played to its end, and the league goes on.
		l := want.Leagues[0]
		schedule := check.Must(all.Schedule(t.Context(), ann, l.Kind, l.ID))(t)
		at := slices.IndexFunc(schedule.Games, func(g leagues.GameView) bool {
			return g.Status == string(protocol.Active)
		})
		finish(t, games, schedule.Games[at].Game, ann)
		end := check.Run(t, all.Run)
		time.Sleep(time.Hour)
		synctest.Wait()
		end()
		after := describeLeague(t, all, ann, l.Kind, l.ID)
		check.That(t, !slices.Equal(after.Standings, l.Standings) && !slices.Equal(after.Games, l.Games),
			"after the game: %+v", after)
	})
}

func describeLeague(
	t *testing.T, all *leagues.Leagues, viewer protocol.Person, k leagues.Kind, id string,
) releasedLeague {
	t.Helper()
	v := check.Must(all.Get(viewer, k, id))(t)
	schedule := check.Must(all.Schedule(t.Context(), viewer, k, id))(t)
	d := releasedLeague{ID: id, Kind: k}
	d.Text = fmt.Sprintf("%s %q of %s, %d seats", v.Status, v.Name, v.Creator.Name, len(v.Seats))
	for _, g := range schedule.Games {
		line := fmt.Sprintf("day %d: %d at %d, %s", g.Day, g.Away, g.Home, g.Status)
		if g.Score != nil {
			line += fmt.Sprintf(" %d:%d", g.Score.Away, g.Score.Home)
		}
		d.Games = append(d.Games, line)
	}
	d.Standings = jsonOf(t, check.Must(all.Standings(viewer, k, id))(t).Standings)
	return d
}

func TestRelease_others(t *testing.T) {
	inRelease(t, func(o opened) {
		t, st := o.T, o.Store
		ctx := t.Context()
		calibration, _, err := st.Calibration("5e1f")
		team, teamErr := st.TeamData(ctx, "https://teams.example/teams")
		document, documentErr := st.Cached(ctx, "keys")
		ducked, duckedErr := st.Ducked()
		season, seasonErr := st.Season(ctx, 2020)
		check.NoError(t, errors.Join(err, teamErr, documentErr, duckedErr, seasonErr))
		got := []string{string(calibration), string(team), string(document), string(ducked), string(season)}
		equal(t, "other data", got, []string{
			`{"gain":1.25,"rate":[1,2,3]}`, `{"teams":[]}`, `{"keys":[]}`,
			`{"streams":[{"name":"music","volume":0.8}]}`, `{"year":2020,"clubs":[]}`,
		})
	})
}
