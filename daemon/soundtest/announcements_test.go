// Package soundtest records what the sound server plays, in real time. Its tests run alone, as
// a busy host spoils a recording.
package soundtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
	"pressbox/daemon/mqtt"
	"pressbox/daemon/mqtt/mqtttest"
	"pressbox/daemon/replica"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

// walk takes six seconds.
const walk = "The old couple walked slowly down the road to the village, and their dog ran ahead of them."

// passage has 56 ordinary words and no number.
const passage = walk + " " +
	"It was a fine morning in early summer. The birds sang in the trees, and the air was " +
	"full of the smell of flowers. " +
	"When they came to the bridge they stopped, looked at the water, and smiled at the children who played there."

// The sink receives every sample of an announcement's speech at its rate, once, and silence otherwise.
func TestAnnouncement_samples(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	for _, announcement := range []client.Announcement{
		{Message: "Dinner is ready. Please come down, all of you."},
		{Message: passage, Rate: 260},
	} {
		want := s.Samples(announcement)
		pulsetest.Retry(t, func(t *pulsetest.Attempt) {
			recording := s.Sound.Record()
			s.AwaitPlayed(s.Post(announcement).ID)
			got := recording.Stop()
			at := occurrences(got, want, 1)
			if len(at) != 1 {
				t.Errorf("the speech occurs %d times in %d samples, of which %d are audible; want %d samples once",
					len(at), len(got), len(audible(got)), len(audible(want)))
				return
			}
			check.That(t, peak(got[:at[0]]) <= 0 && peak(got[at[0]+len(want):]) <= 0,
				"there is other sound before or after it")
		})
		const most = rate * 45 / 100 // with what the voice leaves at its ends
		if _, between := pause(audible(want)); announcement.Rate == 0 && (between < rate*3/10 || between > most) {
			t.Errorf("the pause between the sentences has %d silent samples, want %d at most", between, most)
		}
		minutes := float64(len(audible(want))) / rate / 60
		if got := float64(len(strings.Fields(announcement.Message))) / minutes; announcement.Rate > 0 &&
			math.Abs(got/float64(announcement.Rate)-1) > 0.08 {
			t.Errorf("%.0f words per minute, want %d ± 8 %%", got, announcement.Rate)
		}
	}
}

func TestAnnouncement_urgentGain(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	const text = "The oven is on fire!"
	want := s.Samples(client.Announcement{Message: text})
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		s.AwaitPlayed(s.Post(client.Announcement{Message: text}).ID)
		s.AwaitPlayed(s.Post(client.Announcement{Message: text, Urgent: true}).ID)
		got := recording.Stop()
		plain, urgent := occurrences(got, want, 1), occurrences(got, want, 1.5)
		if len(plain) != 1 || len(urgent) != 1 || urgent[0] < plain[0] {
			t.Errorf("it occurs at %v, and with a gain of 1.5 at %v", plain, urgent)
			return
		}
		ratio := loudness(got[urgent[0]:urgent[0]+len(want)]) / loudness(got[plain[0]:plain[0]+len(want)])
		check.That(t, ratio >= 1.47 && ratio <= 1.53 && peak(got) < 1,
			"the gain is %.3f with a peak of %.3f; want 1.50 ± 0.03 and a peak below 1", ratio, peak(got))
	})
}

// act is the time within which a control acts on what is spoken, in samples.
const act = rate * 15 / 100

// Ways in which a server is controlled.
type controls struct {
	t       testing.TB
	s       *servertest.Server
	publish func(control, payload string)
}

// newControls starts a server that is controlled by its API, the command line and MQTT.
func newControls(t *testing.T, values ...string) controls {
	t.Helper()
	broker := mqtttest.Start(t)
	s := servertest.NewServer(t, append(values, "CONTROL_ACCESS=lan", "MQTT_URL="+broker.URL("mqtt").String())...)
	return controls{t, s, publisher(t, broker)}
}

func (c controls) byAPI(method, path string, body any) {
	c.t.Helper()
	check.NoError(c.t, c.s.Send(c.t.Context(), method, path, body))
}

func (c controls) byCommand(args ...string) {
	c.t.Helper()
	out, err := exec.CommandContext(c.t.Context(), "pressbox", append(args, "--server", c.s.URL)...).CombinedOutput()
	check.That(c.t, err == nil, "pressbox %s: %v: %s", args, err, out)
}

// reset undoes everything.
func (c controls) reset() {
	c.t.Helper()
	c.byAPI(http.MethodPut, "/volume", map[string]any{"volume": 100, "muted": false})
	c.byAPI(http.MethodDelete, "/quiet", nil)
}

// speaking announces a sentence and returns its id when a second of it is in the recording.
func (c controls) speaking(recording *pulsetest.Recording) (id string) {
	c.t.Helper()
	id = c.s.Post(client.Announcement{Message: walk}).ID
	recording.WaitFor(func(samples []float32) bool { return len(audible(samples)) > rate })
	return id
}

// What is spoken falls silent within 0.15 s when it is muted or when quiet begins, by whatever way, and ends with the
// reason.
func TestSilence_whileSpoken(t *testing.T) {
	t.Parallel()
	c := newControls(t)
	for name, tt := range map[string]struct {
		set    func()
		reason string
	}{
		"muted by the API":          {func() { c.byAPI("PUT", "/volume", map[string]bool{"muted": true}) }, "muted"},
		"muted by MQTT":             {func() { c.publish("mute/set", "ON") }, "muted"},
		"muted by command":          {func() { c.byCommand("volume", "mute") }, "muted"},
		"volume 0 by MQTT":          {func() { c.publish("volume/set", "0") }, "volume"},
		"do not disturb by MQTT":    {func() { c.publish("dnd/set", "ON") }, "do_not_disturb"},
		"do not disturb by command": {func() { c.byCommand("quiet", "on") }, "do_not_disturb"},
	} {
		pulsetest.Retry(t, func(t *pulsetest.Attempt) {
			c.reset()
			recording := c.s.Sound.Record()
			id := c.speaking(recording)
			tt.set()
			before := recording.Len()
			report, err := c.s.Follow(t.Context(), id)
			ended := err == nil && report.Status == "silenced" && report.Reason == tt.reason
			check.That(t, ended, "%s: it ended as %+v, %v", name, report, err)
			after := len(audible(recording.Stop()[before:]))
			check.That(t, after <= act, "%s: it is heard for %d samples more, want %d at most", name, after, act)
		})
	}
}

// What is held falls silent too, and is spoken from its sentence on when quiet ends.
func TestHold_whileSpoken(t *testing.T) {
	t.Parallel()
	c := newControls(t)
	want := c.s.Samples(client.Announcement{Message: walk})
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		c.reset()
		recording := c.s.Sound.Record()
		id := c.speaking(recording)
		c.byAPI("PUT", "/quiet", map[string]any{"for": 60, "mode": "hold"})
		before := recording.Len()
		c.s.AwaitStatus(id, "scheduled")
		held := recording.Len()
		after := audible(recording.Samples()[before:held])
		check.That(t, len(after) <= act, "it is heard for %d samples more, want %d at most", len(after), act)
		c.byAPI("DELETE", "/quiet", nil)
		c.s.AwaitPlayed(id)
		whole := occurrences(recording.Stop()[held:], want, 1)
		check.Equal(t, len(whole), 1, "its first sentence and what follows, after quiet")
	})
}

// A volume that is set while something is spoken acts on it at once, by whatever way it comes, also while another
// stream is lowered; do not disturb lowers it as softly.
func TestVolume_whileSpoken(t *testing.T) {
	t.Parallel()
	c := newControls(t, "DUCK=-20", "QUIET_VOLUME=25")
	want := c.s.Samples(client.Announcement{Message: walk})
	c.s.Sound.PlayTone(pulsetest.Tone{Program: "film", Sink: "speaker", Silent: true})
	for name, set := range map[string]func(){
		"the API":          func() { c.byAPI("PUT", "/volume", map[string]int{"volume": 25}) },
		"the command line": func() { c.byCommand("volume", "25") },
		"MQTT":             func() { c.publish("volume/set", "25") },
		"soft":             func() { c.byAPI("PUT", "/quiet", map[string]any{"for": 600, "mode": "soft"}) },
	} {
		pulsetest.Retry(t, func(t *pulsetest.Attempt) {
			c.reset()
			recording := c.s.Sound.Record()
			id := c.speaking(recording)
			check.That(t, c.s.Sound.Input("film").Volume < 65536, "the other stream is not lowered")
			set()
			before := recording.Len()
			c.s.AwaitPlayed(id)
			got := recording.Stop()
			loud := occurrences(got, want[:rate/2], 1)
			check.Require(t, len(loud) == 1, "%s: its beginning occurs at %v", name, loud)
			offset := before + act - loud[0] // into the speech
			at := occurrences(got, want[offset:], 0.25)
			check.That(t, len(at) == 1 && at[0] == before+act,
				"%s: a quarter as loud from %v on, want %d", name, at, before+act)
		})
	}
}

// publisher returns what sends a command to the server on a broker.
func publisher(t *testing.T, broker *mqtttest.Broker) (publish func(control, payload string)) {
	t.Helper()
	devices := make(chan string, 1)
	session := mqtt.New(mqtt.Config{
		URL: broker.URL("mqtt"), ClientID: "panel", Will: mqtt.Message{Topic: "panel"}, InstanceTopic: "panel/instance",
		Log: slog.New(slog.DiscardHandler), SaveToken: func(context.Context, string) error { return nil },
		Subscriptions: []mqtt.Subscription{{
			Filter: "+/+/status", Retained: true, Handle: func(_ context.Context, m mqtt.Message) error {
				if device, ok := strings.CutSuffix(m.Topic, "/status"); ok && string(m.Payload) == "online" {
					select {
					case devices <- device:
					default:
					}
				}
				return nil
			},
		}},
	})
	check.Run(t, session.Run)
	device := <-devices
	return func(control, payload string) {
		m := mqtt.Message{Topic: device + "/" + control, Payload: []byte(payload)}
		check.NoError(t, session.Publish(t.Context(), m))
	}
}

// What is played on a muted sink ends as unheard, and its sender is told at once.
func TestUnheard_mutedSink(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	s.AwaitPlayed(s.Post(client.Announcement{Message: "One."}).ID)
	s.Sound.Pactl("set-sink-mute", "speaker", "1")
	awaitHealth(t, s.URL, func(h client.Health) bool { return h.Checks.Audio.Detail != "" })
	posted := s.Post(client.Announcement{Message: "Two."})
	warned := len(posted.Warnings) == 1 && strings.Contains(posted.Warnings[0], "muted")
	check.That(t, warned, "warnings %q", posted.Warnings)
	ended, err := s.Follow(t.Context(), posted.ID)
	check.That(t, err == nil && ended.Status == "unheard" && ended.Reason == "muted", "it ended as %+v, %v", ended, err)
}

// A sound is as loud as speech, however quiet its file is and whatever constant part it has; a recording is it too.
func TestSound_level(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t, "CONTROL_ACCESS=lan", "CHIME=none")
	tone := audio.Clip{Rate: 44100, Samples: make([]float32, 2*44100)}
	for i := range tone.Samples {
		tone.Samples[i] = float32(0.1 + 0.014*math.Sin(2*math.Pi*1000*float64(i)/44100)) // −40 dBFS
	}
	path := filepath.Join(t.TempDir(), "tone.wav")
	file := check.Must(os.Create(path))(t)
	check.NoError(t, errors.Join(audio.WriteWAV(file, tone), file.Close()))
	check.NoError(t, s.PutSound(t.Context(), "tone", path))
	for name, announce := range map[string]func() (client.Report, error){
		"installed": func() (client.Report, error) { return s.Post(client.Announcement{Sound: "tone"}), nil },
		"recorded": func() (client.Report, error) {
			return s.AnnounceSound(t.Context(), servertest.Request(client.Announcement{}), path)
		},
	} {
		pulsetest.Retry(t, func(t *pulsetest.Attempt) {
			recording := s.Sound.Record()
			report, err := announce()
			check.NoError(t, err)
			s.AwaitPlayed(report.ID)
			got := audible(recording.Stop())
			level, seconds := 20*math.Log10(loudness(got)), float64(len(got))/rate
			same := math.Abs(level+18) < 0.5 && math.Abs(seconds-2) < 0.01
			check.That(t, same, "%s: %.1f dBFS, %.3f s, want -18 and 2", name, level, seconds)
		})
	}
}

// The pauses of a text, as they are heard.
func TestAnnouncement_pauses(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	for between, want := range map[string]time.Duration{
		". ": 450 * time.Millisecond, "\n": 450 * time.Millisecond, ".\n\n": 800 * time.Millisecond,
		"; ": 300 * time.Millisecond, " – ": 300 * time.Millisecond,
		":\n- ": 350 * time.Millisecond, ":\n\n1. ": 350 * time.Millisecond,
	} {
		text := "Dinner is ready in the kitchen" + between + "Please come down, all of you"
		got := longestSilence(audible(s.Samples(client.Announcement{Message: text})))
		t.Logf("%q: %v", between, got)
		check.That(t, (got-want).Abs() <= 80*time.Millisecond, "%q is a pause of %v, want %v", between, got, want)
	}
}

// awaitHealth polls a server's health until done reports true.
func awaitHealth(tb testing.TB, url string, done func(client.Health) bool) {
	tb.Helper()
	for {
		h := check.Must(client.HealthAt(tb.Context(), url))(tb)
		if done(h) {
			return
		}
	}
}

// After a kill during playback, the announcement is played again from its start, and the others once.
func TestKill_playback(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	texts := []string{
		"The first is short.", "The second one is a good deal longer, so that it can be cut.",
		"The third is last.",
	}
	var want [][]float32
	for _, text := range texts {
		want = append(want, s.Samples(client.Announcement{Message: text}))
	}
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		var ids []string
		for _, text := range texts {
			ids = append(ids, s.Post(client.Announcement{Message: text}).ID)
		}
		s.AwaitPlayed(ids[0])
		cut := want[1][:rate]
		recording.WaitFor(func(samples []float32) bool {
			return len(occurrences(samples[max(0, len(samples)-2*rate):], cut, 1)) > 0
		})
		err := s.End(syscall.SIGKILL)
		check.Require(t, err != nil, "the server exited with 0")
		s.Restart()
		s.AwaitPlayed(ids[2])
		got := recording.Stop()
		for i, clip := range want {
			if at := occurrences(got, clip, 1); len(at) != 1 {
				t.Errorf("%q was played whole at %v, want once", texts[i], at)
			}
		}
		if at := occurrences(got, cut, 1); len(at) != 2 {
			t.Errorf("the beginning of the interrupted one was played at %v, want twice", at)
		}
	})
}

// The loss of the sound server during playback is reported within a second, and the
// announcement is played from its start when the sound server is back.
func TestAnnouncement_soundServerRestart(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	const text = "When the sound server comes back, this is said again from its very beginning."
	want := s.Samples(client.Announcement{Message: text})
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		id := s.Post(client.Announcement{Message: text}).ID
		recording.WaitFor(func(samples []float32) bool { return len(audible(samples)) > rate })
		s.Sound.Kill()
		killed := time.Now()
		awaitHealth(t, s.URL, func(h client.Health) bool {
			return h.Status == "degraded" && h.Checks.Audio.Detail != ""
		})
		if took := time.Since(killed); took > time.Second {
			t.Errorf("it was reported %v after the sound server was killed, want a second at most", took)
		}
		s.Signal(t, syscall.SIGSTOP) // until the recorder listens
		s.Sound.Start()
		recording = s.Sound.Record()
		s.Signal(t, syscall.SIGCONT)
		s.AwaitPlayed(id)
		if at := occurrences(recording.Stop(), want, 1); len(at) != 1 {
			t.Errorf("after the restart it was played at %v, want once", at)
		}
		awaitHealth(t, s.URL, func(h client.Health) bool { return h.Status == "ok" })
	})
}

// On SIGTERM the server finishes the sentence, and goes on with the next one after its next start.
func TestAnnouncement_shutdown(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	const first, second = "This sentence is finished before the server ends.",
		"This one is not even begun, but said later."
	const text = first + " " + second
	whole, rest := s.Samples(client.Announcement{Message: text}), s.Samples(client.Announcement{Message: second})
	end, _ := pause(audible(whole))
	sentence := audible(whole)[:end]
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		id := s.Post(client.Announcement{Message: text}).ID
		recording.WaitFor(func(samples []float32) bool { return len(audible(samples)) > rate/2 })
		began := time.Now()
		err := s.End(syscall.SIGTERM)
		check.Require(t, err == nil, "it ended with %v\n%s", err, s.Logged())
		took := time.Since(began)
		check.That(t, took <= 6*time.Second, "it took %v to end", took)
		got := recording.Stop()
		const nothing = 0.5 / 32767 // in the WAV file, at the end of the sentence
		if at := occurrences(got, sentence, 1); len(at) != 1 || peak(got[at[0]+len(sentence):]) > nothing {
			t.Errorf("the sentence was played at %v, want once and nothing after it", at)
		}
		recording = s.Sound.Record()
		s.Restart()
		s.AwaitPlayed(id)
		got = recording.Stop()
		if at := occurrences(got, rest, 1); len(at) != 1 || peak(got[:at[0]]) > nothing {
			t.Errorf("after the next start the second sentence was played at %v, want once and nothing before it", at)
		}
	})
}

// pause returns the start and the length of the first pause between sentences: a run of zero samples.
func pause(samples []float32) (start, length int) {
	for i, s := range samples {
		if s == 0 {
			continue
		}
		if i-start >= rate/5 {
			return start, i - start
		}
		start = i + 1
	}
	return len(samples), 0
}

// longestSilence returns the longest time without an audible sample.
func longestSilence(samples []float32) time.Duration {
	longest, from := 0, 0
	for i, s := range samples {
		if math.Abs(float64(s)) >= floor {
			longest, from = max(longest, i-from), i
		}
	}
	return time.Duration(longest) * time.Second / rate
}

// floor is the level from which a sample is audible: a hundredth of full scale.
const floor = 0.01

// audible returns a sound from its first to its last audible sample.
func audible(samples []float32) []float32 {
	first, last := -1, -1
	for i, s := range samples {
		if math.Abs(float64(s)) >= floor {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return nil
	}
	return samples[first : last+1]
}

// occurrences returns the positions in a recording at which a clip, scaled by gain, occurs sample for sample: within
// half a step of 16 bits in the WAV file, and half a step on the way to the sink.
func occurrences(recording, clip []float32, gain float32) []int {
	tolerance := (gain + 1) * 0.5 / 32767
	near := func(a, b float32) bool { return a-b <= tolerance && b-a <= tolerance }
	loudest := 0
	for i, s := range clip {
		if math.Abs(float64(s)) > math.Abs(float64(clip[loudest])) {
			loudest = i
		}
	}
	var found []int
	for at := 0; at+len(clip) <= len(recording); at++ {
		same := near(recording[at+loudest], clip[loudest]*gain)
		for i := 0; same && i < len(clip); i++ {
			same = near(recording[at+i], clip[i]*gain)
		}
		if same {
			found = append(found, at)
		}
	}
	return found
}

// loudness returns the root mean square of a sound.
func loudness(samples []float32) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(len(samples)))
}

func peak(samples []float32) float32 {
	top := float32(0)
	for _, s := range samples {
		top = max(top, s, -s)
	}
	return top
}

// A scoring play is announced, and not before clients receive it.
func TestAll_scoringPlayAnnounced(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	p := &servertest.Player{Browser: servertest.SignUp(t, s.URL)}
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		p.Play(`"announce": "scoring"`)
		if !recording.WaitFor(func(samples []float32) bool { return quietAfter(samples, 0) }) {
			t.Error("the start of the game is not announced")
			return
		}
		received := 0 // the length of the recording when the client received the last frame
		check.NoError(t, p.Connect(func(f replica.Frame) bool { received = recording.Len(); return scored(t, f) }))
		awaitCall(t, recording, received)
	})
	var queue struct{ Queue, Recent []any }
	check.NoError(t, s.Call(t.Context(), http.MethodGet, "/notify", nil, &queue))
	check.That(t, len(queue.Queue)+len(queue.Recent) == 0, "the commentary is among the announcements: %v", queue)
}

// scored reports whether the game has a run after the event in a frame.
func scored(tb testing.TB, f replica.Frame) bool {
	tb.Helper()
	var e struct {
		Now   struct{ Score struct{ Home, Away int } }
		Legal *[]replica.Choice
	}
	if f.T != "event" {
		return false
	}
	check.NoError(tb, json.Unmarshal(f.D, &e))
	return e.Legal != nil && e.Now.Score.Home+e.Now.Score.Away > 0
}

// quietAfter reports whether there is an audible sound after a sample, and then silence for 1.5 seconds.
func quietAfter(samples []float32, from int) bool {
	after := samples[from:]
	const silence = rate * 3 / 2
	return len(after) > silence && len(audible(after[len(after)-silence:])) == 0 && len(audible(after)) > 0
}

// awaitCall fails the test unless there is an audible sound after a sample, and none in the half second before.
func awaitCall(tb testing.TB, recording *pulsetest.Recording, from int) {
	tb.Helper()
	early := false
	if !recording.WaitFor(func(samples []float32) bool {
		early = early || len(audible(samples[max(0, from-rate/2):from])) > 0
		return quietAfter(samples, from)
	}) {
		tb.Error("the play is not announced")
	}
	check.That(tb, !early, "it was announced before the client received it")
}

const rate = pulsetest.SinkRate // of the bundled voice and of the sink

func TestMain(m *testing.M) { os.Exit(servertest.Main(m)) }

// A chime precedes the speech by a fifth of a second, in the same stream.
func TestChime_precedesSpeech(t *testing.T) {
	t.Parallel()
	s := newInterruption(t, "CHIME=ding", "CHIME_URGENT=alert")
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		s.AwaitPlayed(s.Post(client.Announcement{Message: alarm}).ID)
		got := recording.Stop()
		chime := audio.Ding.Samples(rate)
		bell, speech := occurrences(got, chime, 1), occurrences(got, s.alarm, 1)
		if len(bell) != 1 || len(speech) != 1 || speech[0]-bell[0]-len(chime) != rate/5 {
			t.Errorf("the chime was played at %v with %d samples, the speech at %v; want %d samples between them", bell,
				len(chime), speech, rate/5)
		}
	})
}

// While music is being lowered, an urgent announcement is audible as quickly. The music
// stays 20 dB lower until both have ended, and then has its level again.
func TestAll_urgentWhileMusicIsLowered(t *testing.T) {
	t.Parallel()
	s := newInterruption(t)
	s.Sound.PlayTone(pulsetest.Tone{Program: "music", Sink: "speaker"})
	pulsetest.Retry(t, func(t *pulsetest.Attempt) {
		recording := s.Sound.Record()
		recording.Wait(rate)
		id := s.Post(client.Announcement{Message: interrupted}).ID
		s.AwaitStatus(id, "playing")
		_, before := s.postAlarm(recording)
		s.AwaitPlayed(id)
		recording.Wait(recording.Len() + 3*rate)
		got := recording.Stop()

		alarmAt, gain := match(got[before:], s.alarm[:rate/2])
		if took := time.Duration(alarmAt+audibleAt(s.alarm)) * time.Second / rate; math.Abs(gain-1.5) > 0.1 ||
			took > time.Second/2 {
			t.Errorf("the urgent announcement is played with a gain of %.2f, %v after its POST; "+
				"want 1.5 and half a second at most", gain, took)
		}
		again := before + alarmAt + len(s.alarm)
		whole := s.Samples(client.Announcement{Message: interrupted})
		wholeAt, gain := match(got[again:], whole[:rate/2])
		if math.Abs(gain-1) > 0.1 {
			t.Errorf("the interrupted one is played with a gain of %.2f", gain)
			return
		}
		silence, length := pause(whole)
		silence += again + wholeAt
		for name, tt := range map[string]struct {
			samples []float32
			want    float64
		}{
			"before": {got[:rate/2], 1}, "between two sentences": {got[silence : silence+length], 0.1},
			"after": {got[len(got)-rate/2:], 1},
		} {
			if level := loudness(tt.samples) / (0.1 / math.Sqrt2); math.Abs(level/tt.want-1) > 0.1 {
				t.Errorf("the level of the music %s is %.3f, want %.1f", name, level, tt.want)
			}
		}
	})
}

// match returns the position in the next second of a recording, and the gain, at which a
// clip occurs in it among other sound.
func match(recording, clip []float32) (at int, gain float64) {
	energy := loudness(clip) * loudness(clip) * float64(len(clip))
	for i := range min(rate, len(recording)-len(clip)) {
		product := float32(0)
		for n, s := range clip {
			product += s * recording[i+n]
		}
		if g := float64(product) / energy; g > gain {
			at, gain = i, g
		}
	}
	return at, gain
}
