package play

import (
	"net/http"
	"sync"
	"time"

	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/game/protocol"
	"pressbox/voice/announce"
)

// kioskQueue is how many changes a display may fall behind.
const kioskQueue = 64

func (h *handlers) kioskRoutes() []web.Route {
	routes := []web.Route{web.NewRoute(http.MethodGet, "/api/kiosk", web.NotifyOrSession, h.kiosk, web.Operation{
		ID: "watchHouse", Tag: "games", Summary: "What a display on the wall shows, as server-sent events",
		Description: "First comes a `game` for each listed one that is not over, and an `announcement` for each that is spoken or waits; " +
			"then what changes: `game` with a Game as the public sees it, `play` with {g, rev, kind, text, now} of what happens in one, " +
			"`gone` with {id} of one that was taken back, `announcement` with an Announcement.",
		Responses: []web.Response{{Status: http.StatusOK, Description: "A stream without an end.", Media: []string{"text/event-stream"}}},
	})}
	return web.When(routes, func() bool { return h.Games != nil })
}

// kiosk streams until the display goes, does not keep up, may no longer
// listen, or the server stops.
func (h *handlers) kiosk(w http.ResponseWriter, r *http.Request) error {
	events, ok := web.NewEventStream(w, r)
	if !ok {
		return nil
	}
	news := newNews()
	games, leave := h.Games.WatchLobby(news.tell)
	defer leave()
	changes, stop := h.Announcer.Watch()
	defer stop()
	queue, _ := announcements.Snapshot(changes, h.Announcer.Queue)
	out := &kioskStream{events}
	defer out.ExtendDeadline()
	if err := out.begin(games, queue); err != nil {
		return nil // the display has gone; there is no one to tell
	}
	pulse := time.NewTicker(web.Heartbeat)
	defer pulse.Stop()
	for {
		var err error
		select {
		case m := <-news.waiting:
			err = out.message(m)
		case change, ok := <-changes:
			if !ok {
				return nil
			}
			err = out.Send("", "announcement", announcements.NewAnnouncement(change.View))
		case <-pulse.C:
			if err = h.Authorize(r); err == nil {
				err = out.KeepAlive()
			}
		case <-news.late:
			return nil
		case <-r.Context().Done():
			return nil
		case <-h.Closing():
			return nil
		}
		if err != nil {
			return nil // whoever does not listen, or no longer may, is hung up on
		}
	}
}

// news is what the hall has told a display that was not shown yet.
type news struct {
	waiting chan *protocol.Message
	late    chan struct{} // closed when there was too much
	once    sync.Once
}

func newNews() *news {
	return &news{waiting: make(chan *protocol.Message, kioskQueue), late: make(chan struct{})}
}

func (n *news) tell(m *protocol.Message) bool {
	select {
	case n.waiting <- m:
		return true
	default:
		n.once.Do(func() { close(n.late) })
		return false
	}
}

// A kioskStream is an event stream of several types, whose events have no ids:
// a display that comes back is told all again.
type kioskStream struct{ *web.EventStream }

// begin sends what there is.
func (k *kioskStream) begin(games []protocol.Game, queue []announce.View) error {
	if err := k.Open(); err != nil {
		return err
	}
	for _, g := range games {
		if err := k.Send("", "game", g); err != nil {
			return err
		}
	}
	for _, v := range queue {
		if err := k.Send("", "announcement", announcements.NewAnnouncement(v)); err != nil {
			return err
		}
	}
	return nil
}

// message sends what happened to a game.
func (k *kioskStream) message(m *protocol.Message) error {
	switch d := m.Data.(type) {
	case *protocol.Event:
		return k.Send("", "play", kioskPlay{m.Game, m.Revision, d.Kind, d.Text, d.Scoreboard})
	case *protocol.Game:
		return k.Send("", "game", d)
	default:
		return k.Send("", "gone", struct {
			ID string `json:"id"`
		}{m.Game})
	}
}

// A kioskPlay is what happened in a game.
type kioskPlay struct {
	Game string               `json:"g"`
	Rev  uint64               `json:"rev"`
	Kind protocol.EventKind   `json:"kind"`
	Text []string             `json:"text"`
	Now  *protocol.Scoreboard `json:"now,omitzero"`
}
