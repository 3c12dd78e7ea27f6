package systemd

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/coreos/go-systemd/v22/journal"

	"pressbox/packaging/check"
)

// TestMain is the program that [activate] starts.
func TestMain(m *testing.M) {
	if os.Getenv("ANSWER_SOCKETS") == "" {
		os.Exit(m.Run())
	}
	if err := answerSockets(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// answerSockets answers one connection on each inherited socket with the socket's name.
func answerSockets() error {
	named, err := Listeners()
	if err != nil {
		return err
	}
	for name, listeners := range named {
		for _, l := range listeners {
			conn, err := l.Accept()
			if err != nil {
				return err
			}
			fmt.Fprint(conn, name)
			conn.Close()
		}
	}
	again, err := Listeners()
	if len(again) > 0 || err != nil {
		return fmt.Errorf("the second call returned %v, %w", again, err)
	}
	return nil
}

// activate returns a command that starts this program with files as sockets from systemd.
func activate(t *testing.T, names string, files ...*os.File) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a child process")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `LISTEN_PID=$$ exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), "ANSWER_SOCKETS=1", fmt.Sprint("LISTEN_FDS=", len(files)), "LISTEN_FDNAMES="+names)
	cmd.ExtraFiles = files
	return cmd
}

func TestListeners_byName(t *testing.T) {
	t.Parallel()
	tcp := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	unix := check.Must(net.Listen("unix", filepath.Join(t.TempDir(), "admin.sock")))(t)
	tcpFile, _ := tcp.(*net.TCPListener).File()
	unixFile, _ := unix.(*net.UnixListener).File()
	var out strings.Builder
	cmd := activate(t, "http:admin", tcpFile, unixFile)
	cmd.Stdout = &out
	check.NoError(t, cmd.Start())
	dial := func(l net.Listener) net.Conn { return check.Must(net.Dial(l.Addr().Network(), l.Addr().String()))(t) }
	// Both are dialed first, as the child answers them in any order.
	for want, conn := range map[string]net.Conn{"http": dial(tcp), "admin": dial(unix)} {
		name, err := io.ReadAll(conn)
		check.That(t, string(name) == want && err == nil, "the socket %s is named %q, %v", want, name, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the child: %v: %s", err, out.String())
	}
}

func TestListeners_notASocket(t *testing.T) {
	t.Parallel()
	file := check.Must(os.Create(filepath.Join(t.TempDir(), "plain")))(t)
	out, err := activate(t, "http", file).Output()
	check.That(t, err != nil && strings.Contains(string(out), "use the socket http from systemd"),
		"a regular file: %v, %q", err, out)
}

func TestListeners_none(t *testing.T) {
	named, err := Listeners()
	check.That(t, len(named) == 0 && err == nil, "Listeners() = %v, %v", named, err)
}

func TestNotify(t *testing.T) {
	addr := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"}
	manager := check.Must(net.ListenUnixgram("unixgram", addr))(t)
	defer manager.Close()
	t.Setenv("NOTIFY_SOCKET", addr.Name)
	for _, tt := range []struct {
		notify func() error
		want   string // a regular expression
	}{
		{func() error { return Ready("listening on :8888") }, "READY=1\nSTATUS=listening on :8888"},
		{func() error { return Status("two lines\nWATCHDOG=1") }, "STATUS=two lines WATCHDOG=1"},
		{func() error { return Starting(time.Minute) }, "EXTEND_TIMEOUT_USEC=60000000"},
		{Reloading, `RELOADING=1\nMONOTONIC_USEC=[1-9]\d*\s*`}, // without the time, systemd refuses the reload
		{Stopping, "STOPPING=1"},
		{Alive, "WATCHDOG=1"},
	} {
		check.NoError(t, tt.notify())
		got := make([]byte, 100)
		n, err := manager.Read(got)
		if err != nil || !regexp.MustCompile("^"+tt.want+"$").Match(got[:n]) {
			t.Errorf("notified %q, %v; want %q", got[:n], err, tt.want)
		}
	}
}

// Without systemd a notification succeeds; a socket that does not exist is an error.
func TestNotify_noSocket(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	check.NoError(t, Ready("ready"))
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "missing"))
	err := Ready("ready")
	check.That(t, err != nil, "a notification to a missing socket succeeded")
}

func TestWatchdog(t *testing.T) {
	for _, tt := range []struct {
		usec, pid string
		want      time.Duration
		invalid   bool
	}{
		{"", "", 0, false},
		{"30000000", "", 30 * time.Second, false},
		{"30000000", fmt.Sprint(os.Getpid()), 30 * time.Second, false},
		{"30000000", "1", 0, false},
		{"soon", "", 0, true},
	} {
		t.Setenv("WATCHDOG_USEC", tt.usec)
		t.Setenv("WATCHDOG_PID", tt.pid)
		if got, err := Watchdog(); got != tt.want || (err != nil) != tt.invalid {
			t.Errorf("WATCHDOG_USEC=%s WATCHDOG_PID=%s: %v, %v; want %v", tt.usec, tt.pid, got, err, tt.want)
		}
	}
}

// A recorder records the entries sent to the journal.
type recorder struct {
	refuses bool // every entry
	entries []entry
}

type entry struct {
	message  string
	priority journal.Priority
	fields   map[string]string
}

func (r *recorder) send(message string, priority journal.Priority, fields map[string]string) error {
	if r.refuses {
		return errors.New("no journal")
	}
	r.entries = append(r.entries, entry{message, priority, fields})
	return nil
}

// newRecorder returns a log, its entries, and the records that were refused.
func newRecorder(level slog.Leveler) (*slog.Logger, *recorder, *strings.Builder) {
	r, fallback := &recorder{}, &strings.Builder{}
	j := NewJournal(level, map[string]string{"no sound": "0123456789abcdef0123456789abcdef"}, fallback)
	j.send = r.send
	return slog.New(j), r, fallback
}

func TestJournal_messageAndFields(t *testing.T) {
	t.Parallel()
	log, r, fallback := newRecorder(slog.LevelInfo)
	log.Debug("below the level")
	log.With("game", "g1").WithGroup("http").Warn("no sound",
		"err", errors.New("gone\naway"), slog.Group("peer", "uid", 7))
	check.Require(t, len(r.entries) == 1 && fallback.Len() <= 0, "written: %+v, %q", r.entries, fallback)
	got := r.entries[0]
	if want := `no sound game=g1 http.err="gone\naway" http.peer.uid=7`; got.message != want {
		t.Errorf("the message is %q, want %q", got.message, want)
	}
	want := map[string]string{
		"SYSLOG_IDENTIFIER": "pressbox", "MESSAGE_ID": "0123456789abcdef0123456789abcdef",
		"PRESSBOX_GAME": "g1", "PRESSBOX_HTTP_ERR": "gone\naway", "PRESSBOX_HTTP_PEER_UID": "7",
	}
	check.That(t, got.priority == journal.PriWarning && maps.Equal(got.fields, want),
		"priority %d, fields %v; want %v", got.priority, got.fields, want)
}

func TestJournal_priorities(t *testing.T) {
	t.Parallel()
	level := new(slog.LevelVar)
	level.Set(slog.LevelDebug)
	log, r, _ := newRecorder(level)
	log.Debug("a")
	log.Info("b")
	log.Warn("c")
	log.Error("d")
	level.Set(slog.LevelError)
	log.Warn("below the level")
	var got []journal.Priority
	for _, e := range r.entries {
		got = append(got, e.priority)
	}
	if want := []journal.Priority{7, 6, 4, 3}; !slices.Equal(got, want) {
		t.Errorf("priorities %v, want %v", got, want)
	}
}

func TestJournal_fallback(t *testing.T) {
	t.Parallel()
	log, r, fallback := newRecorder(slog.LevelInfo)
	r.refuses = true
	log.Error("two\nlines", "n", 1)
	want := "<3>two\\nlines n=1\n"
	check.That(t, fallback.String() == want, "stderr has %q, want %q", fallback, want)
}

func TestField(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"request_id":            "PRESSBOX_REQUEST_ID",
		"größe-1":               "PRESSBOX_GR__E_1",
		"":                      "PRESSBOX_",
		strings.Repeat("a", 99): "PRESSBOX_" + strings.Repeat("A", 55),
	} {
		check.Equal(t, field(key), want, "the field of %q", key)
	}
}

// slogtest checks the rules of package slog.
func TestJournal_slogtest(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	j := NewJournal(slog.LevelInfo, nil, nil)
	j.send = r.send
	err := slogtest.TestHandler(j, func() []map[string]any {
		var all []map[string]any
		for _, e := range r.entries {
			first, _, _ := strings.Cut(e.message, " ")
			record := map[string]any{
				slog.MessageKey: first, slog.LevelKey: fmt.Sprint(e.priority), slog.TimeKey: "set by the journal",
			}
			for name, value := range e.fields {
				if key, ours := strings.CutPrefix(name, "PRESSBOX_"); ours {
					nest(record, strings.Split(key, "_"), value)
				}
			}
			all = append(all, record)
		}
		return all
	})
	// The journal sets the time of every record.
	if err == nil || !strings.HasPrefix(err.Error(), `unexpected key "time"`) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// nest sets the value at a path of keys.
func nest(in map[string]any, path []string, value string) {
	if len(path) == 1 {
		in[strings.ToLower(path[0])] = value // slogtest uses capitals in groups only
		return
	}
	group, ok := in[path[0]].(map[string]any)
	if !ok {
		group = map[string]any{}
		in[path[0]] = group
	}
	nest(group, path[1:], value)
}
