package crashtest

import (
	"context"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// The methods of a node carry out the operations of [fs.LoopbackNode] through [Disk.do].

// WrapChild makes a node of every [fs.LoopbackNode].
func (n *node) WrapChild(context.Context, fs.InodeEmbedder) fs.InodeEmbedder {
	return &node{fs.LoopbackNode{RootData: n.RootData}, n.disk}
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (found *fs.Inode, errno syscall.Errno) {
	errno = n.disk.do(Op{Kind: Lookup, Name: n.child(name)}, func() (errno syscall.Errno) {
		found, errno = n.LoopbackNode.Lookup(ctx, name, out)
		return errno
	})
	return found, errno
}

func (n *node) Mkdir(
	ctx context.Context, name string, mode uint32, out *fuse.EntryOut,
) (made *fs.Inode, errno syscall.Errno) {
	errno = n.disk.do(Op{Kind: Mkdir, Name: n.child(name)}, func() (errno syscall.Errno) {
		made, errno = n.LoopbackNode.Mkdir(ctx, name, mode, out)
		return errno
	})
	return made, errno
}

//revive:disable-next-line:function-result-limit // of fs.NodeCreater
func (n *node) Create(
	ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut,
) (made *fs.Inode, h fs.FileHandle, fuseFlags uint32, errno syscall.Errno) {
	o := Op{Kind: Create, Name: n.child(name)}
	n.disk.mu.Lock()
	o.File = n.disk.next
	n.disk.next++
	n.disk.mu.Unlock()
	errno = n.disk.do(o, func() (errno syscall.Errno) {
		made, h, fuseFlags, errno = n.LoopbackNode.Create(ctx, name, flags, mode, out)
		if errno == 0 {
			n.disk.files[made.StableAttr().Ino] = o.File
			//nolint:errcheck,forcetypeassert // LoopbackNode and WrapChild return them
			h = &handle{h.(*fs.LoopbackFile), made.Operations().(*node)}
		}
		return errno
	})
	return made, h, fuseFlags, errno
}

func (n *node) Open(ctx context.Context, flags uint32) (h fs.FileHandle, fuseFlags uint32, errno syscall.Errno) {
	errno = n.disk.do(n.op(Open), func() (errno syscall.Errno) {
		h, fuseFlags, errno = n.LoopbackNode.Open(ctx, flags)
		if errno == 0 {
			h = &handle{h.(*fs.LoopbackFile), n} //nolint:errcheck,forcetypeassert // LoopbackNode returns it
		}
		return errno
	})
	return h, fuseFlags, errno
}

func (n *node) OpendirHandle(
	ctx context.Context, flags uint32,
) (h fs.FileHandle, fuseFlags uint32, errno syscall.Errno) {
	errno = n.disk.do(n.op(Open), func() (errno syscall.Errno) {
		h, fuseFlags, errno = n.LoopbackNode.OpendirHandle(ctx, flags)
		if errno == 0 {
			h = dirHandle{h.(loopbackDir), n} //nolint:errcheck,forcetypeassert // LoopbackNode returns it
		}
		return errno
	})
	return h, fuseFlags, errno
}

func (n *node) Link(
	ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut,
) (made *fs.Inode, errno syscall.Errno) {
	o := target.(*node).op(Link) //nolint:errcheck,forcetypeassert // all nodes are
	o.To = n.child(name)
	errno = n.disk.do(o, func() (errno syscall.Errno) {
		made, errno = n.LoopbackNode.Link(ctx, target, name, out)
		return errno
	})
	return made, errno
}

func (n *node) Rename(
	ctx context.Context, name string, newParent fs.InodeEmbedder, newName string, flags uint32,
) syscall.Errno {
	o := n.entry(Rename, name)
	o.To = newParent.(*node).child(newName) //nolint:errcheck,forcetypeassert // all nodes are
	return n.disk.do(o, func() syscall.Errno {
		return n.LoopbackNode.Rename(ctx, name, newParent, newName, flags)
	})
}

func (n *node) Unlink(ctx context.Context, name string) syscall.Errno {
	return n.disk.do(n.entry(Unlink, name), func() syscall.Errno { return n.LoopbackNode.Unlink(ctx, name) })
}

func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	return n.disk.do(n.entry(Unlink, name), func() syscall.Errno { return n.LoopbackNode.Rmdir(ctx, name) })
}

func (n *node) Setattr(ctx context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if own, ok := h.(*handle); ok {
		h = own.file
	}
	carryOut := func() syscall.Errno { return n.LoopbackNode.Setattr(ctx, h, in, out) }
	size, ok := in.GetSize()
	if !ok {
		return carryOut()
	}
	o := n.op(Truncate)
	o.Size = int64(size) //nolint:gosec // of a file
	return n.disk.do(o, carryOut)
}

func (n *node) Getattr(ctx context.Context, h fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if own, ok := h.(*handle); ok {
		return own.file.Getattr(ctx, out)
	}
	return n.LoopbackNode.Getattr(ctx, nil, out)
}

// CopyFileRange makes the kernel read and write instead.
func (n *node) CopyFileRange(
	context.Context, fs.FileHandle, uint64, *fs.Inode, fs.FileHandle, uint64, uint64, uint64,
) (uint32, syscall.Errno) {
	return 0, syscall.ENOSYS
}

// A handle is an open file. It has no further methods of [fs.LoopbackFile], so
// that nothing is changed without a record.
type handle struct {
	file *fs.LoopbackFile
	node *node
}

func (h *handle) Read(ctx context.Context, into []byte, offset int64) (result fuse.ReadResult, errno syscall.Errno) {
	errno = h.node.disk.do(h.node.op(Read), func() (errno syscall.Errno) {
		result, errno = h.file.Read(ctx, into, offset)
		return errno
	})
	return result, errno
}

func (h *handle) Write(ctx context.Context, data []byte, offset int64) (n uint32, errno syscall.Errno) {
	o := h.node.op(Write)
	o.Data, o.Offset = append([]byte(nil), data...), offset // the buffer is reused
	errno = h.node.disk.do(o, func() (errno syscall.Errno) {
		n, errno = h.file.Write(ctx, data, offset)
		return errno
	})
	return n, errno
}

func (h *handle) Fsync(context.Context, uint32) syscall.Errno {
	return h.node.disk.do(h.node.op(Sync), func() syscall.Errno { return 0 })
}

func (h *handle) Flush(ctx context.Context) syscall.Errno   { return h.file.Flush(ctx) }
func (h *handle) Release(ctx context.Context) syscall.Errno { return h.file.Release(ctx) }

// A loopbackDir is an open folder of [fs.LoopbackNode].
type loopbackDir interface {
	fs.FileReaddirenter
	fs.FileReleasedirer
	fs.FileSeekdirer
}

// A dirHandle is an open folder.
type dirHandle struct {
	loopbackDir

	node *node
}

func (h dirHandle) Fsyncdir(context.Context, uint32) syscall.Errno {
	return h.node.disk.do(Op{Kind: SyncDir, Name: filepath.Clean(h.node.name())}, func() syscall.Errno { return 0 })
}
