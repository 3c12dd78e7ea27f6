package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pressbox/daemon/settings"
)

const (
	audioDir     = "/run/pressbox-audio" // its mode decides who reaches the socket in it
	tmpfilesFile = "/etc/tmpfiles.d/pressbox-audio.conf"
	lingerFile   = "/var/lib/systemd/linger/" + settings.UserName
	pulseFile    = "/etc/pipewire/pipewire-pulse.conf.d/50-pressbox.conf"
)

const (
	header    = "#" + written
	luaHeader = "--" + written
	written   = " Written by \"pressbox setup-audio\"; \"pressbox setup-audio --undo\" removes it.\n"
)

// WirePlumber's files, for the versions of Debian 13 and 12.
const (
	wirePlumberFile   = "/etc/wireplumber/wireplumber.conf.d/50-pressbox.conf"
	wirePlumberMain   = "/etc/wireplumber/main.lua.d/51-pressbox.lua"
	wirePlumberBlueZ  = "/etc/wireplumber/bluetooth.lua.d/51-pressbox.lua"
	permissions       = "rwxm" // other clients' volumes, and which volumes WirePlumber remembers
	wirePlumberAccess = `access.rules = [
  {
    matches = [ { access = "restricted", application.id = "pressbox" } ]
    actions = { update-props = { default_permissions = "` + permissions + `" } }
  }
]
`
	wirePlumberLuaAccess = `table.insert(default_access.rules, 1, {
  matches = { { { "pipewire.access", "=", "restricted" }, { "application.id", "=", "pressbox" } } },
  default_permissions = "` + permissions + `",
})
`
)

// sessionFiles returns the files by which the sound server of owner, PipeWire or
// PulseAudio, listens on [settings.AudioSocket] while owner is logged in, and Pressbox may
// lower the volumes of others. A rule that WirePlumber does not understand denies only that.
func sessionFiles(owner string) []file {
	return []file{
		{tmpfilesFile, header + "d " + audioDir + " 0750 " + owner + " " + settings.UserName + " -\n"},
		{pulseFile, header + `pulse.properties = {
    server.address = [
        "unix:native"
        { address = "unix:` + settings.AudioSocket + `" max-clients = 8 client.access = "restricted" }
    ]
}
`},
		{
			"/etc/pulse/default.pa.d/50-pressbox.pa",
			header + "load-module module-native-protocol-unix auth-anonymous=1 socket=" + settings.AudioSocket + "\n",
		},
		{wirePlumberFile, header + wirePlumberAccess},
		{wirePlumberMain, luaHeader + wirePlumberLuaAccess},
	}
}

// soundConfinement keeps the sound server of the user pressbox from running what the service has written: clients can
// have it load plugins by their paths. A user's service manager can restrict files only with PrivateUsers=, which also
// keeps the files away that other processes have open.
const soundConfinement = `[Service]
PrivateUsers=yes
NoExecPaths=/
ExecPaths=/usr
`

// headlessFiles returns the files by which the user pressbox has a sound server without
// being logged in, and no other user starts one, which would occupy the sound card.
func headlessFiles(confined bool) []file {
	files := sessionFiles(settings.UserName)
	files[0].content += "f " + lingerFile + " 0644 root root -\n" //nolint:dupword // user and group
	for i := range files {
		// a sink whose volume was never set starts at 100 %; without a seat, Bluetooth would be disabled
		switch files[i].path {
		case pulseFile:
			const properties = "pulse.properties = {\n" // older versions ignore the new one
			files[i].content = strings.Replace(files[i].content, properties,
				properties+"    pulse.allow-module-loading = false\n", 1)
		case wirePlumberFile:
			files[i].content += `wireplumber.settings = { device.routes.default-sink-volume = 1.0 }
wireplumber.profiles = {
  main = { monitor.bluez.seat-monitoring = disabled }
}
`
		case wirePlumberMain:
			files[i].content += "device_defaults.properties[\"default-volume\"] = 1.0\n"
		}
	}
	files = append(files, file{wirePlumberBlueZ, luaHeader + "bluez_monitor.properties[\"with-logind\"] = false\n"})
	for _, unit := range []string{
		"pipewire.service", "pipewire.socket", "pipewire-pulse.service",
		"pipewire-pulse.socket", "wireplumber.service", "filter-chain.service",
	} {
		content := header + "[Unit]\nConditionUser=" + settings.UserName + "\n"
		if confined && unit == "pipewire-pulse.service" {
			content += soundConfinement
		}
		files = append(files, file{"/etc/systemd/user/" + unit + ".d/pressbox.conf", content})
	}
	// The sound server starts with the user's manager, not with its first client.
	return append(files, file{
		"/etc/systemd/user/default.target.d/pressbox.conf", header + "[Unit]\nWants=pipewire-pulse.service\n",
	})
}

// An AudioSetup selects the sound server that serves [settings.AudioSocket].
type AudioSetup struct {
	Mode string // "headless" or "session"
	User string // with session: the user whose sound server it is
	Undo bool   // remove the files instead
}

// CheckAudio returns an error if the arguments of an AudioSetup are invalid.
func (s Setup) CheckAudio(a AudioSetup) error {
	switch {
	case a.Undo && (a.Mode != "" || a.User != ""):
		return errors.New("--undo cannot be combined with other arguments")
	case a.Undo:
		return nil
	case a.Mode != "headless" && a.Mode != "session":
		return fmt.Errorf("the mode %q: expected headless or session", a.Mode)
	case a.Mode == "headless" && a.User != "":
		return errors.New("--user requires session: headless always uses " + settings.UserName)
	case a.Mode == "session" && a.User == "":
		return errors.New("session requires --user with the user who logs in on this host")
	case a.User == settings.UserName:
		return errors.New("the user " + settings.UserName + " does not log in: use headless for its sound server")
	case a.User != "" && !userName.MatchString(a.User):
		return fmt.Errorf("the user %q: expected a name of letters, digits and _ . @ -", a.User)
	case a.Mode == "session" && s.onHost():
		_, err := user.Lookup(a.User)
		return err
	default:
		return nil
	}
}

// userName matches the names that mean themselves in the files of tmpfiles.d, where space
// separates and % begins a specifier, and as arguments of programs.
var userName = regexp.MustCompile(`^[\pL\pN_][\pL\pN_.@-]*\$?$`)

// Audio applies an AudioSetup, in place of an earlier one.
func (s Setup) Audio(a AudioSetup) error {
	if a.Undo {
		return s.undoAudio()
	}
	owner, files := a.User, sessionFiles(a.User)
	if a.Mode == "headless" {
		refusal := s.refusesNamespaces()
		owner, files = settings.UserName, headlessFiles(refusal == "")
		if err := s.install("pipewire-pulse", "wireplumber"); err != nil {
			return err
		}
		if refusal != "" {
			s.printf("the sound server is not confined: that needs user namespaces, and %s is 0", refusal)
		}
	}
	before := s.audioUser()
	if err := s.removeAudioFiles(files); err != nil {
		return err
	}
	for _, f := range files {
		if err := s.write(f); err != nil {
			return err
		}
	}
	if before != "" && before != owner {
		if err := s.disconnect(before); err != nil {
			return err
		}
	}
	if err := s.run("systemd-tmpfiles", "--create", tmpfilesFile); err != nil {
		return err
	}
	return s.connect(owner)
}

// refusesNamespaces returns the setting of the kernel by which it refuses user namespaces, which [soundConfinement]
// needs: the sound server would not start; "" if there is none.
func (s Setup) refusesNamespaces() string {
	for _, name := range []string{"kernel/unprivileged_userns_clone", "user/max_user_namespaces"} {
		//nolint:gosec // of the host, and not every kernel has both
		text, err := os.ReadFile(filepath.Join(s.Root, "proc/sys", name))
		if err == nil && strings.TrimSpace(string(text)) == "0" {
			return strings.ReplaceAll(name, "/", ".")
		}
	}
	return ""
}

// undoAudio removes an AudioSetup.
func (s Setup) undoAudio() error {
	before := s.audioUser()
	if err := s.removeAudioFiles(nil); err != nil {
		return err
	}
	if before == "" {
		return nil
	}
	return errors.Join(s.disconnect(before), s.remove(audioDir))
}

// audioUser returns the user whose sound server is configured; "" if there is none.
func (s Setup) audioUser() string {
	text, err := os.ReadFile(filepath.Join(s.Root, tmpfilesFile))
	if err != nil {
		return ""
	}
	return directoryOwner(string(text))
}

// directoryOwner returns the owner of the socket's directory in a tmpfiles.d file.
func directoryOwner(tmpfiles string) string {
	for line := range strings.Lines(tmpfiles) {
		if f := strings.Fields(line); len(f) >= 4 && f[0] == "d" && f[1] == audioDir {
			return f[3]
		}
	}
	return ""
}

// connect starts serving the socket by the sound server of owner.
func (s Setup) connect(owner string) error {
	if owner != settings.UserName {
		return s.restartSession(owner)
	}
	groups := "audio"
	if _, err := user.LookupGroup("pipewire"); err == nil {
		groups += ",pipewire" // which has real-time priority (/etc/security/limits.d)
	}
	if err := s.run("usermod", "--append", "--groups", groups, settings.UserName); err != nil {
		return err
	}
	return s.manager("restart")
}

// disconnect stops serving the socket by the sound server of owner, whose files have been
// removed.
func (s Setup) disconnect(owner string) error {
	var err error
	if owner == settings.UserName {
		err = errors.Join(s.remove(lingerFile), s.manager("stop"))
	} else if _, unknown := user.Lookup(owner); unknown == nil {
		err = s.restartSession(owner)
	}
	return errors.Join(err, s.remove(settings.AudioSocket)) // a leftover socket would block the next sound server
}

// restartSession restarts the sound server of a user who is logged in, or starts it if it
// was prevented from starting.
func (s Setup) restartSession(name string) error {
	if !s.onHost() {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	if _, err := os.Stat("/run/user/" + u.Uid + "/systemd/private"); err != nil {
		s.printf("%s is not logged in: the change takes effect at the next login", name)
		return nil //nolint:nilerr // there is nothing to restart
	}
	for _, command := range [][]string{ // systemctl accepts a pattern without a match
		{"daemon-reload"},
		{"try-restart", "wireplumber*.service", "pipewire-pulse*.service", "pulseaudio*.service"},
		{"start", "default.target"},
	} {
		if err := s.run("systemctl", append([]string{"--user", "--machine=" + name + "@.host"},
			command...)...); err != nil {
			return err
		}
	}
	return nil
}

// manager restarts or stops the service manager of the user pressbox.
func (s Setup) manager(verb string) error {
	if !s.onHost() {
		return nil
	}
	u, err := user.Lookup(settings.UserName)
	if err != nil {
		return fmt.Errorf("%w: install the package, which creates the user", err)
	}
	return s.run("systemctl", verb, "user@"+u.Uid+".service")
}

// removeAudioFiles removes every file of an AudioSetup that is not among the next ones, and
// the directories that are empty then.
func (s Setup) removeAudioFiles(next []file) error {
	for _, f := range headlessFiles(true) {
		if slices.ContainsFunc(next, func(n file) bool { return n.path == f.path }) {
			continue
		}
		if err := s.removeWithDir(f.path); err != nil {
			return err
		}
	}
	return nil
}

// install installs the Debian packages of missing programs, which have the same names, but
// for Xwayland.
func (s Setup) install(packages ...string) error {
	missing := slices.DeleteFunc(packages, func(name string) bool {
		if name == "xwayland" {
			name = "Xwayland"
		}
		_, err := exec.LookPath(name)
		return err == nil
	})
	if len(missing) == 0 {
		return nil
	}
	return s.run("apt-get", append([]string{"install", "--yes", "--no-install-recommends"}, missing...)...)
}

// A Status describes whether an AudioSetup works.
type Status struct {
	Detail string
	Remedy string // a command; "" if nothing is wrong
}

// AudioStatus checks the AudioSetup of the host; uidOf returns the user id of a user. ok is
// false if there is none.
func (s Setup) AudioStatus(uidOf func(name string) (uid string, err error)) (st Status, ok bool, err error) {
	text, err := os.ReadFile(filepath.Join(s.Root, tmpfilesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Status{}, false, nil
	}
	if err != nil {
		return Status{}, true, err
	}
	owner := directoryOwner(string(text))
	uid, err := uidOf(owner)
	if err != nil {
		return Status{
			fmt.Sprintf("setup-audio uses the sound server of the user %q: %v", owner, err),
			"pressbox setup-audio with an existing user",
		}, true, nil
	}
	headless := owner == settings.UserName
	switch {
	case s.missing(audioDir):
		st = Status{audioDir + " does not exist", "systemd-tmpfiles --create " + tmpfilesFile}
	case headless && s.missing(lingerFile):
		st = Status{
			lingerFile + " is missing: the sound server of " + owner + " stops at every logout",
			"pressbox setup-audio headless",
		}
	case headless && s.missing("run/user/"+uid):
		st = Status{
			"the service manager of the user " + owner + " does not run, so there is no sound server",
			"systemctl restart user@" + uid,
		}
	case s.missing("run/user/" + uid):
		st = Status{
			owner + " is not logged in, so there is no sound server",
			"log " + owner + " in, or on a host without a desktop: pressbox setup-audio headless",
		}
	default:
		st = Status{Detail: "setup-audio uses the sound server of " + owner}
	}
	return st, true, nil
}

// missing reports whether a file does not exist below the root.
func (s Setup) missing(name string) bool {
	_, err := os.Stat(filepath.Join(s.Root, name))
	return errors.Is(err, fs.ErrNotExist)
}

// AudioOutdated returns the command that writes the files of an AudioSetup again, if an
// earlier version of this program wrote them; "" otherwise.
func (s Setup) AudioOutdated() string {
	owner := s.audioUser()
	files, command := sessionFiles(owner), "pressbox setup-audio session --user "+owner
	switch owner {
	case "":
		return ""
	case settings.UserName:
		files, command = headlessFiles(s.refusesNamespaces() == ""), "pressbox setup-audio headless"
	}
	for _, f := range files {
		if content, err := os.ReadFile(filepath.Join(s.Root, f.path)); err != nil || string(content) != f.content {
			return command
		}
	}
	return ""
}
