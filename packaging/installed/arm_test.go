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
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// emulated is long, as an emulator on a busy machine is slow.
const emulated = 10 * time.Minute

// emulator runs a program for another architecture: as Debian calls that, and with the
// oldest processor that the package is for.
func emulator(arch string) []string {
	return map[string][]string{
		"arm64": {"qemu-aarch64-static", "-cpu", "cortex-a53", "-L", "/usr/aarch64-linux-gnu"},
		"armhf": {"qemu-arm-static", "-cpu", "cortex-a7", "-L", "/usr/arm-linux-gnueabihf"},
	}[arch]
}

// The programs of the packages for arm, under an emulator of a Raspberry Pi's processor,
// write the same samples into a file as this machine's. Rounding differs where a sum is
// taken in another order.
func TestArmSaysTheSame(t *testing.T) {
	t.Parallel()
	if native(t) != "amd64" {
		t.Fatal("amd64 is what arm is compared with: this test needs an amd64")
	}
	state := t.TempDir()
	const text = "Dinner is ready."
	// The voice is calibrated by the first and kept in the store, so that all speak with
	// the same calibration.
	want := speech(t, unpack(t, current(t)), state, text)
	for _, arch := range []string{"arm64", "armhf"} {
		got := speech(t, unpack(t, packageFor(t, arch)), state, text, emulator(arch)...)
		if len(got) != len(want) || len(want) < rate/2 {
			t.Fatalf("%s says %d samples, amd64 %d", arch, len(got), len(want))
		}
		farthest := 0
		for i := range want {
			farthest = max(farthest, max(int(got[i])-int(want[i]), int(want[i])-int(got[i])))
		}
		if farthest > 4 {
			t.Errorf("samples of %s differ by up to %d, want at most 4", arch, farthest)
		}
		t.Logf("%d samples of %s differ by up to %d", len(want), arch, farthest)
	}
}

// What the package refuses to be installed on, it could not run on.
func TestArmhfNeedsAnARMv7(t *testing.T) {
	t.Parallel()
	root := unpack(t, packageFor(t, "armhf"))
	for processor, runs := range map[string]bool{"arm1176": false, "cortex-a7": true} {
		out, err := exec.Command("qemu-arm-static", "-cpu", processor, "-L", "/usr/arm-linux-gnueabihf", filepath.Join(root, "usr/bin/pressbox"), "version").CombinedOutput()
		if (err == nil) != runs {
			t.Errorf("on an %s: %v, want that it runs: %v\n%s", processor, err, runs, out)
		}
	}
}

// speech runs the daemon of an unpacked package, by a command if one is given, and
// returns what "pressbox say" writes of a text into a file.
func speech(t *testing.T, root, state, text string, by ...string) []int16 {
	t.Helper()
	// ONNX Runtime in an emulator must not see this machine's processors.
	args := append([]string{
		"--mount", "sh", "-euc", `mount -t tmpfs none /sys/devices/system/cpu; exec "$@"`, "sh",
	}, by...)
	program := append(args, filepath.Join(root, "usr/bin/pressbox"))
	cmd := exec.Command("unshare", append(slices.Clip(program), "serve")...)
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
	fetch(t, address, ".") // until the voice is loaded
	file := filepath.Join(t.TempDir(), "said.wav")
	run(t, emulated, append(append([]string{"unshare"}, program...), "say", "--server", address, "--out", file, text)...)
	return samplesIn(t, file)
}

// samplesIn reads the only chunk of sound of a WAV file.
func samplesIn(t *testing.T, file string) []int16 {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := bytes.Cut(content, []byte("data"))
	if !found || len(rest) < 4 || !bytes.HasPrefix(content, []byte("RIFF")) {
		t.Fatalf("%s is no WAV file: %d bytes", file, len(content))
	}
	return decoded(rest[4:])
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
