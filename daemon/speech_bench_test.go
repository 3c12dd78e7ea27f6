package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
	"pressbox/voice/voicetest"
)

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

// BenchmarkSpeech compares POST /v1/audio/speech with sherpa-onnx, which is given the same
// texts, the same voice, the speed at which its speech has the same length, and one thread.
// Both run on two processors, so that the server also uses one thread for the model. The times
// are medians of at least speechTurns, in which both take turns. Limits: the first byte of two
// clauses ≤ 0.6 of the time to the last; all of three clauses ≤ 1.15 × sherpa-onnx, of a long
// text ≤ 1.02 ×.
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
		"application/json", strings.NewReader(fmt.Sprintf(`{"input": %q}`, text))))(b)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b.Fatalf("POST /v1/audio/speech: status %d", resp.StatusCode)
	}
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
