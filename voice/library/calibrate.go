package library

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"pressbox/voice"
)

// calibrationWait limits how long the first message of a voice waits for its calibration, which has begun while
// the model was loaded: one that was saved is read by then. Otherwise the message is spoken with the defaults,
// and the calibration goes on when nothing is spoken; between two of its runs of the model it waits for so long.
const calibrationWait = 50 * time.Millisecond

// calibrationVersion is the version of the calibration method; stored calibrations of other versions are
// ignored.
const calibrationVersion = 2

// A calibrationJob asks for the calibration of one speaker of a voice.
type calibrationJob struct {
	entry      *installedVoice
	speaker    int64
	background bool // no message waits for it
}

// A calibration is one speaker's calibration or its absence. Library.mu guards known and value.
type calibration struct {
	done  chan struct{} // closed when the calibration has finished or failed
	known bool
	value voice.Calibration // zero until known
}

// valueOf returns a calibration, and waits for it for a while.
func (l *Library) valueOf(ctx context.Context, c *calibration) voice.Calibration {
	wait := time.NewTimer(calibrationWait)
	defer wait.Stop()
	select {
	case <-c.done:
	case <-wait.C:
	case <-l.ended:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.value
}

// knownCalibration returns the calibration of a voice, the zero value if it is not known yet.
func (l *Library) knownCalibration(e *installedVoice, speaker int64) voice.Calibration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := e.calibrations[speaker]; c != nil {
		return c.value
	}
	return voice.Calibration{}
}

// requestCalibration queues j unless it is queued or done.
func (l *Library) requestCalibration(j calibrationJob) *calibration {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := j.entry.calibrations[j.speaker]
	if c == nil {
		c = j.start()
		l.requested = append(l.requested, j)
		signal(l.calibrate)
	}
	return c
}

// start creates j's calibration; Library.mu must be held.
func (j calibrationJob) start() *calibration {
	c := &calibration{done: make(chan struct{})}
	j.entry.calibrations[j.speaker] = c
	return c
}

// runCalibrations runs the requested calibrations and then those of the remaining voices.
func (l *Library) runCalibrations(ctx context.Context) {
	for ctx.Err() == nil {
		j, ok := l.nextJob()
		if ok {
			l.finishCalibration(ctx, j, l.runCalibration(ctx, j))
			continue
		}
		select {
		case <-l.calibrate:
		case <-ctx.Done():
		}
	}
}

// nextJob returns the next job: requested ones, then the voice that speaks by default, then the others.
func (l *Library) nextJob() (calibrationJob, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.requested) > 0 {
		j := l.requested[0]
		l.requested = l.requested[1:]
		return j, true
	}
	rest := []*installedVoice{l.preferredVoice()}
	for _, name := range slices.Sorted(maps.Keys(l.voices)) {
		rest = append(rest, l.voices[name])
	}
	for _, e := range rest {
		if e == nil || e.err != nil || e.calibrated {
			continue
		}
		e.calibrated = true
		j := calibrationJob{entry: e, speaker: e.config.DefaultSpeaker, background: true}
		if e.calibrations[j.speaker] == nil {
			j.start()
			return j, true
		}
	}
	return calibrationJob{}, false
}

// runCalibration reads j's calibration from the store, or measures and stores it.
func (l *Library) runCalibration(ctx context.Context, j calibrationJob) error {
	key, err := j.key()
	if err != nil {
		return err
	}
	if value, ok := l.savedCalibration(key); ok {
		l.setCalibration(j, value)
		return nil
	}
	if err := l.acquire(ctx, j.entry); err != nil {
		return err
	}
	defer l.release(j.entry)
	v := l.voice(j.entry, j.speaker)
	v.Model = politeModel{v.Model, &l.speaking}
	value, err := v.Calibrate(ctx)
	if err != nil {
		return fmt.Errorf("calibrate the voice: %w", err)
	}
	l.setCalibration(j, value)
	data, err := json.Marshal(value)
	if err == nil {
		err = l.cfg.Calibrations.SaveCalibration(key, data)
	}
	if err != nil {
		l.cfg.Log.Warn("voice calibration not saved", "voice", j.entry.name, "err", err)
	}
	return nil
}

// A politeModel runs while nothing is spoken.
type politeModel struct {
	voice.Model
	speaking *atomic.Int32
}

// Infer runs the model once nothing is spoken.
func (m politeModel) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	for m.speaking.Load() > 0 {
		select {
		case <-time.After(calibrationWait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return m.Model.Infer(ctx, in)
}

// savedCalibration returns the stored calibration.
func (l *Library) savedCalibration(key string) (voice.Calibration, bool) {
	var value voice.Calibration
	data, ok, err := l.cfg.Calibrations.Calibration(key)
	if err == nil && ok {
		err = json.Unmarshal(data, &value)
	}
	if err != nil {
		l.cfg.Log.Warn("saved voice calibration unreadable", "err", err)
	}
	return value, ok && err == nil
}

// setCalibration sets j's calibration.
func (l *Library) setCalibration(j calibrationJob, value voice.Calibration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := j.entry.calibrations[j.speaker]
	c.value, c.known = value, true
}

// finishCalibration ends the wait for j. A calibration that failed through no fault of the voice is tried
// again at the next request.
func (l *Library) finishCalibration(ctx context.Context, j calibrationJob, err error) {
	if err != nil && (j.speaker == j.entry.config.DefaultSpeaker || errors.Is(err, voice.ErrUnavailable)) {
		l.failed(ctx, j.entry, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	close(j.entry.calibrations[j.speaker].done)
	if errors.Is(err, voice.ErrUnavailable) {
		delete(j.entry.calibrations, j.speaker)
	}
	if e := j.entry; j.background && e.model != nil && e.users == 0 && e != l.preferredVoice() {
		l.unload(e) // it was loaded only for the calibration
	}
}

// key returns j's key in the store: a hash of the voice's files, the speaker and the version.
func (j calibrationJob) key() (string, error) {
	sum := sha256.New()
	for _, path := range []string{j.entry.path, j.entry.path + ".json"} {
		if err := copyFile(sum, path); err != nil {
			return "", fmt.Errorf("read the voice's files: %w", err)
		}
	}
	return fmt.Sprintf("%s-%d-%d", hex.EncodeToString(sum.Sum(nil)), j.speaker, calibrationVersion), nil
}

func copyFile(to io.Writer, path string) error {
	f, err := os.Open(path) //nolint:gosec // a file in a directory of voices
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(to, f)
	return err
}
