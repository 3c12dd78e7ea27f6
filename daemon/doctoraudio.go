package main

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
)

// lookAtArrangement looks whether the arrangement that setup-audio made still holds.
func lookAtArrangement() []finding {
	return arrangementFindings("/", func(name string) (uid string, err error) {
		u, err := user.Lookup(name)
		if err != nil {
			return "", err
		}
		return u.Uid, nil
	})
}

// arrangementFindings looks below root; uidOf knows the users.
func arrangementFindings(root string, uidOf func(name string) (uid string, err error)) []finding {
	text, err := os.ReadFile(filepath.Join(root, tmpfilesFile)) //nolint:gosec // of a fixed name
	if errors.Is(err, fs.ErrNotExist) {
		return nil // whoever serves the sound was arranged by hand
	}
	if err != nil {
		return one("audio", doubtful, "run doctor as root", "%s", oneLine(err))
	}
	owner := arrangedFor(string(text))
	uid, err := uidOf(owner)
	if err != nil {
		return one("audio", broken, "pressbox setup-audio again, with a user that there is", "the sound server is that of the user %q: %s", owner, oneLine(err))
	}
	_, runs := os.Stat(filepath.Join(root, "run/user", uid))
	_, folder := os.Stat(filepath.Join(root, filepath.Dir(audioSocket)))
	_, lingers := os.Stat(filepath.Join(root, lingerFile))
	switch {
	case errors.Is(folder, fs.ErrNotExist):
		return one("audio", broken, "systemd-tmpfiles --create "+tmpfilesFile, "%s is not there", filepath.Dir(audioSocket))
	case owner == serviceName && errors.Is(lingers, fs.ErrNotExist):
		return one("audio", broken, "pressbox setup-audio headless", "the sound server of %s ends when nobody is logged in: %s is missing", owner, lingerFile)
	case owner == serviceName && errors.Is(runs, fs.ErrNotExist):
		return one("audio", broken, "systemctl restart user@"+uid, "nothing runs for the user %s, so it has no sound server", owner)
	case errors.Is(runs, fs.ErrNotExist):
		return one("audio", broken, "log "+owner+" in, or on a machine without a desktop: pressbox setup-audio headless", "%s is not logged in, so there is no sound server", owner)
	default:
		return one("audio", well, "", "the sound server is that of %s", owner)
	}
}

// arrangedFor reads the owner of the folder in which the socket is.
func arrangedFor(tmpfiles string) (owner string) {
	for line := range strings.Lines(tmpfiles) {
		if f := strings.Fields(line); len(f) >= 4 && f[0] == "d" && f[1] == filepath.Dir(audioSocket) {
			return f[3]
		}
	}
	return ""
}
