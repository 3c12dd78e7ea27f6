// Package main is Pressbox, the program: it builds the server from its packages and runs it.
//
// One law: only here are packages connected, signals caught and the process ended.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"pressbox/daemon/cli"
	"pressbox/daemon/settings"
	"pressbox/daemon/signin"
	"pressbox/daemon/web"
	"pressbox/daemon/web/play"
	"pressbox/daemon/web/site"
	"pressbox/game/leagues"
	"pressbox/game/live"
	"pressbox/store"
	"pressbox/voice/espeak/confine"
)

//go:generate go test -run TestGenerated . -update

// Set by the linker.
//
//nolint:gochecknoglobals // only the linker sets them
var (
	version  = "dev" // the newest entry of CHANGELOG.md
	released = ""    // the date of that entry, such as 2026-11-20; "" means unknown
	revision = ""    // the output of packaging/revision; "" means unknown
)

func main() {
	confine.Main(os.Args) // which becomes espeak-ng, if the server runs this program for that
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(program().Execute(ctx, os.Args[1:]))
}

func program() cli.Program {
	return cli.Program{
		Build:          cli.Build{Version: version, Released: released, Revision: revision},
		Serve:          serve,
		Administration: administration,
		Confine:        confine.Command(),
		OpenAPI:        func() ([]byte, error) { return site.OpenAPI(version) },
	}
}

// administration returns the handler of the administration of a store.
func administration(cfg settings.Config, st *store.Store, log *slog.Logger) (http.Handler, error) {
	s, err := signin.New(cfg, st, nil, releaseDate(), log)
	if err != nil {
		return nil, err
	}
	games, err := live.New(context.Background(), live.Config{Journal: st.Games(), Shelf: st, Log: log})
	if err != nil {
		return nil, err
	}
	all, err := leagues.New(context.Background(), leagues.Config{Repository: st, Games: games, Log: log})
	if err != nil {
		return nil, err
	}
	return site.NewAccountAdmin(site.Config{
		Config: web.Config{Log: log, Version: version}, SignIn: s.Web, Play: play.Config{Games: games, Leagues: all},
	})
}

// releaseDate returns the date of this version; the zero time if it is unknown.
func releaseDate() time.Time {
	at, _ := time.Parse(time.DateOnly, released) // which is the zero time with an error
	return at
}
