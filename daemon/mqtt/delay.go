package mqtt

import (
	"math/rand/v2"
	"time"
)

// delays are the times between attempts to connect: they double up to [maxDelay] until a
// connection lasts longer than the delay before it, and each is shortened at random by up to
// half, so that many clients do not return at once.
type delays struct {
	first, last time.Duration
}

// after returns the delay after a connection of a duration.
func (d *delays) after(lasted time.Duration) time.Duration {
	if lasted > d.last {
		d.last = 0
	}
	d.last = min(max(2*d.last, d.first), maxDelay)
	return d.last - rand.N(d.last/2+1) //nolint:gosec // no secret
}
