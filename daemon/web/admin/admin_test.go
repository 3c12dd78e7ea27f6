package admin_test

import (
	"context"
	"errors"
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

	"pressbox/daemon/web"
	"pressbox/daemon/web/admin"
	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

func TestTheLogLevelIsChangedWhileItRuns(t *testing.T) {
	t.Parallel()
	level := new(slog.LevelVar)
	r := webtest.NewRig(t, func(c *site.Config) { c.Admin.Level = level })
	ask := func(method, body string) webtest.Reply {
		return r.Send(t, r.AdminHandler(), webtest.NewRequest(method, "/admin/log-level", body, "Content-Type", webtest.AsJSON))
	}
	if got := ask("GET", "").Want(200, "").Field("level"); got != "INFO" {
		t.Errorf("it begins with %s", got)
	}
	for _, tt := range []struct {
		said string
		want slog.Level
	}{{"DEBUG", slog.LevelDebug}, {"WARNING", slog.LevelWarn}, {"WARN", slog.LevelWarn}, {"ERROR", slog.LevelError}} {
		if ask("PUT", `{"level":"`+tt.said+`"}`).Want(200, "").Field("level"); level.Level() != tt.want {
			t.Errorf("%s made it %v", tt.said, level.Level())
		}
	}
	for _, body := range []string{`{"level":"LOUD"}`, `{"level":7}`, `{}`, `{"level":"INFO","x":1}`} {
		if ask("PUT", body).Want(422, ""); level.Level() != slog.LevelError {
			t.Errorf("%s made it %v", body, level.Level())
		}
	}
	if got := fromNetwork(r, "/admin/log-level"); got != http.StatusNotFound {
		t.Errorf("from the network: status %d, want 404", got)
	}
}

// fromNetwork is the status of what the network is answered at a path.
func fromNetwork(r *webtest.Rig, path string) int {
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, webtest.NewRequest(http.MethodGet, path, ""))
	return w.Code
}

// A backup comes whole, or the client sees that it did not.
func TestABackupIsNeverTakenForWholeWhenItIsNot(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	for name, tt := range map[string]struct {
		backup func(io.Writer) error
		status int
		whole  bool
	}{
		"whole":             {func(w io.Writer) error { _, err := io.WriteString(w, strings.Repeat("store", 1e5)); return err }, 200, true},
		"never begun":       {func(io.Writer) error { return broken }, 500, true},
		"cut off":           {func(w io.Writer) error { _, _ = io.WriteString(w, strings.Repeat("store", 1e5)); return broken }, 200, false},
		"cut off at once":   {func(w io.Writer) error { _, _ = io.WriteString(w, "s"); return broken }, 0, false},
		"the daemon panics": {func(w io.Writer) error { panic("broken") }, 500, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := webtest.NewRig(t, func(c *site.Config) { c.Admin.Backup = tt.backup })
			client := serveAdmin(t, r.Server)
			resp, err := client.Get("http://localhost/admin/backup")
			if tt.status == 0 && err != nil {
				return // hung up before the header was out
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.Copy(io.Discard, resp.Body)
			if resp.StatusCode != max(tt.status, 200) || (err == nil) != tt.whole {
				t.Errorf("status %d, read: %v", resp.StatusCode, err)
			}
		})
	}
}

// serveAdmin serves the administrator on a real socket.
func serveAdmin(t *testing.T, s *web.Server) *http.Client {
	t.Helper()
	l, path := webtest.ListenUnix(t)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.ServeAdmin(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Who administered is in the log, as the kernel says it.
func TestTheLogNamesWhoAdministered(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.Admin.Level = new(slog.LevelVar) })
	client := serveAdmin(t, r.Server)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://localhost/admin/log-level", strings.NewReader(`{"level":"LOUD"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	for _, want := range []string{"path=/admin/log-level", "status=422", "code=", "uid=" + strconv.Itoa(os.Getuid())} {
		if log := r.Log.String(); !strings.Contains(log, want) {
			t.Errorf("no %q in the log: %s", want, log)
		}
	}
}

func TestMetricsAreForTheNetworkOnlyWhenTheyAreOpen(t *testing.T) {
	t.Parallel()
	figures := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = io.WriteString(w, "pressbox_up 1\n")
	})
	for _, open := range []bool{false, true} {
		r := webtest.NewRig(t, func(c *site.Config) { c.Admin.Metrics, c.OpenMetrics = figures, open })
		r.Send(t, r.AdminHandler(), webtest.NewRequest("GET", "/metrics", "")).Want(200, "")
		want := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[open]
		if got := fromNetwork(r, "/metrics"); got != want {
			t.Errorf("open: %t: status %d, want %d", open, got, want)
		}
	}
}

func TestStatusCountsWhatThereIs(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) {
		c.Admin.Counts = func(context.Context) (map[string]int, error) { return map[string]int{"games": 3}, nil }
	})
	if got := r.Send(t, r.AdminHandler(), webtest.NewRequest("GET", "/admin/status", "")).Want(200, "").Field("counts"); got != `{"games":3}` {
		t.Errorf("counts: %s", got)
	}
}

// The daemon is given a while to look at itself, and there is time left to say what it found.
func TestAnExaminationIsTold(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) {
		c.Admin.Diagnose = func(ctx context.Context) []admin.Finding {
			until, ok := ctx.Deadline()
			if left := time.Until(until); !ok || left < 20*time.Second || left > 26*time.Second {
				t.Errorf("it has %v", left)
			}
			return []admin.Finding{{Name: "sound", Result: "failure", Detail: "muted", Remedy: "unmute it"}, {Name: "store", Result: "ok", Detail: "sound"}}
		}
	})
	got := r.Send(t, r.AdminHandler(), webtest.NewRequest("GET", "/admin/examination", "")).Want(200, "").Field("findings")
	if want := `[{"detail":"muted","name":"sound","remedy":"unmute it","result":"failure"},{"detail":"sound","name":"store","result":"ok"}]`; got != want {
		t.Errorf("findings: %s, want %s", got, want)
	}
}

func TestQuietIsSinceTheLastAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, release := make(chan struct{}), make(chan struct{})
		r := webtest.NewRig(t, func(c *site.Config) {
			c.Announcements.Voices = func() announcements.VoiceList { close(began); <-release; return announcements.VoiceList{} }
		})
		time.Sleep(time.Minute)
		if got := r.Idle(); got != time.Minute {
			t.Errorf("after a minute of nothing: %v", got)
		}
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			r.Do(t, "GET", "/voices", "")
		}()
		<-began
		time.Sleep(time.Minute)
		if got := r.Idle(); got != 0 {
			t.Errorf("while somebody is being answered: %v", got)
		}
		close(release)
		<-answered
		time.Sleep(time.Second)
		if got := r.Idle(); got != time.Second {
			t.Errorf("a second later: %v", got)
		}
	})
}
