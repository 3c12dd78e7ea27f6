package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"pressbox/audio/pulse"
	"pressbox/daemon/web"
	"pressbox/game/live"
	"pressbox/store"
	"pressbox/voice/announce"
	"pressbox/voice/espeak"
	"pressbox/voice/library"
	"pressbox/voice/onnx"
	"pressbox/voice/speakable"
)

// sharedModels are the voices that the package installs, for those whose own
// folder has none of that name.
const sharedModels = "/usr/share/pressbox/models"

// A house is the daemon's parts, put together and at rest.
type house struct {
	launch
	store      *store.Store
	sink       *pulse.Sink
	phonemizer *espeak.Phonemizer
	voices     *library.Library
	announcer  *announce.Announcer
	web        *web.Server
	doorway    *doorway
	rosters    rosterSource
	hall       *live.Games

	reloaded          atomic.Pointer[Config] // the settings when they were read last; those hold that are live
	salvaged          string                 // what was done about a damaged store; "" means that it was none
	inherited         bool                   // whether systemd opened the sockets
	addresses         []string               // where people reach the daemon; set by run
	figures           *figures
	speaking, keeping progress
	queue             queueWatch
}

// A launch is what the daemon is started with.
type launch struct {
	cfg    Config
	log    *slog.Logger
	level  *slog.LevelVar            // of log
	reread func() (*settings, error) // as they are now
}

// build puts the parts together. It starts nothing.
func build(l launch, kept *store.Store, sink *pulse.Sink) (*house, error) {
	cfg, log := l.cfg, l.log
	h := &house{launch: l, store: kept, sink: sink, phonemizer: espeak.New("")}
	h.reloaded.Store(&h.cfg)
	h.figures = newFigures()
	h.speaking.took, h.keeping.took = h.figures.clip.Observe, h.figures.written.Observe
	lexicon, err := readLexicon(cfg.LexiconFile)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	h.voices = library.New(library.Config{
		Dirs:         []string{cfg.ModelDir, sharedModels},
		Default:      cfg.DefaultVoice,
		DefaultRate:  cfg.DefaultRate,
		CacheBytes:   cfg.VoiceCacheBytes,
		Lexicon:      lexicon,
		Calibrations: kept,
		Phonemizer:   h.phonemizer,
		Load:         onnx.Runtime{Library: cfg.ONNXRuntimeLib}.Load,
		Log:          log,
	})
	h.announcer, err = announce.New(queueConfig(cfg.DefaultRate, cfg),
		watchedOutbox{kept, &h.keeping, h.figures}, watchedSpeaker{h.voices, &h.speaking}, h.sink, log)
	if err != nil {
		return nil, err
	}
	if h.doorway, err = buildDoorway(cfg, kept, log); err != nil {
		return nil, err
	}
	if h.rosters, err = openRosters(cfg, kept, log); err != nil {
		return nil, err
	}
	h.hall, err = live.New(context.Background(), live.Config{
		Journal: watchedJournal{kept.Games(), &h.keeping}, Rosters: h.rosters, Announcer: h.announcer, Log: log,
	})
	if err != nil {
		return nil, err
	}
	h.web, err = web.New(h.webConfig())
	if err != nil {
		return nil, err
	}
	return h, nil
}

// queueConfig is how announcements are taken and spoken.
func queueConfig(rate int, cfg Config) announce.Config {
	return announce.Config{Max: cfg.QueueMaxSize, TTL: cfg.NotifyTTL, Rate: rate, Volume: cfg.Volume}
}

// soundConfig says where PulseAudio's own clients would look for the server
// and its cookie.
func soundConfig(cfg Config, log *slog.Logger) pulse.Config {
	c := pulse.Config{
		Server:     cfg.PulseServer,
		RuntimeDir: os.Getenv("XDG_RUNTIME_DIR"),
		Sink:       cfg.PulseSink,
		Log:        log,
	}
	if cookie := os.Getenv("PULSE_COOKIE"); cookie != "" {
		c.Cookies = append(c.Cookies, cookie)
	}
	if dir, err := os.UserConfigDir(); err == nil {
		c.Cookies = append(c.Cookies, filepath.Join(dir, "pulse", "cookie"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		c.Cookies = append(c.Cookies, filepath.Join(home, ".pulse-cookie"))
	}
	return c
}

// readLexicon reads the operator's lexicon; there is none without a path.
func readLexicon(path string) (*speakable.Lexicon, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read LEXICON_FILE: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	lexicon, err := speakable.ParseLexicon(f)
	if err != nil {
		return nil, fmt.Errorf("read LEXICON_FILE %s: %w", path, err)
	}
	return lexicon, nil
}

func (h *house) webConfig() web.Config {
	c := web.Config{
		Log:      h.log,
		Version:  version,
		Versions: map[string]string{"go": runtime.Version(), "revision": revision},
		Admin: web.Admin{
			Level: h.level, Backup: h.store.Backup, Counts: h.counts, Diagnose: h.examine,
			Metrics: h.metrics(), OpenMetrics: h.cfg.Metrics == "on", Observe: h.figures.request,
		},
		Announcer:      h.announcer,
		Speaker:        watchedSpeaker{h.voices, &h.speaking},
		DefaultRate:    h.cfg.DefaultRate,
		Voices:         h.listVoices,
		Checks:         h.checks(),
		Access:         web.Access(h.cfg.NotifyAccess),
		AllowedHosts:   h.cfg.AllowedHosts,
		TrustedProxies: h.cfg.TrustedProxies,
		NotifyRate:     h.cfg.NotifyRate,
		LimitLoopback:  h.cfg.NotifyRateLoopback,
		SignIn:         h.doorway.web,
		Hall:           h.hall,
		Teams:          h.rosters,
		Season:         h.cfg.DefaultSeason,
	}
	for _, address := range []string{h.cfg.PublicURL, h.cfg.FrontendURL, h.cfg.OAuthRedirectURI} {
		if u, err := url.Parse(address); err == nil && u.Host != "" { // it was checked when it was read
			c.AllowedHosts = append(c.AllowedHosts, u.Hostname())
		}
	}
	for _, origin := range []string{h.cfg.PublicURL, h.cfg.FrontendURL} {
		if origin != "" {
			c.TrustedOrigins = append(c.TrustedOrigins, origin)
		}
	}
	return c
}

func (h *house) listVoices() web.VoiceList {
	list := web.VoiceList{Default: h.voices.Default()}
	for _, v := range h.voices.Voices() {
		list.Voices = append(list.Voices, web.Voice(v))
	}
	return list
}

// checks are how each part is, for GET /health.
func (h *house) checks() []web.Check {
	return []web.Check{
		{Name: "store", Report: h.checkStore},
		{Name: "audio", Report: h.checkAudio},
		{Name: "voices", Report: h.checkVoices},
		{Name: "queue", Report: h.checkQueue},
	}
}

// condition is bad with err, and good without.
func condition(err error, bad web.Health, facts map[string]any) web.Condition {
	if err != nil {
		return web.Condition{Health: bad, Detail: err.Error(), Facts: facts}
	}
	return web.Condition{Facts: facts}
}

func (h *house) checkStore() web.Condition {
	err := h.store.Health()
	stats, statsErr := h.store.Stats()
	bad := web.Failing
	switch err = errors.Join(err, statsErr); {
	case err != nil:
	case h.salvaged != "":
		err, bad = errors.New(h.salvaged), web.Degraded
	case stats.NearlyFull():
		err, bad = fmt.Errorf("the store is nearly full, with %d of %d bytes: the oldest private games that are over go; STORE_MAX_SIZE gives more room",
			stats.Size-stats.Free, stats.Max), web.Degraded
	}
	return condition(err, bad, map[string]any{
		"size_bytes": stats.Size, "free_bytes": stats.Free, "max_bytes": stats.Max, "commits": stats.Commits,
	})
}

func (h *house) checkAudio() web.Condition {
	s := h.sink.Status()
	return condition(h.sink.Health(), web.Degraded, map[string]any{
		"server": s.Server, "sink": s.Sink, "sink_name": s.Description, "state": s.State, "muted": s.Muted, "volume": s.Volume,
	})
}

func (h *house) checkVoices() web.Condition {
	installed, broken := 0, 0
	for _, v := range h.voices.Voices() {
		if installed++; v.Error != "" {
			broken++
		}
	}
	return condition(h.voices.Health(), web.Degraded, map[string]any{
		"default": h.voices.Default(), "installed": installed, "broken": broken,
	})
}

func (h *house) checkQueue() web.Condition {
	s := h.announcer.Stats()
	return condition(nil, web.Degraded, map[string]any{"waiting": s.Waiting, "max": s.Max, "speaking": s.Current != "", "unkept": s.Unsaved})
}
