package setup

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"pressbox/daemon/exitcode"
	"pressbox/daemon/settings"
)

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
