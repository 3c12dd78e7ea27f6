package control

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"pressbox/auth"
	"pressbox/voice/announce"
)

// MaxFavorites limits the favorites.
const MaxFavorites = 50

// maxFavoriteName limits the characters of a favorite's name, as the schema does.
const maxFavoriteName = 64

// ErrNoFavorite reports that there is no favorite with an id.
var ErrNoFavorite = errors.New("no such favorite")

// A Favorite is an announcement that the page offers.
type Favorite struct {
	// Made by the server. A favorite that is sent back with it stays the same one.
	ID string `json:"id,omitempty" maxLength:"64"`
	// What the page calls it: at most 64 characters; default: its title, or its first words.
	Name string `json:"name,omitempty" maxLength:"64"`
	announce.Payload
}

// DefaultName returns the title, or the first words of the message.
func (f Favorite) DefaultName() string {
	if f.Title != "" {
		return cut(f.Title)
	}
	return cut(f.Message)
}

// cut returns the words of a text that fit into maxFavoriteName.
func cut(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= maxFavoriteName {
		return text
	}
	text = string([]rune(text)[:maxFavoriteName])
	if at := strings.LastIndexByte(text, ' '); at > 0 {
		text = text[:at]
	}
	return text
}

// identify gives each favorite an id of its own: its own if one of known has it, otherwise a new one.
func identify(all, known []Favorite) (identified []Favorite, changed bool) {
	identified = slices.Clone(all)
	used := map[string]bool{"": true}
	for i, f := range identified {
		if used[f.ID] || !slices.ContainsFunc(known, func(k Favorite) bool { return k.ID == f.ID }) {
			identified[i].ID, changed = auth.NewID(), true
		}
		used[identified[i].ID] = true
	}
	return identified, changed
}

// loadFavorites reads the favorites. Those of 0.5.0 have no ids, and get them.
func (c *Controls) loadFavorites(records map[string][]byte) {
	var stored []Favorite
	c.read(records, keyFavorites, &stored)
	all, changed := identify(stored, stored)
	c.favorites = all
	if !changed {
		return
	}
	if err := saveRecord(context.Background(), c.repo, keyFavorites, all); err != nil {
		c.log.Error("ids of the favorites not saved", "err", err)
	}
}

// Favorites returns the favorites. The caller must not change them.
func (c *Controls) Favorites() []Favorite {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.favorites
}

// Favorite returns the favorite with an id, or [ErrNoFavorite]. The caller must not change it.
func (c *Controls) Favorite(id string) (Favorite, error) {
	for _, f := range c.Favorites() {
		if f.ID == id {
			return f, nil
		}
	}
	return Favorite{}, ErrNoFavorite
}

// SetFavorites replaces the favorites, whose number and content are checked by the caller, and returns them with their
// ids.
func (c *Controls) SetFavorites(ctx context.Context, all []Favorite) ([]Favorite, error) {
	c.saving.Lock()
	defer c.saving.Unlock()
	all, _ = identify(all, c.Favorites())
	if err := saveRecord(ctx, c.repo, keyFavorites, all); err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.favorites = all
	c.mu.Unlock()
	c.publish(ChangedFavorites)
	return all, nil
}
