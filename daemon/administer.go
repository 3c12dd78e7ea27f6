package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pressbox/daemon/web"
	"pressbox/store"
)

// sharedAdminSocket is where the package's socket unit listens.
const sharedAdminSocket = "/run/pressbox/admin.sock"

// useAdministration gives cmd a flag for the daemon's folder and returns how to
// run a piece of administration: by the daemon that runs there, else, when none
// does, on its store, by the same handlers.
func useAdministration(cmd *cobra.Command) func(do func(context.Context, *client) error) error {
	folder := cmd.Flags().String("state-dir", "", "folder in which the daemon keeps its store [STATE_DIR]")
	return func(do func(context.Context, *client) error) (err error) {
		cfg, err := administeredConfig(*folder)
		if err != nil {
			return &exitError{exitUsage, err}
		}
		path, err := adminSocketOf(cfg)
		if err != nil {
			return err
		}
		if path != "" {
			return do(cmd.Context(), socketClient(path))
		}
		log := newLog(cmd.ErrOrStderr(), slog.LevelWarn)
		kept, _, err := openStore(cmd.Context(), cfg, log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, kept.Close()) }()
		c, err := storeClient(cfg, kept, log)
		if err != nil {
			return err
		}
		return do(cmd.Context(), c)
	}
}

// administeredConfig is the settings that a daemon here would have, with
// another folder unless that is "".
func administeredConfig(folder string) (Config, error) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	addFlags(flags, keys())
	if folder != "" {
		if err := flags.Set("state-dir", folder); err != nil {
			return Config{}, err
		}
	}
	s, err := newSettings(keys(), flags, systemFile)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return Config{}, err
	}
	return s.configure()
}

// socketClient asks the daemon that listens on a socket.
func socketClient(path string) *client {
	return &client{base: "http://localhost", socket: path, http: http.Client{Transport: &http.Transport{
		ResponseHeaderTimeout: answerPatience,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}}
}

// storeClient asks the handlers of administration in this process.
func storeClient(cfg Config, kept *store.Store, log *slog.Logger) (*client, error) {
	d, err := buildDoorway(cfg, kept, log)
	if err != nil {
		return nil, err
	}
	h, err := web.NewAdministration(web.Config{Log: log, Version: version, SignIn: d.web})
	if err != nil {
		return nil, err
	}
	return &client{base: "http://localhost", http: http.Client{Transport: inProcess{h}}}, nil
}

// inProcess answers requests by a handler.
type inProcess struct{ http.Handler }

// RoundTrip answers one.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := &written{Response: http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r}}
	p.ServeHTTP(w, r)
	w.Body = io.NopCloser(&w.body)
	return &w.Response, nil
}

// written is an answer while it is written.
type written struct {
	http.Response
	body bytes.Buffer
}

// Header is what will be sent.
func (w *written) Header() http.Header { return w.Response.Header }

// WriteHeader notes the status.
func (w *written) WriteHeader(status int) { w.StatusCode = status }

// Write adds to the body.
func (w *written) Write(p []byte) (int, error) { return w.body.Write(p) }
