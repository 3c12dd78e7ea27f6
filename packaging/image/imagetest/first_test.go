//go:build image

package imagetest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// A PC without a display, with a disk that has nothing but the image, is switched on and says that it is ready.
func TestPC_firstWord(t *testing.T) {
	disk := newDisk(t, imageOf("amd64"))
	h := switchOn(t, "first-word", computer{arch: "amd64", disk: disk})
	h.answers()
	text, whole := h.greeted(), time.Since(h.began)
	check.Equal(t, text, "Pressbox is ready. Open pressbox dot local.", "what it says")
	sentence, recorded := h.speech(text), h.sound.samples(t)
	checkFind(t, recorded, sentence, h.speech("Dinner is on the table, come down please."))
	h.checkGrown()
	h.checkSound()
	h.settle(whole)
	word := h.sound.when(find(recorded, sentence).begin)
	t.Logf("the first word was heard %.0f s after it was switched on", word.Seconds())
}

// checkGrown checks that the data partition reaches to the end of the disk, and its file system fills it.
func (h *host) checkGrown() {
	h.Helper()
	info := check.Must(os.Stat(h.disk))(h.T)
	room := info.Size() - openPartition(h.T, h.disk, "data").start
	if size := h.root.number("df --output=size --block-size=1 /var/lib/pressbox | tail -n 1"); size < room*9/10 {
		h.Errorf("the data partition has %d MB, and %d MB of room:\n%s", size>>20, room>>20,
			h.root.do("lsblk; df --human-readable"))
	}
}

// checkSound checks that the findings of doctor have no failure.
func (h *host) checkSound() {
	h.Helper()
	out, err := h.root.try("pressbox doctor", commandTime)
	h.Logf("doctor (%v):\n%s", err, out)
	failed := regexp.MustCompile(`(?mi)^\s*(failed|fail)\b.*`).FindAllString(out, -1)
	check.That(h.T, failed == nil, "doctor finds %q", failed)
}

// owner holds a pressbox.txt with a name that is none.
const owner = `# my Pressbox
hostname=kitchen
timezone=Europe/Berlin
admin_code=seventh inning stretch
CHIME=none
color=blue
QUIET_HOURS=03:00-04:00
`

// A PC with UEFI applies pressbox.txt of a blank disk, announces the line that is wrong, removes
// the secret, and restores the backup of another host.
func TestPC_pressboxTxt(t *testing.T) {
	disk := newDisk(t, imageOf("amd64"))
	boot := openPartition(t, disk, "PRESSBOX")
	boot.write("pressbox.txt", []byte(owner))
	boot.write("pressbox-backup", backup(t))
	h := switchOn(t, "pressbox-txt", computer{arch: "amd64", disk: disk, uefi: true})
	h.answers()
	text := h.greeted()
	const want = "Pressbox is ready. Open kitchen dot local. Not everything of pressbox dot txt was applied. " +
		"Line 6: COLOR is not a name that pressbox.txt may set."
	check.Equal(t, text, want, "what it says")
	h.hears(text)
	for command, want := range map[string]string{
		"hostname":                "kitchen",
		"readlink /etc/localtime": "Europe/Berlin",
		"pressbox config":         "QUIET_HOURS",
		"pressbox tokens list":    "from-the-backup",
		"ls /boot/firmware":       "pressbox-backup.restored",
		"cat /etc/hostname":       "kitchen",
		"getent hosts kitchen":    "kitchen",
		"systemctl is-system-running --wait || systemctl --failed --no-legend": "running",
	} {
		got, err := h.root.try(command, commandTime)
		check.Contains(t, got, want, "%s (%v)", command, err)
	}
	h.powerOff()
	boot = openPartition(t, disk, "PRESSBOX")
	names := strings.Join(boot.list(), " ")
	check.Contains(t, names, "pressbox-applied.txt", "the boot partition")
	left := strings.Contains(names, "pressbox.txt ") || strings.Contains(names, "pressbox-backup ")
	check.That(t, !left, "the boot partition has the files %s", names)
	t.Logf("pressbox-applied.txt:\n%s", boot.read("pressbox-applied.txt"))
	secret := bytes.Contains(boot.bytes(), []byte("seventh inning"))
	check.That(t, !secret, "the boot partition still has the administrator code")
}

// A PC whose data partition cannot be mounted starts again and again, and says so on its console.
func TestPC_dataLost(t *testing.T) {
	disk := newDisk(t, imageOf("amd64"))
	data := openPartition(t, disk, "data")
	data.replace(func(file string) { run(t, "mkswap", "--uuid", data.probe("UUID"), file) })
	h := switchOn(t, "data-lost", computer{arch: "amd64", disk: disk})
	h.until("it has tried twice", func() bool {
		console, _ := os.ReadFile(h.file("console.txt")) // which the emulator has not created yet at first
		return bytes.Count(console, []byte("This start has failed")) == 2
	})
	h.cutPower()
}

// backup returns a backup of a store with a token.
func backup(t *testing.T) []byte {
	t.Helper()
	const program = "../../../bin/pressbox"
	dir := t.TempDir()
	file := filepath.Join(dir, "backup")
	run(t, program, "tokens", "create", "from-the-backup", "--state-dir", dir)
	run(t, program, "backup", file, "--state-dir", dir)
	return check.Must(os.ReadFile(file))(t)
}
