package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
	"pressbox/daemon/exitcode"
	"pressbox/daemon/logging"
	"pressbox/daemon/recovery"
	"pressbox/daemon/settings"
)

// serverFlag adds a flag for the server's URL to cmd and returns the function that makes a
// client: of --server, else of $PRESSBOX_URL, else of HOST and PORT in the settings. Its
// token is $PRESSBOX_TOKEN.
func serverFlag(cmd *cobra.Command) func() (*client.Client, error) {
	server := cmd.Flags().String("server", "", "`url` of the server (default $PRESSBOX_URL, else the server on this host)")
	return func() (*client.Client, error) {
		url := *server
		if url == "" {
			url = os.Getenv("PRESSBOX_URL")
		}
		if url == "" {
			cfg, err := settings.ForHost("")
			if err == nil {
				url, err = client.Origin(cfg)
			}
			if err != nil {
				return nil, exitcode.With(exitcode.Usage, err)
			}
		}
		origin, err := settings.ParseOrigin(url)
		if err != nil {
			return nil, exitcode.With(exitcode.Usage, fmt.Errorf("the server's URL %w", err))
		}
		return client.New(origin, os.Getenv("PRESSBOX_TOKEN")), nil
	}
}

// adminFlag adds a flag for STATE_DIR to cmd and returns the function that makes an
// administrator's client of the running server.
func adminFlag(cmd *cobra.Command) func() (*client.Client, error) {
	config := stateDirFlag(cmd)
	return func() (*client.Client, error) {
		cfg, err := config()
		if err != nil {
			return nil, err
		}
		path, err := client.FindSocket(cfg)
		if err != nil {
			return nil, err
		}
		if path == "" {
			return nil, exitcode.With(exitcode.Unreachable, fmt.Errorf("no server is running in %s or at %s; start one with \"systemctl start pressbox\" or \"pressbox serve\"", cfg.StateDir, settings.SharedAdmin))
		}
		return client.ForSocket(path), nil
	}
}

// administer adds a flag for STATE_DIR to cmd and returns the function that calls do with an
// administrator's client: of the running server, else of a handler on its store.
func (p Program) administer(cmd *cobra.Command) func(do func(context.Context, *client.Client) error) error {
	config := stateDirFlag(cmd)
	return func(do func(context.Context, *client.Client) error) (err error) {
		cfg, err := config()
		if err != nil {
			return err
		}
		path, err := client.FindSocket(cfg)
		if err != nil {
			return err
		}
		if path != "" {
			return do(cmd.Context(), client.ForSocket(path))
		}
		log := logging.New(cmd.ErrOrStderr(), slog.LevelWarn)
		st, _, err := recovery.Open(cmd.Context(), cfg, log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, st.Close()) }()
		handler, err := p.Administration(cfg, st, log)
		if err != nil {
			return err
		}
		return do(cmd.Context(), client.ForHandler(handler))
	}
}
