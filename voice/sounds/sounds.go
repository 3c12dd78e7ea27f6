// Package sounds stores the sounds that are installed, and recordings, each of which is announced once.
//
// One law: a sound that has a name on disk is whole, mono, at [decode.Rate], at the level of speech, and at most
// [decode.Longest] long: what clients send is decoded before it is saved, and never sent on as it came.
package sounds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pressbox/audio"
	"pressbox/audio/decode"
	"pressbox/store/atomicfile"
	"pressbox/voice/announce"
)

// Limits. What is saved has at most 2.9 MB, so that the numbers are bounds of bytes too: [MaxInstalledSize] and
// [MaxRecordedSize].
const (
	MaxBytes         = 10_000_000 // of a file that is sent
	MaxInstalled     = 100
	MaxRecorded      = 30
	MaxRecordedEach  = 5 // of one client
	MaxUploads       = 2 // that are read at a time
	uploadTime       = 30 * time.Second
	decodeTime       = 25 * time.Second
	maxFile          = int64(decode.Rate)*int64(decode.Longest/time.Second)*2 + 44
	MaxInstalledSize = MaxInstalled * maxFile // bytes, less than 300 MB
	MaxRecordedSize  = MaxRecorded * maxFile  // bytes, less than 90 MB
)

// Errors, in addition to those of [decode.Decoder].
var (
	ErrNotFound    = errors.New("no such sound")
	ErrName        = errors.New("a name of a sound has 1 to 64 of a-z, 0-9 and -, and does not begin with -")
	ErrBuiltIn     = errors.New("this name is of a sound that is built in, or reserved")
	ErrTooLarge    = fmt.Errorf("the file has more than %d MB", MaxBytes/1_000_000)
	ErrFull        = fmt.Errorf("at most %d sounds can be installed", MaxInstalled)
	ErrRecordings  = fmt.Errorf("at most %d recordings, and %d of a client, can wait", MaxRecorded, MaxRecordedEach)
	ErrBusy        = fmt.Errorf("%d sounds are being read already", MaxUploads)
	ErrUnavailable = errors.New("the sound cannot be saved")
	ErrIncomplete  = errors.New("the file did not arrive completely in 30 seconds")
)

// A Sound is one that announcements can name.
type Sound struct {
	Name    string
	Length  time.Duration
	Bytes   int64 // of its WAV file
	BuiltIn bool
	Created time.Time // zero if it is built in
}

// Sounds are the sounds in two directories. They may be used concurrently.
type Sounds struct {
	installed, recorded string // directories
	decoder             decode.Decoder
	log                 *slog.Logger
	uploads             chan struct{} // full while MaxUploads are read

	mu         sync.Mutex
	recordings map[string]string // client by id of the announcement, also of one that is being saved
}

// New returns the sounds in a directory of the state, which need not exist.
func New(stateDir string, d decode.Decoder, log *slog.Logger) *Sounds {
	return &Sounds{
		installed: filepath.Join(stateDir, "sounds"), recorded: filepath.Join(stateDir, "recordings"),
		decoder: d, log: log, uploads: make(chan struct{}, MaxUploads), recordings: map[string]string{},
	}
}

// Dir returns the directory of the installed sounds.
func (s *Sounds) Dir() string { return s.installed }

const suffix = ".wav"

// builtIn reports whether a name cannot be that of an installed sound.
func builtIn(name string) bool {
	return name == announce.RecordedSound || slices.Contains(audio.Chimes(), audio.Chime(name))
}

// List returns the sounds, the built-in ones first, then by name.
func (s *Sounds) List() []Sound {
	var all []Sound
	for _, chime := range audio.Chimes() {
		if chime != audio.NoChime {
			clip := builtInClip(chime)
			size := int64(44 + 2*len(clip.Samples))
			all = append(all, Sound{Name: string(chime), Length: clip.Duration(), Bytes: size, BuiltIn: true})
		}
	}
	entries, _ := os.ReadDir(s.installed) // without one there are none
	for _, e := range entries {
		if sound, err := s.find(strings.TrimSuffix(e.Name(), suffix)); err == nil {
			all = append(all, sound)
		}
	}
	return all
}

// find returns the installed sound with a name.
func (s *Sounds) find(name string) (Sound, error) {
	if !announce.ValidSound(name) || builtIn(name) {
		return Sound{}, ErrNotFound
	}
	info, err := os.Stat(s.path(name))
	if err != nil || !info.Mode().IsRegular() {
		return Sound{}, ErrNotFound
	}
	return Sound{Name: name, Length: lengthOf(info.Size()), Bytes: info.Size(), Created: info.ModTime()}, nil
}

func (s *Sounds) path(name string) string { return filepath.Join(s.installed, name+suffix) }

// lengthOf returns the duration of a WAV file of this package.
func lengthOf(bytes int64) time.Duration {
	return time.Duration(max(0, bytes-44)/2) * time.Second / decode.Rate
}

func builtInClip(c audio.Chime) audio.Clip {
	return audio.Clip{Rate: decode.Rate, Samples: c.Samples(decode.Rate)}
}

// Check returns an [*announce.UnknownSoundError] if there is no sound with a name.
func (s *Sounds) Check(name string) error {
	if slices.Contains(audio.Chimes(), audio.Chime(name)) && name != string(audio.NoChime) {
		return nil
	}
	if _, err := s.find(name); err != nil {
		unknown := &announce.UnknownSoundError{Name: name}
		for _, sound := range s.List() {
			unknown.Known = append(unknown.Known, sound.Name)
		}
		return unknown
	}
	return nil
}

// Clip returns a sound. The error is that of [Sounds.Check], or of the file.
func (s *Sounds) Clip(name string) (audio.Clip, error) {
	if err := s.Check(name); err != nil {
		return audio.Clip{}, err
	}
	if builtIn(name) {
		return builtInClip(audio.Chime(name)), nil
	}
	return read(s.path(name))
}

// Recording returns the recording of an announcement.
func (s *Sounds) Recording(id string) (audio.Clip, error) { return read(s.recording(id)) }

func (s *Sounds) recording(id string) string { return filepath.Join(s.recorded, id+suffix) }

func read(path string) (audio.Clip, error) {
	f, err := atomicfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return audio.Clip{}, err
	}
	defer func() { _ = f.Close() }() // it was read
	clip, err := audio.DecodeWAV(io.LimitReader(f, maxFile))
	if err != nil {
		return audio.Clip{}, fmt.Errorf("read %s: %w", path, err)
	}
	return clip, nil
}

// Put installs the sound in a file under a name, in place of an earlier one.
func (s *Sounds) Put(ctx context.Context, name string, file io.Reader) (sound Sound, created bool, err error) {
	if !announce.ValidSound(name) {
		return Sound{}, false, ErrName
	}
	if builtIn(name) {
		return Sound{}, false, ErrBuiltIn
	}
	clip, done, err := s.receive(ctx, file)
	if err != nil {
		return Sound{}, false, err
	}
	defer done()
	s.mu.Lock()
	defer s.mu.Unlock()
	_, missing := s.find(name)
	if missing != nil && len(s.List()) >= MaxInstalled+len(audio.Chimes())-1 {
		return Sound{}, false, ErrFull
	}
	if err := save(s.installed, s.path(name), clip); err != nil {
		return Sound{}, false, err
	}
	sound, err = s.find(name)
	return sound, missing != nil, err
}

// save writes a clip, whole or not at all.
func save(dir, path string, c audio.Clip) error {
	err := atomicfile.MkdirAll(dir, 0o700)
	if err == nil {
		write := func(w io.Writer) error { return audio.WriteWAV(w, c) }
		_, err = atomicfile.Write(path, atomicfile.Own(0o600), write, nil)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}

// Remove removes an installed sound.
func (s *Sounds) Remove(name string) error {
	if builtIn(name) {
		return ErrBuiltIn
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.find(name); err != nil {
		return err
	}
	return os.Remove(s.path(name))
}

// receive decodes a file that a client sends, after it has arrived completely. done releases its place among the
// uploads.
func (s *Sounds) receive(ctx context.Context, file io.Reader) (clip audio.Clip, done func(), err error) {
	select {
	case s.uploads <- struct{}{}:
	default:
		return clip, nil, ErrBusy
	}
	release := func() { <-s.uploads }
	defer func() {
		if err != nil {
			release()
		}
	}()
	if err := atomicfile.MkdirAll(s.recorded, 0o700); err != nil {
		return clip, nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	spool, err := os.CreateTemp(s.recorded, atomicfile.TempPrefix)
	if err != nil {
		return clip, nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer func() { _ = spool.Close() }() // it is not kept
	if err := os.Remove(spool.Name()); err != nil {
		return clip, nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	arriving, cancel := context.WithTimeout(ctx, uploadTime)
	defer cancel()
	n, err := io.Copy(spool, untilEnd{arriving, io.LimitReader(file, MaxBytes+1)})
	switch _, onDisk := errors.AsType[*fs.PathError](err); {
	case n > MaxBytes:
		return clip, nil, ErrTooLarge
	case onDisk:
		return clip, nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	case err != nil:
		return clip, nil, fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	decoding, stop := context.WithTimeout(ctx, decodeTime)
	defer stop()
	clip, err = s.decoder.Decode(decoding, spool)
	switch {
	case ctx.Err() != nil: // the server stops, or the client is gone
		err = fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	case decoding.Err() != nil:
		err = fmt.Errorf("%w: it takes too long to decode", decode.ErrBad)
	}
	return clip, release, err
}

// untilEnd reads until a context ends.
type untilEnd struct {
	ctx context.Context //nolint:containedctx // of one call
	r   io.Reader
}

func (u untilEnd) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// Record saves the sound in a file as the recording of the announcement with an id, by a client; "" is one without a
// limit of its own. The caller announces it, or calls [Sounds.Forget].
func (s *Sounds) Record(ctx context.Context, id, client string, file io.Reader) (length time.Duration, err error) {
	if err := s.reserve(id, client); err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			s.Forget(id)
		}
	}()
	clip, done, err := s.receive(ctx, file)
	if err != nil {
		return 0, err
	}
	defer done()
	return clip.Duration(), save(s.recorded, s.recording(id), clip)
}

// reserve takes a place among the recordings.
func (s *Sounds) reserve(id, client string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := 0
	for _, of := range s.recordings {
		if client != "" && of == client {
			own++
		}
	}
	if len(s.recordings) >= MaxRecorded || own >= MaxRecordedEach {
		return ErrRecordings
	}
	s.recordings[id] = client
	return nil
}

// Forget deletes the recording of an announcement, if it has one.
func (s *Sounds) Forget(id string) {
	s.mu.Lock()
	_, known := s.recordings[id]
	delete(s.recordings, id)
	s.mu.Unlock()
	if !known {
		return
	}
	if err := os.Remove(s.recording(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("recording not deleted", "announcement", id, "err", err)
	}
}

// Adopt takes the recordings of the announcements that wait, by client, and deletes all others: those whose
// announcements have ended, or were never saved. It also deletes the rest of files that a crash has cut.
func (s *Sounds) Adopt(waiting map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recordings = waiting
	for _, dir := range []string{s.installed, s.recorded} {
		entries, _ := os.ReadDir(dir) // without one there are none
		for _, e := range entries {
			id := strings.TrimSuffix(e.Name(), suffix)
			_, kept := waiting[id]
			if !strings.HasPrefix(e.Name(), atomicfile.TempPrefix) && (kept || dir == s.installed) {
				continue
			}
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				s.log.Warn("recording not deleted", "announcement", id, "err", err)
			}
		}
	}
}
