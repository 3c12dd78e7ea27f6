package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/audio/pulse"
	"pressbox/auth"
	"pressbox/daemon/settings"
	"pressbox/daemon/setup"
	"pressbox/daemon/web"
	"pressbox/game/leagues"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/voice/library"
)

// has reports whether there is a finding of that name and result whose detail and remedy contain these texts.
func has(findings []Finding, name, result, detail, remedy string) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool {
		return f.Name == name && f.Result == result && strings.Contains(f.Detail, detail) &&
			strings.Contains(f.Remedy, remedy)
	})
}

// A user who may not use the admin socket gets the public health, and no findings about another environment.
func TestDoctor_publicHealth(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"status":"failing","version":"1","checks":{`+
			`"store":{"status":"failing","detail":"the disk is full"},`+
			`"audio":{"status":"degraded","detail":"the sink speaker is muted","sink":"speaker","muted":true}}}`)
	}))
	t.Cleanup(server.Close)
	port := server.Listener.Addr().(*net.TCPAddr).Port
	r := Doctor{
		cfg: settings.Config{Host: "127.0.0.1", Port: port}, denied: errors.New("only root may"),
	}.Run(t.Context())
	if r.Source != FromHealth || !has(r.Findings, "server",
		Warning, "version 1 answers at "+server.URL+"; only root may", "run doctor as root") ||
		!has(r.Findings, "store", Failure, "the disk is full", "") ||
		!has(r.Findings, "sound", Failure, "speaker is muted", "") {
		t.Errorf("found %+v", r)
	}
}

// A full disk is another problem than a full store.
func TestStoreFindings(t *testing.T) {
	t.Parallel()
	for remedy, err := range map[string]error{
		"free disk space":         fmt.Errorf("%w: %w", store.ErrFull, syscall.ENOSPC),
		"increase STORE_MAX_SIZE": fmt.Errorf("announcements: %w", store.ErrFull),
		"broken disk":             syscall.EIO,
		"systemctl restart":       store.ErrCorrupt,
	} {
		found := storeFindings("state/pressbox.db", store.Stats{}, err)
		check.That(t, has(found, "store", Failure, err.Error(), remedy), "%v: %+v", err, found)
	}
}

// These problems cannot be made on the test's host.
func TestSoundFindings(t *testing.T) {
	t.Parallel()
	sink := pulse.SinkInfo{Name: "hdmi", Description: "TV", State: "idle", Volume: 100, Port: "HDMI / DisplayPort"}
	unplugged, muted, zero, low, half := sink, sink, sink, sink, sink
	unplugged.Unplugged, muted.Muted, zero.Volume, low.Volume = true, true, 0, pulse.LowVolume-1
	answered := []pulse.Attempt{{Address: "unix:/x"}}
	half.Volume = pulse.LowVolume
	on := func(s pulse.SinkInfo) pulse.Inspection {
		return pulse.Inspection{Attempts: answered, Server: "PipeWire", Default: "hdmi", Sinks: []pulse.SinkInfo{s}}
	}
	noDefault, noProfile := on(sink), pulse.Inspection{Attempts: answered, Server: "PipeWire", Cards: 1}
	noDefault.Default = ""
	other := pulse.Inspection{
		Attempts: []pulse.Attempt{{Address: "tcp:x:80", Failure: pulse.Other, Detail: "no PulseAudio server"}},
	}
	const set = "pactl --server=unix:/x set-sink-"
	for name, tt := range map[string]struct {
		report         pulse.Inspection
		result         string
		detail, remedy string
	}{
		"no problem":      {on(sink), OK, "TV, idle, volume 100 %", ""},
		"unplugged":       {on(unplugged), Failure, "into hdmi (HDMI / DisplayPort)", "switch the screen"},
		"muted":           {on(muted), Failure, "hdmi is muted", set + "mute hdmi 0"},
		"at 0":            {on(zero), Failure, "hdmi is 0 %", set + "volume hdmi 100%"},
		"low":             {on(low), Warning, "hdmi is 49 %", set + "volume hdmi 100%"},
		"not low":         {on(half), OK, "volume 50 %", ""},
		"no profile":      {noProfile, Failure, "has no sink", "pactl set-card-profile"},
		"another program": {other, Failure, "tcp:x:80: no PulseAudio", "PULSE_SERVER"},
		"no default":      {noDefault, OK, "TV", ""},
	} {
		found := soundFindings(tt.report, settings.Config{Volume: 100})
		check.That(t, has(found, "sound", tt.result, tt.detail, tt.remedy), "%s: found %+v", name, found)
	}
}

func TestUnitFindings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		load, active, result, restarts, file string
		want, detail, remedy                 string
	}{
		{"loaded", "active", "success", "0", "enabled", OK, "is active", ""},
		{"loaded", "active", "success", "3", "enabled", Warning, "restarted 3 times", "journalctl"},
		{"loaded", "failed", "watchdog", "9", "enabled", Failure, "watchdog", "journalctl"},
		{"loaded", "inactive", "success", "0", "disabled", Warning, "does not start at boot", "systemctl enable"},
		{"masked", "inactive", "success", "0", "masked-runtime", Failure, "masked", "unmask"},
	} {
		properties := fmt.Sprintf("LoadState=%s\nActiveState=%s\nResult=%s\nNRestarts=%s\nUnitFileState=%s\n",
			tt.load, tt.active, tt.result, tt.restarts, tt.file)
		if found := unitFindings(properties); !has(found, "unit", tt.want, tt.detail, tt.remedy) {
			t.Errorf("%q: found %+v", properties, found)
		}
	}
	if found := unitFindings("LoadState=not-found\n"); len(found) != 0 {
		t.Errorf("not installed: %+v", found)
	}
}

func TestCheckJournal(t *testing.T) {
	t.Parallel()
	root := t.TempDir() + "/"
	if found := checkJournal(root); !has(found, "journal", Warning, "in memory", "Storage=persistent") {
		t.Errorf("a volatile journal: %+v", found)
	}
	check.NoError(t, os.MkdirAll(root+"var/log/journal", 0o755))
	if found := checkJournal(root); !has(found, "journal", OK, "", "") {
		t.Errorf("a persistent journal: %+v", found)
	}
}

// Without landlock espeak-ng works, and the finding names a remedy.
func TestConfinementFindings(t *testing.T) {
	t.Parallel()
	if found := confinementFindings(nil); !has(found, "sandbox", OK, "is confined", "") {
		t.Errorf("everything supported: %+v", found)
	}
	found := confinementFindings(fmt.Errorf("landlock: %w", syscall.ENOSYS))
	check.That(t, has(found, "sandbox", Warning, "landlock: function not implemented", "lsm="),
		"without landlock: %+v", found)
}

func TestCheckMemory(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for controllers, want := range map[string]int{"cpu io pids\n": 1, "cpu memory\n": 0} {
		check.NoError(t, os.WriteFile(root+"/cgroup.controllers", []byte(controllers), 0o600))
		found := checkMemory(root)
		check.That(t, len(found) == want, "controllers %q: %+v", controllers, found)
	}
}

// What "pressbox setup-audio" configured may stop working, such as when its user logs out.
func TestCheckAudioSetup(t *testing.T) {
	t.Parallel()
	const headless, session = "headless", "session"
	for name, tt := range map[string]struct {
		mode           string
		files          []string
		result         string
		detail, remedy string
	}{
		"headless": {headless, []string{
			"run/user/7/x", "run/pressbox-audio/x", "var/lib/systemd/linger/pressbox",
		}, OK, "server of pressbox", ""},
		"headless, no socket": {
			headless,
			[]string{"run/user/7/x", "var/lib/systemd/linger/pressbox"},
			Failure,
			"/run/pressbox-audio does not exist", "systemd-tmpfiles",
		},
		"headless, no linger": {
			headless,
			[]string{"run/user/7/x", "run/pressbox-audio/x"},
			Failure, "stops at every logout",
			"setup-audio headless",
		},
		"headless, no manager": {
			headless,
			[]string{"run/pressbox-audio/x", "var/lib/systemd/linger/pressbox"},
			Failure,
			"manager of the user pressbox does not run", "systemctl restart user@7",
		},
		"session": {session, []string{"run/user/8/x", "run/pressbox-audio/x"}, OK, "server of kiosk", ""},
		"session, logged out": {
			session, []string{"run/pressbox-audio/x"}, Failure, "kiosk is not logged in", "log kiosk in",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			user := map[string]string{headless: "", session: "kiosk"}[tt.mode]
			check.NoError(t, (setup.Setup{
				Root: root, Out: io.Discard,
			}).Audio(setup.AudioSetup{Mode: tt.mode, User: user}))
			for _, file := range tt.files {
				path := filepath.Join(root, file)
				check.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)))
			}
			uids := map[string]string{"pressbox": "7", "kiosk": "8"}
			found := checkAudioSetup(root, func(name string) (string, error) { return uids[name], nil })
			check.That(t, has(found, "audio", tt.result, tt.detail, tt.remedy), "found %+v", found)
			// as an earlier version left it
			check.NoError(t, os.Remove(filepath.Join(root, "etc/wireplumber/main.lua.d/51-pressbox.lua")))
			again := checkAudioSetup(root, func(name string) (string, error) { return uids[name], nil })
			if has(found, "audio", Warning, "", "") ||
				has(again, "audio", Warning, "differ", "setup-audio "+tt.mode) != (tt.result == OK) {
				t.Errorf("before: %+v; with an earlier version's files: %+v", found, again)
			}
			found = checkAudioSetup(root, func(string) (string, error) { return "", errors.New("unknown user") })
			check.That(t, has(found, "audio", Failure, "unknown user", "setup-audio"),
				"with an unknown user: %+v", found)
		})
	}
	if found := checkAudioSetup(t.TempDir(), nil); len(found) != 0 {
		t.Errorf("without setup-audio: %+v", found)
	}
}

func TestProxyFindings(t *testing.T) {
	t.Parallel()
	loopback, other := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("192.168.1.9")
	for _, tt := range []struct {
		arrival                web.Arrival
		err                    error
		result, detail, remedy string
	}{
		{web.Arrival{Peer: loopback, Forwarded: true, Trusted: true}, nil, OK, "sends the client's address", ""},
		{web.Arrival{Peer: other, Direct: true}, nil, OK, "without a proxy", ""},
		{web.Arrival{Peer: loopback, Trusted: true}, nil, Warning, "every client counts as local", "X-Forwarded-For"},
		{web.Arrival{Peer: loopback}, nil, Warning, "every client counts as local", "X-Forwarded-For"},
		{
			web.Arrival{Peer: other, Trusted: true},
			nil, Warning, "does not send the client's address",
			"X-Forwarded-For",
		},
		{
			web.Arrival{Peer: other, Forwarded: true},
			nil, Warning, "is not trusted",
			"add 192.168.1.9 to TRUSTED_PROXIES",
		},
		{web.Arrival{}, web.ErrNotThisServer, Warning, "another server", "PUBLIC_URL"},
		{web.Arrival{}, errors.New("no route"), Warning, "cannot be reached from this host: no route", "PUBLIC_URL"},
	} {
		got := proxyFindings("https://box.example", tt.arrival, tt.err)
		check.That(t, len(got) == 1 && has(got, "proxy", tt.result, tt.detail, tt.remedy),
			"%+v, %v: %+v, want %s: %s", tt.arrival, tt.err, got, tt.result, tt.detail)
	}
}

func TestLeagueFindings(t *testing.T) {
	t.Parallel()
	got := leagueFindings([]leagues.StoredLeague{
		{ID: "a", Kind: leagues.Series, Name: "Goes on"},
		{ID: "b", Kind: leagues.RoundRobin, Name: "Kitchen", Stalled: "a box score cannot be read"},
	})
	if len(got) != 1 || !has(got, "leagues", Warning,
		`league "Kitchen" cannot go on: a box score cannot be read`, "pressbox leagues remove b") {
		t.Errorf("findings %+v", got)
	}
}

func TestGoneFindings(t *testing.T) {
	t.Parallel()
	voices := library.New(library.Config{
		Dirs: []string{"../../models"}, Defaults: library.Defaults{Voice: "en_US-heart-medium"},
		Log: slog.New(slog.DiscardHandler),
	})
	got := goneFindings(voices, []string{
		"", "en_US-crow-low", "en_US-heart_lower-medium", "en_US-pressbox-medium",
		"en_US-crow-low",
	})
	check.That(t, len(got) == 1 && has(got, "voices", Warning,
		"en_US-crow-low, which favorites, schedules or announcements that wait name, cannot speak: "+
			"en_US-heart-medium speaks instead", "pressbox voices install en_US-crow-low"), "%+v", got)
}

// The check ends after five seconds, and sends nothing without PUBLIC_URL.
func TestInside_checkProxy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		probes := 0
		inside := Inside{Probe: func(ctx context.Context, _ *http.Client, _ string) (web.Arrival, error) {
			probes++
			<-ctx.Done()
			return web.Arrival{}, ctx.Err()
		}}
		if got := inside.checkProxy(t.Context()); got != nil || probes != 0 {
			t.Errorf("without PUBLIC_URL: %+v, %d probes", got, probes)
		}
		inside.Started = settings.Config{PublicURL: "https://box.example"}
		began := time.Now()
		if got := inside.checkProxy(t.Context()); !has(got, "proxy", Warning, "cannot be reached", "") ||
			time.Since(began) != 5*time.Second {
			t.Errorf("a proxy that does not answer: %+v after %v", got, time.Since(began))
		}
	})
}

// Settings that let the internet in are named.
func TestExposureFindings(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}
	for _, tt := range []struct {
		access, signUp, public string
		proxies                []netip.Prefix
		want                   string
	}{
		{"open", "open", "https://box.example", nil, "may announce and create accounts"},
		{"open", "open", "", proxies, "may announce and create accounts"},
		{"open", "invite", "https://box.example", nil, "may announce"},
		{"open", "open", "", nil, ""},
		{"lan", "open", "https://box.example", proxies, ""},
		{"token", "open", "https://box.example", proxies, ""},
	} {
		cfg := settings.Config{
			NotifyAccess: tt.access, PublicURL: tt.public, TrustedProxies: tt.proxies,
			SignIn: settings.SignIn{SignUp: tt.signUp},
		}
		got := exposureFindings(cfg)
		if tt.want == "" && got != nil || tt.want != "" && !has(got, "access", Warning, tt.want, "NOTIFY_ACCESS") {
			t.Errorf("%+v: %+v, want %q", tt, got, tt.want)
		}
	}
}

// A server that is to exit when it is idle does not beside Home Assistant.
func TestIdleFindings(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[bool]settings.Config{
		true:  {ExitOnIdle: time.Minute, ESPHome: true, NotifyAccess: "lan"},
		false: {ExitOnIdle: time.Minute, NotifyAccess: "lan"},
	} {
		check.Equal(t, idleFindings(cfg) != nil, want, "a finding for %+v", cfg)
	}
	never := settings.Config{ESPHome: true, NotifyAccess: "lan"}
	check.That(t, idleFindings(never) == nil, "a finding without the setting")
}

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
		found := clockFindings(tt.now, tt.released, tt.synchronized, tt.err)
		check.That(t, len(found) == 1 && has(found, "clock", tt.result, tt.detail, ""), "%s: %+v", name, found)
	}
}

func TestMQTTFindings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "password")
	check.NoError(t, os.WriteFile(file, []byte("secret\n"), 0o600))
	for _, tt := range []struct {
		mqtt   settings.MQTT
		result string
		detail string
	}{
		{settings.MQTT{}, OK, "off"},
		{settings.MQTT{URL: "mqtt://broker"}, OK, "connects to mqtt://broker"},
		{settings.MQTT{URL: "mqtt://broker", PasswordFile: file, CAFile: file}, OK, "connects"},
		{settings.MQTT{URL: "mqtt://broker", PasswordFile: file + "s"}, Failure, "MQTT_PASSWORD_FILE"},
		{settings.MQTT{URL: "mqtts://broker", CAFile: file + "s"}, Failure, "no such file"},
	} {
		f := mqttFindings(settings.Config{MQTT: tt.mqtt})[0]
		if f.Result != tt.result || !strings.Contains(f.Detail, tt.detail) || strings.Contains(f.Detail, "secret") {
			t.Errorf("%+v: %+v, want %s with %q", tt.mqtt, f, tt.result, tt.detail)
		}
	}
}

// With NOTIFY_ACCESS=token the accounts that may not announce are named.
func TestOpenAccountFindings(t *testing.T) {
	t.Parallel()
	all := []auth.Account{
		{Name: "Open", Open: true},
		{Name: "Invited"},
		{Name: "Admin", Open: true, Admin: true},
		{Name: "Gone", Open: true, Disabled: true},
	}
	const want = "made without an invite, 1 accounts may not announce (NOTIFY_ACCESS=token): Open"
	got := openAccountFindings(settings.Config{NotifyAccess: "token"}, all)
	check.That(t, len(got) == 1 && has(got, "access", Warning, want, "users invite"), "findings %+v", got)
	check.Equal(t, len(openAccountFindings(settings.Config{NotifyAccess: "token"}, all[1:])), 0, "findings of others")
	check.Equal(t, len(openAccountFindings(settings.Config{NotifyAccess: "lan"}, all)), 0, "findings with lan")
}
