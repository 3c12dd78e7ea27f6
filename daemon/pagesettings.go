package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"pressbox/daemon/cli"
	"pressbox/daemon/settings"
	"pressbox/daemon/web"
	"pressbox/daemon/web/admin"
	"pressbox/store"
	"pressbox/voice/announce"
	"pressbox/voice/control"
)

// pageSettings returns the settings that administrators have set on the page, by name.
func pageSettings(ctx context.Context, st *store.Store) (map[string]string, error) {
	records, err := st.Controls(ctx)
	if err != nil {
		return nil, err
	}
	values := make(map[string]string)
	if record, ok := records[store.KeySettings]; ok {
		if err := json.Unmarshal(record, &values); err != nil {
			return nil, fmt.Errorf("read the settings of the page: %w", err)
		}
	}
	return values, nil
}

// readSettings reads the settings with those of the page. Those that are not valid, as another
// version has set them, do not apply.
func readSettings(o cli.ServeOptions, page map[string]string) (*settings.Sources, error) {
	sources, err := o.Read()
	if err != nil {
		return nil, err
	}
	if err := sources.SetPage(page); err != nil {
		o.Log.Warn("settings of the page ignored", "err", err)
	}
	return sources, nil
}

// configWithPage returns the values of the settings with those of the page.
func configWithPage(o cli.ServeOptions, page map[string]string) (settings.Config, error) {
	sources, err := readSettings(o, page)
	if err != nil {
		return settings.Config{}, err
	}
	return sources.Config()
}

// readConfig returns the present values of the settings.
func (a *app) readConfig() (settings.Config, error) {
	return configWithPage(a.ServeOptions, *a.page.Load())
}

// A settingsPage is [admin.Settings] over the store.
type settingsPage struct{ *app }

// List returns the settings of the page with their present values.
func (p settingsPage) List() ([]admin.Setting, error) {
	sources, err := readSettings(p.ServeOptions, *p.page.Load())
	if err != nil {
		return nil, &web.DetailedError{Err: web.ErrSettings, Detail: err.Error()}
	}
	values, err := sources.Values()
	if err != nil {
		return nil, &web.DetailedError{Err: web.ErrSettings, Detail: err.Error()}
	}
	all := []admin.Setting{}
	for _, v := range values {
		if v.Page {
			one := admin.Setting{Name: v.Name, Value: v.Text, Origin: v.Origin, Fixed: v.Fixed, Type: v.Type(), Description: v.Setting.Text()}
			if v.Name == "DEFAULT_VOICE" {
				one.Choices = p.voiceChoices()
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// voiceChoices returns the usable voices.
func (p settingsPage) voiceChoices() []admin.Choice {
	var all []admin.Choice
	for _, v := range p.voices.Voices() {
		if v.Error == "" {
			all = append(all, admin.Choice{Value: v.Name, Label: v.Label})
		}
	}
	return all
}

// Change saves values and applies them as a reload does.
func (p settingsPage) Change(ctx context.Context, values map[string]*string) error {
	if err := p.check(values); err != nil {
		return err
	}
	p.reloading.Lock()
	defer p.reloading.Unlock()
	page := maps.Clone(*p.page.Load())
	for name, value := range values {
		delete(page, name)
		if value != nil {
			page[name] = *value
		}
	}
	next, err := configWithPage(p.ServeOptions, page)
	if err != nil {
		return &web.DetailedError{Err: web.ErrSettings, Detail: err.Error()}
	}
	record, err := json.Marshal(page)
	if err != nil {
		return fmt.Errorf("encode the settings of the page: %w", err)
	}
	if err := p.store.SaveControl(ctx, store.KeySettings, record); err != nil {
		return fmt.Errorf("%w: %w", control.ErrUnavailable, err)
	}
	p.page.Store(&page)
	return p.apply(next) //nolint:contextcheck // cached phrases are forgotten whatever becomes of the request
}

// check returns an error unless all values can be set.
func (p settingsPage) check(values map[string]*string) error {
	list, err := p.List()
	if err != nil {
		return err
	}
	var violations []web.Violation
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := slices.IndexFunc(list, func(s admin.Setting) bool { return s.Name == name })
		switch {
		case at < 0:
			violations = append(violations, web.Violation{Path: "/" + name, Code: "unknown_field", Detail: "is not a setting that can be changed here"})
		case list[at].Fixed:
			return &web.DetailedError{Err: web.ErrFixedSetting, Detail: fmt.Sprintf("%s is set by the origin %s, which takes precedence over the page", name, list[at].Origin)}
		case values[name] != nil:
			violations = append(violations, p.violations(name, *values[name])...)
		}
	}
	if violations == nil {
		return nil
	}
	return &web.BodyError{Violations: violations}
}

// violations returns what is wrong with a value.
func (p settingsPage) violations(name, value string) []web.Violation {
	if err := settings.CheckPage(name, value); err != nil {
		return []web.Violation{{Path: "/" + name, Code: "invalid", Detail: err.Error()}}
	}
	if name == "DEFAULT_VOICE" && value != "" {
		_, err := p.voices.Voice(value)
		if _, unknown := errors.AsType[*announce.UnknownVoiceError](err); unknown {
			return []web.Violation{{Path: "/" + name, Code: announce.CodeUnknownVoice, Detail: err.Error()}}
		}
	}
	return nil
}
