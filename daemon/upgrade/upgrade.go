// Package upgrade tries this version of the program on a copy of the store, while the
// version before it goes on serving.
//
// One law: a trial reads the store and changes nothing, and its server has no effect outside:
// it has no sound server and no MQTT broker, and listens on the loopback interface.
package upgrade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pressbox/daemon/client"
	"pressbox/daemon/exitcode"
	"pressbox/daemon/recovery"
	"pressbox/daemon/settings"
	"pressbox/daemon/trust"
	"pressbox/store/atomicfile"
)

const (
	// timeout limits the start of a server, as TimeoutStartSec= of pressbox.service does, and its
	// end: it is ended while it loads a voice, which a slow host finishes first.
	timeout      = 90 * time.Second
	pollInterval = 100 * time.Millisecond
)

// Try starts a server of this program on a copy of the store, with the settings of this host,
// and returns an error unless its health is reported and is not "failing". running is a client
// of the server that uses the store, nil if none does. The copy is in STATE_DIR and is removed; root's process
// becomes that of the user who controls STATE_DIR.
func Try(ctx context.Context, cfg settings.Config, running *client.Client) (err error) {
	state, err := filepath.Abs(cfg.StateDir)
	if err != nil {
		return err
	}
	root := os.Geteuid() == 0
	var served io.ReadCloser
	if running != nil { // whose socket is root's
		resp, err := running.Open(ctx, http.MethodGet, "/admin/backup", nil)
		if err != nil {
			return fmt.Errorf("copy the store: %w", err)
		}
		served = resp.Body
		defer served.Close()
	}
	if err := trust.Enter(state); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(state, "upgrade-")
	if err != nil {
		return fmt.Errorf("copy the store: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, filepath.Base(cfg.StorePath()))
	if err := copyStore(ctx, cfg.StorePath(), path, served); err != nil {
		return fmt.Errorf("copy the store: %w", err)
	}
	cmd := serveCommand(state, dir)
	if root {
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}
	}
	return tryServer(ctx, cmd, client.ForSocket(filepath.Join(dir, filepath.Base(cfg.AdminSocket()))))
}

// copyStore copies the store to a new file: what a server serves of it, or the file at path, if there is one, whose
// lock keeps a server from starting meanwhile.
func copyStore(ctx context.Context, path, to string, served io.Reader) error {
	if served != nil {
		_, err := recovery.WriteBackup(ctx, to, func(w io.Writer) error {
			_, err := io.Copy(w, served)
			return err
		})
		return err
	}
	from, err := trust.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // it was only read
	if err := unix.Flock(int(from.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		return err
	}
	_, err = atomicfile.Write(to, atomicfile.Own(0o600), func(w io.Writer) error {
		_, err := io.Copy(w, from)
		return err
	}, nil)
	return err
}

// serveCommand returns the command of a server with its state in dir; state is the working
// directory of the service.
func serveCommand(state, dir string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", "serve", //nolint:noctx,gosec // this program; tryServer ends it
		"--state-dir", dir, "--host", "127.0.0.1", "--port", "0", "--wyoming", "off",
		"--esphome", "off", "--mqtt-url", "",
		"--pulse-server", "unix:"+filepath.Join(dir, "no-sound"),
		"--idp-provider", "local", "--exit-on-idle", "0") // secrets are credentials of the service
	cmd.Args[0] = "pressbox"
	cmd.Dir = state
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// tryServer runs a server until c gets its health.
func tryServer(ctx context.Context, cmd *exec.Cmd, c *client.Client) error {
	defer c.HTTP.CloseIdleConnections()
	var log bytes.Buffer // read after the server's end
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a server: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // ProcessState has the result
	}()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		if status, err := c.Status(ctx); err == nil {
			return errors.Join(healthError(status.Health), end(cmd, ended))
		}
		select {
		case <-ended:
			return fmt.Errorf("its server ended (%s): %s", cmd.ProcessState, exitcode.Reason(log.String()))
		case <-ctx.Done():
			err := fmt.Errorf("its server does not answer: %w", ctx.Err())
			return errors.Join(err, end(cmd, ended))
		case <-time.After(pollInterval):
		}
	}
}

// end ends a server, by force if it takes too long.
func end(cmd *exec.Cmd, ended <-chan struct{}) error {
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-ended:
		return nil
	case <-time.After(timeout):
		err := errors.Join(errors.New("its server does not stop"), cmd.Process.Kill())
		<-ended
		return err
	}
}

// healthError returns why a server does not work.
func healthError(h client.Health) error {
	if h.Status == "failing" {
		return fmt.Errorf("its server reports: %s", h.Checks.Store.Detail)
	}
	return nil
}
