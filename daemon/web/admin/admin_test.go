package admin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/daemon/downloads"
	"pressbox/daemon/health"
	"pressbox/daemon/web"
	"pressbox/daemon/web/admin"
	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

func TestLogLevel_set(t *testing.T) {
	t.Parallel()
	level := new(slog.LevelVar)
	r := webtest.NewRig(t, func(c *site.Config) { c.Admin.Level = level })
	send := func(method, body string) webtest.Page { return r.Administer(t, method, "/admin/log-level", body) }
	check.Equal(t, send("GET", "").Want(200).Field("level"), "INFO", "GET /admin/log-level")
	for _, tt := range []struct {
		name string
		want slog.Level
	}{{"DEBUG", slog.LevelDebug}, {"WARNING", slog.LevelWarn}, {"WARN", slog.LevelWarn}, {"ERROR", slog.LevelError}} {
		send("PUT", `{"level":"`+tt.name+`"}`).Want(200)
		check.Equal(t, level.Level(), tt.want, "level after %s", tt.name)
	}
	for _, body := range []string{`{"level":"LOUD"}`, `{"level":7}`, `{}`, `{"level":"INFO","x":1}`} {
		send("PUT", body).Want(422)
		check.That(t, level.Level() == slog.LevelError, "level after %s: %v, want ERROR", body, level.Level())
	}
	check.Equal(t, fromNetwork(r, "/admin/log-level"), http.StatusNotFound, "from the network: status")
}

// fromNetwork returns the status of GET path on the network.
func fromNetwork(r *webtest.Rig, path string) int {
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, webtest.NewRequest(http.MethodGet, path, ""))
	return w.Code
}

// A backup is complete, or the client sees an error.
func TestBackup_incomplete(t *testing.T) {
	t.Parallel()
	errDisk := errors.New("read error")
	for name, tt := range map[string]struct {
		backup func(io.Writer) error
		status int
		ok     bool
	}{
		"complete": {func(w io.Writer) error {
			_, err := io.WriteString(w, strings.Repeat("store", 1e5))
			return err
		}, 200, true},
		"error at first": {func(io.Writer) error { return errDisk }, 500, true},
		"error later": {func(w io.Writer) error {
			_, _ = io.WriteString(w, strings.Repeat("store", 1e5))
			return errDisk
		}, 200, false},
		"error after a byte": {func(w io.Writer) error { _, _ = io.WriteString(w, "s"); return errDisk }, 0, false},
		"panic":              {func(w io.Writer) error { panic("broken") }, 500, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := webtest.NewRig(t, func(c *site.Config) { c.Admin.Backup = tt.backup })
			client := serveAdmin(t, r.Server)
			resp, err := client.Get("http://localhost/admin/backup")
			if tt.status == 0 && err != nil {
				return // the connection was closed before the header was sent
			}
			check.NoError(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			check.That(t, resp.StatusCode == max(tt.status, 200) && (err == nil) == tt.ok,
				"status %d, read: %v", resp.StatusCode, err)
		})
	}
}

// serveAdmin serves the administrator's routes on a Unix socket.
func serveAdmin(t *testing.T, s *web.Server) *http.Client {
	t.Helper()
	l, path := webtest.ListenUnix(t)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.ServeAdmin(ctx, l) }()
	t.Cleanup(func() {
		stop()
		check.NoError(t, <-served)
	})
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// The log entry has the user id of the peer.
func TestRequestLog_peerUID(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.Admin.Level = new(slog.LevelVar) })
	client := serveAdmin(t, r.Server)
	request, err := http.NewRequestWithContext(t.Context(),
		http.MethodPut, "http://localhost/admin/log-level", strings.NewReader(`{"level":"LOUD"}`))
	check.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	resp := check.Must(client.Do(request))(t)
	_ = resp.Body.Close()
	for _, want := range []string{"path=/admin/log-level", "status=422", "code=", "uid=" + strconv.Itoa(os.Getuid())} {
		check.Contains(t, r.Log.String(), want, "the log")
	}
}

func TestMetrics_openMetrics(t *testing.T) {
	t.Parallel()
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = io.WriteString(w, "pressbox_up 1\n")
	})
	for _, open := range []bool{false, true} {
		r := webtest.NewRig(t, func(c *site.Config) { c.Admin.Metrics, c.OpenMetrics = metrics, open })
		r.Administer(t, "GET", "/metrics", "").Want(200)
		want := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[open]
		check.Equal(t, fromNetwork(r, "/metrics"), want, "open: %t: status", open)
	}
}

func TestStatus_members(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) {
		c.Admin.Counts = func(context.Context) (map[string]int, error) { return map[string]int{"games": 3}, nil }
	})
	r.Announce(t, "hello")
	w := r.Send(t, r.AdminHandler(), webtest.NewRequest("GET",
		"/admin/status", "", "Host", "anything", "Client", "@")).Want(200)
	check.That(t, w.Field("counts") == `{"games":3}` && w.Field("versions") == `{"go":"go1.26","pressbox":"1.2.3"}` &&
		strings.Contains(w.Field("queue"), "hello") && strings.Contains(w.Field("health"), `"ok"`), "%s", w.Text)
}

// The checks have a deadline that leaves time for the response.
func TestFindings_deadline(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) {
		c.Admin.Diagnose = func(ctx context.Context) []health.Finding {
			until, ok := ctx.Deadline()
			left := time.Until(until)
			check.That(t, ok && left >= 20*time.Second && left <= 26*time.Second, "deadline in %v, want 25s", left)
			return []health.Finding{
				{Name: "sound", Result: "failure", Detail: "muted", Remedy: "unmute it"},
				{Name: "store", Result: "ok", Detail: "sound"},
			}
		}
	})
	check.Equal(t, r.Administer(t, "GET", "/admin/examination", "").Want(200).Field("findings"),
		`[{"name":"sound","result":"failure","detail":"muted","remedy":"unmute it"},`+
			`{"name":"store","result":"ok","detail":"sound"}]`, "findings")
}

func TestIdle_sinceLastRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, release := make(chan struct{}), make(chan struct{})
		r := webtest.NewRig(t, func(c *site.Config) {
			c.Announcements.Voices = func() announcements.VoiceList {
				close(began)
				<-release
				return announcements.VoiceList{}
			}
		})
		time.Sleep(time.Minute)
		check.Equal(t, r.Idle(), time.Minute, "idle after a minute")
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.Do(t, "GET", "/voices", "")
		}()
		<-began
		time.Sleep(time.Minute)
		check.Equal(t, r.Idle(), 0, "idle during a request")
		close(release)
		<-done
		time.Sleep(time.Second)
		check.Equal(t, r.Idle(), time.Second, "idle a second after a request")
		end, ok := r.TrackClient()
		check.Require(t, ok, "no connection of another protocol")
		end()
		time.Sleep(time.Minute - time.Nanosecond)
		check.Equal(t, r.Idle(), 0, "idle while its client is expected to come back")
		time.Sleep(time.Nanosecond)
		check.Equal(t, r.Idle(), time.Minute, "idle when it has not")
	})
}

func TestHealth_worstCheck(t *testing.T) {
	t.Parallel()
	report := func(name string, h health.Health) health.Check {
		return health.Check{Name: name, Report: func() health.Condition {
			return health.Condition{Health: h, Detail: "why", Facts: map[string]any{"waiting": 3}}
		}}
	}
	for _, tt := range []struct {
		checks []health.Check
		status int
		want   health.Health
	}{
		{nil, 200, health.OK},
		{[]health.Check{report("a", ""), report("b", health.OK)}, 200, health.OK},
		{[]health.Check{report("a", health.Degraded), report("b", health.OK)}, 200, health.Degraded},
		{[]health.Check{report("a", health.Failing), report("b", health.Degraded)}, 503, health.Failing},
		{[]health.Check{report("a", health.Degraded), report("b", health.Failing)}, 503, health.Failing},
	} {
		began := time.Now()
		r := webtest.NewRig(t, func(c *site.Config) { c.Admin.Checks = tt.checks })
		w := r.Do(t, "GET", "/health", "").Want(tt.status)
		check.Equal(t, w.Field("status"), string(tt.want), "%s: status", w.Text)
		uptime, err := strconv.Atoi(w.Field("uptime_seconds"))
		check.That(t, w.Field("version") == "1.2.3" && err == nil && uptime >= 0 &&
			float64(uptime) <= time.Since(began).Seconds(), "%s, %v", w.Text, err)
		checks := w.Field("checks")
		for _, reported := range tt.checks {
			check.That(t, strings.Contains(checks, `"`+reported.Name+`":{`) && strings.Contains(checks, `"waiting":3`),
				"checks %s", checks)
		}
	}
}

// The client and the log read once that the catalog cannot be read, and why.
func TestProblem_causeOnce(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("%w: %w", downloads.ErrUnavailable, errors.New("connection refused"))
	const want = "the catalog of voices cannot be read: connection refused"
	if p, _ := admin.Problem(err); p.Code != "catalog_unavailable" || p.Detail != want || err.Error() != want {
		t.Errorf("logged %q, the problem is %+v", err, p)
	}
}
