package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"pressbox/audio/decode"
	"pressbox/audio/pulse"
	"pressbox/auth/netblock"
	"pressbox/daemon/cli"
	"pressbox/daemon/client"
	"pressbox/daemon/doctor"
	"pressbox/daemon/downloads"
	"pressbox/daemon/events"
	"pressbox/daemon/exitcode"
	"pressbox/daemon/health"
	"pressbox/daemon/health/monitor"
	"pressbox/daemon/limits"
	"pressbox/daemon/metrics"
	"pressbox/daemon/mqtt/device"
	"pressbox/daemon/recovery"
	"pressbox/daemon/settings"
	"pressbox/daemon/signin"
	"pressbox/daemon/watchdog"
	"pressbox/daemon/web"
	"pressbox/daemon/web/admin"
	"pressbox/daemon/web/announcements"
	webcontrol "pressbox/daemon/web/control"
	"pressbox/daemon/web/hooks"
	"pressbox/daemon/web/openai"
	"pressbox/daemon/web/play"
	"pressbox/daemon/web/push"
	"pressbox/daemon/web/site"
	websounds "pressbox/daemon/web/sounds"
	"pressbox/game/history/imported"
	"pressbox/game/league"
	"pressbox/game/leagues"
	"pressbox/game/live"
	"pressbox/game/teamdata"
	"pressbox/store"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/control"
	"pressbox/voice/espeak"
	"pressbox/voice/library"
	"pressbox/voice/onnx"
	"pressbox/voice/rooms"
	"pressbox/voice/sounds"
	"pressbox/voice/speakable"
)

// An app holds the connected parts of the server.
type app struct {
	cli.ServeOptions
	settings *settings.Live

	store      *store.Store
	sink       *pulse.Sink
	phonemizer *espeak.Phonemizer
	voices     *library.Library
	controls   *control.Controls
	rooms      *rooms.Rooms
	sounds     *sounds.Sounds
	announcer  *announcer.Announcer
	schedules  *control.Schedules
	rosters    *imported.Seasons
	games      *live.Games
	leagues    *leagues.Leagues
	blocks     *netblock.Table
	speeches   *limits.Slots
	signIn     *signin.SignIn
	web        *web.Server
	broker     *broker // nil: MQTT is off
	events     *events.Poster
	backups    *recovery.Backups
	downloads  *downloads.Downloads

	record                     *device.Record          // has the id of the store; nil if nothing needs it
	wyomingState, esphomeState health.IntegrationState // set before anything is served

	monitor           *monitor.Monitor
	metrics           *metrics.Metrics
	lexiconErr        atomic.Pointer[error] // why the lexicon is incomplete, as last read
	eventsErr         atomic.Pointer[error] // why events are not posted, as the tokens were read last
	hooks             atomic.Pointer[hooks.Settings]
	synthesis, writes watchdog.Progress
	queue             watchdog.QueueCheck
}

// build connects the parts. It starts nothing.
func build(o cli.ServeOptions, st *store.Store, sink *pulse.Sink) (*app, error) {
	current, err := settings.NewLive(context.Background(), o.Config, settings.LiveParts{
		Read: o.Read, Repository: st, Key: store.KeySettings, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	o.Config = current.Current()
	a := &app{
		ServeOptions: o, settings: current, store: st,
		sink: sink, phonemizer: espeak.New("", o.Confine...), metrics: metrics.New(),
		blocks: netblock.New(web.InterfacePrefixes()), speeches: limits.NewSlots(),
	}
	cfg, log := o.Config, o.Log
	a.synthesis.Observe, a.writes.Observe = a.metrics.ClipTime, a.metrics.WriteTime
	a.voices = library.New(library.Config{
		Dirs: cfg.VoiceDirs(), Defaults: voiceDefaults(cfg), CacheBytes: cfg.VoiceCacheBytes,
		Lexicon: a.readLexicon(cfg), Calibrations: st,
		Phonemizer: a.phonemizer, Load: onnx.Runtime{Library: cfg.ONNXRuntimeLib}.Load, Log: log,
	})
	a.settings.Apply, a.settings.Voice = a.apply, a.voices.Voice
	if a.controls, err = control.NewControls(controlConfig(cfg), st, st.Now, log); err != nil {
		return nil, err
	}
	if cfg.MQTT.URL != "" || cfg.ESPHome {
		if a.record, err = device.OpenRecord(context.Background(), st, store.KeyMQTT); err != nil {
			return nil, err
		}
	}
	a.rooms = a.newRooms()
	a.sounds = sounds.New(cfg.StateDir, decode.Decoder{Confine: o.Confine}, log)
	outbox := metrics.Outbox{Outbox: watchdog.Outbox{Outbox: st, Progress: &a.writes}, Metrics: a.metrics}
	urgent := a.urgentSink()
	a.announcer, err = announcer.New(queueConfig(cfg), announcer.Parts{
		Outbox: outbox, Speaker: a.speaker(), Sink: sink, Urgent: urgent, Ducker: sink,
		Controls: a.controls,
		Estimate: a.voices.Estimate, ClockSet: clockSet, Rooms: a.rooms, Sounds: a.sounds,
		Output: urgent.Output, Log: log,
	})
	if err != nil {
		return nil, err
	}
	a.adoptRecordings()
	a.rooms.Attach(a.announcer)
	if a.schedules, err = a.newSchedules(); err != nil {
		return nil, err
	}
	if a.signIn, err = signin.New(cfg, st, a.blocks, releaseDate(), log); err != nil {
		return nil, err
	}
	a.signIn.ClockChanged = a.clockChanged
	if err := a.buildGames(cfg); err != nil {
		return nil, err
	}
	a.downloads = downloads.New(downloads.Config{
		URL: cfg.VoicesURL, Dir: cfg.ModelDir, Library: a.voices, Log: log,
		SetDefault: func(ctx context.Context, name string) error {
			return a.settings.Change(ctx, map[string]*string{"DEFAULT_VOICE": &name})
		},
	})
	a.backups = &recovery.Backups{Store: st, Dir: cfg.BackupDir(), Log: log}
	a.readHooks(cfg)
	a.monitor = a.newMonitor()
	if a.broker, err = a.newBroker(); err != nil {
		return nil, err
	}
	a.events = a.newEvents()
	a.configureEvents(cfg)
	a.monitor.Integrations = a.integrations()
	a.metrics.Register(version, runtime.Version(), a.readings())
	a.web, err = site.New(a.webConfig())
	if err != nil {
		return nil, err
	}
	return a, nil
}

// buildGames connects the parts of baseball.
func (a *app) buildGames(cfg settings.Config) (err error) {
	if a.rosters, err = openRosters(cfg, a.store, a.Log); err != nil {
		return err
	}
	a.games, err = live.New(context.Background(), live.Config{
		Journal: watchdog.Journal{Journal: a.store.Games(), Progress: &a.writes},
		Rosters: a.rosters, Shelf: a.store, Announcer: a.announcer, Log: a.Log,
		Finished: func(string) { a.leagues.Wake() },
	})
	if err != nil {
		return err
	}
	a.leagues, err = leagues.New(context.Background(),
		leagues.Config{Repository: a.store, Games: a.games, Rosters: a.rosters, Log: a.Log})
	return err
}

// newMonitor returns what reports on the parts; its integrations are added when MQTT is connected.
func (a *app) newMonitor() *monitor.Monitor {
	return &monitor.Monitor{
		Store: a.store, Sink: a.sink, Voices: a.voices, Announcer: a.announcer,
		Lexicon: func() error { return *a.lexiconErr.Load() }, Log: a.Log,
	}
}

// integrations returns the ways in which other programs use the server.
func (a *app) integrations() []health.Integration {
	all := monitor.Integrations{
		Started: a.Config, Current: a.settings.Current,
		Rooms: a.rooms, Hooks: func() hooks.Settings { return *a.hooks.Load() },
		Wyoming: func() health.IntegrationState { return a.wyomingState },
		ESPHome: func() health.IntegrationState { return a.esphomeState }, Events: a.eventsState,
	}
	if a.broker != nil {
		all.MQTT = a.broker.session.Status
	}
	return all.All()
}

// speaker returns the voices with the progress of their synthesis.
func (a *app) speaker() announcer.Speaker {
	return watchdog.Speaker{Speaker: a.voices, Progress: &a.synthesis}
}

func voiceDefaults(cfg settings.Config) library.Defaults {
	return library.Defaults{Voice: cfg.DefaultVoice, Rate: cfg.DefaultRate}
}

// between is the silence between two announcements; with that at the ends of a voice, and the start of a stream, it is
// 0.8 s.
const between = 650 * time.Millisecond

func queueConfig(cfg settings.Config) announce.Config {
	return announce.Config{
		Max: cfg.QueueMaxSize, TTL: cfg.NotifyTTL,
		Rate: cfg.DefaultRate, Volume: cfg.Volume, History: cfg.History,
		Chime: cfg.Chime, ChimeUrgent: cfg.ChimeUrgent, Between: between, Duck: cfg.Duck,
	}
}

// readLexicon reads LEXICON_FILE. What is wrong with it is logged, and reported until it
// is read again; the valid lines are in effect.
func (a *app) readLexicon(cfg settings.Config) *speakable.Lexicon {
	lexicon, err := cfg.Lexicon()
	if err != nil {
		a.Log.Error("lexicon incomplete", "err", err)
	}
	a.lexiconErr.Store(&err)
	return lexicon
}

// readHooks reads the settings and the templates of webhooks. What is wrong with them is
// logged, and reported until they are read again; the others are in effect.
func (a *app) readHooks(cfg settings.Config) {
	next := hooks.Settings{
		On: cfg.Hooks, Templates: hooks.ReadTemplates(cfg.HooksDir), UrgentFrom: cfg.NtfyUrgent,
	}
	if err := next.Templates.Err(); err != nil && next.On {
		a.Log.Error("webhook templates invalid", "err", err)
	}
	a.hooks.Store(&next)
}

// namedVoices returns the voices that the favorites, the schedules and the announcements that wait name.
func (a *app) namedVoices() []string {
	var names []string
	for _, f := range a.controls.Favorites() {
		names = append(names, f.Voice)
	}
	for _, s := range a.schedules.List() {
		names = append(names, s.Voice)
	}
	list := a.announcer.List()
	for _, v := range slices.Concat(list.Queue, list.Scheduled) {
		names = append(names, v.Voice)
	}
	return names
}

func (a *app) webConfig() site.Config {
	cfg := a.Config
	inside := doctor.Inside{
		Started: cfg, Reloaded: a.settings.Current, Read: a.settings.Read,
		Store: a.store, Voices: a.voices, NamedVoices: a.namedVoices, MissingSounds: a.missingSounds,
		Phonemizer: a.phonemizer,
		Sink:       a.sink, Integrations: a.monitor.Integrations, Leagues: a.leagues,
		Accounts: a.signIn.Web.Sessions.Accounts,
		Probe: func(ctx context.Context, c *http.Client, origin string) (web.Arrival, error) {
			return a.web.Probe(ctx, c, origin)
		},
	}
	c := site.Config{
		Config: web.Config{
			Log:            a.Log,
			Version:        version,
			Access:         web.Access(cfg.NotifyAccess),
			ControlAccess:  web.Control(cfg.ControlAccess),
			AllowedHosts:   cfg.AllowedHosts,
			TrustedProxies: cfg.TrustedProxies,
			NotifyRate:     cfg.NotifyRate,
			Blocks:         a.blocks,
			LimitLoopback:  cfg.NotifyRateLoopback,
			Season:         cfg.DefaultSeason,
			OpenMetrics:    cfg.Metrics,
			Observe:        a.metrics.Request,
		},
		Announcements: announcements.Config{
			Announcer: a.announcer, Voices: a.listVoices, Rooms: a.rooms, Preview: a.preview,
			Favorite: a.controls.Favorite,
		},
		OpenAI: openai.Config{
			Speaker: a.speaker(), DefaultRate: func() int { return a.settings.Current().DefaultRate },
			Speeches: a.speeches, On: func() bool { return a.settings.Current().OpenAI },
		},
		Hooks: hooks.Config{Settings: func() hooks.Settings { return *a.hooks.Load() }},
		Push: push.Config{
			Ntfy:       func() bool { return a.settings.Current().Ntfy },
			Gotify:     func() bool { return a.settings.Current().Gotify },
			UrgentFrom: func() int { return a.settings.Current().NtfyUrgent }, IsRoom: a.rooms.Has,
			History: func() bool { return a.settings.Current().History },
		},
		Sounds: websounds.Config{
			Sounds: a.sounds, Users: func(name string) []string { return a.soundUsers()[name] },
		},
		Control: webcontrol.Config{Controls: a.controls, Schedules: a.schedules, Check: a.announcer.Check},
		Admin: admin.Config{
			Checks: a.monitor.Checks(), Integrations: a.monitor.Integrations,
			Versions: map[string]string{"go": runtime.Version(), "revision": revision},
			Level:    a.Level, Backup: a.store.Backup, Metrics: a.metrics.Handler(), Diagnose: inside.Findings,
			Counts: a.counts, Settings: a.settings, Backups: a.backups, Voices: a.downloads,
		},
		SignIn: a.signIn.Web,
		Play: play.Config{
			Games: a.games, Leagues: a.leagues, Teams: a.rosters, Seasons: a.rosters, WiFi: a.wallWiFi(),
		},
	}
	for _, address := range []string{cfg.PublicURL, cfg.FrontendURL, cfg.OAuthRedirectURI} {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			c.AllowedHosts = append(c.AllowedHosts, u.Hostname())
		}
	}
	for _, origin := range []string{cfg.PublicURL, cfg.FrontendURL} {
		if origin != "" {
			c.TrustedOrigins = append(c.TrustedOrigins, origin)
		}
	}
	return c
}

func (a *app) listVoices() announcements.VoiceList {
	list := announcements.VoiceList{Default: a.voices.Default()}
	for _, v := range a.voices.Voices() {
		list.Voices = append(list.Voices, announcements.Voice(v))
	}
	return list
}

// preview describes the speech of a message.
func (a *app) preview(ctx context.Context, name, message string) (announcements.Preview, error) {
	text, p, err := a.voices.Preview(ctx, name, message)
	seconds := math.Round(p.Duration.Seconds()*10) / 10
	return announcements.Preview{Text: text, Words: p.Words, Seconds: seconds, Phonemes: p.Phonemes}, err
}

// counts returns the number of objects by type, for GET /admin/status.
func (a *app) counts(ctx context.Context) (map[string]int, error) {
	counts := map[string]int{}
	accounts, sessions, err := a.signIn.Web.Sessions.Count(ctx)
	switch {
	case err == nil:
		counts["accounts"], counts["sessions"] = accounts, sessions
	//nolint:contextcheck // its test write is short; otherwise the status contains why the store cannot be read
	case a.store.Health() == nil:
		return nil, err
	}
	for status, n := range a.games.CountByStatus() {
		counts["games_"+string(status)] = n
	}
	for status, n := range a.leagues.CountByStatus() {
		counts["leagues_"+string(status)] = n
	}
	return counts, nil
}

// readings returns the metrics that are read from the parts.
func (a *app) readings() []metrics.Reading {
	count := func(name string) func() float64 {
		return func() float64 {
			counts, err := a.counts(context.Background())
			if err != nil {
				return 0
			}
			return float64(counts[name])
		}
	}
	stats := func(value func(store.Stats) float64) func() float64 {
		return func() float64 {
			s, _ := a.store.Stats() // zero if it fails
			return value(s)
		}
	}
	gauge := func(name, help string, read func() float64) metrics.Reading {
		return metrics.Reading{Name: name, Help: help, Read: read}
	}
	total := func(name, help string, read func() float64) metrics.Reading {
		return metrics.Reading{Name: name, Help: help, Total: true, Read: read}
	}
	queue := a.announcer.Stats
	return []metrics.Reading{
		gauge("pressbox_queue_waiting", "Waiting announcements.", func() float64 { return float64(queue().Waiting) }),
		gauge("pressbox_queue_max", "Maximum number of waiting announcements.",
			func() float64 { return float64(queue().Max) }),
		gauge("pressbox_sound_connected", "1 while there is an audio output.",
			func() float64 { return boolValue(a.sink.Status().Name != "") }),
		gauge("pressbox_sound_muted", "1 while the sink is muted.",
			func() float64 { return boolValue(a.sink.Status().Muted) }),
		total("pressbox_sound_samples_total", "Samples written to the sound server.",
			func() float64 { return float64(a.sink.Written()) }),
		gauge("pressbox_mqtt_connected", "1 while there is a connection to the MQTT broker.",
			func() float64 { return boolValue(a.broker != nil && a.broker.session.Status().Connected) }),
		total("pressbox_mqtt_refused_total", "Commands by MQTT that were refused.", func() float64 {
			if a.broker == nil {
				return 0
			}
			return float64(a.broker.device.Refused())
		}),
		gauge("pressbox_voices", "Installed voices.", func() float64 { return float64(len(a.voices.Voices())) }),
		gauge("pressbox_store_bytes", "Bytes of the store that hold data.",
			stats(func(s store.Stats) float64 { return float64(s.Size - s.Free) })),
		gauge("pressbox_store_max_bytes", "Maximum size of the store.",
			stats(func(s store.Stats) float64 { return float64(s.Max) })),
		total("pressbox_store_commits_total", "Committed transactions.",
			stats(func(s store.Stats) float64 { return float64(s.Commits) })),
		gauge("pressbox_backup_timestamp_seconds", "Time of the newest backup; 0 without one.", a.lastBackup),
		gauge("pressbox_games_active", "Games in progress.", count("games_active")),
		gauge("pressbox_sessions", "Valid sessions.", count("sessions")),
		gauge("pressbox_accounts", "Accounts.", count("accounts")),
		gauge("pressbox_degraded", "1 while a component does not work; see pressbox doctor.",
			func() float64 { return boolValue(a.monitor.Worst() != health.OK) }),
	}
}

// lastBackup returns the time of the newest backup, in seconds since 1970; 0 without one.
func (a *app) lastBackup() float64 {
	all, err := a.backups.List()
	if err != nil || len(all) == 0 {
		return 0
	}
	return float64(all[0].Made.Unix())
}

// boolValue returns 1 for true and 0 for false.
func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// components returns everything that the watchdog checks.
func (a *app) components() []watchdog.Component {
	return []watchdog.Component{
		{Name: "requests", Check: a.answers},
		{Name: "speech", Check: func(context.Context) error { return a.synthesis.Check() }},
		{Name: "store", Check: func(context.Context) error { return a.writes.Check() }},
		{Name: "sound", Check: func(context.Context) error { return watchdog.CheckDuration(a.sink.Busy()) }},
		{Name: "announcements", Check: func(context.Context) error {
			progress := a.synthesis.Count() + a.writes.Count() + a.sink.Written()
			return a.queue.Check(time.Now(), a.announcer.Stats(), progress)
		}},
	}
}

// answers sends an administrator's request through the router to every component.
func (a *app) answers(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/admin/status", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := client.InProcess{Handler: a.web.AdminHandler()}.RoundTrip(r)
	if err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET /admin/status: status %d", resp.StatusCode)
	}
	return nil
}

// runIdle returns, which ends the server, after EXIT_ON_IDLE seconds without activity.
func (a *app) runIdle(ctx context.Context, fromSystemd bool) error {
	limit := a.Config.ExitOnIdle
	if limit > 0 && !fromSystemd {
		a.Log.Warn("EXIT_ON_IDLE ignored: no socket from systemd")
		limit = 0
	}
	if limit == 0 {
		<-ctx.Done()
		return nil
	}
	if a.monitor.AwaitIdle(ctx, limit, a.web.Idle, a.pending) {
		a.Log.Info("idle timeout, exiting")
	}
	return nil
}

// wallWiFi returns the network that wall displays offer. It is not worth a server that does not
// start: without a passphrase there is none.
func (a *app) wallWiFi() play.WiFi {
	passphrase, err := a.Config.WallWiFiPassphrase()
	if err != nil {
		a.Log.Warn("Wi-Fi network not shown on wall displays", "err", err)
	}
	return play.WiFi{SSID: a.Config.WallWiFiSSID, Passphrase: passphrase}
}

// openRosters returns the imported seasons, beside the source that the settings select.
func openRosters(cfg settings.Config, st *store.Store, log *slog.Logger) (*imported.Seasons, error) {
	source, err := openSource(cfg, st, log)
	if err != nil {
		return nil, err
	}
	return imported.New(st, source), nil
}

// openSource returns the source that the settings select: a team-data API or the built-in
// league.
func openSource(cfg settings.Config, cache teamdata.Cache, log *slog.Logger) (imported.Source, error) {
	if cfg.TeamDataURL == "" {
		if cfg.DefaultSeason > league.LastSeason {
			return nil, exitcode.With(exitcode.Usage,
				fmt.Errorf("DEFAULT_SEASON=%d: without TEAM_DATA_URL, expected a season of the built-in league, "+
					"1 to %d",
					cfg.DefaultSeason, league.LastSeason))
		}
		return league.New(cfg.DefaultSeason), nil
	}
	client, err := teamdata.New(teamdata.Config{
		URL: cfg.TeamDataURL, Token: cfg.TeamDataToken, DefaultSeason: cfg.DefaultSeason, Cache: cache, Log: log,
	})
	if err != nil {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("TEAM_DATA_URL: %w", err))
	}
	return client, nil
}
