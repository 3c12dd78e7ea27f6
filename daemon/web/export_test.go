package web

import (
	"errors"
	"net/netip"

	"pressbox/game/protocol"
	"pressbox/voice/announce"
)

// A Route is a row of the table of routes, with its path as in the document.
type Route struct{ Method, Path string }

// Routes returns the table.
func Routes() []Route {
	var all []Route
	for _, rt := range new(Server).routes() {
		all = append(all, Route{rt.method, openPath(rt.path)})
	}
	return all
}

// Bodies reads bodies as the document describes them.
type Bodies struct{ bodies }

// NewBodies compiles the document's schemas.
func NewBodies() (Bodies, error) {
	routes := new(Server).routes()
	text, err := document(routes, "")
	if err != nil {
		return Bodies{}, err
	}
	b, err := newBodies(text, routes)
	return Bodies{b}, err
}

// Parse reads a body into v, and says what a client would be told.
func (b Bodies) Parse(text []byte, schema string, v any) (status int, code string) {
	err := b.parse(text, schema, v)
	if err == nil {
		return 200, ""
	}
	p := explain(err)
	return p.Status, p.Code
}

// AllowHost says whether a server with these further names answers to a Host.
func AllowHost(header string, allowed ...string) bool {
	h, err := newHosts(allowed)
	if err != nil {
		panic(err)
	}
	return h.allow(header)
}

// CheckAllowedHost says why a name cannot be among the allowed ones.
func CheckAllowedHost(name string) error {
	_, err := newHosts([]string{name})
	return err
}

// ClientOf returns the address that a request comes from.
func ClientOf(trusted []netip.Prefix, peer netip.Addr, headers map[string][]string) netip.Addr {
	return proxies(trusted).client(peer, headers)
}

// Local says whether an address is of the local network.
func Local(a netip.Addr) bool { return local(a) }

// AtOnce returns what list says, and takes from changes what led there.
func AtOnce(changes <-chan announce.Event, list func() (queue, recent []announce.View)) (queue, recent []announce.View) {
	return atOnce(changes, list)
}

// A Request is a client's frame, read.
type Request struct{ Kind, Game, CID string }

// ParseFrame reads a client's frame, and says with which code it is refused.
func ParseFrame(text []byte) (r Request, code string) {
	read, err := parseFrame(text)
	r = Request{read.kind, read.game, read.cid}
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return r, string(refused.Code)
	}
	if err != nil {
		return r, err.Error()
	}
	return r, ""
}
