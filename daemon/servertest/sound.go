package servertest

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
)

// A Server is a process with a sound server and a client.
type Server struct {
	*client.Client
	*Process
	Sound *pulsetest.Server

	tb  testing.TB
	dir string // its working directory
	env []string
}

// NewServer starts a server whose voices are calibrated, with the settings given. It is killed
// at the end of the test.
func NewServer(tb testing.TB, values ...string) *Server {
	tb.Helper()
	return NewServerOn(tb, pulsetest.Start(tb, pulsetest.Config{}), values...)
}

// NewServerOn is [NewServer] on a sound server.
func NewServerOn(tb testing.TB, sound *pulsetest.Server, values ...string) *Server {
	tb.Helper()
	s := &Server{tb: tb, dir: CalibratedDir(tb), Sound: sound}
	s.env = Environment(tb, append(values, "PULSE_SERVER="+sound.Address)...)
	s.Restart()
	return s
}

// Restart starts the server after its end, with further settings.
func (s *Server) Restart(values ...string) {
	s.tb.Helper()
	s.Process = RunIn(s.tb, s.dir, append(slices.Clip(s.env), values...))
	s.Client = client.New(s.URL, "")
}

// calibrated holds a store with the calibrations of the bundled voices, which take seconds
// and do not differ between servers.
var calibrated struct {
	sync.Once
	store []byte
}

// CalibratedDir returns a new working directory whose store has the calibrations.
func CalibratedDir(tb testing.TB) string {
	tb.Helper()
	calibrated.Do(func() { calibrated.store = calibrate(tb) })
	dir := tb.TempDir()
	WriteState(tb, dir, "pressbox.db", string(calibrated.store))
	return dir
}

// WriteState writes a file in STATE_DIR of a working directory.
func WriteState(tb testing.TB, dir, name, content string) {
	tb.Helper()
	path := filepath.Join(dir, "state", name)
	check.NoError(tb, os.MkdirAll(filepath.Dir(path), 0o700))
	check.NoError(tb, os.WriteFile(path, []byte(content), 0o600))
}

func calibrate(tb testing.TB) []byte {
	tb.Helper()
	s := &Server{tb: tb, dir: tb.TempDir(), env: Environment(tb, Silent)}
	s.Restart()
	for remaining := 1; remaining > 0; {
		s.Samples(client.Announcement{Message: "One."}) // takes a while
		var list struct {
			Voices []struct {
				WordsPerMinute *float64 `json:"words_per_minute"`
			} `json:"voices"`
		}
		check.NoError(tb, s.Call(tb.Context(), http.MethodGet, "/voices", nil, &list))
		remaining = 0
		for _, v := range list.Voices {
			if v.WordsPerMinute == nil {
				remaining++
			}
		}
	}
	check.NoError(tb, s.End(syscall.SIGTERM))
	return check.Must(os.ReadFile(filepath.Join(s.dir, "state", "pressbox.db")))(tb)
}

// Request returns the request to announce something now.
func Request(a client.Announcement) announce.AnnouncementRequest {
	return announce.AnnouncementRequest{Payload: announce.Payload{Content: a}}
}

// Post creates an announcement.
func (s *Server) Post(request client.Announcement) client.Report {
	s.tb.Helper()
	r, err := s.Announce(s.tb.Context(), Request(request))
	if err != nil {
		s.tb.Fatalf("POST /notify %.40q: %v", request.Message, err)
	}
	return r
}

// AwaitPlayed waits until an announcement has been played.
func (s *Server) AwaitPlayed(id string) {
	s.tb.Helper()
	if r, err := s.Follow(s.tb.Context(), id); err != nil || r.Status != "done" {
		s.tb.Fatalf("the announcement %s ended as %+v, %v\n%s", id, r, err, s.Logged())
	}
}

// AwaitIdle waits until the queue is empty.
func (s *Server) AwaitIdle() {
	s.tb.Helper()
	for {
		var list struct{ Queue []client.Report }
		if err := s.Call(s.tb.Context(), http.MethodGet, "/notify", nil, &list); err != nil {
			s.tb.Fatalf("GET /notify: %v", err)
		}
		if len(list.Queue) == 0 {
			return
		}
		<-time.After(50 * time.Millisecond)
	}
}

// AwaitStatus waits until an announcement has a status.
func (s *Server) AwaitStatus(id, status string) {
	s.tb.Helper()
	for {
		var r client.Report
		if err := s.Call(s.tb.Context(), http.MethodGet, "/notify/"+id, nil, &r); err != nil || r.Ended() {
			s.tb.Fatalf("the announcement %s is %+v, %v; want %s", id, r, err, status)
		}
		if r.Status == status {
			return
		}
	}
}

// Samples returns the samples of an announcement's speech.
func (s *Server) Samples(request client.Announcement) []float32 {
	s.tb.Helper()
	return check.Must(s.Speech(s.tb.Context(), request))(s.tb).Samples
}
