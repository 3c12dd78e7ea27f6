//go:build installed

package installed

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// TestDebian_boots fails if this package cannot be tested here.
func TestDebian_boots(t *testing.T) { boot(t, "bookworm") }

func TestDebian12(t *testing.T) { lifeCycle(t, "bookworm") }

func TestDebian13(t *testing.T) { lifeCycle(t, "trixie") }

// lifeCycle tests an installation from its first package to its removal. A part that
// fails does not keep the next from running, except for the installation.
func lifeCycle(t *testing.T, suite string) {
	t.Helper()
	s := newServer(boot(t, suite))
	for _, part := range []struct {
		name string
		do   func(s *server)
		long bool // left out by -short
	}{
		{"Install", testInstall, false},
		{"Upgrade", testUpgrade, false},
		{"FailedUpgrade", testFailedUpgrade, false},
		{"PrivateSettings", testPrivateSettings, false},
		{"Units", testUnits, false},
		{"Hardening", testHardening, false},
		{"Sandbox", testSandbox, false},
		{"Administrators", testAdministrators, false},
		{"AddressFilter", testAddressFilter, false},
		{"WallDisplay", testWallDisplay, false},
		{"SetPort", testSetPort, false},
		{"Credential", testCredential, false},
		{"Activation", testActivation, false},
		{"Wyoming", testWyoming, false},
		{"HeadlessSound", testHeadlessSound, false},
		{"SessionSound", testSessionSound, true},
		{"PowerCut", testPowerCut, true},
		{"ExitOnIdle", testExitOnIdle, true},
		{"VoiceInstall", testVoiceInstall, true},
		{"Restore", testRestore, true},
		{"Journal", testJournal, false},
		{"Restart", testRestart, false},
		{"Kill", testKill, false},
		{"Watchdog", testWatchdog, false},
		{"Reinstall", testReinstall, false},
		{"Purge", testPurge, false},
	} {
		if part.long && testing.Short() {
			continue
		}
		if !t.Run(part.name, func(t *testing.T) { part.do(s.on(t)) }) && part.name == "Install" {
			return
		}
	}
}

func testInstall(s *server) {
	s.install(testPackage(s.t, "~previous"))
	const units = "pressbox.service pressbox.socket pressbox-admin.socket pressbox-wyoming.socket"
	for unit := range strings.FieldsSeq(units) {
		is := s.try("systemctl", "is-active", unit) + " and " + s.try("systemctl", "is-enabled", unit)
		check.Equal(s.t, is, "active and enabled", "the state of %s", unit)
	}
	got := s.run("stat", "--format=%U:%G %a", "/etc/pressbox/pressbox.env", "/var/lib/pressbox",
		"/var/lib/pressbox-audio", "/run/pressbox/admin.sock")
	const want = "root:pressbox 640\npressbox:pressbox 700\npressbox:pressbox 700\nroot:adm 660"
	check.Equal(s.t, got, want, "owners and modes of the settings, the state, the home and the administrator's socket")
	// The upgrade has to preserve an edited setting.
	s.run("sed", "-i", "s/^#VOLUME=.*/VOLUME=90/", "/etc/pressbox/pressbox.env")
	s.checkSpeech()
}

// testPrivateSettings checks that the installation makes the settings private, or fails with the reason.
func testPrivateSettings(s *server) {
	configure := func() (string, error) {
		out, err := s.command("/var/lib/dpkg/info/pressbox.postinst", "configure", version(s.t)).CombinedOutput()
		return string(out), err
	}
	s.run("chmod", "0644", settingsFile)
	s.run("mount", "--bind", settingsFile, settingsFile)
	s.run("mount", "-o", "remount,bind,ro", settingsFile)
	out, err := configure()
	s.run("umount", settingsFile)
	check.That(s.t, err != nil, "settings that stay readable are no error")
	check.Contains(s.t, out, settingsFile+" may be readable by every user", "the configuration")
	check.Must(configure())(s.t)
	check.Equal(s.t, s.run("stat", "--format=%U:%G %a", settingsFile), "root:pressbox 640", "the mode of the settings")
}

func testHardening(s *server) {
	// fails above 1.5
	verdict := s.run("systemd-analyze", "security", "--no-pager", "--threshold=15", "pressbox.service")
	s.t.Log(verdict[strings.LastIndex(verdict, "Overall"):])
	s.checkSpeech() // synthesis works in the sandbox
	check.Equal(s.t, s.journal("--unit=pressbox.service", "--priority=err"), "-- No entries --", "the logged errors")
}

func testCredential(s *server) {
	const given = "/run/credentials/pressbox.service/idp_client_secret"
	check.That(s.t, !s.exists(given), "a credential exists before one was set")
	s.write("/etc/credstore/idp_client_secret", []byte("between us"))
	s.run("systemctl", "restart", "pressbox.service")
	check.Equal(s.t, s.run("cat", given), "between us", "the credential")
	s.health()
}

func testActivation(s *server) {
	s.run("systemctl", "stop", "pressbox.service")
	began := time.Now()
	s.health()
	s.t.Logf("first answer after a cold activation: %v", time.Since(began))
	s.checkSpeech()
	s.t.Logf("resident memory with a voice: %s", s.memory())
	s.checkStatus("8888")
}

// testHeadlessSound sets up sound for a host without a desktop and records the sink.
func testHeadlessSound(s *server) {
	s.run("pressbox", "setup-audio", "headless")
	s.checkPlayback("pressbox")
	got := s.run("systemctl", "--user", "--machine=pressbox@.host", "show-environment")
	check.That(s.t, containsLine(got, "HOME=/var/lib/pressbox-audio"),
		"the user's service manager reads units of a home that the service may write:\n%s", got)
}

// checkPlayback checks that an announcement is played by a user's sound server.
func (s *server) checkPlayback(name string) {
	s.t.Helper()
	s.until("the sound server of "+name+" is there", func() bool {
		return s.try("stat", "--format=%U", "/run/pressbox-audio/native") == name && s.health().Status == "ok"
	})
	s.until("the voice is calibrated", s.calibrated) // from then on synthesis is repeatable
	const text = "Dinner is ready. Please come down, all of you."
	want := s.synthesize(text)
	var wrong error
	for range 6 { // a busy host stutters: nothing has realtime priority
		if wrong = s.playback(text, want); wrong == nil {
			return
		}
		s.t.Log(wrong)
	}
	s.t.Error(wrong)
}

// playback announces a text and compares the recording of the sink with the speech.
func (s *server) playback(text string, want []int16) error {
	s.t.Helper()
	recording := s.record()
	s.announce(text)
	got := s.stopRecording(recording)
	begin, end := audible(got)
	first, last := audible(want)
	lasts, should := seconds(end-begin), seconds(last-first)
	if lasts < should-0.1 || lasts > should+1 {
		return fmt.Errorf("the recording lasts %.2f s, the speech %.2f s", lasts, should)
	}
	alike := similarity(got[begin:end], want[first:last])
	s.t.Logf("the recording correlates with the speech by %.3f", alike)
	if alike < 0.9 {
		return errors.New("the recording differs from the speech")
	}
	return nil
}

func testJournal(s *server) {
	since := s.now()
	s.run("systemctl", "restart", "pressbox.service")
	s.logged(since, "listening")
	got := s.journal("--catalog", "--after-cursor="+since, "--unit=pressbox.service")
	check.Contains(s.t, got, "http://localhost:8888.", "the journal with explanations")
	resp := check.Must(s.request("POST", "/v1/audio/speech", speechRequest("Play ball!"), nil))(s.t)
	id := resp.Header.Get("X-Request-Id")
	check.Contains(s.t, s.journal("--output=verbose", "PRESSBOX_REQUEST_ID="+id), "/v1/audio/speech", "request %q", id)
}

func testRestart(s *server) {
	for range 3 {
		r := s.underLoad(func() { s.run("systemctl", "restart", "pressbox.service") })
		r.mustAnswerSince(s.t, time.Time{})
	}
}

func testKill(s *server) {
	since := s.now()
	var dead time.Time
	r := s.underLoad(func() {
		s.run("systemctl", "kill", "--kill-whom=main", "--signal=SIGKILL", "pressbox.service")
		s.logged(since, "Main process exited")
		dead = time.Now()
		s.logged(since, "Started pressbox.service")
	})
	r.mustAnswerSince(s.t, dead) // earlier requests were accepted by the killed process
	s.checkSpeech()
}

// testWatchdog stops the server's process, so that it does not feed the watchdog.
func testWatchdog(s *server) {
	s.write("/run/systemd/system/pressbox.service.d/impatient.conf", []byte("[Service]\nWatchdogSec=15s\n"))
	s.run("systemctl", "daemon-reload")
	s.run("systemctl", "restart", "pressbox.service")
	s.health()
	since := s.now()
	s.run("systemctl", "kill", "--kill-whom=main", "--signal=SIGSTOP", "pressbox.service")
	s.logged(since, "Watchdog timeout")
	s.logged(since, "goroutine ") // the stacks
	s.logged(since, "Started pressbox.service")
	s.health()
}

func testReinstall(s *server) {
	s.run("pressbox", "tokens", "create", "doorbell")
	s.run("apt-get", "remove", "--yes", "--quiet=2", "pressbox")
	_, err := s.request("GET", "/health", nil, nil)
	check.That(s.t, err != nil, "the port is open after the removal")
	for _, path := range []string{"/var/lib/pressbox/pressbox.db", "/etc/pressbox/pressbox.env"} {
		check.That(s.t, s.exists(path), "the removal deleted %s", path)
	}
	s.install(currentPackage(s.t))
	check.Contains(s.t, s.run("pressbox", "tokens", "list"), "doorbell", "the tokens after a reinstallation")
	s.checkSpeech()
}

func testPurge(s *server) {
	s.run("apt-get", "purge", "--yes", "--quiet=2", "pressbox")
	left := s.run("find", "/", "-xdev", "(", "-path", "/proc", "-o", "-path", "/sys", "-o", "-path", "/tmp", "-o",
		"-path", "/root", "-o", "-path", "/var/log", ")",
		"-prune", "-o", "-name", "*pressbox*", "-print")
	check.Equal(s.t, left, "", "what the purge left")
	units := s.run("systemctl", "list-units", "--all", "--no-legend", "pressbox*")
	check.Equal(s.t, units, "", "the units that the purge left")
	s.run("id", "pressbox") // the user stays, so that its number is not assigned again
}

// containsLine reports whether a line of text contains all words.
func containsLine(text string, words ...string) bool {
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			return true
		}
	}
	return false
}
