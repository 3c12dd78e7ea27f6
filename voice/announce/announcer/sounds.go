package announcer

import (
	"errors"
	"slices"
	"time"

	"pressbox/audio"
	"pressbox/voice/announce"
	"pressbox/voice/announce/plan"
)

// partLength is the length of the parts in which a sound is played: from the beginning of one on it is played again
// after an interruption.
const partLength = 2 * time.Second

// findSounds sets what is wrong with the sounds of a request. Where it is not played here, and where another room or an
// earlier version of it is the one that knows them, nothing is: what is missing then is left out.
func (a *Announcer) findSounds(r announce.Request, found *announce.Found) {
	if r.From != "" || r.Stored || found.Rooms.Only {
		return
	}
	if r.Sound != "" && r.Recording == 0 {
		found.SoundErr = a.checkSound(r.Sound)
	}
	if r.Chime != "" && r.Chime != string(audio.NoChime) {
		found.ChimeErr = a.checkSound(r.Chime)
	}
}

// checkSound returns an [*announce.UnknownSoundError] if there is no sound with a name.
func (a *Announcer) checkSound(name string) error {
	if a.parts.Sounds != nil {
		return a.parts.Sounds.Check(name)
	}
	if slices.Contains(audio.Chimes(), audio.Chime(name)) {
		return nil
	}
	return &announce.UnknownSoundError{Name: name}
}

// sound returns the parts of the sound of an announcement, none without one.
func (a *Announcer) sound(ann announce.Announcement) ([]audio.Clip, error) {
	var clip audio.Clip
	var err error
	switch {
	case ann.Sound == "":
		return nil, nil
	case a.parts.Sounds == nil:
		err = &announce.UnknownSoundError{Name: ann.Sound}
	case ann.Recording > 0:
		clip, err = a.parts.Sounds.Recording(ann.ID)
	default:
		clip, err = a.parts.Sounds.Clip(ann.Sound)
	}
	if err != nil {
		a.log.Warn("sound left out", "announcement", ann.ID, "sound", ann.Sound, "err", err)
		return nil, err
	}
	samples := clip.Samples
	if ann.Text() != "" {
		samples = append(samples, make([]float32, int(plan.Gap.Seconds()*float64(clip.Rate)))...)
	}
	var parts []audio.Clip
	size := int(partLength.Seconds()) * clip.Rate
	for at := 0; at < len(clip.Samples); at += size {
		end := at + size
		if end >= len(clip.Samples) {
			end = len(samples) // the last part has the gap
		}
		parts = append(parts, audio.Clip{Rate: clip.Rate, Samples: samples[at:end]})
	}
	return parts, nil
}

// chime returns the sound of a chime that is installed; one without samples is built in. One that is no more is a
// [audio.Ding].
func (a *Announcer) chime(p *plan.Plan) audio.Clip {
	if p.Chime == audio.Cue || slices.Contains(audio.Chimes(), p.Chime) {
		return audio.Clip{}
	}
	name := string(p.Chime)
	p.Chime = audio.Ding
	if a.parts.Sounds == nil {
		return audio.Clip{}
	}
	clip, err := a.parts.Sounds.Clip(name)
	if err != nil {
		a.log.Warn("chime left out", "sound", name, "err", err)
		return audio.Clip{}
	}
	return clip
}

// failedSound returns why an announcement fails that has nothing but a sound which is not there; "" if it does not.
func failedSound(ann announce.Announcement, err error) string {
	switch unknown, ok := errors.AsType[*announce.UnknownSoundError](err); {
	case err == nil || ann.Text() != "":
		return ""
	case ok:
		return announce.CodeUnknownSound + ": " + unknown.Error()
	default:
		return err.Error()
	}
}

// forget deletes the recordings of announcements that have ended.
func (a *Announcer) forget(ended []announce.Announcement) {
	for _, ann := range ended {
		if ann.Recording > 0 && a.parts.Sounds != nil {
			a.parts.Sounds.Forget(ann.ID)
		}
	}
}
