package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pressbox/audio/pulse"
	"pressbox/daemon/settings"
)

// PulseConfig returns how a server with these settings connects to its sound server.
func PulseConfig(cfg settings.Config) pulse.Config {
	dir, cookies := settings.PulseEnvironment()
	return pulse.Config{Server: cfg.PulseServer, RuntimeDir: dir, Cookies: cookies, Sinks: cfg.PulseSinks()}
}

// checkSound checks the sound server.
func (d Doctor) checkSound(ctx context.Context) []Finding {
	ctx, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	report, err := pulse.Inspect(ctx, PulseConfig(d.cfg))
	if err != nil {
		return finding("sound.address", Failure, "correct PULSE_SERVER", "%s", oneLine(err))
	}
	return soundFindings(report, d.cfg)
}

// soundFindings returns the problems of a sound server and their remedies.
func soundFindings(r pulse.Inspection, cfg settings.Config) []Finding {
	if r.Server == "" {
		return connectionFindings(r.Attempts)
	}
	if len(r.Sinks) == 0 {
		return finding("sound.no_sink", Failure, noCard(r.Cards), "%s has no sink", r.Server)
	}
	sink, ok := r.Sink(cfg.PulseSinks())
	if !ok {
		var names []string
		for _, s := range r.Sinks {
			names = append(names, s.Name)
		}
		return finding("sound.unknown_sink", Failure,
			"set PULSE_SINK to one of "+strings.Join(names, ", ")+", or leave it empty",
			"there is no sink %s", cfg.PulseSink)
	}
	return sinkFindings(r, sink, cfg)
}

// lowVolume is the volume of the server in percent below which doctor warns.
const lowVolume = 20

func sinkFindings(r pulse.Inspection, s pulse.SinkInfo, cfg settings.Config) []Finding {
	var findings []Finding
	silent, remedy := s.Silence(r.Address())
	if silent != "" { // /health is degraded
		findings = finding("sound.silent", Failure, remedy, "%s", silent)
	}
	if s.Unplugged {
		findings = append(findings, finding("sound.unplugged", Failure,
			"switch the screen or speaker on and plug it in, or choose another sink with PULSE_SINK",
			"nothing is plugged into %s (%s)", s.Name, s.Port)...)
	}
	if s.Null {
		findings = append(findings, finding("sound.dummy",
			Warning, noCard(r.Cards), "sound goes to a dummy output, the sink %s: nothing is heard", s.Name)...)
	}
	if s.Volume < pulse.LowVolume && silent == "" {
		findings = append(findings, finding("sound.sink_low", Warning,
			fmt.Sprintf("pactl --server=%s set-sink-volume %s 100%%", r.Address(), s.Name),
			"the volume of the sink %s is %d %%", s.Name, s.Volume)...)
	}
	if cfg.Volume < lowVolume {
		findings = append(findings, finding("sound.volume_low", Warning, "set VOLUME=100",
			"VOLUME is %d", cfg.Volume)...)
	}
	if len(findings) == 0 {
		findings = fine("sound", "%s, %s, %s, volume %d %%", r.Server, s.Description, s.State, s.Volume)
	}
	return findings
}

// noCard returns the remedy if there is no sound card to play on.
func noCard(cards int) string {
	if cards > 0 {
		return "no profile of the sound card has an output: choose one with pactl list cards, pactl set-card-profile"
	}
	return "check that there is a sound card (cat /proc/asound/cards) and that the user of the sound server is in " +
		"the group audio (usermod -a -G audio USER)"
}

// connectionFindings explains why no sound server could be reached.
func connectionFindings(attempts []pulse.Attempt) []Finding {
	const setUp = "pressbox setup-audio headless, or, on a desktop: pressbox setup-audio session --user USER"
	remedies := map[pulse.Failure]string{
		pulse.NotFound: setUp + "; on a desktop, the user has to be logged in",
		pulse.Refused: "the sound server has stopped; start it, " +
			"for example: systemctl --user restart pipewire-pulse",
		pulse.PermissionDenied: setUp + "; it creates a directory that both users may access",
		pulse.AccessDenied:     setUp + "; or remove a wrong cookie, and set PULSE_COOKIE=/nonexistent",
		pulse.Timeout: "the sound server hangs; restart it, for example: " +
			"systemctl --user restart pipewire-pulse",
		pulse.Other: "check that PULSE_SERVER is the address of a PulseAudio or PipeWire server",
	}
	var findings []Finding
	for i, a := range attempts {
		result, remedy := Failure, remedies[a.Failure]
		if i > 0 {
			result, remedy = Warning, "" // a fallback address
		}
		findings = append(findings, finding("sound.unreachable", result, remedy, "%s: %s", a.Address, a.Detail)...)
	}
	return findings
}
