package sounds

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pressbox/audio"
	"pressbox/audio/decode"
	"pressbox/store/atomicfile"
)

// Numbers of recordings. Each begun minute of one counts.
const (
	MaxRecorded     = 30
	MaxRecordedEach = 5                     // of one client
	MaxRecordedSize = MaxRecorded * maxFile // bytes, less than 90 MB

	maxRecording = int64(10*time.Minute/decode.Longest) * maxFile
)

// A Recorded is a recording that waits.
type Recorded struct {
	Client string        // "" is one without a limit of its own
	Length time.Duration // at most, while it is being saved
}

// count returns the number as which it counts.
func (r Recorded) count() int { return int((r.Length + time.Minute - 1) / time.Minute) }

// Recording returns the recording of an announcement.
func (s *Sounds) Recording(id string) (audio.Clip, error) { return read(s.recording(id)) }

func (s *Sounds) recording(id string) string { return filepath.Join(s.recorded, id+suffix) }

// Record saves the sound in a file as the recording of the announcement with an id, by a client; "" is one without a
// limit of its own. The caller announces it, or calls [Sounds.Forget].
func (s *Sounds) Record(
	ctx context.Context, id, client string, l Limits, file io.Reader,
) (length time.Duration, err error) {
	if err := s.reserve(id, Recorded{client, l.Length}); err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			s.Forget(id)
		}
	}()
	clip, done, err := s.receive(ctx, l, file)
	if err != nil {
		return 0, err
	}
	defer done()
	s.mu.Lock()
	s.recordings[id] = Recorded{client, clip.Duration()}
	s.mu.Unlock()
	return clip.Duration(), save(s.recorded, s.recording(id), clip)
}

// reserve takes the places of a recording.
func (s *Sounds) reserve(id string, r Recorded) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, own := r.count(), r.count()
	for _, o := range s.recordings {
		all += o.count()
		if r.Client != "" && o.Client == r.Client {
			own += o.count()
		}
	}
	if all > MaxRecorded || r.Client != "" && own > max(MaxRecordedEach, r.count()) {
		return ErrRecordings
	}
	s.recordings[id] = r
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

// Adopt takes the recordings of the announcements that wait, by id, and deletes all others: those whose
// announcements have ended, or were never saved. It also deletes the rest of files that a crash has cut.
func (s *Sounds) Adopt(waiting map[string]Recorded) {
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
