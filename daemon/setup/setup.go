// Package setup configures the host for Pressbox: the sound server, the port, and what a
// card's pressbox.txt says.
//
// One law: it prints every change before it makes it, below another root it only writes
// files, and what its commands set up they can undo.
package setup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"pressbox/daemon/exitcode"
	"pressbox/daemon/settings"
	"pressbox/store/atomicfile"
)

// A Setup changes files below a root and, if that is "/", runs programs.
type Setup struct {
	Root string // "/", or a directory in which only files are written
	Out  io.Writer
}

// A file is one that a command writes.
type file struct{ path, content string }

// RequireRoot returns an error if this user cannot make the changes of command.
func (s Setup) RequireRoot(command string) error {
	if s.onHost() && os.Geteuid() != 0 {
		return errors.New("root privileges required: sudo pressbox " + command)
	}
	return nil
}

// onHost reports whether the host itself is changed.
func (s Setup) onHost() bool { return s.Root == "/" }

// printf prints a change; it happens even if it cannot be printed.
func (s Setup) printf(format string, args ...any) { _, _ = fmt.Fprintf(s.Out, format+"\n", args...) }

// write writes a file and creates its directories.
func (s Setup) write(f file) error {
	path := filepath.Join(s.Root, f.path)
	s.printf("+ write %s", path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as all of /etc
		return fmt.Errorf("write %s: %w", path, err)
	}
	return writeAtomic(path, atomicfile.Own(0o644), f.content) // other programs read it, and it is no secret
}

// writeAtomic replaces a file.
func writeAtomic(path string, a atomicfile.Attributes, content string) error {
	_, err := atomicfile.Write(path, a, func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}, nil)
	return err
}

// remove removes a file or an empty directory, if it exists.
func (s Setup) remove(name string) error {
	path := filepath.Join(s.Root, name)
	err := os.Remove(path)
	switch {
	case err == nil:
		s.printf("+ remove %s", path)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return fmt.Errorf("remove %s: %w", path, err)
	}
}

// removeWithDir removes a file, and its directory if that is empty then.
func (s Setup) removeWithDir(name string) error {
	if err := s.remove(name); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(filepath.Join(s.Root, name))) // fails while it has other files
	return nil
}

// edit replaces a file atomically by its edited text, with its owner and mode. A file that
// does not exist is not created.
func (s Setup) edit(name string, edit func(string) string) error {
	path := filepath.Join(s.Root, name)
	text, err := os.ReadFile(path) //nolint:gosec // of a fixed name
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("edit %s: %w", path, err)
	}
	edited := edit(string(text))
	if edited == string(text) {
		return nil
	}
	s.printf("+ change %s", path)
	a, err := atomicfile.Like(path)
	if err != nil {
		return fmt.Errorf("edit %s: %w", path, err)
	}
	return writeAtomic(path, a, edited)
}

// run prints and runs a program of the system.
func (s Setup) run(name string, args ...string) error {
	if !s.onHost() {
		return nil
	}
	command := name + " " + strings.Join(args, " ")
	s.printf("+ %s", command)
	cmd := exec.Command(name, args...) //nolint:gosec,noctx // only programs named in this package; they end
	cmd.Stdout, cmd.Stderr = s.Out, s.Out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	return nil
}

const avahiFile = "/etc/avahi/services/pressbox.service"

var avahiPort = regexp.MustCompile(`<port>\d+</port>`)

// Port sets the port of pressbox.socket, of PORT in the settings and of the Avahi service.
// It changes nothing if another program uses the port.
func (s Setup) Port(port int) error {
	if err := s.checkFree(port); err != nil {
		return err
	}
	line := fmt.Sprintf("PORT=%d", port)
	if port == settings.DefaultPort {
		line = "#" + line
	}
	for path, edit := range map[string]func(string) string{
		settings.SystemFile: func(text string) string { return setLine(text, "PORT", line) },
		avahiFile: func(text string) string {
			return avahiPort.ReplaceAllString(text, fmt.Sprintf("<port>%d</port>", port))
		},
	} {
		if err := s.edit(path, edit); err != nil {
			return err
		}
	}
	if err := s.portDropIn(port); err != nil {
		return err
	}
	if err := s.run("systemctl", "daemon-reload"); err != nil {
		return err
	}
	// A socket does not change while its service runs. Systemd stops the service first.
	return s.run("systemctl", "restart", "pressbox.socket", "pressbox.service")
}

// checkFree returns an error if another program listens on the port.
func (s Setup) checkFree(port int) error {
	if !s.onHost() || port == settings.SocketPort(s.Root) {
		return nil
	}
	//nolint:noctx // it does not wait; systemd will listen in the same way
	l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if errors.Is(err, unix.EADDRINUSE) {
		return exitcode.With(exitcode.InUse, fmt.Errorf("port %d is in use by another program", port))
	}
	if err != nil {
		return fmt.Errorf("listen on port %d: %w", port, err)
	}
	return l.Close()
}

// portDropIn writes the drop-in of pressbox.socket, or removes it for the shipped port.
func (s Setup) portDropIn(port int) error {
	if port == settings.DefaultPort {
		return s.removeWithDir(settings.PortDropIn)
	}
	return s.write(file{
		settings.PortDropIn,
		fmt.Sprintf("# Written by \"pressbox set-port\".\n[Socket]\nListenStream=\nListenStream=%d\n", port),
	})
}

// setLine replaces the first assignment of a setting, commented out or not, by line, and
// comments out further ones. Without one, it appends line.
func setLine(text, name, line string) string {
	assignment := regexp.MustCompile(`(?m)^[ \t]*#?[ \t]*` + name + `[ \t]*=.*$`)
	replaced := false
	text = assignment.ReplaceAllStringFunc(text, func(string) string {
		if replaced {
			return "#" + strings.TrimPrefix(line, "#")
		}
		replaced = true
		return line
	})
	if !replaced {
		text += line + "\n"
	}
	return text
}
