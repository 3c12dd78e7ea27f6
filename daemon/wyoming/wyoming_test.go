package wyoming_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/audio"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/daemon/wyoming"
	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
)

// The bytes of every event.
func TestServer_goldenBytes(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		p := r.dial()
		const format = "\n" + `{"rate":22050,"width":2,"channels":1,"timestamp":null}`
		for _, tt := range []struct {
			kind, data string
			want       []string
		}{
			{"describe", "", []string{
				`{"type":"info","version":"1.9.0","data_length":434}` + "\n" +
					`{"asr":[],"handle":[],"intent":[],"wake":[],"mic":[],"snd":[],` +
					`"tts":[{"name":"pressbox","attribution":{"name":"Pressbox","url":""},` +
					`"installed":true,"description":"Pressbox","version":"1.2.3",` +
					`"supports_synthesize_streaming":true,"voices":[{"name":"en_US-ballpark-medium",` +
					`"attribution":{"name":"MIT","url":""},"installed":true,"description":"Ballpark (English, US)",` +
					`"version":null,"languages":["en_US"],"speakers":[{"name":"p225"}]}]}]}`,
			}},
			{
				"ping", `{"text": "ü"}`,
				[]string{`{"type":"pong","version":"1.9.0","data_length":13}` + "\n" + `{"text":"ü"}`},
			},
			{"synthesize", `{"text": "one", "voice": {"name": "en_US-ballpark-medium"}}`, []string{
				`{"type":"audio-start","version":"1.9.0","data_length":54}` + format,
				`{"type":"audio-chunk","version":"1.9.0","data_length":54,"payload_length":4096}` + format,
				`{"type":"audio-chunk","version":"1.9.0","data_length":54,"payload_length":314}` + format,
				`{"type":"audio-stop","version":"1.9.0","data_length":18}` + "\n" + `{"timestamp":null}`,
			}},
			{"synthesize", `{"text": " \n"}`, []string{
				`{"type":"audio-start","version":"1.9.0","data_length":54}` + format,
				`{"type":"audio-stop","version":"1.9.0","data_length":18}` + "\n" + `{"timestamp":null}`,
			}},
			{"synthesize-start", `{"voice": null}`, nil},
			{"synthesize-stop", "", []string{
				`{"type":"audio-start","version":"1.9.0","data_length":54}` + format,
				`{"type":"audio-stop","version":"1.9.0","data_length":18}` + "\n" + `{"timestamp":null}`,
				`{"type":"synthesize-stopped","version":"1.9.0"}` + "\n",
			}},
			{"transcribe", `{"language": "en"}`, nil}, // of another service
			{"synthesize", `{"text": "one", "voice": {"name": "v"}}`, []string{
				`{"type":"error","version":"1.9.0","data_length":110}` + "\n" +
					`{"text":"voice: voice \"v\" is not installed; installed voices: en_US-ballpark-medium",` +
					`"code":"unknown_voice"}`,
			}},
		} {
			p.send(tt.kind, tt.data)
			for _, want := range tt.want {
				e, ok := p.next()
				if !ok || e.text != want {
					r.T.Fatalf("%s %s:\n%q, want\n%q", tt.kind, tt.data, e.text, want)
				}
				quarter := bytes.Repeat([]byte{0, 0x20}, len(e.payload)/2) // of the range, little-endian
				if !bytes.Equal(e.payload, quarter) {
					r.T.Errorf("%s %s: payload % x", tt.kind, tt.data, e.payload)
				}
			}
		}
		p.ended()
	})
}

// A text is spoken between one audio-start and one audio-stop; the connection stays open.
func TestServer_synthesize(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		p := r.dial()
		for _, data := range []string{
			`{"text": "one two. three"}`, `{"text": "one two. three", "voice": null, "context": null}`,
			`{"text": "one two three", "voice": {"language": "en-US"}}`,
			`{"text": "one two three", "voice": {"language": "fr"}}`,
		} {
			p.send("synthesize", data)
			if got := p.speech(); got != 3*2205 {
				r.T.Errorf("%s: %d samples, want 3 clips of 2205", data, got)
			}
		}
		log := r.LogLine("wyoming request")
		if !strings.Contains(log, "client=192.168.1.20 voice=en_US-ballpark-medium characters=14 ") {
			r.T.Errorf("logged as %q", log)
		}
		p.send("synthesize", `{"text": "one", "voice": {"name": "en_US-ballpark-medium", "speaker": "p226"}}`)
		if e := p.want("error"); !strings.Contains(e.text, "en_US-ballpark-medium#p226") {
			r.T.Errorf("another speaker: %s", e.text)
		}
	})
}

// A sentence is spoken when it is complete, after the usual pause, and the whole text that is sent again is
// ignored.
func TestServer_stream(t *testing.T) {
	const pause = 4410 // samples
	inBubble(t, unchanged, func(r *rig) {
		p := r.dial()
		for range 2 {
			p.send("synthesize-start", `{"voice": {"name": "en_US-ballpark-medium"}}`)
			for _, chunk := range []string{"One", " two", ". ", "Three. "} {
				p.send("synthesize-chunk", `{"text": "`+chunk+`"}`)
			}
			if got := p.speech(); got != 2*2205 {
				r.T.Errorf("first sentence: %d samples", got)
			}
			p.send("synthesize-chunk", `{"text": "Four five! Six"}`)
			if got := p.speech(); got != pause+3*2205 {
				r.T.Errorf("two sentences: %d samples", got)
			}
			p.send("synthesize-chunk", `{"text": "\ud83d\ude42. "}`) // the face has no speech of its own
			p.send("synthesize", `{"text": "One two. Three. Four five! Six"}`)
			p.send("ping", "")
			p.want("pong")
			p.send("synthesize-stop", "{}")
			if got := p.speech(); got != pause+2205 {
				r.T.Errorf("the rest: %d samples", got)
			}
			p.want("synthesize-stopped")
		}
		p.send("synthesize-chunk", `{"text": "Not in a stream. Not."}`)
		p.send("synthesize-stop", "")
		p.send("synthesize-start", "")
		p.send("synthesize-chunk", `{"text": "`+strings.Repeat("é", announce.MaxMessage)+`"}`)
		p.send("synthesize-chunk", `{"text": "x"}`)
		p.refused(announce.CodeTooLong)
	})
}

// voices is a speaker whose clips have the rates of its words.
type voices struct{ announcer.Speaker }

func (voices) Speak(_ context.Context, u announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(yield func(announce.Clip, error) bool) {
		for word := range strings.FieldsSeq(strings.ToLower(u.Message)) {
			rate := map[string]int{"low.": 16000, "high.": 22050}[word]
			if rate == 0 {
				yield(
					announce.Clip{},
					map[string]error{"silent.": voice.ErrNoSpeech, "broken.": errors.New("no model")}[word],
				)
				return
			}
			yield(announce.Clip{Clip: audio.Clip{Rate: rate, Samples: make([]float32, rate)}}, nil) // a second
		}
	}
}

// All of a stream has one format, also if another voice speaks a part of it.
func TestServer_oneFormat(t *testing.T) {
	inBubble(t, func(c *wyoming.Config, _ *site.Config) { c.Speaker = voices{&webtest.Speaker{}} }, func(r *rig) {
		p := r.dial()
		p.send("synthesize-start", "")
		for i, word := range []string{"High", "Low", "Low", "High", "Silent"} {
			p.send("synthesize-chunk", `{"text": "`+word+`. "}`)
			if i == 0 {
				continue // it is complete when the next one begins
			}
			want := 22050
			if i > 1 {
				want += 4410
			}
			if got := p.speech(); got < want-3 || got > want+3 {
				r.T.Errorf("sentence %d: %d samples, want %d", i, got, want)
			}
		}
		p.send("synthesize-stop", "")
		p.want("synthesize-stopped")
		p.send("synthesize", `{"text": "silent."}`)
		if got := p.speech(); got != 0 {
			r.T.Errorf("%d samples of nothing", got)
		}
		p.send("synthesize", `{"text": "High. Broken."}`)
		p.want("audio-start")
		e := p.want("audio-chunk")
		for e.kind == "audio-chunk" {
			e, _ = p.next()
		}
		if e.kind != "error" || strings.Contains(e.text, "no model") ||
			!strings.Contains(r.LogLine("no model"), "level=ERROR") {
			r.T.Errorf("%s, want an internal error, logged", e.text)
		}
		p.ended()
	})
}

// Clients of several addresses are served at once: two by the speech slots, which HTTP shares, and the others
// when these are free.
func TestServer_speechSlots(t *testing.T) {
	inBubble(t, unchanged, func(r *rig) {
		r.Speaker.Gate = make(chan struct{})
		ended := make(chan int)
		speak := func(address string) {
			go func() {
				p := r.dialFrom(address)
				p.send("synthesize", `{"text": "one"}`)
				ended <- p.speech()
			}()
			synctest.Wait()
		}
		speak("192.168.1.21:1")
		speak("192.168.1.22:1")
		r.Do(r.T, "POST", "/v1/audio/speech", `{"input": "x"}`).Want(503, "busy")
		r.Do(r.T, "POST", "/v1/audio/speech", `{"input": "x"}`, "Client", "192.168.1.21:2").
			Want(429, "too_many_requests")
		for _, address := range []string{"192.168.1.23:1", "192.168.1.21:2", "127.0.0.1:1", "127.0.0.1:2"} {
			speak(address)
		}
		for range 6 {
			r.Speaker.Gate <- struct{}{}
			if got := <-ended; got != 2205 {
				r.T.Errorf("%d samples", got)
			}
		}
		late := func(address, code string) {
			p := r.dialFrom(address)
			p.send("synthesize", `{"text": "one"}`)
			began := time.Now()
			p.refused(code)
			if waited := time.Since(began); waited != 10*time.Second {
				r.T.Errorf("waited %v for a slot, want 10s", waited)
			}
		}
		speak("192.168.1.21:1")
		late("192.168.1.21:2", "too_many_requests")
		speak("192.168.1.22:1")
		late("192.168.1.23:1", "busy")
		for range 2 {
			r.Speaker.Gate <- struct{}{}
			<-ended
		}
	})
}

// Requests for speech count in NOTIFY_RATE, with those of HTTP; others do not.
func TestServer_notifyRate(t *testing.T) {
	inBubble(t, func(_ *wyoming.Config, s *site.Config) { s.NotifyRate = 6 }, func(r *rig) { // in bursts of 3
		r.Do(r.T, "POST", "/v1/audio/speech", `{"input": "x"}`).Want(200, "")
		p := r.dial()
		p.send("synthesize", `{"text": "one"}`)
		p.speech()
		p.send("synthesize-start", "")
		for range 3 {
			p.send("synthesize-chunk", `{"text": "One. Two"}`)
			p.speech()
			p.send("describe", "")
			p.want("info")
		}
		p.send("synthesize-start", "")
		p.refused("too_many_requests")
		r.Do(r.T, "POST", "/v1/audio/speech", `{"input": "x"}`).Want(429, "too_many_requests")
		for range 10 {
			p := r.dialFrom("127.0.0.1:1")
			p.send("synthesize", `{"text": "one"}`)
			p.speech()
		}
		time.Sleep(10 * time.Second)
		p = r.dial()
		p.send("synthesize", `{"text": "one"}`)
		p.speech()
	})
}

// With NOTIFY_RATE_LOOPBACK, clients on the host are counted too.
func TestServer_limitLoopback(t *testing.T) {
	inBubble(t, func(c *wyoming.Config, s *site.Config) { c.LimitLoopback, s.NotifyRate = true, 2 }, func(r *rig) {
		p := r.dialFrom("127.0.0.1:1")
		p.send("synthesize", `{"text": "one"}`)
		p.speech()
		p.send("synthesize", `{"text": "one"}`)
		p.refused("too_many_requests")
	})
}

func TestServer_addresses(t *testing.T) {
	for _, open := range []bool{false, true} {
		t.Run(map[bool]string{false: "lan", true: "open"}[open], func(t *testing.T) {
			inBubble(t, func(c *wyoming.Config, _ *site.Config) { c.Open = open }, func(r *rig) {
				for address, local := range map[string]bool{
					"192.168.1.20:1": true, "[fe80::1%eth0]:1": true, "127.0.0.1:1": true,
					"[::ffff:10.0.0.1]:1": true, "203.0.113.5:1": false, "[2001:db8::1]:1": false,
				} {
					p := r.dialFrom(address)
					p.send("ping", "")
					if _, ok := p.next(); ok != (local || open) {
						r.T.Errorf("%s answered: %t, want %t", address, ok, local || open)
					}
				}
			})
		})
	}
}
