package sounds

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"pressbox/audio"
	"pressbox/audio/decode"
	"pressbox/store/atomicfile"
	"pressbox/voice/announce"
)

// An Archive has the installed sounds in each backup of the store; it is a [store.Beside].
type Archive struct{ StateDir string }

// Save writes the installed sounds as a zip archive, or nothing if there are none.
func (a Archive) Save(w io.Writer) error {
	s := New(a.StateDir, decode.Decoder{}, slog.New(slog.DiscardHandler))
	var archive *zip.Writer
	for _, sound := range s.List() {
		if sound.BuiltIn {
			continue
		}
		if archive == nil {
			archive = zip.NewWriter(w)
		}
		data, err := os.ReadFile(s.path(sound.Name))
		if errors.Is(err, os.ErrNotExist) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return err
		}
		to, err := archive.CreateHeader(&zip.FileHeader{Name: sound.Name + suffix, Modified: sound.Created})
		if err == nil {
			_, err = to.Write(data)
		}
		if err != nil {
			return err
		}
	}
	if archive == nil {
		return nil
	}
	return archive.Close()
}

// Restore installs the sounds of an archive, in place of those of the same names. Others stay.
func (a Archive) Restore(archive io.ReaderAt, size int64) error {
	files, err := zip.NewReader(archive, size)
	if err != nil {
		return fmt.Errorf("read the sounds of the backup: %w", err)
	}
	s := New(a.StateDir, decode.Decoder{}, slog.New(slog.DiscardHandler))
	if err := atomicfile.MkdirAll(s.installed, 0o700); err != nil {
		return err
	}
	var failed []error
	for _, f := range files.File[:min(len(files.File), MaxInstalled)] {
		failed = append(failed, s.restore(f))
	}
	return errors.Join(failed...)
}

// restore installs a sound of an archive, with its date.
func (s *Sounds) restore(f *zip.File) error {
	name, isWAV := strings.CutSuffix(f.Name, suffix)
	if !isWAV || !announce.ValidSound(name) || builtIn(name) {
		return fmt.Errorf("the backup has a sound of the name %q", filepath.Base(f.Name))
	}
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("restore the sound %s: %w", name, err)
	}
	defer func() { _ = r.Close() }() // it was read
	clip, err := audio.DecodeWAV(io.LimitReader(r, maxFile))
	switch {
	case err != nil:
		return fmt.Errorf("restore the sound %s: %w", name, err)
	case clip.Rate != decode.Rate || len(clip.Samples) == 0:
		return fmt.Errorf("restore the sound %s: %w", name, decode.ErrBad)
	}
	if err := save(s.installed, s.path(name), clip); err != nil {
		return err
	}
	return os.Chtimes(s.path(name), f.Modified, f.Modified)
}
