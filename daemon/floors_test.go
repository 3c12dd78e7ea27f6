package main

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "pressbox/"

// floors maps each package of the module to those that it may import: packages of a lower
// floor, and within floors 0, 2b and 3 those before it. A package that is missing is an error.
var floors = map[string][]string{
	// 0: pure
	"audio":                     {},
	"audio/flac":                {},
	"voice/speakable/recognize": {},
	"voice/speakable/english":   {"voice/speakable/recognize"},
	"voice/speakable/german":    {"voice/speakable/recognize"},
	"voice/speakable":           {"voice/speakable/english", "voice/speakable/german", "voice/speakable/recognize"},
	"voice":                     {"audio", "voice/speakable"},
	"voice/announce/plan":       {"audio"},
	"voice/announce/policy":     {},
	"voice/announce/webhook":    {},
	"game":                      {},
	"game/chance":               {"game"},
	"game/bot":                  {"game", "game/chance", "game/odds"},
	"game/retro":                {"game"},
	"game/retro/eventfile":      {"game", "game/retro"},
	"game/league":               {"game", "game/chance", "game/teams"},
	"game/call":                 {"game"},
	"game/odds":                 {"game", "game/chance"},
	"game/history":              {"game", "game/chance", "game/retro", "game/retro/eventfile", "game/teams"},
	"game/season":               {},
	"game/stats":                {"game", "game/teams"},
	"game/teams":                {"game", "game/chance"},
	"game/card":                 {"game", "game/chance", "game/stats", "game/teams"},
	"game/protocol":             {"game", "game/card", "game/chance", "game/teams"},
	"game/match":                {"game", "game/bot", "game/call", "game/card", "game/chance", "game/odds", "game/protocol", "game/retro", "game/teams"},
	"store/clock":               {},
	"voice/control/boolean":     {},
	"voice/control/hours":       {"store/clock"},
	"voice/control/cron":        {"store/clock"},
	"store/clock/system":        {}, // it reads the kernel's clocks, and nothing else
	"store/atomicfile":          {}, // it replaces files, and nothing else
	"auth/netblock":             {},
	"auth":                      {"auth/netblock", "store/clock"},

	// 1: loops, without I/O of their own
	"voice/announce":        {"audio", "voice/announce/plan", "voice/announce/policy", "voice/speakable"},
	"voice/announce/draft":  {"voice/control/boolean", "voice/announce"},
	"voice/control":         {"auth", "store/clock", "voice/control/cron", "voice/control/hours", "voice/announce", "voice/announce/policy"},
	"auth/session":          {"auth", "auth/netblock", "store/clock"},
	"game/live":             {"game", "game/call", "game/card", "game/chance", "game/match", "game/odds", "game/protocol", "game/stats", "game/teams"},
	"game/leagues":          {"store/clock", "game", "game/card", "game/chance", "game/live", "game/protocol", "game/season", "game/teams"},
	"game/history/imported": {"game/history", "game/teams"},

	"voice/rooms": {"voice/announce"},

	// 2: edges; each uses one thing outside the program, and none imports another
	"audio/pulse":       {"audio"},
	"audio/ffmpeg":      {},
	"voice/espeak":      {"voice"},
	"voice/onnx":        {"voice"},
	"voice/library":     {"audio", "voice", "voice/announce", "voice/announce/plan", "voice/speakable"},
	"store":             {"store/atomicfile", "auth", "store/clock", "store/clock/system", "game", "game/leagues", "game/live", "voice/announce", "voice/announce/policy", "voice/control"},
	"voice/catalog":     {"store/atomicfile"},
	"auth/idp":          {"auth", "auth/session"},
	"game/teamdata":     {"game", "game/chance", "game/teams"},
	"daemon/systemd":    {},
	"daemon/mqtt":       {},
	"daemon/web/static": {},
	"daemon/limits":     {"auth/netblock"},
	"daemon/web":        {"voice/control/boolean", "auth", "auth/netblock", "daemon/limits", "daemon/web/static", "game/protocol", "game/teams", "voice", "voice/announce", "voice/announce/draft", "voice/control", "voice/rooms"},

	"daemon/wyoming/frame": {},
	"daemon/wyoming":       {"audio", "auth/netblock", "daemon/limits", "daemon/wyoming/frame", "voice", "voice/announce"},

	// No edge imports it; it becomes the child of voice/espeak.
	"voice/espeak/confine": {},

	// 2b: the routes of the HTTP server
	"daemon/web/control":       {"daemon/limits", "daemon/web", "voice/announce", "voice/announce/policy", "voice/control"},
	"daemon/web/announcements": {"daemon/limits", "daemon/web", "voice/announce", "voice/announce/draft", "voice/control", "voice/rooms"},
	"daemon/web/hooks":         {"daemon/web", "daemon/web/announcements", "voice/announce", "voice/announce/draft", "voice/announce/webhook"},
	"daemon/web/admin":         {"daemon/web", "daemon/web/announcements", "daemon/web/control", "voice/announce", "voice/control"},
	"daemon/web/openai":        {"audio", "audio/ffmpeg", "audio/flac", "daemon/limits", "daemon/web", "daemon/web/announcements", "voice/announce"},
	"daemon/web/openapi":       {"daemon/web", "daemon/web/static"},
	"daemon/web/push":          {"daemon/web", "voice/announce", "voice/announce/draft"},
	"daemon/web/signin":        {"auth", "auth/session", "daemon/limits", "daemon/web", "daemon/web/static"},
	"daemon/web/play": {
		"auth", "auth/session", "daemon/limits", "daemon/web", "daemon/web/announcements", "game", "game/card", "game/history", "game/leagues", "game/live", "game/protocol", "game/stats", "game/teams",
		"voice/announce", "voice/control",
	},
	"daemon/web/site": {
		"daemon/web", "daemon/web/admin", "daemon/web/announcements", "daemon/web/control", "daemon/web/hooks", "daemon/web/openai", "daemon/web/openapi", "daemon/web/play",
		"daemon/web/push", "daemon/web/signin",
	},

	// 3: parts of the server and its commands; daemon connects them
	"daemon/trust":              {},
	"daemon/downloads":          {"voice/catalog"},
	"daemon/settings":           {"voice/control/boolean", "voice/control/hours", "daemon/trust", "voice/rooms", "voice/speakable"},
	"daemon/exitcode":           {},
	"daemon/logging":            {"daemon/systemd"},
	"daemon/metrics":            {"voice/announce"},
	"daemon/mqtt/homeassistant": {},
	"daemon/mqtt/device": {
		"daemon/mqtt", "daemon/mqtt/homeassistant", "game/protocol", "voice/announce", "voice/announce/draft", "voice/announce/policy", "voice/control",
	},
	"daemon/watchdog":   {"audio", "daemon/systemd", "game/live", "voice/announce"},
	"daemon/health":     {"audio/pulse", "daemon/systemd", "daemon/web/admin", "store", "voice/announce", "voice/library"},
	"daemon/recovery":   {"store/atomicfile", "daemon/exitcode", "daemon/settings", "daemon/systemd", "store"},
	"daemon/signin":     {"auth", "auth/idp", "auth/netblock", "auth/session", "store/clock", "store/clock/system", "daemon/exitcode", "daemon/settings", "daemon/web", "daemon/web/signin", "store"},
	"daemon/client":     {"audio", "daemon/exitcode", "daemon/settings", "daemon/trust"},
	"daemon/mdns":       {},
	"daemon/display":    {},
	"daemon/upgrade":    {"daemon/client", "daemon/recovery", "daemon/settings", "daemon/trust"},
	"daemon/setup/card": {"daemon/settings"},
	"daemon/setup":      {"store/atomicfile", "daemon/exitcode", "daemon/settings", "daemon/setup/card"},
	"daemon/doctor": {
		"audio/pulse", "store/clock/system", "daemon/client", "daemon/recovery", "daemon/settings", "daemon/setup", "daemon/trust",
		"daemon/web", "daemon/web/admin", "daemon/web/hooks", "game/leagues", "store", "voice", "voice/espeak", "voice/espeak/confine", "voice/library", "voice/onnx",
	},
	"daemon/cli": {
		"voice/control/boolean",
		"store/atomicfile", "audio", "audio/pulse", "daemon/client", "daemon/display", "daemon/doctor", "daemon/exitcode", "daemon/logging", "daemon/recovery", "daemon/settings",
		"daemon/mdns", "daemon/setup", "daemon/setup/card", "daemon/trust", "daemon/upgrade", "game/history", "store", "voice/catalog",
	},

	// 3: no I/O of its own, for the programs below
	"packaging/sbom/cyclonedx": {},

	// 4: programs; no package imports them
	"packaging/language":        {},
	"packaging/installed":       {},
	"packaging/release":         {},
	"packaging/repo":            {},
	"packaging/sbom":            {"packaging/sbom/cyclonedx"},
	"packaging/image":           {},
	"packaging/image/imagetest": {},
	"packaging/image/bill":      {"packaging/sbom/cyclonedx"},
	"models/train/speak":        {"audio", "voice", "voice/onnx"},
	"daemon": {
		"audio/pulse", "auth/netblock", "store/clock/system", "daemon/cli", "daemon/client", "daemon/doctor", "daemon/downloads", "daemon/exitcode", "daemon/health", "daemon/limits", "daemon/metrics", "daemon/mqtt", "daemon/mqtt/device", "daemon/mqtt/homeassistant",
		"daemon/recovery", "daemon/settings", "daemon/setup", "daemon/signin", "daemon/systemd", "daemon/watchdog", "daemon/web", "daemon/web/admin",
		"daemon/web/announcements", "daemon/web/control", "daemon/web/hooks", "daemon/web/openai", "daemon/web/play", "daemon/web/push", "daemon/web/site", "daemon/wyoming", "game/history/imported", "game/league", "game/leagues", "game/live", "game/protocol", "game/teamdata",
		"store", "voice/announce", "voice/announce/policy", "voice/catalog", "voice/control", "voice/espeak", "voice/espeak/confine", "voice/library", "voice/onnx", "voice/rooms", "voice/speakable",
	},

	// Stand-ins for an outside thing, and what tests share. As no package may
	// import them, only tests do.
	"daemon/trust/trusttest": {},

	"packaging/check":       {},
	"audio/pulse/pulsetest": {"packaging/check"},
	"voice/voicetest":       {"packaging/check", "voice", "voice/espeak", "voice/onnx"},
	"daemon/lantest":        {},
	"daemon/roomtest":       {},
	"daemon/mqtt/mqtttest":  {"packaging/check"},
	"game/gametest":         {"packaging/check", "game", "game/retro", "game/retro/eventfile"},
	"game/bot/bottest":      {"game", "game/bot", "game/chance", "game/teams"},
	"game/realismtest":      {"packaging/check", "game", "game/bot/bottest", "game/chance", "game/league", "game/odds"},
	"store/killtest":        {"packaging/check"},
	"store/crashtest":       {},
	"auth/authtest":         {"auth", "auth/session", "packaging/check", "store/clock"},
	"daemon/replica":        {"game"},
	"daemon/browsertest":    {"packaging/check"},
	"daemon/servertest":     {"audio/pulse/pulsetest", "packaging/check", "daemon/client", "daemon/replica"},
	"daemon/soundtest":      {},
	"daemon/pagetest":       {},
	"daemon/disktest":       {},
	"daemon/web/webtest": {
		"audio", "auth", "auth/authtest", "auth/idp", "auth/session", "packaging/check", "store/clock", "daemon/limits", "daemon/replica", "daemon/web", "daemon/web/admin", "daemon/web/announcements",
		"daemon/web/control", "daemon/web/hooks", "daemon/web/openai", "daemon/web/openapi", "daemon/web/push", "daemon/web/signin", "daemon/web/site", "daemon/wyoming", "game/league", "game/leagues", "game/live", "game/protocol", "game/teams", "store",
		"voice/announce", "voice/announce/policy", "voice/control", "voice/rooms",
	},
}

// doors maps the prefix of an external import path to the only package that may import it,
// also in tests.
var doors = map[string]string{
	"go.etcd.io/bbolt":                    "store",
	"github.com/hanwen/go-fuse":           "store/crashtest",
	"github.com/coreos/go-systemd":        "daemon/systemd",
	"github.com/gorilla/websocket":        "daemon/web/play",
	"github.com/julienschmidt/httprouter": "daemon/web",
	"github.com/eclipse/paho.golang":      "daemon/mqtt",
	"github.com/swaggest/swgui":           "daemon/web/openapi",
	"github.com/jfreymuth/pulse":          "audio/pulse",
	"github.com/yalue/onnxruntime_go":     "voice/onnx",
	"github.com/fsnotify/fsnotify":        "voice/library",
	"golang.org/x/oauth2":                 "auth/idp",
	"github.com/coreos/go-oidc":           "auth/idp",
	"golang.org/x/sync/errgroup":          "daemon",
	"github.com/prometheus":               "daemon/metrics",
	"golang.org/x/sync/singleflight":      "game/teamdata",
	"github.com/spf13/cobra":              "daemon/cli",
	"github.com/spf13/pflag":              "daemon/settings",
	"github.com/spf13/viper":              "daemon/settings",
	"github.com/go-viper/mapstructure":    "daemon/settings",
	"github.com/rogpeppe/go-internal":     "daemon",
	"github.com/makiuchi-d/gozxing":       "daemon/pagetest",
}

// testDoors maps an external import path to a further package whose tests may import it: they
// are the clients of the server, or read what it generates.
var testDoors = map[string]string{
	"github.com/spf13/cobra": "daemon",
	"github.com/spf13/pflag": "daemon",
	"github.com/prometheus/client_golang/prometheus/testutil/promlint": "daemon",
}

// clients maps an external import path to the packages for tests that may import it.
var clients = map[string][]string{
	"github.com/gorilla/websocket": {"daemon/browsertest", "daemon/servertest", "daemon/web/webtest"},
}

func TestFloors(t *testing.T) {
	t.Parallel()
	const format = `{{.ImportPath}} {{join .Imports " "}} tests {{join .TestImports " "}} {{join .XTestImports " "}}`
	out, err := exec.Command("go", "list", "-f", format, module+"...").Output()
	if err != nil {
		failed, _ := errors.AsType[*exec.ExitError](err)
		t.Fatalf("go list: %v: %s", err, failed.Stderr)
	}
	for line := range strings.Lines(string(out)) {
		product, tests, _ := strings.Cut(line, " tests ")
		imports := strings.Fields(product)
		pkg := strings.TrimPrefix(imports[0], module)
		may, ok := floors[pkg]
		if !ok {
			t.Errorf("package %s is not in the table: add it to floors", pkg)
		}
		for _, imported := range imports[1:] {
			if own, ok := strings.CutPrefix(imported, module); ok && !slices.Contains(may, own) {
				t.Errorf("%s must not import %s", pkg, own)
			}
		}
		for i, imported := range append(imports[1:], strings.Fields(tests)...) {
			door, ok := doorOf(imported)
			allowed := i >= len(imports)-1 && testDoors[imported] == pkg || slices.Contains(clients[imported], pkg)
			if ok && door != pkg && !allowed {
				t.Errorf("%s must not import %s: only %s may", pkg, imported, door)
			}
		}
	}
}

func doorOf(imported string) (door string, ok bool) {
	for outside, door := range doors {
		if imported == outside || strings.HasPrefix(imported, outside+"/") {
			return door, true
		}
	}
	return "", false
}

// The imports that the table allows have no cycle.
func TestFloors_acyclic(t *testing.T) {
	t.Parallel()
	var climb func(pkg string, above []string)
	climb = func(pkg string, above []string) {
		if slices.Contains(above, pkg) {
			t.Fatalf("%v import %s again", above, pkg)
		}
		for _, below := range floors[pkg] {
			if _, ok := floors[below]; !ok {
				t.Errorf("%s may import %s, which is not in the table", pkg, below)
			}
			climb(below, append(slices.Clip(above), pkg))
		}
	}
	for pkg := range floors {
		climb(pkg, nil)
	}
}
