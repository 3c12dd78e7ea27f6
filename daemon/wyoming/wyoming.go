// Package wyoming serves speech to voice assistants, such as Home Assistant, by the Wyoming protocol: a client
// connects, asks which voices there are, sends text, and receives PCM as it is synthesized.
//
//	describe ─→ info
//	synthesize ─→ audio-start, audio-chunk …, audio-stop
//	synthesize-start, synthesize-chunk …, synthesize-stop
//	        ─→ audio-start, audio-chunk …, audio-stop for each sentence, synthesize-stopped
//	ping ─→ pong
//
// One law: a client can take nothing from others that HTTP would not give it. It is let in by its address, as
// the protocol has no credentials; requests count in NOTIFY_RATE and in the speech slots, and all frames in a
// rate of their own; and what is slow, idle or not in the protocol is disconnected. Audio goes only to the
// client that sent the text; nothing is announced.
package wyoming

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"pressbox/auth/netblock"
	"pressbox/daemon/limits"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
)

// Limits for clients.
const (
	idleTimeout  = 2 * time.Minute  // between two requests
	frameTimeout = 10 * time.Second // from the first byte of a frame to its last
	writeTimeout = 5 * time.Second  // of a response other than speech
	drainTimeout = 2 * time.Second  // for what a client sends after it was refused
	slotTimeout  = 10 * time.Second // until there is a speech slot
	stopTimeout  = 5 * time.Second  // for speech in progress when the server stops

	maxConns     = 64 // open at once
	maxConnsEach = 16 // of one client, except loopback

	maxDrained = 1 << 20 // bytes that are read after a client was refused

	framesPerMinute = 6000 // that are read from one client; further ones wait
	frameBurst      = 1000
)

// A Config holds what a [Server] uses. All fields but Open and LimitLoopback are required.
type Config struct {
	Version string // of the product
	Room    string // of this server
	Speaker announcer.Speaker
	// Check returns the announcement that is spoken for a request, or a [*announce.RequestError].
	Check  func(announce.Request) (announce.Announcement, error)
	Voices func() []Voice // those that can speak, the default one first

	Open          bool // to every address, instead of those of the local network
	Posts         *limits.Limiter
	Speeches      *limits.Slots
	Blocks        *netblock.Table
	LimitLoopback bool // counts loopback addresses in Posts, Speeches and frames as well
	// Track counts a connection until done is called; ok is false once the server stops.
	Track func() (done func(), ok bool)
	Log   *slog.Logger
}

// A Voice is an installed voice.
type Voice struct {
	Name       string
	Label      string // for people
	Language   string // such as "en_US"
	License    string // "" if unknown
	Speakers   []string
	SampleRate int
}

// A Server serves the Wyoming protocol.
type Server struct {
	Config
	frames *limits.Limiter
}

// New returns a server. It starts nothing; [Server.Serve] does.
func New(c Config) *Server {
	return &Server{c, limits.NewLimiter(c.Blocks, framesPerMinute, frameBurst)}
}

// Serve serves the connections of a listener until ctx ends. Then it closes the listener and the connections,
// gives speech in progress five seconds to end, and returns nil.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	exempt := func(a netip.Addr) bool { return a.IsLoopback() }
	limited := limits.Listen(ln, limits.Conns{Max: maxConns, Each: maxConnsEach, Exempt: exempt, Blocks: s.Blocks})
	return limits.Serve(ctx, limited, func(conn net.Conn) { s.serve(ctx, conn) })
}

// serve serves one connection, and closes it.
func (s *Server) serve(ctx context.Context, conn net.Conn) {
	defer conn.Close() //nolint:errcheck // everything has been written, or the client has gone
	addr := netblock.RemoteAddr(conn.RemoteAddr().String())
	if !s.Open && !netblock.IsLocal(addr) {
		return
	}
	done, ok := s.Track()
	if !ok {
		return
	}
	defer done()
	wake := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) }) // ends a read
	defer wake()
	speaking, cancel := limits.Linger(ctx, stopTimeout)
	defer cancel()
	newClient(s, conn, addr).serve(ctx, speaking)
}
