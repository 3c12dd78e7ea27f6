// Package crashtest enumerates what a power cut can leave of a folder, and makes
// a disk fail: it is for tests.
//
// [Mount] mounts a file system (FUSE) that records the operations of the
// processes that use it, and can fail any of them. [Trace.States] derives from
// the record every state in which a power cut could leave the disk. The model,
// after ALICE (Pillai and others, OSDI 2014):
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
	"path"
	"slices"
	"strings"
)

// A Kind is what an operation does.
type Kind int

// The kinds of operations. Those before Open are in traces; those from Open on
// change nothing and can only fail.
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

// WithoutSyncs returns the trace without every n-th sync of a file: a disk that
// ignores them.
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
