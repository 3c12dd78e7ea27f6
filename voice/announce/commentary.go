package announce

import (
	"context"
	"errors"
	"slices"
	"time"

	"pressbox/audio"
	"pressbox/voice/speakable"
)

// commentMaxAge limits how long a comment may wait.
const commentMaxAge = 10 * time.Second

// A comment is a sentence about an event as it happens, such as a play of a
// game. It exists in memory only, does not count as an announcement, and is
// dropped when it is superseded or late.
type comment struct {
	topic    string // at most one comment per topic waits
	text     string
	deadline time.Time // it is not started later
}

// Comment speaks a text when no announcement is waiting, or drops it after 10
// seconds. It replaces a waiting comment of the same topic. An announcement
// that arrives while a comment is spoken starts after the current clause; the
// rest of the comment is dropped.
func (a *Announcer) Comment(topic, text string) {
	if !speakable.HasSpeech(text) {
		return
	}
	now := time.Now()
	c := comment{topic: topic, text: text, deadline: now.Add(commentMaxAge)}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dropStaleComments(now)
	if i := slices.IndexFunc(a.comments, func(c comment) bool { return c.topic == topic }); i >= 0 {
		a.comments[i] = c // in the older one's place, so that each topic gets its turn
	} else {
		a.comments = append(a.comments, c)
	}
	signal(a.queueChanged)
}

// nextComment removes and returns the oldest waiting comment. While comments are not
// to be spoken, it drops them.
func (a *Announcer) nextComment(now time.Time) (comment, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dropStaleComments(now)
	if !a.decide(Announcement{}, now).Speak {
		a.comments = nil
	}
	if len(a.comments) == 0 {
		return comment{}, false
	}
	c := a.comments[0]
	a.comments = slices.Delete(a.comments, 0, 1)
	return c, true
}

// dropStaleComments drops comments past their deadline. a.mu must be held.
func (a *Announcer) dropStaleComments(now time.Time) {
	a.comments = slices.DeleteFunc(a.comments, func(c comment) bool { return !now.Before(c.deadline) })
}

// speakComment speaks a comment. It returns false if ctx has ended.
func (p *playout) speakComment(ctx context.Context, c comment) bool {
	voice, err := p.a.speaker.Voice("")
	if err != nil {
		p.a.log.Debug("comment dropped", "about", c.topic, "err", err)
		return true
	}
	sound, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	u := &spokenComment{deadline: c.deadline, started: make(chan struct{}), stop: stop}
	syn := p.synthesize(ctx, Announcement{Message: c.text, Voice: voice, Rate: p.a.config.Load().Rate})
	defer syn.stop()
	pb := p.play(ctx, sound, syn, func() { close(u.started) }, func(played <-chan error, enough func()) error {
		return p.awaitComment(ctx, u, played, enough)
	})
	if pb.speakErr != nil {
		p.a.log.Debug("comment incomplete", "about", c.topic, "err", pb.speakErr)
	}
	if errors.Is(pb.sinkErr, audio.ErrSinkLost) {
		return p.waitBackoff(ctx)
	}
	p.backoff = 0
	return true
}

// A spokenComment is a comment that is being spoken.
type spokenComment struct {
	deadline time.Time
	started  chan struct{} // closed at its first sample
	stop     context.CancelCauseFunc
}

// awaitComment waits until a comment has been played. It calls enough, after
// which no further clause starts, if the comment is late or an announcement
// arrives, which it then prefetches.
func (p *playout) awaitComment(ctx context.Context, u *spokenComment, played <-chan error, enough func()) error {
	started, late, stopping := u.started, time.After(time.Until(u.deadline)), ctx.Done()
	var over <-chan time.Time
	for {
		select {
		case err := <-played:
			return err
		case <-started:
			started, late = nil, nil
		case <-late:
			enough()
		case <-p.a.queueChanged:
			if _, waiting := p.a.peek(); waiting {
				enough()
				p.prefetch(ctx)
			}
		case <-stopping:
			stopping, over = nil, time.After(stopGrace)
		case <-over:
			u.stop(errStopping)
		}
	}
}
