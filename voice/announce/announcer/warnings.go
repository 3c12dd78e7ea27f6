package announcer

import (
	"fmt"

	"pressbox/audio"
	"pressbox/voice/announce"
	"pressbox/voice/announce/policy"
)

// Volumes in percent below which an announcement is likely to be missed: of the output, and of that times its own.
const lowOutput, lowProduct = 10, 5

// Silenced returns why a usual announcement would not be heard if it were spoken now; "" if it would be.
func (a *Announcer) Silenced() policy.Cause {
	c := a.now()
	d := c.Decide(announce.Announcement{}, c.Now)
	if d.Cause != "" || a.parts.Output == nil {
		return d.Cause
	}
	output := a.parts.Output()
	if output.Absent != nil {
		return policy.NoOutput
	}
	return policy.Cause(output.Silence)
}

// Warnings returns why an announcement that was accepted would not be heard, or hardly, if it were spoken now. There is
// none for one that is not spoken now, or not here.
func (a *Announcer) Warnings(v announce.View) []string {
	if a.parts.Output == nil || v.Status != announce.Queued || v.Rooms.Only {
		return nil
	}
	c, output := a.now(), a.parts.Output()
	d := c.Decide(v.Announcement, c.Now)
	warn := func(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...)} }
	switch product := d.Volume * output.Volume / 100; {
	case output.Absent != nil:
		return warn("nothing can be heard: %v", output.Absent)
	case output.Name == "", !d.Speak, v.Urgent && output.Urgent:
		return nil
	case output.Silence == audio.NoOutput:
		return warn("nothing can be heard: the host has no audio output")
	case output.Silence == audio.Muted:
		return warn("nothing can be heard: the audio output %s is muted", output.Name)
	case output.Volume < lowOutput:
		return warn("hardly heard: the volume of the audio output %s is %d %%", output.Name, output.Volume)
	case product < lowProduct:
		return warn("hardly heard: it is spoken at %d %% of the volume of the audio output %s, which is %d %%",
			d.Volume, output.Name, output.Volume)
	}
	return nil
}
