package announcer_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
)

// soundFiles stand in for the files of sounds: the name is that of the sound, or the id of the announcement of a
// recording. Each sound is of so many seconds, whose samples have the speaker's clip of the name and the second.
type soundFiles struct {
	speaker *speaker
	mu      sync.Mutex // guards the fields below
	lengths map[string]int
	gone    []string // of recordings, in order
}

func (f *soundFiles) length(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lengths[name]
}

// removeAll removes the sounds.
func (f *soundFiles) removeAll() { f.mu.Lock(); defer f.mu.Unlock(); f.lengths = nil }

// deleted returns the recordings that were deleted.
func (f *soundFiles) deleted() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.gone)
}

func (f *soundFiles) Check(name string) error {
	if f.length(name) == 0 && !slices.Contains(audio.Chimes(), audio.Chime(name)) {
		return &announce.UnknownSoundError{Name: name, Known: []string{"bell"}}
	}
	return nil
}

func (f *soundFiles) Clip(name string) (audio.Clip, error) {
	if err := f.Check(name); err != nil {
		return audio.Clip{}, err
	}
	c := audio.Clip{Rate: 8, Samples: make([]float32, 8*f.length(name), 8*f.length(name)+8)}
	f.speaker.mu.Lock()
	defer f.speaker.mu.Unlock()
	for i := 0; i < len(c.Samples); i += 16 { // of each part
		f.speaker.texts[&c.Samples[i]] = name + string(rune('1'+i/16))
	}
	return c, nil
}

func (f *soundFiles) Recording(string) (audio.Clip, error) { return f.Clip("recording") }

func (f *soundFiles) Forget(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = append(f.gone, id)
}

// withSounds is running with a sound bell of one second, song of six, and recordings of three.
func withSounds(t *testing.T, test func(h *rig, f *soundFiles)) {
	t.Helper()
	bubble(t, settings, func(h *rig) {
		f := &soundFiles{speaker: h.speaker, lengths: map[string]int{"bell": 1, "song": 6, "recording": 3}}
		h.parts = func(p *announcer.Parts) { p.Sounds = f }
		h.restart(settings)
		defer h.run()()
		test(h, f)
	})
}

func sounding(sound, chime, message string) announce.Request {
	return announce.Request{Content: announce.Content{Sound: sound, Chime: chime, Message: message}}
}

// The chime, then the sound, then the text; each of the three may be absent.
func TestSound_order(t *testing.T) {
	for name, tt := range map[string]struct {
		announced announce.Request
		want      string
	}{
		"all":              {sounding("song", "bell", "a|b"), "chime song1 song2 song3 a b"},
		"no text":          {sounding("song", "bell", ""), "chime song1 song2 song3"},
		"no chime":         {sounding("bell", "none", "a"), "bell1 a"},
		"only a sound":     {sounding("bell", "", ""), "bell1"},
		"a built-in chime": {sounding("bell", "ding", "a"), "chime bell1 a"},
		"only a title": {
			announce.Request{Content: announce.Content{Sound: "bell", Title: "Door"}},
			"bell1 Door.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			withSounds(t, func(h *rig, _ *soundFiles) {
				h.speaker.texts[nil] = ""
				v := h.request(tt.announced)
				time.Sleep(time.Minute)
				got := h.sink.transcript()
				check.Equal(h.t, got, tt.want, "played")
				h.expectStatus(v.ID, announce.Done)
			})
		})
	}
}

// What was interrupted goes on with the part of the sound that was not heard to its end, or with the sentence.
func TestSound_resumes(t *testing.T) {
	withSounds(t, func(h *rig, _ *soundFiles) {
		v := h.request(sounding("song", "", "a|b"))
		time.Sleep(3 * time.Second)
		h.post("fire", true)
		time.Sleep(5600 * time.Millisecond)
		h.post("fire", true)
		time.Sleep(time.Minute)
		h.expect("song1 song2 / fire song2 song3 a / fire a b")
		h.expectStatus(v.ID, announce.Done)
	})
}

// A sound that is removed while its announcement waits is left out; without a text the announcement fails. The chime
// is another one then.
func TestSound_removed(t *testing.T) {
	withSounds(t, func(h *rig, f *soundFiles) {
		h.post("a", false)
		text, alone := h.request(sounding("bell", "song", "b")), h.request(sounding("bell", "", ""))
		f.removeAll()
		time.Sleep(time.Minute)
		h.expect("a chime b")
		h.expectStatus(text.ID, announce.Done)
		failed := h.expectStatus(alone.ID, announce.Failed)
		check.Contains(h.t, failed.Error, announce.CodeUnknownSound, "error")
	})
}

// What a request names has to be there, but what another room asks for is left out.
func TestSound_unknown(t *testing.T) {
	withSounds(t, func(h *rig, _ *soundFiles) {
		for _, r := range []announce.Request{
			sounding("gong", "", "a"), sounding("", "gong", "a"), sounding("gong", "", ""),
		} {
			refused, ok := errors.AsType[*announce.RequestError](check.Err(h.Announce(context.Background(), r)))
			check.Require(h.t, ok && len(refused.Violations) == 1, "%+v: %v", r, refused)
			check.Equal(h.t, refused.Violations[0].Code, announce.CodeUnknownSound, "code")
		}
		fromElsewhere := sounding("gong", "", "a")
		fromElsewhere.From = "kitchen"
		v := h.request(fromElsewhere)
		time.Sleep(time.Minute)
		h.expectStatus(v.ID, announce.Done)
		h.expect("a")
	})
}

// A recording is deleted when its announcement has ended, and not before.
func TestRecording(t *testing.T) {
	withSounds(t, func(h *rig, f *soundFiles) {
		r := announce.Request{
			ID: "r1", Recording: 3 * time.Second, Repeat: announce.Repeat{Times: 2, Every: time.Minute},
		}
		v := h.request(r)
		check.Equal(h.t, v.Sound, announce.RecordedSound, "sound")
		time.Sleep(30 * time.Second)
		check.Equal(h.t, len(f.deleted()), 0, "deleted before the second time")
		time.Sleep(time.Hour)
		h.expect("recording1 recording2 recording1 recording2")
		h.expectStatus("r1", announce.Done)
		check.That(h.t, slices.Equal(f.deleted(), []string{"r1"}), "deleted: %q", f.deleted())
		err := check.Err(h.Again(context.Background(), "r1", announce.Request{}))
		check.ErrorIs(h.t, err, announce.ErrGone, "again")
	})
}
