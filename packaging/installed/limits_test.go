//go:build installed

package installed

import (
	"path/filepath"
	"strconv"
	"testing"
)

// The limits of the unit leave room for all that the daemon does; when one is too
// narrow, the daemon is ended and starts again until there is room, and who asked
// meanwhile is answered.
func TestLimitsHold(t *testing.T) {
	a := newAppliance(boot(t, "bookworm", "limits"))
	version1 := a.exists("/sys/fs/cgroup/memory")
	if version1 { // systemd-nspawn leaves them to be looked at
		for _, controller := range []string{"memory", "pids"} {
			a.run("mount", "--options=remount,bind,rw", "/sys/fs/cgroup/"+controller)
		}
		a.run("systemctl", "daemon-reexec")
	}
	a.run("apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends", a.copyIn(current(t)))
	a.speaks()
	game := a.play()
	a.run("pressbox", "backup", "/root/backup.db")
	a.run("systemctl", "restart", "pressbox.service")
	a.until("the voice is calibrated", a.calibrated)
	a.speaks()
	game.finish()

	files := limitFiles(version1)
	for _, tt := range []struct {
		file string
		want int
	}{{files.memory, 768 << 20}, {files.tasks, 256}} {
		if got := a.number(tt.file); got != tt.want {
			t.Errorf("%s says %d, want %d", tt.file, got, tt.want)
		}
	}
	if peak := a.number(files.memoryPeak); peak > 512<<20 {
		t.Errorf("it took %d MiB, and is slowed down from 512 MiB on", peak>>20)
	} else {
		t.Logf("it took up to %d MiB", peak>>20)
	}
	if tasks := a.number(files.tasksNow); tasks > 128 {
		t.Errorf("it has %d tasks, and may have 256", tasks)
	}

	since := a.now()
	a.run("systemctl", "set-property", "--runtime", "pressbox.service", "MemoryMax=24M", "MemoryHigh=24M")
	a.run("systemctl", "restart", "--no-block", "pressbox.service")
	a.logged(since, "Failed with result")
	answered := make(chan error)
	go func() {
		_, err := a.ask("GET", "/health", nil, nil)
		answered <- err
	}()
	a.run("systemctl", "set-property", "--runtime", "pressbox.service", "MemoryMax=768M", "MemoryHigh=512M")
	if err := <-answered; err != nil {
		t.Errorf("who asked meanwhile: %v", err)
	}
	a.speaks()
}

// limits are the files in which the kernel says what a unit may have, and has.
type limits struct{ memory, memoryPeak, tasks, tasksNow string }

func limitFiles(version1 bool) limits {
	const unit = "system.slice/pressbox.service"
	if version1 {
		memory, tasks := filepath.Join("/sys/fs/cgroup/memory", unit), filepath.Join("/sys/fs/cgroup/pids", unit)
		return limits{memory + "/memory.limit_in_bytes", memory + "/memory.max_usage_in_bytes", tasks + "/pids.max", tasks + "/pids.current"}
	}
	both := filepath.Join("/sys/fs/cgroup", unit)
	return limits{both + "/memory.max", both + "/memory.peak", both + "/pids.max", both + "/pids.current"}
}

// number is what a file of the machine says.
func (a *appliance) number(path string) int {
	a.t.Helper()
	n, err := strconv.Atoi(a.run("cat", path))
	if err != nil {
		a.t.Fatal(err)
	}
	return n
}
