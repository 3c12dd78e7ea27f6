// Package settings reads the configuration of Pressbox: flags, the environment, what
// administrators set on the page, .env, pressbox.env and defaults, in this order of precedence.
//
// One law: every setting is one row of [Table]. Its flag, its help, its documents and
// its line in pressbox.env are made from that row.
package settings

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"pressbox/daemon/esphome/frame"
	"pressbox/daemon/trust"
	"pressbox/voice/control/hours"
	"pressbox/voice/rooms"
	"pressbox/voice/speakable"
)

// Files and directories with fixed names.
const (
	SystemFile   = "/etc/pressbox/pressbox.env"
	localFile    = ".env"                                            // in the working directory
	SharedModels = "/usr/share/pressbox/models"                      // voices installed by the package
	AudioSocket  = "/run/pressbox-audio/native"                      // of PulseAudio: "pressbox setup-audio"
	SharedAdmin  = "/run/pressbox/admin.sock"                        // the admin socket of the package's socket unit
	UserName     = "pressbox"                                        // user and group created by the package
	storeName    = "pressbox.db"                                     // in STATE_DIR
	backupDir    = "backups"                                         // in STATE_DIR
	adminName    = "admin.sock"                                      // in STATE_DIR, unless systemd passes one
	DefaultPort  = 8888                                              // of PORT and of pressbox.socket
	PortDropIn   = "/etc/systemd/system/pressbox.socket.d/port.conf" // written by "pressbox set-port"
)

// Config holds the checked value of every setting. The tags are the settings' names;
// their meaning is in [Table].
type Config struct {
	Host     string     `mapstructure:"HOST"`
	Port     int        `mapstructure:"PORT"` // 0 means any free port
	LogLevel slog.Level `mapstructure:"LOG_LEVEL"`
	StateDir string     `mapstructure:"STATE_DIR"`

	ModelDir        string `mapstructure:"MODEL_DIR"`
	DefaultVoice    string `mapstructure:"DEFAULT_VOICE"`
	DefaultRate     int    `mapstructure:"DEFAULT_RATE"` // words per minute
	VoiceCacheBytes int64  `mapstructure:"VOICE_CACHE_BYTES"`
	LexiconFile     string `mapstructure:"LEXICON_FILE"`    // "" means none
	ONNXRuntimeLib  string `mapstructure:"ONNXRUNTIME_LIB"` // "" means to search for it

	PulseServer string `mapstructure:"PULSE_SERVER"` // "" means PulseAudio's usual addresses
	PulseSink   string `mapstructure:"PULSE_SINK"`   // see [Config.PulseSinks]
	Volume      int    `mapstructure:"VOLUME"`       // percent

	UrgentMinVolume int     `mapstructure:"URGENT_MIN_VOLUME"` // percent
	UrgentUnmute    bool    `mapstructure:"URGENT_UNMUTE"`
	Duck            float64 `mapstructure:"DUCK"` // dB, at most 0

	QueueMaxSize       int           `mapstructure:"QUEUE_MAX_SIZE"`
	NotifyAccess       string        `mapstructure:"NOTIFY_ACCESS"`
	NotifyRate         int           `mapstructure:"NOTIFY_RATE"` // requests per minute and address
	NotifyRateLoopback bool          `mapstructure:"NOTIFY_RATE_LOOPBACK"`
	NotifyTTL          time.Duration `mapstructure:"NOTIFY_TTL"`
	Room               string        `mapstructure:"ROOM"` // "" means the host's name
	Chime              string        `mapstructure:"CHIME"`
	ChimeUrgent        string        `mapstructure:"CHIME_URGENT"`
	History            bool          `mapstructure:"HISTORY"`
	Ntfy               bool          `mapstructure:"NTFY"`
	Gotify             bool          `mapstructure:"GOTIFY"`
	OpenAI             bool          `mapstructure:"OPENAI"`
	Hooks              bool          `mapstructure:"HOOKS"`
	HooksDir           string        `mapstructure:"HOOKS_DIR"`
	Wyoming            bool          `mapstructure:"WYOMING"`
	WyomingPort        int           `mapstructure:"WYOMING_PORT"` // 0 means any free port
	ESPHome            bool          `mapstructure:"ESPHOME"`
	ESPHomePort        int           `mapstructure:"ESPHOME_PORT"`     // 0 means any free port
	ESPHomeKeyFile     string        `mapstructure:"ESPHOME_KEY_FILE"` // see [Config.ESPHomeKey]
	NtfyUrgent         int           `mapstructure:"NTFY_URGENT"`      // 1–5; 0 means never
	ControlAccess      string        `mapstructure:"CONTROL_ACCESS"`
	QuietHours         hours.Week    `mapstructure:"QUIET_HOURS"`
	QuietMode          string        `mapstructure:"QUIET_MODE"`
	QuietVolume        int           `mapstructure:"QUIET_VOLUME"`   // percent
	StoreMaxSize       int64         `mapstructure:"STORE_MAX_SIZE"` // bytes
	ExitOnIdle         time.Duration `mapstructure:"EXIT_ON_IDLE"`   // 0 means never
	Metrics            bool          `mapstructure:"METRICS"`
	VoicesURL          string        `mapstructure:"VOICES_URL"`

	PublicURL        string         `mapstructure:"PUBLIC_URL"`                // "" means none
	OAuthRedirectURI string         `mapstructure:"OAUTH_SERVER_REDIRECT_URI"` // "" means none
	FrontendURL      string         `mapstructure:"FRONTEND_URL"`              // "" means the built-in page
	AllowedHosts     []string       `mapstructure:"ALLOWED_HOSTS"`
	TrustedProxies   []netip.Prefix `mapstructure:"TRUSTED_PROXIES"`

	SignIn SignIn `mapstructure:",squash"`

	TeamDataURL   string `mapstructure:"TEAM_DATA_URL"`   // "" means the built-in league
	TeamDataToken string `mapstructure:"TEAM_DATA_TOKEN"` // "" means none
	DefaultSeason int    `mapstructure:"DEFAULT_SEASON"`

	WallWiFiSSID           string `mapstructure:"WALL_WIFI_SSID"`            // "" means none
	WallWiFiPassphraseFile string `mapstructure:"WALL_WIFI_PASSPHRASE_FILE"` // "" means none

	MQTT MQTT `mapstructure:",squash"`

	Events Events `mapstructure:",squash"`
}

// SignIn holds the settings of signing in.
type SignIn struct {
	Provider     string   `mapstructure:"IDP_PROVIDER"`
	ClientID     string   `mapstructure:"IDP_CLIENT_ID"`
	ClientSecret string   `mapstructure:"IDP_CLIENT_SECRET"`      // "" means none
	SecretFile   string   `mapstructure:"IDP_CLIENT_SECRET_FILE"` // "" means none
	Scopes       []string `mapstructure:"IDP_SCOPES"`             // empty means the provider's minimum
	Issuer       string   `mapstructure:"IDP_ISSUER"`
	AuthURL      string   `mapstructure:"IDP_AUTH_URL"`
	TokenURL     string   `mapstructure:"IDP_TOKEN_URL"`
	UserinfoURL  string   `mapstructure:"IDP_USERINFO_URL"`
	AuthStyle    string   `mapstructure:"IDP_AUTH_STYLE"`
	SubjectField string   `mapstructure:"IDP_SUBJECT_FIELD"` // "" means sub or id
	NameField    string   `mapstructure:"IDP_NAME_FIELD"`    // "" means name or username

	SignUp        string        `mapstructure:"SIGN_UP"`
	CookieSecure  string        `mapstructure:"COOKIE_SECURE"`
	SessionMaxAge time.Duration `mapstructure:"SESSION_MAX_AGE"`
}

// Exposed returns what the settings permit every client that reaches the server through its
// public address or a proxy; "" if nothing is open to addresses outside of the local network.
func (c Config) Exposed() string {
	if c.NotifyAccess != "open" || c.PublicURL == "" && len(c.TrustedProxies) == 0 {
		return ""
	}
	if c.SignIn.SignUp == "open" {
		return "announce and create accounts"
	}
	return "announce"
}

// WallWiFiPassphrase returns the passphrase of WALL_WIFI_SSID: the content of
// WALL_WIFI_PASSPHRASE_FILE, else systemd's credential; "" if there is none.
func (c Config) WallWiFiPassphrase() (string, error) {
	return Secret("WALL_WIFI_PASSPHRASE_FILE", c.WallWiFiPassphraseFile, "wall_wifi_passphrase")
}

// RoomName returns the name of the room of this server.
func (c Config) RoomName() string {
	if c.Room != "" {
		return strings.ToLower(c.Room)
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return rooms.NameOf(host)
}

// StorePath returns the path of the store.
func (c Config) StorePath() string { return filepath.Join(c.StateDir, storeName) }

// BackupDir returns the directory of the daily backups.
func (c Config) BackupDir() string { return filepath.Join(c.StateDir, backupDir) }

// AdminSocket returns the path of the admin socket that the server opens itself.
func (c Config) AdminSocket() string { return filepath.Join(c.StateDir, adminName) }

// Address returns HOST:PORT.
func (c Config) Address() string { return net.JoinHostPort(c.Host, strconv.Itoa(c.Port)) }

// WyomingAddress returns HOST:WYOMING_PORT.
func (c Config) WyomingAddress() string {
	return net.JoinHostPort(c.Host, strconv.Itoa(c.WyomingPort))
}

// WyomingOff returns the setting by which the Wyoming protocol is not served; "" if it is.
func (c Config) WyomingOff() string {
	switch {
	case !c.Wyoming:
		return "WYOMING=off"
	case c.NotifyAccess != "lan" && c.NotifyAccess != "open":
		return "NOTIFY_ACCESS=" + c.NotifyAccess
	default:
		return ""
	}
}

// ESPHomeAddress returns HOST:ESPHOME_PORT.
func (c Config) ESPHomeAddress() string {
	return net.JoinHostPort(c.Host, strconv.Itoa(c.ESPHomePort))
}

// ESPHomeOff returns the setting by which ESPHome's API is not served; "" if it is: as the Wyoming protocol, or for
// those who have its key.
func (c Config) ESPHomeOff() string {
	key, err := c.ESPHomeKey()
	switch {
	case !c.ESPHome:
		return "ESPHOME=off"
	case c.NotifyAccess == "lan", c.NotifyAccess == "open", c.NotifyAccess == "token" && (key != nil || err != nil):
		return ""
	default:
		return "NOTIFY_ACCESS=" + c.NotifyAccess
	}
}

// ESPHomeKey returns the key of ESPHome's API: that in ESPHOME_KEY_FILE, else in systemd's credential; nil if there is
// none.
func (c Config) ESPHomeKey() ([]byte, error) {
	text, err := Secret("ESPHOME_KEY_FILE", c.ESPHomeKeyFile, "esphome_key")
	if err != nil || text == "" && c.ESPHomeKeyFile == "" {
		return nil, err
	}
	key, err := ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("ESPHOME_KEY_FILE: %w", err)
	}
	return key, nil
}

// ParseKey returns the key of ESPHome's API that a text is.
func ParseKey(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != frame.KeySize {
		return nil, fmt.Errorf("expected %d bytes in base64, as \"openssl rand -base64 %[1]d\" prints", frame.KeySize)
	}
	return key, nil
}

// VoiceDirs returns the directories of voices in the order in which they are searched.
func (c Config) VoiceDirs() []string { return []string{c.ModelDir, SharedModels} }

// PulseEnvironment returns where PulseAudio's own clients look for the runtime directory
// and for the cookie.
func PulseEnvironment() (runtimeDir string, cookies []string) {
	if cookie := os.Getenv("PULSE_COOKIE"); cookie != "" {
		cookies = append(cookies, cookie)
	}
	if dir, err := os.UserConfigDir(); err == nil {
		cookies = append(cookies, filepath.Join(dir, "pulse", "cookie"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		cookies = append(cookies, filepath.Join(home, ".pulse-cookie"))
	}
	return os.Getenv("XDG_RUNTIME_DIR"), cookies
}

// Secret returns a secret without surrounding white space: the content of the file that a
// setting names, else of a credential of systemd (systemd.exec(5), LoadCredential=); "" if
// there is none.
func Secret(setting, file, credential string) (string, error) {
	path := file
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); path == "" && dir != "" {
		path = filepath.Join(dir, credential)
	}
	if path == "" {
		return "", nil
	}
	secret, err := os.ReadFile(path) //nolint:gosec // the administrator sets the path
	if errors.Is(err, fs.ErrNotExist) && file == "" {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	return strings.TrimSpace(string(secret)), nil
}

// Lexicon reads LEXICON_FILE. The lexicon is nil without a file, or if it cannot be
// read; with an error about invalid lines it has the valid ones.
func (c Config) Lexicon() (*speakable.Lexicon, error) {
	if c.LexiconFile == "" {
		return nil, nil
	}
	f, err := os.Open(c.LexiconFile)
	if err != nil {
		return nil, fmt.Errorf("read LEXICON_FILE: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	lexicon, err := speakable.ParseLexicon(f)
	if err != nil {
		err = fmt.Errorf("LEXICON_FILE %s: %w", c.LexiconFile, err)
	}
	return lexicon, err
}

// A Host holds the settings of the server on this host, as a command reads them.
type Host struct {
	Config
	// Chosen reports whether STATE_DIR was set by a flag or in the environment.
	Chosen bool
	// Ignored is the reason why root does not read the .env in the working directory: another
	// user could have written it. It is nil if there is none, or it is read.
	Ignored error
}

// ForHost returns the settings of a server started on this host, with another STATE_DIR
// unless stateDir is "". A system file that this user cannot read counts as the shipped
// one. With an error, the settings are the defaults.
func ForHost(stateDir string) (Host, error) {
	_, inEnvironment := os.LookupEnv("STATE_DIR")
	h := Host{Chosen: stateDir != "" || inEnvironment}
	local := localFile
	err := trust.File(localFile)
	if err != nil {
		local = ""
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.Ignored = ignoredFile(err)
	}
	if h.Config, err = forHost(stateDir, local); err != nil {
		h.Config, _ = defaults(stateDir) // they are valid
	}
	return h, err
}

// Environment returns the settings in the environment of this process, for a child process.
func Environment() []string {
	var all []string
	for _, row := range Table() {
		if value, ok := os.LookupEnv(row.Name); ok {
			all = append(all, row.Name+"="+value)
		}
	}
	return all
}

// ignoredFile explains why root does not read .env.
func ignoredFile(reason error) error {
	path, err := filepath.Abs(localFile)
	if err != nil {
		path = localFile
	}
	return fmt.Errorf("ignored %s: %w", path, reason)
}

func forHost(stateDir, local string) (Config, error) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	AddFlags(flags)
	if stateDir != "" {
		if err := flags.Set("state-dir", stateDir); err != nil {
			return Config{}, err
		}
	}
	s, err := read(Table(), flags, SystemFile, local)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return Config{}, err
	}
	return s.Config()
}

// defaults returns the default settings, with another STATE_DIR unless stateDir is "".
func defaults(stateDir string) (Config, error) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	s := &Sources{table: withStateDirectory(Table()), viper: viper.New(), flags: flags}
	for _, row := range s.table {
		s.viper.SetDefault(row.Name, row.Default)
	}
	cfg, err := s.Config()
	if stateDir != "" {
		cfg.StateDir = stateDir
	}
	return cfg, err
}

// PulseSinks returns the sinks of which the first that is there plays; none means the sound server's default.
func (c Config) PulseSinks() []string {
	return strings.FieldsFunc(c.PulseSink, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}
