package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A daemon that hangs keeps nobody waiting, and is told from a user who does not want to
// wait any longer.
func TestWhyNoAnswerCame(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path) // and accepts nobody
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	late, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	err = socketClient(path).call(late, http.MethodGet, "/admin/status", nil, new(any))
	if exit, ok := errors.AsType[*exitError](err); !ok || exit.code != exitNoDaemon || !strings.Contains(err.Error(), path+" does not answer: it takes too long") {
		t.Errorf("of one that hangs: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := socketClient(path).call(ended, http.MethodGet, "/admin/status", nil, new(any)); !errors.Is(err, errInterrupted) {
		t.Errorf("interrupted: %v", err)
	}
}
