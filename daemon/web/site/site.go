// Package site joins the routes of all packages into the one table from which the
// router and the OpenAPI document are built.
package site

import (
	"net/http"
	"slices"
	"strings"

	"pressbox/daemon/web"
	"pressbox/daemon/web/admin"
	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/control"
	"pressbox/daemon/web/hooks"
	"pressbox/daemon/web/openai"
	"pressbox/daemon/web/openapi"
	"pressbox/daemon/web/play"
	"pressbox/daemon/web/push"
	"pressbox/daemon/web/signin"
	"pressbox/daemon/web/sounds"
)

// A Config holds the configuration of every package of routes. [New] sets some
// fields from others: from SignIn, unless it is nil, Tokens, Sessions, PageAccount, Frontend,
// PublicOrigin, Play.Sessions and Play.Authenticate; from
// Sounds.Sounds that of Announcements; from Announcements.Announcer those of Admin, Hooks, OpenAI, Play and Push; from
// Announcements.Voices that of OpenAI; from Control Admin.Controls and
// Announcements.Changes and Play.Changes; from Season that of Play.
type Config struct {
	web.Config
	Announcements announcements.Config
	OpenAI        openai.Config
	Control       control.Config
	Hooks         hooks.Config
	Admin         admin.Config
	SignIn        *signin.Config // nil disables sign-in
	Play          play.Config
	Push          push.Config
	Sounds        sounds.Config
}

// New returns a server with all routes.
func New(cfg Config) (*web.Server, error) {
	in := authenticator(&cfg)
	cfg.Admin.Announcer, cfg.Play.Announcer = cfg.Announcements.Announcer, cfg.Announcements.Announcer
	cfg.Hooks.Announcer, cfg.Push.Announcer = cfg.Announcements.Announcer, cfg.Announcements.Announcer
	cfg.OpenAI.Announcer, cfg.OpenAI.Voices = cfg.Announcements.Announcer, cfg.Announcements.Voices
	cfg.Announcements.Sounds = cfg.Sounds.Sounds
	cfg.Play.Season = cfg.Season
	cfg.Admin.Controls = cfg.Control.Controls
	cfg.Announcements.Changes = control.Events{Config: cfg.Control}
	cfg.Play.Changes = cfg.Announcements.Changes
	s, err := web.New(cfg.Config)
	if err != nil {
		return nil, err
	}
	docs := &openapi.Documents{}
	mount(s, routes(s, cfg, in, docs), docs, cfg.Version)
	return s, nil
}

// OpenAPI returns the OpenAPI document of all routes.
func OpenAPI(version string) ([]byte, error) {
	return openapi.Document(Routes(), version)
}

// Routes returns the table of routes. Their handlers must not be called.
func Routes() []web.Route {
	return routes(new(web.Server), Config{}, nil, &openapi.Documents{})
}

// NewAccountAdmin returns a handler of only the administrator's routes of
// accounts, API tokens and games.
func NewAccountAdmin(cfg Config) (http.Handler, error) {
	in := authenticator(&cfg)
	s, err := web.New(cfg.Config)
	if err != nil {
		return nil, err
	}
	mount(s, slices.Concat(signin.AdminRoutes(s, in), play.AdminRoutes(s, cfg.Play)), &openapi.Documents{}, cfg.Version)
	return s.AdminHandler(), nil
}

// authenticator returns the authenticator of cfg.SignIn, nil without SignIn, and
// sets the fields of cfg that are derived from it.
func authenticator(cfg *Config) *signin.Authenticator {
	if cfg.SignIn == nil {
		return nil
	}
	if games := cfg.Play.Games; games != nil {
		cfg.SignIn.Seat, cfg.SignIn.Forget = play.Seat(games), games.ForgetLineups
		cfg.SignIn.Sessions.GuestsPlay(games.Playing)
	}
	a := signin.New(*cfg.SignIn)
	cfg.Tokens, cfg.Sessions, cfg.PageAccount, cfg.Frontend = a, a, a.PageAccount, cfg.SignIn.Frontend
	if origin, ok := strings.CutSuffix(cfg.SignIn.Redirect, signin.CallbackPath); ok {
		cfg.PublicOrigin = origin
	}
	cfg.Play.Sessions, cfg.Play.Authenticate = cfg.SignIn.Sessions, a.Authenticate
	return a
}

func mount(s *web.Server, table []web.Route, docs *openapi.Documents, version string) {
	s.Mount(table, docs.Of(table, version),
		announcements.Problem, openai.Problem, control.Problem,
		hooks.Problem, sounds.Problem, push.Problem, signin.Problem, play.Problem, admin.Problem)
}

func routes(s *web.Server, cfg Config, in *signin.Authenticator, docs *openapi.Documents) []web.Route {
	return slices.Concat(
		announcements.Routes(s, cfg.Announcements),
		openai.Routes(s, cfg.OpenAI),
		push.Routes(s, cfg.Push),
		control.Routes(s, cfg.Control),
		sounds.Routes(s, cfg.Sounds),
		hooks.Routes(s, cfg.Hooks),
		docs.Routes(),
		s.PageRoutes(),
		signin.Routes(s, in),
		play.Routes(s, cfg.Play),
		admin.Routes(s, cfg.Admin),
		signin.AdminRoutes(s, in),
		play.AdminRoutes(s, cfg.Play),
	)
}
