package hooks

import (
	"context"
	"errors"
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
	if _, err := h.execute(gone, parsed, []byte(`{"a": 1}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that is gone: %v", err)
	}
	<-h.executing
	for range 2 {
		result, err := h.execute(t.Context(), parsed, []byte(`{"a": 1}`))
		if err != nil || result.Fields["message"] != "1" {
			t.Errorf("%v, %v", result, err)
		}
	}
}
