package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// hosts holds the Host names that the server accepts. A page on the internet can
// resolve its own name to this host (DNS rebinding), and then has the same
// origin. So the server accepts only names that cannot be registered: IP
// addresses, localhost, names without a dot, names under .local (RFC 6762), .home.arpa
// (RFC 8375), .internal (reserved by ICANN for private use) and those that routers give
// out and that no registry has, the name of the host, also as a router of AVM gives it out, and the configured ones.
type hosts struct {
	names    []string // lower case, without a final dot
	suffixes []string // such as ".local"
}

func newHosts(allowed []string) (hosts, error) {
	h := hosts{suffixes: []string{".localhost", ".local", ".home.arpa", ".internal", ".lan", ".home", ".localdomain"}}
	if own, err := os.Hostname(); err == nil {
		name, _, _ := strings.Cut(canonicalHost(own), ".")
		h.names = append(h.names, canonicalHost(own), name+".fritz.box")
	}
	for _, entry := range allowed {
		name := canonicalHost(strings.TrimSpace(entry))
		if suffix, ok := strings.CutPrefix(name, "*"); ok && strings.HasPrefix(suffix, ".") && len(suffix) > 1 {
			h.suffixes = append(h.suffixes, suffix)
			continue
		}
		if _, err := netip.ParseAddr(name); err == nil { // addresses are accepted anyway
			continue
		}
		if name == "" || strings.ContainsAny(name, "*/:@ ") {
			return hosts{}, fmt.Errorf("allowed host %q: want a name or *.name", entry)
		}
		h.names = append(h.names, name)
	}
	return h, nil
}

// allowRequest reports whether the server accepts the Host of a request. HTTP/1.0 needs none, and no browser speaks it.
func (h hosts) allowRequest(r *http.Request) bool {
	return h.allow(r.Host) || r.Host == "" && !r.ProtoAtLeast(1, 1)
}

// allow reports whether the server accepts a Host header.
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

// hostOf returns the host of a Host header in canonical form, without its port,
// and reports whether the header is valid. A name whose last label is a number
// is invalid: browsers parse it as an address.
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

// isName reports whether host has at most 253 bytes and labels of 1 to 63
// letters, digits, hyphens and underscores.
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
