package setup_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"pressbox/daemon/settings"
	"pressbox/daemon/setup"
	"pressbox/packaging/check"
	"pressbox/store/crashtest"
	"pressbox/store/killtest"
)

// TestMain is also the program of the child process.
func TestMain(m *testing.M) {
	killtest.Main(m, map[string]killtest.Child{"port": func(args []string) error {
		if err := (setup.Setup{Root: args[0], Out: io.Discard}).Port(8765); err != nil {
			return err
		}
		return os.WriteFile(crashtest.Acks(args[0]), []byte("set\n"), 0o600)
	}})
}

// The settings that a command changes are the earlier ones or the new ones, whenever the power is cut.
func TestPort_powerCut(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("mounts a file system and starts a child process")
	}
	dir := crashtest.TempDir(t)
	path := filepath.Join(dir, settings.SystemFile)
	check.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	check.NoError(t, os.WriteFile(path, []byte("VOLUME=80\nPORT=8888\n"), 0o600))
	disk := crashtest.Mount(t, dir)
	if out, err := killtest.Command(t, "port", disk.Dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n, err := disk.Trace().Replaced(settings.SystemFile[1:],
		[]byte("VOLUME=80\nPORT=8888\n"), []byte("VOLUME=80\nPORT=8765\n"))
	check.That(t, err == nil && n >= 5, "%d states: %v", n, err)
	t.Logf("%d states", n)
}
