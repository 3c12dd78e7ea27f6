//go:build installed

package installed

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// sourcesFile is apt's file of the repository.
const sourcesFile = "/etc/apt/sources.list.d/pressbox.sources"

// Files with which the program before an upgrade goes on.
const (
	previousProgram = "/usr/lib/pressbox/previous/pressbox"
	previousUnit    = "/etc/systemd/system/pressbox.service"
	previousDropIn  = previousUnit + ".d/previous.conf"
)

func testUpgrade(s *server) {
	s.run("systemctl", "stop", "pressbox-wyoming.socket") // as if the installed version did not have it
	s.subscribe(currentPackage(s.t))
	game := s.play()
	r := s.underLoad(func() { s.run("apt-get", "install", "--yes", "--quiet=2", "--only-upgrade", "pressbox") })
	r.mustAnswerSince(s.t, time.Time{})
	game.finish()
	s.run("sh", "-c", "rm "+sourcesFile+" /var/cache/apt/archives/pressbox_*") // what a purge leaves, as it is apt's
	s.checkVersion()
	s.checkWyoming()
	config := s.run("pressbox", "config")
	check.That(s.t, containsLine(config, "VOLUME", "90", "pressbox.env"), "an edited setting is lost:\n%s", config)
}

// checkVersion checks that the current version serves, and that nothing of the one before it is left.
func (s *server) checkVersion() {
	s.t.Helper()
	check.Equal(s.t, s.health().Version, version(s.t), "the version that answers")
	for _, path := range []string{previousProgram, previousUnit, previousDropIn} {
		check.That(s.t, !s.exists(path), "%s exists", path)
	}
	check.Contains(s.t, s.try("sh", "-c", "ls -d /var/lib/pressbox/upgrade-*"), "No such file", "the list of copies")
}

// subscribe serves a repository of "make repo" with a package to the host, whose apt reads it.
func (s *server) subscribe(deb string) {
	s.t.Helper()
	dist := s.t.TempDir()
	home := check.Must(os.MkdirTemp("", "gpg"))(s.t) // short, for the socket of gpg's agent
	s.t.Cleanup(func() { check.NoError(s.t, os.RemoveAll(home)) })
	run(s.t, commandTime, "cp", deb, dist)
	gpg := []string{"env", "GNUPGHOME=" + home, "DIST=" + dist}
	created := run(s.t, commandTime, append(gpg, "gpg", "--batch", "--quiet", "--passphrase", "", "--status-fd", "1",
		"--quick-gen-key", "releaser@example.org", "ed25519", "sign", "never")...)
	_, created, _ = strings.Cut(created, "KEY_CREATED P ")
	l := check.Must(s.listen("tcp", "127.0.0.1:0"))(s.t)
	web := http.Server{Handler: http.FileServer(http.Dir(filepath.Join(dist, "repo")))}
	go func() { _ = web.Serve(l) }() // until the host is powered off
	s.t.Cleanup(func() { check.NoError(s.t, web.Close()) })
	run(s.t, commandTime, append(gpg, "../repo/build", strings.Fields(created)[0], "http://"+l.Addr().String())...)
	run(s.t, commandTime, append(gpg, "gpgconf", "--kill", "all")...)
	s.write(sourcesFile, check.Must(os.ReadFile(filepath.Join(dist, "repo/pressbox.sources")))(s.t))
	s.run("apt-get", "update", "--quiet=2", "--error-on=any", // of this source alone: the host has no network
		"-o", "Dir::Etc::SourceList=sources.list.d/pressbox.sources", "-o", "Dir::Etc::SourceParts=-",
		"-o", "APT::Get::List-Cleanup=0")
}

// firstPackage returns the package of version 0.5.0.
func firstPackage(t *testing.T) (deb string) {
	t.Helper()
	arch := nativeArch(t)
	deb = check.Must(filepath.Abs("../../.build/installed/pressbox_0.5.0_" + arch + ".deb"))(t)
	run(t, buildTime, "../deb/first", arch, deb)
	return deb
}

// TestFirstVersion upgrades a host with version 0.5.0. Nothing that the server has acknowledged is lost; a version
// that does not work before that changes nothing, also after a start of the host.
func TestFirstVersion(t *testing.T) {
	s := newServer(boot(t, "bookworm"))
	s.install(firstPackage(t))
	var posted, found struct{ ID, Message string }
	s.mustRequest("POST", "/notify", map[string]any{"message": "Dinner is ready.", "ttl": 86_400}, &posted)
	token := s.run("pressbox", "tokens", "create", "anna")

	install := s.command("apt-get", "install", "--yes", "--quiet=2", s.copyIn(brokenPackage(s)))
	out, err := install.CombinedOutput()
	check.That(t, err != nil, "the broken version was installed:\n%s", out)
	s.run("systemctl", "daemon-reload") // as a start of the host does
	s.run("systemctl", "restart", "pressbox.service")
	check.Equal(t, s.health().Version, "0.5.0", "the version after the failed upgrade")

	s.run("apt-get", "install", "--yes", "--quiet=2", "--allow-downgrades", s.copyIn(currentPackage(t)))
	s.checkVersion()
	s.checkWyoming()
	s.mustRequest("GET", "/notify/"+posted.ID, nil, &found)
	check.Equal(t, found.Message, "Dinner is ready.", "the announcement")
	check.Contains(t, s.run("pressbox", "tokens", "list"), "anna", "the tokens")
	check.Must(s.request("GET", "/notify", nil, nil, "Authorization", "Bearer "+token))(t)
}

// testFailedUpgrade upgrades to a version that does not work. The one before it goes on, also
// after a restart, until there is one that works.
func testFailedUpgrade(s *server) {
	broken := s.copyIn(brokenPackage(s))
	r := s.underLoad(func() {
		out, err := s.command("apt-get", "install", "--yes", "--quiet=2", broken).CombinedOutput()
		check.That(s.t, err != nil, "the broken version was installed")
		check.Contains(s.t, string(out), "out of order", "the upgrade")
		check.Contains(s.t, string(out), "version "+version(s.t)+" goes on serving", "the upgrade")
	})
	r.mustAnswerSince(s.t, time.Time{})
	s.run("systemctl", "restart", "pressbox.service")
	check.Equal(s.t, s.health().Version, version(s.t), "the version after a restart")
	out, err := s.command("dpkg", "--configure", "pressbox").CombinedOutput()
	check.That(s.t, err != nil, "the broken version was configured:\n%s", out)
	s.run("apt-get", "install", "--yes", "--quiet=2", "--allow-downgrades", s.copyIn(currentPackage(s.t)))
	s.checkVersion()
	s.checkSpeech()
}

// brokenPackage returns the current package with a later version, and a program that ends at once.
func brokenPackage(s *server) (deb string) {
	s.t.Helper()
	dir := s.t.TempDir()
	tree, deb := filepath.Join(dir, "tree"), filepath.Join(dir, "pressbox_broken.deb")
	run(s.t, commandTime, "dpkg-deb", "--raw-extract", currentPackage(s.t), tree)
	run(s.t, commandTime, "sed", "-i", fmt.Sprintf("s/^Version: .*/Version: %s+broken/", version(s.t)),
		filepath.Join(tree, "DEBIAN/control"))
	check.NoError(s.t, os.WriteFile(filepath.Join(tree, "usr/bin/pressbox"),
		[]byte("#!/bin/sh\necho 'pressbox: out of order' >&2\nexit 1\n"), 0o755))
	run(s.t, commandTime, "dpkg-deb", "--build", "--root-owner-group", "-Znone", tree, deb)
	return deb
}
