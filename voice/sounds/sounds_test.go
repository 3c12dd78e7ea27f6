package sounds_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pressbox/audio"
	"pressbox/audio/decode"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/voice/announce"
	"pressbox/voice/espeak/confine"
	"pressbox/voice/sounds"
)

func TestMain(m *testing.M) {
	confine.Main(os.Args)
	m.Run()
}

// short is a WAV file of 0.1 s.
var short = wav(2400)

// wav returns a WAV file of so many samples.
func wav(samples int) []byte {
	clip := audio.Clip{Rate: decode.Rate, Samples: make([]float32, samples)}
	for i := range clip.Samples {
		clip.Samples[i] = float32(i%24-12) / 100
	}
	var file bytes.Buffer
	if err := audio.WriteWAV(&file, clip); err != nil {
		panic(err)
	}
	return file.Bytes()
}

func newSounds(tb testing.TB) (s *sounds.Sounds, dir string) {
	tb.Helper()
	dir = tb.TempDir()
	return sounds.New(dir, decode.Decoder{FFmpeg: "/nowhere/ffmpeg"}, slog.New(slog.DiscardHandler)), dir
}

func put(s *sounds.Sounds, name string, file []byte) (sounds.Sound, bool, error) {
	return s.Put(context.Background(), name, bytes.NewReader(file))
}

// failure returns the error of Put.
func failure(_ sounds.Sound, _ bool, err error) error { return err }

func TestPut(t *testing.T) {
	t.Parallel()
	s, dir := newSounds(t)
	check.ErrorIs(t, s.Remove("bell"), sounds.ErrNotFound, "remove")
	sound, created, err := put(s, "bell", short)
	fresh := !sound.BuiltIn && time.Since(sound.Created) < time.Minute
	check.That(t, err == nil && created && fresh && sound.Name == "bell" && sound.Length == 100*time.Millisecond &&
		sound.Bytes == int64(len(short)), "%+v, %v", sound, err)
	_, created, err = put(s, "bell", wav(4800))
	check.That(t, err == nil && !created, "put again: %v", err)
	clip := check.Must(s.Clip("bell"))(t)
	check.That(t, clip.Rate == decode.Rate && len(clip.Samples) == 4800,
		"%d Hz, %d samples", clip.Rate, len(clip.Samples))
	other := sounds.New(dir, decode.Decoder{}, slog.New(slog.DiscardHandler))
	var names []string
	for _, sound := range other.List() {
		names = append(names, fmt.Sprint(sound.Name, sound.BuiltIn))
	}
	check.Equal(t, strings.Join(names, " "), "dingtrue ding-dongtrue alerttrue alarmtrue bellfalse", "after a restart")
	check.NoError(t, s.Remove("bell"))
	unknown, ok := errors.AsType[*announce.UnknownSoundError](s.Check("bell"))
	check.That(t, ok && slices.Equal(unknown.Known, []string{"ding", "ding-dong", "alert", "alarm"}), "%+v", unknown)
	for _, name := range []string{"none", "recording", "ding", "alarm"} {
		check.ErrorIs(t, failure(put(s, name, short)), sounds.ErrBuiltIn, "put %s", name)
		check.ErrorIs(t, s.Remove(name), sounds.ErrBuiltIn, "remove %s", name)
	}
	for name, ok := range map[string]bool{
		"7": true, "a-": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "": false, "-a": false,
		"A": false, "a/b": false, "..": false, "a.wav": false, "ä": false,
	} {
		_, _, err := put(s, name, short)
		check.That(t, errors.Is(err, sounds.ErrName) == !ok, "the name %q: %v", name, err)
	}
}

// The number of sounds, and with it their bytes, is limited; one that is there can be replaced nevertheless.
func TestPut_full(t *testing.T) {
	t.Parallel()
	s, _ := newSounds(t)
	for i := range sounds.MaxInstalled {
		check.NoError(t, failure(put(s, fmt.Sprint(i), short)))
	}
	check.ErrorIs(t, failure(put(s, "another", short)), sounds.ErrFull, "one more")
	check.NoError(t, failure(put(s, "7", short)))
	const mega = 1_000_000
	check.That(t, sounds.MaxInstalledSize < 300*mega && sounds.MaxRecordedSize < 90*mega, "bytes: %d and %d",
		sounds.MaxInstalledSize, sounds.MaxRecordedSize)
}

// What does not arrive whole, or is no sound, leaves nothing; two are read at a time.
func TestPut_refused(t *testing.T) {
	t.Parallel()
	s, dir := newSounds(t)
	largest := append(slices.Clone(short), make([]byte, sounds.MaxBytes-len(short))...)
	check.NoError(t, failure(put(s, "large", largest)))
	check.ErrorIs(t, failure(put(s, "larger", append(largest, 0))), sounds.ErrTooLarge, "a byte more")
	check.ErrorIs(t, failure(put(s, "text", []byte("Dinner is ready."))), decode.ErrBad, "text")
	check.ErrorIs(t, failure(put(s, "ogg", []byte("OggS"))), decode.ErrNeedsFFmpeg, "an Ogg file")
	cut := io.MultiReader(bytes.NewReader(short), iotest.ErrReader(io.ErrUnexpectedEOF))
	check.ErrorIs(t, failure(s.Put(t.Context(), "cut", cut)), sounds.ErrIncomplete, "a file that is cut off")
	var releases []*io.PipeWriter // one each: another one's pipe could be read by the first
	for range sounds.MaxUploads {
		slow, release := io.Pipe()
		go func() { _, _, _ = s.Put(context.Background(), "slow", slow) }()
		check.Must(release.Write([]byte("R")))(t)
		releases = append(releases, release)
	}
	check.ErrorIs(t, failure(put(s, "third", short)), sounds.ErrBusy, "a third one")
	queue := sounds.Fetched()
	queue.Queue = time.Millisecond
	_, err := s.Record(t.Context(), "late", "", queue, bytes.NewReader(short))
	check.ErrorIs(t, err, sounds.ErrBusy, "one that waits in vain")
	waited := make(chan error)
	go func() {
		_, err := s.Record(t.Context(), "fetched", "", sounds.Fetched(), bytes.NewReader(short))
		waited <- err
	}()
	for _, release := range releases {
		check.NoError(t, release.Close())
	}
	check.NoError(t, <-waited)
	s.Forget("fetched")
	for failure(put(s, "third", short)) != nil { // until they have ended
		time.Sleep(time.Millisecond)
	}
	files := check.Must(filepath.Glob(filepath.Join(dir, "*", "*")))(t)
	check.Equal(t, len(files), 2, "files")
	check.NoError(t, os.WriteFile(filepath.Join(t.TempDir(), "full"), nil, 0o600))
	blocked := sounds.New("/dev/null", decode.Decoder{}, slog.New(slog.DiscardHandler))
	check.ErrorIs(t, failure(put(blocked, "a", short)), sounds.ErrUnavailable, "without a directory")
}

// A file that is decoded while the server stops is not called too long.
func TestPut_stop(t *testing.T) {
	t.Parallel()
	s, _ := newSounds(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := s.Put(ctx, "bell", io.MultiReader(bytes.NewReader(short), readerFunc(func([]byte) (int, error) {
		cancel()
		return 0, io.EOF
	})))
	check.ErrorIs(t, err, sounds.ErrUnavailable, "put")
	check.Equal(t, len(s.List()), len(audio.Chimes())-1, "sounds")
}

// readerFunc is a function as a reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestRecord(t *testing.T) {
	t.Parallel()
	s, dir := newSounds(t)
	record := func(id, client string) error {
		return check.Err(s.Record(context.Background(), id, client, sounds.Uploaded(), bytes.NewReader(short)))
	}
	_, err := s.Record(t.Context(), "bad", "", sounds.Uploaded(), strings.NewReader("x"))
	check.ErrorIs(t, err, decode.ErrBad, "no sound")
	for i := range sounds.MaxRecordedEach {
		check.NoError(t, record(fmt.Sprint("anna", i), "anna"))
	}
	check.ErrorIs(t, record("anna", "anna"), sounds.ErrRecordings, "a sixth of one client")
	for i := range sounds.MaxRecorded - sounds.MaxRecordedEach {
		check.NoError(t, record(fmt.Sprint("host", i), ""))
	}
	check.ErrorIs(t, record("host", ""), sounds.ErrRecordings, "one more than all")
	long := func(id string) error { // it counts as ten until its length is known
		return check.Err(s.Record(context.Background(), id, "", sounds.Fetched(), bytes.NewReader(short)))
	}
	for i := range 9 {
		s.Forget(fmt.Sprint("host", i))
	}
	check.ErrorIs(t, long("long"), sounds.ErrRecordings, "one of ten minutes beside 21")
	s.Forget("host9")
	check.NoError(t, long("long"))
	check.ErrorIs(t, long("longer"), sounds.ErrRecordings, "one of ten minutes beside 21, of which one is short")
	for i := range 9 {
		check.NoError(t, record(fmt.Sprint("host", i), ""))
	}
	check.ErrorIs(t, record("host9", ""), sounds.ErrRecordings, "one more than all")
	check.Equal(t, len(check.Must(s.Recording("anna3"))(t).Samples), 2400, "samples")
	s.Forget("anna3")
	s.Forget("none")
	check.That(t, check.Err(s.Recording("anna3")) != nil, "it is still there")
	check.NoError(t, record("anna", "anna"))

	// After a crash, those that wait are kept, and nothing else is.
	check.NoError(t, os.WriteFile(filepath.Join(dir, "recordings", ".new-x"), nil, 0o600))
	check.NoError(t, failure(put(s, "bell", short)))
	check.NoError(t, os.WriteFile(filepath.Join(dir, "sounds", ".new-x"), nil, 0o600))
	s = sounds.New(dir, decode.Decoder{}, slog.New(slog.DiscardHandler))
	s.Adopt(map[string]sounds.Recorded{"anna": {"anna", time.Second}, "host1": {"", time.Second}})
	files := check.Must(filepath.Glob(filepath.Join(dir, "*", "*")))(t)
	for i, path := range files {
		files[i], _ = filepath.Rel(dir, path)
	}
	check.Equal(t, strings.Join(files, " "), "recordings/anna.wav recordings/host1.wav sounds/bell.wav", "files")
}

// The program of the host decodes as it is confined, and what it cannot read tells nothing of the host.
func TestPut_confined(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs ffmpeg")
	}
	s := sounds.New(t.TempDir(), decode.Decoder{Confine: confine.Command()}, slog.New(slog.DiscardHandler))
	source := filepath.Join(t.TempDir(), "source.wav")
	check.NoError(t, os.WriteFile(source, wav(48000), 0o600))
	for name, options := range map[string]string{
		"a.ogg": "-c:a libvorbis", "b.opus": "-c:a libopus", "c.m4a": "-c:a aac", "d.webm": "-c:a libopus",
		"e.aac": "-c:a aac",
	} {
		path := filepath.Join(t.TempDir(), name)
		arguments := append([]string{"-nostdin", "-loglevel", "error", "-i", source}, strings.Fields(options)...)
		out, err := exec.Command("ffmpeg", append(arguments, path)...).CombinedOutput()
		check.Require(t, err == nil, "%s: %v: %s", name, err, out)
		sound, _, err := put(s, name[:1], check.Must(os.ReadFile(path))(t))
		late := (sound.Length - 2*time.Second).Abs()
		check.That(t, err == nil && late < 100*time.Millisecond, "%s: %v, %v", name, sound.Length, err)
	}
	check.ErrorIs(t, failure(put(s, "bad", []byte("OggS and nothing else"))), decode.ErrBad, "no Ogg file")
}

// A backup has the sounds, and its store gives them back when it is opened, also after a crash in between; others stay.
func TestArchive(t *testing.T) {
	t.Parallel()
	s, dir := newSounds(t)
	path := filepath.Join(dir, "pressbox.db")
	open := func() *store.Store {
		return check.Must(store.Open(path, store.Options{Beside: sounds.Archive{StateDir: dir}}))(t)
	}
	backup := func() []byte {
		st := open()
		var b bytes.Buffer
		check.NoError(t, errors.Join(st.Backup(&b), st.Close()))
		return b.Bytes()
	}
	without := backup()
	check.NoError(t, failure(put(s, "bell", wav(4800))))
	check.NoError(t, failure(put(s, "song", short)))
	before := s.List()
	with := backup()
	check.That(t, len(with) > len(without)+len(short), "%d bytes, %d with sounds", len(without), len(with))
	check.NoError(t, s.Remove("song"))
	check.NoError(t, failure(put(s, "bell", short)))
	check.NoError(t, failure(put(s, "new", short)))
	restore := func(data []byte) {
		check.NoError(t, store.Restore(path, bytes.NewReader(data), store.Check))
		check.NoError(t, open().Close())
		check.NoError(t, store.Check(path))
		check.Equal(t, check.Must(os.Stat(path))(t).Size()%4096, 0, "the rest of the last page")
	}
	restore(without)
	check.Equal(t, len(s.List()), len(before), "sounds after a backup without any")
	restore(with)
	after := s.List()
	check.Equal(t, len(after), len(before)+1, "sounds")
	check.That(t, after[4].Name == "bell" && after[4].Bytes == before[4].Bytes && after[6].Name == "song" &&
		after[4].Created.Sub(before[4].Created).Abs() < time.Second, "%+v", after)

	// A damaged archive is no reason to lose the store.
	bad := bytes.ReplaceAll(with, []byte("bell.wav"), []byte("../l.wav"))
	check.NoError(t, s.Remove("bell"))
	check.NoError(t, s.Remove("song"))
	restore(bad)
	check.That(t, s.Check("song") == nil && s.Check("bell") != nil, "%+v", s.List())
}

// FuzzArchive restores anything: what it installs are sounds.
func FuzzArchive(f *testing.F) {
	s, dir := newSounds(f)
	check.NoError(f, failure(put(s, "bell", wav(24))))
	var archive bytes.Buffer
	check.NoError(f, sounds.Archive{StateDir: dir}.Save(&archive))
	f.Add(archive.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, dir := newSounds(t)
		_ = sounds.Archive{StateDir: dir}.Restore(bytes.NewReader(data), int64(len(data)))
		files := check.Must(filepath.Glob(filepath.Join(dir, "*", "*")))(t)
		check.Equal(t, len(files), len(s.List())-4, "files and sounds")
	})
}
