// Package events posts what happens to other servers (EVENTS_URL): each change of an announcement, and of listed games.
//
// One law: a server receives events in their order, one at a time, or finds by their numbers that some are missing.
// What it does not accept is tried three times; what waits for it is in memory, and bounded.
//
//	announcer, lobby ─ Poster ─ queue ─ target ─ POST …
package events

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"pressbox/game/protocol"
	"pressbox/voice/announce"
	"pressbox/voice/announce/policy"
)

// A Target is where events are posted to.
type Target struct {
	URL   string
	Name  string // of the URL, for people, without what may be secret
	Token string // sent as a Bearer; "" means none
}

// A Config selects the targets.
type Config struct {
	Targets []Target
	Texts   bool   // events have the texts of announcements (EVENTS_TEXT)
	Room    string // of this server
}

// Parts holds the sources of events, where they go, and the log. All but the transport are required.
type Parts struct {
	Watch func() (changes <-chan announce.Event, stop func())
	Lobby func(send func(*protocol.Message) bool) (games []protocol.Game, leave func())
	Log   *slog.Logger

	Transport http.RoundTripper // over which events are posted; nil means HTTP
}

// A Poster posts events.
type Poster struct {
	Parts
	client  *http.Client
	changed chan struct{} // capacity 1: the configuration has changed

	mu      sync.Mutex // guards what follows
	config  Config
	targets []*target
	seq     uint64 // of the last event
}

// New returns a poster. It starts nothing; [Poster.Run] does.
func New(p Parts) *Poster {
	return &Poster{Parts: p, client: newClient(p.Transport), changed: make(chan struct{}, 1)}
}

// Configure replaces the configuration. What waits for a target that stays is posted.
func (p *Poster) Configure(c Config) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := map[Target]*target{}
	for _, t := range p.targets {
		before[t.Target] = t
	}
	p.config, p.targets = c, nil
	for _, to := range c.Targets {
		t := before[to]
		if t == nil {
			t = &target{Target: to, client: p.client, log: p.Log, more: make(chan struct{}, 1)}
		}
		p.targets = append(p.targets, t)
	}
	select {
	case p.changed <- struct{}{}:
	default: // Run will look
	}
}

// Run posts events until ctx ends. Without targets it watches nothing.
func (p *Poster) Run(ctx context.Context) error {
	r := running{targets: map[*target]context.CancelFunc{}}
	defer r.wait()
	for ctx.Err() == nil {
		if p.adopt(ctx, &r) {
			p.collect(ctx, &r)
			continue
		}
		select {
		case <-p.changed:
		case <-ctx.Done():
		}
	}
	return nil
}

// running are the targets that post.
type running struct {
	targets map[*target]context.CancelFunc
	group   sync.WaitGroup
}

// adopt starts the targets that are new and stops those that are gone. It reports whether there is one.
func (p *Poster) adopt(ctx context.Context, r *running) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for t, stop := range r.targets {
		if !slices.Contains(p.targets, t) {
			stop()
			delete(r.targets, t)
		}
	}
	for _, t := range p.targets {
		if r.targets[t] == nil {
			own, stop := context.WithCancel(ctx)
			r.targets[t] = stop
			r.group.Go(func() { t.run(own) })
		}
	}
	return len(p.targets) > 0
}

// wait stops the targets.
func (r *running) wait() {
	for _, stop := range r.targets {
		stop()
	}
	r.group.Wait()
}

// gamesQueue is the number of messages about games that the poster may be behind.
const gamesQueue = 64

// collect queues events for the targets until there is none.
func (p *Poster) collect(ctx context.Context, r *running) {
	changes, stop := p.Watch()
	defer func() { stop() }()
	messages := make(chan *protocol.Message, gamesQueue)
	unfinished, leave := p.Lobby(func(m *protocol.Message) bool {
		select {
		case messages <- m:
		default: // the sequence of events has no gap, but a state is missing
		}
		return true
	})
	defer leave()
	known := protocol.NewEntries(unfinished)
	for {
		select {
		case e, more := <-changes:
			if !more { // some were lost
				stop()
				if changes, stop = p.Watch(); ended(changes) {
					changes = nil
				}
				continue
			}
			p.announcement(e.View)
		case m := <-messages:
			for _, e := range gameEvents(known, m) {
				p.queue(&e, &e.header)
			}
		case <-p.changed:
			if !p.adopt(ctx, r) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// ended reports whether a channel is closed.
func ended(changes <-chan announce.Event) bool {
	select {
	case _, more := <-changes:
		return !more
	default:
		return false
	}
}

// A header is what all events have.
type header struct {
	Event  string    `json:"event"` // "announcement" or "game"
	ID     string    `json:"id"`    // of the announcement or the game
	Seq    uint64    `json:"seq"`   // counts the events since the server was started, from 1
	Time   time.Time `json:"time"`
	Status string    `json:"status"`
}

// An announcementEvent is a change of an announcement.
type announcementEvent struct {
	header
	Room     string       `json:"room"`
	Urgent   bool         `json:"urgent"`
	Priority int          `json:"priority"`
	Reason   policy.Cause `json:"reason,omitzero"`
	Title    string       `json:"title,omitzero"`   // with EVENTS_TEXT=on
	Message  string       `json:"message,omitzero"` // with EVENTS_TEXT=on
}

// announcement queues the event of a change of an announcement.
func (p *Poster) announcement(v *announce.View) {
	if v.Status == announce.Synthesizing {
		return
	}
	p.mu.Lock()
	config := p.config
	p.mu.Unlock()
	e := announcementEvent{
		header: header{Event: "announcement", ID: v.ID, Status: string(v.Status)},
		Room:   config.Room, Urgent: v.Urgent, Priority: v.Priority, Reason: v.Reason,
	}
	if config.Texts {
		e.Title, e.Message = v.Title, v.Message
	}
	p.queue(&e, &e.header)
}

// queue queues an event, whose header it completes, for each target.
func (p *Poster) queue(event any, h *header) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq++
	h.Seq, h.Time = p.seq, time.Now().UTC()
	body, err := json.Marshal(event)
	if err != nil {
		p.Log.Error("event not posted", "err", err)
		return
	}
	for _, t := range p.targets {
		t.push(body)
	}
}

// Health returns why events do not arrive; nil: they do, or there are none.
func (p *Poster) Health() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []error
	for _, t := range p.targets {
		all = append(all, t.health())
	}
	return errors.Join(all...)
}
