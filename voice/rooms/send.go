package rooms

import (
	"context"
	"maps"
	"slices"
	"time"

	"pressbox/voice/announce"
)

const (
	retryAfter = 15 * time.Second // after which a connected room that has not reported is asked again
	patience   = 15 * time.Minute // after its expiry, for a report on an announcement that a room has saved
	sendAgain  = 5 * time.Second  // after which a message is sent again that the broker has not acknowledged
	sendLimit  = 10 * time.Second // for the broker to acknowledge a message
)

// A delivery is an announcement that is owed to other rooms.
type delivery struct {
	announce.Announcement
	order string // what they are to do with it
	rooms map[string]*attempt
}

// An attempt is what is next for a room.
type attempt struct {
	next     time.Time // when the order is published again; zero means when the room connects
	followed bool      // the room has reported that it has followed the order
}

// Run sends announcements to other rooms, and reports to other rooms on theirs, until ctx ends.
func (r *Rooms) Run(ctx context.Context) error {
	if r.bus == nil {
		<-ctx.Done()
		return nil
	}
	for {
		r.follow(ctx)
		select { // too many events came at once, or the announcer has stopped
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil
		}
	}
}

// follow sends what changes, until ctx ends or changes are missed.
func (r *Rooms) follow(ctx context.Context) {
	events, stop := r.announcer.Watch()
	defer stop()
	list := r.announcer.List()
	for _, views := range [][]announce.View{list.Queue, list.Scheduled, list.Recent} {
		for _, v := range views {
			r.consider(v.Announcement)
		}
	}
	for {
		var timer <-chan time.Time
		if next := r.publishDue(ctx); !next.IsZero() {
			timer = time.After(time.Until(next))
		}
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			r.consider(e.View.Announcement)
			if from := e.View.Rooms.From; from != "" && e.View.Status.Ended() {
				r.report(from, report{ID: e.View.ID, Status: string(e.View.Status), Acknowledged: e.View.Acknowledged})
			}
		case <-r.changed:
		case <-timer:
		case <-ctx.Done():
			return
		}
	}
}

// consider records what is owed of an announcement.
func (r *Rooms) consider(ann announce.Announcement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, known := r.open[ann.ID]
	if !ann.Rooms.Open() {
		delete(r.open, ann.ID)
		return
	}
	if !known {
		d = &delivery{rooms: map[string]*attempt{}}
		r.open[ann.ID] = d
	}
	d.Announcement = ann
	order := orderOf(ann)
	for room, state := range ann.Rooms.States() {
		switch {
		case state.Ended():
			delete(d.rooms, room)
		case order != d.order:
			d.rooms[room] = &attempt{next: time.Now()}
		}
	}
	d.order = order
}

// askAgain makes the orders to the rooms that are selected due. r.mu must be held.
func (r *Rooms) askAgain(selected func(room string) bool) {
	for _, d := range r.open {
		for room, try := range d.rooms {
			if selected(room) {
				*try = attempt{next: time.Now()}
			}
		}
	}
}

// confirm records that a room has reported, and returns false if it is owed nothing.
func (r *Rooms) confirm(p report) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, ok := r.open[p.ID]
	if !ok {
		return false
	}
	try, ok := d.rooms[p.Room]
	if !ok {
		return false
	}
	try.followed = p.state().Ended() || d.order == doSay && p.state() == announce.RoomSent ||
		d.order == doAck && p.Acknowledged
	return true
}

// deadline returns when a room is no longer waited for.
func (d *delivery) deadline(state announce.RoomState) time.Time {
	if state == announce.RoomWaiting {
		return d.Expires
	}
	repeating := time.Duration(d.Repeat.Times) * (d.Repeat.Every + announce.MaxSpeech)
	return d.Expires.Add(patience + repeating)
}

// A verdict is the state of a room that is no longer waited for.
type verdict struct {
	id, room string
	state    announce.RoomState
}

// publishDue publishes what is due and ends what is overdue. It returns when to be called again; zero means
// when something changes.
func (r *Rooms) publishDue(ctx context.Context) time.Time {
	messages, overdue, next := r.due(time.Now())
	for _, v := range overdue {
		if err := r.announcer.SetRoom(ctx, v.id, v.room, v.state); err != nil && ctx.Err() == nil {
			r.log.Error("state of another room not saved", "announcement", v.id, "room", v.room, "err", err)
		}
	}
	for i, m := range messages {
		limited, cancel := context.WithTimeout(ctx, sendLimit)
		err := r.bus.Publish(limited, m)
		cancel()
		if err != nil {
			r.log.Debug("message to another room not sent", "topic", m.Topic, "err", err)
			return earlier(next, r.resend(messages[i:]))
		}
	}
	return next
}

// resend returns when messages that were not sent are sent again. Without a connection it drops them: with the
// next one, everything is sent again.
func (r *Rooms) resend(messages []Message) time.Time {
	if !r.bus.Connected() {
		return time.Time{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outgoing = append(messages, r.outgoing...)
	return time.Now().Add(sendAgain)
}

// earlier returns the earlier of two times; zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// due returns what is to be published, the oldest announcement first, and what is overdue, and when to be
// called again.
func (r *Rooms) due(now time.Time) (messages []Message, overdue []verdict, next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	messages, r.outgoing = r.outgoing, nil
	oldestFirst := func(a, b *delivery) int { return a.Created.Compare(b.Created) }
	for _, d := range slices.SortedFunc(maps.Values(r.open), oldestFirst) {
		for room, try := range d.rooms {
			state := d.Rooms.States()[room]
			deadline := d.deadline(state)
			if !now.Before(deadline) {
				delete(d.rooms, room)
				overdue = append(overdue, verdict{d.ID, room, d.overdue()})
				continue
			}
			next = earlier(next, deadline)
			if r.ready && !try.next.IsZero() && !now.Before(try.next) {
				messages = append(messages, r.message(d, room, now))
				try.next = now.Add(retryAfter)
			}
			if try.followed || !r.online[r.hosts[room]] {
				try.next = time.Time{}
			}
			if r.ready {
				next = earlier(next, try.next)
			}
		}
	}
	return messages, overdue, next
}

// message returns the order to a room.
func (r *Rooms) message(d *delivery, room string, now time.Time) Message {
	o := newOrder(d.Announcement, r.own, now)
	m := Message{Topic: "rooms/" + room + "/say", Payload: encode(o), Expiry: max(d.Expires.Sub(now), time.Minute)}
	if o.Do == doSay && o.Left > 0 {
		m.Expiry = time.Duration(o.Left) * time.Second
	}
	return m
}

// overdue returns the state of a room that has not reported in time.
func (d *delivery) overdue() announce.RoomState {
	if d.order == doCancel {
		return announce.RoomState(announce.Cancelled)
	}
	return announce.RoomState(announce.Expired)
}
