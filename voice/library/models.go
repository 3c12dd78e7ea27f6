package library

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"time"

	"pressbox/voice"
)

// A loadRequest asks Run for a model; done receives one result.
type loadRequest struct {
	entry *installedVoice
	done  chan error
}

// errEnded reports that Run has ended.
var errEnded = errors.New("the voice library is closed")

// acquire loads e's model if necessary, and keeps it loaded until [Library.release].
func (l *Library) acquire(ctx context.Context, e *installedVoice) error {
	if l.addUser(e) {
		return nil
	}
	err := l.request(ctx, e)
	if err != nil {
		l.release(e)
	}
	return err
}

// addUser adds a user to e's model and reports whether it is loaded.
func (l *Library) addUser(e *installedVoice) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.users++
	if e.idle != nil {
		e.idle.Stop()
	}
	if e.model == nil {
		return false
	}
	l.loaded = append(l.without(e), e)
	return true
}

// request asks Run to load e's model and waits for it.
func (l *Library) request(ctx context.Context, e *installedVoice) error {
	want := loadRequest{entry: e, done: make(chan error, 1)}
	select {
	case l.loadRequests <- want:
	case <-l.ended:
		return errEnded
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-want.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// release removes a user of e's model.
func (l *Library) release(e *installedVoice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.users--
	if e.stale {
		l.drop(e)
	}
	l.trim()
	if e.users == 0 && e.quick {
		e.idle = time.AfterFunc(cmp.Or(l.cfg.KeepFor, keepFor), func() { l.unloadIdle(e) })
	}
}

// A voice whose model loads within quickLoad is unloaded when it has not been used for keepFor: its memory is worth
// more than the time. The voice that speaks by default is loaded again, without the memory of its longest sentence.
const quickLoad, keepFor = 750 * time.Millisecond, 30 * time.Second

// unloadIdle unloads e's model if it has no user.
func (l *Library) unloadIdle(e *installedVoice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.model == nil || e.users > 0 {
		return
	}
	l.unload(e)
	go debug.FreeOSMemory() // of what it has spoken
	if e == l.preferredVoice() {
		e.preloaded = false
		signal(l.preload)
	}
}

// runLoads loads the voice that speaks by default once it is found, and the requested models, one at a time.
func (l *Library) runLoads(ctx context.Context) {
	for {
		select {
		case want := <-l.loadRequests:
			want.done <- l.load(ctx, want.entry)
		case <-l.preload:
			if e := l.toPreload(); e != nil {
				_ = l.load(ctx, e) // Voices and Health report the error
			}
		case <-ctx.Done():
			return
		}
	}
}

// toPreload returns the voice that speaks by default if it has not been preloaded, otherwise nil.
func (l *Library) toPreload() *installedVoice {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.preferredVoice()
	if e == nil || e.preloaded {
		return nil
	}
	e.preloaded = true
	return e
}

// load loads e's model unless it is loaded, and warms it up.
func (l *Library) load(ctx context.Context, e *installedVoice) error {
	l.mu.Lock()
	loaded := e.model != nil
	l.mu.Unlock()
	if loaded {
		return nil
	}
	begun := time.Now()
	model, err := l.cfg.Load(e.path, e.config)
	if err != nil {
		l.failed(ctx, e, err)
		return err
	}
	v := voice.Voice{Config: e.config, Model: model, Speaker: e.config.DefaultSpeaker}
	if err := v.WarmUp(ctx); err != nil {
		l.failed(ctx, e, err)
		return errors.Join(err, model.Close())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e.model, e.quick = model, time.Since(begun) <= quickLoad
	l.loaded = append(l.loaded, e)
	if e.stale {
		l.drop(e)
	}
	l.trim()
	return nil
}

// failed stores why e, or every voice, cannot be used, and logs it unless it is already stored. It ignores
// errors after the end of ctx.
func (l *Library) failed(ctx context.Context, e *installedVoice, err error) {
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	stored := &e.err
	if errors.Is(err, voice.ErrUnavailable) {
		stored = &l.unavailable
	}
	if *stored == nil || (*stored).Error() != err.Error() {
		l.cfg.Log.Error("voice unusable", "voice", e.name, "err", err)
	}
	*stored = err
	signal(l.preload) // another voice may speak by default now
}
