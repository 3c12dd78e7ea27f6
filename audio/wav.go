package audio

import (
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

// DecodeWAV reads a WAV file of 16-bit integers or 32-bit floats and averages its channels. A data chunk
// without a known size, or with a size beyond the end, lasts until the end. DecodeWAV returns [ErrNotWAV],
// wrapped, for any other data.
func DecodeWAV(r io.Reader) (Clip, error) {
	file, err := io.ReadAll(r)
	if err != nil {
		return Clip{}, fmt.Errorf("read WAV: %w", err)
	}
	if len(file) < 12 || string(file[:4]) != "RIFF" || string(file[8:12]) != "WAVE" {
		return Clip{}, fmt.Errorf("%w: no RIFF WAVE header", ErrNotWAV)
	}
	var f format
	for rest := file[12:]; len(rest) >= 8; {
		id, size := string(rest[:4]), int64(binary.LittleEndian.Uint32(rest[4:8]))
		body := rest[8:]
		whole := body[:min(size, int64(len(body)))]
		switch id {
		case "fmt ":
			if f, err = parseFormat(whole); err != nil {
				return Clip{}, err
			}
		case "data":
			return f.decode(whole)
		}
		rest = body[min(size+size%2, int64(len(body))):]
	}
	return Clip{}, fmt.Errorf("%w: no data chunk", ErrNotWAV)
}

// A format describes the samples of a WAV file.
type format struct {
	tag, channels, bits int
	rate                int // 0 before the format chunk
}

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
	known := f.tag == formatPCM && f.bits == 16 || f.tag == formatFloat && f.bits == 32
	if !known || f.channels == 0 || f.rate == 0 || f.rate > math.MaxInt32 {
		return format{}, fmt.Errorf("%w: format %d, %d bits, %d channels, %d Hz",
			ErrNotWAV, f.tag, f.bits, f.channels, f.rate)
	}
	return f, nil
}

// decode returns the clip in a data chunk and drops an incomplete last frame.
func (f format) decode(data []byte) (Clip, error) {
	if f.rate == 0 {
		return Clip{}, fmt.Errorf("%w: data chunk before the format chunk", ErrNotWAV)
	}
	width := f.bits / 8
	frame := width * f.channels
	samples := make([]float32, len(data)/frame)
	for i := range samples {
		sum := float32(0)
		for c := range f.channels {
			sum += f.value(data[i*frame+c*width:])
		}
		samples[i] = clamp(sum / float32(f.channels))
	}
	return Clip{Rate: f.rate, Samples: samples}, nil
}

// value returns the sample at the start of b; a valid file has it in [-1, 1].
func (f format) value(b []byte) float32 {
	if f.tag == formatFloat {
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	}
	return float32(int16(binary.LittleEndian.Uint16(b))) / math.MaxInt16 //nolint:gosec // the same 16 bits
}
