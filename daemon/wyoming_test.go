package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

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
	if !report.On || !ok {
		t.Fatalf("health: %+v", report)
	}
	c := dialWyoming(t, address)
	c.send("describe", nil)
	if kind, data, _ := c.next(); kind != "info" ||
		!strings.Contains(data, `"voices":[{"name":"en_US-pressbox-medium",`) ||
		!strings.Contains(data, `"languages":["en_US"]`) {
		t.Errorf("describe: %s %s", kind, data)
	}
	const text = "Mr. Kowalczyk is at the door. Please open it."
	resp := check.Must(http.Post(p.URL+"/v1/audio/speech",
		"application/json", strings.NewReader(fmt.Sprintf(`{"input": %q}`, text))))(t)
	defer resp.Body.Close()
	wav := check.Must(io.ReadAll(resp.Body))(t)
	if got, want := c.speech(text), (len(wav)-44)/2; got != want || got < 22050 {
		t.Errorf("%d samples, want %d as /v1/audio/speech", got, want)
	}
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
			if tt.log && !p.AwaitLog(`level=WARN msg="wyoming unavailable"`) ||
				strings.Contains(p.Logged(), "wyoming listening") {
				t.Errorf("logged:\n%s", p.Logged())
			}
			if findings := runDoctor(t, dir, env...); !has(findings, "wyoming", tt.result, tt.health.Detail, "") {
				t.Errorf("doctor: %+v", findings)
			}
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
			if got := wyomingHealth(t, p); got.On != (setting == "on") || got.On && got.Summary != "at "+address {
				t.Errorf("health: %+v", got)
			}
			if line, err := early.in.ReadString('\n'); strings.Contains(line, `"pong"`) != (setting == "on") ||
				(err == nil) != (setting == "on") {
				t.Errorf("the client: %q, %v", line, err)
			}
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
