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
		check.Equal(t, run("packaging/revision"), want, "%s", when)
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
	check.Equal(t, run("copy/packaging/revision"), "", "in a directory of another repository")
	check.Equal(t, run("env", "PRESSBOX_REVISION=abc", "copy/packaging/revision"), "abc", "with PRESSBOX_REVISION")
}
