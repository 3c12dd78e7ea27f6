// Package audio handles mono PCM: levels, sample rates, and the two formats in which it is sent, raw PCM and
// WAV. It is pure: it reads and writes only what the caller passes.
//
// One law: samples are float32 in [-1, 1], and no function of this package returns others.
package audio

import (
	"errors"
	"time"
)

// ErrSinkLost is returned, wrapped, by a sink whose sound server is not reachable. What was being played has
// to be played again from its start.
var ErrSinkLost = errors.New("connection to the sound server lost")

// An UnheardError is returned, also wrapped, by a sink that has played nothing that can have been heard.
type UnheardError struct {
	Why Silence
}

// A Silence is why a sink is not heard.
type Silence string

// The kinds of silence.
const (
	Muted    Silence = "muted"
	NoVolume Silence = "volume"    // of less than 1 %
	NoOutput Silence = "no_output" // the sink is a dummy, or there is none
)

func (e *UnheardError) Error() string { return "not heard: " + string(e.Why) }

// An Output is what sound is played on.
type Output struct {
	Absent  error   // why there is none; nil if there is one
	Name    string  // "" if it is not known yet
	Volume  int     // percent
	Silence Silence // why it is not heard; "" if it is
	Urgent  bool    // what is urgent is heard nevertheless
}

// A Clip is a piece of mono PCM.
type Clip struct {
	Rate    int       // samples per second; positive
	Samples []float32 // each in [-1, 1]
}

// Duration returns the playing time of the clip.
func (c Clip) Duration() time.Duration {
	if c.Rate <= 0 {
		return 0
	}
	return time.Duration(len(c.Samples)) * time.Second / time.Duration(c.Rate)
}
