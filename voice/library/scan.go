package library

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"pressbox/voice"
)

// Names of a voice's files.
const (
	modelSuffix  = ".onnx"
	configSuffix = ".onnx.json"
	cardSuffix   = ".MODEL_CARD"
	card         = "MODEL_CARD"
)

// Limits of the sizes of a voice's config and its model, in bytes.
const (
	maxConfig = 4 << 20
	maxModel  = 1 << 30
)

// An installedVoice is a voice as it was scanned; changed files make a new one. Library.mu guards the fields
// below the blank line.
type installedVoice struct {
	name    string
	path    string // of the model
	files   [3]fileStamp
	size    int64         // of the model
	config  *voice.Config // nil when it could not be read
	license string
	missing sync.Map // phonemes that were warned about

	err          error       // why it cannot be used
	model        voice.Model // nil while not loaded
	quick        bool        // it loaded within quickLoad
	idle         *time.Timer // unloads it; nil before its first use
	users        int         // of the model, including those that wait for it
	stale        bool        // its files have changed; the last user closes the model
	preloaded    bool        // preloading was tried
	calibrated   bool        // background calibration was tried
	calibrations map[int64]*calibration
}

// A fileStamp identifies a version of a file; the zero value means no file.
type fileStamp struct {
	size int64
	time time.Time
}

// scan reads the directories, retains the voices whose files are unchanged and drops the others. Faulty
// voices are read again.
func (l *Library) scan() {
	found := map[string]*installedVoice{}
	for _, dir := range l.cfg.Dirs {
		l.scanDir(dir, found)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, e := range found {
		old := l.voices[name]
		if old != nil && old.err == nil && e.path == old.path && e.files == old.files {
			found[name] = old
			continue
		}
		switch {
		case old != nil && old.files == e.files: // it was logged before
		case e.err != nil:
			l.cfg.Log.Warn("voice files invalid", "voice", name, "err", e.err)
		default:
			l.cfg.Log.Info("voice added", "voice", name)
		}
	}
	for name, old := range l.voices {
		if found[name] != old {
			l.drop(old)
		}
		if found[name] == nil {
			l.cfg.Log.Info("voice removed", "voice", name)
		}
	}
	l.voices = found
	close(l.changed)
	l.changed = make(chan struct{})
	signal(l.preload)
	signal(l.calibrate)
}

// logMissing logs that the operator's directory, or any voice, is missing.
func (l *Library) logMissing() {
	if len(l.cfg.Dirs) > 0 {
		if _, err := os.Stat(l.cfg.Dirs[0]); errors.Is(err, fs.ErrNotExist) {
			l.cfg.Log.Warn("voice directory missing", "dir", l.cfg.Dirs[0])
		}
	}
	if len(l.Voices()) == 0 {
		l.cfg.Log.Warn("no voice found", "dirs", l.cfg.Dirs)
	}
}

// scanDir adds the voices in dir whose names are not taken.
func (l *Library) scanDir(dir string, found map[string]*installedVoice) {
	files, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.cfg.Log.Warn("cannot read voice directory", "dir", dir, "err", err)
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
		if name != "" && name[0] != '.' { // hidden files may be incomplete
			names[name] = true
		}
	}
	for name := range names {
		if found[name] == nil {
			found[name] = readVoice(dir, name, len(names) == 1)
		}
	}
}

// readVoice reads a voice's small files. alone means that dir has no other voice.
func readVoice(dir, name string, alone bool) *installedVoice {
	e := &installedVoice{name: name, path: filepath.Join(dir, name+modelSuffix), calibrations: map[int64]*calibration{}}
	cardPath := filepath.Join(dir, name+cardSuffix)
	if _, err := os.Stat(cardPath); err != nil && alone {
		cardPath = filepath.Join(dir, card)
	}
	for i, path := range []string{e.path, e.path + ".json", cardPath} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			e.files[i] = fileStamp{info.Size(), info.ModTime()}
		}
	}
	e.size = e.files[0].size
	e.license = readLicense(cardPath)
	switch {
	case e.files[0] == fileStamp{}:
		e.err = fmt.Errorf("model file %s%s is missing", name, modelSuffix)
	case e.files[1] == fileStamp{}:
		e.err = fmt.Errorf("config file %s%s is missing", name, configSuffix)
	case e.size > maxModel:
		e.err = fmt.Errorf("model file %s%s has %d bytes, want at most %d", name, modelSuffix, e.size, maxModel)
	default:
		if e.config, e.err = readConfig(e.path + ".json"); e.err == nil {
			e.err = checkModel(e.path)
		}
	}
	return e
}

// checkModel checks the beginning of the model file at path.
func checkModel(path string) error {
	f, err := os.Open(path) //nolint:gosec // a file in a directory of voices
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	head, err := io.ReadAll(io.LimitReader(f, 512))
	if err == nil {
		err = voice.CheckDownload(head)
	}
	if err != nil {
		return fmt.Errorf("read the model: %w", err)
	}
	return nil
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
	f, err := os.Open(path) //nolint:gosec // a file in a directory of voices
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

// readLicense returns the license in the card at path, "" if there is none.
func readLicense(path string) string {
	data, err := readSome(path, maxConfig)
	if err != nil {
		return ""
	}
	return voice.License(data)
}
