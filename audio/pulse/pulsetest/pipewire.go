package pulsetest

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

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
