package pagetest_test

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	daemonclient "pressbox/daemon/client"
	"pressbox/packaging/check"
)

// newVoice is a voice in the catalog of [serveCatalog].
const newVoice = "en_US-copy-medium"

// serveCatalog serves the bundled voice under another name and returns the URL of the
// catalog. The model waits until gate is closed.
func serveCatalog(tb testing.TB) (url string, gate chan struct{}) {
	tb.Helper()
	gate = make(chan struct{})
	files := map[string][]byte{"MODEL_CARD": []byte("* License: Public domain\n")}
	for _, end := range []string{".onnx", ".onnx.json"} {
		files[newVoice+end] = check.Must(os.ReadFile(filepath.Join(root, "models/en_US-heart-medium"+end)))(tb)
	}
	about := map[string]any{}
	for name, content := range files {
		about[name] = map[string]any{"size_bytes": len(content), "md5_digest": fmt.Sprintf("%x", md5.Sum(content))}
	}
	files["voices.json"] = check.Must(json.Marshal(map[string]any{newVoice: map[string]any{
		"language": map[string]string{"name_english": "English", "country_english": "United States"},
		"quality":  "medium", "num_speakers": 1, "files": about,
	}}))(tb)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content := files[r.URL.Path[1:]]
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		if r.URL.Path == "/"+newVoice+".onnx" {
			half := len(content) / 2
			_, _ = w.Write(content[:half])
			_ = http.NewResponseController(w).Flush()
			select {
			case <-gate:
			case <-r.Context().Done():
			}
			content = content[half:]
		}
		_, _ = w.Write(content)
	}))
	tb.Cleanup(server.Close)
	return server.URL + "/voices.json", gate
}

// command runs pressbox beside the server and returns what it prints.
func (b *tab) command(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("pressbox", args...)
	cmd.Dir, cmd.Env = b.Cmd.Dir, b.Cmd.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("pressbox %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// newAdministration is [begin] with an administrator, Anna, on the administration.
func newAdministration(t *testing.T, settings ...string) *tab {
	t.Helper()
	b := begin(t, settings...)
	b.join("Anna")
	b.command("users", "admin", "Anna")
	b.open("/admin")
	b.shows("#QUIET_MODE")
	return b
}

// The code of pressbox.txt, entered on the page of the account, makes it an administrator's.
func TestAccount_adminCode(t *testing.T) {
	b := begin(t)
	socket := daemonclient.ForSocket(filepath.Join(b.Cmd.Dir, "state/admin.sock"))
	check.NoError(t, socket.Send(t.Context(), http.MethodPut, "/admin/code", map[string]string{"code": "opening day"}))
	b.join("Anna")
	b.expect("422")
	b.open("/account")
	b.shows("#admin-code")
	b.set("#admin-code [name=code]", "closing day")
	b.press("#admin-code button")
	b.says("[role=alert]", "This is not the administrator code.")
	b.set("#admin-code [name=code]", "opening day")
	b.press("#admin-code button")
	b.shows(`header a[href="/admin"]`)
	b.open("/account")
	b.shows("main .stubs li")
	check.That(t, b.count("#admin-code") == 0, "the code is asked for again")
}

// openPart opens a part of the administration by its link.
func (b *tab) openPart(name, selector string) {
	b.t.Helper()
	b.press(`.parts a[href="/admin?part=` + name + `"]`)
	b.shows(selector)
}

// Without an administrator, the page shows the command that makes one; other accounts see no link to it.
func TestAdmin_stranger(t *testing.T) {
	b := begin(t)
	b.open("/admin")
	b.says("#stranger", "sudo pressbox users admin NAME")
	b.looks("admin-visitor")
	b.join("Anna O’Neil")
	b.open("/account")
	b.press(`main a[href="/admin"]`)
	b.says("#stranger", "no administrator yet")
	b.says("#stranger code", "sudo pressbox users admin 'Anna O’Neil'")
	check.That(t, b.count(`header a[href="/admin"]`) == 0, "the header links to the administration")
	b.command("users", "admin", "Anna O’Neil")
	b.open("/")
	b.press(`header a[href="/admin"]`)
	b.shows("#QUIET_MODE")
	other := newTab(t, b.server)
	other.join("Bob")
	other.open("/admin")
	other.says("#stranger", "not an administrator")
	other.open("/account")
	other.shows("main .stubs li")
	check.That(t, other.count(`a[href="/admin"]`) == 0, "another account has a link to the administration")
}

// Quiet hours that are saved apply at once and are the origin "page" in the settings, until they
// are reset. A setting of the environment cannot be changed.
func TestAdmin_sound(t *testing.T) {
	b := newAdministration(t, "CHIME=ding-dong")
	check.That(t, b.is(`$("#CHIME").disabled`) && !b.is(`$("#VOLUME").disabled`),
		"a setting of the environment can be changed, or another one cannot")
	b.set("#quiet-from", "22:00")
	b.set("#quiet-to", "07:00")
	b.choose("#QUIET_MODE", "spoken afterwards")
	b.set("#VOLUME", "35")
	b.press("main form .primary")
	b.says("main [role=status]", "Saved")
	for _, want := range []string{
		"QUIET_HOURS 22:00-07:00 page", "QUIET_MODE hold page", "VOLUME 35 page",
		"CHIME ding-dong environment",
	} {
		if got := b.command("config"); !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("config lacks %q: %s", want, got)
		}
	}
	b.looks("admin-sound")
	b.press(`[aria-label="Reset: Default volume (%)"]`)
	b.await(`$("#VOLUME").value === "100"`)
	b.expect("422")
	b.is(`$("main details").open = true`)
	b.set("#QUIET_HOURS", "whenever")
	b.press("main form .primary")
	b.says("[role=alert]", "QUIET_HOURS=whenever: expected")
}

// The loudspeaker, schedules and favorites are worked from the administration, also by keyboard. A favorite
// whose voice was removed names it.
func TestAdmin_controls(t *testing.T) {
	b := newAdministration(t)
	b.shows("#volume")
	b.do(chromedp.Focus("#volume"), chromedp.KeyEvent(kb.ArrowLeft))
	b.says("#level", "81")
	b.do(chromedp.Focus(".volume button"), chromedp.KeyEvent("\r"))
	b.shows(`.volume button[aria-pressed="true"]`)
	b.await(`json("/api/volume").then((v) => v.volume === 81 && v.muted)`)
	b.pressNamed("For 1 hour")
	b.says("#quiet", "Until")
	b.openPart("planned", "#time")
	b.set("#time", "06:30")
	b.do(chromedp.SendKeys("#message", "Good morning."), chromedp.KeyEvent("\t"))
	b.press("main form .primary")
	b.says("#schedules .quote", "Good morning.")
	b.await(`$$("#voice option").length > 1`)
	b.is(`($("#voice").selectedIndex = 1, $("#voice").dispatchEvent(new Event("change", { bubbles: true })))`)
	b.do(chromedp.SendKeys("#message", "Lunch is ready."))
	b.pressNamed("Save as favorite")
	b.says(".favorites .speak", "Lunch is ready.")
	b.is(`(() => { // the voice is removed
		const send = window.fetch;
		window.fetch = (path, options) => path === "/voices"
			? Promise.resolve(new Response('{"voices": []}')) : send(path, options);
	})()`)
	b.openPart("rooms", "main .stubs li")
	b.openPart("planned", ".favorites small")
	b.says(".favorites small", "is not installed")
	b.looks("admin-planned")
	b.press(".favorites .speak") // by the default voice
	b.await(`json("/api/notify").then((list) => [...list.queue, ...list.recent]
		.some((a) => a.message === "Lunch is ready."))`)
}

// Invites are created and revoked; other accounts are changed and deleted.
func TestAdmin_people(t *testing.T) {
	b := newAdministration(t)
	bob := newTab(t, b.server)
	bob.join("Bob")
	b.openPart("people", "#users li:nth-child(2)")
	b.pressNamed("Create an invite")
	b.says("[aria-labelledby=invites-title] #secret code", "invite=xi_")
	check.Equal(t, b.scan("#secret .qr"), value[string](b, `$("#secret code").innerText`), "the QR code of the invite")
	b.looks("admin-people")
	b.press("#invites button")
	b.await(`!$("#invites")`)
	check.Contains(t, b.confirm(`[aria-label="Make administrator: Bob"]`, true), "Bob", "the question")
	b.says("#users li:last-child", "Administrator")
	check.Contains(t, b.confirm(`[aria-label="Remove as administrator: Bob"]`, true), "Bob", "the question")
	b.await(`$('[aria-label="Make administrator: Bob"]')`)
	check.Contains(t, b.confirm(`[aria-label="Disable: Bob"]`, false), "Bob", "the question")
	check.That(t, b.is(`!$("#users .tag.hot")`), "disabled although that was not confirmed")
	b.confirm(`[aria-label="Disable: Bob"]`, true)
	b.says("#users .tag.hot", "Disabled")
	check.Equal(t, bob.status("GET", "/api/auth/me"), 401, "the status of a disabled account")
	bob.expect("401")
	check.Contains(t, b.confirm(`[aria-label="Delete Bob"]`, true), "Bob", "the question")
	b.await(`$$("#users li").length === 1`)
}

// asksAgain answers a request as the server does 15 minutes later, until the passphrase is sent.
func (b *tab) asksAgain(method, path string) {
	b.is(fmt.Sprintf(`(() => {
		const send = window.fetch;
		window.fetch = (path, options) => {
			if (path === "/api/auth/reauthenticate") window.fetch = send;
			if ((options?.method ?? "GET") !== %q || path !== %q) return send(path, options);
			return Promise.resolve(new Response('{"code": "reauthentication_required", "detail": "again"}',
				{ status: 403 }));
		};
	})()`, method, path))
}

// What needs the passphrase again asks for it, and then goes on.
func TestAdmin_reauthentication(t *testing.T) {
	b := newAdministration(t)
	b.asksAgain("GET", "/api/admin/tokens")
	b.press(`.parts a[href="/admin?part=tokens"]`)
	b.await(`document.activeElement.id === "again"`)
	b.looks("admin-again")
	b.do(chromedp.SendKeys("#again", passphrase+"\r"))
	b.says("main .empty", "No tokens")
	b.do(chromedp.SendKeys(`input[name="name"]`, "Doorbell\r"))
	b.says("#tokens li", "Doorbell")
	b.says("#secret code", "xt_")
	b.looks("admin-tokens")
	b.press("#tokens .danger")
	b.says("main .empty", "No tokens")
}

// A natural voice is installed with one press, with its progress, and becomes the default voice;
// another one is removed.
func TestAdmin_voices(t *testing.T) {
	url, gate := serveCatalog(t)
	b := newAdministration(t, "VOICES_URL="+url, "MODEL_DIR="+filepath.Join(t.TempDir(), "models"))
	b.openPart("voices", "#natural")
	b.says("#shop li", "Public domain")
	b.press("#natural")
	b.await(`$("#download")?.value > 0.2`)
	b.looks("admin-download")
	close(gate)
	b.says("main .good", newVoice+" is installed")
	b.says("#voices li", "Default voice")
	got := strings.Join(strings.Fields(b.command("config")), " ")
	check.That(t, strings.Contains(got, "DEFAULT_VOICE "+newVoice+" page"), "config: %s", got)
	b.press(`[aria-label="Listen to ` + newVoice + `"]`)
	b.shows(`[aria-label="Listen to ` + newVoice + `"][aria-pressed="true"]`)
	b.looks("admin-voices")
}

// If the catalog of voices cannot be read, the page says so until the next search, and why in a disclosure.
func TestAdmin_noCatalog(t *testing.T) {
	b := newAdministration(t, "VOICES_URL=http://127.0.0.1:1/voices.json")
	b.expect("503")
	const message = "The catalog of voices cannot be reached."
	b.openPart("voices", "main .alert")
	b.says("main .alert", message)
	check.That(t, !b.is(`$("main .alert").innerText.includes("fetch the catalog")`), "the reason is not folded")
	b.press("main .alert summary")
	b.says("main .alert [lang=en]", "The catalog of voices cannot be read: fetch the catalog")
	b.press(`[aria-label^="Listen to "]`)
	b.shows(`[aria-label^="Listen to "][aria-pressed="true"]`)
	b.says("main .alert", message)
}

// A backup is made, and what its link leads to is accepted by "pressbox restore".
func TestAdmin_backup(t *testing.T) {
	b := newAdministration(t)
	b.openPart("backup", "main .empty")
	b.pressNamed("Make a backup now")
	b.await(`document.activeElement.matches("#backups a")`)
	b.looks("admin-backup")
	text := value[string](b, `fetch($("#backups a[download]").href).then((r) => r.blob())
		.then((file) => new Promise((done) => {
		const reader = new FileReader();
		reader.onload = () => done(reader.result.split(",")[1]);
		reader.readAsDataURL(file);
	}))`)
	path := filepath.Join(t.TempDir(), "backup.db")
	check.NoError(t, os.WriteFile(path, check.Must(base64.StdEncoding.DecodeString(text))(t), 0o600))
	restored := t.TempDir()
	cmd := exec.Command("pressbox", "restore", "--state-dir", restored, path)
	cmd.Dir, cmd.Env = restored, b.Cmd.Env
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "restored "+path) {
		t.Errorf("restore: %v: %s", err, out)
	}
}

// Rooms, doctor's findings and the log are shown; the parts are usable by keyboard.
func TestAdmin_parts(t *testing.T) {
	b := newAdministration(t)
	b.command("say", "--server", b.URL, "Lunch is ready.")
	b.command("say", "--server", b.URL, "Dinner is ready.")
	for _, part := range []struct{ name, selector, text string }{
		{"rooms", "main .stubs li", "here"},
		{"health", "#findings li", "Pronunciation"},
		{"log", "main tbody tr:first-child", "Dinner is ready."}, // the newest
	} {
		b.openPart(part.name, part.selector)
		b.says(part.selector, part.text)
		b.looks("admin-" + part.name)
	}
	b.do(chromedp.EmulateViewport(360, 740))
	check.That(t, b.is(`$$("main tr > :first-child").every((e) => e.getBoundingClientRect().right < innerWidth)`),
		"on a phone the statuses are cut")
	b.do(chromedp.EmulateViewport(1280, 800))
	b.do(chromedp.Focus(`.parts a[href="/admin?part=log"]`), chromedp.KeyEvent("\r"))
	b.shows("main tbody tr")
}
