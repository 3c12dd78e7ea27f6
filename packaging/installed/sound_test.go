//go:build installed

package installed

import (
	"encoding/binary"
	"io"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"pressbox/packaging/check"
)

const rate = 24000 // samples per second of PCM from /v1/audio/speech

// speechRequest returns a request for PCM of a text.
func speechRequest(text string) map[string]any {
	return map[string]any{"model": "tts-1", "voice": "en_US-pressbox-medium", "input": text, "response_format": "pcm"}
}

// decodePCM decodes 16-bit little-endian PCM.
func decodePCM(pcm []byte) []int16 {
	samples := make([]int16, len(pcm)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(pcm[2*i:]))
	}
	return samples
}

func seconds(samples int) float64 { return float64(samples) / rate }

// audible returns the range of samples above −50 dBFS.
func audible(samples []int16) (begin, end int) {
	const floor = 100
	begin = len(samples)
	for i, s := range samples {
		if s > floor || s < -floor {
			begin, end = min(begin, i), i+1
		}
	}
	return min(begin, end), end
}

// similarity returns the median correlation of 0.1 s parts of a sound with a recording, each near its expected
// place. A busy host drops and repeats samples; the expected place shifts with them.
func similarity(recorded, sound []int16) float64 {
	const part, near = rate / 10, rate / 20
	var alike []float64
	shift := 0
	for begin := 0; begin+part <= len(sound); begin += part {
		best, at := 0.0, shift
		for s := shift - near; s <= shift+near; s++ {
			if from := begin + s; from >= 0 && from+part <= len(recorded) {
				if c := correlate(recorded[from:from+part], sound[begin:begin+part]); c > best {
					best, at = c, s
				}
			}
		}
		alike = append(alike, best)
		if best > 0.9 {
			shift = at
		}
	}
	slices.Sort(alike)
	return alike[len(alike)/2]
}

// correlate returns the normalized correlation: 1 if the sounds differ only in level.
func correlate(a, b []int16) float64 {
	var product, squareA, squareB float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		product += x * y
		squareA += x * x
		squareB += y * y
	}
	if squareA == 0 || squareB == 0 {
		return 0
	}
	return product / math.Sqrt(squareA*squareB)
}

// A recording is the output of the monitor of the server's sink.
type recording struct {
	cmd   *exec.Cmd
	out   io.ReadCloser
	ended chan struct{} // closed when recording has ended

	mu    sync.Mutex // guards what follows
	data  []byte
	began time.Time // when the first data arrived
}

// record starts recording and returns when data arrives.
func (s *server) record() *recording {
	s.t.Helper()
	r := &recording{ended: make(chan struct{})}
	r.cmd = s.command("parec", "--server=unix:/run/pressbox-audio/native", "--device=@DEFAULT_MONITOR@",
		"--raw", "--format=s16le", "--channels=1", "--rate="+strconv.Itoa(rate), "--latency-msec=20")
	r.out = check.Must(r.cmd.StdoutPipe())(s.t)
	check.NoError(s.t, r.cmd.Start())
	go func() {
		defer close(r.ended)
		for part := make([]byte, 4096); ; {
			n, err := r.out.Read(part)
			if err != nil { // closed
				return
			}
			r.mu.Lock()
			if len(r.data) == 0 {
				r.began = time.Now()
			}
			r.data = append(r.data, part[:n]...)
			r.mu.Unlock()
		}
	}()
	s.until("something is recorded", func() bool { return r.bytes() > 0 })
	return r
}

func (r *recording) bytes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.data)
}

// stopRecording returns a recording that contains everything played until now, and a
// second more: the recorder may be late.
func (s *server) stopRecording(r *recording) []int16 {
	s.t.Helper()
	const second = 2 * rate // bytes
	r.mu.Lock()
	played := int(time.Since(r.began).Seconds() * second)
	r.mu.Unlock()
	enough := max(played, r.bytes()) + second
	s.until("the recording goes on", func() bool { return r.bytes() >= enough })
	_ = r.out.Close() // ends the recorder
	<-r.ended
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait() // killed
	return decodePCM(r.data)
}
