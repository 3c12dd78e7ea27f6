package catalog

import (
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // see check
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"pressbox/store/atomicfile"
)

const (
	maxAttempts  = 5                // per file; each resumes the one before
	stallTimeout = 30 * time.Second // without a byte from the server
)

// A StatusError reports an HTTP status other than success.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("the server returned %d %s", e.Code, http.StatusText(e.Code))
}

// An Installer installs voices of a catalog into a directory. It follows no link that leads out of it.
type Installer struct {
	Catalog *Catalog
	Dir     *os.Root
	// Progress, unless nil, is called with the progress of a file in bytes.
	Progress   func(name string, done, total int64)
	RetryDelay time.Duration // before the second attempt, doubled each time; 0 means 1 s
}

// diskReserve is the disk space in bytes that an installed voice leaves free.
const diskReserve = 64 << 20

// CheckSpace returns an error unless the disk has space for a voice.
func (i *Installer) CheckSpace(v Voice) error {
	var st unix.Statfs_t
	if err := unix.Statfs(i.Dir.Name(), &st); err != nil {
		return fmt.Errorf("install %s: %w", v.Name, err)
	}
	//nolint:gosec,unconvert // no disk is so large; other platforms have 32 bits
	free := int64(st.Bavail) * int64(st.Bsize)
	if needed := v.Size() + diskReserve; free < needed {
		return fmt.Errorf("install %s: %w in %s: %.0f MB needed, %.0f MB free", v.Name, ErrDiskSpace, i.Dir.Name(),
			float64(needed)/1e6, float64(free)/1e6)
	}
	return nil
}

// Install downloads the missing files of a voice and, once all are complete and valid, moves them into the
// directory, the model last so that the library never sees an incomplete voice. It replaces files of the same
// names; each of them is the old or the new one at any moment, also after a power cut.
func (i *Installer) Install(ctx context.Context, v Voice) error {
	for _, f := range v.files {
		if err := i.fetch(ctx, f); err != nil {
			return err
		}
	}
	for _, f := range v.files {
		if err := atomicfile.Rename(i.Dir, f.part(), f.name); err != nil {
			return fmt.Errorf("install %s: %w", v.Name, err)
		}
	}
	return nil
}

// Remove removes the files of an installed voice, the model first, and those of an unfinished download. It
// returns [ErrUnknown] if the voice is not in the directory.
func Remove(dir *os.Root, name string) error {
	if !validName(name) {
		return fmt.Errorf("remove %q: %w", name, ErrUnknown)
	}
	found := false
	for _, suffix := range []string{".onnx", ".onnx.json", ".MODEL_CARD"} {
		f := file{name: name + suffix}
		if err := dir.Remove(f.part()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove %s: %w", name, err)
		}
		err := dir.Remove(f.name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove %s: %w", name, err)
		}
		found = found || err == nil
	}
	if !found {
		return fmt.Errorf("remove %q: %w", name, ErrUnknown)
	}
	return nil
}

// part returns the name of a file until it is installed.
func (f file) part() string { return "." + f.name + ".part" }

// fetch downloads the rest of a file and checks it. If the check fails, the partial file may have been
// another version: fetch downloads it once more from the start.
func (i *Installer) fetch(ctx context.Context, f file) error {
	for retried := false; ; retried = true {
		err := i.fetchRetrying(ctx, f)
		if err == nil {
			err = i.check(f)
		}
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrChecksum) {
			return fmt.Errorf("fetch %s: %w", f.name, err)
		}
		if err := errors.Join(err, i.Dir.Remove(f.part())); retried {
			return fmt.Errorf("fetch %s: %w", f.name, err)
		}
	}
}

// fetchRetrying makes several attempts to complete the file.
func (i *Installer) fetchRetrying(ctx context.Context, f file) (err error) {
	wait := cmp.Or(i.RetryDelay, time.Second)
	for n := range maxAttempts {
		if n > 0 {
			select {
			case <-time.After(wait):
				wait *= 2
			case <-ctx.Done():
				return errors.Join(err, ctx.Err())
			}
		}
		if err = i.fetchOnce(ctx, f); err == nil || ctx.Err() != nil || permanent(err) {
			return err
		}
	}
	return err
}

// permanent reports whether a retry is useless.
func permanent(err error) bool {
	status, ok := errors.AsType[*StatusError](err)
	_, local := errors.AsType[*os.PathError](err)
	return local || errors.Is(err, ErrInsecure) || errors.Is(err, ErrChecksum) ||
		ok && status.Code < 500 && status.Code != http.StatusTooManyRequests && status.Code != http.StatusRequestTimeout
}

// fetchOnce appends the missing part of a file.
func (i *Installer) fetchOnce(ctx context.Context, f file) (err error) {
	out, err := i.Dir.OpenFile(f.part(), os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := out.Chmod(0o644); err != nil { // independent of the umask
		return err
	}
	have, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if have == f.size { // an earlier process may have ended before its sync
		return out.Sync()
	}
	if have > f.size {
		return ErrChecksum
	}
	resp, err := get(ctx, i.Catalog.client, i.Catalog.fileURL(f), have)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if have > 0 && resp.StatusCode != http.StatusPartialContent { // the server ignores the range
		if have, err = out.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := out.Truncate(0); err != nil {
			return err
		}
	}
	if resp.ContentLength > f.size-have {
		return ErrChecksum
	}
	body := io.LimitReader(resp.Body, f.size-have+1)
	n, err := io.Copy(io.MultiWriter(out, &progressWriter{i, f, have}), body)
	switch {
	case err != nil:
		return errors.Join(err, out.Sync())
	case have+n < f.size:
		return io.ErrUnexpectedEOF
	case have+n > f.size:
		return ErrChecksum
	default:
		return out.Sync()
	}
}

// A progressWriter reports how many bytes were written.
type progressWriter struct {
	i    *Installer
	f    file
	done int64
}

func (c *progressWriter) Write(p []byte) (int, error) {
	c.done += int64(len(p))
	if c.i.Progress != nil {
		c.i.Progress(c.f.name, min(c.done, c.f.size), c.f.size)
	}
	return len(p), nil
}

// check compares a partial file with its description in the catalog.
func (i *Installer) check(f file) error {
	in, err := i.Dir.Open(f.part())
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	sum := sha256.New()
	if f.sum.algorithm == md5Name {
		sum = md5.New() //nolint:gosec // Piper's catalog has no other; https authenticates it
	}
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.sum.digest {
		return fmt.Errorf("%w: its %s is %s, expected %s", ErrChecksum, f.sum.algorithm, got, f.sum.digest)
	}
	return nil
}

// get requests the bytes from the given offset on. A status other than success is returned as a
// [StatusError].
func get(ctx context.Context, client *http.Client, address string, from int64) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity") // a range must refer to the file itself
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	stalled := time.AfterFunc(stallTimeout, func() { cancel(errStalled) })
	resp, err := client.Do(req)
	if err != nil {
		stalled.Stop()
		return nil, stallCause(ctx, err, cancel)
	}
	resp.Body = &stallReader{resp.Body, func() error { return context.Cause(ctx) }, stalled, cancel}
	whole := resp.StatusCode == http.StatusOK
	rest := resp.StatusCode == http.StatusPartialContent && from > 0 && startsAt(resp.Header.Get("Content-Range"), from)
	if !whole && !rest {
		return nil, errors.Join(&StatusError{resp.StatusCode}, resp.Body.Close())
	}
	return resp, nil
}

// startsAt reports whether a Content-Range (RFC 9110 §14.4) starts at the offset.
func startsAt(header string, at int64) bool {
	var first int64
	_, err := fmt.Sscanf(header, "bytes %d-", &first)
	return err == nil && first == at
}

var errStalled = fmt.Errorf("the server sent nothing for %v", stallTimeout)

// stallCause returns errStalled if that ended the context, otherwise err.
func stallCause(ctx context.Context, err error, cancel context.CancelCauseFunc) error {
	if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
		err = cause
	}
	cancel(nil)
	return err
}

// A stallReader is a response body that fails when nothing arrives for stallTimeout.
type stallReader struct {
	io.ReadCloser
	cause   func() error // of the end of the request; nil before
	stalled *time.Timer
	cancel  context.CancelCauseFunc
}

func (l *stallReader) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	l.stalled.Reset(stallTimeout)
	if cause := l.cause(); err != nil && errors.Is(cause, errStalled) {
		err = cause
	}
	return n, err
}

func (l *stallReader) Close() error {
	l.stalled.Stop()
	l.cancel(nil)
	return l.ReadCloser.Close()
}
