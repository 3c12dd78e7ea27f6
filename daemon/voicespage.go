package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressbox/daemon/downloads"
	"pressbox/daemon/web"
	"pressbox/daemon/web/admin"
	"pressbox/daemon/web/announcements"
	"pressbox/voice/catalog"
	"pressbox/voice/library"
)

// voicesPage is [admin.Voices] over the library of voices and their downloads.
type voicesPage struct{ *app }

// List returns the installed voices and the present or last installation.
func (p voicesPage) List() admin.InstalledVoices {
	list := admin.InstalledVoices{Voices: []admin.InstalledVoice{}}
	for _, v := range p.voices.Voices() {
		list.Voices = append(list.Voices, admin.InstalledVoice{Voice: announcements.Voice(v), Removable: !v.Default && p.downloads.Has(v.Name)})
	}
	if last := p.downloads.Last(); last.Name != "" {
		list.Install = &admin.Install{Name: last.Name, State: last.State, Done: last.Done, Total: last.Total}
		if last.Err != nil {
			list.Install.Error = last.Err.Error()
		}
	}
	return list
}

// Catalog returns the voices of a language that can be installed.
func (p voicesPage) Catalog(ctx context.Context, language string) (admin.Catalog, error) {
	own, rest, _ := strings.Cut(p.voices.Default(), "_")
	country, _, _ := strings.Cut(rest, "-")
	c := admin.Catalog{Language: cmp.Or(language, own), Voices: []admin.CatalogVoice{}}
	var err error
	if c.Languages, err = p.downloads.Languages(ctx); err != nil {
		return admin.Catalog{}, catalogError(err)
	}
	offers, err := p.downloads.Offers(ctx, c.Language, country)
	if err != nil {
		return admin.Catalog{}, catalogError(err)
	}
	installed := p.voices.Voices()
	for _, o := range offers {
		c.Voices = append(c.Voices, admin.CatalogVoice{
			Name: o.Name, Language: o.Language, Quality: o.Quality, Speakers: o.Speakers, SizeBytes: o.Size(), License: o.License, Recommended: o.Recommended,
			Installed: slices.ContainsFunc(installed, func(v library.Info) bool { return v.Name == o.Name }),
		})
	}
	return c, nil
}

// Install begins to install a voice.
func (p voicesPage) Install(ctx context.Context, name string, standard bool) error {
	return catalogError(p.downloads.Start(ctx, name, standard))
}

// Remove removes a voice, or cancels its installation.
func (p voicesPage) Remove(name string) error {
	if p.downloads.Cancel(name) {
		return nil
	}
	for _, v := range p.voices.Voices() {
		switch {
		case v.Name != name:
		case v.Default:
			return web.ErrDefaultVoice
		case !p.downloads.Has(name):
			return web.ErrSharedVoice
		}
	}
	return catalogError(p.downloads.Remove(name))
}

// catalogError returns an error of downloads as the web server knows it.
func catalogError(err error) error {
	switch {
	case errors.Is(err, downloads.ErrUnavailable):
		return &web.DetailedError{Err: web.ErrCatalog, Detail: err.Error()}
	case errors.Is(err, downloads.ErrBusy):
		return fmt.Errorf("%w: %w", web.ErrInstalling, err)
	case errors.Is(err, catalog.ErrUnknown):
		return fmt.Errorf("%w: %w", web.ErrNotFound, err)
	}
	return err
}

// awaitVoice is the time in which the library finds a voice that was installed.
const awaitVoice = 30 * time.Second

// voiceInstalled waits until an installed voice can speak, and with standard makes it the default
// one.
func (a *app) voiceInstalled(ctx context.Context, name string, standard bool) error {
	ctx, cancel := context.WithTimeout(ctx, awaitVoice)
	defer cancel()
	for {
		changed := a.voices.Changed()
		_, err := a.voices.Voice(name)
		if err == nil {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return err
		}
	}
	if !standard {
		return nil
	}
	return settingsPage{a}.Change(ctx, map[string]*string{"DEFAULT_VOICE": &name})
}
