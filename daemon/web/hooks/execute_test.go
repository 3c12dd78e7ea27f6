package hooks

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice/announce/webhook"
)

// One client has 500 events, and does not end the memory of others: when there are 10,000, the client with the most
// loses one.
func TestRepeats_share(t *testing.T) {
	t.Parallel()
	var r repeats
	now := time.Unix(0, 0)
	send := func(client string, n int) (known int) {
		c := r.claim("alertmanager", client, now)
		for i := range n {
			if c.known(fmt.Sprint(client, i)) {
				known++
			}
		}
		return known
	}
	check.Equal(t, send("greedy", 38_000), 0, "known at first")
	check.Equal(t, send("greedy", 38_000), maxEach, "known of the greedy client")
	check.Equal(t, send("door", 3), 0, "known at first")
	for i := range maxEvents / maxEach {
		send(fmt.Sprint("client ", i), maxEach)
	}
	check.Equal(t, send("door", 3), 3, "known of a client with few events")
	check.Equal(t, send("washer", 1), 0, "known at first")
	check.Equal(t, send("washer", 1), 1, "known of a client when there are most")
	check.Equal(t, len(r.at), maxEvents, "events")
	now = now.Add(repeatWindow)
	check.Equal(t, send("door", 3), 0, "known after the window")
	check.That(t, len(r.at) == 3 && len(r.clients) == 1, "%d events of %d clients are left", len(r.at), len(r.clients))
}

// A request waits for one of those that execute a template, no longer than its client does.
func TestExecute_waits(t *testing.T) {
	t.Parallel()
	h := &handlers{executing: make(chan struct{}, 1)}
	parsed := check.Must(webhook.ParseTemplate("t", "{{.a}}"))(t)
	h.executing <- struct{}{}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	check.ErrorIs(t, check.Err(h.execute(gone, parsed, []byte(`{"a": 1}`))), context.Canceled, "a client that is gone")
	<-h.executing
	for range 2 {
		result, err := h.execute(t.Context(), parsed, []byte(`{"a": 1}`))
		check.That(t, err == nil && result.Fields["message"] == "1", "%v, %v", result, err)
	}
}
