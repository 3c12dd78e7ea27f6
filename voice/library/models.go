package library

import (
	"context"
	"errors"
	"slices"

	"pressbox/voice"
)

// A load asks Run for a model; done takes one answer.
type load struct {
	entry *entry
	done  chan error
}

// errEnded says that Run has ended.
var errEnded = errors.New("the library of voices is closed")

// acquire has e's model loaded and keeps it so until [Library.release].
func (l *Library) acquire(ctx context.Context, e *entry) error {
	if l.join(e) {
		return nil
	}
	err := l.request(ctx, e)
	if err != nil {
		l.release(e)
	}
	return err
}

// join adds a user to e's model and says whether it is loaded.
func (l *Library) join(e *entry) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.users++
	if e.model == nil {
		return false
	}
	l.loaded = append(l.without(e), e)
	return true
}

// request has Run load e's model and waits for it.
func (l *Library) request(ctx context.Context, e *entry) error {
	want := load{entry: e, done: make(chan error, 1)}
	select {
	case l.loads <- want:
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

// release ends what acquire began.
func (l *Library) release(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.users--
	if e.gone {
		l.drop(e)
	}
	l.trim()
}

// drop lets go of an entry; its model is closed when its last user does. l.mu
// must be held.
func (l *Library) drop(e *entry) {
	e.gone = true
	if e.users == 0 && e.model != nil {
		l.unload(e)
	}
}

// unload closes e's model, which nobody uses; l.mu must be held.
func (l *Library) unload(e *entry) {
	if err := e.model.Close(); err != nil {
		l.cfg.Log.Error("close a model", "voice", e.name, "err", err)
	}
	e.model = nil
	l.loaded = l.without(e)
}

// without returns the loaded entries but e; l.mu must be held.
func (l *Library) without(e *entry) []*entry {
	return slices.DeleteFunc(l.loaded, func(o *entry) bool { return o == e })
}

// trim unloads the models that were used longest ago until what stays fits the
// cache; the default voice and those in use stay. l.mu must be held.
func (l *Library) trim() {
	pinned := l.defaultEntry()
	total := int64(0)
	for _, e := range l.loaded {
		if e != pinned {
			total += e.size
		}
	}
	for _, e := range slices.Clone(l.loaded) {
		if total > l.cfg.CacheBytes && e != pinned && e.users == 0 {
			total -= e.size
			l.unload(e)
		}
	}
}

// runLoads loads the default voice when it is found, and every model that is
// asked for, one at a time.
func (l *Library) runLoads(ctx context.Context) {
	for {
		select {
		case want := <-l.loads:
			want.done <- l.load(ctx, want.entry)
		case <-l.preload:
			if e := l.toPreload(); e != nil {
				_ = l.load(ctx, e) // it is told in the list and in Health
			}
		case <-ctx.Done():
			return
		}
	}
}

// toPreload returns the default voice when it was never loaded, else nil.
func (l *Library) toPreload() *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.defaultEntry()
	if e == nil || e.preloaded {
		return nil
	}
	e.preloaded = true
	return e
}

// load loads e's model, unless it is loaded, and warms it up.
func (l *Library) load(ctx context.Context, e *entry) error {
	l.mu.Lock()
	loaded := e.model != nil
	l.mu.Unlock()
	if loaded {
		return nil
	}
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
	e.model = model
	l.loaded = append(l.loaded, e)
	if e.gone {
		l.drop(e)
	}
	l.trim()
	return nil
}

// failed keeps why e cannot be used, or why no voice can, unless it is only
// that ctx has ended.
func (l *Library) failed(ctx context.Context, e *entry, err error) {
	if ctx.Err() != nil {
		return
	}
	l.cfg.Log.Error("a voice cannot be used", "voice", e.name, "err", err)
	l.note(err)
	if errors.Is(err, voice.ErrUnavailable) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e.err = err
}
