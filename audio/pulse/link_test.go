package pulse

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
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
