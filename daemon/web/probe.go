package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"sync"

	"pressbox/auth/netblock"
)

// probeHeader identifies a request of [Server.Probe].
const probeHeader = "Pressbox-Probe"

// ErrNotThisServer reports that a probe did not arrive at this server.
var ErrNotThisServer = errors.New("another server answers")

// An Arrival is how a probe arrived.
type Arrival struct {
	Peer      netip.Addr // the other end of the connection
	Direct    bool       // no proxy is between the sender and the server
	Forwarded bool       // with a header that names a client
	Trusted   bool       // the peer is a trusted proxy
}

// probes holds the arrivals of the probes that are on the way.
type probes struct {
	mu      sync.Mutex // guards arrived
	arrived map[string]*probed
}

type probed struct {
	remote string // RemoteAddr of the request; "" until it has arrived
	named  bool
}

// record notes a request that is a probe. Requests with other values of the header
// are not recorded.
func (p *probes) record(r *http.Request) {
	id := r.Header.Get(probeHeader)
	if id == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if one, ok := p.arrived[id]; ok {
		one.remote = r.RemoteAddr
		one.named = r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != ""
	}
}

// Probe sends a request to the server's public origin with client, and returns how
// it arrived. The error is [ErrNotThisServer] if it was answered elsewhere.
func (s *Server) Probe(ctx context.Context, client *http.Client, origin string) (Arrival, error) {
	id, result := rand.Text(), &probed{}
	s.probes.mu.Lock()
	if s.probes.arrived == nil {
		s.probes.arrived = map[string]*probed{}
	}
	s.probes.arrived[id] = result
	s.probes.mu.Unlock()
	defer func() {
		s.probes.mu.Lock()
		defer s.probes.mu.Unlock()
		delete(s.probes.arrived, id)
	}()
	local, err := sendProbe(ctx, client, origin, id)
	if err != nil {
		return Arrival{}, err
	}
	s.probes.mu.Lock()
	defer s.probes.mu.Unlock()
	if result.remote == "" {
		return Arrival{}, ErrNotThisServer
	}
	peer := netblock.RemoteAddr(result.remote)
	return Arrival{
		Peer: peer, Direct: result.remote == local, Forwarded: result.named,
		Trusted: s.requests.proxies.trust(peer),
	}, nil
}

// sendProbe sends a probe, and returns the local address of its connection.
func sendProbe(ctx context.Context, client *http.Client, origin, id string) (local string, err error) {
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { local = c.Conn.LocalAddr().String() }}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace),
		http.MethodGet, origin+"/health", http.NoBody)
	if err != nil {
		return "", fmt.Errorf("build a request to %s: %w", origin, err)
	}
	r.Header.Set(probeHeader, id)
	resp, err := client.Do(r)
	if err != nil {
		return "", err
	}
	return local, resp.Body.Close()
}
