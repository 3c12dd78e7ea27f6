package setup

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"pressbox/daemon/settings"
	"pressbox/daemon/setup/card"
	"pressbox/store/atomicfile"
)

// AdminUser is the user of the image who logs in with the key of pressbox.txt.
const AdminUser = "admin"

// Files of the first start.
const (
	CardFile    = "pressbox.txt"         // on the boot partition
	AppliedFile = "pressbox-applied.txt" // it after the first start, without secrets
	ReportFile  = "/run/pressbox-first-start"
	hostFile    = "/etc/hostname"
	hostsFile   = "/etc/hosts"
	zoneInfo    = "/usr/share/zoneinfo"
	keyFile     = "/etc/credstore/esphome_key" // the service has it as a credential
	wifiFile    = "/etc/wpa_supplicant/wpa_supplicant-wlan0.conf"
	wifiNetwork = "/etc/systemd/network/50-pressbox-wlan0.network"
)

// ApplyCard sets up the host as a card says and returns what could not be done. Each part
// applies even if another does not.
func (s Setup) ApplyCard(c card.Card) (problems []card.Problem) {
	for _, part := range []struct {
		name  string
		set   bool
		apply func(card.Card) error
	}{
		{"the host name", c.Hostname != "", s.setHostname},
		{"the Wi-Fi network", c.WiFi.SSID != "", s.joinWiFi},
		{"the time zone", c.TimeZone != "", s.setTimeZone},
		{"the SSH key", c.SSHKey != "", s.authorize},
		{"the settings", len(c.Settings) > 0, s.changeSettings},
		{"the key of ESPHome's API", c.ESPHomeKey != "", s.saveKey},
	} {
		if !part.set {
			continue
		}
		if err := part.apply(c); err != nil {
			problems = append(problems, card.Problem{Text: fmt.Sprintf("%s was not set: %v", part.name, err)})
		}
	}
	return problems
}

var ownHost = regexp.MustCompile(`(?m)^127\.0\.1\.1[ \t].*$`)

func (s Setup) setHostname(c card.Card) error {
	return errors.Join(
		s.write(file{hostFile, c.Hostname + "\n"}),
		s.edit(hostsFile, func(text string) string { return ownHost.ReplaceAllString(text, "127.0.1.1\t"+c.Hostname) }),
		s.run("hostname", c.Hostname),
	)
}

// joinWiFi writes the configuration of wpa_supplicant and systemd-networkd. Unlike
// NetworkManager's, it has the country beside the network, and needs no further daemon.
func (s Setup) joinWiFi(c card.Card) error {
	var b strings.Builder
	b.WriteString("# Written at the first start from " + CardFile + ".\n")
	if c.WiFi.Country != "" {
		fmt.Fprintf(&b, "country=%s\n", c.WiFi.Country)
	}
	// hexadecimal, so that nothing has to be quoted
	fmt.Fprintf(&b, "network={\n\tscan_ssid=1\n\tssid=%x\n", c.WiFi.SSID)
	if c.WiFi.Passphrase == "" {
		b.WriteString("\tkey_mgmt=NONE\n}\n")
	} else { // wpa_supplicant ends a string at the last quotation mark of the line
		fmt.Fprintf(&b, "\tkey_mgmt=WPA-PSK SAE\n\tieee80211w=1\n\tpsk=\"%s\"\n}\n", c.WiFi.Passphrase)
	}
	if err := s.writeSecret(wifiFile, b.String(), -1, -1); err != nil {
		return err
	}
	if err := s.write(file{wifiNetwork, "[Match]\nName=wlan0\n\n[Network]\nDHCP=yes\n"}); err != nil {
		return err
	}
	return s.run("systemctl", "--no-block", "enable", "--now", "wpa_supplicant@wlan0.service")
}

// setTimeZone links /etc/localtime, as timedatectl does, which needs a bus.
func (s Setup) setTimeZone(c card.Card) error {
	zone := filepath.Join(zoneInfo, c.TimeZone)
	if s.missing(zone) {
		return fmt.Errorf("there is no time zone %q", c.TimeZone)
	}
	path := filepath.Join(s.Root, "/etc/localtime")
	s.printf("+ write %s", path)
	next := path + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Symlink(zone, next); err != nil {
		return err
	}
	return errors.Join(os.Rename(next, path), s.write(file{"/etc/timezone", c.TimeZone + "\n"}))
}

// authorize lets the key log in as [AdminUser], and starts the SSH server.
func (s Setup) authorize(c card.Card) error {
	home, uid, gid := "/home/"+AdminUser, -1, -1
	if s.onHost() {
		u, err := user.Lookup(AdminUser)
		if err != nil {
			return err
		}
		home = u.HomeDir
		uid, err = strconv.Atoi(u.Uid)
		if err != nil {
			return err
		}
		if gid, err = strconv.Atoi(u.Gid); err != nil {
			return err
		}
	}
	dir := filepath.Join(home, ".ssh")
	if err := s.writeSecret(filepath.Join(dir, "authorized_keys"), c.SSHKey+"\n", uid, gid); err != nil {
		return err
	}
	if err := os.Chown(filepath.Join(s.Root, dir), uid, gid); err != nil {
		return err
	}
	return s.run("systemctl", "--no-block", "enable", "--now", "ssh.service")
}

func (s Setup) saveKey(c card.Card) error { return s.writeSecret(keyFile, c.ESPHomeKey+"\n", -1, -1) }

// changeSettings sets settings in the settings file, in place of the lines that set them.
func (s Setup) changeSettings(c card.Card) error {
	return s.edit(settings.SystemFile, func(text string) string {
		for _, set := range c.Settings {
			text = setLine(text, set.Name, fmt.Sprintf("%s=\"%s\"", set.Name, set.Value))
		}
		return text
	})
}

// writeSecret writes a file that its owner alone may read, and creates its directory for that
// owner; -1 means this user.
func (s Setup) writeSecret(name, content string, uid, gid int) error {
	path := filepath.Join(s.Root, name)
	s.printf("+ write %s", path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return writeAtomic(path, atomicfile.Attributes{Mode: 0o600, UID: uid, GID: gid}, content)
}

// PutAside replaces pressbox.txt on the boot partition by [AppliedFile], without secrets, and
// writes [ReportFile]. The secrets are overwritten before their clusters
// are free, as FAT would leave them readable; what the card's controller keeps cannot be
// reached.
func (s Setup) PutAside(boot string, text []byte, problems []card.Problem) error {
	if err := s.Report(problems); err != nil {
		return err
	}
	applied := filepath.Join(boot, AppliedFile)
	s.printf("+ write %s", applied)
	if err := writeAtomic(applied, atomicfile.Own(0o644), string(card.Redact(text, problems))); err != nil {
		return err
	}
	path := filepath.Join(boot, CardFile)
	s.printf("+ remove %s", path)
	if err := overwrite(path, len(text)); err != nil {
		return fmt.Errorf("remove the secrets of %s: %w", path, err)
	}
	return os.Remove(path)
}

// overwrite overwrites a file of a size by zeros, on the disk.
func overwrite(path string, size int) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0) //nolint:gosec // of a fixed name
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt(make([]byte, size), 0); err != nil {
		return err
	}
	return f.Sync()
}

// Report writes [ReportFile] for "pressbox hello": the problems, one a line.
func (s Setup) Report(problems []card.Problem) error {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(strings.ReplaceAll(p.String(), "\n", " ") + "\n")
	}
	return s.write(file{ReportFile, b.String()})
}
