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
)

const rate = 24000 // samples a second of PCM in the API of that shape

// speechRequest asks the API of OpenAI's shape for a text as PCM.
func speechRequest(text string) map[string]any {
	return map[string]any{"model": "tts-1", "voice": "en_US-pressbox-medium", "input": text, "response_format": "pcm"}
}

// decoded is PCM of 16 bits, little-endian.
func decoded(pcm []byte) []int16 {
	samples := make([]int16, len(pcm)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(pcm[2*i:]))
	}
	return samples
}

func seconds(samples int) float64 { return float64(samples) / rate }

// audible is where sound begins and ends.
func audible(samples []int16) (begin, end int) {
	const floor = 100 // −50 dBFS
	begin = len(samples)
	for i, s := range samples {
		if s > floor || s < -floor {
			begin, end = min(begin, i), i+1
		}
	}
	return min(begin, end), end
}

// likeness is how much of a sound was heard, and where it was: the median
// correlation of its tenths of a second with what was heard near the place where
// they should be. A busy machine drops and repeats samples, as nothing in it has
// realtime priority: what comes later is then found later.
func likeness(heard, sound []int16) float64 {
	const part, near = rate / 10, rate / 20
	var alike []float64
	shift := 0
	for begin := 0; begin+part <= len(sound); begin += part {
		best, at := 0.0, shift
		for s := shift - near; s <= shift+near; s++ {
			if from := begin + s; from >= 0 && from+part <= len(heard) {
				if c := correlation(heard[from:from+part], sound[begin:begin+part]); c > best {
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

// correlation is 1 for sounds that differ by their level alone.
func correlation(a, b []int16) float64 {
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

// A recording is what is heard at the appliance's sink.
type recording struct {
	cmd   *exec.Cmd
	out   io.ReadCloser
	ended chan struct{} // closed when no more is heard

	mu    sync.Mutex // guards what follows
	heard []byte
	began time.Time // when the first of it came
}

// record returns when it records.
func (a *appliance) record() *recording {
	a.t.Helper()
	r := &recording{ended: make(chan struct{})}
	r.cmd = a.command("parec", "--server=unix:/run/pressbox-audio/native", "--device=@DEFAULT_MONITOR@",
		"--raw", "--format=s16le", "--channels=1", "--rate="+strconv.Itoa(rate), "--latency-msec=20")
	var err error
	if r.out, err = r.cmd.StdoutPipe(); err != nil {
		a.t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		for part := make([]byte, 4096); ; {
			n, err := r.out.Read(part)
			if err != nil { // it was closed
				return
			}
			r.mu.Lock()
			if len(r.heard) == 0 {
				r.began = time.Now()
			}
			r.heard = append(r.heard, part[:n]...)
			r.mu.Unlock()
		}
	}()
	a.until("something is recorded", func() bool { return r.bytes() > 0 })
	return r
}

func (r *recording) bytes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.heard)
}

// stop ends a recording when all that was played by now is in it, and a second more,
// and returns it. The recorder may be behind; how much was played, the clock says.
func (a *appliance) stop(r *recording) []int16 {
	a.t.Helper()
	const second = 2 * rate // bytes
	r.mu.Lock()
	played := int(time.Since(r.began).Seconds() * second)
	r.mu.Unlock()
	enough := max(played, r.bytes()) + second
	a.until("the recording goes on", func() bool { return r.bytes() >= enough })
	_ = r.out.Close() // which ends who writes to it
	<-r.ended
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait() // it was ended
	return decoded(r.heard)
}
