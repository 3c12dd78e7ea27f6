package crashtest

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"pressbox/packaging/check"
)

// ackName is the file at the root of a [Disk] to which processes write what they
// acknowledge. It is no part of the states.
const ackName = "acks"

// A Disk is a mounted file system that records its operations. Only child processes may use it: a process that waits
// for its own file system can deadlock.
type Disk struct {
	Dir string // where it is mounted

	under string // the folder that has the content

	mu    sync.Mutex // guards what follows, and makes an operation and its record one
	trace Trace
	files map[uint64]int // inode → file
	next  int            // the number of the next file
	plan  func(n int, o Op) syscall.Errno
	count int // operations since plan was set
}

// Acks returns the path of the file to which a process that uses the file system at dir writes what it acknowledges.
func Acks(dir string) string { return filepath.Join(dir, ackName) }

// TempDir returns a folder in memory that is removed after the test.
func TempDir(tb testing.TB) string {
	tb.Helper()
	parent := "/dev/shm"
	if _, err := os.Stat(parent); err != nil {
		parent = ""
	}
	dir := check.Must(os.MkdirTemp(parent, "pressbox-crash-"))(tb) //nolint:usetesting // TempDir is not in memory
	tb.Cleanup(func() { check.NoError(tb, os.RemoveAll(dir)) })
	return dir
}

// Mount mounts a file system until the test ends. Its content is that of a
// folder, which it changes. A host without FUSE fails the test, and a short run skips it.
func Mount(tb testing.TB, content string) *Disk {
	tb.Helper()
	d, unmount := MountUntil(tb, content)
	tb.Cleanup(unmount)
	return d
}

// MountUntil mounts a file system like [Mount], until the caller unmounts it.
func MountUntil(tb testing.TB, content string) (d *Disk, unmount func()) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("it mounts a file system and starts child processes")
	}
	base := check.Must(ReadImage(content))(tb)
	d = &Disk{
		Dir: TempDir(tb), under: content, trace: Trace{Base: base}, files: map[uint64]int{}, next: len(base.files) + 1,
	}
	for name, id := range base.names {
		var st syscall.Stat_t
		check.NoError(tb, syscall.Stat(filepath.Join(content, name), &st))
		if id != folder {
			d.files[st.Ino] = id
		}
	}
	check.NoError(tb, os.WriteFile(filepath.Join(content, ackName), nil, 0o600))
	server, err := d.mount()
	if err != nil {
		tb.Fatalf("the tests of power cuts mount a file system, which failed: %v\n"+
			"They need /dev/fuse, and root or fusermount3 (\"make parts\" installs fuse3).", err)
	}
	return d, func() {
		// As root: also if the kernel has not quite ended a process that was killed.
		if syscall.Unmount(d.Dir, syscall.MNT_DETACH) == nil {
			server.Wait()
		} else if err := server.Unmount(); err != nil {
			tb.Errorf("unmount %s: %v", d.Dir, err)
		}
	}
}

func (d *Disk) mount() (*fuse.Server, error) {
	var st syscall.Stat_t
	if err := syscall.Stat(d.under, &st); err != nil {
		return nil, err
	}
	root := &fs.LoopbackRoot{Path: d.under, Dev: st.Dev}
	top := &node{fs.LoopbackNode{RootData: root}, d}
	root.RootNode = top
	long := time.Hour // only the mounted file system changes the content
	return fs.Mount(d.Dir, top, &fs.Options{
		EntryTimeout: &long, AttrTimeout: &long,
		MountOptions: fuse.MountOptions{
			FsName: "crashtest", Name: "crashtest", DirectMount: true, MaxWrite: 1 << 20, DisableXAttrs: true,
		},
	})
}

// Trace returns what happened since [Mount].
func (d *Disk) Trace() Trace {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.trace
	t.Ops = slices.Clip(t.Ops)
	return t
}

// Fail lets plan decide which operations fail, and with which error; n counts the
// operations from 0, without those on the acknowledgements. nil: none fails.
func (d *Disk) Fail(plan func(n int, o Op) syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plan, d.count = plan, 0
}

// Operations returns the number of operations since [Disk.Fail].
func (d *Disk) Operations() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// do carries out an operation, unless it has to fail, and records it.
func (d *Disk) do(o Op, carryOut func() syscall.Errno) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o.Name == ackName {
		if o.Kind == Write {
			d.trace.Ops = append(d.trace.Ops, Op{Kind: Ack, Text: string(o.Data)})
		}
		return carryOut()
	}
	errno := syscall.Errno(0)
	if d.plan != nil {
		errno = d.plan(d.count, o)
	}
	d.count++
	o.Failed = errno != 0
	if !o.Failed {
		errno = carryOut()
	}
	if recorded := errno == 0 || o.Kind == Sync || o.Kind == SyncDir; recorded && o.Kind < Open {
		d.trace.Ops = append(d.trace.Ops, o)
	}
	return errno
}

// fileOf returns the number of a file. d.mu must be held.
func (d *Disk) fileOf(inode uint64) int {
	id, ok := d.files[inode]
	if !ok {
		id = d.next
		d.next++
		d.files[inode] = id
	}
	return id
}

// A node is a file or folder of a Disk.
type node struct {
	fs.LoopbackNode

	disk *Disk
}

// name returns the name of the node relative to the root.
func (n *node) name() string {
	if name := n.Path(n.Root()); name != "" {
		return name
	}
	return "."
}

// child returns the name of an entry of the folder.
func (n *node) child(name string) string { return filepath.Join(n.name(), name) }

// op returns an operation on the node itself.
func (n *node) op(k Kind) Op {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	return Op{Kind: k, Name: n.name(), File: n.disk.fileOf(n.StableAttr().Ino)}
}

// entry returns an operation on an entry of the folder.
func (n *node) entry(k Kind, name string) Op {
	o := Op{Kind: k, Name: n.child(name)}
	if child := n.GetChild(name); child != nil {
		n.disk.mu.Lock()
		defer n.disk.mu.Unlock()
		o.File = n.disk.fileOf(child.StableAttr().Ino)
	}
	return o
}
