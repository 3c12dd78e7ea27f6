package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

const (
	portDropIn  = "/etc/systemd/system/pressbox.socket.d/port.conf"
	avahiFile   = "/etc/avahi/services/pressbox.service"
	shippedPort = 8888 // of pressbox.socket, which is also PORT's default
)

func newSetPortCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set-port N",
		Short: "Choose the port on which systemd listens for the daemon",
		Long: "Set-port has pressbox.socket listen on another TCP port, sets PORT in\n" + systemFile + " to the same, and has Avahi announce it. As root.\n" +
			"Clients of the old port are refused from then on. What was accepted until then is spoken\n" +
			"all the same; who was not answered asks again at the new port. Set-port 8888 leaves\n" +
			"everything as the package brought it.",
		Args: cobra.ExactArgs(1),
	}
	root := cmd.Flags().String("root", "/", "folder below which files are written, and nothing is run unless it is /")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		port, err := strconv.Atoi(args[0])
		if err != nil || port < 1 || port > 65535 {
			return &exitError{exitUsage, fmt.Errorf("the port %q: expected a whole number from 1 to 65535", args[0])}
		}
		a := arrangement{*root, cmd.OutOrStdout()}
		if a.live() && os.Geteuid() != 0 {
			return errors.New("only root may change this: sudo pressbox set-port " + args[0])
		}
		if err := a.mayListen(port); err != nil {
			return err
		}
		return a.setPort(port)
	}
	return cmd
}

var (
	portLine   = regexp.MustCompile(`(?m)^[ \t]*#?[ \t]*PORT[ \t]*=.*$`)
	avahiPort  = regexp.MustCompile(`<port>\d+</port>`)
	streamLine = regexp.MustCompile(`(?m)^ListenStream=(\d+)$`)
)

// mayListen looks whether a port is free, before anything is given up for it.
func (a arrangement) mayListen(port int) error {
	if !a.live() || port == portOfSocket(a.root) {
		return nil
	}
	l, err := net.Listen("tcp", ":"+strconv.Itoa(port)) //nolint:noctx // it does not wait; systemd will listen in the same way
	if errors.Is(err, unix.EADDRINUSE) {
		return &exitError{exitInUse, fmt.Errorf("port %d is in use by another program", port)}
	}
	if err != nil {
		return fmt.Errorf("listen on port %d: %w", port, err)
	}
	return l.Close()
}

// portOfSocket is where pressbox.socket listens, as far as set-port has changed it.
func portOfSocket(root string) int {
	text, _ := os.ReadFile(filepath.Join(root, portDropIn)) //nolint:gosec // of a fixed name; without it, it is the shipped one
	if found := streamLine.FindSubmatch(text); found != nil {
		if port, err := strconv.Atoi(string(found[1])); err == nil {
			return port
		}
	}
	return shippedPort
}

func (a arrangement) setPort(port int) error {
	line := fmt.Sprintf("PORT=%d", port)
	if port == shippedPort {
		line = "#" + line
	}
	for path, edit := range map[string]func(string) string{
		systemFile: func(text string) string { return setLine(text, line) },
		avahiFile: func(text string) string {
			return avahiPort.ReplaceAllString(text, fmt.Sprintf("<port>%d</port>", port))
		},
	} {
		if err := a.rewrite(path, edit); err != nil {
			return err
		}
	}
	if err := a.dropIn(port); err != nil {
		return err
	}
	if err := a.run("systemctl", "daemon-reload"); err != nil {
		return err
	}
	// A socket does not change while its service runs. Systemd ends the service first.
	return a.run("systemctl", "restart", "pressbox.socket", "pressbox.service")
}

// dropIn has the socket listen on a port; the shipped one needs none.
func (a arrangement) dropIn(port int) error {
	if port != shippedPort {
		return a.write(etcFile{portDropIn, fmt.Sprintf("# Written by \"pressbox set-port\".\n[Socket]\nListenStream=\nListenStream=%d\n", port)})
	}
	if err := a.forget(portDropIn); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(a.root, filepath.Dir(portDropIn))) // others' files stay in it
	return nil
}

// setLine puts an assignment of PORT in the place of the first one, commented out or
// not, or at the end; further ones are commented out.
func setLine(text, line string) string {
	done := false
	text = portLine.ReplaceAllStringFunc(text, func(string) string {
		if done {
			return "#" + strings.TrimPrefix(line, "#")
		}
		done = true
		return line
	})
	if !done {
		text += line + "\n"
	}
	return text
}

// rewrite changes a file, whole or not at all, and keeps its owner and mode. One
// that is not there stays so.
func (a arrangement) rewrite(name string, edit func(string) string) error {
	path := filepath.Join(a.root, name)
	text, err := os.ReadFile(path) //nolint:gosec // one of the two above
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("change %s: %w", path, err)
	}
	changed := edit(string(text))
	if changed == string(text) {
		return nil
	}
	_, _ = fmt.Fprintln(a.say, "+ change", path) // it is done all the same
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return fmt.Errorf("change %s: %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".pressbox-*")
	if err != nil {
		return fmt.Errorf("change %s: %w", path, err)
	}
	_, err = f.WriteString(changed)
	err = errors.Join(err, f.Chown(int(st.Uid), int(st.Gid)), f.Chmod(fs.FileMode(st.Mode&0o777)), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("change %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}
