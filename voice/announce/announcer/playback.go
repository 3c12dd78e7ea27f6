package announcer

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"pressbox/audio"
	"pressbox/voice/announce"
	"pressbox/voice/announce/plan"
)

// errStopping is the cause of the end of a sound's context when Run's ctx ended; others are those of [announce.Step].
var errStopping = errors.New("stopping")

// A playback is one attempt to play a synthesis as planned.
type playback struct {
	plan    plan.Plan
	urgent  bool
	fader   *audio.Fader
	syn     *synthesis
	chime   audio.Clip         // instead of the plan's; without samples: the plan's
	sound   []audio.Clip       // parts before the speech, which count as its first sentences
	begin   int                // number of the first part of the sound that is played
	onVoice func(voice string) // called at the first sample, and when another voice speaks the rest
	voice   string             // of the last clip that the sink received

	stop         context.CancelCauseFunc // stops the sound
	lastClip     context.CancelFunc      // closes enough
	lastSentence context.CancelFunc      // closes ending
	enough       <-chan struct{}         // closed: no other clip begins
	ending       <-chan struct{}         // closed: no other sentence begins
	finished     chan struct{}           // closed when the sink has finished

	mu       sync.Mutex    // guards timeline and until, which only feed changes
	timeline plan.Timeline // of the clips that the sink received
	until    time.Time     // when they will have been heard, if none waits

	// Read after play:
	complete bool          // it received every clip
	played   time.Duration // of the timeline
	sinkErr  error
	speakErr error
	unheard  audio.Silence // why nothing of it was heard; "" if something was
}

// newPlayback returns a playback and the context of its sound, which does not end with ctx.
func newPlayback(ctx context.Context) (sound context.Context, pb *playback) {
	pb = &playback{finished: make(chan struct{})}
	sound, pb.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	clips, lastClip := context.WithCancel(sound)
	sentences, lastSentence := context.WithCancel(clips)
	pb.enough, pb.lastClip, pb.ending, pb.lastSentence = clips.Done(), lastClip, sentences.Done(), lastSentence
	return sound, pb
}

// play plays a synthesis until the sink has finished. attend is called meanwhile; it returns when pb.finished
// is closed.
func (p *playout) play(sound context.Context, pb *playback, attend func()) {
	pb.fader = audio.NewFader(pb.plan.Gain)
	clips := make(chan audio.Clip)
	fed := make(chan struct{})
	p.running.Go(func() {
		defer close(pb.finished)
		pb.played, pb.sinkErr = p.a.sink(pb.urgent).Play(sound, clips, pb.fader)
		if unheard, ok := errors.AsType[*audio.UnheardError](pb.sinkErr); ok {
			pb.unheard = unheard.Why
			if pb.sinkErr == unheard { //nolint:errorlint // whether there is no other error
				pb.sinkErr = nil
			}
		}
	})
	p.running.Go(func() {
		defer close(fed)
		defer close(clips)
		pb.complete = pb.feed(clips, func() { p.ducking.lower(sound, pb.plan.Lower) })
	})
	attend()
	pb.lastClip()
	<-fed
	pb.speakErr = pb.syn.failure()
	if pb.sinkErr == nil {
		pb.played = math.MaxInt64
	}
}

// sink returns what plays urgent announcements, or others.
func (a *Announcer) sink(urgent bool) Sink {
	if urgent && a.parts.Urgent != nil {
		return a.parts.Urgent
	}
	return a.parts.Sink
}

// feed sends the prelude and the clips to out, and calls first before that. It reports whether every clip was
// sent.
func (pb *playback) feed(out chan<- audio.Clip, first func()) bool {
	if !pb.syn.next(pb.ending) && pb.begin >= len(pb.sound) {
		return pb.syn.complete
	}
	first()
	if !pb.sendPrelude(out) {
		return false
	}
	for i := pb.begin; i < len(pb.sound); i++ {
		if !pb.send(out, pb.sound[i], i, pb.ending) {
			return false
		}
	}
	for pb.syn.next(pb.enough) {
		if !pb.sendClip(out) {
			return false
		}
	}
	return pb.syn.complete
}

// sendPrelude sends what precedes the speech, if there is something.
func (pb *playback) sendPrelude(out chan<- audio.Clip) bool {
	rate, sentence := pb.chime.Rate, pb.sentence()
	if pb.begin < len(pb.sound) {
		rate, sentence = cmp.Or(rate, pb.sound[pb.begin].Rate), pb.begin
	}
	rate = cmp.Or(rate, pb.syn.pending.Rate)
	prelude := audio.Clip{Rate: rate, Samples: pb.plan.Prelude(rate, pb.chime.Samples)}
	return len(prelude.Samples) == 0 || pb.send(out, prelude, sentence, pb.ending)
}

// sentence returns the number of the sentence of the pending clip.
func (pb *playback) sentence() int { return len(pb.sound) + pb.syn.pending.Sentence }

// sendClip sends the pending clip, unless it begins a sentence and none may begin.
func (pb *playback) sendClip(out chan<- audio.Clip) bool {
	last := pb.enough
	if pb.sentence() != pb.timeline.Last() {
		last = pb.ending
	}
	if !pb.send(out, pb.syn.pending.Clip, pb.sentence(), last) {
		return false
	}
	pb.syn.take()
	return true
}

// send sends sound that belongs to a sentence, unless last is closed.
func (pb *playback) send(out chan<- audio.Clip, sound audio.Clip, sentence int, last <-chan struct{}) bool {
	select {
	case <-last:
		return false
	default:
	}
	select {
	case <-last:
		return false
	case out <- sound:
	}
	if voice := cmp.Or(pb.syn.pending.Voice, pb.voice); voice != pb.voice || pb.timeline.Last() < 0 {
		pb.onVoice(voice)
		pb.voice = voice
	}
	pb.mu.Lock()
	defer pb.mu.Unlock()
	if now := time.Now(); pb.until.Before(now) {
		pb.until = now
	}
	pb.until = pb.until.Add(sound.Duration())
	pb.timeline.Add(sentence, sound.Duration())
	return true
}

// doubt is by how much less may have been heard than is estimated.
const doubt = 500 * time.Millisecond

// place returns how much has been heard, by an estimate, and the sentence that was heard then; false if there is none.
func (pb *playback) place() (heard time.Duration, sentence int, ok bool) {
	pb.mu.Lock()
	defer pb.mu.Unlock()
	heard = pb.timeline.End() - max(0, time.Until(pb.until)) - doubt
	sentence, ok = pb.timeline.Unplayed(heard)
	return heard, sentence, ok
}

// outcome returns the status that the announcement gets, and the error of a failed one. Queued means that it is
// spoken again; cause is why its sound was stopped, nil if it was not.
func (pb *playback) outcome(ctx context.Context, cause error) (status announce.Status, why string) {
	switch {
	case pb.complete && pb.sinkErr == nil:
		return announce.Done, ""
	case errors.Is(cause, announce.ErrCancelled):
		return announce.Cancelled, ""
	case errors.Is(cause, announce.ErrExpired):
		return announce.Expired, ""
	case errors.Is(cause, announce.ErrSilenced):
		return announce.Silenced, ""
	case pb.complete && !pb.lost() && pb.played >= pb.timeline.End():
		return announce.Done, "" // it was interrupted in the silence at its end
	case pb.lost(), errors.Is(cause, announce.ErrInterrupted), ctx.Err() != nil:
		return announce.Queued, ""
	case pb.speakErr != nil:
		return announce.Failed, pb.speakErr.Error()
	case pb.sinkErr != nil:
		return announce.Failed, pb.sinkErr.Error()
	default:
		return announce.Failed, "the sink ended before the message"
	}
}

// lost reports whether the sound server was lost.
func (pb *playback) lost() bool { return errors.Is(pb.sinkErr, audio.ErrSinkLost) }

// rest returns the sentence from which on it is to be spoken again, if it began with the sentence from: the
// first one that was not played to its end. What was played is an estimate if the sound server was lost.
func (pb *playback) rest(from int) int {
	if pb.timeline.Last() < 0 {
		return from
	}
	played := pb.played
	if pb.lost() {
		played -= doubt
	}
	if sentence, ok := pb.timeline.Unplayed(played); ok {
		return sentence
	}
	if pb.syn.hasPending {
		return pb.sentence()
	}
	return pb.timeline.Last() // it may have had more clips
}
