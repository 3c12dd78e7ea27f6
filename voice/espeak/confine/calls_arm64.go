package confine

import "golang.org/x/sys/unix"

const architecture = unix.AUDIT_ARCH_AARCH64

// allowedHere lists the allowed calls that other architectures lack.
var allowedHere = []uint32{unix.SYS_MMAP, unix.SYS_NEWFSTATAT} //nolint:gochecknoglobals // a table
