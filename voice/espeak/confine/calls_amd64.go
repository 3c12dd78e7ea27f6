package confine

import "golang.org/x/sys/unix"

const architecture = unix.AUDIT_ARCH_X86_64

// allowedHere lists the allowed calls that other architectures lack.
var allowedHere = []uint32{ //nolint:gochecknoglobals // a table
	unix.SYS_MMAP, unix.SYS_NEWFSTATAT, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK,
	unix.SYS_ARCH_PRCTL,
}
