// Package esphome is the speaker that Home Assistant finds by itself: a media player and a voice assistant that
// announces, by ESPHome's native API. Home Assistant connects, asks what there is, and sends commands; what it wants
// played becomes an announcement like any other.
//
//	hello, authentication, device info, list of entities, states, ping, disconnect ─→ their responses
//	media player command: a URL ─→ fetched from the client, saved, announced
//	                      volume, mute, stop ─→ the controls
//	announce request: a text ─→ announced, then announce finished
//
// One law: whatever a client asks for is an announcement with the limits of its address, or a change that
// CONTROL_ACCESS permits; and the server connects to nothing but the address of the client itself.
package esphome

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"pressbox/auth/netblock"
	"pressbox/daemon/esphome/frame"
	"pressbox/daemon/limits"
	"pressbox/voice/announce"
	"pressbox/voice/announce/draft"
	"pressbox/voice/control"
	"pressbox/voice/sounds"
)

// Limits for clients.
const (
	idleTimeout  = 2 * time.Minute  // between two messages; clients ping after 20 s
	frameTimeout = 10 * time.Second // from the first byte of a message to its last, and for a handshake
	writeTimeout = idleTimeout      // a shorter one would wake the processor after each message
	firstByte    = 10 * time.Second // of what is fetched
	stopTimeout  = 5 * time.Second  // for what is being fetched when the server stops

	maxConns     = 8 // open at once
	maxConnsEach = 2 // of one client

	maxWaiting = 16 // commands of a client that wait to be carried out

	messagesPerMinute = 6000 // that are read from one client; further ones wait
	messageBurst      = 1000

	recordingCost = 10 // announcements as which one of a recording counts
)

// A Config holds what a [Server] uses. All fields but Area, Open, LimitLoopback and Dial are required.
type Config struct {
	ID      string // of the store: ten hexadecimal digits or more
	Room    string // of this server
	Area    string // in Home Assistant; "" means none
	Version string // of the product
	// Key returns the key of [frame.KeySize] bytes without which clients are refused; nil means that there is none.
	Key func() ([]byte, error)

	Open       bool            // to every address, instead of those of the local network
	MayControl func() bool     // CONTROL_ACCESS permits clients to change the volume
	Posts      *limits.Limiter // of announcements by address
	// AllowVolume and AllowStop count a change by an address, and report whether it is permitted.
	AllowVolume, AllowStop func(netip.Addr) bool
	Blocks                 *netblock.Table
	LimitLoopback          bool // counts loopback addresses in Posts and messages as well
	// Track counts a connection until done is called; ok is false once the server stops.
	Track func() (done func(), ok bool)

	Announcer  Announcer
	Controls   Controls
	Changes    func() (changes <-chan control.Change, stop func())
	Recordings Recordings
	SampleRate uint64 // of what is fetched
	// Dial connects to a client; nil: over the network.
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Refused func(string) // is told why something is not announced
	Log     *slog.Logger
}

// An Announcer speaks announcements; [*announcer.Announcer] does.
type Announcer interface {
	draft.Announcer
	Queue
	Cancel(ctx context.Context, id string) (announce.View, error)
	CancelWaiting(ctx context.Context, scheduled func(announce.Sender) bool) (int, error)
}

// A Queue is the announcements that an [Announcer] has.
type Queue interface {
	Find(id string) (announce.View, error)
	Stats() announce.Stats
	Watch() (events <-chan announce.Event, stop func())
}

// Controls hold the volume; [*control.Controls] does.
type Controls interface {
	Volume() control.Volume
	SetVolume(ctx context.Context, volume *int, muted *bool) (control.Volume, error)
}

// Recordings keep sounds until they have been announced; [*sounds.Sounds] does.
type Recordings interface {
	Record(ctx context.Context, id, client string, l sounds.Limits, file io.Reader) (time.Duration, error)
	Forget(id string)
}

// A Server serves ESPHome's native API.
type Server struct {
	Config
	messages *limits.Limiter
	locked   sync.Once // it has been logged that the volume cannot be changed
}

// New returns a server. It starts nothing; [Server.Serve] does.
func New(c Config) *Server {
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	return &Server{Config: c, messages: limits.NewLimiter(c.Blocks, messagesPerMinute, messageBurst)}
}

// MAC returns the address that identifies a server with a store's id, 12 hexadecimal digits: a locally administered one
// (IEEE 802, clause 8.4).
func MAC(id string) string { return "0200" + id[:min(len(id), 8)] }

// Name returns the name of the device of a room.
func Name(room string) string { return "pressbox-" + room }

// FriendlyName returns the name of the device of a room for people.
func FriendlyName(room string) string { return "Pressbox " + room }

// ServiceType is the type of the service that the local network knows the server by.
const ServiceType = "_esphomelib._tcp"

// Records returns what the service is announced with. Home Assistant needs the MAC address.
func (s *Server) Records() map[string]string {
	records := map[string]string{
		"mac": MAC(s.ID), "friendly_name": FriendlyName(s.Room), "version": esphomeVersion,
		"platform": "host", "network": "ethernet",
	}
	if key, err := s.Key(); key != nil || err != nil {
		records["api_encryption"] = "Noise_NNpsk0_25519_ChaChaPoly_SHA256"
	}
	return records
}

// Serve serves the connections of a listener until ctx ends. Then it closes the listener and the connections, gives
// what is being fetched five seconds, and returns nil.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	limited := limits.Listen(ln, limits.Conns{Max: maxConns, Each: maxConnsEach, Blocks: s.Blocks})
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
	timed := &timedConn{Conn: conn, ctx: ctx}
	wake := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // ends what is read and written
	defer wake()
	key, err := s.Key()
	if err != nil {
		s.Log.Error("esphome key not read", "err", err)
		return
	}
	c := &client{Server: s, conn: timed, addr: addr, work: make(chan func(context.Context), maxWaiting)}
	timed.begin(frameTimeout)
	own := frame.Peer{Name: Name(s.Room), MAC: MAC(s.ID)}
	if c.Transport, err = frame.Accept(timed, key, own); err == nil {
		err = c.serve(ctx)
	}
	c.logEnd(ctx, err)
}

// A timedConn is a connection whose reads and writes end in time, and with a context. It sets deadlines where it waits
// only: each one that passes wakes the processor.
type timedConn struct {
	net.Conn
	ctx  context.Context //nolint:containedctx // of the server
	read time.Time       // until when reads wait
}

// begin sets the time for what is read next.
func (c *timedConn) begin(d time.Duration) { c.read = time.Now().Add(d) }

// Read reads until the time has passed, or the context ends.
func (c *timedConn) Read(p []byte) (int, error) {
	_ = c.SetReadDeadline(c.read) // if that fails, so does the read
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write writes in time, or not at all once the context has ended.
func (c *timedConn) Write(p []byte) (int, error) {
	_ = c.SetWriteDeadline(time.Now().Add(writeTimeout)) // as above
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
