//go:build installed

package installed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pressbox/packaging/check"
	"pressbox/packaging/hosttest"
)

// Time limits. No wait for a condition is longer than waitTime.
const (
	waitTime    = 2 * time.Minute
	commandTime = 10 * time.Minute // a command, such as an installation by apt
	buildTime   = time.Hour        // a package build, or the download of a Debian tree
)

// A host is a Debian booted with systemd as its first process, in namespaces of its own.
// The test that booted it powers it off.
type host struct {
	t *testing.T
	*powerSupply
}

// on returns the host for a subtest.
func (h *host) on(t *testing.T) *host {
	t.Helper()
	part := *h
	part.t = t
	return &part
}

// command returns a command that runs as root on the host, with a time limit.
func (h *host) command(args ...string) *exec.Cmd {
	inside := []string{
		"--target", h.leader,
		"--all", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8",
		"DEBIAN_FRONTEND=noninteractive",
		"timeout", "--kill-after=5", strconv.Itoa(int(commandTime.Seconds())),
	}
	return exec.Command("nsenter", append(inside, args...)...)
}

// run runs a command on the host and returns its output. It fails the test if the command fails.
func (h *host) run(args ...string) string {
	h.t.Helper()
	out, err := h.command(args...).CombinedOutput()
	check.Require(h.t, err == nil, "on the host, %s: %v\n%s", strings.Join(args, " "), err, out)
	return strings.TrimSpace(string(out))
}

// try runs a command that may fail and returns its output or its error.
func (h *host) try(args ...string) string {
	out, err := h.command(args...).CombinedOutput()
	if err != nil && len(out) == 0 {
		return err.Error()
	}
	return strings.TrimSpace(string(out))
}

// copyIn copies a file into the host's /root.
func (h *host) copyIn(file string) (path string) {
	h.t.Helper()
	content := check.Must(os.ReadFile(file))(h.t)
	path = filepath.Join("/root", filepath.Base(file))
	h.write(path, content)
	return path
}

// write writes a file on the host and creates its parent folders.
func (h *host) write(path string, content []byte) {
	h.t.Helper()
	outside := filepath.Join(h.root, path)
	check.NoError(h.t, os.MkdirAll(filepath.Dir(outside), 0o755))
	check.NoError(h.t, os.WriteFile(outside, content, 0o644))
}

// exists reports whether the host has a file or folder.
func (h *host) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(h.root, path))
	return err == nil
}

// journal returns the output of "journalctl ARG…" after everything logged so far was written.
func (h *host) journal(args ...string) string {
	h.t.Helper()
	h.run("journalctl", "--sync")
	return h.run(append([]string{"journalctl", "--no-pager"}, args...)...)
}

// now returns the current cursor of the host's journal.
func (h *host) now() (cursor string) {
	h.t.Helper()
	_, cursor, found := strings.Cut(h.journal("--lines=0", "--show-cursor"), "-- cursor: ")
	check.Require(h.t, found, "the journal has no cursor")
	return cursor
}

// logged waits until the unit has logged a line that contains text, itself or through systemd, after a cursor.
func (h *host) logged(since, text string) {
	h.t.Helper()
	cmd := h.command("timeout", strconv.Itoa(int(waitTime.Seconds())), "journalctl", "--follow",
		"--after-cursor="+since, "--all", "--output=cat", "--unit=pressbox.service")
	out := check.Must(cmd.StdoutPipe())(h.t)
	check.NoError(h.t, cmd.Start())
	defer func() {
		_ = out.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return
		}
	}
	h.t.Fatalf("the journal has no line with %q", text)
}

// dial connects to an address in the host's network namespace.
func (h *host) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return inNetwork(h, func() (net.Conn, error) { return new(net.Dialer).DialContext(ctx, network, address) })
}

// listen listens on an address in the host's network namespace.
func (h *host) listen(network, address string) (net.Listener, error) {
	return inNetwork(h, func() (net.Listener, error) { return net.Listen(network, address) })
}

// inNetwork opens a socket in the host's network namespace.
func inNetwork[S any](h *host, open func() (S, error)) (socket S, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with its namespace
		if err = unix.Setns(h.net, unix.CLONE_NEWNET); err == nil {
			socket, err = open()
		}
	}()
	<-done
	return socket, err
}

// run runs a local command and returns its output.
func run(t *testing.T, limit time.Duration, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput()
	check.Require(t, err == nil, "%s: %v\n%s", strings.Join(args, " "), err, out)
	return strings.TrimSpace(string(out))
}

// A powerSupply starts and stops a host.
type powerSupply struct {
	work   string   // folder with everything that the host has written
	script []string // command that boots it

	// While it runs.
	leader string        // process id of its systemd
	net    int           // descriptor of its network namespace
	root   string        // its root folder: /proc/LEADER/root
	ended  chan struct{} // closed when it has stopped
}

// boot boots a fresh copy of a Debian suite, with further arguments for the script boot.
func boot(t *testing.T, suite string, how ...string) *host {
	t.Helper()
	tree := check.Must(filepath.Abs("../../.build/trees/" + suite))(t)
	run(t, buildTime, "./tree", suite, tree)
	work := t.TempDir()
	h := &host{t, &powerSupply{work: work, script: append([]string{"./boot", tree, work}, how...)}}
	t.Cleanup(h.powerOff)
	h.powerOn()
	return h
}

// powerOn returns when the host has booted.
func (h *host) powerOn() {
	h.t.Helper()
	notify := check.Must(net.ListenUnixgram("unixgram",
		&net.UnixAddr{Name: filepath.Join(h.work, "notify"), Net: "unixgram"}))(h.t)
	defer notify.Close()
	var console bytes.Buffer
	cmd := exec.Command(h.script[0], h.script[1:]...)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+notify.LocalAddr().String())
	cmd.Stdout, cmd.Stderr = &console, &console
	check.NoError(h.t, cmd.Start())
	h.ended = make(chan struct{})
	go func() {
		defer close(h.ended)
		_ = cmd.Wait() // the exit status depends on how the host was stopped
	}()
	var err error
	if h.leader, err = untilReady(notify); err != nil {
		_ = cmd.Process.Kill() // the host's first process ends with it
		<-h.ended
		h.t.Fatalf("boot: %v\n%s", err, &console)
	}
	h.root = "/proc/" + h.leader + "/root"
	h.net = check.Must(unix.Open("/proc/"+h.leader+"/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0))(h.t)
}

// untilReady returns the process ID of the host's first process once all its units have
// started (sd_notify(3); systemd-nspawn(1), --notify-ready).
func untilReady(notify *net.UnixConn) (leader string, err error) {
	if err := notify.SetReadDeadline(time.Now().Add(waitTime)); err != nil {
		return "", err
	}
	message := make([]byte, 4096)
	for {
		n, err := notify.Read(message)
		if err != nil {
			return "", fmt.Errorf("no READY=1: %w", err)
		}
		ready := false
		for line := range strings.Lines(string(message[:n])) {
			line = strings.TrimSpace(line)
			if pid, ok := strings.CutPrefix(line, "X_NSPAWN_LEADER_PID="); ok {
				leader = pid
			}
			ready = ready || line == "READY=1"
		}
		if ready && leader != "" {
			return leader, nil
		}
	}
}

// powerOff shuts the host down, or kills it if it does not stop.
func (h *host) powerOff() {
	if h.leader != "" {
		if h.t.Failed() {
			h.t.Logf("the journal of the host:\n%s",
				h.try("journalctl", "--no-pager", "--boot", "--lines=200", "--unit=pressbox.service"))
		}
		h.try("systemctl", "--no-block", "poweroff")
		select {
		case <-h.ended:
		case <-time.After(waitTime):
			h.t.Error("the host does not power off")
			h.cutPower()
		}
	}
	h.clear()
}

// cutPower kills the host.
func (h *host) cutPower() {
	h.t.Helper()
	run(h.t, commandTime, "kill", "-KILL", h.leader) // ends everything in its namespaces
	<-h.ended
	h.clear()
}

// clear removes the control groups of a stopped host; its files stay.
func (h *host) clear() {
	h.t.Helper()
	if h.leader != "" {
		_ = unix.Close(h.net)
		h.leader = ""
	}
	list := filepath.Join(h.work, "groups")
	groups, err := os.ReadFile(list)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	check.NoError(h.t, err)
	for group := range strings.FieldsSeq(string(groups)) {
		run(h.t, commandTime, "find", group, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";")
	}
	err = errors.Join(os.Remove(list), os.Remove(filepath.Join(h.work, "notify")))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		h.t.Fatal(err)
	}
}

// A server is Pressbox installed on a host, and an HTTP client of it.
type server struct {
	*host
	hosttest.Client
}

func newServer(m *host) *server {
	// Every request opens a connection, so that a closed port is noticed.
	transport := &http.Transport{DialContext: m.dial, DisableKeepAlives: true}
	client := http.Client{Transport: transport, Timeout: commandTime}
	return &server{m, hosttest.Client{Client: client, URL: "http://127.0.0.1:8888"}}
}

func (s *server) on(t *testing.T) *server {
	t.Helper()
	return &server{s.host.on(t), s.Client}
}

// install installs a package and its dependencies with apt.
func (s *server) install(deb string) {
	s.t.Helper()
	s.run("apt-get", "install", "--yes", "--quiet=2", s.copyIn(deb))
}

// mustRequest sends a request, which must succeed.
func (s *server) mustRequest(method, path string, body, answer any) {
	s.t.Helper()
	check.Must(s.Request(method, path, body, answer))(s.t)
}

type health struct{ Status, Version string }

func (s *server) health() health {
	s.t.Helper()
	var h health
	s.mustRequest("GET", "/health", nil, &h)
	return h
}

// synthesize returns the bundled voice's speech of a text.
func (s *server) synthesize(text string) (samples []int16) {
	s.t.Helper()
	var pcm []byte
	s.mustRequest("POST", "/v1/audio/speech", speechRequest(text), &pcm)
	return decodePCM(pcm)
}

// checkSpeech checks that the bundled voice works.
func (s *server) checkSpeech() {
	s.t.Helper()
	begin, end := audible(s.synthesize("Dinner is ready."))
	lasts := seconds(end - begin)
	check.That(s.t, lasts >= 0.5 && lasts <= 2, "three words last %.2f s", lasts)
}

// calibrated reports whether the rate of the default voice is known.
func (s *server) calibrated() bool {
	s.t.Helper()
	var list struct {
		Voices []struct {
			Default bool
			Rate    float64 `json:"words_per_minute"`
		}
	}
	s.mustRequest("GET", "/voices", nil, &list)
	for _, v := range list.Voices {
		if v.Default {
			return v.Rate > 0
		}
	}
	return false
}

// announce posts an announcement and waits until it was spoken.
func (s *server) announce(text string) {
	s.t.Helper()
	var posted struct{ ID string }
	s.mustRequest("POST", "/notify", map[string]any{"message": text, "chime": "none"}, &posted)
	s.waitSpoken(posted.ID)
}

// waitSpoken waits until an announcement was spoken.
func (s *server) waitSpoken(id string) {
	s.t.Helper()
	s.until("the announcement was spoken", func() bool {
		var now struct{ Status string }
		s.mustRequest("GET", "/notify/"+id, nil, &now)
		return now.Status == "done" || now.Status == "unheard" // on the dummy output of a host without a sound card
	})
}

// until polls for a condition, for at most waitTime.
func (s *server) until(what string, is func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(waitTime); !is(); <-time.After(50 * time.Millisecond) {
		check.Require(s.t, !time.Now().After(deadline), "timeout: %s", what)
	}
}

// checkStatus checks that "systemctl status" says a text.
func (s *server) checkStatus(text string) {
	s.t.Helper()
	check.Contains(s.t, s.run("systemctl", "show", "--property=StatusText", "pressbox.service"), text, "the status")
}

// memory returns the resident memory of the server, without its child processes.
func (s *server) memory() string {
	s.t.Helper()
	pid := s.run("systemctl", "show", "--value", "--property=MainPID", "pressbox.service")
	return s.run("sed", "-n", `s/^VmRSS:\s*//p`, "/proc/"+pid+"/status")
}

// A loadResult is what clients met during an action.
type loadResult struct {
	asked   int
	failed  []failure
	slowest time.Duration
}

// A failure is a failed request and when it was sent.
type failure struct {
	sent time.Time
	err  error
}

const (
	loadRate  = 200 // requests per second
	loadWidth = 64  // concurrent requests
	loadLeast = 200 // requests before and after the action
)

// underLoad runs do while clients send requests, which begin before it and end after it.
func (s *server) underLoad(do func()) loadResult {
	s.t.Helper()
	var (
		r     loadResult
		mu    sync.Mutex // guards r
		asked sync.WaitGroup
	)
	done := make(chan struct{})
	waiting := make(chan struct{}, loadWidth)
	one := func() {
		defer func() { <-waiting }()
		sent := time.Now()
		_, err := s.Request("GET", "/health", nil, nil)
		mu.Lock()
		defer mu.Unlock()
		r.asked++
		r.slowest = max(r.slowest, time.Since(sent))
		if err != nil {
			r.failed = append(r.failed, failure{sent, err})
		}
	}
	asked.Go(func() {
		tick := time.NewTicker(time.Second / loadRate)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				waiting <- struct{}{}
				asked.Go(one)
			}
		}
	})
	more := func() {
		mu.Lock()
		enough := r.asked + loadLeast
		mu.Unlock()
		s.until("more is asked", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return r.asked >= enough
		})
	}
	more()
	do()
	more()
	close(done)
	asked.Wait()
	return r
}

// mustAnswerSince fails the test if a request that was sent since then failed.
func (r loadResult) mustAnswerSince(t *testing.T, since time.Time) {
	t.Helper()
	refused := slices.DeleteFunc(slices.Clone(r.failed), func(f failure) bool { return f.sent.Before(since) })
	check.That(t, len(refused) == 0, "%d of %d requests failed; the first: %v", len(refused), r.asked,
		refused[:min(1, len(refused))])
	t.Logf("%d requests, the slowest took %v; %d failed", r.asked, r.slowest, len(r.failed))
}
