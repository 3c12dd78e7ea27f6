package announce

import (
	"context"
	"errors"
	"sync"
	"time"

	"pressbox/audio"
)

const (
	stopGrace  = 5 * time.Second        // for the last sentence when Run's ctx ends
	minBackoff = 200 * time.Millisecond // before the first retry after the sink was lost
	maxBackoff = 2 * time.Second        // the backoff doubles up to this
)

// Causes in the context of the current sound when it is stopped.
var (
	errCancelled = errors.New("cancelled")
	errExpired   = errors.New("expired")
	errStopping  = errors.New("stopping")
)

// A playout synthesises and plays announcements one after another. It belongs
// to Run's goroutine.
type playout struct {
	a          *Announcer
	prefetched *synthesis     // of a waiting announcement; nil means none
	backoff    time.Duration  // before the next try; 0 unless the sink was lost
	running    sync.WaitGroup // the goroutines that the playout has started
}

// step speaks the next announcement or comment, or waits for one. It returns
// false once ctx has ended.
func (p *playout) step(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	p.a.endUnspoken(ctx)
	sound, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	it := p.a.take(stop)
	if it == nil {
		p.dropPrefetched()
		if c, ok := p.a.nextComment(time.Now()); ok {
			return p.speakComment(ctx, c)
		}
		return wait(ctx, p.a.queueChanged)
	}
	syn := p.synthesisOf(ctx, it)
	pb := p.play(ctx, sound, syn, func() { p.a.markPlaying(it) }, func(played <-chan error, _ func()) error {
		return p.awaitPlayed(ctx, syn, it, played)
	})
	status, why := pb.outcome(ctx, sound)
	if status == Queued && !p.a.requeue(it, pb.sinkErr) {
		status, why = pb.outcome(ctx, sound) // it was cancelled or expired in between
	}
	if status == Queued {
		p.retain(syn)
		return p.waitBackoff(ctx)
	}
	syn.stop()
	p.backoff = 0
	if status != Done || !p.a.repeatLater(ctx, it) {
		p.a.finish(ctx, it, status, why)
	}
	return true
}

// A playback is the result of one attempt to play a synthesis.
type playback struct {
	complete bool  // the sink received every clip
	sinkErr  error // of the sink
	speakErr error // of the speaker
}

// play plays syn until the sink has finished or sound ends. It calls onStart at
// the first sample. await waits for the sink's result; when ctx ends, or await
// calls enough, the sink gets no more clips.
func (p *playout) play(ctx, sound context.Context, syn *synthesis, onStart func(), await func(played <-chan error, enough func()) error) playback {
	feeding, stop := context.WithCancel(ctx)
	defer stop()
	clips := make(chan audio.Clip)
	played := make(chan error, 1)
	fed := make(chan bool, 1)
	p.running.Go(func() {
		_, err := p.a.sink.Play(sound, clips)
		played <- err
	})
	p.running.Go(func() { fed <- syn.feed(feeding, clips, onStart) })

	pb := playback{sinkErr: await(played, stop)}
	stop()
	pb.complete = <-fed
	pb.speakErr = syn.failure()
	return pb
}

// awaitPlayed waits until the current item has been played. Once its synthesis
// is done, it prefetches the next announcement, and another one if the order
// changes. It stops the sound stopGrace after ctx has ended.
func (p *playout) awaitPlayed(ctx context.Context, syn *synthesis, it *item, played <-chan error) error {
	done, stopping := syn.done, ctx.Done()
	var changed <-chan struct{}
	var late <-chan time.Time
	for {
		select {
		case err := <-played:
			return err
		case <-done:
			done, changed = nil, p.a.queueChanged
			p.prefetch(ctx)
		case <-changed:
			p.prefetch(ctx)
		case <-stopping:
			stopping, late = nil, time.After(stopGrace)
		case <-late:
			it.stop(errStopping)
		}
	}
}

// outcome returns the status that the announcement gets, and the error of a
// failed one. Queued means that it is spoken again.
func (pb playback) outcome(ctx, sound context.Context) (status Status, why string) {
	switch cause := context.Cause(sound); {
	case pb.complete && pb.sinkErr == nil:
		return Done, ""
	case errors.Is(cause, errCancelled):
		return Cancelled, ""
	case errors.Is(cause, errExpired):
		return Expired, ""
	case errors.Is(pb.sinkErr, audio.ErrSinkLost), ctx.Err() != nil:
		return Queued, ""
	case pb.speakErr != nil:
		return Failed, pb.speakErr.Error()
	case pb.sinkErr != nil:
		return Failed, pb.sinkErr.Error()
	default:
		return Failed, "the sink ended before the message"
	}
}

// waitBackoff waits after the sink was lost, longer each time. It returns false
// if ctx has ended.
func (p *playout) waitBackoff(ctx context.Context) bool {
	p.backoff = min(max(2*p.backoff, minBackoff), maxBackoff)
	return wait(ctx, time.After(p.backoff))
}

// synthesisOf returns the prefetched synthesis of it, or starts one.
func (p *playout) synthesisOf(ctx context.Context, it *item) *synthesis {
	if syn := p.prefetched; syn != nil && syn.id == it.ID {
		p.prefetched = nil
		return syn
	}
	return p.synthesize(ctx, it.Announcement)
}

// prefetch starts the synthesis of the announcement that is next, and drops
// that of any other.
func (p *playout) prefetch(ctx context.Context) {
	next, ok := p.a.peek()
	if p.prefetched != nil && (!ok || p.prefetched.id != next.ID) {
		p.dropPrefetched()
	}
	if ok && p.prefetched == nil {
		p.prefetched = p.synthesize(ctx, next)
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
