package pulse_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
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
)

// This test is not parallel, so that no other one's goroutines are counted:
// parallel tests wait until it has ended.
func TestNothingRunsOnAfterRun(t *testing.T) {
	before := runtime.NumGoroutine()
	server := pulsetest.Start(t, pulsetest.Config{})
	sink := pulse.New(pulse.Config{Server: server.Address, Log: logger(t)})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- sink.Run(ctx) }()
	if err := sink.Play(t.Context(), all(noise(50*time.Millisecond))); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	until(t, func() bool { return sink.Health() != nil })
	server.Start()
	until(t, func() bool { return sink.Health() == nil })
	if err := sink.Play(t.Context(), all(noise(50*time.Millisecond))); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v, want nil", err)
	}
	server.Kill()
	// One that has said it ended may still be on its last line.
	for limit := time.Now().Add(late); runtime.NumGoroutine() > before && time.Now().Before(limit); {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before:\n%s", n, before, stacks[:runtime.Stack(stacks, true)])
	}
}

func TestServerKilledMidWordAndRestarted(t *testing.T) {
	t.Parallel()
	server := pulsetest.Start(t, pulsetest.Config{})
	sink := reach(t, pulse.Config{Server: server.Address})
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		recording := server.Record()
		played := make(chan error, 1)
		go func() { played <- sink.Play(a.Context(), all(noise(20*time.Second))) }()
		recording.WaitFor(func(s []float32) bool { return len(sounding(s)) > rate/2 })
		server.Kill()
		killed := time.Now()
		if err := <-played; !errors.Is(err, audio.ErrSinkLost) {
			a.Errorf("Play returned %v when the server was killed, want ErrSinkLost", err)
		}
		until(t, func() bool { return sink.Health() != nil })
		if took := time.Since(killed); took > 500*time.Millisecond {
			a.Errorf("the loss was noticed after %v", took)
		}
		if status := sink.Status(); status != (pulse.Status{}) {
			a.Errorf("Status without a server: %+v, want none", status)
		}
		server.Start()
		until(t, func() bool { return sink.Health() == nil })
		recording = server.Record()
		again := noise(300 * time.Millisecond)
		if err := sink.Play(a.Context(), all(again)); err != nil {
			a.Fatalf("Play after the restart: %v", err)
		}
		same(a, span(recording.Stop()), again.Samples)
	})
}

func TestServerAppearsLater(t *testing.T) {
	t.Parallel()
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		server := pulsetest.New(a, pulsetest.Config{})
		sink := run(a, pulse.Config{Server: server.Address})
		until(t, func() bool { return sink.Health() != nil })
		if err := sink.Health(); !errors.Is(err, audio.ErrSinkLost) || !strings.Contains(err.Error(), server.Address) {
			a.Errorf("Health says %q, want ErrSinkLost and the address %s", err, server.Address)
		}
		played := make(chan error, 1)
		go func() { played <- sink.Play(a.Context(), all(noise(100*time.Millisecond))) }()
		server.Start()
		if err := <-played; err != nil {
			a.Errorf("Play that waited for the server: %v", err)
		}
	})
}

func TestNoServerAtAll(t *testing.T) {
	t.Parallel()
	sink := pulse.New(pulse.Config{Server: "unix:" + filepath.Join(t.TempDir(), "native"), Log: logger(t)})
	if err := sink.Health(); err != nil {
		t.Errorf("Health before the first attempt: %v, want nil", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- sink.Run(ctx) }()
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		began := time.Now()
		if err := sink.Play(a.Context(), all(noise(time.Second))); !errors.Is(err, audio.ErrSinkLost) {
			a.Errorf("Play without a server: %v, want ErrSinkLost", err)
		}
		if took := time.Since(began); took < 4*time.Second || took > 7*time.Second {
			a.Errorf("Play gave up after %v, want about 5s", took)
		}
	})
	waiting, giveUp := context.WithCancel(t.Context())
	giveUp()
	if err := sink.Play(waiting, all(noise(time.Second))); !errors.Is(err, context.Canceled) {
		t.Errorf("Play with an ended context: %v, want its error", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v, want nil", err)
	}
}

// The sink is away while it is not there, whatever else the server has.
func TestUnknownSink(t *testing.T) {
	t.Parallel()
	server := pulsetest.Start(t, pulsetest.Config{})
	sink := run(t, pulse.Config{Server: server.Address, Sink: "kitchen"})
	until(t, func() bool { return sink.Health() != nil })
	if err := sink.Health(); !strings.Contains(err.Error(), `"kitchen"`) || !strings.Contains(err.Error(), "speaker") {
		t.Errorf("Health says %q, want the name and the sinks that there are", err)
	}
	kitchen := []string{"load-module", "module-null-sink", "sink_name=kitchen", "sink_properties=device.description=Kitchen"}
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		played := make(chan error, 1)
		go func() { played <- sink.Play(a.Context(), all(noise(100*time.Millisecond))) }()
		module := strings.TrimSpace(server.Pactl(kitchen...))
		if err := <-played; err != nil {
			a.Errorf("Play that waited for its sink: %v", err)
		}
		server.Pactl("unload-module", module)
		until(t, func() bool { return sink.Health() != nil })
	})
	server.Pactl(kitchen...)
	until(t, func() bool { return sink.Health() == nil })
	server.Pactl("set-sink-mute", "kitchen", "1")
	server.Pactl("set-sink-volume", "kitchen", "30%")
	until(t, func() bool { return sink.Status().Muted && sink.Status().Volume == 30 })
	if status := sink.Status(); status.Sink != "kitchen" || status.Description != "Kitchen" ||
		!strings.HasPrefix(status.Server, "pulseaudio ") {
		t.Errorf("Status: %+v", status)
	}
	if err := sink.Health(); err != nil {
		t.Errorf("Health with a muted sink: %v, want nil", err)
	}
}

func TestSinkRemovedMidWord(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"moved", "killed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := pulsetest.Start(t, pulsetest.Config{})
			gone := strings.TrimSpace(server.Pactl("load-module", "module-null-sink", "sink_name=usb"))
			sink := reach(t, pulse.Config{Server: server.Address, Sink: "usb"})
			clips := make(chan audio.Clip)
			played := make(chan error, 1)
			go func() { played <- sink.Play(t.Context(), clips) }()
			clips <- noise(time.Second)
			clips <- noise(time.Second) // the first is being played now
			if name == "killed" {
				gone = "module-null-sink" // all of them, so that there is none to go to
			}
			server.Pactl("unload-module", gone)
			close(clips)
			err := <-played
			if name == "moved" && err != nil {
				t.Errorf("Play of a stream that was moved: %v", err)
			}
			if name == "killed" && !errors.Is(err, audio.ErrSinkLost) {
				t.Errorf("Play of a stream that was killed: %v, want ErrSinkLost", err)
			}
			until(t, func() bool { return sink.Health() != nil })
			server.Pactl("load-module", "module-null-sink", "sink_name=usb")
			if err := sink.Play(t.Context(), all(noise(50*time.Millisecond))); err != nil {
				t.Errorf("Play once the sink was back: %v", err)
			}
			if on := server.Pactl("list", "short", "sink-inputs"); !strings.Contains(server.Pactl("list", "short", "sinks"), field(on, 1)+"\tusb") {
				t.Errorf("the stream is not on the sink that was asked for: %s", on)
			}
		})
	}
}

// A sink that sleeps is woken by silence; one that is awake is not kept
// waiting. The stream is let go in between, or the sink could not sleep.
func TestSuspendedSink(t *testing.T) {
	t.Parallel()
	server := pulsetest.Start(t, pulsetest.Config{
		Extra:   "norewinds=1", // or it renders two seconds of silence ahead of anything
		Modules: []string{"module-suspend-on-idle timeout=1"},
	})
	sink := reach(t, pulse.Config{Server: server.Address, LeadIn: 700 * time.Millisecond})
	play := func() time.Duration {
		began := time.Now()
		if err := sink.Play(t.Context(), all(noise(100*time.Millisecond))); err != nil {
			t.Fatal(err)
		}
		return time.Since(began)
	}
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		for range 2 {
			until(t, func() bool { return sink.Status().State == "suspended" })
			if took := play(); took < 800*time.Millisecond || took > 1600*time.Millisecond {
				a.Errorf("on a sleeping sink 0.1 s takes %v, want 0.7 s more", took)
			}
			if took := play(); took > 600*time.Millisecond {
				a.Errorf("on a waking sink 0.1 s takes %v", took)
			}
		}
	})
}

// What another program does to the sink while we play delays us, no more.
func TestSuspendedMidWord(t *testing.T) {
	t.Parallel()
	server := pulsetest.Start(t, pulsetest.Config{})
	sink := reach(t, pulse.Config{Server: server.Address})
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		recording := server.Record()
		clip := noise(4 * time.Second)
		played := make(chan error, 1)
		go func() { played <- sink.Play(a.Context(), all(clip)) }()
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
		if err := <-played; err != nil {
			a.Error(err)
		}
	})
}

// A sink that stays suspended, and a server that hangs, are lost after 5 s.
func TestStandstill(t *testing.T) {
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
				played := make(chan error, 1)
				go func() { played <- sink.Play(a.Context(), all(noise(20*time.Second))) }()
				until(t, func() bool { return sink.Written() > 0 })
				stop(server)
				began := time.Now()
				if err := <-played; !errors.Is(err, audio.ErrSinkLost) {
					a.Errorf("Play returned %v, want ErrSinkLost", err)
				}
				if took := time.Since(began); took > 12*time.Second {
					a.Errorf("Play gave up after %v", took)
				}
			})
		})
	}
}

// Servers that are none, or hang up at once, cost an attempt and never the
// process.
func TestStrangeServers(t *testing.T) {
	t.Parallel()
	huge := binary.BigEndian.AppendUint32(nil, 0x7FFFFFFF)
	for name, tt := range map[string]struct {
		serve func(net.Conn)
		want  string
	}{
		"hangs up at once": {func(c net.Conn) {}, "closed the connection"},
		"hangs up during auth": {func(c net.Conn) {
			_, _ = io.ReadFull(c, make([]byte, 200))
		}, "closed the connection"},
		"hangs up within its answer": {func(c net.Conn) {
			_, _ = io.ReadFull(c, make([]byte, 200))
			_, _ = c.Write([]byte{0, 0, 0, 15, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0})
		}, "closed the connection"},
		"is a web server":       {say("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), "no PulseAudio server"},
		"is a secure shell":     {say("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"), "no PulseAudio server"},
		"says something huge":   {say(string(huge) + "\xFF\xFF\xFF\xFF" + strings.Repeat("\x00", 12)), "no PulseAudio server"},
		"answers with a string": {say("\x00\x00\x00\x0F\xFF\xFF\xFF\xFF" + strings.Repeat("\x00", 12) + "L\x00\x00\x00\x02L\x00\x00\x00\x00tabc\x00"), "no PulseAudio server"},
		"is too old":            {say("\x00\x00\x00\x0F\xFF\xFF\xFF\xFF" + strings.Repeat("\x00", 12) + "L\x00\x00\x00\x02L\x00\x00\x00\x00L\x00\x00\x00\x0C"), "version 12"},
		"denies access":         {say("\x00\x00\x00\x0F\xFF\xFF\xFF\xFF" + strings.Repeat("\x00", 12) + "L\x00\x00\x00\x00L\x00\x00\x00\x00L\x00\x00\x00\x01"), "refuses us"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			saysOnce(t, run(t, pulse.Config{Server: listen(t, tt.serve)}), tt.want)
		})
	}
}

// A lost server is looked for less and less often, but at once when somebody
// wants to play.
func TestBackOff(t *testing.T) {
	t.Parallel()
	pulsetest.Retry(t, func(a *pulsetest.Attempt) {
		attempts := make(chan time.Time, 1000)
		sink := run(a, pulse.Config{Server: listen(a, func(net.Conn) { attempts <- time.Now() })})
		last := <-attempts
		for pause := 200 * time.Millisecond; pause < time.Second; pause *= 2 {
			next := <-attempts
			if gap := next.Sub(last); gap < pause || gap > pause*7/4 {
				a.Errorf("%v between two attempts, want %v", gap, pause)
			}
			last = next
		}
		until(t, func() bool { return time.Since(last) > 300*time.Millisecond })
		ctx, giveUp := context.WithCancel(a.Context())
		played := make(chan error, 1)
		go func() { played <- sink.Play(ctx, all(noise(time.Second))) }()
		if gap := (<-attempts).Sub(last); gap > time.Second {
			a.Errorf("%v until the attempt for Play, want it at once and not after 1.6s", gap)
		}
		giveUp()
		if err := <-played; !errors.Is(err, context.Canceled) {
			a.Errorf("Play: %v, want its context's error", err)
		}
	})
}

// A server that listens to TCP wants the cookie. Cookie files that cannot be
// read, or hold none, are passed over.
func TestCookies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	secret := file("cookie", bytes.Repeat([]byte("secret! "), 32))
	odd := []string{filepath.Join(dir, "missing"), dir, file("empty", nil), os.DevNull}
	port := pulsetest.FreePort(t)
	server := pulsetest.Start(t, pulsetest.Config{Modules: []string{
		fmt.Sprintf("module-native-protocol-tcp listen=127.0.0.1 port=%d auth-cookie=%s", port, secret),
	}})
	tcp := fmt.Sprintf("tcp:127.0.0.1:%d", port)
	for name, tt := range map[string]struct {
		cfg  pulse.Config
		want string // in what Health says; "" means that it plays
	}{
		"no cookie asked for":    {pulse.Config{Server: server.Address}, ""},
		"odd ones, none asked":   {pulse.Config{Server: server.Address, Cookies: odd}, ""},
		"the right one":          {pulse.Config{Server: tcp, Cookies: append(odd, secret)}, ""},
		"none":                   {pulse.Config{Server: tcp, Cookies: odd}, "wants its cookie"},
		"the wrong one":          {pulse.Config{Server: tcp, Cookies: []string{file("wrong", make([]byte, 256))}}, "wants its cookie"},
		"the second server":      {pulse.Config{Server: "unix:" + dir + "/none " + server.Address}, ""},
		"in the usual directory": {pulse.Config{RuntimeDir: usual(t, server)}, ""},
		"not a server string":    {pulse.Config{Server: "unix:relative/path"}, "absolute path"},
		"another host's":         {pulse.Config{Server: "{elsewhere}" + server.Address}, "none for this host"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := run(t, tt.cfg)
			if tt.want == "" {
				if err := sink.Play(t.Context(), all(noise(20*time.Millisecond))); err != nil {
					t.Error(err)
				}
				return
			}
			saysOnce(t, sink, tt.want)
		})
	}
}

// usual links the server's socket to where a user's server has it.
func usual(t *testing.T, server *pulsetest.Server) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "pulse"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(strings.TrimPrefix(server.Address, "unix:"), filepath.Join(dir, "pulse", "native")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// listen serves every connection with serve and then hangs up.
func listen(tb testing.TB, serve func(net.Conn)) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
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

// say answers whatever comes, and then waits for the other side to hang up.
func say(answer string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.WriteString(c, answer)
		_, _ = io.Copy(io.Discard, c)
	}
}

// late is when something that has not come never will.
const late = 5 * time.Minute

// until waits for something that the server will bring about.
func until(tb testing.TB, law func() bool) {
	tb.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for late := time.After(late); !law(); {
		select {
		case <-tick.C:
		case <-late:
			tb.Fatal("what the test waits for does not come")
		}
	}
}

// saysOnce waits until Health says something.
func saysOnce(t *testing.T, sink *pulse.Sink, want string) {
	t.Helper()
	said := ""
	defer func() {
		if t.Failed() {
			t.Errorf("Health says %q, want %q", said, want)
		}
	}()
	until(t, func() bool {
		if err := sink.Health(); err != nil {
			said = err.Error()
		}
		return strings.Contains(said, want)
	})
}

// field returns a field of the first line of a table with tabs.
func field(table string, n int) string {
	line, _, _ := strings.Cut(table, "\n")
	return strings.Split(line+strings.Repeat("\t", n), "\t")[n]
}

// Run is busy while it waits for a server that does not answer, and not while
// there is nothing to do; what the server took is counted.
func TestWhatItDoesIsSeen(t *testing.T) {
	t.Parallel()
	idle := pulse.New(pulse.Config{Log: logger(t)})
	if idle.Busy() != 0 || idle.Written() != 0 {
		t.Errorf("before Run: busy for %v, %d samples", idle.Busy(), idle.Written())
	}
	stuck := run(t, pulse.Config{Server: listen(t, say(""))})
	until(t, func() bool { return stuck.Busy() > 100*time.Millisecond })

	server := pulsetest.Start(t, pulsetest.Config{})
	sink := reach(t, pulse.Config{Server: server.Address})
	clip := noise(200 * time.Millisecond)
	if err := sink.Play(t.Context(), all(clip)); err != nil {
		t.Fatal(err)
	}
	if sink.Written() < uint64(len(clip.Samples)) {
		t.Errorf("%d samples were written, want %d at least", sink.Written(), len(clip.Samples))
	}
	until(t, func() bool { return sink.Busy() == 0 })
}
