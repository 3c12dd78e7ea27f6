package mqtt

import (
	"errors"
	"fmt"
	"net"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
)

// errPacket is the error of reading a packet that a broker may not send.
var errPacket = errors.New("not a packet that the broker may send")

// A boundedConn is a connection whose reader fails before the body of a packet that is larger
// than [MaxPacket]: the library would allocate as much as the packet's fixed header says. The
// header is a control byte and the length of the body in one to four bytes of seven bits, of
// which all but the last have the eighth (MQTT 5, sections 1.5.5 and 2.1). It also fails at an
// AUTH packet, which the library hands to nobody.
type boundedConn struct {
	net.Conn
	header int // bytes of the header that have been read
	length int // of the body, as far as the header has been read
	body   int // bytes of the body that have not been read

	refused error // nil until a packet is refused
}

// Read returns bytes of one packet: one of its header, or some of its body.
func (c *boundedConn) Read(p []byte) (int, error) {
	if c.refused != nil {
		return 0, c.refused
	}
	if c.body > 0 {
		n, err := c.Conn.Read(p[:min(len(p), c.body)])
		c.body -= n
		return n, err
	}
	n, err := c.Conn.Read(p[:min(len(p), 1)])
	if n == 1 {
		if c.refused = c.readHeader(p[0]); c.refused != nil {
			return 0, c.refused
		}
	}
	return n, err
}

// readHeader takes the next byte of a header.
func (c *boundedConn) readHeader(b byte) error {
	if c.header++; c.header == 1 {
		if b>>4 == packets.AUTH {
			return fmt.Errorf("%w: AUTH, without an authentication", errPacket)
		}
		return nil
	}
	c.length |= int(b&0x7f) << (7 * (c.header - 2))
	switch {
	case b&0x80 != 0 && c.header == 5:
		return fmt.Errorf("%w: a length of more than four bytes", errPacket)
	case b&0x80 != 0:
		return nil
	case c.header+c.length > MaxPacket:
		return fmt.Errorf("%w: %d bytes, at most %d", errPacket, c.header+c.length, MaxPacket)
	}
	c.header, c.length, c.body = 0, 0, c.length
	return nil
}

// noAuther does nothing when a broker says that it has authenticated the client by a method
// which CONNECT has not named. Without one the library panics then.
type noAuther struct{}

// Authenticate is not called: a [boundedConn] reads no AUTH packet.
func (noAuther) Authenticate(*paho.Auth) *paho.Auth { return &paho.Auth{} }

// Authenticated does nothing.
func (noAuther) Authenticated() {}
