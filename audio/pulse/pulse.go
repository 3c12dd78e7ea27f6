// Package pulse plays sound on a PulseAudio server, or on PipeWire through its PulseAudio socket.
//
// One law: every sample given to Play is heard once, in order and unchanged, or Play returns an error; and no
// behavior of the sound server can stop this process.
//
// The package uses the protocol of jfreymuth/pulse but not its high-level client, which hangs on clips
// shorter than its buffer, stops draining after a second, and panics in its own goroutine when a server
// closes the connection early.
package pulse

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"pressbox/audio"
)

// Backoff of the connection attempts, and how long an idle stream stays running, and open, for the next
// announcement.
const (
	minBackoff = 200 * time.Millisecond
	maxBackoff = 5 * time.Second
	corkTime   = 200 * time.Millisecond
	cacheTime  = 5 * time.Second
)

// A Config selects the sound server and sink.
type Config struct {
	// Server is a PulseAudio server string, as in $PULSE_SERVER; "" means the first that answers of the
	// sockets in RuntimeDir, of this user and of the system.
	Server     string
	RuntimeDir string   // $XDG_RUNTIME_DIR; may be ""
	Cookies    []string // files that may hold the server's cookie, in order
	Sinks      []string // names of sinks, of which the first that is there plays; none means the server's default
	Ducked     Ducked   // nil: lowered streams, and a raised sink, are not restored after a kill
	Log        *slog.Logger
}

// A Sink plays clips on a sound server, and reconnects when it was lost.
type Sink struct {
	cfg          Config
	slot         chan struct{} // held while cached and lastRate are used
	reconnect    chan struct{} // capacity 1: Play needs the server now
	streamCached chan struct{} // capacity 1: a stream was cached

	ducker *ducker
	raiser *raiser

	cached   *stream // open and idle; nil means none
	lastRate int     // of the last clip; 0 means none

	created time.Time
	written atomic.Uint64 // samples that the server accepted
	busy    atomic.Int64  // when Run started its current work, relative to created; 0 while it waits

	mu    sync.Mutex
	state state
	heard bool // the sink has been audible since it was set to false
}

// A state describes the server. It is replaced as a whole.
type state struct {
	conn   *connection // nil while there is none
	server string
	sink   serverSink
	// fallback plays what is urgent if the sink is silent; its Name is "" if there is none.
	fallback serverSink
	err      error         // why nothing can be played; nil if unknown
	changed  chan struct{} // closed when the state is replaced
}

// Status describes the sink for people. It is zero without a connection; Name is "" without a sink.
type Status struct {
	SinkInfo
	Server  string // its name and version
	Address string // for PULSE_SERVER
}

// A lostError wraps an error that makes the sound server unusable. errors.Is reports it as
// [audio.ErrSinkLost].
type lostError struct{ error }

func (e lostError) Is(target error) bool { return target == audio.ErrSinkLost }
func (e lostError) Unwrap() error        { return e.error }

func lost(why error) error { return lostError{why} }

// New returns a sink. It starts nothing; see [Sink.Run].
func New(cfg Config) *Sink {
	s := &Sink{
		cfg:          cfg,
		slot:         make(chan struct{}, 1),
		reconnect:    make(chan struct{}, 1),
		streamCached: make(chan struct{}, 1),
		ducker:       newDucker(cfg.Ducked, cfg.Log),
		created:      time.Now(),
		state:        state{changed: make(chan struct{})},
	}
	s.raiser = &raiser{sink: s}
	return s
}

// Health returns why sound cannot be played. It is nil until the first attempt to connect has failed.
func (s *Sink) Health() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.err
}

// Changed returns a channel that is closed when Health or Status may have changed.
func (s *Sink) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.changed
}

// Status returns the properties of the server and the sink.
func (s *Sink) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := Status{SinkInfo: s.state.sink.SinkInfo, Server: s.state.server}
	if s.state.conn != nil {
		status.Address = s.state.conn.server.String()
	}
	return status
}

// Output returns what sound is played on.
func (s *Sink) Output() audio.Output {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := audio.Output{Absent: s.state.err, Name: s.state.sink.Name, Volume: s.state.sink.Volume}
	if o.Name != "" {
		o.Silence = s.state.sink.silence()
	}
	return o
}

// listen begins to watch whether the sink is audible, which plays now.
func (s *Sink) listen(sink serverSink) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = sink.silence() == ""
}

// audible returns an error if the sink was never audible since listen.
func (s *Sink) audible() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heard || s.state.conn == nil {
		return nil
	}
	return &audio.UnheardError{Why: s.state.sink.silence()}
}

// Written returns how many samples the server has accepted, including silence.
func (s *Sink) Written() uint64 { return s.written.Load() }

// Busy returns how long Run has been at its current work, 0 while it waits. No work takes longer than a
// minute.
func (s *Sink) Busy() time.Duration {
	since := s.busy.Load()
	if since == 0 {
		return 0
	}
	return time.Since(s.created) - time.Duration(since)
}

func (s *Sink) markBusy() { s.busy.Store(int64(time.Since(s.created))) }
func (s *Sink) markIdle() { s.busy.Store(0) }

// Run maintains a connection to the sound server until ctx ends, and then returns nil. It reconnects after
// 0.2 s, then after twice as long each time up to 5 s, and at once when Play needs the server.
func (s *Sink) Run(ctx context.Context) error {
	defer s.markIdle()
	defer s.setState(state{})
	for pause := minBackoff; ctx.Err() == nil; pause = min(2*pause, maxBackoff) {
		began := time.Now()
		s.markBusy()
		err := s.serve(ctx)
		if ctx.Err() != nil {
			break
		}
		s.setState(state{err: lost(err)})
		if time.Since(began) > maxBackoff {
			pause = minBackoff
		}
		s.waitRetry(ctx, pause)
	}
	return nil
}

// waitRetry waits for d, or until Play needs the server, but at least for minBackoff.
func (s *Sink) waitRetry(ctx context.Context, d time.Duration) {
	s.markIdle()
	select {
	case <-ctx.Done():
		return
	case <-time.After(minBackoff):
	}
	select {
	case <-ctx.Done():
	case <-s.reconnect:
	case <-time.After(d - minBackoff):
	}
}

// serve connects and updates the state until the connection ends, and returns the cause.
func (s *Sink) serve(ctx context.Context) error {
	servers, err := s.cfg.servers()
	if err != nil {
		return err
	}
	conn, err := dial(ctx, servers, s.cfg.cookie())
	if err != nil {
		return err
	}
	ducked := make(chan struct{}) // closed when no stream is lowered any longer
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-ducked:
		case <-time.After(time.Second): // the server hangs
		}
		conn.link.close(ctx.Err())
	})
	defer stop()
	s.raiser.load(ctx, conn)
	s.refresh(conn)
	go func() {
		defer close(ducked)
		s.ducker.run(ctx, conn, s.sinkIndex)
	}()
	defer func() { <-ducked }()
	var idle, expired <-chan time.Time
	for {
		s.markIdle()
		select {
		case <-conn.closed:
			return conn.link.closeCause()
		case <-conn.sinksChanged:
			s.markBusy()
			s.refresh(conn)
		case <-s.streamCached:
			idle, expired = time.After(corkTime), time.After(cacheTime)
		case <-idle:
			s.markBusy()
			s.withCached((*stream).cork)
		case <-expired:
			s.markBusy()
			s.withCached(func(*stream) error { return errExpired })
		}
	}
}

// refresh queries the server and updates the state. serve reports the end of the connection.
func (s *Sink) refresh(conn *connection) {
	next := conn.query(s.cfg.Sinks)
	if next.err != nil {
		next.err = lost(next.err)
		if conn.link.closeCause() != nil {
			return
		}
	}
	s.setState(next)
}

// sinkIndex returns the sink's index; found is false if there is none.
func (s *Sink) sinkIndex() (index uint32, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.sink.index, s.state.sink.Name != ""
}

// setState replaces the state, wakes those who wait for that, and logs whether there is audio output.
func (s *Sink) setState(next state) {
	next.changed = make(chan struct{})
	s.mu.Lock()
	last := s.state
	s.state = next
	s.heard = s.heard || next.conn != nil && next.sink.silence() == ""
	s.mu.Unlock()
	close(last.changed)
	switch {
	case next.err != nil && (last.err == nil || last.err.Error() != next.err.Error()):
		s.cfg.Log.Warn("audio output unavailable", "err", next.err)
	case next.sink.Name != "" && next.sink.Name != last.sink.Name:
		sink, volume := next.sink.Name, next.sink.Volume
		s.cfg.Log.Info("audio output connected", "server", next.server, "sink", sink, "volume", volume)
		if !next.sink.Muted && volume < LowVolume {
			s.cfg.Log.Warn("sink volume low", "sink", sink, "volume", volume)
		}
	}
}

// errExpired closes a cached stream, so that the sink can be suspended.
var errExpired = errors.New("expired")

// withCached calls fn with the cached stream, unless Play is running, and closes the stream if fn returns an
// error.
func (s *Sink) withCached(fn func(*stream) error) {
	select {
	case s.slot <- struct{}{}:
		defer func() { <-s.slot }()
	default:
		return
	}
	if s.cached != nil && fn(s.cached) != nil {
		s.closeCached()
	}
}

// closeCached closes the cached stream. The slot must be held.
func (s *Sink) closeCached() {
	if s.cached != nil {
		s.cached.close()
		s.cached = nil
	}
}
