package soundtest_test

import (
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressbox/audio/pulse"
	"pressbox/audio/pulse/pulsetest"
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
				if got := server.Input("film").Volume; got != tt.want {
					t.Errorf("lowered, the volume is %d, want %d", got, tt.want)
				}
			})
		})
	}
}

// audioFiles returns what setup-audio writes below /etc, without the files whose path contains
// omit.
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
