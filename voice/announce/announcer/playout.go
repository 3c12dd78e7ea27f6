package announcer

import (
	"context"
	"sync"
	"time"

	"pressbox/audio"
	"pressbox/voice/announce"
	"pressbox/voice/announce/plan"
	"pressbox/voice/announce/policy"
)

const (
	stopGrace  = 5 * time.Second        // for the last sentence when Run's ctx ends
	minBackoff = 200 * time.Millisecond // before the first retry after the sink was lost
	maxBackoff = 2 * time.Second        // the backoff doubles up to this
)

// A playout synthesizes and plays announcements one after another. It belongs to Run's goroutine.
type playout struct {
	a          *Announcer
	prefetched *synthesis     // of a waiting announcement; nil means none
	backoff    time.Duration  // before the next try; 0 unless the sink was lost
	lastEnded  time.Time      // when an announcement that was audible ended; zero: none has
	running    sync.WaitGroup // the goroutines that the playout has started
	ducking    ducking
}

// step speaks the next announcement or comment, or waits for one. It returns false once ctx has ended.
func (p *playout) step(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	p.a.endUnspoken(ctx)
	sound, pb := newPlayback(ctx)
	defer pb.stop(nil)
	if t := p.a.take(pb.stop); t != nil {
		return p.speak(ctx, sound, pb, t)
	}
	p.dropPrefetched()
	if c, ok := p.a.nextComment(); ok {
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

// speak speaks the current announcement. It returns false if ctx has ended.
func (p *playout) speak(ctx, sound context.Context, pb *playback, t *turn) bool {
	pb.plan = plan.For(p.occasion(t.Turn))
	pb.chime = p.a.chime(&pb.plan)
	var missing error
	pb.sound, missing = p.a.sound(t.Announcement)
	if why := failedSound(t.Announcement, missing); why != "" {
		p.a.finish(ctx, t, announce.Failed, why)
		return true
	}
	pb.begin, pb.voice, pb.urgent = t.Sentence, t.Voice, t.Urgent
	pb.syn = p.synthesisOf(ctx, t.Announcement, len(pb.sound))
	pb.onVoice = p.a.markPlaying
	p.play(sound, pb, func() { p.attend(ctx, t, pb) })
	p.a.markHeard(pb)
	status, why := pb.outcome(ctx, context.Cause(sound))
	if status == announce.Queued {
		if p.a.requeue(ctx, t, pb.rest(t.Sentence), pb.sinkErr) {
			return p.afterRequeue(ctx, pb)
		}
		status, why = pb.outcome(ctx, p.a.cause(t)) // it was cancelled or expired in between
	}
	pb.syn.stop()
	p.backoff = 0
	if pb.timeline.Last() >= 0 {
		p.lastEnded = time.Now()
	}
	if status == announce.Done {
		status = p.a.repeatLater(ctx, t)
	}
	if status != announce.Scheduled {
		p.a.finish(ctx, t, status, why)
	}
	return true
}

// afterRequeue prepares the next step after an announcement was queued again. It returns false if ctx has
// ended.
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

// occasion returns what decides how an announcement is played now.
func (p *playout) occasion(t announce.Turn) plan.Occasion {
	c := p.a.now()
	d := c.Decide(t.Announcement, c.Now)
	o := plan.Occasion{
		Urgent:  t.Urgent,
		Low:     t.Priority == policy.Low,
		Soft:    d.Quiet,
		Resumed: t.Resumed,
		Chime:   audio.Chime(t.Chime),
		Default: audio.Chime(c.Chime),
		Last:    p.lastEnded,
		Now:     c.Now,
		Between: c.Between,
		Volume:  d.Volume,
		Duck:    c.Duck,
	}
	if t.Urgent {
		o.Default = audio.Chime(c.ChimeUrgent)
	}
	return o
}

// The place of an announcement is saved when so much of it has been heard, and so much more: after a crash, at most
// 10 s and one sentence are heard twice.
const firstPlace, nextPlace = 10 * time.Second, 9 * time.Second

// savePlace saves with which sentence the current announcement is spoken on after a crash.
func (p *playout) savePlace(ctx context.Context, t *turn, sentence int) {
	if p.a.rest(sentence) {
		p.running.Go(func() { p.a.saveRest(ctx, t) })
	}
}

// attend waits until the current announcement has been played, and saves its place meanwhile. Once its synthesis is
// done, it prefetches the next announcement, and another one if the order changes. An urgent one is prefetched at
// once, and interrupts one that is not. When ctx ends, attend lets the sentence finish, for at most stopGrace.
func (p *playout) attend(ctx context.Context, t *turn, pb *playback) {
	synthesized, stopping := pb.syn.done, ctx.Done()
	places := time.NewTicker(doubt)
	defer places.Stop()
	due := firstPlace
	var late <-chan time.Time
	for {
		select {
		case <-pb.finished:
			return
		case <-places.C:
			if heard, sentence, ok := pb.place(); ok && heard >= due {
				due = heard + nextPlace
				p.savePlace(ctx, t, sentence)
			}
		case <-synthesized:
			synthesized = nil
			p.prefetch(ctx)
		case <-p.a.queueChanged:
			p.setLevel(t.Announcement, pb)
			if stopping != nil && p.a.interrupt() {
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

// setLevel moves the fader to the volume at which an announcement is to be spoken now. An urgent one stays as it is.
func (p *playout) setLevel(ann announce.Announcement, pb *playback) {
	c := p.a.now()
	if d := c.Decide(ann, c.Now); d.Speak && !ann.Urgent {
		pb.fader.Move(plan.Gain(d.Volume))
	}
}

// waitBackoff waits after the sink was lost, longer each time. It returns false if ctx has ended.
func (p *playout) waitBackoff(ctx context.Context) bool {
	p.backoff = min(max(2*p.backoff, minBackoff), maxBackoff)
	return wait(ctx, time.After(p.backoff))
}

// synthesisOf returns the prefetched synthesis of an announcement, whose sound has so many parts, or starts one.
func (p *playout) synthesisOf(ctx context.Context, ann announce.Announcement, parts int) *synthesis {
	if syn := p.prefetched; syn != nil && syn.id == ann.ID {
		p.prefetched = nil
		return syn
	}
	return p.synthesize(ctx, ann.ID, ann.Speech(parts))
}

// prefetch starts the synthesis of the announcement that is next, and drops that of any other.
func (p *playout) prefetch(ctx context.Context) {
	next, ok := p.a.peek()
	if p.prefetched != nil && (!ok || p.prefetched.id != next.ID) {
		p.dropPrefetched()
	}
	if ok && p.prefetched == nil && ctx.Err() == nil {
		parts := 0
		if next.Sentence > 0 {
			sound, _ := p.a.sound(next)
			parts = len(sound)
		}
		p.prefetched = p.synthesize(ctx, next.ID, next.Speech(parts))
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
