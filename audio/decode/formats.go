package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	mp3decoder "github.com/hajimehoshi/go-mp3"
	flacdecoder "github.com/mewkiz/flac"

	"pressbox/audio"
)

// block is the samples that are read at once.
const block = 4096

func wavTo(out *output, r io.Reader) error {
	w, err := audio.NewWAVReader(r)
	if err != nil {
		return err
	}
	for samples := make([]float32, block); ; {
		n, err := w.Read(samples)
		if added := out.add(w.Rate(), samples[:n]); added != nil {
			return added
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func mp3To(out *output, r io.Reader) error {
	d, err := mp3decoder.NewDecoder(struct{ io.Reader }{r}) // one that seeks would be read twice
	if err != nil {
		return err
	}
	// Its PCM is stereo, of 16 bits.
	for data := make([]byte, 4*block); ; {
		n, err := io.ReadFull(d, data)
		samples := make([]float32, 0, block)
		for ; n >= 4; n -= 4 {
			frame := data[4*len(samples):]
			left, right := int16(frame[0])|int16(frame[1])<<8, int16(frame[2])|int16(frame[3])<<8
			samples = append(samples, level(int64(left)+int64(right), 17))
		}
		if added := out.add(d.SampleRate(), samples); added != nil {
			return added
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func flacTo(out *output, r io.Reader) error {
	info, err := flacInfo(r)
	if err != nil {
		return err
	}
	stream, err := flacdecoder.New(io.MultiReader(bytes.NewReader(info), r))
	if err != nil {
		return err
	}
	for {
		f, err := stream.ParseNext()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		rate, bits := int(f.SampleRate), int(f.BitsPerSample)
		if rate == 0 || bits == 0 || bits > 32 || len(f.Subframes) == 0 {
			return fmt.Errorf("frame of %d Hz, %d bits, %d channels", rate, bits, len(f.Subframes))
		}
		samples := make([]float32, f.BlockSize)
		for i := range samples {
			for _, channel := range f.Subframes {
				samples[i] += level(int64(channel.Samples[i]), bits) / float32(len(f.Subframes))
			}
		}
		if err := out.add(rate, samples); err != nil {
			return err
		}
	}
}

// flacInfo reads what precedes the frames of a FLAC stream, and returns the part of it that they need: the block with
// the rate and the width, which must be the first one (RFC 9639 §8). Comments and pictures may claim any length.
func flacInfo(r io.Reader) ([]byte, error) {
	const lastBlock, infoSize = 0x80, 34
	head := make([]byte, 4+4+infoSize)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	if head[4]&^lastBlock != 0 || int(head[5])<<16|int(head[6])<<8|int(head[7]) != infoSize {
		return nil, errors.New("its first block does not describe the stream")
	}
	last := head[4]&lastBlock != 0
	head[4] |= lastBlock
	for next := make([]byte, 4); !last; last = next[0]&lastBlock != 0 {
		if _, err := io.ReadFull(r, next); err != nil {
			return nil, err
		}
		if _, err := io.CopyN(io.Discard, r, int64(next[1])<<16|int64(next[2])<<8|int64(next[3])); err != nil {
			return nil, err
		}
	}
	return head, nil
}
