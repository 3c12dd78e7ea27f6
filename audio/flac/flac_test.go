package flac_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os/exec"
	"testing"

	"pressbox/audio/flac"
	"pressbox/packaging/check"
)

// encode returns the stream of samples that are written in pieces of a number of bytes.
func encode(tb testing.TB, rate, piece int, pcm []byte) []byte {
	tb.Helper()
	var stream bytes.Buffer
	w := check.Must(flac.NewWriter(&stream, rate))(tb)
	for rest := pcm; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
		check.Must(w.Write(rest[:min(piece, len(rest))]))(tb)
	}
	check.NoError(tb, w.Close())
	return stream.Bytes()
}

// decode returns the samples that ffmpeg finds in a stream. It checks both checksums of each frame.
func decode(tb testing.TB, stream []byte) []byte {
	tb.Helper()
	cmd := exec.Command("ffmpeg", "-nostdin", "-loglevel", "warning", "-err_detect", "crccheck+explode", "-f", "flac",
		"-i", "pipe:0", "-f", "s16le", "pipe:1")
	cmd.Stdin = bytes.NewReader(stream)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	pcm, err := cmd.Output()
	check.Require(tb, err == nil && problems.Len() <= 0, "ffmpeg: %v: %s", err, problems.String())
	return pcm
}

// pcm returns n samples of a function of the sample's index.
func pcm(n int, sample func(i int) float64) (data []byte) {
	for i := range n {
		data = binary.LittleEndian.AppendUint16(data, uint16(int16(sample(i))))
	}
	return data
}

// Signals of every kind are the same after ffmpeg has decoded them, whatever the number of samples.
func TestWriter_lossless(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs ffmpeg")
	}
	random := rand.New(rand.NewPCG(1, 2))
	tone := func(i int) float64 { return 9000 * math.Sin(float64(i)/20) * math.Exp(-float64(i%9000)/2000) }
	for name, tt := range map[string]struct {
		sample func(i int) float64
		most   int // percent of the PCM
	}{
		"silence": {func(int) float64 { return 0 }, 9},
		"tone":    {tone, 40},
		"noise":   {func(int) float64 { return float64(random.IntN(1<<16) - 1<<15) }, 102},
		"square":  {func(i int) float64 { return float64(i/50%2)*65535 - 32768 }, 70},
		"peaks":   {func(i int) float64 { return float64(i%2)*65535 - 32768 }, 102},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{1, 4, 1153, 1155, 200_000} { // 174 frames: two bytes of their number
				want := pcm(n, tt.sample)
				stream := encode(t, 22050, 777, want)
				if got := decode(t, stream); !bytes.Equal(got, want) {
					t.Errorf("%d samples: decoded to %d other bytes, want %d", n, len(got), len(want))
				}
				check.That(t, n <= 10_000 || len(stream)*100 <= len(want)*tt.most,
					"%d samples: %d bytes, want at most %d %% of %d", n, len(stream), tt.most, len(want))
			}
		})
	}
}

// Frames with numbers of three bytes.
func TestWriter_long(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs ffmpeg")
	}
	want := pcm(2100*1152, func(i int) float64 { return float64(i % 7) })
	got := decode(t, encode(t, 16000, 100_000, want))
	check.That(t, bytes.Equal(got, want), "decoded to %d other bytes, want %d", len(got), len(want))
}

// A complete block is written at once, also when the stream has not ended.
func TestWriter_streams(t *testing.T) {
	t.Parallel()
	var stream bytes.Buffer
	w := check.Must(flac.NewWriter(&stream, 22050))(t)
	check.Must(w.Write(make([]byte, 2*1152-1)))(t)
	check.That(t, stream.Len() == 0, "%d bytes of an incomplete block, want none", stream.Len())
	check.Must(w.Write(make([]byte, 1)))(t)
	check.That(t, stream.Len() >= 42+9 && bytes.HasPrefix(stream.Bytes(), []byte("fLaC")),
		"%d bytes of a complete block, want the header of 42 and a frame", stream.Len())
}

func TestWriter_errors(t *testing.T) {
	t.Parallel()
	for rate, ok := range map[int]bool{0: false, 1: true, 65_535: true, 65_536: false, -1: false} {
		_, err := flac.NewWriter(&bytes.Buffer{}, rate)
		check.That(t, (err == nil) == ok, "NewWriter(%d): %v", rate, err)
	}
	w := check.Must(flac.NewWriter(&bytes.Buffer{}, 22050))(t)
	check.Must(w.Write([]byte{1, 2, 3}))(t)
	check.That(t, w.Close() != nil, "half a sample at the end has no error")
	for _, pcm := range [][]byte{make([]byte, 2*1152), nil} {
		w = check.Must(flac.NewWriter(full{}, 22050))(t)
		_, err := w.Write(pcm)
		if err == nil {
			err = w.Close()
		}
		check.ErrorIs(t, err, errFull, "writing %d bytes to a full disk", len(pcm))
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
