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

// The line that follows each clause, and what espeak-ng prints for it.
const (
	askEnd = "[[????]]"
	end    = "ʔʔʔʔ"
)

// maxAnswer is more bytes than any clause is answered with.
const maxAnswer = 64 << 10

// A child is one running espeak-ng.
type child struct {
	lang   string
	cmd    *exec.Cmd
	in     *os.File // ours to write
	out    *os.File // ours to read
	lines  *bufio.Reader
	errors *tail
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
		c.end()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) { // the machine's fault, not the voice's
			return nil, fmt.Errorf("%w: %w", errDied, err)
		}
		if said := c.errors.String(); said != "" {
			return nil, fmt.Errorf("espeak-ng does not speak %q: %s", lang, said)
		}
		return nil, fmt.Errorf("espeak-ng does not answer for the voice %q: %w", lang, err)
	}
	return c, nil
}

// spawn runs the program with a pipe of ours at either end.
func spawn(path, lang string) (*child, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = theirIn.Close() }()
	out, theirOut, err := os.Pipe()
	if err != nil {
		_ = in.Close()
		return nil, err
	}
	defer func() { _ = theirOut.Close() }()
	c := &child{lang: lang, in: in, out: out, lines: bufio.NewReaderSize(out, maxAnswer), errors: &tail{}}
	// The end of its input ends the child, so it outlives neither us nor ctx.
	c.cmd = exec.Command(path, "-q", "--ipa", "-b", "1", "-v", lang) //nolint:gosec,noctx // path is the operator's; see above
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = theirIn, theirOut, c.errors
	if err := c.cmd.Start(); err != nil {
		_ = in.Close()
		_ = out.Close()
		return nil, err
	}
	return c, nil
}

// ask writes a clause and reads its phonemes, a line of the answer on each
// line. After an error the child is of no use.
func (c *child) ask(ctx context.Context, clause string, limits limits) (string, error) {
	deadline := time.Now().Add(limits.patience)
	if err := errors.Join(c.in.SetDeadline(deadline), c.out.SetDeadline(deadline)); err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() {
		soon := time.Now().Add(limits.grace)
		_ = c.in.SetDeadline(soon)
		_ = c.out.SetDeadline(soon)
	})
	defer stop()
	if _, err := c.in.WriteString(clause + "\n" + askEnd + "\n"); err != nil {
		return "", err
	}
	return c.answer()
}

// answer reads up to the line that ends an answer.
func (c *child) answer() (string, error) {
	var said strings.Builder
	for said.Len() < maxAnswer {
		line, err := c.lines.ReadSlice('\n')
		if err != nil {
			return "", err
		}
		if line = bytes.TrimSpace(line); string(line) == end {
			return strings.TrimSpace(said.String()), nil
		}
		said.Write(line)
		said.WriteByte('\n')
	}
	return "", bufio.ErrBufferFull
}

// end kills the child and waits until it is gone.
func (c *child) end() {
	_ = c.in.Close()
	_ = c.cmd.Process.Kill() // it may be gone already
	_ = c.cmd.Wait()         // how it ended is of no interest
	_ = c.out.Close()
}

// A tail keeps the first part of what is written to it.
type tail struct{ bytes.Buffer }

// maxTail is how much of a child's complaint is worth keeping.
const maxTail = 500

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.Buffer.Write(p[:min(len(p), max(0, maxTail-t.Len()))])
	return len(p), nil
}

// String returns what was written, on one line.
func (t *tail) String() string {
	return strings.Join(strings.Fields(t.Buffer.String()), " ")
}
