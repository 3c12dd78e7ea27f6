//go:build image

package imagetest

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"pressbox/check"
)

// How many times the plug of a PC is pulled in each test, and the seed of the moments.
var (
	pulls = flag.Int("pulls", 3, "how often the plug is pulled, in each test of a PC")
	seed  = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the moments at which the plug is pulled")
)

// moments returns random times of an action that takes a whole time, in no order. Each is in
// another part of it.
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

// pullPlug cuts the power at a moment.
func (h *host) pullPlug(at time.Time) {
	h.Helper()
	select {
	case <-h.ended:
		h.Fatalf("%s is off before the plug is pulled; see %s", h.name, h.file("console.txt"))
	case <-time.After(time.Until(at)):
	}
	h.cutPower()
	h.Logf("the plug was pulled %.1f s after %s was switched on", time.Since(h.began).Seconds(), h.name)
}

// The plug of a PC is pulled at random moments of its first start, each time of a blank disk. At
// the next start it comes up and says that it is ready, unless it has said so before.
func TestPC_pulledPlugFirstStart(t *testing.T) {
	_, whole := settled(t)
	for _, at := range moments(t, *pulls, whole) {
		pullAtFirstStart(t, computer{arch: "amd64", disk: newDisk(t, imageOf("amd64"))}, at)
	}
}

// pullAtFirstStart pulls the plug of a computer some time after it was switched on for the first
// time.
func pullAtFirstStart(t *testing.T, c computer, after time.Duration) {
	t.Helper()
	h := switchOn(t, "pulled-first-start", c)
	h.pullPlug(h.began.Add(after))
	h = switchOn(t, "after-first-start", c)
	h.answers()
	h.greeted()
	h.checkWhole()
	h.cutPower()
	check.NoError(t, os.Remove(c.disk))
}

// checkWhole checks that no unit has failed and that the data partition has the size of the disk.
func (h *host) checkWhole() {
	h.Helper()
	if failed := h.root.do("systemctl --failed --plain --no-legend"); failed != "" {
		h.Errorf("units have failed:\n%s\n%s", failed, h.root.do("journalctl --boot --no-pager --priority=warning --lines=50"))
	}
	h.checkGrown()
}

// settled returns a disk of a PC that has said that it is ready and was shut down, and how long
// its first start took until then. The caller copies the disk. It is that of TestPC_firstWord,
// unless only other tests run.
func settled(t *testing.T) (disk string, whole time.Duration) {
	t.Helper()
	if first.whole == 0 {
		h := switchOn(t, "settled", computer{arch: "amd64", disk: newDisk(t, imageOf("amd64"))})
		h.answers()
		h.greeted()
		h.settle(time.Since(h.began))
	}
	return first.disk, first.whole
}

// settle shuts a host down, whose first start took a whole time, and keeps its disk for settled.
func (h *host) settle(whole time.Duration) {
	h.Helper()
	h.powerOff()
	first.disk, first.whole = saveDisk(h.T, h.disk, "settled.img"), whole
}

// first holds what settled returns.
var first struct {
	disk  string
	whole time.Duration
}
