package settings

import (
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"pressbox/auth"
	"pressbox/auth/idp"
	"pressbox/game/league"
	"pressbox/packaging/check"
	"pressbox/voice/control/boolean"
	"pressbox/voice/control/hours"
)

// configure reads the settings in a new directory with the given .env and pressbox.env, and these flags.
func configure(t *testing.T, local, system string, args ...string) (Config, *Sources, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	withoutEnvironment(t)
	for name, text := range map[string]string{".env": local, "pressbox.env": system} {
		check.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	s, err := readSources(t, Table(), args...)
	if err != nil {
		return Config{}, s, err
	}
	cfg, err := s.Config()
	return cfg, s, err
}

// started is the environment of the test program.
var started = os.Environ()

// withoutEnvironment hides the settings of that environment from a test, except those that the test has set.
func withoutEnvironment(t *testing.T) {
	t.Helper()
	for _, s := range Table() {
		if value, ok := os.LookupEnv(s.Name); ok && slices.Contains(started, s.Name+"="+value) {
			t.Setenv(s.Name, value) // restored at the end
			_ = os.Unsetenv(s.Name) // the name is valid
		}
	}
}

func readSources(t *testing.T, table []Setting, args ...string) (*Sources, error) {
	t.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	addFlags(flags, table)
	check.NoError(t, flags.Parse(args))
	return read(table, flags, "pressbox.env", localFile)
}

var week, _ = hours.Parse("Mon-Fri 22:00-06:30, Sat-Sun 23:30-09:00") // valid: package hours tests it

var proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// An example is the value of a setting as written and in Config.
type example struct {
	text string
	want any
}

// exampleOf returns the value of a setting that is not its default.
func exampleOf(name string) example {
	for text := range strings.FieldsSeq(asWritten) {
		if value, ok := strings.CutPrefix(text, name+"="); ok {
			return example{value, value}
		}
	}
	return examples[name]
}

// examples holds a value that is not its default for each setting but those of asWritten.
var examples = map[string]example{
	"PORT":                 {"9000", 9000},
	"LOG_LEVEL":            {"warn", slog.LevelWarn},
	"STATE_DIR":            {"/srv/My State", "/srv/My State"},
	"STORE_MAX_SIZE":       {"2 GiB", int64(2 << 30)},
	"EXIT_ON_IDLE":         {"90", 90 * time.Second},
	"METRICS":              {"ON", true},
	"MODEL_DIR":            {"/srv/$HOME #1", "/srv/$HOME #1"},
	"DEFAULT_RATE":         {"60", 60},
	"VOICE_CACHE_BYTES":    {"2097152", int64(2 << 20)},
	"VOLUME":               {"0", 0},
	"URGENT_MIN_VOLUME":    {"0", 0},
	"URGENT_UNMUTE":        {"1", true},
	"DUCK":                 {"-12.5", -12.5},
	"CHIME_URGENT":         {"off", "none"},
	"WYOMING":              {"off", false},
	"WYOMING_PORT":         {"0", 0},
	"ESPHOME":              {"no", false},
	"ESPHOME_PORT":         {"6054", 6054},
	"ESPHOME_KEY_FILE":     {"/k", "/k"},
	"NTFY_URGENT":          {"4", 4},
	"HISTORY":              {"0", false},
	"HOOKS":                {"False", false},
	"NTFY":                 {"no", false},
	"GOTIFY":               {"OFF", false},
	"OPENAI":               {"false", false},
	"CONTROL_ACCESS":       {"LAN", "lan"},
	"QUIET_HOURS":          {"Mon-Fri 22:00-06:30, Sat-Sun 23:30-09:00", week},
	"QUIET_VOLUME":         {"30", 30},
	"QUEUE_MAX_SIZE":       {"1", 1},
	"NOTIFY_ACCESS":        {"Token", "token"},
	"NOTIFY_RATE":          {"7", 7},
	"NOTIFY_RATE_LOOPBACK": {"1", true},
	"NOTIFY_TTL":           {"90", 90 * time.Second},
	"PUBLIC_URL":           {"https://pressbox.example/", "https://pressbox.example"},
	"ALLOWED_HOSTS":        {"Kiosk.example, *.lan", []string{"kiosk.example", "*.lan"}},
	"TRUSTED_PROXIES":      {"10.1.2.3/8,::1", proxies},
	"IDP_CLIENT_SECRET":    {"s3cr#t $x", "s3cr#t $x"},
	"IDP_SCOPES":           {"openid, profile", []string{"openid", "profile"}},
	"SESSION_MAX_AGE":      {"3600", time.Hour},
	"TEAM_DATA_TOKEN":      {"s3cr#t $x", "s3cr#t $x"},
	"DEFAULT_SEASON":       {"2", 2},

	"MQTT_DISCOVERY": {"no", "off"},
	"MQTT_TEXT":      {"True", true},

	"EVENTS_URL": {
		"http://homeassistant.local:8123/api/webhook/x https://n.example",
		[]string{"http://homeassistant.local:8123/api/webhook/x", "https://n.example"},
	},
	"EVENTS_TOKEN_FILE": {"/etc/pressbox/events_token", "/etc/pressbox/events_token"},
	"EVENTS_TEXT":       {"1", true},
}

// asWritten holds those that Config has as they are written.
const asWritten = `
	HOST=::1 VOICES_URL=http://voices.example/v1/voices.json DEFAULT_VOICE=de_DE-Kerstin-low#2
	LEXICON_FILE=words.txt ONNXRUNTIME_LIB=/opt/libonnxruntime.so PULSE_SERVER=unix:/run/x
	PULSE_SINK=Kitchen.sink ROOM=kitchen CHIME=ding-dong HOOKS_DIR=./hooks QUIET_MODE=soft
	OAUTH_SERVER_REDIRECT_URI=http://pi.example/api/auth/callback?x FRONTEND_URL=http://localhost:5173
	IDP_PROVIDER=github IDP_CLIENT_ID=id IDP_CLIENT_SECRET_FILE=/etc/secret IDP_ISSUER=https://issuer.example/
	IDP_AUTH_URL=https://issuer.example/auth IDP_TOKEN_URL=https://issuer.example/token
	IDP_USERINFO_URL=https://issuer.example/me IDP_AUTH_STYLE=body IDP_SUBJECT_FIELD=user.id IDP_NAME_FIELD=Name
	SIGN_UP=invite COOKIE_SECURE=never TEAM_DATA_URL=https://league.example/api WALL_WIFI_SSID=Guests
	WALL_WIFI_PASSPHRASE_FILE=/etc/pressbox/wifi MQTT_URL=mqtts://broker.example:8884 MQTT_USERNAME=pressbox
	MQTT_PASSWORD_FILE=/etc/pressbox/mqtt MQTT_CA_FILE=/etc/pressbox/ca.pem MQTT_TOPIC=home/pressbox
`

// sources are the origins of a value, the lowest precedence first.
var sources = []string{"pressbox.env:1", ".env:1", "environment", "flag"}

// configureFrom reads the settings with the value of one setting in each source; "" means that
// the source does not have it.
func configureFrom(t *testing.T, s Setting, values [4]string) (Config, *Sources, error) {
	t.Helper()
	var files [2]string
	var args []string
	for i, value := range values {
		switch {
		case value == "":
		case i < 2:
			files[i] = s.Name + "=" + value + "\n"
		case i == 2:
			t.Setenv(s.Name, value)
		default:
			args = []string{"--" + s.Flag(), value}
		}
	}
	return configure(t, files[1], files[0], args...)
}

// Every setting has the same meaning from every source. viper omits a variable that only the environment has, treats
// prefixed and dotted names differently by source, and gotenv cuts "#" and expands "$".
func TestConfig_everySource(t *testing.T) {
	for _, s := range Table() {
		e := exampleOf(s.Name)
		check.That(t, e.text != "", "%s has no example in this test", s.Name)
		for i, source := range sources {
			if s.Secret && source == "flag" {
				continue // secrets have no flag
			}
			t.Run(s.Name+" "+source, func(t *testing.T) {
				var values [4]string
				values[i] = e.text
				cfg, _, err := configureFrom(t, s, values)
				if got := byName(cfg)[s.Name]; err != nil || !reflect.DeepEqual(got, e.want) {
					t.Errorf("%s=%s: %#v, %v; want %#v", s.Name, e.text, got, err, e.want)
				}
			})
		}
	}
}

// Of the 16 combinations of sources, the one with the highest precedence is used.
func TestValues_precedence(t *testing.T) {
	rate := slices.IndexFunc(Table(), func(s Setting) bool { return s.Name == "DEFAULT_RATE" })
	for set := range 16 {
		t.Run(fmt.Sprintf("%04b", set), func(t *testing.T) {
			want, origin := 170, "default"
			var values [4]string
			for i, source := range sources {
				if set&(1<<i) != 0 {
					want, origin = 101+i, source
					values[i] = fmt.Sprint(want)
				}
			}
			cfg, s, err := configureFrom(t, Table()[rate], values)
			check.Require(t, err == nil && cfg.DefaultRate == want,
				"DEFAULT_RATE = %d, %v; want %d", cfg.DefaultRate, err, want)
			all, _ := s.Values()
			if got := all[rate].Origin; got != strings.Replace(origin, "flag", "--default-rate", 1) {
				t.Errorf("its origin is %q, want %q", got, origin)
			}
		})
	}
}

// What administrators have set on the page precedes the files, not flags and the environment.
func TestSetPage_precedence(t *testing.T) {
	t.Setenv("CHIME", "alert")
	_, s, err := configure(t, "VOLUME=3\nQUIET_HOURS=22:00-07:00\nCHIME=ding-dong\n", "", "--duck=-5")
	check.NoError(t, err)
	err = s.SetPage(map[string]string{
		"VOLUME": "40", "QUIET_HOURS": "", "CHIME": "none", "DUCK": "-10", "DEFAULT_RATE": "9000", "PORT": "1",
	})
	want := "page: DEFAULT_RATE=9000: expected an integer from 60 to 400\nPORT: not a setting of the page"
	check.That(t, err != nil && err.Error() == want, "the error is %v, want %s", err, want)
	all, err := s.Values()
	check.NoError(t, err)
	for name, want := range map[string]string{
		"VOLUME": "40 page false", "QUIET_HOURS": " page false", "CHIME": "alert environment true",
		"DUCK": "-5 --duck true", "DEFAULT_RATE": "170 default false", "PORT": "8888 default false",
	} {
		v := all[slices.IndexFunc(all, func(v Value) bool { return v.Name == name })]
		got := fmt.Sprint(v.Text, " ", v.Origin, " ", v.Fixed)
		check.That(t, got == want, "%s is %q, want %q", name, got, want)
	}
}

func TestConfig_emptyIsDefault(t *testing.T) {
	t.Setenv("PORT", "")
	cfg, _, err := configure(t, "DEFAULT_RATE=\nVOLUME=\"\"\n", "PORT=9000\nDEFAULT_RATE=100\nVOLUME=3\n", "--host=")
	if err != nil || cfg.Port != 8888 || cfg.DefaultRate != 170 || cfg.Volume != 100 || cfg.Host != "0.0.0.0" {
		t.Errorf("empty values gave %+v, %v", cfg, err)
	}
}

func TestConfig_stateDirectory(t *testing.T) {
	t.Setenv("STATE_DIRECTORY", "/var/lib/pressbox")
	for file, want := range map[string]string{"": "/var/lib/pressbox", "STATE_DIR=/srv\n": "/srv"} {
		if cfg, _, err := configure(t, "", file); err != nil || cfg.StateDir != want {
			t.Errorf("STATE_DIR is %q with the file %q, want %s: %v", cfg.StateDir, file, want, err)
		}
	}
}

// An origin is compared with the header Origin, so it has the same form.
func TestConfig_originForm(t *testing.T) {
	for text, want := range map[string]string{
		"HTTPS://Pressbox.Example/":    "https://pressbox.example",
		"https://pressbox.example:443": "https://pressbox.example",
		"http://pressbox.local:80/":    "http://pressbox.local",
		"http://pressbox.local:443":    "http://pressbox.local:443",
		"https://pressbox.example:80":  "https://pressbox.example:80",
		"http://[FD00::80]":            "http://[fd00::80]",
		"http://[fd00::7]:80":          "http://[fd00::7]",
	} {
		for _, key := range []string{"PUBLIC_URL", "FRONTEND_URL"} {
			cfg, _, err := configure(t, "", key+"="+text+"\n")
			got := byName(cfg)[key]
			check.That(t, err == nil && got == want, "%s=%s is %v, want %s: %v", key, text, got, want, err)
		}
	}
}

// viper alone would read 0, false and 5 ns from some of these.
func TestConfig_invalid(t *testing.T) {
	for _, tt := range []struct{ expects, name, values string }{
		{"an integer from 0 to 65535", "PORT", "abc 65536 0x10"},
		{"an integer from 60 to 400", "DEFAULT_RATE", "59 170.5"},
		{"an integer from 5 to 86400, in seconds", "NOTIFY_TTL", "10m"},
		{"one of DEBUG, INFO, WARN, WARNING, ERROR", "LOG_LEVEL", "LOUD"},
		{"one of lan, token, open, off", "NOTIFY_ACCESS", "everyone"},
		{"a size in bytes or with the unit KiB, MiB or GiB, at least 2 MiB", "STORE_MAX_SIZE", "512MB 9999999999GiB"},
		{"decibels from -60 to 0", "DUCK", "3 -61 NaN"},
		{"an integer from 0 to 100", "QUIET_VOLUME", "-1 101"},
		{boolean.Expects, "NOTIFY_RATE_LOOPBACK", "maybe"},
		{
			"none, or the name of a sound: 1 to 64 of a-z, 0-9 and -",
			"CHIME", "Gong -gong gong.wav " + strings.Repeat("g", 65),
		},
		{"an integer from 1 to 5, or off", "NTFY_URGENT", "6 on"},
		{"an IP address or a host name, without a port", "HOST", "localhost:80"},
		{"a URL without a path, such as https://pressbox.example", "PUBLIC_URL", "pressbox.example http://a.example/b"},
		{"host names such as pressbox.example or *.example, separated by commas", "ALLOWED_HOSTS", "a.example,b/c"},
		{"mqtt://HOST or mqtts://HOST, with an optional :PORT", "MQTT_URL", "ws://broker mqtt://b@c mqtt://d/e"},
		{"an MQTT topic such as home/pressbox, without + and #", "MQTT_TOPIC", "home/# /home"},
		{"IP addresses or networks such as 10.0.0.0/8, separated by commas", "TRUSTED_PROXIES", "10.0.0.0/33"},
		{
			"times such as 22:00-07:00 or Mon-Fri 22:00-06:30, separated by commas: " +
				"\"22\": expected a time from 00:00 to 24:00",
			"QUIET_HOURS", "22-7",
		},
	} {
		for value := range strings.FieldsSeq(tt.values) {
			_, _, err := configure(t, "", "# first\n"+tt.name+"="+value+"\n")
			want := "pressbox.env:2: " + tt.name + "=" + value + ": expected " + tt.expects
			check.That(t, err != nil && err.Error() == want, "%s=%s: %v; want %s", tt.name, value, err, want)
		}
	}
}

// A flag that needs no value takes every boolean.
func TestAcceptBooleans(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{
		"--urgent": "true <nil>", "--urgent=ON": "true <nil>", "--urgent=0": "false <nil>",
		"--urgent=maybe": boolean.Expects,
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		urgent := flags.Bool("urgent", false, "")
		AcceptBooleans(flags)
		err := flags.Parse([]string{arg})
		got := fmt.Sprint(*urgent, err)
		check.That(t, strings.HasSuffix(got, want), "%s is %s, want %s", arg, got, want)
	}
}

// Every error of the files is reported at once; a name that is far from each is not guessed, nor its value shown.
func TestRead_allErrors(t *testing.T) {
	_, _, err := configure(t, "", "PROT=1\nNOSUCH=1\nexport A=1\nVOLUME=loud\nVOLUME=3\nDUCK=x\n")
	want := `pressbox.env: line 3: expected NAME=value
pressbox.env: line 5: VOLUME is already set in line 4
pressbox.env:1: PROT=1: unknown setting; did you mean PORT (an integer from 0 to 65535)?
pressbox.env:2: NOSUCH: unknown setting
pressbox.env:4: VOLUME=loud: expected an integer from 0 to 100
pressbox.env:6: DUCK=x: expected decibels from -60 to 0`
	check.That(t, err != nil && err.Error() == want, "the error is\n%v, want\n%s", err, want)
}

func TestRead_unknownInLocalFile(t *testing.T) {
	cfg, s, err := configure(t, "prot=9000\nCOMPOSE_PROJECT_NAME=x\n", "")
	if len(s.Unknown) != 2 || !strings.Contains(s.Unknown[0], "did you mean PORT") || cfg.Port != 8888 || err != nil {
		t.Errorf("unknown settings in .env: %v, port %d, reported %q", err, cfg.Port, s.Unknown)
	}
}

func TestValues_secretsMasked(t *testing.T) {
	t.Chdir(t.TempDir())
	table := []Setting{{Name: "API_SECRET", valueType: integer(0, 1), Default: "0", Secret: true}}
	t.Setenv("API_SECRET", "hunter2")
	s, err := readSources(t, table)
	if err == nil { // pressbox.env, which a flag names, does not exist
		t.Fatal("a missing file was ignored")
	}
	if _, err = s.Values(); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a wrong secret: %v", err)
	}
	check.NoError(t, os.WriteFile("pressbox.env", []byte("API_SECERT=hunter3\n"), 0o600))
	if _, err := readSources(t, table); err == nil || strings.Contains(err.Error(), "hunter3") {
		t.Errorf("a secret under a misspelled name: %v", err)
	}
	check.That(t, s.flags.Lookup("api-secret") == nil, "a secret has a flag, which every user of the host can read")
}

// A name with a dot or in lower case would have another meaning in viper than in the environment.
func TestTable(t *testing.T) {
	name := regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	seen := map[string]bool{}
	for _, s := range Table() {
		if !name.MatchString(s.Name) || seen[s.Name] || s.Description == "" || strings.HasSuffix(s.Description, ".") {
			t.Errorf("the row of %s is invalid", s.Name)
		}
		seen[s.Name] = true
		_, ok := s.valueType.parse(s.Default)
		check.That(t, ok, "%s: the default %q is not %s", s.Name, s.Default, s.valueType.expects)
	}
}

func TestParseDotenv_literal(t *testing.T) {
	t.Parallel()
	text := "# a comment\n\n A = $HOME/x #no comment\r\nB=p#w\nC='it''s'\nD=\"a\\nb\" \nE=\nF=a=b\nG=\"\n"
	got, err := parseDotenv(text)
	want := []assignment{
		{"A", "$HOME/x #no comment", 3},
		{"B", "p#w", 4},
		{"C", "it''s", 5},
		{"D", `a\nb`, 6},
		{"E", "", 7},
		{"F", "a=b", 8},
		{"G", `"`, 9},
	}
	check.That(t, err == nil && reflect.DeepEqual(got, want), "parsed\n%+v, %v; want\n%+v", got, err, want)
}

func TestParseDotenv_invalid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"A=1\nB\n":     "line 2: expected NAME=value",
		"=1\n":         "line 1: expected NAME=value",
		"export A=1\n": "line 1: expected NAME=value",
		"A=1\n\nA=2\n": "line 3: A is already set in line 1",
	} {
		_, err := parseDotenv(text)
		check.That(t, err != nil && err.Error() == want, "%q: %v; want %s", text, err, want)
	}
}

func FuzzParseDotenv(f *testing.F) {
	f.Add("A=1\n#B\n C = 'x' \n")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := parseDotenv(text)
		if err != nil {
			return
		}
		var again strings.Builder
		for _, a := range found {
			check.That(t, a.name != "" && !strings.ContainsAny(a.name, "= \t\n") && !strings.Contains(a.value, "\n"),
				"%q has the assignment %+v", text, a)
			fmt.Fprintf(&again, "%s=\"%s\"\n", a.name, a.value)
		}
		twice, err := parseDotenv(again.String())
		same := func(a, b assignment) bool { return a.name == b.name && a.value == b.value }
		check.That(t, err == nil && slices.EqualFunc(found, twice, same),
			"%q, written again as %q: %+v, %v", text, again.String(), twice, err)
	})
}

// The package's file is valid. That it has every setting is how it is generated.
func TestRead_shippedFile(t *testing.T) {
	shipped := check.Must(os.ReadFile("../../packaging/pressbox.env"))(t)
	if cfg, _, err := configure(t, "", string(shipped)); err != nil || cfg.ModelDir != "/var/lib/pressbox/models" {
		t.Errorf("the shipped file gives MODEL_DIR=%q, %v", cfg.ModelDir, err)
	}
}

// For a user who cannot read the package's settings, the shipped values are the defaults.
func TestRead_unreadableSystemFile(t *testing.T) {
	t.Chdir(t.TempDir())
	withoutEnvironment(t)
	check.NoError(t, os.WriteFile("pressbox.env", nil, 0o600))
	t.Setenv("MODEL_DIR", "/mine")
	s := check.Must(readSources(t, Table()))(t)
	s.assumeShipped()
	cfg, err := s.Config()
	got := strings.Join([]string{cfg.StateDir, cfg.PulseServer, cfg.ModelDir}, " ")
	check.That(t, err == nil && got == "/var/lib/pressbox unix:"+AudioSocket+" /mine", "assumed: %s, %v", got, err)
}

// The table repeats values of other packages, which it does not import.
func TestTable_otherPackages(t *testing.T) {
	t.Parallel()
	for _, s := range Table() {
		switch s.Name {
		case "IDP_PROVIDER":
			if want := strings.Join(append([]string{auth.Local}, idp.Providers()...), "|"); s.Type() != want {
				t.Errorf("IDP_PROVIDER is %s, want %s", s.Type(), want)
			}
		case "DEFAULT_SEASON":
			if want := fmt.Sprintf("has seasons 1 to %d.", league.LastSeason); !strings.Contains(s.More, want) {
				t.Errorf("DEFAULT_SEASON does not say that the league %s", want)
			}
		}
	}
}
