//go:build image

package imagetest

import (
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// localAddress is the address of the local host as an emulated one sees it.
const localAddress = "10.0.2.2"

// A PC with version 0.5.0 installs the current one from a signed repository with apt.
func TestPC_upgrade(t *testing.T) { upgrade(t, "amd64") }

// upgrade upgrades a host and returns how long apt took. It does so once for all tests.
func upgrade(t *testing.T, arch string) (whole time.Duration) {
	t.Helper()
	if whole = upgradeTimes[arch]; whole > 0 {
		return whole
	}
	h := switchOn(t, "upgrade", computer{arch: arch, disk: copyDisk(t, withFirst(t, arch))})
	before := h.answers()
	h.subscribe()
	began := time.Now()
	h.root.do(upgradeCommand)
	upgradeTimes[arch] = time.Since(began)
	after := h.answers()
	check.Equal(t, after.Version, version(t), "the version after the upgrade")
	check.That(t, after.Version != before.Version, "version %s was there before the upgrade", before.Version)
	h.checkKept()
	h.root.do("pressbox hello")
	h.hears(h.greeted())
	h.powerOff()
	return upgradeTimes[arch]
}

// upgradeCommand installs the version of the repository, as unattended-upgrades would.
const upgradeCommand = "apt-get install --yes --quiet=2 --only-upgrade pressbox"

// version returns the version that the tree builds.
func version(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(run(t, "sed", "-n", `s/^## \([0-9][^ ]*\).*/\1/p;T;q`, "../../../CHANGELOG.md"))
}

// withFirst returns a disk of a host with version 0.5.0, and with data. The caller copies it.
func withFirst(t *testing.T, arch string) (disk string) {
	t.Helper()
	if olderDisks[arch] != "" {
		return olderDisks[arch]
	}
	from, _ := settled(t, arch)
	disk = copyDisk(t, from)
	first := "../../../.build/image/pressbox_0.5.0_" + arch + ".deb" // built by "run" in this folder
	openPartition(t, disk, "PRESSBOX").write("first.deb", check.Must(os.ReadFile(first))(t))
	h := switchOn(t, "first", computer{arch: arch, disk: disk})
	h.answers()
	h.root.do("apt-get purge --yes --quiet=2 pressbox && rm -rf /var/lib/pressbox/*")
	h.root.do("dpkg --install /boot/firmware/first.deb && rm /boot/firmware/first.deb && pressbox setup-audio headless")
	h.answers()
	h.root.do("pressbox tokens create kept")
	h.powerOff()
	olderDisks[arch] = saveDisk(t, disk, "older-"+arch+".img")
	return olderDisks[arch]
}

// checkKept checks that the data from before an upgrade are there.
func (h *host) checkKept() {
	h.Helper()
	check.Contains(h.T, h.root.do("pressbox tokens list"), "kept", "the tokens after the upgrade")
}

// serve serves a folder to the host until the test has ended, and returns its URL.
func (h *host) serve(folder string) (url string) {
	h.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(h.T)
	web := &http.Server{Handler: http.FileServer(http.Dir(folder))}
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	h.Cleanup(func() {
		check.NoError(h.T, web.Close())
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			h.Error(err)
		}
	})
	_, port, _ := strings.Cut(l.Addr().String(), ":")
	return "http://" + localAddress + ":" + port
}

// subscribe serves a signed repository with the current package to the host, whose apt reads it.
func (h *host) subscribe() {
	h.Helper()
	dist := h.TempDir()
	run(h.T, "cp", results+"/pressbox_"+version(h.T)+"_"+h.arch+".deb", dist)
	check.NoError(h.T, os.Mkdir(filepath.Join(dist, "repo"), 0o755))
	base := h.serve(filepath.Join(dist, "repo"))
	home := check.Must(os.MkdirTemp("", "gpg"))(h.T) // short, for the socket of gpg's agent
	h.Cleanup(func() { check.NoError(h.T, os.RemoveAll(home)) })
	gpg := []string{"env", "GNUPGHOME=" + home, "DIST=" + dist}
	created := run(h.T, append(gpg, "gpg", "--batch", "--quiet", "--passphrase", "", "--status-fd", "1",
		"--quick-gen-key", "releaser@example.org", "ed25519", "sign", "never")...)
	_, key, _ := strings.Cut(created, "KEY_CREATED P ")
	run(h.T, append(gpg, "../../repo/build", strings.Fields(key)[0], base)...)
	run(h.T, append(gpg, "gpgconf", "--kill", "all")...)
	sources := check.Must(os.ReadFile(filepath.Join(dist, "repo/pressbox.sources")))(h.T)
	h.root.do("cat >/etc/apt/sources.list.d/pressbox.sources <<'END'\n%s\nEND", sources)
	h.root.do("apt-get update --quiet=2 --error-on=any -o Dir::Etc::SourceList=sources.list.d/pressbox.sources " +
		"-o Dir::Etc::SourceParts=- -o APT::Get::List-Cleanup=0")
}
