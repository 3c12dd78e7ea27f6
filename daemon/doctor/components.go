package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pressbox/daemon/client"
	"pressbox/daemon/recovery"
	"pressbox/daemon/settings"
	"pressbox/daemon/trust"
	"pressbox/daemon/web/hooks"
	"pressbox/store"
	"pressbox/voice"
	"pressbox/voice/announce"
	"pressbox/voice/espeak"
	"pressbox/voice/espeak/confine"
	"pressbox/voice/library"
	"pressbox/voice/onnx"
)

const (
	startCommand    = "systemctl start pressbox (or: pressbox serve)"
	correctSettings = "correct it and run: pressbox config"
	freeDisk        = "free disk space, for example: apt-get clean; journalctl --vacuum-size=50M"
)

func (d Doctor) checkSettings() []Finding {
	if d.settingsErr != nil {
		return finding("settings.invalid", Failure, correctSettings, "%s", oneLine(d.settingsErr))
	}
	if f, err := os.Open(settings.SystemFile); errors.Is(err, fs.ErrPermission) {
		return finding("settings.unreadable", Warning, runAsRoot(),
			"%s is not readable by this user", settings.SystemFile)
	} else if err == nil {
		_ = f.Close() // nothing was read
	}
	return slices.Concat(fine("settings", "valid"), exposureFindings(d.cfg), idleFindings(d.cfg))
}

// lexiconFindings checks LEXICON_FILE, if there is one.
func lexiconFindings(cfg settings.Config) []Finding {
	_, err := cfg.Lexicon()
	switch {
	case cfg.LexiconFile == "":
		return nil
	case err != nil:
		return finding("lexicon.invalid", Warning, "correct it and run: systemctl reload pressbox",
			"%s", oneLine(err))
	}
	return fine("lexicon", "%s is valid", cfg.LexiconFile)
}

// webhookFindings checks the templates of webhooks, unless these are off.
func webhookFindings(cfg settings.Config) []Finding {
	if !cfg.Hooks {
		return fine("webhooks", "off: HOOKS=off")
	}
	templates := hooks.ReadTemplates(cfg.HooksDir)
	if err := templates.Err(); err != nil {
		return finding("webhooks.invalid", Warning, "correct it and run: systemctl reload pressbox",
			"%s", oneLine(err))
	}
	return fine("webhooks", "%s", strings.Join(templates.Webhooks(), ", "))
}

// checkServer explains why no server was asked.
func (d Doctor) checkServer() []Finding {
	switch {
	case d.denied != nil:
		return finding("server.denied", Warning, d.deniedRemedy(), "%s", oneLine(d.denied))
	case d.socket == "":
		return finding("server.stopped", Failure, startCommand, "not running")
	default:
		return nil // it was asked, and does not answer
	}
}

// checkPort finds the process that uses the port while no server runs.
func (d Doctor) checkPort() []Finding {
	if d.cfg.Port == 0 {
		return nil
	}
	const change = "pressbox set-port N, or PORT in " + settings.SystemFile
	owner, err := portUser(d.cfg.Address(), d.cfg.Port)
	held := owner == "systemd" || strings.HasSuffix(owner, "(pressbox)")
	switch {
	case d.socket != "" && (err == nil || held):
		return nil // it is not the reason why the server does not answer
	case err == nil:
		return fine("port", "%d is free", d.cfg.Port)
	case !errors.Is(err, syscall.EADDRINUSE):
		return finding("port.unusable", Failure, change, "%s", oneLine(err))
	case owner == "systemd":
		return fine("port", "%d is open by systemd, which starts the server on the first request",
			d.cfg.Port)
	case owner == "" && os.Geteuid() != 0:
		owner = "another program (run doctor as root to see which)"
	}
	owner = cmp.Or(owner, "another program")
	return finding("port.in_use", Failure, "stop that program, or change the port: "+change,
		"%d is in use by %s", d.cfg.Port, owner)
}

// portUser returns why a server cannot listen at an address, and the process that listens on its
// port, as far as this user may see it.
func portUser(address string, port int) (owner string, err error) {
	l, err := net.Listen("tcp", address) //nolint:noctx // it does not wait
	if err == nil {
		return "", l.Close()
	}
	return portOwner("/proc", port), err
}

// mqttFindings checks the files of the MQTT settings.
func mqttFindings(cfg settings.Config) []Finding {
	if cfg.MQTT.URL == "" {
		return fine("mqtt", "off: MQTT_URL is not set")
	}
	_, err := cfg.MQTT.Password()
	if err == nil && cfg.MQTT.CAFile != "" {
		_, err = os.Stat(cfg.MQTT.CAFile)
	}
	if err != nil {
		return finding("mqtt.file", Failure,
			"correct the path, and make the file readable for the group "+settings.UserName,
			"%s", oneLine(err))
	}
	return fine("mqtt", "a server connects to %s", cfg.MQTT.URL)
}

// checkSides reports whether a server started now could serve the protocols that have ports of their own.
func (d Doctor) checkSides() []Finding {
	return slices.Concat(
		d.checkSide("wyoming", d.cfg.WyomingOff(), d.cfg.WyomingAddress(), d.cfg.WyomingPort),
		d.checkESPHome(),
	)
}

// checkESPHome also reports what is wrong with the key.
func (d Doctor) checkESPHome() []Finding {
	if _, err := d.cfg.ESPHomeKey(); err != nil && d.cfg.ESPHome {
		return finding("esphome.file", Failure,
			"correct the file, and make it readable for the group "+settings.UserName,
			"%s", oneLine(err))
	}
	return d.checkSide("esphome", d.cfg.ESPHomeOff(), d.cfg.ESPHomeAddress(), d.cfg.ESPHomePort)
}

// checkSide reports whether a protocol could listen at an address.
func (d Doctor) checkSide(name, off, address string, port int) []Finding {
	if off != "" {
		return fine(name, "off: %s", off)
	}
	if d.socket != "" || port == 0 {
		return nil
	}
	owner, err := portUser(address, port)
	switch {
	case err == nil:
		return fine(name, "port %d is free", port)
	case owner == "systemd":
		return fine(name, "port %d is open by systemd", port)
	}
	setting := strings.ToUpper(name)
	return finding(name+".port_in_use", Warning,
		"stop the program that uses the port, or set "+setting+"_PORT or "+setting+"=off in "+settings.SystemFile,
		"%s %s", oneLine(err), owner)
}

// portOwner returns the process that listens on a TCP port, as far as this user may see it.
// proc is /proc.
func portOwner(proc string, port int) string {
	inodes := make(map[string]bool)
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(filepath.Join(proc, "net", table)) //nolint:gosec // the kernel's
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if inode, ok := listenerInode(line, port); ok {
				inodes["socket:["+inode+"]"] = true
			}
		}
	}
	links, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "*")) // the pattern is valid
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && inodes[target] {
			process := filepath.Dir(filepath.Dir(link))
			//nolint:gosec // the kernel's; "" if the process has ended
			comm, _ := os.ReadFile(filepath.Join(process, "comm"))
			name := strings.TrimSpace(string(comm))
			if filepath.Base(process) == "1" && name == "systemd" {
				return name
			}
			return fmt.Sprintf("process %s (%s)", filepath.Base(process), name)
		}
	}
	return ""
}

// listenerInode returns the inode of a socket that listens on port, from a line of
// /proc/net/tcp (proc(5)).
func listenerInode(line string, port int) (inode string, ok bool) {
	f := strings.Fields(line)
	const listening = "0A"
	if len(f) < 10 || f[3] != listening {
		return "", false
	}
	_, digits, _ := strings.Cut(f[1], ":")
	n, err := strconv.ParseUint(digits, 16, 16)
	return f[9], err == nil && int(n) == port
}

func (d Doctor) checkStore(ctx context.Context) []Finding {
	path := d.cfg.StorePath()
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return finding("store.no_access", Warning, accessRemedy(d.cfg.StateDir),
			"%s is not accessible to this user", path)
	case errors.Is(err, fs.ErrNotExist):
		return fine("store", "%s does not exist; the first start creates it", path)
	case err != nil:
		return finding("store.unreadable", Failure, "", "%s", oneLine(err))
	}
	size := client.SizeOf(info.Size(), d.cfg.StoreMaxSize)
	findings := fine("store", "%s is intact, %s", path, size)
	err = recovery.CheckInChild(ctx, path)
	switch {
	case errors.Is(err, store.ErrLocked):
		findings = fine("store", "%s is in use, %s", path, size)
	case errors.Is(err, store.ErrNewer):
		findings = finding("store.newer", Failure,
			"install the newer version again, or: pressbox restore "+d.cfg.BackupDir()+"/…", "%s", oneLine(err))
	case errors.Is(err, store.ErrOlder):
		findings = finding("store.older", Failure, "start version 0.5.0 once, then this one", "%s", oneLine(err))
	case errors.Is(err, store.ErrCorrupt):
		findings = finding("store.damaged", Failure, startCommand+": the server restores the newest intact backup",
			"%s", oneLine(err))
	case err != nil:
		findings = finding("store.no_access", Warning, accessRemedy(d.cfg.StateDir), "%s", oneLine(err))
	}
	return append(findings, backupFindings(d.cfg, d.socket != "")...)
}

// ownerFindings names a file of another user in STATE_DIR, such as one of root's server: the server of its owner
// cannot change it, or not even read it.
func ownerFindings(dir string) []Finding {
	owner, err := trust.Owner(dir)
	if err != nil {
		return nil // checkStore has reported it
	}
	var found []Finding
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		other, statErr := trust.Owner(path)
		switch {
		case statErr != nil:
			return nil //nolint:nilerr // it was removed meanwhile
		case path == filepath.Join(dir, "lost+found"): // of the file system
			return fs.SkipDir
		case other.UID != owner.UID:
			found = finding("store.foreign_file", Failure,
				giveBack(dir, owner), "%s belongs to %s, and the server runs as %s",
				path, other.Name(), owner.Name())
			return fs.SkipAll
		case err != nil:
			return fs.SkipDir
		}
		return nil
	})
	return found
}

// backupFindings checks for damaged stores and the age of the newest backup.
func backupFindings(cfg settings.Config, running bool) []Finding {
	var findings []Finding
	if damaged := recovery.DamagedStores(cfg); len(damaged) > 0 {
		findings = finding("store.replaced", Warning, "replace the memory card if it is old; then remove the file",
			"a damaged store was replaced by a backup; it is %s", damaged[len(damaged)-1])
	}
	all, err := store.Backups(cfg.BackupDir())
	switch {
	case err != nil:
		return append(findings, finding("backups.unreadable", Warning, accessRemedy(cfg.StateDir),
			"%s", oneLine(err))...)
	case len(all) == 0:
		return append(findings, fine("backups", "none yet; the server makes one per day")...)
	case time.Since(all[0].Made) > 3*recovery.Interval && running:
		return append(findings, finding("backups.old", Warning,
			"see why: journalctl -u pressbox -x", "the newest is from %s", all[0].Made.Format(time.DateTime))...)
	default:
		return append(findings, fine("backups",
			"%d, the newest from %s", len(all), all[0].Made.Format(time.DateTime))...)
	}
}

// diskFindings checks the disk of a directory, which need not exist.
func diskFindings(dir string) []Finding {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return finding("disk.unreadable", Warning, "", "%s: %s", dir, oneLine(err))
	}
	//nolint:gosec,unconvert // no disk is so large; other platforms have 32 bits
	free := int64(st.Bavail) * int64(st.Bsize)
	const little, tooLittle = 256 << 20, 32 << 20
	switch {
	case st.Flags&unix.ST_RDONLY != 0:
		return finding("disk.read_only", Failure, "see why: journalctl -k; replace a worn memory card",
			"%s is read-only", dir)
	case free < tooLittle:
		return finding("disk.full", Failure, freeDisk, "%d MiB free at %s", free>>20, dir)
	case free < little:
		return finding("disk.nearly_full", Warning, freeDisk, "%d MiB free at %s", free>>20, dir)
	default:
		return fine("disk", "%.1f GiB free at %s", float64(free)/(1<<30), dir)
	}
}

func (d Doctor) checkVoices() []Finding {
	return voiceFindings(library.New(library.Config{
		Dirs: d.cfg.VoiceDirs(), Defaults: library.Defaults{Voice: d.cfg.DefaultVoice},
		Log: slog.New(slog.DiscardHandler),
	}))
}

func voiceFindings(voices *library.Library) []Finding {
	var findings []Finding
	for _, v := range voices.Voices() {
		if v.Error != "" {
			findings = append(findings, finding("voices.broken",
				Warning, "pressbox voices install NAME, or remove its files", "%s is broken: %s", v.Name, v.Error)...)
		}
	}
	if err := voices.Health(); err != nil {
		const remedy = "set DEFAULT_VOICE to an installed voice (see: pressbox voices), " +
			"or: pressbox voices install NAME"
		return append(findings, finding("voices.none", Failure, remedy, "%s", oneLine(err))...)
	}
	return append(findings, fine("voices", "%d installed; default %s", len(voices.Voices()), voices.Default())...)
}

// goneFindings reports the voices that are named somewhere and cannot speak.
func goneFindings(voices *library.Library, named []string) []Finding {
	var findings []Finding
	for _, name := range slices.Compact(slices.Sorted(slices.Values(named))) {
		_, err := voices.Voice(name)
		if gone, ok := errors.AsType[*announce.UnknownVoiceError](err); ok && name != "" {
			findings = append(findings, finding("voices.gone", Warning,
				"pressbox voices install "+name+", or name another one in the favorites and schedules",
				"%s, which favorites, schedules or announcements that wait name, cannot speak: %s speaks instead",
				name, cmp.Or(gone.Instead, "no voice"))...)
		}
	}
	return findings
}

// missingFindings reports the sounds that are named but not there.
func missingFindings(missing []string) []Finding {
	if len(missing) == 0 {
		return nil
	}
	return finding("sounds.missing", Warning, "pressbox sounds add NAME FILE, or name another one",
		"not installed: %s", strings.Join(missing, "; "))
}

func (d Doctor) checkPhonemizer(ctx context.Context) []Finding {
	phonemizer := espeak.New("", d.confine...)
	defer func() { _ = phonemizer.Close() }() // its child is not used again
	return append(phonemizerFindings(ctx, phonemizer), confinementFindings(confine.Missing())...)
}

// confinementFindings reports what the kernel cannot restrict for espeak-ng; missing is nil if
// it can restrict everything.
func confinementFindings(missing error) []Finding {
	if missing == nil {
		return fine("sandbox", "espeak-ng is confined")
	}
	const remedy = "use a kernel with landlock and seccomp (Debian's has both), " +
		"and add landlock to lsm= on its command line if that is set"
	return finding("sandbox.partial", Warning, remedy,
		"espeak-ng works, but is not fully confined: %s", oneLine(missing))
}

func phonemizerFindings(ctx context.Context, phonemizer voice.Phonemizer) []Finding {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	const remedy = "apt install espeak-ng"
	phonemes, err := phonemizer.Phonemes(ctx, "en-us", "Hello.")
	switch {
	case errors.Is(err, voice.ErrUnavailable):
		return finding("espeak-ng.missing", Failure, remedy, "%s", oneLine(err))
	case err != nil:
		return finding("espeak-ng.silent", Failure, remedy, "does not answer: %s", oneLine(err))
	case strings.TrimSpace(phonemes) == "":
		return finding("espeak-ng.damaged", Failure, "apt install --reinstall espeak-ng espeak-ng-data",
			"returns no phonemes for a word")
	default:
		return fine("espeak-ng", "answers")
	}
}

func runtimeFindings(path string) []Finding {
	version, err := onnx.Runtime{Library: path}.Version()
	if err != nil {
		return finding("runtime.missing", Failure, "install the package again, or set ONNXRUNTIME_LIB",
			"ONNX Runtime: %s", oneLine(err))
	}
	return fine("runtime", "ONNX Runtime %s", version)
}
