package pulse

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jfreymuth/pulse/proto"

	"pressbox/packaging/check"
)

func TestParseServers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want []address
	}{
		{"/run/pulse/native", []address{{"unix", "/run/pulse/native"}}},
		{"unix:/run/pulse/native", []address{{"unix", "/run/pulse/native"}}},
		{"tcp:kitchen", []address{{"tcp", "kitchen:4713"}}},
		{"tcp4:10.0.0.7:4000", []address{{"tcp4", "10.0.0.7:4000"}}},
		{"tcp6:[fe80::1]", []address{{"tcp6", "[fe80::1]:4713"}}},
		{"tcp6:[::1]:99", []address{{"tcp6", "[::1]:99"}}},
		{"kitchen", []address{{"tcp", "kitchen:4713"}}},
		{"::1", []address{{"tcp", "[::1]:4713"}}},
		{"{here}unix:/a {there}unix:/b {id}/c", []address{{"unix", "/a"}, {"unix", "/c"}}},
		{" \t ", nil},
	} {
		got, err := parseServers(tt.text, "here", "id")
		check.That(t, err == nil && slices.Equal(got, tt.want),
			"parseServers(%q) = %v, %v; want %v", tt.text, got, err, tt.want)
	}
	for _, text := range []string{"unix:", "unix:native", "{here", "{here}", "tcp:", "tcp::4713", "{here}unix:x"} {
		got, err := parseServers(text, "here")
		check.That(t, err != nil, "parseServers(%q) = %v, want an error", text, got)
	}
}

func FuzzParseServers(f *testing.F) {
	for _, text := range []string{"unix:/a /b tcp:c:1", "{here}tcp6:[::1]:9 {x", "tcp4:", "[", "{}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseServers(text, "here")
		check.Require(t, err == nil || all == nil, "%v and %v", all, err)
		for _, a := range all {
			if a.network == "unix" {
				check.Require(t, strings.HasPrefix(a.addr, "/"), "%v is not an absolute path", a)
				continue
			}
			_, _, err := net.SplitHostPort(a.addr)
			check.NoError(t, err)
		}
	})
}

// For any input, in any pieces, the library reads only complete messages of the kinds that it can handle, and
// then io.EOF.
func FuzzLink(f *testing.F) {
	answer := message(proto.OpReply, 0, 'L', 0, 0, 0, 35)
	f.Add([]byte(answer+message(proto.OpRequest, 0xFFFFFFFF, 'L', 0, 0, 0, 1, 'L', 0, 0, 1, 0)), 1)
	f.Add([]byte(answer+message(200, 0, 1, 2, 3)+message(proto.OpReply, 1)+"\x00\x00"), 7)
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\n"), 1000)
	f.Fuzz(func(t *testing.T, sent []byte, piece int) {
		l := newLink(&script{in: bytes.NewReader(sent), piece: max(1, piece)})
		got := check.Must(io.ReadAll(l))(t)
		check.Require(t, l.closeCause() != nil, "the link has no cause")
		for first := true; len(got) > 0; first = false {
			size := descriptorSize + int(binary.BigEndian.Uint32(got))
			check.Require(t, len(got) >= size && size >= descriptorSize+controlHeader,
				"a message of %d bytes is passed on as %d", size, len(got))
			command := binary.BigEndian.Uint32(got[descriptorSize+1:])
			reply := command == proto.OpReply || command == proto.OpError
			check.Require(t, reply || !first, "the first message is a %d", command)
			got = got[size:]
		}
	})
}

// value returns a tagged value, with big-endian numbers.
func value(tag byte, parts ...any) string {
	b := []byte{tag}
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(b, p...)
		case uint32:
			b = binary.BigEndian.AppendUint32(b, p)
		}
	}
	return string(b)
}

// sinkInfo returns a sink in a reply of version 32, with so many ports announced, and a property of a length.
func sinkInfo(ports, property uint32) string {
	zero := string(make([]byte, 8))
	return value('L', uint32(0)) + "tspeaker\x00" + "N" + value('a', "\x05\x01", uint32(48000)) + "m\x01\x00" +
		value('L', uint32(0)) + value('v', "\x01", uint32(1<<16)) + "0" + value('L', uint32(0)) +
		"N" + "U" + zero + "N" + value('L', uint32(0)) + "P" + "tname\x00" + value('L', property) +
		value('x', property) + "abc" + "N" + "U" + zero +
		value('V', uint32(1<<16)) + value('L', uint32(0)) + value('L', uint32(0)) + value('L', uint32(0)) +
		value('L', ports) + "tout\x00" + "N" + value('L', uint32(0)) + value('L', uint32(0)) + "N" +
		"B\x01" + "f" + "B\x01" + "P" + "N"
}

// No length in a message of the sound server exceeds the message, and no value has a type that the library cannot
// set: it would allocate gigabytes, or panic in its own goroutine.
func TestSkim_lengths(t *testing.T) {
	t.Parallel()
	number, text := value('L', uint32(5)), "tx\x00"
	for name, tt := range map[string]struct {
		layout uint32
		body   string
		ok     bool
	}{
		"no sink":                  {proto.OpGetSinkInfoList, "", true},
		"two sinks":                {proto.OpGetSinkInfoList, strings.Repeat(sinkInfo(1, 3), 2), true},
		"a sink without its end":   {proto.OpGetSinkInfoList, strings.TrimSuffix(sinkInfo(1, 3), "N"), false},
		"two ports of one":         {proto.OpGetSinkInfoList, sinkInfo(2, 3), false},
		"four billion ports":       {proto.OpGetSinkInfoList, sinkInfo(1<<32-1, 3), false},
		"a property of four bytes": {proto.OpGetSinkInfoList, sinkInfo(1, 4), false},
		"a property of four GiB":   {proto.OpGetSinkInfoList, sinkInfo(1, 1<<32-1), false},
		"a client's name":          {proto.OpSetClientName, number, true},
		"a number and more":        {proto.OpSetClientName, number + "N", false},
		"a text for a number":      {proto.OpSetClientName, text, false},
		"an unknown type":          {proto.OpSetClientName, "?", false},
		"bytes for a number":       {proto.OpAuth, value('x', uint32(1), "a"), false},
	} {
		layout := replies[tt.layout]
		if layout == nil {
			layout = events[tt.layout]
		}
		err := skim([]byte(tt.body), layout, libraryVersion)
		check.That(t, (err == nil) == tt.ok && (tt.ok || errors.Is(err, errMessage)), "%s: %v", name, err)
	}
	for length, ok := range map[int]bool{maxString - 1: true, maxString: false} {
		moved := number + number + "t" + strings.Repeat("x", length) + "\x00" + "0" + strings.Repeat(number, 4) +
			"U" + string(make([]byte, 8))
		err := skim([]byte(moved), events[proto.OpPlaybackStreamMoved], libraryVersion)
		check.That(t, (err == nil) == ok, "a text of %d bytes: %v", length, err)
	}
}

// A frame may have maxFrame bytes.
func TestLink_maxFrame(t *testing.T) {
	t.Parallel()
	answer := message(proto.OpReply, 0, 'L', 0, 0, 0, 35)
	for length, ok := range map[uint32]bool{maxFrame: true, maxFrame + 1: false, 1<<32 - 1: false} {
		head := binary.BigEndian.AppendUint32(nil, length)
		head = append(binary.BigEndian.AppendUint32(head, 1), make([]byte, 12)...) // samples, which are skipped
		sent := answer + string(head) + strings.Repeat("x", int(min(length, maxFrame+1)))
		l := newLink(&script{in: strings.NewReader(sent), piece: 1 << 16})
		check.Must(io.ReadAll(l))(t)
		closed := strings.Contains(l.closeCause().Error(), "closed the connection")
		check.That(t, closed == ok, "a frame of %d bytes: %v", length, l.closeCause())
	}
}

// Whatever a message is, skimming it ends, and what passes has no length beyond its end.
func FuzzSkim(f *testing.F) {
	f.Add(uint32(proto.OpGetSinkInfoList), []byte(sinkInfo(1, 3)))
	f.Add(uint32(proto.OpAuth), []byte(value('L', uint32(35))))
	f.Add(uint32(proto.OpPlaybackStreamMoved), []byte(value('L', uint32(1))))
	f.Add(uint32(proto.OpGetCardInfoList), []byte{'L', 0, 0, 0, 1, 'N', 'L', 0, 0, 0, 2})
	f.Fuzz(func(t *testing.T, command uint32, body []byte) {
		for _, layout := range []reflect.Type{replies[command], events[command]} {
			if layout != nil {
				err := skim(body, layout, libraryVersion)
				check.That(t, err == nil || errors.Is(err, errMessage), "%v", err)
			}
		}
	})
}

func TestLink_storesFirstCause(t *testing.T) {
	t.Parallel()
	l := newLink(&script{in: bytes.NewReader(nil), piece: 1, broken: true})
	check.Equal(t, check.Must(l.Write([]byte("abc")))(t), 3, "Write on a broken link: the library takes no error")
	l.close(errors.New("later"))
	check.ErrorIs(t, l.closeCause(), io.ErrClosedPipe, "the cause")
}

// message returns a control message with the given tagged values.
func message(command, serial uint32, values ...byte) string {
	body := binary.BigEndian.AppendUint32([]byte{'L'}, command)
	body = binary.BigEndian.AppendUint32(append(body, 'L'), serial)
	body = append(body, values...)
	head := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	head = binary.BigEndian.AppendUint32(head, control)
	return string(append(append(head, make([]byte, 12)...), body...))
}

// A script is a connection that sends its contents in pieces.
type script struct {
	net.Conn
	in     io.Reader
	piece  int
	broken bool // Write fails
}

func (s *script) Read(p []byte) (int, error)       { return s.in.Read(p[:min(len(p), s.piece)]) }
func (s *script) Close() error                     { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

func (s *script) Write(p []byte) (int, error) {
	if s.broken {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// The log has the volume of a sink, and warns of one that is low when it is connected.
func TestSink_logsLowVolume(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		volume int
		muted  bool // /health reports it
		warned bool
	}{{40, false, true}, {LowVolume - 1, false, true}, {LowVolume, false, false}, {40, true, false}} {
		var log check.Log
		s := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
		s.setState(state{sink: serverSink{SinkInfo: SinkInfo{Name: "speaker", Volume: tt.volume, Muted: tt.muted}}})
		check.Equal(t, strings.Contains(log.String(), `level=WARN msg="sink volume low"`), tt.warned,
			"volume %d, muted %v: warned", tt.volume, tt.muted)
		logged := log.String()
		s.setState(state{sink: serverSink{SinkInfo: SinkInfo{Name: "speaker", Volume: tt.volume - 1}}})
		check.That(t, log.String() == logged, "a change of the volume is logged:\n%s", &log)
	}
}

func TestHistory_lastSamples(t *testing.T) {
	t.Parallel()
	h := history{limit: 4}
	got := h.last(3)
	check.That(t, len(got) == 0 && h.clips(3) == 0, "an empty history has %v", got)
	h.add([]float32{1, 2, 3}, true)
	h.add([]float32{0, 0}, false)
	h.add([]float32{4}, true)
	for n, want := range []struct {
		samples []float32
		clips   int
	}{
		{nil, 0},
		{[]float32{4}, 1},
		{[]float32{0, 4}, 1},
		{[]float32{0, 0, 4}, 1},
		{[]float32{3, 0, 0, 4}, 2},
		{[]float32{2, 3, 0, 0, 4}, 3},
		{[]float32{1, 2, 3, 0, 0, 4}, 4},
		{[]float32{1, 2, 3, 0, 0, 4}, 4},
	} {
		got := h.last(n)
		check.That(t, slices.Equal(got, want.samples) && h.clips(n) == want.clips,
			"last(%d) returns %v with %d of clips, want %v with %d", n, got, h.clips(n), want.samples, want.clips)
	}
	h.add([]float32{5}, true)
	got = h.last(9)
	check.That(t, slices.Equal(got, []float32{0, 0, 4, 5}), "beyond its limit it has %v, want the last 4", got)
}

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
