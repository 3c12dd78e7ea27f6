package ffmpeg

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// demuxers are the containers that are decoded. Each has its sound in the stream itself: none names other files.
var demuxers = []string{"ogg", "aac", "mov", "amr", "matroska"} //nolint:gochecknoglobals // a constant

// A Decoding is how a stream is decoded.
type Decoding struct {
	Program Program
	Confine []string // beginning of a command that runs the program confined; none: it is not confined
	Demuxer string   // of the stream's container: ogg, aac, mov, amr or matroska
	Rate    int      // of the PCM, in samples per second
	Longest time.Duration
}

// Run decodes a stream, which need not be trusted, to mono 16-bit little-endian PCM, and stops after d.Longest. The
// child opens nothing: it has its input, its output, and no protocol but pipes. The error is [ErrNotInstalled], ctx's,
// or that of the child with what it says about the stream.
func (d Decoding) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	path, err := d.Program.path()
	if err != nil {
		return err
	}
	if !slices.Contains(demuxers, d.Demuxer) {
		return fmt.Errorf("start ffmpeg: unknown demuxer %q", d.Demuxer)
	}
	command := slices.Concat(d.Confine, []string{path},
		strings.Fields("-nostdin -hide_banner -loglevel error -threads 1 -protocol_whitelist pipe -f"),
		[]string{d.Demuxer},
		strings.Fields("-i pipe:0 -map 0:a:0 -vn -sn -dn -threads 1 -filter_threads 1 -ac 1 -c:a pcm_s16le -ar"),
		[]string{strconv.Itoa(d.Rate), "-t", strconv.FormatFloat(d.Longest.Seconds(), 'f', 3, 64)},
		strings.Fields("-f s16le pipe:1"))
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the path is configured
	said := &head{}
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environment, in, out, said
	cmd.WaitDelay = time.Second
	if len(d.Confine) > 0 {
		cmd.Args[0] = os.Args[0] // the helper is this program, which may depend on its name
	}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("ffmpeg: %w: %s", err, strings.TrimSpace(said.String()))
	}
	return nil
}
