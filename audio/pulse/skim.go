package pulse

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/jfreymuth/pulse/proto"
)

// maxString limits a string of a message, in bytes with its end; the library reads no longer ones.
const maxString = 1024

// layouts are the types of what the library reads behind the header of a message: of replies by the
// command that they answer, of events by their own.
var replies, events = layouts([]proto.Reply{ //nolint:gochecknoglobals // tables
	new(proto.AuthReply), new(proto.SetClientNameReply), new(proto.GetServerInfoReply),
	new(proto.GetSinkInfoListReply), new(proto.GetCardInfoListReply), new(proto.GetSinkInputInfoListReply),
	new(proto.CreatePlaybackStreamReply), new(proto.GetPlaybackLatencyReply),
}), map[uint32]reflect.Type{
	proto.OpError:                     reflect.TypeFor[struct{ Code uint32 }](),
	proto.OpRequest:                   reflect.TypeFor[proto.Request](),
	proto.OpSubscribeEvent:            reflect.TypeFor[proto.SubscribeEvent](),
	proto.OpPlaybackStreamKilled:      reflect.TypeFor[proto.PlaybackStreamKilled](),
	proto.OpPlaybackStreamMoved:       reflect.TypeFor[proto.PlaybackStreamMoved](),
	proto.OpPlaybackBufferAttrChanged: reflect.TypeFor[proto.PlaybackBufferAttrChanged](),
}

func layouts(all []proto.Reply) map[uint32]reflect.Type {
	by := map[uint32]reflect.Type{}
	for _, r := range all {
		by[r.IsReplyTo()] = reflect.TypeOf(r).Elem()
	}
	return by
}

// errMessage reports a message that the library must not read: a length in it exceeds the message, or a
// value has another type than the library sets.
var errMessage = errors.New("the sound server sent a malformed message")

// skim returns an error unless the library can read all of body as a layout. The library trusts the lengths
// in a message: it would allocate as much as the message says, and its reflection panics at values of other
// types.
func skim(body []byte, layout reflect.Type, version int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errMessage, p)
		}
	}()
	s := &skimmer{body, version}
	if layout.Kind() != reflect.Slice {
		s.values(layout)
	}
	for layout.Kind() == reflect.Slice && len(s.rest) > 0 {
		s.values(layout.Elem().Elem())
	}
	if len(s.rest) > 0 {
		return fmt.Errorf("%w: %d bytes after its end", errMessage, len(s.rest))
	}
	return nil
}

// A skimmer reads a message in the order of the library. Its methods panic at the end of the message.
type skimmer struct {
	rest    []byte
	version int // of the protocol
}

func (s *skimmer) skip(n int) []byte {
	part := s.rest[:n]
	s.rest = s.rest[n:]
	return part
}

func (s *skimmer) byte() byte { return s.skip(1)[0] }

// count reads the number of things of which each has at least one byte.
func (s *skimmer) count() int {
	n := binary.BigEndian.Uint32(s.skip(4))
	if int64(n) > int64(len(s.rest)) {
		panic(fmt.Sprintf("%d of %d bytes", n, len(s.rest)))
	}
	return int(n)
}

func (s *skimmer) want(tag byte) {
	if got := s.byte(); got != tag {
		panic(fmt.Sprintf("type %q, want %q", got, tag))
	}
}

func (s *skimmer) text() {
	end := bytes.IndexByte(s.rest[:min(len(s.rest), maxString)], 0)
	s.skip(end + 1)
	if end < 0 {
		panic("a string without an end")
	}
}

func (s *skimmer) properties() {
	for tag := s.byte(); tag != 'N'; tag = s.byte() {
		if tag != 't' {
			panic(fmt.Sprintf("property of type %q", tag))
		}
		s.text()
		s.want('L')
		n := s.count()
		s.want('x')
		if s.count() != n {
			panic("two lengths of a property")
		}
		s.skip(n)
	}
}

func (s *skimmer) formatInfo() {
	s.want('B')
	s.byte()
	s.want('P')
	s.properties()
}

// values reads the fields of a struct.
func (s *skimmer) values(layout reflect.Type) {
	for field := range layout.Fields() {
		since, gone := strings.CutPrefix(string(field.Tag), "<")
		if at, err := strconv.Atoi(since); err == nil && (at > s.version) != gone {
			continue
		}
		switch t := field.Type; {
		case t == reflect.TypeFor[[]proto.FormatInfo]():
			s.want('B')
			for range s.byte() {
				s.want('f')
				s.formatInfo()
			}
		case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
			s.want('L')
			for range s.count() {
				s.values(t.Elem())
			}
		default:
			s.value(t)
		}
	}
}

// listOf reports whether t is a slice of elements of a kind.
func listOf(t reflect.Type, kind reflect.Kind) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == kind
}

// value reads a value and panics unless a field of type t can have it.
func (s *skimmer) value(t reflect.Type) {
	tag := s.byte()
	sizes := map[byte]int{'L': 4, 'B': 1, 'R': 8, 'r': 8, 'a': 6, 'T': 8, 'U': 8, 'V': 4}
	fits := map[byte]bool{
		't': t.Kind() == reflect.String, 'N': t.Kind() == reflect.String,
		'1': t.Kind() == reflect.Bool, '0': t.Kind() == reflect.Bool,
		'r': t.Kind() == reflect.Int64,
		'a': t == reflect.TypeFor[proto.SampleSpec](), 'T': t == reflect.TypeFor[proto.Time](),
		'm': listOf(t, reflect.Uint8), 'v': listOf(t, reflect.Uint32),
		'P': t == reflect.TypeFor[proto.PropList](), 'f': t == reflect.TypeFor[proto.FormatInfo](),
	}
	for _, number := range []byte("LBRUV") {
		fits[number] = t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64
	}
	if !fits[tag] {
		panic(fmt.Sprintf("%q for a field of type %s", tag, t))
	}
	switch tag {
	case 't':
		s.text()
	case 'm':
		s.skip(int(s.byte()))
	case 'v':
		s.skip(4 * int(s.byte()))
	case 'P':
		s.properties()
	case 'f':
		s.formatInfo()
	default:
		s.skip(sizes[tag])
	}
}
