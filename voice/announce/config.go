package announce

import (
	"fmt"
	"time"
)

// Config holds the settings of the queue.
type Config struct {
	Max    int           // announcements that may wait behind the current one; 0 means none
	TTL    time.Duration // default time to live: 5 s to 24 h
	Rate   int           // default words per minute: 60–400
	Volume int           // percent, 0–100; without a State of the [Conditions]
	// History is true if the texts of ended announcements are saved.
	History bool
	// Chime and ChimeUrgent are the default chimes of usual and urgent announcements, see [audio.Chime]; ""
	// means none.
	Chime, ChimeUrgent string
	Between            time.Duration // silence between two announcements; none precedes an urgent one
	Duck               float64       // by which other streams are lowered while something is spoken, in dB, at most 0
}

// Check returns an error if a setting is out of range.
func (c Config) Check() error {
	var wrong RequestError
	wrong.checkSeconds("ttl", c.TTL)
	wrong.checkNumber("rate", c.Rate)
	switch {
	case c.Max < 0:
		return fmt.Errorf("queue length %d, expected 0 or more", c.Max)
	case len(wrong.Violations) > 0:
		return fmt.Errorf("default %w", &wrong)
	case c.Volume < 0 || c.Volume > 100:
		return fmt.Errorf("volume %d, expected 0 to 100", c.Volume)
	}
	return nil
}
