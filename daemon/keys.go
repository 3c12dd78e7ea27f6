package main

import (
	"log/slog"
	"net/netip"
	"slices"
	"time"
)

// Config is every setting of the daemon, read and checked. The tags are the
// names of the keys; what a key means stands in its row of the table.
type Config struct {
	Host     string     `mapstructure:"HOST"`
	Port     int        `mapstructure:"PORT"` // 0 means any free one
	LogLevel slog.Level `mapstructure:"LOG_LEVEL"`
	StateDir string     `mapstructure:"STATE_DIR"`

	ModelDir        string `mapstructure:"MODEL_DIR"`
	DefaultVoice    string `mapstructure:"DEFAULT_VOICE"`
	DefaultRate     int    `mapstructure:"DEFAULT_RATE"` // words per minute
	VoiceCacheBytes int64  `mapstructure:"VOICE_CACHE_BYTES"`
	LexiconFile     string `mapstructure:"LEXICON_FILE"`    // "" means none
	ONNXRuntimeLib  string `mapstructure:"ONNXRUNTIME_LIB"` // "" means to look for it

	PulseServer string `mapstructure:"PULSE_SERVER"` // "" means the usual places
	PulseSink   string `mapstructure:"PULSE_SINK"`   // "" means the server's default
	Volume      int    `mapstructure:"VOLUME"`       // percent

	QueueMaxSize       int           `mapstructure:"QUEUE_MAX_SIZE"`
	NotifyAccess       string        `mapstructure:"NOTIFY_ACCESS"`
	NotifyRate         int           `mapstructure:"NOTIFY_RATE"` // requests per minute and address
	NotifyRateLoopback bool          `mapstructure:"NOTIFY_RATE_LOOPBACK"`
	NotifyTTL          time.Duration `mapstructure:"NOTIFY_TTL"`
	StoreMaxSize       int64         `mapstructure:"STORE_MAX_SIZE"` // bytes
	ExitOnIdle         time.Duration `mapstructure:"EXIT_ON_IDLE"`   // 0 means never
	Metrics            string        `mapstructure:"METRICS"`        // "on" or "off"
	VoicesURL          string        `mapstructure:"VOICES_URL"`

	PublicURL        string         `mapstructure:"PUBLIC_URL"`                // "" means none
	OAuthRedirectURI string         `mapstructure:"OAUTH_SERVER_REDIRECT_URI"` // "" means none
	FrontendURL      string         `mapstructure:"FRONTEND_URL"`              // "" means the daemon's own page
	AllowedHosts     []string       `mapstructure:"ALLOWED_HOSTS"`
	TrustedProxies   []netip.Prefix `mapstructure:"TRUSTED_PROXIES"`

	SignIn signInConfig `mapstructure:",squash"`

	TeamDataURL   string `mapstructure:"TEAM_DATA_URL"`   // "" means the built-in league
	TeamDataToken string `mapstructure:"TEAM_DATA_TOKEN"` // "" means none
	DefaultSeason int    `mapstructure:"DEFAULT_SEASON"`
}

// A key is one setting. From its row come the flag, the help, README's table
// and the shipped pressbox.env, so that they cannot disagree.
type key struct {
	name    string // in the environment and in the files
	kind    kind
	value   string // its default, as it would be written; "" where there is none
	shipped string // what the package's pressbox.env sets instead; "" means the default
	live    bool   // whether a reload takes a change over, without a restart
	secret  bool   // never printed
	doc     string // one line, without a full stop
	more    string // further sentences for the documents, or ""
}

// keys is the table of all settings, in the order in which people read them.
func keys() []key {
	return slices.Concat(daemonKeys(), speechKeys(), announcementKeys(), webKeys(), signInKeys(), gameKeys())
}

func daemonKeys() []key {
	return []key{
		{
			name: "HOST", kind: address(), value: "0.0.0.0",
			doc: "address to listen on", more: "Not used with a socket that systemd opened.",
		},
		{
			name: "PORT", kind: number(0, 65535), value: "8888",
			doc: "TCP port to listen on; 0 takes a free one", more: "Not used with a socket that systemd opened.",
		},
		{
			name: "LOG_LEVEL", kind: logLevel(), value: "INFO", live: true,
			doc: "least important messages that are logged", more: "The text of announcements is logged at DEBUG only.",
		},
		{
			name: "STATE_DIR", kind: text("folder", "a folder"), value: "./state", shipped: "/var/lib/pressbox",
			doc: "folder in which the daemon keeps its store", more: "Under systemd the default is the unit's StateDirectory.",
		},
		{
			name: "STORE_MAX_SIZE", kind: size(2 << 20), value: "512MiB",
			doc:  "how large the store may grow",
			more: "From nine tenths on, the oldest private games that are over go. When it is full, nothing more is accepted and nothing is lost.",
		},
		{
			name: "EXIT_ON_IDLE", kind: seconds(0, 86_400), value: "0",
			doc:  "after how long without anything to do the daemon ends, until systemd starts it with the next request",
			more: "0 means never. Only with a socket that systemd opened.",
		},
		{
			name: "METRICS", kind: oneOf("on", "off"), value: "off",
			doc:  "whether the local network may read /metrics",
			more: "The administrator's socket always may.",
		},
	}
}

func speechKeys() []key {
	return []key{
		{
			name: "MODEL_DIR", kind: text("folder", "a folder"), value: "./models", shipped: "/var/lib/pressbox/models",
			doc:  "folder of the voices, pairs of NAME.onnx and NAME.onnx.json",
			more: "Folders in it are not searched. /usr/share/pressbox/models is read after it. A pair that is dropped in appears without a restart.",
		},
		{
			name: "VOICES_URL", kind: webURL(false), value: "https://huggingface.co/rhasspy/piper-voices/resolve/main/voices.json",
			doc: "catalogue of voices from which \"pressbox voices install\" fetches, in the layout of Piper's voices.json",
		},
		{
			name: "DEFAULT_VOICE", kind: text("voice", "the name of a voice"), value: "en_US-pressbox-medium",
			doc: "voice of announcements that name none", more: "One that is not installed makes the daemon degraded.",
		},
		{
			name: "DEFAULT_RATE", kind: number(60, 400), value: "170",
			doc: "words per minute of announcements that name no rate",
		},
		{
			name: "LEXICON_FILE", kind: text("file", "a file"), live: true,
			doc:  "your own pronunciations and abbreviations",
			more: "One a line, such as \"Kowalczyk = Kovalchick\"; read again when the daemon is told to reload.",
		},
		{
			name: "VOICE_CACHE_BYTES", kind: size(1 << 20), value: "256MiB",
			doc: "how much of the models of voices stays loaded", more: "The default voice stays loaded besides.",
		},
		{
			name: "ONNXRUNTIME_LIB", kind: text("file", "a file"),
			doc:  "ONNX Runtime library",
			more: "Without it, it is looked for beside the program, in /usr/lib/pressbox, and among the system's libraries.",
		},
		{
			name: "PULSE_SERVER", kind: text("server", "an address of a PulseAudio server"), shipped: "unix:/run/pressbox-audio/native",
			doc:  "PulseAudio or PipeWire server, such as unix:/run/pressbox-audio/native",
			more: "Without it, the one of the user that the daemon runs as.",
		},
		{
			name: "PULSE_SINK", kind: text("sink", "the name of a sink"),
			doc: "sink to play on, as pactl lists it", more: "Without it, the server's default.",
		},
		{
			name: "VOLUME", kind: number(0, 100), value: "100", live: true,
			doc: "percent by which everything that is spoken is scaled",
		},
	}
}

func announcementKeys() []key {
	return []key{
		{
			name: "QUEUE_MAX_SIZE", kind: number(1, 100_000), value: "50", live: true,
			doc: "how many announcements may wait behind the one being spoken",
		},
		{
			name: "NOTIFY_ACCESS", kind: oneOf("lan", "token", "open", "off"), value: "lan",
			doc:  "who may announce",
			more: "lan: private addresses without a token, everyone else with one. token: only with one. open: everyone. off: no one.",
		},
		{
			name: "NOTIFY_RATE", kind: number(1, 100_000), value: "120",
			doc: "announcements a minute that one address may post", more: "Bursts may be of half as many.",
		},
		{
			name: "NOTIFY_RATE_LOOPBACK", kind: yesNo(), value: "no",
			doc: "whether NOTIFY_RATE holds for programs on this machine too",
		},
		{
			name: "NOTIFY_TTL", kind: seconds(5, 86_400), value: "600", live: true,
			doc: "after how long an announcement is too old to be spoken",
		},
	}
}

func webKeys() []key {
	return []key{
		{
			name: "PUBLIC_URL", kind: webURL(true),
			doc: "address at which browsers reach the daemon, when a reverse proxy stands before it",
		},
		{
			name: "FRONTEND_URL", kind: webURL(true),
			doc: "page of another origin that may use the daemon with its cookies",
		},
		{
			name: "OAUTH_SERVER_REDIRECT_URI", kind: webURL(false),
			doc: "address to which a sign-in provider sends browsers back",
		},
		{
			name: "ALLOWED_HOSTS", kind: hostNames(),
			doc:  "further names under which the daemon may be asked",
			more: "localhost, IP addresses, names without a dot, this host's own name and the hosts of the URLs above always may.",
		},
		{
			name: "TRUSTED_PROXIES", kind: networks(),
			doc: "reverse proxies whose word about the client's address is taken",
		},
	}
}
