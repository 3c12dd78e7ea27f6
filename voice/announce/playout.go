package announce

import (
	"context"
	"sync"
	"time"

	"pressbox/audio"
	"pressbox/voice/announce/plan"
	"pressbox/voice/announce/policy"
)

const (
	stopGrace  = 5 * time.Second        // for the last sentence when Run's ctx ends
	minBackoff = 200 * time.Millisecond // before the first retry after the sink was lost
	maxBackoff = 2 * time.Second        // the backoff doubles up to this
)

// A playout synthesizes and plays announcements one after another. It belongs
// to Run's goroutine.
type playout struct {
	a          *Announcer
	prefetched *synthesis     // of a waiting announcement; nil means none
	backoff    time.Duration  // before the next try; 0 unless the sink was lost
	lastEnded  time.Time      // when an announcement that was audible ended; zero: none has
	running    sync.WaitGroup // the goroutines that the playout has started
	ducking    ducking
}

// step speaks the next announcement or comment, or waits for one. It returns
// false once ctx has ended.
func (p *playout) step(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	p.a.endUnspoken(ctx)
	sound, pb := newPlayback(ctx)
	defer pb.stop(nil)
	if it := p.a.take(pb.stop); it != nil {
		return p.speak(ctx, sound, pb, it)
	}
	p.dropPrefetched()
	if c, ok := p.a.nextComment(time.Now()); ok {
		return p.speakComment(ctx, sound, pb, c)
	}
	p.ducking.restore()
	return wait(ctx, p.a.queueChanged)
}

// end releases everything once step has returned false.
func (p *playout) end() {
	p.dropPrefetched()
	p.ducking.restore()
	p.running.Wait()
}

// speak speaks the current item. It returns false if ctx has ended.
func (p *playout) speak(ctx, sound context.Context, pb *playback, it *item) bool {
	pb.plan = plan.For(p.occasion(it))
	pb.syn = p.synthesisOf(ctx, it, pb.plan.Gain)
	pb.onStart = func(voice string) { p.a.markPlaying(it, voice) }
	pb.onVoice = func(voice string) { p.a.changeVoice(it, voice) }
	p.play(sound, pb, func() { p.attend(ctx, pb, it) })
	status, why := pb.outcome(ctx, context.Cause(sound))
	if status == Queued {
		if p.a.requeue(ctx, it, pb.rest(it.Sentence), pb.sinkErr) {
			return p.afterRequeue(ctx, pb)
		}
		status, why = pb.outcome(ctx, it.cause) // it was cancelled or expired in between
	}
	pb.syn.stop()
	p.backoff = 0
	if pb.timeline.Last() >= 0 {
		p.lastEnded = time.Now()
	}
	if status == Done {
		status = p.a.repeatLater(ctx, it)
	}
	if status != Scheduled {
		p.a.finish(ctx, it, status, why)
	}
	return true
}

// afterRequeue prepares the next step after an announcement was queued again. It
// returns false if ctx has ended.
func (p *playout) afterRequeue(ctx context.Context, pb *playback) bool {
	if pb.lost() {
		p.ducking.restore()
		p.retain(pb.syn)
		return p.waitBackoff(ctx)
	}
	pb.syn.stop()
	p.backoff = 0
	return true
}

// occasion returns what decides how the current item is played.
func (p *playout) occasion(it *item) plan.Occasion {
	c, now := p.a.config.Load(), time.Now()
	d := p.a.decide(p.a.read(it), now)
	o := plan.Occasion{
		Urgent:  it.Urgent,
		Low:     it.Priority == policy.Low,
		Soft:    d.Quiet,
		Resumed: it.resumes(),
		Chime:   audio.Chime(it.Chime),
		Default: audio.Chime(c.Chime),
		Last:    p.lastEnded,
		Now:     now,
		Volume:  d.Volume,
		Duck:    c.Duck,
	}
	if it.Urgent {
		o.Default = audio.Chime(c.ChimeUrgent)
	}
	return o
}

// attend waits until the current item has been played. Once its synthesis is done,
// it prefetches the next announcement, and another one if the order changes. An
// urgent one is prefetched at once, and interrupts one that is not. When ctx ends,
// attend lets the sentence finish, for at most stopGrace.
func (p *playout) attend(ctx context.Context, pb *playback, it *item) {
	synthesized, stopping := pb.syn.done, ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case <-pb.finished:
			return
		case <-synthesized:
			synthesized = nil
			p.prefetch(ctx)
		case <-p.a.queueChanged:
			if stopping != nil && p.a.interrupt(it) {
				pb.syn.stop()
				p.prefetch(ctx)
			} else if synthesized == nil {
				p.prefetch(ctx)
			}
		case <-stopping:
			stopping, late = nil, time.After(stopGrace)
			p.dropPrefetched()
			pb.lastSentence()
		case <-late:
			pb.stop(errStopping)
		}
	}
}

// waitBackoff waits after the sink was lost, longer each time. It returns false
// if ctx has ended.
func (p *playout) waitBackoff(ctx context.Context) bool {
	p.backoff = min(max(2*p.backoff, minBackoff), maxBackoff)
	return wait(ctx, time.After(p.backoff))
}

// synthesisOf returns the prefetched synthesis of it, if it can be played at the
// gain, or starts one.
func (p *playout) synthesisOf(ctx context.Context, it *item, gain float32) *synthesis {
	if syn := p.prefetched; syn != nil && syn.id == it.ID && syn.fits(gain) {
		p.prefetched = nil
		return syn
	}
	return p.synthesize(ctx, it.ID, p.a.read(it).speech())
}

// prefetch starts the synthesis of the announcement that is next, and drops
// that of any other.
func (p *playout) prefetch(ctx context.Context) {
	next, ok := p.a.peek()
	if p.prefetched != nil && (!ok || p.prefetched.id != next.ID) {
		p.dropPrefetched()
	}
	if ok && p.prefetched == nil && ctx.Err() == nil {
		p.prefetched = p.synthesize(ctx, next.ID, next.speech())
	}
}

// retain saves syn for the next attempt, unless some of it was played.
func (p *playout) retain(syn *synthesis) {
	if syn.started {
		syn.stop()
		return
	}
	p.dropPrefetched()
	p.prefetched = syn
}

func (p *playout) dropPrefetched() {
	if p.prefetched != nil {
		p.prefetched.stop()
		p.prefetched = nil
	}
}

// wait waits for an event. It returns false if ctx ends first.
func wait[T any](ctx context.Context, event <-chan T) bool {
	select {
	case <-event:
		return true
	case <-ctx.Done():
		return false
	}
}
