package crashtest

import (
	"strings"
	"sync/atomic"
	"syscall"
)

// A Failure is a way in which a disk fails.
type Failure struct {
	Name    string
	Err     syscall.Errno
	Lasting bool // every operation that it concerns fails, not only the first

	concerns func(Op) bool
}

// Failures returns the ways in which a disk of a store fails.
func Failures() []Failure {
	all := func(Op) bool { return true }
	meta := func(o Op) bool { // the first two pages of a store
		return o.Kind == Write && o.Offset <= pageSize && len(o.Data) == pageSize && strings.HasSuffix(o.Name, ".db")
	}
	return []Failure{
		{"one EIO", syscall.EIO, false, all},
		{"one EIO at a meta page", syscall.EIO, false, meta},
		{"EIO from then on", syscall.EIO, true, all},
		{"read-only from then on", syscall.EROFS, true, func(o Op) bool { return o.Kind < Open }},
	}
}

// Plan returns a plan for [Disk.Fail] by which the disk fails from the operation first on,
// and a function that reports whether an operation has failed.
func (f Failure) Plan(first int) (plan func(int, Op) syscall.Errno, failed func() bool) {
	var seen atomic.Bool
	plan = func(n int, o Op) syscall.Errno {
		if n < first || !f.concerns(o) || seen.Swap(true) && !f.Lasting {
			return 0
		}
		return f.Err
	}
	return plan, seen.Load
}
