package library_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/library"
)

const british, german = "en_GB-hum-low", "de_DE-hum-low"

// inGerman changes the language of a config.
const inGerman = `{"language": {"code": "de_DE", "family": "de", "region": "DE"}}`

// spokenBy returns the voices that speak the sentences of a message, as voice:sentence.
func spokenBy(t *testing.T, h *rig, name, message string, afterFirst func()) []string {
	t.Helper()
	var parts []string
	for clip, err := range h.Speak(t.Context(), announce.Utterance{Voice: name, Message: message}) {
		check.NoError(t, err)
		part := clip.Voice + ":" + string(rune('0'+clip.Sentence))
		if len(parts) == 0 || parts[len(parts)-1] != part {
			parts = append(parts, part)
		}
		if afterFirst != nil {
			afterFirst()
			afterFirst = nil
		}
	}
	return parts
}

// An announcement was accepted with a voice, which then vanishes or breaks.
func TestSpeak_voiceBroken(t *testing.T) {
	t.Parallel()
	for name, destroy := range map[string]func(path string) error{
		"removed":         func(path string) error { return errors.Join(os.Remove(path), os.Remove(path+".json")) },
		"model truncated": func(path string) error { return os.Truncate(path, 1000) },
		"config replaced": func(path string) error { return os.WriteFile(path+".json", []byte("{"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, nil, withTiny(bundled, "hum", `{}`), withTiny(british, "hum", `{}`),
				withTiny(german, "hum", inGerman))
			awaitCalibrated(t, h, bundled, british, german)
			before := spokenBy(t, h, bundled, "One. Two.", nil)
			check.Require(t, strings.Join(before, " ") == bundled+":0 "+bundled+":1", "before: %q", before)
			check.NoError(t, destroy(filepath.Join(h.dir, bundled+".onnx")))
			for _, changed := range []bool{false, true} {
				noticed := func() bool { i := info(h, bundled); return i.Name == "" || i.Error != "" }
				if changed {
					eventually(t, "the fault is noticed", noticed)
				}
				got := spokenBy(t, h, bundled, "One. Two.", nil)
				all := strings.Join(got, " ") == british+":0 "+british+":1"
				check.That(t, len(got) == 2 && (all || !changed), "spoken by %q, want %s", got, british)
			}
			check.Equal(t, check.Must(h.Voice(""))(t), british, "the voice by default")
			check.That(t, check.Err(h.Voice(bundled)) != nil, "the broken voice can be requested by its name")
			err := h.Health()
			check.That(t, err != nil && strings.Contains(err.Error(), british+" speaks instead"), "Health: %v", err)
			eventually(t, "the other voice is loaded", func() bool { return info(h, british).Loaded })
		})
	}
}

// brokenModel fails while fail is set.
type brokenModel struct {
	voice.Model
	fail *atomic.Bool
}

func (m brokenModel) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	if m.fail.Load() {
		return nil, errors.New("out of memory")
	}
	return m.Model.Infer(ctx, in)
}

func TestSpeak_modelFailsInMidMessage(t *testing.T) {
	t.Parallel()
	var fail atomic.Bool
	h := open(t, func(c *library.Config) {
		load := c.Load
		c.Load = func(path string, config *voice.Config) (voice.Model, error) {
			m, err := load(path, config)
			if strings.Contains(path, bundled) && err == nil {
				m = brokenModel{m, &fail}
			}
			return m, err
		}
	}, withTiny(bundled, "hum", `{}`), withTiny(british, "hum", `{}`))
	awaitCalibrated(t, h, bundled, british)
	got := spokenBy(t, h, "", "One. Two. Three.", func() { fail.Store(true) })
	want := bundled + ":0 " + british + ":1 " + british + ":2"
	check.That(t, strings.Join(got, " ") == want, "spoken by %q, want %s", got, want)
	check.Equal(t, strings.Count(h.logs.String(), `"voice failed, another one speaks"`), 1, "records of the substitute")
}

// The error is that of the voice that was asked for.
func TestSpeak_noVoiceWorks(t *testing.T) {
	t.Parallel()
	h := open(t, nil, withTiny(bundled, "truncated", `{}`), withTiny(british, "truncated", `{}`))
	check.Contains(t, fmt.Sprint(speakError(t, h, bundled)), "speak with "+bundled, "the error")
}

func TestVoice_default(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, configured, want string }{
		{"the default voice", german, german},
		{"same language", "en_US-missing-low", british},
		{"a missing speaker", "en_US-several-low#p9", "en_US-several-low"},
		{"any language", "nl_NL-missing-low", german},
		{"a name without language", "missing", german},
	} {
		h := newRig(t, func(c *library.Config) { c.Defaults.Voice = tt.configured },
			withTiny(british, "hum", `{}`), withTiny(german, "hum", inGerman),
			withTiny("en_US-several-low", "speakers", `{"num_speakers": 3}`))
		check.Equal(t, check.Must(h.Voice(""))(t), tt.want, "%s", tt.name)
	}
	h := newRig(t, nil)
	err := check.Err(h.Voice(""))
	check.ErrorIs(t, err, voice.ErrUnavailable, "without voices")
	check.Contains(t, fmt.Sprint(err), bundled, "the error without voices")
}

// An empty or mistyped directory is logged at the start.
func TestNew_logsMissingVoices(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "modles")
	for _, tt := range []struct {
		dirs    []string // the last one has a voice
		missing bool
	}{
		{nil, false},
		{[]string{missing}, true},
		{[]string{t.TempDir()}, false},
	} {
		h := newRig(t, func(c *library.Config) { c.Dirs = append(tt.dirs, c.Dirs...) }, withTiny(bundled, "hum", `{}`))
		log := h.logs.String()
		check.Equal(t, strings.Contains(log, "voice directory missing"), tt.missing, "%q: a directory misses", tt.dirs)
		check.That(t, !strings.Contains(log, "no voice found"), "%q: %s", tt.dirs, log)
		h = newRig(t, func(c *library.Config) { c.Dirs = append(tt.dirs, c.Dirs...) })
		check.Contains(t, h.logs.String(), "no voice found", "%q without a voice", tt.dirs)
	}
}
