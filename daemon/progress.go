package main

import (
	"context"
	"iter"
	"sync"
	"time"

	"pressbox/audio"
	"pressbox/game/live"
	"pressbox/voice/announce"
)

// progress watches one kind of work: how much of it was done, and for how long
// the oldest piece of it has been going on.
type progress struct {
	mu    sync.Mutex // guards what follows
	done  uint64
	next  int
	took  func(seconds float64) // told of every piece that is done; may be nil
	began map[int]time.Time     // of the pieces that are going on
}

// begin notes that a piece of work begins; end that it is done.
func (p *progress) begin() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.began == nil {
		p.began = make(map[int]time.Time)
	}
	p.next++
	piece := p.next
	p.began[piece] = time.Now()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.took != nil {
			p.took(time.Since(p.began[piece]).Seconds())
		}
		delete(p.began, piece)
		p.done++
	}
}

// count is how many pieces are done.
func (p *progress) count() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// stuck is an error when a piece has been going on for too long.
func (p *progress) stuck() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, began := range p.began {
		if err := busyFor(time.Since(began)); err != nil {
			return err
		}
	}
	return nil
}

// A watchedSpeaker is a speaker whose work on each clip is watched.
type watchedSpeaker struct {
	announce.Speaker
	*progress
}

// Speak is the speaker's. What its caller does with a clip is not its work.
func (w watchedSpeaker) Speak(ctx context.Context, voice, message string, rate int) iter.Seq2[audio.Clip, error] {
	return func(yield func(audio.Clip, error) bool) {
		end := w.begin()
		defer func() { end() }()
		hang()
		for clip, err := range w.Speaker.Speak(ctx, voice, message, rate) {
			end()
			more := yield(clip, err)
			end = w.begin()
			if !more {
				return
			}
		}
	}
}

// A watchedOutbox is an outbox whose writing is watched.
type watchedOutbox struct {
	announce.Outbox
	*progress
	figures *figures
}

// Append is the outbox's.
func (w watchedOutbox) Append(ctx context.Context, n announce.Announcement, key announce.IdempotencyKey) (kept announce.Announcement, fresh bool, err error) {
	defer w.begin()()
	kept, fresh, err = w.Outbox.Append(ctx, n, key)
	if err == nil && fresh {
		w.figures.accepted.Inc()
	}
	return kept, fresh, err
}

// Done is the outbox's.
func (w watchedOutbox) Done(ctx context.Context, notices ...announce.Announcement) error {
	defer w.begin()()
	err := w.Outbox.Done(ctx, notices...)
	if err == nil {
		w.figures.note(notices)
	}
	return err
}

// A watchedJournal is a journal of games whose writing is watched.
type watchedJournal struct {
	live.Journal
	*progress
}

// Append is the journal's.
func (w watchedJournal) Append(ctx context.Context, c live.Change) (crowded bool, err error) {
	defer w.begin()()
	return w.Journal.Append(ctx, c)
}
