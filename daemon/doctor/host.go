package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"strings"
	"time"

	"pressbox/daemon/setup"
	"pressbox/store/clock/system"
)

// checkHost checks the host. For a server that was not started by systemd, only the clock and
// the hardware matter.
func (d Doctor) checkHost(ctx context.Context) []Finding {
	synchronized, err := system.Synchronized()
	findings := clockFindings(time.Now(), d.released, synchronized, err)
	findings = append(findings, checkHardware("/", time.Now())...)
	if d.startedByHand() {
		return findings
	}
	findings = append(findings, checkAudioSetup("/", uidOf)...)
	if _, err := os.Stat("/run/systemd/system"); err != nil { // systemd does not run the host (sd_booted(3))
		return findings
	}
	findings = append(findings, checkUnit(ctx)...)
	findings = append(findings, checkJournal("/")...)
	return append(findings, checkMemory("/sys/fs/cgroup")...)
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
		return finding("audio", Warning, "run doctor as root", "%s", oneLine(err))
	case !ok:
		return nil // the sound server was configured in another way
	case status.Remedy != "":
		return finding("audio", Failure, status.Remedy, "%s", status.Detail)
	}
	findings := finding("audio", OK, "", "%s", status.Detail)
	if command := (setup.Setup{Root: root}).AudioOutdated(); command != "" {
		findings = append(findings, finding("audio", Warning, command,
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
		return finding("unit", Warning, "", "systemctl: %s", oneLine(err))
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
		return finding("unit", Failure, "systemctl unmask pressbox", "pressbox.service is masked")
	case value["ActiveState"] == "failed":
		return finding("unit", Failure, "journalctl -u pressbox -xe",
			"pressbox.service has failed: %s", value["Result"])
	case value["UnitFileState"] == "disabled":
		return finding("unit", Warning,
			"systemctl enable pressbox.socket pressbox-admin.socket pressbox-wyoming.socket pressbox",
			"pressbox.service does not start at boot")
	case value["NRestarts"] != "0" && value["NRestarts"] != "":
		return finding("unit", Warning, "journalctl -u pressbox -x",
			"pressbox.service was restarted %s times after a failure", value["NRestarts"])
	default:
		return finding("unit", OK, "", "pressbox.service is %s", value["ActiveState"])
	}
}

// checkJournal checks whether the journal is persistent.
func checkJournal(root string) []Finding {
	if _, err := os.Stat(root + "var/log/journal"); errors.Is(err, fs.ErrNotExist) {
		return finding("journal", Warning,
			"mkdir -p /etc/systemd/journald.conf.d /var/log/journal; printf '[Journal]\\nStorage=persistent\\n"+
				"SystemMaxUse=100M\\n' >/etc/systemd/journald.conf.d/90-persistent.conf; "+
				"systemctl restart systemd-journald",
			"stored in memory: the host loses it at every restart")
	}
	return finding("journal", OK, "", "stored on disk")
}

// checkMemory checks whether the kernel enforces the unit's MemoryMax=.
func checkMemory(cgroup string) []Finding {
	controllers, err := os.ReadFile(cgroup + "/cgroup.controllers") //nolint:gosec // the kernel's
	if err != nil || strings.Contains(string(controllers), "memory") {
		return nil // with cgroup v1, systemd has other means
	}
	return finding("memory", Warning,
		"on a Raspberry Pi: add cgroup_enable=memory to /boot/firmware/cmdline.txt and restart the host",
		"the kernel does not limit memory, so MemoryMax has no effect")
}
