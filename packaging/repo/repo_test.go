// Package repo_test tests the apt repository that "make repo" makes, with an apt that has directories of its own.
package repo_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pressbox/packaging/check"
)

// The architectures of "make deb".
var architectures = []string{"amd64", "arm64", "armhf"}

// A releaser has packages and a key, and publishes a repository on the loopback interface.
type releaser struct {
	t      *testing.T
	dist   string
	env    []string
	key    string // its fingerprint
	server *httptest.Server

	mu    sync.Mutex // guards paths
	paths []string   // that clients have requested
}

func newReleaser(t *testing.T) *releaser {
	t.Helper()
	check.Part(t, "apt-ftparchive")
	home := check.Must(os.MkdirTemp("", "gpg"))(t) //nolint:usetesting // the socket of gpg's agent needs a short path
	r := &releaser{t: t, dist: t.TempDir(), env: append(os.Environ(), "GNUPGHOME="+home)}
	t.Cleanup(func() {
		_, _ = r.run("gpgconf", "--kill", "all") // it may not have run
		check.NoError(t, os.RemoveAll(home))
	})
	r.key = r.newKey("releaser@example.org")
	files := http.FileServer(http.Dir(filepath.Join(r.dist, "repo")))
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.paths = append(r.paths, req.URL.Path)
		r.mu.Unlock()
		files.ServeHTTP(w, req)
	}))
	t.Cleanup(r.server.Close)
	return r
}

// run runs a command in the releaser's environment and returns what it prints.
func (r *releaser) run(command ...string) (string, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(r.env, "DIST="+r.dist)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// newKey adds a key of a user to the releaser's keyring and returns its fingerprint.
func (r *releaser) newKey(user string) string {
	r.t.Helper()
	out := r.must("gpg", "--batch", "--quiet", "--passphrase", "", "--status-fd", "1", "--quick-gen-key", user,
		"ed25519", "sign", "never")
	_, created, found := strings.Cut(out, "KEY_CREATED P ")
	check.Require(r.t, found, "no key was created:\n%s", out)
	return strings.Fields(created)[0]
}

func (r *releaser) must(command ...string) string {
	r.t.Helper()
	out, err := r.run(command...)
	check.Require(r.t, err == nil, "%s: %v\n%s", strings.Join(command, " "), err, out)
	return out
}

// pack makes an empty package for each architecture.
func (r *releaser) pack(version, description string) {
	r.t.Helper()
	for _, arch := range architectures {
		dir := r.t.TempDir()
		control := fmt.Sprintf("Package: pressbox\nVersion: %s\nArchitecture: %s\n"+
			"Maintainer: Test <test@example.org>\nDescription: %s\n", version, arch, description)
		check.NoError(r.t, os.Mkdir(filepath.Join(dir, "DEBIAN"), 0o755))
		check.NoError(r.t, os.WriteFile(filepath.Join(dir, "DEBIAN/control"), []byte(control), 0o644))
		r.must("dpkg-deb", "--build", "-Znone", "--root-owner-group", dir,
			filepath.Join(r.dist, "pressbox_"+version+"_"+arch+".deb"))
	}
}

// publish makes the repository.
func (r *releaser) publish() { r.publishAs(r.key) }

func (r *releaser) publishAs(key string) { r.must("./build", key, r.server.URL) }

// alter replaces text in a file of the repository.
func (r *releaser) alter(path, from, to string) {
	r.t.Helper()
	path = filepath.Join(r.dist, "repo", path)
	content := check.Must(os.ReadFile(path))(r.t)
	check.Require(r.t, bytes.Contains(content, []byte(from)), "%s has no %q", path, from)
	check.NoError(r.t, os.WriteFile(path, bytes.ReplaceAll(content, []byte(from), []byte(to)), 0o644))
}

// sources returns the file that hosts install.
func (r *releaser) sources() string {
	return string(check.Must(os.ReadFile(filepath.Join(r.dist, "repo/pressbox.sources")))(r.t))
}

// A client is an apt with directories of its own.
type client struct {
	t    *testing.T
	root string
}

func newClient(t *testing.T, arch, sources string) *client {
	t.Helper()
	c := &client{t, t.TempDir()}
	const dirs = "etc/apt/apt.conf.d etc/apt/preferences.d etc/apt/sources.list.d etc/apt/trusted.gpg.d " +
		"var/lib/apt/lists/partial var/cache/apt/archives/partial var/lib/dpkg var/log/apt"
	for dir := range strings.FieldsSeq(dirs) {
		check.NoError(t, os.MkdirAll(filepath.Join(c.root, dir), 0o755))
	}
	conf := fmt.Sprintf("Dir %q;\nDir::State::status %q;\nAPT::Architecture %q;\nAPT::Architectures { %q; };\n"+
		"APT::Sandbox::User \"root\";\nAcquire::Languages \"none\";\n",
		c.root, filepath.Join(c.root, "var/lib/dpkg/status"), arch, arch)
	const list = "etc/apt/sources.list.d/pressbox.sources"
	files := map[string]string{"apt.conf": conf, "var/lib/dpkg/status": "", list: sources}
	for path, content := range files {
		check.NoError(t, os.WriteFile(filepath.Join(c.root, path), []byte(content), 0o644))
	}
	return c
}

// apt runs apt-get; a warning is an error.
func (c *client) apt(args ...string) (string, error) {
	cmd := exec.Command("apt-get", append([]string{"-o", "APT::Update::Error-Mode=any"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "APT_CONFIG=" + filepath.Join(c.root, "apt.conf")}
	cmd.Dir = c.root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// fetch updates the lists and downloads the package, of a version if one is given.
func (c *client) fetch(version string) (string, error) {
	if out, err := c.apt("update"); err != nil {
		return out, err
	}
	if version != "" {
		version = "=" + version
	}
	return c.apt("download", "pressbox"+version)
}

func TestRepo_everyArchitecture(t *testing.T) {
	t.Parallel()
	r := newReleaser(t)
	r.pack("1.0.0", "first")
	r.publish()
	r.pack("1.1.0", "second")
	r.publish()
	for _, arch := range architectures {
		c := newClient(t, arch, r.sources())
		for _, version := range []string{"", "1.0.0"} { // the newest, and the one to go back to
			out, err := c.fetch(version)
			check.That(t, err == nil, "%s, version %q: %v\n%s", arch, version, err, out)
		}
		for _, version := range []string{"1.0.0", "1.1.0"} {
			check.Must(os.Stat(filepath.Join(c.root, "pressbox_"+version+"_"+arch+".deb")))(t)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	byHash := slices.ContainsFunc(r.paths, func(p string) bool { return strings.Contains(p, "/by-hash/") })
	check.That(t, byHash, "no index is requested by its checksum: %q", r.paths)
}

// A client that has read InRelease finds the indexes that it names, also after the next publication.
func TestRepo_earlierIndexes(t *testing.T) {
	t.Parallel()
	r := newReleaser(t)
	r.pack("1.0.0", "first")
	r.publish()
	indexes := func() []string {
		return check.Must(filepath.Glob(filepath.Join(r.dist, "repo/dists/stable/main/binary-*/by-hash/SHA256/*")))(t)
	}
	before := indexes()
	r.pack("1.1.0", "second")
	r.publish()
	after := indexes()
	if len(before) == 0 || len(after) <= len(before) {
		t.Fatalf("%d indexes, then %d", len(before), len(after))
	}
	for _, index := range before {
		check.That(t, slices.Contains(after, index), "%s is gone", index)
	}
}

func TestRepo_refusesForgery(t *testing.T) {
	t.Parallel()
	const release, index, pool = "dists/stable/InRelease", "dists/stable/main/binary-amd64/",
		"pool/main/p/pressbox/pressbox_1.0.0_amd64.deb"
	const signed = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n"
	for name, tt := range map[string]struct {
		forge func(r *releaser)
		why   string // "" if nothing is forged
	}{
		"nothing":           {func(*releaser) {}, ""},
		"no key":            {func(*releaser) {}, "is not signed"}, // in pressbox.sources
		"release altered":   {func(r *releaser) { r.alter(release, "Label: Pressbox", "Label: pressbox") }, "BADSIG"},
		"release unsigned":  {func(r *releaser) { r.alter(release, signed, "") }, "is not signed"},
		"signed by another": {func(r *releaser) { r.publishAs(r.newKey("other@example.org")) }, "NO_PUBKEY"},
		"index altered": {func(r *releaser) {
			r.must("sh", "-c", `for f in "$DIST"/repo/`+index+`by-hash/*/*; do echo >>"$f"; done`)
		}, "File has unexpected size"},
		"package altered": {func(r *releaser) { r.alter(pool, "debian-binary", "debian_binary") }, "Hash Sum mismatch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReleaser(t)
			r.pack("1.0.0", "first")
			r.publish()
			sources := r.sources()
			if name == "no key" {
				sources, _, _ = strings.Cut(sources, "Signed-By:")
			}
			tt.forge(r)
			out, err := newClient(t, "amd64", sources).fetch("")
			check.Equal(t, err != nil, tt.why != "", "an error (%v)", err)
			check.Contains(t, out, tt.why, "the message")
		})
	}
}

// A repository is made only with a key and an address, and never changes what was published.
func TestRepo_refusals(t *testing.T) {
	t.Parallel()
	r := newReleaser(t)
	refused := func(why string, command ...string) {
		t.Helper()
		out, err := r.run(command...)
		check.That(t, err != nil, "%q is no error", command)
		check.Contains(t, out, why, "the message of %q", command)
	}
	refused("which key signs", "./build")
	refused("which key signs", "./build", r.key)
	refused("no packages", "./build", r.key, r.server.URL)
	r.pack("1.0.0", "first")
	refused("no secret key", "./build", "releaser@example.org", r.server.URL)
	r.publish()
	r.publish() // the same packages
	r.pack("1.0.0", "other")
	refused("a published version is never changed", "./build", r.key, r.server.URL)
}
