package play

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/game/stats"
	"pressbox/voice/announce"
	"pressbox/voice/control"
)

const (
	displayScores  = 8 // games in progress, the last to start, that a display receives when it connects
	displayRecent  = 5 // announcements that have ended, when it connects
	displayClubs   = 8 // first rows of the standings
	displayLeaders = 3 // of a statistic
)

func (h *handlers) kioskRoutes() []web.Route {
	routes := []web.Route{web.NewRoute(http.MethodGet, "/api/kiosk", web.NotifyOrSession, h.kiosk, web.Operation{
		ID:      "watchKiosk",
		Summary: "Stream games and announcements to a wall display as server-sent events",
		Description: "Of listed games: `game` with a Game for each that has not begun, `score` with {id, rev, at, " +
			"innings, away, home, now, batter, pitcher, text} of those in progress (line scores, and the last play " +
			"in words), `final` with the same and a result for the one that ended last, `gone` with {id} when a game " +
			"is cancelled or has ended, `reaction` with {id, name, side} of a manager. `season` with the first rows " +
			"of the standings and the leaders. " +
			"`announcement` with an Announcement, without its sender, for the last ones that ended and those that " +
			"have not; `quiet` and `schedules` with what GET /quiet and GET /schedules return. Each is sent at the " +
			"beginning and when it changes. " +
			"`wifi` with {ssid, code}, if WALL_WIFI_SSID is set, only to clients on the host itself and to " +
			"administrators. `alive` is sent every 15 seconds.",
		Responses: endless(),
	})}
	return web.When(routes, func() bool { return h.Games != nil })
}

// kiosk streams until the display disconnects, falls behind or is no longer authorized, or the server stops.
func (h *handlers) kiosk(w http.ResponseWriter, r *http.Request) error {
	events, ok := web.NewEventStream(w, r)
	if !ok {
		return nil
	}
	pending := newLobbyQueue()
	games, leave := h.Games.WatchLobby(pending.send)
	defer leave()
	changes, stop := h.Announcer.Watch()
	defer stop()
	controls, stopControls := h.Changes.Watch()
	defer stopControls()
	out := &displayStream{EventStream: events, handlers: h}
	defer out.ExtendDeadline()
	list := announcements.Snapshot(changes, h.Announcer.List)
	if out.begin(r, games) != nil || out.sendAnnouncements(list) != nil {
		return nil // the display is gone
	}
	h.Stream(r, out.sendAlive,
		web.From(pending.messages, func(m *protocol.Message) error { return out.sendMessage(r.Context(), m) }),
		web.From(changes, out.sendAnnouncement), web.From(controls, out.sendControl), web.Ends(pending.overflow))
	return nil
}

// A displayStream is an event stream without event ids: a display that reconnects receives everything again.
type displayStream struct {
	*web.EventStream
	*handlers
}

// begin sends what is known of games, quiet, and the Wi-Fi if the client may have it.
func (s *displayStream) begin(r *http.Request, games []protocol.Game) error {
	if err := s.Open(); err != nil {
		return err
	}
	var active []protocol.Game
	for _, g := range games {
		if g.Status == protocol.Active {
			active = append(active, g)
		} else if err := s.Send("", "game", g); err != nil {
			return err
		}
	}
	slices.SortFunc(active,
		func(a, b protocol.Game) int { return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.ID, b.ID)) })
	for _, g := range active[:min(len(active), displayScores)] {
		if err := s.sendScore(r.Context(), "score", g.ID); err != nil {
			return err
		}
	}
	finished, err := s.Games.List(protocol.Person{}, live.Query{Status: protocol.Finished, Limit: 1})
	if err == nil && len(finished.Finished) > 0 {
		if err := s.sendScore(r.Context(), "final", finished.Finished[0].ID); err != nil {
			return err
		}
	}
	if err := s.sendSeason(r.Context()); err != nil {
		return err
	}
	if err := s.sendControl(control.ChangedQuiet); err != nil {
		return err
	}
	if err := s.sendControl(control.ChangedSchedules); err != nil {
		return err
	}
	return s.sendWiFi(r)
}

// sendScore sends the score of a game. One that cannot be read, or is gone, is left out.
func (s *displayStream) sendScore(ctx context.Context, event, id string) error {
	score, err := s.Games.LiveScore(ctx, id)
	if err != nil {
		s.Log().Warn("game not shown on a wall display", "game", id, "err", err)
		return nil
	}
	return s.Send("", event, score)
}

// sendAnnouncements sends the last announcements that ended, oldest first, and those that have not.
func (s *displayStream) sendAnnouncements(l announce.List) error {
	recent := slices.Clone(l.Recent[:min(len(l.Recent), displayRecent)])
	slices.Reverse(recent)
	for _, v := range slices.Concat(recent, l.Queue, l.Scheduled) {
		if err := s.Send("", "announcement", announcements.NewAnnouncement(v, announcements.Wall)); err != nil {
			return err
		}
	}
	return nil
}

// sendAnnouncement sends an announcement that has changed.
func (s *displayStream) sendAnnouncement(change announce.Event) error {
	return s.Send("", "announcement", announcements.NewAnnouncement(*change.View, announcements.Wall))
}

// sendAlive sends a heartbeat as an event, as scripts do not receive comments.
func (s *displayStream) sendAlive() error { return s.Send("", "alive", struct{}{}) }

// sendControl sends quiet and the schedules, the controls that a display shows.
func (s *displayStream) sendControl(c control.Change) error {
	switch c {
	case control.ChangedQuiet, control.ChangedSchedules:
		return s.Send("", string(c), s.Changes.States()[c])
	default:
		return nil
	}
}

// sendMessage sends a change of a game.
func (s *displayStream) sendMessage(ctx context.Context, m *protocol.Message) error {
	switch d := m.Data.(type) {
	case *protocol.Game:
		if d.Status != protocol.Pending {
			return nil // the score is sent
		}
		return s.Send("", "game", d)
	case *protocol.LiveScore:
		if d.Result == nil {
			return s.Send("", "score", d)
		}
		if err := s.Send("", "final", d); err != nil {
			return err
		}
		if err := s.Send("", "gone", gone{m.Game}); err != nil {
			return err
		}
		return s.sendSeason(ctx)
	case *protocol.Reaction:
		return s.Send("", "reaction", struct {
			ID string `json:"id"`
			*protocol.Reaction
		}{m.Game, d})
	case *protocol.Event, *protocol.Turn:
		return nil // a display needs no history; turns are for MQTT
	default:
		return s.Send("", "gone", gone{m.Game})
	}
}

// sendSeason sends the standings and the leaders of the default season, in part.
func (s *displayStream) sendSeason(ctx context.Context) error {
	standings, err := s.Games.Standings(ctx, s.Season)
	if err != nil {
		s.Log().Warn("standings not shown on a wall display", "err", err)
		return nil
	}
	leaders, err := s.Games.Leaders(ctx, s.Season)
	if err != nil {
		s.Log().Warn("leaders not shown on a wall display", "err", err)
		return nil
	}
	categories := slices.Concat(leaders.Batting, leaders.Pitching)
	for i, c := range categories {
		categories[i].Leaders = c.Leaders[:min(len(c.Leaders), displayLeaders)]
	}
	first := append([]stats.Standing{}, standings[:min(len(standings), displayClubs)]...)
	return s.Send("", "season", struct {
		Season    int              `json:"season"`
		Standings []stats.Standing `json:"standings"`
		Leaders   []stats.Category `json:"leaders"`
	}{s.Season, first, append([]stats.Category{}, categories...)})
}
