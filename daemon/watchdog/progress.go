package watchdog

import (
	"context"
	"iter"
	"sync"
	"time"

	"pressbox/game/live"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
)

// Progress tracks one kind of work: how many operations have ended, and since when others
// run.
type Progress struct {
	// Observe is called with the duration of every operation; nil means no calls.
	Observe func(took time.Duration)

	mu      sync.Mutex // guards what follows
	ended   uint64
	lastID  int
	running map[int]time.Time // start times
}

// Begin records the start of an operation; the caller calls end when it has ended.
func (p *Progress) Begin() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		p.running = make(map[int]time.Time)
	}
	p.lastID++
	id := p.lastID
	p.running[id] = time.Now()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.Observe != nil {
			p.Observe(time.Since(p.running[id]))
		}
		delete(p.running, id)
		p.ended++
	}
}

// Count returns the number of operations that have ended.
func (p *Progress) Count() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// Check returns an error if an operation runs for longer than [Limit].
func (p *Progress) Check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, start := range p.running {
		if err := CheckDuration(time.Since(start)); err != nil {
			return err
		}
	}
	return nil
}

// A Speaker tracks the synthesis of each clip.
type Speaker struct {
	announcer.Speaker
	*Progress
}

// Speak implements [announcer.Speaker]. The time in which the caller uses a clip does not
// count.
func (s Speaker) Speak(ctx context.Context, u announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(yield func(announce.Clip, error) bool) {
		end := s.Begin()
		defer func() { end() }()
		for clip, err := range s.Speaker.Speak(ctx, u) {
			end()
			more := yield(clip, err)
			end = s.Begin()
			if !more {
				return
			}
		}
	}
}

// An Outbox tracks the writes of announcements.
type Outbox struct {
	announcer.Outbox
	*Progress
}

// Append implements [announcer.Outbox].
func (o Outbox) Append(ctx context.Context, n announce.Announcement,
	key announce.IdempotencyKey,
) (stored announce.Accepted, fresh bool, err error) {
	defer o.Begin()()
	return o.Outbox.Append(ctx, n, key)
}

// Done implements [announcer.Outbox].
func (o Outbox) Done(ctx context.Context, ended ...announce.Announcement) error {
	defer o.Begin()()
	return o.Outbox.Done(ctx, ended...)
}

// Update implements [announcer.Outbox].
func (o Outbox) Update(ctx context.Context, changed announce.Announcement) error {
	defer o.Begin()()
	return o.Outbox.Update(ctx, changed)
}

// A Journal tracks the writes of games.
type Journal struct {
	live.Journal
	*Progress
}

// Append implements [live.Journal].
func (j Journal) Append(ctx context.Context, c live.Change) (live.Space, error) {
	defer j.Begin()()
	return j.Journal.Append(ctx, c)
}
