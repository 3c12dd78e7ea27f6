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
	"pressbox/daemon/trust"
	"pressbox/daemon/trust/trusttest"
	"pressbox/packaging/check"
)

// serveCatalog serves the bundled voice under another name, in the format of Piper's
// voices.json, and returns the catalog's URL.
func serveCatalog(t *testing.T, name string) (url string) {
	t.Helper()
	files := map[string][]byte{}
	about := map[string]any{}
	for suffix, from := range map[string]string{".onnx": ".onnx", ".onnx.json": ".onnx.json", "": ".MODEL_CARD"} {
		content, err := os.ReadFile("../models/en_US-pressbox-medium" + from)
		check.NoError(t, err)
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
				"language":     map[string]string{"name_english": "English", "country_english": "United States"},
				"num_speakers": 1, "files": about,
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
	env := servertest.Environment(t, servertest.Silent,
		"MODEL_DIR="+models, "VOICES_URL="+serveCatalog(t, name), "DEFAULT_VOICE="+name)
	pressbox := func(args ...string) (string, error) {
		cmd := exec.Command("pressbox", args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	p := servertest.RunIn(t, dir, env)
	if out, err := pressbox("voices", "available", "--insecure-http", "en"); err != nil ||
		!strings.Contains(out, "\n"+name+"  English, United States  ") {
		t.Errorf("available: %v, %s", err, out)
	}
	if out, err := pressbox("voices", "install", "--insecure-http", "en_US-coppy-medium"); err == nil ||
		!strings.Contains(out, "similar names: "+name) {
		t.Errorf("a misspelled name: %v, %s", err, out)
	}
	out, err := pressbox("voices", "install", "--insecure-http", name)
	if err != nil {
		t.Fatalf("install: %v: %s", err, out)
	}
	for _, want := range []string{
		"license: ", ".onnx: 100 % of ", "installed in " + models + ", checked by MD5",
		"warning: VOICES_URL is not https",
	} {
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

// Root installs a voice as the user who controls MODEL_DIR: the files belong to that user,
// and a link of that user does not lead to a directory that only root may write.
func TestVoicesInstall_owner(t *testing.T) {
	t.Parallel()
	const name = "en_US-copy-medium"
	root := os.Geteuid() == 0
	url := serveCatalog(t, name)
	install := func(dir string) (string, error) {
		cmd := exec.Command("pressbox", "voices", "install", "--insecure-http", "--model-dir", dir, name)
		cmd.Dir, cmd.Env = t.TempDir(), servertest.Environment(t, "VOICES_URL="+url)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	reachable(t)
	theirs, private := t.TempDir(), t.TempDir()
	check.NoError(t, os.Chmod(private, 0o755))
	link := filepath.Join(theirs, "link")
	check.NoError(t, os.Symlink(private, link))
	trusttest.Give(t, theirs)

	models := filepath.Join(theirs, "new", "models")
	if out, err := install(models); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, file := range check.Must(os.ReadDir(models))(t) {
		owner := check.Must(trust.Owner(filepath.Join(models, file.Name())))(t)
		if want := os.Geteuid(); !root && int(owner.UID) != want || root && owner.UID != trusttest.Stranger {
			t.Errorf("%s belongs to %d", file.Name(), owner.UID)
		}
	}
	out, err := install(link)
	if written := check.Must(os.ReadDir(private))(t); root == (len(written) > 0) || root &&
		!strings.Contains(out, "permission denied") {
		t.Errorf("through a link, as root: %v: wrote %v, %v: %s", root, written, err, out)
	}
}

// reachable makes the temporary directories of the test accessible to other users.
func reachable(t *testing.T) {
	t.Helper()
	check.NoError(t, os.Chmod(filepath.Dir(t.TempDir()), 0o755))
}
