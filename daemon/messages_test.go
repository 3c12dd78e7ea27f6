package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// logged finds what the program's source logs: message → its levels.
func logged(t *testing.T) map[string][]string {
	t.Helper()
	said := make(map[string][]string)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"testdata", "models", "node_modules", ".build", "dist", "packaging"}, d.Name()):
			return fs.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || d.Name() == "gen.go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if level, text, ok := logCall(n); ok {
				said[text] = append(said[text], level)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// logCall reads log.Warn("text", …) and log.LogAttrs(ctx, level, "text", …).
func logCall(n ast.Node) (level, text string, ok bool) {
	call, _ := n.(*ast.CallExpr)
	if call == nil {
		return "", "", false
	}
	method, _ := call.Fun.(*ast.SelectorExpr)
	at := map[string]int{"Debug": 0, "Info": 0, "Warn": 0, "Error": 0, "LogAttrs": 2}
	if method == nil {
		return "", "", false
	}
	i, logs := at[method.Sel.Name]
	if !logs || len(call.Args) <= i {
		return "", "", false
	}
	literal, _ := call.Args[i].(*ast.BasicLit)
	if literal == nil || literal.Kind != token.STRING {
		return "", "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return method.Sel.Name, text, err == nil
}

// The table and the source agree: every warning and error is explained, and
// nothing is that nobody logs.
func TestEveryWarningIsExplained(t *testing.T) {
	t.Parallel()
	said := logged(t)
	if len(said) < 30 {
		t.Fatalf("only %d messages were found in the source", len(said))
	}
	ids := messageIDs()
	for text, levels := range said {
		if ids[text] == "" && (slices.Contains(levels, "Warn") || slices.Contains(levels, "Error")) {
			t.Errorf("%q is logged and not explained: add it to messages()", text)
		}
	}
	seen := make(map[string]bool)
	for _, m := range messages() {
		if len(said[m.text]) == 0 {
			t.Errorf("%q is explained and never logged", m.text)
		}
		if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(m.id) || seen[m.id] || seen[m.text] {
			t.Errorf("%q: the id %q is none, or the message or its id stands there twice", m.text, m.id)
		}
		seen[m.id], seen[m.text] = true, true
	}
}

// journalctl itself reads the catalogue, and gives every explanation back.
func TestTheCatalogueIsTheJournals(t *testing.T) {
	t.Parallel()
	journalctl, err := exec.LookPath("journalctl")
	if err != nil {
		t.Fatalf("journalctl is part of every Debian with systemd: %v", err)
	}
	root := t.TempDir()
	for _, dir := range []string{"usr/lib/systemd/catalog", "var/lib/systemd/catalog"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "usr/lib/systemd/catalog/pressbox.catalog"), []byte(catalogFile()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(journalctl, "--root="+root, "--update-catalog").CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("journalctl --update-catalog: %v: %s", err, out)
	}
	out, err := exec.Command(journalctl, "--root="+root, "--dump-catalog").CombinedOutput()
	if err != nil {
		t.Fatalf("journalctl --dump-catalog: %v: %s", err, out)
	}
	for _, m := range messages() {
		if !strings.Contains(string(out), "-- "+m.id) || !strings.Contains(string(out), "Subject: "+m.text) {
			t.Errorf("journalctl does not know %s %q", m.id, m.text)
		}
	}
}
