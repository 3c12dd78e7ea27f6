package main

import (
	"bytes"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sell serves the bundled voice under another name, in the layout of Piper's
// catalogue.
func sell(t *testing.T, name string) (address string) {
	t.Helper()
	files := map[string][]byte{}
	about := map[string]any{}
	for suffix, from := range map[string]string{".onnx": ".onnx", ".onnx.json": ".onnx.json", "": ".MODEL_CARD"} {
		content, err := os.ReadFile("../models/en_US-pressbox-medium" + from)
		if err != nil {
			t.Fatal(err)
		}
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
				"language": map[string]string{"name_english": "English", "country_english": "United States"}, "num_speakers": 1, "files": about,
			}})
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(files[r.URL.Path]))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/voices.json"
}

// A voice that is installed speaks at once, without a restart.
func TestAnInstalledVoiceSpeaksAtOnce(t *testing.T) {
	t.Parallel()
	const name = "en_US-copy-medium"
	dir := t.TempDir()
	models := filepath.Join(dir, "voices")
	env := append(environment(t), "PULSE_SERVER=unix:/nowhere", "MODEL_DIR="+models, "VOICES_URL="+sell(t, name), "DEFAULT_VOICE="+name)
	pressbox := func(args ...string) (string, error) {
		cmd := exec.Command("pressbox", args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	p := runProcess(t, dir, env)
	if out, err := pressbox("voices", "available", "en"); err != nil || !strings.HasPrefix(out, name+"  English, United States  ") {
		t.Errorf("available: %v, %s", err, out)
	}
	if out, err := pressbox("voices", "install", "en_US-coppy-medium"); err == nil || !strings.Contains(out, "the nearest names are "+name) {
		t.Errorf("a wrong name: %v, %s", err, out)
	}
	out, err := pressbox("voices", "install", name)
	if err != nil {
		t.Fatalf("install: %v: %s", err, out)
	}
	for _, want := range []string{"licence: ", ".onnx: 100 % of ", "installed in " + models} {
		if !strings.Contains(out, want) || strings.Contains(out, "not stated") {
			t.Errorf("install says no %q: %s", want, out)
		}
	}
	if !p.awaitLog("voice=" + name) {
		t.Fatalf("the daemon has not found it:\n%s", p.logged())
	}
	if out, err := pressbox("say", "--server", p.url, "--out", "heard.wav", "Hello."); err != nil {
		t.Errorf("say: %v: %s\n%s", err, out, p.logged())
	}
}

// A daemon that has nothing to do ends, and its socket stays for the next request.
func TestAnIdleDaemonEndsWhereItCanBeWoken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	wake := func() *process {
		cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ exec pressbox serve`)
		cmd.Dir = dir
		cmd.Env = append(environment(t), "PULSE_SERVER=unix:/nowhere", "LISTEN_FDS=1", "LISTEN_FDNAMES=http", "EXIT_ON_IDLE=1")
		cmd.ExtraFiles = []*os.File{file}
		p, err := startCommand(cmd)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for range 2 {
		answered := make(chan error, 1)
		go func() {
			resp, err := http.Get("http://" + l.Addr().String() + "/health")
			if err == nil {
				err = resp.Body.Close()
			}
			answered <- err
		}()
		for asked := true; asked; { // it may end before the question comes, and is then woken by it
			p := wake()
			select {
			case err := <-answered:
				if asked = false; err != nil {
					t.Fatal(err)
				}
				<-p.ended
			case <-p.ended:
			}
			if p.err != nil || !strings.Contains(p.logged(), `msg="idle: ending until somebody asks"`) {
				t.Errorf("it ended with %v:\n%s", p.err, p.logged())
			}
		}
	}
	alone := runProcess(t, t.TempDir(), append(environment(t), "PULSE_SERVER=unix:/nowhere", "EXIT_ON_IDLE=1"))
	if !alone.awaitLog(`msg="EXIT_ON_IDLE is ignored: no socket was inherited"`) {
		t.Error(alone.logged())
	}
}
