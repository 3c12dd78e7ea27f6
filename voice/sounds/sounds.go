// Package sounds stores the sounds that are installed, and recordings, each of which is announced once.
//
// One law: a sound that has a name on disk is whole, mono, at [decode.Rate], at the level of speech, and no longer than
// its [Limits] permit: what clients send is decoded before it is saved, and never sent on as it came.
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

// Numbers. What is saved has at most 2.9 MB a minute, so that they are bounds of bytes too: [MaxInstalledSize] and
// [MaxRecordedSize].
const (
	MaxInstalled     = 100
	MaxUploads       = 2 // that are read at a time
	decodeTime       = 25 * time.Second
	maxFile          = int64(decode.Rate)*int64(decode.Longest/time.Second)*2 + 44
	MaxInstalledSize = MaxInstalled * maxFile // bytes, less than 300 MB
)

// Limits are limits of a file.
type Limits struct {
	Bytes  int64
	Length time.Duration // of its sound
	Time   time.Duration // in which it arrives
	Queue  time.Duration // for which it waits while [MaxUploads] are read; 0: it is refused
}

// Uploaded returns the limits of a file that a client sends.
func Uploaded() Limits {
	return Limits{Bytes: MaxBytes, Length: decode.Longest, Time: 30 * time.Second}
}

// Fetched returns the limits of a file that the server fetches from a player's client.
func Fetched() Limits {
	return Limits{Bytes: 30_000_000, Length: 10 * time.Minute, Time: time.Minute, Queue: time.Minute}
}

// MaxBytes limits a file that a client sends.
const MaxBytes = 10_000_000

// Errors, in addition to those of [decode.Decoder].
var (
	ErrNotFound   = errors.New("no such sound")
	ErrName       = errors.New("a name of a sound has 1 to 64 of a-z, 0-9 and -, and does not begin with -")
	ErrBuiltIn    = errors.New("this name is of a sound that is built in, or reserved")
	ErrTooLarge   = errors.New("the file is too large")
	ErrFull       = fmt.Errorf("at most %d sounds can be installed", MaxInstalled)
	ErrRecordings = fmt.Errorf("at most %d recordings, and %d of a client, can wait; each begun minute counts as one",
		MaxRecorded, MaxRecordedEach)
	ErrBusy        = fmt.Errorf("%d sounds are being read already", MaxUploads)
	ErrUnavailable = errors.New("the sound cannot be saved")
	ErrIncomplete  = errors.New("the file did not arrive completely in time")
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
	recordings map[string]Recorded // by id of the announcement, also of one that is being saved
}

// New returns the sounds in a directory of the state, which need not exist.
func New(stateDir string, d decode.Decoder, log *slog.Logger) *Sounds {
	return &Sounds{
		installed: filepath.Join(stateDir, "sounds"), recorded: filepath.Join(stateDir, "recordings"),
		decoder: d, log: log, uploads: make(chan struct{}, MaxUploads), recordings: map[string]Recorded{},
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

func read(path string) (audio.Clip, error) {
	f, err := atomicfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return audio.Clip{}, err
	}
	defer func() { _ = f.Close() }() // it was read
	clip, err := audio.DecodeWAV(io.LimitReader(f, maxRecording))
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
	clip, done, err := s.receive(ctx, Uploaded(), file)
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

// receive decodes a file, after it has arrived completely. done releases its place among the uploads.
func (s *Sounds) receive(ctx context.Context, l Limits, file io.Reader) (clip audio.Clip, done func(), err error) {
	if err := s.begin(ctx, l); err != nil {
		return clip, nil, err
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
	arriving, cancel := context.WithTimeout(ctx, l.Time)
	defer cancel()
	n, err := io.Copy(spool, untilEnd{arriving, io.LimitReader(file, l.Bytes+1)})
	switch _, onDisk := errors.AsType[*fs.PathError](err); {
	case n > l.Bytes:
		return clip, nil, fmt.Errorf("%w: at most %d MB are permitted", ErrTooLarge, l.Bytes/1_000_000)
	case onDisk:
		return clip, nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	case err != nil:
		return clip, nil, fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	decoding, stop := context.WithTimeout(ctx, decodeTime)
	defer stop()
	decoder := s.decoder
	decoder.Longest = l.Length
	clip, err = decoder.Decode(decoding, spool)
	switch {
	case ctx.Err() != nil: // the server stops, or the client is gone
		err = fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	case decoding.Err() != nil:
		err = fmt.Errorf("%w: it takes too long to decode", decode.ErrBad)
	}
	return clip, release, err
}

// begin takes a place among the uploads.
func (s *Sounds) begin(ctx context.Context, l Limits) error {
	select {
	case s.uploads <- struct{}{}:
		return nil
	default:
		if l.Queue == 0 {
			return ErrBusy
		}
	}
	late := time.NewTimer(l.Queue)
	defer late.Stop()
	select {
	case s.uploads <- struct{}{}:
		return nil
	case <-late.C:
		return ErrBusy
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
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
