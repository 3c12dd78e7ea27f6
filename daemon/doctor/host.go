package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressbox/daemon/setup"
	"pressbox/store/clock/system"
)

// checkHost checks the host. For a server that was not started by systemd, only the clock and
// the hardware matter.
func (d Doctor) checkHost(ctx context.Context) []Finding {
	synchronized, err := system.Synchronized()
	findings := append(clockFindings(time.Now(), d.released, synchronized, err), checkHardware("/", time.Now())...)
	if d.startedByHand() {
		return findings
	}
	findings = append(findings, checkAudioSetup("/", uidOf)...)
	if _, err := os.Stat("/run/systemd/system"); err != nil { // systemd does not run the host (sd_booted(3))
		return findings
	}
	return slices.Concat(findings, checkUnit(ctx), checkJournal("/"), checkMemory("/sys/fs/cgroup"))
}

func uidOf(name string) (uid string, err error) {
	u, err := user.Lookup(name)
	if err != nil {
		return "", err
	}
	return u.Uid, nil
}

// checkAudioSetup checks what "pressbox setup-audio" configured below root.
func checkAudioSetup(root string, uidOf func(name string) (uid string, err error)) []Finding {
	status, ok, err := setup.Setup{Root: root}.AudioStatus(uidOf)
	switch {
	case err != nil:
		return finding("audio.unknown", Warning, runAsRoot(), "%s", oneLine(err))
	case !ok:
		return nil // the sound server was configured in another way
	case status.Remedy != "":
		return finding("audio.wrong", Failure, status.Remedy, "%s", status.Detail)
	}
	findings := fine("audio", "%s", status.Detail)
	if command := (setup.Setup{Root: root}).AudioOutdated(); command != "" {
		findings = append(findings, finding("audio.outdated", Warning, command,
			"its files differ from those of this version, which lower other streams while something is spoken")...)
	}
	return findings
}

// checkUnit checks the state of pressbox.service.
func checkUnit(ctx context.Context) []Finding {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	out, err := exec.CommandContext(ctx, "systemctl", "show", "pressbox.service",
		"--property=LoadState,ActiveState,Result,NRestarts,UnitFileState").Output()
	if err != nil {
		return finding("unit.unknown", Warning, "", "systemctl: %s", oneLine(err))
	}
	return unitFindings(string(out))
}

func unitFindings(properties string) []Finding {
	value := make(map[string]string)
	for line := range strings.Lines(properties) {
		name, v, _ := strings.Cut(strings.TrimSpace(line), "=")
		value[name] = v
	}
	switch {
	case value["LoadState"] == "not-found":
		return nil // not installed as a package
	case value["LoadState"] == "masked":
		return finding("unit.masked", Failure, "systemctl unmask pressbox", "pressbox.service is masked")
	case value["ActiveState"] == "failed":
		return finding("unit.failed", Failure, "journalctl -u pressbox -xe",
			"pressbox.service has failed: %s", value["Result"])
	case value["UnitFileState"] == "disabled":
		return finding("unit.disabled", Warning,
			"systemctl enable pressbox.socket pressbox-admin.socket pressbox-wyoming.socket "+
				"pressbox-esphome.socket pressbox",
			"pressbox.service does not start at boot")
	case value["NRestarts"] != "0" && value["NRestarts"] != "":
		return finding("unit.restarted", Warning, "journalctl -u pressbox -x",
			"pressbox.service was restarted %s times after a failure", value["NRestarts"])
	default:
		return fine("unit", "pressbox.service is %s", value["ActiveState"])
	}
}

// checkJournal checks whether the journal is persistent.
func checkJournal(root string) []Finding {
	if _, err := os.Stat(root + "var/log/journal"); errors.Is(err, fs.ErrNotExist) {
		return finding("journal.volatile", Warning,
			"mkdir -p /etc/systemd/journald.conf.d /var/log/journal; printf '[Journal]\\nStorage=persistent\\n"+
				"SystemMaxUse=100M\\n' >/etc/systemd/journald.conf.d/90-persistent.conf; "+
				"systemctl restart systemd-journald",
			"stored in memory: the host loses it at every restart")
	}
	return fine("journal", "stored on disk")
}

// checkMemory checks whether the kernel enforces the unit's MemoryMax=.
func checkMemory(cgroup string) []Finding {
	controllers, err := os.ReadFile(cgroup + "/cgroup.controllers") //nolint:gosec // the kernel's
	if err != nil || strings.Contains(string(controllers), "memory") {
		return nil // with cgroup v1, systemd has other means
	}
	return finding("memory.unlimited", Warning,
		"on a Raspberry Pi: add cgroup_enable=memory to /boot/firmware/cmdline.txt and restart the host",
		"the kernel does not limit memory, so MemoryMax has no effect")
}

// checkHardware checks what a small computer lacks when it is set up: power, and a screen that
// plays the sound. Its files are below root.
func checkHardware(root string, now time.Time) []Finding {
	return slices.Concat(voltageFindings(root), resetFindings(root, now), displayFindings(root))
}

const betterSupply = "use the power supply that the manufacturer of the host recommends, and a short cable"

// The bits of the Raspberry Pi's get_throttled, which its firmware and "vcgencmd get_throttled"
// report (https://www.raspberrypi.com/documentation/computers/os.html#get_throttled).
const (
	underVoltage     = 1 << 0
	wasUnderVoltage  = 1 << 16
	throttledFile    = "sys/devices/platform/soc/soc:firmware/get_throttled"
	voltageDriver    = "rpi_volt"
	voltageAlarmFile = "in0_lcrit_alarm"
)

// voltageFindings checks the supply voltage of a Raspberry Pi: by the firmware's file, which
// only its maker's kernel has, or by the alarm of the driver rpi_volt.
func voltageFindings(root string) []Finding {
	const tooLow = "the supply voltage is too low: the host is slow and may damage the memory card"
	text, err := os.ReadFile(filepath.Join(root, throttledFile)) //nolint:gosec // the kernel's
	if err == nil {
		bits, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(string(text)), "0x"), 16, 32)
		switch {
		case err != nil:
			return finding("power.unknown", Warning, "", "%s: %s", throttledFile, oneLine(err))
		case bits&underVoltage != 0:
			return finding("power.low", Failure, betterSupply, tooLow)
		case bits&wasUnderVoltage != 0:
			return finding("power.was_low", Warning, betterSupply, "the supply voltage was too low since the start")
		}
		return fine("power", "the supply voltage is sufficient")
	}
	names, _ := filepath.Glob(filepath.Join(root, "sys/class/hwmon/hwmon*/name")) // the pattern is valid
	for _, name := range names {
		if readLine(name) != voltageDriver {
			continue
		}
		if readLine(filepath.Join(filepath.Dir(name), voltageAlarmFile)) == "1" { // in the last two seconds
			return finding("power.low", Failure, betterSupply, tooLow)
		}
		return fine("power", "the supply voltage is sufficient")
	}
	return nil // not a Raspberry Pi
}

// readLine returns the text of a file of the kernel; "" if it cannot be read.
func readLine(path string) string {
	text, err := os.ReadFile(path) //nolint:gosec // the kernel's
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// A host that lost power this often in that time has a supply that resets it.
const (
	manyResets   = 3
	resetsWithin = 24 * time.Hour
)

// unclosedJournal matches a journal that the host did not close before it stopped. The first
// number is the time at which the next start found it, in microseconds since 1970 (journald's
// journal_file_dispose).
var unclosedJournal = regexp.MustCompile(`^system@([0-9a-f]{16})-[0-9a-f]{16}\.journal~$`)

// resetFindings counts the starts of the host without a stop before them, by the journals that
// were not closed. A journal in memory has none.
func resetFindings(root string, now time.Time) []Finding {
	files, _ := filepath.Glob(filepath.Join(root, "var/log/journal/*/system@*.journal~")) // the pattern is valid
	resets := 0
	for _, file := range files {
		match := unclosedJournal.FindStringSubmatch(filepath.Base(file))
		if match == nil {
			continue
		}
		at, err := strconv.ParseInt(match[1], 16, 64)
		if age := now.Sub(time.UnixMicro(at)); err == nil && age >= 0 && age < resetsWithin {
			resets++
		}
	}
	if resets < manyResets {
		return nil
	}
	return finding("power.resets", Warning, betterSupply+"; switch the host off only after: systemctl poweroff",
		"the host lost power %d times in the last %d hours", resets, int(resetsWithin.Hours()))
}

// displayFindings checks whether a screen is connected, if only screens can play: such a sound
// card has no output without one.
func displayFindings(root string) []Finding {
	cards, err := os.ReadFile(filepath.Join(root, "proc/asound/cards")) //nolint:gosec // the kernel's
	if err != nil || !onlyHDMI(string(cards)) {
		return nil
	}
	connectors, _ := filepath.Glob(filepath.Join(root, "sys/class/drm/card*-HDMI-*/status")) // the pattern is valid
	var names []string
	for _, status := range connectors {
		if readLine(status) != "disconnected" {
			return nil
		}
		_, name, _ := strings.Cut(filepath.Base(filepath.Dir(status)), "-")
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil // the driver of the screens does not report it
	}
	return finding("display.missing", Failure,
		"connect a screen that plays sound and switch it on, or connect a USB sound card",
		"no screen is connected to %s, and there is no other sound card", strings.Join(names, ", "))
}

// cardLine matches the first of a sound card's two lines in /proc/asound/cards:
//
//	0 [vc4hdmi0       ]: vc4-hdmi - vc4-hdmi-0
var cardLine = regexp.MustCompile(`(?m)^ *\d+ \[(.{15})\]: (.*)$`)

// onlyHDMI reports whether there are sound cards, and all of them are screens.
func onlyHDMI(cards string) bool {
	all := cardLine.FindAllStringSubmatch(cards, -1)
	for _, card := range all {
		if !strings.Contains(strings.ToLower(card[1]), "hdmi") {
			return false
		}
	}
	return len(all) > 0
}

// clockFindings checks the wall clock. released is the date of this program's version, such as
// 2026-11-20; "" if it is unknown.
func clockFindings(now time.Time, released string, synchronized bool, err error) []Finding {
	const remedy = "timedatectl set-ntp true"
	built, dateErr := time.Parse(time.DateOnly, released)
	switch {
	case dateErr == nil && now.Before(built.AddDate(0, 0, -1)): // wherever the release was made
		return finding("clock.wrong", Failure, remedy+"; or: date --set TIME",
			"the host's time is %s, before the release of this version: times of day, "+
				"schedules and signing in do not work", now.Format(time.DateTime))
	case err != nil:
		return finding("clock.unknown", Warning, "", "%s", oneLine(err))
	case !synchronized:
		return finding("clock.unsynchronized", Warning,
			remedy, "not synchronized with a time server; signing in through an external provider may fail")
	default:
		return fine("clock", "synchronized with a time server")
	}
}
