package live

import (
	"cmp"
	"context"
	"slices"
	"time"

	"pressbox/game"
)

const (
	// goneAfter is how long a manager may be away before the bot may take over.
	goneAfter = 60 * time.Second
	// watchersEvery is how often at most a change of the number of watchers is told.
	watchersEvery = 700 * time.Millisecond
	// keptFor is how long a game that nobody watches stays in memory.
	keptFor = time.Minute
	// leastAfterPause is what is left of a decision's time at least when a game goes on, so that nobody is caught out.
	leastAfterPause = 10 * time.Second
)

// An attendance is whether a side's manager is there.
type attendance struct {
	watching int       // his connections
	left     time.Time // when the last one ended
	told     bool      // that he is gone
	retry    time.Time // not before then the bot tries again to take over; zero: it has not tried
}

// A clock is that of the decision that is open.
type clock struct {
	decision uint64
	ends     time.Time     // zero: it does not run
	left     time.Duration // of it, while the game is paused; 0: all
}

// Watch lets tell be told what happens in a game, until leave is called or tell returns false. The first message is one
// Batch: hello, every event or skip after since, and always one state. Whoever watches as a manager is present.
func (h *Games) Watch(ctx context.Context, viewer Person, id string, since uint64, tell Send) (leave func(), err error) {
	t, err := h.attend(ctx, id)
	if err != nil {
		return nil, err
	}
	defer t.release()
	o := &onlooker{person: viewer, sides: t.now.sides(viewer), tell: tell}
	batch := &Message{Batch: append([]*Message{t.hello(o)}, t.catchUp(since, o.sides)...)}
	if !tell(batch) {
		return func() {}, nil
	}
	t.admit(o)
	t.welcomeBack(ctx, o)
	return func() {
		t.mu.Lock()
		t.dismiss(o)
		t.release()
	}, nil
}

// hello begins an answer.
func (t *table) hello(o *onlooker) *Message {
	d := &Hello{Role: "spectator", Sides: o.sides, Epoch: t.now.origin.commitment()[:8]}
	if len(o.sides) > 0 {
		d.Role = "manager"
	}
	return &Message{Type: "hello", Game: t.id, Revision: t.now.rev, Data: d}
}

// catchUp returns what was missed, and the state.
func (t *table) catchUp(since uint64, sides []game.Side) []*Message {
	return append(t.missed(since, sides), t.stateMessage(sides))
}

func (t *table) stateMessage(sides []game.Side) *Message {
	return &Message{Type: "state", Game: t.id, Revision: t.now.rev, Data: t.standing(sides)}
}

// admit counts an onlooker in.
func (t *table) admit(o *onlooker) {
	t.onlookers[o] = struct{}{}
	at := time.Now()
	arrived := false
	for _, side := range o.sides {
		t.seats[side].watching++
		arrived = arrived || t.seats[side].watching == 1
		t.seats[side].told = false
	}
	if arrived {
		t.setClock(at)
		t.tellPresence()
		t.tellClock() // it may run since he came
		return
	}
	if t.untold.IsZero() {
		t.untold = at
	}
}

// welcomeBack gives a manager's side back that the bot managed because he was gone.
func (t *table) welcomeBack(ctx context.Context, o *onlooker) {
	for _, side := range o.sides {
		if t.now.status != Active || t.now.seats[side].taken != takenGone {
			continue
		}
		s := newScript(t.dugout, t.now, Person{}, "")
		err := s.add(move{Kind: SideReturned, Side: side})
		if err == nil {
			err = s.settle()
		}
		if err == nil {
			err = t.keep(context.WithoutCancel(ctx), s, nil)
		}
		if err != nil {
			t.hall.config.Log.Error("a side could not be given back", "game", t.id, "side", side.String(), "err", err)
		}
	}
}

// Sync returns as one Batch what was missed since a revision, and the state.
func (h *Games) Sync(ctx context.Context, viewer Person, id string, since uint64) (*Message, error) {
	t, err := h.attend(ctx, id)
	if err != nil {
		return nil, err
	}
	defer t.release()
	return &Message{Batch: t.catchUp(since, t.now.sides(viewer))}, nil
}

// Events returns every event or skip of a game after a revision.
func (h *Games) Events(ctx context.Context, viewer Person, id string, since uint64) ([]*Message, error) {
	t, err := h.attend(ctx, id)
	if err != nil {
		return nil, err
	}
	defer t.release()
	return append([]*Message{}, t.missed(since, t.now.sides(viewer))...), nil
}

// isGone reports whether a side's manager has been away for too long.
func (t *table) isGone(side game.Side) bool {
	a := &t.seats[side]
	return t.now.person(side) && a.watching == 0 && time.Since(a.left) >= goneAfter
}

// presence returns who is there.
func (t *table) presence() *Presence {
	p := &Presence{Watchers: len(t.onlookers)}
	for side, to := range [2]**ManagerPresence{&p.Away, &p.Home} {
		if side := game.Side(side); t.now.person(side) {
			*to = t.attendanceOf(side)
		}
	}
	return p
}

func (t *table) attendanceOf(side game.Side) *ManagerPresence {
	s := &t.seats[side]
	a := &ManagerPresence{Online: s.watching > 0, Decided: t.now.sealed[side] != nil}
	if a.Online {
		return a
	}
	a.Since = stamp(s.left)
	if t.now.status != Active {
		return a
	}
	if a.Gone = t.isGone(side); !a.Gone {
		a.GoneIn = int((goneAfter - time.Since(s.left) + time.Second - 1) / time.Second)
	}
	return a
}

// tellPresence tells everybody who is there.
func (t *table) tellPresence() {
	t.untold, t.decided = time.Time{}, t.now.decided()
	t.tellAll(&Message{Type: "presence", Game: t.id, Data: t.presence()})
}

func (t *table) tellAll(m *Message) {
	for o := range t.onlookers {
		if !o.tell(m) {
			t.dismiss(o)
		}
	}
}

// tellState tells the managers what they may do, when that has changed without an event.
func (t *table) tellState() {
	var made [4]*Message
	for o := range t.onlookers {
		mask := 0
		for _, side := range o.sides {
			mask |= 1 << side
		}
		if mask == 0 {
			continue
		}
		if made[mask] == nil {
			made[mask] = t.stateMessage(o.sides)
		}
		if !o.tell(made[mask]) {
			t.dismiss(o)
		}
	}
}

// setClock lets the clock of the decision that is open run, or stops it. It runs while somebody is there who manages a
// side; when the last one goes, nobody is kept waiting, and the next one finds it full. A pause keeps what is left of it.
func (t *table) setClock(at time.Time) {
	p, c := &t.now, &t.clock
	whole := time.Duration(p.origin.Options.TurnSeconds) * time.Second
	there := slices.ContainsFunc(t.seats[:], func(a attendance) bool { return a.watching > 0 })
	if c.decision != p.decision {
		*c = clock{decision: p.decision}
	}
	switch runs := whole > 0 && there && len(p.awaited()) > 0; {
	case runs && c.ends.IsZero():
		c.ends = at.Add(cmp.Or(c.left, whole))
		c.left = 0
	case runs, p.pause != nil && c.ends.IsZero():
	case p.pause != nil:
		c.left = max(c.ends.Sub(at), min(whole, leastAfterPause))
		c.ends = time.Time{}
	default:
		*c = clock{decision: p.decision}
	}
}

// clockFor returns the clock of who manages these sides, else of the first side that is awaited; nil if none runs.
func (t *table) clockFor(sides []game.Side) *Clock {
	awaited := t.now.awaited()
	if t.clock.ends.IsZero() || len(awaited) == 0 {
		return nil
	}
	side := awaited[0]
	for _, s := range awaited {
		if slices.Contains(sides, s) {
			side = s
		}
	}
	return t.clockOf(side)
}

func (t *table) clockOf(side game.Side) *Clock {
	return &Clock{Side: side, EndsAt: stamp(t.clock.ends), LeftMS: max(0, time.Until(t.clock.ends).Milliseconds())}
}

// tellClock tells everybody the time that is left, for each side that is awaited.
func (t *table) tellClock() {
	if t.clock.ends.IsZero() {
		return
	}
	for _, side := range t.now.awaited() {
		t.tellAll(&Message{Type: "clock", Game: t.id, Data: t.clockOf(side)})
	}
}
