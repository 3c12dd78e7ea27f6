package mqtt

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"pressbox/packaging/check"
)

// A wire is a connection from which bytes are read.
type wire struct {
	net.Conn
	from io.Reader
}

func (w wire) Read(p []byte) (int, error) { return w.from.Read(p) }

// passed returns how many of the bytes that a broker sends reach the library: those before the end of the
// header of a packet that it may not send. legal reports that there is no such packet.
func passed(sent []byte) (n int, legal bool) {
	for n < len(sent) {
		if sent[n]>>4 == packets.AUTH {
			return n, false
		}
		length, i := 0, 1
		for ; ; i++ {
			if n+i >= len(sent) {
				return len(sent), true // half a header
			}
			length += int(sent[n+i]&0x7f) << (7 * (i - 1))
			if sent[n+i] < 0x80 {
				break
			}
			if i == 4 {
				return n + i, false
			}
		}
		if 1+i+length > MaxPacket {
			return n + i, false
		}
		n += 1 + i + length
	}
	return len(sent), true
}

// packet returns a packet with a body of zeros, of which not all have to be sent.
func packet(control byte, length, sent int) []byte {
	p := []byte{control}
	for ; length > 0x7f; length >>= 7 {
		p = append(p, byte(length)|0x80)
	}
	return append(append(p, byte(length)), make([]byte, sent)...)
}

func checkPassed(t *testing.T, sent []byte) {
	t.Helper()
	want, legal := passed(sent)
	for _, reader := range []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
	} {
		c := &boundedConn{Conn: wire{from: reader(bytes.NewReader(sent))}}
		got, err := io.ReadAll(c)
		check.Require(t, bytes.Equal(got, sent[:want]), "%.20x: %d bytes passed, want %d", sent, len(got), want)
		check.Require(t, errors.Is(err, errPacket) != legal, "%.20x: %v; legal %t", sent, err, legal)
		again, err := io.ReadAll(c)
		check.Require(t, len(again) == 0 && errors.Is(err, errPacket) != legal, "%.20x: then %x, %v", sent, again, err)
	}
}

// The largest packet is read and a larger one is not, however its bytes arrive.
func TestBoundedConn(t *testing.T) {
	t.Parallel()
	const header = 4
	ping := packet(0xd0, 0, 0)
	for _, tt := range []struct {
		sent []byte
		want int
	}{
		{ping, 2},
		{packet(0x30, MaxPacket-header, MaxPacket-header), MaxPacket},
		{packet(0x30, MaxPacket-header+1, 1), header - 1},
		{packet(0x30, 256<<20-1, 1), 4},
		{slices.Concat(ping, packet(0x30, MaxPacket, 1)), 2 + header - 1},
		{[]byte{0x30, 0xff, 0xff, 0xff, 0xff, 0x00}, 4},
		{[]byte{0x30, 0x80, 0x80, 0x80, 0x00, 0xd0, 0x00}, 7}, // longer than it needs to be
		{[]byte{0x30, 0x85}, 2},
		{slices.Concat(ping, []byte{0xf0, 0}), 2},
	} {
		got, legal := passed(tt.sent)
		check.Equal(t, got, tt.want, "%.20x: bytes that are passed on, legal %t", tt.sent, legal)
		checkPassed(t, tt.sent)
	}
}

// Whatever a broker sends, no more than the largest packet is passed on as one.
func FuzzBoundedConn(f *testing.F) {
	for _, seed := range [][]byte{
		packet(0xd0, 0, 0), slices.Concat(packet(0x20, 3, 3), packet(0x30, 300, 300), packet(0x30, MaxPacket, 10)),
		packet(0x30, 256<<20-1, 100),
		{0xf0, 0},
		{0x30, 0xff, 0xff, 0xff, 0xff, 0x00},
		{0x30, 0x80, 0x80, 0x80, 0x00, 0xd0, 0x00},
	} {
		f.Add(seed)
	}
	f.Fuzz(checkPassed)
}

// Of more messages than the limit, those of QoS 1 are processed later, as the broker keeps them meanwhile, and
// those of QoS 0 are dropped.
func TestConnection_limit(t *testing.T) {
	t.Parallel()
	for qos, want := range map[byte]struct {
		handled int
		took    time.Duration
	}{0: {30, 0}, 1: {40, 10 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			handled, log := 0, &check.Log{}
			s := New(Config{PerMinute: 60, Log: slog.New(slog.NewTextHandler(log, nil)), Subscriptions: []Subscription{
				{Filter: "say", Handle: func(context.Context, Message) error { handled++; return nil }},
			}})
			c := s.newConnection(nil)
			c.token.Store(new("token"))
			close(c.ready)
			began := time.Now()
			for i := range uint16(40) {
				c.receive(t.Context(), &paho.Publish{Topic: "say", QoS: qos, PacketID: i})
			}
			check.Equal(t, handled, want.handled, "messages of QoS %d that were processed", qos)
			check.Equal(t, time.Since(began), want.took, "the time of those of QoS %d", qos)
			check.Equal(t, strings.Count(log.String(), "MQTT messages dropped"), int(1-qos), "entries of the log")
		})
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, row := range check.Rows(`
		a/b   | a/b a/+ +/b +/+ a/b/# a/# # | a + a/b/c
		a/b/c | a/+/c a/#                   | a/+ a/b
		a/    | a/+                         | a
		a     | a/# +                       | a/b b
		b     | #                           | a/#
	`) {
		for filter := range strings.FieldsSeq(row[1]) {
			check.That(t, matches(filter, row[0]), "%s does not match %s", filter, row[0])
		}
		for filter := range strings.FieldsSeq(row[2]) {
			check.That(t, !matches(filter, row[0]), "%s matches %s", filter, row[0])
		}
	}
}

func TestDelays(t *testing.T) {
	t.Parallel()
	d := delays{first: time.Second}
	for range 3 { // the last one lasts long enough for a short delay
		lasted := time.Hour
		for _, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
			want := time.Duration(seconds) * time.Second
			got := d.after(lasted)
			check.That(t, got >= want/2 && got <= want, "delay %s, want %s to %s", got, want/2, want)
			lasted = want
		}
	}
}
