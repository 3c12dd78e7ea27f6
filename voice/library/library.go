// Package library keeps the installed voices: it finds them, loads them when
// they are spoken with, lets go of those not used, and measures each once. It
// is the announce.Speaker.
//
// One law: a voice that is wrong hurts only itself. Whatever is wrong with its
// files is told in the list of voices, and every other voice still speaks.
//
// A voice is a pair of files, NAME.onnx and NAME.onnx.json, that lies directly
// in one of the library's folders; NAME.MODEL_CARD, or MODEL_CARD in a folder
// with one voice, tells its licence. One of several speakers of a voice is
// named after a #, by name or by number, as in "en_US-libritts-high#p225".
//
// Voices are found by being told of changes, not by looking again and again:
// a library that nobody uses does nothing.
package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"pressbox/audio"
	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/speakable"
)

// Calibrations keeps what was measured of voices, by a text that names the
// contents of their files.
type Calibrations interface {
	Calibration(hash string) (json []byte, ok bool, err error)
	SaveCalibration(hash string, json []byte) error
}

// A Config is what a Library is made of.
type Config struct {
	Dirs         []string           // where voices lie; of two of a name, the first counts
	Default      string             // the voice for those who name none; always kept loaded
	DefaultRate  int                // words per minute for those who name none
	CacheBytes   int64              // how much of models stays loaded besides the default
	Lexicon      *speakable.Lexicon // may be nil
	Calibrations Calibrations
	Phonemizer   voice.Phonemizer
	// Load loads a model file, which must be what config says it is.
	Load func(path string, config *voice.Config) (voice.Model, error)
	Log  *slog.Logger
}

// A Library is the set of installed voices. It may be used concurrently.
type Library struct {
	cfg     Config
	lexicon atomic.Pointer[speakable.Lexicon]
	loads   chan load     // to Run: a model is wanted
	rescan  chan struct{} // to Run, as the next two, which hold one: look at the folders
	preload chan struct{} // load the default voice if it is not
	measure chan struct{} // measure the voices that are not
	ended   chan struct{} // closed when Run has ended

	mu      sync.Mutex        // guards what follows, and every entry's state
	entries map[string]*entry // by name
	loaded  []*entry          // those with a model, the one used last comes last
	asked   []job             // to be measured first
	trouble error             // why no voice can speak; nil when one could
}

// New returns a library of the voices that lie in its folders now. It loads
// nothing; only while [Library.Run] runs can it speak.
func New(cfg Config) *Library {
	l := &Library{
		cfg:     cfg,
		loads:   make(chan load),
		rescan:  make(chan struct{}, 1),
		preload: make(chan struct{}, 1),
		measure: make(chan struct{}, 1),
		ended:   make(chan struct{}),
		entries: map[string]*entry{},
	}
	l.lexicon.Store(cfg.Lexicon)
	l.scan()
	return l
}

// Reload takes another lexicon, which may be nil, and looks for voices again.
func (l *Library) Reload(lexicon *speakable.Lexicon) {
	l.lexicon.Store(lexicon)
	wake(l.rescan)
}

// Voice returns the name under which a voice is installed, the default's for
// "". The error is an [*announce.UnknownVoiceError], also for a voice that is
// known to be broken.
func (l *Library) Voice(name string) (string, error) {
	name = cmp.Or(name, l.cfg.Default)
	_, _, err := l.find(name)
	if err != nil {
		return "", err
	}
	return name, nil
}

// Speak yields the message's clips in order: made speakable, in the voice of
// that name, at rate words per minute; "" and 0 mean the defaults. It stops at
// the first error, which is ctx's when ctx ended.
func (l *Library) Speak(ctx context.Context, name, message string, rate int) iter.Seq2[audio.Clip, error] {
	return func(yield func(audio.Clip, error) bool) {
		name := cmp.Or(name, l.cfg.Default)
		spoke := false
		for clip, err := range l.speak(ctx, name, message, cmp.Or(rate, l.cfg.DefaultRate)) {
			if err != nil {
				l.note(err)
				err = fmt.Errorf("speak with %s: %w", name, err)
			} else if !spoke {
				l.note(nil)
				spoke = true
			}
			if !yield(clip, err) {
				return
			}
		}
	}
}

// speak is Speak for a name and a rate that are given.
func (l *Library) speak(ctx context.Context, name, message string, rate int) iter.Seq2[audio.Clip, error] {
	return func(yield func(audio.Clip, error) bool) {
		e, speaker, err := l.find(name)
		if err == nil {
			err = l.acquire(ctx, e)
		}
		if err != nil {
			yield(audio.Clip{}, err)
			return
		}
		defer l.release(e)
		v := l.voice(e, speaker)
		v.Calibration = l.calibrationOf(ctx, job{entry: e, speaker: speaker})
		text := speakable.Text(message, v.Config.Locale(), l.lexicon.Load())
		v.Speak(ctx, text, rate)(yield)
	}
}

// voice returns e's voice with one of its speakers; its model must be held.
func (l *Library) voice(e *entry, speaker int64) *voice.Voice {
	return &voice.Voice{
		Config:     e.config,
		Phonemizer: l.cfg.Phonemizer,
		Model:      e.model,
		Speaker:    speaker,
		OnMissing: func(phoneme string) {
			if _, warned := e.missing.LoadOrStore(phoneme, true); !warned {
				l.cfg.Log.Warn("the voice cannot say a phoneme", "voice", e.name, "phoneme", phoneme)
			}
		},
	}
}

// note keeps err for [Library.Health] if no voice can speak for it, and
// forgets it when one could.
func (l *Library) note(err error) {
	if err != nil && !errors.Is(err, voice.ErrUnavailable) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = err
}

// Health says why the default voice cannot speak; nil when it can, also while
// that is not known yet.
func (l *Library) Health() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trouble != nil {
		return l.trouble
	}
	base, _, _ := strings.Cut(l.cfg.Default, "#")
	if e := cmp.Or(l.entries[l.cfg.Default], l.entries[base]); e != nil && e.err != nil {
		return fmt.Errorf("the default voice %s: %w", e.name, e.err)
	}
	if _, _, err := l.findLocked(l.cfg.Default); err != nil {
		return fmt.Errorf("the default voice: %w", err)
	}
	return nil
}

// find returns the entry and the speaker that a name means.
func (l *Library) find(name string) (*entry, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.findLocked(name)
}

// findLocked is find; l.mu must be held.
func (l *Library) findLocked(name string) (*entry, int64, error) {
	if e := l.entries[name]; e != nil && e.err == nil {
		return e, e.config.DefaultSpeaker, nil
	}
	if at := strings.LastIndexByte(name, '#'); at >= 0 {
		if e := l.entries[name[:at]]; e != nil && e.err == nil {
			if speaker, ok := speakerOf(e.config, name[at+1:]); ok {
				return e, speaker, nil
			}
		}
	}
	return nil, 0, &announce.UnknownVoiceError{Name: name, Installed: l.usable()}
}

// speakerOf returns the speaker of that name, or of that number.
func speakerOf(config *voice.Config, name string) (int64, bool) {
	if id, ok := config.SpeakerIDs[name]; ok {
		return id, true
	}
	id, err := strconv.ParseInt(name, 10, 64)
	return id, err == nil && id >= 0 && id < int64(config.Speakers)
}

// usable returns the names of the voices that are not known to be broken, in
// order; l.mu must be held.
func (l *Library) usable() []string {
	names := []string{}
	for _, name := range slices.Sorted(maps.Keys(l.entries)) {
		if l.entries[name].err == nil {
			names = append(names, name)
		}
	}
	return names
}

// wake puts a token into a channel that holds one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is awake already
	}
}
