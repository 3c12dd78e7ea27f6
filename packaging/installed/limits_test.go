//go:build installed

package installed

import (
	"strconv"
	"testing"

	"pressbox/packaging/check"
)

// The limits of the unit are sufficient for everything that the server does. Under a limit that is too small, the
// server is killed and restarted, and waiting clients are answered as soon as the limit is raised.
func TestLimits_enforced(t *testing.T) {
	s := newServer(boot(t, "bookworm", "limits"))
	version1 := s.exists("/sys/fs/cgroup/memory")
	if version1 { // systemd-nspawn mounts them read-only
		for _, controller := range []string{"memory", "pids"} {
			s.run("mount", "--options=remount,bind,rw", "/sys/fs/cgroup/"+controller)
		}
		s.run("systemctl", "daemon-reexec")
	}
	s.run("apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends", s.copyIn(currentPackage(t)))
	s.checkSpeech()
	game := s.play()
	s.run("pressbox", "backup", "/root/backup.db")
	s.run("systemctl", "restart", "pressbox.service")
	s.until("the voice is calibrated", s.calibrated)
	s.checkSpeech()
	game.finish()

	files := limitFiles(version1)
	check.Equal(t, s.readNumber(files.memory), 768<<20, "%s", files.memory)
	check.Equal(t, s.readNumber(files.tasks), 256, "%s", files.tasks)
	if peak := s.readNumber(files.peak); peak > 512<<20 {
		t.Errorf("peak memory is %d MiB, MemoryHigh is 512 MiB", peak>>20)
	} else {
		t.Logf("peak memory %d MiB", peak>>20)
	}
	now := s.readNumber(files.now)
	check.That(t, now <= 128, "the unit has %d tasks, want at most half of its limit of 256", now)

	since := s.now()
	s.run("systemctl", "set-property", "--runtime", "pressbox.service", "MemoryMax=24M", "MemoryHigh=24M")
	s.run("systemctl", "restart", "--no-block", "pressbox.service")
	s.logged(since, "Failed with result")
	answered := make(chan error)
	go func() {
		_, err := s.request("GET", "/health", nil, nil)
		answered <- err
	}()
	s.run("systemctl", "set-property", "--runtime", "pressbox.service", "MemoryMax=768M", "MemoryHigh=512M")
	check.NoError(t, <-answered)
	s.checkSpeech()
}

// limitPaths are the files of a unit's control group: the limit and the usage of memory and of tasks.
type limitPaths struct{ memory, peak, tasks, now string }

func limitFiles(version1 bool) limitPaths {
	const unit = "/system.slice/pressbox.service/"
	const first, second, both = "/sys/fs/cgroup/memory" + unit, "/sys/fs/cgroup/pids" + unit, "/sys/fs/cgroup" + unit
	if version1 {
		return limitPaths{
			first + "memory.limit_in_bytes", first + "memory.max_usage_in_bytes",
			second + "pids.max", second + "pids.current",
		}
	}
	return limitPaths{both + "memory.max", both + "memory.peak", both + "pids.max", both + "pids.current"}
}

// readNumber returns the number in a file on the host.
func (s *server) readNumber(path string) int {
	s.t.Helper()
	return check.Must(strconv.Atoi(s.run("cat", path)))(s.t)
}
