package mqtt

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
	"golang.org/x/time/rate"
)

// A connection is one connection to the broker.
type connection struct {
	config *Config
	limit  *rate.Limiter // of the session
	client *paho.Client
	conn   net.Conn
	token  atomic.Pointer[string] // of the broker's session; set before the first message is processed
	ready  chan struct{}          // closed when token is set, or the connection is closed
	ended  chan error             // capacity 1: why it ended
	closed atomic.Bool            // nothing more is processed or acknowledged

	dropped rate.Sometimes // logs it

	// ids are the digests of the messages processed with each packet identifier. Only the
	// handlers' goroutine uses it.
	ids map[uint16]digest
}

// A digest identifies the topic and payload of a message.
type digest [16]byte

// connect returns a connection; messages of an earlier one may already arrive.
func (s *Session) connect(ctx context.Context) (*connection, error) {
	dialing, cancel := context.WithTimeout(ctx, packetTimeout)
	defer cancel()
	conn, err := s.config.dial(dialing)
	if err != nil {
		return nil, err
	}
	hello, err := s.config.hello()
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	c := s.newConnection(conn)
	c.client = paho.NewClient(paho.ClientConfig{
		Conn: conn, PacketTimeout: packetTimeout, AuthHandler: noAuther{},
		// The library acknowledges a message when this returns. Its manual acknowledgements
		// would cost a timer of 50 ms.
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(p paho.PublishReceived) (bool, error) {
			c.receive(ctx, p.Packet)
			return true, nil
		}},
		OnClientError: c.end,
		OnServerDisconnect: func(d *paho.Disconnect) {
			c.end(fmt.Errorf("the broker ended the connection: reason %#x", d.ReasonCode))
		},
	})
	ack, err := c.client.Connect(ctx, hello)
	if err != nil {
		if ack != nil && ack.ReasonCode >= 0x80 {
			err = fmt.Errorf("the broker refuses the connection: %s", connackReason(ack.ReasonCode))
		}
		return nil, err
	}
	token, err := s.token(ctx, ack.SessionPresent)
	if err != nil {
		c.close()
		return nil, err
	}
	c.token.Store(&token)
	close(c.ready)
	return c, nil
}

func (s *Session) newConnection(conn net.Conn) *connection {
	return &connection{
		config: &s.config, limit: s.limit, dropped: rate.Sometimes{Interval: time.Minute},
		conn: conn, ready: make(chan struct{}), ended: make(chan error, 1), ids: map[uint16]digest{},
	}
}

// dial returns a network connection to the broker.
func (c *Config) dial(ctx context.Context) (net.Conn, error) {
	dialer, port := net.Dialer{KeepAlive: -1}, "1883" // MQTT has pings
	dial := dialer.DialContext
	if c.URL.Scheme == "mqtts" {
		config := &tls.Config{MinVersion: tls.VersionTLS12}
		if c.CAFile != "" {
			pem, err := os.ReadFile(c.CAFile)
			if err != nil {
				return nil, fmt.Errorf("read the certificates of MQTT_CA_FILE: %w", err)
			}
			config.RootCAs = x509.NewCertPool()
			if !config.RootCAs.AppendCertsFromPEM(pem) {
				return nil, fmt.Errorf("MQTT_CA_FILE %s has no certificate in PEM form", c.CAFile)
			}
		}
		dial, port = (&tls.Dialer{NetDialer: &dialer, Config: config}).DialContext, "8883"
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(c.URL.Hostname(), cmp.Or(c.URL.Port(), port)))
	if err != nil {
		return nil, err
	}
	return packets.NewThreadSafeConn(&boundedConn{Conn: conn}), nil
}

// hello returns the first packet.
func (c *Config) hello() (*paho.Connect, error) {
	p := &paho.Connect{
		ClientID: c.ClientID, KeepAlive: uint16(keepAlive / time.Second), CleanStart: false,
		Properties: &paho.ConnectProperties{
			SessionExpiryInterval: new(uint32(sessionExpiry / time.Second)),
			MaximumPacketSize:     new(uint32(MaxPacket)), ReceiveMaximum: new(uint16(receiveMax)),
		},
		WillMessage: &paho.WillMessage{Topic: c.Will.Topic, Payload: c.Will.Payload, QoS: 1, Retain: true},
		Username:    c.Username, UsernameFlag: c.Username != "",
	}
	if c.Password != nil {
		password, err := c.Password()
		if err != nil {
			return nil, err
		}
		p.Password, p.PasswordFlag = []byte(password), password != ""
	}
	return p, nil
}

// subscribe makes the subscriptions, and returns what the broker refuses.
func (c *connection) subscribe(ctx context.Context) error {
	var all []paho.SubscribeOptions // at least the one of the instance
	for _, s := range c.config.Subscriptions {
		o := paho.SubscribeOptions{Topic: s.Filter, QoS: 1, RetainAsPublished: true, RetainHandling: 2}
		if s.Retained {
			o.RetainHandling = 0
		}
		all = append(all, o)
	}
	ack, err := c.client.Subscribe(ctx, &paho.Subscribe{Subscriptions: all})
	if err == nil || ack == nil {
		return err
	}
	var refused []string
	for i, code := range ack.Reasons {
		if code >= 0x80 && i < len(all) {
			refused = append(refused, all[i].Topic)
		}
	}
	return fmt.Errorf("the broker refuses subscriptions: %s", strings.Join(refused, ", "))
}

// publish sends a message and waits for its acknowledgement.
func (c *connection) publish(ctx context.Context, m Message) error {
	p := &paho.Publish{Topic: m.Topic, Payload: m.Payload, QoS: 1, Retain: m.Retained}
	if m.Expiry > 0 {
		seconds := new(uint32(m.Expiry / time.Second)) //nolint:gosec // at most 136 years
		p.Properties = &paho.PublishProperties{MessageExpiry: seconds}
	}
	if _, err := c.client.Publish(ctx, p); err != nil {
		return fmt.Errorf("publish to %s: %w", m.Topic, err)
	}
	return nil
}

// receive processes a message. If its handler fails, the connection is closed before the
// library can acknowledge it.
func (c *connection) receive(ctx context.Context, p *paho.Publish) {
	<-c.ready
	if c.closed.Load() || ctx.Err() != nil {
		_ = c.conn.Close() // without an acknowledgement
		return
	}
	m := Message{Topic: p.Topic, Payload: p.Payload, Retained: p.Retain, Key: c.key(p)}
	if p.Properties != nil && p.Properties.MessageExpiry != nil {
		m.Expiry = time.Duration(*p.Properties.MessageExpiry) * time.Second
	}
	for _, s := range c.config.Subscriptions {
		if !matches(s.Filter, p.Topic) {
			continue
		}
		if p.Retain && !s.Retained {
			c.config.Log.Warn("retained MQTT message ignored", "topic", p.Topic)
			return
		}
		if !c.admit(ctx, p) {
			return
		}
		if err := s.Handle(ctx, m); err != nil {
			c.closed.Store(true)
			_ = c.conn.Close() // it ends the connection, whatever it returns
			c.end(fmt.Errorf("process a message of %s: %w", p.Topic, err))
		}
		return
	}
}

// admit reports whether a message is to be processed, within the limit of the session. One that the broker
// sends until it is acknowledged waits, and holds the next ones back; others are dropped.
func (c *connection) admit(ctx context.Context, p *paho.Publish) bool {
	if p.QoS == 0 {
		ok := c.limit.Allow()
		if !ok {
			c.dropped.Do(func() { c.config.Log.Warn("MQTT messages dropped", "topic", p.Topic) })
		}
		return ok
	}
	err := c.limit.Wait(ctx)
	if err != nil {
		_ = c.conn.Close() // without an acknowledgement
	}
	return err == nil
}

// key returns the key of a message of QoS 1: session, packet identifier and digest. Within a
// connection a broker sends nothing again, so that the same again is another message. In a
// later connection it is a redelivery, also without the DUP flag, which a killed broker
// forgets.
func (c *connection) key(p *paho.Publish) string {
	if p.QoS == 0 {
		return ""
	}
	hash := sha256.New()
	hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(p.Topic)))) //nolint:gosec // at most 65,535
	hash.Write([]byte(p.Topic))
	hash.Write(p.Payload)
	d := digest(hash.Sum(nil)[:len(digest{})])
	if before, ok := c.ids[p.PacketID]; ok && before == d {
		return ""
	}
	c.ids[p.PacketID] = d
	return fmt.Sprintf("%s/%d/%x", *c.token.Load(), p.PacketID, d)
}

// await waits for the end of the connection, or ends it when ctx ends, and returns why it
// ended when everything that it started has.
func (c *connection) await(ctx context.Context) error {
	select {
	case err := <-c.ended:
		c.close()
		return err
	case <-ctx.Done():
		// with the will; it closes the connection in any case
		_ = c.client.Disconnect(&paho.Disconnect{ReasonCode: 0x04})
		<-c.client.Done()
		return ctx.Err()
	}
}

// close closes the connection and waits for its goroutines.
func (c *connection) close() {
	c.closed.Store(true)
	select {
	case <-c.ready:
	default:
		close(c.ready) // only connect calls close before
	}
	_ = c.conn.Close()
	<-c.client.Done()
}

// end records why the connection ended; the first reason counts.
func (c *connection) end(err error) {
	select {
	case c.ended <- err:
	default:
	}
}

// connackReason returns the reason of a refused connection in words.
func connackReason(code byte) string {
	switch code {
	case packets.ConnackBadUsernameOrPassword, packets.ConnackNotAuthorized:
		return "wrong MQTT_USERNAME or password, or not authorized"
	case packets.ConnackUnsupportedProtocolVersion:
		return "it does not support MQTT 5"
	default:
		return fmt.Sprintf("reason %#x", code)
	}
}

// matches reports whether a topic matches a filter.
func matches(filter, topic string) bool {
	for {
		f, moreFilter, deeperFilter := strings.Cut(filter, "/")
		t, moreTopic, deeperTopic := strings.Cut(topic, "/")
		switch {
		case f == "#":
			return true
		case f != "+" && f != t:
			return false
		case !deeperFilter || !deeperTopic:
			return deeperFilter == deeperTopic || deeperFilter && moreFilter == "#"
		}
		filter, topic = moreFilter, moreTopic
	}
}
