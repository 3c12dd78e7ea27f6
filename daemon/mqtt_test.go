package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/daemon/client"
	"pressbox/daemon/mqtt"
	"pressbox/daemon/mqtt/mqtttest"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
	"pressbox/store/killtest"
)

// A publisher publishes announcements to a server, and counts those that it has.
type publisher struct {
	t      *testing.T // the running test
	whole  *testing.T // ends the server
	broker *mqtttest.Broker
	dir    string
	env    []string
	server *servertest.Process

	session *mqtt.Session
	up      chan struct{}
	topics  chan mqtt.Message // below pressbox/
	topic   string            // of the device
	sent    map[string]bool   // message → acknowledged by the broker; false: unknown
}

// newPublisher starts a broker and a server without a sound server, whose queue holds
// everything.
func newPublisher(t *testing.T) *publisher {
	t.Helper()
	p := &publisher{
		t: t, whole: t, broker: mqtttest.Start(t), dir: t.TempDir(), up: make(chan struct{}, 10_000),
		topics: make(chan mqtt.Message, 10_000), sent: map[string]bool{},
	}
	p.env = servertest.Environment(t, "MQTT_URL="+p.broker.URL("mqtt").String(),
		"PULSE_SERVER=unix:"+p.dir+"/none", "QUEUE_MAX_SIZE=100000", "NOTIFY_TTL=86400", "NOTIFY_RATE=100000")
	p.session = mqtt.New(mqtt.Config{
		URL: p.broker.URL("mqtt"), ClientID: "publisher",
		Will: mqtt.Message{Topic: "publisher"}, InstanceTopic: "publisher/instance",
		MinDelay: 10 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
		SaveToken: func(context.Context, string) error { return nil },
		OnConnect: []func(){func() { p.up <- struct{}{} }},
		Subscriptions: []mqtt.Subscription{{
			Filter:   "#",
			Retained: true, Handle: func(_ context.Context, m mqtt.Message) error {
				p.topics <- m
				return nil
			},
		}},
	})
	check.Run(t, p.session.Run)
	p.awaitUp()
	p.start()
	p.await("the server", func(m mqtt.Message) (found bool) {
		p.topic, found = strings.CutSuffix(m.Topic, "/status")
		return found && string(m.Payload) == "online"
	})
	health := check.Must(client.HealthAt(t.Context(), p.server.URL))(t)
	if got := health.Integrations["mqtt"]; !got.On || got.Detail != "" {
		t.Errorf("MQTT is %+v in /health, want on", got)
	}
	return p
}

// start starts the server.
func (p *publisher) start() { p.server = servertest.RunIn(p.whole, p.dir, p.env) }

// awaitUp waits for the publisher's next connection.
func (p *publisher) awaitUp() {
	p.t.Helper()
	select {
	case <-p.up:
	case <-time.After(servertest.MaxWait):
		p.t.Fatalf("no connection: %+v", p.session.Status())
	}
}

// await waits for a message of the broker.
func (p *publisher) await(what string, is func(mqtt.Message) bool) {
	p.t.Helper()
	for deadline := time.After(servertest.MaxWait); ; {
		select {
		case m := <-p.topics:
			if is(m) {
				return
			}
		case <-deadline:
			p.t.Fatalf("%s: nothing was published; %+v\n%s", what, p.session.Status(), p.server.Logged())
		}
	}
}

// publish publishes an announcement once. If the connection ends before it is acknowledged, it
// is unknown whether the broker has it.
func (p *publisher) publish(text string) {
	p.t.Helper()
	for {
		err := p.session.Publish(p.t.Context(), mqtt.Message{Topic: p.topic + "/say", Payload: []byte(text)})
		p.sent[text] = err == nil
		if err == nil {
			return
		}
		p.awaitUp()
		if !errors.Is(err, mqtt.ErrOffline) {
			return
		}
	}
}

// count waits until the server has everything that was acknowledged, except what may be lost,
// and returns how often it has each message.
func (p *publisher) count(mayBeLost bool) map[string]int {
	p.t.Helper()
	p.publish("The end of " + p.t.Name() + ".")
	for deadline := time.Now().Add(servertest.MaxWait); ; {
		var list struct {
			Queue []client.Announcement `json:"queue"`
		}
		check.NoError(p.t, client.New(p.server.URL, "").Call(p.t.Context(), http.MethodGet, "/notify", nil, &list))
		counts, missing := map[string]int{}, []string{}
		for _, a := range list.Queue {
			counts[a.Message]++
		}
		for text, acknowledged := range p.sent {
			if counts[text] == 0 && acknowledged && (!mayBeLost || strings.HasPrefix(text, "The end")) {
				missing = append(missing, text)
			}
		}
		if len(missing) == 0 {
			return counts
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("lost: %q\n%s", missing, p.server.Logged())
		}
		select {
		case <-p.topics: // a state or an event
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestAll_mqttFaults publishes 200 announcements each while the broker is restarted or killed,
// the network is cut, and the server is killed. Each is in the queue once, except what a
// killed broker forgot.
func TestAll_mqttFaults(t *testing.T) {
	t.Parallel()
	p := newPublisher(t)
	const n = 200
	for round := range killtest.Rounds(t, 1) {
		for _, tt := range []struct {
			name    string
			every   int // messages between two faults
			fault   func()
			forgets bool
		}{
			{"broker restarted", n / 2, func() { p.broker.Stop(); p.broker.Restart() }, false},
			{"network cut", n / 4, p.broker.Cut, false},
			{"server killed", n / 2, func() { _ = p.server.End(syscall.SIGKILL); p.start() }, false},
			{"broker killed", n / 4, func() { p.broker.Kill(); p.broker.Restart() }, true},
		} {
			t.Run(fmt.Sprintf("%s %d", tt.name, round), func(t *testing.T) {
				p.t = t
				clear(p.sent)
				for i := range n {
					p.publish(fmt.Sprintf("%s, round %d, message %d.", tt.name, round, i))
					switch {
					case i%tt.every == tt.every/2:
						tt.fault()
					case tt.forgets && i%tt.every == tt.every/4:
						p.broker.Save() // what it sends between this and the fault it may send again
					}
				}
				counts, lost, unknown := p.count(tt.forgets), 0, 0
				for _, text := range slices.Sorted(maps.Keys(p.sent)) {
					switch {
					case counts[text] > 1:
						t.Errorf("%q is in the queue %d times", text, counts[text])
					case !p.sent[text]:
						unknown++
					case counts[text] == 0:
						lost++
					}
				}
				t.Logf("%d messages, %d without an answer of the broker, %d lost by it", len(p.sent), unknown, lost)
			})
		}
	}
}

// Apprise publishes on the broker, and the server has the announcement.
func TestAll_mqttApprise(t *testing.T) {
	t.Parallel()
	p := newPublisher(t)
	const text = "Dinner is ready."
	p.sent[text] = true
	cmd := exec.CommandContext(t.Context(), check.Part(t, "apprise"),
		"--body", text, p.broker.URL("mqtt").JoinPath(p.topic, "say").String()+"?qos=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	if n := p.count(false)[text]; n != 1 {
		t.Errorf("the announcement is in the queue %d times, want once", n)
	}
}
