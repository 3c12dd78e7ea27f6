package decode

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pressbox/audio"
	flacencoder "pressbox/audio/flac"
	"pressbox/packaging/check"
)

// file returns an open file with the data.
func file(tb testing.TB, data []byte) *os.File {
	tb.Helper()
	f := check.Must(os.CreateTemp(tb.TempDir(), ""))(tb)
	check.Close(tb, f)
	check.Must(f.Write(data))(tb)
	return f
}

// tone returns so many seconds of a quiet sine of 1 kHz.
func tone(rate int, seconds float64) audio.Clip {
	samples := make([]float32, int(seconds*float64(rate)))
	for i := range samples {
		samples[i] = float32(0.02 * math.Sin(2*math.Pi*1000*float64(i)/float64(rate)))
	}
	return audio.Clip{Rate: rate, Samples: samples}
}

func wavOf(tb testing.TB, c audio.Clip) []byte {
	tb.Helper()
	var b bytes.Buffer
	check.NoError(tb, audio.WriteWAV(&b, c))
	return b.Bytes()
}

func flacOf(tb testing.TB, c audio.Clip) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := check.Must(flacencoder.NewWriter(&b, c.Rate))(tb)
	check.Must(w.Write(audio.AppendS16LE(nil, c.Samples)))(tb)
	check.NoError(tb, w.Close())
	return b.Bytes()
}

// measure returns the root mean square of samples in dBFS, and how often a second they cross zero upward.
func measure(samples []float32) (dBFS, hertz float64) {
	square, crossings := 0.0, 0
	for i, s := range samples {
		square += float64(s) * float64(s)
		if i > 0 && samples[i-1] < 0 && s >= 0 {
			crossings++
		}
	}
	n := float64(len(samples))
	return 10 * math.Log10(square/n), float64(crossings) * Rate / n
}

// checkTone checks that a clip is a tone of 1 kHz at the level of speech.
func checkTone(tb testing.TB, name string, clip audio.Clip, err error, seconds float64) {
	tb.Helper()
	check.Require(tb, err == nil, "%s: %v", name, err)
	edge := len(clip.Samples) / 10 // encoders begin and end with silence
	dBFS, hertz := measure(clip.Samples[edge : len(clip.Samples)-edge])
	got := clip.Duration().Seconds()
	same := math.Abs(got-seconds) < 0.1 && math.Abs(dBFS+18) < 0.7 && math.Abs(hertz-1000) < 20
	check.That(tb, clip.Rate == Rate && same,
		"%s: %.3f s of %.1f dBFS, %.0f Hz; want %.3f s", name, got, dBFS, hertz, seconds)
}

func TestDecode_formats(t *testing.T) {
	t.Parallel()
	short := tone(22050, 1)
	for name, data := range map[string][]byte{
		"WAV":  wavOf(t, short),
		"FLAC": flacOf(t, short),
		"MP3":  check.Must(os.ReadFile("testdata/tone.mp3"))(t),
	} {
		clip, err := Decoder{FFmpeg: "/nowhere/ffmpeg"}.Decode(t.Context(), file(t, data))
		checkTone(t, name, clip, err, 1)
	}
}

// containers are files that ffmpeg makes, by their options.
var containers = map[string]string{
	"sound.ogg": "-c:a libvorbis", "sound.opus": "-c:a libopus", "sound.aac": "-c:a aac",
	"sound.m4a": "-c:a aac", "start.m4a": "-c:a aac -movflags +faststart",
	"long.m4a":   "-c:a aac -movflags +frag_keyframe",
	"sound.webm": "-c:a libopus", "cover.mp3": "-c:a libmp3lame -metadata title=Door",
}

// Each format that the program decodes, by name and by a file without a name. A telephone's file has its index at the
// end.
func TestDecode_ffmpeg(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs ffmpeg")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "source.wav")
	check.NoError(t, os.WriteFile(source, wavOf(t, tone(48000, 3)), 0o600))
	for name, options := range containers {
		path := filepath.Join(dir, name)
		arguments := append([]string{"-nostdin", "-loglevel", "error", "-i", source}, strings.Fields(options)...)
		out, err := exec.Command("ffmpeg", append(arguments, path)...).CombinedOutput()
		check.Require(t, err == nil, "%s: %v: %s", name, err, out)
		f := check.Must(os.Open(path))(t)
		check.Close(t, f)
		clip, err := Decoder{}.Decode(t.Context(), f)
		checkTone(t, name, clip, err, 3)
		if !strings.HasSuffix(name, ".mp3") {
			err := check.Err(Decoder{FFmpeg: "/nowhere/ffmpeg"}.Decode(t.Context(), f))
			check.ErrorIs(t, err, ErrNeedsFFmpeg, "%s", name)
		}
	}
	silent := filepath.Join(dir, "video.webm")
	out, err := exec.Command("ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi",
		"-i", "testsrc=duration=1:size=64x64", silent).CombinedOutput()
	check.Require(t, err == nil, "%v: %s", err, out)
	f := check.Must(os.Open(silent))(t)
	check.Close(t, f)
	check.ErrorIs(t, check.Err(Decoder{}.Decode(t.Context(), f)), ErrBad, "a video without sound")
}

// A minute is the limit, or another one, on both of its sides.
func TestDecode_longest(t *testing.T) {
	t.Parallel()
	minute := make([]float32, 60*8000)
	minute[100] = 0.5
	for _, encode := range []func(testing.TB, audio.Clip) []byte{wavOf, flacOf} {
		clip, err := Decoder{}.Decode(t.Context(), file(t, encode(t, audio.Clip{Rate: 8000, Samples: minute})))
		check.That(t, err == nil && clip.Duration() == Longest, "a minute: %v, %v", clip.Duration(), err)
		longer := file(t, encode(t, audio.Clip{Rate: 8000, Samples: slices.Concat(minute, []float32{0})}))
		check.ErrorIs(t, check.Err(Decoder{}.Decode(t.Context(), longer)), ErrBad, "one sample more")
		clip, err = Decoder{Longest: Longest + time.Second}.Decode(t.Context(), longer)
		check.That(t, err == nil && clip.Duration() > Longest, "a decoder with more: %v, %v", clip.Duration(), err)
		_, err = Decoder{Longest: Longest - time.Second}.Decode(t.Context(), longer)
		check.ErrorIs(t, err, ErrBad, "one with less")
	}
}

// What only claims to be sound, or claims to be more than there is, is refused; none of it needs memory.
func TestDecode_bad(t *testing.T) {
	t.Parallel()
	endless := append(audio.WAVHeader(4000), make([]byte, 9_000_000)...)
	comments := flacOf(t, tone(24000, 0.1))
	many := []byte{0x84, 0, 0, 8, 0, 0, 0, 0, 255, 255, 255, 255}
	comments = slices.Concat(comments[:4], many, comments[4:])
	huge := append([]byte{}, flacOf(t, tone(24000, 0.1))...)
	huge[4] &^= 0x80
	huge = append(huge[:42], append([]byte{0x86, 0xFF, 0xFF, 0xFF}, huge[42:]...)...)
	fast := wavOf(t, tone(24000, 0.1))
	binary.LittleEndian.PutUint32(fast[24:], 192_001)
	for name, data := range map[string][]byte{
		"nothing":              nil,
		"text":                 []byte("Dinner is ready."),
		"a playlist":           []byte("#EXTM3U\n#EXT-X-VERSION:3\nfile:///etc/passwd\n"),
		"a list of files":      []byte("ffconcat version 1.0\nfile /etc/passwd\n"),
		"a WAV without sound":  wavOf(t, audio.Clip{Rate: 24000}),
		"a WAV of 37 minutes":  endless,
		"a WAV at 192,001 Hz":  fast,
		"a FLAC of comments":   comments,
		"a FLAC cut off":       flacOf(t, tone(24000, 0.1))[:41],
		"a FLAC with 16 MB":    huge,
		"an MP3 without sound": []byte("ID3\x04\x00\x00\x00\x00\x00\x00\xFF\xFB"),
		"an MP4 of headers":    []byte("\x00\x00\x00\x0Cftypisom\x00\x00\x00\x08mdat\x00\x00\x00\x08moo"),
		"an MP4 within itself": []byte("\x00\x00\x00\x0Cftypisom\x00\x00\x00\x04mdat"),
	} {
		err := check.Err(Decoder{FFmpeg: "/bin/false"}.Decode(t.Context(), file(t, data)))
		check.ErrorIs(t, err, ErrBad, "%s", name)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	check.ErrorIs(t, check.Err(Decoder{}.Decode(ended, file(t, wavOf(t, tone(24000, 1))))), context.Canceled, "its end")
}

// FuzzDecode decodes anything with what is not a child process.
func FuzzDecode(f *testing.F) {
	f.Add(wavOf(f, tone(8000, 0.01)))
	f.Add(flacOf(f, tone(8000, 0.01)))
	f.Add(check.Must(os.ReadFile("testdata/tone.mp3"))(f)[:600])
	f.Fuzz(func(t *testing.T, data []byte) {
		out := &output{ctx: t.Context(), joiner: audio.Joiner{Rate: Rate}}
		_ = Decoder{FFmpeg: "/nowhere/ffmpeg"}.run(t.Context(), file(t, data), formatOf(data), out)
		check.Require(t, len(out.samples) < 70*Rate, "%d samples", len(out.samples))
		for _, s := range out.samples {
			check.Require(t, s >= -1.5 && s <= 1.5, "sample %v", s)
		}
	})
}

// FuzzMP4 moves indexes: what is moved has as many bytes as the file.
func FuzzMP4(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x0Cftypisom\x00\x00\x00\x0Cmdat1234\x00\x00\x00\x30moov\x00\x00\x00\x28trak" +
		"\x00\x00\x00\x20mdia\x00\x00\x00\x18minf\x00\x00\x00\x10stbl\x00\x00\x00\x08stco"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := indexFirst(file(t, data))
		if err != nil {
			return
		}
		var moved bytes.Buffer
		n := check.Must(moved.ReadFrom(r))(t)
		check.Equal(t, n, int64(len(data)), "bytes")
	})
}
