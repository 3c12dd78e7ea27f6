package audio

import "sync"

// A Fader is the gain of a sound, which may be moved while the sound is played. Its methods may be called
// concurrently.
type Fader struct {
	mu    sync.Mutex // guards the fields below
	gain  float32
	moved chan struct{} // closed when it is moved
}

// NewFader returns a fader at a gain.
func NewFader(gain float32) *Fader { return &Fader{gain: gain, moved: make(chan struct{})} }

// Move sets the gain.
func (f *Fader) Move(gain float32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if gain == f.gain {
		return
	}
	close(f.moved)
	f.gain, f.moved = gain, make(chan struct{})
}

// Gain returns the gain, and a channel that is closed when it is moved.
func (f *Fader) Gain() (gain float32, moved <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gain, f.moved
}
