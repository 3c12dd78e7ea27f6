package control

import (
	"time"

	"pressbox/voice/control"
)

// Events are the changes that GET /events sends.
type Events struct{ Config }

// Watch returns the changes from now on, and a function that ends them.
func (e Events) Watch() (changes <-chan control.Change, stop func()) { return e.Controls.Hub().Watch() }

// States returns all controls as the responses to GET contain them.
func (e Events) States() map[control.Change]any {
	return map[control.Change]any{
		control.ChangedVolume: e.State(control.ChangedVolume), control.ChangedQuiet: e.State(control.ChangedQuiet),
		control.ChangedSchedules: newScheduleList(e.Schedules.List()),
		control.ChangedFavorites: newFavorites(e.Controls.Favorites()),
	}
}

// State returns the JSON of what has changed: the volume or quiet. Schedules and favorites are long, and
// clients that show them request them again.
func (e Events) State(c control.Change) any {
	switch c {
	case control.ChangedVolume:
		return VolumeReply(e.Controls.Volume())
	case control.ChangedQuiet:
		return NewQuiet(e.Controls.Quiet(time.Now()))
	default:
		return struct{}{}
	}
}
