package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pressbox/daemon/exitcode"
	"pressbox/daemon/logging"
	"pressbox/daemon/settings"
	"pressbox/packaging/check"
	"pressbox/voice/control/boolean"
)

var update = flag.Bool("update", false, "write the generated files")

// TestGenerated compares the files that are generated from the tables in code; with -update it writes them.
func TestGenerated(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"pressbox.env":    shippedFile(),
		"doc/settings.md": settingsDocument(),
		"man/pressbox.1":  commandsPage(),
		"man/pressbox.8":  serverPage(),
		"completion/pressbox.bash": completion(t, func(root *cobra.Command,
			to *bytes.Buffer,
		) error {
			return root.GenBashCompletionV2(to, true)
		}),
		"completion/_pressbox": completion(t, func(root *cobra.Command,
			to *bytes.Buffer,
		) error {
			return root.GenZshCompletion(to)
		}),
	} {
		path = filepath.Join("../packaging", path)
		if *update {
			check.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		} else if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is not current (%v): run \"make generate\"", path, err)
		}
	}
}

// README shows settings in a table of its own; its defaults are those of the table in code.
func TestGenerated_readme(t *testing.T) {
	t.Parallel()
	readme := check.Must(os.ReadFile("../README.md"))(t)
	rows := regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| (?:`(.*?)`)? ?\\|").FindAllStringSubmatch(string(readme), -1)
	check.That(t, len(rows) >= 10, "README.md has %d settings, want at least 10", len(rows))
	defaults := map[string]string{}
	for _, s := range settings.Table() {
		defaults[s.Name] = s.Default
	}
	for _, row := range rows {
		if want, ok := defaults[row[1]]; !ok || row[2] != want {
			t.Errorf("README.md: the default of %s is %q, want %q", row[1], row[2], want)
		}
	}
}

// boolHelp says in all documents what a boolean may be.
const boolHelp = "A boolean is " + boolean.Expects + ", in lower or upper case."

// shippedFile returns the package's pressbox.env: every setting, commented out unless the package sets it.
func shippedFile() string {
	var b strings.Builder
	b.WriteString("# The settings of Pressbox. \"pressbox config\" prints the current values and their origin.\n")
	b.WriteString("# One NAME=value per line. Values are literal: nothing is expanded, and a comment needs\n")
	b.WriteString("# a line of its own. Flags and the environment take precedence over this file.\n")
	b.WriteString(wrapped("#", boolHelp))
	for _, s := range settings.Table() {
		b.WriteByte('\n')
		b.WriteString(wrapped("#", s.Text()))
		b.WriteString(wrapped("#", "Type: "+s.Type()))
		if s.Shipped == "" {
			fmt.Fprintf(&b, "#%s=%s\n", s.Name, s.Default)
		} else {
			fmt.Fprintf(&b, "%s=%s\n", s.Name, s.Shipped)
		}
	}
	return b.String()
}

// settingsDocument returns the table of all settings in Markdown.
func settingsDocument() string {
	var b strings.Builder
	b.WriteString("# Settings\n\n<!-- Generated: make generate. -->\n\n" +
		"In order of precedence: flags, the environment, `.env` in the working directory, and\n`" +
		settings.SystemFile + "`. " +
		"A flag is the name in lower case with hyphens: `MODEL_DIR` is\n" +
		"`--model-dir`. `pressbox config` prints every value and its origin.\n\n" + boolHelp + "\n\n" +
		"Commands that root runs, other than `serve` and `config`, ignore a `.env` that another user could\n" +
		"have written: the file and every directory above it have to belong to root alone.\n\n" +
		"| Setting | Type | Default | Description |\n|---|---|---|---|\n")
	for _, s := range settings.Table() {
		value := ""
		if s.Default != "" {
			value = "`" + s.Default + "`"
		}
		escape := strings.NewReplacer("|", "\\|").Replace
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Name, escape(s.Type()), value, escape(s.Text()))
	}
	return b.String()
}

// wrapped breaks a text into lines of at most 78 columns, each with a prefix.
func wrapped(prefix, text string) string {
	var b strings.Builder
	line := prefix
	for word := range strings.FieldsSeq(text) {
		if line != prefix && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > 78 {
			b.WriteString(line + "\n")
			line = prefix
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
	return b.String()
}

// completion returns a completion script for a shell.
func completion(t *testing.T, write func(root *cobra.Command, to *bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	check.NoError(t, write(program().Command(new(bool)), &b))
	return b.String()
}

// A manPage is the source of a page in the form of man(7).
type manPage struct{ b strings.Builder }

// newManPage begins a page.
func newManPage(section, description string) *manPage {
	p := &manPage{}
	fmt.Fprintf(&p.b, ".\\\" Generated: make generate.\n.TH PRESSBOX %s \"\" Pressbox\n", section)
	p.heading("NAME")
	p.text("pressbox \\- " + description)
	return p
}

// roff escapes a text.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

func (p *manPage) heading(title string)    { fmt.Fprintf(&p.b, ".SH %s\n", title) }
func (p *manPage) subheading(title string) { fmt.Fprintf(&p.b, ".SS %s\n", roff(title)) }
func (p *manPage) text(raw string)         { p.b.WriteString(raw + "\n") }

// paragraphs writes paragraphs, which empty lines separate. Indented lines are literal.
func (p *manPage) paragraphs(text string) {
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		lines := strings.Split(strings.Trim(paragraph, "\n"), "\n")
		verbatim := false
		p.text(".PP")
		for _, line := range lines {
			indented := strings.HasPrefix(line, "  ")
			if indented != verbatim {
				p.text(map[bool]string{true: ".nf", false: ".fi"}[indented])
				verbatim = indented
			}
			p.text(roff(line))
		}
		if verbatim {
			p.text(".fi")
		}
	}
}

// item writes a term and its description.
func (p *manPage) item(term, description string) {
	fmt.Fprintf(&p.b, ".TP\n.B %s\n%s\n", roff(term), roff(description))
}

// flags describes the flags of a command, except those of settings.
func (p *manPage) flags(cmd *cobra.Command, isSetting map[string]bool) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if isSetting[f.Name] && cmd.LocalFlags().Lookup("config") != nil || f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		p.item(strings.TrimSpace("--"+f.Name+" "+value), usage)
	})
}

// commandsPage returns pressbox(1).
func commandsPage() string {
	p := newManPage("1", "speak announcements and host baseball games")
	p.heading("SYNOPSIS")
	p.text(".B pressbox\n.I COMMAND\n.RI [ flags ]\n.RI [ argument ...]")
	p.heading("DESCRIPTION")
	p.paragraphs("Pressbox speaks announcements that clients on the network POST to it, and hosts games of baseball. " +
		"This page describes its commands; " +
		"pressbox(8) describes the server, its settings and its files.\n\nEvery command has the flag --help.")
	isSetting := make(map[string]bool)
	for _, s := range settings.Table() {
		isSetting[s.Flag()] = true
	}
	p.heading("COMMANDS")
	p.commands(program().Command(new(bool)), isSetting)
	p.heading("ENVIRONMENT")
	p.item("PRESSBOX_URL", "The URL of the server. Default: the server on the host.")
	p.item("PRESSBOX_TOKEN", "The API token that is sent to the server.")
	p.exitCodes()
	p.seeAlso("pressbox", "8")
	return p.b.String()
}

// commands describes the commands below parent.
func (p *manPage) commands(parent *cobra.Command, isSetting map[string]bool) {
	for _, cmd := range parent.Commands() {
		if !cmd.IsAvailableCommand() || cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		if cmd.HasSubCommands() && !cmd.Runnable() {
			p.commands(cmd, isSetting)
			continue
		}
		p.subheading(strings.TrimSuffix(cmd.UseLine(), " [flags]"))
		text := cmd.Long
		if text == "" {
			text = cmd.Short + "."
		}
		p.paragraphs(strings.ReplaceAll(text, "\n\n"+exitcode.Help, ""))
		p.flags(cmd, isSetting)
		if cmd.HasSubCommands() {
			p.commands(cmd, isSetting)
		}
	}
}

// exitCodes describes the exit codes.
func (p *manPage) exitCodes() {
	p.heading("EXIT STATUS")
	_, list, _ := strings.Cut(exitcode.Help, "\n")
	for line := range strings.Lines(list) {
		code, meaning, _ := strings.Cut(strings.TrimSpace(line), " ")
		p.item(code, strings.TrimSpace(meaning))
	}
}

func (p *manPage) seeAlso(name, section string) {
	p.heading("SEE ALSO")
	fmt.Fprintf(&p.b, ".BR %s (%s),\n.BR systemctl (1),\n.BR journalctl (1)\n", name, section)
}

// serverPage returns pressbox(8).
func serverPage() string {
	p := newManPage("8", "the Pressbox server")
	p.heading("SYNOPSIS")
	p.text(".B pressbox serve\n.RI [ flags ]")
	p.heading("DESCRIPTION")
	p.paragraphs("The server answers HTTP on the local network, stores " +
		"announcements and games before it confirms them, and speaks through PulseAudio or PipeWire. " +
		"Under systemd, pressbox.socket opens the port and keeps it open while the server restarts, " +
		"so that no client is refused. " +
		"pressbox-wyoming.socket does so for voice assistants, such as Home Assistant, " +
		"which request speech by the Wyoming protocol at port 10200; " +
		"Avahi announces it by /etc/avahi/services/pressbox-wyoming.service. " +
		"pressbox-esphome.socket does so at port 6053 for Home Assistant's media players and announcements, " +
		"by ESPHome's API, which the server itself has Avahi announce.\n\n" +
		"\"pressbox status\" prints the server's status, \"pressbox doctor\" problems and their remedies, " +
		"and \"journalctl -u pressbox -x\" the log with explanations.")
	p.heading("SETTINGS")
	p.paragraphs("In order of precedence: flags, the environment, .env in the working directory, " +
		"and " + settings.SystemFile + ". " +
		"A flag is the name in lower case with hyphens: MODEL_DIR is --model-dir. " +
		"In the files, a setting is a line NAME=value with a literal value. " + boolHelp + "\n\n" +
		"Commands that root runs, other than serve and config, ignore a .env that another user could have written: " +
		"the file and every directory above it have to belong to root alone.")
	for _, s := range settings.Table() {
		text := s.Text() + " Type: " + s.Type() + "."
		if s.Default != "" {
			text += " Default: " + s.Default + "."
		}
		p.item(s.Name, text)
	}
	p.heading("SIGNALS")
	p.item("SIGTERM", "Finish the current sentence, within five seconds, and exit.")
	p.item("SIGHUP", "Reload the settings and the lexicon and search for voices: \"systemctl reload pressbox\".")
	p.item("SIGQUIT", "Write the stacks of all goroutines to the journal and exit. Sent by systemd's watchdog.")
	p.heading("FILES")
	p.item(settings.SystemFile, "The settings.")
	p.item("/var/lib/pressbox/pressbox.db", "The store.")
	p.item("/var/lib/pressbox/backups", "The last three daily backups of the store.")
	p.item("/var/lib/pressbox/models", "Voices installed by \"pressbox voices install\".")
	p.item(settings.SharedModels, "Voices of the package.")
	p.item(settings.SharedAdmin, "The admin socket, for root and the group adm.")
	p.item(settings.AudioSocket, "The socket of the sound server that \"pressbox setup-audio\" configures.")
	p.heading("MESSAGES")
	p.paragraphs("\"journalctl -u pressbox MESSAGE_ID=...\" prints the records of one message. " +
		"PRESSBOX_REQUEST_ID=, PRESSBOX_ANNOUNCEMENT= and PRESSBOX_GAME= " +
		"select those of one request, announcement or game.")
	for _, m := range logging.Messages() {
		p.subheading(m.Text)
		p.text(".RS\n" + roff(m.ID) + "\n.br\n" + roff(m.Explain) + "\n.RE")
	}
	p.seeAlso("pressbox", "1")
	return p.b.String()
}

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
 1 voice/announce/plan voice/control/cron voice/control/hours voice/speakable/verbalize
 2 game/odds game/retro/eventfile game/teams
 2 voice/speakable/english voice/speakable/german
 3 game/bot game/history game/league game/stats
 3 voice/speakable
 4 game/card
 4 voice voice/announce
 5 game/protocol
 5 voice/announce/draft
 6 game/match
11 auth/session game/history/imported game/live voice/announce/announcer
13 game/leagues voice/control voice/rooms
20 daemon/esphome/frame daemon/exitcode daemon/limits daemon/trust daemon/web/static daemon/wyoming/frame
22 audio/ffmpeg audio/pulse auth/idp game/teamdata store
22 daemon/mqtt daemon/settings daemon/systemd daemon/web daemon/wyoming
22 voice/catalog voice/espeak voice/espeak/confine voice/library voice/onnx
23 audio/decode
24 daemon/downloads
24 voice/sounds
26 daemon/esphome
31 daemon/web/announcements daemon/web/control daemon/web/openapi daemon/web/signin
31 daemon/web/sounds
33 daemon/web/admin daemon/web/hooks daemon/web/openai daemon/web/play daemon/web/push
35 daemon/web/site
40 daemon/display daemon/health/monitor daemon/logging daemon/mdns
40 daemon/events daemon/metrics daemon/mqtt/homeassistant daemon/watchdog
42 daemon/client daemon/mqtt/device daemon/recovery daemon/setup/card daemon/signin
44 daemon/setup daemon/upgrade
46 daemon/doctor
48 daemon/cli
48 packaging/hosttest packaging/sbom/cyclonedx
50 daemon
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
64 daemon/homeassistant
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

// doors has for each outside library the one package that imports it, or two. The packages after that
// import it in tests, or are for tests.
const doors = `
github.com/coreos/go-oidc           auth/idp
github.com/coreos/go-systemd        daemon/systemd
github.com/eclipse/paho.golang      daemon/mqtt
github.com/flynn/noise              daemon/esphome/frame
github.com/fsnotify/fsnotify        voice/library
github.com/go-viper/mapstructure    daemon/settings
github.com/godbus/dbus               daemon/mdns
github.com/gorilla/websocket  daemon/web/play+daemon/web/push daemon/browsertest daemon/servertest daemon/web/webtest
github.com/hajimehoshi/go-mp3       audio/decode
github.com/hanwen/go-fuse           store/crashtest
github.com/jfreymuth/pulse          audio/pulse
github.com/olebedev/when            daemon/web/push
github.com/julienschmidt/httprouter daemon/web
github.com/makiuchi-d/gozxing       daemon/pagetest
github.com/mewkiz/flac              audio/decode
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
google.golang.org/protobuf          daemon/esphome
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
		check.That(t, listed[pkg], "there is no package %s: remove it from floors", pkg)
	}
}

// opens reports whether a package may import one that is not ours.
func opens(pkg, imported string, forTests bool) bool {
	for _, door := range rows(doors) {
		if imported == door[0] || strings.HasPrefix(imported, door[0]+"/") {
			return slices.Contains(strings.Split(door[1], "+"), pkg) || forTests && slices.Contains(door[2:], pkg)
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

// packaging/revision prints the commit of the sources, for the linker.
func TestRevision(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := check.Must(os.ReadFile("../packaging/revision"))(t)
	put := func(path, content string) {
		t.Helper()
		path = filepath.Join(dir, path)
		check.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check.NoError(t, os.WriteFile(path, []byte(content), 0o700))
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir),
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.Output()
		check.Require(t, err == nil, "%s %q: %v", name, args, err)
		return strings.TrimSpace(string(out))
	}
	put("packaging/revision", string(script))
	want := func(when, want string) {
		t.Helper()
		check.Equal(t, run("packaging/revision"), want, "%s", when)
	}
	want("without a repository", "")
	run("git", "init", "--quiet")
	want("before the first commit", "")
	run("git", "add", ".")
	run("git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--message=one")
	commit := run("git", "rev-parse", "HEAD")
	want("as committed", commit)
	put("new", "")
	want("changed", commit+"+changed")
	put("copy/packaging/revision", string(script))
	check.Equal(t, run("copy/packaging/revision"), "", "in a directory of another repository")
	check.Equal(t, run("env", "PRESSBOX_REVISION=abc", "copy/packaging/revision"), "abc", "with PRESSBOX_REVISION")
}

// A unit that runs as root, or for anyone on the network, gives its processes little of the host: the exposure that
// systemd-analyze finds is below 5.
func TestUnits_exposure(t *testing.T) {
	t.Parallel()
	analyze := check.Part(t, "systemd-analyze")
	units := check.Must(filepath.Glob("../packaging/systemd/*.service"))(t)
	check.That(t, len(units) >= 4, "the units are %v", units)
	for _, unit := range units {
		out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=49", unit).CombinedOutput()
		check.That(t, err == nil, "%s: %v: %s", unit, err, out)
	}
}
