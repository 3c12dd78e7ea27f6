package main

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// limitMemory makes the garbage collector work harder from half of the memory
// that the control group may use, unless GOMEMLIMIT is set. The other half is for
// voices and the page cache, which the Go runtime does not see.
func limitMemory(root fs.FS) {
	if limit := groupMemory(root); limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 2)
	}
}

// groupMemory returns the bytes that the control group of this process and those
// above it may use (cgroups(7), version 2): the lowest memory.high and memory.max.
// 0 means no limit. root is the root directory.
func groupMemory(root fs.FS) (limit int64) {
	own, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	_, group, found := strings.Cut(string(own), "0::")
	if !found {
		return 0
	}
	limit = math.MaxInt64
	group, _, _ = strings.Cut(group, "\n")
	for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
		for _, name := range []string{"memory.high", "memory.max"} {
			text, err := fs.ReadFile(root, path.Join("sys/fs/cgroup", dir, name))
			if err != nil {
				continue
			}
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // else "max"
				limit = min(limit, n)
			}
		}
		if dir == "/" {
			break
		}
	}
	if limit == math.MaxInt64 {
		return 0
	}
	return limit
}
