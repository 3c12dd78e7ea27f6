package rooms_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/rooms"
)

func TestRooms_oneRoom(t *testing.T) {
	house(t, "hall kitchen attic", func(b *broker, hosts map[string]*host) {
		front, kitchen := hosts["hall"], hosts["kitchen"]
		v := front.post("xxx", "Kitchen")
		check.That(t, v.Position == nil, "accepted at a position")
		front.expect(v.ID, announce.Queued, "kitchen=sent")
		kitchen.expect(v.ID, announce.Playing, "")
		time.Sleep(3 * time.Second)
		front.expect(v.ID, announce.Done, "kitchen=done")
		time.Sleep(time.Hour)
		kitchen.expectSpoken(3)
		front.expectSpoken()
		hosts["attic"].expectSpoken()
		own := func(topic string) bool { return strings.HasPrefix(topic, "rooms/hall/") }
		if b.seen = slices.DeleteFunc(b.seen, own); len(b.seen) != 1 {
			t.Errorf("messages to rooms: %q", b.seen)
		}
	})
}

func TestRooms_all(t *testing.T) {
	house(t, "hall kitchen attic", func(_ *broker, hosts map[string]*host) {
		v := hosts["hall"].post("xx", "all")
		time.Sleep(2 * time.Second)
		hosts["hall"].expect(v.ID, announce.Done, "attic=done kitchen=done")
		w := hosts["kitchen"].post("x", "kitchen", "hall", "hall")
		time.Sleep(time.Minute)
		hosts["kitchen"].expect(w.ID, announce.Done, "hall=done")
		hosts["hall"].expectSpoken(2, 1)
		hosts["kitchen"].expectSpoken(2, 1)
		hosts["attic"].expectSpoken(2)
		v, err := hosts["attic"].Find(v.ID)
		want := announce.Sender{Kind: announce.FromMQTT, Name: "hall", Client: "room:hall"}
		check.That(t, err == nil && v.Sender == want,
			"in the attic: %+v, %v", v.Sender, err)
	})
}

// Two rooms post at the same time.
func TestRooms_bothPost(t *testing.T) {
	house(t, "hall kitchen", func(_ *broker, hosts map[string]*host) {
		v, w := hosts["hall"].post("xx", "all"), hosts["kitchen"].post("xxx", "all")
		time.Sleep(time.Minute)
		hosts["hall"].expect(v.ID, announce.Done, "kitchen=done")
		hosts["kitchen"].expect(w.ID, announce.Done, "hall=done")
		for _, h := range hosts {
			check.That(t, len(h.spoken) == 2, "%s has spoken %d announcements", h.room, len(h.spoken))
		}
	})
}

func TestRooms_unknown(t *testing.T) {
	house(t, "hall kitchen", func(_ *broker, hosts map[string]*host) {
		for _, names := range [][]string{{"cellar"}, {"kitchen", "cellar"}, {""}} {
			_, err := hosts["hall"].Announce(context.Background(), announce.Request{Content: said("x"), Rooms: names})
			unknown, ok := errors.AsType[*announce.RequestError](err)
			if !ok || unknown.Violations[0].Path != "room" || unknown.Violations[0].Code != announce.CodeUnknownRoom ||
				!strings.Contains(err.Error(), "hall, all, kitchen") {
				t.Errorf("%q: %v", names, err)
			}
		}
		want := []rooms.Room{{"hall", true, true}, {"kitchen", false, true}}
		got := hosts["hall"].Rooms.List()
		check.That(t, slices.Equal(got, want), "rooms %+v, want %+v", got, want)
	})
}

// Without a broker there is this room only.
func TestRooms_withoutBroker(t *testing.T) {
	t.Parallel()
	r := rooms.New("hall", "", nil, slog.New(slog.DiscardHandler))
	for _, name := range []string{"hall", "all", " HALL"} {
		here, others, err := r.Resolve([]string{name})
		check.That(t, here && others == nil && err == nil, "%q: %v %v %v", name, here, others, err)
	}
	_, _, err := r.Resolve([]string{"kitchen"})
	check.That(t, err != nil, "the kitchen is known")
	check.Run(t, r.Run)()
}

// A room that was away speaks what has not expired.
func TestRooms_away(t *testing.T) {
	house(t, "hall kitchen", func(b *broker, hosts map[string]*host) {
		front, kitchen := hosts["hall"], hosts["kitchen"]
		kitchen.disconnect()
		if front.Rooms.List()[1].Online {
			t.Error("the kitchen is online")
		}
		late := front.request(announce.Request{Content: said("x"), Rooms: []string{"kitchen"}, TTL: 10 * time.Second})
		v := front.post("xx", "all")
		time.Sleep(9 * time.Second)
		front.expect(late.ID, announce.Queued, "kitchen=waiting")
		time.Sleep(time.Second)
		front.expect(late.ID, announce.Expired, "kitchen=expired")
		time.Sleep(8 * time.Minute)
		front.expect(v.ID, announce.Done, "kitchen=waiting")
		kitchen.connect()
		time.Sleep(2 * time.Second)
		front.expect(v.ID, announce.Done, "kitchen=done")
		kitchen.expectSpoken(2)
		check.That(t, len(b.seen) <= 7, "messages: %q", b.seen)
	})
}

// Without a connection nothing is accepted for other rooms; what was accepted before is sent with the next one.
func TestRooms_brokerAway(t *testing.T) {
	house(t, "hall kitchen", func(_ *broker, hosts map[string]*host) {
		front, kitchen := hosts["hall"], hosts["kitchen"]
		front.disconnect()
		for _, name := range []string{"kitchen", "all", "cellar"} {
			_, err := front.Announce(context.Background(), announce.Request{Content: said("x"), Rooms: []string{name}})
			check.That(t, errors.Is(err, announce.ErrRoomUnreachable) && len(front.outbox.stored) == 0,
				"%s: %v, %d stored", name, err, len(front.outbox.stored))
		}
		own := front.post("x", "hall")
		front.connect()
		v := front.post("xx", "kitchen")
		front.expect(v.ID, announce.Queued, "kitchen=sent")
		front.disconnect() // the report is lost
		time.Sleep(time.Minute)
		kitchen.expectSpoken(2)
		front.connect()
		front.expect(v.ID, announce.Done, "kitchen=done")
		front.expect(own.ID, announce.Done, "")
		kitchen.expectSpoken(2)
	})
}

// Whatever is delivered twice or not at all, a room speaks once and the sender learns it.
func TestRooms_twiceOrLost(t *testing.T) {
	house(t, "hall kitchen", func(b *broker, hosts map[string]*host) {
		front, kitchen := hosts["hall"], hosts["kitchen"]
		b.twice = true
		v := front.post("x", "kitchen")
		time.Sleep(time.Minute)
		front.expect(v.ID, announce.Done, "kitchen=done")
		b.lose("/say")
		v = front.post("xx", "kitchen")
		front.expect(v.ID, announce.Queued, "kitchen=waiting")
		b.lose("/report")
		time.Sleep(time.Minute)
		front.expect(v.ID, announce.Queued, "kitchen=waiting")
		b.lose("")
		time.Sleep(15 * time.Second)
		front.expect(v.ID, announce.Done, "kitchen=done")
		kitchen.expectSpoken(1, 2)
	})
}

// What is owed, and what was heard, is known after crashes of both hosts.
func TestRooms_crash(t *testing.T) {
	house(t, "hall kitchen", func(_ *broker, hosts map[string]*host) {
		front, kitchen := hosts["hall"], hosts["kitchen"]
		kitchen.disconnect()
		away := front.post("x", "kitchen")
		time.Sleep(time.Millisecond)
		both := front.post("xxx", "all")
		time.Sleep(3 * time.Second)
		front.expect(both.ID, announce.Done, "kitchen=waiting")
		front.crash()
		front.connect()
		front.expect(away.ID, announce.Queued, "kitchen=waiting")
		kitchen.connect()
		time.Sleep(time.Second) // the first one has been spoken
		kitchen.crash()
		kitchen.connect()
		time.Sleep(time.Minute)
		front.expect(away.ID, announce.Done, "kitchen=done")
		front.expect(both.ID, announce.Done, "kitchen=done")
		kitchen.expectSpoken(1, 3) // a stop lets it finish the second one
		front.crash()
		front.connect()
		front.expect(both.ID, announce.Done, "kitchen=done")
		front.expectSpoken(3)
	})
}

// A room whose queue is full is asked again.
func TestRooms_queueFull(t *testing.T) {
	house(t, "hall kitchen", func(_ *broker, hosts map[string]*host) {
		front, kitchen := hosts["hall"], hosts["kitchen"]
		for range 11 {
			kitchen.post("xxxx")
		}
		v := front.post("x", "kitchen")
		front.expect(v.ID, announce.Queued, "kitchen=waiting")
		time.Sleep(16 * time.Second)
		front.expect(v.ID, announce.Queued, "kitchen=sent")
		time.Sleep(time.Minute)
		front.expect(v.ID, announce.Done, "kitchen=done")
	})
}

func TestRooms_cancel(t *testing.T) {
	house(t, "hall kitchen attic", func(_ *broker, hosts map[string]*host) {
		front, kitchen, attic := hosts["hall"], hosts["kitchen"], hosts["attic"]
		attic.disconnect()
		ctx := context.Background()
		v := front.post("xxxxxxxxxx", "kitchen", "attic")
		time.Sleep(2 * time.Second)
		check.Must(front.Cancel(ctx, v.ID))(t)
		front.expect(v.ID, announce.Cancelled, "kitchen=cancelled attic=waiting")
		kitchen.expect(v.ID, announce.Cancelled, "")
		attic.connect()
		front.expect(v.ID, announce.Cancelled, "kitchen=cancelled attic=cancelled")
		attic.expectSpoken()

		kitchen.post("xxxx")
		v = front.post("x", "all")
		time.Sleep(time.Second)
		front.expect(v.ID, announce.Done, "kitchen=sent attic=done")
		if _, err := front.Cancel(ctx, v.ID); err != nil { // it has ended in the hall
			t.Error(err)
		}
		front.expect(v.ID, announce.Done, "kitchen=cancelled attic=done")
		if _, err := front.Cancel(ctx, v.ID); !errors.Is(err, announce.ErrEnded) {
			t.Error(err)
		}
		waiting := front.post("x", "kitchen")
		if n, err := front.CancelWaiting(ctx, nil); n != 1 || err != nil {
			t.Error(n, err)
		}
		kitchen.expect(waiting.ID, announce.Cancelled, "")
	})
}

// An acknowledgement in one room ends the repetitions in all.
func TestRooms_acknowledge(t *testing.T) {
	house(t, "hall kitchen attic", func(_ *broker, hosts map[string]*host) {
		front, kitchen, attic := hosts["hall"], hosts["kitchen"], hosts["attic"]
		repeat := announce.Repeat{Times: 5, Every: time.Minute}
		for i, where := range []*host{front, kitchen} {
			v := front.request(
				announce.Request{Content: said("x"), Rooms: []string{"kitchen", "attic"}, Repeat: repeat},
			)
			time.Sleep(70 * time.Second)
			front.expect(v.ID, announce.Queued, "kitchen=sent attic=sent")
			check.Must(where.Acknowledge(context.Background(), v.ID))(t)
			front.expect(v.ID, announce.Done, "kitchen=done attic=done")
			time.Sleep(time.Hour)
			attic.expectSpoken(slices.Repeat([]int{1}, 2+2*i)...)
		}
	})
}

func TestRooms_again(t *testing.T) {
	house(t, "hall kitchen", func(_ *broker, hosts map[string]*host) {
		front, kitchen := hosts["hall"], hosts["kitchen"]
		v := front.request(
			announce.Request{Content: announce.Content{Message: "x", Voice: "anna", Rate: 90}, Rooms: []string{"all"}},
		)
		time.Sleep(time.Minute)
		w, err := front.Again(context.Background(), v.ID, announce.Request{})
		check.Require(t, err == nil && w.ID != v.ID, "%+v, %v", w, err)
		time.Sleep(time.Minute)
		front.expect(w.ID, announce.Done, "kitchen=done")
		kitchen.expectSpoken(1, 1)
		front.expectSpoken(1, 1)
		there, _ := kitchen.Find(w.ID)
		check.That(t, there.Rate == 90, "at rate %d in the kitchen", there.Rate)
	})
}

// A room keeps the time of an announcement, and its own voice if it has no other.
func TestRooms_later(t *testing.T) {
	house(t, "hall kitchen", func(_ *broker, hosts map[string]*host) {
		front, kitchen := hosts["hall"], hosts["kitchen"]
		v := front.request(announce.Request{Content: said("x"), Rooms: []string{"kitchen"}, In: time.Hour})
		w := front.request(
			announce.Request{Content: said("xx"), Rooms: []string{"kitchen"}, At: time.Now().Add(2 * time.Hour)},
		)
		front.expect(v.ID, announce.Queued, "kitchen=sent")
		time.Sleep(time.Hour + 10*time.Second)
		front.expect(v.ID, announce.Done, "kitchen=done")
		front.expect(w.ID, announce.Queued, "kitchen=sent")
		time.Sleep(time.Hour)
		front.expect(w.ID, announce.Done, "kitchen=done")
		kitchen.expectSpoken(1, 2)
	})
}

// What another room sends is not passed on, and a room does not change what it did not send.
func TestReceive_foreign(t *testing.T) {
	house(t, "hall kitchen", func(_ *broker, hosts map[string]*host) {
		front, kitchen := hosts["hall"], hosts["kitchen"]
		own := front.request(announce.Request{Content: said("x"), In: time.Hour})
		id := strings.Repeat("a", 26)
		tests := []struct{ topic, payload, want string }{
			{"say", `{"do":"cancel","id":"` + own.ID + `","from":"kitchen"}`, "not one of room kitchen"},
			{
				"say", `{"do":"say","id":"` + own.ID + `","from":"kitchen","message":"y","ttl":600,"left":600}`,
				"not one of room kitchen",
			},
			{"say", `{"do":"say","id":"A","from":"kitchen"}`, "expected 26"},
			{"say", `{"do":"shout","id":"` + id + `","from":"kitchen"}`, "expected say"},
			{"say", `{"do":"say","id":"` + id + `","from":"all","left":5}`, "another name"},
			{"say", `{"do":"say","id":"` + id + `","from":"kitchen","left":-1}`, "out of range"},
			{
				"say", `{"do":"say","id":"` + id + `","from":"kitchen","message":" ","ttl":600,"left":600}`,
				"must not be empty",
			},
			{"say", `nonsense`, "read an order"},
			{"report", `{"id":"` + own.ID + `","room":"kitchen","status":"done"}`, "not owed"},
			{"report", `{"id":"` + id + `","room":"Kitchen"}`, `room "Kitchen"`},
			{"report", `[]`, "read a report"},
		}
		for _, tt := range tests {
			err := front.Receive(context.Background(), "rooms/hall/"+tt.topic, []byte(tt.payload), 0)
			check.That(t, err != nil && strings.Contains(err.Error(), tt.want),
				"%s %s: %v, want %q", tt.topic, tt.payload, err, tt.want)
		}
		front.expect(own.ID, announce.Scheduled, "")
		time.Sleep(5 * time.Minute)
		front.expectSpoken()
		kitchen.expectSpoken()
	})
}

// An expired say is only reported on, and an unknown voice is replaced.
func TestReceive_say(t *testing.T) {
	house(t, "hall", func(b *broker, hosts map[string]*host) {
		front := hosts["hall"]
		for i, tt := range []struct {
			members string
			left    time.Duration
			spoken  bool
		}{
			{`"ttl":600,"left":0`, 0, false},
			{`"ttl":600,"left":600`, 3 * time.Second, true},
			{`"ttl":600,"left":600,"voice":"carla"`, 0, true},
			{`"ttl":600,"left":600,"at":"1999-12-31T23:00:00Z"`, 0, false},
			{`"ttl":600,"left":600,"later":{"version":2}`, 0, true},
		} {
			id := strings.Repeat("b", 25) + string(rune('a'+i))
			payload := `{"do":"say","id":"` + id + `","from":"kitchen","message":"x",` + tt.members + `}`
			err := front.Receive(context.Background(), "rooms/hall/say", []byte(payload), tt.left)
			check.That(t, err == nil, "%s: %v", tt.members, err)
			synctest.Wait()
			_, err = front.Find(id)
			check.That(t, (err == nil) == tt.spoken, "%s: %v", tt.members, err)
		}
		time.Sleep(time.Minute)
		front.expectSpoken(1, 1, 1)
		i := slices.Index(b.seen, "rooms/kitchen/report")
		check.That(t, i >= 0, "messages: %q", b.seen)
	})
}

// Two hosts of one name are noticed, and a host that was renamed leaves no room behind.
func TestRooms_names(t *testing.T) {
	house(t, "hall kitchen", func(b *broker, hosts map[string]*host) {
		front := hosts["hall"]
		check.That(t, front.Namesake() == "", "there is another hall")
		b.publish(rooms.Message{Topic: "host-2/status", Payload: []byte("online"), Retain: true})
		b.publish(rooms.Message{Topic: "rooms/hall/status", Payload: []byte(`{"host":"host-2"}`), Retain: true})
		b.publish(rooms.Message{Topic: "rooms/parlor/status", Payload: []byte(`{"host":"host-hall"}`), Retain: true})
		synctest.Wait()
		check.That(t, front.Namesake() == "host-2", "the other hall is not noticed")
		left := b.last["rooms/parlor/status"].Payload
		check.That(t, len(left) == 0, "the former room is %s", left)
		check.That(t, !front.Has("parlor") && front.Has("Kitchen") && front.Has("all"),
			"known rooms: %+v", front.Rooms.List())
	})
}

// 500 rooms and hosts are remembered, each with an identifier of at most 128 bytes.
func TestReceive_limits(t *testing.T) {
	t.Parallel()
	r := rooms.New("hall", "h", bus{&host{broker: &broker{}}}, slog.New(slog.DiscardHandler))
	see := func(topic, payload string) error { return r.Receive(t.Context(), topic, []byte(payload), 0) }
	for length, ok := range map[int]bool{128: true, 129: false} {
		id := strings.Repeat("x", length)
		check.Equal(t, see("rooms/attic/status", `{"host":"`+id+`"}`) == nil, ok, "a host of %d bytes", length)
		check.Equal(t, see(id+"/status", "online") == nil, ok, "a host of %d bytes online", length)
	}
	for i := range 600 {
		check.NoError(t, see(fmt.Sprintf("rooms/r%d/status", i), `{"host":"h2"}`))
	}
	check.Equal(t, len(r.List()), 501, "rooms, with this one")
	check.That(t, r.Has("r498") && !r.Has("r499"), "the last that is known is not the 500th")
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"kitchen": true, "living-room_2": true, "küche": true, strings.Repeat("a", 64): true,
		"": false, "all": false, "Kitchen": false, "a b": false, "a/b": false, "+": false, "#": false, "a=b": false,
		strings.Repeat("a", 65): false,
	} {
		err := rooms.CheckName(name)
		check.That(t, (err == nil) == ok, "%q: %v", name, err)
	}
}

func TestNameOf(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"Kitchen.lan": "kitchen", "pi 4": "pi-4", "": "pressbox", "all": "pressbox",
		strings.Repeat("a", 65): "pressbox",
	} {
		got := rooms.NameOf(host)
		check.That(t, got == want, "%q: %q, want %q", host, got, want)
	}
}

// Whatever arrives, Receive returns, and the rooms stay those of statuses.
func FuzzReceive(f *testing.F) {
	id := strings.Repeat("c", 26)
	say := `{"do":"say","id":"` + id + `","from":"kitchen","message":"x","ttl":600,"left":600,"times":3,"interval":60}`
	f.Add("rooms/hall/say", []byte(say))
	f.Add("rooms/hall/say", []byte(`{"do":"ack","id":"`+id+`","from":"kitchen"}`))
	f.Add("rooms/hall/report", []byte(`{"id":"`+id+`","room":"kitchen","status":"done","acknowledged":true}`))
	f.Add("rooms/kitchen/status", []byte(`{"host":"h"}`))
	f.Add("rooms/kitchen/status", []byte(``))
	f.Add("h/status", []byte(`online`))
	f.Fuzz(func(t *testing.T, topic string, payload []byte) {
		b := &broker{t: t, last: map[string]rooms.Message{}, hosts: map[string]*host{}}
		h := &host{
			outbox: &outbox{stored: map[string]announce.Announcement{}, keys: map[string]string{}}, broker: b,
			room: "hall", max: 10, wake: make(chan struct{}, 1),
		}
		h.Rooms = rooms.New("hall", "host-hall", bus{h}, slog.New(slog.DiscardHandler))
		h.Announcer = check.Must(announcer.New(
			announce.Config{Max: 10, TTL: time.Minute, Rate: 170},
			announcer.Parts{
				Outbox: h.outbox, Speaker: speaker{}, Sink: h, Rooms: h.Rooms, Log: slog.New(slog.DiscardHandler),
			},
		))(t)
		h.Attach(h.Announcer)
		_ = h.Receive(context.Background(), topic, payload, 0)
		for _, room := range h.Rooms.List()[1:] {
			check.That(t, rooms.CheckName(room.Name) == nil && strings.HasSuffix(topic, "/status"),
				"after %q %q there is room %+v", topic, payload, room)
		}
	})
}
