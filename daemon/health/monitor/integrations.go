package monitor

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"pressbox/daemon/health"
	"pressbox/daemon/mqtt"
	"pressbox/daemon/settings"
	"pressbox/daemon/web"
	"pressbox/daemon/web/hooks"
	"pressbox/voice/rooms"
)

// Integrations are the ways in which other programs use the server.
type Integrations struct {
	Started settings.Config
	Current func() settings.Config // as last applied
	MQTT    func() mqtt.Status     // nil: MQTT is off
	Rooms   *rooms.Rooms
	Hooks   func() hooks.Settings
	Wyoming func() health.IntegrationState
	ESPHome func() health.IntegrationState
	Events  func() health.IntegrationState
}

// All returns the integrations in the order of the documents.
func (i Integrations) All() []health.Integration {
	return []health.Integration{
		{Name: "mqtt", Report: i.mqtt},
		{Name: "ntfy", Report: func() health.IntegrationState {
			return i.routes("NTFY", i.Current().Ntfy, "at / and /ntfy")
		}},
		{Name: "gotify", Report: func() health.IntegrationState {
			return i.routes("GOTIFY", i.Current().Gotify, "at /message")
		}},
		{Name: "openai", Report: func() health.IntegrationState {
			return i.routes("OPENAI", i.Current().OpenAI, "at /v1")
		}},
		{Name: "webhooks", Report: i.webhooks},
		{Name: "wyoming", Report: i.Wyoming},
		{Name: "esphome", Report: i.ESPHome},
		{Name: "events", Report: i.Events},
	}
}

// mqtt does not name the broker: everyone can read it in /health.
func (i Integrations) mqtt() health.IntegrationState {
	if i.MQTT == nil {
		return health.IntegrationState{Summary: "MQTT_URL is not set"}
	}
	status := i.MQTT()
	state := health.IntegrationState{On: true, Summary: "connecting"}
	if status.Connected {
		state.Summary = "connected"
	}
	if other := i.Rooms.Namesake(); other != "" {
		state.Detail = fmt.Sprintf("the host %s is also named %q", other, i.Rooms.Own())
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

// routes returns the state of routes that a setting turns on and off.
func (i Integrations) routes(setting string, value bool, summary string) health.IntegrationState {
	switch {
	case i.Started.NotifyAccess == string(web.Off):
		return health.IntegrationState{Summary: "NOTIFY_ACCESS=off"}
	case !value:
		return health.IntegrationState{Summary: setting + "=off"}
	default:
		return health.IntegrationState{On: true, Summary: summary}
	}
}

func (i Integrations) webhooks() health.IntegrationState {
	s := i.Hooks()
	all := s.Templates.Webhooks()
	state := i.routes("HOOKS", s.On, fmt.Sprintf("at /hooks, %d webhooks", len(all)))
	if !state.On {
		return state
	}
	state.Private = &health.IntegrationState{On: true, Summary: strings.Join(all, ", ")}
	if err := s.Templates.Err(); err != nil {
		state.Detail, state.Remedy = "a template is invalid", "run: sudo pressbox doctor"
		state.Private.Detail, state.Private.Remedy = err.Error(), "correct it and run: systemctl reload pressbox"
	}
	return state
}

// A Side is a protocol with a port of its own.
type Side struct {
	Setting   string // by which it is on
	Off       string // the setting by which it is off; "" if it is on
	Address   string // HOST and the port of its setting
	Port      int
	Listeners []net.Listener
	Err       error // why there is none
}

// State returns the state of the protocol.
func (s Side) State() health.IntegrationState {
	if s.Off != "" {
		return health.IntegrationState{Summary: s.Off}
	}
	state := health.IntegrationState{On: true, Summary: "at " + s.Address}
	if s.Listeners != nil {
		var all []string
		for _, l := range s.Listeners {
			all = append(all, l.Addr().String())
		}
		state.Summary = "at " + strings.Join(all, ", ")
	}
	switch {
	case errors.Is(s.Err, syscall.EADDRINUSE):
		state.Detail = fmt.Sprintf("port %d is in use by another program", s.Port)
		state.Remedy = fmt.Sprintf("stop that program, set %s_PORT to another port, or set %s=off; "+
			"then: systemctl restart pressbox", s.Setting, s.Setting)
	case s.Err != nil:
		state.Detail = s.Err.Error()
		state.Remedy = fmt.Sprintf("correct HOST or %s_PORT, or set %s=off; then: systemctl restart pressbox",
			s.Setting, s.Setting)
	}
	return state
}
