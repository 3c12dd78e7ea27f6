package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"pressbox/game/protocol"
	"pressbox/voice/announce"
)

// kioskQueue is how many changes a display may fall behind.
const kioskQueue = 64

func (s *Server) kioskRoutes() []route {
	routes := []route{{http.MethodGet, "/api/kiosk", members, s.kiosk, operation{
		id: "watchHouse", tag: "games", summary: "What a display on the wall shows, as server-sent events",
		description: "First comes a `game` for each listed one that is not over, and an `announcement` for each that is spoken or waits; " +
			"then what changes: `game` with a Game as the public sees it, `play` with {g, rev, kind, text, now} of what happens in one, " +
			"`gone` with {id} of one that was taken back, `announcement` with an Announcement.",
		answers: []success{{status: http.StatusOK, description: "A stream without an end.", media: []string{"text/event-stream"}}},
	}}}
	return where(routes, func() bool { return s.cfg.Hall != nil })
}

// kiosk streams until the display goes, does not keep up, may no longer
// listen, or the server stops.
func (s *Server) kiosk(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep events back
	if r.Method == http.MethodHead {
		return nil
	}
	news := newNews()
	games, leave := s.cfg.Hall.WatchLobby(news.tell)
	defer leave()
	changes, stop := s.cfg.Announcer.Watch()
	defer stop()
	queue, _ := atOnce(changes, s.cfg.Announcer.Queue)
	out := &kioskStream{eventStream{w: w, out: http.NewResponseController(w)}}
	defer out.patient()
	if err := out.open(games, queue); err != nil {
		return nil // the display has gone; there is no one to tell
	}
	pulse := time.NewTicker(heartbeat)
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
			err = out.event("announcement", newAnnouncement(change.View))
		case <-pulse.C:
			if err = s.admit(r, members); err == nil {
				err = out.write([]byte(": still here\n\n"))
			}
		case <-news.late:
			return nil
		case <-r.Context().Done():
			return nil
		case <-s.closing:
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
type kioskStream struct{ eventStream }

// open sends what there is.
func (k *kioskStream) open(games []protocol.Game, queue []announce.View) error {
	if err := k.write([]byte("retry: 2000\n\n")); err != nil {
		return err
	}
	for _, g := range games {
		if err := k.event("game", g); err != nil {
			return err
		}
	}
	for _, v := range queue {
		if err := k.event("announcement", newAnnouncement(v)); err != nil {
			return err
		}
	}
	return nil
}

// message sends what happened to a game.
func (k *kioskStream) message(m *protocol.Message) error {
	switch d := m.Data.(type) {
	case *protocol.Event:
		return k.event("play", kioskPlay{m.Game, m.Revision, d.Kind, d.Text, d.Scoreboard})
	case *protocol.Game:
		return k.event("game", d)
	default:
		return k.event("gone", struct {
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

// event writes one event.
func (k *kioskStream) event(kind string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	var event bytes.Buffer
	fmt.Fprintf(&event, "event: %s\ndata: %s\n\n", kind, text)
	return k.write(event.Bytes())
}
