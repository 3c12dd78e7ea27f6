package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// hostWith returns a root directory with these files.
func hostWith(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for path, text := range files {
		path = filepath.Join(root, path)
		check.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)))
	}
	return root
}

func TestVoltageFindings(t *testing.T) {
	t.Parallel()
	firmware := func(text string) map[string]string { return map[string]string{throttledFile: text + "\n"} }
	driver := func(name, alarm string) map[string]string {
		const hwmon = "sys/class/hwmon/hwmon1/"
		return map[string]string{hwmon + "name": name + "\n", hwmon + voltageAlarmFile: alarm + "\n"}
	}
	for name, tt := range map[string]struct {
		files          map[string]string
		result, detail string // "" means no finding
	}{
		"not a Pi":           {nil, "", ""},
		"another sensor":     {driver("cpu_thermal", "1"), "", ""},
		"firmware: enough":   {firmware("0"), OK, "sufficient"},
		"firmware: hot":      {firmware("80008"), OK, "sufficient"},
		"firmware: now":      {firmware("50005"), Failure, "is too low"},
		"firmware: earlier":  {firmware("0x50000"), Warning, "was too low since the start"},
		"firmware: nonsense": {firmware("?"), Warning, "get_throttled"},
		"driver: enough":     {driver("rpi_volt", "0"), OK, "sufficient"},
		"driver: now":        {driver("rpi_volt", "1"), Failure, "is too low"},
	} {
		found := voltageFindings(hostWith(t, tt.files))
		if len(found) > 0 != (tt.result != "") || tt.result != "" && !has(found, "power", tt.result, tt.detail, "") {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// Journals that were not closed count from the third within a day.
func TestResetFindings(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	unclosed := func(ages ...time.Duration) map[string]string {
		files := make(map[string]string)
		for i, age := range ages {
			files[fmt.Sprintf("var/log/journal/4711/system@%016x-%016x.journal~", now.Add(-age).UnixMicro(), i)] = ""
		}
		return files
	}
	closed := make(map[string]string)
	for i := range 5 {
		closed[fmt.Sprintf("var/log/journal/4711/system@0123456789abcdef0123456789abcdef-%016x-%016x.journal",
			i, now.UnixMicro())] = ""
		closed[fmt.Sprintf("var/log/journal/4711/user-1000@%016x-%016x.journal~", now.UnixMicro(), i)] = ""
	}
	for name, tt := range map[string]struct {
		files map[string]string
		found bool
	}{
		"a journal in memory": {nil, false},
		"clean stops":         {closed, false},
		"two resets":          {unclosed(0, time.Hour), false},
		"three resets":        {unclosed(0, time.Hour, resetsWithin-time.Second), true},
		"one of them earlier": {unclosed(0, time.Hour, resetsWithin), false},
		"from the future":     {unclosed(0, time.Hour, -time.Hour), false},
	} {
		found := resetFindings(hostWith(t, tt.files), now)
		if len(found) > 0 != tt.found || tt.found &&
			!has(found, "power", Warning, "lost power 3 times in the last 24 hours", "power supply") {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestDisplayFindings(t *testing.T) {
	t.Parallel()
	const (
		hdmi = " 0 [vc4hdmi0       ]: vc4-hdmi - vc4-hdmi-0\n                      vc4-hdmi-0\n" +
			" 1 [vc4hdmi1       ]: vc4-hdmi - vc4-hdmi-1\n                      vc4-hdmi-1\n"
		jack = " 2 [Headphones     ]: bcm2835_headpho - bcm2835 Headphones\n                      bcm2835 Headphones\n"
		none = "--- no soundcards ---\n"
	)
	screens := func(cards, first, second string) map[string]string {
		return map[string]string{
			"proc/asound/cards": cards, "sys/class/drm/card1-HDMI-A-1/status": first + "\n",
			"sys/class/drm/card1-HDMI-A-2/status": second + "\n",
		}
	}
	for name, tt := range map[string]struct {
		files map[string]string
		found bool
	}{
		"no sound driver":     {nil, false},
		"no card":             {screens(none, "disconnected", "disconnected"), false},
		"no screen":           {screens(hdmi, "disconnected", "disconnected"), true},
		"a screen":            {screens(hdmi, "disconnected", "connected"), false},
		"unknown":             {screens(hdmi, "unknown", "disconnected"), false},
		"a jack, too":         {screens(hdmi+jack, "disconnected", "disconnected"), false},
		"no screen's drivers": {map[string]string{"proc/asound/cards": hdmi}, false},
	} {
		found := displayFindings(hostWith(t, tt.files))
		if len(found) > 0 != tt.found || tt.found &&
			!has(found, "display", Failure, "no screen is connected to HDMI-A-1, HDMI-A-2", "USB sound card") {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestClockFindings(t *testing.T) {
	t.Parallel()
	const released = "2026-11-20"
	at := time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		now            time.Time
		released       string
		synchronized   bool
		err            error
		result, detail string
	}{
		"synchronized":     {at, released, true, nil, OK, "synchronized"},
		"not synchronized": {at, released, false, nil, Warning, "not synchronized"},
		"unknown":          {at, released, false, errors.New("no adjtimex"), Warning, "no adjtimex"},
		"before the release": {
			at.Add(-time.Second), released, true, nil, Failure, "2026-11-18 23:59:59, before the release",
		},
		"no release": {time.Unix(0, 0), "", true, nil, OK, "synchronized"},
	} {
		if found := clockFindings(tt.now, tt.released, tt.synchronized, tt.err); len(found) != 1 ||
			!has(found, "clock", tt.result, tt.detail, "") {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
