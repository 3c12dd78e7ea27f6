package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"pressbox/game"
)

// A table is a game in memory. It is loaded when somebody touches the game and leaves when nobody needs it.
type table struct {
	hall *Games
	id   string

	mu        sync.Mutex // guards what follows; it is held while the journal keeps a move
	gone      bool       // has left memory: look it up anew
	torn      bool       // it was changed by halves: it cannot be used any more
	now       position
	dugout    *dugout
	history   *history
	onlookers map[*onlooker]struct{}
	seats     [2]attendance
	clock     clock
	decided   [2]bool   // which calls are in, as was told last
	untold    time.Time // since when a change of the number of watchers is not told; zero: it is
	idle      time.Time // since when nobody looked
}

// An onlooker is one connection that watches.
type onlooker struct {
	person Person
	sides  []game.Side // that he manages
	tell   Send
}

// attend gets a game's table, loaded and locked.
func (h *Games) attend(ctx context.Context, id string) (*table, error) {
	t, err := h.lock(id)
	if err != nil || t.history != nil {
		return t, err
	}
	if err := t.load(ctx); err != nil {
		t.leave()
		t.mu.Unlock()
		return nil, err
	}
	return t, nil
}

// lock gets a game's table, locked; it may not be loaded yet.
func (h *Games) lock(id string) (*table, error) {
	for {
		t, err := h.seat(id)
		if err != nil {
			return nil, err
		}
		t.mu.Lock()
		if !t.gone {
			return t, nil
		}
		t.mu.Unlock()
	}
}

// seat returns the table of a game, which may not be loaded yet.
func (h *Games) seat(id string) (*table, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, refuse(Unavailable, "the appliance is restarting")
	case h.heads[id] == nil:
		return nil, refuse(UnknownGame, "there is no such game")
	}
	t := h.tables[id]
	if t == nil {
		h.spareMemory()
		t = &table{hall: h, id: id, onlookers: map[*onlooker]struct{}{}}
		h.tables[id] = t
	}
	return t, nil
}

// mostIdle tables that nobody watches are in memory, at some 400 kB each: whoever leafs through thousands of old games
// does not fill it.
const mostIdle = 64

// spareMemory makes room for a table among those that nobody watches: the longest unused leave memory. h.mu must be held, so
// that a table that somebody uses is passed over instead of waited for.
func (h *Games) spareMemory() {
	if len(h.tables) < mostIdle {
		return
	}
	var idle []*table
	for _, t := range h.tables {
		switch {
		case !t.mu.TryLock():
		case len(t.onlookers) > 0 || t.history == nil:
			t.mu.Unlock()
		default:
			idle = append(idle, t)
		}
	}
	slices.SortFunc(idle, func(a, b *table) int { return b.idle.Compare(a.idle) })
	for i, t := range idle {
		if i >= mostIdle-1 {
			t.gone = true
			delete(h.tables, t.id)
		}
		t.mu.Unlock()
	}
}

// leave takes the table out of memory. t.mu must be held.
func (t *table) leave() {
	t.gone = true
	t.hall.mu.Lock()
	defer t.hall.mu.Unlock()
	delete(t.hall.tables, t.id)
}

// release ends what attend or lock began.
func (t *table) release() {
	if t.torn {
		t.collapse()
	}
	if len(t.onlookers) == 0 {
		t.idle = time.Now()
	}
	due := t.due()
	t.mu.Unlock()
	t.hall.expect(due)
}

// collapse takes out of memory what a panic has left. Who watches comes back, to what is kept.
func (t *table) collapse() {
	t.tellAll(&Message{Type: "bye", Game: t.id, Data: Bye{Code: "restart"}})
	clear(t.onlookers)
	t.leave()
}

// load reads the game's moves and applies them.
func (t *table) load(ctx context.Context) error {
	moves, err := t.hall.config.Journal.Moves(ctx, t.id)
	if err != nil {
		return unavailable(err, "read the game")
	}
	if err := unharmed(func() error { return t.replay(moves) }); err != nil {
		if refused, ok := errors.AsType[*Error](err); ok {
			return refused
		}
		return &Error{Code: UnreadableGame, Detail: "the game cannot be read", cause: fmt.Errorf("game %s: %w", t.id, err)}
	}
	at := time.Now()
	for side := range t.seats {
		t.seats[side].left = at
	}
	return nil
}

// unharmed returns as an error what do panics with: moves that make no sense cost their game, not all of them.
func unharmed(do func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return do()
}

// replay applies moves from the first.
func (t *table) replay(moves [][]byte) error {
	var p position
	for _, data := range moves {
		m, err := readMove(data)
		if err != nil {
			return err
		}
		after, err := p.apply(m)
		if err != nil {
			return err
		}
		if m.Kind == Created {
			if err := t.set(after.origin); err != nil {
				return err
			}
		}
		t.history.enter(&p, &act{m, after})
		p = after
	}
	if p.origin == nil {
		t.history = nil
		return fmt.Errorf("%w: there are none", errMove)
	}
	t.now = p
	return nil
}

// set lays the table for a game.
func (t *table) set(o *origin) (err error) {
	if t.dugout, err = newDugout(o); err != nil {
		return err
	}
	t.history = newHistory(t.id, t.hall.words, o, t.hall.season.oddsOf(o.Options.rules()))
	return nil
}

// keep makes a script happen: kept, then swapped, then acknowledged, then told. Nothing has changed if it fails.
func (t *table) keep(ctx context.Context, s *script, tell Send) error {
	if len(s.acts) == 0 {
		return nil
	}
	next := headOf(t.id, &s.now)
	c, box, err := t.change(next, s)
	if err != nil {
		return err
	}
	crowded, err := t.hall.config.Journal.Append(ctx, c)
	if err != nil {
		return unavailable(err, "keep the game")
	}
	t.torn = true
	t.swap(s)
	if first := s.acts[0].move; tell != nil {
		tell(&Message{Type: "ack", Game: t.id, Revision: first.Rev, CommandID: first.CID, Data: Ack{}})
	}
	t.setClock(time.Now())
	t.tell(s)
	t.hall.note(next, t.history.events[len(t.history.events)-len(s.acts):])
	if box != nil {
		t.hall.season.add(&next.Game, *box)
	}
	t.torn = false
	if crowded {
		t.hall.makeRoom(ctx)
	}
	return nil
}

// change writes a script for the journal, and the box score of a game that ends with it.
func (t *table) change(next *head, s *script) (Change, *game.BoxScore, error) {
	c, err := change(t.id, next, s)
	if err != nil || s.now.status != Finished || t.now.status == Finished {
		return c, nil, err
	}
	box, err := t.boxAfter(s)
	if err != nil {
		return c, nil, err
	}
	if c.Box, err = json.Marshal(box); err != nil {
		return c, nil, fmt.Errorf("write the box score of game %s: %w", t.id, err)
	}
	return c, &box, nil
}

// swap makes a script that is kept the game.
func (t *table) swap(s *script) {
	before := t.now
	for i := range s.acts {
		t.history.enter(&before, &s.acts[i])
		before = s.acts[i].after
	}
	was := t.now.status
	t.now = s.now
	if was == Pending {
		t.seatAnew()
	}
}

// seatAnew finds out who of those who watch manages what, as somebody may have joined. Until the start nobody was away.
func (t *table) seatAnew() {
	t.seats[0], t.seats[1] = attendance{left: time.Now()}, attendance{left: time.Now()}
	for o := range t.onlookers {
		o.sides = t.now.sides(o.person)
		for _, side := range o.sides {
			t.seats[side].watching++
		}
	}
}

// change writes a script for the journal.
func change(id string, h *head, s *script) (Change, error) {
	c := Change{Game: id, First: s.acts[0].Rev}
	var err error
	if c.Summary, err = json.Marshal(h); err != nil {
		return c, fmt.Errorf("write the head of game %s: %w", id, err)
	}
	for _, a := range s.acts {
		data, err := json.Marshal(a.move)
		if err != nil {
			return c, fmt.Errorf("write a move of game %s: %w", id, err)
		}
		c.Moves = append(c.Moves, data)
	}
	return c, nil
}

// boxAfter returns the box score of a game that ends with a script. The scorer's book is no value, so another one is kept
// from the start.
func (t *table) boxAfter(s *script) (game.BoxScore, error) {
	acts := make([]act, 0, len(t.history.moves)+len(s.acts))
	var p position
	for _, m := range t.history.moves {
		after, err := p.apply(m)
		if err != nil {
			return game.BoxScore{}, err
		}
		acts, p = append(acts, act{m, after}), after
	}
	var book *game.Scorebook
	before := position{}
	for _, a := range append(acts, s.acts...) {
		book = score(book, &before, &a)
		before = a.after
	}
	return book.BoxScore(&s.now.state), nil
}

// unavailable wraps an error of what stands behind an interface. That of a context stays as it is.
func unavailable(err error, doing string) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, ErrFull):
		return &Error{Code: StoreFull, Detail: "there is no room for another game", cause: err}
	default:
		return &Error{Code: Unavailable, Detail: "the appliance cannot " + doing, cause: err}
	}
}

// tell tells what a script did to everybody who watches, its last event with what may be done now.
func (t *table) tell(s *script) {
	events := t.history.events[len(t.history.events)-len(s.acts):]
	last := t.audiences(events[len(events)-1])
	for o := range t.onlookers {
		ok := true
		for i := range events[:len(events)-1] {
			ok = ok && o.tell(events[i].to(o.sides))
		}
		if !ok || !o.tell(last(o.sides)) {
			t.dismiss(o)
		}
	}
	t.tellClock()
	switch kind := s.acts[len(s.acts)-1].Kind; {
	case kind == Joined, kind == Started, t.now.decided() != t.decided:
		t.tellPresence()
	}
	t.announce(events)
}

// audiences returns a function from who manages which sides to what he is told of an event as it happens. Whoever sees
// the same gets the same message.
func (t *table) audiences(e told) func([]game.Side) *Message {
	var made [4]*Message // by sides, as a mask
	return func(sides []game.Side) *Message {
		mask := 0
		for _, side := range sides {
			mask |= 1 << side
		}
		if made[mask] == nil {
			made[mask] = t.live(e.to(sides), sides)
		}
		return made[mask]
	}
}

// live adds to an event what is told only as it happens.
func (t *table) live(m *Message, sides []game.Side) *Message {
	event, ok := m.Data.(*Event)
	if !ok || t.now.status == Pending {
		return m
	}
	e := *event
	e.State = t.view()
	if len(sides) > 0 {
		e.Legal, e.Offers = legal(t.dugout, &t.now, sides), t.offers(sides)
	}
	return &Message{Type: m.Type, Game: m.Game, Revision: m.Revision, Data: &e}
}

// announce says aloud what happened, as loudly as the game wishes.
func (t *table) announce(events []told) {
	level := t.now.origin.Options.Announce
	if t.hall.config.Announcer == nil || level == AnnounceOff {
		return
	}
	var lines []string
	for i := range events {
		if events[i].speak != "" && (level == AnnounceAll || events[i].scoring) {
			lines = append(lines, events[i].speak)
		}
	}
	if lines != nil {
		t.hall.config.Announcer.Comment(t.id, strings.Join(lines, " "))
	}
}

// dismiss lets an onlooker go. t.mu must be held.
func (t *table) dismiss(o *onlooker) {
	if _, ok := t.onlookers[o]; !ok {
		return
	}
	delete(t.onlookers, o)
	at := time.Now()
	t.idle = at
	for _, side := range o.sides {
		if t.seats[side].watching--; t.seats[side].watching == 0 {
			t.seats[side] = attendance{left: at}
			t.untold = at.Add(-watchersEvery) // at once
			t.setClock(at)
		}
	}
	if t.untold.IsZero() {
		t.untold = at
	}
}

// offers returns what else who manages these sides may do.
func (t *table) offers(sides []game.Side) []Choice {
	return offers(t.dugout, &t.now, sides, [2]bool{t.isGone(game.Away), t.isGone(game.Home)})
}

// view returns the state as everybody sees it.
func (t *table) view() *View {
	p := &t.now
	v := &View{Status: p.status, Waiting: p.awaited(), Decision: p.decision, Hash: t.history.hash, Paused: p.pause}
	if p.status == Pending {
		return v
	}
	state := p.state
	v.State, v.Batting, v.Pitcher = &state, state.Batting(), state.Pitcher()
	v.Batter = state.Batter()
	v.BotManages = BySide[bool]{Home: p.bot(game.Home), Away: p.bot(game.Away)}
	if p.question != nil {
		v.Question = asked(p)
	}
	return v
}

// standing returns where the game stands for who manages these sides.
func (t *table) standing(sides []game.Side) *Snapshot {
	s := &Snapshot{State: t.view(), Hash: t.history.hash, Legal: []Choice{}, Offers: []Choice{}, Presence: t.presence(), Clock: t.clockFor(sides)}
	if len(sides) > 0 {
		s.Legal, s.Offers = legal(t.dugout, &t.now, sides), t.offers(sides)
	}
	return s
}

// missed returns what was told after a revision to who manages these sides.
func (t *table) missed(since uint64, sides []game.Side) []*Message {
	all := t.history.events
	if since > uint64(len(all)) {
		since = uint64(len(all))
	}
	var messages []*Message
	for i := range all[since:] {
		messages = append(messages, all[since:][i].to(sides))
	}
	return messages
}
