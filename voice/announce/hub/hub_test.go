package hub_test

import (
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice/announce/hub"
)

// A watcher that falls 64 events behind is dropped, and nobody waits for it. After the end, channels are closed.
func TestHub(t *testing.T) {
	t.Parallel()
	var h hub.Hub[int]
	slow, stopSlow := h.Watch()
	fast, stopFast := h.Watch()
	for i := range 65 {
		h.Publish(i)
		check.Equal(t, <-fast, i, "the fast watcher")
	}
	n := 0
	for range slow {
		n++
	}
	check.Equal(t, n, 64, "events of the slow watcher")
	stopSlow()
	h.Close()
	late, stopLate := h.Watch()
	for _, c := range []<-chan int{fast, late} {
		_, open := <-c
		check.That(t, !open, "a channel is open after the end")
	}
	stopFast()
	stopLate()
}
