package pagetest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressbox/packaging/check"
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

// text matches a text of a language: its key and its value.
var text = regexp.MustCompile(`(?m)^  "([^"]+)":\s((?:.*\n    )*.*),$`)

// placeholder matches what is replaced in a text.
var placeholder = regexp.MustCompile(`\{\w+\}`)

// All languages have the same texts, with the same placeholders. In English the server's errors have its own words.
func TestLanguages_sameTexts(t *testing.T) {
	t.Parallel()
	const folder = root + "/daemon/web/static/page/languages/"
	files := check.Must(filepath.Glob(folder + "*.js"))(t)
	english := textsOf(t, folder+"en.js")
	if len(files) < 2 || len(english) < 100 {
		t.Fatalf("%d languages, %d texts", len(files), len(english))
	}
	for _, file := range files {
		texts := textsOf(t, file)
		for key, want := range english {
			if got, ok := texts[key]; !ok || !slices.Equal(got, want) {
				t.Errorf("%s: %s has %v, in English %v (missing: %v)", filepath.Base(file), key, got, want, !ok)
			}
			delete(texts, key)
		}
		for key := range texts {
			if strings.HasPrefix(key, "problem.") || strings.HasPrefix(key, "violation.") {
				continue
			}
			t.Errorf("%s: %s is not in English", filepath.Base(file), key)
		}
	}
}

// textsOf returns the placeholders of each text of a language, sorted.
func textsOf(t *testing.T, file string) map[string][]string {
	t.Helper()
	texts := map[string][]string{}
	for _, found := range text.FindAllStringSubmatch(string(check.Must(os.ReadFile(file))(t)), -1) {
		all := placeholder.FindAllString(strings.ReplaceAll(found[2], "${", "{"), -1)
		slices.Sort(all)
		texts[found[1]] = slices.Compact(all)
	}
	return texts
}
