// Package control holds what people set while the server runs: the volume and quiet ([Controls]), the
// favorites, and schedules of announcements ([Schedules]).
//
// One law: a change is saved before it applies. A setting of the configuration that differs from the one that
// was read last replaces what was set since.
//
// The records are JSON:
//
//	volume       the volume that was set, and VOLUME at that time
//	quiet        the switch, and QUIET_* at that time
//	favorites   the list
//	schedule/ID  a schedule with the time at which it is due next
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"pressbox/store/clock"
	"pressbox/voice/announce/policy"
	"pressbox/voice/control/hours"
)

// Keys of records.
const (
	KeyVolume      = "volume"
	KeyQuiet       = "quiet"
	keyFavorites   = "favourites" //nolint:misspell // the store's key
	schedulePrefix = "schedule/"
)

// MaxQuiet is the longest time for which quiet can be switched.
const MaxQuiet = 24 * time.Hour

// ErrUnavailable is wrapped with the reason why a change cannot be saved: the disk is full or damaged.
var ErrUnavailable = errors.New("the change cannot be saved")

// A Repository stores records.
type Repository interface {
	// Controls returns all records.
	Controls(ctx context.Context) (map[string][]byte, error)
	// SaveControl writes a record durably; a nil value deletes it.
	SaveControl(ctx context.Context, key string, value []byte) error
}

// A Config holds the settings that apply unless something else was set.
type Config struct {
	Volume          int // percent
	QuietHours      hours.Week
	QuietMode       policy.Mode
	QuietVolume     int            // percent
	UrgentMinVolume int            // percent
	Zone            *time.Location // of QuietHours; nil means the host's
}

// quiet returns the settings that replace the switch if they change.
func (c Config) quiet() string {
	return fmt.Sprintf("%s %s %d", c.QuietHours, c.QuietMode, c.QuietVolume)
}

// A Volume is the volume of announcements.
type Volume struct {
	Volume int // percent
	Muted  bool
	Set    bool // by a client; otherwise VOLUME applies
}

// A volumeRecord is the stored form of a volume that was set.
type volumeRecord struct {
	Volume  int  `json:"volume"`
	Muted   bool `json:"muted"`
	Setting int  `json:"setting"` // VOLUME when it was set
}

// A quietRecord is the stored form of the switch. It overrides QUIET_HOURS until its end.
type quietRecord struct {
	On      bool          `json:"on"`
	Mode    policy.Mode   `json:"mode,omitempty"`
	For     time.Duration `json:"for"` // nanoseconds from At
	At      moment        `json:"at"`
	Setting string        `json:"setting"` // QUIET_* when it was set
}

// A moment is the stored form of a [clock.Moment].
type moment struct {
	Wall time.Time `json:"wall"`
	clock.Instant
}

// A switching is the switch in memory.
type switching struct {
	on    bool
	mode  policy.Mode
	until time.Time // with a monotonic reading, which a correction of the wall clock does not move
}

// Controls hold the volume, quiet and the favorites. Its methods may be called concurrently.
type Controls struct {
	repo Repository
	now  func() clock.Moment
	log  *slog.Logger
	hub  Hub

	changed chan struct{} // capacity 1: Run must look again

	saving sync.Mutex // held while a change is saved and applied; taken before mu

	mu        sync.Mutex // guards the fields below
	config    Config
	volume    Volume
	switching *switching // nil if quiet is not switched
	favorites []Favorite
}

// NewControls returns the controls of a repository. It starts nothing. An unreadable record is logged, and its
// setting applies.
func NewControls(cfg Config, repo Repository, now func() clock.Moment, log *slog.Logger) (*Controls, error) {
	c := &Controls{repo: repo, now: now, log: log, changed: make(chan struct{}, 1)}
	records, err := repo.Controls(context.Background())
	if err != nil {
		return nil, fmt.Errorf("read the controls: %w", err)
	}
	c.config, c.volume = cfg, Volume{Volume: cfg.Volume}
	var v volumeRecord
	switch ok := c.read(records, KeyVolume, &v); {
	case ok && v.Setting == cfg.Volume:
		c.volume = Volume{v.Volume, v.Muted, true}
	case ok:
		c.forget(KeyVolume)
	}
	var q quietRecord
	switch ok := c.read(records, KeyQuiet, &q); {
	case ok && q.Setting == cfg.quiet():
		c.restore(q)
	case ok:
		c.forget(KeyQuiet)
	}
	c.loadFavorites(records)
	return c, nil
}

// forget deletes a record that a setting has replaced. If that fails, the record applies again once the setting
// is what it was.
func (c *Controls) forget(key string) {
	if err := c.repo.SaveControl(context.Background(), key, nil); err != nil {
		c.log.Error("replaced control not deleted", "key", key, "err", err)
	}
}

// read decodes a record and reports whether there is one.
func (c *Controls) read(records map[string][]byte, key string, to any) bool {
	data, ok := records[key]
	if !ok {
		return false
	}
	if err := json.Unmarshal(data, to); err != nil {
		c.log.Error("a control cannot be read", "key", key, "err", err)
		return false
	}
	return true
}

// restore sets the switch to what is left of it.
func (c *Controls) restore(q quietRecord) {
	left := q.For - c.now().Sub(clock.Moment{Wall: q.At.Wall, Instant: q.At.Instant})
	if left > 0 {
		c.switching = &switching{q.On, q.Mode, time.Now().Add(left)}
	}
}

// Hub returns where changes are published.
func (c *Controls) Hub() *Hub { return &c.hub }

// Configure replaces the settings. A changed VOLUME or QUIET_* replaces what was set since.
func (c *Controls) Configure(cfg Config) {
	c.saving.Lock()
	defer c.saving.Unlock()
	c.mu.Lock()
	volume, quiet := cfg.Volume != c.config.Volume, cfg.quiet() != c.config.quiet()
	c.config = cfg
	if volume {
		c.volume = Volume{Volume: cfg.Volume}
	}
	if quiet {
		c.switching = nil
	}
	c.mu.Unlock()
	if volume {
		c.forget(KeyVolume)
		c.publish(ChangedVolume)
	}
	if quiet {
		c.forget(KeyQuiet)
		c.publish(ChangedQuiet)
	}
}

// publish wakes Run and sends a change to the watchers.
func (c *Controls) publish(change Change) {
	signal(c.changed)
	c.hub.Publish(change)
}

// signal puts a token into c unless it is full.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Volume returns the volume.
func (c *Controls) Volume() Volume {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.volume
}

// SetVolume changes the volume, the mute, or both; nil leaves one as it is.
func (c *Controls) SetVolume(ctx context.Context, volume *int, muted *bool) (Volume, error) {
	c.saving.Lock()
	defer c.saving.Unlock()
	v := c.Volume()
	v.Set = true
	if volume != nil {
		v.Volume = *volume
	}
	if muted != nil {
		v.Muted = *muted
	}
	c.mu.Lock()
	setting := c.config.Volume
	c.mu.Unlock()
	if err := saveRecord(ctx, c.repo, KeyVolume, volumeRecord{v.Volume, v.Muted, setting}); err != nil {
		return Volume{}, err
	}
	c.mu.Lock()
	c.volume = v
	c.mu.Unlock()
	c.publish(ChangedVolume)
	return v, nil
}

// saveRecord writes a record as JSON.
func saveRecord(ctx context.Context, repo Repository, key string, record any) error {
	value, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode %s: %w", key, err)
	}
	if err := repo.SaveControl(ctx, key, value); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}
