//go:build installed

// Package installed tries the package as a household meets it: installed with apt on
// a Debian that was booted, woken by its first client, restarted under others, killed,
// upgraded, removed. It needs root, and what "make test-package" installs and builds.
package installed

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestABareDebianBoots says whether anything can be tried here.
func TestABareDebianBoots(t *testing.T) { boot(t, "bookworm") }

func TestDebian12(t *testing.T) { live(t, "bookworm") }

func TestDebian13(t *testing.T) { live(t, "trixie") }

// live is the life of an appliance, from its first installation to the day when it
// is sold.
func live(t *testing.T, suite string) {
	t.Helper()
	a := newAppliance(boot(t, suite))
	for _, part := range []struct {
		name string
		do   func(a *appliance)
		long bool // not for a quick run
	}{
		{"It installs with apt and is ready", installs, false},
		{"An upgrade refuses no one and loses no move", upgrades, false},
		{"It is hardened", isHardened, false},
		{"What its sandbox forbids is refused", isConfined, false},
		{"Who may administer does, and nobody else", isAdministered, false},
		{"It answers the house and not the internet", answersTheHouse, false},
		{"It moves to another port and back", movesPort, false},
		{"A secret comes as a credential", hasSecret, false},
		{"Its first client wakes it", wakes, false},
		{"What is announced is heard", isHeard, false},
		{"It is heard by the sound server of who is logged in", isHeardInASession, true},
		{"It loses power and goes on", losesPower, true},
		{"It sleeps when nobody asks", sleeps, true},
		{"It learns another voice", learnsAVoice, true},
		{"A backup is put back", isRestored, true},
		{"Its journal can be asked", isLogged, false},
		{"A restart refuses no one", restarts, false},
		{"What is killed comes back", isKilled, false},
		{"What hangs is restarted", hangs, false},
		{"What is removed comes back as it was", isReinstalled, false},
		{"What is purged is gone", isPurged, false},
	} {
		if part.long && testing.Short() {
			continue
		}
		if !t.Run(part.name, func(t *testing.T) { part.do(a.on(t)) }) {
			break
		}
	}
}

func installs(a *appliance) {
	a.install(built(a.t, "~previous"))
	for _, unit := range []string{"pressbox.service", "pressbox.socket", "pressbox-admin.socket"} {
		if active, enabled := a.try("systemctl", "is-active", unit), a.try("systemctl", "is-enabled", unit); active != "active" || enabled != "enabled" {
			a.t.Errorf("%s is %s and %s, want active and enabled", unit, active, enabled)
		}
	}
	if got := a.run("stat", "--format=%U:%G %a", "/etc/pressbox/pressbox.env", "/var/lib/pressbox", "/run/pressbox/admin.sock"); got !=
		"root:pressbox 640\npressbox:pressbox 700\nroot:adm 660" {
		a.t.Errorf("owners and modes of the settings, the state and the administrator's socket are\n%s", got)
	}
	// Edited now, so that the upgrade has something to keep.
	a.run("sed", "-i", "s/^#VOLUME=.*/VOLUME=90/", "/etc/pressbox/pressbox.env")
	a.speaks()
}

func upgrades(a *appliance) {
	game := a.play()
	r := a.underLoad(func() { a.install(current(a.t)) })
	r.refusedNone(a.t)
	game.finish()
	if got := a.health().Version; got != version(a.t) {
		a.t.Errorf("after the upgrade version %s answers, want %s", got, version(a.t))
	}
	if got := a.run("pressbox", "config"); !containsLine(got, "VOLUME", "90", "pressbox.env") {
		a.t.Errorf("the edited settings did not survive:\n%s", got)
	}
}

func isHardened(a *appliance) {
	verdict := a.run("systemd-analyze", "security", "--no-pager", "--threshold=15", "pressbox.service") // it fails above 1.5
	a.t.Log(verdict[strings.LastIndex(verdict, "Overall"):])
	a.speaks() // everything that it is for works under it
	if denied := a.journal("--unit=pressbox.service", "--priority=err"); denied != "-- No entries --" {
		a.t.Errorf("errors are logged:\n%s", denied)
	}
}

func hasSecret(a *appliance) {
	const given = "/run/credentials/pressbox.service/idp_client_secret"
	if a.exists(given) {
		a.t.Error("there is a credential that nobody gave")
	}
	a.write("/etc/credstore/idp_client_secret", []byte("between us"))
	a.run("systemctl", "restart", "pressbox.service")
	if got := a.run("cat", given); got != "between us" {
		a.t.Errorf("the credential is %q", got)
	}
	a.health()
}

func wakes(a *appliance) {
	a.run("systemctl", "stop", "pressbox.service")
	began := time.Now()
	a.health()
	a.t.Logf("first answer after a cold activation: %v", time.Since(began))
	a.speaks()
	a.t.Logf("resident memory with a voice: %s", a.memory())
	if got := a.run("systemctl", "show", "--property=StatusText", "pressbox.service"); !strings.Contains(got, "8888") {
		a.t.Errorf("systemctl status says %q, want the port", got)
	}
}

// isHeard sets up sound as the README says for a machine without a desktop, and
// records what comes out of it.
func isHeard(a *appliance) {
	a.run("pressbox", "setup-audio", "headless")
	a.speaksThrough("pressbox")
}

// speaksThrough checks that what is announced is heard at the sound server of a user.
func (a *appliance) speaksThrough(name string) {
	a.t.Helper()
	a.until("the sound server of "+name+" is there", func() bool {
		return a.try("stat", "--format=%U", "/run/pressbox-audio/native") == name && a.health().Status == "ok"
	})
	a.until("the voice is calibrated", a.calibrated) // from then on it says a text in the same way every time
	const text = "Dinner is ready. Please come down, all of you."
	want := a.speech(text)
	var wrong error
	for range 6 { // a busy machine stutters, as nothing in it has realtime priority
		if wrong = a.hears(text, want); wrong == nil {
			return
		}
		a.t.Log(wrong)
	}
	a.t.Error(wrong)
}

// hears announces a text, and says what is wrong with what is heard of it.
func (a *appliance) hears(text string, want []int16) error {
	a.t.Helper()
	recording := a.record()
	a.announce(text)
	got := a.stop(recording)
	begin, end := audible(got)
	first, last := audible(want)
	lasts, should := seconds(end-begin), seconds(last-first)
	if lasts < should-0.1 || lasts > should+1 {
		return fmt.Errorf("what is heard lasts %.2f s, the speech %.2f s", lasts, should)
	}
	alike := likeness(got[begin:end], want[first:last])
	a.t.Logf("what is heard correlates with the speech by %.3f", alike)
	if alike < 0.9 {
		return errors.New("that is another sound")
	}
	return nil
}

func isLogged(a *appliance) {
	since := a.now()
	a.run("systemctl", "restart", "pressbox.service")
	a.logged(since, "listening")
	const explained = "The daemon is ready and answers at PRESSBOX_URL, http://localhost:8888."
	if got := a.journal("--catalog", "--after-cursor="+since, "--unit=pressbox.service"); !strings.Contains(got, explained) {
		a.t.Errorf("the journal does not explain itself: %q is not in\n%s", explained, got)
	}
	resp, err := a.ask("POST", "/v1/audio/speech", speechRequest("Play ball!"), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	id := resp.Header.Get("X-Request-Id")
	if got := a.journal("--output=verbose", "PRESSBOX_REQUEST_ID="+id); !strings.Contains(got, "/v1/audio/speech") {
		a.t.Errorf("request %q is not found in the journal by its id: %s", id, got)
	}
}

func restarts(a *appliance) {
	for range 3 {
		r := a.underLoad(func() { a.run("systemctl", "restart", "pressbox.service") })
		r.refusedNone(a.t)
	}
}

func isKilled(a *appliance) {
	since := a.now()
	var dead time.Time
	r := a.underLoad(func() {
		a.run("systemctl", "kill", "--kill-whom=main", "--signal=SIGKILL", "pressbox.service")
		a.logged(since, "Main process exited")
		dead = time.Now()
		a.logged(since, "Started pressbox.service")
	})
	r.refusedNoneSince(a.t, dead) // it had taken the requests of others before
	a.speaks()
}

// hangs lets the daemon's worker stop without ending, which only a build for this
// test can.
func hangs(a *appliance) {
	a.install(built(a.t, "+hang"))
	a.write("/run/systemd/system/pressbox.service.d/impatient.conf", []byte("[Service]\nWatchdogSec=15s\n"))
	a.run("systemctl", "daemon-reload")
	a.run("systemctl", "restart", "pressbox.service")
	a.health()
	since := a.now()
	a.run("systemctl", "kill", "--kill-whom=main", "--signal=SIGUSR2", "pressbox.service")
	a.must("POST", "/notify", map[string]any{"message": "This is not said."}, nil)
	a.logged(since, "Watchdog timeout")
	a.logged(since, "goroutine ") // where everybody stood
	a.logged(since, "Started pressbox.service")
	a.health()
}

func isReinstalled(a *appliance) {
	a.run("pressbox", "tokens", "create", "doorbell")
	a.run("apt-get", "remove", "--yes", "--quiet=2", "pressbox")
	if _, err := a.ask("GET", "/health", nil, nil); err == nil {
		a.t.Error("the port is open after the removal")
	}
	for _, path := range []string{"/var/lib/pressbox/pressbox.db", "/etc/pressbox/pressbox.env"} {
		if !a.exists(path) {
			a.t.Errorf("the removal took %s", path)
		}
	}
	a.install(current(a.t))
	if got := a.run("pressbox", "tokens", "list"); !strings.Contains(got, "doorbell") {
		a.t.Errorf("the token is not there any more:\n%s", got)
	}
	a.speaks()
}

func isPurged(a *appliance) {
	a.run("apt-get", "purge", "--yes", "--quiet=2", "pressbox")
	left := a.run("find", "/", "-xdev", "(", "-path", "/proc", "-o", "-path", "/sys", "-o", "-path", "/tmp", "-o", "-path", "/root", "-o", "-path", "/var/log", ")",
		"-prune", "-o", "-name", "*pressbox*", "-print")
	if left != "" {
		a.t.Errorf("the purge left\n%s", left)
	}
	if a.run("systemctl", "list-units", "--all", "--no-legend", "pressbox*") != "" {
		a.t.Error("the purge left units")
	}
	a.run("id", "pressbox") // stays, so that nobody else is given its number
}

// containsLine says whether a line of text contains all words.
func containsLine(text string, words ...string) bool {
	for line := range strings.Lines(text) {
		all := true
		for _, word := range words {
			all = all && strings.Contains(line, word)
		}
		if all {
			return true
		}
	}
	return false
}
