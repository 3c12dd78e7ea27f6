// Package pulsetest starts a sound server for a test: a real PulseAudio or PipeWire with a null sink, which
// plays in real time and can be recorded. It is for tests only.
//
// One law: a server and its files do not outlive the test.
package pulsetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// startTime limits the start of a server on a busy host.
const startTime = 5 * time.Minute

// SinkRate is the usual rate of the sink in samples per second, that of the bundled voices.
const SinkRate = 24000

// A Config configures a server. The zero value is valid.
type Config struct {
	Rate    int      // of the sink "speaker", in samples per second; 0 means SinkRate
	Format  string   // of its samples; "" means float32le
	Extra   string   // further arguments of module-null-sink
	Modules []string // further modules, each with its arguments

	// Files returns further files of PipeWire and WirePlumber, by their paths below XDG_CONFIG_HOME; dir is
	// the server's directory. It may be nil.
	Files func(dir string) map[string]string
}

// A Server is a sound server with one sink, "speaker". A null sink without a listener renders two seconds of
// silence ahead, and the first samples come after them; a recorded one does not.
type Server struct {
	Address string // a server string, for PULSE_SERVER

	tb     testing.TB
	cfg    Config
	dir    string
	launch func(log *os.File) error // starts the programs and returns when they serve

	programs []*program // running
}

// A program is a running part of a server.
type program struct {
	process *os.Process
	exited  chan struct{} // closed when it has ended
}

// Start returns a running server, which ends with the test.
func Start(tb testing.TB, cfg Config) *Server {
	tb.Helper()
	s := New(tb, cfg)
	s.Start()
	return s
}

// New returns a server that is not running; its address is known already. It skips the test in short mode.
func New(tb testing.TB, cfg Config) *Server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("plays sound in real time")
	}
	if cfg.Rate == 0 {
		cfg.Rate = SinkRate
	}
	if cfg.Format == "" {
		cfg.Format = "float32le"
	}
	dir, err := os.MkdirTemp("", "pulse") //nolint:usetesting // its path may be too long for a socket
	check.NoError(tb, err)
	s := &Server{Address: "unix:" + filepath.Join(dir, "native"), tb: tb, cfg: cfg, dir: dir}
	s.launch = s.launchPulseAudio
	tb.Cleanup(func() {
		s.Kill()
		check.NoError(tb, os.RemoveAll(dir))
	})
	return s
}

// Start starts the server, also after Kill, and returns when it listens.
func (s *Server) Start() {
	s.tb.Helper()
	log := check.Must(os.Create(filepath.Join(s.dir, "log")))(s.tb)
	defer func() { _ = log.Close() }() // the programs have it
	if err := s.launch(log); err != nil {
		s.Kill()
		text, _ := os.ReadFile(log.Name())
		s.tb.Fatalf("start a sound server (\"make parts\" installs it): %v\n%s", err, text)
	}
}

func (s *Server) launchPulseAudio(log *os.File) error {
	notify := &net.UnixAddr{Net: "unixgram", Name: filepath.Join(s.dir, "notify")}
	ready, err := net.ListenUnixgram("unixgram", notify)
	if err != nil {
		return err
	}
	defer func() {
		_ = ready.Close()
		_ = os.Remove(notify.Name) // the next start makes it again
	}()
	args := []string{
		"-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--log-level=warn",
		"-L", fmt.Sprintf("module-null-sink sink_name=speaker channels=1 rate=%d format=%s %s",
			s.cfg.Rate, s.cfg.Format, s.cfg.Extra),
	}
	for _, m := range s.cfg.Modules {
		args = append(args, "-L", m)
	}
	args = append(args, "-L", "module-native-protocol-unix auth-anonymous=1 socket="+s.socket())
	cmd := s.command("pulseaudio", args...)
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+ready.LocalAddr().String())
	if err := s.spawn(cmd, log); err != nil {
		return err
	}
	go func(exited <-chan struct{}) {
		<-exited
		_ = ready.Close() // ends awaitReady
	}(s.programs[0].exited)
	return awaitReady(ready)
}

// spawn starts a part of the server.
func (s *Server) spawn(cmd *exec.Cmd, log *os.File) error {
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // killed, so an error is normal
		close(exited)
	}()
	s.programs = append(s.programs, &program{process: cmd.Process, exited: exited})
	return nil
}

// await waits for a condition while the programs run.
func (s *Server) await(condition func() bool) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(startTime); !condition(); {
		select {
		case <-tick.C:
		case <-s.programs[len(s.programs)-1].exited:
			return errors.New("a program of the server has ended")
		case <-late:
			return errors.New("timed out")
		}
	}
	return nil
}

// awaitReady waits for the readiness message of sd_notify(3).
func awaitReady(socket *net.UnixConn) error {
	if err := socket.SetReadDeadline(time.Now().Add(startTime)); err != nil {
		return err
	}
	message := make([]byte, 4096)
	for {
		n, err := socket.Read(message)
		if err != nil {
			return err
		}
		if bytes.Contains(message[:n], []byte("READY=1")) {
			return nil
		}
	}
}

// Kill kills the server (SIGKILL) and waits for its end. It does nothing if the server is not running.
func (s *Server) Kill() {
	for _, p := range s.programs {
		_ = p.process.Kill() // it may be gone already
	}
	for _, p := range s.programs {
		<-p.exited
	}
	s.programs = nil
}

// Signal sends a signal to the server; after SIGSTOP it does not answer.
func (s *Server) Signal(sig syscall.Signal) {
	s.tb.Helper()
	for _, p := range s.programs {
		check.NoError(s.tb, p.process.Signal(sig))
	}
}

// Rate returns the rate of the sink "speaker".
func (s *Server) Rate() int { return s.cfg.Rate }

// Pactl runs pactl with the arguments and returns its output.
func (s *Server) Pactl(args ...string) string {
	s.tb.Helper()
	var failure bytes.Buffer
	pactl := s.command("pactl", append([]string{"--server=" + s.Address}, args...)...)
	pactl.Stderr = &failure
	out, err := pactl.Output()
	if err != nil {
		s.tb.Fatalf("pactl %v: %v: %s", args, err, &failure)
	}
	return string(out)
}

func (s *Server) socket() string { return filepath.Join(s.dir, "native") }

// command returns a command that uses only this server's files and does not outlive the test process.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	// Not the test's context, which ends before the cleanup functions that may still use the server.
	c := exec.CommandContext(context.Background(), name, args...) //nolint:gosec // a test names it
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "XDG_RUNTIME_DIR=" + s.dir, "LC_ALL=C"}
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// maxAttempts limits the attempts of Retry.
const maxAttempts = 6

// An Attempt is one run of a test in real time. It collects errors; Fatal still ends the test.
type Attempt struct {
	*testing.T
	failures []string
}

// Errorf records an error of this attempt.
func (a *Attempt) Errorf(format string, args ...any) {
	a.failures = append(a.failures, fmt.Sprintf(format, args...))
}

// Error records an error of this attempt.
func (a *Attempt) Error(args ...any) {
	a.failures = append(a.failures, fmt.Sprint(args...))
}

// Retry fails the test unless one of a few attempts succeeds. A busy host that stalls in mid-word or starts a program
// too late spoils what is recorded, which is no fault of the code under test; a real fault shows every time. The
// pauses between the attempts become longer, as a host is busy for a while.
func Retry(t *testing.T, attempt func(a *Attempt)) {
	t.Helper()
	var failures []string
	for n := range maxAttempts {
		time.Sleep(time.Duration(n*n) * time.Second)
		a := &Attempt{T: t}
		attempt(a)
		if len(a.failures) == 0 {
			return
		}
		failures = append(failures, fmt.Sprintf("attempt %d: %s", n+1, strings.Join(a.failures, "\n")))
	}
	t.Error(strings.Join(failures, "\n"))
}

// FreePort returns a TCP port without a listener. It is outside the ephemeral range, so the kernel does not
// assign it to others.
func FreePort(tb testing.TB) int {
	tb.Helper()
	const first, last = 20_000, 29_999
	for range last - first {
		port := first + rand.N(last-first) //nolint:gosec // not a secret
		l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		check.NoError(tb, l.Close())
		return port
	}
	tb.Fatal("no free port")
	return 0
}

// pipeWireFiles are the files of PipeWire and WirePlumber below the home of a server: a sink "speaker", and
// no devices of the host. WirePlumber 0.4 ends if it needs D-Bus or a login session, as its portal and its
// monitor of Bluetooth do.
func pipeWireFiles(rate int) map[string]string {
	return map[string]string{
		"pipewire/pipewire.conf.d/speaker.conf": fmt.Sprintf(`context.properties = { default.clock.rate = %d }
context.objects = [ { factory = adapter args = {
	factory.name = support.null-audio-sink
	node.name = speaker
	media.class = Audio/Sink
	audio.position = [ MONO ]
} } ]
`, rate),
		"wireplumber/bluetooth.lua.d/51-test.lua": "bluez_monitor.enabled = false\n",
		"wireplumber/main.lua.d/51-test.lua": `default_access.properties["enable-flatpak-portal"] = false
alsa_monitor.enabled = false
v4l2_monitor.enabled = false
libcamera_monitor.enabled = false
`,
	}
}

// StartPipeWire returns a running PipeWire with WirePlumber and its PulseAudio server, which end with the
// test. Of cfg it uses the rate and the files.
func StartPipeWire(tb testing.TB, cfg Config) *Server {
	tb.Helper()
	s := New(tb, cfg)
	s.Address = "unix:" + filepath.Join(s.dir, "pulse", "native")
	files := pipeWireFiles(s.cfg.Rate)
	if s.cfg.Files != nil {
		maps.Copy(files, s.cfg.Files(s.dir))
	}
	for name, content := range files {
		path := filepath.Join(s.dir, ".config", name)
		check.NoError(tb, os.MkdirAll(filepath.Dir(path), 0o700))
		check.NoError(tb, os.WriteFile(path, []byte(content), 0o600))
	}
	s.launch = s.launchPipeWire
	s.Start()
	return s
}

// launchPipeWire starts the three programs, each when the one before it serves.
func (s *Server) launchPipeWire(log *os.File) error {
	if err := s.spawn(s.command("pipewire"), log); err != nil {
		return err
	}
	if err := s.await(func() bool {
		conn, err := net.Dial("unix", filepath.Join(s.dir, "pipewire-0")) //nolint:noctx // local
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}); err != nil {
		return err
	}
	for _, program := range []string{"wireplumber", "pipewire-pulse"} {
		if err := s.spawn(s.command(program), log); err != nil {
			return err
		}
	}
	return s.await(func() bool {
		out, _ := s.command("pactl", "--server="+s.Address, "get-default-sink").Output() // until it listens
		return strings.TrimSpace(string(out)) == "speaker"
	})
}

// A Recording holds what the sink "speaker" has played since Record, silence included, at the sink's rate.
type Recording struct {
	server *Server
	end    func() // of the recorder

	mu      sync.Mutex
	grown   sync.Cond // waits with mu for more samples or the end
	samples []float32 // only ever appended to
	began   time.Time // when the first of them came
	ended   bool
}

// Record starts a recording and returns once the first samples have arrived.
func (s *Server) Record() *Recording {
	s.tb.Helper()
	parec := s.command("parec", "--server="+s.Address, "--device=speaker.monitor", "--raw", "--format=float32le",
		fmt.Sprintf("--rate=%d", s.cfg.Rate), "--channels=1", "--latency-msec=15")
	pipe := check.Must(parec.StdoutPipe())(s.tb)
	if err := parec.Start(); err != nil {
		s.tb.Fatalf("start parec (\"make parts\" installs it): %v", err)
	}
	r := &Recording{server: s}
	r.grown.L = &r.mu
	read := make(chan struct{})
	go func() {
		defer close(read)
		r.take(pipe)
	}()
	r.end = sync.OnceFunc(func() {
		_ = parec.Process.Kill() // it may have ended with the server
		<-read
		_ = parec.Wait() // it was killed
	})
	s.tb.Cleanup(r.end)
	r.Wait(1)
	return r
}

// take reads samples until the recorder ends.
func (r *Recording) take(pipe io.Reader) {
	in := bufio.NewReaderSize(pipe, 1<<16)
	for {
		_, err := in.Peek(4)
		r.mu.Lock()
		r.ended = err != nil
		if len(r.samples) == 0 {
			r.began = time.Now()
		}
		for range in.Buffered() / 4 {
			var sample [4]byte
			_, _ = in.Read(sample[:]) // it is buffered
			r.samples = append(r.samples, math.Float32frombits(binary.LittleEndian.Uint32(sample[:])))
		}
		r.mu.Unlock()
		r.grown.Broadcast()
		if err != nil {
			return
		}
	}
}

// Wait waits until n samples have been recorded. It returns false if the server dies or stops first.
func (r *Recording) Wait(n int) bool {
	return r.WaitFor(func(samples []float32) bool { return len(samples) >= n })
}

// WaitFor waits until enough returns true for the recorded samples. It returns false if the server dies or
// another minute is recorded first. enough must not change the samples.
func (r *Recording) WaitFor(enough func(samples []float32) bool) bool {
	samples, ended := r.soFar()
	for limit := len(samples) + 60*r.server.cfg.Rate; !enough(samples); {
		if ended || len(samples) > limit {
			return false
		}
		samples, ended = r.after(len(samples))
	}
	return true
}

// soFar returns the recorded samples and whether the recording has ended. Recording continues meanwhile.
func (r *Recording) soFar() (samples []float32, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clip(r.samples), r.ended
}

// after is soFar once there are more than n samples or the recording has ended.
func (r *Recording) after(n int) (samples []float32, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.samples) <= n && !r.ended {
		r.grown.Wait()
	}
	return slices.Clip(r.samples), r.ended
}

// Len returns the number of samples recorded so far.
func (r *Recording) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.samples)
}

// Samples returns the samples recorded so far.
func (r *Recording) Samples() []float32 {
	samples, _ := r.soFar()
	return samples
}

// Stop waits until everything played by now has been recorded, and a quarter of a second longer, and returns
// all samples. It computes their number from the sink's rate and the clock.
func (r *Recording) Stop() []float32 {
	r.mu.Lock()
	played := int(time.Since(r.began).Seconds() * float64(r.server.cfg.Rate))
	r.mu.Unlock()
	r.Wait(max(played, r.Len()) + r.server.cfg.Rate/4)
	r.end()
	return slices.Clone(r.samples)
}

// A Tone is a stream of another program.
type Tone struct {
	Program string // its name
	Sink    string
	Silent  bool // it plays silence
}

// PlayTone plays a tone until the returned function or the test ends, and returns once it is a stream on the server.
func (s *Server) PlayTone(tone Tone) (end func()) {
	s.tb.Helper()
	args := []string{
		"--server=" + s.Address, "--playback", "--raw", "--format=float32le", "--channels=1",
		fmt.Sprintf("--rate=%d", s.cfg.Rate),
		"--latency-msec=150", "--client-name=" + tone.Program, "--device=" + tone.Sink,
	}
	before := len(s.Inputs())
	pacat := s.command("pacat", args...)
	wave := &sine{level: 0.1, frequency: float64(200 + 50*before), rate: float64(s.cfg.Rate)}
	if tone.Silent {
		wave.level = 0
	}
	pacat.Stdin = wave
	check.NoError(s.tb, pacat.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = pacat.Wait() // it is killed
	}()
	end = func() {
		_ = pacat.Process.Kill() // it may have ended with the server
		<-ended
	}
	s.tb.Cleanup(end)
	check.NoError(s.tb, s.await(func() bool { return len(s.Inputs()) > before }))
	return end
}

// A sine is an endless wave.
type sine struct {
	level, frequency, rate float64
	n                      int // samples
}

// Read returns the next samples.
func (s *sine) Read(p []byte) (int, error) {
	n := 0
	for ; n+4 <= len(p); n += 4 {
		v := s.level * math.Sin(2*math.Pi*s.frequency*float64(s.n)/s.rate)
		binary.LittleEndian.PutUint32(p[n:], math.Float32bits(float32(v)))
		s.n++
	}
	return n, nil
}

// An Input is a stream that plays on the server.
type Input struct {
	Index   int
	Sink    int
	Program string
	Volume  int // 65,536 is 100 %
	Corked  bool
}

// Inputs returns all streams that play, by the names of their programs.
func (s *Server) Inputs() []Input {
	s.tb.Helper()
	var list []struct {
		Index      int
		Sink       int
		Corked     bool
		Volume     map[string]struct{ Value int }
		Properties map[string]string
	}
	check.NoError(s.tb, json.Unmarshal([]byte(s.Pactl("--format=json", "list", "sink-inputs")), &list))
	var inputs []Input
	for _, in := range list {
		input := Input{Index: in.Index, Sink: in.Sink, Corked: in.Corked, Program: in.Properties["application.name"]}
		for _, v := range in.Volume {
			input.Volume = v.Value
		}
		inputs = append(inputs, input)
	}
	slices.SortFunc(inputs, func(a, b Input) int { return strings.Compare(a.Program, b.Program) })
	return inputs
}

// Input returns the stream of a program, which must have one.
func (s *Server) Input(program string) Input {
	s.tb.Helper()
	for _, in := range s.Inputs() {
		if in.Program == program {
			return in
		}
	}
	s.tb.Fatalf("%s has no stream", program)
	return Input{}
}

// SetInputVolume sets the volume of a program's stream, as a person does.
func (s *Server) SetInputVolume(program string, volume int) {
	s.tb.Helper()
	s.Pactl("set-sink-input-volume", strconv.Itoa(s.Input(program).Index), strconv.Itoa(volume))
}

// MoveInput moves a program's stream from one sink to another, as a person does: again where nothing happens, as
// WirePlumber 0.4.13 misses one move in twenty, and takes the same one a second time for done.
func (s *Server) MoveInput(program, from, to string) {
	s.tb.Helper()
	in := s.Input(program)
	check.NoError(s.tb, s.await(func() bool {
		s.Pactl("move-sink-input", strconv.Itoa(in.Index), from)
		s.Pactl("move-sink-input", strconv.Itoa(in.Index), to)
		for range 200 { // some seconds
			if s.Input(program).Sink != in.Sink {
				return true
			}
			time.Sleep(5 * time.Millisecond)
		}
		return false
	}))
}
