package doctor

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pressbox/audio/pulse"
	"pressbox/daemon/settings"
	"pressbox/daemon/setup"
	"pressbox/packaging/check"
)

// has reports whether there is a finding of that name and result whose detail and remedy
// contain these texts.
func has(findings []Finding, name, result, detail, remedy string) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool {
		return f.Name == name && f.Result == result && strings.Contains(f.Detail, detail) &&
			strings.Contains(f.Remedy, remedy)
	})
}

// A user who may not use the admin socket gets the public health, and no findings about
// another environment.
func TestDoctor_publicHealth(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"status":"failing","version":"1","checks":{`+
			`"store":{"status":"failing","detail":"the disk is full"},`+
			`"audio":{"status":"degraded","detail":"the sink speaker is muted","sink":"speaker","muted":true}}}`)
	}))
	t.Cleanup(server.Close)
	port := server.Listener.Addr().(*net.TCPAddr).Port
	r := Doctor{
		cfg: settings.Config{Host: "127.0.0.1", Port: port}, denied: errors.New("only root may"),
	}.Run(t.Context())
	if r.Source != FromHealth || !has(r.Findings, "server",
		Warning, "version 1 answers at "+server.URL+"; only root may", "run doctor as root") ||
		!has(r.Findings, "store", Failure, "the disk is full", "") ||
		!has(r.Findings, "sound", Failure, "speaker is muted", "") {
		t.Errorf("found %+v", r)
	}
}

// These problems cannot be made on the test's host.
func TestSoundFindings(t *testing.T) {
	t.Parallel()
	sink := pulse.SinkInfo{Name: "hdmi", Description: "TV", State: "idle", Volume: 100, Port: "HDMI / DisplayPort"}
	unplugged, muted, zero, low, half := sink, sink, sink, sink, sink
	unplugged.Unplugged, muted.Muted, zero.Volume, low.Volume = true, true, 0, pulse.LowVolume-1
	answered := []pulse.Attempt{{Address: "unix:/x"}}
	half.Volume = pulse.LowVolume
	on := func(s pulse.SinkInfo) pulse.Inspection {
		return pulse.Inspection{Attempts: answered, Server: "PipeWire", Default: "hdmi", Sinks: []pulse.SinkInfo{s}}
	}
	noDefault, noProfile := on(sink), pulse.Inspection{Attempts: answered, Server: "PipeWire", Cards: 1}
	noDefault.Default = ""
	other := pulse.Inspection{
		Attempts: []pulse.Attempt{{Address: "tcp:x:80", Failure: pulse.Other, Detail: "no PulseAudio server"}},
	}
	const set = "pactl --server=unix:/x set-sink-"
	for name, tt := range map[string]struct {
		report         pulse.Inspection
		result         string
		detail, remedy string
	}{
		"no problem":      {on(sink), OK, "TV, idle, volume 100 %", ""},
		"unplugged":       {on(unplugged), Failure, "into hdmi (HDMI / DisplayPort)", "switch the screen"},
		"muted":           {on(muted), Failure, "hdmi is muted", set + "mute hdmi 0"},
		"at 0":            {on(zero), Failure, "hdmi is 0 %", set + "volume hdmi 100%"},
		"low":             {on(low), Warning, "hdmi is 49 %", set + "volume hdmi 100%"},
		"not low":         {on(half), OK, "volume 50 %", ""},
		"no profile":      {noProfile, Failure, "has no sink", "pactl set-card-profile"},
		"another program": {other, Failure, "tcp:x:80: no PulseAudio", "PULSE_SERVER"},
		"no default":      {noDefault, OK, "TV", ""},
	} {
		found := soundFindings(tt.report, settings.Config{Volume: 100})
		if !has(found, "sound", tt.result, tt.detail, tt.remedy) {
			t.Errorf("%s: found %+v", name, found)
		}
	}
}

func TestUnitFindings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		load, active, result, restarts, file string
		want, detail, remedy                 string
	}{
		{"loaded", "active", "success", "0", "enabled", OK, "is active", ""},
		{"loaded", "active", "success", "3", "enabled", Warning, "restarted 3 times", "journalctl"},
		{"loaded", "failed", "watchdog", "9", "enabled", Failure, "watchdog", "journalctl"},
		{"loaded", "inactive", "success", "0", "disabled", Warning, "does not start at boot", "systemctl enable"},
		{"masked", "inactive", "success", "0", "masked-runtime", Failure, "masked", "unmask"},
	} {
		properties := fmt.Sprintf("LoadState=%s\nActiveState=%s\nResult=%s\nNRestarts=%s\nUnitFileState=%s\n",
			tt.load, tt.active, tt.result, tt.restarts, tt.file)
		if found := unitFindings(properties); !has(found, "unit", tt.want, tt.detail, tt.remedy) {
			t.Errorf("%q: found %+v", properties, found)
		}
	}
	if found := unitFindings("LoadState=not-found\n"); len(found) != 0 {
		t.Errorf("not installed: %+v", found)
	}
}

func TestCheckJournal(t *testing.T) {
	t.Parallel()
	root := t.TempDir() + "/"
	if found := checkJournal(root); !has(found, "journal", Warning, "in memory", "Storage=persistent") {
		t.Errorf("a volatile journal: %+v", found)
	}
	check.NoError(t, os.MkdirAll(root+"var/log/journal", 0o755))
	if found := checkJournal(root); !has(found, "journal", OK, "", "") {
		t.Errorf("a persistent journal: %+v", found)
	}
}

// Without landlock espeak-ng works, and the finding names a remedy.
func TestConfinementFindings(t *testing.T) {
	t.Parallel()
	if found := confinementFindings(nil); !has(found, "sandbox", OK, "is confined", "") {
		t.Errorf("everything supported: %+v", found)
	}
	found := confinementFindings(fmt.Errorf("landlock: %w", syscall.ENOSYS))
	if !has(found, "sandbox", Warning, "landlock: function not implemented", "lsm=") {
		t.Errorf("without landlock: %+v", found)
	}
}

func TestCheckMemory(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for controllers, want := range map[string]int{"cpu io pids\n": 1, "cpu memory\n": 0} {
		check.NoError(t, os.WriteFile(root+"/cgroup.controllers", []byte(controllers), 0o600))
		if found := checkMemory(root); len(found) != want {
			t.Errorf("controllers %q: %+v", controllers, found)
		}
	}
}

// What "pressbox setup-audio" configured may stop working, such as when its user logs out.
func TestCheckAudioSetup(t *testing.T) {
	t.Parallel()
	const headless, session = "headless", "session"
	for name, tt := range map[string]struct {
		mode           string
		files          []string
		result         string
		detail, remedy string
	}{
		"headless": {headless, []string{
			"run/user/7/x", "run/pressbox-audio/x", "var/lib/systemd/linger/pressbox",
		}, OK, "server of pressbox", ""},
		"headless, no socket": {
			headless,
			[]string{"run/user/7/x", "var/lib/systemd/linger/pressbox"},
			Failure,
			"/run/pressbox-audio does not exist", "systemd-tmpfiles",
		},
		"headless, no linger": {
			headless,
			[]string{"run/user/7/x", "run/pressbox-audio/x"},
			Failure, "stops at every logout",
			"setup-audio headless",
		},
		"headless, no manager": {
			headless,
			[]string{"run/pressbox-audio/x", "var/lib/systemd/linger/pressbox"},
			Failure,
			"manager of the user pressbox does not run", "systemctl restart user@7",
		},
		"session": {session, []string{"run/user/8/x", "run/pressbox-audio/x"}, OK, "server of kiosk", ""},
		"session, logged out": {
			session, []string{"run/pressbox-audio/x"}, Failure, "kiosk is not logged in", "log kiosk in",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			user := map[string]string{headless: "", session: "kiosk"}[tt.mode]
			check.NoError(t, (setup.Setup{
				Root: root, Out: io.Discard,
			}).Audio(setup.AudioSetup{Mode: tt.mode, User: user}))
			for _, file := range tt.files {
				path := filepath.Join(root, file)
				check.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)))
			}
			uids := map[string]string{"pressbox": "7", "kiosk": "8"}
			found := checkAudioSetup(root, func(name string) (string, error) { return uids[name], nil })
			if !has(found, "audio", tt.result, tt.detail, tt.remedy) {
				t.Errorf("found %+v", found)
			}
			// as an earlier version left it
			check.NoError(t, os.Remove(filepath.Join(root, "etc/wireplumber/main.lua.d/51-pressbox.lua")))
			again := checkAudioSetup(root, func(name string) (string, error) { return uids[name], nil })
			if has(found, "audio", Warning, "", "") ||
				has(again, "audio", Warning, "differ", "setup-audio "+tt.mode) != (tt.result == OK) {
				t.Errorf("before: %+v; with an earlier version's files: %+v", found, again)
			}
			found = checkAudioSetup(root, func(string) (string, error) { return "", errors.New("unknown user") })
			if !has(found, "audio", Failure, "unknown user", "setup-audio") {
				t.Errorf("with an unknown user: %+v", found)
			}
		})
	}
	if found := checkAudioSetup(t.TempDir(), nil); len(found) != 0 {
		t.Errorf("without setup-audio: %+v", found)
	}
}
