//go:build installed

package installed

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// native is what Debian calls this machine's architecture.
func native(t *testing.T) string {
	t.Helper()
	return run(t, commandTime, "dpkg", "--print-architecture")
}

// current is the package to ship for this machine, as "make test-package" builds it.
func current(t *testing.T) string {
	t.Helper()
	return packageFor(t, native(t))
}

// packageFor is the one for an architecture, as Debian calls it.
func packageFor(t *testing.T, arch string) string {
	t.Helper()
	return "../../dist/pressbox_" + version(t) + "_" + arch + ".deb"
}

// packages are all that were built to be shipped.
func packages(t *testing.T) []string {
	t.Helper()
	if testing.Short() {
		return []string{current(t)}
	}
	return []string{packageFor(t, "amd64"), packageFor(t, "arm64"), packageFor(t, "armhf")}
}

// built is one that is made only for these tests: "~previous" has an older number,
// "+hang" a newer one, and hangs on SIGUSR2.
func built(t *testing.T, suffix string) string {
	t.Helper()
	return "../../.build/installed/pressbox_" + version(t) + suffix + "_" + native(t) + ".deb"
}

// version is what is built: the newest entry of the changelog.
func version(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
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

// The same sources make the same package, in whatever folder and on whatever day; of
// which commit they are is told to a copy that has no history.
func TestPackageIsReproducible(t *testing.T) {
	t.Parallel()
	elsewhere := filepath.Join(t.TempDir(), "sources")
	run(t, commandTime, "sh", "-c", "mkdir $0 && tar -C ../.. --exclude=./.build --exclude=./bin --exclude=./dist --exclude=./.git -c . | tar -C $0 -x", elsewhere)
	revision := "PRESSBOX_REVISION=" + run(t, commandTime, "../revision")
	run(t, buildTime, "env", revision, filepath.Join(elsewhere, "packaging/deb/build"), version(t), native(t))
	again := filepath.Join(elsewhere, "dist", filepath.Base(current(t)))
	if want, got := sum(t, current(t)), sum(t, again); got != want {
		t.Errorf("the second build has the checksum %s, the first %s", got, want)
	}
}

func TestPackageLeavesLintianNothingToSay(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("lintian", append([]string{"--allow-root", "--fail-on=error,warning"}, packages(t)...)...).CombinedOutput()
	if err != nil || strings.Contains(string(out), "O: ") {
		t.Errorf("lintian: %v\n%s", err, out)
	}
}

// A Raspberry Pi 1 or Zero is told by name that it cannot run this.
func TestPackageRefusesAnARMv6(t *testing.T) {
	t.Parallel()
	for _, deb := range packages(t) {
		dir := t.TempDir()
		run(t, commandTime, "dpkg-deb", "--control", deb, dir)
		for _, tt := range []struct {
			machine string
			refused bool
		}{{"armv6l", true}, {"armv7l", false}, {"aarch64", false}, {"x86_64", false}} {
			bin := t.TempDir()
			if err := os.WriteFile(filepath.Join(bin, "uname"), []byte("#!/bin/sh\necho "+tt.machine+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(filepath.Join(dir, "preinst"), "install")
			cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
			out, err := cmd.CombinedOutput()
			if (err != nil) != tt.refused || tt.refused && !strings.Contains(string(out), "ARMv6") {
				t.Errorf("%s on an %s: %v: %s", filepath.Base(deb), tt.machine, err, out)
			}
		}
	}
}

// The bill of materials lists every module of the program, and the libraries and
// voices as they lie in the package.
func TestPackageHasABillOfMaterials(t *testing.T) {
	t.Parallel()
	dir := unpack(t, current(t))
	content, err := os.ReadFile(filepath.Join(dir, "usr/share/doc/pressbox/sbom.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		BomFormat, SpecVersion string
		Components             []struct {
			Name, Version string
			Hashes        []struct{ Content string }
		}
	}
	if err := json.Unmarshal(content, &bill); err != nil || bill.BomFormat != "CycloneDX" || bill.SpecVersion != "1.6" {
		t.Fatalf("the bill is %s %s: %v", bill.BomFormat, bill.SpecVersion, err)
	}
	listed := make(map[string]string)
	for _, c := range bill.Components {
		listed[c.Name] = c.Version
		if len(c.Hashes) > 0 {
			listed[c.Name] = c.Hashes[0].Content
		}
	}
	program, err := buildinfo.ReadFile(filepath.Join(dir, "usr/bin/pressbox"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"onnxruntime": sum(t, filepath.Join(dir, "usr/lib/pressbox/libonnxruntime.so"))}
	for _, m := range program.Deps {
		want[m.Path] = m.Version
	}
	models, err := filepath.Glob(filepath.Join(dir, "usr/share/pressbox/models/*.onnx"))
	if err != nil || len(models) == 0 {
		t.Fatalf("voices in the package: %q (%v)", models, err)
	}
	for _, model := range models {
		want[strings.TrimSuffix(filepath.Base(model), ".onnx")] = sum(t, model)
	}
	for name, is := range want {
		if listed[name] != is {
			t.Errorf("the bill says %q of %s, want %s", listed[name], name, is)
		}
	}
}

// sum is the SHA-256 of a file.
func sum(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}
