package play

import (
	"net/http"
	"sync"
	"time"

	"pressbox/daemon/web"
	"pressbox/game/protocol"
)

// lobbyInterval is the shortest time between two batches of changes to a lobby: a game that is played quickly
// costs a spectator of the lists at most 2 kB a minute.
const lobbyInterval = 5 * time.Second

func (h *handlers) lobbyStream() web.Route {
	return web.NewRoute(http.MethodGet, "/api/lobby", web.SessionOrVisitor, h.watchLobby, web.Operation{
		ID: "watchLobby", Summary: "Stream changes of the lists of games as server-sent events",
		Description: "Of listed games, from now on, to a client that gets the lists once the stream has begun: " +
			"`game` with a Game as the public sees it, when a game is new or its status, managers or line-ups have " +
			"changed; `score` with {id, score, inning, half} when only these have; `gone` with {id} of a cancelled " +
			"game. What happens within five seconds is sent at once, and of each game only its last state.",
		Responses: endless(),
	})
}

// watchLobby streams until the client disconnects, falls behind or is no longer authorized, or the server
// stops.
func (h *handlers) watchLobby(w http.ResponseWriter, r *http.Request) error {
	events, ok := web.NewEventStream(w, r)
	if !ok {
		return nil
	}
	pending := newLobbyQueue()
	games, leave := h.Games.WatchLobby(pending.send)
	defer leave()
	out := newLobbyStream(events, games)
	defer out.timer.Stop()
	defer out.ExtendDeadline()
	if out.Open() != nil {
		return nil // the client is gone
	}
	h.Stream(r, out.Heartbeat, web.From(pending.messages, out.receive), web.From(out.timer.C, out.flush),
		web.Ends(pending.overflow))
	return nil
}

func (h *handlers) rematchStream() web.Route {
	return web.NewRoute(http.MethodGet, "/api/rematches", web.SessionRequired, h.watchRematches, web.Operation{
		ID: "watchRematches", Summary: "Stream offers of a rematch to the account as server-sent events",
		Description: "`rematch` with a Game that is offered to the caller: at the beginning each one, later new " +
			"ones; accept it with POST /api/games/{id}/join. `gone` with {id} when an offer has ended; `declined` " +
			"with {id, who} when the caller's own was declined.",
		Responses: endless(),
	})
}

// watchRematches streams as long as watchLobby.
func (h *handlers) watchRematches(w http.ResponseWriter, r *http.Request) error {
	events, ok := web.NewEventStream(w, r)
	if !ok {
		return nil
	}
	pending := newLobbyQueue()
	offers, leave := h.Games.WatchRematches(personOf(r), pending.send)
	defer leave()
	defer events.ExtendDeadline()
	err := events.Open()
	for i := 0; i < len(offers) && err == nil; i++ {
		err = events.Send("", "rematch", offers[i])
	}
	if err == nil { // otherwise the client is gone
		h.Stream(r, events.Heartbeat,
			web.From(pending.messages, func(m *protocol.Message) error { return sendRematch(events, m) }),
			web.Ends(pending.overflow))
	}
	return nil
}

// sendRematch sends a message of [live.Games.WatchRematches].
func sendRematch(events *web.EventStream, m *protocol.Message) error {
	end := struct {
		ID  string `json:"id"`
		Who string `json:"who,omitzero"`
	}{ID: m.Game}
	switch d := m.Data.(type) {
	case *protocol.Game:
		return events.Send("", m.Type, d)
	case *protocol.Declined:
		end.Who = d.Manager
	}
	return events.Send("", m.Type, end)
}

// A lobbyStream sends changes of lists in batches.
type lobbyStream struct {
	*web.EventStream
	sent    map[string]gameSeen       // what the client knows of each game that is not over
	changed map[string]*protocol.Game // that were not sent yet
	timer   *time.Timer               // until the next batch
	next    time.Time                 // earliest time of the next batch
}

// newLobbyStream returns the stream to a client that has the listed games from their lists.
func newLobbyStream(events *web.EventStream, games []protocol.Game) *lobbyStream {
	s := &lobbyStream{
		EventStream: events, sent: map[string]gameSeen{}, changed: map[string]*protocol.Game{}, timer: time.NewTimer(0),
	}
	for i := range games {
		s.sent[games[i].ID] = seen(&games[i])
	}
	return s
}

// A gameSeen is what lists show of a game, without what does not change.
type gameSeen struct {
	status     protocol.Status
	managers   [2]string
	lineups    [2]bool
	scoreboard gameScore
}

// A gameScore is the data of the event "score".
type gameScore struct {
	ID     string         `json:"id"`
	Score  protocol.Score `json:"score"`
	Inning int            `json:"inning"`
	Half   string         `json:"half"`
}

func seen(g *protocol.Game) gameSeen {
	s := gameSeen{status: g.Status, scoreboard: gameScore{ID: g.ID, Inning: g.Inning, Half: g.Half}}
	if g.Score != nil {
		s.scoreboard.Score = *g.Score
	}
	for i, seat := range []*protocol.Seat{&g.Away, &g.Home} {
		s.lineups[i] = seat.LineupSubmitted
		if seat.Manager != nil {
			s.managers[i] = seat.Manager.ID + seat.Manager.Name
		}
	}
	return s
}

// receive handles a message to the lobby.
func (s *lobbyStream) receive(m *protocol.Message) error {
	switch d := m.Data.(type) {
	case *protocol.Game:
		if len(s.changed) == 0 {
			s.timer.Reset(max(0, time.Until(s.next)))
		}
		s.changed[d.ID] = d
		return nil
	case *protocol.Event, *protocol.LiveScore, *protocol.Turn, *protocol.Reaction:
		return nil
	default:
		delete(s.changed, m.Game)
		delete(s.sent, m.Game)
		return s.Send("", "gone", gone{m.Game})
	}
}

// gone is the data of the event "gone".
type gone struct {
	ID string `json:"id"`
}

// flush sends the changes.
func (s *lobbyStream) flush(time.Time) error {
	for id, g := range s.changed {
		now, before := seen(g), s.sent[id]
		if s.sent[id] = now; g.Status == protocol.Finished {
			delete(s.sent, id)
		}
		var err error
		switch score := now.scoreboard; {
		case now == before:
		case now.status == before.status && now.managers == before.managers && now.lineups == before.lineups:
			err = s.Send("", "score", score)
		default:
			err = s.Send("", "game", g)
		}
		if err != nil {
			return err
		}
	}
	if len(s.changed) > 0 {
		s.next = time.Now().Add(lobbyInterval)
	}
	clear(s.changed)
	return nil
}

// displayQueue is the number of changes of games that a client of a stream may fall behind.
const displayQueue = 64

// A lobbyQueue holds changes of games that were not sent to a client yet.
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
