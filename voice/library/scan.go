package library

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"pressbox/voice"
)

// How the files of a voice are called.
const (
	modelSuffix  = ".onnx"
	configSuffix = ".onnx.json"
	cardSuffix   = ".MODEL_CARD"
	card         = "MODEL_CARD"
)

// maxConfig is more than any voice's config needs.
const maxConfig = 4 << 20

// An entry is one voice as its files are; changed files make a new one. What
// stands below the line is guarded by Library.mu.
type entry struct {
	name    string
	path    string // of the model
	files   [3]stamp
	size    int64         // of the model
	config  *voice.Config // nil when it could not be read
	license string
	missing sync.Map // the phonemes that were warned of

	err          error       // why it cannot be used
	model        voice.Model // nil while not loaded
	users        int         // who need the model, or wait for it
	gone         bool        // its files have changed: the model goes with its last user
	preloaded    bool        // it was loaded for being the default, or that was tried
	measured     bool        // it was measured without being asked, or that was tried
	calibrations map[int64]*calibration
}

// A stamp tells whether a file has changed; the zero stamp is of no file.
type stamp struct {
	size int64
	time time.Time
}

// scan reads the folders, keeps the entries whose files have not changed, and
// lets go of the others. What was wrong is looked at again.
func (l *Library) scan() {
	found := map[string]*entry{}
	for _, dir := range l.cfg.Dirs {
		l.scanDir(dir, found)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, e := range found {
		old := l.entries[name]
		if old != nil && old.err == nil && e.path == old.path && e.files == old.files {
			found[name] = old
			continue
		}
		switch {
		case old != nil && old.files == e.files: // it has been told
		case e.err != nil:
			l.cfg.Log.Warn("voice broken", "voice", name, "err", e.err)
		default:
			l.cfg.Log.Info("voice found", "voice", name)
		}
	}
	for name, old := range l.entries {
		if found[name] != old {
			l.drop(old)
		}
		if found[name] == nil {
			l.cfg.Log.Info("voice gone", "voice", name)
		}
	}
	l.entries = found
	wake(l.preload)
	wake(l.measure)
}

// scanDir adds the voices that lie in dir and whose names are not taken.
func (l *Library) scanDir(dir string, found map[string]*entry) {
	files, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.cfg.Log.Warn("cannot read a folder of voices", "dir", dir, "err", err)
		}
		return
	}
	names := map[string]bool{}
	for _, f := range files {
		name, isConfig := strings.CutSuffix(f.Name(), configSuffix)
		if !isConfig {
			var isModel bool
			if name, isModel = strings.CutSuffix(f.Name(), modelSuffix); !isModel {
				continue
			}
		}
		if name != "" && name[0] != '.' { // a file that is still being written may be hidden
			names[name] = true
		}
	}
	for name := range names {
		if found[name] == nil {
			found[name] = readEntry(dir, name, len(names) == 1)
		}
	}
}

// readEntry reads what is small of a voice's files. alone says that no other
// voice lies in dir.
func readEntry(dir, name string, alone bool) *entry {
	e := &entry{name: name, path: filepath.Join(dir, name+modelSuffix), calibrations: map[int64]*calibration{}}
	cardPath := filepath.Join(dir, name+cardSuffix)
	if _, err := os.Stat(cardPath); err != nil && alone {
		cardPath = filepath.Join(dir, card)
	}
	for i, path := range []string{e.path, e.path + ".json", cardPath} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			e.files[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	e.size = e.files[0].size
	e.license = readLicense(cardPath)
	switch {
	case e.files[0] == stamp{}:
		e.err = fmt.Errorf("its model %s%s is missing", name, modelSuffix)
	case e.files[1] == stamp{}:
		e.err = fmt.Errorf("its config %s%s is missing", name, configSuffix)
	default:
		e.config, e.err = readConfig(e.path + ".json")
	}
	return e
}

func readConfig(path string) (*voice.Config, error) {
	data, err := readSome(path, maxConfig)
	if err != nil {
		return nil, err
	}
	return voice.ParseConfig(data)
}

// readSome reads a file of at most limit bytes.
func readSome(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // a file of the folders of voices
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", filepath.Base(path), limit)
	}
	return data, nil
}

// licenseLine is how the cards of voices tell the licence.
var licenseLine = regexp.MustCompile(`(?im)^[\s*#-]*licen[cs]e\s*:\s*(\S.*?)\s*$`)

// readLicense returns the licence that the card at path tells, "" when there
// is none.
func readLicense(path string) string {
	data, err := readSome(path, maxConfig)
	if err != nil {
		return ""
	}
	if line := licenseLine.FindSubmatch(data); line != nil {
		return strings.ToValidUTF8(string(line[1]), "")
	}
	return ""
}
