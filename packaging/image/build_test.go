// Package image_test tests what "make image" refuses, and the times that it sets. The images themselves are
// tried by "make test-image".
package image_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

func TestBuild_refusals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ arch, url, sources, want string }{
		"architecture":      {"armhf", "", "", "unknown architecture armhf, expected amd64 or arm64"},
		"repository":        {"amd64", "https://example.org/other", "", `run "make repo" first`},
		"one source":        {"amd64", "", "https://example.org/debian", "expected two addresses"},
		"not two addresses": {"amd64", "", "https://example.org/debian security", "expected two addresses"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dist := t.TempDir()
			cmd := exec.Command("./build", "1.0.0", tt.arch)
			cmd.Env = append(os.Environ(), "DIST="+dist, "REPO_URL="+tt.url, "IMAGE_SOURCES="+tt.sources)
			out, err := cmd.CombinedOutput()
			check.That(t, err != nil, "no error")
			check.Contains(t, string(out), tt.want, "the message")
			check.Equal(t, len(check.Must(os.ReadDir(dist))(t)), 0, "the files that are left")
		})
	}
}

// Nothing is run of what the service can write, and no file there is a device or gives a user's rights.
func TestFiles_dataPartition(t *testing.T) {
	t.Parallel()
	fstab := string(check.Must(os.ReadFile("files/all/etc/fstab"))(t))
	_, data, _ := strings.Cut(fstab, " /var/lib/pressbox ")
	options := strings.Split(strings.Fields(data)[1], ",")
	for _, want := range []string{"nosuid", "nodev", "noexec"} {
		check.That(t, slices.Contains(options, want),
			"the data partition is mounted with %q, without %s", options, want)
	}
}

// Two builds set the links of alternatives to different times, younger or older than the newest change.
func TestClean_times(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const dirs = "etc/alternatives usr/bin run tmp var/tmp var/log var/cache/apt var/cache/debconf " +
		"var/cache/ldconfig var/cache/fontconfig var/lib/apt/lists var/lib/dpkg"
	for dir := range strings.FieldsSeq(dirs) {
		check.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	const newest, older, younger = 1_700_000_000, "@1600000000", "@1750000000"
	links := []string{"etc/alternatives/browser", "usr/bin/browser"}
	check.NoError(t, os.Symlink("/usr/bin/chromium", filepath.Join(root, links[0])))
	check.NoError(t, os.Symlink("/etc/alternatives/browser", filepath.Join(root, links[1])))
	for _, at := range []string{older, younger} {
		for _, link := range links {
			check.NoError(t, exec.Command("touch", "--no-dereference", "--date="+at, filepath.Join(root, link)).Run())
		}
		clean := exec.Command("./clean", root)
		clean.Env = append(os.Environ(), fmt.Sprint("SOURCE_DATE_EPOCH=", newest))
		if out, err := clean.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, link := range links {
			info := check.Must(os.Lstat(filepath.Join(root, link)))(t)
			check.Equal(t, info.ModTime().Unix(), newest, "the time of %s", link)
		}
	}
}
