package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"pressbox/game"
	"pressbox/game/match"
	"pressbox/game/protocol"
)

// A liveMatch is a match in memory. It is loaded when a client uses the game and evicted when it is idle.
type liveMatch struct {
	games *Games
	id    string

	mu           sync.Mutex // guards what follows; held while the journal saves moves
	evicted      bool       // no longer in memory: look it up again
	inconsistent bool       // a change was interrupted by a panic: must be evicted
	*match.Match            // nil: not loaded yet
	subscribers  map[*subscriber]struct{}
	presence     [2]presence
	reactions    [2][]time.Time // those of the last hour, the last one at the end
	clock        turnClock
	sealed       [2]bool   // as last published
	unpublished  time.Time // since when a change of the number of watchers is unpublished; zero: it is published
	calledAt     time.Time // since when a call is unpublished; zero: all are published
	idle         time.Time // since when it has no subscribers
}

// A subscriber is one connection that watches.
type subscriber struct {
	person protocol.Person
	sides  []game.Side // that person manages
	send   Send
}

// Send queues a message for a subscriber. It must not block and must not call [Games]. It returns false if the queue is
// full, and is never called again. It is called while a match's lock is held.
type Send func(*protocol.Message) bool

// open returns the match of a game, loaded and locked.
func (g *Games) open(ctx context.Context, id string) (*liveMatch, error) {
	m, err := g.lock(id)
	if err != nil || m.Match != nil {
		return m, err
	}
	if err := m.load(ctx); err != nil {
		m.evict()
		m.mu.Unlock()
		return nil, err
	}
	return m, nil
}

// lock returns the match of a game, locked; it may not be loaded yet.
func (g *Games) lock(id string) (*liveMatch, error) {
	for {
		m, err := g.match(id)
		if err != nil {
			return nil, err
		}
		m.mu.Lock()
		if !m.evicted {
			return m, nil
		}
		m.mu.Unlock()
	}
}

// match returns the match of a game; it may not be loaded yet.
func (g *Games) match(id string) (*liveMatch, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return nil, protocol.Refuse(protocol.Unavailable, "the server is restarting")
	case g.summaries[id] == nil:
		return nil, protocol.Refuse(protocol.UnknownGame, "there is no such game")
	}
	m := g.loaded[id]
	if m == nil {
		g.evictIdle()
		m = &liveMatch{games: g, id: id, subscribers: map[*subscriber]struct{}{}}
		g.loaded[id] = m
	}
	return m, nil
}

// maxIdle is the most matches in memory that have no subscribers, at about 400 kB each.
const maxIdle = 64

// evictIdle makes room for a match: of those without subscribers, the longest unused are evicted. g.mu must be
// held, so a match that is locked is skipped.
func (g *Games) evictIdle() {
	if len(g.loaded) < maxIdle {
		return
	}
	var idle []*liveMatch
	for _, m := range g.loaded {
		switch {
		case !m.mu.TryLock():
		case len(m.subscribers) > 0 || m.Match == nil:
			m.mu.Unlock()
		default:
			idle = append(idle, m)
		}
	}
	slices.SortFunc(idle, func(a, b *liveMatch) int { return b.idle.Compare(a.idle) })
	for i, m := range idle {
		if i >= maxIdle-1 {
			m.evicted = true
			delete(g.loaded, m.id)
		}
		m.mu.Unlock()
	}
}

// evict removes the match from memory. m.mu must be held.
func (m *liveMatch) evict() {
	m.evicted = true
	m.games.mu.Lock()
	defer m.games.mu.Unlock()
	delete(m.games.loaded, m.id)
}

// release unlocks a match that open or lock returned.
func (m *liveMatch) release() {
	if m.inconsistent {
		m.discard()
	}
	if len(m.subscribers) == 0 {
		m.idle = time.Now()
	}
	due := m.due()
	m.mu.Unlock()
	m.games.wakeAt(due)
}

// discard evicts a match after a panic. Its subscribers reconnect to what is saved.
func (m *liveMatch) discard() {
	m.publish(&protocol.Message{Type: "bye", Game: m.id, Data: protocol.Bye{Code: "restart"}})
	clear(m.subscribers)
	m.evict()
}

// load reads the game's moves and applies them.
func (m *liveMatch) load(ctx context.Context) error {
	moves, err := m.games.config.Journal.Moves(ctx, m.id)
	if err != nil {
		return unavailable(err, "read the game")
	}
	err = recovered(func() (err error) {
		m.Match, err = match.Load(m.id, moves, m.games.words)
		return err
	})
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return refused
	} else if err != nil {
		return protocol.Wrap(fmt.Errorf("game %s: %w", m.id, err), protocol.UnreadableGame, "the game cannot be read")
	}
	at := time.Now()
	m.presence = [2]presence{{left: at}, {left: at}}
	m.setClock(at)
	return nil
}

// recovered calls do and returns its panic as an error, so that a damaged game does not end the process.
func recovered(do func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return do()
}

// commit saves a transaction, makes it part of the match, acknowledges it and publishes it, in this order. If it cannot
// be saved, nothing has changed.
func (m *liveMatch) commit(ctx context.Context, tx *match.Tx, ack Send) error {
	if tx.Len() == 0 {
		return nil
	}
	summary := tx.Summary()
	c, box, err := change(tx, summary)
	if err != nil {
		return err
	}
	var preparing sync.WaitGroup // while the disk is written to
	preparing.Go(func() { m.prepare(tx) })
	saved, err := m.games.save(ctx, c, m.Creator)
	preparing.Wait()
	if err != nil {
		return err
	}
	if tx.Replaces() { // nothing that others see
		m.Commit(tx)
		m.games.updateSummary(summary, saved)
		return nil
	}
	m.inconsistent = true
	pending, decision, awaited := m.Status == protocol.Pending, m.Decision, m.Awaited()
	m.Commit(tx)
	if pending {
		m.resetPresence()
	}
	if revision, id := tx.First(); ack != nil {
		ack(&protocol.Message{Type: "ack", Game: m.id, Revision: revision, CommandID: id, Data: protocol.Ack{}})
	}
	m.setClock(time.Now())
	m.games.updateSummary(summary, saved) // before it is published: who hears of the end may ask for the standings
	if box != nil {
		m.games.finish(summary, box)
	}
	m.publishMoves(tx, awaited)
	m.games.publishSummary(summary, m.Last(tx.Len()), m.LiveScore)
	if m.Decision != decision && summary.Listed() {
		m.games.publishTurns(summary, m.Awaited())
	}
	m.inconsistent = false
	if saved.Crowded {
		m.games.makeRoom(ctx, m.Creator)
	}
	return nil
}

// prepare makes what the managers who are connected may do after a transaction. A panic returns when it is published.
func (m *liveMatch) prepare(tx *match.Tx) {
	_ = recovered(func() error {
		for s := range m.subscribers {
			if len(s.sides) > 0 {
				tx.Prepare(s.sides)
			}
		}
		return nil
	})
}

// change encodes a transaction for the journal. box is the box score of a match that ends with it, else nil.
func change(tx *match.Tx, s *match.Summary) (c Change, box *game.BoxScore, err error) {
	c = Change{Game: s.ID, Replace: tx.Replaces()}
	c.First, _ = tx.First()
	if c.Summary, err = s.Encode(); err != nil {
		return c, nil, err
	}
	if c.Moves, err = tx.Moves(); err != nil {
		return c, nil, fmt.Errorf("game %s: %w", s.ID, err)
	}
	final, ok, err := tx.BoxScore()
	if err != nil || !ok {
		return c, nil, err
	}
	if c.Box, err = json.Marshal(final); err != nil {
		return c, nil, fmt.Errorf("encode the box score of game %s: %w", s.ID, err)
	}
	return c, &final, nil
}

// resetPresence determines again which subscriber manages which side. Before the start no manager counts as absent.
func (m *liveMatch) resetPresence() {
	at := time.Now()
	m.presence = [2]presence{{left: at}, {left: at}}
	for s := range m.subscribers {
		s.sides = m.Sides(s.person)
		for _, side := range s.sides {
			m.presence[side].connections++
		}
	}
}

// unavailable wraps an error of the journal or the rosters.
func unavailable(err error, doing string) error { return protocol.ErrUnavailable(err, ErrFull, doing) }

// publishMoves sends a committed transaction to all subscribers, the last event with what each may do now. before
// holds the sides whose manager had yet to decide.
func (m *liveMatch) publishMoves(tx *match.Tx, before []game.Side) {
	events := m.Last(tx.Len())
	last := perSides(func(sides []game.Side) *protocol.Message {
		return m.Current(events[len(events)-1].For(sides), sides, m.absences())
	})
	for s := range m.subscribers {
		ok := true
		for i := range events[:len(events)-1] {
			ok = ok && s.send(events[i].For(s.sides))
		}
		if !ok || !s.send(last(s.sides)) {
			m.drop(s)
		}
	}
	m.publishClock()
	switch kind := tx.LastKind(); {
	case kind == protocol.Joined, kind == protocol.Started:
		m.publishPresence()
	case m.Sealed() != m.sealed && m.calledAt.IsZero():
		m.calledAt = time.Now()
	}
	if text := m.Commentary(tx.Len(), before); text != "" && m.games.config.Announcer != nil {
		m.games.config.Announcer.Comment(m.id, text)
	}
}

// perSides returns render with its results cached: subscribers that manage the same sides share one message.
func perSides(render func([]game.Side) *protocol.Message) func([]game.Side) *protocol.Message {
	var rendered [4]*protocol.Message // by sides, as a mask
	return func(sides []game.Side) *protocol.Message {
		mask := 0
		for _, side := range sides {
			mask |= 1 << side
		}
		if rendered[mask] == nil {
			rendered[mask] = render(sides)
		}
		return rendered[mask]
	}
}

// publish sends a message to all subscribers.
func (m *liveMatch) publish(msg *protocol.Message) {
	for s := range m.subscribers {
		if !s.send(msg) {
			m.drop(s)
		}
	}
}

// snapshot returns the present state as the manager of sides sees it.
func (m *liveMatch) snapshot(sides []game.Side) *protocol.Snapshot {
	s := &protocol.Snapshot{
		State: m.View(), Hash: m.Hash(), Legal: []protocol.Choice{}, Offers: []protocol.Choice{},
		Presence: m.presenceView(), Clock: m.clockFor(sides),
	}
	if len(sides) > 0 {
		s.Legal, s.Offers = m.Legal(sides), m.Offers(sides, m.absences())
	}
	return s
}
