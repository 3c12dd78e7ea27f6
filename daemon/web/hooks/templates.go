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
	err    error // with the name of the file and the line, without the directory: clients see it
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
		if !webhook.ValidName(name) {
			err := errors.New("the name of a webhook must be 1 to 64 of a-z, 0-9 and -")
			t.err = errors.Join(t.err, fmt.Errorf("%s: %w", filepath.Join(dir, file.Name()), err))
			continue
		}
		parsed, err := readTemplate(os.DirFS(dir), file.Name())
		t.byName[name] = template{parsed, err}
	}
	return t
}

// readTemplate reads a template from a file, whose name its errors begin with.
func readTemplate(dir fs.FS, file string) (*webhook.Template, error) {
	info, err := fs.Stat(dir, file) // before it is opened: opening a pipe would wait
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: must be a file", file)
	}
	f, err := dir.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	defer func() { _ = f.Close() }() // nothing is written
	source, err := io.ReadAll(io.LimitReader(f, webhook.MaxTemplate+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return webhook.ParseTemplate(file, string(source))
}

// Webhooks returns the names of all webhooks, those with templates and those whose format is known, sorted.
func (t *Templates) Webhooks() []string {
	all := slices.AppendSeq(webhook.Formats(), maps.Keys(t.byName))
	slices.Sort(all)
	return slices.Compact(all)
}

// Err returns what is wrong with the templates, each with its path and, if it is invalid, the line; nil if
// nothing is.
func (t *Templates) Err() error {
	all := []error{t.err}
	for _, name := range slices.Sorted(maps.Keys(t.byName)) {
		if err := t.byName[name].err; err != nil {
			all = append(all, fmt.Errorf("%s%c%w", filepath.Clean(t.dir), filepath.Separator, err))
		}
	}
	return errors.Join(all...)
}
