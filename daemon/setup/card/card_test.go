package card_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pressbox/daemon/setup/card"
	"pressbox/packaging/check"
)

const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4 anna@home"

// espKey is the base64 of 32 bytes.
const espKey = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY="

// Editors of Windows write a byte order mark and CR LF; names have any case, and values quotes.
func TestParse_whole(t *testing.T) {
	t.Parallel()
	text := "\ufeff# kitchen\r\nHostname = kitchen\r\n\r\nwifi_ssid=\"Café \"\r\nwifi_passphrase=opening = day\r\n" +
		"wifi_country=DE\r\ntimezone=America/Argentina/Ushuaia\r\nssh_key=" + key + "\r\n" +
		"admin_code=seventh inning\r\nesphome_key=" + espKey + "\r\nvolume=40\r\nmetrics=Yes\r\nROOM=kitchen"
	got, problems := card.Parse([]byte(text))
	want := card.Card{
		Hostname: "kitchen", WiFi: card.WiFi{SSID: "Café ", Passphrase: "opening = day", Country: "DE"},
		TimeZone: "America/Argentina/Ushuaia", SSHKey: key, AdminCode: "seventh inning", ESPHomeKey: espKey,
		Settings: []card.Setting{
			{Name: "VOLUME", Value: "40"}, {Name: "METRICS", Value: "Yes"}, {Name: "ROOM", Value: "kitchen"},
		},
	}
	check.That(t, reflect.DeepEqual(got, want) && len(problems) == 0, "%+v, %v", got, problems)
}

// Each invalid line is reported with its number and without its value; the others apply.
func TestParse_invalid(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"wifi":                                   "expected NAME=value",
		"wifi ssid=home":                         "expected NAME=value",
		"hostname=\xff":                          "not UTF-8",
		"hostname=-kitchen":                      "hostname: expected",
		"hostname=a\tb":                          "control character",
		"MODEL_DIR=/tmp":                         "MODEL_DIR is not a name",
		"hostname=" + strings.Repeat("a", 64):    "hostname: expected",
		"wifi_ssid=" + strings.Repeat("é", 17):   "wifi_ssid: expected",
		"wifi_country=de":                        "wifi_country: expected",
		"timezone=../../etc/shadow":              "timezone: expected",
		"ssh_key=command=\"x\" " + key:           "ssh_key: expected",
		"ssh_key=ssh-rsa" + key[11:]:             "ssh_key: expected",
		"ssh_key=ssh-ed25519 AAAA":               "ssh_key: expected",
		"admin_code=7 chars":                     "admin_code: expected",
		"esphome_key=" + espKey[4:]:              "esphome_key: expected",
		"esphome_key=" + espKey + "AAAA":         "esphome_key: expected",
		"admin_code=" + strings.Repeat("x", 129): "admin_code: expected",
		"STATE_DIR=/tmp":                         "STATE_DIR",
		"ONNXRUNTIME_LIB=/tmp/x":                 "ONNXRUNTIME_LIB",
		"VOICES_URL=https://example.com":         "VOICES_URL",
		"VOLUME=101":                             "VOLUME",
		"METRICS=maybe":                          "METRICS: expected true or false",
		"TYPO=1":                                 "TYPO",
		"ROOM=hall\nroom=kitchen":                "ROOM is already set in line 1",
	} {
		got, problems := card.Parse([]byte(line + "\nDEFAULT_RATE=150\n"))
		n := 1 + strings.Count(line, "\n")
		check.That(t, len(problems) == 1 && problems[0].Line == n && strings.Contains(problems[0].Text, want),
			"%q: %v, want %q in line %d", line, problems, want, n)
		if last := len(got.Settings) - 1; last < 0 ||
			got.Settings[last] != (card.Setting{Name: "DEFAULT_RATE", Value: "150"}) {
			t.Errorf("%q: the line after it was not applied: %+v", line, got)
		}
	}
}

// The longest and the shortest values are accepted.
func TestParse_limits(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"hostname=a", "hostname=" + strings.Repeat("a", 63), "wifi_ssid=x", "wifi_ssid=" + strings.Repeat("é", 16),
		"wifi_ssid=x\nwifi_passphrase=" + strings.Repeat("x", 8),
		"wifi_ssid=x\nwifi_passphrase=" + strings.Repeat("x", 63),
		"admin_code=" + strings.Repeat("ü", 8), "admin_code=" + strings.Repeat("ü", 128), "timezone=UTC", "VOLUME=100",
		strings.Repeat("#", card.MaxSize),
	} {
		if _, problems := card.Parse([]byte(line)); len(problems) > 0 {
			t.Errorf("%.40q: %v", line, problems)
		}
	}
	_, problems := card.Parse([]byte("hostname=kitchen\n" + strings.Repeat("#", card.MaxSize)))
	check.That(t, len(problems) == 1 && problems[0].Line == 0, "a file above the limit: %v", problems)
}

// A network whose passphrase is invalid is not joined as an open one, and a passphrase without a network is reported.
func TestParse_wifi(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"wifi_ssid=home\nwifi_passphrase=short\n", "wifi_ssid=home\nwifi_passphrase=" + strings.Repeat("x", 64),
		"wifi_ssid=home\nwifi_passphrase=größte Menge\n",
		"wifi_passphrase=long enough\n",
	} {
		if got, problems := card.Parse([]byte(text)); len(problems) != 1 || got.WiFi != (card.WiFi{}) {
			t.Errorf("%q: %+v, %v", text, got, problems)
		}
	}
	if got, problems := card.Parse([]byte("wifi_ssid=guests\n")); got.WiFi.SSID != "guests" || len(problems) > 0 {
		t.Errorf("an open network: %+v, %v", got, problems)
	}
}

// Secrets are removed from comments and misspelled lines too; everything else stays.
func TestRedact_secrets(t *testing.T) {
	t.Parallel()
	text := "hostname=kitchen\r\nWiFi_Passphrase = hunter two\r\n#admin_code=hunter two\nwifipassword hunter two\n" +
		"admin_code=hunter two"
	got := string(card.Redact([]byte(text), []card.Problem{{Line: 4, Text: "expected NAME=value"}}))
	want := "# line 4: expected NAME=value\r\nhostname=kitchen\r\n# line 2 was removed\r\n# line 3 was removed\r\n" +
		"# line 4 was removed\r\n# line 5 was removed\r\n"
	check.Equal(t, got, want, "what is left")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\ufeffhostname=kitchen\r\nwifi_ssid='home'\nwifi_passphrase=opening day\nVOLUME=40\n"))
	f.Add([]byte("ssh_key=" + key + "\nadmin_code=seventh inning\ntimezone=Europe/Berlin\nx\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, problems := card.Parse(text)
		for _, value := range []string{
			c.Hostname, c.WiFi.SSID, c.WiFi.Passphrase, c.WiFi.Country, c.TimeZone, c.SSHKey, c.AdminCode, c.ESPHomeKey,
			fmt.Sprint(c.Settings),
		} {
			check.That(t, utf8.ValidString(value) && !strings.ContainsAny(value, "\n\r"), "the value %q", value)
		}
		if strings.Contains(c.TimeZone, "..") || c.WiFi.SSID == "" && c.WiFi != (card.WiFi{}) {
			t.Errorf("%+v", c)
		}
		redacted := card.Redact(text, problems)
		again, _ := card.Parse(redacted)
		if again.AdminCode != "" || again.ESPHomeKey != "" || again.WiFi.Passphrase != "" || c.AdminCode != "" &&
			bytes.Contains(bytes.ToLower(redacted), []byte("admin_code=")) {
			t.Errorf("secrets remain in %q", redacted)
		}
	})
}
