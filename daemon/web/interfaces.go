package web

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// interfacesAge is the time for which the prefixes of the host's interfaces are
// cached.
const interfacesAge = 30 * time.Second

// InterfacePrefixes returns a function that returns the prefixes of the addresses
// of the host's interfaces, at most 30 seconds old; none if they cannot be read.
func InterfacePrefixes() func() []netip.Prefix {
	var mu sync.Mutex // guards the variables below
	var read time.Time
	var prefixes []netip.Prefix
	return func() []netip.Prefix {
		mu.Lock()
		defer mu.Unlock()
		if read.IsZero() || time.Since(read) > interfacesAge {
			prefixes, read = interfacePrefixes(), time.Now()
		}
		return prefixes
	}
}

func interfacePrefixes() []netip.Prefix {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var prefixes []netip.Prefix
	for _, one := range all {
		if prefix, err := netip.ParsePrefix(one.String()); err == nil {
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes
}
