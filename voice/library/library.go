// Package library manages the installed voices: it finds them, loads their models on demand, evicts models
// that are not used, and calibrates each voice once. [Library] implements announcer.Speaker.
//
// One law: a faulty voice affects only itself. Its error appears in the list of voices, and every other voice
// still speaks.
//
// A voice is a pair of files, NAME.onnx and NAME.onnx.json, directly in one of the library's directories.
// NAME.MODEL_CARD, or MODEL_CARD in a directory with one voice, names its license. A # and a name or number
// select one of several speakers, as in "en_US-libritts-high#p225".
//
// The file system notifies the library of changes; it does not poll.
package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/speakable"
)

// Calibrations stores the calibrations of voices, by a hash of their files.
type Calibrations interface {
	Calibration(hash string) (json []byte, ok bool, err error)
	SaveCalibration(hash string, json []byte) error
}

// A Config configures a Library.
type Config struct {
	Dirs         []string           // directories of voices, the operator's first; the first one with a name wins
	Defaults     Defaults           // until [Library.Reload]
	CacheBytes   int64              // limit for loaded models, without the default
	Lexicon      *speakable.Lexicon // may be nil
	KeepFor      time.Duration      // how long a voice that loads quickly stays loaded; 0 means 30 s
	Calibrations Calibrations
	Phonemizer   voice.Phonemizer
	// Load loads a model file and checks it against config.
	Load func(path string, config *voice.Config) (voice.Model, error)
	Log  *slog.Logger
}

// Defaults apply to utterances that name no voice or no rate.
type Defaults struct {
	Voice string // its model stays loaded
	Rate  int    // words per minute
}

// A Library holds the installed voices. It may be used concurrently.
type Library struct {
	cfg          Config
	lexicon      atomic.Pointer[speakable.Lexicon]
	loadRequests chan loadRequest // to Run: load a model
	rescan       chan struct{}    // capacity 1, to Run: scan the directories
	preload      chan struct{}    // capacity 1, to Run: load the default voice
	calibrate    chan struct{}    // capacity 1, to Run: calibrate voices
	ended        chan struct{}    // closed when Run has ended
	speaking     atomic.Int32     // messages that are being spoken; calibrations wait for them

	mu sync.Mutex // guards the fields below and every voice's state
	inventory
	requested   []calibrationJob // to be calibrated first
	changed     chan struct{}    // closed when the voices are scanned again
	unavailable error            // why no voice can speak; nil if one could
}

// New returns a library of the voices in its directories. It loads nothing, and it can speak only while
// [Library.Run] runs.
func New(cfg Config) *Library {
	l := &Library{
		cfg:          cfg,
		loadRequests: make(chan loadRequest),
		rescan:       make(chan struct{}, 1),
		preload:      make(chan struct{}, 1),
		calibrate:    make(chan struct{}, 1),
		ended:        make(chan struct{}),
		inventory:    inventory{defaults: cfg.Defaults, cacheBytes: cfg.CacheBytes, log: cfg.Log},
		changed:      make(chan struct{}),
	}
	l.lexicon.Store(cfg.Lexicon)
	l.scan()
	l.logMissing()
	return l
}

// Reload replaces the lexicon, which may be nil, and the defaults, and scans the directories, after which the
// default voice is loaded.
func (l *Library) Reload(lexicon *speakable.Lexicon, defaults Defaults) {
	l.lexicon.Store(lexicon)
	l.mu.Lock()
	l.defaults = defaults
	l.mu.Unlock()
	signal(l.rescan)
}

// Changed returns a channel that is closed when voices may have been added or removed.
func (l *Library) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Voice returns the name of an installed voice, the present one of a voice of an earlier version. It returns an
// [*announce.UnknownVoiceError] for an unknown or faulty voice. For "" it returns the name of the
// default voice, or of its substitute if it cannot speak; the error wraps [voice.ErrUnavailable] if no voice is
// usable.
func (l *Library) Voice(name string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if name == "" {
		return l.preferred()
	}
	name = l.current(name)
	_, _, err := l.find(name)
	if gone, ok := errors.AsType[*announce.UnknownVoiceError](err); ok {
		if all := l.substitutes(name); len(all) > 0 {
			gone.Instead = all[0]
		}
	}
	if err != nil {
		return "", err
	}
	return name, nil
}

// Speak implements announcer.Speaker: it converts the message to speakable text and yields its clips. If the
// voice cannot speak, or fails, another one speaks from the sentence that failed: one of the same language,
// or else any. The error is that of the first voice, or ctx's if ctx ended.
func (l *Library) Speak(ctx context.Context, u announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(yield func(announce.Clip, error) bool) {
		defaults := l.currentDefaults()
		u.Voice, u.Rate = l.present(cmp.Or(u.Voice, defaults.Voice)), cmp.Or(u.Rate, defaults.Rate)
		wanted, tried := u.Voice, []string{}
		var why error
		for u.Voice != "" {
			sentence, err := l.speakWith(ctx, u, yield)
			if err == nil {
				return
			}
			why = cmp.Or(why, err)
			tried = append(tried, u.Voice)
			if !faulty(ctx, err) || len(tried) == maxVoices {
				break
			}
			l.logFault(u.Voice, err)
			u.Voice, u.From = l.substitute(wanted, tried), sentence
		}
		l.setUnavailable(why)
		yield(announce.Clip{}, why)
	}
}

// speak is Speak without defaults.
func (l *Library) speak(ctx context.Context, u announce.Utterance) iter.Seq2[voice.Clip, error] {
	return func(yield func(voice.Clip, error) bool) {
		e, speaker, err := l.lookUp(u.Voice)
		if err != nil {
			yield(voice.Clip{}, err)
			return
		}
		calibration := l.requestCalibration(calibrationJob{entry: e, speaker: speaker})
		if err := l.acquire(ctx, e); err != nil {
			yield(voice.Clip{}, err)
			return
		}
		defer l.release(e)
		v := l.voice(e, speaker)
		v.Calibration = l.valueOf(ctx, calibration)
		l.speaking.Add(1)
		defer l.speaking.Add(-1)
		text := l.text(v.Config, u.Message)
		l.cfg.Log.Debug("message spoken", "voice", u.Voice, "text", text)
		v.Speak(ctx, text, u.Rate, u.From)(yield)
	}
}

// Preview returns the speakable text of a message and describes its speech in the named voice at the default
// rate; "" means the default voice. It does not load the model.
func (l *Library) Preview(ctx context.Context, name, message string) (text string, p voice.Preview, err error) {
	name, err = l.Voice(name)
	if err != nil {
		return "", p, err
	}
	e, speaker, err := l.lookUp(name)
	if err != nil {
		return "", p, err
	}
	v := &voice.Voice{
		Config: e.config, Phonemizer: l.cfg.Phonemizer, Speaker: speaker, Calibration: l.knownCalibration(e, speaker),
	}
	text = l.spoken(e.config, message, speakable.Text)
	p, err = v.Preview(ctx, l.text(e.config, message), l.currentDefaults().Rate)
	return text, p, err
}

// Estimate returns the expected duration of a message in the named voice, which must be usable, at rate words
// per minute; 0 for an unknown voice. It loads nothing.
func (l *Library) Estimate(name, message string, rate int) time.Duration {
	e, speaker, err := l.lookUp(name)
	if err != nil {
		return 0
	}
	return l.knownCalibration(e, speaker).Estimate(l.text(e.config, message), rate)
}

// text returns the speakable text of a message for a voice, in lines as [speakable.Lines] does.
func (l *Library) text(c *voice.Config, message string) string {
	return l.spoken(c, message, speakable.Lines)
}

// spoken returns what a function of speakable makes of a message for a voice. After a panic it is the message as it
// stands: the process would end, and after it each one that finds the message in the queue.
func (l *Library) spoken(c *voice.Config, message string,
	words func(text, language string, lex *speakable.Lexicon) string,
) (text string) {
	message = c.PlainBrackets(message)
	defer func() {
		if reason := recover(); reason != nil {
			text = strings.Join(strings.Fields(message), " ")
			l.cfg.Log.Error("message spoken as it stands", "err", fmt.Errorf("panic: %v\n%s", reason, debug.Stack()))
		}
	}()
	return words(message, c.Locale(), l.lexicon.Load())
}

// voice returns a voice.Voice for one speaker; the model must be acquired.
func (l *Library) voice(e *installedVoice, speaker int64) *voice.Voice {
	return &voice.Voice{
		Config:     e.config,
		Phonemizer: l.cfg.Phonemizer,
		Model:      e.model,
		Speaker:    speaker,
		OnMissing: func(phoneme string) {
			if _, warned := e.missing.LoadOrStore(phoneme, true); !warned {
				l.cfg.Log.Warn("voice has no id for phoneme", "voice", e.name, "phoneme", phoneme)
			}
		},
	}
}

// setUnavailable stores err for [Library.Health] if it affects every voice, and clears it for nil.
func (l *Library) setUnavailable(err error) {
	if err != nil && !errors.Is(err, voice.ErrUnavailable) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unavailable = err
}

// Health returns why the default voice cannot speak, and which one speaks instead; nil if it can or if that
// is not known yet.
func (l *Library) Health() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unavailable != nil {
		return l.unavailable
	}
	_, _, err := l.find(l.defaults.Voice)
	if err == nil {
		return nil
	}
	if name, none := l.preferred(); none == nil {
		return fmt.Errorf("default voice: %w; %s speaks instead", err, name)
	}
	return fmt.Errorf("default voice: %w", err)
}

// lookUp returns the voice and the speaker with a name.
func (l *Library) lookUp(name string) (*installedVoice, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.find(name)
}

// present returns the present name of a voice.
func (l *Library) present(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current(name)
}

// currentDefaults returns the defaults that apply now.
func (l *Library) currentDefaults() Defaults {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.defaults
}

// signal puts a token into c unless it is full.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
