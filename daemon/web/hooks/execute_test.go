package hooks

import (
	"context"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice/announce/webhook"
)

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
