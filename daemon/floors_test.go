package main

import (
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "pressbox/"

// floors has the number of each package: its floor × 10, and its place in the floor. A package
// imports only those with a lower number. A number has a line for each folder.
const floors = `
 0 audio audio/flac
 0 auth/netblock
 0 daemon/health
 0 game game/season
 0 packaging/check
 0 store/atomicfile store/clock store/clock/system
 0 voice/announce/hub voice/announce/policy voice/announce/webhook voice/control/boolean voice/speakable/recognize
 1 auth
 1 game/call game/chance game/retro
 1 voice/announce/plan voice/control/cron voice/control/hours voice/speakable/english voice/speakable/german
 2 game/odds game/retro/eventfile game/teams
 2 voice/speakable
 3 game/bot game/history game/league game/stats
 3 voice voice/announce
 4 game/card
 4 voice/announce/draft
 5 game/protocol
 6 game/match
11 auth/session game/history/imported game/live voice/announce/announcer
13 game/leagues voice/control voice/rooms
20 daemon/exitcode daemon/limits daemon/trust daemon/web/static daemon/wyoming/frame
22 audio/ffmpeg audio/pulse auth/idp game/teamdata store
22 daemon/mqtt daemon/settings daemon/systemd daemon/web daemon/wyoming
22 voice/catalog voice/espeak voice/espeak/confine voice/library voice/onnx
24 daemon/downloads
31 daemon/web/announcements daemon/web/control daemon/web/openapi daemon/web/push daemon/web/signin
33 daemon/web/admin daemon/web/hooks daemon/web/openai daemon/web/play
35 daemon/web/site
40 daemon/display daemon/health/monitor daemon/logging daemon/mdns
40 daemon/metrics daemon/mqtt/homeassistant daemon/watchdog
42 daemon/client daemon/mqtt/device daemon/recovery daemon/setup/card daemon/signin
44 daemon/setup daemon/upgrade
46 daemon/doctor
48 daemon/cli
48 packaging/hosttest packaging/sbom/cyclonedx
50 daemon
50 models/train/speak
50 packaging/image packaging/image/bill packaging/image/imagetest packaging/installed
50 packaging/release packaging/repo packaging/sbom
60 audio/pulse/pulsetest
60 auth/authtest
60 daemon/browsertest daemon/disktest daemon/lantest daemon/mqtt/mqtttest daemon/pagetest
60 daemon/replica daemon/roomtest daemon/soundtest daemon/trust/trusttest
60 game/bot/bottest game/gametest
60 store/crashtest store/killtest
60 voice/voicetest
62 daemon/servertest daemon/web/webtest
62 game/realismtest
`

// folders has for each folder of the top level those that it imports beside itself. All may use
// packaging/check, in tests.
const folders = `
audio
auth      store
daemon    audio auth game store voice
game      store
models    audio voice
packaging
store     auth game voice
voice     audio auth store
`

// doors has for each outside library the one package that imports it. The packages after that
// import it in tests, or are for tests.
const doors = `
github.com/coreos/go-oidc           auth/idp
github.com/coreos/go-systemd        daemon/systemd
github.com/eclipse/paho.golang      daemon/mqtt
github.com/fsnotify/fsnotify        voice/library
github.com/go-viper/mapstructure    daemon/settings
github.com/gorilla/websocket        daemon/web/play daemon/browsertest daemon/servertest daemon/web/webtest
github.com/hanwen/go-fuse           store/crashtest
github.com/jfreymuth/pulse          audio/pulse
github.com/julienschmidt/httprouter daemon/web
github.com/makiuchi-d/gozxing       daemon/pagetest
github.com/prometheus               daemon/metrics daemon
github.com/rogpeppe/go-internal     daemon
github.com/spf13/cobra              daemon/cli daemon
github.com/spf13/pflag              daemon/settings daemon
github.com/spf13/viper              daemon/settings
github.com/swaggest/jsonschema-go   daemon/web/site
github.com/swaggest/swgui           daemon/web/openapi
github.com/yalue/onnxruntime_go     voice/onnx
go.etcd.io/bbolt                    store
golang.org/x/oauth2                 auth/idp
golang.org/x/sync/errgroup          daemon
golang.org/x/sync/singleflight      game/teamdata
`

func TestFloors(t *testing.T) {
	t.Parallel()
	const format = `{{.ImportPath}} {{join .Imports " "}} tests {{join .TestImports " "}} {{join .XTestImports " "}}`
	out, err := exec.Command("go", "list", "-f", format, module+"...").Output()
	if err != nil {
		failed, _ := errors.AsType[*exec.ExitError](err)
		t.Fatalf("go list: %v: %s", err, failed.Stderr)
	}
	number := map[string]int{}
	for _, line := range rows(floors) {
		for _, pkg := range line[1:] {
			number[pkg], _ = strconv.Atoi(line[0])
		}
	}
	folder := map[string][]string{}
	for _, line := range rows(folders) {
		folder[line[0]] = line
	}
	listed := map[string]bool{}
	for _, line := range rows(string(out)) {
		pkg, inTests := strings.TrimPrefix(line[0], module), false
		if _, ok := number[pkg]; !ok {
			t.Errorf("package %s has no number: add it to floors", pkg)
		}
		listed[pkg] = true
		top, _, _ := strings.Cut(pkg, "/")
		for _, imported := range line[1:] {
			inTests = inTests || imported == "tests"
			own, ok := strings.CutPrefix(imported, module)
			other, _, _ := strings.Cut(own, "/")
			switch {
			case !ok && !opens(pkg, imported, inTests || strings.HasSuffix(pkg, "test")):
				t.Errorf("%s must not import %s: only its door may", pkg, imported)
			case !ok || inTests:
			case number[own] >= number[pkg]:
				t.Errorf("%s is at %d and must not import %s, which is at %d", pkg, number[pkg], own, number[own])
			case !slices.Contains(folder[top], other) && own != "packaging/check":
				t.Errorf("%s must not import %s: %s imports only %v", pkg, own, top, folder[top])
			}
		}
	}
	for pkg := range number {
		if !listed[pkg] {
			t.Errorf("there is no package %s: remove it from floors", pkg)
		}
	}
}

// opens reports whether a package may import one that is not ours.
func opens(pkg, imported string, forTests bool) bool {
	for _, door := range rows(doors) {
		if imported == door[0] || strings.HasPrefix(imported, door[0]+"/") {
			return pkg == door[1] || forTests && slices.Contains(door[2:], pkg)
		}
	}
	return true
}

// rows returns the words of each line of a table.
func rows(table string) (all [][]string) {
	for line := range strings.Lines(strings.TrimSpace(table)) {
		all = append(all, strings.Fields(line))
	}
	return all
}
