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

	"pressbox/check"
)

// localAddress is the address of the local host as an emulated one sees it.
const localAddress = "10.0.2.2"

// A PC with version 0.1.0 installs the current one from a signed repository with apt.
func TestPC_upgrade(t *testing.T) {
	h := switchOn(t, "upgrade", computer{arch: "amd64", disk: copyDisk(t, withFirst(t))})
	before := h.answers()
	h.subscribe()
	h.root.do(upgradeCommand)
	after := h.answers()
	if after.Version != version(t) || after.Version == before.Version {
		t.Errorf("version %s was upgraded to %s, want %s", before.Version, after.Version, version(t))
	}
	h.checkKept()
	h.root.do("pressbox hello")
	h.hears(h.greeted())
	h.powerOff()
}

// The plug of a PC is pulled in an upgrade: as soon as the old program has a unit of its own, and
// at random moments.
func TestPC_pulledPlugUpgrade(t *testing.T) {
	disk := withFirst(t)
	h := switchOn(t, "upgrade-time", computer{arch: "amd64", disk: copyDisk(t, disk)})
	h.answers()
	h.subscribe()
	began := time.Now()
	h.root.do(upgradeCommand)
	whole := time.Since(began)
	h.cutPower()
	pullAtUpgrade(t, disk, func(h *host) {
		h.root.do(upgradeCommand + " & until [ -e /etc/systemd/system/pressbox.service.d/previous.conf ]; do sleep 0.1; done")
		h.cutPower()
	})
	for _, at := range moments(t, *pulls, whole) {
		pullAtUpgrade(t, disk, func(h *host) {
			began := time.Now()
			h.root.start(upgradeCommand)
			h.pullPlug(began.Add(at))
		})
	}
}

// pullAtUpgrade has pull begin an upgrade of a PC with a disk and pull the plug in it. At the next
// start it comes up with one of the two versions and the data, and apt can finish the upgrade.
func pullAtUpgrade(t *testing.T, disk string, pull func(h *host)) {
	t.Helper()
	c := computer{arch: "amd64", disk: copyDisk(t, disk)}
	h := switchOn(t, "pulled-upgrade", c)
	h.answers()
	h.subscribe()
	pull(h)
	h = switchOn(t, "after-upgrade", c)
	t.Logf("after the power cut version %s answers", h.answers().Version)
	h.subscribe()
	h.root.do("dpkg --configure --pending && " + upgradeCommand)
	if got := h.answers().Version; got != version(t) {
		t.Errorf("the upgrade was finished, and version %s answers, want %s", got, version(t))
	}
	h.checkKept()
	h.checkWhole()
	h.cutPower()
	check.NoError(t, os.Remove(c.disk))
}

// upgradeCommand installs the version of the repository, as unattended-upgrades would.
const upgradeCommand = "apt-get install --yes --quiet=2 --only-upgrade pressbox"

// version returns the version that the tree builds.
func version(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(run(t, "sed", "-n", `s/^## \([0-9][^ ]*\).*/\1/p;T;q`, "../../../CHANGELOG.md"))
}

// withFirst returns a disk of a PC with version 0.1.0, and with data. The caller copies it.
func withFirst(t *testing.T) (disk string) {
	t.Helper()
	if older != "" {
		return older
	}
	from, _ := settled(t)
	disk = copyDisk(t, from)
	openPartition(t, disk, "PRESSBOX").write("first.deb", check.Must(os.ReadFile(firstPackage))(t))
	h := switchOn(t, "first", computer{arch: "amd64", disk: disk})
	h.answers()
	h.root.do("apt-get purge --yes --quiet=2 pressbox && rm -rf /var/lib/pressbox/*")
	h.root.do("dpkg --install /boot/firmware/first.deb && rm /boot/firmware/first.deb && pressbox setup-audio headless")
	h.answers()
	h.root.do("pressbox tokens create kept")
	h.powerOff()
	older = saveDisk(t, disk, "older.img")
	return older
}

// older holds what withFirst returns.
var older string

// firstPackage is the package of version 0.1.0; "run" in this folder builds it.
const firstPackage = "../../../.build/image/first.deb"

// checkKept checks that the data from before an upgrade are there.
func (h *host) checkKept() {
	h.Helper()
	if list := h.root.do("pressbox tokens list"); !strings.Contains(list, "kept") {
		h.Errorf("the token from before the upgrade is gone:\n%s", list)
	}
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

// subscribe serves a signed repository with the current package to the host, whose apt reads
// it.
func (h *host) subscribe() {
	h.Helper()
	dist := h.TempDir()
	run(h.T, "cp", results+"/pressbox_"+version(h.T)+"_amd64.deb", dist)
	check.NoError(h.T, os.Mkdir(filepath.Join(dist, "repo"), 0o755))
	base := h.serve(filepath.Join(dist, "repo"))
	home := check.Must(os.MkdirTemp("", "gpg"))(h.T) // short, for the socket of gpg's agent
	h.Cleanup(func() { check.NoError(h.T, os.RemoveAll(home)) })
	gpg := []string{"env", "GNUPGHOME=" + home, "DIST=" + dist}
	created := run(h.T, append(gpg, "gpg", "--batch", "--quiet", "--passphrase", "", "--status-fd", "1", "--quick-gen-key", "releaser@example.org", "ed25519", "sign", "never")...)
	_, key, _ := strings.Cut(created, "KEY_CREATED P ")
	run(h.T, append(gpg, "../../repo/build", strings.Fields(key)[0], base)...)
	run(h.T, append(gpg, "gpgconf", "--kill", "all")...)
	sources := check.Must(os.ReadFile(filepath.Join(dist, "repo/pressbox.sources")))(h.T)
	h.root.do("cat >/etc/apt/sources.list.d/pressbox.sources <<'END'\n%s\nEND", sources)
	h.root.do("apt-get update --quiet=2 --error-on=any -o Dir::Etc::SourceList=sources.list.d/pressbox.sources -o Dir::Etc::SourceParts=- -o APT::Get::List-Cleanup=0")
}
