//go:build installed

package installed

import (
	"bufio"
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// nativeArch returns Debian's name of the local architecture.
func nativeArch(t *testing.T) string {
	t.Helper()
	return run(t, commandTime, "dpkg", "--print-architecture")
}

// currentPackage returns the package for the local architecture.
func currentPackage(t *testing.T) string {
	t.Helper()
	return packageFor(t, nativeArch(t))
}

// packageFor returns the package for an architecture, given as Debian's name.
func packageFor(t *testing.T, arch string) string {
	t.Helper()
	return "../../dist/pressbox_" + version(t) + "_" + arch + ".deb"
}

// packages returns all packages, in -short mode only the local one.
func packages(t *testing.T) []string {
	t.Helper()
	if testing.Short() {
		return []string{currentPackage(t)}
	}
	return []string{packageFor(t, "amd64"), packageFor(t, "arm64"), packageFor(t, "armhf")}
}

// testPackage returns a package that is built only for these tests: "~previous" has an older version.
func testPackage(t *testing.T, suffix string) string {
	t.Helper()
	return "../../.build/installed/pressbox_" + version(t) + suffix + "_" + nativeArch(t) + ".deb"
}

// version returns the newest version in the changelog.
func version(t *testing.T) string {
	t.Helper()
	content := check.Must(os.ReadFile("../../CHANGELOG.md"))(t)
	for line := range strings.Lines(string(content)) {
		if entry, ok := strings.CutPrefix(line, "## "); ok {
			number, _, _ := strings.Cut(entry, " ")
			return number
		}
	}
	t.Fatal("the changelog has no entry")
	return ""
}

// unpack returns the folder to which a package was unpacked.
func unpack(t *testing.T, deb string) string {
	t.Helper()
	dir := t.TempDir()
	run(t, commandTime, "dpkg-deb", "--extract", deb, dir)
	return dir
}

// Two builds of the same sources are identical, in different folders and on different
// days. The copy has no history, so that its commit is passed to it.
func TestPackage_isReproducible(t *testing.T) {
	t.Parallel()
	elsewhere := filepath.Join(t.TempDir(), "sources")
	run(t, commandTime, "sh", "-c", "mkdir $0 && tar -C ../.. --exclude=./.build --exclude=./bin --exclude=./dist "+
		"--exclude=./.git -c . | tar -C $0 -x", elsewhere)
	revision := "PRESSBOX_REVISION=" + run(t, commandTime, "../revision")
	run(t, buildTime, "env", revision, filepath.Join(elsewhere, "packaging/deb/build"), version(t), nativeArch(t))
	again := filepath.Join(elsewhere, "dist", filepath.Base(currentPackage(t)))
	check.Equal(t, sha256Of(t, again), sha256Of(t, currentPackage(t)), "the checksum of the second build")
}

func TestPackage_passesLintian(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("lintian", append([]string{"--allow-root", "--fail-on=error,warning"},
		packages(t)...)...).CombinedOutput()
	check.That(t, err == nil && !strings.Contains(string(out), "O: "), "lintian: %v\n%s", err, out)
}

// On a Raspberry Pi 1 or Zero, the installation fails with a message that names ARMv6.
func TestPackage_rejectsARMv6(t *testing.T) {
	t.Parallel()
	for _, deb := range packages(t) {
		dir := t.TempDir()
		run(t, commandTime, "dpkg-deb", "--control", deb, dir)
		for _, tt := range []struct {
			machine string
			refused bool
		}{{"armv6l", true}, {"armv7l", false}, {"aarch64", false}, {"x86_64", false}} {
			bin := t.TempDir()
			check.NoError(t, os.WriteFile(filepath.Join(bin, "uname"), []byte("#!/bin/sh\necho "+tt.machine+"\n"),
				0o755))
			cmd := exec.Command(filepath.Join(dir, "preinst"), "install")
			cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
			out, err := cmd.CombinedOutput()
			right := (err != nil) == tt.refused && (!tt.refused || strings.Contains(string(out), "ARMv6"))
			check.That(t, right, "%s on an %s: %v: %s", filepath.Base(deb), tt.machine, err, out)
		}
	}
}

// The bill of materials lists every module of the program, and the libraries and voices of
// the package with their checksums.
func TestPackage_hasBillOfMaterials(t *testing.T) {
	t.Parallel()
	dir := unpack(t, currentPackage(t))
	content := check.Must(os.ReadFile(filepath.Join(dir, "usr/share/doc/pressbox/sbom.cdx.json")))(t)
	var bill struct {
		BomFormat, SpecVersion string
		Components             []struct {
			Name, Version string
			Hashes        []struct{ Content string }
		}
	}
	if err := json.Unmarshal(content, &bill); err != nil || bill.BomFormat != "CycloneDX" || bill.SpecVersion != "1.6" {
		t.Fatalf("the bill of materials is %s %s: %v", bill.BomFormat, bill.SpecVersion, err)
	}
	components := make(map[string]string)
	for _, c := range bill.Components {
		components[c.Name] = c.Version
		if len(c.Hashes) > 0 {
			components[c.Name] = c.Hashes[0].Content
		}
	}
	program := check.Must(buildinfo.ReadFile(filepath.Join(dir, "usr/bin/pressbox")))(t)
	want := map[string]string{"onnxruntime": sha256Of(t, filepath.Join(dir, "usr/lib/pressbox/libonnxruntime.so"))}
	for _, m := range program.Deps {
		want[m.Path] = m.Version
	}
	models, err := filepath.Glob(filepath.Join(dir, "usr/share/pressbox/models/*.onnx"))
	if err != nil || len(models) == 0 {
		t.Fatalf("voices in the package: %q (%v)", models, err)
	}
	for _, model := range models {
		want[strings.TrimSuffix(filepath.Base(model), ".onnx")] = sha256Of(t, model)
	}
	for name, is := range want {
		check.Equal(t, components[name], is, "%s in the bill", name)
	}
}

// sha256Of returns the SHA-256 of a file in hexadecimal.
func sha256Of(t *testing.T, file string) string {
	t.Helper()
	return strings.Fields(run(t, commandTime, "sha256sum", file))[0]
}

// emulatedTime is long because emulation on a busy host is slow.
const emulatedTime = 10 * time.Minute

// libraries returns the folder of another architecture's C libraries, given as Debian's name.
func libraries(arch string) string {
	return map[string]string{
		"arm64": "/usr/aarch64-linux-gnu/lib",
		"armhf": "/usr/arm-linux-gnueabihf/lib",
	}[arch]
}

// emulator returns the command that runs a program for another architecture, given as
// Debian's name, on the oldest supported processor.
func emulator(arch string) []string {
	return map[string][]string{
		"arm64": {"qemu-aarch64-static", "-cpu", "cortex-a53"},
		"armhf": {"qemu-arm-static", "-cpu", "cortex-a7"},
	}[arch]
}

// The arm packages, run on an emulated Raspberry Pi processor, say the same as the native package: the network's sums
// of bytes are rounded otherwise there, so that its sound is compared, by melDistance.
func TestArm_sameSpeech(t *testing.T) {
	t.Parallel()
	check.Require(t, nativeArch(t) == "amd64", "amd64 is what arm is compared with: this test needs an amd64")
	state := t.TempDir()
	const text = "Dinner is ready."
	// The first run calibrates the voice and saves it in the store for the others.
	want := speech(t, "amd64", state, text)
	for _, arch := range []string{"arm64", "armhf"} {
		got := speech(t, arch, state, text)
		// The first and the last sample that count as sound differ by a few.
		common := min(len(got), len(want))
		if max(len(got), len(want))-common > rate/1000 || common < rate/2 {
			t.Fatalf("%s says %d samples, amd64 %d", arch, len(got), len(want))
		}
		distance := melDistance(got[:common], want[:common])
		check.That(t, distance <= 2, "the speech of %s differs by %.1f dB, want at most 2", arch, distance)
		t.Logf("%d samples of %s differ by %.2f dB", len(want), arch, distance)
	}
}

// melDistance returns the mean difference in dB of two sounds of the same length: of the levels of 26 bands whose
// centers are equally far apart on the mel scale, in windows of 25 ms, that are at most 40 dB below the highest one.
func melDistance(x, y []int16) float64 {
	const window, bands, below = rate / 40, 26, 40
	levels := func(samples []int16) []float64 {
		var all []float64
		for ; len(samples) >= window; samples = samples[window:] {
			for band := range bands {
				mel := float64(band+1) / (bands + 1) * 2840 // that of 8 kHz
				hertz := 700 * (math.Pow(10, mel/2595) - 1)
				var re, im float64
				for i, s := range samples[:window] {
					hann := 1 - math.Cos(2*math.Pi*float64(i)/window)
					sin, cos := math.Sincos(2 * math.Pi * hertz * float64(i) / rate)
					re, im = re+float64(s)*hann*cos, im+float64(s)*hann*sin
				}
				all = append(all, 10*math.Log10(re*re+im*im+1))
			}
		}
		return all
	}
	lx, ly := levels(x), levels(y)
	least := max(slices.Max(lx), slices.Max(ly)) - below
	sum, n := 0.0, 0
	for i := range lx {
		if max(lx[i], ly[i]) >= least {
			sum += math.Abs(max(lx[i], least) - max(ly[i], least))
			n++
		}
	}
	return sum / float64(n)
}

// The program cannot run on the processor that the package rejects.
func TestArmhf_needsARMv7(t *testing.T) {
	t.Parallel()
	root := unpack(t, packageFor(t, "armhf"))
	for processor, runs := range map[string]bool{"arm1176": false, "cortex-a7": true} {
		out, err := exec.Command("qemu-arm-static", "-cpu", processor, "-L", filepath.Dir(libraries("armhf")),
			filepath.Join(root, "usr/bin/pressbox"), "version").CombinedOutput()
		check.That(t, (err == nil) == runs, "on an %s: %v, want that it runs: %v\n%s", processor, err, runs, out)
	}
}

// speech starts the server of the package for an architecture, and returns the samples that
// its "pressbox say" writes to a file.
func speech(t *testing.T, arch, state, text string) []int16 {
	t.Helper()
	root := unpack(t, packageFor(t, arch))
	// ONNX Runtime in an emulator must not see the host's processors. The C libraries have
	// to be where every program finds them: the one that the server starts to confine
	// espeak-ng inherits neither the emulator's options nor its environment.
	args := []string{"--mount", "sh", "-euc", `mount -t tmpfs none /sys/devices/system/cpu
if [ -n "$0" ]; then mount -t overlay -o "lowerdir=$0:/usr/lib" none /usr/lib; fi
exec "$@"`, libraries(arch)}
	program := slices.Concat(args, emulator(arch), []string{filepath.Join(root, "usr/bin/pressbox")})
	cmd := exec.Command("unshare", append(slices.Clip(program), "serve")...)
	cmd.Dir = state
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "PORT=0", "HOST=127.0.0.1", "STATE_DIR=" + state, "PULSE_SERVER=unix:" + state +
			"/none",
		"MODEL_DIR=" + bundledVoice(t, root), "ONNXRUNTIME_LIB=" +
			filepath.Join(root, "usr/lib/pressbox/libonnxruntime.so"),
	}
	said := check.Must(cmd.StderrPipe())(t)
	check.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		go func() { _, _ = io.Copy(io.Discard, said) }()
		check.NoError(t, cmd.Wait())
	}()
	stop := time.AfterFunc(emulatedTime, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	address := check.Must(listening(said))(t)
	go func() { _, _ = io.Copy(io.Discard, said) }()
	fetch(t, address, "Hello.") // returns when the voice is loaded
	file := filepath.Join(t.TempDir(), "said.wav")
	run(t, emulatedTime, append(append([]string{"unshare"}, program...), "say", "--server", address, "--out", file,
		text)...)
	return samplesIn(t, file)
}

// samplesIn returns the samples of a WAV file with a single data chunk.
func samplesIn(t *testing.T, file string) []int16 {
	t.Helper()
	content := check.Must(os.ReadFile(file))(t)
	_, rest, found := bytes.Cut(content, []byte("data"))
	if !found || len(rest) < 4 || !bytes.HasPrefix(content, []byte("RIFF")) {
		t.Fatalf("%s is no WAV file: %d bytes", file, len(content))
	}
	return decodePCM(rest[4:])
}

// bundledVoice returns a folder with only one bundled voice of an unpacked package, so that
// no other is calibrated meanwhile.
func bundledVoice(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	for _, suffix := range []string{".onnx", ".onnx.json"} {
		name := "en_US-heart-medium" + suffix
		check.NoError(t, os.Symlink(filepath.Join(root, "usr/share/pressbox/models", name), filepath.Join(dir, name)))
	}
	return dir
}

// listening returns the address in the server's log.
func listening(said io.Reader) (address string, err error) {
	var all strings.Builder
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if _, address, found := strings.Cut(lines.Text(), "url="); found {
			return strings.Trim(address, `"`), nil
		}
	}
	return "", errors.New("the server does not listen:\n" + all.String())
}

// fetch returns the PCM of a text, and retries until the voice is loaded.
func fetch(t *testing.T, address, text string) []byte {
	t.Helper()
	body := check.Must(json.Marshal(speechRequest(text)))(t)
	for deadline := time.Now().Add(emulatedTime); ; {
		resp := check.Must(http.Post(address+"/v1/audio/speech", "application/json", bytes.NewReader(body)))(t)
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
