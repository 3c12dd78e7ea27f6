package espeak

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// environment is all that a child sees of the server's environment: no secret is among it.
var environment = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"} //nolint:gochecknoglobals // a constant

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
func start(ctx context.Context, command []string, lang string, limits limits) (*child, error) {
	if lang == "" || strings.HasPrefix(lang, "-") {
		return nil, fmt.Errorf("espeak-ng has no voice %q", lang)
	}
	c, err := spawn(command, lang)
	if err != nil {
		return nil, fmt.Errorf("start espeak-ng: %w", err)
	}
	if _, err := c.ask(ctx, "", limits); err != nil {
		c.close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) { // the host is slow; the voice is not at fault
			return nil, died(err)
		}
		if output := c.errors.String(); output != "" {
			return nil, fmt.Errorf("espeak-ng does not speak %q: %s", lang, output)
		}
		return nil, fmt.Errorf("espeak-ng does not answer for the voice %q: %w", lang, err)
	}
	return c, nil
}

// spawn runs a command with pipes for its input and output. The last part of the command is the program
// espeak-ng.
func spawn(command []string, lang string) (*child, error) {
	program, err := exec.LookPath(command[len(command)-1])
	if err != nil {
		return nil, err
	}
	command = append(command[:len(command)-1:len(command)-1], program)
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
	//nolint:gosec,noctx // the path is configured; see above
	c.cmd = exec.Command(command[0], append(command[1:], "-q", "--ipa", "-b", "1", "-v", lang)...)
	c.cmd.Env = environment
	if len(command) > 1 {
		// the helper, which does not pass it on, ends before a collection pays
		c.cmd.Env = append(slices.Clip(environment), "GOGC=off")
		// the helper is this program, which may depend on its name, as in tests
		c.cmd.Args[0] = os.Args[0]
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = childIn, childOut, c.errors
	if err := c.cmd.Start(); err != nil {
		_ = in.Close()
		_ = out.Close()
		return nil, err
	}
	return c, nil
}

// ask writes a clause and reads its phonemes, one line of the answer per line. After an error the child must
// be closed.
func (c *child) ask(ctx context.Context, clause string, limits limits) (string, error) {
	if err := c.checkSilent(); err != nil {
		return "", err
	}
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
	m := newMarker()
	if _, err := c.in.WriteString(clause + "\n" + m.text + "\n"); err != nil {
		return "", err
	}
	ipa, err := c.answer(m)
	if err == nil && c.lines.Buffered() > 0 {
		err = errUnasked
	}
	return ipa, err
}

// errUnasked reports output that belongs to no question.
var errUnasked = errors.New("output after the end of an answer")

// checkSilent returns an error if the child has written anything since its last answer, or has ended.
func (c *child) checkSilent() error {
	pipe, err := c.out.SyscallConn()
	if err != nil {
		return err
	}
	var n int
	err = errors.Join(pipe.Control(func(fd uintptr) {
		for again := true; again; again = errors.Is(err, unix.EINTR) { // signals interrupt it, also the runtime's own
			//nolint:gosec // a descriptor is small
			n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		}
	}), err)
	if err == nil && n > 0 {
		err = errUnasked
	}
	return err
}

// answer reads up to the marker.
func (c *child) answer(m marker) (string, error) {
	var output strings.Builder
	for output.Len() < maxAnswer {
		line, err := c.lines.ReadSlice('\n')
		if err != nil {
			return "", err
		}
		if line = bytes.TrimSpace(line); string(line) == m.ipa {
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

// String returns the last line. Those before are warnings of libraries.
func (b *limitedBuffer) String() string {
	lines := strings.FieldsFunc(b.Buffer.String(), func(r rune) bool { return r == '\n' })
	if len(lines) == 0 {
		return ""
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
