// Package crashtest enumerates what a power cut can leave of a folder, and makes a disk fail: it is for tests.
//
// [Mount] mounts a file system (FUSE) that records the operations of the processes that use it, and can fail any of
// them. [Trace.States] derives from the record every state in which a power cut could leave the disk. The model, after
// ALICE (Pillai and others, OSDI 2014):
//
//   - A write or a change of length is on the disk once its file was synced, a
//     name once its folder was. Until then each is there or is not, whatever
//     happened to the others.
//   - A write that was not synced may be there in part, in pieces of 512 bytes
//     or of 4 KiB, or only as a longer file that has zeros.
//   - A rename happens as a whole or not at all.
//   - What was written before a failed sync may be missing for ever: a later sync
//     does not write it again (Linux marks such pages as clean).
package crashtest

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
)

// A Kind is what an operation does.
type Kind int

// The kinds of operations. Those before Open are in traces; those from Open on change nothing and can only fail.
const (
	Create   Kind = iota // an empty file
	Mkdir                // a folder
	Link                 // a further name of a file
	Rename               // Name becomes To
	Unlink               // a name, of a file or an empty folder
	Write                // Data at Offset
	Truncate             // to Size
	Sync                 // of a file
	SyncDir              // of a folder
	Ack                  // what a process has acknowledged: Text
	Open                 // of a file or folder
	Read
	Lookup
)

//nolint:gochecknoglobals // a table
var kindNames = [...]string{
	"create", "mkdir", "link", "rename", "unlink", "write", "truncate", "sync", "syncdir", "ack",
	"open", "read", "lookup",
}

func (k Kind) String() string { return kindNames[k] }

// An Op is an operation on a file system. Names are relative to its root.
type Op struct {
	Kind   Kind
	Name   string // of the file or folder, at the time
	To     string // Link, Rename: the new name
	File   int    // identifies the file, whatever its name
	Offset int64
	Data   []byte
	Size   int64
	Failed bool // Sync, SyncDir: it returned an error
	Text   string
}

// changesData reports whether a sync of the file makes o permanent.
func (o Op) changesData() bool { return o.Kind == Write || o.Kind == Truncate }

// changesNames reports whether a sync of the folder makes o permanent.
func (o Op) changesNames() bool { return o.Kind <= Unlink }

// commits reports whether o, a sync, is about p.
func (o Op) commits(p Op) bool {
	switch o.Kind {
	case Sync:
		return p.changesData() && p.File == o.File
	case SyncDir:
		return p.changesNames() && (path.Dir(p.Name) == o.Name || p.To != "" && path.Dir(p.To) == o.Name)
	default:
		return false
	}
}

// A Trace is what happened to a file system, in order.
type Trace struct {
	Base Image // what was on the disk before
	Ops  []Op
}

// Acks returns the lines that are acknowledged by the first n operations. The
// kernel may have divided a line among several writes.
func (t Trace) Acks(n int) []string {
	var text strings.Builder
	for _, o := range t.Ops[:n] {
		if o.Kind == Ack {
			text.WriteString(o.Text)
		}
	}
	lines := strings.Split(text.String(), "\n")
	return lines[:len(lines)-1]
}

// Last returns the content after all operations, without a power cut.
func (t Trace) Last() Image {
	m := t.Base
	for _, o := range t.Ops {
		if o.changesData() || o.changesNames() {
			m = m.apply(o)
		}
	}
	return m
}

// Count returns the number of operations of a kind.
func (t Trace) Count(k Kind) (n int) {
	for _, o := range t.Ops {
		if o.Kind == k {
			n++
		}
	}
	return n
}

// WithoutSyncs returns the trace without every n-th sync of a file: a disk that ignores them.
func (t Trace) WithoutSyncs(n int) Trace {
	seen := 0
	t.Ops = slices.DeleteFunc(slices.Clone(t.Ops), func(o Op) bool {
		if o.Kind == Sync {
			seen++
		}
		return o.Kind == Sync && seen%n == 0
	})
	return t
}

// Replaced checks that a file, whenever the power is cut, has its earlier content or the new one, as a whole, and the
// new one once a process has acknowledged it. It returns the number of states.
func (t Trace) Replaced(name string, earlier, replacement []byte) (states int, err error) {
	all := t.States(Bounds{All: 4, Random: 8})
	for _, s := range all {
		content, _ := s.Content(name)
		acknowledged := len(t.Acks(s.Next)) > 0
		switch {
		case bytes.Equal(content, replacement):
		case acknowledged:
			return len(all), fmt.Errorf("%s does not have its new content, which was acknowledged; "+
				"before operation %d, %s", name, s.Next, s.How)
		case !bytes.Equal(content, earlier):
			return len(all), fmt.Errorf("%s has %d bytes, which are neither its earlier content nor the new one; "+
				"before operation %d, %s",
				name, len(content), s.Next, s.How)
		}
	}
	return len(all), nil
}

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
