package pulse

import (
	"math"
	"slices"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

const (
	duckSteps = 20 // from a stream's own volume to the lowest
	maxDucked = 32 // streams that are lowered at once

	duckTime    = 250 * time.Millisecond // of the ramp down
	restoreTime = time.Second            // of the ramp back

	// settleTime is for how long a new stream's volume may change by itself: WirePlumber restores the last
	// one after the stream has begun.
	settleTime = 500 * time.Millisecond

	// volumeTolerance is by how much a volume may differ from the one that was set: PipeWire stores volumes
	// in another unit.
	volumeTolerance = 4
)

// A sinkInput is a stream on the sound server, of any client.
type sinkInput struct {
	streamID
	sink     uint32
	client   uint32
	pressbox bool   // of this or another Pressbox
	memory   string // the key under which the server remembers its volume; may be ""
	channels proto.ChannelMap
	volumes  proto.ChannelVolumes
	muted    bool
	fixed    bool // its volume cannot be changed
}

// A streamID identifies a stream, also after this process was restarted. The index alone does not, because a
// restarted server assigns it again.
type streamID struct {
	Server  uint32 `json:"server"` // the cookie of a run of the server
	Index   uint32 `json:"index"`
	Name    string `json:"name"` // of the application
	Process string `json:"process"`
	Serial  string `json:"serial"` // PipeWire's; "" on PulseAudio
}

// A duckedStream is a lowered stream, as it is saved.
type duckedStream struct {
	streamID
	Memory   string   `json:"memory"`
	Channels []byte   `json:"channels"`
	Volumes  []uint32 `json:"volumes"` // its own
	Muted    bool     `json:"muted"`
	Gain     float64  `json:"gain"` // at the last step

	began     time.Time // if it began while others were lowered
	set       int       // the last step that was set
	confirmed int       // the last step that the server reported
	gone      bool      // it has ended
}

// at returns its volumes at a step. The protocol's volumes are cubic.
func (d *duckedStream) at(step int) proto.ChannelVolumes {
	factor := math.Pow(d.Gain, float64(step)/(3*duckSteps))
	volumes := make(proto.ChannelVolumes, len(d.Volumes))
	for i, v := range d.Volumes {
		volumes[i] = uint32(math.Round(float64(v) * factor))
	}
	return volumes
}

// recognize reports whether the volumes are of a step that was set, and not changed by anyone else. A server
// may report an earlier step than the last.
func (d *duckedStream) recognize(volumes proto.ChannelVolumes) bool {
	low, high := min(d.set, d.confirmed), max(d.set, d.confirmed)
	for step := low; step <= high; step++ {
		if sameVolumes(d.at(step), volumes) {
			d.confirmed = step
			return true
		}
	}
	return false
}

func sameVolumes(a, b []uint32) bool {
	return slices.EqualFunc(a, b, func(a, b uint32) bool { return max(a, b)-min(a, b) <= volumeTolerance })
}

// A ducking holds the streams that are lowered. It computes what is to be done, and does nothing.
type ducking struct {
	own     uint32 // this client's index; its streams are never lowered
	sink    uint32 // only its streams are lowered
	gain    float64
	streams []*duckedStream
	left    map[streamID]bool // streams that are left alone until all are restored
}

// A ramp moves between the steps 0 and duckSteps. The zero value is at 0.
type ramp struct {
	step, from, target int
	since              time.Time // when it left from
}

// move moves it towards a step as far as the time requires.
func (r *ramp) move(target int, now time.Time) {
	if target != r.target {
		*r = ramp{step: r.step, from: r.step, target: target, since: now}
	}
	moved := int(min(now.Sub(r.since)/(r.length()/duckSteps), duckSteps))
	if r.target > r.from {
		r.step = min(r.target, r.from+moved)
	} else {
		r.step = max(r.target, r.from-moved)
	}
}

// length returns how long a whole ramp takes.
func (r *ramp) length() time.Duration {
	if r.target > 0 {
		return duckTime
	}
	return restoreTime
}

// finish moves it to its end.
func (r *ramp) finish() { r.step = r.target }

// over reports whether it is back at 0.
func (r *ramp) over() bool { return r.step == 0 && r.target == 0 }

// A duckPlan is what has to be done, in this order.
type duckPlan struct {
	save  bool            // the streams have changed
	added []*duckedStream // streams that may be lowered only if they were saved
	set   []*duckedStream // streams whose volume has to be set to their step
	back  []*duckedStream // streams that are not lowered any longer: to be set to their own volume
	gone  []*duckedStream // streams that have ended, whose volume the server may remember
}

// update compares the server's streams with those that are lowered. lower says whether streams that began
// meanwhile have to be lowered, too.
func (d *ducking) update(inputs []sinkInput, step int, lower bool) duckPlan {
	var p duckPlan
	for _, s := range slices.Clone(d.streams) {
		if !s.gone {
			d.updateStream(s, inputs, step, &p)
		}
	}
	for _, in := range inputs {
		s := d.lowered(in, lower)
		if s == nil {
			continue
		}
		d.streams = append(d.streams, s)
		p.added, p.save = append(p.added, s), true
		if s.set = step; s.confirmed != step {
			p.set = append(p.set, s)
			s.began = time.Now()
		}
	}
	p.gone = slices.DeleteFunc(p.gone, func(s *duckedStream) bool { // another one has the same memory
		return slices.ContainsFunc(inputs, func(in sinkInput) bool { return in.memory == s.Memory })
	})
	return p
}

func (d *ducking) updateStream(s *duckedStream, inputs []sinkInput, step int, p *duckPlan) {
	i := slices.IndexFunc(inputs, func(in sinkInput) bool { return in.streamID == s.streamID })
	switch {
	case i < 0:
		s.gone, p.save = true, true
		p.gone = append(p.gone, s)
	case !s.recognize(inputs[i].volumes) && time.Since(s.began) < settleTime: // the server has restored it just now
		s.Volumes, s.set, s.confirmed = inputs[i].volumes, step, 0
		p.set, p.save = append(p.set, s), true
	case !s.recognize(inputs[i].volumes): // a person has changed it
		d.leave(s)
		p.save = true
	case inputs[i].sink != d.sink:
		d.leave(s)
		p.save = true
		p.back = append(p.back, s)
	default:
		s.Muted = inputs[i].muted
		if s.set != step {
			s.set = step
			p.set = append(p.set, s)
		}
	}
}

func (d *ducking) leave(s *duckedStream) {
	d.streams = slices.DeleteFunc(d.streams, func(o *duckedStream) bool { return o == s })
	d.left[s.streamID] = true
}

// lowered returns a stream as one to be lowered, nil if it is left as it is.
func (d *ducking) lowered(in sinkInput, lower bool) *duckedStream {
	known := slices.ContainsFunc(d.streams, func(s *duckedStream) bool { return s.streamID == in.streamID })
	if known || in.sink != d.sink || in.client == d.own || in.pressbox || in.fixed || d.left[in.streamID] ||
		len(d.saved()) >= maxDucked {
		return nil
	}
	s := &duckedStream{
		streamID: in.streamID, Memory: in.memory, Channels: in.channels, Volumes: in.volumes, Muted: in.muted,
		Gain: d.gain,
	}
	if before, step := d.predecessor(in); before != nil {
		s.Volumes, s.Gain, s.confirmed = before.Volumes, before.Gain, step
		d.streams = slices.DeleteFunc(d.streams, func(o *duckedStream) bool { return o == before && o.gone })
		return s
	}
	if !lower || silent(in.volumes) {
		return nil // nothing to lower; PipeWire reports 0 at first
	}
	return s
}

func silent(volumes proto.ChannelVolumes) bool {
	return !slices.ContainsFunc(volumes, func(v uint32) bool { return v > 0 })
}

// predecessor returns the lowered stream whose volume, of a step, a new stream began with, because the server
// remembered it; nil if there is none.
func (d *ducking) predecessor(in sinkInput) (s *duckedStream, step int) {
	for _, s := range d.streams {
		if s.Memory == "" || s.Memory != in.memory {
			continue
		}
		for step := 1; step <= duckSteps; step++ {
			if sameVolumes(s.at(step), in.volumes) {
				return s, step
			}
		}
	}
	return nil, 0
}

// restored reports whether the server has confirmed that all streams have their own volume.
func (d *ducking) restored() bool {
	return !slices.ContainsFunc(d.streams,
		func(s *duckedStream) bool { return !s.gone && (s.set != 0 || s.confirmed != 0) })
}

// forget removes streams that were not lowered after all.
func (d *ducking) forget(streams []*duckedStream) {
	d.streams = slices.DeleteFunc(d.streams, func(s *duckedStream) bool { return slices.Contains(streams, s) })
}

// clear ends the ducking.
func (d *ducking) clear() {
	d.streams, d.left = nil, make(map[streamID]bool)
}

// saved returns the streams that have to be restored if this process ends now.
func (d *ducking) saved() []*duckedStream {
	return slices.DeleteFunc(slices.Clone(d.streams), func(s *duckedStream) bool { return s.gone })
}
