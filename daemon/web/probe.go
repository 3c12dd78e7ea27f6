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

// probes holds a channel of [probed] for each probe that is on the way, by its id.
type probes struct{ sync.Map }

// A probed is a request with a probe that has arrived.
type probed struct {
	remote string // its RemoteAddr
	named  bool
}

// record notes a request that is a probe. Requests with other values of the header
// are not recorded.
func (p *probes) record(r *http.Request) {
	found, _ := p.LoadAndDelete(r.Header.Get(probeHeader))
	if arrived, ok := found.(chan probed); ok {
		arrived <- probed{r.RemoteAddr, r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != ""}
	}
}

// Probe sends a request to the server's public origin with client, and returns how
// it arrived. The error is [ErrNotThisServer] if it was answered elsewhere.
func (s *Server) Probe(ctx context.Context, client *http.Client, origin string) (Arrival, error) {
	id, arrived := rand.Text(), make(chan probed, 1)
	s.probes.Store(id, arrived)
	defer s.probes.Delete(id)
	local, err := sendProbe(ctx, client, origin, id)
	if err != nil {
		return Arrival{}, err
	}
	select {
	case one := <-arrived:
		peer := netblock.RemoteAddr(one.remote)
		return Arrival{peer, one.remote == local, one.named, s.requests.proxies.trust(peer)}, nil
	default:
		return Arrival{}, ErrNotThisServer
	}
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
