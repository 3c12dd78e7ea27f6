// Package main writes the bill of materials of an image, in CycloneDX 1.6, to standard output:
// every Debian package that is installed in a tree, with the licenses that its copyright
// file names. What our own package is made of is in its own bill.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"pressbox/packaging/sbom/cyclonedx"
)

func main() {
	version := flag.String("version", "", "version of the image")
	tree := flag.String("tree", "", "the root file system of the image")
	flag.Parse()
	if err := run(*version, *tree); err != nil {
		fmt.Fprintln(os.Stderr, "bill:", err)
		os.Exit(1)
	}
}

func run(version, tree string) error {
	root, err := os.OpenRoot(tree) // a link of the tree leads nowhere else
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only read
	components, err := installed(root.FS())
	if err != nil {
		return err
	}
	whole := cyclonedx.Component{
		Type: "operating-system", Ref: "pressbox-image", Name: "pressbox-image",
		Version: version,
	}
	return cyclonedx.New(whole, components).Write(os.Stdout)
}

// installed returns the packages of a tree, by name.
func installed(tree fs.FS) ([]cyclonedx.Component, error) {
	status, err := fs.ReadFile(tree, "var/lib/dpkg/status")
	if err != nil {
		return nil, err
	}
	var all []cyclonedx.Component
	for entry := range strings.SplitSeq(string(status), "\n\n") {
		name := field(entry, "Package")
		if name == "" || field(entry, "Status") != "install ok installed" {
			continue
		}
		licenses, err := licenses(tree, name)
		if err != nil {
			return nil, fmt.Errorf("the license of %s: %w", name, err)
		}
		version := field(entry, "Version")
		url := "pkg:deb/debian/" + name + "@" + url.PathEscape(version) + "?arch=" + field(entry, "Architecture") +
			"&distro=debian-13"
		all = append(all, cyclonedx.Component{
			Type: "library", Ref: url, Name: name, Version: version, URL: url,
			Licenses: licenses,
		})
	}
	if len(all) == 0 {
		return nil, errors.New("no packages are installed")
	}
	slices.SortFunc(all, func(a, b cyclonedx.Component) int { return strings.Compare(a.Ref, b.Ref) })
	return all, nil
}

// field returns the value of a field of one line; "" if it is absent.
func field(entry, name string) string {
	for line := range strings.Lines(entry) {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

var (
	// named matches the short names of licenses in a copyright file
	// (https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/).
	named = regexp.MustCompile(`(?mi)^License: *(\S.*?) *$`)
	// common matches references to the texts of common licenses, in files of another format.
	common = regexp.MustCompile(`/usr/share/common-licenses/([A-Za-z]+(?:-[0-9.]*[0-9])?)`)
)

// licenses returns the licenses that a package's copyright file names, or the path of the file
// if it names none in a way that programs read. Without the file the package must not be distributed.
func licenses(tree fs.FS, name string) ([]cyclonedx.License, error) {
	path := "usr/share/doc/" + name + "/copyright"
	text, err := fs.ReadFile(tree, path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, pattern := range []*regexp.Regexp{named, common} {
		if names != nil {
			break
		}
		for _, found := range pattern.FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	if names == nil {
		names = []string{"see /" + path}
	}
	slices.Sort(names)
	var all []cyclonedx.License
	for _, name := range slices.Compact(names) {
		all = append(all, cyclonedx.License{Named: &cyclonedx.Named{Name: name}})
	}
	return all, nil
}
