package live

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"pressbox/game"
)

// pendingFor is how long a game waits to begin.
const pendingFor = 7 * 24 * time.Hour

// retryIn is how long the hall waits before it tries again what the journal did not keep.
const retryIn = 5 * time.Second

// Run drives what happens by itself (clocks, absence, games nobody began) until ctx ends. It then tells everybody who
// watches a [Bye] with the code "restart" and returns nil, once all that it started has ended.
func (h *Games) Run(ctx context.Context) error {
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		select {
		case <-ctx.Done():
			h.close()
			return nil
		case <-h.changed:
		case <-alarm.C:
		}
		next := h.tick(ctx)
		if next.IsZero() {
			alarm.Stop()
			continue
		}
		alarm.Reset(max(0, time.Until(next)))
	}
}

// expect lets Run look when something is due; zero is never.
func (h *Games) expect(due time.Time) {
	if due.IsZero() {
		return
	}
	h.mu.Lock()
	sooner := h.alarm.IsZero() || due.Before(h.alarm)
	if sooner {
		h.alarm = due
	}
	h.mu.Unlock()
	if sooner {
		select {
		case h.changed <- struct{}{}:
		default:
		}
	}
}

// tick does what is due, each table by itself, and returns when to look again.
func (h *Games) tick(ctx context.Context) time.Time {
	tables, stale, next := h.survey()
	var running sync.WaitGroup
	dues := make([]time.Time, len(tables))
	for i, t := range tables {
		running.Go(func() { dues[i] = t.tick(ctx) })
	}
	running.Wait()
	for _, id := range stale {
		err := h.abandon(ctx, id)
		if refused, ok := errors.AsType[*Error](err); ok && refused.Code == UnknownGame || err == nil || ctx.Err() != nil {
			continue
		}
		h.config.Log.Error("a game that nobody began could not be removed", "game", id, "err", err)
		next = earlier(next, time.Now().Add(retryIn))
	}
	for _, due := range dues {
		next = earlier(next, due)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.alarm = next
	return next
}

// survey returns the tables in memory, the games that have waited too long to begin, and when the next one will have.
func (h *Games) survey() (tables []*table, stale []string, next time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.alarm = time.Time{} // what is expected from now on is news
	for _, t := range h.tables {
		tables = append(tables, t)
	}
	for id, head := range h.heads {
		if head.Game.Status != Pending {
			continue
		}
		if ends := head.made.Add(pendingFor); time.Now().Before(ends) {
			next = earlier(next, ends)
		} else {
			stale = append(stale, id)
		}
	}
	return tables, stale, next
}

// earlier returns the earlier of two times, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// abandon removes a game that nobody began, also one that cannot be read.
func (h *Games) abandon(ctx context.Context, id string) error {
	t, err := h.lock(id)
	if err != nil {
		return err
	}
	defer t.release()
	h.mu.Lock()
	pending := h.heads[id].Game.Status == Pending
	h.mu.Unlock()
	if pending {
		err = t.remove(ctx)
	}
	if t.history == nil && !t.gone {
		t.leave()
	}
	return err
}

// close lets everybody go.
func (h *Games) close() {
	h.mu.Lock()
	h.closed = true
	tables, lobby := h.tables, h.lobby
	h.tables, h.lobby = map[string]*table{}, map[*onlooker]struct{}{}
	h.mu.Unlock()
	bye := Bye{Code: "restart"}
	for _, t := range tables {
		t.mu.Lock()
		t.tellAll(&Message{Type: "bye", Game: t.id, Data: bye})
		clear(t.onlookers)
		t.gone = true
		t.mu.Unlock()
	}
	for o := range lobby {
		o.tell(&Message{Type: "bye", Data: bye})
	}
}

// tick does what is due at a table and returns when something is due next. A panic costs the table, not the appliance:
// nobody stands above this who could say which game it was.
func (t *table) tick(ctx context.Context) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() {
		if reason := recover(); reason != nil {
			t.hall.config.Log.Error("a game went wrong", "game", t.id, "err", fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
			t.collapse()
		}
	}()
	if t.gone || t.history == nil {
		return time.Time{}
	}
	at := time.Now()
	if !t.untold.IsZero() && !at.Before(t.untold.Add(watchersEvery)) {
		t.tellPresence()
	}
	t.noticeAbsence(ctx, at)
	if !t.clock.ends.IsZero() && !at.Before(t.clock.ends) {
		t.timeIsUp(ctx, at)
	}
	if len(t.onlookers) == 0 && !at.Before(t.idle.Add(keptFor)) {
		t.leave()
		return time.Time{}
	}
	return t.due()
}

// due returns when something is due at the table; zero is never. t.mu must be held.
func (t *table) due() time.Time {
	if t.gone || t.history == nil {
		return time.Time{}
	}
	var due time.Time
	if !t.untold.IsZero() {
		due = t.untold.Add(watchersEvery)
	}
	due = earlier(due, t.clock.ends)
	if len(t.onlookers) == 0 {
		return earlier(due, t.idle.Add(keptFor))
	}
	if t.now.status == Active {
		for side := game.Away; side <= game.Home; side++ {
			due = earlier(due, t.absenceDue(side))
		}
	}
	return due
}

// absenceDue returns when something follows from a manager's absence; zero is never.
func (t *table) absenceDue(side game.Side) time.Time {
	s := &t.seats[side]
	gone := s.left.Add(goneAfter)
	switch {
	case !t.now.person(side) || s.watching > 0:
		return time.Time{}
	case !s.told:
		return gone
	case t.replaced(side):
		return later(gone, s.retry)
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

// noticeAbsence tells that a manager has been away for too long, and lets the bot take over or offers that to the other.
func (t *table) noticeAbsence(ctx context.Context, at time.Time) {
	for side := game.Away; side <= game.Home; side++ {
		s := &t.seats[side]
		if t.now.status != Active || !t.isGone(side) {
			continue
		}
		if !s.told {
			s.told = true
			t.tellPresence()
			if !t.replaced(side) {
				t.tellState()
			}
		}
		if t.replaced(side) && !at.Before(s.retry) {
			s.retry = at.Add(retryIn) // if the journal does not keep it
			t.byItself(ctx, "the bot could not take over", func(s *script) error {
				return s.add(move{Kind: BotTookOver, Side: side, Reason: takenGone})
			})
		}
	}
}

// replaced reports whether the bot takes a side over by itself once its manager is gone: where there is a clock and the
// other manager is there to play against it. Elsewhere that is offered to him.
func (t *table) replaced(side game.Side) bool {
	p, other := &t.now, side.Other()
	return p.origin.Options.TurnSeconds > 0 && p.pause == nil && t.seats[other].watching > 0 && !p.bot(side) && !p.bot(other)
}

// timeIsUp decides for those who have not.
func (t *table) timeIsUp(ctx context.Context, at time.Time) {
	sides := t.now.awaited()
	t.clock.ends = at.Add(retryIn) // if the journal does not keep it
	t.byItself(ctx, "the clock could not decide", func(s *script) error {
		for _, side := range sides {
			if err := s.byDefault(side); err != nil {
				return err
			}
		}
		return nil
	})
}

// byItself does what nobody commands.
func (t *table) byItself(ctx context.Context, failed string, do func(*script) error) {
	s := newScript(t.dugout, t.now, Person{}, "")
	err := do(s)
	if err == nil {
		err = s.settle()
	}
	if err == nil {
		err = t.keep(ctx, s, nil)
	}
	if err != nil && ctx.Err() == nil {
		t.hall.config.Log.Error("nothing was changed in a game", "why", failed, "game", t.id, "err", err)
	}
}
