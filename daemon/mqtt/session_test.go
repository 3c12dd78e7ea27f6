package mqtt_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"pressbox/daemon/mqtt"
	"pressbox/daemon/mqtt/mqtttest"
	"pressbox/packaging/check"
)

// limit bounds the wait for what must happen.
const limit = time.Minute

// A peer is a session whose messages a test receives.
type peer struct {
	*mqtt.Session

	config   mqtt.Config
	received chan mqtt.Message
	handle   func(mqtt.Message) error // nil accepts all
	up       chan struct{}
}

// newPeer returns a session that is not running.
func newPeer(tb testing.TB, broker *url.URL, id string) *peer {
	tb.Helper()
	p := &peer{received: make(chan mqtt.Message, 10_000), up: make(chan struct{}, 1000)}
	p.config = mqtt.Config{
		URL: broker, ClientID: id, MinDelay: 10 * time.Millisecond,
		Log:           slog.New(slog.NewTextHandler(tb.Output(), nil)),
		InstanceTopic: "instance/" + id,
		Will:          mqtt.Message{Topic: id + "/status", Payload: []byte("offline")},
		SaveToken:     func(context.Context, string) error { return nil },
		OnConnect:     []func(){func() { p.up <- struct{}{} }},
		Subscriptions: []mqtt.Subscription{{Filter: id + "/#", Handle: func(_ context.Context, m mqtt.Message) error {
			if p.handle != nil {
				if err := p.handle(m); err != nil {
					return err
				}
			}
			p.received <- m
			return nil
		}}},
	}
	return p
}

// run runs it and waits for its first connection.
func (p *peer) run(t *testing.T) (stop func()) {
	t.Helper()
	p.Session = mqtt.New(p.config)
	stop = check.Run(t, p.Run)
	p.awaitUp(t)
	return stop
}

func (p *peer) awaitUp(t *testing.T) {
	t.Helper()
	receive(t, p, p.up)
}

// next returns the next message.
func (p *peer) next(t *testing.T) mqtt.Message {
	t.Helper()
	return receive(t, p, p.received)
}

func receive[T any](tb testing.TB, p *peer, from <-chan T) (received T) {
	tb.Helper()
	select {
	case received = <-from:
	case <-time.After(limit):
		tb.Fatalf("nothing received; status %+v", p.Status())
	}
	return received
}

// say publishes to p/say until the broker has acknowledged it.
func (p *peer) say(t *testing.T, payload string) {
	t.Helper()
	for {
		err := p.Publish(t.Context(), mqtt.Message{Topic: "p/say", Payload: []byte(payload)})
		if err == nil {
			return
		}
		p.awaitUp(t)
	}
}

func TestSession_messages(t *testing.T) {
	t.Parallel()
	b := mqtttest.Start(t)
	sender := newPeer(t, b.URL("mqtt"), "sender")
	sender.run(t)
	retained := mqtt.Message{Topic: "p/stale", Payload: []byte("retained"), Retained: true}
	check.NoError(t, sender.Publish(t.Context(), retained))
	p := newPeer(t, b.URL("mqtt"), "p")
	p.run(t)
	retained.Topic = "p/live"
	check.NoError(t, sender.Publish(t.Context(), retained))
	keys := map[string]bool{}
	for range 2 { // the same twice is two messages
		sender.say(t, "Hello.")
		m := p.next(t)
		check.Require(t, m.Topic == "p/say" && string(m.Payload) == "Hello." && !m.Retained && m.Key != "",
			"received %+v, want Hello. and no retained message", m)
		keys[m.Key] = true
	}
	check.Equal(t, len(keys), 2, "different keys")
	large := strings.Repeat("x", mqtt.MaxPacket)
	sender.say(t, large) // the broker discards it
	sender.say(t, large[:mqtt.MaxPacket-100])
	check.Equal(t, len(p.next(t).Payload), mqtt.MaxPacket-100, "the payload of the largest packet")
}

// A subscription that wants them receives what the broker has kept.
func TestSession_retained(t *testing.T) {
	t.Parallel()
	b := mqtttest.Start(t)
	p := newPeer(t, b.URL("mqtt"), "p")
	p.config.Subscriptions[0].Retained = true
	stop := p.run(t)
	check.NoError(t, p.Publish(t.Context(), mqtt.Message{Topic: "p/kept", Payload: []byte("on"), Retained: true}))
	check.That(t, p.next(t).Retained, "the message is not a retained one")
	stop()
	watcher := newPeer(t, b.URL("mqtt"), "w")
	watcher.config.Subscriptions[0].Filter, watcher.config.Subscriptions[0].Retained = "p/#", true
	watcher.run(t)
	got := map[string]string{}
	for range 2 {
		m := watcher.next(t)
		got[m.Topic] = string(m.Payload)
	}
	check.That(t, got["p/kept"] == "on" && got["p/status"] == "offline",
		"kept: %v, want the publication and the will of the session that ended", got)
}

// What a handler could not process comes again, with the same key, also to a new process.
func TestSession_redelivers(t *testing.T) {
	t.Parallel()
	b := mqtttest.Start(t)
	sender := newPeer(t, b.URL("mqtt"), "sender")
	sender.run(t)
	p := newPeer(t, b.URL("mqtt"), "p")
	var token string
	p.config.SaveToken = func(_ context.Context, t string) error { token = t; return nil }
	var keys []string
	failed := make(chan struct{}, 1)
	p.handle = func(m mqtt.Message) error {
		if keys = append(keys, m.Key); len(keys) == 1 {
			failed <- struct{}{}
			return errors.New("the disk is full")
		}
		return nil
	}
	stop := p.run(t)
	sender.say(t, "first")
	<-failed
	p.next(t)
	check.That(t, len(keys) == 2 && keys[0] == keys[1] && keys[0] != "", "redelivered with the keys %q", keys)
	stop()
	sender.say(t, "while away")
	again := newPeer(t, b.URL("mqtt"), "p")
	again.config.Token = token
	again.run(t)
	m := again.next(t)
	if m.Key == keys[0] { // stopped before its acknowledgement was sent
		m = again.next(t)
	}
	check.That(t, string(m.Payload) == "while away" && strings.HasPrefix(m.Key, token+"/"),
		"received %+v, want what was sent meanwhile, with a key of the session %s", m, token)
}

// A cut while a handler runs: nothing is acknowledged, and the same comes again.
func TestSession_cut(t *testing.T) {
	t.Parallel()
	b := mqtttest.Start(t)
	sender := newPeer(t, b.URL("mqtt"), "sender")
	sender.run(t)
	p := newPeer(t, b.URL("mqtt"), "p")
	first := true
	p.handle = func(mqtt.Message) error {
		if first {
			first = false
			b.Cut()
		}
		return nil
	}
	p.run(t)
	go func() { _ = sender.Publish(t.Context(), mqtt.Message{Topic: "p/say", Payload: []byte("once")}) }()
	one, two := p.next(t), p.next(t)
	check.That(t, one.Key == two.Key && string(two.Payload) == "once", "received %+v and %+v, want the same", one, two)
}

// Another process with the same client ID does not make two of them fight forever.
func TestSession_takenOver(t *testing.T) {
	t.Parallel()
	b := mqtttest.Start(t)
	a, c := newPeer(t, b.URL("mqtt"), "same"), newPeer(t, b.URL("mqtt"), "same")
	a.run(t)
	c.run(t)
	for deadline := time.After(limit); !a.Status().Stopped && !c.Status().Stopped; {
		select {
		case <-a.up:
		case <-c.up:
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			t.Fatalf("neither stopped: %+v, %+v", a.Status(), c.Status())
		}
	}
	stopped := a
	if c.Status().Stopped {
		stopped = c
	}
	s := stopped.Status()
	check.That(t, !s.Connected && strings.Contains(fmt.Sprint(s.Err), "three times in a minute"),
		"status %+v, want stopped with its reason", s)
}

// certificate returns the certificate of a server in PEM form.
func certificate(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

func TestSession_credentials(t *testing.T) {
	t.Parallel()
	const hash = "$7$101$cHJlc3Nib3ggdGVz$vVbzw+lq+C0hk+itmtedLaiTWfWbp9viyhYpOU43xYwyVU9tcS86rfcSbdxon4pMUNpfo0" +
		"/qXb4uVZqL2MfM/g==" // of "secret", by mosquitto_passwd
	dir := t.TempDir()
	write := func(name string, content []byte) (path string) {
		path = filepath.Join(dir, name)
		check.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	server := httptest.NewTLSServer(nil) // its certificate is one of 127.0.0.1, and signed by itself
	defer server.Close()
	key := check.Must(x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey))(t)
	ca := write("ca", certificate(server))
	keyFile := write("key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	passwords := write("passwords", []byte("pressbox:"+hash+"\n"))
	b := mqtttest.Start(t, "allow_anonymous false", "password_file "+passwords, "certfile "+ca, "keyfile "+keyFile)
	for _, tt := range []struct{ password, ca, err string }{
		{"secret", ca, ""},
		{"wrong", ca, "wrong MQTT_USERNAME or password"},
		{"secret", "", "certificate signed by unknown authority"},
		{"secret", filepath.Join(dir, "none"), "no such file"},
		{"secret", passwords, "has no certificate"},
	} {
		t.Run(fmt.Sprintf("%s %s", tt.password, filepath.Base(tt.ca)), func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, b.URL("mqtt"), "p"+tt.password+filepath.Base(tt.ca))
			p.config.URL, p.config.CAFile, p.config.Username = b.URL("mqtts"), tt.ca, "pressbox"
			p.config.Password = func() (string, error) { return tt.password, nil }
			p.Session = mqtt.New(p.config)
			check.Run(t, p.Run)
			if tt.err == "" {
				p.awaitUp(t)
				return
			}
			for deadline := time.Now().Add(limit); p.Status().Err == nil && time.Now().Before(deadline); {
				time.Sleep(10 * time.Millisecond) // the status is polled
			}
			check.Contains(t, fmt.Sprint(p.Status().Err), tt.err, "the error")
		})
	}
}

func TestSession_offline(t *testing.T) {
	t.Parallel()
	s := mqtt.New(mqtt.Config{})
	check.ErrorIs(t, s.Publish(t.Context(), mqtt.Message{Topic: "a"}), mqtt.ErrOffline, "Publish without a connection")
}

// A broker that is ended and restarted under 200 messages loses none; a killed one repeats some, with the same keys.
func TestSession_brokerRestart(t *testing.T) {
	t.Parallel()
	const n = 200
	b := mqtttest.Start(t)
	sender, p := newPeer(t, b.URL("mqtt"), "sender"), newPeer(t, b.URL("mqtt"), "p")
	p.run(t)
	sender.run(t)
	keys := map[string]string{} // key → payload
	for i := range n {
		sender.say(t, fmt.Sprintf("message %d", i))
		if i == n/2 {
			b.Stop()
			b.Restart()
		}
	}
	texts := map[string]bool{}
	for len(texts) < n {
		m := p.next(t)
		texts[string(m.Payload)] = true
		before, known := keys[m.Key]
		check.That(t, !known || before == string(m.Payload), "%q and %q have the same key", before, m.Payload)
		keys[m.Key] = string(m.Payload)
	}
	// The sender repeats the one in whose acknowledgement the broker ended.
	check.That(t, len(keys) <= n+1, "%d keys of %d messages", len(keys), n)
}

// A fakeBroker answers CONNECT with bytes, and sends no more.
type fakeBroker struct {
	net.Listener
	answer, then []byte
	endless      bool // zeros follow
	secure       bool // over TLS

	conns chan struct{} // receives a value for each connection that has ended
	sent  atomic.Int64  // zeros
}

func (b *fakeBroker) serve() {
	for {
		conn, err := b.Accept()
		if err != nil {
			return
		}
		_, _ = packets.ReadPacket(conn)
		_, err = conn.Write(append(b.answer, b.then...))
		for zeros := make([]byte, 4096); err == nil && b.endless; {
			var n int
			n, err = conn.Write(zeros)
			b.sent.Add(int64(n))
		}
		if writing, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = writing.CloseWrite()
		}
		_, _ = io.Copy(io.Discard, conn) // until the client has closed it
		_ = conn.Close()
		b.conns <- struct{}{}
	}
}

// hostileBroker returns a peer of a broker that answers each CONNECT with bytes.
func hostileBroker(tb testing.TB, b *fakeBroker) (p *peer, log *check.Log) {
	tb.Helper()
	b.Listener, b.conns = check.Must(net.Listen("tcp", "127.0.0.1:0"))(tb), make(chan struct{}, 1000)
	tb.Cleanup(func() { _ = b.Close() })
	p, log = newPeer(tb, &url.URL{Scheme: "mqtt", Host: b.Addr().String()}, "p"), &check.Log{}
	if b.secure {
		server := httptest.NewTLSServer(nil)
		defer server.Close()
		b.Listener, p.config.URL.Scheme = tls.NewListener(b.Listener, server.TLS), "mqtts"
		p.config.CAFile = filepath.Join(tb.TempDir(), "ca")
		check.NoError(tb, os.WriteFile(p.config.CAFile, certificate(server), 0o600))
	}
	go b.serve()
	p.config.Log = slog.New(slog.NewTextHandler(log, nil))
	p.Session = mqtt.New(p.config)
	return p, log
}

var connack = []byte{packets.CONNACK << 4, 3, 0, 0, 0}

// A broker that sends a packet of 256 MB, larger than was announced, costs the memory of the largest one. The
// connection ends before the packet is read, and is made again.
func TestSession_largePacket(t *testing.T) { //nolint:paralleltest // it measures memory
	const connections = 5
	huge := []byte{packets.PUBLISH << 4, 0xff, 0xff, 0xff, 0x7f}
	for name, b := range map[string]*fakeBroker{
		"as its answer": {then: huge, endless: true}, "as a message": {answer: connack, then: huge, endless: true},
		"over TLS": {answer: connack, then: huge, endless: true, secure: true},
	} {
		p, log := hostileBroker(t, b)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		stop := check.Run(t, p.Run)
		for range connections {
			receive(t, p, b.conns)
		}
		stop()
		runtime.ReadMemStats(&after)
		allocated, most := after.TotalAlloc-before.TotalAlloc, uint64(connections*mqtt.MaxPacket)
		if b.secure {
			most += connections * (512 << 10) // the handshakes, of both ends
		}
		check.That(t, allocated < most, "%s: %d bytes allocated, want less than %d", name, allocated, most)
		check.Contains(t, log.String(), "may send: 268435460 bytes, at most 65536", "%s: the log", name)
	}
}

// A broker that asks for an authentication which the client has not offered ends its connection and nothing else.
func TestSession_unexpectedAuthentication(t *testing.T) {
	t.Parallel()
	auth := []byte{packets.AUTH << 4, 7, packets.AuthContinueAuthentication, 5, 0x15, 0, 2, 'x', 'y'}
	for name, b := range map[string]*fakeBroker{
		"broker unavailable": {answer: auth}, "connection lost": {answer: connack, then: auth},
	} {
		p, log := hostileBroker(t, b)
		check.Run(t, p.Run)
		for range 2 {
			receive(t, p, b.conns)
		}
		check.Contains(t, log.String(), name, "the log")
		check.Contains(t, log.String(), "AUTH, without an authentication", "the log")
	}
	authenticated := []byte{packets.CONNACK << 4, 8, 0, 0, 5, 0x15, 0, 2, 'x', 'y'}
	p, _ := hostileBroker(t, &fakeBroker{answer: authenticated, then: auth})
	check.Run(t, p.Run)
	p.awaitUp(t)
}

// Whatever a broker answers, the server goes on.
func FuzzSession(f *testing.F) {
	publish := []byte{packets.PUBLISH<<4 | 2, 12, 0, 5, 'p', '/', 's', 'a', 'y', 0, 1, 0, 'H', 'i'}
	for _, seed := range [][]byte{
		connack,
		{packets.CONNACK << 4, 8, 0, 0, 5, 0x15, 0, 2, 'x', 'y'},
		{packets.AUTH << 4, 2, 0x18, 0},
		publish,
		{packets.CONNACK << 4, 3, 0, packets.ConnackNotAuthorized, 0},
		{packets.PUBLISH << 4, 0xff, 0xff, 0xff, 0x7f},
		slices.Concat(connack, []byte{packets.SUBACK << 4, 5, 0, 1, 0, 1, 0x87}, publish, publish),
		slices.Concat(connack, []byte{packets.DISCONNECT << 4, 2, 0x8e, 0}),
		slices.Concat(connack, []byte{packets.PUBREC << 4, 2, 0, 1, packets.PUBREL<<4 | 2, 2, 0, 1, 0xd0, 0}),
		slices.Concat(connack, []byte{packets.PUBLISH<<4 | 4, 9, 0, 3, 'p', '/', 'x', 0, 2, 0, 'H'}),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		b := &fakeBroker{answer: sent}
		p, _ := hostileBroker(t, b)
		stop := check.Run(t, p.Run)
		receive(t, p, b.conns)
		stop()
	})
}
