package announce

import (
	"context"
	"errors"
	"slices"
	"time"

	"pressbox/voice/announce/plan"
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
// rest of the comment is dropped. An urgent one starts at once.
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
func (p *playout) speakComment(ctx, sound context.Context, pb *playback, c comment) bool {
	voice, err := p.a.speaker.Voice("")
	if err != nil {
		p.a.log.Debug("comment dropped", "about", c.topic, "err", err)
		return true
	}
	config, decision := p.a.config.Load(), p.a.decide(Announcement{}, time.Now())
	pb.plan = plan.For(plan.Occasion{Comment: true, Volume: decision.Volume, Duck: config.Duck})
	pb.syn = p.synthesize(ctx, "", Utterance{Voice: voice, Message: c.text, Rate: config.Rate})
	defer pb.syn.stop()
	started := make(chan struct{})
	pb.onStart = func(string) { close(started) }
	p.play(sound, pb, func() { p.attendComment(ctx, pb, c.deadline, started) })
	if err := pb.speakErr; err != nil && !errors.Is(err, context.Canceled) {
		p.a.log.Debug("comment incomplete", "about", c.topic, "err", err)
	}
	if pb.lost() {
		p.ducking.restore()
		return p.waitBackoff(ctx)
	}
	p.backoff = 0
	return true
}

// attendComment waits until a comment has been played. If it is late or an
// announcement arrives, no further clause starts; the announcement is prefetched.
// An urgent one stops the comment.
func (p *playout) attendComment(ctx context.Context, pb *playback, deadline time.Time, started <-chan struct{}) {
	late, stopping := time.After(time.Until(deadline)), ctx.Done()
	var over <-chan time.Time
	for {
		select {
		case <-pb.finished:
			return
		case <-started:
			started, late = nil, nil
		case <-late:
			pb.lastClip()
		case <-p.a.queueChanged:
			p.yieldTo(ctx, pb)
		case <-stopping:
			stopping, over = nil, time.After(stopGrace)
			p.dropPrefetched()
			pb.lastSentence()
		case <-over:
			pb.stop(errStopping)
		}
	}
}

// yieldTo ends a comment for the next announcement, if there is one.
func (p *playout) yieldTo(ctx context.Context, pb *playback) {
	next, waiting := p.a.peek()
	if !waiting {
		return
	}
	pb.syn.stop()
	pb.lastClip()
	if next.Urgent {
		pb.stop(errInterrupted)
	}
	p.prefetch(ctx)
}
