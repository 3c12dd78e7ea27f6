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
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pressbox/daemon/client"
	"pressbox/daemon/recovery"
	"pressbox/daemon/settings"
	"pressbox/daemon/trust"
)

const (
	// timeout limits the start of a server, as TimeoutStartSec= of pressbox.service does, and its
	// end: it is ended while it loads a voice, which a slow host finishes first.
	timeout      = 90 * time.Second
	pollInterval = 100 * time.Millisecond
)

// Try starts a server of this program on a copy of the store, with the settings of this host,
// and returns an error unless its health is reported and is not "failing". running is a client
// of the server that uses the store, nil if none does. As root, the server of the trial runs as
// the owner of STATE_DIR. The copy is beside STATE_DIR and is removed.
func Try(ctx context.Context, cfg settings.Config, running *client.Client) (err error) {
	state, err := filepath.Abs(cfg.StateDir)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(state), "pressbox-upgrade-")
	if err != nil {
		return fmt.Errorf("copy the store: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	owner, err := trust.Owner(state)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, filepath.Base(cfg.StorePath()))
	if err := copyStore(ctx, cfg.StorePath(), path, owner, running); err != nil {
		return fmt.Errorf("copy the store: %w", err)
	}
	cmd := serveCommand(state, dir)
	if os.Geteuid() == 0 {
		// The directory last: until then it is root's.
		if err := errors.Join(chown(path, owner), chown(dir, owner)); err != nil {
			return fmt.Errorf("copy the store: %w", err)
		}
		cmd.SysProcAttr.Credential = owner.Credential()
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}
	}
	return tryServer(ctx, cmd, client.ForSocket(filepath.Join(dir, filepath.Base(cfg.AdminSocket()))))
}

// copyStore copies the store at path, if there is one, to a new file.
func copyStore(ctx context.Context, path, to string, owner trust.Account, running *client.Client) error {
	if running != nil {
		_, err := recovery.WriteBackup(ctx, to, func(w io.Writer) error { return running.Backup(ctx, w) })
		return err
	}
	from, err := openStore(path, owner)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer from.Close()                                                       //nolint:errcheck // it was only read
	copied, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // in an own directory
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, from)
	return errors.Join(err, copied.Close())
}

// openStore opens a store that no server uses, and locks out one that starts meanwhile. It
// must be its owner's, who could have made a link to a file that only root may read.
func openStore(path string, owner trust.Account) (*os.File, error) {
	f, err := os.Open(path) //nolint:gosec // its owner is checked
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	err = unix.Fstat(int(f.Fd()), &st)
	if err == nil && st.Uid != owner.UID {
		err = fmt.Errorf("%s does not belong to %s", path, owner.Name())
	}
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func chown(path string, owner trust.Account) error {
	err := os.Lchown(path, int(owner.UID), int(owner.GID))
	if errors.Is(err, fs.ErrNotExist) { // there was no store
		return nil
	}
	return err
}

// serveCommand returns the command of a server with its state in dir; state is the working
// directory of the service.
func serveCommand(state, dir string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", "serve", //nolint:noctx,gosec // this program; tryServer ends it
		"--state-dir", dir, "--host", "127.0.0.1", "--port", "0", "--wyoming", "off", "--mqtt-url", "",
		"--pulse-server", "unix:"+filepath.Join(dir, "no-sound"),
		"--idp-provider", "local", "--exit-on-idle", "0") // secrets are credentials of the service
	cmd.Args[0] = "pressbox"
	cmd.Dir = state
	cmd.SysProcAttr = &syscall.SysProcAttr{}
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
			return fmt.Errorf("its server ended (%s): %s", cmd.ProcessState, lastLine(log.String()))
		case <-ctx.Done():
			err := fmt.Errorf("its server does not answer: %w", ctx.Err())
			return errors.Join(err, end(cmd, ended))
		case <-time.After(pollInterval):
		}
	}
}

// lastLine returns the last line of a log, which has the reason of an end.
func lastLine(log string) string {
	log = strings.TrimSpace(log)
	return log[strings.LastIndexByte(log, '\n')+1:]
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
