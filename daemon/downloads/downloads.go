// Package downloads installs voices of a catalog in the background, for administrators who
// watch on the page.
//
// One law: one voice is installed at a time, and the last result stays until the next begins.
package downloads

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"pressbox/voice/catalog"
	"pressbox/voice/library"
)

// Errors of a [Downloads].
var (
	ErrBusy        = errors.New("another voice is being installed")
	ErrUnavailable = errors.New("the catalog of voices cannot be read")
	ErrDefault     = errors.New("this is the default voice; choose another one first")
	ErrShared      = errors.New("this voice is not in MODEL_DIR; the package that installed it removes it")
)

// A Library has the installed voices.
type Library interface {
	Voices() []library.Info
	Default() string // the name of the default voice
	// Voice returns an error if a voice cannot speak.
	Voice(name string) (string, error)
	Changed() <-chan struct{} // closed at the next change of the voices
}

// A Config configures [Downloads].
type Config struct {
	URL string // of the catalog; without https only on this host
	Dir string // where voices are installed
	// Library finds the voices that are installed in Dir.
	Library    Library
	SetDefault func(ctx context.Context, name string) error // sets the default voice
	Log        *slog.Logger
}

// The states of an installation.
const (
	Downloading = "downloading"
	Installed   = "installed"
	Failed      = "failed"
)

// A Download is the present or last installation.
type Download struct {
	Name        string
	State       string
	Done, Total int64 // bytes
	Err         error // why it failed
}

// Downloads install voices. Their methods may be called concurrently.
type Downloads struct {
	cfg    Config
	orders chan order // to Run

	mu       sync.Mutex // guards the fields below
	last     Download   // zero: none
	cancel   context.CancelFunc
	fetched  time.Time
	known    *catalog.Catalog
	licenses map[string]string // by the name of a voice, once its card was read
}

// An order is a voice to install.
type order struct {
	voice    catalog.Voice
	standard bool
}

// New returns downloads. It starts nothing.
func New(cfg Config) *Downloads {
	return &Downloads{cfg: cfg, orders: make(chan order, 1), licenses: map[string]string{}}
}

// Last returns the present or last installation; its Name is "" if there is none.
func (d *Downloads) Last() Download {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

// Start begins to install a voice, and with standard makes it the default one afterwards. It
// returns [ErrBusy], [ErrUnavailable] or [catalog.ErrUnknown].
func (d *Downloads) Start(ctx context.Context, name string, standard bool) error {
	c, err := d.catalog(ctx)
	if err != nil {
		return err
	}
	v, err := c.Find(name)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last.State == Downloading {
		return ErrBusy
	}
	d.last = Download{Name: v.Name, State: Downloading, Total: v.Size()}
	d.orders <- order{v, standard} // has capacity: Run takes one before the next can begin
	return nil
}

// cancelled ends the installation of a voice, and reports whether there was one. What was downloaded
// stays for the next attempt.
func (d *Downloads) cancelled(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last.State != Downloading || d.last.Name != name || d.cancel == nil {
		return false
	}
	d.cancel()
	return true
}

// Run installs voices until ctx ends.
func (d *Downloads) Run(ctx context.Context) error {
	for {
		select {
		case o := <-d.orders:
			d.run(ctx, o)
		case <-ctx.Done():
			return nil
		}
	}
}

func (d *Downloads) run(ctx context.Context, o order) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.mu.Lock()
	d.cancel = cancel
	d.mu.Unlock()
	err := d.install(ctx, o)
	if err == nil {
		err = d.awaitVoice(ctx, o.voice.Name)
	}
	if err == nil && o.standard {
		err = d.cfg.SetDefault(ctx, o.voice.Name)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancel = nil
	switch {
	case ctx.Err() != nil:
		d.last = Download{}
	case err != nil:
		d.last.State, d.last.Err = Failed, err
		d.cfg.Log.Warn("voice not installed", "voice", o.voice.Name, "err", err)
	default:
		d.last.State = Installed
		d.cfg.Log.Info("voice installed", "voice", o.voice.Name)
	}
}

func (d *Downloads) install(ctx context.Context, o order) error {
	if err := os.MkdirAll(d.cfg.Dir, 0o755); err != nil { //nolint:gosec // other users read voices
		return err
	}
	dir, err := os.OpenRoot(d.cfg.Dir)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // the installer has synced it
	d.mu.Lock()
	c := d.known
	d.mu.Unlock()
	done := map[string]int64{} // of each file
	i := catalog.Installer{Catalog: c, Dir: dir, Progress: func(name string, n, _ int64) {
		done[name] = n
		var sum int64
		for _, n := range done {
			sum += n
		}
		d.mu.Lock()
		d.last.Done = sum
		d.mu.Unlock()
	}}
	if err := i.CheckSpace(o.voice); err != nil {
		return err
	}
	return i.Install(ctx, o.voice)
}

// libraryTimeout is the time in which the library finds a voice that was installed.
const libraryTimeout = 30 * time.Second

// awaitVoice waits until an installed voice can speak.
func (d *Downloads) awaitVoice(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, libraryTimeout)
	defer cancel()
	for {
		changed := d.cfg.Library.Changed()
		_, err := d.cfg.Library.Voice(name)
		if err == nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return err
		}
	}
}

// A Voice is an installed voice.
type Voice struct {
	library.Info
	Removable bool // it is in Dir, and not the default voice
}

// Voices returns the installed voices.
func (d *Downloads) Voices() []Voice {
	var all []Voice
	for _, v := range d.cfg.Library.Voices() {
		all = append(all, Voice{v, !v.Default && d.has(v.Name)})
	}
	return all
}

// Remove removes a voice, or cancels its installation. It returns [catalog.ErrUnknown], [ErrDefault]
// or [ErrShared].
func (d *Downloads) Remove(name string) error {
	if d.cancelled(name) {
		return nil
	}
	for _, v := range d.Voices() {
		switch {
		case v.Name != name || v.Removable:
		case v.Default:
			return ErrDefault
		default:
			return ErrShared
		}
	}
	dir, err := os.OpenRoot(d.cfg.Dir)
	if err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	return catalog.Remove(dir, name)
}

// has reports whether a voice is in the directory, from where it can be removed.
func (d *Downloads) has(name string) bool {
	dir, err := os.OpenRoot(d.cfg.Dir)
	if err != nil {
		return false
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	_, err = dir.Stat(name + ".onnx")
	return err == nil
}

const (
	catalogAge     = time.Hour        // for which a catalog is cached
	catalogTimeout = 12 * time.Second // of its download; with cardTimeout less than that of a response
)

// catalog returns the catalog, at most catalogAge old.
func (d *Downloads) catalog(ctx context.Context) (*catalog.Catalog, error) {
	d.mu.Lock()
	c, fetched := d.known, d.fetched
	d.mu.Unlock()
	if c != nil && time.Since(fetched) < catalogAge {
		return c, nil
	}
	ctx, cancel := context.WithTimeout(ctx, catalogTimeout)
	defer cancel()
	c, err := catalog.Fetch(ctx, catalog.NewClient(), d.cfg.URL, onThisHost(d.cfg.URL))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known, d.fetched = c, time.Now()
	return c, nil
}

// onThisHost reports whether a URL has a loopback address, which no other host can answer.
func onThisHost(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	a, err := netip.ParseAddr(u.Hostname())
	return err == nil && a.IsLoopback()
}

// An Offer is a voice of the catalog.
type Offer struct {
	catalog.Voice
	License     string // "" means unknown
	Recommended bool   // at most one of a language
	Installed   bool
}

// Offers are the voices of a language that can be installed.
type Offers struct {
	Language  string
	Languages []string // of the catalog, such as "en"
	Voices    []Offer
}

func languageOf(name string) string {
	language, _, _ := strings.Cut(name, "_")
	return language
}

// Offers returns the voices of a language with their licenses, or [ErrUnavailable]. "" means the
// language of the default voice, whose country a voice to recommend has, if there is one.
func (d *Downloads) Offers(ctx context.Context, language string) (Offers, error) {
	c, err := d.catalog(ctx)
	if err != nil {
		return Offers{}, err
	}
	own, rest, _ := strings.Cut(d.cfg.Library.Default(), "_")
	country, _, _ := strings.Cut(rest, "-")
	all := Offers{Language: cmp.Or(language, own)}
	installed := d.cfg.Library.Voices()
	for _, v := range c.Voices() {
		all.Languages = append(all.Languages, languageOf(v.Name))
		if languageOf(v.Name) == all.Language {
			has := slices.ContainsFunc(installed, func(i library.Info) bool { return i.Name == v.Name })
			all.Voices = append(all.Voices, Offer{Voice: v, Installed: has})
		}
	}
	slices.Sort(all.Languages)
	all.Languages = slices.Compact(all.Languages)
	d.addLicenses(ctx, c, all.Voices)
	recommend(all.Voices, country)
	return all, nil
}

const (
	cardTimeout = 10 * time.Second // of the cards of a language
	cardFetches = 6                // at once
)

// addLicenses sets the licenses of offers. That of a card which cannot be read in time stays
// unknown.
func (d *Downloads) addLicenses(ctx context.Context, c *catalog.Catalog, offers []Offer) {
	ctx, cancel := context.WithTimeout(ctx, cardTimeout)
	defer cancel()
	slots := make(chan struct{}, cardFetches)
	var fetches sync.WaitGroup
	for i := range offers {
		fetches.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			offers[i].License = d.license(ctx, c, offers[i].Voice)
		})
	}
	fetches.Wait()
}

func (d *Downloads) license(ctx context.Context, c *catalog.Catalog, v catalog.Voice) string {
	d.mu.Lock()
	license, known := d.licenses[v.Name]
	d.mu.Unlock()
	if known {
		return license
	}
	license, err := c.License(ctx, v)
	if err != nil {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.licenses[v.Name] = license
	return license
}

// free are the beginnings of licenses, in lower case, that permit every use.
//
//nolint:gochecknoglobals // a constant list
var free = []string{"public domain", "cc0", "cc by", "cc-by", "creative commons attribution", "mit", "apache", "bsd"}

// restricted matches licenses that forbid commercial or changed copies.
var restricted = regexp.MustCompile(`\b(nc|nd|non-?commercial)\b`)

// permitsEverything reports whether a license permits every use.
func permitsEverything(license string) bool {
	license = strings.ToLower(license)
	return !restricted.MatchString(license) && slices.ContainsFunc(free,
		func(prefix string) bool { return strings.HasPrefix(license, prefix) })
}

// qualities are those of voices in the order in which they are recommended: a Raspberry Pi
// speaks "high" slower than in real time.
var qualities = []string{"medium", "high", "low", "x_low"} //nolint:gochecknoglobals // a constant list

// recommend marks the best voice of one speaker whose license permits every use, preferably of a
// country.
func recommend(offers []Offer, country string) {
	best, bestRank := -1, 0
	for i, o := range offers {
		quality := slices.Index(qualities, o.Quality)
		if quality < 0 || o.Speakers > 1 || !permitsEverything(o.License) {
			continue
		}
		rank := quality
		if !strings.Contains(o.Name, "_"+country+"-") {
			rank += len(qualities)
		}
		if best < 0 || cmp.Less(rank, bestRank) {
			best, bestRank = i, rank
		}
	}
	if best >= 0 {
		offers[best].Recommended = true
	}
}
