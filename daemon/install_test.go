package main

import (
	"bytes"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressbox/daemon/servertest"
)

// serveCatalog serves the bundled voice under another name, in the format of Piper's
// voices.json, and returns the catalog's URL.
func serveCatalog(t *testing.T, name string) (url string) {
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

// A running server speaks with a newly installed voice without a restart.
func TestVoicesInstall(t *testing.T) {
	t.Parallel()
	const name = "en_US-copy-medium"
	dir := t.TempDir()
	models := filepath.Join(dir, "voices")
	env := servertest.Environment(t, servertest.Silent, "MODEL_DIR="+models, "VOICES_URL="+serveCatalog(t, name), "DEFAULT_VOICE="+name)
	pressbox := func(args ...string) (string, error) {
		cmd := exec.Command("pressbox", args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	p := servertest.RunIn(t, dir, env)
	if out, err := pressbox("voices", "available", "en"); err != nil || !strings.HasPrefix(out, name+"  English, United States  ") {
		t.Errorf("available: %v, %s", err, out)
	}
	if out, err := pressbox("voices", "install", "en_US-coppy-medium"); err == nil || !strings.Contains(out, "similar names: "+name) {
		t.Errorf("a misspelled name: %v, %s", err, out)
	}
	out, err := pressbox("voices", "install", name)
	if err != nil {
		t.Fatalf("install: %v: %s", err, out)
	}
	for _, want := range []string{"licence: ", ".onnx: 100 % of ", "installed in " + models} {
		if !strings.Contains(out, want) || strings.Contains(out, "not stated") {
			t.Errorf("install does not print %q: %s", want, out)
		}
	}
	if !p.AwaitLog("voice=" + name) {
		t.Fatalf("the server has not found it:\n%s", p.Logged())
	}
	if out, err := pressbox("say", "--server", p.URL, "--out", "hello.wav", "Hello."); err != nil {
		t.Errorf("say: %v: %s\n%s", err, out, p.Logged())
	}
}
