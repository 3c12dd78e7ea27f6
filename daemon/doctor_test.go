package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pressbox/audio/pulse"
	"pressbox/audio/pulse/pulsetest"
)

// examine runs "pressbox doctor --json" in a folder; the later settings count.
func examine(t *testing.T, dir string, settings ...string) []finding {
	t.Helper()
	cmd := exec.Command("pressbox", "doctor", "--json")
	cmd.Dir, cmd.Env = dir, append(environment(t), settings...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	var answer struct {
		Findings []finding `json:"findings"`
	}
	if decodeErr := json.Unmarshal(out, &answer); decodeErr != nil {
		t.Fatalf("doctor: %v, %v: %s", err, decodeErr, complaint.String())
	}
	if (err != nil) != (worstOf(answer.Findings) == broken) {
		t.Errorf("doctor ended with %v and found %+v", err, answer.Findings)
	}
	return answer.Findings
}

// has says whether something of that name was found so, with these words in what
// is wrong and in the mend.
func has(found []finding, name, r, detail, mend string) bool {
	return slices.ContainsFunc(found, func(f finding) bool {
		return f.Name == name && f.Result == r && strings.Contains(f.Detail, detail) && strings.Contains(f.Remedy, mend)
	})
}

// Each thing is really put into the state that doctor has to find.
func TestDoctorFindsWhatIsWrongAndSaysTheMend(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare      func(t *testing.T, dir string) []string // returns settings
		thing        string
		result       string
		detail, mend string
	}{
		"no daemon":              {nothing, "daemon", broken, "does not run", "systemctl start pressbox"},
		"a daemon that hangs up": {deafDaemon, "daemon", broken, "state/admin.sock does not answer: EOF", "start it again"},
		"another version":        {otherDaemon, "daemon", doubtful, "runs as version 0.0.1, and this program is", "start it again"},
		"its health":             {otherDaemon, "sound", broken, "the sound server is gone", ""},
		"no sound server":        {set("PULSE_SERVER=unix:/nowhere/native"), "sound", broken, "no such file", "pressbox setup-audio"},
		"a dead socket":          {deadSocket, "sound", broken, "connection refused", "has ended: start it"},
		"no permission":          {forbiddenSocket, "sound", broken, "permission denied", "pressbox setup-audio"},
		"a wrong cookie":         {wrongCookie, "sound", broken, "requires its cookie", "PULSE_COOKIE"},
		"a server that hangs":    {sound(func(s *pulsetest.Server) { s.Signal(syscall.SIGSTOP) }), "sound", broken, "has not answered", "restart it"},
		"a muted sink":           {sound(func(s *pulsetest.Server) { s.Pactl("set-sink-mute", "speaker", "1") }), "sound", broken, "speaker is muted", "set-sink-mute speaker 0"},
		"turned down":            {sound(func(s *pulsetest.Server) { s.Pactl("set-sink-volume", "speaker", "7%") }), "sound", doubtful, "turned down to 7 %", "set-sink-volume speaker 100%"},
		"no card":                {sound(func(s *pulsetest.Server) { s.Pactl("unload-module", "module-null-sink") }), "sound", broken, "no sink at all", "/proc/asound/cards"},
		"a null sink":            {sound(func(*pulsetest.Server) {}), "sound", doubtful, "heard by nobody", "/proc/asound/cards"},
		"another sink":           {sound(func(*pulsetest.Server) {}, "PULSE_SINK=kitchen"), "sound", broken, "there is no sink kitchen", "PULSE_SINK to one of speaker"},
		"VOLUME":                 {sound(func(*pulsetest.Server) {}, "VOLUME=3"), "sound", doubtful, "VOLUME is 3", "VOLUME=100"},
		"wrong settings":         {set("QUEUE_MAX_SIZE=many"), "settings", broken, "QUEUE_MAX_SIZE=many: expected", "pressbox config"},
		"right settings":         {nothing, "settings", well, "", ""},
		"the port is taken":      {takenPort, "port", broken, "is taken by process", "pressbox set-port"},
		"a damaged store":        {damagedStore, "store", broken, "damaged", "restores the newest good backup"},
		"a store set aside":      {asideStore, "store", doubtful, "was set aside", "memory card"},
		"no voice":               {set("DEFAULT_VOICE=nobody"), "voices", broken, "nobody", "DEFAULT_VOICE"},
		"a broken voice":         {brokenVoice, "voices", doubtful, "crow is broken", "voices install"},
		"no espeak-ng":           {set("PATH=/nonexistent"), "espeak-ng", broken, "not installed", "apt install espeak-ng"},
		"no ONNX Runtime":        {set("ONNXRUNTIME_LIB=/nowhere.so"), "runtime", broken, "/nowhere.so", "ONNXRUNTIME_LIB"},
		"a good runtime":         {nothing, "runtime", well, "ONNX Runtime 1.", ""},
		"a good espeak-ng":       {nothing, "espeak-ng", well, "answers", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			settings := append([]string{"PULSE_SERVER=unix:/nowhere/native"}, tt.prepare(t, dir)...)
			if found := examine(t, dir, settings...); !has(found, tt.thing, tt.result, tt.detail, tt.mend) {
				t.Errorf("want %s: %s, %q, %q; found\n%+v", tt.thing, tt.result, tt.detail, tt.mend, found)
			}
		})
	}
}

func nothing(*testing.T, string) []string { return nil }

func set(settings ...string) func(*testing.T, string) []string {
	return func(*testing.T, string) []string { return settings }
}

// sound starts a sound server and does something to it.
func sound(to func(*pulsetest.Server), settings ...string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		t.Helper()
		server := pulsetest.Start(t, pulsetest.Config{})
		to(server)
		return append(settings, "PULSE_SERVER="+server.Address)
	}
}

func deadSocket(t *testing.T, dir string) []string {
	t.Helper()
	path := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	return []string{"PULSE_SERVER=unix:" + path}
}

// forbiddenSocket is in a folder that the daemon's user may not enter: root looks
// as the owner of the daemon's folder.
func forbiddenSocket(t *testing.T, dir string) []string {
	t.Helper()
	server := pulsetest.Start(t, pulsetest.Config{})
	hidden := filepath.Join(dir, "hidden")
	state := filepath.Join(dir, "state")
	for _, folder := range []string{hidden, state} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(strings.TrimPrefix(server.Address, "unix:"), filepath.Join(hidden, "native")); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		const nobody = 65534
		if err := os.Chown(state, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	} else if err := os.Chmod(hidden, 0); err != nil {
		t.Fatal(err)
	}
	return []string{"PULSE_SERVER=unix:" + filepath.Join(hidden, "native")}
}

func wrongCookie(t *testing.T, dir string) []string {
	t.Helper()
	secret := filepath.Join(dir, "cookie")
	if err := os.WriteFile(secret, bytes.Repeat([]byte("secret! "), 32), 0o600); err != nil {
		t.Fatal(err)
	}
	port := pulsetest.FreePort(t)
	pulsetest.Start(t, pulsetest.Config{Modules: []string{
		fmt.Sprintf("module-native-protocol-tcp listen=127.0.0.1 port=%d auth-cookie=%s", port, secret),
	}})
	return []string{fmt.Sprintf("PULSE_SERVER=tcp:127.0.0.1:%d", port), "PULSE_COOKIE=/nonexistent"}
}

// deafDaemon is one that hangs up on whoever asks.
func deafDaemon(t *testing.T, dir string) []string {
	t.Helper()
	administered(t, dir, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	return nil
}

// otherDaemon is of an earlier version, which did not look at itself yet.
func otherDaemon(t *testing.T, dir string) []string {
	t.Helper()
	administered(t, dir, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/admin/status" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, `{"versions":{"pressbox":"0.0.1"},"health":{"status":"degraded","checks":{"audio":{"status":"degraded","detail":"the sound server is gone"}}}}`)
	})
	return nil
}

// administered listens where a daemon of that folder is administered.
func administered(t *testing.T, dir string, answer http.HandlerFunc) {
	t.Helper()
	inState(t, dir, "pressbox.db", "")
	l, err := net.Listen("unix", filepath.Join(dir, "state", adminSocketName))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.Server{Listener: l, Config: &http.Server{Handler: answer}}
	server.Start()
	t.Cleanup(server.Close)
}

func takenPort(t *testing.T, _ string) []string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return []string{fmt.Sprintf("PORT=%d", l.Addr().(*net.TCPAddr).Port)}
}

func damagedStore(t *testing.T, dir string) []string {
	t.Helper()
	return inState(t, dir, "pressbox.db", strings.Repeat("This is no store. ", 2000))
}

func asideStore(t *testing.T, dir string) []string {
	t.Helper()
	inState(t, dir, "pressbox.db", strings.Repeat("x", 20000))
	return inState(t, dir, "pressbox.db.damaged-20260101T000000Z", "")
}

func inState(t *testing.T, dir, name, content string) []string {
	t.Helper()
	path := filepath.Join(dir, "state", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return nil
}

func brokenVoice(t *testing.T, dir string) []string {
	t.Helper()
	for _, name := range []string{"crow.onnx", "crow.onnx.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("caw"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"MODEL_DIR=" + dir, "DEFAULT_VOICE=crow"}
}

// asNobody takes from root's test the right to go everywhere, but not into its folder.
func asNobody(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // until this goroutine ends, and the thread with it
	const nobody = 65534
	if err := syscall.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setfsuid(0) }) // for those who tidy up
}

// The group adm may use the shared socket, but not enter the folder of the daemon.
func TestASocketOutOfReachDoesNotHideAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hidden := filepath.Join(dir, "hidden")
	if err := os.Mkdir(hidden, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(hidden, "s"), filepath.Join(dir, "s")} {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(hidden, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(hidden, 0o700) })
	if os.Geteuid() == 0 {
		asNobody(t, dir)
	}
	if path, err := firstAnswering(filepath.Join(hidden, "s"), filepath.Join(dir, "s")); err != nil || path != filepath.Join(dir, "s") {
		t.Errorf("found %q, %v", path, err)
	}
	if path, err := firstAnswering(filepath.Join(hidden, "s"), filepath.Join(dir, "none")); path != "" || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("found %q, %v; want to be told who may", path, err)
	}
}

// Whoever may not administer still learns how the daemon is, and not how a stranger's
// surroundings are.
func TestDoctorTellsWhatEveryoneIsTold(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"status":"failing","version":"1","checks":{"store":{"status":"failing","detail":"the disk is full"},"audio":{"sink":"speaker","muted":true}}}`)
	}))
	t.Cleanup(server.Close)
	port := server.Listener.Addr().(*net.TCPAddr).Port
	e := patient{cfg: Config{Host: "127.0.0.1", Port: port}, refused: errors.New("only root may")}.examine(t.Context())
	if e.Looked != byHealth || !has(e.Findings, "daemon", doubtful, "version 1 answers at "+server.URL+"; only root may", "run doctor as root") ||
		!has(e.Findings, "store", broken, "the disk is full", "") || !has(e.Findings, "sound", broken, "speaker is muted", "") {
		t.Errorf("found %+v", e)
	}
}

func TestDoctorIsContentWithADaemonThatIsWell(t *testing.T) {
	t.Parallel()
	server := pulsetest.Start(t, pulsetest.Config{})
	dir := t.TempDir()
	settings := []string{"PULSE_SERVER=" + server.Address}
	p := runProcess(t, dir, append(environment(t), settings...))
	if !p.awaitLog("audio output connected") {
		t.Fatal(p.logged())
	}
	found := examine(t, dir, settings...)
	if !has(found, "daemon", well, "runs, version", "") || !has(found, "store", well, "is in use", "") || worstOf(found) == broken {
		t.Errorf("found %+v", found)
	}
}

// What no machine of ours can be put into.
func TestSoundsTroublesHaveTheirMends(t *testing.T) {
	t.Parallel()
	sink := pulse.SinkInfo{Name: "hdmi", Description: "TV", State: "idle", Volume: 100, Port: "HDMI / DisplayPort"}
	unplugged := sink
	unplugged.Unplugged = true
	answered := []pulse.Attempt{{Address: "unix:/x"}}
	for name, tt := range map[string]struct {
		report       pulse.Inspection
		result       string
		detail, mend string
	}{
		"well":      {pulse.Inspection{Attempts: answered, Server: "PipeWire", Default: "hdmi", Sinks: []pulse.SinkInfo{sink}}, well, "TV, idle, at 100 %", ""},
		"dead HDMI": {pulse.Inspection{Attempts: answered, Server: "PipeWire", Default: "hdmi", Sinks: []pulse.SinkInfo{unplugged}}, broken, "nothing is plugged into hdmi (HDMI / DisplayPort)", "switch the screen or speaker on"},
		"a profile": {pulse.Inspection{Attempts: answered, Server: "PipeWire", Cards: 1}, broken, "no sink at all", "pactl set-card-profile"},
		"strange":   {pulse.Inspection{Attempts: []pulse.Attempt{{Address: "tcp:x:80", Failure: pulse.Other, Detail: "no PulseAudio server"}}}, broken, "tcp:x:80: no PulseAudio", "PULSE_SERVER"},
		"unnamed":   {pulse.Inspection{Attempts: answered, Server: "PipeWire", Sinks: []pulse.SinkInfo{sink}}, well, "TV", ""},
	} {
		if found := soundFindings(tt.report, Config{Volume: 100}); !has(found, "sound", tt.result, tt.detail, tt.mend) {
			t.Errorf("%s: found %+v", name, found)
		}
	}
}

func TestTheUnitsStateIsRead(t *testing.T) {
	t.Parallel()
	for properties, want := range map[string]finding{
		"LoadState=loaded\nActiveState=active\nResult=success\nNRestarts=0\nUnitFileState=enabled\n":          {Name: "unit", Result: well, Detail: "is active", Remedy: ""},
		"LoadState=loaded\nActiveState=active\nResult=success\nNRestarts=3\nUnitFileState=enabled\n":          {Name: "unit", Result: doubtful, Detail: "restarted 3 times", Remedy: "journalctl"},
		"LoadState=loaded\nActiveState=failed\nResult=watchdog\nNRestarts=9\nUnitFileState=enabled\n":         {Name: "unit", Result: broken, Detail: "watchdog", Remedy: "journalctl"},
		"LoadState=loaded\nActiveState=inactive\nResult=success\nNRestarts=0\nUnitFileState=disabled\n":       {Name: "unit", Result: doubtful, Detail: "does not start with the machine", Remedy: "systemctl enable"},
		"LoadState=masked\nActiveState=inactive\nResult=success\nNRestarts=0\nUnitFileState=masked-runtime\n": {Name: "unit", Result: broken, Detail: "masked", Remedy: "unmask"},
	} {
		if found := unitFindings(properties); !has(found, want.Name, want.Result, want.Detail, want.Remedy) {
			t.Errorf("%q: found %+v", properties, found)
		}
	}
	if found := unitFindings("LoadState=not-found\n"); len(found) != 0 {
		t.Errorf("where it is not installed: %+v", found)
	}
}

func TestTheJournalAndTheKernelAreLookedAt(t *testing.T) {
	t.Parallel()
	root := t.TempDir() + "/"
	if found := lookAtJournal(root); !has(found, "journal", doubtful, "in memory", "Storage=persistent") {
		t.Errorf("a volatile journal: %+v", found)
	}
	if err := os.MkdirAll(root+"var/log/journal", 0o755); err != nil {
		t.Fatal(err)
	}
	if found := lookAtJournal(root); !has(found, "journal", well, "", "") {
		t.Errorf("a journal on disk: %+v", found)
	}
	for controllers, want := range map[string]int{"cpu io pids\n": 1, "cpu memory\n": 0} {
		if err := os.WriteFile(root+"cgroup.controllers", []byte(controllers), 0o600); err != nil {
			t.Fatal(err)
		}
		if found := lookAtMemory(root); len(found) != want {
			t.Errorf("controllers %q: %+v", controllers, found)
		}
	}
}

// Sound that was arranged is silent when its user has gone, which nothing else says.
func TestAnArrangementThatDoesNotHoldIsFound(t *testing.T) {
	t.Parallel()
	const headless, session = "headless", "session"
	for name, tt := range map[string]struct {
		kind         string
		there        []string
		result       string
		detail, mend string
	}{
		"headless, well":       {headless, []string{"run/user/7/x", "run/pressbox-audio/x", "var/lib/systemd/linger/pressbox"}, well, "that of pressbox", ""},
		"headless, no folder":  {headless, []string{"run/user/7/x", "var/lib/systemd/linger/pressbox"}, broken, "/run/pressbox-audio is not there", "systemd-tmpfiles"},
		"headless, no linger":  {headless, []string{"run/user/7/x", "run/pressbox-audio/x"}, broken, "ends when nobody is logged in", "setup-audio headless"},
		"headless, no manager": {headless, []string{"run/pressbox-audio/x", "var/lib/systemd/linger/pressbox"}, broken, "nothing runs for the user pressbox", "systemctl restart user@7"},
		"session, well":        {session, []string{"run/user/8/x", "run/pressbox-audio/x"}, well, "that of kiosk", ""},
		"session, logged out":  {session, []string{"run/pressbox-audio/x"}, broken, "kiosk is not logged in", "log kiosk in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			owner := map[string]string{headless: "", session: "kiosk"}[tt.kind]
			if err := (arrangement{root, io.Discard}).setUp(tt.kind, owner); err != nil {
				t.Fatal(err)
			}
			for _, file := range tt.there {
				path := filepath.Join(root, file)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			users := map[string]string{"pressbox": "7", "kiosk": "8"}
			found := arrangementFindings(root, func(name string) (string, error) { return users[name], nil })
			if !has(found, "audio", tt.result, tt.detail, tt.mend) {
				t.Errorf("found %+v", found)
			}
			found = arrangementFindings(root, func(string) (string, error) { return "", errors.New("unknown user") })
			if !has(found, "audio", broken, "unknown user", "setup-audio") {
				t.Errorf("with a user that has gone: %+v", found)
			}
		})
	}
	if found := arrangementFindings(t.TempDir(), nil); len(found) != 0 {
		t.Errorf("without an arrangement: %+v", found)
	}
}
