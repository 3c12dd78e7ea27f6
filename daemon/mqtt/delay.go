package mqtt

import (
	"context"
	"math/rand/v2"
	"time"
)

// delays are the times between attempts to connect: they double up to [maxDelay], and each
// is shortened at random by up to half, so that many clients do not return at once.
type delays struct {
	first, last time.Duration
}

// next returns the next delay.
func (d *delays) next() time.Duration {
	d.last = min(max(2*d.last, d.first), maxDelay)
	return d.last - rand.N(d.last/2+1) //nolint:gosec // no secret
}

func (d *delays) reset() { d.last = 0 }

// sleep waits, and reports whether ctx has not ended meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
