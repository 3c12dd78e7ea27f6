//go:build image

package imagetest

import (
	"testing"
	"time"

	"pressbox/packaging/check"
)

// Assumptions about a Raspberry Pi 4, beside that of a counted computer: one processor, of four,
// that executes an instruction in a nanosecond. packaging/doc/image.md has their reasons.
const (
	firmwareTime = 12 * time.Second // until the kernel starts
	waitTime     = 10 * time.Second // of idle processors: for devices and for the network
	cardRate     = 20 << 20         // bytes that are read from the card in a second
)

// The image of the Raspberry Pi, on an emulated board without its firmware, says that it is ready; a
// Pi 4 would have said so within a minute.
func TestARM_firstWord(t *testing.T) {
	h := switchOn(t, "arm-first-word", computer{arch: "arm64", disk: newDisk(t, imageOf("arm64")), counted: true})
	h.answers()
	text := h.greeted()
	read, busy := h.bytesRead(), h.busy()
	onBoard := firmwareTime + waitTime + busy + time.Duration(read)*time.Second/cardRate
	t.Logf("the processor was busy for %.1f s and %d MB were read: %.0f s on a Raspberry Pi 4", busy.Seconds(),
		read>>20, onBoard.Seconds())
	check.That(t, onBoard <= time.Minute, "on a Raspberry Pi 4 the sentence ends after %v, want a minute", onBoard)
	t.Logf("microseconds of units:\n%s",
		h.root.do(`cd /sys/fs/cgroup && grep -H usage_usec *.slice/*.service/cpu.stat | sort -k 2 -rn | head`))
	h.hears(text)
	h.checkWhole()
	h.powerOff()
}

// busy returns for how long the host's processors have not been idle.
func (h *host) busy() time.Duration {
	h.Helper()
	const hertz = 100 // of /proc/stat, whose first line has user, nice, system, idle, iowait, irq and softirq time
	ticks := h.root.number("awk '{ print $2 + $3 + $4 + $7 + $8; exit }' /proc/stat")
	return time.Duration(ticks) * time.Second / hertz
}

// bytesRead returns how much the host has read from its disk.
func (h *host) bytesRead() (n int64) {
	h.Helper()
	var disks []struct {
		Stats struct {
			Read int64 `json:"rd_bytes"`
		}
	}
	h.monitor("query-blockstats", map[string]string{}, &disks)
	for _, d := range disks {
		n += d.Stats.Read
	}
	return n
}
