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
)

// losesPower cuts the power while announcements wait. When it is back, they are spoken,
// by the sound server that was set up before, and nobody had to do anything.
func losesPower(a *appliance) {
	var waiting []string
	for _, text := range []string{"One.", "Two.", "Three."} {
		var posted struct{ ID string }
		a.must("POST", "/notify", map[string]any{"message": text}, &posted)
		waiting = append(waiting, posted.ID)
	}
	a.cutPower()
	a.powerOn()
	for _, id := range waiting {
		a.spoken(id)
	}
	if got := a.journal("--boot", "--output=cat", "--unit=pressbox.service"); !strings.Contains(got, "the store was not closed properly and is checked") {
		a.t.Errorf("the store was not checked:\n%s", got)
	}
}

// sleeps has the daemon end when nobody asks, and its sockets wake it.
func sleeps(a *appliance) {
	a.run("sed", "-i", "s/^#EXIT_ON_IDLE=.*/EXIT_ON_IDLE=1/", settingsFile)
	a.run("systemctl", "restart", "pressbox.service")
	for range 2 {
		a.until("it sleeps", func() bool { return a.try("systemctl", "is-active", "pressbox.service") == "inactive" })
		a.health()
	}
	a.until("it sleeps", func() bool { return a.try("systemctl", "is-active", "pressbox.service") == "inactive" })
	a.run("pressbox", "log-level") // the administrator's socket wakes it, too
	a.run("sed", "-i", "s/^EXIT_ON_IDLE=.*/#EXIT_ON_IDLE=0/", settingsFile)
	a.run("systemctl", "restart", "pressbox.service")
}

// isRestored puts a backup back as "pressbox restore --help" says, as root.
func isRestored(a *appliance) {
	a.run("pressbox", "tokens", "create", "before")
	a.run("pressbox", "backup", "/root/before.db")
	a.run("pressbox", "tokens", "create", "after")
	if says := a.try("pressbox", "restore", "/root/before.db"); !strings.Contains(says, "a daemon runs: first stop it") {
		a.t.Errorf("restore does not say that a daemon runs: %s", says)
	}
	a.run("systemctl", "stop", "pressbox.socket", "pressbox-admin.socket", "pressbox")
	a.run("pressbox", "restore", "/root/before.db")
	a.run("systemctl", "start", "pressbox")
	list := a.run("pressbox", "tokens", "list")
	if !strings.Contains(list, "before") || strings.Contains(list, "after") {
		a.t.Errorf("these tokens are not those of the backup:\n%s", list)
	}
	for _, unit := range []string{"pressbox.socket", "pressbox-admin.socket"} {
		if active := a.try("systemctl", "is-active", unit); active != "active" {
			a.t.Errorf("%s is %s", unit, active)
		}
	}
	a.speaks()
}

// learnsAVoice installs a voice as root, on a machine whose root keeps files to itself;
// the daemon, which is another user, speaks with it at once.
func learnsAVoice(a *appliance) {
	const name = "en_US-copy-medium"
	a.sell(name, "127.0.0.1:9100")
	a.run("sh", "-c", "umask 077 && VOICES_URL=http://127.0.0.1:9100/voices.json pressbox voices install "+name)
	request := speechRequest("Play ball!")
	request["voice"] = name
	a.until("the new voice speaks", func() bool {
		_, err := a.ask("POST", "/v1/audio/speech", request, nil)
		return err == nil
	})
	a.run("rm", "-r", "/var/lib/pressbox/models/"+name+".onnx", "/var/lib/pressbox/models/"+name+".onnx.json")
}

// sell serves the bundled voice under another name at an address in the machine, in the
// layout of Piper's catalogue.
func (a *appliance) sell(name, address string) {
	a.t.Helper()
	files, about := map[string][]byte{}, map[string]any{}
	for shipped, sold := range map[string]string{".onnx": name + ".onnx", ".onnx.json": name + ".onnx.json", ".MODEL_CARD": "MODEL_CARD"} {
		content, err := os.ReadFile("../../models/en_US-pressbox-medium" + shipped)
		if err != nil {
			a.t.Fatal(err)
		}
		path, sum := filepath.Join("en/en_US/copy/medium", sold), md5.Sum(content)
		files["/"+path] = content
		about[path] = map[string]any{"size_bytes": len(content), "md5_digest": hex.EncodeToString(sum[:])}
	}
	index, err := json.Marshal(map[string]any{name: map[string]any{"language": map[string]string{"name_english": "English"}, "num_speakers": 1, "files": about}})
	if err != nil {
		a.t.Fatal(err)
	}
	files["/voices.json"] = index
	l, err := a.listen("tcp", address)
	if err != nil {
		a.t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(files[r.URL.Path]))
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	a.t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
}
