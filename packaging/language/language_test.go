// Package language_test checks the words of the whole repository against
// vocabulary.txt: comments, strings, names, documents and the page.
package language_test

import (
	"bufio"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pressbox/packaging/check"
)

// A rule bans a pattern in one kind of text.
type rule struct {
	kind    string // "text", "comment" or "name"
	folder  string // path prefix inside the repository; "." is all of it
	pattern *regexp.Regexp
	instead string
}

// An exception allows a pattern where a reason is given.
type exception struct {
	file    string // a path pattern (path.Match), or a folder that ends in "/"
	pattern *regexp.Regexp
	used    bool
}

// A piece is text of one kind and where it begins.
type piece struct {
	kind string
	line int
	text string
}

func TestVocabulary(t *testing.T) {
	t.Parallel()
	root := repository(t)
	rules, exceptions := vocabulary(t)
	only := strings.Fields(os.Getenv("LANGUAGE_ONLY"))
	for _, name := range tracked(t, root) {
		if len(only) > 0 && !slices.ContainsFunc(only, func(p string) bool { return strings.HasPrefix(name, strings.TrimSuffix(p, "/")) }) {
			continue
		}
		body, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) { // deleted, but not committed yet
			continue
		}
		check.NoError(t, err)
		for _, found := range findings(name, body, rules, exceptions) {
			t.Error(found)
		}
	}
	if len(only) > 0 {
		return
	}
	for _, e := range exceptions {
		if !e.used {
			t.Errorf("vocabulary.txt: the exception %s %q matches nothing: delete it", e.file, e.pattern)
		}
	}
}

// findings returns what the rules ban in one file, as file:line messages.
func findings(name string, body []byte, rules []rule, exceptions []*exception) (found []string) {
	banned := make(map[string]*regexp.Regexp) // by kind: any of the rules
	for _, p := range pieces(name, body) {
		if banned[p.kind] == nil {
			banned[p.kind] = union(rules, name, p.kind)
		}
		for i, line := range strings.Split(p.text, "\n") {
			if !banned[p.kind].MatchString(line) {
				continue
			}
			for _, r := range rules {
				if !r.covers(name, p.kind) {
					continue
				}
				for _, match := range r.pattern.FindAllString(line, -1) {
					if !allowed(name, line, match, exceptions) {
						found = append(found, fmt.Sprintf("%s:%d: %s %q: write %s", name, p.line+i, p.kind, match, r.instead))
					}
				}
			}
		}
	}
	return found
}

// union returns a pattern that matches where any rule for a file and a kind does.
func union(rules []rule, name, kind string) *regexp.Regexp {
	var patterns []string
	for _, r := range rules {
		if r.covers(name, kind) {
			patterns = append(patterns, "(?:"+r.pattern.String()+")")
		}
	}
	if len(patterns) == 0 {
		return regexp.MustCompile(`[^\s\S]`)
	}
	return regexp.MustCompile(strings.Join(patterns, "|"))
}

func (r rule) covers(name, kind string) bool {
	if r.folder != "." && !strings.HasPrefix(name, r.folder) {
		return false
	}
	return r.kind == kind || r.kind == "text" && kind != "name"
}

func allowed(name, line, match string, exceptions []*exception) bool {
	for _, e := range exceptions {
		here, _ := path.Match(e.file, name)
		if !here && (!strings.HasSuffix(e.file, "/") || !strings.HasPrefix(name, e.file)) {
			continue
		}
		for _, fits := range e.pattern.FindAllString(line, -1) {
			if strings.Contains(fits, match) {
				e.used = true
				return true
			}
		}
	}
	return false
}

// pieces splits a file into what the rules are about. Go files give comments,
// strings and declared names; of other files every line is text.
func pieces(name string, body []byte) []piece {
	if strings.HasSuffix(name, ".go") {
		return goPieces(body)
	}
	return []piece{{"string", 1, string(body)}}
}

func goPieces(body []byte) (out []piece) {
	var s scanner.Scanner
	seen := make(map[string]bool) // names, of which the first of each is enough
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(body))
	s.Init(file, body, nil, scanner.ScanComments)
	for {
		at, tok, text := s.Scan()
		switch tok {
		case token.EOF:
			return out
		case token.COMMENT:
			if !strings.HasPrefix(text, "//go:") && !strings.HasPrefix(text, "//nolint") {
				out = append(out, piece{"comment", file.Line(at), text})
			}
		case token.STRING:
			out = append(out, piece{"string", file.Line(at), text})
		case token.IDENT:
			if !seen[text] {
				out = append(out, piece{"name", file.Line(at), text})
			}
			seen[text] = true
		default:
		}
	}
}

// vocabulary reads the rules and exceptions of vocabulary.txt.
func vocabulary(t *testing.T) (rules []rule, exceptions []*exception) {
	t.Helper()
	f := check.Must(os.Open("vocabulary.txt"))(t)
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		fields = slices.DeleteFunc(fields, func(s string) bool { return strings.TrimSpace(s) == "" })
		if len(fields) != 4 {
			t.Fatalf("vocabulary.txt:%d: %d fields separated by tabs, want 4", n, len(fields))
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		pattern, err := regexp.Compile(fields[2])
		if err != nil {
			t.Fatalf("vocabulary.txt:%d: %v", n, err)
		}
		switch fields[0] {
		case "text", "comment", "name":
			rules = append(rules, rule{fields[0], fields[1], pattern, fields[3]})
		case "allow":
			exceptions = append(exceptions, &exception{file: fields[1], pattern: pattern})
		default:
			t.Fatalf("vocabulary.txt:%d: unknown kind %q", n, fields[0])
		}
	}
	return rules, exceptions
}

// The checker itself finds a banned word in each kind of text, and none in a
// clean one.
func TestFindings(t *testing.T) {
	t.Parallel()
	rules := []rule{
		{"text", ".", regexp.MustCompile(`\bnobody\b`), "no client"},
		{"comment", ".", regexp.MustCompile(`^// \w+ is how\b`), "what it does"},
		{"name", "game/", regexp.MustCompile(`^Hall$`), "Games"},
	}
	exceptions := []*exception{{file: "README.md", pattern: regexp.MustCompile("nobody is perfect")}}
	for _, tt := range []struct {
		file, body string
		want       int
	}{
		{"a.go", "package a\n\n// X is how it goes.\nvar X = 1\n", 1},
		{"a.go", "package a\n\n// Y holds one. nobody\nconst Y = \"nobody\"\n", 2},
		{"game/a.go", "package a\n\ntype Hall struct{}\n", 1},
		{"auth/a.go", "package a\n\ntype Hall struct{}\n", 0},
		{"README.md", "nobody is perfect\nnobody reads this\n", 1},
		{"page.js", "// nobody\n", 1},
	} {
		if got := findings(tt.file, []byte(tt.body), rules, exceptions); len(got) != tt.want {
			t.Errorf("%s %q: %q, want %d findings", tt.file, tt.body, got, tt.want)
		}
	}
}

// Test names: TestType_case or TestFunc_case, the case in at most five words.
func TestNames(t *testing.T) {
	t.Parallel()
	root := repository(t)
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	shape := regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)([A-Z]\w*?)(?:_([a-z0-9]\w*))?$`)
	for _, name := range tracked(t, root) {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		body, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue
		}
		check.NoError(t, err)
		for _, m := range declared.FindAllStringSubmatch(string(body), -1) {
			if m[1] == "TestMain" {
				continue
			}
			parts := shape.FindStringSubmatch(m[1])
			if parts == nil || strings.Contains(parts[1], "_") || strings.Contains(parts[2], "_") || words(parts[1]) > 4 || words(parts[2]) > 5 {
				t.Errorf("%s: %s: want TestType_case, at most five words in the case", name, m[1])
			}
		}
	}
}

// words counts the words of a camel-case name; "HTTPServer" has two.
func words(name string) (n int) {
	letters := []rune(name)
	for i, c := range letters {
		first := i == 0
		if !first && unicode.IsUpper(c) {
			after := i+1 < len(letters) && unicode.IsLower(letters[i+1])
			first = !unicode.IsUpper(letters[i-1]) || after
		}
		if first {
			n++
		}
	}
	return n
}

// tracked returns the files that git tracks, but for data, licenses, and code
// that others wrote.
func tracked(t *testing.T, root string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	kinds := []string{".go", ".md", ".js", ".ts", ".css", ".html", ".json", ".yml", ".yaml", ".sh", ".py", ".service", ".socket", ".1", ".8", ".env", ".catalog", ""}
	return slices.DeleteFunc(strings.Split(strings.TrimRight(string(out), "\x00"), "\x00"), func(name string) bool {
		for _, other := range []string{"/testdata/", "/vendor/", "packaging/language/", "/sets/", "LICENSE", "NOTICE", "licenses/", ".onnx", "package-lock.json"} {
			if strings.Contains("/"+name, other) {
				return true
			}
		}
		return !slices.Contains(kinds, path.Ext(name))
	})
}

func repository(t *testing.T) string {
	t.Helper()
	if root := os.Getenv("LANGUAGE_ROOT"); root != "" {
		return root
	}
	return check.Must(filepath.Abs("../.."))(t)
}

// File names are portable: a shell redirection that went wrong is not committed.
func TestFileNames(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "git", "-C", repository(t), "ls-files", "-z").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	portable := regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_.-]*(/[A-Za-z0-9_.][A-Za-z0-9_.-]*)*$`)
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if !portable.MatchString(name) {
			t.Errorf("file name %q: want letters, digits, '.', '_' and '-'", name)
		}
	}
}
