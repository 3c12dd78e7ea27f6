// Package card reads pressbox.txt, with which the owner of a memory card sets up the host
// before its first start.
//
// One law: an invalid line changes nothing and is reported; the others apply.
package card

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/daemon/settings"
)

// MaxSize is the size limit of the file, in bytes.
const MaxSize = 64 << 10

// A Card holds what pressbox.txt sets. The zero value of a field sets nothing.
type Card struct {
	Hostname  string
	WiFi      WiFi
	TimeZone  string // a name of the IANA database, such as Europe/Berlin; it may not exist
	SSHKey    string // a line of authorized_keys, without options
	AdminCode string
	// ESPHomeKey is the encryption key of ESPHome's API, in base64.
	ESPHomeKey string
	Settings   []Setting // in the order of the file
}

// WiFi holds the network that the host joins.
type WiFi struct {
	SSID       string // 1–32 bytes; "" means no Wi-Fi
	Passphrase string // 8–63 printable ASCII characters; "" means an open network
	Country    string // ISO 3166-1 alpha-2; "" means unknown
}

// A Setting is a setting of the server with a valid value.
type Setting struct{ Name, Value string }

// A Problem is a line that was not applied, or could not be.
type Problem struct {
	Line int    // from 1; 0 means the whole file
	Text string // without the value of the line, which may be a secret
}

// String returns the problem as it is announced and written.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Text
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Text)
}

// names has the names of the lines that are no settings of the server. A function returns
// what would be right; "" if the value is.
//
//nolint:gochecknoglobals // a table
var names = map[string]struct {
	field func(*Card) *string
	wrong func(value string) string
}{
	"hostname": {
		func(c *Card) *string { return &c.Hostname },
		matching(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$`, "1 to 63 letters a to z, digits and hyphens"),
	},
	"wifi_ssid": {func(c *Card) *string { return &c.WiFi.SSID }, ssid},
	"wifi_passphrase": {
		func(c *Card) *string { return &c.WiFi.Passphrase }, matching(`^[ -~]{8,63}$`, "8 to 63 characters of ASCII"),
	},
	"wifi_country": {
		func(c *Card) *string { return &c.WiFi.Country }, matching(`^[A-Z]{2}$`, "two capital letters, such as DE"),
	},
	"timezone": {
		func(c *Card) *string { return &c.TimeZone },
		matching(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`, "a time zone such as Europe/Berlin"),
	},
	"ssh_key":    {func(c *Card) *string { return &c.SSHKey }, sshKey},
	"admin_code": {func(c *Card) *string { return &c.AdminCode }, adminCode},
	"esphome_key": {
		func(c *Card) *string { return &c.ESPHomeKey },
		func(value string) string {
			if _, err := settings.ParseKey(value); err != nil {
				return "32 bytes in base64, as \"openssl rand -base64 32\" prints"
			}
			return ""
		},
	},
}

// allowed are the settings that a card may set: none that names a file, a program or a
// download, and none with a secret.
//
//nolint:gochecknoglobals // a table
var allowed = strings.Fields(`
	DEFAULT_VOICE DEFAULT_RATE VOLUME URGENT_MIN_VOLUME DUCK ROOM CHIME CHIME_URGENT HISTORY
	NOTIFY_ACCESS NOTIFY_RATE NOTIFY_TTL CONTROL_ACCESS QUIET_HOURS QUIET_MODE QUIET_VOLUME
	NTFY GOTIFY OPENAI HOOKS WYOMING ESPHOME METRICS LOG_LEVEL PUBLIC_URL ALLOWED_HOSTS TRUSTED_PROXIES
	SIGN_UP DEFAULT_SEASON MQTT_URL MQTT_USERNAME MQTT_TOPIC MQTT_DISCOVERY
`)

// secrets are the names of the lines that [Redact] removes.
var secrets = []string{"wifi_passphrase", "admin_code", "esphome_key"} //nolint:gochecknoglobals // a table

// Parse reads lines of NAME=value, in the form of the settings files. A line that is empty or
// begins with "#" is skipped.
func Parse(text []byte) (c Card, problems []Problem) {
	if len(text) > MaxSize {
		return Card{}, []Problem{{Text: fmt.Sprintf("the file has more than %d bytes", MaxSize)}}
	}
	seen := make(map[string]int)
	number := 0
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		number++
		name, value, ok := split(string(line))
		if !ok {
			continue
		}
		var wrong string
		switch earlier := seen[name]; {
		case !utf8.Valid(line):
			wrong = "the line is not UTF-8: save the file as UTF-8"
		case bytes.ContainsFunc(bytes.TrimRight(line, "\r\n"), unicode.IsControl):
			wrong = "the line has a tab or another control character"
		case name == "":
			wrong = "expected NAME=value"
		case earlier != 0:
			wrong = fmt.Sprintf("%s is already set in line %d", name, earlier)
		default:
			seen[name] = number
			wrong = c.set(name, value)
		}
		if wrong != "" {
			problems = append(problems, Problem{number, wrong})
		}
	}
	passphrase := seen["wifi_passphrase"]
	if passphrase > 0 && seen["wifi_ssid"] == 0 {
		problems = append(problems, Problem{passphrase, "wifi_passphrase requires wifi_ssid"})
	}
	// never an open network in place of a protected one
	if c.WiFi.SSID == "" || passphrase > 0 && c.WiFi.Passphrase == "" {
		c.WiFi = WiFi{}
	}
	return c, problems
}

// split returns the name and the value of a line; the name is "" if it has none. ok is false
// for a line without content.
func split(line string) (name, value string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", "", false
	}
	name, value, found := strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !found || strings.ContainsAny(name, " \t") {
		return "", "", true
	}
	if last := len(value) - 1; last > 0 && value[0] == value[last] && (value[0] == '"' || value[0] == '\'') {
		value = value[1:last]
	}
	return canonical(name), value, true
}

// canonical returns a name in the spelling of the tables: settings in capitals.
func canonical(name string) string {
	if lower := strings.ToLower(name); names[lower].field != nil {
		return lower
	}
	return strings.ToUpper(name)
}

// set sets the value of a line and returns what is wrong with it; "" if nothing is.
func (c *Card) set(name, value string) string {
	if known := names[name]; known.field != nil {
		if expected := known.wrong(value); expected != "" {
			return name + ": expected " + expected
		}
		*known.field(c) = value
		c.Hostname = strings.ToLower(c.Hostname)
		return ""
	}
	if !slices.Contains(allowed, name) {
		return name + " is not a name that pressbox.txt may set"
	}
	if expected := settings.Expects(name, value); expected != "" {
		return name + ": expected " + expected
	}
	c.Settings = append(c.Settings, Setting{name, value})
	return ""
}

// matching returns the check of values that match a pattern.
func matching(pattern, expected string) func(string) string {
	valid := regexp.MustCompile(pattern)
	return func(value string) string {
		if valid.MatchString(value) {
			return ""
		}
		return expected
	}
}

func ssid(value string) string {
	if len(value) < 1 || len(value) > 32 {
		return "the name of a network, 1 to 32 bytes"
	}
	return ""
}

func adminCode(value string) string {
	if n := utf8.RuneCountInString(value); n < 8 || n > 128 {
		return "8 to 128 characters"
	}
	return ""
}

// keyTypes are the types of keys that OpenSSH accepts.
var keyTypes = map[string]bool{ //nolint:gochecknoglobals // a table
	"ssh-ed25519": true, "ssh-rsa": true, "ecdsa-sha2-nistp256": true,
	"ecdsa-sha2-nistp384": true, "ecdsa-sha2-nistp521": true,
	"sk-ssh-ed25519@openssh.com": true, "sk-ecdsa-sha2-nistp256@openssh.com": true,
}

// sshKey checks a public key: its type, and the data, which begin with the type (RFC 4253,
// section 6.6).
func sshKey(value string) string {
	const expected = "a public key, such as the content of id_ed25519.pub"
	fields := strings.Fields(value)
	if len(fields) < 2 || !keyTypes[fields[0]] {
		return expected
	}
	data, err := base64.StdEncoding.DecodeString(fields[1])
	begin := append(binary.BigEndian.AppendUint32(nil, uint32(len(fields[0]))), fields[0]...) //nolint:gosec // short
	if err != nil || !bytes.HasPrefix(data, begin) || len(data) == len(begin) {
		return expected
	}
	return ""
}

// Redact returns the file with the problems in comments before it, and without the lines of
// its secrets and those that were not applied, which may be misspelled ones.
func Redact(text []byte, problems []Problem) []byte {
	var b bytes.Buffer
	for _, p := range problems {
		fmt.Fprintf(&b, "# %s\r\n", strings.ToValidUTF8(p.String(), "?"))
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		lower := strings.ToLower(string(line))
		if slices.ContainsFunc(secrets, func(name string) bool { return strings.Contains(lower, name) }) ||
			slices.ContainsFunc(problems, func(p Problem) bool { return p.Line == number }) {
			line = fmt.Appendf(nil, "# line %d was removed\r\n", number)
		}
		b.Write(line)
	}
	return b.Bytes()
}
