package main

import (
	"context"
	"net"
	"net/netip"

	"pressbox/audio/decode"
	"pressbox/daemon/esphome"
	"pressbox/daemon/health"
	"pressbox/daemon/health/monitor"
	"pressbox/daemon/limits"
	"pressbox/daemon/mdns"
	"pressbox/daemon/web"
	"pressbox/daemon/wyoming"
)

// sideRunners returns what serves the protocols that have ports of their own, and sets their states.
func (a *app) sideRunners(s sockets) []runner {
	cfg := a.Config
	wyomingRunners, wyomingState := a.sideRunner("wyoming", wyoming.New(a.wyomingConfig()).Serve, monitor.Side{
		Setting: "WYOMING", Off: cfg.WyomingOff(), Address: cfg.WyomingAddress(), Port: cfg.WyomingPort,
		Listeners: s.wyoming.listeners, Err: s.wyoming.err,
	})
	speaker := esphome.New(a.esphomeConfig())
	esphomeRunners, esphomeState := a.sideRunner("esphome", speaker.Serve, monitor.Side{
		Setting: "ESPHOME", Off: cfg.ESPHomeOff(), Address: cfg.ESPHomeAddress(), Port: cfg.ESPHomePort,
		Listeners: s.esphome.listeners, Err: s.esphome.err,
	})
	if _, err := cfg.ESPHomeKey(); err != nil && esphomeState.On && esphomeState.Detail == "" {
		esphomeState.Detail, esphomeState.Remedy = "its key cannot be read", "run: sudo pressbox doctor"
	}
	a.wyomingState, a.esphomeState = wyomingState, esphomeState
	runners := append(wyomingRunners, esphomeRunners...)
	if esphomeState.On {
		for _, port := range announced(s.esphome.listeners) {
			runners = append(runners, func(ctx context.Context) error { return a.announceSpeaker(ctx, speaker, port) })
		}
	}
	return runners
}

// announced returns the first port of listeners that others can reach; none if there is none.
func announced(listeners []net.Listener) []uint16 {
	for _, l := range listeners {
		addr, err := netip.ParseAddrPort(l.Addr().String())
		if err == nil && !addr.Addr().IsLoopback() {
			return []uint16{addr.Port()}
		}
	}
	return nil
}

// announceSpeaker lets Home Assistant find the speaker, until ctx ends. A host may be without Avahi.
func (a *app) announceSpeaker(ctx context.Context, s *esphome.Server, port uint16) error {
	service := mdns.Service{
		Name: esphome.FriendlyName(s.Room), Type: esphome.ServiceType, Port: port, TXT: s.Records(),
	}
	return mdns.Announce(ctx, service, func(err error) {
		if err == nil {
			a.Log.Info("speaker announced on the network", "name", service.Name, "port", port)
		} else {
			a.Log.Debug("speaker not announced on the network", "err", err)
		}
	})
}

// sideRunner returns what serves a protocol, and its state.
func (a *app) sideRunner(
	name string, serve func(context.Context, net.Listener) error, s monitor.Side,
) (runners []runner, state health.IntegrationState) {
	state = s.State()
	if s.Err != nil {
		a.Log.Warn("protocol unavailable", "protocol", name, "address", s.Address, "err", s.Err)
	}
	for _, l := range s.Listeners {
		if !state.On {
			runners = append(runners, func(ctx context.Context) error { return limits.Refuse(ctx, l) })
			continue
		}
		a.Log.Info("protocol listening", "protocol", name, "address", l.Addr().String())
		runners = append(runners, func(ctx context.Context) error { return serve(ctx, l) })
	}
	return runners, state
}

func (a *app) esphomeConfig() esphome.Config {
	cfg, id := a.Config, ""
	if a.record != nil {
		id = a.record.ID()
	}
	return esphome.Config{
		ID: id, Room: cfg.RoomName(), Area: cfg.Room, Version: version, Key: cfg.ESPHomeKey,
		Open: web.Access(cfg.NotifyAccess) == web.Open,
		MayControl: func() bool {
			key, err := cfg.ESPHomeKey()
			return err == nil && key != nil || web.Control(cfg.ControlAccess) == web.ControlLAN
		},
		Posts:       a.web.Posts(),
		AllowVolume: func(client netip.Addr) bool { return a.web.ReserveWrite("/volume", client) == 0 },
		AllowStop:   func(client netip.Addr) bool { return a.web.ReserveWrite("DELETE /notify", client) == 0 },
		Blocks:      a.blocks, LimitLoopback: cfg.NotifyRateLoopback, Track: a.web.TrackClient,
		Announcer: a.announcer, Controls: a.controls, Changes: a.controls.Hub().Watch,
		Recordings: a.sounds, SampleRate: decode.Rate, Refused: a.tellRefused, Log: a.Log,
	}
}

// tellRefused tells who listens on the broker why something is not announced.
func (a *app) tellRefused(why string) {
	if a.broker != nil {
		a.broker.device.TellRefused(why)
	}
}
