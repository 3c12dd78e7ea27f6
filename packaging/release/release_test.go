// Package release_test tests what "make release" refuses, and what it collects, in a repository of its own.
package release_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

// A tree is a git repository with this packaging folder and a changelog.
type tree struct {
	t    *testing.T
	root string
	env  []string
}

const changelog = `# Changelog

## 2.0.0 (2026-11-23)

- Second.
  More of it.

## 1.0.0 (2026-11-22)

- First.
`

func newTree(t *testing.T) *tree {
	t.Helper()
	tr := &tree{
		t: t, root: t.TempDir(),
		env: slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }),
	}
	tr.must("cp", "-r", check.Must(filepath.Abs(".."))(t), "packaging")
	tr.write("CHANGELOG.md", changelog)
	tr.write(".gitignore", "/.build/\n/dist/\n")
	tr.must("git", "init", "-q")
	tr.commit()
	return tr
}

func (tr *tree) run(command ...string) (string, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = tr.root, tr.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (tr *tree) must(command ...string) string {
	tr.t.Helper()
	out, err := tr.run(command...)
	check.Require(tr.t, err == nil, "%s: %v\n%s", strings.Join(command, " "), err, out)
	return out
}

func (tr *tree) write(path, text string) {
	tr.t.Helper()
	path = filepath.Join(tr.root, path)
	check.NoError(tr.t, os.MkdirAll(filepath.Dir(path), 0o755))
	check.NoError(tr.t, os.WriteFile(path, []byte(text), 0o600))
}

// commit commits everything.
func (tr *tree) commit() {
	tr.t.Helper()
	tr.must("git", "add", "-A")
	tr.must("git", "-c", "user.name=Test", "-c", "user.email=test@example.org", "commit", "-q", "-m", "all")
}

// refuses checks that a release is refused for a reason.
func (tr *tree) refuses(why string, args ...string) {
	tr.t.Helper()
	out, err := tr.run(append([]string{"packaging/release/build"}, args...)...)
	check.That(tr.t, err != nil, "the release is not refused")
	check.Contains(tr.t, out, why, "the message")
	_, err = os.Stat(filepath.Join(tr.root, "dist"))
	check.ErrorIs(tr.t, err, os.ErrNotExist, "the folder of what is built")
}

func TestRelease_refusals(t *testing.T) {
	t.Parallel()
	tr := newTree(t)
	const key, url = "0123", "https://example.org"
	tr.refuses("which key signs")
	tr.refuses("which key signs", key)
	tr.refuses("from which archive", key, url)
	tr.env = append(tr.env, "IMAGE_SOURCES=https://example.org/debian https://example.org/security")
	tr.refuses("the tests have not passed", key, url)

	tr.write(".build/passed-"+tr.must("git", "rev-parse", "HEAD"), "")
	tr.write("new.txt", "")
	tr.refuses("the tree differs from its commit", key, url)
	tr.commit()
	tr.refuses("the tests have not passed", key, url) // on this commit

	tr.write(".build/passed-"+tr.must("git", "rev-parse", "HEAD"), "")
	tr.must("git", "tag", "2.0.0", "HEAD^")
	tr.refuses("version 2.0.0 is commit", key, url)
	tr.must("git", "tag", "-f", "2.0.0", "HEAD")
	tr.write("packaging/deb/build", "#!/bin/sh\necho building $1; exit 1\n") // it is not tested here
	tr.must("git", "update-index", "--assume-unchanged", "packaging/deb/build")
	tr.refuses("building 2.0.0", key, url)
}

func TestCollect(t *testing.T) {
	t.Parallel()
	check.Part(t, "gpg")
	tr := newTree(t)
	home := check.Must(os.MkdirTemp("", "gpg"))(t) //nolint:usetesting // the socket of gpg's agent needs a short path
	tr.env = append(tr.env, "GNUPGHOME="+home)
	t.Cleanup(func() {
		_, _ = tr.run("gpgconf", "--kill", "all") // it may not have run
		check.NoError(t, os.RemoveAll(home))
	})
	const key = "releaser@example.org"
	tr.must("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key", key, "ed25519", "sign", "never")
	for _, file := range []string{
		"pressbox_2.0.0_amd64.deb", "pressbox_2.0.0_amd64.cdx.json",
		"pressbox-2.0.0-amd64.img.xz", "pressbox-2.0.0-amd64.cdx.json", "pressbox-2.0.0-amd64.oci.tar",
		"pressbox_1.0.0_amd64.deb", "other",
	} {
		tr.write("dist/"+file, file)
	}
	for range 2 { // again
		tr.must("packaging/release/collect", "2.0.0", key)
	}
	const names = "pressbox_2.0.0_amd64.deb pressbox_2.0.0_amd64.cdx.json " +
		"pressbox-2.0.0-amd64.img.xz pressbox-2.0.0-amd64.oci.tar pressbox-2.0.0-amd64.cdx.json pressbox-2.0.0.md"
	got := strings.Join(strings.Fields(tr.must("sh", "-c", "cut -c 67- dist/SHA256SUMS")), " ")
	check.Equal(t, got, names, "the files with checksums")
	tr.must("sh", "-c", "cd dist && sha256sum --quiet -c SHA256SUMS && gpg --batch --verify SHA256SUMS.asc SHA256SUMS")
	check.Equal(t, tr.must("cat", "dist/pressbox-2.0.0.md"), "- Second.\n  More of it.", "the notes")
	out, err := tr.run("packaging/release/collect", "3.0.0", key)
	check.That(t, err != nil, "a version without an entry is no error")
	check.Contains(t, out, "has no entry 3.0.0", "the message")
}
