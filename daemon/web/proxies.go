package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies holds the reverse proxies whose forwarding headers are trusted.
type proxies []netip.Prefix

func (p proxies) trust(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(net netip.Prefix) bool { return net.Contains(a) })
}

// client returns the address that a request comes from. Without forwarding
// headers that is the peer; with those of a trusted proxy, the address in them.
// It is the zero Addr, unknown, if the peer sends headers and is not trusted, if
// they are ambiguous, or if a trusted proxy sends none. Without headers, a proxy at a
// loopback address looks like a program on this host; see [Server.Probe].
func (p proxies) client(peer netip.Addr, h http.Header) netip.Addr {
	forwardedFor, forwarded := h.Values("X-Forwarded-For"), h.Values("Forwarded")
	switch {
	case len(forwardedFor) == 0 && len(forwarded) == 0:
		silent := p.trust(peer) && !peer.IsLoopback() // programs on this host need no header
		if silent || len(h.Values("X-Real-Ip")) > 0 { // a proxy, but this header has no chain
			return netip.Addr{}
		}
		return peer
	case !p.trust(peer):
		return netip.Addr{}
	case len(forwarded) == 0:
		return p.origin(forwardedForHops(forwardedFor))
	case len(forwardedFor) == 0:
		return p.origin(forwardedHops(forwarded))
	}
	// A proxy writes one of the two and may pass on the other from the client:
	// only an address in both is certain.
	one, other := p.origin(forwardedForHops(forwardedFor)), p.origin(forwardedHops(forwarded))
	if one != other {
		return netip.Addr{}
	}
	return one
}

// origin returns the last of the hops that is not itself a trusted proxy; the
// first one when all are.
func (p proxies) origin(hops []string) netip.Addr {
	var a netip.Addr
	for _, hop := range slices.Backward(hops) {
		a = hopAddr(hop)
		if !a.IsValid() || !p.trust(a) {
			return a
		}
	}
	return a
}

// forwardedForHops returns the hops of X-Forwarded-For headers, nearest last.
func forwardedForHops(values []string) []string {
	return strings.Split(strings.Join(values, ","), ",")
}

// forwardedHops returns the for= nodes of Forwarded headers (RFC 7239 §4),
// nearest last. A hop without a valid for= is "".
func forwardedHops(values []string) []string {
	var hops []string
	for _, value := range values {
		if strings.Count(value, `"`)%2 != 0 { // an open quote from the client hides what follows
			hops = append(hops, "")
			continue
		}
		for _, element := range splitQuoted(value, ',') {
			hops = append(hops, forNode(element))
		}
	}
	return hops
}

// forNode returns the for= node of one element of a Forwarded header; "" unless
// it has exactly one.
func forNode(element string) string {
	node := ""
	for _, pair := range splitQuoted(element, ';') {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if !strings.EqualFold(name, "for") {
			continue
		}
		if node != "" {
			return ""
		}
		node = strings.Trim(value, `"`)
	}
	return node
}

// splitQuoted splits s at each sep outside double quotes.
func splitQuoted(s string, sep byte) []string {
	var parts []string
	start, quoted := 0, false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == sep && !quoted:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

// hopAddr parses one hop: an address, with or without a port, IPv6 with or
// without brackets. It returns the zero Addr for a name, "unknown" or "_hidden".
func hopAddr(hop string) netip.Addr {
	hop = strings.TrimSpace(hop)
	if ap, err := netip.ParseAddrPort(hop); err == nil {
		return NormalizeAddr(ap.Addr())
	}
	if inner, ok := strings.CutPrefix(hop, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return netip.Addr{}
		}
		hop = inner
	}
	a, err := netip.ParseAddr(hop)
	if err != nil {
		return netip.Addr{}
	}
	return NormalizeAddr(a)
}

// NormalizeAddr returns an address in the form for comparison: IPv4-mapped
// addresses as IPv4, without a zone.
func NormalizeAddr(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }
