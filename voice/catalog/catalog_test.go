package catalog_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/store/crashtest"
	"pressbox/store/killtest"
	"pressbox/voice/catalog"
)

// A fakeServer serves voices in the layout of Piper's catalog.
type fakeServer struct {
	*httptest.Server

	mu     sync.Mutex        // guards the fields below
	files  map[string][]byte // by path
	index  map[string]any
	asked  []string // paths with ranges
	sent   int      // bytes of files
	answer answer   // may be nil
}

// An answer replaces the default one if it returns true.
type answer func(w http.ResponseWriter, r *http.Request, content []byte) bool

const tern = "en_GB-tern-medium"

// open starts a server with two voices, one with a name that is not ASCII.
func open(t *testing.T) *fakeServer {
	t.Helper()
	s := &fakeServer{files: map[string][]byte{}, index: map[string]any{}}
	s.add("en/en_GB/tern/medium/", tern, []string{"en-gb-tern-medium"})
	s.add("pt/pt_PT/tugão/low/", "pt_PT-tugão-low", nil)
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *fakeServer) add(dir, name string, aliases []string) {
	model, random := make([]byte, 300_000), rand.New(rand.NewPCG(1, 2))
	for i := range model {
		model[i] = byte(random.Uint32())
	}
	files := map[string]any{}
	for file, content := range map[string][]byte{
		name + ".onnx": model, name + ".onnx.json": []byte(`{"audio":{}}`), "MODEL_CARD": []byte("* License: CC0\n"),
		"samples/a.mp3": []byte("no"),
	} {
		s.files["/v1/"+dir+file] = content
		files[dir+file] = map[string]any{"size_bytes": len(content), "md5_digest": fmt.Sprintf("%x", md5.Sum(content))}
	}
	s.index[name] = map[string]any{
		"key": name, "language": map[string]string{"name_english": "English", "country_english": "Great Britain"},
		"quality": "medium", "num_speakers": 1, "files": files, "aliases": aliases,
	}
}

func (s *fakeServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/v1/voices.json" {
		_ = json.NewEncoder(w).Encode(s.index)
		return
	}
	content, ok := s.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	s.asked = append(s.asked, filepath.Base(r.URL.Path)+" "+r.Header.Get("Range"))
	if s.answer != nil && s.answer(w, r, content) {
		return
	}
	counted := &countedWriter{ResponseWriter: w}
	http.ServeContent(counted, r, "", time.Time{}, bytes.NewReader(content))
	s.sent += counted.n
}

type countedWriter struct {
	http.ResponseWriter
	n int
}

func (c *countedWriter) Write(p []byte) (int, error) {
	c.n += len(p)
	return c.ResponseWriter.Write(p)
}

func (s *fakeServer) fetch(t *testing.T) *catalog.Catalog {
	t.Helper()
	return check.Must(catalog.Fetch(t.Context(), s.Client(), s.URL+"/v1/voices.json", false))(t)
}

// openRoot opens a directory until the test ends.
func openRoot(t *testing.T, dir string) *os.Root {
	t.Helper()
	root := check.Must(os.OpenRoot(dir))(t)
	t.Cleanup(func() { check.Close(t, root) })
	return root
}

// install installs a voice into a directory.
func (s *fakeServer) install(t *testing.T, dir, name string) error {
	t.Helper()
	c := s.fetch(t)
	v := check.Must(c.Find(name))(t)
	i := catalog.Installer{Catalog: c, Dir: openRoot(t, dir), RetryDelay: time.Millisecond}
	return i.Install(t.Context(), v)
}

// mustInstall installs tern and fails the test unless dir then has its files.
func (s *fakeServer) mustInstall(t *testing.T, dir string) {
	t.Helper()
	check.NoError(t, s.install(t, dir, tern))
	s.expectInstalled(t, dir)
}

// requests returns the requests for files and the number of bytes sent for them.
func (s *fakeServer) requests() (asked []string, sent int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked), s.sent
}

// models returns the requests for tern's model.
func (s *fakeServer) models() []string {
	asked, _ := s.requests()
	return slices.DeleteFunc(asked, func(asked string) bool { return !strings.HasPrefix(asked, tern+".onnx ") })
}

// names returns the files of a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	for _, f := range check.Must(os.ReadDir(dir))(t) {
		all = append(all, f.Name())
	}
	return all
}

// expectInstalled fails the test unless dir has exactly the files of the voice tern.
func (s *fakeServer) expectInstalled(t *testing.T, dir string) {
	t.Helper()
	want := []string{tern + ".MODEL_CARD", tern + ".onnx", tern + ".onnx.json"}
	check.Require(t, slices.Equal(names(t, dir), want), "the directory has %v, want %v", names(t, dir), want)
	got, err := os.ReadFile(filepath.Join(dir, tern+".onnx"))
	check.That(t, err == nil && bytes.Equal(got, s.files["/v1/en/en_GB/tern/medium/"+tern+".onnx"]),
		"the model differs: %d bytes, %v", len(got), err)
}

func TestInstall_complete(t *testing.T) {
	t.Parallel()
	s, dir := open(t), t.TempDir()
	c := s.fetch(t)
	v, err := c.Find("en-gb-tern-medium") // an alias
	check.Require(t, err == nil && v.Name == tern && v.Language == "English, Great Britain" && v.Size() >= 300_000,
		"%+v, %v", v, err)
	last := map[string]int64{}
	i := catalog.Installer{Catalog: c, Dir: openRoot(t, dir), Progress: func(name string, done, total int64) {
		check.That(t, done > last[name] && done <= total, "%s: %d of %d after %d", name, done, total, last[name])
		last[name] = done
	}}
	check.Equal(t, check.Must(c.License(t.Context(), v))(t), "CC0", "License")
	check.NoError(t, i.Install(t.Context(), v))
	s.expectInstalled(t, dir)
	asked, _ := s.requests()
	check.That(t, last[tern+".onnx"] == 300_000 && len(asked) == 4,
		"progress %v; requests %v, want each file once and the card twice", last, asked)
	check.NoError(t, s.install(t, t.TempDir(), "pt_PT-tugão-low")) // a name that is not ASCII
	got := len(c.Voices())
	check.That(t, got == 2, "%d voices are listed, want 2: without aliases", got)
	check.ErrorIs(t, check.Err(c.Find("en_GB-gull-medium")), catalog.ErrUnknown, "an unknown voice")
}

// cut sends the beginning of the requested bytes and closes the connection.
func cut(after int) answer {
	return func(w http.ResponseWriter, r *http.Request, content []byte) bool {
		if len(content) < 1000 {
			return false
		}
		from := 0
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(content)-1, len(content)))
			w.Header().Set("Content-Length", fmt.Sprint(len(content)-from))
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(content[from:min(from+after, len(content))])
		if from+after < len(content) {
			panic(http.ErrAbortHandler)
		}
		return true
	}
}

func TestInstall_resumesAfterDisconnect(t *testing.T) {
	t.Parallel()
	s, dir := open(t), t.TempDir()
	s.answer = cut(100_000)
	s.mustInstall(t, dir)
	models := s.models()
	check.That(t, len(models) == 3 && models[0] == tern+".onnx " && strings.Contains(models[2], "bytes=200000-"),
		"the model was requested as %q, want three parts", models)
}

// A partial file of an earlier run is resumed, also from a server without ranges.
func TestInstall_resumesEarlierPart(t *testing.T) {
	t.Parallel()
	model := "/v1/en/en_GB/tern/medium/" + tern + ".onnx"
	whole := func(w http.ResponseWriter, _ *http.Request, content []byte) bool {
		return check.Err(w.Write(content)) == nil
	}
	for name, tt := range map[string]struct {
		part   func(content []byte) []byte
		answer answer
		sent   int // bytes of the model, at most; 0 means any
	}{
		"beginning":               {func(c []byte) []byte { return c[:250_000] }, nil, 50_000},
		"complete":                {func(c []byte) []byte { return c }, nil, 1},
		"other file":              {func(c []byte) []byte { return bytes.Repeat([]byte("x"), 250_000) }, nil, 0},
		"too long":                {func(c []byte) []byte { return append(slices.Clone(c), 'x') }, nil, 0},
		"server without ranges":   {func(c []byte) []byte { return c[:250_000] }, whole, 0},
		"other file of that size": {func(c []byte) []byte { return bytes.Repeat([]byte("x"), len(c)) }, whole, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := open(t), t.TempDir()
			s.answer = tt.answer
			check.NoError(t, os.WriteFile(filepath.Join(dir, "."+tern+".onnx.part"), tt.part(s.files[model]), 0o600))
			s.mustInstall(t, dir)
			check.That(t, len(s.models()) == 1 || name != "server without ranges", "%d requests", len(s.models()))
			_, sent := s.requests()
			check.That(t, tt.sent == 0 || sent <= tt.sent+1000, "%d bytes were sent, want about %d", sent, tt.sent)
		})
	}
}

// The server may run as another user than the installer, and reads every file.
func TestInstall_modes(t *testing.T) {
	t.Parallel()
	s, dir := open(t), t.TempDir()
	check.NoError(t, os.WriteFile(filepath.Join(dir, "."+tern+".onnx.part"), nil, 0o600)) // as with a umask of 077
	s.mustInstall(t, dir)
	for _, name := range names(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		check.That(t, err == nil && info.Mode().Perm() == 0o644, "%s has the mode %v (%v)", name, info.Mode(), err)
	}
}

// Links in the directory lead nowhere else: a partial file that is one is an error, a voice's file that is
// one is replaced.
func TestInstall_links(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, tt := range []struct {
		link      string
		installed bool
	}{
		{"." + tern + ".onnx.part", false},
		{tern + ".onnx", true},
	} {
		other, dir := filepath.Join(t.TempDir(), "other"), t.TempDir()
		check.NoError(t, os.WriteFile(other, []byte("before"), 0o600))
		check.NoError(t, os.Symlink(other, filepath.Join(dir, tt.link)))
		check.Equal(t, s.install(t, dir, tern) == nil, tt.installed, "%s is a link: installed", tt.link)
		if tt.installed {
			s.expectInstalled(t, dir)
		}
		got, err := os.ReadFile(other)
		check.That(t, string(got) == "before" && err == nil, "%s: the target of the link has %q, %v", tt.link, got, err)
	}
}

// A catalog at another address than https is fetched only on request.
func TestFetch_insecure(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = io.WriteString(w, `{}`)
	}))
	t.Cleanup(server.Close)
	_, err := catalog.Fetch(t.Context(), server.Client(), server.URL, false)
	check.That(t, errors.Is(err, catalog.ErrInsecure) && asked == 0, "http: %v after %d requests", err, asked)
	check.Must(catalog.Fetch(t.Context(), server.Client(), server.URL, true))(t)
	check.Equal(t, asked, 1, "requests over http")
}

// A redirect to https is followed. One from https to http is not, as anyone on the way could answer there.
func TestInstall_redirects(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		from, to string
		refused  bool
	}{
		"https to https": {"https", "https", false},
		"http to http":   {"http", "http", false},
		"http to https":  {"http", "https", false},
		"https to http":  {"https", "http", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := open(t), t.TempDir()
			plain := httptest.NewServer(http.HandlerFunc(s.serve))
			t.Cleanup(plain.Close)
			urls := map[string]string{"https": s.URL, "http": plain.URL}
			s.answer = func(w http.ResponseWriter, r *http.Request, content []byte) bool {
				redirect := len(content) > 1000 && r.URL.RawQuery == ""
				if redirect {
					http.Redirect(w, r, urls[tt.to]+r.URL.EscapedPath()+"?redirected", http.StatusFound)
				}
				return redirect
			}
			c := check.Must(catalog.Fetch(t.Context(), s.Client(), urls[tt.from]+"/v1/voices.json", true))(t)
			i := catalog.Installer{Catalog: c, Dir: openRoot(t, dir), RetryDelay: time.Millisecond}
			err := i.Install(t.Context(), check.Must(c.Find(tern))(t))
			check.Require(t, errors.Is(err, catalog.ErrInsecure) == tt.refused && (err == nil || tt.refused),
				"Install: %v, want refused: %v", err, tt.refused)
			want := map[bool]int{true: 1, false: 2}[tt.refused]
			check.That(t, len(s.models()) == want, "the model was requested %d times, want %d", len(s.models()), want)
			if !tt.refused {
				s.expectInstalled(t, dir)
			}
		})
	}
}

// A file with a SHA-256 is checked by it, whatever its MD5.
func TestInstall_sha256(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sha256   func(content []byte) string
		checksum string
		want     error
	}{
		"right":   {func(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }, "SHA-256", nil},
		"wrong":   {func([]byte) string { return strings.Repeat("0", 64) }, "SHA-256", catalog.ErrChecksum},
		"missing": {func([]byte) string { return "" }, "MD5", nil},
	} {
		s := open(t)
		about := s.index[tern].(map[string]any)["files"].(map[string]any)
		for path, file := range about {
			file.(map[string]any)["sha256_digest"] = tt.sha256(s.files["/v1/"+path])
		}
		check.ErrorIs(t, s.install(t, t.TempDir(), tern), tt.want, "%s", name)
		check.Equal(t, check.Must(s.fetch(t).Find(tern))(t).Checksum(), tt.checksum, "%s: the checksum", name)
	}
}

// Invalid files are not installed, and permanent errors are not retried.
func TestInstall_rejectsInvalidFiles(t *testing.T) {
	t.Parallel()
	status := func(code int) answer {
		return func(w http.ResponseWriter, _ *http.Request, content []byte) bool {
			if len(content) < 1000 {
				return false
			}
			w.WriteHeader(code)
			return true
		}
	}
	other := func(change func([]byte) []byte) answer {
		return func(w http.ResponseWriter, _ *http.Request, content []byte) bool {
			if len(content) > 1000 {
				content = change(slices.Clone(content))
			}
			return check.Err(w.Write(content)) == nil
		}
	}
	for name, tt := range map[string]struct {
		answer   answer
		want     error
		attempts int // for the model
	}{
		"not found":    {status(http.StatusNotFound), &catalog.StatusError{}, 1},
		"forbidden":    {status(http.StatusForbidden), &catalog.StatusError{}, 1},
		"bad gateway":  {status(http.StatusBadGateway), &catalog.StatusError{}, 5},
		"changed file": {other(func(c []byte) []byte { c[7]++; return c }), catalog.ErrChecksum, 2},
		"longer file":  {other(func(c []byte) []byte { return append(c, 'x') }), catalog.ErrChecksum, 2},
		"endless file": {endless, catalog.ErrChecksum, 2},
		"shorter file": {other(func(c []byte) []byte { return c[:1000] }), io.ErrUnexpectedEOF, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := open(t), t.TempDir()
			s.answer = tt.answer
			err := s.install(t, dir, tern)
			_, isStatus := errors.AsType[*catalog.StatusError](err)
			_, wantStatus := errors.AsType[*catalog.StatusError](tt.want)
			check.That(t, isStatus == wantStatus && (isStatus || errors.Is(err, tt.want)),
				"Install: %v, want %v", err, tt.want)
			for _, f := range names(t, dir) {
				check.That(t, strings.HasPrefix(f, ".") && strings.HasSuffix(f, ".part"), "%s was left behind", f)
			}
			models := s.models()
			check.That(t, tt.attempts <= 0 || len(models) == tt.attempts,
				"the model was requested %d times, want %d", len(models), tt.attempts)
		})
	}
}

// endless announces and sends more than a model has, for ever.
func endless(w http.ResponseWriter, _ *http.Request, content []byte) bool {
	if len(content) < 1000 {
		return false
	}
	w.Header().Set("Content-Length", "99999999999")
	for check.Err(w.Write(content)) == nil {
	}
	return true
}

// What a server announces and sends has limits, which it may reach: a catalog of 16 MiB, a header of 64 KiB, a card
// of 64 KiB.
func TestFetch_limits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		body, header int
		ok           bool
	}{{16 << 20, 0, true}, {16<<20 + 1, 0, false}, {2, 60 << 10, true}, {2, 80 << 10, false}} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", tt.header))
			_, _ = io.WriteString(w, "{}"+strings.Repeat(" ", tt.body-2))
		}))
		_, err := catalog.Fetch(t.Context(), catalog.NewClient(), server.URL, true)
		check.That(t, (err == nil) == tt.ok, "a catalog of %d bytes, %d of the header: %v", tt.body, tt.header, err)
		server.Close()
	}
}

func TestFetch_rejectsInvalidCatalogs(t *testing.T) {
	t.Parallel()
	const right = `"size_bytes": 1, "md5_digest": "0123456789abcdef0123456789abcdef"`
	model := func(file string) string {
		return `{"v": {"files": {"v.onnx": {` + file + `}, "v.onnx.json": {` + right + `}}}}`
	}
	for name, text := range map[string]string{
		"not JSON":     `<html>`,
		"list":         `[]`,
		"no files":     `{"a-b": {}}`,
		"no model":     `{"v": {"files": {"v.onnx.json": {` + right + `}, "MODEL_CARD": {` + right + `}}}}`,
		"path in name": `{"../v": {"files": {"../v.onnx": {` + right + `}, "../v.onnx.json": {` + right + `}}}}`,
		"dots in path": `{"v": {"files": {"../../v.onnx": {` + right + `}, "v.onnx.json": {` + right + `}}}}`,
		"leading dot":  `{".v": {"files": {".v.onnx": {` + right + `}, ".v.onnx.json": {` + right + `}}}}`,
		"too large":    model(strings.Replace(right, `: 1`, `: 99999999999`, 1)),
		"negative":     model(strings.Replace(right, `: 1`, `: -1`, 1)),
		"bad SHA-256":  model(right + `, "sha256_digest": "x"`),
		"bad digest":   model(`"size_bytes": 1, "md5_digest": "x"`),
		"too long":     `{"x": "` + strings.Repeat("x", 17<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, text)
			}))
			defer server.Close()
			c, err := catalog.Fetch(t.Context(), server.Client(), server.URL, true)
			check.ErrorIs(t, err, catalog.ErrMalformed, "accepted: %+v", c)
		})
	}
	_, err := catalog.Fetch(t.Context(), http.DefaultClient, "http://127.0.0.1:1/voices.json", true)
	check.That(t, err != nil, "Fetch without a server succeeds")
}

// For any catalog, file names stay inside the directory and contain no special characters.
func FuzzParse(f *testing.F) {
	index, err := json.Marshal(maps.Collect(maps.All(func() map[string]any {
		s := &fakeServer{files: map[string][]byte{}, index: map[string]any{}}
		s.add("en/", tern, []string{"tern", "../tern"})
		return s.index
	}())))
	check.NoError(f, err)
	f.Add(index)
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"../v": {"files": {}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range catalog.FileNames(text) {
			if name != filepath.Base(name) || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\\x00\n") {
				t.Errorf("file name %q", name)
			}
		}
	})
}

// TestMain is also the program of the child processes.
func TestMain(m *testing.M) {
	killtest.Main(m, map[string]killtest.Child{"install": installTern, "interrupted": leavePart})
}

// installTern installs the voice tern. Its arguments are the directory and the server.
func installTern(args []string) error {
	ctx, dir := context.Background(), args[0]
	c, err := catalog.Fetch(ctx, http.DefaultClient, args[1]+"/v1/voices.json", true)
	if err != nil {
		return err
	}
	v, err := c.Find(tern)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	i := catalog.Installer{Catalog: c, Dir: root}
	if err := errors.Join(i.Install(ctx, v), root.Close()); err != nil {
		return err
	}
	return os.WriteFile(crashtest.Acks(dir), []byte("installed\n"), 0o600)
}

// leavePart downloads the model and is killed before it is on disk.
func leavePart(args []string) error {
	resp, err := http.Get(args[1] + "/v1/en/en_GB/tern/medium/" + tern + ".onnx")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	model, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(args[0], "."+tern+".onnx.part"), model, 0o600)
}

// A voice that replaces another is there as a whole or not at all, whenever the power is cut.
func TestInstall_powerCut(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("mounts a file system and starts child processes")
	}
	s := open(t)
	plain := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(plain.Close)
	for _, lives := range [][]string{{"install"}, {"interrupted", "install"}} {
		dir, old := crashtest.TempDir(t), []byte("the earlier model")
		check.NoError(t, os.WriteFile(filepath.Join(dir, tern+".onnx"), old, 0o600))
		disk := crashtest.Mount(t, dir)
		for _, life := range lives {
			out, err := killtest.Command(t, life, disk.Dir, plain.URL).CombinedOutput()
			check.Require(t, err == nil, "%s: %v\n%s", life, err, out)
		}
		n, err := disk.Trace().Replaced(tern+".onnx", old, s.files["/v1/en/en_GB/tern/medium/"+tern+".onnx"])
		check.That(t, err == nil && n >= 20, "%v: %d states: %v", lives, n, err)
		t.Logf("%v: %d states", lives, n)
	}
}
