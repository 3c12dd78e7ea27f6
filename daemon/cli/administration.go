package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
	"pressbox/daemon/exitcode"
	"pressbox/daemon/logging"
	"pressbox/daemon/recovery"
	"pressbox/daemon/settings"
	"pressbox/daemon/trust"
)

// hostSettings returns the settings of the server on this host, with another STATE_DIR
// unless stateDir is "", and prints why root ignores a .env.
func hostSettings(cmd *cobra.Command, stateDir string) (settings.Host, error) {
	host, err := settings.ForHost(stateDir)
	if host.Ignored != nil {
		cmd.PrintErrln("pressbox:", host.Ignored)
	}
	if err != nil {
		err = exitcode.With(exitcode.Usage, err)
	}
	return host, err
}

// stateDirFlag adds a flag for STATE_DIR to cmd and returns the function that reads the
// settings of the server on this host.
func stateDirFlag(cmd *cobra.Command) func() (settings.Host, error) {
	dir := cmd.Flags().String("state-dir", "", "`directory` of the store [STATE_DIR]")
	return func() (settings.Host, error) { return hostSettings(cmd, *dir) }
}

// A connector calls do with a client of a server, and returns its error.
type connector func(do func(*client.Client) error) error

// runWith makes cmd call do with a client.
func runWith(cmd *cobra.Command, connect connector,
	do func(cmd *cobra.Command, c *client.Client, args []string) error,
) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return connect(func(c *client.Client) error { return do(cmd, c, args) })
	}
	return cmd
}

// serverFlag adds a flag for the server's URL to cmd and returns the connector to the server:
// of --server, else of $PRESSBOX_URL, else on this host, if socket is set by its admin socket
// where this user may use that. The client's token is $PRESSBOX_TOKEN.
func serverFlag(cmd *cobra.Command, socket bool) connector {
	server := cmd.Flags().String("server", "",
		"`url` of the server (default $PRESSBOX_URL, else the server on this host)")
	return func(do func(*client.Client) error) error {
		url := cmp.Or(*server, os.Getenv("PRESSBOX_URL"))
		if url == "" {
			host, err := hostSettings(cmd, "")
			if err != nil {
				return err
			}
			if socket {
				if c, _ := running(cmd.Context(), host); c != nil { // without the right to use it, there is the port
					return do(c)
				}
			}
			if url, err = client.Origin(host.Config); err != nil {
				return exitcode.With(exitcode.Usage, err)
			}
		}
		origin, err := settings.ParseOrigin(url)
		if err != nil {
			return exitcode.With(exitcode.Usage, fmt.Errorf("the server's URL %w", err))
		}
		return do(client.New(origin, os.Getenv("PRESSBOX_TOKEN")))
	}
}

// running returns an administrator's client of the running server; nil if none runs.
func running(ctx context.Context, host settings.Host) (*client.Client, error) {
	path, err := client.FindSocket(ctx, host)
	if err != nil || path == "" {
		return nil, err
	}
	return client.ForSocket(path), nil
}

// runningFlag adds a flag for STATE_DIR to cmd and returns the function that reads the
// settings of this host and makes an administrator's client of the running server; the
// client is nil if none runs.
func runningFlag(cmd *cobra.Command) func() (settings.Host, *client.Client, error) {
	config := stateDirFlag(cmd)
	return func() (settings.Host, *client.Client, error) {
		host, err := config()
		if err != nil {
			return host, nil, err
		}
		c, err := running(cmd.Context(), host)
		return host, c, err
	}
}

// adminFlag adds a flag for STATE_DIR to cmd and returns the connector to the running server, for
// an administrator.
func adminFlag(cmd *cobra.Command) connector {
	find := runningFlag(cmd)
	return func(do func(*client.Client) error) error {
		host, c, err := find()
		if err != nil {
			return err
		}
		if c == nil {
			return exitcode.With(exitcode.Unreachable,
				fmt.Errorf("no server is running in %s or at %s; start one with \"systemctl start pressbox\" or "+
					"\"pressbox serve\"", host.StateDir, settings.SharedAdmin))
		}
		return do(c)
	}
}

// administer adds a flag for STATE_DIR to cmd and returns the connector, for an administrator, to
// the running server, else to a handler on its store.
func (p Program) administer(cmd *cobra.Command) connector {
	find := runningFlag(cmd)
	return func(do func(*client.Client) error) (err error) {
		host, c, err := find()
		if err != nil {
			return err
		}
		if c != nil {
			return do(c)
		}
		log := logging.New(cmd.ErrOrStderr(), slog.LevelWarn)
		st, _, err := recovery.Open(cmd.Context(), host.Config, log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, st.Close()) }()
		handler, err := p.Administration(host.Config, st, log)
		if err != nil {
			return err
		}
		return do(client.ForHandler(handler))
	}
}

// asOwner runs a command of this program on STATE_DIR: of root's, as the user who controls it. An error is that of
// the command. It leaves this process its privileges, for a file of root's.
func asOwner(by *cobra.Command, host settings.Host, in io.Reader, out io.Writer, args ...string) (err error) {
	owner, dir := trust.Account{}, host.StateDir
	if os.Geteuid() == 0 {
		if owner, err = trust.Controller(dir); err != nil {
			return err
		}
	}
	if owner != (trust.Account{}) { // who has another working directory
		if dir, err = filepath.Abs(dir); err != nil {
			return err
		}
	}
	cmd := owner.Command(by.Context(), settings.Environment(), append(args, "--state-dir", dir)...)
	var errs bytes.Buffer
	// A pipe, as the owner could go on writing to a file.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, struct{ io.Writer }{out}, &errs
	err = cmd.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return exitcode.With(failed.ExitCode(), errors.New(exitcode.Reason(errs.String())))
	}
	by.PrintErr(errs.String())
	return err
}

// listOf makes cmd print a row for each item of the list that GET path returns in a member.
func listOf[T any](cmd *cobra.Command, connect connector, path, member string, columns func(T) []any) *cobra.Command {
	cmd.Args = cobra.NoArgs
	return runWith(cmd, connect, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		var list map[string][]T
		if err := c.Call(cmd.Context(), http.MethodGet, path, nil, &list); err != nil {
			return err
		}
		return printTable(cmd, list[member], columns)
	})
}

// removalOf makes cmd delete what its arguments name below path. It goes on after an error and
// returns the first one.
func removalOf(cmd *cobra.Command, connect connector, path, what string) *cobra.Command {
	cmd.Args = cobra.MinimumNArgs(1)
	return runWith(cmd, connect, func(cmd *cobra.Command, c *client.Client, names []string) error {
		var first error
		for _, name := range names {
			err := c.Send(cmd.Context(), http.MethodDelete, path+"/"+url.PathEscape(name), nil)
			first = cmp.Or(first, notFound(what, name, err))
		}
		return first
	})
}
