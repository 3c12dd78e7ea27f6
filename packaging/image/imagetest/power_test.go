//go:build image

package imagetest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// How many times the plug of a PC is pulled in each test, and the seed of the moments.
var (
	pulls = flag.Int("pulls", 3, "how often the plug is pulled, in each test of a PC")
	seed  = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the moments at which the plug is pulled")
)

// armPulls counts how often the plug of a Raspberry Pi is pulled, in each test: it is three times as
// slow to emulate as a PC.
const armPulls = 2

// moments returns random times of an action that takes a whole time, in order. Each is in another part of it.
func moments(t *testing.T, number int, whole time.Duration) []time.Duration {
	t.Helper()
	t.Logf("to repeat: -seed=%d", *seed)
	random := rand.New(rand.NewPCG(*seed, 0))
	all := make([]time.Duration, number)
	for i := range all {
		all[i] = time.Duration((float64(i) + random.Float64()) / float64(number) * float64(whole))
	}
	return all
}

// cutAt returns copies of the disk as power cuts would leave it: at moments after began, and once an event
// arrives, unless that is nil. One run of the host is enough for all of them: it is stopped meanwhile.
func (h *host) cutAt(began time.Time, at []time.Duration, event <-chan error) (disks []string) {
	h.Helper()
	for len(at) > 0 || event != nil {
		var next <-chan time.Time
		if len(at) > 0 {
			next = time.After(time.Until(began.Add(at[0])))
		}
		select {
		case <-h.ended:
			h.Fatalf("%s is off before the plug is pulled; see %s", h.name, h.file("console.txt"))
		case <-next:
			at = at[1:]
		case err := <-event:
			check.NoError(h.T, err)
			event = nil
		}
		stopped := time.Now()
		h.Logf("disk %d: the plug is pulled after %.1f s", len(disks)+1, stopped.Sub(began).Seconds())
		disks = append(disks, h.cutDisk())
		began = began.Add(time.Since(stopped))
	}
	return disks
}

// cutDisk returns a copy of the disk as a power cut at this moment would leave it: without what the
// emulator has not written yet.
func (h *host) cutDisk() (disk string) {
	h.Helper()
	check.NoError(h.T, h.cmd.Process.Signal(syscall.SIGSTOP))
	disk = copyDisk(h.T, h.disk)
	check.NoError(h.T, h.cmd.Process.Signal(syscall.SIGCONT))
	return disk
}

// The plug of a PC is pulled at random moments of its first start, each time of a blank disk. At
// the next start it comes up and says that it is ready, unless it has said so before.
func TestPC_pulledPlugFirstStart(t *testing.T) { pullAtFirstStart(t, "amd64", *pulls) }

// The same of a Raspberry Pi.
func TestARM_pulledPlugFirstStart(t *testing.T) { pullAtFirstStart(t, "arm64", armPulls) }

func pullAtFirstStart(t *testing.T, arch string, number int) {
	t.Helper()
	_, whole := settled(t, arch)
	h := switchOn(t, "pulled-first-start", computer{arch: arch, disk: newDisk(t, imageOf(arch))})
	disks := h.cutAt(h.began, moments(t, number, whole), nil)
	h.cutPower()
	for i, disk := range disks {
		h := switchOn(t, fmt.Sprint("after-first-start-", i+1), computer{arch: arch, disk: disk})
		h.answers()
		h.greeted()
		h.checkWhole()
		h.cutPower()
		check.NoError(t, os.Remove(disk))
	}
}

// checkWhole checks that no unit has failed and that the data partition has the size of the disk.
func (h *host) checkWhole() {
	h.Helper()
	if failed := h.root.do("systemctl --failed --plain --no-legend"); failed != "" {
		h.Errorf("units have failed:\n%s\n%s", failed,
			h.root.do("journalctl --boot --no-pager --priority=warning --lines=50"))
	}
	h.checkGrown()
}

// The plug of a PC is pulled in an upgrade: as soon as the old program has a unit of its own, and
// at random moments. At the next start it comes up with one of the two versions and the data, and
// apt can finish the upgrade.
func TestPC_pulledPlugUpgrade(t *testing.T) { pullAtUpgrade(t, "amd64", *pulls) }

// The same of a Raspberry Pi.
func TestARM_pulledPlugUpgrade(t *testing.T) { pullAtUpgrade(t, "arm64", armPulls) }

func pullAtUpgrade(t *testing.T, arch string, number int) {
	t.Helper()
	older := withFirst(t, arch)
	whole := upgrade(t, arch)
	h := switchOn(t, "pulled-upgrade", computer{arch: arch, disk: copyDisk(t, older)})
	h.answers()
	h.subscribe()
	h.root.do("sync") // apt's lists are there after each cut
	own := make(chan error, 1)
	began := time.Now()
	go func() {
		_, err := h.root.try(upgradeCommand+` &
			until [ -e /etc/systemd/system/pressbox.service.d/previous.conf ]; do sleep 0.1; done`, bootTime)
		own <- err
	}()
	disks := h.cutAt(began, moments(t, number, whole), own)
	h.cutPower()
	for i, disk := range disks {
		h := switchOn(t, fmt.Sprint("after-upgrade-", i+1), computer{arch: arch, disk: disk})
		t.Logf("after the power cut version %s answers", h.answers().Version)
		h.root.do("dpkg --configure --pending && " + upgradeCommand)
		check.Equal(t, h.answers().Version, version(t), "the version after the upgrade was finished")
		h.checkKept()
		h.checkWhole()
		h.cutPower()
		check.NoError(t, os.Remove(disk))
	}
}

// What settled, withFirst and upgrade return, by architecture.
var (
	settledDisks, firstStartTimes = map[string]string{}, map[string]time.Duration{}
	olderDisks                    = map[string]string{}
	upgradeTimes                  = map[string]time.Duration{}
)

// settled returns a disk of a host that has said that it is ready and was shut down, and how long
// its first start took until then. The caller copies the disk. It is that of the test of the first
// word, unless only other tests run.
func settled(t *testing.T, arch string) (disk string, whole time.Duration) {
	t.Helper()
	if settledDisks[arch] == "" {
		h := switchOn(t, "settled", computer{arch: arch, disk: newDisk(t, imageOf(arch))})
		h.answers()
		h.greeted()
		h.settle(time.Since(h.began))
	}
	return settledDisks[arch], firstStartTimes[arch]
}

// settle shuts a host down, whose first start took a whole time, and keeps its disk for settled.
func (h *host) settle(whole time.Duration) {
	h.Helper()
	h.powerOff()
	settledDisks[h.arch], firstStartTimes[h.arch] = saveDisk(h.T, h.disk, "settled-"+h.arch+".img"), whole
}
