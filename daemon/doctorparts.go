package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"golang.org/x/sys/unix"

	"pressbox/store"
	"pressbox/voice"
	"pressbox/voice/espeak"
	"pressbox/voice/library"
	"pressbox/voice/onnx"
)

const startIt = "systemctl start pressbox (or: pressbox serve)"

// defaultConfig is what holds where nothing is set; "" means the default folder.
func defaultConfig(folder string) (Config, error) {
	s := &settings{keys: underSystemd(keys()), viper: viper.New(), flags: pflag.NewFlagSet("", pflag.ContinueOnError)}
	for _, k := range s.keys {
		s.viper.SetDefault(k.name, k.value)
	}
	cfg, err := s.configure()
	if folder != "" {
		cfg.StateDir = folder
	}
	return cfg, err
}

func (p patient) lookAtSettings(context.Context) []finding {
	if p.settings != nil {
		return one("settings", broken, "correct it; \"pressbox config\" shows whether it is right", "%s", oneLine(p.settings))
	}
	if f, err := os.Open(systemFile); errors.Is(err, fs.ErrPermission) {
		return one("settings", doubtful, "run doctor as root", "%s may not be read by this user, so its settings are not known", systemFile)
	} else if err == nil {
		_ = f.Close() // it was only opened
	}
	return one("settings", well, "", "can be used")
}

// oneLine is an error's text without its line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// lookAtDaemon says why none was asked.
func (p patient) lookAtDaemon(context.Context) []finding {
	switch {
	case p.refused != nil:
		return one("daemon", doubtful, "run doctor as root", "%s", oneLine(p.refused))
	case p.socket == "":
		return one("daemon", broken, startIt, "does not run")
	default:
		return nil // it was asked, and does not answer
	}
}

// lookAtPort finds who has the port when the daemon does not run.
func (p patient) lookAtPort(context.Context) []finding {
	if p.socket != "" || p.cfg.Port == 0 {
		return nil
	}
	l, err := listenHTTP(p.cfg)
	if err == nil {
		_ = l.Close() // it was only opened
		return one("port", well, "", "%d is free", p.cfg.Port)
	}
	if exit, ok := errors.AsType[*exitError](err); !ok || exit.code != exitInUse {
		return one("port", broken, "pressbox set-port N, or PORT in "+systemFile, "%s", oneLine(err))
	}
	owner := portOwner("/proc", p.cfg.Port)
	if owner == "systemd" {
		return one("port", well, "", "%d is held by systemd, which starts the daemon when somebody asks", p.cfg.Port)
	}
	if owner == "" {
		owner = "another program (as root, doctor says which)"
	}
	return one("port", broken, "stop that, or choose another: pressbox set-port N, or PORT in "+systemFile, "%d is taken by %s", p.cfg.Port, owner)
}

// portOwner names the process that listens on a TCP port, as far as this user may
// see it; proc is /proc.
func portOwner(proc string, port int) string {
	inodes := make(map[string]bool)
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(filepath.Join(proc, "net", table)) //nolint:gosec // the kernel's
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if inode, ok := listener(line, port); ok {
				inodes["socket:["+inode+"]"] = true
			}
		}
	}
	links, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "*")) // the pattern is right
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && inodes[target] {
			process := filepath.Dir(filepath.Dir(link))
			comm, _ := os.ReadFile(filepath.Join(process, "comm")) //nolint:gosec // the kernel's; "" when it has ended
			name := strings.TrimSpace(string(comm))
			if filepath.Base(process) == "1" && name == "systemd" {
				return name
			}
			return fmt.Sprintf("process %s (%s)", filepath.Base(process), name)
		}
	}
	return ""
}

// listener reads a line of /proc/net/tcp (proc(5)): the inode of a socket that
// listens on a port.
func listener(line string, port int) (inode string, ok bool) {
	f := strings.Fields(line)
	const listening = "0A"
	if len(f) < 10 || f[3] != listening {
		return "", false
	}
	_, digits, _ := strings.Cut(f[1], ":")
	n, err := strconv.ParseUint(digits, 16, 16)
	return f[9], err == nil && int(n) == port
}

func (p patient) lookAtStore(ctx context.Context) []finding {
	path := filepath.Join(p.cfg.StateDir, storeName)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return one("store", doubtful, "run doctor as root", "%s may not be seen by this user", path)
	case errors.Is(err, fs.ErrNotExist):
		return one("store", well, "", "there is none yet; the first start makes %s", path)
	case err != nil:
		return one("store", broken, "", "%s", oneLine(err))
	}
	found := one("store", well, "", "%s is sound, %.1f of %.0f MiB", path, mib(info.Size()), mib(p.cfg.StoreMaxSize))
	err = checkInChild(ctx, path)
	switch {
	case errors.Is(err, store.ErrLocked):
		found[0].Detail = fmt.Sprintf("%s is in use, %.1f of %.0f MiB", path, mib(info.Size()), mib(p.cfg.StoreMaxSize))
	case errors.Is(err, store.ErrNewer):
		found = one("store", broken, "install the newer version again, or: pressbox restore "+filepath.Join(p.cfg.StateDir, backupFolder)+"/…", "%s", oneLine(err))
	case errors.Is(err, store.ErrCorrupt):
		found = one("store", broken, startIt+": it sets the file aside and restores the newest good backup", "%s", oneLine(err))
	case err != nil:
		found = one("store", doubtful, "run doctor as root", "%s", oneLine(err))
	}
	return append(found, backupFindings(p.cfg.StateDir, p.socket != "")...)
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// backupFindings says what is set aside, and how old the newest backup is.
func backupFindings(stateDir string, runs bool) []finding {
	var found []finding
	if aside, _ := filepath.Glob(filepath.Join(stateDir, storeName+".damaged-*")); len(aside) > 0 { // the pattern is right
		found = one("store", doubtful, "replace the memory card if it is old; then remove the file", "a damaged store was set aside: %s", aside[len(aside)-1])
	}
	all, err := store.Backups(filepath.Join(stateDir, backupFolder))
	switch {
	case err != nil:
		return append(found, one("backups", doubtful, "run doctor as root", "%s", oneLine(err))...)
	case len(all) == 0:
		return append(found, one("backups", well, "", "none yet; the daemon makes one each day")...)
	case time.Since(all[0].Made) > 3*backupEvery && runs:
		return append(found, one("backups", doubtful, "journalctl -u pressbox -x says why", "the newest is of %s", all[0].Made.Format(time.DateTime))...)
	default:
		return append(found, one("backups", well, "", "%d, the newest of %s", len(all), all[0].Made.Format(time.DateTime))...)
	}
}

func (p patient) lookAtDisk(context.Context) []finding { return diskFindings(p.cfg.StateDir) }

// diskFindings looks at the disk on which a folder is, or will be.
func diskFindings(dir string) []finding {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return one("disk", doubtful, "", "%s: %s", dir, oneLine(err))
	}
	free := freeBytes(st)
	const little, scant = 256 << 20, 32 << 20
	switch {
	case st.Flags&unix.ST_RDONLY != 0:
		return one("disk", broken, "journalctl -k says why; a memory card that does this is at its end", "%s can only be read", dir)
	case free < scant:
		return one("disk", broken, "make room, such as with: apt-get clean; journalctl --vacuum-size=50M", "%.0f MiB are free at %s", mib(free), dir)
	case free < little:
		return one("disk", doubtful, "make room, such as with: apt-get clean; journalctl --vacuum-size=50M", "%.0f MiB are free at %s", mib(free), dir)
	default:
		return one("disk", well, "", "%.1f GiB are free at %s", mib(free)/1024, dir)
	}
}

// freeBytes is how much an ordinary user may write to a disk.
func freeBytes(st unix.Statfs_t) int64 {
	return int64(st.Bavail) * int64(st.Bsize) //nolint:gosec,unconvert // no disk is so large; elsewhere it has 32 bits
}

func (p patient) lookAtVoices(context.Context) []finding {
	return voiceFindings(library.New(library.Config{
		Dirs: []string{p.cfg.ModelDir, sharedModels}, Default: p.cfg.DefaultVoice, Log: slog.New(slog.DiscardHandler),
	}))
}

func voiceFindings(installed *library.Library) []finding {
	var found []finding
	const again = "pressbox voices install NAME, or take its files away"
	for _, v := range installed.Voices() {
		if v.Error != "" {
			found = append(found, one("voices", doubtful, again, "%s is broken: %s", v.Name, v.Error)...)
		}
	}
	if err := installed.Health(); err != nil {
		mend := "set DEFAULT_VOICE to one that is installed (pressbox voices lists them), or: pressbox voices install NAME"
		return append(found, one("voices", broken, mend, "%s", oneLine(err))...)
	}
	return append(found, one("voices", well, "", "%d, %s unless another is asked for", len(installed.Voices()), installed.Default())...)
}

func (p patient) lookAtPhonemes(ctx context.Context) []finding {
	phonemizer := espeak.New("")
	defer func() { _ = phonemizer.Close() }() // its child is of no use any more
	return phonemeFindings(ctx, phonemizer)
}

func phonemeFindings(ctx context.Context, phonemizer voice.Phonemizer) []finding {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	const mend = "apt install espeak-ng"
	phonemes, err := phonemizer.Phonemes(ctx, "en-us", "Hello.")
	switch {
	case errors.Is(err, voice.ErrUnavailable):
		return one("espeak-ng", broken, mend, "%s", oneLine(err))
	case err != nil:
		return one("espeak-ng", broken, mend, "does not answer: %s", oneLine(err))
	case strings.TrimSpace(phonemes) == "":
		return one("espeak-ng", broken, "apt install --reinstall espeak-ng espeak-ng-data", "has no phonemes for a word")
	default:
		return one("espeak-ng", well, "", "answers")
	}
}

func (p patient) lookAtRuntime(context.Context) []finding {
	return runtimeFindings(p.cfg.ONNXRuntimeLib)
}

func runtimeFindings(path string) []finding {
	version, err := onnx.Runtime{Library: path}.Version()
	if err != nil {
		return one("runtime", broken, "install the package again, or set ONNXRUNTIME_LIB", "ONNX Runtime: %s", oneLine(err))
	}
	return one("runtime", well, "", "ONNX Runtime %s", version)
}
