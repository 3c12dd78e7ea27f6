// Package decode turns files of sound, which need not be trusted, into clips.
//
// One law: whatever a file says about itself, what is read of it is mono, at [Rate], and at most as long as the decoder
// permits. The format is known by the first bytes, never by a name.
//
// WAV, FLAC and MP3 are decoded here; Ogg, AAC, MP4, AMR and WebM by the program ffmpeg, where it is installed.
package decode

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"pressbox/audio"
	"pressbox/audio/ffmpeg"
)

const (
	// Rate is the samples per second of what is decoded.
	Rate = 24_000
	// Longest limits a sound, unless a decoder permits more.
	Longest = time.Minute
)

// Errors of files.
var (
	ErrBad         = errors.New("not a sound that can be decoded")
	ErrNeedsFFmpeg = errors.New("this format needs ffmpeg on the server (install the package ffmpeg)")
	errEnough      = errors.New("it is too long")
)

// A Decoder decodes files.
type Decoder struct {
	FFmpeg  ffmpeg.Program
	Confine []string      // see [ffmpeg.Decoding]
	Longest time.Duration // of a sound; 0 is [Longest]
}

// longest returns the limit of a sound.
func (d Decoder) longest() time.Duration { return cmp.Or(d.Longest, Longest) }

// enough returns the length at which decoding stops.
func (d Decoder) enough() time.Duration { return d.longest() + time.Second }

// tooLong returns the error of a sound beyond the limit.
func (d Decoder) tooLong() error {
	return fmt.Errorf("%w: %w: at most %.0f seconds are permitted", ErrBad, errEnough, d.longest().Seconds())
}

// Decode returns the sound in a file, at the level of speech. The error wraps [ErrBad] or [ErrNeedsFFmpeg], or it is
// that of the file or of ctx.
func (d Decoder) Decode(ctx context.Context, file *os.File) (audio.Clip, error) {
	head := make([]byte, 16)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return audio.Clip{}, fmt.Errorf("read the sound: %w", err)
	}
	out := &output{ctx: ctx, joiner: audio.Joiner{Rate: Rate}, most: int(d.enough().Seconds() * Rate)}
	switch err := d.run(ctx, file, formatOf(head[:n]), out); {
	case errors.Is(err, errEnough):
		return audio.Clip{}, d.tooLong()
	case err != nil:
		return audio.Clip{}, err
	}
	clip := audio.Clip{Rate: Rate, Samples: out.joiner.Flush(out.samples)}
	if len(clip.Samples) == 0 {
		return audio.Clip{}, fmt.Errorf("%w: it has no sound", ErrBad)
	}
	if clip.Duration() > d.longest() {
		return audio.Clip{}, d.tooLong()
	}
	audio.Even(clip)
	return clip, nil
}

// A format is a container of sound; those of ffmpeg have the name of its demuxer.
type format string

// The formats.
const (
	unknown format = ""
	wav     format = "wav"
	flac    format = "flac"
	mp3     format = "mp3"
	aac     format = "aac"
	ogg     format = "ogg"
	mp4     format = "mov"
	amr     format = "amr"
	webm    format = "matroska"
)

// formatOf returns the format of a file that begins with head.
func formatOf(head []byte) format {
	at := func(offset int, text string) bool {
		return len(head) >= offset && bytes.HasPrefix(head[offset:], []byte(text))
	}
	const sync, layer3, adts = 0xFFE0, 0x0002, 0xFFF0 // ISO 11172-3 §2.4.2.3, ISO 13818-7 §6.2
	first := uint16(0)
	if len(head) >= 2 {
		first = binary.BigEndian.Uint16(head)
	}
	switch {
	case at(0, "RIFF") && at(8, "WAVE"):
		return wav
	case at(0, "fLaC"):
		return flac
	case at(0, "OggS"):
		return ogg
	case at(4, "ftyp"):
		return mp4
	case at(0, "#!AMR"):
		return amr
	case at(0, "\x1A\x45\xDF\xA3"):
		return webm
	case first&0xFFF6 == adts:
		return aac
	case at(0, "ID3"), first&sync == sync && first&0x0006 == layer3:
		return mp3
	default:
		return unknown
	}
}

// run decodes a file of a format to out.
func (d Decoder) run(ctx context.Context, file *os.File, f format, out *output) error {
	whole := io.NewSectionReader(file, 0, math.MaxInt64)
	switch f {
	case wav:
		return bad(wavTo(out, whole))
	case flac:
		return bad(guarded(func() error { return flacTo(out, bufio.NewReader(whole)) }))
	case mp3:
		return bad(guarded(func() error { return mp3To(out, whole) }))
	case aac, ogg, mp4, amr, webm: // below
	default:
		return fmt.Errorf("%w: it is none of WAV, FLAC, MP3, Ogg, AAC, M4A, AMR and WebM", ErrBad)
	}
	if d.FFmpeg.Check() != nil {
		return ErrNeedsFFmpeg
	}
	in := io.Reader(whole)
	if f == mp4 {
		var err error
		if in, err = indexFirst(file); err != nil {
			return bad(err)
		}
	}
	decoding := ffmpeg.Decoding{
		Program: d.FFmpeg, Confine: d.Confine, Demuxer: string(f), Rate: Rate, Longest: d.enough(),
	}
	err := decoding.Run(ctx, in, &pcm{out: out})
	if out.err != nil {
		return out.err
	}
	return bad(err)
}

// bad returns an error of a decoder as [ErrBad], unless it is another.
func bad(err error) error {
	if err == nil || errors.Is(err, errEnough) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrBad) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrBad, err)
}

// guarded calls a decoder of a library, whose panics are errors of the file.
func guarded(decoder func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("decoder: %v", p)
		}
	}()
	return decoder()
}

// An output collects what is decoded.
type output struct {
	ctx     context.Context //nolint:containedctx // of one call
	joiner  audio.Joiner
	samples []float32
	most    int   // samples
	err     error // of the latest add
}

// add adds mono samples of a rate. The error is errEnough, ctx's, or that of the rate.
func (o *output) add(rate int, samples []float32) error {
	all, err := o.joiner.Append(o.samples, audio.Clip{Rate: rate, Samples: samples})
	switch {
	case err != nil:
		o.err = err
	case o.ctx.Err() != nil:
		o.err = o.ctx.Err()
	default:
		if o.samples = all; len(all) > o.most {
			o.err = errEnough
		}
	}
	return o.err
}

// A pcm writes 16-bit little-endian PCM at [Rate] to an output.
type pcm struct {
	out  *output
	rest []byte // half of a sample
}

// Write never keeps p.
func (p *pcm) Write(b []byte) (int, error) {
	data := append(p.rest, b...)
	samples := make([]float32, len(data)/2)
	for i := range samples {
		samples[i] = level(int64(int16(binary.LittleEndian.Uint16(data[2*i:]))), 16) //nolint:gosec // the same bits
	}
	p.rest = append([]byte(nil), data[2*len(samples):]...)
	return len(b), p.out.add(Rate, samples)
}

// level returns an integer sample of so many bits as a fraction of full scale.
func level(sample int64, bits int) float32 {
	return max(-1, min(1, float32(float64(sample)/float64(int64(1)<<(bits-1)))))
}
