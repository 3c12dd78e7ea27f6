package ffmpeg_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pressbox/audio/ffmpeg"
	"pressbox/packaging/check"
)

// second is one second of a tone at 22,050 samples per second.
var second = tone()

func tone() (pcm []byte) {
	for i := range 22050 {
		v := int16(i % 100 * 200)
		pcm = append(pcm, byte(v), byte(v>>8))
	}
	return pcm
}

// Each format decodes to the duration of the PCM.
func TestStream_formats(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs ffmpeg")
	}
	for _, format := range []string{"mp3", "opus", "aac"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			var encoded bytes.Buffer
			s := check.Must(ffmpeg.Program("").Start(t.Context(), &encoded, format, 22050))(t)
			for range 3 {
				check.Must(s.Write(second))(t)
			}
			check.NoError(t, s.Close())
			decode := exec.Command("ffmpeg", "-nostdin", "-loglevel", "error", "-i", "pipe:0", "-f", "s16le", "-ac",
				"1", "-ar", "22050", "pipe:1")
			decode.Stdin = &encoded
			pcm := check.Must(decode.Output())(t)
			got := float64(len(pcm)) / float64(len(second))
			check.That(t, got >= 3 && got <= 3.2, "decoded to %.2f s, want 3", got)
		})
	}
}

// What is encoded leaves while the stream goes on. The end of the context kills a child whose output is not
// read, and Close waits for it.
func TestStream_canceled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs ffmpeg")
	}
	for _, format := range []string{"mp3", "opus", "aac"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			script, pid := recorder(t)
			ctx, cancel := context.WithCancel(t.Context())
			out, in := io.Pipe()
			s := check.Must(script.Start(ctx, in, format, 22050))(t)
			check.Must(s.Write(second))(t)
			check.Must(io.ReadFull(out, make([]byte, 500)))(t)
			cancel()
			for err := error(nil); err == nil; { // otherwise this would wait for the child
				_, err = s.Write(second)
			}
			check.NoError(t, out.Close())
			check.That(t, s.Close() != nil, "Close after the end of the context has no error")
			check.ErrorIs(t, syscall.Kill(pid(), 0), syscall.ESRCH, "signal to the child")
		})
	}
}

// recorder returns a program that records its process id and becomes ffmpeg.
func recorder(t *testing.T) (script ffmpeg.Program, pid func() int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ffmpeg")
	check.NoError(t, os.Symlink(check.Must(filepath.Abs("testdata/recorder"))(t), path))
	return ffmpeg.Program(path), func() int {
		return check.Must(strconv.Atoi(strings.TrimSpace(string(check.Must(os.ReadFile(path + ".pid"))(t)))))(t)
	}
}

// A failing output ends the child.
func TestStream_outputFails(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs ffmpeg")
	}
	out, in := io.Pipe()
	check.NoError(t, out.Close())
	s := check.Must(ffmpeg.Program("").Start(t.Context(), in, "mp3", 22050))(t)
	for {
		if _, err := s.Write(second); err != nil {
			break
		}
	}
	check.That(t, s.Close() != nil, "Close has no error")
}

func TestProgram_errors(t *testing.T) {
	t.Parallel()
	missing := ffmpeg.Program(filepath.Join(t.TempDir(), "ffmpeg"))
	check.ErrorIs(t, missing.Check(), ffmpeg.ErrNotInstalled, "Check")
	check.ErrorIs(t, check.Err(missing.Start(t.Context(), io.Discard, "mp3", 22050)), ffmpeg.ErrNotInstalled, "Start")
	failing := ffmpeg.Program(check.Must(filepath.Abs("testdata/failing"))(t))
	check.NoError(t, failing.Check())
	check.That(t, check.Err(failing.Start(t.Context(), io.Discard, "wma", 22050)) != nil,
		"an unknown format has no error")
	s := check.Must(failing.Start(t.Context(), io.Discard, "mp3", 22050))(t)
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "no such codec") {
		t.Errorf("Close: %v, want the output of the child", err)
	}
}
