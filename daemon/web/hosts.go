package web

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// hosts says under which names the daemon may be asked. A page on the internet
// can make its own name point at this machine (DNS rebinding), and is then, to
// a browser, of the same origin; so only names that the internet cannot give
// out are answered to: IP addresses, localhost, names without a dot, those
// under .local (RFC 6762) and .home.arpa (RFC 8375), this machine's own, and
// those that the operator listed.
type hosts struct {
	names    []string // lower case, without a final dot
	suffixes []string // such as ".local"
}

func newHosts(allowed []string) (hosts, error) {
	h := hosts{suffixes: []string{".localhost", ".local", ".home.arpa"}}
	if own, err := os.Hostname(); err == nil {
		h.names = append(h.names, canonicalHost(own))
	}
	for _, entry := range allowed {
		name := canonicalHost(strings.TrimSpace(entry))
		if suffix, ok := strings.CutPrefix(name, "*"); ok && strings.HasPrefix(suffix, ".") && len(suffix) > 1 {
			h.suffixes = append(h.suffixes, suffix)
			continue
		}
		if _, err := netip.ParseAddr(name); err == nil { // of addresses, all but a few are answered to
			continue
		}
		if name == "" || strings.ContainsAny(name, "*/:@ ") {
			return hosts{}, fmt.Errorf("allowed host %q: expected a name, or *.name", entry)
		}
		h.names = append(h.names, name)
	}
	return h, nil
}

// allow says whether a Host header is one that the daemon answers to.
func (h hosts) allow(header string) bool {
	host, ok := hostOf(header)
	if !ok {
		return false
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return !a.IsUnspecified() && a.Zone() == ""
	}
	if slices.Contains(h.names, host) {
		return true
	}
	if !strings.Contains(host, ".") {
		return true
	}
	return slices.ContainsFunc(h.suffixes, func(suffix string) bool {
		return strings.HasSuffix(host, suffix) && len(host) > len(suffix)
	})
}

// hostOf returns the host of a Host header in its canonical form, without its
// port, and whether the header is well formed. A name whose last label is a
// number is not: browsers take it for an address.
func hostOf(header string) (host string, ok bool) {
	host = header
	if strings.HasPrefix(header, "[") || strings.Count(header, ":") == 1 {
		name, port, err := net.SplitHostPort(header)
		switch {
		case err == nil && isDigits(port):
			host = name
		case strings.HasPrefix(header, "[") && strings.HasSuffix(header, "]"):
			host = header[1 : len(header)-1]
		default:
			return "", false
		}
		if strings.HasPrefix(header, "[") {
			a, err := netip.ParseAddr(host)
			return host, err == nil && a.Is6()
		}
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return host, a.Is4()
	}
	host = canonicalHost(host)
	last := host[strings.LastIndexByte(host, '.')+1:]
	return host, isName(host) && !isDigits(last)
}

func canonicalHost(host string) string {
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// isName says whether every label of a name is made of letters, digits,
// hyphens and underscores.
func isName(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return len(host) <= 253
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
