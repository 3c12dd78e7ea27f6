// Package ffmpeg encodes PCM as MP3, Opus or AAC with the program ffmpeg, where it is installed.
//
// One law: a child lasts no longer than its stream. It runs from [Program.Start] to [Stream.Close], which
// waits for it. It reads nothing but samples that this program has made, and its environment has no secrets.
package ffmpeg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// ErrNotInstalled reports that the program was not found.
var ErrNotInstalled = errors.New("ffmpeg is not installed (install the package ffmpeg)")

// environment is all that a child sees of the server's environment.
var environment = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"} //nolint:gochecknoglobals // a constant

// outputs maps each format to the options of its encoder and its container. MP3 has no frame with the length,
// which needs a file; pages of Ogg have 100 ms.
var outputs = map[string]string{ //nolint:gochecknoglobals // a constant
	"mp3":  "-c:a libmp3lame -b:a 64k -write_xing 0 -id3v2_version 0 -f mp3",
	"opus": "-c:a libopus -b:a 32k -page_duration 100000 -f ogg",
	"aac":  "-c:a aac -b:a 64k -f adts",
}

// A Program is the path of ffmpeg; "" means ffmpeg from PATH.
type Program string

// Check returns [ErrNotInstalled] if the program cannot be executed.
func (p Program) Check() error {
	_, err := p.path()
	return err
}

func (p Program) path() (string, error) {
	if p == "" {
		p = "ffmpeg"
	}
	path, err := exec.LookPath(string(p))
	if err != nil {
		return "", ErrNotInstalled
	}
	return path, nil
}

// A Stream is a running ffmpeg.
type Stream struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	errors *head
}

// Start starts a stream to w in a format: mp3, opus or aac. The rate is that of the PCM, in samples per
// second. w is written to by another goroutine until Close returns; after an error of w the stream fails. The
// end of ctx kills the child. The caller must call Close.
func (p Program) Start(ctx context.Context, w io.Writer, format string, rate int) (*Stream, error) {
	path, err := p.path()
	if err != nil {
		return nil, err
	}
	output, ok := outputs[format]
	if !ok {
		return nil, fmt.Errorf("start ffmpeg: unknown format %q", format)
	}
	// Without these limits it reads seconds of PCM before it encodes any. With the flag nobuffer it would
	// lose what it has read by then.
	arguments := slices.Concat(
		strings.Fields("-nostdin -loglevel error -probesize 32 -analyzeduration 0 -f s16le -ac 1 -ar"),
		[]string{strconv.Itoa(rate)},
		strings.Fields("-i pipe:0 -threads 1 -fflags bitexact -flags bitexact -flush_packets 1"),
		strings.Fields(output), []string{"pipe:1"},
	)
	//nolint:gosec // the path is configured, the format is known
	s := &Stream{cmd: exec.CommandContext(ctx, path, arguments...), errors: &head{}}
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = environment, w, s.errors
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start ffmpeg: %w", err)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start ffmpeg: %w", err)
	}
	return s, nil
}

// Write encodes signed 16-bit little-endian PCM.
func (s *Stream) Write(pcm []byte) (int, error) {
	n, err := s.in.Write(pcm)
	if err != nil {
		err = fmt.Errorf("write to ffmpeg: %w", err)
	}
	return n, err
}

// Close waits until everything is encoded and written, and the child has ended.
func (s *Stream) Close() error {
	_ = s.in.Close() // the end of its input; it fails if the child has ended
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("ffmpeg: %w: %s", err, strings.TrimSpace(s.errors.String()))
	}
	return nil
}

// A head retains the first maxHead bytes that are written to it.
type head struct{ bytes.Buffer }

const maxHead = 500

// Write never fails.
func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), max(0, maxHead-h.Len()))])
	return len(p), nil
}
