package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"pressbox/audio/pulse"
)

// newSoundCheckCommand is doctor's child: it looks at a sound server as another
// user would find it.
func newSoundCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "sound-check SERVER",
		Short:  "Look at a sound server, for doctor",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := pulse.Inspect(cmd.Context(), pulse.Config{Server: args[0]})
			if err != nil {
				return &exitError{exitUsage, err}
			}
			return printJSON(cmd, report)
		},
	}
}

// lookAtSound looks as the daemon's user does, where that is possible.
func (p patient) lookAtSound(ctx context.Context) []finding {
	ctx, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	var report pulse.Inspection
	var err error
	if p.asUser == nil {
		report, err = pulse.Inspect(ctx, soundConfig(p.cfg, nil))
	} else {
		report, err = p.asUser.inspect(ctx, p.cfg.PulseServer)
	}
	if err != nil {
		return one("sound", broken, "correct PULSE_SERVER", "%s", oneLine(err))
	}
	return soundFindings(report, p.cfg)
}

// soundFindings says what is wrong with what was found, and how to mend it.
func soundFindings(r pulse.Inspection, cfg Config) []finding {
	if r.Server == "" {
		return noServer(r.Attempts)
	}
	if len(r.Sinks) == 0 {
		return one("sound", broken, noCard(r.Cards), "%s has no sink at all", r.Server)
	}
	name := cfg.PulseSink
	if name == "" {
		name = r.Default
	}
	at := slices.IndexFunc(r.Sinks, func(s pulse.SinkInfo) bool { return s.Name == name })
	if at < 0 && cfg.PulseSink == "" {
		at = 0
	}
	if at < 0 {
		var names []string
		for _, s := range r.Sinks {
			names = append(names, s.Name)
		}
		return one("sound", broken, "set PULSE_SINK to one of "+strings.Join(names, ", ")+", or to nothing", "there is no sink %s", name)
	}
	return sinkFindings(r, r.Sinks[at], cfg)
}

// quiet is a volume at which nobody would hear much.
const quiet = 20 // percent

func sinkFindings(r pulse.Inspection, s pulse.SinkInfo, cfg Config) []finding {
	const pactl = "pactl --server=%s %s %s %s"
	server := r.Attempts[len(r.Attempts)-1].Address
	var found []finding
	if s.Muted {
		found = append(found, one("sound", broken, fmt.Sprintf(pactl, server, "set-sink-mute", s.Name, "0"), "the sink %s is muted", s.Name)...)
	}
	if s.Unplugged {
		found = append(found, one("sound", broken, "switch the screen or speaker on and plug it in, or choose another sink with PULSE_SINK", "nothing is plugged into %s (%s)", s.Name, s.Port)...)
	}
	if s.Null {
		found = append(found, one("sound", doubtful, noCard(r.Cards), "the sink %s is heard by nobody", s.Name)...)
	}
	if s.Volume < quiet {
		found = append(found, one("sound", doubtful, fmt.Sprintf(pactl, server, "set-sink-volume", s.Name, "100%"), "the sink %s is turned down to %d %%", s.Name, s.Volume)...)
	}
	if cfg.Volume < quiet {
		found = append(found, one("sound", doubtful, "set VOLUME=100", "VOLUME is %d", cfg.Volume)...)
	}
	if len(found) == 0 {
		found = one("sound", well, "", "%s, %s, %s, at %d %%", r.Server, s.Description, s.State, s.Volume)
	}
	return found
}

// noCard says what to do when there is nothing to play on.
func noCard(cards int) string {
	if cards > 0 {
		return "a card has no profile that plays: choose one with pactl list cards, pactl set-card-profile"
	}
	return "see that there is a card (cat /proc/asound/cards) and that whoever runs the sound server is in the group audio: usermod -a -G audio USER"
}

// noServer says why no server can be spoken to.
func noServer(attempts []pulse.Attempt) []finding {
	const setUp = "pressbox setup-audio headless, or, on a desktop: pressbox setup-audio session --user USER"
	mends := map[pulse.Failure]string{
		pulse.NotFound:         setUp + "; on a desktop, the user has to be logged in",
		pulse.Refused:          "the sound server has ended: start it, such as with systemctl --user restart pipewire-pulse",
		pulse.PermissionDenied: setUp + "; it makes a folder that both sides may use",
		pulse.AccessDenied:     setUp + "; or remove a wrong cookie, and set PULSE_COOKIE=/nonexistent",
		pulse.Timeout:          "the sound server hangs: restart it, such as with systemctl --user restart pipewire-pulse",
		pulse.Other:            "see that PULSE_SERVER is the address of a PulseAudio or PipeWire server",
	}
	var found []finding
	for i, a := range attempts {
		grade, mend := broken, mends[a.Failure]
		if i > 0 {
			grade, mend = doubtful, "" // further places where it might have been
		}
		found = append(found, finding{Name: "sound", Result: grade, Detail: a.Address + ": " + a.Detail, Remedy: mend})
	}
	return found
}

// An account is the user whom the daemon runs as.
type account struct {
	name   string
	uid    uint32
	gid    uint32
	groups []uint32
}

// serviceAccount is the owner of the daemon's folder, when that is another user than
// this one and we may take its place; nil otherwise.
func serviceAccount(stateDir string) *account {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(stateDir)
	if err != nil {
		return nil
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 {
		return nil
	}
	a := &account{name: strconv.FormatUint(uint64(st.Uid), 10), uid: st.Uid, gid: st.Gid}
	if u, err := user.LookupId(a.name); err == nil {
		a.name = u.Username
		ids, _ := u.GroupIds() // without them it may do less than it could
		for _, id := range ids {
			if n, err := strconv.ParseUint(id, 10, 32); err == nil {
				a.groups = append(a.groups, uint32(n))
			}
		}
	}
	return a
}

// inspect looks at a sound server as the account.
func (a *account) inspect(ctx context.Context, server string) (pulse.Inspection, error) {
	var report pulse.Inspection
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "sound-check", server) //nolint:gosec // it is this program
	cmd.Args[0] = "pressbox"
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: a.uid, Gid: a.gid, Groups: a.groups}}
	out, err := cmd.Output()
	if err != nil {
		return report, fmt.Errorf("look at the sound server as %s: %w", a.name, err)
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return report, fmt.Errorf("look at the sound server as %s: %w", a.name, err)
	}
	return report, nil
}
