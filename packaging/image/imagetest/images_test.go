//go:build image

package imagetest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/packaging/hosttest"
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

// checkGrown checks that the data partition reaches to the end of the disk, that its file system fills it, and that
// nothing is run of it.
func (h *host) checkGrown() {
	h.Helper()
	mounted := h.root.do("findmnt --noheadings --output OPTIONS /var/lib/pressbox")
	check.Contains(h.T, mounted, "nosuid,nodev,noexec", "the options of the data partition")
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

// Assumptions about a Raspberry Pi 4, beside that of a counted computer: one processor, of four,
// that executes an instruction in a nanosecond. packaging/doc/image.md has their reasons.
const (
	firmwareTime = 12 * time.Second // until the kernel starts
	waitTime     = 10 * time.Second // of idle processors: for devices and for the network
	cardRate     = 20 << 20         // bytes that are read from the card in a second
)

// The image of the Raspberry Pi, on an emulated board without its firmware, says that it is ready; a
// Pi 4 would have said so within a minute.
func TestARM_firstWord(t *testing.T) {
	h := switchOn(t, "arm-first-word", computer{arch: "arm64", disk: newDisk(t, imageOf("arm64")), counted: true})
	h.answers()
	text := h.greeted()
	read, busy := h.bytesRead(), h.busy()
	onBoard := firmwareTime + waitTime + busy + time.Duration(read)*time.Second/cardRate
	t.Logf("the processor was busy for %.1f s and %d MB were read: %.0f s on a Raspberry Pi 4", busy.Seconds(),
		read>>20, onBoard.Seconds())
	check.That(t, onBoard <= time.Minute, "on a Raspberry Pi 4 the sentence ends after %v, want a minute", onBoard)
	t.Logf("microseconds of units:\n%s",
		h.root.do(`cd /sys/fs/cgroup && grep -H usage_usec *.slice/*.service/cpu.stat | sort -k 2 -rn | head`))
	h.hears(text)
	h.checkWhole()
	h.powerOff()
}

// busy returns for how long the host's processors have not been idle.
func (h *host) busy() time.Duration {
	h.Helper()
	const hertz = 100 // of /proc/stat, whose first line has user, nice, system, idle, iowait, irq and softirq time
	ticks := h.root.number("awk '{ print $2 + $3 + $4 + $7 + $8; exit }' /proc/stat")
	return time.Duration(ticks) * time.Second / hertz
}

// bytesRead returns how much the host has read from its disk.
func (h *host) bytesRead() (n int64) {
	h.Helper()
	var disks []struct {
		Stats struct {
			Read int64 `json:"rd_bytes"`
		}
	}
	h.monitor("query-blockstats", map[string]string{}, &disks)
	for _, d := range disks {
		n += d.Stats.Read
	}
	return n
}

// How many times the plug of a PC is pulled in each test, and the seed of the moments.
var (
	pulls = flag.Int("pulls", 3, "how often the plug is pulled, in each test of a PC")
	seed  = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the moments at which the plug is pulled")
)

// armPulls counts how often the plug of a Raspberry Pi is pulled, in each test: it is three times as
// slow to emulate as a PC.
const armPulls = 2

// moments returns random times of an action that takes a whole time, in order. Each is in another part of it.
func moments(t *testing.T, number int, whole time.Duration) []time.Duration {
	t.Helper()
	t.Logf("to repeat: -seed=%d", *seed)
	random := rand.New(rand.NewPCG(*seed, 0))
	all := make([]time.Duration, number)
	for i := range all {
		all[i] = time.Duration((float64(i) + random.Float64()) / float64(number) * float64(whole))
	}
	return all
}

// cutAt returns copies of the disk as power cuts would leave it: at moments after began, and once an event
// arrives, unless that is nil. One run of the host is enough for all of them: it is stopped meanwhile.
func (h *host) cutAt(began time.Time, at []time.Duration, event <-chan error) (disks []string) {
	h.Helper()
	for len(at) > 0 || event != nil {
		var next <-chan time.Time
		if len(at) > 0 {
			next = time.After(time.Until(began.Add(at[0])))
		}
		select {
		case <-h.ended:
			h.Fatalf("%s is off before the plug is pulled; see %s", h.name, h.file("console.txt"))
		case <-next:
			at = at[1:]
		case err := <-event:
			check.NoError(h.T, err)
			event = nil
		}
		stopped := time.Now()
		h.Logf("disk %d: the plug is pulled after %.1f s", len(disks)+1, stopped.Sub(began).Seconds())
		disks = append(disks, h.cutDisk())
		began = began.Add(time.Since(stopped))
	}
	return disks
}

// cutDisk returns a copy of the disk as a power cut at this moment would leave it: without what the
// emulator has not written yet.
func (h *host) cutDisk() (disk string) {
	h.Helper()
	check.NoError(h.T, h.cmd.Process.Signal(syscall.SIGSTOP))
	disk = copyDisk(h.T, h.disk)
	check.NoError(h.T, h.cmd.Process.Signal(syscall.SIGCONT))
	return disk
}

// The plug of a PC is pulled at random moments of its first start, each time of a blank disk. At
// the next start it comes up and says that it is ready, unless it has said so before.
func TestPC_pulledPlugFirstStart(t *testing.T) { pullAtFirstStart(t, "amd64", *pulls) }

// The same of a Raspberry Pi.
func TestARM_pulledPlugFirstStart(t *testing.T) { pullAtFirstStart(t, "arm64", armPulls) }

func pullAtFirstStart(t *testing.T, arch string, number int) {
	t.Helper()
	_, whole := settled(t, arch)
	h := switchOn(t, "pulled-first-start", computer{arch: arch, disk: newDisk(t, imageOf(arch))})
	disks := h.cutAt(h.began, moments(t, number, whole), nil)
	h.cutPower()
	for i, disk := range disks {
		h := switchOn(t, fmt.Sprint("after-first-start-", i+1), computer{arch: arch, disk: disk})
		h.answers()
		h.greeted()
		h.checkWhole()
		h.cutPower()
		check.NoError(t, os.Remove(disk))
	}
}

// checkWhole checks that no unit has failed and that the data partition has the size of the disk.
func (h *host) checkWhole() {
	h.Helper()
	if failed := h.root.do("systemctl --failed --plain --no-legend"); failed != "" {
		h.Errorf("units have failed:\n%s\n%s", failed,
			h.root.do("journalctl --boot --no-pager --priority=warning --lines=50"))
	}
	h.checkGrown()
}

// The plug of a PC is pulled in an upgrade: as soon as the old program has a unit of its own, and at random moments.
// At the next start it comes up with one of the two versions and the data, and apt can finish the upgrade.
func TestPC_pulledPlugUpgrade(t *testing.T) { pullAtUpgrade(t, "amd64", *pulls) }

// The same of a Raspberry Pi.
func TestARM_pulledPlugUpgrade(t *testing.T) { pullAtUpgrade(t, "arm64", armPulls) }

func pullAtUpgrade(t *testing.T, arch string, number int) {
	t.Helper()
	older := withFirst(t, arch)
	whole := upgrade(t, arch)
	h := switchOn(t, "pulled-upgrade", computer{arch: arch, disk: copyDisk(t, older)})
	h.answers()
	h.subscribe()
	h.root.do("sync") // apt's lists are there after each cut
	own := make(chan error, 1)
	began := time.Now()
	go func() {
		_, err := h.root.try(upgradeCommand+` &
			until [ -e /etc/systemd/system/pressbox.service.d/previous.conf ]; do sleep 0.1; done`, bootTime)
		own <- err
	}()
	disks := h.cutAt(began, moments(t, number, whole), own)
	h.cutPower()
	for i, disk := range disks {
		h := switchOn(t, fmt.Sprint("after-upgrade-", i+1), computer{arch: arch, disk: disk})
		t.Logf("after the power cut version %s answers", h.answers().Version)
		h.root.do("dpkg --configure --pending && " + upgradeCommand)
		check.Equal(t, h.answers().Version, version(t), "the version after the upgrade was finished")
		h.checkKept()
		h.checkWhole()
		h.cutPower()
		check.NoError(t, os.Remove(disk))
	}
}

// What settled, withFirst and upgrade return, by architecture.
var (
	settledDisks, firstStartTimes = map[string]string{}, map[string]time.Duration{}
	olderDisks                    = map[string]string{}
	upgradeTimes                  = map[string]time.Duration{}
)

// settled returns a disk of a host that has said that it is ready and was shut down, and how long its first start took
// until then. The caller copies the disk. It is that of the test of the first word, unless only other tests run.
func settled(t *testing.T, arch string) (disk string, whole time.Duration) {
	t.Helper()
	if settledDisks[arch] == "" {
		h := switchOn(t, "settled", computer{arch: arch, disk: newDisk(t, imageOf(arch))})
		h.answers()
		h.greeted()
		h.settle(time.Since(h.began))
	}
	return settledDisks[arch], firstStartTimes[arch]
}

// settle shuts a host down, whose first start took a whole time, and keeps its disk for settled.
func (h *host) settle(whole time.Duration) {
	h.Helper()
	h.powerOff()
	settledDisks[h.arch], firstStartTimes[h.arch] = saveDisk(h.T, h.disk, "settled-"+h.arch+".img"), whole
}

// localAddress is the address of the local host as an emulated one sees it.
const localAddress = "10.0.2.2"

// A PC with version 0.5.0 installs the current one from a signed repository with apt.
func TestPC_upgrade(t *testing.T) { upgrade(t, "amd64") }

// upgrade upgrades a host and returns how long apt took. It does so once for all tests.
func upgrade(t *testing.T, arch string) (whole time.Duration) {
	t.Helper()
	if whole = upgradeTimes[arch]; whole > 0 {
		return whole
	}
	h := switchOn(t, "upgrade", computer{arch: arch, disk: copyDisk(t, withFirst(t, arch))})
	before := h.answers()
	h.subscribe()
	began := time.Now()
	h.root.do(upgradeCommand)
	upgradeTimes[arch] = time.Since(began)
	after := h.answers()
	check.Equal(t, after.Version, version(t), "the version after the upgrade")
	check.That(t, after.Version != before.Version, "version %s was there before the upgrade", before.Version)
	h.checkKept()
	h.root.do("pressbox hello")
	h.hears(h.greeted())
	h.powerOff()
	return upgradeTimes[arch]
}

// upgradeCommand installs the version of the repository, as unattended-upgrades would.
const upgradeCommand = "apt-get install --yes --quiet=2 --only-upgrade pressbox"

// version returns the version that the tree builds.
func version(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(run(t, "sed", "-n", `s/^## \([0-9][^ ]*\).*/\1/p;T;q`, "../../../CHANGELOG.md"))
}

// withFirst returns a disk of a host with version 0.5.0, and with data. The caller copies it.
func withFirst(t *testing.T, arch string) (disk string) {
	t.Helper()
	if olderDisks[arch] != "" {
		return olderDisks[arch]
	}
	from, _ := settled(t, arch)
	disk = copyDisk(t, from)
	first := "../../../.build/image/pressbox_0.5.0_" + arch + ".deb" // built by "run" in this folder
	openPartition(t, disk, "PRESSBOX").write("first.deb", check.Must(os.ReadFile(first))(t))
	h := switchOn(t, "first", computer{arch: arch, disk: disk})
	h.answers()
	h.root.do("apt-get purge --yes --quiet=2 pressbox && rm -rf /var/lib/pressbox/*")
	h.root.do("dpkg --install /boot/firmware/first.deb && rm /boot/firmware/first.deb && pressbox setup-audio headless")
	h.answers()
	h.root.do("pressbox tokens create kept")
	h.powerOff()
	olderDisks[arch] = saveDisk(t, disk, "older-"+arch+".img")
	return olderDisks[arch]
}

// checkKept checks that the data from before an upgrade are there.
func (h *host) checkKept() {
	h.Helper()
	check.Contains(h.T, h.root.do("pressbox tokens list"), "kept", "the tokens after the upgrade")
}

// serve serves a folder to the host until the test has ended, and returns its URL.
func (h *host) serve(folder string) (url string) {
	h.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(h.T)
	web := &http.Server{Handler: http.FileServer(http.Dir(folder))}
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	h.Cleanup(func() {
		check.NoError(h.T, web.Close())
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			h.Error(err)
		}
	})
	_, port, _ := strings.Cut(l.Addr().String(), ":")
	return "http://" + localAddress + ":" + port
}

// subscribe serves a signed repository with the current package to the host, whose apt reads it.
func (h *host) subscribe() {
	h.Helper()
	dist := h.TempDir()
	deb := results + "/pressbox_" + version(h.T) + "_" + h.arch + ".deb"
	sources := hosttest.Publish(h.T, deb, dist, h.serve(filepath.Join(dist, "repo")))
	h.root.do("cat >%s <<'END'\n%s\nEND", hosttest.SourcesFile, sources)
	h.root.do(hosttest.UpdateCommand)
}

// A PC with a display, on which the image was just written, shows a game on it without a command; it
// would do so with one that is connected later.
func TestPC_wallDisplay(t *testing.T) {
	h := switchOn(t, "wall", computer{arch: "amd64", disk: newDisk(t, imageOf("amd64")), display: true})
	h.answers()
	h.client(commandTime).StartGame(t)
	var last colors
	h.until("the display shows the scoreboard", func() bool {
		last = look(t, h.screen("scoreboard"))
		return last.scoreboard()
	})
	t.Logf("look at %s: %+v", h.file("scoreboard.png"), last)
	h.greeted()
	h.still("greeting")
	t.Logf("memory:\n%s", h.root.do("free --mega; ps -eo rss,args --sort=-rss --width 60 | head -n 8"))
	user := h.root.do("ps -o user= -C chromium | sort -u")
	check.That(t, user == "pressbox-kiosk" || user == "pressbo+", "Chromium runs as %q", user)
	h.until("the greeting is noted as spoken", func() bool { return h.root.do("ls /var/lib/pressbox-hello") == "said" })
	h.root.do("pressbox setup-kiosk --undo && systemctl enable pressbox-kiosk-setup && " +
		"udevadm trigger --action=change --subsystem-match=drm")
	h.until("the display is set up again",
		func() bool { return h.root.do("systemctl is-active pressbox-kiosk || true") == "active" })
	h.powerOff()
}

// still writes what the display shows to a PNG file, once two pictures in a row are the same: an
// emulated processor draws a frame in parts, which a picture may catch.
func (h *host) still(ending string) {
	h.Helper()
	var last []byte
	h.until("the display stands still", func() bool {
		before := last
		last = check.Must(os.ReadFile(h.screen(ending)))(h.T)
		return bytes.Equal(last, before)
	})
}

// colors holds what a screen has of the wall display's style (daemon/web/static/page/css).
type colors struct {
	board, side, header, text float64 // shares of all pixels
	line                      bool    // between the two clubs
}

// scoreboard reports whether they are those of the wall display with a game.
func (c colors) scoreboard() bool {
	return c.board > 0.25 && c.side > 0.05 && c.header > 0.02 && c.text > 0.002 && c.line
}

// look returns what a picture has. By day and by night the board has another green.
func look(t *testing.T, file string) (c colors) {
	t.Helper()
	f := check.Must(os.Open(file))(t)
	defer f.Close()
	picture := check.Must(png.Decode(f))(t)
	size := picture.Bounds().Size()
	all := float64(size.X * size.Y)
	for y := range size.Y {
		soft := 0
		for x := range size.X {
			switch at := picture.At(x, y); {
			case near(at, 0x1e, 0x4a, 0x37), near(at, 0x10, 0x36, 0x2a):
				c.board += 1 / all
			case near(at, 0xfb, 0xf6, 0xe9):
				c.side += 1 / all
			case near(at, 0x14, 0x27, 0x3a):
				c.header += 1 / all
			case near(at, 0xff, 0xd3, 0x5c):
				c.text += 1 / all
			case near(at, 0xc9, 0xd8, 0xc6):
				soft++
			}
		}
		c.line = c.line || soft > size.X/2 && y > size.Y/5 && y < size.Y*3/5
	}
	return c
}

// near reports whether a color is about as given.
func near(c color.Color, r, g, b uint8) bool {
	const most = 6
	got := color.RGBAModel.Convert(c).(color.RGBA)
	distance := func(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
	return distance(got.R, r) < most && distance(got.G, g) < most && distance(got.B, b) < most
}

// A screen of the wall display is recognized; a black one and one without a game are not.
func TestLook_sides(t *testing.T) {
	c := look(t, "../../doc/wall.png")
	check.That(t, c.scoreboard(), "the picture of the documents is not recognized: %+v", c)
	black := t.TempDir() + "/black.png"
	f := check.Must(os.Create(black))(t)
	check.NoError(t, png.Encode(f, image.NewRGBA(image.Rect(0, 0, 1280, 720))))
	check.NoError(t, f.Close())
	c = look(t, black)
	check.That(t, !c.scoreboard(), "black is recognized: %+v", c)
}
