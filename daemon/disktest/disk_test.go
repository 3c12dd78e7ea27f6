// Package disktest runs the server on a disk that fails, and with a store that is full.
package disktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/crashtest"
	"pressbox/voice/announce"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m)) }

// Whichever operation of the store fails, for once or from then on: the server reports it,
// loses nothing that was acknowledged, does not crash, and works again on a disk that works.
func TestAll_serverDiskFails(t *testing.T) {
	t.Parallel()
	env := servertest.Environment(t, servertest.Silent)
	calibrated := servertest.CalibratedDir(t)
	all := operations(t, calibrated, env)
	step := stepOf(t, all)
	outcomes := map[string]int{}
	type run struct {
		crashtest.Failure
		first int
	}
	next := make(chan run)
	var mu sync.Mutex // guards outcomes
	var wait sync.WaitGroup
	for range atOnce {
		wait.Go(func() {
			for r := range next {
				outcome, err := attempt(t, calibrated, env, r.Failure, r.first)
				check.ErrorIs(t, err, nil, "%s, operation %d", r.Name, r.first)
				mu.Lock()
				outcomes[r.Name+", "+outcome]++
				mu.Unlock()
			}
		})
	}
	failures := crashtest.Failures()
	for i, f := range failures {
		for first := i * step / len(failures); first < all; first += step {
			next <- run{f, first}
		}
	}
	close(next)
	wait.Wait()
	t.Logf("%d operations, each %d-th: %v", all, step, outcomes)
}

// atOnce is the number of servers that run at the same time: each waits 5 s at its end for a sound server.
const atOnce = 6

// stepOf returns the distance of the operations that fail: 1 if PRESSBOX_CRASH_STATES is set.
func stepOf(tb testing.TB, all int) int {
	tb.Helper()
	if os.Getenv("PRESSBOX_CRASH_STATES") != "" {
		return 1
	}
	return max(1, all/4)
}

// operations returns the number of operations of a server on a disk that works.
func operations(tb testing.TB, calibrated string, env []string) int {
	tb.Helper()
	s := newSite(tb, calibrated, env)
	defer s.remove()
	check.NoError(tb, s.start())
	s.load()
	check.NoError(tb, s.End(syscall.SIGTERM))
	check.Require(tb, len(s.acknowledged) == loads,
		"on a disk that works, %d of %d announcements were accepted: %v", len(s.acknowledged), loads, s.refusals)
	return s.disk.Operations()
}

// attempt runs a server on a disk that fails from an operation on, and then on one that
// works. It returns what the server did.
func attempt(tb testing.TB, calibrated string, env []string,
	f crashtest.Failure, first int,
) (outcome string, err error) {
	tb.Helper()
	s := newSite(tb, calibrated, env)
	defer s.remove()
	plan, failed := f.Plan(first)
	s.disk.Fail(plan)
	outcome = "failed while it stopped"
	if err := s.start(); err != nil {
		outcome = "refused to start"
		if err := s.said(err.Error(), f.Err); err != nil {
			return outcome, err
		}
	} else {
		s.load()
		if failed() {
			outcome = "failed while it ran"
			err = s.reports(f)
		}
		stopped := s.End(syscall.SIGTERM)
		if err := errors.Join(err, crashed(s.Logged(), stopped)); err != nil {
			return outcome, fmt.Errorf("%w\n%s", err, s.Logged())
		}
	}
	s.disk.Fail(nil)
	return outcome, s.recovers()
}

// loads is the number of announcements that are posted.
const loads = 4

// A site is a server on a disk.
type site struct {
	*servertest.Process
	tb           testing.TB
	disk         *crashtest.Disk
	env          []string
	remove       func()
	client       *client.Client
	acknowledged map[string]string // id → status
	refusals     []error
}

func newSite(tb testing.TB, calibrated string, env []string) *site {
	tb.Helper()
	content := crashtest.TempDir(tb)
	check.NoError(tb, os.CopyFS(content, os.DirFS(calibrated)))
	disk, unmount := crashtest.MountUntil(tb, content)
	s := &site{tb: tb, disk: disk, acknowledged: map[string]string{}}
	s.remove = func() {
		unmount()
		_ = os.RemoveAll(content)
	}
	s.env = append(slices.Clone(env), "STATE_DIR="+filepath.Join(disk.Dir, "state"))
	return s
}

// start starts the server.
func (s *site) start() (err error) {
	if s.Process, err = servertest.Start(os.TempDir(), s.env); err != nil {
		return err
	}
	s.client = client.New(s.URL, "")
	return nil
}

// load posts announcements and cancels every second one.
func (s *site) load() {
	ctx, stop := context.WithTimeout(s.tb.Context(), time.Minute)
	defer stop()
	for i := range loads {
		r, err := s.client.Announce(ctx, saying("Announcement "+strconv.Itoa(i)))
		if err != nil {
			s.refusals = append(s.refusals, err)
			continue
		}
		s.acknowledged[r.ID] = "queued"
		if i%2 == 0 {
			continue
		}
		if err := s.client.Call(ctx, http.MethodDelete, "/notify/"+r.ID, nil, &r); err != nil {
			s.refusals = append(s.refusals, err)
			s.acknowledged[r.ID] = "" // either
		} else {
			s.acknowledged[r.ID] = "cancelled"
		}
	}
}

// reports checks that a server whose disk has failed says so.
func (s *site) reports(f crashtest.Failure) error {
	for _, err := range s.refusals {
		problem, ok := errors.AsType[*client.ProblemError](err)
		if !ok || problem.Status < 500 {
			return fmt.Errorf("a request was refused with %w", err)
		}
	}
	if !f.Lasting {
		return nil
	}
	if len(s.acknowledged) == loads && len(s.refusals) == 0 { // the failure came after the last write
		if _, err := s.client.Announce(s.tb.Context(), saying("One more.")); err == nil {
			return errors.New("an announcement was accepted on a disk that cannot be written")
		}
	}
	resp, err := http.Get(s.URL + "/health")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable {
		return fmt.Errorf("/health is %s, want 503", resp.Status)
	}
	if err := s.said(s.Logged(), f.Err); err != nil {
		return fmt.Errorf("the journal: %w", err)
	}
	cmd := exec.CommandContext(s.tb.Context(), "pressbox", "status")
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); !ok || failed.ExitCode() != 1 {
		return fmt.Errorf("status ended with %w, want exit code 1: %s", err, out)
	}
	if err := s.said(string(out), f.Err); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	return nil
}

// said checks that a text names the failure and is no crash.
func (s *site) said(text string, cause syscall.Errno) error {
	if !strings.Contains(text, cause.Error()) {
		return fmt.Errorf("no %q in %s", cause.Error(), text)
	}
	return crashed(text, nil)
}

// crashed returns an error if a process has crashed, judged by its log and its end.
func crashed(log string, ended error) error {
	failed, _ := errors.AsType[*exec.ExitError](ended)
	if strings.Contains(log, "goroutine ") || failed != nil && (failed.ExitCode() == 2 || failed.ExitCode() < 0) {
		return fmt.Errorf("the server crashed: %w: %s", ended, log)
	}
	return nil
}

// recovers checks that a server on the disk, which works again, has all that was acknowledged.
func (s *site) recovers() error {
	if err := s.start(); err != nil {
		return fmt.Errorf("on a disk that works again: %w", err)
	}
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(s.acknowledged)) {
		var r client.Report
		want := s.acknowledged[id]
		err := s.client.Call(s.tb.Context(), http.MethodGet, "/notify/"+id, nil, &r)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s, which was %s: %w", id, want, err))
		case want == "queued" && r.Ended(), want == "cancelled" && r.Status != want:
			errs = append(errs, fmt.Errorf("%s is %s, want %s", id, r.Status, want))
		}
	}
	if _, err := s.client.Announce(s.tb.Context(), saying("It works again.")); err != nil {
		errs = append(errs, err)
	}
	_ = s.End(syscall.SIGKILL) // the error says so
	return errors.Join(errs...)
}

// saying returns the request to announce a message now.
func saying(message string) announce.AnnouncementRequest {
	return servertest.Request(client.Announcement{Message: message})
}

// largestMessage takes 30 KB of the store: a line separator has six bytes in JSON, and is not spoken.
var largestMessage = "Ball" + strings.Repeat("\u2028", 4990) + "four."

// Clients fill every share of the store through the server's routes, until they are refused or the server makes
// room. Then an announcement is accepted and heard. The buckets that no client fills have what the start leaves
// in them: boots, calibrations of the bundled voices, and the cost of a passphrase. That is the lowest that the
// server accepts, because 100 accounts would take a minute. The server is restarted for its team-data API: the
// games take their teams from the built-in league.
func TestShares_announcementsHeard(t *testing.T) {
	t.Parallel()
	f := newFilled(t)
	f.start()
	f.fillGames()
	f.fillFlows()
	f.fillTokens()
	f.fillControls()
	f.fillAccounts()
	f.fillSessions()
	check.NoError(t, f.End(syscall.SIGTERM))
	api := newTeamData(t)
	f.start("TEAM_DATA_URL=" + api.URL)
	f.fillCaches(api)
	f.fillAnnouncements()

	var health struct {
		Status string
		Checks map[string]map[string]any
	}
	f.anyone().Read("/health", &health)
	facts := health.Checks["store"]
	for share, least := range map[string]float64{
		"announcements": 0.5, // by those that ended
		"sign_in":       0.8, // an eighth is for administrators
		"games":         0.8,
		"caches":        0, // they were full, and make room by deleting all
	} {
		used, limit := facts[share+"_bytes"].(float64), facts[share+"_max_bytes"].(float64)
		check.That(t, used >= least*limit && used <= limit,
			"%s: %g of %g bytes are used, want at least %g of the limit", share, used, limit, least)
	}
	check.That(t, health.Status != "failing", "health: %+v", health)
	s := client.New(f.URL, "")
	r := check.Must(s.Announce(t.Context(), saying("Ball four.")))(t)
	r, err := s.Follow(t.Context(), r.ID)
	check.That(t, err == nil && r.Status == "done", "the announcement ended as %+v, %v\n%s", r, err, f.Logged())
}

// A filled server is one whose store of 8 MiB clients fill.
type filled struct {
	*servertest.Process
	t      *testing.T
	dir    string
	env    []string
	player *servertest.Browser // that has an account
}

func newFilled(t *testing.T) *filled {
	t.Helper()
	f := &filled{t: t, dir: servertest.CalibratedDir(t)}
	f.env = servertest.Environment(t, "STORE_MAX_SIZE=8MiB", "QUEUE_MAX_SIZE=1000",
		"PULSE_SERVER="+pulsetest.Start(t, pulsetest.Config{}).Address)
	st := check.Must(store.Open(filepath.Join(f.dir, "state", "pressbox.db"), store.Options{}))(t)
	err := st.SaveCached(t.Context(), "argon2id", []byte(`{"memory":19456,"time":2}`))
	check.NoError(t, errors.Join(err, st.Close()))
	return f
}

func (f *filled) start(values ...string) {
	f.t.Helper()
	f.Process = servertest.RunIn(f.t, f.dir, append(f.env, values...))
	if f.player != nil {
		f.player.Base = f.URL
	}
}

func (f *filled) anyone() *servertest.Browser { return servertest.NewBrowser(f.t, f.URL, nil) }

// authenticate sends the form of the local accounts, create or signin, and reports whether the browser is signed in.
func (f *filled) authenticate(b *servertest.Browser, form, name string) bool {
	f.t.Helper()
	page := b.Request("GET", "/api/auth/idp/login", "")
	check.NoError(f.t, page.Body.Close())
	if page.StatusCode != http.StatusOK {
		return false
	}
	end := check.Must(b.PostForm(page.Request.URL.String(),
		url.Values{"form": {form}, "name": {name}, "passphrase": {"a dog in a boat"}}))(f.t)
	check.NoError(f.t, end.Body.Close())
	me := b.Request("GET", "/api/auth/me", "")
	check.NoError(f.t, me.Body.Close())
	return me.StatusCode == http.StatusOK
}

// ask sends a request and returns the status of the response.
func (f *filled) ask(b *servertest.Browser, method, path, body string) int {
	f.t.Helper()
	resp := b.Request(method, path, body)
	check.NoError(f.t, resp.Body.Close())
	return resp.StatusCode
}

// untilRefused calls fill with 0, 1, … most-1, several at a time, until it returns false. It
// fails the test if that does not happen.
func (f *filled) untilRefused(what string, most int, fill func(i int) bool) {
	f.t.Helper()
	var next atomic.Int64
	var refused atomic.Bool
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for i := int(next.Add(1)) - 1; i < most && !refused.Load(); i = int(next.Add(1)) - 1 {
				if !fill(i) {
					refused.Store(true)
				}
			}
		})
	}
	clients.Wait()
	f.t.Logf("%s: refused after about %d", what, next.Load())
	check.That(f.t, refused.Load(), "%s: %d were not refused", what, most)
}

// fillGames creates games by several accounts, each as many as it may in an hour.
func (f *filled) fillGames() {
	const accounts = 6
	var players [accounts]*servertest.Browser
	for i := range players {
		players[i] = f.anyone()
		check.Require(f.t, f.authenticate(players[i], "create", fmt.Sprint("Player ", i)), "no account is created")
	}
	f.player = players[0]
	f.untilRefused("games", accounts*30, func(i int) bool {
		return f.ask(players[i%accounts], "POST", "/api/games",
			`{"home_team": "BWH", "away_team": "CPR"}`) == http.StatusCreated
	})
}

// fillFlows starts sign-ins. The first one, of the client with most, is deleted for a later one.
func (f *filled) fillFlows() {
	first := f.anyone()
	page := first.Request("GET", "/api/auth/idp/login", "")
	check.NoError(f.t, page.Body.Close())
	for range 300 {
		f.ask(f.anyone(), "GET", "/api/auth/idp/login", "")
	}
	end := check.Must(first.PostForm(page.Request.URL.String(),
		url.Values{"form": {"create"}, "name": {"Late"}, "passphrase": {"a dog in a boat"}}))(f.t)
	check.NoError(f.t, end.Body.Close())
	status := f.ask(first, "GET", "/api/auth/me", "")
	check.Equal(f.t, status, http.StatusUnauthorized, "after 300 more sign-ins, the status of the first")
}

// fillTokens creates API tokens and invites as the administrator does.
func (f *filled) fillTokens() {
	admin := client.ForSocket(filepath.Join(f.dir, "state", "admin.sock"))
	for path, body := range map[string]any{
		"/admin/tokens": map[string]string{"name": "doorbell"}, "/admin/invites": nil,
	} {
		f.untilRefused(path, 200, func(int) bool {
			var created map[string]any
			return admin.Call(f.t.Context(), http.MethodPost, path, body, &created) == nil
		})
	}
}

// fillControls creates schedules of the largest message as the administrator does.
func (f *filled) fillControls() {
	admin := client.ForSocket(filepath.Join(f.dir, "state", "admin.sock"))
	f.untilRefused("/schedules", 101, func(int) bool {
		body := map[string]any{"name": "x", "cron": "0 4 29 2 *", "message": largestMessage}
		return admin.Send(f.t.Context(), http.MethodPost, "/schedules", body) == nil
	})
}

// fillAccounts creates accounts, of which each has a session.
func (f *filled) fillAccounts() {
	f.untilRefused("accounts", 1000, func(i int) bool {
		return f.authenticate(f.anyone(), "create", fmt.Sprint("Account ", i))
	})
}

// fillSessions signs accounts in until the share has no room for a session.
func (f *filled) fillSessions() {
	f.untilRefused("sessions", 1000, func(i int) bool {
		return f.authenticate(f.anyone(), "signin", fmt.Sprint("Player ", i%6))
	})
}

// A teamData is a team-data API that counts its requests.
type teamData struct {
	*httptest.Server
	requests atomic.Int64
}

func newTeamData(t *testing.T) *teamData {
	t.Helper()
	api := &teamData{}
	api.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.requests.Add(1)
		team := map[string]any{
			"id": 1, "season": r.FormValue("season"), "abbrev": "BWH", "sname": "Whalers", "lname": "Boston Whalers",
			"notes": strings.Repeat("x", 60_000),
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"count": 1, "teams": []any{team}}) // the client may be gone
	}))
	t.Cleanup(api.Close)
	return api
}

// fillCaches asks for the teams of many seasons, until an earlier one is no longer cached.
func (f *filled) fillCaches(api *teamData) {
	const seasons = 40
	for season := range seasons {
		status := f.ask(f.player, "GET", fmt.Sprint("/api/teams?season=", season+1), "")
		check.Require(f.t, status == http.StatusOK, "the teams of season %d: status %d", season+1, status)
	}
	f.ask(f.player, "GET", "/api/teams?season=1", "")
	check.Equal(f.t, api.requests.Load(), seasons+1, "the API had requests")
}

// fillAnnouncements posts announcements behind one that is played for minutes, which is cancelled in the end.
func (f *filled) fillAnnouncements() {
	b := f.anyone()
	current := client.Announcement{Message: strings.Repeat("This is spoken slowly. ", 60), Rate: 60}
	r := check.Must(client.New(f.URL, "").Announce(f.t.Context(), servertest.Request(current)))(f.t)
	f.fillWaiting(b)
	f.fillEnded(b)
	f.ask(b, "DELETE", "/notify/"+r.ID, "")
}

// fillWaiting posts announcements until one finds no room, and cancels them.
func (f *filled) fillWaiting(b *servertest.Browser) {
	var ids sync.Map
	f.untilRefused("waiting announcements", 1000, func(i int) bool {
		id, status := f.post(b, fmt.Sprint("waiting-", i))
		if status == http.StatusAccepted {
			ids.Store(id, nil)
			return true
		}
		check.Equal(f.t, status, http.StatusServiceUnavailable, "an announcement without room: status")
		return false
	})
	ids.Range(func(id, _ any) bool {
		f.ask(b, "DELETE", "/notify/"+id.(string), "")
		return true
	})
}

// post posts an announcement of the largest size and returns its id and the status of the response.
func (f *filled) post(b *servertest.Browser, key string) (id string, status int) {
	f.t.Helper()
	resp := b.Request("POST", "/notify", fmt.Sprintf(`{"message": %q}`, largestMessage), "Idempotency-Key", key)
	var r struct{ ID string }
	err := json.NewDecoder(resp.Body).Decode(&r)
	check.NoError(f.t, errors.Join(err, resp.Body.Close()))
	return r.ID, resp.StatusCode
}

// fillEnded posts and cancels announcements with idempotency keys, more than are stored.
func (f *filled) fillEnded(b *servertest.Browser) {
	for i := range 300 {
		id, status := f.post(b, fmt.Sprint(i))
		check.Require(f.t, status == http.StatusAccepted, "announcement %d: status %d", i, status)
		f.ask(b, "DELETE", "/notify/"+id, "")
	}
}
