package pagetest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressbox/check"
)

// importing matches imports, also those of types and those at run time.
var importing = regexp.MustCompile(`(?:\bfrom |\bimport\()"\./([\w.-]+\.js)"`)

// The graph of the page's modules has no cycles, types included, and only the
// document loads the root.
func TestModules_noCycles(t *testing.T) {
	t.Parallel()
	const static = root + "/daemon/web/static/"
	files, err := filepath.Glob(static + "page/*.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("no modules: %v", err)
	}
	imports := map[string][]string{}
	for _, file := range files {
		source := check.Must(os.ReadFile(file))(t)
		for _, found := range importing.FindAllStringSubmatch(string(source), -1) {
			imports[filepath.Base(file)] = append(imports[filepath.Base(file)], found[1])
		}
	}
	visited := map[string]bool{}
	var walk func(path []string)
	walk = func(path []string) {
		module := path[len(path)-1]
		if slices.Contains(path[:len(path)-1], module) {
			t.Errorf("import cycle: %s", strings.Join(path, " → "))
			return
		}
		if module == "app.js" && len(path) > 1 {
			t.Errorf("%s imports the root", path[len(path)-2])
		}
		if visited[module] {
			return
		}
		for _, imported := range imports[module] {
			walk(append(slices.Clone(path), imported))
		}
		visited[module] = true
	}
	for module := range imports {
		walk([]string{module})
	}
	if len(visited) < 10 {
		t.Errorf("only %d modules: %v", len(visited), visited)
	}
}
