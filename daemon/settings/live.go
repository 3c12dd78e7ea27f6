package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"pressbox/voice/announce"
)

// Errors of [Live].
var (
	ErrInvalid  = errors.New("the settings in the files are not valid")
	ErrFixed    = errors.New("the setting is set by a flag or in the environment, which take precedence over the page")
	ErrNotSaved = errors.New("the change cannot be saved")
)

// A ValueError lists the values that cannot be set, and why, by the names of settings.
type ValueError map[string]error

func (e ValueError) Error() string {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(e)) {
		errs = append(errs, e[name])
	}
	return errors.Join(errs...).Error()
}

// A Repository keeps the settings of the page.
type Repository interface {
	// Controls returns all records.
	Controls(ctx context.Context) (map[string][]byte, error)
	SaveControl(ctx context.Context, key string, record []byte) error
}

// Live holds the settings of a running server: as they were last read, and what administrators have
// set on the page. Its methods may be called concurrently.
type Live struct {
	// Apply applies settings at run time. It is never called concurrently.
	Apply func(Config) error
	// Voice returns an error for a voice that cannot speak.
	Voice func(name string) (string, error)

	parts LiveParts

	changing sync.Mutex                        // held while settings are read and applied
	page     atomic.Pointer[map[string]string] // by name
	current  atomic.Pointer[Config]
}

// LiveParts are what [Live] uses.
type LiveParts struct {
	Read       func() (*Sources, error) // reads all settings but those of the page
	Repository Repository
	Key        string // of the record of the settings of the page
	Log        *slog.Logger
}

// NewLive returns the settings of a server; those of the page are added to cfg.
func NewLive(ctx context.Context, cfg Config, parts LiveParts) (*Live, error) {
	l := &Live{parts: parts}
	records, err := parts.Repository.Controls(ctx)
	if err != nil {
		return nil, err
	}
	page := make(map[string]string)
	if record, ok := records[parts.Key]; ok {
		if err := json.Unmarshal(record, &page); err != nil {
			return nil, fmt.Errorf("read the settings of the page: %w", err)
		}
	}
	l.page.Store(&page)
	if len(page) > 0 {
		if cfg, err = l.Read(); err != nil {
			return nil, err
		}
	}
	l.current.Store(&cfg)
	return l, nil
}

// Current returns the settings as they were last applied.
func (l *Live) Current() Config { return *l.current.Load() }

// sources reads all settings. Those of the page that are not valid, as another version has set
// them, do not apply.
func (l *Live) sources(page map[string]string) (*Sources, error) {
	s, err := l.parts.Read()
	if err != nil {
		return nil, err
	}
	if err := s.SetPage(page); err != nil {
		l.parts.Log.Warn("settings of the page ignored", "err", err)
	}
	return s, nil
}

// Read returns the present values of the settings, which may not be applied yet.
func (l *Live) Read() (Config, error) { return l.readWith(*l.page.Load()) }

func (l *Live) readWith(page map[string]string) (Config, error) {
	s, err := l.sources(page)
	if err != nil {
		return Config{}, err
	}
	return s.Config()
}

// Reload reads the settings and applies them.
func (l *Live) Reload() (Config, error) {
	l.changing.Lock()
	defer l.changing.Unlock()
	next, err := l.Read()
	if err != nil {
		return next, err
	}
	return next, l.apply(next)
}

func (l *Live) apply(next Config) error {
	if err := l.Apply(next); err != nil {
		return err
	}
	l.current.Store(&next)
	return nil
}

// List returns the settings of the page with their present values, or [ErrInvalid].
func (l *Live) List() (all []Value, err error) {
	s, err := l.sources(*l.page.Load())
	if err == nil {
		all, err = s.Values()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return slices.DeleteFunc(all, func(v Value) bool { return !v.Page }), nil
}

// Change saves values and applies them as a reload does; nil resets a setting to its value in the
// files. It returns a [ValueError], [ErrFixed], [ErrInvalid] or [ErrNotSaved].
func (l *Live) Change(ctx context.Context, values map[string]*string) error {
	if err := l.check(values); err != nil {
		return err
	}
	l.changing.Lock()
	defer l.changing.Unlock()
	page := maps.Clone(*l.page.Load())
	for name, value := range values {
		delete(page, name)
		if value != nil {
			page[name] = *value
		}
	}
	next, err := l.readWith(page)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	record, err := json.Marshal(page)
	if err != nil {
		return fmt.Errorf("encode the settings of the page: %w", err)
	}
	if err := l.parts.Repository.SaveControl(ctx, l.parts.Key, record); err != nil {
		return fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	l.page.Store(&page)
	return l.apply(next)
}

// check returns an error unless all values can be set.
func (l *Live) check(values map[string]*string) error {
	list, err := l.List()
	if err != nil {
		return err
	}
	wrong := ValueError{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := slices.IndexFunc(list, func(v Value) bool { return v.Name == name })
		var err error
		switch {
		case at < 0:
			err = ErrNotOnPage
		case list[at].Fixed:
			return fmt.Errorf("%w: %s is set by the origin %s", ErrFixed, name, list[at].Origin)
		case values[name] != nil:
			err = l.checkValue(name, *values[name])
		}
		if err != nil {
			wrong[name] = err
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

// checkValue returns an error unless a setting can be set to a value.
func (l *Live) checkValue(name, value string) error {
	if err := CheckPage(name, value); err != nil || name != "DEFAULT_VOICE" || value == "" {
		return err
	}
	_, err := l.Voice(value)
	if _, unknown := errors.AsType[*announce.UnknownVoiceError](err); !unknown {
		return nil // one that is installed and does not work may be set
	}
	return err
}
