package catalogue

import (
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // the catalogue's checksums guard against accidents; https is the guard against malice
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	tries    = 5                // for each file, of which each goes on where the one before was cut off
	patience = 30 * time.Second // with a server that sends nothing
)

// A StatusError is a server's refusal.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answers %d %s", e.Code, http.StatusText(e.Code))
}

// An Installer installs voices of a catalogue into a folder.
type Installer struct {
	Catalogue *Catalogue
	Client    *http.Client
	Dir       string
	// Progress is told how much of a file has been fetched.
	Progress   func(name string, done, total int64)
	RetryDelay time.Duration // before a file is tried again, doubled each time; 0 means a second
}

// Card fetches the card of a voice, which tells its licence; "" when it has none.
func (i *Installer) Card(ctx context.Context, v Voice) (string, error) {
	for _, f := range v.files {
		if filepath.Ext(f.name) != ".MODEL_CARD" {
			continue
		}
		if err := i.fetch(ctx, f); err != nil {
			return "", err
		}
		text, err := os.ReadFile(i.part(f))
		if err != nil {
			return "", fmt.Errorf("read the card of %s: %w", v.Name, err)
		}
		return string(text), nil
	}
	return "", nil
}

// Install fetches what is missing of a voice and puts its files into the folder,
// when all of them are there and right: its model last, so that nobody finds half a
// voice. Files of that name are replaced.
func (i *Installer) Install(ctx context.Context, v Voice) error {
	for _, f := range v.files {
		if err := i.fetch(ctx, f); err != nil {
			return err
		}
	}
	for _, f := range v.files {
		if err := os.Rename(i.part(f), filepath.Join(i.Dir, f.name)); err != nil {
			return fmt.Errorf("install %s: %w", v.Name, err)
		}
	}
	dir, err := os.Open(i.Dir)
	if err != nil {
		return fmt.Errorf("install %s: %w", v.Name, err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// part is where a file lies until it is installed.
func (i *Installer) part(f file) string { return filepath.Join(i.Dir, "."+f.name+".part") }

// fetch fetches a file, from where the last time has ended, and checks it. One that
// is wrong was perhaps continued from another one's beginning: it is fetched once
// more from its own.
func (i *Installer) fetch(ctx context.Context, f file) error {
	for again := false; ; again = true {
		err := i.attempts(ctx, f)
		if err == nil {
			err = check(i.part(f), f)
		}
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrChecksum) {
			return fmt.Errorf("fetch %s: %w", f.name, err)
		}
		if err := errors.Join(err, os.Remove(i.part(f))); again {
			return fmt.Errorf("fetch %s: %w", f.name, err)
		}
	}
}

// attempts tries several times to bring the file to its size.
func (i *Installer) attempts(ctx context.Context, f file) (err error) {
	wait := cmp.Or(i.RetryDelay, time.Second)
	for n := range tries {
		if n > 0 {
			select {
			case <-time.After(wait):
				wait *= 2
			case <-ctx.Done():
				return errors.Join(err, ctx.Err())
			}
		}
		if err = i.attempt(ctx, f); err == nil || ctx.Err() != nil || final(err) {
			return err
		}
	}
	return err
}

// final says whether it is no use to try again.
func final(err error) bool {
	status, ok := errors.AsType[*StatusError](err)
	_, local := errors.AsType[*os.PathError](err)
	return local || ok && status.Code < 500 && status.Code != http.StatusTooManyRequests && status.Code != http.StatusRequestTimeout
}

// attempt appends what is missing of a file.
func (i *Installer) attempt(ctx context.Context, f file) (err error) {
	// Root installs into a folder of the daemon's, which may have put a link there.
	out, err := os.OpenFile(i.part(f), os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW, 0o644) //nolint:gosec // others read voices, too
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := out.Chmod(0o644); err != nil { // whatever this user's umask is
		return err
	}
	have, err := out.Seek(0, io.SeekEnd)
	if err != nil || have == f.size {
		return err
	}
	if have > f.size {
		return ErrChecksum
	}
	resp, err := get(ctx, i.Client, i.Catalogue.at(f), have)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if have > 0 && resp.StatusCode != http.StatusPartialContent { // the server sends all of it
		if have, err = out.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := out.Truncate(0); err != nil {
			return err
		}
	}
	body := io.LimitReader(resp.Body, f.size-have+1)
	n, err := io.Copy(io.MultiWriter(out, &counter{i, f, have}), body)
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

// A counter tells how much has been written.
type counter struct {
	i    *Installer
	f    file
	done int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.done += int64(len(p))
	if c.i.Progress != nil {
		c.i.Progress(c.f.name, min(c.done, c.f.size), c.f.size)
	}
	return len(p), nil
}

// check compares a file with what the catalogue says of it.
func check(path string, f file) error {
	in, err := os.Open(path) //nolint:gosec // a file of ours
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	sum := md5.New() //nolint:gosec // as above
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.md5 {
		return fmt.Errorf("%w: its MD5 is %s, expected %s", ErrChecksum, got, f.md5)
	}
	return nil
}

// get asks for what comes after the first bytes of something. An answer that is
// neither all nor the rest is a [StatusError].
func get(ctx context.Context, client *http.Client, address string, from int64) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity") // so that a range is one of the file
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	stalled := time.AfterFunc(patience, func() { cancel(errStalled) })
	resp, err := client.Do(req)
	if err != nil {
		stalled.Stop()
		return nil, because(ctx, err, cancel)
	}
	resp.Body = &lively{resp.Body, func() error { return context.Cause(ctx) }, stalled, cancel}
	whole := resp.StatusCode == http.StatusOK
	rest := resp.StatusCode == http.StatusPartialContent && from > 0 && begins(resp.Header.Get("Content-Range"), from)
	if !whole && !rest {
		return nil, errors.Join(&StatusError{resp.StatusCode}, resp.Body.Close())
	}
	return resp, nil
}

// begins says whether a Content-Range (RFC 9110 §14.4) begins where it should.
func begins(header string, at int64) bool {
	var first int64
	_, err := fmt.Sscanf(header, "bytes %d-", &first)
	return err == nil && first == at
}

var errStalled = fmt.Errorf("the server has sent nothing for %v", patience)

// because is err, or why its context ended.
func because(ctx context.Context, err error, cancel context.CancelCauseFunc) error {
	if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
		err = cause
	}
	cancel(nil)
	return err
}

// A lively body ends with an error when nothing comes for too long.
type lively struct {
	io.ReadCloser
	cause   func() error // why the request ended; nil while it goes on
	stalled *time.Timer
	cancel  context.CancelCauseFunc
}

func (l *lively) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	l.stalled.Reset(patience)
	if cause := l.cause(); err != nil && errors.Is(cause, errStalled) {
		err = cause
	}
	return n, err
}

func (l *lively) Close() error {
	l.stalled.Stop()
	l.cancel(nil)
	return l.ReadCloser.Close()
}
