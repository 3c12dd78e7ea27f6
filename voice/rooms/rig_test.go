package rooms_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/rooms"
)

// A broker stands in for one of MQTT.
type broker struct {
	t     *testing.T
	log   check.Log
	twice bool                     // it delivers each message twice
	drops func(topic string) bool  // messages that it loses; nil: none
	mu    sync.Mutex               // guards the fields below
	last  map[string]rooms.Message // retained
	hosts map[string]*host         // by id
	seen  []string                 // topics of messages that are not retained
}

// A host is a Pressbox with the stand-ins of its parts.
type host struct {
	*announcer.Announcer
	*rooms.Rooms
	outbox *outbox
	broker *broker
	room   string
	max    int
	online bool
	inbox  []rooms.Message
	spoken []string
	stop   func()
	wake   chan struct{}
}

// house runs a test with a broker and hosts that are connected to it, in fake time.
func house(t *testing.T, names string, test func(b *broker, hosts map[string]*host)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &broker{t: t, last: map[string]rooms.Message{}, hosts: map[string]*host{}}
		for name := range strings.FieldsSeq(names) {
			h := &host{
				outbox: &outbox{stored: map[string]announce.Announcement{}, keys: map[string]string{}}, broker: b,
				room: name, max: 10, wake: make(chan struct{}, 1),
			}
			b.hosts[name] = h
			h.start()
			h.connect()
		}
		synctest.Wait()
		test(b, b.hosts)
		for _, h := range b.hosts {
			h.stop()
		}
	})
}

// start starts the host, as after a crash.
func (h *host) start() {
	log := slog.New(slog.NewTextHandler(&h.broker.log, nil))
	h.Rooms = rooms.New(h.room, "host-"+h.room, bus{h}, log)
	h.Announcer = check.Must(
		announcer.New(announce.Config{Max: h.max, TTL: 10 * time.Minute, Rate: 170, Volume: 100, History: true},
			announcer.Parts{Outbox: h.outbox, Speaker: speaker{}, Sink: h, Rooms: h.Rooms, Log: log}),
	)(h.broker.t)
	h.Attach(h.Announcer)
	stops := []func(){
		check.Run(h.broker.t, h.Announcer.Run), check.Run(h.broker.t, h.Rooms.Run), check.Run(h.broker.t, h.receive),
	}
	h.stop = func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// crash ends the host without its connection being closed, and starts it again.
func (h *host) crash() {
	h.disconnect()
	h.stop()
	h.start()
}

func (h *host) connect() {
	h.broker.mu.Lock()
	h.online = true
	for _, m := range h.broker.last {
		h.deliver(m)
	}
	h.broker.mu.Unlock()
	h.broker.publish(rooms.Message{Topic: "host-" + h.room + "/status", Payload: []byte("online"), Retain: true})
	h.Connected()
	synctest.Wait()
}

func (h *host) disconnect() {
	h.broker.mu.Lock()
	h.online = false
	h.broker.mu.Unlock()
	h.broker.publish(rooms.Message{Topic: "host-" + h.room + "/status", Payload: []byte("offline"), Retain: true})
	synctest.Wait()
}

// deliver adds a message to those that are received. broker.mu must be held.
func (h *host) deliver(m rooms.Message) {
	if !h.online {
		return
	}
	for _, filter := range h.Topics() {
		f, topic := strings.Split(filter, "/"), strings.Split(m.Topic, "/")
		match := len(f) == len(topic)
		for i := range min(len(f), len(topic)) {
			match = match && (f[i] == "+" || f[i] == topic[i])
		}
		if match {
			h.inbox = append(h.inbox, m)
			select {
			case h.wake <- struct{}{}:
			default:
			}
			return
		}
	}
}

// receive handles what is delivered.
func (h *host) receive(ctx context.Context) error {
	for {
		h.broker.mu.Lock()
		inbox := h.inbox
		h.inbox = nil
		h.broker.mu.Unlock()
		for _, m := range inbox {
			if err := h.Receive(ctx, m.Topic, m.Payload, m.Expiry); err != nil {
				fmt.Fprintln(&h.broker.log, h.room, m.Topic, err)
			}
		}
		select {
		case <-h.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

func (b *broker) publish(m rooms.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.Retain {
		b.last[m.Topic] = m
	} else {
		b.seen = append(b.seen, m.Topic)
	}
	if b.drops != nil && b.drops(m.Topic) {
		return
	}
	for _, h := range b.hosts {
		h.deliver(m)
		if b.twice {
			h.deliver(m)
		}
	}
}

// lose makes the broker lose messages of topics that end so; "" means none.
func (b *broker) lose(suffix string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drops = func(topic string) bool { return suffix != "" && strings.HasSuffix(topic, suffix) }
}

// A bus is the connection of a host.
type bus struct{ *host }

func (b bus) Connected() bool {
	b.broker.mu.Lock()
	defer b.broker.mu.Unlock()
	return b.online
}

func (b bus) Publish(_ context.Context, m rooms.Message) error {
	if !b.Connected() {
		return errors.New("no connection")
	}
	b.broker.publish(m)
	return nil
}

// speaker stands in for synthesis: each message is a clip of one second.
type speaker struct{}

func (speaker) Voice(name string) (string, error) {
	if name != "" && name != "anna" {
		return "", &announce.UnknownVoiceError{Name: name, Installed: []string{"anna"}, Instead: "anna"}
	}
	return "anna", nil
}

func (speaker) Speak(_ context.Context, u announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(yield func(announce.Clip, error) bool) {
		yield(announce.Clip{Clip: audio.Clip{Rate: 8, Samples: make([]float32, 8*len(u.Message))}, Voice: u.Voice}, nil)
	}
}

// Play takes one second for each letter of the message.
func (h *host) Play(ctx context.Context, clips <-chan audio.Clip, _ *audio.Fader) (played time.Duration, err error) {
	for c := range clips {
		h.broker.mu.Lock()
		h.spoken = append(h.spoken, strings.Repeat("x", len(c.Samples)/8))
		h.broker.mu.Unlock()
		select {
		case <-time.After(time.Duration(len(c.Samples)/8) * time.Second):
			played += time.Duration(len(c.Samples)/8) * time.Second
		case <-ctx.Done():
			return played, ctx.Err()
		}
	}
	return played, nil
}

// expectSpoken fails the test unless the host has spoken messages of these lengths.
func (h *host) expectSpoken(lengths ...int) {
	h.broker.t.Helper()
	synctest.Wait()
	var got []int
	for _, text := range h.spoken {
		got = append(got, len(text))
	}
	check.That(h.broker.t, fmt.Sprint(got) == fmt.Sprint(lengths),
		"%s has spoken %v, want %v\n%s", h.room, got, lengths, h.broker.log.String())
}

// post posts a message to rooms.
func (h *host) post(message string, names ...string) announce.View {
	h.broker.t.Helper()
	return h.request(announce.Request{Content: said(message), Rooms: names})
}

func (h *host) request(r announce.Request) announce.View {
	h.broker.t.Helper()
	v, err := h.Announce(context.Background(), r)
	check.Require(h.broker.t, err == nil, "announce %+v: %v", r, err)
	return v
}

// expect fails the test unless an announcement has the status, and the states in other rooms: "hall=done
// kitchen=sent".
func (h *host) expect(id string, status announce.Status, states string) {
	h.broker.t.Helper()
	synctest.Wait()
	v, err := h.Find(id)
	want := announce.Rooms{}
	for word := range strings.FieldsSeq(states) {
		name, state, _ := strings.Cut(word, "=")
		want = want.With(map[string]announce.RoomState{name: announce.RoomState(state)})
	}
	got := announce.Rooms{}.With(v.Rooms.States())
	if err != nil || v.Status != status || got != want {
		h.broker.t.Errorf(
			"in %s the announcement is %s %v, %v; want %s %s\n%s", h.room, v.Status, v.Rooms.States(), err, status,
			states, h.broker.log.String(),
		)
	}
}

// An outbox stands in for the store.
type outbox struct {
	mu     sync.Mutex
	stored map[string]announce.Announcement
	keys   map[string]string // id, by key
}

func (o *outbox) Append(
	_ context.Context, a announce.Announcement, key announce.IdempotencyKey,
) (announce.Accepted, bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if id, ok := o.keys[key.Key]; ok {
		return announce.Accepted{ID: id, Status: o.stored[id].Status}, false, nil
	}
	o.stored[a.ID] = a
	if key.Key != "" {
		o.keys[key.Key] = a.ID
	}
	return announce.Accepted{ID: a.ID, Status: a.Status}, true, nil
}

func (o *outbox) Find(_ context.Context, key announce.IdempotencyKey) (announce.Accepted, bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	id, ok := o.keys[key.Key]
	return announce.Accepted{ID: id, Status: o.stored[id].Status}, ok, nil
}

func (o *outbox) Done(_ context.Context, as ...announce.Announcement) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range as {
		o.stored[a.ID] = a
	}
	return nil
}

func (o *outbox) Update(_ context.Context, a announce.Announcement) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if before, ok := o.stored[a.ID]; ok && !before.Status.Ended() {
		o.stored[a.ID] = a
	}
	return nil
}

func (o *outbox) Load(context.Context) (waiting, ended []announce.Announcement, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range o.stored {
		if a.Status.Ended() {
			ended = append(ended, a)
		} else {
			waiting = append(waiting, a)
		}
	}
	return waiting, ended, nil
}

// said returns a content that has only a message.
func said(message string) announce.Content { return announce.Content{Message: message} }
