package confine

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

func TestMain(m *testing.M) {
	Main(os.Args)
	m.Run()
}

// perl, which Debian always has, runs a line of code, confined or not, with arguments. It returns what the
// code printed, or the error that it died of.
func perl(t *testing.T, confined bool, code string, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs perl")
	}
	path := check.Must(exec.LookPath("perl"))(t)
	command := []string{path}
	if confined {
		command = append(Command(), path)
	}
	cmd := exec.CommandContext(t.Context(), command[0], append(append(command[1:], "-"), args...)...)
	cmd.Stdin = strings.NewReader(code) // for -e it opens /dev/null
	out, err := cmd.CombinedOutput()
	check.Require(t, err == nil || len(out) != 0, "perl %q: %v", code, err)
	return string(out)
}

// The limits are those of the package, on both of their sides.
func TestRun_limits(t *testing.T) {
	t.Parallel()
	const files = `while (open(my $f, "<", "/etc/ld.so.cache")) { push @f, $f } print fileno($f[-1]), "\n"`
	check.Equal(t, perl(t, true, files), fmt.Sprintln(maxFiles-1), "the last file has the number")
	const memory = `my $x; vec($x, $ARGV[0], 8) = 1; print length($x), "\n"`
	check.Equal(t, perl(t, true, memory, fmt.Sprint(maxData*3/4)), fmt.Sprintln(maxData*3/4+1),
		"three quarters of the memory")
	check.Contains(t, perl(t, true, memory, fmt.Sprint(maxData)), "Out of memory", "all the memory")
}

// Each attempt succeeds without confinement, so that its failure shows the confinement.
func TestRun_denies(t *testing.T) {
	t.Parallel()
	err := Missing()
	check.Require(t, err == nil, "this kernel cannot restrict everything: %v", err)
	state := t.TempDir()
	secret := filepath.Join(state, "pressbox.db")
	check.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	listener := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	port := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
	sleeper := exec.CommandContext(t.Context(), "sleep", "1000")
	check.NoError(t, sleeper.Start())
	defer func() { sleeper.Process.Kill(); sleeper.Wait() }()
	args := []string{secret, state, port, fmt.Sprint(sleeper.Process.Pid), fmt.Sprint(os.Getpid())}
	const denied, absent = "Permission denied", "Function not implemented"
	for _, tt := range []struct{ name, code, want string }{
		{"read the store", `open(F, "<", $ARGV[0])`, denied},
		{"list STATE_DIR", `opendir(D, $ARGV[1])`, denied},
		{"read users", `open(F, "<", "/etc/passwd")`, denied},
		{"read the server's environment", `open(F, "<", "/proc/$ARGV[4]/environ")`, denied},
		{"write the store", `open(F, "+<", $ARGV[0])`, absent},
		{"create a file", `open(F, ">", "$ARGV[1]/new")`, absent},
		{"create a file in /tmp", `open(F, ">", "/tmp/confined-$$") && unlink("/tmp/confined-$$")`, absent},
		{"make a directory", `mkdir("$ARGV[1]/d$$")`, absent},
		{"rename a file", `rename($ARGV[0], $ARGV[0])`, absent},
		{"change a mode", `chmod(0600, $ARGV[0])`, absent},
		{"open a TCP socket", `socket(S, 2, 1, 0) && connect(S, pack("SnC4x8", 2, $ARGV[2], 127, 0, 0, 1))`, absent},
		{"open a UNIX socket", `socket(S, 1, 1, 0)`, absent},
		{"signal a process", `kill(0, $ARGV[3])`, absent},
		{"trace itself", `syscall(101, 0, 0, 0, 0) == 0`, absent}, // ptrace on amd64
		{"start a process", `defined($p = fork()) && ($p || exit)`, absent},
		{"execute a program", `exec("/bin/true")`, absent},
		{"execute a library's loader", `exec("/lib64/ld-linux-x86-64.so.2", "--version")`, absent},
	} {
		code := tt.code + ` or die "$!\n"`
		if strings.Contains(tt.code, "syscall") && runtime.GOARCH != "amd64" {
			continue
		}
		if got := perl(t, false, code, args...); strings.Contains(got, denied) || strings.Contains(got, absent) {
			t.Errorf("%s: %q without confinement", tt.name, got)
		}
		check.Equal(t, perl(t, true, code, args...), tt.want+"\n", "%s", tt.name)
	}
}
