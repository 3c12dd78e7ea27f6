package audio

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// ErrNotWAV reports that data is not a WAV file that this package reads.
var ErrNotWAV = errors.New("not a WAV file with PCM")

// Constants of a WAV header (RIFF, "Multimedia Programming Interface and Data Specifications 1.0", 1991).
// unknownSize means "until the end".
const (
	headerSize  = 44
	unknownSize = math.MaxUint32

	formatPCM        = 1
	formatFloat      = 3
	formatALaw       = 6
	formatMuLaw      = 7
	formatExtensible = 0xFFFE
)

// AppendS16LE appends the samples to dst as signed 16-bit little-endian PCM; ±1 become ±32767.
func AppendS16LE(dst []byte, samples []float32) []byte {
	for _, s := range samples {
		v := int16(math.Round(float64(clamp(s)) * math.MaxInt16))
		dst = binary.LittleEndian.AppendUint16(dst, uint16(v)) //nolint:gosec // the same 16 bits
	}
	return dst
}

// WAVHeader returns the header of a mono 16-bit WAV stream of unknown length; [AppendS16LE] appends its
// samples.
func WAVHeader(rate int) []byte {
	return header(rate, unknownSize)
}

// WriteWAV writes the clip as a mono 16-bit WAV file.
func WriteWAV(w io.Writer, c Clip) error {
	size := int64(len(c.Samples)) * 2
	if size > math.MaxUint32-headerSize {
		return fmt.Errorf("write %v of WAV: longer than the format allows", c.Duration())
	}
	file := header(c.Rate, uint32(size)) //nolint:gosec // checked above
	if _, err := w.Write(AppendS16LE(file, c.Samples)); err != nil {
		return fmt.Errorf("write WAV: %w", err)
	}
	return nil
}

// header returns the 44 bytes before size bytes of mono 16-bit PCM.
func header(rate int, size uint32) []byte {
	whole := size
	if size != unknownSize {
		whole += headerSize - 8
	}
	const channels, width = 1, 2
	perSecond := uint32(rate) //nolint:gosec // a rate is positive and small
	h := make([]byte, 0, headerSize+int(min(size, 1<<20)))
	h = append(h, "RIFF"...)
	h = binary.LittleEndian.AppendUint32(h, whole)
	h = append(h, "WAVEfmt "...)
	h = binary.LittleEndian.AppendUint32(h, 16)
	h = binary.LittleEndian.AppendUint16(h, formatPCM)
	h = binary.LittleEndian.AppendUint16(h, channels)
	h = binary.LittleEndian.AppendUint32(h, perSecond)
	h = binary.LittleEndian.AppendUint32(h, perSecond*channels*width)
	h = binary.LittleEndian.AppendUint16(h, channels*width)
	h = binary.LittleEndian.AppendUint16(h, 8*width)
	h = append(h, "data"...)
	return binary.LittleEndian.AppendUint32(h, size)
}

// DecodeWAV reads a WAV file; see [WAVReader].
func DecodeWAV(r io.Reader) (Clip, error) {
	w, err := NewWAVReader(r)
	if err != nil {
		return Clip{}, err
	}
	clip := Clip{Rate: w.Rate()}
	for part := make([]float32, 4096); ; {
		n, err := w.Read(part)
		clip.Samples = append(clip.Samples, part[:n]...)
		if errors.Is(err, io.EOF) {
			return clip, nil
		}
		if err != nil {
			return Clip{}, err
		}
	}
}

// A WAVReader reads a WAV file of integers of 8 to 32 bits, floats, A-law or µ-law, and averages its channels. A data
// chunk without a known size, or with a size beyond the end, lasts until the end; an incomplete last frame is dropped.
type WAVReader struct {
	format
	data  io.Reader
	frame []byte
}

// NewWAVReader reads a file up to its samples. It returns [ErrNotWAV], wrapped, for any other data.
func NewWAVReader(r io.Reader) (*WAVReader, error) {
	file := bufio.NewReader(r)
	var head [12]byte
	if err := fill(file, head[:]); err != nil || string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return nil, notWAV(err, "no RIFF WAVE header")
	}
	var f format
	for {
		if err := fill(file, head[:8]); err != nil {
			return nil, notWAV(err, "no data chunk")
		}
		size := int64(binary.LittleEndian.Uint32(head[4:8]))
		switch id := string(head[:4]); {
		case id == "data" && f.rate == 0:
			return nil, fmt.Errorf("%w: data chunk before the format chunk", ErrNotWAV)
		case id == "data":
			if size == unknownSize {
				size = math.MaxInt64
			}
			return &WAVReader{f, io.LimitReader(file, size), make([]byte, f.bits/8*f.channels)}, nil
		case id == "fmt ":
			chunk := make([]byte, min(size, longestFormat))
			err := fill(file, chunk)
			if err != nil {
				return nil, notWAV(err, "format chunk cut off")
			}
			if f, err = parseFormat(chunk); err != nil {
				return nil, err
			}
			size -= int64(len(chunk))
		}
		if _, err := io.CopyN(io.Discard, file, size+size%2); err != nil {
			return nil, notWAV(err, "no data chunk")
		}
	}
}

// longestFormat is the part of a format chunk that is read.
const longestFormat = 40

// fill reads all of b.
func fill(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	return err
}

// notWAV returns an error of the reader, or [ErrNotWAV] at the end of the data.
func notWAV(err error, why string) error {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("read WAV: %w", err)
	}
	return fmt.Errorf("%w: %s", ErrNotWAV, why)
}

// Rate returns the samples per second.
func (w *WAVReader) Rate() int { return w.rate }

// Read reads up to len(samples) samples. At the end the error is [io.EOF].
func (w *WAVReader) Read(samples []float32) (n int, err error) {
	for n < len(samples) {
		if err := fill(w.data, w.frame); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return n, io.EOF
		} else if err != nil {
			return n, fmt.Errorf("read WAV: %w", err)
		}
		sum := float32(0)
		for at := 0; at < len(w.frame); at += w.bits / 8 {
			sum += w.value(w.frame[at:])
		}
		samples[n] = clamp(sum / float32(w.channels))
		n++
	}
	return n, nil
}

// A format describes the samples of a WAV file.
type format struct {
	tag, channels, bits int
	rate                int // 0 before the format chunk
}

// maxChannels limits the channels of a file, and so the bytes of a frame.
const maxChannels = 32

func parseFormat(chunk []byte) (format, error) {
	if len(chunk) < 16 {
		return format{}, fmt.Errorf("%w: format chunk of %d bytes", ErrNotWAV, len(chunk))
	}
	f := format{
		tag:      int(binary.LittleEndian.Uint16(chunk)),
		channels: int(binary.LittleEndian.Uint16(chunk[2:])),
		rate:     int(binary.LittleEndian.Uint32(chunk[4:])),
		bits:     int(binary.LittleEndian.Uint16(chunk[14:])),
	}
	if f.tag == formatExtensible && len(chunk) >= 26 { // the tag is at the start of the sub-format
		f.tag = int(binary.LittleEndian.Uint16(chunk[24:]))
	}
	if !f.known() || f.channels == 0 || f.channels > maxChannels || f.rate == 0 || f.rate > math.MaxInt32 {
		return format{}, fmt.Errorf("%w: format %d, %d bits, %d channels, %d Hz",
			ErrNotWAV, f.tag, f.bits, f.channels, f.rate)
	}
	return f, nil
}

// known reports whether [format.value] can read the samples.
func (f format) known() bool {
	switch f.tag {
	case formatPCM:
		return f.bits == 8 || f.bits == 16 || f.bits == 24 || f.bits == 32
	case formatFloat:
		return f.bits == 32 || f.bits == 64
	case formatALaw, formatMuLaw:
		return f.bits == 8
	default:
		return false
	}
}

// value returns the sample at the start of b; a valid file has it in [-1, 1].
func (f format) value(b []byte) float32 {
	switch {
	case f.tag == formatFloat && f.bits == 64:
		return float32(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case f.tag == formatFloat:
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	case f.tag == formatALaw:
		return float32(aLaw(b[0])) / (1 << 15)
	case f.tag == formatMuLaw:
		return float32(muLaw(b[0])) / (1 << 15)
	case f.bits == 8:
		return (float32(b[0]) - 128) / 127
	case f.bits == 16:
		return float32(int16(binary.LittleEndian.Uint16(b))) / math.MaxInt16 //nolint:gosec // the same 16 bits
	}
	top := uint32(0) // of 24 or 32 bits, which begin at bit 32 - bits
	for i := range f.bits / 8 {
		top |= uint32(b[i]) << (32 - f.bits + 8*i)
	}
	return float32(float64(int32(top)) / math.MaxInt32)
}

// aLaw returns the 16-bit sample of an A-law code (ITU-T G.711).
func aLaw(code byte) int {
	code ^= 0x55
	sample := int(code&0x0f)<<4 + 8
	if exponent := code >> 4 & 7; exponent > 0 {
		sample = (sample + 0x100) << (exponent - 1)
	}
	if code&0x80 == 0 {
		return -sample
	}
	return sample
}

// muLaw returns the 16-bit sample of a µ-law code (ITU-T G.711).
func muLaw(code byte) int {
	const bias = 0x84
	code = ^code
	sample := (int(code&0x0f)<<3+bias)<<(code>>4&7) - bias
	if code&0x80 != 0 {
		return -sample
	}
	return sample
}
