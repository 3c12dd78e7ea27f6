package web

import (
	"net"
	"net/netip"
	"reflect"
)

// Schemas holds the schemas of request bodies.
type Schemas struct{ schemas }

// CompileSchemas returns the request schemas of a document.
func CompileSchemas(document []byte, routes []Route) (Schemas, error) {
	all, err := compileSchemas(document, routes)
	return Schemas{all}, err
}

// Decode decodes a body that the schema of a request's type accepts into v, and returns the status and code of the
// problem, 200 without one.
func (c Schemas) Decode(text []byte, request, v any) (status int, code string) {
	err := schemas{reflect.TypeOf(v).Elem(): c.schemas[reflect.TypeOf(request)]}.decode(text, v)
	if err == nil {
		return 200, ""
	}
	p := problemOf(err, nil)
	return p.Status, p.Code
}

// AllowHost reports whether a server with these AllowedHosts accepts a Host header.
func AllowHost(header string, allowed ...string) bool {
	h, err := newHosts(allowed)
	if err != nil {
		panic(err)
	}
	return h.allow(header)
}

// CheckAllowedHost returns an error if AllowedHosts cannot have the name.
func CheckAllowedHost(name string) error {
	_, err := newHosts([]string{name})
	return err
}

// ClientOf returns the address of a request's client.
func ClientOf(trusted []netip.Prefix, peer netip.Addr, headers map[string][]string) netip.Addr {
	return proxies(trusted).client(peer, headers)
}

// PeerOf returns the user and the groups of the peer of a connection.
func PeerOf(conn *net.UnixConn) (uid int, groups []uint32, err error) {
	p, err := peerOf(conn)
	return p.uid, p.groups, err
}

// Administers reports whether a user may administer through a socket.
func Administers(uid int, groups []uint32, socket string) bool {
	return peer{uid, groups}.administers(socket)
}
