package play

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/game/protocol"
	"pressbox/voice/announce"
)

// displayQueue is the number of changes of games that a display may fall behind.
const displayQueue = 64

func (h *handlers) kioskRoutes() []web.Route {
	routes := []web.Route{web.NewRoute(http.MethodGet, "/api/kiosk", web.NotifyOrSession, h.kiosk, web.Operation{
		ID: "watchKiosk", Tag: "games", Summary: "Stream games and announcements to a wall display as server-sent events",
		Description: "First a `game` for each listed game that is not finished, and an `announcement` for each current, queued or scheduled one. " +
			"Then changes: `game` with a Game as the public sees it, `play` with {g, rev, kind, text, now} for each event of a game, " +
			"`gone` with {id} of a cancelled game, `announcement` with an Announcement, without its sender.",
		Responses: []web.Response{{Status: http.StatusOK, Description: "An endless stream.", Media: []string{"text/event-stream"}}},
	})}
	return web.When(routes, func() bool { return h.Games != nil })
}

// kiosk streams until the display disconnects, falls behind or is no longer
// authorized, or the server stops.
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
	list := announcements.Snapshot(changes, h.Announcer.List)
	out := &displayStream{events}
	defer out.ExtendDeadline()
	if err := out.sendSnapshot(games, slices.Concat(list.Queue, list.Scheduled)); err != nil {
		return nil // the display is gone
	}
	heartbeat := time.NewTicker(web.Heartbeat)
	defer heartbeat.Stop()
	for {
		var err error
		select {
		case m := <-pending.messages:
			err = out.sendMessage(m)
		case change, ok := <-changes:
			if !ok {
				return nil
			}
			err = out.Send("", "announcement", announcements.NewAnnouncement(*change.View, announcements.Wall))
		case <-heartbeat.C:
			if err = h.Authorize(r); err == nil {
				err = out.Heartbeat()
			}
		case <-pending.overflow:
			return nil
		case <-r.Context().Done():
			return nil
		case <-h.Closing():
			return nil
		}
		if err != nil {
			return nil // the display is gone or no longer authorized
		}
	}
}

// A lobbyQueue holds changes of games that were not sent to a display yet.
type lobbyQueue struct {
	messages chan *protocol.Message
	overflow chan struct{} // closed when a change did not fit
	once     sync.Once
}

func newLobbyQueue() *lobbyQueue {
	return &lobbyQueue{messages: make(chan *protocol.Message, displayQueue), overflow: make(chan struct{})}
}

func (q *lobbyQueue) send(m *protocol.Message) bool {
	select {
	case q.messages <- m:
		return true
	default:
		q.once.Do(func() { close(q.overflow) })
		return false
	}
}

// A displayStream is an event stream without event ids: a display that
// reconnects receives a new snapshot.
type displayStream struct{ *web.EventStream }

// sendSnapshot sends the current games and announcements.
func (s *displayStream) sendSnapshot(games []protocol.Game, waiting []announce.View) error {
	if err := s.Open(); err != nil {
		return err
	}
	for _, g := range games {
		if err := s.Send("", "game", g); err != nil {
			return err
		}
	}
	for _, v := range waiting {
		if err := s.Send("", "announcement", announcements.NewAnnouncement(v, announcements.Wall)); err != nil {
			return err
		}
	}
	return nil
}

// sendMessage sends a change of a game.
func (s *displayStream) sendMessage(m *protocol.Message) error {
	switch d := m.Data.(type) {
	case *protocol.Event:
		return s.Send("", "play", displayEvent{m.Game, m.Revision, d.Kind, d.Text, d.Scoreboard})
	case *protocol.Game:
		return s.Send("", "game", d)
	case *protocol.Turn:
		return nil // for MQTT
	default:
		return s.Send("", "gone", struct {
			ID string `json:"id"`
		}{m.Game})
	}
}

// A displayEvent is an event of a game as displays receive it.
type displayEvent struct {
	Game string               `json:"g"`
	Rev  uint64               `json:"rev"`
	Kind protocol.EventKind   `json:"kind"`
	Text []string             `json:"text"`
	Now  *protocol.Scoreboard `json:"now,omitzero"`
}
