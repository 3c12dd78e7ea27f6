package downloads

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice/catalog"
	"pressbox/voice/library"
)

const tern = "en_GB-tern-medium"

// A fakeCatalog serves one voice on this host; the model waits for a receive from gate.
type fakeCatalog struct {
	*httptest.Server
	gate chan struct{}
}

func newFakeCatalog(t *testing.T) *fakeCatalog {
	t.Helper()
	c := &fakeCatalog{gate: make(chan struct{})}
	files, about := map[string][]byte{}, map[string]any{}
	for name, content := range map[string]string{
		tern + ".onnx":      strings.Repeat("model", 1000),
		tern + ".onnx.json": `{"audio":{}}`, "MODEL_CARD": "* License: CC BY 4.0\n",
	} {
		files["/"+name] = []byte(content)
		about[name] = map[string]any{
			"size_bytes": len(content), "md5_digest": fmt.Sprintf("%x", md5.Sum([]byte(content))),
		}
	}
	index := map[string]any{tern: map[string]any{
		"language": map[string]string{"name_english": "English"},
		"quality":  "medium", "num_speakers": 1, "files": about,
	}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/voices.json":
			_ = json.NewEncoder(w).Encode(index)
			return
		case "/" + tern + ".onnx":
			select {
			case <-c.gate:
			case <-r.Context().Done():
			}
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(files[r.URL.Path]))
	}))
	t.Cleanup(c.Close)
	return c
}

// A voices is a library with two voices that are not in the directory of downloads. It finds every voice at once.
type voices struct{}

func (voices) Default() string                   { return "en_US-own-medium" }
func (voices) Changed() <-chan struct{}          { return nil }
func (voices) Voice(name string) (string, error) { return name, nil }
func (voices) Voices() []library.Info {
	return []library.Info{{Name: "en_US-own-medium", Default: true}, {Name: "en_US-shared-medium"}}
}

// newDownloads returns running downloads, and the default voices that they set.
func newDownloads(t *testing.T, url string) (d *Downloads, defaults chan string) {
	t.Helper()
	defaults = make(chan string, 1)
	d = New(Config{
		URL: url, Dir: filepath.Join(t.TempDir(), "models"), Library: voices{}, Log: slog.New(slog.DiscardHandler),
		SetDefault: func(_ context.Context, name string) error { defaults <- name; return nil },
	})
	check.Run(t, d.Run)
	return d, defaults
}

// until waits until the present installation has a state.
func (d *Downloads) until(t *testing.T, state string) Download {
	t.Helper()
	for t.Context().Err() == nil {
		if last := d.Last(); last.State == state {
			return last
		}
		runtime.Gosched()
	}
	return Download{}
}

// A voice is installed with its progress, one at a time, and removed.
func TestDownloads_install(t *testing.T) {
	t.Parallel()
	c := newFakeCatalog(t)
	d, defaults := newDownloads(t, c.URL+"/voices.json")
	offers := check.Must(d.Offers(t.Context(), ""))(t).Voices
	if len(offers) != 1 || offers[0].License != "CC BY 4.0" || !offers[0].Recommended {
		t.Fatalf("the offers: %+v", offers)
	}
	check.ErrorIs(t, d.Start(t.Context(), "en_GB-gull-medium", false), catalog.ErrUnknown, "an unknown voice")
	check.NoError(t, d.Start(t.Context(), tern, true))
	check.ErrorIs(t, d.Start(t.Context(), tern, true), ErrBusy, "a second installation")
	if last := d.Last(); last.Total != offers[0].Size() || last.Done >= last.Total || d.has(tern) {
		t.Errorf("before the model: %+v", last)
	}
	close(c.gate)
	check.Equal(t, <-defaults, tern, "the default voice")
	if last := d.until(t, Installed); last.Done != last.Total || !d.has(tern) {
		t.Errorf("after the installation: %+v", last)
	}
	check.NoError(t, d.Remove(tern))
	if left := check.Must(os.ReadDir(d.cfg.Dir))(t); len(left) > 0 {
		t.Errorf("after the removal the directory has %v", left)
	}
	for name, want := range map[string]error{
		tern: catalog.ErrUnknown, "../x": catalog.ErrUnknown, "": catalog.ErrUnknown,
		"en_US-own-medium": ErrDefault, "en_US-shared-medium": ErrShared,
	} {
		check.ErrorIs(t, d.Remove(name), want, "remove %q", name)
	}
}

// An installation can be cancelled, and the next one begins.
func TestDownloads_cancel(t *testing.T) {
	t.Parallel()
	c := newFakeCatalog(t)
	d, defaults := newDownloads(t, c.URL+"/voices.json")
	check.NoError(t, d.Start(t.Context(), tern, false))
	for !d.cancelled(tern) { // until Run has begun
		runtime.Gosched()
	}
	d.until(t, "")
	check.That(t, !d.cancelled(tern), "cancelled twice")
	close(c.gate)
	check.NoError(t, d.Start(t.Context(), tern, false))
	if d.until(t, Installed); len(defaults) > 0 {
		t.Errorf("the default voice is %q", <-defaults)
	}
}

// A catalog of another host without https is refused, and one that does not answer reported.
func TestDownloads_unavailable(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]error{
		"http://192.0.2.1/voices.json":    catalog.ErrInsecure,
		"http://127.0.0.1:1/voices.json":  ErrUnavailable,
		"http://localhost.example/x.json": catalog.ErrInsecure,
	} {
		d := New(Config{URL: url})
		if err := d.Start(t.Context(), tern, false); !errors.Is(err, want) || !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v, want %v", url, err, want)
		}
	}
}

func TestRecommend(t *testing.T) {
	t.Parallel()
	offer := func(name, quality string, speakers int, license string) Offer {
		return Offer{Voice: catalog.Voice{Name: name, Quality: quality, Speakers: speakers}, License: license}
	}
	high, medium := offer("en_US-a-high", "high", 1, "Public domain"), offer("en_US-b-medium", "medium", 1, "CC0")
	abroad, many := offer("en_GB-c-medium", "medium", 1, "CC BY 4.0"), offer("en_US-d-medium", "medium", 9, "CC0")
	restricted, unknown := offer("en_US-e-medium", "medium", 1, "CC BY-NC-SA 4.0"),
		offer("en_US-f-medium", "medium", 1, "")
	for want, offers := range map[string][]Offer{
		medium.Name: {restricted, many, abroad, high, medium},
		high.Name:   {abroad, high, unknown},
		abroad.Name: {abroad, unknown, many},
		"":          {restricted, unknown, many},
	} {
		recommend(offers, "US")
		got := ""
		for _, o := range offers {
			if o.Recommended {
				got += o.Name
			}
		}
		check.Equal(t, got, want, "the recommended voice")
	}
}
