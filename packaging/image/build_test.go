// Package image_test tests what "make image" refuses. The images themselves are tried by "make
// test-image".
package image_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestBuild_refusals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ arch, url, want string }{
		"architecture": {"armhf", "", "unknown architecture armhf, expected amd64 or arm64"},
		"repository":   {"amd64", "https://example.org/other", `run "make repo" first`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dist := t.TempDir()
			cmd := exec.Command("./build", "1.0.0", tt.arch)
			cmd.Env = append(os.Environ(), "DIST="+dist, "REPO_URL="+tt.url)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), tt.want) {
				t.Errorf("%v, want an error with %q:\n%s", err, tt.want, out)
			}
			if left, err := os.ReadDir(dist); err != nil || len(left) > 0 {
				t.Errorf("it left %v, %v", left, err)
			}
		})
	}
}
