package announce

import (
	"context"
	"errors"
	"slices"
	"time"

	"pressbox/audio"
	"pressbox/voice/speakable"
)

// remarkAge is how long a remark is worth making.
const remarkAge = 10 * time.Second

// A remark is something said as it happens, such as a play of a game. Nobody
// waits for it: it lives in memory, counts as no announcement, and is dropped
// when it is overtaken or late.
type remark struct {
	about string // of which no other one waits
	text  string
	late  time.Time // from when on it is not worth beginning
}

// Comment has a text said when nothing that was posted waits, if that is so
// within 10 seconds; of what waits about the same thing, only the last is said.
// An announcement that is posted meanwhile is spoken after the clause that is
// being heard, and the rest of the remark never.
func (a *Announcer) Comment(about, text string) {
	if !speakable.HasSpeech(text) {
		return
	}
	now := time.Now()
	r := remark{about: about, text: text, late: now.Add(remarkAge)}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dropLate(now)
	if i := slices.IndexFunc(a.remarks, func(r remark) bool { return r.about == about }); i >= 0 {
		a.remarks[i] = r // in the older one's place, so that each gets its turn
	} else {
		a.remarks = append(a.remarks, r)
	}
	poke(a.changed)
}

// nextRemark takes the remark that waited longest; false when none is worth making.
func (a *Announcer) nextRemark(now time.Time) (remark, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dropLate(now)
	if len(a.remarks) == 0 {
		return remark{}, false
	}
	r := a.remarks[0]
	a.remarks = slices.Delete(a.remarks, 0, 1)
	return r, true
}

// dropLate drops what nobody wants to hear any more. a.mu must be held.
func (a *Announcer) dropLate(now time.Time) {
	a.remarks = slices.DeleteFunc(a.remarks, func(r remark) bool { return !now.Before(r.late) })
}

// utter says a remark. It returns false when ctx has ended.
func (s *stage) utter(ctx context.Context, r remark) bool {
	voice, err := s.a.speaker.Voice("")
	if err != nil {
		s.a.log.Debug("remark dropped", "about", r.about, "err", err)
		return true
	}
	sound, silence := context.WithCancelCause(context.WithoutCancel(ctx))
	defer silence(nil)
	u := &utterance{late: r.late, begun: make(chan struct{}), silence: silence}
	m := s.start(ctx, Announcement{Message: r.text, Voice: voice, Rate: s.a.config.Load().Rate})
	defer m.stop()
	p := s.perform(ctx, sound, m, func() { close(u.begun) }, func(played <-chan error, enough func()) error {
		return s.attendUtterance(ctx, u, played, enough)
	})
	if p.made != nil {
		s.a.log.Debug("remark cut short", "about", r.about, "err", p.made)
	}
	if errors.Is(p.played, audio.ErrSinkLost) {
		return s.rest(ctx)
	}
	s.pause = 0
	return true
}

// An utterance is a remark that is being made.
type utterance struct {
	late    time.Time
	begun   chan struct{} // closed at its first sample
	silence context.CancelCauseFunc
}

// attendUtterance waits until a remark has been played. It calls enough, after
// which no clause is begun, when an announcement waits, whose sound is made
// meanwhile, and when the remark was not begun in time.
func (s *stage) attendUtterance(ctx context.Context, u *utterance, played <-chan error, enough func()) error {
	begun, late, stopping := u.begun, time.After(time.Until(u.late)), ctx.Done()
	var over <-chan time.Time
	for {
		select {
		case err := <-played:
			return err
		case <-begun:
			begun, late = nil, nil
		case <-late:
			enough()
		case <-s.a.changed:
			if _, waits := s.a.peek(); waits {
				enough()
				s.lookAhead(ctx)
			}
		case <-stopping:
			stopping, over = nil, time.After(grace)
		case <-over:
			u.silence(errStopping)
		}
	}
}
