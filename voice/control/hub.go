package control

import "pressbox/voice/announce/hub"

// A Change names what has changed.
type Change string

// The changes.
const (
	ChangedVolume    Change = "volume"
	ChangedQuiet     Change = "quiet"
	ChangedFavorites Change = "favorites"
	ChangedSchedules Change = "schedules"
)

// A Hub sends changes to its watchers.
type Hub = hub.Hub[Change]
