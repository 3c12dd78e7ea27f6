// Package leagues runs series and leagues: it creates their games, has the bot play its own, records results, and
// lets the bot act for managers who are absent too long.
//
// Its law: each step is saved before the next one, and can be repeated. A league saves the id of a game, then
// creates the game under that id, unless it exists; a result is read from the game that has ended, and recorded
// once. After a crash at any point the same steps follow.
//
//	assign an id ─ Repository.SaveLeague ─ Games.Host ─ … ─ Games.Outcome ─ record ─ Repository.SaveLeague
//
// What a league is comes from package season; this package has no I/O of its own: disk, games and clubs are behind
// [Repository], [Games] and [live.Rosters].
package leagues

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/game/season"
	"pressbox/game/teams"
)

// ErrFull is the error of a [Repository] without room.
var ErrFull = errors.New("no room for the league")

// A Repository stores leagues. It does not interpret the data.
type Repository interface {
	// Leagues returns all leagues by id.
	Leagues(ctx context.Context) (map[string][]byte, error)
	// SaveLeague creates or replaces a league and returns when it is on disk. The error wraps [ErrFull] if there
	// is no room.
	SaveLeague(ctx context.Context, id string, data []byte) error
	// DeleteLeague deletes a league.
	DeleteLeague(ctx context.Context, id string) error
}

// Games are the games that leagues create, see [live.Games].
type Games interface {
	Host(ctx context.Context, f *live.Fixture) error
	Outcome(ctx context.Context, id string) (live.Outcome, error)
	Cover(ctx context.Context, id string, everyone bool) error
	Vacate(ctx context.Context, id string, who protocol.Person) error
}

// Config holds what [New] needs.
type Config struct {
	Repository Repository
	Games      Games
	Rosters    live.Rosters
	Zone       *time.Location // of [Request.PlayAt]; nil: the host's
	Log        *slog.Logger
}

// Leagues holds all series and leagues. Its methods may be called concurrently. They advance only while
// [Leagues.Run] runs.
type Leagues struct {
	config   Config
	changed  chan struct{} // receives a value when something may be due
	creating sync.Mutex    // held while a league is created, so that the limits hold

	mu  sync.Mutex // guards what follows
	all map[string]*entry
}

// An entry is a league in memory.
type entry struct {
	changing sync.Mutex // held while a change is made and saved; taken before Leagues.mu
	league   *League    // as saved; guarded by Leagues.mu
	stalled  string     // why it cannot advance, for people; guarded by Leagues.mu
	backoff             // used by Run alone
}

// New returns the leagues of the repository. It starts nothing. A league that cannot be read is logged and left out.
func New(ctx context.Context, c Config) (*Leagues, error) {
	if c.Zone == nil {
		c.Zone = time.Local //nolint:gosmopolitan // the hour is the host's
	}
	l := &Leagues{config: c, changed: make(chan struct{}, 1), all: map[string]*entry{}}
	stored, err := c.Repository.Leagues(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the leagues: %w", err)
	}
	for id, data := range stored {
		league, err := decode(id, data)
		if err != nil {
			c.Log.Error("league unreadable", "league", id, "err", err)
			continue
		}
		l.all[id] = &entry{league: league}
	}
	return l, nil
}

// Limits of the number of leagues. The biggest one takes 64 KiB of memory and, as it grows, of the store.
const (
	MaxLeagues             = 100
	reservedForFirst       = 40 // of them, for persons without an unfinished one
	maxUnfinishedPerPerson = 5
	maxFinishedPerPerson   = 20 // another one replaces the oldest
)

// Create creates a series or a league. It starts at once if no seat is open.
func (l *Leagues) Create(ctx context.Context, by protocol.Person, k Kind, r Request) (View, error) {
	if by.ID == "" {
		return View{}, protocol.ErrNotSignedIn()
	}
	if found := r.Check(k); found != nil {
		return View{}, &protocol.Error{Code: protocol.Invalid, Detail: found[0].Detail, Errors: found}
	}
	league, err := l.newLeague(ctx, by, k, r)
	if err != nil {
		return View{}, err
	}
	l.creating.Lock()
	defer l.creating.Unlock()
	if err := l.makeRoom(ctx, by); err != nil {
		return View{}, err
	}
	if err := l.save(ctx, league); err != nil {
		return View{}, err
	}
	l.mu.Lock()
	l.all[league.ID] = &entry{league: league}
	l.mu.Unlock()
	l.Wake()
	return l.Get(by, k, league.ID)
}

// newLeague returns a requested league, with its clubs as they are now.
func (l *Leagues) newLeague(ctx context.Context, by protocol.Person, k Kind, r Request) (*League, error) {
	at := stamp(time.Now())
	league := &League{
		Version: leagueVersion, ID: newID(), Kind: k, Name: strings.TrimSpace(r.Name), Creator: by, Created: at,
		Season: r.Season, Format: season.Format{Meetings: r.Meetings, BestOf: r.BestOf}, Options: r.Options.complete(),
		PlayAt: r.PlayAt, CoverHours: r.CoverHours,
	}
	open := false
	for i, s := range r.Seats {
		roster, err := l.config.Rosters.Roster(ctx, r.Season, s.Team)
		if errors.Is(err, teams.ErrUnknown) || errors.Is(err, teams.ErrTooFewPlayers) {
			return nil, protocol.ErrUnknownTeam(err, fmt.Sprintf("/seats/%d/team", i))
		} else if err != nil {
			return nil, unavailable(err, fmt.Sprintf("read the roster of %.40q", s.Team))
		}
		c := &roster.Team
		seat := Seat{
			Team: teams.Ref{ID: c.ID, Abbrev: c.Abbrev, Name: c.Name, Color: c.Color, TextColor: c.TextColor},
			Bot:  s.Manager == "bot",
		}
		if s.Manager == "me" {
			seat.Manager = by
		}
		open = open || seat.open()
		league.Seats, league.Season = append(league.Seats, seat), roster.Season
	}
	if open {
		return league, nil
	}
	return league.start(at)
}

// Join gives a seat to by, the first open one for −1. If by has a seat already, nothing changes.
func (l *Leagues) Join(ctx context.Context, by protocol.Person, k Kind, id string, seat int) (View, error) {
	if by.ID == "" {
		return View{}, protocol.ErrNotSignedIn()
	}
	return l.changeFor(ctx, by, k, id,
		func(league *League) (*League, error) { return league.join(by, seat, stamp(time.Now())) })
}

// Leave takes by's seat from by: before the start it is open again, afterwards it is the bot's, also in the games
// that have begun.
func (l *Leagues) Leave(ctx context.Context, by protocol.Person, k Kind, id string) (View, error) {
	return l.changeFor(ctx, by, k, id, func(league *League) (*League, error) { return league.leave(by) })
}

// Start starts a league; the bot takes the open seats. Only its creator may. One that has started is returned
// unchanged.
func (l *Leagues) Start(ctx context.Context, by protocol.Person, k Kind, id string) (View, error) {
	return l.changeFor(ctx, by, k, id, func(league *League) (*League, error) {
		switch {
		case by.ID == "" || league.Creator.ID != by.ID:
			return nil, errNotCreator()
		case league.Status() != Pending:
			return league, nil
		}
		return league.start(stamp(time.Now()))
	})
}

// Cancel deletes a league that has not started; only its creator may.
func (l *Leagues) Cancel(ctx context.Context, by protocol.Person, k Kind, id string) error {
	return l.remove(ctx, k, id, func(league *League) error {
		switch {
		case by.ID == "" || league.Creator.ID != by.ID:
			return errNotCreator()
		case league.Status() != Pending:
			return protocol.Refuse(protocol.NotPending, "the league has already started")
		}
		return nil
	})
}

func errNotCreator() error {
	return protocol.Refuse(protocol.Forbidden, "only the creator of the league may do that")
}

// changeFor changes a league for by and returns it.
func (l *Leagues) changeFor(
	ctx context.Context, by protocol.Person, k Kind, id string, do func(*League) (*League, error),
) (View, error) {
	e, err := l.entry(k, id)
	if err == nil {
		err = l.change(ctx, e, do)
	}
	if err != nil {
		return View{}, err
	}
	l.Wake()
	return l.Get(by, k, id)
}

// entry returns the entry of a league; "" is any kind.
func (l *Leagues) entry(k Kind, id string) (*entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.all[id]
	if e == nil || k != "" && e.league.Kind != k {
		return nil, protocol.Refuse(protocol.UnknownLeague, "there is no such %s", cmp.Or(k, RoundRobin))
	}
	return e, nil
}

// present returns the saved state of an entry, nil if it was deleted.
func (l *Leagues) present(e *entry) *League {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all[e.league.ID] != e {
		return nil
	}
	return e.league
}

// change saves what do makes of a league; nothing is saved if do returns it unchanged.
func (l *Leagues) change(ctx context.Context, e *entry, do func(*League) (*League, error)) error {
	e.changing.Lock()
	defer e.changing.Unlock()
	before := l.present(e)
	if before == nil {
		return protocol.Refuse(protocol.UnknownLeague, "there is no such league")
	}
	after, err := do(before)
	if err != nil || after == before {
		return err
	}
	if err := l.save(ctx, after); err != nil {
		return err
	}
	l.mu.Lock()
	e.league = after
	l.mu.Unlock()
	return nil
}

func (l *Leagues) save(ctx context.Context, league *League) error {
	data, err := league.encode()
	if err != nil {
		return err
	}
	if err := l.config.Repository.SaveLeague(ctx, league.ID, data); err != nil {
		return unavailable(err, "save the league")
	}
	return nil
}

// unavailable wraps an error of the repository or the rosters.
func unavailable(err error, doing string) error { return protocol.ErrUnavailable(err, ErrFull, doing) }

// snapshot returns all leagues, the newest first.
func (l *Leagues) snapshot() []*League {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]*League, 0, len(l.all))
	for _, e := range l.all {
		all = append(all, e.league)
	}
	slices.SortFunc(all,
		func(a, b *League) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID)) })
	return all
}

// CountByStatus returns the number of series and leagues of each status.
func (l *Leagues) CountByStatus() map[Status]int {
	counts := map[Status]int{Pending: 0, Active: 0, Finished: 0}
	for _, league := range l.snapshot() {
		counts[league.Status()]++
	}
	return counts
}

// newID returns an id that cannot be guessed: at least 128 bits in 26 letters and digits.
func newID() string { return strings.ToLower(rand.Text()) }

// stamp returns a time as it is stored and sent: UTC, in milliseconds, without the monotonic clock.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
