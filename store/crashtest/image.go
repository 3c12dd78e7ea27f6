package crashtest

import (
	"hash/maphash"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"unique"
)

const pageSize = 4096

// A page is a part of a file. Equal pages share memory.
type page = unique.Handle[[pageSize]byte]

// A file is the content of a file. The last page is padded with zeros.
type file struct {
	size  int64
	pages []page
}

// folder stands for the file of a folder.
const folder = -1

// An Image is the content of a disk. It is never changed: [Image.apply] returns another.
type Image struct {
	names map[string]int // name → file, or folder
	files map[int]file
}

// ReadImage returns the content of a folder.
func ReadImage(dir string) (Image, error) {
	m := Image{names: map[string]int{}, files: map[int]file{}}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || name == "." || name == ackName:
			return err
		case entry.IsDir():
			m.names[name] = folder
			return nil
		}
		data, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // of a test
		if err != nil {
			return err
		}
		id := len(m.files) + 1
		m.names[name], m.files[id] = id, file{}.write(data, 0)
		return nil
	})
	return m, err
}

// apply returns the image after an operation.
func (m Image) apply(o Op) Image {
	if o.changesNames() {
		return Image{renamed(m.names, o), m.files}
	}
	files := maps.Clone(m.files)
	switch o.Kind {
	case Write:
		files[o.File] = files[o.File].write(o.Data, o.Offset)
	case Truncate:
		files[o.File] = files[o.File].resize(o.Size)
	default:
	}
	return Image{m.names, files}
}

// renamed returns names after an operation on them.
func renamed(names map[string]int, o Op) map[string]int {
	names = maps.Clone(names)
	switch o.Kind {
	case Create:
		names[o.Name] = o.File
	case Mkdir:
		names[o.Name] = folder
	case Link:
		names[o.To] = o.File
	case Rename:
		delete(names, o.Name)
		names[o.To] = o.File
	case Unlink:
		delete(names, o.Name)
	default:
	}
	return names
}

// resize returns f with another length.
func (f file) resize(size int64) file {
	count := int((size + pageSize - 1) / pageSize)
	if count <= len(f.pages) {
		f.pages = slices.Clone(f.pages[:count])
	} else {
		zeros := slices.Repeat([]page{unique.Make([pageSize]byte{})}, count-len(f.pages))
		f.pages = append(slices.Clone(f.pages), zeros...)
	}
	if rest := size % pageSize; rest > 0 && size < f.size {
		last := f.pages[count-1].Value()
		clear(last[rest:])
		f.pages[count-1] = unique.Make(last)
	}
	f.size = size
	return f
}

// write returns f with data at offset.
func (f file) write(data []byte, offset int64) file {
	f = f.resize(max(f.size, offset+int64(len(data))))
	for len(data) > 0 {
		at := offset / pageSize
		content := f.pages[at].Value()
		n := copy(content[offset%pageSize:], data)
		f.pages[at] = unique.Make(content)
		data, offset = data[n:], offset+int64(n)
	}
	return f
}

// reachable returns the names whose folders exist, in order.
func (m Image) reachable() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(m.names)) { // a folder before what is in it
		parent := path.Dir(name)
		if id, ok := m.names[parent]; parent == "." || ok && id == folder && slices.Contains(all, parent) {
			all = append(all, name)
		}
	}
	return all
}

// hash identifies what a reader finds.
func (m Image) hash(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, name := range m.reachable() {
		maphash.WriteComparable(&h, name)
		id := m.names[name]
		f := m.files[id]
		maphash.WriteComparable(&h, id == folder)
		maphash.WriteComparable(&h, f.size)
		for _, p := range f.pages {
			maphash.WriteComparable(&h, p)
		}
	}
	return h.Sum64()
}

// Equal reports whether two images have the same names and contents.
func (m Image) Equal(other Image) bool {
	seed := maphash.MakeSeed()
	return m.hash(seed) == other.hash(seed)
}

// Content returns a file; ok is false if the image has none of that name.
func (m Image) Content(name string) (data []byte, ok bool) {
	if !slices.Contains(m.reachable(), name) || m.names[name] == folder {
		return nil, false
	}
	return m.files[m.names[name]].bytes(), true
}

func (f file) bytes() []byte {
	data := make([]byte, 0, len(f.pages)*pageSize)
	for _, p := range f.pages {
		content := p.Value()
		data = append(data, content[:]...)
	}
	return data[:f.size]
}

// Extract writes the files of an image to a folder. Files with several names stay one.
func (m Image) Extract(dir string) error {
	written := map[int]string{}
	for _, name := range m.reachable() {
		to, id := filepath.Join(dir, name), m.names[name]
		var err error
		switch first, again := written[id]; {
		case id == folder:
			err = os.Mkdir(to, 0o700)
		case again:
			err = os.Link(first, to)
		default:
			written[id] = to
			err = m.files[id].extract(to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// extract writes a file, with holes in place of zeros.
func (f file) extract(to string) (err error) {
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // of a test
	if err != nil {
		return err
	}
	defer func() {
		if failed := out.Close(); err == nil {
			err = failed
		}
	}()
	empty := unique.Make([pageSize]byte{})
	for i, p := range f.pages {
		if p == empty {
			continue
		}
		content := p.Value()
		if _, err := out.WriteAt(content[:], int64(i)*pageSize); err != nil {
			return err
		}
	}
	return out.Truncate(f.size)
}
