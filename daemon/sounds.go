package main

import (
	"maps"
	"slices"
	"strings"

	"pressbox/audio"
	"pressbox/voice/sounds"
)

// adoptRecordings takes the recordings of the announcements that wait, and deletes all others.
func (a *app) adoptRecordings() {
	waiting := map[string]sounds.Recorded{}
	list := a.announcer.List()
	for _, v := range slices.Concat(list.Queue, list.Scheduled) {
		if v.Recording > 0 {
			waiting[v.ID] = sounds.Recorded{Client: v.Sender.Client, Length: v.Recording}
		}
	}
	a.sounds.Adopt(waiting)
}

// soundUsers returns by what each sound is named: settings, favorites and schedules, for people.
func (a *app) soundUsers() map[string][]string {
	users := map[string][]string{}
	add := func(by string, names ...string) {
		for _, name := range names {
			if name != "" && name != string(audio.NoChime) {
				users[name] = append(users[name], by)
			}
		}
	}
	cfg := a.settings.Current()
	add("CHIME", cfg.Chime)
	add("CHIME_URGENT", cfg.ChimeUrgent)
	for _, f := range a.controls.Favorites() {
		add("the favorite "+f.ID, f.Sound, f.Chime)
	}
	for _, s := range a.schedules.List() {
		add("the schedule "+s.ID, s.Sound, s.Chime)
	}
	return users
}

// missingSounds returns the sounds that are named but not there, with what names them.
func (a *app) missingSounds() (missing []string) {
	users := a.soundUsers()
	for _, name := range slices.Sorted(maps.Keys(users)) {
		if a.sounds.Check(name) != nil {
			missing = append(missing, name+" ("+strings.Join(users[name], ", ")+")")
		}
	}
	return missing
}
