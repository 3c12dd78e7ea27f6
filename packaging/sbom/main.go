// Package main writes the bill of materials of a package, in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/),
// to standard output, and the licenses of the linked modules to a file. The same files give the same bill.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"pressbox/packaging/sbom/cyclonedx"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run() error {
	version := flag.String("version", "", "version of the package")
	program := flag.String("program", "", "the program, built by Go")
	texts := flag.String("texts", "", "file to write the modules' licenses to")
	var parts []cyclonedx.Component
	flag.Func("part", "TYPE|NAME|VERSION|LICENSE|FILE: another part of the package", func(text string) error {
		p, err := parsePart(text)
		parts = append(parts, p)
		return err
	})
	flag.Parse()

	info, err := buildinfo.ReadFile(*program)
	if err != nil {
		return fmt.Errorf("read the program's build information: %w", err)
	}
	if err := writeTexts(*texts, info.Deps); err != nil {
		return err
	}
	return newBill(*version, info, parts).Write(os.Stdout)
}

func newBill(version string, info *buildinfo.BuildInfo, parts []cyclonedx.Component) cyclonedx.Bill {
	whole := cyclonedx.Component{
		Type: "application", Ref: "pressbox", Name: "pressbox", Version: version,
		Licenses: under("MIT"),
	}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	components := []cyclonedx.Component{{
		Type: "library", Ref: "std", Name: "std", Version: goVersion, URL: "pkg:golang/std@" + goVersion,
	}}
	for _, m := range info.Deps {
		m = used(m)
		url := "pkg:golang/" + m.Path + "@" + m.Version
		c := cyclonedx.Component{Type: "library", Ref: url, Name: m.Path, Version: m.Version, URL: url}
		if m.Path == paho {
			c.Licenses = under("BSD-3-Clause")
		}
		components = append(components, c)
	}
	return cyclonedx.New(whole, append(components, parts...))
}

// under returns the license of an SPDX expression.
func under(expression string) []cyclonedx.License {
	return []cyclonedx.License{{Expression: expression}}
}

// paho has two licenses: EPL-2.0 or, as Pressbox uses it, EDL-1.0, which is BSD-3-Clause. Their
// texts are in LICENSE and in edl-v10.
const paho = "github.com/eclipse/paho.golang"

// used returns the module that was linked for m.
func used(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
}

// parsePart reads TYPE|NAME|VERSION|LICENSE|FILE.
func parsePart(text string) (cyclonedx.Component, error) {
	field := strings.Split(text, "|")
	if len(field) != 5 {
		return cyclonedx.Component{}, fmt.Errorf("%d fields, want 5", len(field))
	}
	if field[3] == "" {
		return cyclonedx.Component{}, fmt.Errorf("the license of %s is missing", field[1])
	}
	content, err := os.ReadFile(field[4])
	if err != nil {
		return cyclonedx.Component{}, err
	}
	sum := sha256.Sum256(content)
	return cyclonedx.Component{
		Type: field[0], Ref: field[1], Name: field[1], Version: field[2],
		Licenses: under(field[3]),
		Hashes:   []cyclonedx.Hash{{Algorithm: "SHA-256", Content: hex.EncodeToString(sum[:])}},
	}, nil
}

// writeTexts writes the license of every module, as the licenses require of a
// distributor. A module without a license is an error: it must not be distributed.
func writeTexts(path string, modules []*debug.Module) error {
	var all strings.Builder
	for _, m := range modules {
		m = used(m)
		//nolint:gosec,noctx // module paths from our own program
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", m.Path).Output()
		if err != nil {
			return fmt.Errorf("find module %s: %w", m.Path, err)
		}
		text, err := terms(strings.TrimSpace(string(dir)))
		if err != nil {
			return fmt.Errorf("the license of module %s: %w", m.Path, err)
		}
		fmt.Fprintf(&all, "\n%s\nThe Go module %s %s\n\n%s\n", strings.Repeat("-", 72), m.Path, m.Version, text)
	}
	if err := os.WriteFile(path, []byte(all.String()), 0o600); err != nil {
		return fmt.Errorf("write the licenses: %w", err)
	}
	return nil
}

// terms returns the license in a module's folder. A license that Debian installs
// everywhere is referred to, as Debian Policy 12.5 requires.
func terms(dir string) (string, error) {
	for _, name := range []string{"edl-v10", "LICENSE", "LICENSE.txt", "LICENSE.md", "UNLICENSE", "COPYING"} {
		text, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // a fixed name in a module's folder
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return "", err
		case strings.Contains(string(text), "Apache License") && strings.Contains(string(text), "Version 2.0"):
			return "Apache License 2.0: /usr/share/common-licenses/Apache-2.0", nil
		default:
			return strings.TrimSpace(string(text)), nil
		}
	}
	return "", errors.New("not found")
}
