package pulse

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

// timeout limits each operation of the server: connecting, answering a request, accepting more sound.
const timeout = 5 * time.Second

// applicationID is the application.id of each Pressbox, whose streams no other lowers.
const applicationID = "pressbox"

// A connection is one session with the sound server. Its only goroutine is the library's read loop, which
// ends when the link is closed.
type connection struct {
	server        address
	client        *proto.Client
	link          *link
	index         uint32        // of this client
	cookie        uint32        // of this run of the server
	pipeWire      bool          // the server is PipeWire's
	closed        chan struct{} // closed at the end of the read loop
	sinksChanged  chan struct{} // capacity 1: sinks have changed
	inputsChanged chan struct{} // capacity 1: streams have changed

	mu    sync.Mutex
	flows map[uint32]*flow // by stream; an event may arrive before the stream's index is known
}

// dial connects to the first server that answers. The connection ends with ctx.
func dial(ctx context.Context, servers []address, cookie []byte) (*connection, error) {
	var failures []string
	for _, server := range servers {
		c, err := dialOne(ctx, server, cookie)
		if err == nil {
			return c, nil
		}
		failures = append(failures, fmt.Sprintf("%v: %v", server, err))
	}
	return nil, errors.New("no sound server: " + strings.Join(failures, "; "))
}

func dialOne(ctx context.Context, server address, cookie []byte) (*connection, error) {
	dialer := net.Dialer{Timeout: timeout}
	conn, err := dialer.DialContext(ctx, server.network, server.addr)
	if err != nil {
		if op, found := errors.AsType[*net.OpError](err); found {
			err = op.Err // without the address, which the caller adds
		}
		return nil, err
	}
	c := &connection{
		server:        server,
		client:        new(proto.Client),
		link:          newLink(conn),
		closed:        make(chan struct{}),
		sinksChanged:  make(chan struct{}, 1),
		inputsChanged: make(chan struct{}, 1),
		flows:         make(map[uint32]*flow),
	}
	c.client.Callback = c.handle // before Open, which may call it if the server closes at once
	c.client.SetTimeout(timeout)
	c.client.Open(c.link)
	stop := context.AfterFunc(ctx, func() { c.link.close(ctx.Err()) })
	defer stop()
	if err := c.handshake(cookie); err != nil {
		c.close(err)
		return nil, err
	}
	return c, nil
}

var (
	errAccessDenied = errors.New("the sound server denies access: it serves another user, or requires its cookie")
	errTimeout      = fmt.Errorf("the sound server has not answered for %v", timeout)
)

// handshake authenticates, sets the client's name and subscribes to changes of sinks and streams.
func (c *connection) handshake(cookie []byte) error {
	var auth proto.AuthReply
	err := c.request(&proto.Auth{Version: c.client.Version(), Cookie: cookie}, &auth)
	switch {
	case errors.Is(err, proto.ErrAccessDenied):
		return errAccessDenied
	case err != nil:
		return err
	}
	const minVersion = 21 // PulseAudio 1.0; has all fields that are used here
	if v := auth.Version.Version(); v < minVersion {
		return fmt.Errorf("the sound server's protocol version is %d, want at least %d", v, minVersion)
	}
	c.client.SetVersion(auth.Version)
	c.link.version.Store(int32(c.client.Version().Version())) //nolint:gosec // 16 bits
	name := proto.SetClientName{Props: proto.PropList{
		"application.name":       proto.PropListString("Pressbox"),
		"application.id":         proto.PropListString(applicationID),
		"application.icon_name":  proto.PropListString("audio-speakers"),
		"application.process.id": proto.PropListString(strconv.Itoa(os.Getpid())),
	}}
	var self proto.SetClientNameReply
	if err := c.request(&name, &self); err != nil {
		return fmt.Errorf("set the client name: %w", err)
	}
	var about proto.GetServerInfoReply
	if err := c.request(new(proto.GetServerInfo), &about); err != nil {
		return fmt.Errorf("query the sound server: %w", err)
	}
	c.index, c.cookie, c.pipeWire = self.ClientIndex, about.Cookie, strings.Contains(about.PackageName, "PipeWire")
	events := proto.Subscribe{
		Mask: proto.SubscriptionMaskSink | proto.SubscriptionMaskServer | proto.SubscriptionMaskSinkInput,
	}
	if err := c.request(&events, nil); err != nil {
		return fmt.Errorf("subscribe to changes of sinks and streams: %w", err)
	}
	return nil
}

// request sends a request and waits for the reply. It closes the connection after a timeout, because the
// library would still write to reply.
func (c *connection) request(args proto.RequestArgs, reply proto.Reply) error {
	err := c.client.Request(args, reply)
	var refused proto.Error
	if err == nil || errors.As(err, &refused) {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		c.link.close(errTimeout)
	}
	<-c.closed
	return lost(c.link.closeCause())
}

// handle processes an event from the server. It runs in the library's read loop and must not block.
func (c *connection) handle(message any) {
	switch m := message.(type) {
	case *proto.Request:
		c.flow(m.StreamIndex).grant(int(m.Length))
	case *proto.PlaybackStreamKilled:
		c.flow(m.StreamIndex).kill()
	case *proto.PlaybackStreamMoved:
		c.flow(m.StreamIndex).move(placement{
			sink:         m.DestIndex,
			bufferTarget: int(m.BufferTargetLength),
			minRequest:   int(m.BufferMinimumRequest),
			latency:      boundedLatency(m.SinkLatency),
		})
	case *proto.PlaybackBufferAttrChanged:
		f := c.flow(m.StreamIndex)
		f.move(placement{
			sink:         f.current().sink,
			bufferTarget: int(m.BufferTargetLength),
			minRequest:   int(m.BufferMinimumRequest),
			latency:      boundedLatency(m.SinkLatency),
		})
	case *proto.SubscribeEvent:
		if m.Event.GetFacility() == proto.EventSinkSinkInput {
			signal(c.inputsChanged)
		} else {
			signal(c.sinksChanged)
		}
	case *proto.ConnectionClosed:
		close(c.closed)
	}
}

// close closes the connection and returns once the read loop has ended.
func (c *connection) close(cause error) {
	c.link.close(cause)
	<-c.closed
}

func (c *connection) flow(index uint32) *flow {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.flows[index]
	if f == nil {
		f = newFlow()
		c.flows[index] = f
	}
	return f
}

// forget drops the flow of a deleted stream.
func (c *connection) forget(index uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flows, index)
}

// signal puts a token into c unless it is full.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
