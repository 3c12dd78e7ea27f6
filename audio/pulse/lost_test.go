package pulse_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/audio/pulse"
	"pressbox/audio/pulse/pulsetest"
	"pressbox/packaging/check"
)

// This test is not parallel, so that it counts no goroutines of other tests.
func TestRun_leavesNoGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	server := pulsetest.Start(t, pulsetest.Config{})
	sink := pulse.New(pulse.Config{Server: server.Address, Log: logger(t)})
	stop := check.Run(t, sink.Run)
	mustPlay(t, sink, noise(50*time.Millisecond))
	server.Kill()
	until(t, func() bool { return sink.Health() != nil })
	server.Start()
	until(t, func() bool { return sink.Health() == nil })
	mustPlay(t, sink, noise(50*time.Millisecond))
	stop()
	server.Kill()
	// A goroutine may still be in its last statement.
	for limit := time.Now().Add(waitLimit); runtime.NumGoroutine() > before && time.Now().Before(limit); {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before:\n%s", n, before, stacks[:runtime.Stack(stacks, true)])
	}
}

func TestPlay_serverKilledMidWord(t *testing.T) {
	server, sink := start(t, pulsetest.Config{})
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		recording := server.Record()
		played := startPlay(a.Context(), sink, all(noise(20*time.Second)))
		recording.WaitFor(func(s []float32) bool { return len(sounding(s)) > rate/2 })
		server.Kill()
		killed := time.Now()
		check.ErrorIs(a, <-played, audio.ErrSinkLost, "Play")
		until(t, func() bool { return sink.Health() != nil })
		took := time.Since(killed)
		check.That(a, took <= 500*time.Millisecond, "the loss was detected after %v", took)
		check.Equal(a, sink.Status(), (pulse.Status{}), "Status without a server")
		server.Start()
		until(t, func() bool { return sink.Health() == nil })
		recording = server.Record()
		again := noise(300 * time.Millisecond)
		mustPlay(a, sink, again)
		same(a, span(recording.Stop()), again.Samples)
	})
}

func TestPlay_waitsForServer(t *testing.T) {
	t.Parallel()
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		server := pulsetest.New(a, pulsetest.Config{})
		sink := run(a, pulse.Config{Server: server.Address})
		until(t, func() bool { return sink.Health() != nil })
		check.ErrorIs(a, sink.Health(), audio.ErrSinkLost, "Health")
		check.Contains(a, fmt.Sprint(sink.Health()), server.Address, "Health")
		played := startPlay(a.Context(), sink, all(noise(100*time.Millisecond)))
		server.Start()
		check.NoError(a, <-played)
	})
}

func TestPlay_withoutServer(t *testing.T) {
	if testing.Short() {
		t.Skip("waits 5 s for a server")
	}
	t.Parallel()
	sink := pulse.New(pulse.Config{Server: "unix:" + filepath.Join(t.TempDir(), "native"), Log: logger(t)})
	check.NoError(t, sink.Health()) // before the first attempt
	check.Run(t, sink.Run)
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		began := time.Now()
		played := startPlay(a.Context(), sink, all(noise(time.Second)))
		check.ErrorIs(a, <-played, audio.ErrSinkLost, "Play without a server")
		took := time.Since(began)
		check.That(a, took >= 4*time.Second && took <= 7*time.Second, "Play gave up after %v, want about 5s", took)
	})
	waiting, giveUp := context.WithCancel(t.Context())
	giveUp()
	played := startPlay(waiting, sink, all(noise(time.Second)))
	check.ErrorIs(t, <-played, context.Canceled, "Play with an ended context")
}

// A missing sink is lost, even if the server has others.
func TestPlay_waitsForSink(t *testing.T) {
	t.Parallel()
	server := pulsetest.Start(t, pulsetest.Config{})
	sink := run(t, pulse.Config{Server: server.Address, Sinks: []string{"kitchen"}})
	until(t, func() bool { return sink.Health() != nil })
	check.Contains(t, sink.Health().Error(), `"kitchen"`, "Health")
	check.Contains(t, sink.Health().Error(), "speaker", "Health, of the existing sinks,")
	kitchen := []string{
		"load-module", "module-null-sink", "sink_name=kitchen", "sink_properties=device.description=Kitchen",
	}
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		played := startPlay(a.Context(), sink, all(noise(100*time.Millisecond)))
		module := strings.TrimSpace(server.Pactl(kitchen...))
		check.NoError(a, <-played)
		server.Pactl("unload-module", module)
		until(t, func() bool { return sink.Health() != nil })
	})
	server.Pactl(kitchen...)
	until(t, func() bool { return sink.Health() == nil })
	server.Pactl("set-sink-mute", "kitchen", "1")
	server.Pactl("set-sink-volume", "kitchen", "30%")
	until(t, func() bool { return sink.Status().Muted && sink.Status().Volume == 30 })
	status := sink.Status()
	check.That(t, status.Name == "kitchen" && status.Description == "Kitchen" && status.Address == server.Address &&
		strings.HasPrefix(status.Server, "pulseaudio "), "Status: %+v", status)
	check.NoError(t, sink.Health()) // with a muted sink
}

func TestPlay_sinkRemovedMidWord(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"moved", "killed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := pulsetest.Start(t, pulsetest.Config{})
			gone := strings.TrimSpace(server.Pactl("load-module", "module-null-sink", "sink_name=usb"))
			sink := reach(t, pulse.Config{Server: server.Address, Sinks: []string{"usb"}})
			clips := make(chan audio.Clip)
			played := startPlay(t.Context(), sink, clips)
			clips <- noise(time.Second)
			clips <- noise(time.Second) // the first one is playing
			if name == "killed" {
				gone = "module-null-sink" // all of them, so that the stream cannot be moved
			}
			server.Pactl("unload-module", gone)
			close(clips)
			want := map[string]error{"moved": nil, "killed": audio.ErrSinkLost}[name]
			check.ErrorIs(t, <-played, want, "Play of a stream that was %s", name)
			until(t, func() bool { return sink.Health() != nil })
			server.Pactl("load-module", "module-null-sink", "sink_name=usb")
			mustPlay(t, sink, noise(50*time.Millisecond))
			on := server.Pactl("list", "short", "sink-inputs")
			check.That(t, strings.Contains(server.Pactl("list", "short", "sinks"), field(on, 1)+"\tusb"),
				"the stream is not on the configured sink: %s", on)
		})
	}
}

// Of several sinks the first that is there plays: the next one takes its place while it is away.
func TestPlay_firstSinkThatIsThere(t *testing.T) {
	t.Parallel()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, pulsetest.Config{})
			sink := reach(t, pulse.Config{Server: server.Address, Sinks: []string{"kitchen", "speaker", "attic"}})
			heard := func() bool {
				recording := server.Record() // of the speaker
				mustPlay(t, sink, noise(300*time.Millisecond))
				return len(sounding(recording.Stop())) > 0
			}
			at := func(name string) { until(t, func() bool { return sink.Status().Name == name }) }
			at("speaker")
			check.That(t, heard(), "nothing is heard on the second sink")
			module := strings.TrimSpace(server.Pactl("load-module", "module-null-sink", "sink_name=kitchen"))
			at("kitchen")
			check.That(t, !heard(), "the second sink plays although the first one is there")
			server.Pactl("unload-module", module)
			at("speaker")
			check.That(t, heard(), "nothing is heard on the second sink once the first one is away")
		})
	}
}

// Silence wakes a suspended sink; a running one gets none. The stream is closed in between, because otherwise
// the sink would not be suspended.
func TestPlay_wakesSuspendedSink(t *testing.T) {
	t.Parallel()
	server := pulsetest.Start(t, pulsetest.Config{Modules: []string{
		"module-null-sink sink_name=hdmi norewinds=1", // otherwise it renders two seconds of silence ahead
		"module-suspend-on-idle timeout=1",
	}})
	sink := reach(t, pulse.Config{Server: server.Address, Sinks: []string{"hdmi"}})
	play := func() time.Duration {
		began := time.Now()
		mustPlay(t, sink, noise(100*time.Millisecond))
		return time.Since(began)
	}
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		for range 2 {
			until(t, func() bool { return sink.Status().State == "suspended" })
			suspended, running := play(), play()
			check.That(a, suspended >= 1600*time.Millisecond && suspended <= 2400*time.Millisecond,
				"on a suspended sink 0.1 s takes %v, want 1.5 s more", suspended)
			check.That(a, running <= 600*time.Millisecond, "on a running sink 0.1 s takes %v", running)
		}
	})
}

// A sink that another program suspends for a while delays the sound.
func TestPlay_suspendedMidWord(t *testing.T) {
	server, sink := start(t, pulsetest.Config{})
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		recording := server.Record()
		clip := noise(4 * time.Second)
		played := startPlay(a.Context(), sink, all(clip))
		recording.WaitFor(func(s []float32) bool { return len(sounding(s)) > rate/4 })
		server.Pactl("suspend-sink", "speaker", "1")
		until(t, func() bool { return sink.Status().State == "suspended" })
		select {
		case err := <-played:
			a.Errorf("Play returned %v while the sink was suspended", err)
			played <- nil
		default:
		}
		server.Pactl("suspend-sink", "speaker", "0")
		check.NoError(a, <-played)
	})
}

// A sink that stays suspended and a server that hangs are lost after 5 s.
func TestPlay_timesOut(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*pulsetest.Server){
		"sink":   func(s *pulsetest.Server) { s.Pactl("suspend-sink", "speaker", "1") },
		"server": func(s *pulsetest.Server) { s.Signal(syscall.SIGSTOP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pulsetest.Retry(t, func(a *pulsetest.Attempt) {
				server := pulsetest.Start(a, pulsetest.Config{})
				sink := reach(a, pulse.Config{Server: server.Address})
				played := startPlay(a.Context(), sink, all(noise(20*time.Second)))
				until(t, func() bool { return sink.Written() > 0 })
				stop(server)
				began := time.Now()
				check.ErrorIs(a, <-played, audio.ErrSinkLost, "Play")
				took := time.Since(began)
				check.That(a, took <= 12*time.Second, "Play gave up after %v", took)
			})
		})
	}
}

// Peers that are no sound servers, or close the connection, cause an error and never end the process.
func TestRun_invalidServers(t *testing.T) {
	t.Parallel()
	frame := func(length, body string) func(net.Conn) {
		return say(length + "\xFF\xFF\xFF\xFF" + strings.Repeat("\x00", 12) + body)
	}
	const (
		short   = "\x00\x00\x00\x0F"
		reply   = "L\x00\x00\x00\x02L\x00\x00\x00\x00"
		failure = "L\x00\x00\x00\x00L\x00\x00\x00\x00"
	)
	for name, tt := range map[string]struct {
		serve func(net.Conn)
		want  string
	}{
		"closes at once":     {func(c net.Conn) {}, "closed the connection"},
		"closes during auth": {func(c net.Conn) { _, _ = io.ReadFull(c, make([]byte, 200)) }, "closed the connection"},
		"closes within its answer": {func(c net.Conn) {
			_, _ = io.ReadFull(c, make([]byte, 200))
			_, _ = c.Write([]byte{0, 0, 0, 15, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0})
		}, "closed the connection"},
		"web server":    {say("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), "not a PulseAudio server"},
		"SSH server":    {say("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"), "not a PulseAudio server"},
		"huge frame":    {frame("\x7F\xFF\xFF\xFF", ""), "not a PulseAudio server"},
		"string answer": {frame(short, reply+"tabc\x00"), "not a PulseAudio server"},
		"old version":   {frame(short, reply+"L\x00\x00\x00\x0C"), "version is 12"},
		"denies access": {frame(short, failure+"L\x00\x00\x00\x01"), "denies access"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			awaitHealth(t, run(t, pulse.Config{Server: listen(t, tt.serve)}), tt.want)
		})
	}
}

// The backoff grows with each attempt, and Play ends it.
func TestRun_backsOff(t *testing.T) {
	t.Parallel()
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		attempts := make(chan time.Time, 1000)
		sink := run(a, pulse.Config{Server: listen(a, func(net.Conn) { attempts <- time.Now() })})
		last := <-attempts
		for pause := 200 * time.Millisecond; pause < time.Second; pause *= 2 {
			next := <-attempts
			gap := next.Sub(last)
			check.That(a, gap >= pause && gap <= pause*7/4, "%v between two attempts, want %v", gap, pause)
			last = next
		}
		until(t, func() bool { return time.Since(last) > 300*time.Millisecond })
		ctx, giveUp := context.WithCancel(a.Context())
		played := startPlay(ctx, sink, all(noise(time.Second)))
		gap := (<-attempts).Sub(last)
		check.That(a, gap <= time.Second, "%v until the attempt for Play, want at once, not after 1.6s", gap)
		giveUp()
		check.ErrorIs(a, <-played, context.Canceled, "Play")
	})
}

// A server on TCP requires the cookie. Cookie files that are unreadable or have the wrong size are skipped.
func TestConfig_serversAndCookies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret, wrong := file(t, bytes.Repeat([]byte("secret! "), 32)), file(t, make([]byte, 256))
	invalid := []string{filepath.Join(dir, "missing"), dir, file(t, nil), os.DevNull}
	server, tcp := startTCP(t, secret)
	for name, tt := range map[string]struct {
		cfg  pulse.Config
		want string // substring of Health; "" means that it plays
	}{
		"no cookie required":    {pulse.Config{Server: server.Address}, ""},
		"invalid, not required": {pulse.Config{Server: server.Address, Cookies: invalid}, ""},
		"right cookie":          {pulse.Config{Server: tcp, Cookies: append(invalid, secret)}, ""},
		"invalid":               {pulse.Config{Server: tcp, Cookies: invalid}, "requires its cookie"},
		"wrong cookie":          {pulse.Config{Server: tcp, Cookies: []string{wrong}}, "requires its cookie"},
		"second server":         {pulse.Config{Server: "unix:" + dir + "/none " + server.Address}, ""},
		"default directory":     {pulse.Config{RuntimeDir: runtimeDir(t, server)}, ""},
		"not a server string":   {pulse.Config{Server: "unix:relative/path"}, "absolute path"},
		"other host":            {pulse.Config{Server: "{elsewhere}" + server.Address}, "no address applies"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := run(t, tt.cfg)
			if tt.want == "" {
				mustPlay(t, sink, noise(20*time.Millisecond))
				return
			}
			awaitHealth(t, sink, tt.want)
		})
	}
}

func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cookie")
	check.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

// startTCP starts a server that also listens to TCP and requires the cookie there.
func startTCP(t *testing.T, cookie string) (server *pulsetest.Server, address string) {
	t.Helper()
	port := pulsetest.FreePort(t)
	server = pulsetest.Start(t, pulsetest.Config{Modules: []string{
		fmt.Sprintf("module-native-protocol-tcp listen=127.0.0.1 port=%d auth-cookie=%s", port, cookie),
	}})
	return server, fmt.Sprintf("tcp:127.0.0.1:%d", port)
}

// runtimeDir returns an XDG_RUNTIME_DIR with the server's socket.
func runtimeDir(t *testing.T, server *pulsetest.Server) string {
	t.Helper()
	dir := t.TempDir()
	check.NoError(t, os.Mkdir(filepath.Join(dir, "pulse"), 0o700))
	check.NoError(t, os.Symlink(strings.TrimPrefix(server.Address, "unix:"), filepath.Join(dir, "pulse", "native")))
	return dir
}

// listen serves every connection with serve and then closes it.
func listen(tb testing.TB, serve func(net.Conn)) string {
	tb.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(tb)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
			conn.Close()
		}
	}()
	tb.Cleanup(func() {
		l.Close()
		<-done
	})
	return "tcp:" + l.Addr().String()
}

// say sends an answer and then waits until the peer closes the connection.
func say(answer string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.WriteString(c, answer)
		_, _ = io.Copy(io.Discard, c)
	}
}

// waitLimit limits how long until waits.
const waitLimit = 5 * time.Minute

// until waits for a condition.
func until(tb testing.TB, condition func() bool) {
	tb.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for late := time.After(waitLimit); !condition(); {
		select {
		case <-tick.C:
		case <-late:
			tb.Fatal("timed out")
		}
	}
}

// awaitHealth waits until Health returns an error with a substring.
func awaitHealth(t *testing.T, sink *pulse.Sink, want string) {
	t.Helper()
	got := ""
	defer func() {
		check.That(t, !t.Failed(), "Health returns %q, want %q", got, want)
	}()
	until(t, func() bool {
		if err := sink.Health(); err != nil {
			got = err.Error()
		}
		return strings.Contains(got, want)
	})
}

// field returns a field of the first line of a tab-separated table.
func field(table string, n int) string {
	line, _, _ := strings.Cut(table, "\n")
	return strings.Split(line+strings.Repeat("\t", n), "\t")[n]
}

// Run is busy while it waits for a server that does not answer and not while it is idle; Written counts the
// accepted samples.
func TestSink_busyAndWritten(t *testing.T) {
	t.Parallel()
	idle := pulse.New(pulse.Config{Log: logger(t)})
	check.That(t, idle.Busy() == 0 && idle.Written() == 0,
		"before Run: busy for %v, %d samples", idle.Busy(), idle.Written())
	stuck := run(t, pulse.Config{Server: listen(t, say(""))})
	until(t, func() bool { return stuck.Busy() > 100*time.Millisecond })

	server := pulsetest.Start(t, pulsetest.Config{})
	sink := reach(t, pulse.Config{Server: server.Address})
	clip := noise(200 * time.Millisecond)
	mustPlay(t, sink, clip)
	check.That(t, sink.Written() >= uint64(len(clip.Samples)),
		"%d samples were written, want at least %d", sink.Written(), len(clip.Samples))
	until(t, func() bool { return sink.Busy() == 0 })
}
