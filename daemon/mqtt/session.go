// Package mqtt keeps a session with an MQTT 5 broker.
//
// One law: a message is acknowledged after its handler has returned nil, never before. If a
// handler fails, the connection is closed without an acknowledgement, and the broker sends
// the message again.
//
//	Run ─ dial ─ CONNECT ─ SUBSCRIBE ─ OnConnect ─ … ─ connection lost ─ wait ─ dial …
//	                          PUBLISH ─ handler ─ PUBACK
//
// The broker keeps what arrives for at most ten minutes while there is no connection. It is
// not trusted: a packet above [MaxPacket] is not read.
package mqtt

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	keepAlive     = time.Minute      // between pings of an idle connection
	sessionExpiry = 10 * time.Minute // how long the broker keeps messages without a connection
	packetTimeout = 10 * time.Second // for the answer to a packet, and for a connection
	receiveMax    = 16               // messages that the broker sends ahead of acknowledgements

	maxDelay    = time.Minute // between attempts to connect
	maxTakeover = 3           // times within a minute that another client takes the session over
)

// MaxPacket is the largest packet that the broker may send, in bytes.
const MaxPacket = 64 << 10

// ErrOffline is returned by [Session.Publish] while there is no connection.
var ErrOffline = errors.New("no connection to the MQTT broker")

// errTakenOver ends a connection if another process uses the client ID.
var errTakenOver = errors.New("another process with the same client ID took the session over three times in a minute")

// A Message is a publication.
type Message struct {
	Topic    string
	Payload  []byte
	Retained bool // the broker keeps it, or has kept it, for later subscribers
	// after which the broker discards it undelivered, of a received one what is left; 0 means never. Whole seconds
	Expiry time.Duration

	// Key identifies a received message of QoS 1 in all its deliveries, also after a restart
	// of this program or the broker; "" for QoS 0.
	Key string
}

// A Subscription asks for the messages of topics.
type Subscription struct {
	Filter   string // topics, with the wildcards + and #
	Retained bool   // also messages that the broker has kept; they are dropped otherwise
	// Handle processes a message; the first subscription that matches its topic does. One
	// handler runs at a time. An error means that the message could not be processed now:
	// the broker sends it again.
	Handle func(ctx context.Context, m Message) error
}

// A Config holds the parameters of a session.
type Config struct {
	URL      *url.URL // mqtt://HOST or mqtts://HOST, with an optional port
	ClientID string
	Username string                 // "" means none
	Password func() (string, error) // read for each connection; nil means none
	CAFile   string                 // PEM file of the authorities of an mqtts broker; "" means the host's

	Will Message // published by the broker when the connection ends; retained
	// InstanceTopic holds a random text of the process that used the client ID last. A process
	// that finds another's there when it reconnects was replaced: mosquitto 2.0.11 only closes the
	// connection then.
	InstanceTopic string
	Subscriptions []Subscription // made for each connection
	PerMinute     int            // messages that are processed a minute, half of them at once; 0 means any number
	OnConnect     []func()       // called after each connection; they must not block

	// Token distinguishes sessions of the broker; SaveToken saves the token of a new one
	// before its first message is received.
	Token     string
	SaveToken func(ctx context.Context, token string) error

	MinDelay time.Duration // before the first attempt to connect again; 0 means 1 s
	Log      *slog.Logger
}

// A Status is the state of a session.
type Status struct {
	Connected bool
	Err       error // why there is no connection, or what the broker refuses; nil before the first attempt
	Stopped   bool  // another process uses the client ID: there are no more attempts
}

// A Session is a session with a broker. Its methods may be called concurrently.
type Session struct {
	config   Config
	instance string // of this process
	limit    *rate.Limiter

	mu        sync.Mutex // guards the fields below
	status    Status
	conn      *connection // nil while there is none
	connects  int
	takeovers []time.Time // the latest ones
}

// New returns a session. It starts nothing.
func New(c Config) *Session {
	if c.MinDelay == 0 {
		c.MinDelay = time.Second
	}
	s := &Session{config: c, instance: rand.Text(), limit: rate.NewLimiter(rate.Inf, 0)}
	if c.PerMinute > 0 {
		s.limit = rate.NewLimiter(rate.Limit(c.PerMinute)/60, max(1, c.PerMinute/2))
	}
	s.config.Subscriptions = append([]Subscription{{Filter: c.InstanceTopic, Retained: true, Handle: s.checkInstance}},
		c.Subscriptions...)
	return s
}

// Status returns the state of the session.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// Publish publishes a message with QoS 1 and returns when the broker has acknowledged it. The
// error is [ErrOffline], ctx's, or it says why the broker refuses the message. A message
// may have been delivered although Publish failed.
func (s *Session) Publish(ctx context.Context, m Message) error {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn == nil {
		return ErrOffline
	}
	return conn.publish(ctx, m)
}

// Run keeps the session connected until ctx ends. Then it makes the broker publish the will,
// and returns nil.
func (s *Session) Run(ctx context.Context) error {
	delay := delays{first: s.config.MinDelay}
	for {
		lasted, err := s.connectOnce(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the end of ctx ended the connection
		}
		if errors.Is(err, errTakenOver) {
			s.stop(ctx, err)
			return nil
		}
		s.setStatus(Status{Err: err})
		select {
		case <-time.After(delay.after(lasted)):
		case <-ctx.Done():
			return nil
		}
	}
}

// checkInstance ends the session if another process has used it since the last connection,
// for the third time within a minute.
func (s *Session) checkInstance(_ context.Context, m Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !m.Retained || string(m.Payload) == s.instance || s.connects < 2 {
		return nil
	}
	s.takeovers = append(s.takeovers, time.Now())
	n := len(s.takeovers) - maxTakeover
	if n >= 0 && time.Since(s.takeovers[n]) < time.Minute {
		return errTakenOver
	}
	return nil
}

// stop gives up until ctx ends.
func (s *Session) stop(ctx context.Context, err error) {
	err = fmt.Errorf("%w; MQTT is stopped until the server is restarted", err)
	s.config.Log.Error("MQTT stopped: client ID in use", "client", s.config.ClientID)
	s.setStatus(Status{Stopped: true, Err: err})
	<-ctx.Done()
}

// connectOnce makes one connection, and returns how long it lasted and why it ended.
func (s *Session) connectOnce(ctx context.Context) (lasted time.Duration, err error) {
	conn, err := s.connect(ctx)
	if err != nil {
		if s.Status().Err == nil && ctx.Err() == nil { // later attempts are not logged
			s.config.Log.Warn("MQTT broker unavailable", "broker", s.config.URL.Host, "err", err)
		}
		return 0, fmt.Errorf("connect to %s: %w", s.config.URL.Host, err)
	}
	began := time.Now()
	refused := conn.subscribe(ctx)
	refused = errors.Join(refused, conn.publish(ctx,
		Message{Topic: s.config.InstanceTopic, Payload: []byte(s.instance), Retained: true}))
	s.mu.Lock()
	s.conn, s.status = conn, Status{Connected: true, Err: refused}
	s.mu.Unlock()
	s.config.Log.Info("MQTT connected", "broker", s.config.URL.Host)
	if refused != nil {
		s.config.Log.Warn("MQTT broker refuses", "broker", s.config.URL.Host, "err", refused)
	}
	for _, call := range s.config.OnConnect {
		call()
	}
	err = conn.await(ctx)
	s.mu.Lock()
	s.conn = nil
	s.mu.Unlock()
	if ctx.Err() == nil {
		s.config.Log.Warn("MQTT connection lost", "broker", s.config.URL.Host, "err", err)
	}
	return time.Since(began), err
}

func (s *Session) setStatus(status Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// token returns the token of the broker's session, a new one if the session is new.
func (s *Session) token(ctx context.Context, present bool) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connects++
	if present && s.config.Token != "" {
		return s.config.Token, nil
	}
	token := rand.Text()
	if err := s.config.SaveToken(ctx, token); err != nil {
		return "", fmt.Errorf("save the session: %w", err)
	}
	s.config.Token = token
	return token, nil
}
