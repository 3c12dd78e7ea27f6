package espeak

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// The line that follows each clause, and its output from espeak-ng.
const (
	endMarker    = "[[????]]"
	endMarkerIPA = "ʔʔʔʔ"
)

// maxAnswer limits the answer to a clause, in bytes.
const maxAnswer = 64 << 10

// A child is one running espeak-ng.
type child struct {
	lang   string
	cmd    *exec.Cmd
	in     *os.File // the parent writes
	out    *os.File // the parent reads
	lines  *bufio.Reader
	errors *limitedBuffer
}

// start starts an espeak-ng for lang and waits until it answers.
func start(ctx context.Context, path, lang string, limits limits) (*child, error) {
	if lang == "" || strings.HasPrefix(lang, "-") {
		return nil, fmt.Errorf("espeak-ng has no voice %q", lang)
	}
	c, err := spawn(path, lang)
	if err != nil {
		return nil, fmt.Errorf("start espeak-ng: %w", err)
	}
	if _, err := c.ask(ctx, "", limits); err != nil {
		c.close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) { // the host is slow; the voice is not at fault
			return nil, fmt.Errorf("%w: %w", errDied, err)
		}
		if output := c.errors.String(); output != "" {
			return nil, fmt.Errorf("espeak-ng does not speak %q: %s", lang, output)
		}
		return nil, fmt.Errorf("espeak-ng does not answer for the voice %q: %w", lang, err)
	}
	return c, nil
}

// spawn runs the program with pipes for its input and output.
func spawn(path, lang string) (*child, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = childIn.Close() }()
	out, childOut, err := os.Pipe()
	if err != nil {
		_ = in.Close()
		return nil, err
	}
	defer func() { _ = childOut.Close() }()
	c := &child{lang: lang, in: in, out: out, lines: bufio.NewReaderSize(out, maxAnswer), errors: &limitedBuffer{}}
	// The end of its input ends the child, so it does not outlive this process.
	c.cmd = exec.Command(path, "-q", "--ipa", "-b", "1", "-v", lang) //nolint:gosec,noctx // the path is configured; see above
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = childIn, childOut, c.errors
	if err := c.cmd.Start(); err != nil {
		_ = in.Close()
		_ = out.Close()
		return nil, err
	}
	return c, nil
}

// ask writes a clause and reads its phonemes, one line of the answer per line.
// After an error the child must be closed.
func (c *child) ask(ctx context.Context, clause string, limits limits) (string, error) {
	deadline := time.Now().Add(limits.timeout)
	if err := errors.Join(c.in.SetDeadline(deadline), c.out.SetDeadline(deadline)); err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() {
		soon := time.Now().Add(limits.grace)
		_ = c.in.SetDeadline(soon)
		_ = c.out.SetDeadline(soon)
	})
	defer stop()
	if _, err := c.in.WriteString(clause + "\n" + endMarker + "\n"); err != nil {
		return "", err
	}
	return c.answer()
}

// answer reads up to the end marker.
func (c *child) answer() (string, error) {
	var output strings.Builder
	for output.Len() < maxAnswer {
		line, err := c.lines.ReadSlice('\n')
		if err != nil {
			return "", err
		}
		if line = bytes.TrimSpace(line); string(line) == endMarkerIPA {
			return strings.TrimSpace(output.String()), nil
		}
		output.Write(line)
		output.WriteByte('\n')
	}
	return "", bufio.ErrBufferFull
}

// close kills the child and waits for its end.
func (c *child) close() {
	_ = c.in.Close()
	_ = c.cmd.Process.Kill() // it may be gone already
	_ = c.cmd.Wait()         // it was killed, so an error is normal
	_ = c.out.Close()
}

// A limitedBuffer retains the first maxStderr bytes that are written to it.
type limitedBuffer struct{ bytes.Buffer }

// maxStderr limits how much of a child's standard error is retained, in bytes.
const maxStderr = 500

// Write never fails.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, maxStderr-b.Len()))])
	return len(p), nil
}

// String returns the contents on one line.
func (b *limitedBuffer) String() string {
	return strings.Join(strings.Fields(b.Buffer.String()), " ")
}
