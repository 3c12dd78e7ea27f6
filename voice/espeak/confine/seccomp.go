package confine

import (
	"errors"
	"math"

	"golang.org/x/sys/unix"
)

// allowed lists the system calls of a program that computes with its own memory and its open files. Absent
// are all that reach another process, the network or the file system, but for opening files that exist;
// [filter] allows some with certain arguments.
var allowed = append([]uint32{ //nolint:gochecknoglobals // a table
	unix.SYS_READ, unix.SYS_PREAD64, unix.SYS_READV, unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_LSEEK, unix.SYS_DUP,
	unix.SYS_CLOSE,
	unix.SYS_FSTAT, unix.SYS_STATX, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT, unix.SYS_GETDENTS64,
	unix.SYS_BRK, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE,
	unix.SYS_FUTEX, unix.SYS_SET_ROBUST_LIST, unix.SYS_SET_TID_ADDRESS, unix.SYS_RSEQ,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
	unix.SYS_RESTART_SYSCALL,
	unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_NANOSLEEP, unix.SYS_GETTIMEOFDAY, unix.SYS_SCHED_YIELD,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID,
	unix.SYS_GETRANDOM, unix.SYS_UNAME, unix.SYS_SYSINFO, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}, allowedHere...)

// Offsets in the kernel's struct seccomp_data (seccomp(2)); the low half of an argument is first on all
// supported architectures.
const (
	offsetNumber       = 0
	offsetArchitecture = 4
	offsetArguments    = 16
)

// deny lets a system call fail as on a kernel that lacks it, for which libraries are prepared.
const deny = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)

// seccompSupported returns nil if the kernel can filter calls.
func seccompSupported() error {
	// Without a filter, a kernel that supports filters returns EFAULT.
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, 0, 0, 0); !errors.Is(err, unix.EFAULT) {
		return err
	}
	return nil
}

// filter returns the program of the kernel's filter for a program in fd.
func filter(fd int) []unix.SockFilter {
	program := []unix.SockFilter{
		load(offsetArchitecture),
		skipIf(unix.BPF_JEQ, architecture, 1), // another architecture numbers calls differently
		{Code: unix.BPF_RET, K: deny},
		load(offsetNumber),
	}
	for _, call := range allowed {
		program = append(program, skipUnless(unix.BPF_JEQ, call, 1), allow())
	}
	const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC
	program = append(program, allowIf(unix.SYS_OPENAT, load(offsetOf(2)), skipIf(unix.BPF_JSET, writing, 1))...)
	// It may start threads, not processes.
	const thread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD |
		unix.CLONE_SYSVSEM | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID
	program = append(program, allowIf(unix.SYS_CLONE,
		load(offsetOf(0)), skipIf(unix.BPF_JSET, math.MaxUint32&^thread, 2),
		skipUnless(unix.BPF_JSET, unix.CLONE_THREAD, 1))...)
	// After the call fd is closed, and its number is above the limit of files.
	program = append(program, allowIf(unix.SYS_EXECVEAT, load(offsetOf(0)),
		skipUnless(unix.BPF_JEQ, uint32(fd), 1))...) //nolint:gosec // a descriptor is small
	// It may read limits, not set them: the pointer to new ones is nil.
	program = append(program, allowIf(unix.SYS_PRLIMIT64, load(offsetOf(2)), skipUnless(unix.BPF_JEQ, 0, 3),
		load(offsetOf(2)+4), skipUnless(unix.BPF_JEQ, 0, 1))...)
	return append(program, unix.SockFilter{Code: unix.BPF_RET, K: deny})
}

// allowIf returns instructions that allow a call unless test skips the last instruction but one; the number
// of the call is loaded.
func allowIf(call uint32, test ...unix.SockFilter) []unix.SockFilter {
	block := append(test, allow(), unix.SockFilter{Code: unix.BPF_RET, K: deny})
	//nolint:gosec // a few
	return append([]unix.SockFilter{skipUnless(unix.BPF_JEQ, call, uint8(len(block)))}, block...)
}

// offsetOf returns the offset of the low half of a call's argument i.
func offsetOf(i uint32) uint32 { return offsetArguments + 8*i }

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func allow() unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW}
}

// skipIf returns a jump over n instructions if the comparison with k is true.
func skipIf(comparison uint16, k uint32, n uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | comparison | unix.BPF_K, Jt: n, K: k}
}

// skipUnless returns a jump over n instructions if the comparison with k is false.
func skipUnless(comparison uint16, k uint32, n uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | comparison | unix.BPF_K, Jf: n, K: k}
}
