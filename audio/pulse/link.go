package pulse

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

const (
	descriptorSize = 20      // length, channel, offset (two words), flags
	controlHeader  = 10      // tagged command and tagged serial number
	maxFrame       = 1 << 20 // of a control message; a list of sinks is the largest
	control        = 0xFFFFFFFF
	tagUint32      = 'L'

	libraryVersion = 32 // of the protocol, before the server has answered
)

// A link is the server's socket as the library's read loop sees it. That loop runs in the library's
// goroutine, where a panic ends this process, and it loops for ever on a list that ends in the middle. So a
// link passes on only complete control messages of the kinds that this package handles, which [skim] has
// read, from a server whose first message was a valid reply. Every end reads as io.EOF, the only one that
// the library reports; the link stores the cause.
type link struct {
	conn     net.Conn
	in       *bufio.Reader
	frame    []byte // read from the socket and not yet by the library
	verified bool   // the first message was a valid reply
	payload  int    // bytes of the frame that is being written; the library writes one at a time
	control  bool   // that frame is a control message, which the library writes whole

	version atomic.Int32 // of the protocol

	mu     sync.Mutex
	cause  error             // why it was closed; nil while it is open
	asked  map[uint32]uint32 // commands that have no reply yet, by their serial numbers
	rewind map[uint32]int64  // bytes, by the channel whose next frame overwrites the last ones
}

func newLink(conn net.Conn) *link {
	l := &link{
		conn: conn, in: bufio.NewReader(conn), asked: make(map[uint32]uint32), rewind: make(map[uint32]int64),
	}
	l.version.Store(libraryVersion)
	return l
}

// Read returns the next bytes of the next message.
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

// next reads one frame and returns it if it is a message for the library, otherwise nothing.
func (l *link) next() ([]byte, error) {
	head, err := l.in.Peek(descriptorSize)
	if err != nil {
		return nil, closedError(err)
	}
	length := int64(binary.BigEndian.Uint32(head))
	channel, flags := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[16:])
	if length > maxFrame || !l.verified && (channel != control || flags != 0) {
		return nil, errors.New("the peer is not a PulseAudio server")
	}
	frame := make([]byte, descriptorSize+length)
	if _, err := io.ReadFull(l.in, frame); err != nil {
		return nil, closedError(err)
	}
	if channel != control || flags != 0 {
		return nil, nil
	}
	return l.check(frame)
}

// check returns a control message if it is one for the library.
func (l *link) check(frame []byte) ([]byte, error) {
	body := frame[descriptorSize:]
	if len(body) < controlHeader || body[0] != tagUint32 || body[5] != tagUint32 {
		return nil, errors.New("the peer is not a PulseAudio server")
	}
	command := binary.BigEndian.Uint32(body[1:])
	if !l.verified {
		answer := command == proto.OpReply || command == proto.OpError
		if !answer || len(body) != controlHeader+5 || body[controlHeader] != tagUint32 {
			return nil, errors.New("the peer is not a PulseAudio server")
		}
		l.verified = true
	}
	layout := events[command]
	if serial := binary.BigEndian.Uint32(body[6:]); command == proto.OpReply {
		layout = replies[l.answered(serial)]
		if layout == nil { // the library skips what it does not wait for
			return frame, nil
		}
	}
	if layout == nil {
		return nil, nil
	}
	return frame, skim(body[controlHeader:], layout, int(l.version.Load()))
}

// answered returns the command with a serial number, once; 0 for none.
func (l *link) answered(serial uint32) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	command := l.asked[serial]
	delete(l.asked, serial)
	return command
}

// ask notes a control message that is written.
func (l *link) ask(body []byte) {
	if len(body) < controlHeader {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[binary.BigEndian.Uint32(body[6:])] = binary.BigEndian.Uint32(body[1:])
}

// Write sends p. It never returns an error, because the library would then index out of range; Read reports
// the end.
func (l *link) Write(p []byte) (int, error) {
	switch {
	case l.payload > 0:
		if l.control {
			l.ask(p)
		}
		l.payload -= len(p)
	case len(p) == descriptorSize:
		l.payload, l.control = int(binary.BigEndian.Uint32(p)), binary.BigEndian.Uint32(p[4:]) == control
		p = l.seek(p)
	}
	err := l.conn.SetWriteDeadline(time.Now().Add(timeout))
	if err == nil {
		_, err = l.conn.Write(p)
	}
	if err != nil {
		l.close(closedError(err))
	}
	return len(p), nil
}

// overwrite makes the next frame of samples replace the last bytes that were written to a channel. The
// library's own frames only append.
func (l *link) overwrite(channel uint32, bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rewind[channel] = int64(bytes)
}

// seek returns the descriptor of a frame, with the offset that overwrite asked for; relative to the write
// index is the seek mode 0.
func (l *link) seek(descriptor []byte) []byte {
	channel := binary.BigEndian.Uint32(descriptor[4:])
	l.mu.Lock()
	defer l.mu.Unlock()
	bytes, found := l.rewind[channel]
	if !found {
		return descriptor
	}
	delete(l.rewind, channel)
	patched := slices.Clone(descriptor)
	binary.BigEndian.PutUint64(patched[8:], uint64(-bytes)) //nolint:gosec // two's complement, as the protocol has it
	return patched
}

// close closes the link. The first cause counts.
func (l *link) close(cause error) {
	l.mu.Lock()
	if l.cause == nil {
		l.cause = cause
	}
	l.mu.Unlock()
	_ = l.conn.Close() // nothing is left to do about an error
}

// closeCause returns why the link was closed, nil while it is open.
func (l *link) closeCause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// closedError returns a readable error for the end of a connection.
func closedError(err error) error {
	for _, closed := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, closed) {
			return errors.New("the sound server closed the connection")
		}
	}
	return fmt.Errorf("communicate with the sound server: %w", err)
}
