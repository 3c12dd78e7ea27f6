// Package mdns asks Avahi by which name this host is found on the local network, and makes it announce services.
//
// One law: the names are Avahi's, which differ from those that were asked for if another host had them first.
package mdns

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// Socket is the socket of Avahi's simple protocol, which every user may connect to.
const Socket = "/run/avahi-daemon/socket"

const timeout = 2 * time.Second // of the answer; Avahi knows its own names

// HostName returns the first label of the name that Avahi at socket has for an address of this
// host, such as "pressbox-2".
func HostName(ctx context.Context, socket string, own []netip.Addr) (string, error) {
	errs := []error{errors.New("no address of this host has a name")}
	for _, addr := range own {
		name, err := resolve(ctx, socket, addr)
		if err == nil {
			return name, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// resolve returns the first label of the name of an address. The answer to RESOLVE-ADDRESS is
// "+ INTERFACE PROTOCOL ADDRESS NAME", or "-CODE TEXT".
func resolve(ctx context.Context, socket string, addr netip.Addr) (name string, err error) {
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return "", fmt.Errorf("ask Avahi: %w", err)
	}
	defer func() { _ = conn.Close() }() // it was only read
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return "", fmt.Errorf("ask Avahi: %w", err)
	}
	if _, err := fmt.Fprintf(conn, "RESOLVE-ADDRESS %s\n", addr); err != nil {
		return "", fmt.Errorf("ask Avahi: %w", err)
	}
	answer, err := bufio.NewReaderSize(conn, 1024).ReadSlice('\n')
	if err != nil {
		return "", fmt.Errorf("ask Avahi for the name of %s: %w", addr, err)
	}
	fields := strings.Fields(string(answer))
	if len(fields) != 5 || fields[0] != "+" {
		return "", fmt.Errorf("ask Avahi for the name of %s: it answered %q", addr, answer)
	}
	name, _, local := strings.Cut(strings.TrimSuffix(fields[4], "."), ".")
	if !local || name == "" {
		return "", fmt.Errorf("ask Avahi for the name of %s: %q is no name on the local network", addr, fields[4])
	}
	return name, nil
}

// Addresses returns the addresses of this host that others can reach, IPv4 first.
func Addresses() ([]netip.Addr, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("list the addresses of this host: %w", err)
	}
	var v4, v6 []netip.Addr
	for _, a := range all {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || !prefix.Addr().IsGlobalUnicast() {
			continue
		}
		if prefix.Addr().Is4() {
			v4 = append(v4, prefix.Addr())
		} else {
			v6 = append(v6, prefix.Addr())
		}
	}
	return append(v4, v6...), nil
}
