package limits_test

import (
	"context"
	"net"
	"testing"

	"pressbox/daemon/limits"
	"pressbox/packaging/check"
)

// Nothing is served on a socket that systemd passes to a server whose protocol is off, until that ends; a listener that
// fails ends it.
func TestRefuse_closes(t *testing.T) {
	t.Parallel()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- limits.Refuse(ctx, l) }()
	for range 3 {
		conn := check.Must(net.Dial("tcp", l.Addr().String()))(t)
		n, err := conn.Read(make([]byte, 1))
		check.That(t, n == 0 && err != nil, "read %d bytes, %v", n, err)
		check.NoError(t, conn.Close())
	}
	cancel()
	check.NoError(t, <-ended)
	check.ErrorIs(t, limits.Refuse(t.Context(), l), net.ErrClosed, "a closed listener")
}
