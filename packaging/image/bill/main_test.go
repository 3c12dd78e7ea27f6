package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"pressbox/packaging/check"
)

const status = `Package: zlib
Status: install ok installed
Architecture: arm64
Version: 1:1.3+b1
Description: compression
 Package: not-this

Package: gone
Status: deinstall ok config-files
Architecture: arm64
Version: 1

Package: avahi
Status: install ok installed
Architecture: all
Version: 0.8-1
`

func TestInstalled(t *testing.T) {
	t.Parallel()
	const common = "/usr/share/common-licenses/"
	for name, tt := range map[string]struct{ avahi, want string }{
		"named":  {"License: LGPL-2.1+ \nLicense: BSD\nlicense: BSD\n text\n" + common + "GPL-2\n", "BSD, LGPL-2.1+"},
		"common": {"It is in '" + common + "GPL-2'.\nAnd " + common + "LGPL-2.1.\n", "GPL-2, LGPL-2.1"},
		"other":  {"Do what you like.", "see /usr/share/doc/avahi/copyright"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := fstest.MapFS{
				"var/lib/dpkg/status":           {Data: []byte(status)},
				"usr/share/doc/zlib/copyright":  {Data: []byte("License: Zlib\n")},
				"usr/share/doc/avahi/copyright": {Data: []byte(tt.avahi)},
			}
			var got []string
			for _, c := range check.Must(installed(tree))(t) {
				var names []string
				for _, l := range c.Licenses {
					names = append(names, l.Named.Name)
				}
				got = append(got, c.URL+" "+strings.Join(names, ", "))
			}
			want := []string{
				"pkg:deb/debian/avahi@0.8-1?arch=all&distro=debian-13 " + tt.want,
				"pkg:deb/debian/zlib@1:1.3+b1?arch=arm64&distro=debian-13 Zlib",
			}
			check.Equal(t, fmt.Sprint(got), fmt.Sprint(want), "the components")
		})
	}
}

func TestInstalled_errors(t *testing.T) {
	t.Parallel()
	for want, tree := range map[string]fstest.MapFS{
		"var/lib/dpkg/status":       {},
		"no packages are installed": {"var/lib/dpkg/status": {Data: nil}},
		"the license of zlib":       {"var/lib/dpkg/status": {Data: []byte(status)}},
	} {
		_, err := installed(tree)
		check.Contains(t, fmt.Sprint(err), want, "the error")
	}
}
