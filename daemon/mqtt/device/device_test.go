package device_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/daemon/mqtt"
	"pressbox/daemon/mqtt/device"
	"pressbox/daemon/mqtt/homeassistant"
	"pressbox/game"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/control"
)

const (
	topic = "home/pressbox/4f1c09ab"
	limit = time.Minute
)

// A rig is a device with a real queue, real controls and a real store; the broker is a map.
type rig struct {
	t         *testing.T
	device    *device.Device
	store     *store.Store
	announcer *announcer.Announcer
	controls  *control.Controls
	record    *device.Record
	log       check.Log
	lobby     func(*protocol.Message) bool

	mu      sync.Mutex        // guards the fields below
	voices  []string          // installed
	problem string            // of the sound
	topics  map[string]string // below the device's topic, as published last
	count   int               // publications
	changed chan struct{}     // closed at the next publication
}

func newRig(t *testing.T, texts bool) *rig {
	t.Helper()
	r := &rig{t: t, voices: []string{"anna", "bob"}, topics: map[string]string{}, changed: make(chan struct{})}
	r.store = check.Must(store.Open(filepath.Join(t.TempDir(), "store"), store.Options{}))(t)
	t.Cleanup(func() { _ = r.store.Close() })
	log := slog.New(slog.NewTextHandler(&r.log, nil))
	config := control.Config{Volume: 70, QuietMode: "silence"}
	r.controls = check.Must(control.NewControls(config, r.store, r.store.Now, log))(t)
	r.announcer = check.Must(announcer.New(announce.Config{Max: 5, TTL: time.Hour, Rate: 170}, announcer.Parts{
		Outbox: r.store, Speaker: r, Sink: r, Controls: r.controls, Log: log,
	}))(t)
	r.record = check.Must(device.OpenRecord(t.Context(), r.store, store.KeyMQTT))(t)
	r.device = device.New(device.Config{
		Device:    homeassistant.Device{ID: "4f1c09ab", Name: "Pressbox", Topic: topic, Version: "1"},
		Discovery: "homeassistant", Texts: texts,
	}, device.Parts{
		Announcer: r.announcer, Controls: r.controls, Changes: r.controls.Hub().Watch, Log: log, Publish: r.publish,
		Voices: device.Voices{
			List: r.list, Voice: func() string { return r.record.Voice() },
			Select: func(ctx context.Context, name string) error {
				if _, err := r.Voice(name); err != nil {
					return err
				}
				return r.record.SaveVoice(ctx, name)
			},
		},
		Sound: func() string { r.mu.Lock(); defer r.mu.Unlock(); return r.problem },
		Next:  func() time.Time { return time.Date(2026, 12, 24, 18, 0, 0, 0, time.UTC) },
		Lobby: func(send func(*protocol.Message) bool) ([]protocol.Game, func()) {
			r.lobby = send
			return nil, func() {}
		},
	})
	return r
}

// run runs the device and waits until it has published its states.
func (r *rig) run() {
	r.t.Helper()
	check.Run(r.t, r.device.Run)
	r.device.Connected()
	r.want("status", "online")
}

func (r *rig) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.voices
}

// Voice implements announcer.Speaker.
func (r *rig) Voice(name string) (string, error) {
	if name == "dora" {
		return "", &announce.UnknownVoiceError{Name: name}
	}
	return name, nil
}

// Speak implements announcer.Speaker: after its beginning it never ends.
func (r *rig) Speak(ctx context.Context, u announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(yield func(announce.Clip, error) bool) {
		first := audio.Clip{Rate: 8000, Samples: make([]float32, 80)}
		if !yield(announce.Clip{Clip: first, Voice: u.Voice}, nil) {
			return
		}
		<-ctx.Done()
		yield(announce.Clip{}, ctx.Err())
	}
}

// Play implements announcer.Sink.
func (r *rig) Play(ctx context.Context, clips <-chan audio.Clip, _ *audio.Fader) (time.Duration, error) {
	for range clips {
	}
	return 0, ctx.Err()
}

func (r *rig) publish(_ context.Context, m mqtt.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.topics[strings.TrimPrefix(m.Topic, topic+"/")] = string(m.Payload)
	r.count++
	close(r.changed)
	r.changed = make(chan struct{})
	return nil
}

// until waits until the topics fulfill a condition.
func (r *rig) until(what string, ok func(topics map[string]string) bool) {
	r.t.Helper()
	for deadline := time.After(limit); ; {
		r.mu.Lock()
		topics, changed := maps.Clone(r.topics), r.changed
		r.mu.Unlock()
		if ok(topics) {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			r.t.Fatalf("%s: published %v\n%s", what, topics, r.log.String())
		}
	}
}

// want waits until a topic has a payload.
func (r *rig) want(topic, payload string) {
	r.t.Helper()
	r.until(topic+" "+payload, func(topics map[string]string) bool { return topics[topic] == payload })
}

// send handles a message as the session does.
func (r *rig) send(name, payload, key string) error {
	for _, s := range r.device.Subscriptions() {
		if s.Filter == topic+"/"+name || s.Filter == name {
			return s.Handle(r.t.Context(), mqtt.Message{Topic: s.Filter, Payload: []byte(payload), Key: key})
		}
	}
	return errors.New("no subscription")
}

func (r *rig) mustSend(name, payload, key string) {
	r.t.Helper()
	check.NoError(r.t, r.send(name, payload, key))
}

func TestDevice_announcements(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	check.NoError(t, r.record.SaveVoice(t.Context(), "anna"))
	r.mustSend("say", "One.", "s/1/x")
	r.mustSend("say", "One.", "s/1/x")                          // delivered again
	r.mustSend("say", "One.", "s/2/x")                          // said again
	r.mustSend("say", `{"message":"Two.","id":"7"}`, "s/3/y")   // its own key
	r.mustSend("say", `{"message":"Two.","id":"7"}`, "s/4/y")   // sent again
	r.mustSend("say", `{"message":"Three.","id":"7"}`, "s/5/z") // another one with the same id
	r.mustSend("say", `{"message":"x","voice":"dora"}`, "s/6/") // refused
	r.mustSend("say", `{"message":"x","volum":3}`, "s/7/")      // refused
	r.mustSend("say/urgent", "Fire!", "")
	var got []string
	for _, v := range r.announcer.List().Queue {
		check.Equal(t, v.Sender.Kind, announce.FromMQTT, "%q: sender", v.Message)
		check.Equal(t, v.Voice, "anna", "%q: voice", v.Message)
		got = append(got, v.Message)
	}
	check.Equal(t, strings.Join(got, " "), "Fire! One. One. Two.", "the queue")
	check.Equal(t, strings.Count(r.log.String(), "MQTT command refused"), 3, "commands refused")
	check.Equal(t, r.device.Refused(), 3, "commands refused, as they are counted")
	r.mustSend("say", "{hello} is no JSON.", "")
	check.Equal(t, r.announcer.List().Queue[4].Message, "{hello} is no JSON.", "a text that begins with a brace")
	for range 3 { // more than fit
		r.mustSend("say", "More.", "")
	}
	r.mustSend("clear", "PRESS", "")
	check.Equal(t, len(r.announcer.List().Queue), 0, "announcements after clear")
}

// Who sent what was refused, or not spoken in full, is told by an event.
func TestDevice_refused(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	r.run()
	sentence := strings.Repeat("word ", 9) + "end. "
	for _, row := range [][2]string{
		{`{"message":"x","volum":3}`, `unknown field`},
		{"...", `has nothing that can be spoken`},
		{"\xff", `must be UTF-8`},
		{strings.Repeat(sentence, 101), `the message has 5049 characters: only the first 4999 are spoken`},
	} {
		r.mustSend("say", row[0], "")
		r.until(row[1], func(topics map[string]string) bool {
			var e struct {
				Type   string `json:"event_type"`
				Reason string
			}
			return json.Unmarshal([]byte(topics["event"]), &e) == nil && e.Type == "refused" &&
				strings.Contains(e.Reason, row[1])
		})
	}
	queue := r.announcer.List().Queue
	check.Equal(t, len(queue), 1, "announcements")
	check.Equal(t, queue[0].Message, strings.TrimSpace(strings.Repeat(sentence, 100)), "what is spoken")
}

// One message ends the repetitions of all announcements; others stay.
func TestDevice_acknowledge(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	r.mustSend("say", `{"message":"Once."}`, "")
	r.mustSend("say", `{"message":"Again.","repeat":{"times":3,"every":60}}`, "")
	r.mustSend("say", `{"message":"And again.","in":60,"repeat":{"times":3,"every":60}}`, "")
	for range 2 {
		r.mustSend("ack", "PRESS", "")
		all := r.announcer.List()
		check.Require(t, len(all.Queue) == 1 && len(all.Scheduled) == 0, "%d wait, %d are planned",
			len(all.Queue), len(all.Scheduled))
		check.Equal(t, all.Queue[0].Message, "Once.", "what waits")
	}
}

// What cannot be saved is not acknowledged.
func TestDevice_unavailable(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	check.NoError(t, r.store.Close())
	for _, row := range check.Rows("say | Hello.\nvolume/set | 5\nvoice/set | bob\ndnd/set | ON\nmute/set | ON") {
		check.That(t, r.send(row[0], row[1], "k") != nil, "%s was acknowledged without a store", row[0])
	}
}

func TestDevice_states(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	check.Run(t, r.announcer.Run)
	r.run()
	for _, row := range check.Rows(`
		             |       | state idle, waiting 0, volume 70, mute OFF, dnd OFF, problem OFF, last None
		             |       | next 2026-12-24T18:00:00Z
		volume/set   | 33    | volume 33
		mute/set     | ON    | mute ON, state muted
		mute/set     | OFF   | mute OFF, state idle
		mute/set     | ON    | mute ON
		volume/set   | 0     | mute OFF, volume 0, state muted
		volume/set   | 40    | mute OFF, volume 40, state idle
		voice/set    | bob   | voice bob
		dnd/set      | ON    | dnd ON, state quiet
		mute/set     | ON    | state muted
		mute/set     | OFF   | state quiet
		dnd/set      | OFF   | dnd OFF
		say          | One.  | state speaking
		say          | Two.  | waiting 1
		stop         | PRESS | waiting 0, state speaking
		clear        | PRESS | state idle
	`) {
		if row[0] != "" {
			r.mustSend(row[0], row[1], "")
		}
		for state := range strings.SplitSeq(row[2], ", ") {
			name, payload, _ := strings.Cut(state, " ")
			r.want(name, payload)
		}
	}
	r.until("an event without the text", func(topics map[string]string) bool {
		return strings.HasPrefix(topics["event"], `{"event_type":"cancelled"`) &&
			!strings.Contains(topics["event"], "Two.")
	})
}

// A change publishes what it changed; a connection, Home Assistant's start and a new voice publish the
// discovery message.
func TestDevice_discovery(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	r.run()
	r.mu.Lock()
	all := r.count
	r.problem = "the sink is muted"
	r.mu.Unlock()
	r.device.Changed()
	r.want("problem", "ON")
	r.mu.Lock()
	check.Equal(t, r.count-all, 2, "publications for one change: problem and attributes")
	r.voices = []string{"anna", "bob", "carl"}
	r.mu.Unlock()
	r.device.Changed()
	config := homeassistant.Topic("homeassistant", "4f1c09ab")
	r.until("the new voice", func(topics map[string]string) bool { return strings.Contains(topics[config], "carl") })
	r.mu.Lock()
	clear(r.topics)
	r.mu.Unlock()
	r.mustSend("homeassistant/status", "offline", "")
	r.mustSend("homeassistant/status", "online", "")
	r.want("status", "online")
	r.until("discovery", func(topics map[string]string) bool { return topics[config] != "" })
}

func TestDevice_texts(t *testing.T) {
	t.Parallel()
	r := newRig(t, true)
	r.run()
	r.mustSend("say", `{"title":"Kitchen","message":"Dinner."}`, "")
	r.until("an event with the text", func(topics map[string]string) bool {
		var e struct{ Title, Message string }
		return json.Unmarshal([]byte(topics["event"]), &e) == nil && e.Title == "Kitchen" && e.Message == "Dinner."
	})
}

func TestDevice_games(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	r.run()
	entry := func(status protocol.Status, home int) *protocol.Game {
		g := &protocol.Game{ID: "g", Status: status, Score: &protocol.Score{Home: home}}
		g.Home.Team.Name, g.Away.Team.Name = "Giants", "Dodgers"
		return g
	}
	const names = `"teams":{"home":"Giants","away":"Dodgers"}`
	for _, tt := range []struct {
		data any
		want string
	}{
		{entry(protocol.Pending, 0), ""},
		{&protocol.Event{Kind: protocol.Started}, `{"event_type":"started","game":"g",` + names + `}`},
		{
			&protocol.Turn{Side: game.Home, Manager: "Anna"},
			`{"event_type":"your_turn","game":"g","side":"home","manager":"Anna",` + names + `}`,
		},
		{entry(protocol.Active, 0), ""},
		{entry(protocol.Active, 2), `{"event_type":"scored","game":"g",` + names + `,"score":{"home":2,"away":0}}`},
		{entry(protocol.Finished, 2), `{"event_type":"over","game":"g",` + names + `,"score":{"home":2,"away":0}}`},
		{entry(protocol.Finished, 2), ""},
	} {
		r.mu.Lock()
		before := r.count
		r.mu.Unlock()
		r.lobby(&protocol.Message{Game: "g", Data: tt.data})
		if tt.want != "" {
			r.want("game", tt.want)
			before++
		}
		r.mu.Lock()
		check.Equal(t, r.count, before, "publications after %+v", tt.data)
		r.mu.Unlock()
	}
}

func TestOpenRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	check.NoError(t, r.record.SaveToken(t.Context(), "token"))
	again := check.Must(device.OpenRecord(t.Context(), r.store, store.KeyMQTT))(t)
	check.That(t, len(again.ID()) == 8 && again.ID() == r.record.ID() && again.Token() == "token",
		"record %s %s, want %s with its token", again.ID(), again.Token(), r.record.ID())
	check.That(t, newRig(t, false).record.ID() != again.ID(), "two stores have the id %s", again.ID())
}

func TestDecode(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", 200)
	for _, tt := range []struct {
		topic    string
		payloads []string
		err      string // <nil> of those that are accepted
	}{
		{"say", []string{"Dinner is ready.", `{"message": "Dinner", "rate": 150, "id": "a"}`}, "<nil>"},
		{"say", []string{`{"message": "Dinner", "id": "` + longest + `"}`}, "<nil>"},
		{"say", []string{`{"message": "Dinner", "id": "` + longest + `x"}`}, "id with 201 bytes"},
		{"say", []string{`{"message": "Dinner", "volum": 3}`}, "<nil>"}, // refused as an announcement
		{"say", []string{`{"message"`, "{hello}", `{"a": 1}`, `{"sound": "ding"}`}, "<nil>"},
		{"say", []string{"\xff"}, "UTF-8"},
		{"volume/set", []string{"0", "100", "42.0"}, "<nil>"},
		{"volume/set", []string{"101", "-1", "NaN", ""}, "expected 0 to 100"},
		{"voice/set", []string{"en_US-heart-medium", longest}, "<nil>"},
		{"voice/set", []string{"", longest + "x"}, "expected 1 to 200"},
		{"dnd/set", []string{"ON", "OFF"}, "<nil>"},
		{"dnd/set", []string{"on"}, "expected ON or OFF"},
		{"mute/set", []string{"ON", "OFF"}, "<nil>"},
		{"mute/set", []string{"", "1"}, "expected ON or OFF"},
		{"ack", []string{"PRESS"}, "<nil>"},
		{"ack", []string{"", "x"}, "expected PRESS"},
		{"stop", []string{"PRESS"}, "<nil>"},
		{"stop", []string{"", "x"}, "expected PRESS"},
		{"clear", []string{"PRESS"}, "<nil>"},
		{"clear", []string{"", "x"}, "expected PRESS"},
		{"status", []string{"online"}, "not the topic of a command"},
	} {
		for _, payload := range tt.payloads {
			_, err := device.Decode(tt.topic, []byte(payload))
			check.Contains(t, fmt.Sprint(err), tt.err, "the error of %s %.60q", tt.topic, payload)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, topic := range []string{
		"say", "say/urgent", "volume/set", "voice/set", "dnd/set", "mute/set", "stop", "clear", "ack",
	} {
		for _, payload := range []string{
			"Hello.", `{"message":"Hello.","id":"1","urgent":"true"}`, "50", "ON", "PRESS",
		} {
			f.Add(topic, []byte(payload))
		}
	}
	f.Fuzz(func(t *testing.T, topic string, payload []byte) {
		c, err := device.Decode(topic, payload)
		switch {
		case err != nil:
			check.Equal(t, c, device.Command{}, "%s %q: the command beside %v", topic, payload, err)
		case c.Volume < 0 || c.Volume > 100 || len(c.Voice) > 200 || len(c.ID) > 200 ||
			strings.HasPrefix(topic, "say") != (c.Draft != nil):
			t.Errorf("%s %q: %+v", topic, payload, c)
		}
	})
}
