package setup

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"pressbox/daemon/settings"
)

// KioskUser is the user whose browser is the wall display of this host. The server looks it up
// when it starts.
const KioskUser = "pressbox-kiosk"

const (
	kioskUserFile = "/etc/sysusers.d/pressbox-kiosk.conf"
	kioskProgram  = "/usr/bin/pressbox" // as the package installs it; KioskUser may not read every other
	kioskUnit     = "/etc/systemd/system/pressbox-kiosk.service"
	kioskAtStart  = "/etc/systemd/system/multi-user.target.wants/pressbox-kiosk-setup.service" // of an image
	kioskHeader   = "# Written by \"pressbox setup-kiosk\"; \"pressbox setup-kiosk --undo\" removes it.\n"
)

// kioskMemory is the least memory of a host with a wall display, in KiB as in /proc/meminfo: a
// host with 1 GB, of which firmware and kernel hold a part.
const kioskMemory = 880_000

// KioskCommand is the command that runs the browser, within cage.
const KioskCommand = "kiosk-session"

// kioskFiles returns the files of a wall display that shows a page.
func kioskFiles(page string) []file {
	escaped := strings.NewReplacer("%", "%%", "$", "$$").Replace(page) // systemd.unit(5), systemd.service(5)
	return []file{
		{kioskUserFile, kioskHeader + "u " + KioskUser + " - \"Pressbox wall display\"\n"},
		{kioskUnit, kioskHeader + `[Unit]
Description=Pressbox wall display
After=systemd-user-sessions.service pressbox.service getty@tty1.service
Conflicts=getty@tty1.service
ConditionPathExists=` + kioskProgram + `
StartLimitIntervalSec=0

[Service]
User=` + KioskUser + `
PAMName=login
TTYPath=/dev/tty1
TTYReset=yes
TTYVHangup=yes
StandardInput=tty-fail
# A display without a keyboard or a mouse.
Environment=WLR_LIBINPUT_NO_DEVICES=1
ExecStart=/usr/bin/cage -s -- ` + kioskProgram + " " + KioskCommand + " '" + escaped + `'
Restart=always
RestartSec=2s

[Install]
WantedBy=multi-user.target
`},
	}
}

// KioskURL returns the URL of the page that a wall display shows: the wall display of the
// server on this host unless page is another one.
func (s Setup) KioskURL(page string) (string, error) {
	if page == "" {
		return fmt.Sprintf("http://localhost:%d/kiosk", settings.SocketPort(s.Root)), nil
	}
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		strings.ContainsFunc(page, unquotable) {
		return "", fmt.Errorf("the URL %q: expected one such as http://pressbox.local:8888/kiosk", page)
	}
	return page, nil
}

// unquotable reports whether a character of a URL must not stand in single quotes of a unit.
func unquotable(r rune) bool { return r <= ' ' || r == '\'' || r == '\\' || r > '~' }

// Kiosk shows a page, of [Setup.KioskURL], full screen on the display of this host. It fails on
// a host with less than 1 GB of memory, or without the package.
func (s Setup) Kiosk(page string) error {
	if err := s.checkMemory(); err != nil {
		return err
	}
	if s.onHost() {
		if s.missing(kioskProgram) {
			return errors.New("the wall display runs " + kioskProgram + ": install the package of Pressbox")
		}
		// without it, Debian 12's cage ends
		if err := s.install("cage", "swayidle", "chromium", "xwayland"); err != nil {
			return err
		}
	}
	for _, f := range kioskFiles(page) {
		if err := s.write(f); err != nil {
			return err
		}
	}
	for _, command := range [][]string{
		{"systemd-sysusers", kioskUserFile},
		{"systemctl", "daemon-reload"},
		{"systemctl", "enable", "pressbox-kiosk.service"},
		// Without waiting, as both wait for this command at the start of the host. The server knows the user then.
		{"systemctl", "--no-block", "try-restart", "pressbox.service"},
		{"systemctl", "--no-block", "restart", "pressbox-kiosk.service"},
	} {
		if err := s.run(command[0], command[1:]...); err != nil {
			return err
		}
	}
	return s.remove(kioskAtStart)
}

// UndoKiosk removes what [Setup.Kiosk] wrote, and its user, and an image does not set it up again.
// The packages stay.
func (s Setup) UndoKiosk() error {
	if err := s.remove(kioskAtStart); err != nil {
		return err
	}
	if s.missing(kioskUnit) {
		return nil
	}
	if err := s.run("systemctl", "disable", "--now", "pressbox-kiosk.service"); err != nil {
		return err
	}
	return errors.Join(
		s.removeWithDir(kioskUserFile), s.remove(kioskUnit),
		s.run("systemctl", "daemon-reload"), s.removeUser(KioskUser),
		s.run("systemctl", "try-restart", "pressbox.service"),
	)
}

// removeUser ends the service manager of a user, which outlives the session, and removes the user.
func (s Setup) removeUser(name string) error {
	if !s.onHost() {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return fmt.Errorf("remove the user %s: %w", name, err)
	}
	return errors.Join(s.run("systemctl", "stop", "user@"+u.Uid+".service", "user-runtime-dir@"+u.Uid+".service"),
		s.run("userdel", name))
}

var memTotal = regexp.MustCompile(`(?m)^MemTotal: +(\d+) kB$`)

// checkMemory returns an error if the host has too little memory for a browser.
func (s Setup) checkMemory() error {
	text, err := os.ReadFile(filepath.Join(s.Root, "/proc/meminfo"))
	size, found := 0, memTotal.FindSubmatch(text)
	switch {
	case found != nil:
		size, err = strconv.Atoi(string(found[1]))
	case err == nil:
		err = errors.New("/proc/meminfo has no MemTotal")
	}
	if err != nil {
		return fmt.Errorf("read the size of the memory: %w", err)
	}
	if size < kioskMemory {
		return fmt.Errorf("this host has %d MB of memory: the browser of a wall display needs 1 GB. "+
			"Open /kiosk on another host", size/1000)
	}
	return nil
}
