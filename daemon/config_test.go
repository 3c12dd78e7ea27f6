package main

import (
	"flag"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "renew the files that are made from the tables in code")

// configure reads the settings in a folder of its own that holds the given
// .env and pressbox.env, with these flags.
func configure(t *testing.T, local, system string, args ...string) (Config, *settings, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	withoutEnvironment(t)
	for name, text := range map[string]string{".env": local, "pressbox.env": system} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := readSettings(t, keys(), args...)
	if err != nil {
		return Config{}, s, err
	}
	cfg, err := s.configure()
	return cfg, s, err
}

// started is the environment that the test program was started with.
var started = os.Environ()

// withoutEnvironment hides the settings of that environment from a test; those
// that the test has set stay.
func withoutEnvironment(t *testing.T) {
	t.Helper()
	for _, k := range keys() {
		if value, ok := os.LookupEnv(k.name); ok && slices.Contains(started, k.name+"="+value) {
			t.Setenv(k.name, value) // and back at the end
			_ = os.Unsetenv(k.name) // fails for no name of ours
		}
	}
}

func readSettings(tb testing.TB, keys []key, args ...string) (*settings, error) {
	tb.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	addFlags(flags, keys)
	if err := flags.Parse(args); err != nil {
		tb.Fatal(err)
	}
	return newSettings(keys, flags, "pressbox.env")
}

func TestDefaultsAreTheSpecifications(t *testing.T) {
	got, _, err := configure(t, "", "")
	want := Config{
		Host: "0.0.0.0", Port: 8888, LogLevel: slog.LevelInfo, StateDir: "./state", StoreMaxSize: 512 << 20, Metrics: "off",
		VoicesURL: "https://huggingface.co/rhasspy/piper-voices/resolve/main/voices.json",
		ModelDir:  "./models", DefaultVoice: "en_US-pressbox-medium", DefaultRate: 170, VoiceCacheBytes: 256 << 20,
		Volume: 100, QueueMaxSize: 50, NotifyAccess: "lan", NotifyRate: 120, NotifyTTL: 10 * time.Minute,
		SignIn:        signInConfig{Provider: "local", Scopes: []string{}, AuthStyle: "header", SignUp: "open", CookieSecure: "auto", SessionMaxAge: 30 * 24 * time.Hour},
		DefaultSeason: 3,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the defaults are\n%+v, %v; want\n%+v", got, err, want)
	}
}

// examples has a value for each key that is not its default, and what it is
// in Config.
var examples = map[string]struct {
	text string
	want any
}{
	"HOST":                      {"::1", "::1"},
	"PORT":                      {"9000", 9000},
	"LOG_LEVEL":                 {"warn", slog.LevelWarn},
	"STATE_DIR":                 {"/srv/My State", "/srv/My State"},
	"STORE_MAX_SIZE":            {"2 GiB", int64(2 << 30)},
	"EXIT_ON_IDLE":              {"90", 90 * time.Second},
	"METRICS":                   {"ON", "on"},
	"VOICES_URL":                {"http://voices.example/v1/voices.json", "http://voices.example/v1/voices.json"},
	"MODEL_DIR":                 {"/srv/$HOME #1", "/srv/$HOME #1"},
	"DEFAULT_VOICE":             {"de_DE-Kerstin-low#2", "de_DE-Kerstin-low#2"},
	"DEFAULT_RATE":              {"60", 60},
	"LEXICON_FILE":              {"words.txt", "words.txt"},
	"VOICE_CACHE_BYTES":         {"2097152", int64(2 << 20)},
	"ONNXRUNTIME_LIB":           {"/opt/libonnxruntime.so", "/opt/libonnxruntime.so"},
	"PULSE_SERVER":              {"unix:/run/x", "unix:/run/x"},
	"PULSE_SINK":                {"Kitchen.sink", "Kitchen.sink"},
	"VOLUME":                    {"0", 0},
	"QUEUE_MAX_SIZE":            {"1", 1},
	"NOTIFY_ACCESS":             {"Token", "token"},
	"NOTIFY_RATE":               {"7", 7},
	"NOTIFY_RATE_LOOPBACK":      {"yes", true},
	"NOTIFY_TTL":                {"90", 90 * time.Second},
	"PUBLIC_URL":                {"https://pressbox.example/", "https://pressbox.example"},
	"OAUTH_SERVER_REDIRECT_URI": {"http://pi.example/api/auth/callback?x", "http://pi.example/api/auth/callback?x"},
	"FRONTEND_URL":              {"http://localhost:5173", "http://localhost:5173"},
	"ALLOWED_HOSTS":             {"Kiosk.example, *.lan", []string{"kiosk.example", "*.lan"}},
	"TRUSTED_PROXIES":           {"10.1.2.3/8,::1", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}},

	"IDP_PROVIDER":           {"github", "github"},
	"IDP_CLIENT_ID":          {"id", "id"},
	"IDP_CLIENT_SECRET":      {"s3cr#t $x", "s3cr#t $x"},
	"IDP_CLIENT_SECRET_FILE": {"/etc/secret", "/etc/secret"},
	"IDP_SCOPES":             {"openid, profile", []string{"openid", "profile"}},
	"IDP_ISSUER":             {"https://issuer.example/", "https://issuer.example/"},
	"IDP_AUTH_URL":           {"https://issuer.example/auth", "https://issuer.example/auth"},
	"IDP_TOKEN_URL":          {"https://issuer.example/token", "https://issuer.example/token"},
	"IDP_USERINFO_URL":       {"https://issuer.example/me", "https://issuer.example/me"},
	"IDP_AUTH_STYLE":         {"body", "body"},
	"IDP_SUBJECT_FIELD":      {"user.id", "user.id"},
	"IDP_NAME_FIELD":         {"Name", "Name"},
	"SIGN_UP":                {"invite", "invite"},
	"COOKIE_SECURE":          {"never", "never"},
	"SESSION_MAX_AGE":        {"3600", time.Hour},

	"TEAM_DATA_URL":   {"https://league.example/api", "https://league.example/api"},
	"TEAM_DATA_TOKEN": {"s3cr#t $x", "s3cr#t $x"},
	"DEFAULT_SEASON":  {"2", 2},
}

// field is the member of Config that a key fills.
func field(cfg Config, name string) any {
	for _, part := range []any{cfg, cfg.SignIn} {
		v := reflect.ValueOf(part)
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("mapstructure") == name {
				return v.Field(i).Interface()
			}
		}
	}
	return nil
}

// Every key means the same from every source. These are viper's traps: a key
// that only the environment has stays out of a struct, prefixed and dotted
// names differ between sources, and gotenv cuts "#" and expands "$".
func TestEveryKeyComesFromEverySource(t *testing.T) {
	for _, k := range keys() {
		e, ok := examples[k.name]
		if !ok {
			t.Errorf("%s has no example in this test", k.name)
			continue
		}
		line := k.name + "=" + e.text + "\n"
		for source, read := range map[string]func(t *testing.T) (Config, *settings, error){
			"pressbox.env": func(t *testing.T) (Config, *settings, error) {
				t.Helper()
				return configure(t, "", line)
			},
			".env": func(t *testing.T) (Config, *settings, error) {
				t.Helper()
				return configure(t, line, "")
			},
			"environment": func(t *testing.T) (Config, *settings, error) {
				t.Helper()
				t.Setenv(k.name, e.text)
				return configure(t, "", "")
			},
			"flag": func(t *testing.T) (Config, *settings, error) {
				t.Helper()
				return configure(t, "", "", "--"+flagName(k), e.text)
			},
		} {
			if k.secret && source == "flag" {
				continue // there is none: every user of the machine sees a command line
			}
			t.Run(k.name+" "+source, func(t *testing.T) {
				cfg, _, err := read(t)
				if got := field(cfg, k.name); err != nil || !reflect.DeepEqual(got, e.want) {
					t.Errorf("%s: %#v, %v; want %#v", line, got, err, e.want)
				}
			})
		}
	}
}

// The 16 ways in which the sources can set a key: the highest wins, with its name.
func TestPrecedence(t *testing.T) {
	for set := range 16 {
		t.Run(fmt.Sprintf("%04b", set), func(t *testing.T) {
			want, origin := 170, "default"
			var local, system string
			var args []string
			if set&1 != 0 {
				system, want, origin = "\nDEFAULT_RATE=101\n", 101, "pressbox.env:2"
			}
			if set&2 != 0 {
				local, want, origin = "DEFAULT_RATE=102\n", 102, ".env:1"
			}
			if set&4 != 0 {
				t.Setenv("DEFAULT_RATE", "103")
				want, origin = 103, "environment"
			}
			if set&8 != 0 {
				args, want, origin = []string{"--default-rate=104"}, 104, "--default-rate"
			}
			cfg, s, err := configure(t, local, system, args...)
			if err != nil || cfg.DefaultRate != want {
				t.Fatalf("DEFAULT_RATE = %d, %v; want %d", cfg.DefaultRate, err, want)
			}
			all, _ := s.all()
			for _, got := range all {
				if got.name == "DEFAULT_RATE" && got.origin != origin {
					t.Errorf("it comes from %q, want %q", got.origin, origin)
				}
			}
		})
	}
}

func TestAnEmptyValueIsTheDefault(t *testing.T) {
	t.Setenv("PORT", "")
	cfg, _, err := configure(t, "DEFAULT_RATE=\nVOLUME=\"\"\n", "PORT=9000\nDEFAULT_RATE=100\nVOLUME=3\n", "--host=")
	if err != nil || cfg.Port != 8888 || cfg.DefaultRate != 170 || cfg.Volume != 100 || cfg.Host != "0.0.0.0" {
		t.Errorf("empty values gave %+v, %v", cfg, err)
	}
}

func TestSystemdsFolderIsTheDefaultForTheState(t *testing.T) {
	t.Setenv("STATE_DIRECTORY", "/var/lib/pressbox")
	if cfg, _, err := configure(t, "", ""); err != nil || cfg.StateDir != "/var/lib/pressbox" {
		t.Errorf("STATE_DIR = %q, %v", cfg.StateDir, err)
	}
	if cfg, _, err := configure(t, "", "STATE_DIR=/srv\n"); err != nil || cfg.StateDir != "/srv" {
		t.Errorf("STATE_DIR = %q, %v; the file's goes before systemd's", cfg.StateDir, err)
	}
}

// viper would make 0, false and 5 ns of some of these.
// An origin is compared with what browsers send, so it is kept as they write it.
func TestOriginsAreAsBrowsersWriteThem(t *testing.T) {
	for said, want := range map[string]string{
		"HTTPS://Pressbox.Example/":    "https://pressbox.example",
		"https://pressbox.example:443": "https://pressbox.example",
		"http://pressbox.local:80/":    "http://pressbox.local",
		"http://pressbox.local:443":    "http://pressbox.local:443",
		"https://pressbox.example:80":  "https://pressbox.example:80",
		"http://[FD00::80]":            "http://[fd00::80]",
		"http://[fd00::7]:80":          "http://[fd00::7]",
	} {
		for _, key := range []string{"PUBLIC_URL", "FRONTEND_URL"} {
			cfg, _, err := configure(t, "", key+"="+said+"\n")
			if got := field(cfg, key); err != nil || got != want {
				t.Errorf("%s=%s is kept as %v, want %s: %v", key, said, got, want, err)
			}
		}
	}
}

func TestWhatDoesNotParseIsRefused(t *testing.T) {
	for _, tt := range []struct{ key, value, expects string }{
		{"PORT", "abc", "a whole number from 0 to 65535"},
		{"PORT", "65536", "a whole number from 0 to 65535"},
		{"PORT", "0x10", "a whole number from 0 to 65535"},
		{"DEFAULT_RATE", "59", "a whole number from 60 to 400"},
		{"DEFAULT_RATE", "170.5", "a whole number from 60 to 400"},
		{"NOTIFY_TTL", "10m", "a whole number from 5 to 86400, in seconds"},
		{"NOTIFY_RATE_LOOPBACK", "maybe", "one of yes, no"},
		{"LOG_LEVEL", "LOUD", "one of DEBUG, INFO, WARN, WARNING, ERROR"},
		{"NOTIFY_ACCESS", "everyone", "one of lan, token, open, off"},
		{"STORE_MAX_SIZE", "512MB", "a size in bytes, or with KiB, MiB or GiB behind it, of at least 2048 KiB"},
		{"STORE_MAX_SIZE", "9999999999GiB", "a size in bytes, or with KiB, MiB or GiB behind it, of at least 2048 KiB"},
		{"HOST", "localhost:80", "an IP address or the name of a host, without a port"},
		{"PUBLIC_URL", "pressbox.example", "a URL without a path, such as https://pressbox.example"},
		{"PUBLIC_URL", "https://pressbox.example/sub", "a URL without a path, such as https://pressbox.example"},
		{"ALLOWED_HOSTS", "a.example, b/c", "names of hosts such as pressbox.example or *.example, with commas between them"},
		{"TRUSTED_PROXIES", "10.0.0.0/33", "IP addresses or networks such as 10.0.0.0/8, with commas between them"},
	} {
		_, _, err := configure(t, "", "# first\n"+tt.key+"="+tt.value+"\n")
		want := "pressbox.env:2: " + tt.key + "=" + tt.value + ": expected " + tt.expects
		if err == nil || err.Error() != want {
			t.Errorf("%s=%s: %v; want %s", tt.key, tt.value, err, want)
		}
	}
}

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	_, _, err := configure(t, "", "", "--port=x", "--volume=101")
	if err == nil || !strings.Contains(err.Error(), "--port: PORT=x:") || !strings.Contains(err.Error(), "--volume: VOLUME=101:") {
		t.Errorf("two wrong flags: %v", err)
	}
}

func TestUnknownKeysOfTheSystemFileAreRefused(t *testing.T) {
	_, _, err := configure(t, "", "PORT=9000\nDEFAULT_VOISE=x\n")
	want := "pressbox.env:2: DEFAULT_VOISE=x: no setting has this name; the nearest is DEFAULT_VOICE, expecting the name of a voice"
	if err == nil || err.Error() != want {
		t.Errorf("an unknown key: %v; want %s", err, want)
	}
}

func TestUnknownKeysOfTheLocalFileAreToldOf(t *testing.T) {
	cfg, s, err := configure(t, "prot=9000\nCOMPOSE_PROJECT_NAME=x\n", "")
	if err != nil || cfg.Port != 8888 || len(s.unknown) != 2 || !strings.Contains(s.unknown[0], "the nearest is PORT") {
		t.Errorf("unknown keys in .env: %v, port %d, told %q", err, cfg.Port, s.unknown)
	}
}

func TestSecretsAreMasked(t *testing.T) {
	t.Chdir(t.TempDir())
	table := []key{{name: "API_SECRET", kind: number(0, 1), value: "0", secret: true, doc: "secret"}}
	t.Setenv("API_SECRET", "hunter2")
	s, err := readSettings(t, table)
	if err == nil { // pressbox.env is missing, and it was asked for
		t.Fatal("a file that was asked for and is missing was passed over")
	}
	if _, err = s.all(); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a wrong secret: %v", err)
	}
	if err := os.WriteFile("pressbox.env", []byte("API_SECERT=hunter3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readSettings(t, table); err == nil || strings.Contains(err.Error(), "hunter3") {
		t.Errorf("a secret under a name with a slip: %v", err)
	}
	if s.flags.Lookup("api-secret") != nil {
		t.Error("a secret can be given on the command line, where every user of the machine sees it")
	}
}

// A name with a dot or without capitals would not mean the same in viper as in
// the environment.
func TestTheTableOfKeys(t *testing.T) {
	name := regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	seen := map[string]bool{}
	for _, k := range keys() {
		if !name.MatchString(k.name) || seen[k.name] || k.doc == "" || strings.HasSuffix(k.doc, ".") {
			t.Errorf("the row of %s", k.name)
		}
		seen[k.name] = true
		if _, ok := k.kind.parse(k.value); !ok {
			t.Errorf("%s: the default %q is not %s", k.name, k.value, k.kind.expects)
		}
	}
}

func TestDotenvTakesEverythingAsItStands(t *testing.T) {
	t.Parallel()
	got, err := parseDotenv("# a comment\n\n A = $HOME/x #no comment\r\nB=p#w\nC='it''s'\nD=\"a\\nb\" \nE=\nF=a=b\nG=\"\n")
	want := []assignment{
		{"A", "$HOME/x #no comment", 3},
		{"B", "p#w", 4},
		{"C", "it''s", 5},
		{"D", `a\nb`, 6},
		{"E", "", 7},
		{"F", "a=b", 8},
		{"G", `"`, 9},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("parsed\n%+v, %v; want\n%+v", got, err, want)
	}
}

func TestDotenvRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"A=1\nB\n":     "line 2: expected NAME=value",
		"=1\n":         "line 1: expected NAME=value",
		"export A=1\n": "line 1: expected NAME=value",
		"A=1\n\nA=2\n": "line 3: A is already set in line 1",
	} {
		if _, err := parseDotenv(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

func FuzzDotenv(f *testing.F) {
	f.Add("A=1\n#B\n C = 'x' \n")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := parseDotenv(text)
		if err != nil {
			return
		}
		var again strings.Builder
		for _, a := range found {
			if a.name == "" || strings.ContainsAny(a.name, "= \t\n") || strings.Contains(a.value, "\n") {
				t.Errorf("%q has the assignment %+v", text, a)
			}
			fmt.Fprintf(&again, "%s=\"%s\"\n", a.name, a.value)
		}
		twice, err := parseDotenv(again.String())
		if err != nil || len(twice) != len(found) {
			t.Fatalf("%q, written again as %q: %+v, %v", text, again.String(), twice, err)
		}
		for i := range twice {
			if twice[i].name != found[i].name || twice[i].value != found[i].value {
				t.Errorf("%q, written again: %+v", text, twice[i])
			}
		}
	})
}

// TestGenerated proves that what is made from the tables in code is current;
// with -update it makes it.
func TestGenerated(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- config:begin (generated: make generate) -->\n", "<!-- config:end -->"
	for path, made := range map[string]func(old string) string{
		"../packaging/pressbox.env":             func(string) string { return shippedFile(keys()) },
		"../packaging/pressbox.catalog":         func(string) string { return catalogFile() },
		"../packaging/man/pressbox.1":           func(string) string { return commandsPage() },
		"../packaging/man/pressbox.8":           func(string) string { return daemonPage() },
		"../packaging/completion/pressbox.bash": func(string) string { return made(t, bashCompletion) },
		"../packaging/completion/_pressbox":     func(string) string { return made(t, zshCompletion) },
		"../README.md": func(old string) string {
			before, rest, ok := strings.Cut(old, begin)
			_, after, closed := strings.Cut(rest, end)
			if !ok || !closed {
				t.Fatalf("README.md has no place for the settings between %q and %q", begin, end)
			}
			return before + begin + settingsTable(keys()) + end + after
		},
	} {
		old, err := os.ReadFile(path)
		if err != nil && !*update {
			t.Fatal(err)
		}
		want := made(string(old))
		if want == string(old) {
			continue
		}
		if !*update {
			t.Errorf("%s is not what the tables in code say: run \"make generate\"", filepath.Base(path))
		} else if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func made(t *testing.T, by func() (string, error)) string {
	t.Helper()
	text, err := by()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The file that the package installs is read without complaint, and sets what
// the package sets.
func TestTheShippedFile(t *testing.T) {
	shipped, err := os.ReadFile("../packaging/pressbox.env")
	if err != nil {
		t.Fatal(err)
	}
	if cfg, _, err := configure(t, "", string(shipped)); err != nil || cfg.ModelDir != "/var/lib/pressbox/models" {
		t.Errorf("the shipped file gives MODEL_DIR=%q, %v", cfg.ModelDir, err)
	}
	all := strings.ReplaceAll(string(shipped), "\n#", "\n")
	for _, k := range keys() {
		if !strings.Contains(all, "\n"+k.name+"=") {
			t.Errorf("the shipped file does not show %s", k.name)
		}
	}
}

// Where this user may not read the package's settings, what it ships is presumed;
// what the environment says goes before that.
func TestUnreadableSettingsArePresumedToBeThePackages(t *testing.T) {
	t.Chdir(t.TempDir())
	withoutEnvironment(t)
	if err := os.WriteFile("pressbox.env", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MODEL_DIR", "/mine")
	s, err := readSettings(t, keys())
	if err != nil {
		t.Fatal(err)
	}
	s.presume()
	cfg, err := s.configure()
	if err != nil || cfg.StateDir != "/var/lib/pressbox" || cfg.PulseServer != "unix:"+audioSocket || cfg.ModelDir != "/mine" {
		t.Errorf("presumed: STATE_DIR=%s PULSE_SERVER=%s MODEL_DIR=%s, %v", cfg.StateDir, cfg.PulseServer, cfg.ModelDir, err)
	}
}
