// Package pulse makes sound heard: a sink on the socket of PulseAudio, or of
// PipeWire in its place.
//
// One law: every sample given to Play is heard once, in order and unchanged,
// or Play says why not; and nothing that the server does, or leaves undone,
// stops the daemon.
//
// It stands on the protocol of jfreymuth/pulse and not on its high-level
// client, which hangs on clips shorter than its buffer, gives up draining
// after a second and panics in a goroutine of its own when a server hangs up
// early.
package pulse

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"pressbox/audio"
)

// How fast a lost server is looked for again, and how long a stream is kept
// for the next announcement.
const (
	firstPause = 200 * time.Millisecond
	lastPause  = 5 * time.Second
	keep       = 5 * time.Second
)

// A Config says which sound server is meant, and what is wanted of it.
type Config struct {
	// Server is a PulseAudio server string, as in $PULSE_SERVER; "" means the
	// socket in RuntimeDir, the one of this user, or the one of the system,
	// whichever answers first.
	Server     string
	RuntimeDir string   // $XDG_RUNTIME_DIR; may be ""
	Cookies    []string // files that may hold the server's cookie, in order; may be none
	Sink       string   // the sink's name; "" means the server's default
	// LeadIn is the silence before the first word that wakes a sleeping sink;
	// 0 means as much as its kind wants, less than 0 means none.
	LeadIn time.Duration
	// OnFirstWrite, unless nil, is called when the first samples of the clips
	// of a Play have been written to the server.
	OnFirstWrite func()
	Log          *slog.Logger
}

// A Sink plays clips on a sound server that may come and go.
type Sink struct {
	cfg    Config
	turn   chan struct{} // held by whoever uses kept and rate
	wake   chan struct{} // holds one token when somebody wants the server now
	played chan struct{} // holds one token when a stream was kept

	kept *stream // open and silent; nil when there is none
	rate int     // of the last clip; 0 means that there was none yet

	born    time.Time
	written atomic.Uint64 // samples that the server took
	busy    atomic.Int64  // when after born Run began what it does; 0 while it waits

	mu  sync.Mutex
	now state
}

// A state is what is known of the server. It is replaced as a whole.
type state struct {
	conn    *connection // nil while there is none
	server  string
	sink    device
	err     error         // why nothing can be played; nil while that is not known
	changed chan struct{} // closed when this state has been replaced
}

// Status tells people which sink is spoken through. Without a connection it
// is zero, without a sink Sink is "".
type Status struct {
	Server      string // its name and version
	Sink        string // its name, such as "alsa_output.pci-0000_00_1f.3.analog-stereo"
	Description string // its name for people
	State       string // "running", "idle" or "suspended"
	Muted       bool
	Volume      int // percent
}

// A lostError is why the sound server cannot be used; it is
// [audio.ErrSinkLost].
type lostError struct{ error }

func (e lostError) Is(target error) bool { return target == audio.ErrSinkLost }
func (e lostError) Unwrap() error        { return e.error }

func lost(why error) error { return lostError{why} }

// New returns a sink. It starts nothing: see [Sink.Run].
func New(cfg Config) *Sink {
	return &Sink{
		cfg:    cfg,
		turn:   make(chan struct{}, 1),
		wake:   make(chan struct{}, 1),
		played: make(chan struct{}, 1),
		born:   time.Now(),
		now:    state{changed: make(chan struct{})},
	}
}

// Health returns why announcements cannot be heard, or nil: also until the
// first attempt to connect has failed.
func (s *Sink) Health() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.err
}

// Status returns what is known of the server and the sink.
func (s *Sink) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	sink := s.now.sink
	return Status{
		Server:      s.now.server,
		Sink:        sink.name,
		Description: sink.description,
		State:       sink.state,
		Muted:       sink.muted,
		Volume:      sink.volume,
	}
}

// Written returns how many samples the server has taken, silence included.
func (s *Sink) Written() uint64 { return s.written.Load() }

// Busy returns for how long Run has been doing what it does; 0 while it waits
// for something to do. Nothing that it does takes more than a minute.
func (s *Sink) Busy() time.Duration {
	since := s.busy.Load()
	if since == 0 {
		return 0
	}
	return time.Since(s.born) - time.Duration(since)
}

func (s *Sink) begin() { s.busy.Store(int64(time.Since(s.born))) }
func (s *Sink) wait()  { s.busy.Store(0) }

// Run keeps a connection to the sound server until ctx ends, and then returns
// nil. It looks for a lost server after 0.2 s, then twice as long each time
// up to 5 s, and when Play wants it.
func (s *Sink) Run(ctx context.Context) error {
	defer s.wait()
	defer s.become(state{})
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, lastPause) {
		began := time.Now()
		s.begin()
		err := s.serve(ctx)
		if ctx.Err() != nil {
			break
		}
		s.become(state{err: lost(err)})
		if time.Since(began) > lastPause {
			pause = firstPause
		}
		s.rest(ctx, pause)
	}
	return nil
}

// rest waits, at least the first pause even when the server is wanted.
func (s *Sink) rest(ctx context.Context, d time.Duration) {
	s.wait()
	select {
	case <-ctx.Done():
		return
	case <-time.After(firstPause):
	}
	select {
	case <-ctx.Done():
	case <-s.wake:
	case <-time.After(d - firstPause):
	}
}

// serve connects and keeps the state true until the connection ends, and
// returns why it did.
func (s *Sink) serve(ctx context.Context) error {
	servers, err := s.cfg.servers()
	if err != nil {
		return err
	}
	conn, err := dial(ctx, servers, s.cfg.cookie())
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { conn.link.close(ctx.Err()) })
	defer stop()
	s.look(conn)
	var expired <-chan time.Time
	for {
		s.wait()
		select {
		case <-conn.gone:
			return conn.link.why()
		case <-conn.changed:
			s.begin()
			s.look(conn)
		case <-s.played:
			expired = time.After(keep)
		case <-expired:
			s.begin()
			s.dismiss()
		}
	}
}

// look brings the state up to date: the sink may have gone. The end of the
// connection is serve's to tell.
func (s *Sink) look(conn *connection) {
	server, sink, err := conn.look(s.cfg.Sink)
	if err != nil {
		err = lost(err)
		if conn.link.why() != nil {
			return
		}
	}
	s.become(state{conn: conn, server: server, sink: sink, err: err})
}

// become replaces the state and wakes who waits for that. It logs what an
// operator would want to know: that there is sound, or why there is none.
func (s *Sink) become(next state) {
	next.changed = make(chan struct{})
	s.mu.Lock()
	last := s.now
	s.now = next
	s.mu.Unlock()
	close(last.changed)
	switch {
	case next.err != nil && (last.err == nil || last.err.Error() != next.err.Error()):
		s.cfg.Log.Warn("no sound", "err", next.err)
	case next.sink.name != "" && next.sink.name != last.sink.name:
		s.cfg.Log.Info("sound", "server", next.server, "sink", next.sink.name)
	}
}

// dismiss closes the kept stream, so that the sink may sleep, unless somebody
// plays.
func (s *Sink) dismiss() {
	select {
	case s.turn <- struct{}{}:
		s.drop()
		<-s.turn
	default:
	}
}

// drop closes the kept stream. The turn must be held.
func (s *Sink) drop() {
	if s.kept != nil {
		s.kept.close()
		s.kept = nil
	}
}
