package hooks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pressbox/voice/announce/webhook"
)

// suffix is the end of the names of files that are templates.
const suffix = ".tmpl"

// Templates are the operator's templates in a directory, as they were last read.
type Templates struct {
	dir    string
	byName map[string]template
	err    error // why the directory cannot be read, or files in it are no templates
}

// A template is one of the two.
type template struct {
	parsed *webhook.Template
	err    error // with the file and the line
}

// ReadTemplates reads the files NAME.tmpl of a directory. A directory that is missing or "" has none. What is
// wrong is returned by [Templates.Err].
func ReadTemplates(dir string) *Templates {
	t := &Templates{dir: dir, byName: map[string]template{}}
	if dir == "" {
		return t
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			t.err = fmt.Errorf("read the templates of webhooks: %w", err)
		}
		return t
	}
	for _, file := range files {
		name, ok := strings.CutSuffix(file.Name(), suffix)
		if !ok {
			continue
		}
		path := filepath.Join(dir, file.Name())
		if !webhook.ValidName(name) {
			t.err = errors.Join(t.err, fmt.Errorf("%s: the name of a webhook must be 1 to 64 of a-z, 0-9 and -", path))
			continue
		}
		parsed, err := readTemplate(os.DirFS(dir), file.Name(), path)
		t.byName[name] = template{parsed, err}
	}
	return t
}

// readTemplate reads a template from a file, whose path is in its errors.
func readTemplate(dir fs.FS, file, path string) (*webhook.Template, error) {
	info, err := fs.Stat(dir, file) // before it is opened: opening a pipe would wait
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: must be a file", path)
	}
	f, err := dir.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer func() { _ = f.Close() }() // nothing is written
	source, err := io.ReadAll(io.LimitReader(f, webhook.MaxTemplate+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return webhook.ParseTemplate(path, string(source))
}

// Webhooks returns the names of all webhooks, those with templates and those whose format is known, sorted.
func (t *Templates) Webhooks() []string {
	all := slices.AppendSeq(webhook.Formats(), maps.Keys(t.byName))
	slices.Sort(all)
	return slices.Compact(all)
}

// Err returns what is wrong with the templates, each with its file and, if it is invalid, the line; nil if
// nothing is.
func (t *Templates) Err() error {
	all := []error{t.err}
	for _, name := range slices.Sorted(maps.Keys(t.byName)) {
		all = append(all, t.byName[name].err)
	}
	return errors.Join(all...)
}

// where says where the operator's templates are.
func (t *Templates) where() string {
	if t.dir == "" {
		return "HOOKS_DIR sets the directory of your own"
	}
	return "your own are files NAME" + suffix + " in " + t.dir + ", read at the start and on reload"
}
