// Package netblock defines which addresses count as one client, for every limit
// that is counted by address.
//
// An IPv4 address is one client. A host on the internet can use every address of
// its IPv6 /64, so that counts as one client. On the local network a /64 has many
// hosts: there, each address is one client, and the /64 together may use only
// [Share] times the limit of a client, because one host can take many addresses.
package netblock

import (
	"net/netip"
	"slices"
)

// Share is the limit of a network, in limits of one client.
const Share = 8

// Blocks are the blocks in which an address is counted.
type Blocks struct {
	Host    netip.Prefix // one client; zero for the zero address
	Network netip.Prefix // its local IPv6 network; zero if only Host counts
}

// A Table finds the blocks of addresses. Nil is a table without prefixes of own
// interfaces.
type Table struct{ onLink func() []netip.Prefix }

// New returns a table. onLink returns the prefixes of the host's interfaces; it is
// called for every IPv6 address outside the reserved local ranges.
func New(onLink func() []netip.Prefix) *Table { return &Table{onLink} }

// Of returns the blocks of an address.
func (t *Table) Of(a netip.Addr) Blocks {
	a = a.Unmap().WithZone("")
	switch {
	case !a.IsValid():
		return Blocks{}
	case a.Is4():
		return Blocks{Host: netip.PrefixFrom(a, 32)}
	}
	network := netip.PrefixFrom(a, 64).Masked()
	if t.isNeighbor(a) {
		return Blocks{Host: netip.PrefixFrom(a, 128), Network: network}
	}
	return Blocks{Host: network}
}

// Client returns the identity of the client of an address: "address:" and its block.
func (t *Table) Client(a netip.Addr) string {
	block := t.Of(a).Host
	if block.IsSingleIP() {
		return "address:" + block.Addr().String()
	}
	return "address:" + block.String()
}

// isNeighbor reports whether other hosts of the local network have addresses in
// the same /64: it is link-local, a ULA, or of a prefix of an own interface.
func (t *Table) isNeighbor(a netip.Addr) bool {
	if a.IsLinkLocalUnicast() || a.IsPrivate() {
		return true
	}
	if t == nil || t.onLink == nil || a.IsLoopback() {
		return false
	}
	return slices.ContainsFunc(t.onLink(), func(p netip.Prefix) bool { return p.Bits() > 0 && p.Contains(a) })
}

// WideOf returns the network of an address, wide enough to identify no single
// host: /24, or /48 for IPv6. It is zero for the zero address.
func WideOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := 24
	if a.Is6() {
		bits = 48
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

// RemoteAddr returns the address of one end of a connection, such as
// "192.168.1.7:8888", without a zone, and an IPv4-mapped one as IPv4; the zero
// Addr unless that is an IP connection.
func RemoteAddr(end string) netip.Addr {
	ap, err := netip.ParseAddrPort(end)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// Display returns the address as which the browser of the wall display on this host counts,
// instead of a loopback address. No host of a network has it (RFC 3927, section 2.1: the
// first 256 addresses are reserved), and it is a local one.
func Display() netip.Addr { return netip.AddrFrom4([4]byte{169, 254, 0, 1}) }

// IsLocal reports whether an address belongs to this host or its local network:
// loopback, RFC 1918, RFC 4193 or link-local. The zero address does not.
func IsLocal(a netip.Addr) bool {
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
}
