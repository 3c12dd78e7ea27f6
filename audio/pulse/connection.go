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

// patience is how long the server may take for anything: to be connected to,
// to answer a request, to take more sound.
const patience = 5 * time.Second

// A connection is one conversation with the sound server. Its only goroutine
// is the library's read loop, which ends when the link is closed.
type connection struct {
	client  *proto.Client
	link    *link
	gone    chan struct{} // closed as the read loop's last act
	changed chan struct{} // holds one token when sinks have changed

	mu    sync.Mutex
	feeds map[uint32]*feed // by stream; the server may speak of one before we know its index
}

// dial connects to the first server that answers. The connection ends with
// ctx.
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
	dialer := net.Dialer{Timeout: patience}
	conn, err := dialer.DialContext(ctx, server.network, server.at)
	if err != nil {
		if op, found := errors.AsType[*net.OpError](err); found {
			err = op.Err // op would name the address once more
		}
		return nil, err
	}
	c := &connection{
		client:  new(proto.Client),
		link:    newLink(conn),
		gone:    make(chan struct{}),
		changed: make(chan struct{}, 1),
		feeds:   make(map[uint32]*feed),
	}
	c.client.Callback = c.hear // before Open: the library calls it when the server hangs up at once
	c.client.SetTimeout(patience)
	c.client.Open(c.link)
	stop := context.AfterFunc(ctx, func() { c.link.close(ctx.Err()) })
	defer stop()
	if err := c.greet(cookie); err != nil {
		c.close(err)
		return nil, err
	}
	return c, nil
}

var (
	errRejected   = errors.New("the sound server refuses us: it serves another user, or wants its cookie")
	errUnanswered = fmt.Errorf("the sound server has not answered for %v", patience)
)

// greet makes us known and asks to be told about sinks.
func (c *connection) greet(cookie []byte) error {
	var auth proto.AuthReply
	err := c.request(&proto.Auth{Version: c.client.Version(), Cookie: cookie}, &auth)
	switch {
	case errors.Is(err, proto.ErrAccessDenied):
		return errRejected
	case err != nil:
		return err
	}
	const oldest = 21 // PulseAudio 1.0; the fields that we send and read
	if v := auth.Version.Version(); v < oldest {
		return fmt.Errorf("the sound server speaks version %d of its protocol, want %d at least", v, oldest)
	}
	c.client.SetVersion(auth.Version)
	us := proto.SetClientName{Props: proto.PropList{
		"application.name":       proto.PropListString("Pressbox"),
		"application.id":         proto.PropListString("pressbox"),
		"application.icon_name":  proto.PropListString("audio-speakers"),
		"application.process.id": proto.PropListString(strconv.Itoa(os.Getpid())),
	}}
	if err := c.request(&us, new(proto.SetClientNameReply)); err != nil {
		return fmt.Errorf("introduce ourselves: %w", err)
	}
	events := proto.Subscribe{Mask: proto.SubscriptionMaskSink | proto.SubscriptionMaskServer}
	if err := c.request(&events, nil); err != nil {
		return fmt.Errorf("listen for changes of sinks: %w", err)
	}
	return nil
}

// request asks the server and waits for its answer. A server that does not
// answer is one that we leave: the library would still write to reply.
func (c *connection) request(args proto.RequestArgs, reply proto.Reply) error {
	err := c.client.Request(args, reply)
	var refused proto.Error
	if err == nil || errors.As(err, &refused) {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		c.link.close(errUnanswered)
	}
	<-c.gone
	return lost(c.link.why())
}

// hear takes what the server says unasked. It runs in the library's read
// loop and must not wait for anything.
func (c *connection) hear(message any) {
	switch m := message.(type) {
	case *proto.Request:
		c.feed(m.StreamIndex).grant(int(m.Length))
	case *proto.PlaybackStreamKilled:
		c.feed(m.StreamIndex).kill()
	case *proto.PlaybackStreamMoved:
		c.feed(m.StreamIndex).move(placement{
			sink:   m.DestIndex,
			target: int(m.BufferTargetLength),
			least:  int(m.BufferMinimumRequest),
			lag:    lag(m.SinkLatency),
		})
	case *proto.PlaybackBufferAttrChanged:
		f := c.feed(m.StreamIndex)
		f.move(placement{
			sink:   f.place().sink,
			target: int(m.BufferTargetLength),
			least:  int(m.BufferMinimumRequest),
			lag:    lag(m.SinkLatency),
		})
	case *proto.SubscribeEvent:
		notify(c.changed)
	case *proto.ConnectionClosed:
		close(c.gone)
	}
}

// close hangs up and returns when nothing of the connection runs any more.
func (c *connection) close(cause error) {
	c.link.close(cause)
	<-c.gone
}

// feed returns what the server has said of a stream.
func (c *connection) feed(index uint32) *feed {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.feeds[index]
	if f == nil {
		f = newFeed()
		c.feeds[index] = f
	}
	return f
}

// forget drops what is known of a stream that is no more.
func (c *connection) forget(index uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.feeds, index)
}

// notify leaves a token in a channel that holds one.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
