package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

// packaging/revision prints the commit of the sources, for the linker.
func TestRevision(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := check.Must(os.ReadFile("../packaging/revision"))(t)
	put := func(path, content string) {
		t.Helper()
		path = filepath.Join(dir, path)
		check.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check.NoError(t, os.WriteFile(path, []byte(content), 0o700))
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir),
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %q: %v", name, args, err)
		}
		return strings.TrimSpace(string(out))
	}
	put("packaging/revision", string(script))
	want := func(when, want string) {
		t.Helper()
		if got := run("packaging/revision"); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	want("without a repository", "")
	run("git", "init", "--quiet")
	want("before the first commit", "")
	run("git", "add", ".")
	run("git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--message=one")
	commit := run("git", "rev-parse", "HEAD")
	want("as committed", commit)
	put("new", "")
	want("changed", commit+"+changed")
	put("copy/packaging/revision", string(script))
	if got := run("copy/packaging/revision"); got != "" {
		t.Errorf("in a directory of another repository: %q", got)
	}
	if got := run("env", "PRESSBOX_REVISION=abc", "copy/packaging/revision"); got != "abc" {
		t.Errorf("with PRESSBOX_REVISION: %q, want abc", got)
	}
}
