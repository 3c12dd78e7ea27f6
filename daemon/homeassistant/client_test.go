//go:build homeassistant

package homeassistant_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// A hub is a Home Assistant, freshly onboarded, and its REST API.
type hub struct {
	t       *testing.T
	tree    string
	config  string // its folder
	url     string
	token   string
	command *exec.Cmd
}

// patience is how long Home Assistant may take for something.
const patience = time.Minute

// startHub starts Home Assistant with a configuration, which is YAML.
func startHub(t *testing.T, tree, configuration string) *hub {
	t.Helper()
	h := &hub{t: t, tree: tree, config: t.TempDir()}
	port := freePort(t)
	h.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	content := fmt.Sprintf("homeassistant:\n  internal_url: %s\nhttp:\n  server_host: 127.0.0.1\n  server_port: %d\n%s",
		h.url, port, configuration)
	check.NoError(t, os.Mkdir(filepath.Join(h.config, "www"), 0o700)) // files at /local
	check.NoError(t, os.WriteFile(filepath.Join(h.config, "configuration.yaml"), []byte(content), 0o600))
	h.start()
	t.Cleanup(h.stop)
	h.onboard()
	return h
}

// freePort returns a port that nothing listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (h *hub) start() {
	h.t.Helper()
	h.command = exec.Command(filepath.Join(check.Root(h.t), "packaging/homeassistant/hass"), h.tree, h.config)
	h.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	check.NoError(h.t, h.command.Start())
	h.until("Home Assistant answers", func() bool {
		resp, err := http.Get(h.url + "/manifest.json")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

func (h *hub) stop() {
	if h.command.ProcessState == nil {
		_ = syscall.Kill(-h.command.Process.Pid, syscall.SIGTERM) // it may have ended
		_ = h.command.Wait()
	}
}

// until waits until something is true.
func (h *hub) until(what string, ok func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("never: %s\n%s", what, h.log())
		}
	}
}

// log returns the end of Home Assistant's log.
func (h *hub) log() string {
	text, _ := os.ReadFile(filepath.Join(h.config, "home-assistant.log")) // none: it has not begun
	return string(text[max(0, len(text)-4000):])
}

// request sends a request, and decodes the answer into v unless that is nil.
func (h *hub) request(method, path string, body, v any) int {
	h.t.Helper()
	media, text := "application/json", []byte(nil)
	switch b := body.(type) {
	case nil:
	case url.Values:
		media, text = "application/x-www-form-urlencoded", []byte(b.Encode())
	default:
		text = check.Must(json.Marshal(body))(h.t)
	}
	r := check.Must(http.NewRequestWithContext(h.t.Context(), method, h.url+path, bytes.NewReader(text)))(h.t)
	r.Header.Set("Content-Type", media)
	if h.token != "" {
		r.Header.Set("Authorization", "Bearer "+h.token)
	}
	resp := check.Must(http.DefaultClient.Do(r))(h.t)
	answer := check.Must(io.ReadAll(resp.Body))(h.t)
	_ = resp.Body.Close()
	if v != nil && resp.StatusCode < 300 {
		check.NoError(h.t, json.Unmarshal(answer, v))
	}
	if resp.StatusCode >= 300 && resp.StatusCode != http.StatusNotFound { // an entity may come yet
		h.t.Logf("%s %s: %s %.500s", method, path, resp.Status, answer)
	}
	return resp.StatusCode
}

// onboard makes the first user and signs in.
func (h *hub) onboard() {
	h.t.Helper()
	client := h.url + "/"
	var code struct {
		Code string `json:"auth_code"`
	}
	h.request("POST", "/api/onboarding/users", map[string]string{
		"client_id": client, "name": "Test", "username": "test", "password": "test-test", "language": "en",
	}, &code)
	h.signIn(url.Values{"grant_type": {"authorization_code"}, "code": {code.Code}})
	for step, body := range map[string]any{
		"core_config": nil, "analytics": nil,
		"integration": map[string]string{"client_id": client, "redirect_uri": client},
	} {
		h.request("POST", "/api/onboarding/"+step, body, nil)
	}
}

func (h *hub) signIn(form url.Values) {
	h.t.Helper()
	var tokens struct {
		Access string `json:"access_token"`
	}
	form.Set("client_id", h.url+"/")
	h.request("POST", "/auth/token", form, &tokens)
	check.Require(h.t, tokens.Access != "", "no token: %s", h.log())
	h.token = tokens.Access
}

// add adds an integration by its dialog, whose steps are answered in turn, and returns what the dialog ends with.
func (h *hub) add(handler string, steps ...map[string]any) (end map[string]any) {
	h.t.Helper()
	h.request("POST", "/api/config/config_entries/flow", map[string]any{"handler": handler}, &end)
	for _, step := range steps {
		id, ok := end["flow_id"].(string)
		check.Require(h.t, ok, "the dialog of %s: %v", handler, end)
		if end["type"] == "menu" {
			step = map[string]any{"next_step_id": "broker"}
		}
		end = nil
		h.request("POST", "/api/config/config_entries/flow/"+id, step, &end)
	}
	check.Require(h.t, end["type"] == "create_entry", "the dialog of %s: %v\n%s", handler, end, h.log())
	return end
}

// call calls a service.
func (h *hub) call(service string, data map[string]any) {
	h.t.Helper()
	status := h.request("POST", "/api/services/"+strings.Replace(service, ".", "/", 1), data, nil)
	check.Require(h.t, status == http.StatusOK, "%s %v: status %d\n%s", service, data, status, h.log())
}

// state returns the state of an entity and its attributes; "" if there is none.
func (h *hub) state(entity string) (state string, attributes map[string]any) {
	h.t.Helper()
	var s struct {
		State      string
		Attributes map[string]any
	}
	h.request("GET", "/api/states/"+entity, nil, &s)
	return s.State, s.Attributes
}

// wait waits until an entity has a state.
func (h *hub) wait(entity, want string) {
	h.t.Helper()
	h.until(entity+" is "+want, func() bool { got, _ := h.state(entity); return got == want })
}

// template returns the value of a template.
func (h *hub) template(text string) string {
	h.t.Helper()
	body := check.Must(json.Marshal(map[string]string{"template": text}))(h.t)
	address := h.url + "/api/template"
	r := check.Must(http.NewRequestWithContext(h.t.Context(), http.MethodPost, address, bytes.NewReader(body)))(h.t)
	r.Header.Set("Authorization", "Bearer "+h.token)
	resp := check.Must(http.DefaultClient.Do(r))(h.t)
	defer resp.Body.Close()
	return string(check.Must(io.ReadAll(resp.Body))(h.t))
}
