package live

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"pressbox/game"
	"pressbox/game/match"
	"pressbox/game/protocol"
)

// pendingFor is the time after which a pending game is deleted.
const pendingFor = 7 * 24 * time.Hour

// retryIn is the time until the next attempt at a change that could not be saved.
const retryIn = 5 * time.Second

// Run acts on clocks, on absence and on pending games that have expired, until ctx ends. It then sends all
// subscribers a [protocol.Bye] with the code "restart" and returns nil, once all that it started has ended.
func (g *Games) Run(ctx context.Context) error {
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		select {
		case <-ctx.Done():
			g.close()
			return nil
		case <-g.changed:
		case <-alarm.C:
		}
		next := g.runDue(ctx)
		if next.IsZero() {
			alarm.Stop()
			continue
		}
		alarm.Reset(max(0, time.Until(next)))
	}
}

// wakeAt wakes Run up at a time; zero is never.
func (g *Games) wakeAt(due time.Time) {
	if due.IsZero() {
		return
	}
	g.mu.Lock()
	sooner := g.alarm.IsZero() || due.Before(g.alarm)
	if sooner {
		g.alarm = due
	}
	g.mu.Unlock()
	if sooner {
		select {
		case g.changed <- struct{}{}:
		default:
		}
	}
}

// runDue does what is due, all matches concurrently, and returns when something is due next.
func (g *Games) runDue(ctx context.Context) time.Time {
	loaded, expired, next := g.survey()
	var running sync.WaitGroup
	dues := make([]time.Time, len(loaded))
	for i, m := range loaded {
		running.Go(func() { dues[i] = m.runDue(ctx) })
	}
	running.Wait()
	for _, id := range expired {
		err := g.deletePending(ctx, id)
		if refused, ok := errors.AsType[*protocol.Error](err); ok && refused.Code == protocol.UnknownGame ||
			err == nil || ctx.Err() != nil {
			continue
		}
		g.config.Log.Error("expired pending game not deleted", "game", id, "err", err)
		next = earlier(next, time.Now().Add(retryIn))
	}
	for _, due := range dues {
		next = earlier(next, due)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.alarm = next
	return next
}

// survey returns the matches in memory, the pending games that have expired, and when the next one expires.
func (g *Games) survey() (loaded []*liveMatch, expired []string, next time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.alarm = time.Time{} // so that wakeAt wakes Run up again
	for _, m := range g.loaded {
		loaded = append(loaded, m)
	}
	for id, s := range g.summaries {
		if s.Status != protocol.Pending {
			continue
		}
		if ends := s.known.Add(pendingFor); time.Now().Before(ends) {
			next = earlier(next, ends)
		} else {
			expired = append(expired, id)
		}
	}
	return loaded, expired, next
}

// earlier returns the earlier of two times, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// deletePending deletes a game if it is pending, even if it cannot be read.
func (g *Games) deletePending(ctx context.Context, id string) error {
	m, err := g.lock(id)
	if err != nil {
		return err
	}
	defer m.release()
	g.mu.Lock()
	pending := g.summaries[id].Status == protocol.Pending
	g.mu.Unlock()
	if pending {
		err = m.delete(ctx, nil)
	}
	if m.Match == nil && !m.evicted {
		m.evict()
	}
	return err
}

// close sends all subscribers away.
func (g *Games) close() {
	g.mu.Lock()
	g.closed = true
	loaded, lobby := g.loaded, g.lobby
	g.loaded, g.lobby, g.rematches = map[string]*liveMatch{}, map[*subscriber]struct{}{}, map[*subscriber]struct{}{}
	g.mu.Unlock()
	bye := protocol.Bye{Code: "restart"}
	for _, m := range loaded {
		m.mu.Lock()
		m.publish(&protocol.Message{Type: "bye", Game: m.id, Data: bye})
		clear(m.subscribers)
		m.evicted = true
		m.mu.Unlock()
	}
	for s := range lobby {
		s.send(&protocol.Message{Type: "bye", Data: bye})
	}
}

// runDue does what is due in the match and returns when something is due next. A panic evicts the match and is
// logged here, where its game is known; the process continues.
func (m *liveMatch) runDue(ctx context.Context) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() {
		if reason := recover(); reason != nil {
			m.games.config.Log.Error("game evicted after a panic", "game", m.id, "err",
				fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
			m.discard()
		}
	}()
	if m.evicted || m.Match == nil {
		return time.Time{}
	}
	at := time.Now()
	if !m.unpublished.IsZero() && !at.Before(m.unpublished.Add(publishWatchersEvery)) {
		m.publishPresence()
	}
	if !m.calledAt.IsZero() && !at.Before(m.calledAt.Add(publishCallsAfter)) {
		m.calledAt = time.Time{}
		if m.Sealed() != m.sealed {
			m.publishPresence()
		}
	}
	m.checkAbsence(ctx, at)
	if !m.clock.ends.IsZero() && !at.Before(m.clock.ends) {
		m.timeOut(ctx, at)
	}
	if len(m.subscribers) == 0 && !at.Before(m.idle.Add(evictAfter)) {
		if m.isUnplayed() {
			if err := m.delete(ctx, nil); err != nil && ctx.Err() == nil {
				m.games.config.Log.Error("old game not deleted", "game", m.id, "err", err)
			}
		}
		m.evict()
		return time.Time{}
	}
	return m.due()
}

// due returns when something is due in the match; zero is never. m.mu must be held.
func (m *liveMatch) due() time.Time {
	if m.evicted || m.Match == nil {
		return time.Time{}
	}
	var due time.Time
	if !m.unpublished.IsZero() {
		due = m.unpublished.Add(publishWatchersEvery)
	}
	if !m.calledAt.IsZero() {
		due = earlier(due, m.calledAt.Add(publishCallsAfter))
	}
	due = earlier(due, m.clock.ends)
	if len(m.subscribers) == 0 {
		return earlier(due, m.idle.Add(evictAfter))
	}
	if m.Status == protocol.Active {
		for _, side := range game.Sides() {
			due = earlier(due, m.absenceDue(side))
		}
	}
	return due
}

// absenceDue returns when a manager's absence has a consequence; zero is never.
func (m *liveMatch) absenceDue(side game.Side) time.Time {
	p := &m.presence[side]
	gone := p.left.Add(goneAfter)
	switch {
	case !m.hasManager(side) || p.connections > 0 || m.Origin.Options.ByCorrespondence():
		return time.Time{}
	case !p.published:
		return gone
	case m.autoReplaced(side):
		return later(gone, p.retry)
	default:
		return time.Time{}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// checkAbsence publishes that a manager has been absent for too long, and lets the bot manage the side, or offers
// that to the other manager.
func (m *liveMatch) checkAbsence(ctx context.Context, at time.Time) {
	for _, side := range game.Sides() {
		p := &m.presence[side]
		if m.Status != protocol.Active || !m.isGone(side) {
			continue
		}
		if !p.published {
			p.published = true
			m.publishPresence()
			if !m.autoReplaced(side) {
				m.publishState()
			}
		}
		if m.autoReplaced(side) && !at.Before(p.retry) {
			p.retry = at.Add(retryIn) // if it cannot be saved
			m.updateUnasked(ctx, "absent manager not replaced",
				func(tx *match.Tx) error { return tx.ReplaceAbsent(side) })
		}
	}
}

// autoReplaced reports whether the bot manages a side without being asked once its manager is gone: in games with
// a clock whose other manager is present. In other games, the other manager is offered that.
func (m *liveMatch) autoReplaced(side game.Side) bool {
	other := side.Other()
	return m.Origin.Options.TurnSeconds > 0 && m.Pause == nil && m.presence[other].connections > 0 &&
		!m.BotDecides(side) && !m.BotDecides(other)
}

// timeOut decides for the sides that have not; in a game by correspondence, it offers the other side to claim the game.
func (m *liveMatch) timeOut(ctx context.Context, at time.Time) {
	if m.Origin.Options.ByCorrespondence() {
		m.setClock(at)
		m.publishState()
		return
	}
	m.clock.ends = at.Add(retryIn) // if it cannot be saved
	m.updateUnasked(ctx, "turn clock not applied", (*match.Tx).TimeOut)
}

// updateUnasked makes an update that no command asks for; failure is logged under the reason failed.
func (m *liveMatch) updateUnasked(ctx context.Context, failed string, do func(*match.Tx) error) {
	err := m.update(ctx, protocol.Person{}, "", nil, do)
	if err != nil && ctx.Err() == nil {
		m.games.config.Log.Error("automatic game update failed", "why", failed, "game", m.id, "err", err)
	}
}
