package pulse

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/jfreymuth/pulse/proto"

	"pressbox/audio"
)

// An Urgent plays what has to be heard on a sink: where that is muted or silent, on the next one of [Config.Sinks] that
// is not, or on the same one, which is then unmuted and raised for this time.
type Urgent struct {
	*Sink
	// Unmute returns whether sinks are unmuted and raised, and to which volume in percent at least; nil: they are not.
	Unmute func() (least int, on bool)
}

// Play is [Sink.Play]. What it changes on the sink it puts back when the sound has been played, unless it was
// changed meanwhile.
func (u Urgent) Play(
	ctx context.Context, clips <-chan audio.Clip, fader *audio.Fader,
) (played time.Duration, err error) {
	least, raises := 0, false
	if u.Unmute != nil {
		least, raises = u.Unmute()
	}
	return u.play(ctx, clips, fader, func(ready *state) (restore func()) {
		if raises {
			return u.raiser.raise(ctx, ready, least)
		}
		if ready.sink.silence() != "" && ready.fallback.Name != "" {
			ready.sink = ready.fallback
		}
		return func() {}
	})
}

// Output returns what sound is played on.
func (u Urgent) Output() audio.Output {
	o := u.Sink.Output()
	u.mu.Lock()
	o.Urgent = u.state.fallback.Name != ""
	u.mu.Unlock()
	if u.Unmute != nil && !o.Urgent {
		_, o.Urgent = u.Unmute()
	}
	return o
}

// A raisedSink is a sink that is unmuted or raised, as it is saved.
type raisedSink struct {
	Name   string   `json:"name"`
	Muted  bool     `json:"muted"`
	Before []uint32 `json:"before"` // its volumes
	Set    []uint32 `json:"set"`    // those that were set
}

// A raiser unmutes and raises a sink, and puts it back: also what an earlier process has left.
type raiser struct {
	sink *Sink

	mu     sync.Mutex // held while the sink is changed
	loaded bool       // nothing is left of an earlier process or connection
}

// raise unmutes the sink of a state and raises it to a volume, and returns what puts it back. What is not saved is not
// changed.
func (r *raiser) raise(ctx context.Context, ready *state, least int) (restore func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, err := ready.conn.sinkNamed(ready.sink.Name) // the state may not yet know what was put back last
	if err != nil {
		r.sink.cfg.Log.Warn("sink not raised", "sink", ready.sink.Name, "err", err)
		return func() {}
	}
	target := uint32(math.Round(float64(least) / 100 * float64(proto.VolumeNorm)))
	change := raisedSink{now.Name, now.Muted, now.volumes, raised(now.volumes, target)}
	if !now.Muted && slices.Equal(change.Before, change.Set) || now.Name == "" {
		return func() {}
	}
	r.loaded = false // the next connection puts it back if this one is lost
	if err = r.save(ctx, &change); err == nil {
		err = ready.conn.setSink(change.Name, false, change.Set)
	}
	if err == nil {
		now, err = ready.conn.sinkNamed(now.Name)
	}
	if err == nil && now.Name != "" {
		ready.sink = now // a short sound has ended before the state knows it
	}
	if err != nil {
		r.sink.cfg.Log.Warn("sink not raised", "sink", change.Name, "err", err)
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.putBack(context.WithoutCancel(ctx), ready.conn, change)
	}
}

// raised returns volumes of which the loudest is at least a target.
func raised(volumes []uint32, target uint32) []uint32 {
	all, loudest := slices.Clone(volumes), uint32(0)
	for _, v := range all {
		loudest = max(loudest, v)
	}
	for i, v := range all {
		switch {
		case loudest >= target:
		case loudest == 0:
			all[i] = target
		default:
			all[i] = uint32(uint64(v) * uint64(target) / uint64(loudest)) //nolint:gosec // at most the target
		}
	}
	return all
}

// putBack gives a sink its mute and its volumes back as far as they are still those that were set, and forgets it.
func (r *raiser) putBack(ctx context.Context, conn *connection, change raisedSink) {
	now, err := conn.sinkNamed(change.Name)
	if err == nil && now.Name != "" { // else it is gone, and the server remembers what was set; so does a person
		volumes := now.volumes
		if sameVolumes(volumes, change.Set) {
			volumes = change.Before
		}
		err = conn.setSink(change.Name, now.Muted || change.Muted, volumes)
	}
	if err == nil {
		err = r.save(ctx, nil)
	}
	if r.loaded = err == nil; err != nil {
		r.sink.cfg.Log.Warn("sink not put back", "sink", change.Name, "err", err)
	}
}

// load puts back what an earlier process has left, once there is a connection.
func (r *raiser) load(ctx context.Context, conn *connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	saver := r.sink.cfg.Ducked
	if r.loaded || saver == nil {
		return
	}
	r.loaded = true
	content, err := saver.Raised()
	var change raisedSink
	if err == nil && content != nil {
		err = json.Unmarshal(content, &change)
	}
	switch {
	case err != nil:
		r.sink.cfg.Log.Warn("sink not put back", "sink", change.Name, "err", err)
	case change.Name != "":
		r.putBack(ctx, conn, change)
	}
}

// save saves which sink is raised; nil means none.
func (r *raiser) save(ctx context.Context, change *raisedSink) error {
	saver := r.sink.cfg.Ducked
	if saver == nil {
		return nil
	}
	var content []byte
	if change != nil {
		var err error
		if content, err = json.Marshal(change); err != nil {
			return fmt.Errorf("encode the raised sink: %w", err)
		}
	}
	return saver.SaveRaised(context.WithoutCancel(ctx), content)
}

// setSink sets the mute and the volumes of a sink.
func (c *connection) setSink(name string, muted bool, volumes []uint32) error {
	const byName = math.MaxUint32
	err := c.request(&proto.SetSinkVolume{SinkIndex: byName, SinkName: name, ChannelVolumes: volumes}, nil)
	if err == nil {
		err = c.request(&proto.SetSinkMute{SinkIndex: byName, SinkName: name, Mute: muted}, nil)
	}
	if err != nil {
		return fmt.Errorf("set the volume of the sink %s: %w", name, err)
	}
	return nil
}
