package pulse

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

// confirmTime limits the time until the server reports the volumes that were set last.
const confirmTime = time.Second

// Ducked saves which streams are lowered, and which sink is raised, so that they are restored after this process was
// killed. The content is JSON of at most 128 KiB; nil means none.
type Ducked interface {
	Ducked() ([]byte, error)
	SaveDucked(ctx context.Context, content []byte) error
	Raised() ([]byte, error)
	SaveRaised(ctx context.Context, content []byte) error
}

// A ducker lowers and restores the streams of other clients. [Sink.Run] runs it for each connection; between
// them, it remembers what is lowered.
type ducker struct {
	saver Ducked // nil: nothing is saved
	log   *slog.Logger
	wake  chan struct{} // capacity 1: call has changed

	mu      sync.Mutex
	call    *duckCall // the last Duck; nil if it was restored
	running bool      // there is a connection

	// Used by run only.
	streams ducking
	loaded  bool // what an earlier process left was loaded
	ramp    ramp
}

// A duckCall is one call of Duck.
type duckCall struct {
	gain float64
	done chan error // capacity 1: its result
}

// end ends the call, unless it has ended.
func (c *duckCall) end(err error) {
	select {
	case c.done <- err:
	default:
	}
}

func newDucker(saver Ducked, log *slog.Logger) *ducker {
	return &ducker{
		saver: saver, log: log, wake: make(chan struct{}, 1), streams: ducking{left: make(map[streamID]bool)},
	}
}

// Duck lowers all streams of other clients on the sink by a gain, 0–1, in a quarter of a second, and returns
// when they are lowered, or if there are none. Streams that begin later are lowered, too. restore, which
// returns at once, brings them back to their own volume in a second; a volume that a person has changed
// meanwhile stays. A second Duck takes the place of the first.
func (s *Sink) Duck(ctx context.Context, gain float64) (restore func(), err error) {
	d := s.ducker
	call := &duckCall{gain: gain, done: make(chan error, 1)}
	d.replace(call)
	restore = func() { d.restore(call) }
	select {
	case err = <-call.done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		restore()
		return nil, err
	}
	return restore, nil
}

// replace makes call the current one. Without a server there is nothing to lower yet.
func (d *ducker) replace(call *duckCall) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.call != nil {
		d.call.end(nil)
	}
	d.call = call
	if !d.running {
		call.end(nil)
	}
	signal(d.wake)
}

// restore ends a call unless another has taken its place.
func (d *ducker) restore(call *duckCall) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.call == call {
		d.call = nil
	}
	signal(d.wake)
}

func (d *ducker) current() *duckCall {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.call
}

// setRunning notes whether there is a connection.
func (d *ducker) setRunning(running bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running = running
	if d.call != nil && !running {
		d.call.end(nil)
	}
}

// run lowers and restores streams until the connection ends. When ctx ends, it restores them at once and
// returns.
func (d *ducker) run(ctx context.Context, conn *connection, sink func() (index uint32, found bool)) {
	d.load()
	d.streams.own = conn.index
	d.setRunning(true)
	defer d.setRunning(false)
	for {
		call, ending := d.current(), ctx.Err() != nil
		if index, found := sink(); found {
			d.streams.sink = index
			d.apply(ctx, conn, call, ending)
		} else if call != nil {
			call.end(nil)
		}
		if ending {
			return
		}
		select {
		case <-conn.closed:
			return
		case <-ctx.Done():
		case <-d.wake:
		case <-conn.inputsChanged:
		case <-d.tick():
		}
	}
}

// apply moves the ramp and sets the volumes of its step: its first one, if the ducker is ending.
func (d *ducker) apply(ctx context.Context, conn *connection, call *duckCall, ending bool) {
	switch {
	case ending: // at once
		call, d.ramp = nil, ramp{}
	case call != nil:
		d.streams.gain = call.gain
		d.ramp.move(duckSteps, time.Now())
	default:
		d.ramp.move(0, time.Now())
	}
	if call == nil && len(d.streams.streams) == 0 {
		d.ramp = ramp{}
		d.streams.clear()
		return
	}
	err := d.update(context.WithoutCancel(ctx), conn)
	if len(d.streams.saved()) == 0 {
		d.ramp.finish()
	}
	if call != nil && (err != nil || d.ramp.step == duckSteps) {
		call.end(err)
	}
}

// update does what the streams on the server require at this step.
func (d *ducker) update(ctx context.Context, conn *connection) error {
	inputs, err := conn.inputs()
	if err != nil {
		return err
	}
	plan := d.streams.update(inputs, d.ramp.step, d.ramp.target > 0)
	if plan.save {
		if err = d.save(ctx); err != nil {
			d.streams.forget(plan.added)
		}
	}
	for _, s := range plan.set {
		if err == nil || !slices.Contains(plan.added, s) {
			d.set(conn, s, s.at(s.set))
		}
	}
	for _, s := range plan.back {
		d.set(conn, s, s.Volumes)
	}
	for _, s := range plan.gone {
		err = cmp.Or(err, conn.remember(s))
	}
	if d.ramp.over() && (d.streams.restored() || time.Since(d.ramp.since) > restoreTime+confirmTime) {
		d.streams.clear()
		err = cmp.Or(err, d.save(ctx))
	}
	return err
}

// set sets the volume of a stream. A stream whose volume cannot be set is left alone.
func (d *ducker) set(conn *connection, s *duckedStream, volumes proto.ChannelVolumes) {
	if err := conn.setInputVolume(s.Index, volumes); err != nil {
		d.streams.leave(s)
		d.log.Warn("volume of a stream not changed", "stream", s.Name, "err", err)
	}
}

// tick returns when there is something to do without an event; nil if there is nothing.
func (d *ducker) tick() <-chan time.Time {
	if d.ramp.step == d.ramp.target && (d.ramp.target > 0 || len(d.streams.streams) == 0) {
		return nil
	}
	return time.After(d.ramp.length() / duckSteps)
}

// load loads the streams that an earlier process has left lowered, once.
func (d *ducker) load() {
	if d.loaded || d.saver == nil {
		return
	}
	d.loaded = true
	content, err := d.saver.Ducked()
	if err == nil && content != nil {
		err = d.restoreFrom(content)
	}
	if err != nil {
		d.log.Error("lowered streams not restored", "err", err)
	}
}

// restoreFrom takes over what an earlier process saved.
func (d *ducker) restoreFrom(content []byte) error {
	var streams []*duckedStream
	if err := json.Unmarshal(content, &streams); err != nil {
		return fmt.Errorf("decode the lowered streams: %w", err)
	}
	for _, s := range streams {
		s.set = duckSteps // or any step before it
	}
	d.streams.streams = streams
	return nil
}

// save saves the streams that are lowered.
func (d *ducker) save(ctx context.Context) error {
	if d.saver == nil {
		return nil
	}
	var content []byte
	if streams := d.streams.saved(); len(streams) > 0 {
		var err error
		if content, err = json.Marshal(streams); err != nil {
			return fmt.Errorf("encode the lowered streams: %w", err)
		}
	}
	return d.saver.SaveDucked(ctx, content)
}
