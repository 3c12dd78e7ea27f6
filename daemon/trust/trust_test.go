package trust

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pressbox/daemon/trust/trusttest"
	"pressbox/packaging/check"
)

// A fakeFile is the owner, the mode and the target of a file.
type fakeFile struct {
	fs.FileInfo
	uid    uint32
	mode   fs.FileMode
	target string
}

func (f fakeFile) Mode() fs.FileMode { return f.mode }
func (f fakeFile) Sys() any          { return &syscall.Stat_t{Uid: f.uid, Gid: f.uid} }

// A host holds the files of a host by path.
type host map[string]fakeFile

func (h host) look(path string) (fs.FileInfo, error) {
	if f, ok := h[path]; ok {
		return f, nil
	}
	return nil, fs.ErrNotExist
}

func (h host) readLink(path string) (string, error) { return h[path].target, nil }

// files returns a host on which root owns everything but what /srv/alice and /tmp have.
func files() host {
	const dir = fs.ModeDir | 0o755
	return host{
		"/":                  {mode: dir},
		"/etc":               {mode: dir},
		"/etc/.env":          {mode: 0o600},
		"/etc/group":         {mode: 0o620},
		"/etc/others":        {mode: 0o602},
		"/etc/alices":        {mode: 0o600, uid: 1000},
		"/srv":               {mode: dir},
		"/srv/alice":         {mode: dir, uid: 1000},
		"/srv/alice/voices":  {mode: dir},
		"/srv/alices":        {mode: fs.ModeSymlink | 0o777, target: "alice/voices"},
		"/srv/etc":           {mode: fs.ModeSymlink | 0o777, target: "/etc"},
		"/srv/alice/etc":     {mode: fs.ModeSymlink | 0o777, uid: 1000, target: "/etc"},
		"/srv/loop":          {mode: fs.ModeSymlink | 0o777, target: "loop"},
		"/srv/shared":        {mode: fs.ModeDir | 0o775},
		"/srv/shared/voices": {mode: dir},
		"/tmp":               {mode: fs.ModeDir | fs.ModeSticky | 0o777},
		"/tmp/voices":        {mode: dir},
		"/tmp/alices":        {mode: dir, uid: 1000},
		"/tmp/.env":          {mode: 0o600},
	}
}

func TestOnlyRoot(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/etc/.env":          "",
		"/etc/group":         "/etc/group can be written by other users than root (mode 0620)",
		"/etc/others":        "/etc/others can be written by other users than root (mode 0602)",
		"/etc/alices":        "/etc/alices belongs to ",
		"/srv/alice/voices":  "/srv/alice belongs to ",
		"/srv/shared/voices": "/srv/shared can be written",
		"/tmp/.env":          "/tmp can be written",
		"/etc/none":          "file does not exist",
	} {
		err := onlyRoot(path, files().look)
		check.That(t, (err == nil) == (want == "") && (err == nil || strings.HasPrefix(err.Error(), want)),
			"onlyRoot(%s): %v, want %q", path, err, want)
	}
}

func TestController(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct {
		uid uint32
		err string
	}{
		"/etc":               {0, ""},
		"/etc/voices/new":    {0, ""},
		"/srv/alice":         {1000, ""},
		"/srv/alice/voices":  {1000, ""},
		"/srv/alice/etc":     {1000, ""},
		"/srv/alices":        {1000, ""},
		"/srv/alices/new":    {1000, ""},
		"/srv/etc":           {0, ""},
		"/srv/shared":        {0, ""},
		"/srv/shared/voices": {0, "/srv/shared can be written by other users than root (mode 0775)"},
		"/srv/shared/new":    {0, "/srv/shared can be written"},
		"/tmp/voices":        {0, ""},
		"/tmp/alices":        {1000, ""},
		"/srv/loop":          {0, "resolve /srv/loop: too many levels of symbolic links"},
	} {
		got, err := controller(path, files().look, files().readLink)
		if got.UID != want.uid || (err == nil) != (want.err == "") || err != nil &&
			!strings.HasPrefix(err.Error(), want.err) {
			t.Errorf("controller(%s): user %d, %v; want user %d, %q", path, got.UID, err, want.uid, want.err)
		}
	}
}

// As root, only what root alone can have written is trusted; another user's commands read
// everything that the kernel lets them read.
func TestFile_onHost(t *testing.T) {
	t.Parallel()
	root := os.Geteuid() == 0
	parent := t.TempDir()
	if root {
		//nolint:usetesting // others may write above t.TempDir()
		parent = check.Must(os.MkdirTemp("/run", "pressbox-test-"))(t)
		t.Cleanup(func() { _ = os.RemoveAll(parent) })
	}
	file, link := filepath.Join(parent, ".env"), filepath.Join(parent, "link")
	strangers := filepath.Join(t.TempDir(), "f")
	for _, path := range []string{file, strangers} {
		check.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	trusttest.Give(t, filepath.Dir(strangers))
	check.NoError(t, os.Symlink(strangers, link))
	if err := File(file); err != nil {
		t.Errorf("a file of root's: %v", err)
	}
	if err := File(link); (err != nil) != root {
		t.Errorf("a link to another user's file: %v", err)
	}
	check.NoError(t, os.Chmod(file, 0o622))
	if err := File(file); (err != nil) != root {
		t.Errorf("a file that others may write: %v", err)
	}
	if err := File(filepath.Join(parent, "none")); root && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// A server is one of root, of the service or of the user.
func TestPeer_users(t *testing.T) {
	t.Parallel()
	root := os.Geteuid() == 0
	own := check.Must(net.Listen("unix", filepath.Join(t.TempDir(), "s")))(t)
	t.Cleanup(func() { _ = own.Close() })
	other := trusttest.Listen(t, filepath.Join(t.TempDir(), "s"))
	for _, tt := range []struct {
		name    string
		l       net.Listener
		service string
		refused bool
	}{
		{"its own", own, "no-such-user", false},
		{"the service's", other, Account{UID: trusttest.Stranger}.Name(), false},
		{"another user's", other, "no-such-user", root},
	} {
		conn := check.Must(net.Dial("unix", tt.l.Addr().String()))(t)
		t.Cleanup(func() { _ = conn.Close() })
		err := Peer(conn.(*net.UnixConn), tt.service)
		check.That(t, errors.Is(err, ErrPeer) == tt.refused && (err == nil || tt.refused),
			"%s server: %v", tt.name, err)
	}
}
