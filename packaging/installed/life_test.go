//go:build installed

package installed

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
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
	const units = "pressbox.service pressbox.socket pressbox-admin.socket " +
		"pressbox-wyoming.socket pressbox-esphome.socket"
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
	s.checkPlugins()
}

// checkPlugins checks that a client cannot have the sound server run a plugin in a folder that the service, or another
// program of its user, can write. In one that only root can write it is run, where clients may load modules at all.
func (s *server) checkPlugins() {
	s.t.Helper()
	const ran = "/run/pressbox-audio/ran"
	pactl := func(args ...string) string {
		return s.try(append([]string{
			"runuser", "--user=pressbox", "--", "pactl", "--server=unix:/run/pressbox-audio/native",
		}, args...)...)
	}
	const source = `#include <fcntl.h>
		__attribute__((constructor)) static void run(void) { creat("` + ran + `", 0600); }`
	plugin := filepath.Join(s.t.TempDir(), "plugin.so")
	run(s.t, commandTime, "sh", "-c", `printf %s "$0" | gcc -shared -fPIC -o "$1" -x c -`, source, plugin)
	const folders = "/usr/local/lib /var/lib/pressbox /var/lib/pressbox-audio /run/pressbox-audio /var/tmp /dev/shm"
	for folder := range strings.FieldsSeq(folders) {
		s.run("install", "--owner=pressbox", s.copyIn(plugin), folder)
		said := pactl("load-module", "module-ladspa-sink", "label=x", "plugin="+folder+"/plugin.so")
		may := folder == "/usr/local/lib" && !strings.Contains(said, "Access denied")
		check.Equal(s.t, s.exists(ran), may, "the sound server runs a plugin in %s (%s)", folder, said)
		s.run("rm", "--force", ran, folder+"/plugin.so")
	}
	denied := strings.Contains(pactl("load-module", "module-null-sink"), "Access denied")
	check.Equal(s.t, denied, s.systemd() >= 257, "clients cannot load modules")
	pactl("unload-module", "module-null-sink")
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
	resp := check.Must(s.Request("POST", "/v1/audio/speech", speechRequest("Play ball!"), nil))(s.t)
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
	_, err := s.Request("GET", "/health", nil, nil)
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

// testPowerCut kills the host while announcements wait. They are spoken after the next
// boot, without any further command.
func testPowerCut(s *server) {
	var waiting []string
	for _, text := range []string{"One.", "Two.", "Three."} {
		var posted struct{ ID string }
		s.mustRequest("POST", "/notify", map[string]any{"message": text}, &posted)
		waiting = append(waiting, posted.ID)
	}
	s.cutPower()
	s.powerOn()
	for _, id := range waiting {
		s.waitSpoken(id)
	}
	said := s.journal("--boot", "--output=cat", "--unit=pressbox.service")
	check.Contains(s.t, said, "unclean shutdown, store checked", "the log after a power cut")
}

// testExitOnIdle checks that the idle server exits and that its sockets start it again.
func testExitOnIdle(s *server) {
	s.run("sed", "-i", "s/^#EXIT_ON_IDLE=.*/EXIT_ON_IDLE=1/", settingsFile)
	s.run("systemctl", "restart", "pressbox.service")
	exited := func() bool { return s.try("systemctl", "is-active", "pressbox.service") == "inactive" }
	for range 2 {
		s.until("the server has exited", exited)
		s.health()
	}
	s.until("the server has exited", exited)
	s.run("pressbox", "log-level") // the administrator's socket starts it, too
	s.run("sed", "-i", "s/^EXIT_ON_IDLE=.*/#EXIT_ON_IDLE=0/", settingsFile)
	s.run("systemctl", "restart", "pressbox.service")
}

// testRestore restores a backup as "pressbox restore --help" describes, as root.
func testRestore(s *server) {
	s.run("pressbox", "tokens", "create", "before")
	s.run("pressbox", "backup", "/root/before.db")
	s.run("pressbox", "tokens", "create", "after")
	says := s.try("pressbox", "restore", "/root/before.db")
	check.Contains(s.t, says, "the server is running: stop it first", "a restore beside the server")
	s.run("systemctl", "stop", "pressbox*.socket", "pressbox")
	s.run("pressbox", "restore", "/root/before.db")
	s.run("systemctl", "start", "pressbox")
	list := s.run("pressbox", "tokens", "list")
	restored := strings.Contains(list, "before") && !strings.Contains(list, "after")
	check.That(s.t, restored, "these tokens are not those of the backup:\n%s", list)
	for _, unit := range []string{
		"pressbox.socket", "pressbox-admin.socket", "pressbox-wyoming.socket", "pressbox-esphome.socket",
	} {
		check.Equal(s.t, s.try("systemctl", "is-active", unit), "active", "the state of %s", unit)
	}
	s.checkSpeech()
}

// testVoiceInstall installs a voice as root with umask 077; the server, which is another user, uses it at once.
func testVoiceInstall(s *server) {
	const name = "en_US-copy-medium"
	s.serveVoice(name, "127.0.0.1:9100")
	s.run("sh", "-c", "umask 077 && VOICES_URL=http://127.0.0.1:9100/voices.json "+
		"pressbox voices install --insecure-http "+name)
	request := speechRequest("Play ball!")
	request["voice"] = name
	s.until("the new voice speaks", func() bool {
		_, err := s.Request("POST", "/v1/audio/speech", request, nil)
		return err == nil
	})
	s.run("rm", "-r", "/var/lib/pressbox/models/"+name+".onnx", "/var/lib/pressbox/models/"+name+".onnx.json")
}

// serveVoice serves the bundled voice under another name at an address on the host, in the layout of Piper's catalog.
func (s *server) serveVoice(name, address string) {
	s.t.Helper()
	files, about := map[string][]byte{}, map[string]any{}
	names := map[string]string{".onnx": name + ".onnx", ".onnx.json": name + ".onnx.json", ".MODEL_CARD": "MODEL_CARD"}
	for shipped, sold := range names {
		content := check.Must(os.ReadFile("../../models/en_US-heart-medium" + shipped))(s.t)
		path, sum := filepath.Join("en/en_US/copy/medium", sold), md5.Sum(content)
		files["/"+path] = content
		about[path] = map[string]any{"size_bytes": len(content), "md5_digest": hex.EncodeToString(sum[:])}
	}
	files["/voices.json"] = check.Must(json.Marshal(map[string]any{name: map[string]any{
		"language": map[string]string{"name_english": "English"}, "num_speakers": 1, "files": about,
	}}))(s.t)
	l := check.Must(s.listen("tcp", address))(s.t)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(files[r.URL.Path]))
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	s.t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
}

// testAdministrators checks that a member of the socket's group may administer and is named in the journal, and
// that another user may not, even if the mode of the socket is changed.
func testAdministrators(s *server) {
	const socket = "/run/pressbox/admin.sock"
	s.run("useradd", "--create-home", "--groups=adm", "alice")
	s.run("useradd", "--create-home", "bob")
	s.run("runuser", "--user=alice", "--", "pressbox", "log-level", "INFO")
	alice := s.run("id", "--user", "alice")
	check.Contains(s.t, s.journal("PRESSBOX_UID="+alice), "/admin/log-level", "the journal of alice, %s,", alice)
	s.checkSay()
	create := []string{"runuser", "--user=bob", "--", "pressbox", "tokens", "create", "door"}
	s.mustRefuse(1, "only root, the user pressbox and the group adm may administer", create...)
	s.run("chmod", "0666", socket)
	s.mustRefuse(4, "only root, the server's user and members of the administrator socket's group may administer",
		create...)
	s.run("chgrp", "bob", socket)
	s.run("runuser", "--user=bob", "--", "pressbox", "log-level")
	s.run("chgrp", "adm", socket)
	s.run("chmod", "0660", socket)
}

// checkSay checks that a member of the socket's group can announce where NOTIFY_ACCESS permits
// no one, and another user cannot.
func (s *server) checkSay() {
	s.t.Helper()
	s.run("sed", "-i", "s/^#NOTIFY_ACCESS=.*/NOTIFY_ACCESS=off/", settingsFile)
	s.run("systemctl", "restart", "pressbox.service")
	s.run("runuser", "--user=alice", "--", "pressbox", "say", "On the socket.")
	s.mustRefuse(4, "(403)", "runuser", "--user=bob", "--", "pressbox", "say", "Over the port.")
	s.run("sed", "-i", "s/^NOTIFY_ACCESS=.*/#NOTIFY_ACCESS=lan/", settingsFile)
	s.run("systemctl", "restart", "pressbox.service")
}

// mustRefuse checks the exit status and the message of a command that fails.
func (s *server) mustRefuse(code int, why string, args ...string) {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != code || !strings.Contains(string(out), why) {
		s.t.Errorf("%q: %v, want exit status %d and %q:\n%s", args, err, code, why, out)
	}
}

// testAddressFilter checks that clients with addresses of local networks are answered and
// others are not, unless the drop-in that the socket unit names admits them.
func testAddressFilter(s *server) {
	local := []string{"192.168.77.1", "10.77.0.1", "172.16.77.1", "169.254.77.1", "fd77::1"}
	internet := []string{"203.0.113.77", "100.64.77.1", "2001:db8:77::1"}
	for _, address := range append(local, internet...) {
		s.run("ip", "address", "add", address, "dev", "lo")
	}
	for _, address := range local {
		check.Equal(s.t, s.statusFrom(address, "60"), "200", "status from %s", address)
	}
	for _, address := range internet {
		check.Equal(s.t, s.statusFrom(address, "2"), "000", "status from %s", address)
	}
	const dropIn = "/etc/systemd/system/pressbox.socket.d/open.conf"
	restart := func() {
		s.run("systemctl", "daemon-reload")
		s.run("systemctl", "restart", "pressbox.socket", "pressbox.service")
	}
	s.write(dropIn, []byte("[Socket]\nIPAddressDeny=\nIPAddressAllow=\n"))
	restart()
	for _, address := range internet {
		check.Equal(s.t, s.statusFrom(address, "60"), "200", "status from %s with the drop-in", address)
	}
	s.run("rm", "-r", "/etc/systemd/system/pressbox.socket.d")
	restart()
}

// statusFrom returns the status of a request from an address of the host, or 000 if there
// is no answer within the given seconds.
func (s *server) statusFrom(address, patience string) string {
	return s.try("curl", "--silent", "--interface", address, "--max-time", patience, "--output", "/dev/null",
		"--write-out", "%{http_code}", "http://"+net.JoinHostPort(address, "8888")+"/health")
}

// testWallDisplay checks that the browser of the wall display counts as a client of the network,
// and another user of the host does not.
func testWallDisplay(s *server) {
	s.write("/etc/sysusers.d/pressbox-kiosk.conf", []byte("u pressbox-kiosk - \"Pressbox wall display\"\n"))
	s.run("systemd-sysusers", "pressbox-kiosk.conf")
	s.run("systemctl", "restart", "pressbox.service")
	const path = "/schedules" // no other part asks for it
	for user, client := range map[string]string{"pressbox-kiosk": "169.254.0.1", "daemon": "127.0.0.1"} {
		s.run("runuser", "--user", user, "--", "curl", "--silent", "--ipv4", "--request", "POST",
			"http://localhost:8888"+path)
		s.until("the log has a request of "+client, func() bool {
			_, request, _ := strings.Cut(s.journal("--unit=pressbox.service"), "path="+path)
			return strings.Contains(request, "client="+client+" ")
		})
	}
	s.run("userdel", "pressbox-kiosk")
	s.run("rm", "/etc/sysusers.d/pressbox-kiosk.conf")
	s.run("systemctl", "restart", "pressbox.service")
}

const (
	settingsFile = "/etc/pressbox/pressbox.env"
	avahiFile    = "/etc/avahi/services/pressbox.service"
	portDropIn   = "/etc/systemd/system/pressbox.socket.d/port.conf"
)

// testSetPort changes the port and changes it back while a client posts announcements.
func testSetPort(s *server) {
	s.run("apt-get", "install", "--yes", "--quiet=2", "avahi-daemon", "avahi-utils")
	s.run("sed", "-i", "s/^#QUEUE_MAX_SIZE=.*/QUEUE_MAX_SIZE=10000/", settingsFile)
	s.run("systemctl", "reload", "pressbox.service")
	s.run("sed", "-i", "s/^QUEUE_MAX_SIZE=.*/QUEUE_MAX_SIZE=many/", settingsFile)
	refused := s.try("sh", "-c", "systemctl reload pressbox.service || systemctl is-active pressbox.service")
	check.Contains(s.t, refused, "\nactive", "a reload with an invalid setting")
	s.run("sed", "-i", "s/^QUEUE_MAX_SIZE=.*/QUEUE_MAX_SIZE=10000/", settingsFile)
	shipped := s.run("cat", settingsFile, avahiFile)
	s.checkBadPorts()

	posts := s.startPosting()
	posts.waitAccepted()
	s.run("pressbox", "set-port", "9000")
	posts.waitAccepted()
	s.checkPorts(9000, 8888)
	config := s.run("pressbox", "config")
	check.That(s.t, containsLine(config, "PORT", "9000", settingsFile), "the settings do not say the port:\n%s", config)
	s.until("Avahi announces the port", func() bool {
		return containsLine(s.try("avahi-browse", "--terminate", "--resolve", "--parsable", "_http._tcp"), "Pressbox",
			";9000;")
	})
	s.until("Avahi announces the speaker", func() bool { // Avahi was installed after the server had started
		found := s.try("avahi-browse", "--terminate", "--resolve", "--parsable", "_esphomelib._tcp")
		return containsLine(found, "Pressbox", ";6053;", "mac=0200", "friendly_name=Pressbox")
	})
	s.run("runuser", "--user=bob", "--", "pressbox", "say", "A user without access to the settings can announce.")

	s.run("pressbox", "set-port", "8888")
	posts.waitAccepted()
	s.checkPorts(8888, 9000)
	check.Equal(s.t, s.run("cat", settingsFile, avahiFile), shipped, "the files after set-port 8888")
	check.That(s.t, !s.exists(portDropIn), "set-port 8888 leaves a drop-in")
	posts.finish()
	s.mustRequest("DELETE", "/notify", nil, nil)
	s.run("sed", "-i", "s/^QUEUE_MAX_SIZE=.*/#QUEUE_MAX_SIZE=50/", settingsFile)
	s.run("systemctl", "reload", "pressbox.service")
}

// checkBadPorts checks that set-port rejects unusable ports and changes nothing.
func (s *server) checkBadPorts() {
	s.t.Helper()
	before := s.run("cat", settingsFile, avahiFile)
	s.run("systemd-run", "--quiet", "--unit=other", "systemd-socket-activate", "--listen=9000", "true")
	s.until("another program listens", func() bool {
		return strings.Contains(s.run("ss", "-Hltn", "sport = :9000"), "9000")
	})
	for _, port := range []string{"0", "65536", "http"} {
		s.mustRefuse(2, "from 1 to 65535", "pressbox", "set-port", port)
	}
	s.mustRefuse(6, "in use by another program", "pressbox", "set-port", "9000")
	s.run("systemctl", "stop", "other.service")
	check.Equal(s.t, s.run("cat", settingsFile, avahiFile), before, "the files after a port that was refused")
	check.That(s.t, !s.exists(portDropIn), "a port that was refused leaves a drop-in")
	s.health()
}

// checkPorts checks that one port answers and the other refuses connections.
func (s *server) checkPorts(port, other int) {
	s.t.Helper()
	s.atPort(port).health()
	_, err := s.atPort(other).Request("GET", "/health", nil, nil)
	check.ErrorIs(s.t, err, syscall.ECONNREFUSED, "port %d", other)
	s.checkStatus(strconv.Itoa(port))
}

// atPort returns the server with requests to another port.
func (s *server) atPort(port int) *server {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return s.dial(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
	}
	at := newServer(s.host)
	at.Transport = &http.Transport{DialContext: dial, DisableKeepAlives: true}
	return at
}

// A poster posts announcements continuously. It repeats a request that was not answered,
// at the other port if one refuses, until it is accepted.
type poster struct {
	*server
	stop  chan struct{}
	ended chan struct{}
	sent  atomic.Int64 // accepted announcements

	// Read after it has ended.
	refused, cut int   // connections
	wrong        error // an unexpected error, which ends it
}

func (s *server) startPosting() *poster {
	p := &poster{server: s, stop: make(chan struct{}), ended: make(chan struct{})}
	go p.run()
	return p
}

func (p *poster) run() {
	defer close(p.ended)
	ports := []int{8888, 9000}
	for {
		select {
		case <-p.stop:
			return
		case <-time.After(10 * time.Millisecond):
		}
		var posted struct{ ID string }
		message := fmt.Sprintf("Announcement %d.", p.sent.Load()+1)
		_, err := p.atPort(ports[0]).Request("POST", "/notify", map[string]any{"message": message}, &posted,
			"Idempotency-Key", strconv.FormatInt(p.sent.Load(), 10))
		switch {
		case err == nil:
			p.sent.Add(1)
		case errors.Is(err, syscall.ECONNREFUSED):
			p.refused++
			ports[0], ports[1] = ports[1], ports[0]
		case errors.Is(err, syscall.ECONNRESET), strings.HasSuffix(err.Error(), "EOF"):
			p.cut++
		default:
			p.wrong = err
			return
		}
	}
}

// waitAccepted waits until 20 more announcements are accepted.
func (p *poster) waitAccepted() {
	p.t.Helper()
	enough := p.sent.Load() + 20
	p.until("more is accepted", func() bool {
		select {
		case <-p.ended:
			p.t.Fatalf("announcement %d: %v", p.sent.Load()+1, p.wrong)
		default:
		}
		return p.sent.Load() >= enough
	})
}

// finish stops posting and checks that every accepted announcement was saved once.
func (p *poster) finish() {
	p.t.Helper()
	close(p.stop)
	<-p.ended
	check.Require(p.t, p.wrong == nil, "announcement %d: %v", p.sent.Load()+1, p.wrong)
	type announcement struct{ Message string }
	var list struct{ Queue, Recent []announcement }
	p.mustRequest("GET", "/notify", nil, &list)
	times := make(map[string]int)
	for _, k := range append(list.Queue, list.Recent...) {
		times[k.Message]++
	}
	for n := range p.sent.Load() {
		check.Equal(p.t, times[fmt.Sprintf("Announcement %d.", n+1)], 1, "times that announcement %d is listed", n+1)
	}
	check.That(p.t, p.refused >= 2, "%d connections were refused, want at least one at each port", p.refused)
	p.t.Logf("%d announcements; %d connections were refused, %d cut off", p.sent.Load(), p.refused, p.cut)
}
