// Package flac encodes mono PCM as a FLAC stream (RFC 9639) while it arrives.
//
// One law: what it writes decodes to the same samples. A stream consists of the marker fLaC, the block
// STREAMINFO without the length and checksum, which are not known yet, and a frame for each [blockSize]
// samples; the last may be shorter.
package flac

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

const (
	blockSize  = 1152 // samples; 52 ms at 22,050 Hz
	sampleBits = 16
	maxRate    = math.MaxUint16 // samples per second
)

// A Writer encodes signed 16-bit little-endian PCM.
type Writer struct {
	w       io.Writer
	rate    int
	frames  uint32 // number of the next frame; its 31 bits last for years
	pending []byte // PCM of an incomplete block
	out     []byte // what is not written yet
	samples []int32
}

// NewWriter returns a writer of a stream to w. The rate is in samples per second, at most 65,535.
func NewWriter(w io.Writer, rate int) (*Writer, error) {
	if rate < 1 || rate > maxRate {
		return nil, fmt.Errorf("encode FLAC: %d samples per second, want 1 to %d", rate, maxRate)
	}
	return &Writer{w: w, rate: rate, out: header(rate)}, nil
}

// header returns the marker and STREAMINFO (RFC 9639 §8.2).
func header(rate int) []byte {
	h := &bitWriter{data: []byte("fLaC")}
	h.write(1, 1) // the last block of metadata
	h.write(0, 7) // STREAMINFO
	h.write(34, 24)
	h.write(blockSize, 16) // minimum
	h.write(blockSize, 16) // maximum
	h.write(0, 24)         // size of the frames: unknown
	h.write(0, 24)
	h.write(uint32(rate), 20) //nolint:gosec // NewWriter has checked it
	h.write(0, 3)             // one channel
	h.write(sampleBits-1, 5)
	h.write(0, 4) // number of samples, of 36 bits: unknown
	h.write(0, 32)
	return append(h.data, make([]byte, 16)...) // MD5: unknown
}

// Write encodes PCM, and writes the complete blocks at once.
func (e *Writer) Write(pcm []byte) (int, error) {
	e.pending = append(e.pending, pcm...)
	rest := e.pending
	for ; len(rest) >= 2*blockSize; rest = rest[2*blockSize:] {
		e.encode(rest[:2*blockSize])
	}
	complete := len(rest) < len(e.pending)
	e.pending = e.pending[:copy(e.pending, rest)]
	if !complete {
		return len(pcm), nil
	}
	return len(pcm), e.flush()
}

// Close writes the last block. It does not close the underlying writer.
func (e *Writer) Close() error {
	if len(e.pending)%2 != 0 {
		return errors.New("encode FLAC: the last sample is incomplete")
	}
	if len(e.pending) > 0 {
		e.encode(e.pending)
	}
	return e.flush()
}

func (e *Writer) flush() error {
	out := e.out
	e.out = e.out[:0]
	if len(out) == 0 {
		return nil
	}
	if _, err := e.w.Write(out); err != nil {
		return fmt.Errorf("write FLAC: %w", err)
	}
	return nil
}

// encode appends the frame of a block (RFC 9639 §9).
func (e *Writer) encode(pcm []byte) {
	e.samples = e.samples[:0]
	for i := 0; i < len(pcm); i += 2 {
		//nolint:gosec // the same 16 bits
		e.samples = append(e.samples, int32(int16(binary.LittleEndian.Uint16(pcm[i:]))))
	}
	begin := len(e.out)
	f := &bitWriter{data: e.out}
	f.frameHeader(e.frames, len(e.samples), e.rate)
	f.write(uint32(crc8(f.data[begin:])), 8)
	f.subframe(e.samples)
	f.align()
	f.write(uint32(crc16(f.data[begin:])), 16)
	e.out = f.data
	e.frames++
}

// frameHeader writes the header of a frame without its checksum.
func (b *bitWriter) frameHeader(number uint32, samples, rate int) {
	b.write(0b11111111111110, 14) // synchronization
	b.write(0, 2)                 // blocks of one size
	if samples == blockSize {
		b.write(0b0011, 4) // 1,152 samples
	} else {
		b.write(0b0111, 4) // their number follows, in 16 bits
	}
	b.write(0b1101, 4) // the rate follows, in 16 bits
	b.write(0, 4)      // one channel
	b.write(0b100, 3)  // 16 bits per sample
	b.write(0, 1)
	b.data = appendNumber(b.data, number)
	if samples != blockSize {
		b.write(uint32(samples-1), 16) //nolint:gosec // less than blockSize
	}
	b.write(uint32(rate), 16) //nolint:gosec // NewWriter has checked it
}

// appendNumber appends a number of at most 31 bits in the extended form of UTF-8 (RFC 9639 §9.1.5).
func appendNumber(dst []byte, n uint32) []byte {
	if n < 0x80 {
		return append(dst, byte(n))
	}
	more := 1 // bytes of 6 bits behind the first, which has 6-more
	for n>>(6*more) >= 1<<(6-more) {
		more++
	}
	dst = append(dst, byte(0xFF<<(7-more))|byte(n>>(6*more))) //nolint:gosec // the upper bits are ones
	for more--; more >= 0; more-- {
		dst = append(dst, 0x80|byte(n>>(6*more)&0x3F))
	}
	return dst
}
