package check_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

// Each test that SECURITY.md names exists.
func TestSecurity_tests(t *testing.T) {
	t.Parallel()
	root := check.Root(t)
	list := exec.CommandContext(t.Context(), "git", "-C", root, "grep", "--untracked", "-hoE", `^func (Test|Fuzz)\w+\(`,
		"--", "*_test.go")
	tests := string(check.Must(list.Output())(t))
	text := string(check.Must(os.ReadFile(filepath.Join(root, "SECURITY.md")))(t))
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+|\\w+\\.txtar)`").FindAllStringSubmatch(text, -1)
	for _, name := range named {
		_, err := os.Stat(filepath.Join(root, "daemon/testdata", name[1]))
		check.That(t, err == nil || strings.Contains(tests, "func "+name[1]+"("), "there is no %s", name[1])
	}
	check.That(t, len(named) > 60, "SECURITY.md names %d tests", len(named))
}
