package pulse

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

const (
	descriptorSize = 20      // length, channel, offset (two words), flags
	controlHeader  = 10      // tagged command and tagged serial number
	maxFrame       = 1 << 20 // of a control message; the largest seen is a list of sinks
	control        = 0xFFFFFFFF
	tagUint32      = 'L'
)

// A link is the socket as the library's read loop sees it. That loop runs in
// a goroutine of the library's, where a panic ends the daemon, and it spins
// for ever when a list breaks off in the middle; so a link hands on whole
// control messages only, of the few kinds that this package listens to, from
// a peer whose first message was the answer to ours. Every end, whatever its
// cause, reads as io.EOF, the one end of which the library tells; the cause
// is kept.
type link struct {
	conn  net.Conn
	in    *bufio.Reader
	frame []byte // read and not yet handed on
	met   bool   // the peer has answered as a sound server does

	mu    sync.Mutex
	cause error // why it was closed; nil while it is open
}

func newLink(conn net.Conn) *link {
	return &link{conn: conn, in: bufio.NewReader(conn)}
}

// Read hands on the next bytes of the next message.
func (l *link) Read(p []byte) (int, error) {
	for len(l.frame) == 0 {
		frame, err := l.next()
		if err != nil {
			l.close(err)
			return 0, io.EOF
		}
		l.frame = frame
	}
	n := copy(p, l.frame)
	l.frame = l.frame[n:]
	return n, nil
}

// next reads one frame and returns it when it is a message for the library,
// else nothing.
func (l *link) next() ([]byte, error) {
	head, err := l.in.Peek(descriptorSize)
	if err != nil {
		return nil, ended(err)
	}
	length := int64(binary.BigEndian.Uint32(head))
	channel, flags := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[16:])
	if length > maxFrame || !l.met && (channel != control || flags != 0) {
		return nil, errors.New("what answers is no PulseAudio server")
	}
	frame := make([]byte, descriptorSize+length)
	if _, err := io.ReadFull(l.in, frame); err != nil {
		return nil, ended(err)
	}
	if channel != control || flags != 0 {
		return nil, nil
	}
	return l.check(frame)
}

// check returns a control message when it is one for the library.
func (l *link) check(frame []byte) ([]byte, error) {
	body := frame[descriptorSize:]
	if len(body) < controlHeader || body[0] != tagUint32 || body[5] != tagUint32 {
		return nil, errors.New("what answers is no PulseAudio server")
	}
	command := binary.BigEndian.Uint32(body[1:])
	if !l.met {
		answer := command == proto.OpReply || command == proto.OpError
		if !answer || len(body) != controlHeader+5 || body[controlHeader] != tagUint32 {
			return nil, errors.New("what answers is no PulseAudio server")
		}
		l.met = true
	}
	switch command {
	case proto.OpReply, proto.OpError, proto.OpRequest, proto.OpSubscribeEvent,
		proto.OpPlaybackStreamKilled, proto.OpPlaybackStreamMoved, proto.OpPlaybackBufferAttrChanged:
		return frame, nil
	default:
		return nil, nil
	}
}

// Write sends p. It never fails as far as the library can see, for that
// would end in an index out of range there: the end is told by Read.
func (l *link) Write(p []byte) (int, error) {
	err := l.conn.SetWriteDeadline(time.Now().Add(patience))
	if err == nil {
		_, err = l.conn.Write(p)
	}
	if err != nil {
		l.close(ended(err))
	}
	return len(p), nil
}

// close ends the link; the first cause given is the one that is kept.
func (l *link) close(cause error) {
	l.mu.Lock()
	if l.cause == nil {
		l.cause = cause
	}
	l.mu.Unlock()
	_ = l.conn.Close() // which is all that can be done
}

// why returns the cause of the end.
func (l *link) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// ended puts the end of a connection into words.
func ended(err error) error {
	for _, hangUp := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, hangUp) {
			return errors.New("the sound server closed the connection")
		}
	}
	return fmt.Errorf("talk to the sound server: %w", err)
}
