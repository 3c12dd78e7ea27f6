package pulse

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pressbox/packaging/check"
)

const own, speaker = 1, 7 // a client and a sink

func film() sinkInput {
	return sinkInput{
		streamID: streamID{Server: 5, Index: 3, Name: "film", Process: "99"},
		sink:     speaker, client: 2, memory: "film", volumes: []uint32{65536, 40000},
	}
}

// with returns a stream with a change.
func with(in sinkInput, change func(*sinkInput)) sinkInput {
	change(&in)
	return in
}

func newDucking(streams ...*duckedStream) *ducking {
	return &ducking{own: own, sink: speaker, gain: 0.1, streams: streams, left: make(map[streamID]bool)}
}

// describe returns what a plan sets, and which memories it corrects.
func describe(p duckPlan) (text string) {
	for _, s := range p.set {
		text += fmt.Sprint("set ", s.Name, s.at(s.set), " ")
	}
	for _, s := range p.back {
		text += fmt.Sprint("back ", s.Name, s.Volumes, " ")
	}
	for _, s := range p.gone {
		text += fmt.Sprint("remember ", s.Name, s.Volumes, " ")
	}
	return text
}

func TestDucking_whichStreams(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*sinkInput)
		want   string
	}{
		"another program's": {func(*sinkInput) {}, "set film[30419 18566] "},
		"our own":           {func(in *sinkInput) { in.client = own }, ""},
		"on another sink":   {func(in *sinkInput) { in.sink = 8 }, ""},
		"fixed":             {func(in *sinkInput) { in.fixed = true }, ""},
		"silent":            {func(in *sinkInput) { in.volumes = []uint32{0, 0} }, ""},
		"no channels":       {func(in *sinkInput) { in.volumes = nil }, ""},
	} {
		got := describe(newDucking().update([]sinkInput{with(film(), tt.change)}, duckSteps, true))
		check.That(t, got == tt.want, "%s: %q, want %q", name, got, tt.want)
	}
}

// After a restart, only what is certainly the same stream, with a volume that was set, is raised.
func TestDucking_restoresOnlyItsOwn(t *testing.T) {
	t.Parallel()
	const remember = "remember film[65536 40000] "
	for name, tt := range map[string]struct {
		change func(*sinkInput)
		want   string
	}{
		"the same":           {func(*sinkInput) {}, "set film[65536 40000] "},
		"in mid-ramp":        {func(in *sinkInput) { in.volumes = []uint32{44651, 27253} }, "set film[65536 40000] "},
		"not lowered yet":    {func(in *sinkInput) { in.volumes = []uint32{65536, 40000} }, "set film[65536 40000] "},
		"changed by someone": {func(in *sinkInput) { in.volumes = []uint32{31000, 31000} }, ""},
		"muted by someone":   {func(in *sinkInput) { in.volumes = []uint32{0, 0} }, ""},
		"moved":              {func(in *sinkInput) { in.sink = 8 }, "back film[65536 40000] "},
		"another run":        {func(in *sinkInput) { in.Server, in.Name, in.memory = 6, "call", "call" }, remember},
		"another process":    {func(in *sinkInput) { in.Process, in.memory = "100", "film2" }, remember},
		"successor":          {func(in *sinkInput) { in.Index = 4 }, "set film[65536 40000] "}, // lowered by memory
		"successor, other":   {func(in *sinkInput) { in.Index, in.volumes = 4, []uint32{65536, 40000} }, ""},
	} {
		lowered := duckedStream{streamID: film().streamID, Memory: "film", Volumes: film().volumes, Gain: 0.1}
		content := check.Must(json.Marshal([]*duckedStream{&lowered}))(t)
		var d ducker
		check.NoError(t, d.restoreFrom(content))
		d.streams.own, d.streams.sink, d.streams.left = own, speaker, make(map[streamID]bool)
		in := with(film(), func(in *sinkInput) {
			in.volumes = []uint32{30419, 18566}
			tt.change(in)
		})
		check.Equal(t, describe(d.streams.update([]sinkInput{in}, 0, false)), tt.want, "%s", name)
	}
}

// At most 32 streams are lowered at once; one that has ended makes room.
func TestDucking_bounded(t *testing.T) {
	t.Parallel()
	d := newDucking()
	var inputs []sinkInput
	for i := range maxDucked + 1 {
		inputs = append(inputs, with(film(), func(in *sinkInput) { in.Index, in.memory = uint32(i), "" }))
	}
	if p := d.update(inputs, duckSteps, true); len(p.set) != maxDucked || len(p.added) != maxDucked {
		t.Errorf("%d of %d streams are lowered, want %d", len(p.set), len(inputs), maxDucked)
	}
	p := d.update(inputs[1:], duckSteps, true)
	check.That(t, len(p.set) == 1, "%d streams are lowered after one has ended, want 1", len(p.set))
	longest := slices.Repeat([]byte{1}, maxProperty)
	for _, s := range d.streams {
		s.Name, s.Process, s.Serial, s.Memory = string(longest), string(longest), string(longest), string(longest)
		s.Channels, s.Volumes = make([]byte, 32), slices.Repeat([]uint32{65536}, 32)
	}
	content := check.Must(json.Marshal(d.saved()))(t)
	check.That(t, len(content) <= 128<<10, "they take %d bytes, want 128 KiB at most", len(content))
}

func TestRamp_steps(t *testing.T) {
	t.Parallel()
	var r ramp
	now := time.Unix(1000, 0)
	for _, tt := range []struct {
		target int
		after  time.Duration
		want   int
	}{
		{0, time.Hour, 0},
		{duckSteps, 0, 0},
		{duckSteps, duckTime / 2, duckSteps / 2},
		{0, 0, duckSteps / 2},
		{0, restoreTime / 4, duckSteps / 4},
		{duckSteps, 0, duckSteps / 4},
		{duckSteps, duckTime, duckSteps},
		{0, 0, duckSteps},
		{0, restoreTime - 1, 1},
		{0, 1, 0},
	} {
		now = now.Add(tt.after)
		r.move(tt.target, now)
		check.That(t, r.step == tt.want, "towards %d, %v later: step %d, want %d", tt.target, tt.after, r.step, tt.want)
	}
}
