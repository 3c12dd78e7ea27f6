package main

import (
	"math"
	"os"
	"runtime/debug"
	"testing"
	"testing/fstest"

	"pressbox/packaging/check"
)

func TestGroupMemory_lowest(t *testing.T) {
	t.Parallel()
	const service = "sys/fs/cgroup/system.slice/pressbox.service/"
	group := "0::/system.slice/pressbox.service\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no control groups": {nil, 0},
		"version 1":         {map[string]string{"proc/self/cgroup": "4:memory:/a\n"}, 0},
		"no limit":          {map[string]string{"proc/self/cgroup": group, service + "memory.max": "max\n"}, 0},
		"the unit": {map[string]string{
			"proc/self/cgroup": group, service + "memory.high": "536870912\n", service + "memory.max": "805306368\n",
		}, 512 << 20},
		"the slice": {map[string]string{
			"proc/self/cgroup": group, service + "memory.max": "max\n",
			"sys/fs/cgroup/system.slice/memory.max": "268435456\n",
		}, 256 << 20},
		"a container": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "134217728\n",
		}, 128 << 20},
	} {
		root := fstest.MapFS{}
		for path, text := range tt.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		check.Equal(t, groupMemory(root), tt.want, "%s", name)
	}
}

// GOMEMLIMIT, which the runtime has read, is not replaced. This test cannot run
// in parallel with others: it sets the environment.
func TestLimitMemory_environmentWins(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	root := fstest.MapFS{
		"proc/self/cgroup":             {Data: []byte("0::/\n")},
		"sys/fs/cgroup/memory.max":     {Data: []byte("8589934592\n")},
		"sys/fs/cgroup/sub/memory.max": {Data: []byte("1\n")},
	}
	t.Setenv("GOMEMLIMIT", "400MiB")
	limitMemory(root)
	check.Equal(t, debug.SetMemoryLimit(-1), before, "with GOMEMLIMIT")
	check.NoError(t, os.Unsetenv("GOMEMLIMIT"))
	limitMemory(root)
	if got := debug.SetMemoryLimit(-1); got != 4<<30 || before != math.MaxInt64 {
		t.Errorf("without: %d bytes, want half of 8 GiB", got)
	}
}
