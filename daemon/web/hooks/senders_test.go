package hooks_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// patience limits waiting for a sender on a slow host.
const patience = 2 * time.Minute

// A receiver is a server whose responses to webhooks are read in order.
type receiver struct {
	*webtest.Rig
	url       string
	responses chan webtest.Page
}

func newReceiver(t *testing.T, change ...func(*site.Config)) *receiver {
	t.Helper()
	r := &receiver{Rig: webtest.NewRig(t, change...), responses: make(chan webtest.Page, 100)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		answer := r.Send(t, r.Handler(), req)
		maps.Copy(w.Header(), answer.Header)
		w.WriteHeader(answer.StatusCode)
		_, _ = io.WriteString(w, answer.Text) // the sender may have ended
		select {
		case r.responses <- answer:
		default: // none is awaited any more
		}
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// next returns the next response with one of the statuses.
func (r *receiver) next(statuses ...int) webtest.Page {
	r.T.Helper()
	for {
		select {
		case w := <-r.responses:
			if slices.Contains(statuses, w.StatusCode) {
				return w
			}
			if w.StatusCode != http.StatusOK { // a repetition
				r.T.Fatalf("status %d: %s", w.StatusCode, w.Text)
			}
		case <-time.After(patience):
			r.T.Fatalf("no response of status %v within %v", statuses, patience)
		}
	}
}

// played returns the message of an announcement in a response, after it was played.
func (r *receiver) played(w webtest.Page) string {
	r.T.Helper()
	var got struct{ Announcement struct{ ID, Message string } }
	w.Decode(&got)
	changes, stop := r.Announcer.Watch()
	defer stop()
	select {
	case r.Release <- struct{}{}:
	case <-time.After(patience):
		r.T.Fatalf("%s is not played", w.Text)
	}
	for check.Must(r.Announcer.Find(got.Announcement.ID))(r.T).Status != "done" {
		select {
		case <-changes:
		case <-time.After(patience):
			r.T.Fatalf("%s does not end", w.Text)
		}
	}
	return got.Announcement.Message
}

// tokens accepts one API token.
type tokens string

func (accepted tokens) NotifyToken(_ context.Context, token string, _ netip.Addr) (auth.APIToken, error) {
	if token != string(accepted) {
		return auth.APIToken{}, auth.ErrInvalidToken
	}
	return auth.APIToken{ID: "1", Name: "monitoring"}, nil
}

// Alertmanager itself: an alert fires and is played, is repeated and not announced again, and is resolved. It
// sends a token.
func TestAlertmanager(t *testing.T) {
	t.Parallel()
	program := check.Part(t, ".build/alertmanager")
	r := newReceiver(t, func(c *site.Config) { c.Access, c.Tokens = web.Token, tokens("secret") })
	api := startAlertmanager(t, program, r.url+"/hooks/alertmanager")
	ends := ""
	alert := func() {
		t.Helper()
		body := `[{"labels": {"alertname": "Door", "severity": "critical"}, ` +
			`"annotations": {"summary": "The doorbell rang."}` + ends + `}]`
		req := check.Must(http.NewRequestWithContext(t.Context(),
			http.MethodPost, api+"/api/v2/alerts", strings.NewReader(body)))(t)
		req.Header.Set("Content-Type", "application/json")
		resp := check.Must(http.DefaultClient.Do(req))(t)
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("Alertmanager: %s: %s", resp.Status, text)
		}
	}
	alert()
	w := r.next(http.StatusAccepted)
	if got := r.played(w); got != "The doorbell rang." || !strings.Contains(w.Text, `"urgent":true`) ||
		strings.Contains(w.Text, "warnings") {
		t.Errorf("it fires: %s", w.Text)
	}
	if w := r.next(http.StatusOK); w.Text != "{\"repeated\":1}\n" {
		t.Errorf("it is repeated: %s", w.Text)
	}
	ends = fmt.Sprintf(`, "endsAt": %q`, time.Now().UTC().Format(time.RFC3339Nano))
	alert()
	if w := r.next(http.StatusAccepted); r.played(w) != "Resolved: The doorbell rang." ||
		!strings.Contains(w.Text, `"urgent":false`) {
		t.Errorf("it is resolved: %s", w.Text)
	}
}

var listening = regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:[0-9]+)`)

// startAlertmanager starts an Alertmanager that sends to a webhook and repeats each
// second. It ends with the test. It returns the URL of its API.
func startAlertmanager(t *testing.T, program, webhook string) string {
	t.Helper()
	dir := t.TempDir()
	config := fmt.Sprintf(`
route: {receiver: pressbox, group_by: ['...'], group_wait: 0s, group_interval: 1s, repeat_interval: 1s}
receivers:
- name: pressbox
  webhook_configs:
  - {url: %q, send_resolved: true, http_config: {authorization: {credentials: secret}}}
`, webhook)
	check.NoError(t, os.WriteFile(filepath.Join(dir, "am.yml"), []byte(config), 0o600))
	for _, name := range []string{"default.tmpl", "email.tmpl"} { // of its other receivers
		check.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	cmd := exec.CommandContext(t.Context(), program, "--config.file="+dir+"/am.yml", "--storage.path="+dir,
		"--web.listen-address=127.0.0.1:0", "--cluster.listen-address=", "--log.level=info")
	cmd.Dir = dir
	stderr := check.Must(cmd.StderrPipe())(t)
	check.NoError(t, cmd.Start())
	addresses, ended := make(chan string, 1), make(chan struct{})
	var log strings.Builder
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			log.WriteString(lines.Text() + "\n")
			if found := listening.FindStringSubmatch(lines.Text()); found != nil {
				addresses <- found[1]
			}
		}
	}()
	t.Cleanup(func() { // t.Context has ended, which kills it
		<-ended
		if err := cmd.Wait(); t.Failed() {
			t.Logf("Alertmanager: %v: %s", err, log.String())
		}
	})
	select {
	case address := <-addresses:
		return "http://" + address
	case <-ended:
		t.Fatal("Alertmanager has ended")
	case <-time.After(patience):
		t.Fatal("Alertmanager does not start")
	}
	return ""
}

// Apprise itself, by its plug-ins for JSON and forms.
func TestAll_apprise(t *testing.T) {
	t.Parallel()
	program := check.Part(t, "apprise")
	r := newReceiver(t)
	address := strings.TrimPrefix(r.url, "http://")
	const text = `"title":"Kitchen","message":"Dinner \u0026 wine."`
	for _, tt := range []struct {
		url, kind string
		want      []string
	}{
		{
			"json://" + address + "/hooks/apprise?:rate=150", "failure",
			[]string{text, `"rate":150,"priority":4,"urgent":false`},
		},
		{"form://" + address + "/hooks/apprise", "info", []string{text, `"rate":170,"priority":3,"urgent":false`}},
	} {
		out, err := exec.CommandContext(t.Context(), program, "--title", "Kitchen", "--body", "Dinner & wine.",
			"--notification-type", tt.kind, tt.url).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", tt.url, err, out)
		}
		w := r.next(http.StatusAccepted)
		for _, want := range tt.want {
			if !strings.Contains(w.Text, want) || strings.Contains(w.Text, "warnings") {
				t.Errorf("%s: %s, want %s", tt.url, w.Text, want)
			}
		}
		r.played(w)
	}
}
