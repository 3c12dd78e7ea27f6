//go:build image

package imagetest

import (
	"testing"
	"time"
)

// The image of the Raspberry Pi, on an emulated board without its firmware, says that it is ready.
func TestARM_firstWord(t *testing.T) {
	h := switchOn(t, "arm-first-word", computer{arch: "arm64", disk: newDisk(t, imageOf("arm64"))})
	h.answers()
	text := h.greeted()
	h.hears(text)
	h.checkWhole()
	h.powerOff()
}

// The plug of a Raspberry Pi is pulled twice in its first start.
func TestARM_pulledPlug(t *testing.T) {
	const pulls, whole = 2, 4 * time.Minute
	for _, at := range moments(t, pulls, whole) {
		pullAtFirstStart(t, computer{arch: "arm64", disk: newDisk(t, imageOf("arm64"))}, at)
	}
}
