package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

// The server's espeak-ng is confined and has none of the server's secrets.
func TestServe_confinesEspeak(t *testing.T) {
	t.Parallel()
	p := servertest.Run(t, servertest.Silent, "IDP_CLIENT_SECRET=hidden")
	awaitSpeech(t, p)
	dirs, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.Cmd.Process.Pid))
	check.NoError(t, err)
	var children []string
	for _, path := range dirs {
		pids, err := os.ReadFile(path)
		if err != nil {
			continue // a thread that has ended
		}
		children = append(children, strings.Fields(string(pids))...)
	}
	if len(children) != 1 {
		t.Fatalf("children %v, want espeak-ng", children)
	}
	environment, err := os.ReadFile("/proc/" + children[0] + "/environ")
	if err != nil || strings.Contains(string(environment), "SECRET") ||
		!strings.Contains(string(environment), "LANG=C.UTF-8") {
		t.Errorf("environment of espeak-ng: %q, %v", environment, err)
	}
	status, err := os.ReadFile("/proc/" + children[0] + "/status")
	if err != nil || !strings.Contains(string(status), "Seccomp:\t2\n") {
		t.Errorf("espeak-ng is not confined: %v\n%s", err, status)
	}
}

// awaitSpeech requests speech, again while the host is too slow for it.
func awaitSpeech(t *testing.T, p *servertest.Process) {
	t.Helper()
	for begun := time.Now(); ; {
		res, err := http.Post(p.URL+"/v1/audio/speech", "application/json",
			strings.NewReader(`{"input": "Hello", "model": "any", "voice": "en_US-pressbox-medium"}`))
		check.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		switch {
		case err != nil:
			t.Fatal(err)
		case res.StatusCode == http.StatusOK:
			return
		case res.StatusCode != http.StatusServiceUnavailable || time.Since(begun) > servertest.MaxWait:
			t.Fatalf("speech: status %d: %s; log: %s", res.StatusCode, body, p.Logged())
		}
	}
}
