package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"pressbox/daemon/servertest"
	"pressbox/daemon/trust/trusttest"
	"pressbox/packaging/check"
)

// runHostile runs a command in a directory that another user wrote, and returns what it
// printed to its output and to its errors. Settings of the test are not in its environment.
func runHostile(t *testing.T, dir string, args ...string) (out, errs string) {
	t.Helper()
	trusttest.Give(t, dir)
	cmd := exec.Command("pressbox", args...)
	cmd.Dir = dir
	// nothing leaves the host
	for _, value := range append(os.Environ(), servertest.Silent, "HTTPS_PROXY=http://127.0.0.1:1") {
		if !strings.HasPrefix(value, "ONNXRUNTIME_LIB=") {
			cmd.Env = append(cmd.Env, value)
		}
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	printed, err := cmd.Output()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	return string(printed), stderr.String()
}

// checkIgnored fails the test unless root's command reported that it ignored .env, and
// another user's did not.
func checkIgnored(t *testing.T, dir, errs string) {
	t.Helper()
	reported := strings.Contains(errs, "pressbox: ignored "+filepath.Join(dir, ".env")+": ") &&
		strings.Contains(errs, "not to root")
	if root := os.Geteuid() == 0; reported != root {
		t.Errorf("reported that .env is ignored: %v, want %v: %s", reported, root, errs)
	}
}

func writeDotenv(t *testing.T, dir, format string, args ...any) {
	t.Helper()
	check.NoError(t, os.WriteFile(filepath.Join(dir, ".env"), fmt.Appendf(nil, format, args...), 0o644))
}

// A library that another user's .env names is not loaded by root's doctor.
func TestHostileEnv_library(t *testing.T) {
	t.Parallel()
	servertest.Settings(t)
	dir := t.TempDir()
	library, source := filepath.Join(dir, "evil.so"), filepath.Join(dir, "evil.c")
	const code = `#include <stdio.h>
__attribute__((constructor)) static void run(void) { FILE *f = fopen("owned", "w"); if (f) fclose(f); }`
	check.NoError(t, os.WriteFile(source, []byte(code), 0o600))
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v: %s", err, out)
	}
	writeDotenv(t, dir, "ONNXRUNTIME_LIB=%s\n", library)
	out, errs := runHostile(t, dir, "doctor")
	checkIgnored(t, dir, errs)
	_, err := os.Stat(filepath.Join(dir, "owned"))
	if root := os.Geteuid() == 0; root != errors.Is(err, os.ErrNotExist) || root == strings.Contains(out, library) {
		t.Errorf("the library ran: %v; as root: %v\n%s", err == nil, root, out)
	}
}

// Root's commands do not administer through the socket of another user's server: neither
// one that .env names nor one in the working directory.
func TestHostileEnv_socket(t *testing.T) {
	t.Parallel()
	servertest.Settings(t)
	for _, where := range []string{"elsewhere", "state"} {
		dir := t.TempDir()
		state := filepath.Join(dir, where)
		check.NoError(t, os.Mkdir(state, 0o700))
		writeDotenv(t, dir, "STATE_DIR=%s\n", state)
		serveHostile(t, filepath.Join(state, "admin.sock"))
		out, errs := runHostile(t, dir, "users", "reset", "Alice")
		checkIgnored(t, dir, errs)
		if root := os.Geteuid() == 0; root == strings.Contains(out, "chosen by the attacker") {
			t.Errorf("%s: as root: %v; printed %q, %s", where, root, out, errs)
		}
	}
}

// serveHostile serves another user's administrator's socket.
func serveHostile(t *testing.T, path string) {
	t.Helper()
	l := trusttest.Listen(t, path)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"passphrase":"chosen by the attacker"}`)
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close() // Serve returns an error
		<-served
	})
}

// A catalog and a directory that another user's .env names are not used to write voices.
func TestHostileEnv_voices(t *testing.T) {
	t.Parallel()
	servertest.Settings(t)
	const name = "en_US-copy-medium"
	dir, target := t.TempDir(), t.TempDir()
	writeDotenv(t, dir, "VOICES_URL=%s\nMODEL_DIR=%s\n", serveCatalog(t, name), target)
	_, errs := runHostile(t, dir, "voices", "install", "--insecure-http", name)
	checkIgnored(t, dir, errs)
	files, err := os.ReadDir(target)
	if root := os.Geteuid() == 0; err != nil || root == (len(files) > 0) {
		t.Errorf("as root: %v; written: %v, %v", root, files, err)
	}
}

// A client on this host connects to an address, not to a name: what a resolver returns for
// localhost does not count.
func TestSay_withoutResolver(t *testing.T) {
	t.Parallel()
	var asked atomic.Value // the host of the last request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Host)
		_, _ = io.WriteString(w, `{"voices":[]}`)
	}))
	t.Cleanup(server.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	for _, host := range []string{"0.0.0.0", "localhost"} {
		cmd := exec.Command("pressbox", "voices")
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PORT="+port, "HOST="+host, "PRESSBOX_URL=")
		if out, err := cmd.CombinedOutput(); err != nil || asked.Load() != "127.0.0.1:"+port {
			t.Errorf("HOST=%s: requested from %q, %v: %s", host, asked.Load(), err, out)
		}
	}
}
