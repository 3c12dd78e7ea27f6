package settings

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Setting is one row of the table of settings.
type Setting struct {
	Name        string                   // in the environment and in the files
	Default     string                   // as written in a file; "" means none
	Shipped     string                   // the value in the package's pressbox.env; "" means the default
	Reload      bool                     // a reload applies a change
	Page        bool                     // administrators may set it on the page; a reload applies it
	Secret      bool                     // never printed
	Masked      func(text string) string // what is printed instead of a value; nil: the value
	Description string                   // one line, without a full stop
	More        string                   // further sentences for the documents, or ""

	valueType valueType
}

// Type returns the type of the setting's values in words, with their limits.
func (s Setting) Type() string { return strings.TrimSpace(s.valueType.name + " " + s.valueType.limits) }

// Flag returns the name of the setting's flag: MODEL_DIR has --model-dir.
func (s Setting) Flag() string { return strings.ReplaceAll(strings.ToLower(s.Name), "_", "-") }

// Text returns the setting's description in sentences.
func (s Setting) Text() string {
	first, size := utf8.DecodeRuneInString(s.Description)
	text := strings.ToUpper(string(first)) + s.Description[size:] + "."
	if s.More != "" {
		text += " " + s.More
	}
	if s.Reload {
		text += " Applied on reload."
	}
	if s.Page {
		text += " Administrators may set it on the page."
	}
	return text
}

// Table returns every setting in the order of the documents.
func Table() []Setting {
	return slices.Concat(
		serverSettings(), speechSettings(), announcementSettings(), integrationSettings(), quietSettings(),
		webSettings(), signInSettings(), gameSettings(), wallSettings(), mqttSettings(), eventSettings(),
	)
}

func serverSettings() []Setting {
	return []Setting{
		{
			Name: "HOST", valueType: host(), Default: "0.0.0.0",
			Description: "address to listen on", More: "Ignored if systemd passes a socket.",
		},
		{
			Name: "PORT", valueType: integer(0, 65535), Default: "8888",
			Description: "TCP port to listen on; 0 selects a free port", More: "Ignored if systemd passes a socket.",
		},
		{
			Name: "LOG_LEVEL", valueType: logLevel(), Default: "INFO", Reload: true,
			Description: "minimum level of log messages",
			More:        "DEBUG also logs the text of announcements as it is spoken.",
		},
		{
			Name: "STATE_DIR", valueType: path(), Default: "./state", Shipped: "/var/lib/pressbox",
			Description: "directory of the store and its backups",
			More:        "Under systemd the default is the unit's StateDirectory.",
		},
		{
			Name: "STORE_MAX_SIZE", valueType: size(2 << 20), Default: "512MiB",
			Description: "maximum size of the store",
			More: "Announcements, sign-in, games and caches each have a share of it, " +
				"and a full share rejects its own data only. When the games use 90 % of theirs, " +
				"the oldest finished game of the account with the most games is deleted.",
		},
		{
			Name: "EXIT_ON_IDLE", valueType: seconds(0, 86_400), Default: "0",
			Description: "exit after this many idle seconds; systemd starts the server again on the next request",
			More:        "0: never. Requires a socket from systemd.",
		},
		{
			Name: "METRICS", valueType: boolType(), Default: "off",
			Description: "serve /metrics to the local network",
			More:        "The admin socket always serves it.",
		},
	}
}

func speechSettings() []Setting {
	return []Setting{
		{
			Name: "MODEL_DIR", valueType: path(), Default: "./models", Shipped: "/var/lib/pressbox/models",
			Description: "directory of the voices, pairs of NAME.onnx and NAME.onnx.json",
			More: "Subdirectories are not searched. " + SharedModels + " is searched next. " +
				"A new pair is found without a restart.",
		},
		{
			Name: "VOICES_URL", valueType: webURL(),
			Default:     "https://huggingface.co/rhasspy/piper-voices/resolve/main/voices.json",
			Description: "catalog for \"pressbox voices install\", in the format of Piper's voices.json",
			More:        "Without https, the command requires --insecure-http.",
		},
		{
			Name: "DEFAULT_VOICE", valueType: text(), Default: "en_US-heart-medium", Reload: true, Page: true,
			Description: "default voice",
			More: "If it is missing or broken, another voice of the same language, or else any, " +
				"speaks instead, and /health reports \"degraded\".",
		},
		{
			Name: "DEFAULT_RATE", valueType: integer(60, 400), Default: "170", Reload: true, Page: true,
			Description: "default speech rate in words per minute",
		},
		{
			Name: "LEXICON_FILE", valueType: path(), Reload: true,
			Description: "file of your own pronunciations and abbreviations",
			More:        "One per line, such as \"Kowalczyk = Kovalchick\".",
		},
		{
			Name: "VOICE_CACHE_BYTES", valueType: size(1 << 20), Default: "256MiB",
			Description: "maximum size of voice models kept in memory, not counting the default voice",
			More:        "A model that loads within 0.75 s is kept for 30 s only.",
		},
		{
			Name: "ONNXRUNTIME_LIB", valueType: path(),
			Description: "ONNX Runtime library",
			More: "If unset, it is searched for beside the program, in /usr/lib/pressbox, " +
				"and among the system's libraries.",
		},
		{
			Name: "PULSE_SERVER", valueType: text(), Shipped: "unix:" + AudioSocket,
			Description: "address of the PulseAudio or PipeWire server, such as unix:" + AudioSocket,
			More:        "If unset, the sound server of the user that runs the server.",
		},
		{
			Name: "PULSE_SINK", valueType: text(),
			Description: "sink to play on, as listed by \"pactl list sinks\", or several, separated by commas",
			More: "Of several, the first that is there plays: what follows a Bluetooth speaker takes its " +
				"place while it is away. If unset, the sound server's default sink.",
		},
		{
			Name: "VOLUME", valueType: integer(0, 100), Default: "100", Reload: true, Page: true,
			Description: "playback volume in percent",
			More:        "A changed value replaces the volume that was set with \"pressbox volume\" or PUT /volume.",
		},
		{
			Name: "URGENT_MIN_VOLUME", valueType: integer(0, 100), Default: "40", Reload: true,
			Description: "minimum volume of urgent announcements in percent, also if muted or during quiet hours; " +
				"0: no minimum",
		},
		{
			Name: "URGENT_UNMUTE", valueType: boolType(), Default: "off", Reload: true,
			Description: "unmute the sound server's sink for urgent announcements, and raise it to URGENT_MIN_VOLUME",
			More: "For their time only, also if Pressbox is killed meanwhile; another volume that is set then stays. " +
				"off: one whose sink is muted is played on the next one in PULSE_SINK.",
		},
		{
			Name: "DUCK", valueType: decibels(-60), Default: "-20", Reload: true, Page: true,
			Description: "decibels by which other streams on the sink are lowered during an announcement; " +
				"0: they are not lowered",
		},
	}
}

func announcementSettings() []Setting {
	return []Setting{
		{
			Name: "QUEUE_MAX_SIZE", valueType: integer(1, 100_000), Default: "50", Reload: true,
			Description: "maximum number of waiting announcements",
			More: "Ten more places are for urgent ones. Interrupted and scheduled announcements do not count. " +
				"A client has at most half of the places.",
		},
		{
			Name: "ROOM", valueType: room(),
			Description: "name of this room, under which other rooms on the same MQTT broker send announcements to it",
			More:        "If unset, the host's name.",
		},
		{
			Name: "NOTIFY_ACCESS", valueType: oneOf("lan", "token", "open", "off"), Default: "lan",
			Description: "who may create announcements",
			More: "lan: clients with a private address, and others with a token. " +
				"token: clients with a token, and the sessions of administrators and of accounts that were invited. " +
				"open: everyone. off: no one.",
		},
		{
			Name: "NOTIFY_RATE", valueType: integer(1, 100_000), Default: "120",
			Description: "maximum number of announcements and requests for speech per minute and client address",
			More: "Bursts are limited to half of it. All that arrives by MQTT has eight times as much, together: " +
				"beyond it, messages of QoS 1 wait at the broker, and those of QoS 0 are dropped.",
		},
		{
			Name: "NOTIFY_RATE_LOOPBACK", valueType: boolType(), Default: "no",
			Description: "apply NOTIFY_RATE to clients on the host too",
		},
		{
			Name: "NOTIFY_TTL", valueType: seconds(5, 86_400), Default: "600", Reload: true,
			Description: "seconds after which a waiting announcement expires",
			More:        "They count from the time of the announcement, if it has one.",
		},
		{
			Name: "CHIME", valueType: chime(), Default: "ding", Reload: true, Page: true,
			Description: "sound before an announcement, see GET /sounds",
			More:        "It is left out within 5 seconds after another announcement.",
		},
		{
			Name: "CHIME_URGENT", valueType: chime(), Default: "alert", Reload: true, Page: true,
			Description: "sound before an urgent announcement, see GET /sounds",
		},
		{
			Name: "HISTORY", valueType: boolType(), Default: "on", Reload: true,
			Description: "store the texts of ended announcements",
			More:        "off: only what happened is stored, without the texts.",
		},
		{
			Name: "CONTROL_ACCESS", valueType: oneOf("admin", "lan"), Default: "admin",
			Description: "who may change the volume, quiet hours, schedules and favorites",
			More: "admin: signed-in administrators, tokens made with \"pressbox tokens create --control\", " +
				"and the admin socket. lan: clients that may create announcements.",
		},
	}
}

// integrationSettings returns the settings of what other programs send.
func integrationSettings() []Setting {
	return []Setting{
		{
			Name: "NTFY_URGENT", valueType: priority(), Default: "5", Reload: true,
			Description: "lowest priority at which announcements from ntfy, Gotify and webhooks are urgent",
			More:        "ntfy's priorities are 1 to 5; Gotify's 8 to 10 count as 5, 6 and 7 as 4. off: never.",
		},
		{
			Name: "NTFY", valueType: boolType(), Default: "on", Reload: true,
			Description: "serve clients of ntfy, at /, /{topic} and /ntfy",
			More:        "NOTIFY_ACCESS and NOTIFY_RATE apply to them.",
		},
		{
			Name: "GOTIFY", valueType: boolType(), Default: "on", Reload: true,
			Description: "accept announcements from Gotify clients, at /message",
			More:        "NOTIFY_ACCESS and NOTIFY_RATE apply to them.",
		},
		{
			Name: "OPENAI", valueType: boolType(), Default: "on", Reload: true,
			Description: "serve speech to clients of the OpenAI API, at /v1",
			More:        "off: only the page and the admin socket are served.",
		},
		{
			Name: "HOOKS", valueType: boolType(), Default: "on", Reload: true,
			Description: "accept webhooks at /hooks/NAME",
			More:        "NOTIFY_ACCESS and NOTIFY_RATE apply to them.",
		},
		{
			Name: "HOOKS_DIR", valueType: path(), Default: "/etc/pressbox/hooks", Reload: true,
			Description: "directory of your own webhook templates, files NAME.tmpl",
			More:        "It may be missing.",
		},
		{
			Name: "WYOMING", valueType: boolType(), Default: "on",
			Description: "serve speech to voice assistants, such as Home Assistant, with the Wyoming protocol",
			More:        "The protocol has no tokens: it is served while NOTIFY_ACCESS is lan or open.",
		},
		{
			Name: "WYOMING_PORT", valueType: integer(0, 65535), Default: "10200",
			Description: "TCP port of the Wyoming protocol on HOST; 0 selects a free port",
			More:        "Ignored if systemd passes a socket (pressbox-wyoming.socket).",
		},
		{
			Name: "ESPHOME", valueType: boolType(), Default: "on",
			Description: "be a media player and an announce target that Home Assistant finds, by ESPHome's API",
			More:        "It is served while NOTIFY_ACCESS is lan or open, and with a key also if it is token.",
		},
		{
			Name: "ESPHOME_PORT", valueType: integer(0, 65535), Default: "6053",
			Description: "TCP port of ESPHome's API on HOST; 0 selects a free port",
			More:        "Ignored if systemd passes a socket (pressbox-esphome.socket).",
		},
		{
			Name: "ESPHOME_KEY_FILE", valueType: path(),
			Description: "file of the encryption key of ESPHome's API: 32 bytes in base64",
			More: "Without the key clients are refused. If unset, the systemd credential esphome_key. " +
				"It is read again for each connection.",
		},
	}
}

func quietSettings() []Setting {
	return []Setting{
		{
			Name: "QUIET_HOURS", valueType: weeklyHours(), Reload: true, Page: true,
			Description: "quiet hours in local time, such as \"22:00-07:00\" or " +
				"\"Mon-Fri 22:00-06:30, Sat-Sun 23:30-09:00\"",
			More: "Only urgent announcements are spoken as usual then. " +
				"A changed value of this or the next two settings ends the quiet that was set " +
				"with \"pressbox quiet\" or PUT /quiet.",
		},
		{
			Name: "QUIET_MODE", valueType: oneOf("silence", "hold", "soft"), Default: "silence",
			Reload: true, Page: true,
			Description: "what happens to announcements during quiet hours",
			More: "silence: they are not spoken. hold: they are spoken afterwards. " +
				"soft: they are spoken at QUIET_VOLUME, without the usual chime.",
		},
		{
			Name: "QUIET_VOLUME", valueType: integer(0, 100), Default: "25", Reload: true, Page: true,
			Description: "volume in percent during quiet hours with QUIET_MODE=soft",
		},
	}
}

func webSettings() []Setting {
	return []Setting{
		{
			Name: "PUBLIC_URL", valueType: origin(),
			Description: "origin at which browsers reach the server through a reverse proxy",
		},
		{
			Name: "FRONTEND_URL", valueType: origin(),
			Description: "origin of a separate web client that may use the API with cookies",
		},
		{
			Name: "OAUTH_SERVER_REDIRECT_URI", valueType: webURL(),
			Description: "OAuth redirect URI, as registered with the sign-in provider",
			More:        "If unset, PUBLIC_URL with the path /api/auth/idp/callback/server.",
		},
		{
			Name: "ALLOWED_HOSTS", valueType: hosts(),
			Description: "additional Host names to accept",
			More: "IP addresses, names without a dot, those below .local, .localhost, .lan, .home, .home.arpa, " +
				".internal and .localdomain, the host's own name, also with .fritz.box, and the hosts of the URLs " +
				"above are always accepted.",
		},
		{
			Name: "TRUSTED_PROXIES", valueType: networks(),
			Description: "reverse proxies whose Forwarded and X-Forwarded-For headers are trusted",
		},
	}
}

func signInSettings() []Setting {
	return slices.Concat(providerSettings(), []Setting{
		{
			Name: "SIGN_UP", valueType: oneOf("open", "invite", "closed"), Default: "open",
			Description: "who may sign up",
			More: "open: anyone on the local network, others with an invite; with NOTIFY_ACCESS=open anyone. " +
				"invite: holders of an invite (\"pressbox users invite\"). closed: no one.",
		},
		{
			Name: "COOKIE_SECURE", valueType: oneOf("auto", "always", "never"), Default: "auto",
			Description: "set the Secure attribute of cookies",
			More:        "auto: if PUBLIC_URL is https. Browsers discard such cookies on plain http.",
		},
		{
			Name: "SESSION_MAX_AGE", valueType: seconds(3600, 31_536_000), Default: "2592000",
			Description: "absolute session lifetime in seconds, regardless of activity",
		},
	})
}

func providerSettings() []Setting {
	return []Setting{
		{
			Name: "IDP_PROVIDER", valueType: oneOf("local", "discord", "github", "google", "oidc", "oauth2"),
			Default:     "local",
			Description: "sign-in provider",
			More:        "local: accounts with a passphrase in the store. oidc, oauth2: any provider of that protocol.",
		},
		{
			Name: "IDP_CLIENT_ID", valueType: text(),
			Description: "OAuth client ID",
		},
		{
			Name: "IDP_CLIENT_SECRET", valueType: text(), Secret: true,
			Description: "OAuth client secret",
			More:        "Prefer IDP_CLIENT_SECRET_FILE or a systemd credential idp_client_secret.",
		},
		{
			Name: "IDP_CLIENT_SECRET_FILE", valueType: path(),
			Description: "file of the OAuth client secret, read if IDP_CLIENT_SECRET is unset",
		},
		{
			Name: "IDP_SCOPES", valueType: list(),
			Description: "OAuth scopes to request", More: "If unset, the minimum that identifies an account.",
		},
		{
			Name: "IDP_ISSUER", valueType: webURL(),
			Description: "issuer of IDP_PROVIDER=oidc, compared byte for byte",
			More:        "With oauth2, the issuer that a callback must name if it names one.",
		},
		{Name: "IDP_AUTH_URL", valueType: webURL(), Description: "authorization endpoint of IDP_PROVIDER=oauth2"},
		{Name: "IDP_TOKEN_URL", valueType: webURL(), Description: "token endpoint of IDP_PROVIDER=oauth2"},
		{Name: "IDP_USERINFO_URL", valueType: webURL(), Description: "userinfo endpoint of IDP_PROVIDER=oauth2"},
		{
			Name: "IDP_AUTH_STYLE", valueType: oneOf("header", "body"), Default: "header",
			Description: "where IDP_PROVIDER=oauth2 expects the client secret",
		},
		{
			Name: "IDP_SUBJECT_FIELD", valueType: text(),
			Description: "userinfo field that identifies an account", More: "If unset, sub or id.",
		},
		{
			Name: "IDP_NAME_FIELD", valueType: text(),
			Description: "userinfo field of the display name", More: "If unset, name or username.",
		},
	}
}

func wallSettings() []Setting {
	return []Setting{
		{
			Name: "WALL_WIFI_SSID", valueType: text(),
			Description: "name of the Wi-Fi network that wall displays offer to guests as a QR code",
			More: "Use a guest network: everyone who sees the display can join it. " +
				"It is shown only by a display on the host itself, and to administrators.",
		},
		{
			Name: "WALL_WIFI_PASSPHRASE_FILE", valueType: path(),
			Description: "file of the passphrase of WALL_WIFI_SSID",
			More: "If unset, the systemd credential wall_wifi_passphrase. " +
				"Without a passphrase no network is offered.",
		},
	}
}

func gameSettings() []Setting {
	return []Setting{
		{
			Name: "TEAM_DATA_URL", valueType: webURL(),
			Description: "team-data API in the format of SBA v3, such as https://league.example/api",
			More: "Its answers are cached, and served from the cache while it is down. " +
				"If unset, the built-in league.",
		},
		{
			Name: "TEAM_DATA_TOKEN", valueType: text(), Secret: true,
			Description: "bearer token for the team-data API",
		},
		{
			Name: "DEFAULT_SEASON", valueType: integer(1, 9999), Default: "3",
			Description: "season of teams and games if none is named", More: "The built-in league has seasons 1 to 3.",
		},
	}
}

// MQTT holds the settings of the MQTT client.
type MQTT struct {
	URL          string `mapstructure:"MQTT_URL"`           // "" means no MQTT
	Username     string `mapstructure:"MQTT_USERNAME"`      // "" means none
	PasswordFile string `mapstructure:"MQTT_PASSWORD_FILE"` // "" means none
	CAFile       string `mapstructure:"MQTT_CA_FILE"`       // "" means the host's authorities
	Topic        string `mapstructure:"MQTT_TOPIC"`
	Discovery    string `mapstructure:"MQTT_DISCOVERY"` // "off" means none
	Text         bool   `mapstructure:"MQTT_TEXT"`
}

// Password returns the password of the broker: the content of MQTT_PASSWORD_FILE, else
// systemd's credential; "" if there is none.
func (m MQTT) Password() (string, error) {
	return Secret("MQTT_PASSWORD_FILE", m.PasswordFile, "mqtt_password")
}

func mqttSettings() []Setting {
	return []Setting{
		{
			Name: "MQTT_URL", valueType: brokerURL(),
			Description: "MQTT 5 broker, such as mqtt://homeassistant.local or mqtts://broker.example:8883",
			More: "Clients that the broker permits to publish may announce and change the volume. " +
				"If unset, MQTT is off.",
		},
		{Name: "MQTT_USERNAME", valueType: text(), Description: "user name for the MQTT broker"},
		{
			Name: "MQTT_PASSWORD_FILE", valueType: path(),
			Description: "file of the password for the MQTT broker",
			More:        "If unset, the systemd credential mqtt_password. It is read again for each connection.",
		},
		{
			Name: "MQTT_CA_FILE", valueType: path(),
			Description: "PEM file of the certificate authorities that may sign the certificate of an mqtts broker",
			More:        "If unset, those of the host.",
		},
		{
			Name: "MQTT_TOPIC", valueType: topic(), Default: "pressbox",
			Description: "MQTT topic below which all topics of the server are",
		},
		{
			Name: "MQTT_DISCOVERY", valueType: orOff(topic(), "off"), Default: "homeassistant",
			Description: "discovery prefix of Home Assistant",
			More:        "off: Home Assistant does not find the server by itself.",
		},
		{
			Name: "MQTT_TEXT", valueType: boolType(), Default: "off",
			Description: "publish the texts of announcements in MQTT events",
		},
	}
}

// brokerURL returns the type of the address of an MQTT broker, or "".
func brokerURL() valueType {
	return stringType("URL", "mqtt://HOST or mqtts://HOST, with an optional :PORT", func(value string) bool {
		u, err := url.Parse(value)
		return value == "" || err == nil && (u.Scheme == "mqtt" || u.Scheme == "mqtts") && u.Hostname() != "" &&
			u.User == nil && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == ""
	})
}

// topic returns the type of an MQTT topic without wildcards.
func topic() valueType {
	const longest = 100
	return stringType("topic", "an MQTT topic such as home/pressbox, without + and #", func(value string) bool {
		return value != "" && len(value) <= longest && !strings.ContainsAny(value, "+#$\x00") &&
			strings.Trim(value, "/") == value
	})
}
