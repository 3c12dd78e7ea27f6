package mdns_test

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/daemon/mdns"
	"pressbox/packaging/check"
)

// serve answers at a socket as Avahi does.
func serve(t *testing.T, answers map[string]string) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "socket")
	l := check.Must(net.Listen("unix", socket))(t)
	check.Close(t, l)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			question, _ := bufio.NewReader(conn).ReadString('\n')
			fmt.Fprint(conn, answers[strings.TrimSuffix(question, "\n")])
			conn.Close()
		}
	}()
	return socket
}

// The name is that of the first address that has one on the local network.
func TestHostName_answers(t *testing.T) {
	t.Parallel()
	socket := serve(t, map[string]string{
		"RESOLVE-ADDRESS 192.0.2.1": "-15 Timeout reached\n",
		"RESOLVE-ADDRESS 192.0.2.2": "+ 2 0 192.0.2.2 localhost\n",
		"RESOLVE-ADDRESS 192.0.2.3": strings.Repeat("x", 2000) + "\n",
		"RESOLVE-ADDRESS 192.0.2.5": "+ 2 0 192.0.2.5 pressbox-2.local\n",
	})
	var addrs []netip.Addr
	for i := range 5 {
		addrs = append(addrs, netip.AddrFrom4([4]byte{192, 0, 2, byte(i + 1)}))
	}
	if got, err := mdns.HostName(t.Context(), socket, addrs); err != nil || got != "pressbox-2" {
		t.Errorf("%q, %v", got, err)
	}
	for _, own := range [][]netip.Addr{nil, addrs[:4]} {
		if got, err := mdns.HostName(t.Context(), socket, own); err == nil {
			t.Errorf("%v: %q", own, got)
		}
	}
	for length, ok := range map[int]bool{1024: true, 1025: false} {
		answer := "+ 2 0 192.0.2.9 " + strings.Repeat("x", length-23) + ".local\n"
		long := serve(t, map[string]string{"RESOLVE-ADDRESS 192.0.2.9": answer})
		_, err := mdns.HostName(t.Context(), long, []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, 9})})
		check.That(t, (err == nil) == ok, "an answer of %d bytes: %v", len(answer), err)
	}
	if _, err := mdns.HostName(t.Context(), socket+"x", addrs); err == nil {
		t.Error("no error without Avahi")
	}
}
