package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

const (
	portDropIn = "/etc/systemd/system/pressbox.socket.d/port.conf"
	avahiFile  = "/etc/avahi/services/pressbox.service"
)

func newSetPortCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set-port N",
		Short: "Choose the port on which systemd listens for the daemon",
		Long: "Set-port has pressbox.socket listen on another TCP port, sets PORT in\n" + systemFile + " to the same, and has Avahi announce it. As root.\n" +
			"Clients of the old port are refused from then on.",
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
		return a.setPort(port)
	}
	return cmd
}

var (
	portLine  = regexp.MustCompile(`(?m)^[ \t]*#?[ \t]*PORT[ \t]*=.*$`)
	avahiPort = regexp.MustCompile(`<port>\d+</port>`)
)

func (a arrangement) setPort(port int) error {
	for path, edit := range map[string]func(string) string{
		systemFile: func(text string) string { return setLine(text, "PORT="+strconv.Itoa(port)) },
		avahiFile: func(text string) string {
			return avahiPort.ReplaceAllString(text, fmt.Sprintf("<port>%d</port>", port))
		},
	} {
		if err := a.rewrite(path, edit); err != nil {
			return err
		}
	}
	content := fmt.Sprintf("# Written by \"pressbox set-port\".\n[Socket]\nListenStream=\nListenStream=%d\n", port)
	if err := a.write(etcFile{portDropIn, content}); err != nil {
		return err
	}
	// A socket does not change while its service runs.
	for _, command := range [][]string{
		{"daemon-reload"}, {"stop", "pressbox.service"}, {"restart", "pressbox.socket"}, {"start", "pressbox.service"},
	} {
		if err := a.run("systemctl", command...); err != nil {
			return err
		}
	}
	return nil
}

// setLine puts an assignment of PORT in the place of the first one, commented out or
// not, or at the end; further ones go.
func setLine(text, line string) string {
	done := false
	text = portLine.ReplaceAllStringFunc(text, func(old string) string {
		if done {
			return "#" + line
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
