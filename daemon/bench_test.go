package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/audio/pulse"
	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/cli"
	"pressbox/daemon/client"
	"pressbox/daemon/mqtt/mqtttest"
	"pressbox/daemon/recovery"
	"pressbox/daemon/servertest"
	"pressbox/daemon/settings"
	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/espeak"
	"pressbox/voice/onnx"
	"pressbox/voice/voicetest"
)

const twelveWords = "Dinner is ready in the kitchen, please come and wash your hands."

// BenchmarkFirstSample measures the time from POST /notify to the first sample written to PulseAudio, for messages of
// twelve and of five hundred words, and the necessary work: one espeak call, one inference of the first segment, and
// one commit. All are medians, measured in turns. Limits: x-limit ≤ 1, where the limit is 1.15 × (espeak + inference)
// + commit + 5 ms; x-short ≤ 1.2 for the long message.
func BenchmarkFirstSample(b *testing.B) {
	a, c := runApp(b)
	minimum := newMinimum(b, a)
	long := strings.TrimSpace(strings.Repeat(twelveWords+" ", 42))
	var short, longer, needed, limit []time.Duration
	for b.Loop() {
		for range 20 { // of which the medians are told; a second has room for two
			short = append(short, firstSample(b, a, c, twelveWords))
			longer = append(longer, firstSample(b, a, c, long))
			speech, commit := minimum.measure(b)
			needed = append(needed, speech+commit)
			limit = append(limit, speech*115/100+commit+5*time.Millisecond)
		}
	}
	b.ReportMetric(median(short).Seconds()*1e3, "ms/first-sample")
	b.ReportMetric(median(needed).Seconds()*1e3, "ms/needed")
	b.ReportMetric(float64(median(short))/float64(median(limit)), "x-limit")
	b.ReportMetric(float64(median(longer))/float64(median(short)), "x-short")
	b.ReportMetric(0, "ns/op")
}

// firstSample returns the time to a message's first sample, and cancels the message. Canceling
// may have ended the espeak child, so it is started before the measurement.
func firstSample(b *testing.B, a *app, c *client.Client, text string) time.Duration {
	b.Helper()
	check.Must(a.phonemizer.Phonemes(b.Context(), "en-us", "warm"))(b)
	began, before := time.Now(), a.sink.Written()
	r := check.Must(c.Announce(b.Context(), servertest.Request(client.Announcement{Message: text})))(b)
	for a.sink.Written() == before {
		time.Sleep(50 * time.Microsecond)
	}
	took := time.Since(began)
	check.NoError(b, c.Call(b.Context(), http.MethodDelete, "/notify/"+r.ID, nil, &r))
	return took
}

// runApp runs the server in this process with calibrated voices, until the benchmark ends.
func runApp(b *testing.B) (*app, *client.Client) {
	b.Helper()
	log := slog.New(slog.DiscardHandler)
	values := append(servertest.Settings(b), "PULSE_SERVER="+pulsetest.Start(b, pulsetest.Config{}).Address)
	b.Chdir(servertest.CalibratedDir(b))
	for _, assignment := range values {
		name, value, _ := strings.Cut(assignment, "=")
		b.Setenv(name, value)
	}
	host := check.Must(settings.ForHost(""))(b)
	cfg := host.Config
	st, _, err := recovery.Open(b.Context(), cfg, log)
	check.NoError(b, err)
	sink := pulse.New(pulse.Config{Server: cfg.PulseServer, Log: log})
	a := check.Must(build(cli.ServeOptions{Config: cfg, Log: log}, st, sink))(b)
	s := check.Must(listen(cfg))(b)
	check.Close(b, st)
	b.Cleanup(func() { _ = a.phonemizer.Close() }) // it holds no data
	check.Run(b, func(ctx context.Context) error { return a.run(ctx, s) })
	return a, client.New(urlOf(s.http[0]), "")
}

// A minimum is the work that the first sample requires.
type minimum struct {
	app   *app
	voice *voice.Voice
	first voice.Input // of the model, for the first segment of the message
}

func newMinimum(b *testing.B, a *app) *minimum {
	b.Helper()
	model := filepath.Join(a.Config.ModelDir, a.Config.DefaultVoice+".onnx")
	text := check.Must(os.ReadFile(model + ".json"))(b)
	config := check.Must(voice.ParseConfig(text))(b)
	loaded := check.Must(onnx.Runtime{Library: a.Config.ONNXRuntimeLib}.Load(model, config))(b)
	phonemizer := espeak.New("")
	b.Cleanup(func() { _ = phonemizer.Close() }) // it holds no data
	check.Close(b, loaded)
	v := &voice.Voice{Config: config, Phonemizer: phonemizer, Model: loaded}
	v.Calibration = check.Must(v.Calibrate(b.Context()))(b)
	m := &minimum{app: a, voice: v}
	recorder := &firstInput{Model: loaded, to: m}
	recording := *v
	recording.Model = recorder
	for _, err := range recording.Speak(b.Context(), twelveWords, a.Config.DefaultRate, 0) {
		check.NoError(b, err)
		return m
	}
	b.Fatal("the message has no speech")
	return nil
}

// firstInput records the first input of a model.
type firstInput struct {
	voice.Model
	to   *minimum
	done bool
}

func (m *firstInput) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	if !m.done {
		m.to.first, m.done = in, true
	}
	return m.Model.Infer(ctx, in)
}

// measure returns the time of one espeak call and one inference, and of one commit.
func (m *minimum) measure(b *testing.B) (speech, commit time.Duration) {
	b.Helper()
	began := time.Now()
	check.Must(m.voice.Phonemizer.Phonemes(b.Context(), "en-us", "Dinner is ready in the kitchen"))(b)
	check.Must(m.voice.Model.Infer(b.Context(), m.first))(b)
	speech = time.Since(began)
	began = time.Now()
	check.NoError(b, m.app.store.SaveCalibration("benchmark", make([]byte, 300)))
	return speech, time.Since(began)
}

// BenchmarkStart measures the time from the start of the program, with an existing store, until
// a client can connect. Limit: 50 ms.
func BenchmarkStart(b *testing.B) {
	dir := builtProgram(b)
	env := servertest.Environment(b, servertest.Silent)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		p := check.Must(servertest.Start(dir, env))(b)
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
		took = append(took, time.Since(began))
		check.NoError(b, err)
		conn.Close()
		check.NoError(b, p.End(syscall.SIGTERM))
	}
	b.ReportMetric(median(took).Seconds()*1e3, "ms/start")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdle measures a server without voices and without requests, connected to its sound
// server, for a minute. Limits: 40 MB, 0.2 wake-ups/s.
func BenchmarkIdle(b *testing.B) { benchmarkIdle(b) }

// BenchmarkIdleMQTT measures the same with a connection to a broker, which has a ping each
// minute. Limit: 0.5 wake-ups/s.
func BenchmarkIdleMQTT(b *testing.B) {
	benchmarkIdle(b, "MQTT_URL="+mqtttest.Start(b).URL("mqtt").String())
}

func benchmarkIdle(b *testing.B, values ...string) {
	b.Helper()
	dir := builtProgram(b)
	env := servertest.Environment(b, append(values,
		"MODEL_DIR="+b.TempDir(), "PULSE_SERVER="+pulsetest.Start(b, pulsetest.Config{}).Address)...)
	p := check.Must(servertest.Start(dir, env))(b)
	defer p.End(syscall.SIGTERM)
	for b.Loop() {
		<-time.After(10 * time.Second) // after the work of the start
		before := wakeUps(b, p.Cmd.Process.Pid)
		<-time.After(time.Minute)
		after := wakeUps(b, p.Cmd.Process.Pid)
		b.ReportMetric(float64(after-before)/60, "wake-ups/s")
		b.ReportMetric(float64(status(b, fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid), "VmRSS"))/1e3, "MB-rss")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdleESPHome measures the same with Home Assistant, which pings each 20 s, and then the memory of eight
// connections. Limits: 0.5 wake-ups/s, 1 MB.
func BenchmarkIdleESPHome(b *testing.B) {
	dir := builtProgram(b)
	sound := pulsetest.Start(b, pulsetest.Config{})
	env := servertest.Environment(b, "MODEL_DIR="+b.TempDir(), "PULSE_SERVER="+sound.Address)
	p := check.Must(servertest.Start(dir, env))(b)
	defer p.End(syscall.SIGTERM)
	check.That(b, p.AwaitLog("protocol=esphome"), "it does not listen")
	_, address, _ := strings.Cut(p.Logged(), "protocol=esphome address=")
	address, _, _ = strings.Cut(address, "\n")
	connect := func(host byte) net.Conn {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, host)}} // two of an address are permitted
		conn := check.Must(from.Dial("tcp", address))(b)
		check.Must(conn.Write([]byte("\x00\x00\x01\x00\x00\x14")))(b) // hello, and the states
		go io.Copy(io.Discard, conn)
		b.Cleanup(func() { conn.Close() })
		return conn
	}
	memory := func() float64 {
		return float64(status(b, fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid), "VmRSS")) / 1e3
	}
	for b.Loop() {
		conn := connect(1)
		<-time.After(10 * time.Second) // after the work of the start
		before := wakeUps(b, p.Cmd.Process.Pid)
		for range 3 {
			check.Must(conn.Write([]byte("\x00\x00\x07")))(b)
			<-time.After(20 * time.Second)
		}
		b.ReportMetric(float64(wakeUps(b, p.Cmd.Process.Pid)-before)/60, "wake-ups/s")
		one := memory()
		for i := range byte(7) {
			connect(2 + i/2)
		}
		<-time.After(time.Second)
		b.ReportMetric((memory()-one)*8/7, "MB-eight")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkVoicesIdle measures the memory a minute after each bundled voice has said twenty sentences. Limit: 130 MB.
func BenchmarkVoicesIdle(b *testing.B) {
	sentences := strings.SplitAfter(string(voicetest.Read(b, "voice/testdata/passages.txt")), ". ")[:20]
	for b.Loop() {
		s := servertest.NewServer(b)
		for _, sentence := range sentences {
			for _, name := range voicetest.Names(b) {
				s.Samples(client.Announcement{Message: sentence, Voice: name})
			}
		}
		<-time.After(time.Minute)
		b.ReportMetric(residentMB(b, s), "MB-rss")
	}
	b.ReportMetric(0, "ns/op")
}

// builtProgram builds the program with the flags of a release, puts it first in PATH, and
// returns an empty working directory.
func builtProgram(b *testing.B) string {
	b.Helper()
	bin := b.TempDir()
	check.NoError(b, servertest.Build(bin, "-trimpath", "-ldflags=-s -w"))
	b.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return b.TempDir()
}

// wakeUps returns the number of voluntary context switches of a process's threads.
func wakeUps(b *testing.B, pid int) int {
	b.Helper()
	threads := check.Must(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid)))(b)
	sum := 0
	for _, thread := range threads {
		sum += status(b, thread, "voluntary_ctxt_switches")
	}
	return sum
}

// status returns a number from a file like /proc/PID/status.
func status(b *testing.B, path, name string) int {
	b.Helper()
	f := check.Must(os.Open(path))(b)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			return check.Must(strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(value, "kB"))))(b)
		}
	}
	b.Fatalf("%s has no %s", path, name)
	return 0
}

func median(ds []time.Duration) time.Duration {
	ds = slices.Clone(ds)
	slices.Sort(ds)
	return ds[len(ds)/2]
}

const (
	speechTurns = 25 // a benchmark's second has two, whose median depends on what else the host does

	twoClauses   = "The washing machine has finished, and the dryer is empty again."
	threeClauses = "Dinner is ready in the kitchen, please come and wash your hands, and call the others."
	longText     = "There is fresh coffee in the kitchen. The plumber comes at ten, " +
		"so please leave the garage door open and move the car. " +
		"It will be warm today with a little rain in the late afternoon, so take an umbrella with you. " +
		"The bus to the city leaves from the corner in about twenty minutes. " +
		"Who left the garage door open last night? " +
		"The game begins at seven, and the home team has won nine of its last twelve games."
)

// BenchmarkSpeech compares POST /v1/audio/speech with sherpa-onnx, which is given the same texts, the same voice, the
// speed at which its speech has the same length, and one thread. Both run on two processors, so that the server also
// uses one thread for the model. The times are medians of at least speechTurns, in which both take turns. Limits: the
// first byte of two clauses ≤ 0.6 of the time to the last; all of three clauses ≤ 1.15 × sherpa-onnx, of a long text ≤
// 1.02 ×.
func BenchmarkSpeech(b *testing.B) {
	dir := servertest.CalibratedDir(b)
	cmd := exec.Command("taskset", "-c", "0,1", "pressbox", "serve")
	cmd.Dir, cmd.Env = dir, servertest.Environment(b, servertest.Silent)
	server := check.Must(servertest.StartCommand(cmd))(b)
	b.Cleanup(func() { _ = server.End(syscall.SIGKILL) }) // it may have ended
	other := startPeer(b)

	speak(b, server.URL, "The voice is loaded now.")
	_, _, short := speak(b, server.URL, threeClauses)
	_, _, long := speak(b, server.URL, longText)
	shortSpeed, longSpeed := other.speedFor(short, threeClauses), other.speedFor(long, longText)
	var first, last, ours, theirs, oursLong, theirsLong []time.Duration
	turn := func() {
		begin, end, _ := speak(b, server.URL, twoClauses)
		first, last = append(first, begin), append(last, end)
		_, end, _ = speak(b, server.URL, threeClauses)
		took, _ := other.speak(shortSpeed, threeClauses)
		ours, theirs = append(ours, end), append(theirs, took)
		_, end, _ = speak(b, server.URL, longText)
		took, _ = other.speak(longSpeed, longText)
		oursLong, theirsLong = append(oursLong, end), append(theirsLong, took)
	}
	for b.Loop() {
		turn()
	}
	for len(ours) < speechTurns {
		turn()
	}
	b.ReportMetric(float64(median(first))/float64(median(last)), "x-last")
	b.ReportMetric(float64(median(ours))/float64(median(theirs)), "x-peer")
	b.ReportMetric(float64(median(oursLong))/float64(median(theirsLong)), "x-peer-long")
	b.ReportMetric(median(ours).Seconds()*1e3, "ms/speech")
	b.ReportMetric(0, "ns/op")
}

// speak requests the speech of a text. It returns the times to its first sample and to its
// end, and its number of samples.
func speak(b *testing.B, url, text string) (first, last time.Duration, samples int) {
	b.Helper()
	const header = 44 // bytes
	began := time.Now()
	resp := check.Must(http.Post(url+"/v1/audio/speech",
		"application/json", strings.NewReader(fmt.Sprintf(`{"input": %q, "response_format": "wav"}`, text))))(b)
	defer resp.Body.Close()
	check.Require(b, resp.StatusCode == http.StatusOK, "POST /v1/audio/speech: status %d", resp.StatusCode)
	check.Must(io.ReadFull(resp.Body, make([]byte, header+2)))(b)
	first = time.Since(began)
	n := check.Must(io.Copy(io.Discard, resp.Body))(b)
	return first, time.Since(began), 1 + int(n)/2
}

// A peer is packaging/peer in a child process.
type peer struct {
	b   *testing.B
	in  io.Writer
	out *bufio.Reader
}

func startPeer(b *testing.B) *peer {
	b.Helper()
	root := voicetest.Root(b)
	program := filepath.Join(b.TempDir(), "peer")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join(root, "packaging/peer")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build packaging/peer: %v\n%s", err, out)
	}
	_, data, _ := strings.Cut(string(check.Must(exec.Command("espeak-ng", "--version").Output())(b)), "Data at: ")
	cmd := exec.Command("taskset", "-c", "0,1", program, voicetest.Path(b, voicetest.Bundled), strings.TrimSpace(data))
	cmd.Stderr = os.Stderr
	in, out := check.Must(cmd.StdinPipe())(b), check.Must(cmd.StdoutPipe())(b)
	check.NoError(b, cmd.Start())
	b.Cleanup(func() {
		in.Close()
		check.NoError(b, cmd.Wait())
	})
	return &peer{b: b, in: in, out: bufio.NewReader(out)}
}

// speak returns the time that the peer takes for a text, and its number of samples.
func (p *peer) speak(speed float64, text string) (took time.Duration, samples int) {
	p.b.Helper()
	check.Must(fmt.Fprintf(p.in, "%f %s\n", speed, text))(p.b)
	check.Must(fmt.Fscanln(p.out, &took, &samples))(p.b)
	return took, samples
}

// speedFor returns the speed at which the peer's speech has so many samples.
func (p *peer) speedFor(samples int, text string) float64 {
	p.b.Helper()
	speed := 1.0
	for range 4 {
		_, n := p.speak(speed, text)
		speed *= float64(n) / float64(samples)
	}
	return speed
}
