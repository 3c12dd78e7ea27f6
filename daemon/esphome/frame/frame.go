// Package frame reads and writes the messages of ESPHome's native API, by which Home Assistant uses devices: plain, or
// encrypted by Noise (revision 34: Noise_NNpsk0_25519_ChaChaPoly_SHA256).
//
//	plain       00, length, type, protobuf                 length and type are varints
//	encrypted   01, length, ciphertext                     16 bits, big-endian
//	            plaintext: type, length, protobuf          16 bits each, big-endian
//
// One law: a transport uses no more memory than its client has sent, and at most [MaxMessage]. With a key, nothing is
// read or sent in plain but the names in the first frames.
package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/flynn/noise"
)

// Limits in bytes.
const (
	// MaxMessage limits the protobuf of a message, in both directions: what an encrypted frame can have.
	MaxMessage = maxFrame - overhead
	// KeySize is the length of a key.
	KeySize = 32

	maxFrame  = 65_535
	overhead  = 4 + 16  // type and length; the authentication tag
	maxHello  = 256     // of the frames before the encryption
	maxVarint = 5       // of numbers of 32 bits
	maxType   = 1 << 16 // exclusive
)

// The first byte of a frame.
const (
	plain     = 0x00
	encrypted = 0x01
)

// Errors, in addition to those of the connection. After them the position of the next message is unknown.
var (
	ErrTooLarge  = fmt.Errorf("a message may have %d bytes", MaxMessage)
	ErrMalformed = errors.New("not a frame of ESPHome's native API")
	ErrPlain     = errors.New("the client does not use the encryption key")
	ErrEncrypted = errors.New("the client uses an encryption key, and this server has none")
	ErrKey       = errors.New("the client uses another encryption key")
)

// A Message is one message of the API.
type Message struct {
	Type int    // at most 65,535
	Body []byte // protobuf
}

// A Peer is how the server names itself before the encryption.
type Peer struct {
	Name string // as in its device info
	MAC  string // 12 hexadecimal digits, lower case
}

// A Transport reads and writes the messages of a connection. One goroutine at a time may read, and one may write.
type Transport struct {
	in            *bufio.Reader
	out           io.Writer
	receive, send *noise.CipherState // nil: plain
}

// Accept begins the transport of a client that has connected, with a key, or plain without one. When it returns an
// error, the client has been told the reason.
func Accept(conn io.ReadWriter, key []byte, own Peer) (*Transport, error) {
	t := &Transport{in: bufio.NewReader(conn), out: conn}
	first, err := t.in.Peek(1)
	if err != nil {
		return nil, err
	}
	switch kind := first[0]; {
	case kind == plain && key == nil:
		return t, nil
	case kind == encrypted && key != nil:
		return t, t.handshake(key, own)
	case kind == plain:
		return nil, t.refuse([]byte{encrypted, 0, 0}, ErrPlain)
	case kind == encrypted:
		return nil, t.refuse([]byte{plain}, ErrEncrypted)
	default:
		return nil, ErrMalformed
	}
}

// refuse sends what the client understands as the reason.
func (t *Transport) refuse(answer []byte, why error) error {
	if _, err := t.out.Write(answer); err != nil {
		return errors.Join(why, err)
	}
	return why
}

const (
	prologue = "NoiseAPIInit\x00\x00"
	// wrongKey is the text that clients know.
	wrongKey = "Handshake MAC failure"
)

// handshake answers the client's hello, which is empty, and its part of the handshake.
func (t *Transport) handshake(key []byte, own Peer) error {
	if _, err := t.encryptedFrame(maxHello); err != nil {
		return err
	}
	if err := t.write([]byte("\x01" + own.Name + "\x00" + own.MAC + "\x00")); err != nil {
		return err
	}
	theirs, err := t.encryptedFrame(maxHello)
	if err != nil {
		return err
	}
	if len(theirs) == 0 || theirs[0] != 0 {
		return ErrMalformed
	}
	state, err := noise.NewHandshakeState(noise.Config{
		CipherSuite: noise.NewCipherSuite(noise.DH25519, noise.CipherChaChaPoly, noise.HashSHA256),
		Pattern:     noise.HandshakeNN, Prologue: []byte(prologue), PresharedKey: key,
	})
	if err != nil {
		return fmt.Errorf("encryption key: %w", err)
	}
	if _, _, _, err := state.ReadMessage(nil, theirs[1:]); err != nil {
		return errors.Join(ErrKey, t.write([]byte("\x01"+wrongKey)))
	}
	ours, receive, send, err := state.WriteMessage([]byte{0}, nil)
	if err != nil {
		return fmt.Errorf("encryption: %w", err)
	}
	t.receive, t.send = receive, send
	return t.write(ours)
}

// Wait returns when the next message begins, or the error of the connection.
func (t *Transport) Wait() error {
	_, err := t.in.Peek(1)
	return err
}

// Next returns the next message. It may be called again after an error of the connection only if that was one of time
// before the message began.
func (t *Transport) Next() (Message, error) {
	if t.receive == nil {
		return t.nextPlain()
	}
	ciphertext, err := t.encryptedFrame(maxFrame)
	if err != nil {
		return Message{}, err
	}
	text, err := t.receive.Decrypt(ciphertext[:0], nil, ciphertext)
	if err != nil || len(text) < 4 {
		return Message{}, errors.Join(ErrMalformed, err)
	}
	return Message{Type: int(binary.BigEndian.Uint16(text)), Body: text[4:]}, nil // the length is not needed
}

func (t *Transport) nextPlain() (Message, error) {
	kind, err := t.in.ReadByte()
	if err != nil {
		return Message{}, err
	}
	if kind != plain {
		return Message{}, ErrMalformed
	}
	size, err := t.varint()
	if err != nil {
		return Message{}, err
	}
	number, err := t.varint()
	switch {
	case err != nil:
		return Message{}, err
	case size > MaxMessage:
		return Message{}, ErrTooLarge
	case number >= maxType:
		return Message{}, ErrMalformed
	}
	body, err := t.read(int(size))
	return Message{Type: int(number), Body: body}, err
}

// varint reads an integer of at most 32 bits (protobuf's encoding).
func (t *Transport) varint() (n uint32, err error) {
	for i := range maxVarint {
		b, err := t.in.ReadByte()
		if err != nil {
			return 0, incomplete(err)
		}
		n |= uint32(b&0x7F) << (7 * i)
		if b < 0x80 {
			return n, nil
		}
	}
	return 0, ErrMalformed
}

// encryptedFrame reads a frame, and returns what it has, of at most so many bytes.
func (t *Transport) encryptedFrame(most int) ([]byte, error) {
	var head [3]byte
	if _, err := io.ReadFull(t.in, head[:]); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint16(head[1:]))
	switch {
	case head[0] != encrypted:
		return nil, ErrMalformed
	case size > most:
		return nil, ErrTooLarge
	}
	return t.read(size)
}

// read reads so many bytes, for which it takes memory as they come.
func (t *Transport) read(size int) ([]byte, error) {
	const step = 4096
	var all []byte
	for len(all) < size {
		begin := len(all)
		all = append(all, make([]byte, min(step, size-begin))...)
		if _, err := io.ReadFull(t.in, all[begin:]); err != nil {
			return nil, incomplete(err)
		}
	}
	return all, nil
}

// incomplete returns the error of a frame that has begun.
func incomplete(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Write sends a message.
func (t *Transport) Write(m Message) error {
	if len(m.Body) > MaxMessage || m.Type <= 0 || m.Type >= maxType {
		return fmt.Errorf("message %d: %w", m.Type, ErrTooLarge)
	}
	if t.send == nil {
		frame := binary.AppendUvarint([]byte{plain}, uint64(len(m.Body)))
		frame = binary.AppendUvarint(frame, uint64(m.Type))
		_, err := t.out.Write(append(frame, m.Body...))
		return err
	}
	text := binary.BigEndian.AppendUint16(nil, uint16(m.Type))
	text = binary.BigEndian.AppendUint16(text, uint16(len(m.Body))) //nolint:gosec // checked above
	ciphertext, err := t.send.Encrypt(nil, nil, append(text, m.Body...))
	if err != nil {
		return fmt.Errorf("encrypt: %w", err)
	}
	return t.write(ciphertext)
}

// write sends an encrypted frame, or one of the handshake.
func (t *Transport) write(content []byte) error {
	frame := binary.BigEndian.AppendUint16([]byte{encrypted}, uint16(len(content))) //nolint:gosec // at most maxFrame
	_, err := t.out.Write(append(frame, content...))
	return err
}
