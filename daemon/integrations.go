package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"

	"pressbox/daemon/health"
	"pressbox/daemon/settings"
	"pressbox/daemon/web"
	"pressbox/daemon/wyoming"
	"pressbox/voice/library"
)

// integrations returns the ways in which other programs use the server, in the order of the
// documents.
func (a *app) integrations() []health.Integration {
	return []health.Integration{
		{Name: "mqtt", Report: a.mqttState},
		{Name: "ntfy", Report: func() health.IntegrationState {
			return a.routeState("NTFY", a.settings.Current().Ntfy, "at / and /ntfy")
		}},
		{Name: "gotify", Report: func() health.IntegrationState {
			return a.routeState("GOTIFY", a.settings.Current().Gotify, "at /message")
		}},
		{Name: "openai", Report: func() health.IntegrationState {
			return a.routeState("OPENAI",
				a.settings.Current().OpenAI, "at /v1")
		}},
		{Name: "webhooks", Report: a.webhooksState},
		{Name: "wyoming", Report: func() health.IntegrationState { return a.wyomingState }},
	}
}

// mqttState does not name the broker: everyone can read it in /health.
func (a *app) mqttState() health.IntegrationState {
	if a.broker == nil {
		return health.IntegrationState{Summary: "MQTT_URL is not set"}
	}
	status := a.broker.session.Status()
	state := health.IntegrationState{On: true, Summary: "connecting"}
	if status.Connected {
		state.Summary = "connected"
	}
	if other := a.rooms.Namesake(); other != "" {
		state.Detail = fmt.Sprintf("the host %s is also named %q", other, a.rooms.Own())
		state.Remedy = "set another ROOM on one of them, and restart it"
	}
	if status.Err != nil {
		state.Detail = withoutAddress(status.Err)
		state.Remedy = "correct MQTT_URL, MQTT_USERNAME and the password, or start the broker"
	}
	if status.Stopped {
		state.Remedy = "give each server its own store, and restart them"
	}
	return state
}

// withoutAddress describes an error of a connection, which names its peer, without the peer.
// The log has the whole error.
func withoutAddress(err error) string {
	if unknown, ok := errors.AsType[*net.DNSError](err); ok {
		return unknown.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Op + ": " + op.Err.Error()
	}
	return err.Error()
}

// routeState returns the state of routes that a setting turns on and off.
func (a *app) routeState(setting string, value bool, summary string) health.IntegrationState {
	switch {
	case a.Config.NotifyAccess == string(web.Off):
		return health.IntegrationState{Summary: "NOTIFY_ACCESS=off"}
	case !value:
		return health.IntegrationState{Summary: setting + "=off"}
	default:
		return health.IntegrationState{On: true, Summary: summary}
	}
}

func (a *app) webhooksState() health.IntegrationState {
	switch s := a.hooks.Load(); {
	case a.Config.NotifyAccess == string(web.Off):
		return health.IntegrationState{Summary: "NOTIFY_ACCESS=off"}
	case !s.On:
		return health.IntegrationState{Summary: "HOOKS=off"}
	default:
		state := health.IntegrationState{On: true, Summary: strings.Join(s.Templates.Webhooks(), ", ")}
		if err := s.Templates.Err(); err != nil {
			state.Detail, state.Remedy = err.Error(), "correct it and run: systemctl reload pressbox"
		}
		return state
	}
}

// wyomingRunners returns what serves the Wyoming sockets, and sets its state.
func (a *app) wyomingRunners(s sockets) (runners []runner) {
	a.wyomingState = wyomingState(a.Config, s)
	if err := s.wyomingErr; err != nil {
		a.Log.Warn("wyoming unavailable", "address", a.Config.WyomingAddress(), "err", err)
	}
	server := wyoming.New(a.wyomingConfig())
	for _, l := range s.wyoming {
		if !a.wyomingState.On {
			runners = append(runners, func(ctx context.Context) error { return wyoming.Refuse(ctx, l) })
			continue
		}
		a.Log.Info("wyoming listening", "address", l.Addr().String())
		runners = append(runners, func(ctx context.Context) error { return server.Serve(ctx, l) })
	}
	return runners
}

// wyomingState returns the state of the Wyoming protocol with these sockets.
func wyomingState(cfg settings.Config, s sockets) health.IntegrationState {
	if off := cfg.WyomingOff(); off != "" {
		return health.IntegrationState{Summary: off}
	}
	state := health.IntegrationState{On: true, Summary: "at " + addresses(s.wyoming)}
	if s.wyoming == nil {
		state.Summary = "at " + cfg.WyomingAddress()
	}
	switch err := s.wyomingErr; {
	case errors.Is(err, syscall.EADDRINUSE):
		state.Detail = fmt.Sprintf("port %d is in use by another program", cfg.WyomingPort)
		state.Remedy = "stop that program, set WYOMING_PORT to another port, or set WYOMING=off; " +
			"then: systemctl restart pressbox"
	case err != nil:
		state.Detail = err.Error()
		state.Remedy = "correct HOST or WYOMING_PORT, or set WYOMING=off; then: systemctl restart pressbox"
	}
	return state
}

// addresses returns the addresses of listeners.
func addresses(listeners []net.Listener) string {
	var all []string
	for _, l := range listeners {
		all = append(all, l.Addr().String())
	}
	return strings.Join(all, ", ")
}

func (a *app) wyomingConfig() wyoming.Config {
	return wyoming.Config{
		Version: version, Speaker: a.speaker(), Check: a.announcer.CheckSpeech, Voices: a.wyomingVoices,
		Open:  web.Access(a.Config.NotifyAccess) == web.Open,
		Posts: a.web.Posts(), Speeches: a.speeches, Blocks: a.blocks,
		LimitLoopback: a.Config.NotifyRateLoopback, Track: a.web.Track, Log: a.Log,
	}
}

// wyomingVoices returns the voices that can speak, the default one first.
func (a *app) wyomingVoices() []wyoming.Voice {
	var voices []wyoming.Voice
	byDefault, _ := a.voices.Voice("") // without a usable voice there are none
	for _, v := range a.voices.Voices() {
		if v.Error != "" {
			continue
		}
		converted := wyomingVoice(v)
		if v.Name == byDefault {
			voices = slices.Insert(voices, 0, converted)
		} else {
			voices = append(voices, converted)
		}
	}
	return voices
}

func wyomingVoice(v library.Info) wyoming.Voice {
	language := v.Language
	if v.Country != "" {
		language += "_" + v.Country
	}
	return wyoming.Voice{
		Name: v.Name, Label: v.Label, Language: language, License: v.License, Speakers: v.Speakers,
		SampleRate: v.SampleRate,
	}
}
