package live

import (
	"cmp"
	"context"
	"slices"
	"time"

	"pressbox/game"
	"pressbox/game/match"
	"pressbox/game/protocol"
)

const (
	// goneAfter is the time of absence after which the bot may manage the side.
	goneAfter = 60 * time.Second
	// leftAfter is the time without a decision after which an absent manager has left the game.
	leftAfter = 24 * time.Hour
	// publishWatchersEvery is the shortest time between two messages about the number of watchers.
	publishWatchersEvery = 700 * time.Millisecond
	// publishCallsAfter is the time after which a call is published: who answers at once, as the bot does, needs
	// no message.
	publishCallsAfter = 100 * time.Millisecond
	// evictAfter is the time after which a match without subscribers is evicted.
	evictAfter = time.Minute
	// reactEvery is the shortest time between two reactions of a manager, who has at most maxReactions an hour.
	reactEvery   = time.Second
	maxReactions = 30
	// minAfterPause is the least time for a decision when a match is resumed.
	minAfterPause = 10 * time.Second
)

// A presence holds whether a side's manager is connected.
type presence struct {
	connections int
	left        time.Time // when the last connection ended
	published   bool      // whether it is published that the manager is gone
	retry       time.Time // earliest time of the next attempt to let the bot manage; zero: none was made
}

// A turnClock is the clock of the open decision.
type turnClock struct {
	decision uint64
	ends     time.Time     // zero: stopped
	left     time.Duration // while the match is paused; 0: all
}

// Watch subscribes send to a game until leave is called or send returns false. The first message is one Batch:
// hello, every event or skip after since, and one state. A subscriber that manages a side is present.
func (g *Games) Watch(
	ctx context.Context, viewer protocol.Person, id string, since uint64, send Send,
) (leave func(), err error) {
	m, err := g.open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer m.release()
	s := &subscriber{person: viewer, sides: m.Sides(viewer), send: send}
	if !send(&protocol.Message{Batch: append([]*protocol.Message{m.hello(s)}, m.catchUp(since, s.sides)...)}) {
		return func() {}, nil
	}
	m.add(s)
	m.returnSides(ctx, s)
	return func() {
		m.mu.Lock()
		m.drop(s)
		m.release()
	}, nil
}

// hello returns the first message to a subscriber.
func (m *liveMatch) hello(s *subscriber) *protocol.Message {
	d := &protocol.Hello{Role: "spectator", Sides: s.sides, Epoch: m.Origin.Epoch()}
	switch {
	case len(s.sides) > 0:
		d.Role = "manager"
	case s.person.ID == "":
		d.Role = "visitor"
	}
	return &protocol.Message{Type: "hello", Game: m.id, Revision: m.Revision, Data: d}
}

// catchUp returns the messages after a revision, and the state.
func (m *liveMatch) catchUp(since uint64, sides []game.Side) []*protocol.Message {
	return append(m.Missed(since, sides), m.stateMessage(sides))
}

func (m *liveMatch) stateMessage(sides []game.Side) *protocol.Message {
	return &protocol.Message{Type: "state", Game: m.id, Revision: m.Revision, Data: m.snapshot(sides)}
}

func (m *liveMatch) add(s *subscriber) {
	m.subscribers[s] = struct{}{}
	at := time.Now()
	arrived := false
	for _, side := range s.sides {
		p := &m.presence[side]
		p.connections++
		arrived = arrived || p.connections == 1
		p.published = false
	}
	if arrived {
		m.setClock(at)
		m.publishPresence()
		m.publishClock()
		return
	}
	if m.unpublished.IsZero() {
		m.unpublished = at
	}
}

// drop removes a subscriber. m.mu must be held.
func (m *liveMatch) drop(s *subscriber) {
	if _, ok := m.subscribers[s]; !ok {
		return
	}
	delete(m.subscribers, s)
	at := time.Now()
	m.idle = at
	for _, side := range s.sides {
		if m.presence[side].connections--; m.presence[side].connections == 0 {
			m.presence[side] = presence{left: at}
			m.unpublished = at.Add(-publishWatchersEvery) // due now
			m.setClock(at)
		}
	}
	if m.unpublished.IsZero() {
		m.unpublished = at
	}
}

// returnSides returns the sides of a manager who was gone and is back.
func (m *liveMatch) returnSides(ctx context.Context, s *subscriber) {
	for _, side := range s.sides {
		if m.Status != protocol.Active || !m.ReplacedAbsent(side) {
			continue
		}
		err := m.update(context.WithoutCancel(ctx), protocol.Person{}, "", nil,
			func(tx *match.Tx) error { return tx.Return(side) })
		if err != nil {
			m.games.config.Log.Error("side not returned to its manager", "game", m.id, "side",
				side.String(), "err", err)
		}
	}
}

// Sync returns as one Batch the messages after a revision, and the state.
func (g *Games) Sync(ctx context.Context, viewer protocol.Person, id string, since uint64) (*protocol.Message, error) {
	m, err := g.open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer m.release()
	return &protocol.Message{Batch: m.catchUp(since, m.Sides(viewer))}, nil
}

// React publishes a reaction of a manager, which is not saved.
func (g *Games) React(ctx context.Context, who protocol.Person, id string, name protocol.ReactionName) error {
	m, err := g.open(ctx, id)
	if err != nil {
		return err
	}
	defer m.release()
	sides := m.Sides(who)
	if len(sides) == 0 {
		return protocol.ErrNotManager()
	}
	at := time.Now()
	recent := slices.DeleteFunc(m.reactions[sides[0]], func(t time.Time) bool { return at.Sub(t) >= time.Hour })
	m.reactions[sides[0]] = recent
	if n := len(recent); n >= maxReactions || n > 0 && at.Sub(recent[n-1]) < reactEvery {
		return protocol.Refuse(protocol.RateLimited, "one reaction a second, and %d an hour", maxReactions)
	}
	m.reactions[sides[0]] = append(recent, at)
	msg := &protocol.Message{Type: "reaction", Game: id, Data: &protocol.Reaction{Name: name, Side: sides[0]}}
	m.publish(msg)
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.summaries[id]; s != nil && s.Listed() {
		g.publishToLobby(msg)
	}
	return nil
}

// Events returns every event or skip of a game after a revision.
func (g *Games) Events(
	ctx context.Context, viewer protocol.Person, id string, since uint64,
) ([]*protocol.Message, error) {
	m, err := g.open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer m.release()
	return append([]*protocol.Message{}, m.Missed(since, m.Sides(viewer))...), nil
}

func (m *liveMatch) hasManager(side game.Side) bool { return m.Manager(side).ID != "" }

// isGone reports whether a side's manager has been absent for too long, in a game that needs presence.
func (m *liveMatch) isGone(side game.Side) bool {
	return m.isAbsent(side) && !m.Origin.Options.ByCorrespondence()
}

// isAbsent reports whether a side's manager has not been connected for [goneAfter].
func (m *liveMatch) isAbsent(side game.Side) bool {
	p := &m.presence[side]
	return m.hasManager(side) && p.connections == 0 && time.Since(p.left) >= goneAfter
}

// absences returns whether the managers are absent. Decisions have only a time of day: a manager is not taken for
// one who has left while connected.
func (m *liveMatch) absences() (absent [2]match.Absence) {
	for _, side := range game.Sides() {
		switch due := m.Deadline(side); {
		case !due.IsZero() && !time.Now().Before(due):
			absent[side] = match.Late
		case !m.isGone(side):
		case m.Status == protocol.Active && time.Since(m.Decided(side)) >= leftAfter:
			absent[side] = match.Left
		default:
			absent[side] = match.Gone
		}
	}
	return absent
}

// presenceView returns the presence of both managers as clients see it.
func (m *liveMatch) presenceView() *protocol.Presence {
	v := &protocol.Presence{Watchers: len(m.subscribers)}
	for side, to := range [2]**protocol.ManagerPresence{&v.Away, &v.Home} {
		if side := game.Side(side); m.hasManager(side) {
			*to = m.managerPresence(side)
		}
	}
	return v
}

func (m *liveMatch) managerPresence(side game.Side) *protocol.ManagerPresence {
	p := &m.presence[side]
	v := &protocol.ManagerPresence{Online: p.connections > 0, Decided: m.Sealed()[side]}
	if v.Online {
		return v
	}
	v.Since = stamp(p.left)
	if m.Status != protocol.Active || m.Origin.Options.ByCorrespondence() {
		return v
	}
	if v.Gone = m.isGone(side); !v.Gone {
		v.GoneIn = int((goneAfter - time.Since(p.left) + time.Second - 1) / time.Second)
	}
	return v
}

func (m *liveMatch) publishPresence() {
	m.unpublished, m.calledAt, m.sealed = time.Time{}, time.Time{}, m.Sealed()
	m.publish(&protocol.Message{Type: "presence", Game: m.id, Data: m.presenceView()})
}

// publishState sends the managers what they may do, when that has changed without an event.
func (m *liveMatch) publishState() {
	state := perSides(m.stateMessage)
	for s := range m.subscribers {
		if len(s.sides) > 0 && !s.send(state(s.sides)) {
			m.drop(s)
		}
	}
}

// setClock starts or stops the clock of the open decision. It runs while a manager is connected; when the last one
// disconnects, it is reset. A pause keeps the time that is left.
func (m *liveMatch) setClock(at time.Time) {
	c := &m.clock
	if m.Origin.Options.ByCorrespondence() { // which runs always
		c.ends = time.Time{}
		for _, side := range game.Sides() {
			if due := m.Deadline(side); due.After(at) {
				c.ends = earlier(c.ends, due)
			}
		}
		return
	}
	whole := time.Duration(m.Origin.Options.TurnSeconds) * time.Second
	connected := slices.ContainsFunc(m.presence[:], func(p presence) bool { return p.connections > 0 })
	if c.decision != m.Decision {
		*c = turnClock{decision: m.Decision}
	}
	switch runs := whole > 0 && connected && len(m.Awaited()) > 0; {
	case runs && c.ends.IsZero():
		c.ends = at.Add(cmp.Or(c.left, whole))
		c.left = 0
	case runs, m.Pause != nil && c.ends.IsZero():
	case m.Pause != nil:
		c.left = max(c.ends.Sub(at), min(whole, minAfterPause))
		c.ends = time.Time{}
	default:
		*c = turnClock{decision: m.Decision}
	}
}

// clockFor returns the clock of the manager of sides, else of the first side that has yet to decide; nil if none runs.
func (m *liveMatch) clockFor(sides []game.Side) *protocol.Clock {
	awaited := m.Awaited()
	if len(awaited) == 0 {
		return nil
	}
	side := awaited[0]
	for _, s := range awaited {
		if slices.Contains(sides, s) {
			side = s
		}
	}
	return m.clockOf(side)
}

// clockOf returns the clock of a side that has yet to decide; nil if none runs.
func (m *liveMatch) clockOf(side game.Side) *protocol.Clock {
	ends := m.clock.ends
	if m.Origin.Options.ByCorrespondence() {
		ends = m.Deadline(side)
	}
	if ends.IsZero() {
		return nil
	}
	return &protocol.Clock{Side: side, EndsAt: stamp(ends), LeftMS: max(0, time.Until(ends).Milliseconds())}
}

// publishClock sends the time left, for each side that has yet to decide.
func (m *liveMatch) publishClock() {
	for _, side := range m.Awaited() {
		if c := m.clockOf(side); c != nil {
			m.publish(&protocol.Message{Type: "clock", Game: m.id, Data: c})
		}
	}
}
