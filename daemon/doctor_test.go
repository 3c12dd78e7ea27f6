package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/doctor"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

// runDoctor runs "pressbox doctor --json" in a directory.
func runDoctor(t *testing.T, dir string, values ...string) []doctor.Finding {
	t.Helper()
	cmd := exec.Command("pressbox", "doctor", "--json")
	cmd.Dir, cmd.Env = dir, servertest.Environment(t, values...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var report doctor.Report
	if decodeErr := json.Unmarshal(out, &report); decodeErr != nil {
		t.Fatalf("doctor: %v, %v: %s", err, decodeErr, stderr.String())
	}
	if (err != nil) != (doctor.Worst(report.Findings) == doctor.Failure) {
		t.Errorf("doctor ended with %v and found %+v", err, report.Findings)
	}
	return report.Findings
}

const (
	ok      = doctor.OK
	warning = doctor.Warning
	failure = doctor.Failure
)

// has reports whether there is a finding of that name and result whose detail and remedy
// contain these texts.
func has(findings []doctor.Finding, name, result, detail, remedy string) bool {
	return slices.ContainsFunc(findings, func(f doctor.Finding) bool {
		return f.Name == name && f.Result == result && strings.Contains(f.Detail, detail) &&
			strings.Contains(f.Remedy, remedy)
	})
}

// Each problem is made on a real server, store or sound server.
func TestDoctor_problems(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare        func(t *testing.T, dir string) []string // returns settings
		name, result   string
		detail, remedy string
	}{
		"no server": {nothing, "server", failure, "not running", "systemctl start pressbox"},
		"a server that closes connections": {
			closingServer, "server", failure, "state/admin.sock does not answer: EOF", "start it again",
		},
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
		"no card": {
			pactl("unload-module", "module-null-sink"), "sound", failure, "has no sink", "/proc/asound/cards",
		},
		"a null sink": {
			sound(func(*pulsetest.Server) {}), "sound", warning, "discards the sound", "/proc/asound/cards",
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
		"no espeak-ng": {
			set("PATH=/nonexistent"), "espeak-ng", failure, "not installed", "apt install espeak-ng",
		},
		"no ONNX Runtime": {
			set("ONNXRUNTIME_LIB=/nowhere.so"), "runtime", failure, "/nowhere.so", "ONNXRUNTIME_LIB",
		},
		"a good runtime":   {nothing, "runtime", ok, "ONNX Runtime 1.", ""},
		"a good espeak-ng": {nothing, "espeak-ng", ok, "answers", ""},
	} {
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

// forbiddenSocket makes a socket in a directory that the server's user, the owner of
// STATE_DIR, may not enter.
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
