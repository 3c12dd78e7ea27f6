// Package audio is what sound is here: mono PCM, its level, its rate, and the
// two containers in which it leaves the house.
//
// One law: samples are float32 in [-1, 1], and nothing in this package makes
// one that is not.
package audio

import (
	"errors"
	"time"
)

// ErrSinkLost is returned, wrapped, by a sink whose sound server is not
// reachable. What was being played has to be played again from its start.
var ErrSinkLost = errors.New("the sound server is away")

// A Clip is a piece of mono PCM.
type Clip struct {
	Rate    int       // samples per second; positive
	Samples []float32 // each in [-1, 1]
}

// Duration returns how long the clip sounds.
func (c Clip) Duration() time.Duration {
	if c.Rate <= 0 {
		return 0
	}
	return time.Duration(len(c.Samples)) * time.Second / time.Duration(c.Rate)
}
