package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"pressbox/daemon/settings"
)

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
