package announcer

import (
	"context"
	"log/slog"
	"sync"
)

// A ducking lowers other streams while something is spoken. It does not make the speech wait.
type ducking struct {
	ducker  Ducker // nil: other streams stay as they are
	log     *slog.Logger
	running *sync.WaitGroup

	mu       sync.Mutex         // guards the fields below
	release  context.CancelFunc // restores the streams; nil: they are not lowered
	restored chan struct{}      // closed when the streams lowered last are restored; nil at first
}

// lower lowers the other streams by a gain until restore is called, unless they are lowered. It does not end
// with ctx.
func (d *ducking) lower(ctx context.Context, gain float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ducker == nil || gain >= 1 || d.release != nil {
		return
	}
	ctx, release := context.WithCancel(context.WithoutCancel(ctx))
	before, restored := d.restored, make(chan struct{})
	d.release, d.restored = release, restored
	d.running.Go(func() {
		defer close(restored)
		if before != nil {
			<-before
		}
		d.duck(ctx, gain)
	})
}

// duck lowers the other streams until ctx ends.
func (d *ducking) duck(ctx context.Context, gain float64) {
	restore, err := d.ducker.Duck(ctx, gain)
	if err != nil {
		if ctx.Err() == nil {
			d.log.Warn("other streams not lowered", "err", err)
		}
		return
	}
	<-ctx.Done()
	restore()
}

// restore brings the other streams back, without waiting for it.
func (d *ducking) restore() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.release != nil {
		d.release()
		d.release = nil
	}
}
