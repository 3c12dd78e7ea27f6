//go:build image

package imagetest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pressbox/packaging/check"
)

// A shell is root's on a host, from the time at which it has started its services.
type shell struct {
	h    *host
	line net.Conn
	out  *bufio.Reader
	used bool // it has answered
}

// openShell connects to the port of the shell, which has to be open before the shell starts.
func openShell(h *host) *shell {
	h.Helper()
	line := dialUnix(h, "shell")
	return &shell{h: h, line: line, out: bufio.NewReader(line)}
}

// dialUnix connects to a socket of the emulator, which it creates after its start.
func dialUnix(h *host, name string) net.Conn {
	h.Helper()
	path := filepath.Join(h.dir, name)
	for {
		line, err := net.Dial("unix", path)
		if err == nil {
			return line
		}
		select {
		case <-h.ended:
			h.Fatalf("the emulator did not start; see %s", h.file("qemu.txt"))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// start sends a command and does not wait for its end.
func (s *shell) start(command string) {
	s.h.Helper()
	check.Must(fmt.Fprintf(s.line, "{ %s\n} </dev/null 2>&1; printf '\\n\\001%%d\\n' $?\n", command))(s.h.T)
}

// try runs a command and returns its output.
func (s *shell) try(command string, limit time.Duration) (output string, err error) {
	s.h.Helper()
	if !s.used {
		limit = max(limit, bootTime)
	}
	if err := s.line.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return "", err
	}
	s.start(command)
	var all strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return all.String(), fmt.Errorf("%s: %w", command, err)
		}
		if status, ended := strings.CutPrefix(line, "\x01"); ended {
			s.used = true
			if status = strings.TrimSpace(status); status != "0" {
				return all.String(), fmt.Errorf("%s: exit status %s", command, status)
			}
			return strings.TrimSpace(all.String()), nil
		}
		all.WriteString(line)
	}
}

// do runs a command, which must succeed, and returns its output.
func (s *shell) do(format string, args ...any) string {
	s.h.Helper()
	out, err := s.try(fmt.Sprintf(format, args...), commandTime)
	if err != nil {
		s.h.Fatalf("on %s: %v\n%s", s.h.name, err, out)
	}
	return out
}

// number runs a command that prints a number.
func (s *shell) number(command string) int64 {
	s.h.Helper()
	out := s.do("%s", command)
	return check.Must(strconv.ParseInt(strings.TrimSpace(out), 10, 64))(s.h.T)
}

// screen writes what the display shows to a PNG file, and returns its path.
func (h *host) screen(ending string) string {
	h.Helper()
	path := h.file(ending + ".png")
	h.monitor("screendump", map[string]string{"filename": path, "format": "png"}, nil)
	return path
}

// monitor has the emulator execute a command, and decodes its answer unless that is nil.
func (h *host) monitor(command string, arguments map[string]string, answer any) {
	h.Helper()
	line := dialUnix(h, "qmp")
	defer line.Close()
	check.NoError(h.T, line.SetDeadline(time.Now().Add(commandTime)))
	answers := json.NewDecoder(line)
	check.NoError(h.T, answers.Decode(new(any))) // its greeting
	var got json.RawMessage
	for _, c := range []map[string]any{
		{"execute": "qmp_capabilities"},
		{"execute": command, "arguments": arguments},
	} {
		check.NoError(h.T, json.NewEncoder(line).Encode(c))
		got = check.Must(answered(answers))(h.T)
	}
	if answer != nil {
		check.NoError(h.T, json.Unmarshal(got, answer))
	}
}

// answered reads up to the answer of a command; events may come before it.
func answered(answers *json.Decoder) (json.RawMessage, error) {
	for {
		var a struct {
			Return json.RawMessage
			Error  *struct{ Desc string }
		}
		switch err := answers.Decode(&a); {
		case err != nil:
			return nil, err
		case a.Error != nil:
			return nil, errors.New(a.Error.Desc)
		case a.Return != nil:
			return a.Return, nil
		}
	}
}
