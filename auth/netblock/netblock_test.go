package netblock_test

import (
	"net/netip"
	"testing"

	"pressbox/auth/netblock"
	"pressbox/packaging/check"
)

func TestTable_of(t *testing.T) {
	t.Parallel()
	const none = "invalid Prefix"
	var own []netip.Prefix
	for _, p := range []string{"2001:db8:1:2::/64", "192.168.1.0/24", "::/0"} {
		own = append(own, netip.MustParsePrefix(p))
	}
	table := netblock.New(func() []netip.Prefix { return own })
	for _, tt := range []struct{ addr, host, network string }{
		{"192.168.1.7", "192.168.1.7/32", none},
		{"203.0.113.7", "203.0.113.7/32", none},
		{"::ffff:192.168.1.7", "192.168.1.7/32", none},
		{"fe80::1%eth0", "fe80::1/128", "fe80::/64"},
		{"fd00:1:2:3::7", "fd00:1:2:3::7/128", "fd00:1:2:3::/64"},
		{"2001:db8:1:2::7", "2001:db8:1:2::7/128", "2001:db8:1:2::/64"},
		{"2001:db8:1:3::7", "2001:db8:1:3::/64", none},
		{"::1", "::/64", none},
	} {
		got := table.Of(netip.MustParseAddr(tt.addr))
		check.That(t, got.Host.String() == tt.host && got.Network.String() == tt.network,
			"%s: %v, want %s and %q", tt.addr, got, tt.host, tt.network)
	}
	check.Equal(t, table.Of(netip.Addr{}), netblock.Blocks{}, "no address")
	var without *netblock.Table
	check.Equal(t, without.Of(netip.MustParseAddr("2001:db8:1:2::7")).Host.Bits(), 64, "without interfaces: the bits")
}

func TestIsLocal_ranges(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"127.0.0.1": true, "127.255.255.255": true, "::1": true,
		"10.0.0.0": true, "10.255.255.255": true, "9.255.255.255": false, "11.0.0.0": false,
		"172.15.255.255": false, "172.16.0.0": true, "172.31.255.255": true, "172.32.0.0": false,
		"192.167.255.255": false, "192.168.0.0": true, "192.168.255.255": true, "192.169.0.0": false,
		"169.254.1.1": true, "169.253.255.255": false, "fe80::1": true, "fec0::1": false,
		"fc00::1": true, "fdff::1": true, "fe00::1": false, "2001:db8::1": false,
		"100.64.0.1": false, "0.0.0.0": false, "203.0.113.5": false,
	} {
		check.Equal(t, netblock.IsLocal(netip.MustParseAddr(address)), want, "%s local", address)
	}
}
