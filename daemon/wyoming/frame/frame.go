// Package frame reads and writes frames of the Wyoming protocol, in which voice assistants ask for speech: a
// line of JSON, the header; then JSON data, if the header has a data_length; then bytes, if it has a
// payload_length.
//
//	{"type": "synthesize", "version": "1.9.0", "data_length": 17}\n{"text": "Hello"}
//
// One law: a reader uses no more memory than its client has sent, and at most [MaxFrame].
package frame

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
)

// Limits in bytes.
const (
	MaxHeader = 64 << 10  // with its line break
	MaxFrame  = 512 << 10 // header, data and payload
)

// version is the version of the protocol's reference implementation that was read. It is informative.
const version = "1.9.0"

// Errors of [Reader.Next], in addition to those of its reader. After them the position of the next frame is
// unknown.
var (
	ErrTooLarge  = fmt.Errorf("a header may have %d bytes, and a frame %d", MaxHeader, MaxFrame)
	ErrMalformed = errors.New("not a frame of the Wyoming protocol")
)

// A Frame is one event of the protocol.
type Frame struct {
	Type    string
	Data    map[string]json.RawMessage // its members; nil means none
	Payload []byte
}

// Decode decodes the data into v, as [json.Unmarshal] does. The error wraps [ErrMalformed].
func (f Frame) Decode(v any) error {
	object, err := json.Marshal(f.Data)
	if err == nil {
		err = json.Unmarshal(object, v)
	}
	if err != nil {
		return fmt.Errorf("%w: data of %s: %w", ErrMalformed, f.Type, err)
	}
	return nil
}

// A header is the first line of a frame.
type header struct {
	Type          string                     `json:"type"`
	Version       string                     `json:"version,omitempty"`
	Data          map[string]json.RawMessage `json:"data,omitempty"`
	DataLength    int64                      `json:"data_length,omitempty"`
	PayloadLength int64                      `json:"payload_length,omitempty"`
}

// Append appends a frame to dst. data is a value that encodes as a JSON object; nil means none.
func Append(dst []byte, kind string, data any, payload []byte) ([]byte, error) {
	h := header{Type: kind, Version: version, PayloadLength: int64(len(payload))}
	var object []byte
	if data != nil {
		var err error
		if object, err = json.Marshal(data); err != nil {
			return dst, fmt.Errorf("encode the data of %s: %w", kind, err)
		}
		h.DataLength = int64(len(object))
	}
	line, err := json.Marshal(h)
	if err != nil {
		return dst, fmt.Errorf("encode the header of %s: %w", kind, err)
	}
	dst = append(append(dst, line...), '\n')
	return append(append(dst, object...), payload...), nil
}

// A Reader reads frames.
type Reader struct{ in *bufio.Reader }

// NewReader returns a reader of the frames in r.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReader(r)} }

// Wait returns when the next frame begins, or the error of the underlying reader.
func (r *Reader) Wait() error {
	_, err := r.in.Peek(1)
	return err
}

// Next returns the next frame. The error is [io.EOF] at the end, [io.ErrUnexpectedEOF] in a frame, and wraps
// [ErrTooLarge] or [ErrMalformed] for what is not a frame.
func (r *Reader) Next() (Frame, error) {
	line, err := r.line()
	if err != nil {
		return Frame{}, err
	}
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return Frame{}, fmt.Errorf("%w: header: %w", ErrMalformed, err)
	}
	switch {
	case h.Type == "":
		return Frame{}, fmt.Errorf("%w: header without a type", ErrMalformed)
	case h.DataLength < 0 || h.PayloadLength < 0:
		return Frame{}, fmt.Errorf("%w: negative length", ErrMalformed)
	case max(h.DataLength, h.PayloadLength) > MaxFrame || int64(len(line))+h.DataLength+h.PayloadLength > MaxFrame:
		return Frame{}, ErrTooLarge
	}
	f := Frame{Type: h.Type, Data: h.Data}
	if err := r.data(&f, h.DataLength); err != nil {
		return Frame{}, err
	}
	f.Payload, err = r.bytes(h.PayloadLength)
	return f, err
}

// line reads a header with its line break.
func (r *Reader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxHeader:
			return nil, ErrTooLarge
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return line, err
		}
	}
}

// data reads n bytes of data and adds its members to those of the header.
func (r *Reader) data(f *Frame, n int64) error {
	object, err := r.bytes(n)
	if err != nil || n == 0 {
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return fmt.Errorf("%w: data of %s: %w", ErrMalformed, f.Type, err)
	}
	if f.Data == nil {
		f.Data = members
	}
	maps.Copy(f.Data, members)
	return nil
}

// bytes reads n bytes; nil for 0. Its memory grows with what arrives.
func (r *Reader) bytes(n int64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r.in, n); errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	} else if err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
