package confine

import "golang.org/x/sys/unix"

const architecture = unix.AUDIT_ARCH_ARM

// The private calls of 32-bit ARM (arch/arm/include/uapi/asm/unistd.h).
const (
	callCacheFlush = 0xf0002
	callSetTLS     = 0xf0005
)

// allowedHere lists the allowed calls that other architectures lack.
var allowedHere = []uint32{ //nolint:gochecknoglobals // a table
	unix.SYS_MMAP2, unix.SYS__LLSEEK, unix.SYS_FSTAT64, unix.SYS_FSTATAT64, unix.SYS_STAT64, unix.SYS_LSTAT64,
	unix.SYS_ACCESS, unix.SYS_READLINK, unix.SYS_UGETRLIMIT, unix.SYS_SIGRETURN,
	unix.SYS_FUTEX_TIME64, unix.SYS_CLOCK_GETTIME64, unix.SYS_CLOCK_NANOSLEEP_TIME64,
	unix.SYS_GETUID32, unix.SYS_GETEUID32, unix.SYS_GETGID32, unix.SYS_GETEGID32,
	callCacheFlush, callSetTLS,
}
