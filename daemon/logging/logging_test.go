package logging_test

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

	"pressbox/daemon/logging"
	"pressbox/packaging/check"
)

// logCalls returns the messages that the program's source logs, with their levels.
func logCalls(t *testing.T) map[string][]string {
	t.Helper()
	levels := make(map[string][]string)
	check.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"testdata", "models", "node_modules", ".build", "dist", "packaging"},
			d.Name()):
			return fs.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || d.Name() == "gen.go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }) {
			return nil // t.Error
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if level, text, ok := logCall(n); ok {
				levels[text] = append(levels[text], level)
			}
			return true
		})
		return nil
	}))
	return levels
}

// logCall parses log.Warn("text", …) and log.LogAttrs(ctx, level, "text", …).
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

// Every warning and error in the source has an entry, and every entry is logged.
func TestMessages_match(t *testing.T) {
	t.Parallel()
	calls := logCalls(t)
	check.Require(t, len(calls) >= 30, "only %d messages were found in the source", len(calls))
	seen := make(map[string]bool)
	for _, m := range logging.Messages() {
		check.That(t, len(calls[m.Text]) != 0, "%q has an entry and is never logged", m.Text)
		if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(m.ID) || seen[m.ID] || seen[m.Text] {
			t.Errorf("%q: the id %q is invalid, or the message or its id occurs twice", m.Text, m.ID)
		}
		seen[m.ID], seen[m.Text] = true, true
	}
	for text, levels := range calls {
		check.That(t, seen[text] || !slices.Contains(levels, "Warn") && !slices.Contains(levels, "Error"),
			"%q is logged without an entry: add it to pressbox.catalog", text)
	}
}

// journalctl reads the catalog and prints every entry.
func TestMessages_journalctl(t *testing.T) {
	t.Parallel()
	journalctl := check.Part(t, "journalctl")
	catalog := check.Must(os.ReadFile("pressbox.catalog"))(t)
	root := t.TempDir()
	for _, dir := range []string{"usr/lib/systemd/catalog", "var/lib/systemd/catalog"} {
		check.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	check.NoError(t, os.WriteFile(filepath.Join(root, "usr/lib/systemd/catalog/pressbox.catalog"), catalog, 0o644))
	if out, err := exec.Command(journalctl, "--root="+root, "--update-catalog").CombinedOutput(); err != nil ||
		len(out) > 0 {
		t.Fatalf("journalctl --update-catalog: %v: %s", err, out)
	}
	out, err := exec.Command(journalctl, "--root="+root, "--dump-catalog").CombinedOutput()
	check.Require(t, err == nil, "journalctl --dump-catalog: %v: %s", err, out)
	for _, m := range logging.Messages() {
		check.That(t, strings.Contains(string(out), "-- "+m.ID) && strings.Contains(string(out), "Subject: "+m.Text),
			"journalctl does not print %s %q", m.ID, m.Text)
	}
}
