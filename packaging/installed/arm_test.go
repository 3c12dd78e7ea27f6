//go:build installed

package installed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// emulated is long, as an emulator on a busy machine is slow.
const emulated = 10 * time.Minute

// The program of the arm64 package, under an emulator, says the same samples as
// this machine's. Rounding differs where a sum is taken in another order.
func TestArm64SaysTheSame(t *testing.T) {
	t.Parallel()
	if native(t) != "amd64" {
		t.Fatal("amd64 is what arm64 is compared with: this test needs an amd64")
	}
	state := t.TempDir()
	const text = "Dinner is ready."
	// The voice is calibrated by the first and kept in the store, so that both
	// speak with the same calibration.
	want := speech(t, unpack(t, current(t)), state, text)
	arm := unpack(t, strings.Replace(current(t), "_amd64", "_arm64", 1))
	got := speech(t, arm, state, text, "qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu")
	if len(got) != len(want) || len(want) < rate/2 {
		t.Fatalf("the one says %d samples, the other %d", len(got), len(want))
	}
	farthest := 0
	for i := range want {
		farthest = max(farthest, max(int(got[i])-int(want[i]), int(want[i])-int(got[i])))
	}
	if farthest > 4 {
		t.Errorf("samples differ by up to %d, want at most 4", farthest)
	}
	t.Logf("%d samples differ by up to %d", len(want), farthest)
}

// speech runs the daemon of an unpacked package, by a command if one is given, and
// returns what it makes of a text.
func speech(t *testing.T, root, state, text string, by ...string) []int16 {
	t.Helper()
	// ONNX Runtime in an emulator must not see this machine's processors.
	args := append([]string{
		"--mount", "sh", "-euc", `mount -t tmpfs none /sys/devices/system/cpu; exec "$@"`, "sh",
	}, by...)
	cmd := exec.Command("unshare", append(args, filepath.Join(root, "usr/bin/pressbox"), "serve")...)
	cmd.Dir = state
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "PORT=0", "HOST=127.0.0.1", "STATE_DIR=" + state, "PULSE_SERVER=unix:" + state + "/none",
		"MODEL_DIR=" + bundledAlone(t, root), "ONNXRUNTIME_LIB=" + filepath.Join(root, "usr/lib/pressbox/libonnxruntime.so"),
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		go func() { _, _ = io.Copy(io.Discard, said) }()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}()
	stop := time.AfterFunc(emulated, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	address, err := listening(said)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	return decoded(fetch(t, address, text))
}

// bundledAlone is a folder with the bundled voice of an unpacked package and no
// other, which would be calibrated meanwhile.
func bundledAlone(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	for _, suffix := range []string{".onnx", ".onnx.json"} {
		name := "en_US-pressbox-medium" + suffix
		if err := os.Symlink(filepath.Join(root, "usr/share/pressbox/models", name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// listening is the address that a daemon says it listens on.
func listening(said io.Reader) (address string, err error) {
	var all strings.Builder
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if _, address, found := strings.Cut(lines.Text(), "url="); found {
			return strings.Trim(address, `"`), nil
		}
	}
	return "", errors.New("the daemon does not listen:\n" + all.String())
}

// fetch is the PCM of a text, asked for until the voice is loaded.
func fetch(t *testing.T, address, text string) []byte {
	t.Helper()
	body, err := json.Marshal(speechRequest(text))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(emulated); ; {
		resp, err := http.Post(address+"/v1/audio/speech", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		switch {
		case err == nil && resp.StatusCode == http.StatusOK:
			return answer
		case resp.StatusCode != http.StatusServiceUnavailable || time.Now().After(deadline):
			t.Fatalf("speech: status %d: %s (%v)", resp.StatusCode, answer, err)
		}
		<-time.After(time.Second)
	}
}
