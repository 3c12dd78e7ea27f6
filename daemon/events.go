package main

import (
	"pressbox/daemon/events"
	"pressbox/daemon/health"
	"pressbox/daemon/settings"
	"pressbox/game/live"
	"pressbox/game/protocol"
)

// newEvents returns what posts events.
func (a *app) newEvents() *events.Poster {
	return events.New(events.Parts{
		Watch: a.announcer.Watch,
		Lobby: func(send func(*protocol.Message) bool) ([]protocol.Game, func()) {
			return a.games.WatchLobby(live.Send(send))
		},
		Log: a.Log,
	})
}

// configureEvents applies the settings of events. If the tokens cannot be read, nothing is posted.
func (a *app) configureEvents(cfg settings.Config) {
	tokens, err := cfg.Events.Tokens()
	a.eventsErr.Store(&err)
	next := events.Config{Texts: cfg.Events.Text, Room: cfg.RoomName()}
	if err != nil {
		a.Log.Error("events not posted", "err", err)
	} else {
		for _, url := range cfg.Events.URLs {
			next.Targets = append(next.Targets, events.Target{
				URL: url, Name: settings.MaskedURL(url), Token: tokens[url],
			})
		}
	}
	a.events.Configure(next)
}

// eventsState returns the state of the posting of events. It names no server: everybody can read it in /health.
func (a *app) eventsState() health.IntegrationState {
	urls := a.settings.Current().Events.URLs
	if len(urls) == 0 {
		return health.IntegrationState{Summary: "EVENTS_URL is not set"}
	}
	state := health.IntegrationState{On: true, Summary: "posted"}
	wrong := a.events.Health()
	if err := *a.eventsErr.Load(); err != nil {
		wrong = err
	}
	if wrong == nil {
		return state
	}
	whole := state
	whole.Detail, whole.Remedy = wrong.Error(), "correct EVENTS_URL or EVENTS_TOKEN_FILE, or the server there; "+
		"then: systemctl reload pressbox"
	state.Detail, state.Remedy, state.Private = "events are not accepted", "run: sudo pressbox doctor", &whole
	return state
}
