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
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/hooks"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
	"pressbox/voice/announce/webhook"
)

const doorbell = `{"status": "firing", "alerts": [
	{"fingerprint": "1", "labels": {"severity": "critical"}, "annotations": {"summary": "The doorbell rang."}}
]}`

// withTemplates configures a server with templates, by name and source.
func withTemplates(t *testing.T, urgentFrom int, sources ...string) func(*site.Config) {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(sources); i += 2 {
		check.NoError(t, os.WriteFile(filepath.Join(dir, sources[i]), []byte(sources[i+1]), 0o600))
	}
	current := hooks.Settings{On: true, Templates: hooks.ReadTemplates(dir), UrgentFrom: urgentFrom}
	return func(c *site.Config) { c.Hooks.Settings = func() hooks.Settings { return current } }
}

func TestHooks_accepted(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, withTemplates(t, 5,
		"bell.tmpl", "{{.who}} rings.",
		"camera.tmpl",
		`{{if eq .type "new"}}{"title": "Camera", "message": {{json .label}}, "volume": 30, "color": "red"}{{end}}`,
		"apprise.tmpl", "{{.title}}: {{.message}}",
		"notes.txt", "{{",
	))
	const form = "application/x-www-form-urlencoded"
	// title, message, urgent, priority, volume, sender, warnings
	for _, tt := range []struct{ path, media, body, want string }{
		{"alertmanager", webtest.AsJSON, doorbell, "|The doorbell rang.|true|5||hook|"},
		{"grafana?priority=2&voice=" + webtest.Voice, "", doorbell, "|The doorbell rang.|false|2||hook|"},
		{"uptime-kuma", form, `{"msg": "Paper jam", "extra": 1}`, `|Paper jam|false|3||hook|["extra"]`},
		{"bell?title=Door&volume=20&color=red", "", `{"who": "Anna"}`, `Door|Anna rings.|false|3|20|hook|["color"]`},
		{"bell", form, "who=Anna+B", "|Anna B rings.|false|3||hook|"},
		{"camera", "", `{"type": "new", "label": "a \"cat\""}`, `Camera|a "cat"|false|3|30|hook|["color"]`},
		{"apprise", "", `{"title": "A", "message": "B"}`, "|A: B|false|3||hook|"},
	} {
		w := r.Do(t, "POST", "/hooks/"+tt.path, tt.body, "Content-Type", tt.media).Want(202)
		var got struct {
			Announcement struct {
				ID, Title, Message, Voice string
				Urgent                    bool
				Priority                  int
				Volume                    int
				Sender                    struct{ Kind string }
			}
		}
		w.Decode(&got)
		a := got.Announcement
		volume := strings.TrimPrefix(fmt.Sprint(a.Volume), "0")
		all := fmt.Sprintf("%s|%s|%t|%d|%s|%s|%s",
			a.Title, a.Message, a.Urgent, a.Priority, volume, a.Sender.Kind, w.Field("warnings"))
		check.Equal(t, all, tt.want, "%s", tt.path)
		check.Equal(t, a.Voice, webtest.Voice, "%s: voice", tt.path)
		name, _, _ := strings.Cut(tt.path, "?")
		check.Equal(t, check.Must(r.Announcer.Cancel(t.Context(), a.ID))(t).Sender.Name, name, "the sender")
	}
	if w := r.Do(t, "POST", "/hooks/camera", `{"type": "end"}`).Want(200); w.Text != "{}\n" {
		t.Errorf("nothing to announce: %s", w.Text)
	}
}

// A critical alert is urgent from a priority on, NTFY_URGENT, or never.
func TestHooks_urgentFrom(t *testing.T) {
	t.Parallel()
	for from, want := range map[int]string{0: "false 4", 3: "true 5", 4: "true 5", 5: "true 5"} {
		r := webtest.NewRig(t, withTemplates(t, from))
		w := r.Do(t, "POST", "/hooks/alertmanager", doorbell).Want(202)
		var got struct {
			Announcement struct {
				Urgent   bool
				Priority int
			}
		}
		w.Decode(&got)
		check.Equal(t, fmt.Sprint(got.Announcement.Urgent, " ", got.Announcement.Priority), want, "from %d", from)
	}
}

// What is wrong is named, with an example that is accepted, or the file and the line.
func TestHooks_refused(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, withTemplates(t, 5,
		"broken.tmpl", "fine\n{{.a | env}}", "number.tmpl", "\n{{range .a.b}}{{end}}x", "Bad_Name.tmpl", "",
		"long.tmpl", `{"title": {{json .a}}}`,
		"wrong.tmpl", `{"message": {{.a}}}`, "silent.tmpl", `{"title": "no message"}`))
	large := func(n int) string { return `{"a": "` + strings.Repeat("x", n-len(`{"a": ""}`)) + `"}` }
	for _, tt := range []struct {
		name, body string
		status     int
		code       string
		want       string // parts of the response
	}{
		{"other", "{}", 404, "unknown_webhook", "these exist: alertmanager, apprise, grafana, uptime-kuma; " +
			"your own are files NAME.tmpl in HOOKS_DIR"},
		{"Bad_Name", "{}", 404, "unknown_webhook", ""},
		{"broken", "{}", 500, "broken_template", `"broken.tmpl:2: function "env" not defined`},
		{"number", `{"a": 7}`, 422, "template_failed", `"number.tmpl:2:10: |evaluate field b`},
		{"wrong", `{"a": "x"}`, 422, "template_failed", "wrong.tmpl: what the template writes is not a JSON object"},
		{"silent", `{}`, 422, "required", `"/message"`},
		{"apprise", `{"title": "x"}`, 422, "required", `"/message"|Dinner is ready.`},
		{"apprise", `{"message": "x", "rate": 7}`, 422, "out_of_range", `"/rate"`},
		{"alertmanager", `{"alerts": 7}`, 422, "invalid", `"/alerts"|must be a list|The doorbell rang.`},
		{"alertmanager", `{"alerts": `, 400, "not_json", "request body must be one JSON object|The doorbell rang."},
		{"alertmanager", "", 400, "not_json", "must not be empty"},
		{"long", large(webhook.MaxBody), 422, "template_failed", "long.tmpl: what the template writes is not"},
		{"long", large(webhook.MaxBody + 1), 413, "body_too_large", "request body exceeds 1024 KiB"},
	} {
		w := r.Do(t, "POST", "/hooks/"+tt.name, tt.body).Want(tt.status, tt.code)
		text := strings.ReplaceAll(w.Text, `\"`, `"`)
		for want := range strings.SplitSeq(tt.want, "|") {
			check.Contains(t, text, want, "%s %.20s", tt.name, tt.body)
		}
	}
	w := r.Send(t, r.AdminHandler(), webtest.NewRequest("POST", "/hooks/other", "{}", "Client", "@")).Want(404)
	check.Contains(t, w.Text, "apprise, broken, grafana, long, number, silent, uptime-kuma, wrong; your own are files "+
		"NAME.tmpl in /", "what an administrator learns")
	got := len(r.Announcer.List().Queue)
	check.That(t, got == 0, "%d announcements", got)
}

// NOTIFY_ACCESS, NOTIFY_RATE and the guards against other sites apply.
func TestHooks_access(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, tt := range []struct {
		headers []string
		status  int
	}{
		{[]string{"Client", webtest.ForeignClient}, 401},
		{[]string{"Authorization", "Bearer wrong"}, 401},
		{[]string{"Origin", "http://elsewhere.example", "Content-Type", webtest.AsJSON}, 403},
		{[]string{"Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"}, 403},
		{[]string{"Sec-Fetch-Site", "same-origin", "Content-Type", "text/plain"}, 415},
		{[]string{"Host", "elsewhere.example"}, 421},
	} {
		r.Do(t, "POST", "/hooks/apprise", `{"message": "x"}`, tt.headers...).Want(tt.status)
	}
	off := webtest.NewRig(t, func(c *site.Config) { c.Access = web.Off })
	off.Do(t, "POST", "/hooks/apprise", `{"message": "x"}`).Want(403, "switched_off")
}

func TestHooks_rate(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.NotifyRate = 2 })
	r.Do(t, "POST", "/hooks/apprise", `{"message": "x"}`).Want(202)
	r.Do(t, "POST", "/hooks/apprise", `{"message": "x"}`).Want(429)
}

// HOOKS=off, read for every request.
func TestHooks_off(t *testing.T) {
	t.Parallel()
	var on atomic.Bool
	r := webtest.NewRig(t, func(c *site.Config) {
		c.Hooks.Settings = func() hooks.Settings {
			return hooks.Settings{On: on.Load(), Templates: hooks.ReadTemplates("")}
		}
	})
	r.Do(t, "POST", "/hooks/apprise", `{"message": "x"}`).Want(404, "not_found")
	on.Store(true)
	r.Do(t, "POST", "/hooks/apprise", `{"message": "x"}`).Want(202)
	w := r.Do(t, "POST", "/hooks/x", `{}`).Want(404, "unknown_webhook")
	check.Contains(t, w.Text, "NAME.tmpl in HOOKS_DIR", "the problem")
}

// What is repeated within five minutes is not announced again, unless it was refused the first time.
func TestHooks_repeated(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, _ *webtest.Wire) {
		post := func(name, body string, status int, repeated string) {
			r.T.Helper()
			if w := r.Do(r.T, "POST", "/hooks/"+name, body).Want(status); w.Field("repeated") != repeated {
				r.T.Errorf("%s repeated, want %s: %s", w.Field("repeated"), repeated, w.Text)
			}
		}
		r.Do(r.T, "POST", "/hooks/alertmanager?rate=7", doorbell).Want(422)
		post("alertmanager", doorbell, 202, "")
		post("alertmanager", doorbell, 200, "1")
		post("grafana", doorbell, 202, "")
		post("alertmanager", strings.Replace(doorbell, "firing", "resolved", 1), 202, "")
		time.Sleep(5*time.Minute - time.Nanosecond)
		post("alertmanager", doorbell, 200, "1")
		time.Sleep(time.Nanosecond)
		post("alertmanager", doorbell, 202, "")
	})
}

// Files that cannot be templates are named, and none of them is waited for.
func TestReadTemplates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, source := range map[string]string{
		"good.tmpl": "{{.a}}", "big.tmpl": strings.Repeat("x", webhook.MaxTemplate+1), "Upper.tmpl": "", ".tmpl": "",
		"good.tmpl~": "{{",
	} {
		check.NoError(t, os.WriteFile(path(name), []byte(source), 0o600))
	}
	check.NoError(t, os.Mkdir(path("folder.tmpl"), 0o700))
	check.NoError(t, unix.Mkfifo(path("pipe.tmpl"), 0o600))
	check.NoError(t, os.Symlink("nowhere", path("gone.tmpl")))
	templates := hooks.ReadTemplates(dir)
	check.Equal(t, strings.Join(templates.Webhooks(), " "),
		"alertmanager apprise big folder gone good grafana pipe uptime-kuma", "webhooks")
	for _, want := range []string{
		"big.tmpl: the template has 16385 bytes", "folder.tmpl: must be a file", "pipe.tmpl: must be a file",
		"gone.tmpl: no such file",
		"Upper.tmpl: the name of a webhook must be", "/.tmpl: the name of a webhook must be",
	} {
		if err := templates.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if err := hooks.ReadTemplates(path("missing")).Err(); err != nil {
		t.Errorf("a missing directory: %v", err)
	}
	if err := hooks.ReadTemplates(path("good.tmpl")).Err(); err == nil {
		t.Error("a file as the directory has no error")
	}
}

// The examples of the document, templates that are followed by a body, are announced.
func TestDocument_examples(t *testing.T) {
	t.Parallel()
	text := string(check.Must(os.ReadFile("../../../packaging/doc/webhooks.md"))(t))
	block := regexp.MustCompile("(?s)```(gotemplate|json)\n(.*?)```")
	sources, examples := []string{}, []string{}
	for _, found := range block.FindAllStringSubmatch(text, -1) {
		if found[1] == "gotemplate" {
			sources = append(sources, fmt.Sprintf("example%d.tmpl", len(examples)), found[2])
		} else {
			examples = append(examples, found[2])
		}
	}
	r := webtest.NewRig(t, withTemplates(t, 5, sources...))
	var messages []string
	for i, example := range examples {
		var got struct{ Announcement struct{ Message string } }
		r.Do(t, "POST", fmt.Sprintf("/hooks/example%d", i), example).Want(202).Decode(&got)
		messages = append(messages, got.Announcement.Message)
	}
	want := "The courier is at the door, with 2 parcels.|A person in the garden|The attic has 34.2 degrees."
	check.Equal(t, strings.Join(messages, "|"), want, "all")
}

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
		check.Require(t, resp.StatusCode == http.StatusOK, "Alertmanager: %s: %s", resp.Status, text)
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
			check.That(t, strings.Contains(w.Text, want) && !strings.Contains(w.Text, "warnings"),
				"%s: %s, want %s", tt.url, w.Text, want)
		}
		r.played(w)
	}
}
