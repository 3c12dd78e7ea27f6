package limits

import (
	"sync"
	"time"
)

// A client has readTimeout to read speech, and readSlowness times the duration of the
// speech: some clients play speech as it arrives.
const (
	readTimeout  = 5 * time.Second
	readSlowness = 1.2
)

// A ReadTime is the time that a client has left to read speech. The time of the
// synthesis does not count. One goroutine at a time may call Write.
type ReadTime struct {
	mu   sync.Mutex // guards left
	left time.Duration
}

// NewReadTime returns the time for speech of which nothing has been synthesized.
func NewReadTime() *ReadTime { return &ReadTime{left: readTimeout} }

// Extend adds the time for speech of the given duration.
func (t *ReadTime) Extend(duration time.Duration) {
	t.add(time.Duration(readSlowness * float64(duration)))
}

// Write calls write, which writes a part of the speech and must fail after the deadline.
func (t *ReadTime) Write(write func(deadline time.Time) error) error {
	began := time.Now()
	err := write(began.Add(t.add(0)))
	t.add(-time.Since(began))
	return err
}

// add changes the time that is left, and returns it.
func (t *ReadTime) add(d time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left += d
	return t.left
}
