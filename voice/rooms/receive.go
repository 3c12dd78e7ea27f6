package rooms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
)

// Limits of the rooms, and the hosts, that are remembered, and of the bytes of what identifies a host.
const (
	maxHosts = 500
	maxHost  = 128
)

// Receive handles a message on a topic of [Rooms.Topics], and returns when what it says is saved. left is the
// rest of the message's expiry; 0 means that it has none. The error says why the message is ignored.
func (r *Rooms) Receive(ctx context.Context, topic string, payload []byte, left time.Duration) error {
	switch topic {
	case "rooms/" + r.own + "/say":
		return r.obey(ctx, payload, left)
	case "rooms/" + r.own + "/report":
		return r.learn(ctx, payload)
	}
	if name, ok := roomOf(topic, "status"); ok {
		return r.see(name, payload)
	}
	if host, ok := strings.CutSuffix(topic, "/status"); ok {
		if len(host) > maxHost {
			return fmt.Errorf("a host has a name of %d bytes, at most %d", len(host), maxHost)
		}
		r.seeHost(host, string(payload) == "online")
	}
	return nil
}

// see records which host a room is.
func (r *Rooms) see(name string, payload []byte) error {
	if err := CheckName(name); err != nil {
		return err
	}
	var p presence
	if err := json.Unmarshal(payload, &p); err != nil && len(payload) > 0 {
		return fmt.Errorf("read the status of room %s: %w", name, err)
	}
	if len(p.Host) > maxHost {
		return fmt.Errorf("the host of room %s has a name of %d bytes, at most %d", name, len(p.Host), maxHost)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case p.Host == "":
		delete(r.hosts, name)
	case p.Host == r.host && name != r.own: // the name of this room was changed
		delete(r.hosts, name)
		r.outgoing = append(r.outgoing, r.status(name, ""))
	case len(r.hosts) < maxHosts || r.hosts[name] != "":
		r.hosts[name] = p.Host
	}
	if name == r.own && p.Host == r.host {
		r.ready = true
		r.askAgain(func(string) bool { return true })
	} else {
		r.askAgain(func(room string) bool { return room == name })
	}
	r.signal()
	return nil
}

// seeHost records whether a host is connected.
func (r *Rooms) seeHost(host string, online bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !online:
		delete(r.online, host)
	case len(r.online) < maxHosts:
		r.online[host] = true
		r.askAgain(func(room string) bool { return r.hosts[room] == host })
		r.signal()
	}
}

// obey carries out an order of another room.
func (r *Rooms) obey(ctx context.Context, payload []byte, left time.Duration) error {
	o, err := parseOrder(payload)
	if err != nil {
		return err
	}
	a := r.announcer
	known, err := a.Find(o.ID)
	if err == nil && known.Rooms.From != o.From {
		return fmt.Errorf("announcement %s is not one of room %s", o.ID, o.From)
	}
	p := report{ID: o.ID}
	switch {
	case o.Do == doCancel:
		_, err = a.Cancel(ctx, o.ID)
	case o.Do == doAck:
		_, err = a.Acknowledge(ctx, o.ID)
	case err != nil:
		p.Status, err = r.say(ctx, a, o, left)
	}
	if p.Status == "" {
		p.Status = string(announce.Cancelled) // what is unknown here is never spoken
		if v, findErr := a.Find(o.ID); findErr == nil {
			p.Status = string(v.Status)
		}
	}
	p.Acknowledged = o.Do == doAck
	r.report(o.From, p)
	for _, harmless := range []error{announce.ErrNotFound, announce.ErrEnded, announce.ErrNotRepeated} {
		if errors.Is(err, harmless) {
			return nil
		}
	}
	return err
}

// say accepts an announcement of another room, once, and returns what to report.
func (r *Rooms) say(
	ctx context.Context, a *announcer.Announcer, o order, left time.Duration,
) (status string, err error) {
	rest := time.Duration(o.Left) * time.Second
	if left > 0 {
		rest = min(rest, left)
	}
	if rest <= 0 {
		return string(announce.Expired), nil
	}
	request := o.request(rest)
	request.Stored = true // in the other room
	view, err := a.Announce(ctx, request)
	refused, wrong := errors.AsType[*announce.RequestError](err)
	switch {
	case err == nil:
		return string(view.Status), nil
	case wrong && refused.Violations[0].Code == announce.CodeTooLate:
		return string(announce.Expired), nil
	case wrong, errors.Is(err, announce.ErrKeyReused):
		return string(announce.Failed), fmt.Errorf("announcement %s of room %s: %w", o.ID, o.From, err)
	default: // the queue is full, or the disk: the other room asks again
		return string(announce.RoomWaiting), fmt.Errorf("announcement %s of room %s: %w", o.ID, o.From, err)
	}
}

// learn records what has become of an announcement in another room.
func (r *Rooms) learn(ctx context.Context, payload []byte) error {
	p, err := parseReport(payload)
	if err != nil {
		return err
	}
	a := r.announcer
	if !r.confirm(p) {
		return fmt.Errorf("announcement %s is not owed to room %s", p.ID, p.Room)
	}
	err = a.SetRoom(ctx, p.ID, p.Room, p.state())
	if p.Acknowledged {
		if v, findErr := a.Find(p.ID); findErr == nil && !v.Acknowledged {
			_, ackErr := a.Acknowledge(ctx, p.ID)
			err = errors.Join(err, ackErr)
		}
	}
	if errors.Is(err, announce.ErrNotFound) || errors.Is(err, announce.ErrEnded) {
		return nil
	}
	return err
}
