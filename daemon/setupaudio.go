package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// audioSocket is where the daemon and its sound server meet, whoever serves it.
// The mode of its folder decides who may: pipewire-pulse lets everyone in who
// reaches the socket.
const audioSocket = "/run/pressbox-audio/native"

const (
	serviceName  = "pressbox" // user and group that the package makes
	tmpfilesFile = "/etc/tmpfiles.d/pressbox-audio.conf"
	lingerFile   = "/var/lib/systemd/linger/" + serviceName
)

// A file that setup-audio writes.
type etcFile struct{ path, content string }

const ownedByUs = "# Written by \"pressbox setup-audio\"; \"pressbox setup-audio --undo\" removes it.\n"

// sessionFiles have the sound server of a user who is logged in serve our socket:
// PipeWire's, or a PulseAudio's.
func sessionFiles(owner string) []etcFile {
	return []etcFile{
		{tmpfilesFile, ownedByUs + "d " + filepath.Dir(audioSocket) + " 0750 " + owner + " " + serviceName + " -\n"},
		{"/etc/pipewire/pipewire-pulse.conf.d/50-pressbox.conf", ownedByUs + `pulse.properties = {
    server.address = [
        "unix:native"
        { address = "unix:` + audioSocket + `" max-clients = 8 client.access = "restricted" }
    ]
}
`},
		{"/etc/pulse/default.pa.d/50-pressbox.pa", ownedByUs + "load-module module-native-protocol-unix auth-anonymous=1 socket=" + audioSocket + "\n"},
	}
}

// headlessFiles give the user pressbox a sound server of its own that runs without
// anybody being logged in, and see to it that no one else starts a second one, which
// would take the card away.
func headlessFiles() []etcFile {
	all := sessionFiles(serviceName)
	all[0].content += "f " + lingerFile + " 0644 root root -\n" //nolint:dupword // user and group
	for _, unit := range []string{
		"pipewire.service", "pipewire.socket", "pipewire-pulse.service", "pipewire-pulse.socket", "wireplumber.service", "filter-chain.service",
	} {
		all = append(all, etcFile{"/etc/systemd/user/" + unit + ".d/pressbox.conf", ownedByUs + "[Unit]\nConditionUser=" + serviceName + "\n"})
	}
	return append(all,
		// The socket is there once the server runs, not when its first client asks.
		etcFile{"/etc/systemd/user/default.target.d/pressbox.conf", ownedByUs + "[Unit]\nWants=pipewire-pulse.service\n"},
		// Without a seat there would be no Bluetooth: for WirePlumber of Debian 13, and of 12.
		etcFile{"/etc/wireplumber/wireplumber.conf.d/50-pressbox.conf", ownedByUs + "wireplumber.profiles = {\n  main = { monitor.bluez.seat-monitoring = disabled }\n}\n"},
		etcFile{"/etc/wireplumber/bluetooth.lua.d/51-pressbox.lua", "-" + strings.Replace(ownedByUs, "#", "-", 1) + "bluez_monitor.properties[\"with-logind\"] = false\n"})
}

// An arrangement makes changes below a root, and says each before it does it.
type arrangement struct {
	root string // "/", or a folder of a test, in which nothing is run
	say  io.Writer
}

func newSetupAudioCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "setup-audio headless|session",
		Short: "Arrange how the daemon reaches a sound server",
		Long: "Setup-audio arranges that a sound server serves " + audioSocket + ",\n" +
			"where the daemon looks for it. As root:\n\n" +
			"  pressbox setup-audio headless              a machine without a desktop\n" +
			"  pressbox setup-audio session --user USER   a desktop on which USER is logged in\n" +
			"  pressbox setup-audio --undo                as it was before\n\n" +
			"With headless, the user pressbox has a PipeWire of its own, which is installed when it is\n" +
			"missing, and nobody else starts one. With session, the sound server of USER is used while\n" +
			"USER is logged in. It says what it writes and runs.",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: []string{"headless", "session"},
	}
	owner := cmd.Flags().String("user", "", "`user` whose sound server is used, with session")
	undo := cmd.Flags().Bool("undo", false, "take the arrangement away")
	root := cmd.Flags().String("root", "/", "folder below which files are written, and nothing is run unless it is /")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a := arrangement{*root, cmd.OutOrStdout()}
		kind := strings.Join(args, "")
		if err := a.check(kind, *owner, *undo); err != nil {
			return &exitError{exitUsage, err}
		}
		if a.live() && os.Geteuid() != 0 {
			return errors.New("only root may arrange this: sudo pressbox setup-audio …")
		}
		if *undo {
			return a.undo()
		}
		return a.setUp(kind, *owner)
	}
	return cmd
}

// check says what is wrong with a command line.
func (a arrangement) check(kind, owner string, undo bool) error {
	switch {
	case undo && (kind != "" || owner != ""):
		return errors.New("--undo goes alone")
	case undo:
		return nil
	case kind != "headless" && kind != "session":
		return fmt.Errorf("the arrangement %q: expected headless or session", kind)
	case kind == "headless" && owner != "":
		return errors.New("--user goes with session: with headless it is always " + serviceName)
	case kind == "session" && owner == "":
		return errors.New("session needs --user: who is logged in on this machine?")
	case owner == serviceName:
		return errors.New("nobody logs in as " + serviceName + ": its own sound server is headless")
	case kind == "session" && a.live():
		_, err := user.Lookup(owner)
		return err
	case owner != "" && strings.ContainsAny(owner, " \t\n%\"'\\"):
		return fmt.Errorf("the user %q: expected the name of a user", owner)
	default:
		return nil
	}
}

// live says whether this is the machine itself, and not a folder.
func (a arrangement) live() bool { return a.root == "/" }

// setUp makes one arrangement, in the place of another.
func (a arrangement) setUp(kind, owner string) error {
	files := sessionFiles(owner)
	if kind == "headless" {
		owner, files = serviceName, headlessFiles()
		if err := a.install("pipewire-pulse", "wireplumber"); err != nil {
			return err
		}
	}
	before := a.owner()
	if err := a.remove(files); err != nil {
		return err
	}
	for _, f := range files {
		if err := a.write(f); err != nil {
			return err
		}
	}
	if before != "" && before != owner {
		if err := a.dismiss(before); err != nil {
			return err
		}
	}
	if err := a.run("systemd-tmpfiles", "--create", tmpfilesFile); err != nil {
		return err
	}
	return a.engage(owner)
}

// undo takes away whatever arrangement there is.
func (a arrangement) undo() error {
	before := a.owner()
	if err := a.remove(nil); err != nil {
		return err
	}
	if before == "" {
		return nil
	}
	return errors.Join(a.dismiss(before), a.forget(filepath.Dir(audioSocket)))
}

// owner is whose sound server was arranged to serve our socket; "" means nobody's.
func (a arrangement) owner() string {
	text, err := os.ReadFile(filepath.Join(a.root, tmpfilesFile))
	if err != nil {
		return ""
	}
	return arrangedFor(string(text))
}

// engage has the sound server of owner serve our socket from now on.
func (a arrangement) engage(owner string) error {
	if owner != serviceName {
		return a.inSession(owner)
	}
	groups := "audio"
	if _, err := user.LookupGroup("pipewire"); err == nil {
		groups += ",pipewire" // which may run in real time (/etc/security/limits.d)
	}
	if err := a.run("usermod", "--append", "--groups", groups, serviceName); err != nil {
		return err
	}
	return a.manager("restart")
}

// dismiss has the sound server of owner, whose files are gone, serve it no longer.
func (a arrangement) dismiss(owner string) error {
	var err error
	if owner == serviceName {
		err = errors.Join(a.forget(lingerFile), a.manager("stop"))
	} else if _, unknown := user.Lookup(owner); unknown == nil {
		err = a.inSession(owner)
	}
	return errors.Join(err, a.forget(audioSocket)) // what it leaves there would be in the way of the next one
}

// inSession has the sound server of a user take notice of what has changed: one that
// runs is restarted, and one that was kept from starting starts.
func (a arrangement) inSession(name string) error {
	if !a.live() {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	if _, err := os.Stat("/run/user/" + u.Uid + "/systemd/private"); err != nil {
		_, _ = fmt.Fprintf(a.say, "%s is not logged in: it takes effect when that changes\n", name) // it does all the same
		return nil                                                                                  //nolint:nilerr // nothing to do now is no error
	}
	for _, command := range [][]string{ // a pattern with which nothing fits is no error
		{"daemon-reload"}, {"try-restart", "pipewire-pulse*.service", "pulseaudio*.service"}, {"start", "default.target"},
	} {
		if err := a.run("systemctl", append([]string{"--user", "--machine=" + name + "@.host"}, command...)...); err != nil {
			return err
		}
	}
	return nil
}

// manager tells the service manager of the user pressbox to restart or to stop.
func (a arrangement) manager(verb string) error {
	if !a.live() {
		return nil
	}
	u, err := user.Lookup(serviceName)
	if err != nil {
		return fmt.Errorf("%w: the package makes it", err)
	}
	return a.run("systemctl", verb, "user@"+u.Uid+".service")
}

// write writes a file and the folders that it is in.
func (a arrangement) write(f etcFile) error {
	path := filepath.Join(a.root, f.path)
	_, _ = fmt.Fprintln(a.say, "+ write", path)                    // it is done all the same
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as all of /etc
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(f.content), 0o644); err != nil { //nolint:gosec // nothing in it is secret, and others have to read it
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// remove removes every file that setup-audio writes, but not those to keep, and the
// folders that are empty after that.
func (a arrangement) remove(keep []etcFile) error {
	for _, f := range headlessFiles() {
		if slices.ContainsFunc(keep, func(k etcFile) bool { return k.path == f.path }) {
			continue
		}
		if err := a.forget(f.path); err != nil {
			return err
		}
		_ = os.Remove(filepath.Dir(filepath.Join(a.root, f.path))) // others' files stay in it
	}
	return nil
}

// forget removes a file or an empty folder, if it is there.
func (a arrangement) forget(name string) error {
	path := filepath.Join(a.root, name)
	err := os.Remove(path)
	switch {
	case err == nil:
		_, _ = fmt.Fprintln(a.say, "+ remove", path) // it is done all the same
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return fmt.Errorf("remove %s: %w", path, err)
	}
}

// install installs the Debian packages of programs that are missing.
func (a arrangement) install(programs ...string) error {
	var missing []string
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program) // the package has the program's name
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return a.run("apt-get", append([]string{"install", "--yes", "--no-install-recommends"}, missing...)...)
}

// run runs a program of the system, and says so before.
func (a arrangement) run(name string, args ...string) error {
	if !a.live() {
		return nil
	}
	_, _ = fmt.Fprintln(a.say, "+", name, strings.Join(args, " ")) // it is done all the same
	cmd := exec.Command(name, args...)                             //nolint:gosec,noctx // only programs that are named above; they end
	cmd.Stdout, cmd.Stderr = a.say, a.say
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
