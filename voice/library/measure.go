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
	"time"

	"pressbox/voice"
)

// patience is how long the first message of a voice waits until the voice has
// been measured; on a small machine that takes longer, and what is usual has
// to do.
const patience = 2 * time.Second

// measuring counts the ways of measuring; calibrations of another are not
// taken from the store.
const measuring = 1

// A job is a speaker of a voice to be measured.
type job struct {
	entry   *entry
	speaker int64
	unasked bool // nobody waits to speak with it
}

// A calibration is what was measured; Library.mu guards it.
type calibration struct {
	done  chan struct{} // closed when there is nothing to wait for
	known bool
	value voice.Calibration // zero until known
}

// calibrationOf returns what was measured of j, and waits for it a while.
func (l *Library) calibrationOf(ctx context.Context, j job) voice.Calibration {
	c := l.ask(j)
	select {
	case <-c.done:
	default:
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		select {
		case <-c.done:
		case <-l.ended:
		case <-ctx.Done():
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.value
}

// ask has j measured unless it was.
func (l *Library) ask(j job) *calibration {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := j.entry.calibrations[j.speaker]
	if c == nil {
		c = j.begin()
		l.asked = append(l.asked, j)
		wake(l.measure)
	}
	return c
}

// begin makes j's calibration one that is waited for; Library.mu must be held.
func (j job) begin() *calibration {
	c := &calibration{done: make(chan struct{})}
	j.entry.calibrations[j.speaker] = c
	return c
}

// runMeasures measures what is asked for, and, when nothing is, the voices
// that never were.
func (l *Library) runMeasures(ctx context.Context) {
	for ctx.Err() == nil {
		j, ok := l.nextJob()
		if ok {
			l.finish(ctx, j, l.calibrate(ctx, j))
			continue
		}
		select {
		case <-l.measure:
		case <-ctx.Done():
		}
	}
}

// nextJob takes the next job: what was asked for, then the default voice, then
// the others.
func (l *Library) nextJob() (job, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.asked) > 0 {
		j := l.asked[0]
		l.asked = l.asked[1:]
		return j, true
	}
	rest := []*entry{l.defaultEntry()}
	for _, name := range slices.Sorted(maps.Keys(l.entries)) {
		rest = append(rest, l.entries[name])
	}
	for _, e := range rest {
		if e == nil || e.err != nil || e.measured {
			continue
		}
		e.measured = true
		j := job{entry: e, speaker: e.config.DefaultSpeaker, unasked: true}
		if e.calibrations[j.speaker] == nil {
			j.begin()
			return j, true
		}
	}
	return job{}, false
}

// calibrate takes j's calibration from the store, or measures j and keeps it.
func (l *Library) calibrate(ctx context.Context, j job) error {
	key, err := j.key()
	if err != nil {
		return err
	}
	if value, ok := l.kept(key); ok {
		l.know(j, value)
		return nil
	}
	if err := l.acquire(ctx, j.entry); err != nil {
		return err
	}
	defer l.release(j.entry)
	value, err := l.voice(j.entry, j.speaker).Calibrate(ctx)
	if err != nil {
		return fmt.Errorf("measure the voice: %w", err)
	}
	l.know(j, value)
	data, err := json.Marshal(value)
	if err == nil {
		err = l.cfg.Calibrations.SaveCalibration(key, data)
	}
	if err != nil {
		l.cfg.Log.Warn("a voice has to be measured again after a restart", "voice", j.entry.name, "err", err)
	}
	return nil
}

// kept returns the calibration that is in the store.
func (l *Library) kept(key string) (voice.Calibration, bool) {
	var value voice.Calibration
	data, ok, err := l.cfg.Calibrations.Calibration(key)
	if err == nil && ok {
		err = json.Unmarshal(data, &value)
	}
	if err != nil {
		l.cfg.Log.Warn("a kept calibration cannot be read", "err", err)
	}
	return value, ok && err == nil
}

// know sets j's calibration.
func (l *Library) know(j job, value voice.Calibration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := j.entry.calibrations[j.speaker]
	c.value, c.known = value, true
}

// finish ends the waiting for j, which ended with err. What was not measured
// through no fault of the voice is measured when it is asked for again.
func (l *Library) finish(ctx context.Context, j job, err error) {
	if err != nil && (j.speaker == j.entry.config.DefaultSpeaker || errors.Is(err, voice.ErrUnavailable)) {
		l.failed(ctx, j.entry, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	close(j.entry.calibrations[j.speaker].done)
	if errors.Is(err, voice.ErrUnavailable) {
		delete(j.entry.calibrations, j.speaker)
	}
	if e := j.entry; j.unasked && e.model != nil && e.users == 0 && e != l.defaultEntry() {
		l.unload(e) // it was loaded only to be measured
	}
}

// key returns what names j in the store: the contents of the voice's files,
// the speaker, and the way of measuring.
func (j job) key() (string, error) {
	sum := sha256.New()
	for _, path := range []string{j.entry.path, j.entry.path + ".json"} {
		if err := copyFile(sum, path); err != nil {
			return "", fmt.Errorf("read the voice's files: %w", err)
		}
	}
	return fmt.Sprintf("%s-%d-%d", hex.EncodeToString(sum.Sum(nil)), j.speaker, measuring), nil
}

func copyFile(to io.Writer, path string) error {
	f, err := os.Open(path) //nolint:gosec // a file of the folders of voices
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(to, f)
	return err
}
