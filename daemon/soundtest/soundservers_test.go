package soundtest_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
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
	"pressbox/daemon/client"
	"pressbox/daemon/servertest"
	"pressbox/daemon/settings"
	"pressbox/daemon/setup"
	"pressbox/packaging/check"
)

// With the files of setup-audio, PipeWire lets Pressbox lower other programs' streams; without
// WirePlumber's it refuses. A headless sink starts at 100 %.
func TestSetupAudio_onPipeWire(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		setup setup.AudioSetup
		check string // for WirePlumber, which ends if it fails
		omit  string // files that are not installed
		want  int    // the volume of a stream that was lowered
	}{
		"session": {
			setup.AudioSetup{Mode: "session", User: "anna"},
			`assert(device_defaults.properties["default-volume"] == nil)`, "none", 30419,
		},
		"headless": {
			setup.AudioSetup{Mode: "headless"},
			`assert(device_defaults.properties["default-volume"] == 1.0)`,
			"none", 30419,
		},
		"refused": {setup.AudioSetup{Mode: "session", User: "anna"}, "", "/main.lua.d/", 65536},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var socket string
			server := pulsetest.StartPipeWire(t, pulsetest.Config{Files: func(dir string) map[string]string {
				socket = filepath.Join(dir, "pressbox")
				files := audioFiles(t, tt.setup, tt.omit)
				for path, content := range files {
					files[path] = strings.ReplaceAll(content, settings.AudioSocket, socket)
				}
				files["wireplumber/main.lua.d/52-check.lua"] = tt.check + "\n"
				return files
			}})
			sink := pulse.New(pulse.Config{
				Server: "unix:" + socket,
				Log:    slog.New(slog.NewTextHandler(t.Output(), nil)),
			})
			check.Run(t, sink.Run)
			server.PlayTone(pulsetest.Tone{Program: "film", Sink: "speaker"})
			for sink.Status().Name == "" {
				<-time.After(10 * time.Millisecond) // it connects
			}
			pulsetest.Retry(t, func(t *pulsetest.Attempt) { // WirePlumber permits it some time after the connection
				restore := check.Must(sink.Duck(t.Context(), 0.1))(t)
				defer restore()
				got := server.Input("film").Volume
				check.That(t, got == tt.want, "lowered, the volume is %d, want %d", got, tt.want)
			})
		})
	}
}

// audioFiles returns what setup-audio writes below /etc, without the files whose path contains omit.
func audioFiles(t *testing.T, a setup.AudioSetup, omit string) map[string]string {
	t.Helper()
	etc := filepath.Join(t.TempDir(), "etc")
	check.NoError(t, setup.Setup{Root: filepath.Dir(etc), Out: io.Discard}.Audio(a))
	files := make(map[string]string)
	check.NoError(t, filepath.WalkDir(etc, func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, etc+"/")
		if err != nil || entry.IsDir() || strings.Contains(path, omit) || !strings.HasPrefix(name, "pipewire/") &&
			!strings.HasPrefix(name, "wireplumber/") {
			return err
		}
		content, err := os.ReadFile(path)
		files[name] = string(content)
		return err
	}))
	return files
}

// On each sound server, another program's stream is lowered while an announcement is played.
// After a kill in the middle it stays lowered until the next start, and is restored then. The
// announcement is held, so that its next ducking does not follow.
func TestDuck_killedWhileLowered(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB, pulsetest.Config) *pulsetest.Server{
		"PulseAudio": pulsetest.Start,
		"PipeWire":   pulsetest.StartPipeWire,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := servertest.NewServerOn(t, start(t, pulsetest.Config{}), "DUCK=-20")
			s.Sound.PlayTone(pulsetest.Tone{Program: "film", Sink: "speaker"})
			const full, lowered = 65536, 30419 // 20 dB less; volumes are cubic
			awaitVolume(t, s, full)
			s.Post(client.Announcement{Message: passage})
			awaitVolume(t, s, lowered)
			if err := s.End(syscall.SIGKILL); err == nil {
				t.Fatal("the server exited with 0")
			}
			got := s.Sound.Input("film").Volume
			check.That(t, isVolume(got, lowered), "after the kill the volume is %d, want %d", got, lowered)
			s.Restart("QUIET_HOURS=00:00-24:00", "QUIET_MODE=hold")
			awaitVolume(t, s, full)
			if err := s.End(syscall.SIGTERM); err != nil {
				t.Errorf("the server ended with %v", err)
			}
		})
	}
}

// A sink that is unmuted for an urgent announcement is muted again after a kill, by the next start.
func TestAll_urgentKilledWhileUnmuted(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t, "URGENT_UNMUTE=on")
	s.Sound.Pactl("set-sink-mute", "speaker", "1")
	muted := func(want string) {
		t.Helper()
		for begun := time.Now(); !strings.Contains(s.Sound.Pactl("get-sink-mute", "speaker"), want); {
			check.Require(t, time.Since(begun) <= servertest.MaxWait, "not Mute: %s; log: %s", want, s.Logged())
		}
	}
	awaitHealth(t, s.URL, func(h client.Health) bool { return h.Checks.Audio.Detail != "" })
	posted := s.Post(client.Announcement{
		Message: "Leave the house at once by the door to the garden, and wait there until I come.", Urgent: true,
	})
	check.Equal(t, len(posted.Warnings), 0, "warnings")
	muted("no")
	check.That(t, s.End(syscall.SIGKILL) != nil, "the server exited with 0")
	muted("no")
	s.Restart("URGENT_UNMUTE=on", "QUIET_HOURS=00:00-24:00", "QUIET_MODE=hold")
	s.AwaitIdle()
	muted("yes")
}

// isVolume compares volumes; PipeWire's are of another unit.
func isVolume(got, want int) bool { return max(got, want)-min(got, want) <= 1 }

// awaitVolume waits until the film has a volume.
func awaitVolume(t *testing.T, s *servertest.Server, want int) {
	t.Helper()
	for begun := time.Now(); ; {
		got := s.Sound.Input("film").Volume
		if isVolume(got, want) {
			return
		}
		check.Require(t, time.Since(begun) <= servertest.MaxWait,
			"the volume is %d, want %d; log: %s", got, want, s.Logged())
	}
}

const snapcastRate = 48_000 // samples per second of the recipe

// BenchmarkSnapcast runs the commands of rooms.md as they stand there, with Debian's snapserver and two snapclients,
// and measures how far apart these play an announcement: the median of at least five. Limit: 5 ms, from which on two
// clicks are heard as two; words take 30 ms or more. A turn that a busy host spoils does not count.
func BenchmarkSnapcast(b *testing.B) {
	const most = 20 // turns
	s := startSnapcast(b)
	var apart []float64 // ms
	turns := 0
	turn := func() {
		turns++
		if ms, ok := s.measure(); ok {
			apart = append(apart, ms)
		}
	}
	for b.Loop() {
		turn()
	}
	for len(apart) < 5 && turns < most {
		turn()
	}
	check.Require(b, len(apart) >= 5, "%d of %d turns were spoilt", turns-len(apart), turns)
	slices.Sort(apart)
	b.ReportMetric(apart[len(apart)/2], "ms-apart")
	b.ReportMetric(apart[len(apart)-1], "ms-worst")
	b.ReportMetric(float64(turns-len(apart)), "spoilt")
	b.ReportMetric(0, "ns/op")
}

// measure speaks an announcement and returns how many milliseconds apart the rooms play it. It
// reports false unless both play all of it, and alike.
func (s *snapcast) measure() (apart float64, ok bool) {
	s.b.Helper()
	announcement := client.Announcement{Message: "Dinner is ready in the kitchen, please come and wash your hands."}
	speech := s.Samples(announcement)
	s.read(int(time.Since(s.readAt).Seconds() * snapcastRate)) // what was played meanwhile
	s.Post(announcement)
	kitchen, garden := s.read(len(speech)*snapcastRate/rate + 3*snapcastRate) // it is heard after 1 s
	for room, samples := range map[string][]float32{"kitchen": kitchen, "garden": garden} {
		if got := energy(samples, snapcastRate) / energy(speech, rate); math.Abs(got-1) > 0.1 {
			s.b.Logf("%s plays %.2f of the energy of the speech", room, got)
			return 0, false
		}
	}
	lag, alike := offset(kitchen, garden, snapcastRate/20)
	if alike < 0.8 {
		s.b.Logf("within 50 ms, the sound of the rooms is alike to %.2f only", alike)
	}
	return math.Abs(float64(lag)) * 1000 / snapcastRate, alike >= 0.8
}

// A snapcast is a server whose speech snapserver distributes to two rooms.
type snapcast struct {
	*servertest.Server
	b      *testing.B
	dir    string
	rooms  io.Reader // the sound of both, in stereo
	readAt time.Time // when the newest of it was read
}

// startSnapcast returns the rig when both rooms have played silence for ten seconds, in which the clients adjust their
// clocks. The rooms are the channels of one sink, so that one recording has both, with one clock and one beginning.
func startSnapcast(b *testing.B) *snapcast {
	b.Helper()
	recipe := snapcastRecipe(b)
	sound := pulsetest.Start(b, pulsetest.Config{Modules: []string{
		fmt.Sprintf("module-null-sink sink_name=both rate=%d channels=2 channel_map=left,right", snapcastRate),
		"module-remap-sink sink_name=kitchen master=both channels=1 channel_map=left master_channel_map=left remix=no",
		"module-remap-sink sink_name=garden master=both channels=1 channel_map=right master_channel_map=right remix=no",
		strings.TrimPrefix(recipe["load-module"], "load-module "),
	}})
	s := &snapcast{b: b, dir: b.TempDir(), Server: servertest.NewServerOn(b, sound, "PULSE_SINK=rooms")}
	port := strconv.Itoa(pulsetest.FreePort(b))
	check.NoError(b, s.command(recipe["mkfifo"]).Run())
	s.start(s.command(recipe["snapserver"] + " --stream.bind_to_address=127.0.0.1 --stream.port=" + port))
	s.start(s.command(recipe["pacat"]))
	for n, room := range []string{"kitchen", "garden"} {
		client := fmt.Sprintf("%s --port %s --instance %d --hostID %s", recipe["snapclient"], port, n+1, room)
		s.start(s.command(client, "PULSE_SINK="+room))
	}
	for deadline := time.Now().Add(servertest.MaxWait); len(sound.Inputs()) < 4; { // two are of the remapping
		check.Require(b, !time.Now().After(deadline), "the snapclients do not play")
		<-time.After(50 * time.Millisecond)
	}
	parec := s.command("parec --device=both.monitor --raw --format=float32le --channels=2 --latency-msec=20" +
		fmt.Sprintf(" --rate=%d", snapcastRate))
	s.rooms = check.Must(parec.StdoutPipe())(b)
	s.start(parec)
	s.read(10 * snapcastRate)
	return s
}

// snapcastRecipe returns the lines of code of the recipe by their first words.
func snapcastRecipe(b *testing.B) map[string]string {
	b.Helper()
	text := check.Must(os.ReadFile("../../packaging/doc/rooms.md"))(b)
	_, section, _ := strings.Cut(string(text), "\n## Snapcast\n")
	lines := make(map[string]string)
	for line := range strings.Lines(strings.ReplaceAll(section, "\\\n", "")) {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			program, _, _ := strings.Cut(strings.TrimSpace(code), " ")
			lines[program] = strings.TrimSpace(code)
		}
	}
	return lines
}

// command returns a command of the recipe, with the rig's directory and host.
func (s *snapcast) command(line string, env ...string) *exec.Cmd {
	s.b.Helper()
	line = strings.NewReplacer("/run/user/1000", s.dir, "HOST", "127.0.0.1").Replace(line)
	cmd := exec.CommandContext(s.b.Context(), "sh", "-c", "exec "+line)
	unpacked := check.Must(filepath.Abs("../../.build"))(s.b)
	cmd.Env = append([]string{"PATH=" + unpacked + ":" + os.Getenv("PATH"), "HOME=" + s.dir, "PULSE_SERVER=" +
		s.Sound.Address}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// start starts a command, which is killed at the end of the benchmark.
func (s *snapcast) start(cmd *exec.Cmd) {
	s.b.Helper()
	log := check.Must(os.CreateTemp(s.dir, "log"))(s.b)
	defer func() { _ = log.Close() }() // the command has it
	if cmd.Stderr = log; cmd.Stdout == nil {
		cmd.Stdout = log
	}
	check.NoError(s.b, cmd.Start())
	s.b.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // it was killed
		if text, err := os.ReadFile(log.Name()); s.b.Failed() {
			s.b.Logf("%v: %s, %v", cmd.Args, text, err)
		}
	})
}

// read returns the next n samples of both rooms.
func (s *snapcast) read(n int) (kitchen, garden []float32) {
	s.b.Helper()
	both := make([]float32, 2*n)
	check.NoError(s.b, binary.Read(s.rooms, binary.LittleEndian, both))
	s.readAt = time.Now()
	for i := 0; i < len(both); i += 2 {
		kitchen, garden = append(kitchen, both[i]), append(garden, both[i+1])
	}
	return kitchen, garden
}

// energy returns the energy of a sound, in seconds of full scale.
func energy(samples []float32, rate float64) float64 {
	l := loudness(samples)
	return l * l * float64(len(samples)) / rate
}

// offset returns by how many samples, most at most, b is later than a, and how alike they then
// are: 1 if they are the same.
func offset(a, b []float32, most int) (lag int, alike float64) {
	x := a[most : len(a)-most]
	for d := -most; d <= most; d++ {
		y := b[most+d : len(b)-most+d]
		product := 0.0
		for i := range x {
			product += float64(x[i] * y[i])
		}
		if c := product / (loudness(x) * loudness(y) * float64(len(x))); c > alike {
			lag, alike = d, c
		}
	}
	return lag, alike
}
