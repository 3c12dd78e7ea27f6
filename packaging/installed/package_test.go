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
	content := check.Must(os.ReadFile(file))(t)
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}
