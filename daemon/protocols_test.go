package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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

// newPublisher starts a broker and a server without a sound server, whose queue holds everything.
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
				select {
				case p.topics <- m:
				default: // nobody waits for more
				}
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
	got := health.Integrations["mqtt"]
	check.That(t, got.On && got.Detail == "", "MQTT is %+v in /health, want on", got)
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

// publish publishes an announcement once. If it is not acknowledged, because the connection ends or the broker takes
// too long, it is unknown whether the broker has it.
func (p *publisher) publish(text string) {
	p.t.Helper()
	for {
		err := p.session.Publish(p.t.Context(), mqtt.Message{Topic: p.topic + "/say", Payload: []byte(text)})
		p.sent[text] = err == nil
		if !errors.Is(err, mqtt.ErrOffline) {
			return
		}
		p.awaitUp()
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

// TestAll_mqttFaults publishes 200 announcements each while the broker is restarted or killed, the network is cut, and
// the server is killed. Each is in the queue once, except what a killed broker forgot.
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
	out, err := cmd.CombinedOutput()
	check.Require(t, err == nil, "%v: %v\n%s", cmd.Args, err, out)
	if n := p.count(false)[text]; n != 1 {
		t.Errorf("the announcement is in the queue %d times, want once", n)
	}
}

// A wyomingClient is a client of the Wyoming protocol.
type wyomingClient struct {
	net.Conn
	tb testing.TB
	in *bufio.Reader
}

func dialWyoming(tb testing.TB, address string) wyomingClient {
	tb.Helper()
	conn := check.Must(net.Dial("tcp", address))(tb)
	tb.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
	check.NoError(tb, conn.SetDeadline(time.Now().Add(servertest.MaxWait)))
	return wyomingClient{conn, tb, bufio.NewReader(conn)}
}

// send sends an event.
func (c wyomingClient) send(kind string, data any) {
	c.tb.Helper()
	text := check.Must(json.Marshal(data))(c.tb)
	check.Must(fmt.Fprintf(c, "{\"type\": %q, \"version\": \"1.9.0\", \"data_length\": %d}\n%s",
		kind, len(text), text))(c.tb)
}

// next returns the type of the next event, its data, and the length of its payload.
func (c wyomingClient) next() (kind, data string, payload int) {
	c.tb.Helper()
	var header struct {
		Type    string `json:"type"`
		Data    int    `json:"data_length"`
		Payload int    `json:"payload_length"`
	}
	check.NoError(c.tb, json.Unmarshal(check.Must(c.in.ReadBytes('\n'))(c.tb), &header))
	body := make([]byte, header.Data+header.Payload)
	check.Must(io.ReadFull(c.in, body))(c.tb)
	return header.Type, string(body[:header.Data]), header.Payload
}

// speech sends a text and returns the number of samples of its speech.
func (c wyomingClient) speech(text string) (samples int) {
	c.tb.Helper()
	c.send("synthesize", map[string]string{"text": text})
	for {
		kind, data, payload := c.next()
		if samples += payload / 2; kind == "audio-stop" {
			return samples
		} else if kind == "error" {
			c.tb.Fatal(data)
		}
	}
}

// wyomingHealth returns what a server reports about the Wyoming protocol.
func wyomingHealth(tb testing.TB, p *servertest.Process) wyomingReport {
	tb.Helper()
	var h struct {
		Integrations struct{ Wyoming wyomingReport }
	}
	resp := check.Must(http.Get(p.URL + "/health"))(tb)
	defer resp.Body.Close()
	check.NoError(tb, json.NewDecoder(resp.Body).Decode(&h))
	return h.Integrations.Wyoming
}

type wyomingReport struct {
	On                      bool
	Summary, Detail, Status string
}

// The voices, the rate and the lexicon are those of the other ways to speech.
func TestWyoming_speech(t *testing.T) {
	t.Parallel()
	dir := servertest.CalibratedDir(t)
	lexicon := filepath.Join(t.TempDir(), "lexicon")
	check.NoError(t, os.WriteFile(lexicon, []byte("Kowalczyk = Kovalchick of the kitchen\n"), 0o600))
	p := servertest.RunIn(t, dir, servertest.Environment(t,
		servertest.Silent, "LEXICON_FILE="+lexicon, "DEFAULT_RATE=130"))
	report := wyomingHealth(t, p)
	address, ok := strings.CutPrefix(report.Summary, "at ")
	check.Require(t, report.On && ok, "health: %+v", report)
	c := dialWyoming(t, address)
	c.send("describe", nil)
	if kind, data, _ := c.next(); kind != "info" ||
		!strings.Contains(data, `"voices":[{"name":"en_US-heart-medium",`) ||
		!strings.Contains(data, `"languages":["en_US","en-US"]`) {
		t.Errorf("describe: %s %s", kind, data)
	}
	const text = "Mr. Kowalczyk is at the door. Please open it."
	resp := check.Must(http.Post(p.URL+"/v1/audio/speech",
		"application/json", strings.NewReader(fmt.Sprintf(`{"input": %q, "response_format": "wav"}`, text))))(t)
	defer resp.Body.Close()
	wav := check.Must(io.ReadAll(resp.Body))(t)
	got, want := c.speech(text), (len(wav)-44)/2
	check.That(t, got == want && got >= 22050, "%d samples, want %d as /v1/audio/speech", got, want)
}

// A port in use keeps nothing else from working, and a setting switches the protocol off.
func TestWyoming_settings(t *testing.T) {
	t.Parallel()
	used := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	check.Close(t, used)
	_, port, _ := net.SplitHostPort(used.Addr().String())
	for _, tt := range []struct {
		settings []string
		health   wyomingReport
		result   string // of doctor
		log      bool
	}{
		{[]string{"WYOMING_PORT=" + port}, wyomingReport{
			true, "at 127.0.0.1:" + port, "port " + port + " is in use by another program", "degraded",
		}, warning, true},
		{
			[]string{"WYOMING_PORT=" + port, "WYOMING=off"},
			wyomingReport{Summary: "WYOMING=off", Status: "ok"},
			ok,
			false,
		},
		{[]string{"NOTIFY_ACCESS=token"}, wyomingReport{Summary: "NOTIFY_ACCESS=token", Status: "ok"}, ok, false},
		{[]string{"NOTIFY_ACCESS=off"}, wyomingReport{Summary: "NOTIFY_ACCESS=off", Status: "ok"}, ok, false},
	} {
		t.Run(strings.Join(tt.settings, " "), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			env := append(tt.settings, servertest.Silent)
			p := servertest.RunIn(t, dir, servertest.Environment(t, env...))
			check.Equal(t, wyomingHealth(t, p), tt.health, "health")
			if tt.log && !p.AwaitLog(`level=WARN msg="protocol unavailable" protocol=wyoming`) ||
				strings.Contains(p.Logged(), `"protocol listening" protocol=wyoming`) {
				t.Errorf("logged:\n%s", p.Logged())
			}
			findings := runDoctor(t, dir, env...)
			check.That(t, has(findings, "wyoming", tt.result, tt.health.Detail, ""), "doctor: %+v", findings)
		})
	}
}

// A socket from systemd is served, or its clients are disconnected.
func TestWyoming_socketActivation(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"on", "off"} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			env := servertest.Environment(t, servertest.Silent, "WYOMING="+setting, "WYOMING_PORT=1")
			_, web := openSocket(t, "tcp", "127.0.0.1:0")
			address, file := openSocket(t, "tcp", "127.0.0.1:0")
			early := dialWyoming(t, address)
			early.send("ping", nil)
			p := check.Must(activate(t.TempDir(), env, "http:wyoming", web, file))(t)
			t.Cleanup(func() { _ = p.End(9) }) // it may have ended
			got := wyomingHealth(t, p)
			check.That(t, got.On == (setting == "on") && (!got.On || got.Summary == "at "+address), "health: %+v", got)
			line, err := early.in.ReadString('\n')
			check.That(t, strings.Contains(line, `"pong"`) == (setting == "on") && (err == nil) == (setting == "on"),
				"the client: %q, %v", line, err)
		})
	}
}

// BenchmarkFirstChunk compares the time from synthesize to the first audio-chunk with that from
// POST /notify to the first sample written to PulseAudio, in turns. Limit: x-first-sample ≤ 1.2.
func BenchmarkFirstChunk(b *testing.B) {
	const turns = 25
	a, c := runApp(b)
	var chunks, samples []time.Duration
	turn := func() {
		samples = append(samples, firstSample(b, a, c, twelveWords))
		client := dialWyoming(b, strings.TrimPrefix(a.wyomingState.Summary, "at "))
		client.speech("Ready.") // ends after the synthesis of what was cancelled
		check.Must(a.phonemizer.Phonemes(b.Context(), "en-us", "warm"))(b)
		began := time.Now()
		client.send("synthesize", map[string]string{"text": twelveWords})
		for payload := 0; payload == 0; {
			_, _, payload = client.next()
		}
		chunks = append(chunks, time.Since(began))
		for kind := ""; kind != "audio-stop"; {
			kind, _, _ = client.next()
		}
		check.NoError(b, client.Close())
	}
	for b.Loop() {
		turn()
	}
	for len(chunks) < turns {
		turn()
	}
	b.ReportMetric(median(chunks).Seconds()*1e3, "ms/first-chunk")
	b.ReportMetric(float64(median(chunks))/float64(median(samples)), "x-first-sample")
	b.ReportMetric(0, "ns/op")
}
