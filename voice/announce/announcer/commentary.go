package announcer

import (
	"context"
	"errors"
	"sync"
	"time"

	"pressbox/voice/announce"
	"pressbox/voice/announce/plan"
	"pressbox/voice/speakable"
)

// Comment speaks a text when no announcement is waiting, or drops it after 10 seconds. It replaces a waiting
// comment of the same topic. An announcement that arrives while a comment is spoken starts after the current
// clause; the rest of the comment is dropped. An urgent one starts at once.
func (a *Announcer) Comment(topic, text string) {
	if !speakable.HasSpeech(text) {
		return
	}
	a.step(func(q *announce.Queue, c announce.Conditions) announce.Step { return q.Comment(topic, text, c) })
}

// nextComment removes and returns the oldest waiting comment.
func (a *Announcer) nextComment() (announce.Comment, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queue.NextComment(a.now())
}

// speakComment speaks a comment. It returns false if ctx has ended.
func (p *playout) speakComment(ctx, sound context.Context, pb *playback, c announce.Comment) bool {
	voice, err := p.a.parts.Speaker.Voice("")
	if err != nil {
		p.a.log.Debug("comment dropped", "about", c.Topic, "err", err)
		return true
	}
	now := p.a.now()
	decision := now.Decide(announce.Announcement{}, now.Now)
	pb.plan = plan.For(plan.Occasion{Comment: true, Volume: decision.Volume, Duck: now.Duck})
	pb.syn = p.synthesize(ctx, "", announce.Utterance{Voice: voice, Message: c.Text, Rate: now.Rate})
	defer pb.syn.stop()
	started := make(chan struct{})
	start := sync.OnceFunc(func() { close(started) })
	pb.onVoice = func(string) { start() }
	p.play(sound, pb, func() { p.attendComment(ctx, pb, c.Deadline, started) })
	if err := pb.speakErr; err != nil && !errors.Is(err, context.Canceled) {
		p.a.log.Debug("comment incomplete", "about", c.Topic, "err", err)
	}
	if pb.lost() {
		p.ducking.restore()
		return p.waitBackoff(ctx)
	}
	p.backoff = 0
	return true
}

// attendComment waits until a comment has been played. If it is late or an announcement arrives, no further
// clause starts; the announcement is prefetched. An urgent one stops the comment.
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
			if !p.mayComment() {
				pb.stop(announce.ErrSilenced)
			}
			p.setLevel(announce.Announcement{}, pb)
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

// mayComment reports whether comments are spoken now.
func (p *playout) mayComment() bool {
	now := p.a.now()
	return now.Decide(announce.Announcement{}, now.Now).Speak
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
		pb.stop(announce.ErrInterrupted)
	}
	p.prefetch(ctx)
}
