//go:build installed

package installed

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pressbox/packaging/check"
)

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
	s.run("systemctl", "stop", "pressbox.socket", "pressbox-admin.socket", "pressbox-wyoming.socket", "pressbox")
	s.run("pressbox", "restore", "/root/before.db")
	s.run("systemctl", "start", "pressbox")
	list := s.run("pressbox", "tokens", "list")
	restored := strings.Contains(list, "before") && !strings.Contains(list, "after")
	check.That(s.t, restored, "these tokens are not those of the backup:\n%s", list)
	for _, unit := range []string{"pressbox.socket", "pressbox-admin.socket", "pressbox-wyoming.socket"} {
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
		_, err := s.request("POST", "/v1/audio/speech", request, nil)
		return err == nil
	})
	s.run("rm", "-r", "/var/lib/pressbox/models/"+name+".onnx", "/var/lib/pressbox/models/"+name+".onnx.json")
}

// serveVoice serves the bundled voice under another name at an address on the host, in the
// layout of Piper's catalog.
func (s *server) serveVoice(name, address string) {
	s.t.Helper()
	files, about := map[string][]byte{}, map[string]any{}
	names := map[string]string{".onnx": name + ".onnx", ".onnx.json": name + ".onnx.json", ".MODEL_CARD": "MODEL_CARD"}
	for shipped, sold := range names {
		content := check.Must(os.ReadFile("../../models/en_US-pressbox-medium" + shipped))(s.t)
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
