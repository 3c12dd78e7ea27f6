//go:build installed

package installed

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/packaging/check"
)

const rate = 24000 // samples per second of PCM from /v1/audio/speech

// speechRequest returns a request for PCM of a text.
func speechRequest(text string) map[string]any {
	return map[string]any{"model": "tts-1", "voice": "en_US-heart-medium", "input": text, "response_format": "pcm"}
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

// A desktop whose sound server is PulseAudio.
func TestDesktop_pulseAudio(t *testing.T) {
	s := newServer(boot(t, "bookworm"))
	s.run("apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends",
		s.copyIn(currentPackage(t)), "pulseaudio", "libpam-systemd", "dbus-user-session")
	s.run("useradd", "--create-home", "alice")
	s.logIn("alice")
	s.run("pressbox", "setup-audio", "session", "--user=alice")
	s.checkPlayback("alice")
	s.run("pressbox", "setup-audio", "--undo")
	s.until("playback has stopped", func() bool { return s.health().Status == "degraded" })
	check.Contains(t, s.as("alice", "pactl", "info"), "Server Name: pulseaudio", "alice's sound server")
}

// testSessionSound switches from the server's own sound server to that of a user's session
// and back. Playback needs the session.
func testSessionSound(s *server) {
	s.logIn("alice")
	s.run("pressbox", "setup-audio", "session", "--user=alice")
	s.checkPlayback("alice")
	s.until("its own sound server has ended",
		func() bool { return s.try("pgrep", "--uid=pressbox", "pipewire") == "exit status 1" })

	s.logOut("alice")
	s.until("playback has stopped", func() bool { return s.health().Status == "degraded" })
	check.Contains(s.t, s.try("pressbox", "doctor"), "alice is not logged in", "doctor")
	s.logIn("alice")
	s.checkPlayback("alice")

	s.run("pressbox", "setup-audio", "--undo")
	s.until("playback has stopped", func() bool { return s.health().Status == "degraded" })
	left := s.run("find", "/etc", "/var/lib/systemd/linger", "-name", "*pressbox*", "!", "-path", "/etc/pressbox*",
		"!", "-path", "/etc/avahi/*", "!", "-path", "/etc/systemd/system/*")
	check.Equal(s.t, left, "", "the remaining files")
	check.That(s.t, !s.exists("/run/pressbox-audio"), "the folder of the socket exists")
	check.Contains(s.t, s.as("alice", "pactl", "info"), "Default Sink", "alice's sound server")
	s.run("pressbox", "setup-audio", "headless")
	s.checkPlayback("pressbox")
}

// logIn logs a user in, as a display manager does.
func (s *server) logIn(name string) {
	s.t.Helper()
	s.run("systemd-run", "--quiet", "--collect", "--unit=login-"+name, "--property=PAMName=login",
		"--property=User="+name, "sleep", "infinity")
	s.until(name+" is logged in", func() bool {
		return s.try("systemctl", "--user", "--machine="+name+"@.host", "is-active", "default.target") == "active"
	})
}

// logOut ends all sessions of a user and waits until they have ended.
func (s *server) logOut(name string) {
	s.t.Helper()
	folder := "/run/user/" + s.run("id", "--user", name)
	s.run("systemctl", "stop", "login-"+name+".service")
	s.run("loginctl", "terminate-user", name)
	s.until(name+" is logged out", func() bool { return !s.exists(folder) })
}

// as runs a program as a user who is logged in.
func (s *server) as(name string, args ...string) string {
	s.t.Helper()
	return s.run(append([]string{"runuser", "--user=" + name, "--", "env", "XDG_RUNTIME_DIR=/run/user/" +
		s.run("id", "--user", name)}, args...)...)
}

// testWyoming checks that a client of the Wyoming protocol starts the stopped service, and that
// its port has the address filter of the first one; that nothing is served with WYOMING=off; and
// that a port in use does not keep the server from starting.
func testWyoming(s *server) {
	s.run("systemctl", "stop", "pressbox.service")
	s.checkWyoming()
	for address, answered := range map[string]bool{"192.168.77.1": true, "203.0.113.77": false} {
		got := s.try("timeout", "5", "bash", "-c", `exec 3<>/dev/tcp/`+address+`/10200 &&
			echo '{"type":"ping"}' >&3 && head -n 1 <&3`)
		check.Equal(s.t, strings.Contains(got, "pong"), answered, "%s is answered %q, a pong", address, got)
	}

	s.run("sh", "-c", "echo WYOMING=off >>"+settingsFile)
	s.run("systemctl", "restart", "pressbox.service")
	check.Equal(s.t, s.describe(), "", "the answer with WYOMING=off")
	s.run("sed", "-i", "/^WYOMING=/d", settingsFile)

	s.run("systemctl", "stop", "pressbox.service", "pressbox-wyoming.socket")
	s.run("systemd-run", "--quiet", "--unit=piper", "systemd-socket-activate", "--listen=10200", "true")
	s.until("another program listens", func() bool {
		return strings.Contains(s.run("ss", "-Hltn", "sport = :10200"), "10200")
	})
	s.run("systemctl", "start", "pressbox.service")
	doctor := s.try("pressbox", "doctor")
	warned := containsLine(doctor, "warn", "wyoming", "port 10200 is in use by another program")
	check.That(s.t, warned, "doctor with a port in use:\n%s", doctor)
	s.run("systemctl", "stop", "piper.service")
	s.run("systemctl", "restart", "pressbox.service")
	s.checkWyoming()
	check.Equal(s.t, s.run("systemctl", "is-active", "pressbox-wyoming.socket"), "active", "the socket after a restart")
}

// checkWyoming checks that a client of the Wyoming protocol learns the voices.
func (s *server) checkWyoming() {
	s.t.Helper()
	check.Contains(s.t, s.describe(), `"name":"en_US-heart-medium"`, "the answer at port 10200")
}

// describe returns the data of the response to a describe; "" if there is none.
func (s *server) describe() string {
	s.t.Helper()
	conn := check.Must(s.dial(s.t.Context(), "tcp", "127.0.0.1:10200"))(s.t)
	defer conn.Close()
	_, _ = io.WriteString(conn, "{\"type\": \"describe\"}\n") // the server may have closed it
	in := bufio.NewReader(conn)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return ""
	}
	var header struct {
		Length int `json:"data_length"`
	}
	check.NoError(s.t, json.Unmarshal(line, &header))
	data := make([]byte, header.Length)
	if _, err := io.ReadFull(in, data); err != nil {
		return fmt.Sprint(err)
	}
	return string(data)
}
