package live

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/match"
	"pressbox/game/protocol"
	"pressbox/game/teams"
)

// Create creates a game. by is its creator and manages the requested side, in hot seat both.
func (g *Games) Create(ctx context.Context, by protocol.Person, r protocol.Request) (protocol.Game, error) {
	if by.ID == "" {
		return protocol.Game{}, protocol.ErrNotSignedIn()
	}
	if found := r.Check(); found != nil {
		return protocol.Game{}, &protocol.Error{Code: protocol.Invalid, Detail: found[0].Detail, Errors: found}
	}
	o, err := g.origin(ctx, r)
	if err != nil {
		return protocol.Game{}, err
	}
	side := r.Options.CreatorSide()
	o.Managers[side] = by
	switch r.Options.Opponent {
	case protocol.HotSeat:
		o.Managers[side.Other()] = by
	case protocol.Bot:
		o.Bots[side.Other()] = true
	case protocol.Open:
	}
	id := newID()
	if err := g.create(ctx, id, by, o); err != nil {
		return protocol.Game{}, err
	}
	return g.Game(ctx, by, id)
}

// origin returns what a requested game is created from, without managers: both clubs as they are now.
func (g *Games) origin(ctx context.Context, r protocol.Request) (*match.Origin, error) {
	o := &match.Origin{Season: r.Season, Options: r.Options}
	o.Options.Complete()
	for side, id := range [2]string{r.AwayTeam, r.HomeTeam} {
		roster, err := g.config.Rosters.Roster(ctx, r.Season, id)
		if errors.Is(err, teams.ErrUnknown) || errors.Is(err, teams.ErrTooFewPlayers) {
			return nil, protocol.ErrUnknownTeam(err, [2]string{"/away_team", "/home_team"}[side])
		} else if err != nil {
			return nil, unavailable(err, fmt.Sprintf("read the roster of %.40q", id))
		}
		o.Clubs[side], o.Season = match.ClubOf(&roster), roster.Season
	}
	return o, nil
}

// create saves a new game. One between two bots is saved as a whole, played to its end.
func (g *Games) create(ctx context.Context, id string, by protocol.Person, o *match.Origin) error {
	if err := g.checkUnfinished(by, 1); err != nil {
		return err
	}
	o.Rules = match.Rules
	o.Seed = match.Seed(g.config.Seeds())
	o.DrawRest()
	tx, err := match.Create(id, o, by, stamp(time.Now()))
	if err != nil {
		return err
	}
	if o.Bots == [2]bool{true, true} {
		if err := g.playOut(tx, o); err != nil {
			return err
		}
	}
	s := tx.Summary()
	c, box, err := change(tx, s)
	if err != nil {
		return err
	}
	g.deleteExcess(ctx, by)
	saved, err := g.save(ctx, c, by)
	if err != nil {
		return err
	}
	g.updateSummary(s, saved)
	if box != nil {
		g.finish(s, box)
	}
	g.publishSummary(s, nil, nil)
	g.wakeAt(time.Now().Add(pendingFor))
	if saved.Crowded {
		g.makeRoom(ctx, by)
	}
	return nil
}

// randomSeed returns a seed that cannot be foreseen.
func randomSeed() (s chance.Seed) {
	_, _ = rand.Read(s[:]) // never fails
	return s
}

// newID returns an id that cannot be guessed: 80 bits in 16 letters and digits.
func newID() string {
	var bits [10]byte
	_, _ = rand.Read(bits[:]) // never fails
	return strings.ToLower(base32.StdEncoding.EncodeToString(bits[:]))
}

// Submit carries out a manager's command and returns its revision. ack, if not nil, receives the acknowledgement
// before any subscriber is notified. A command id that the person has used before is acknowledged with its first
// revision and changes nothing (dup). The error is a [*protocol.Error], or that of ctx.
func (g *Games) Submit(
	ctx context.Context, by protocol.Person, id string, c protocol.Command, ack Send,
) (revision uint64, dup bool, err error) {
	if err := c.Check(); err != nil {
		return 0, false, err
	}
	m, err := g.open(ctx, id)
	if err != nil {
		return 0, false, err
	}
	defer m.release()
	if revision, ok := m.Submitted(by, c.ID); ok {
		if ack != nil {
			ack(&protocol.Message{
				Type: "ack", Game: m.id, Revision: revision, CommandID: c.ID, Data: protocol.Ack{Dup: true},
			})
		}
		return revision, true, nil
	}
	revision = m.Revision + 1
	err = m.update(ctx, by, c.ID, ack, func(tx *match.Tx) error { return tx.Submit(c, m.absences()) })
	if err != nil {
		return 0, false, err
	}
	return revision, false, nil
}

// update commits what do adds to a transaction, and what follows from it.
func (m *liveMatch) update(
	ctx context.Context, by protocol.Person, commandID string, ack Send, do func(*match.Tx) error,
) error {
	tx := m.Begin(by, commandID, stamp(time.Now()))
	if err := do(tx); err != nil {
		return err
	}
	if err := tx.Advance(); err != nil {
		return err
	}
	if by.ID != "" && !tx.Ends() {
		if err := m.games.checkUnfinished(m.Creator, 0); err != nil {
			return err
		}
	}
	return m.commit(ctx, tx, ack)
}

// change updates a game for by and returns it.
func (g *Games) change(
	ctx context.Context, by protocol.Person, id string, do func(*liveMatch, *match.Tx) error,
) (protocol.Game, error) {
	m, err := g.open(ctx, id)
	if err != nil {
		return protocol.Game{}, err
	}
	defer m.release()
	if err := m.update(ctx, by, "", nil, func(tx *match.Tx) error { return do(m, tx) }); err != nil {
		return protocol.Game{}, err
	}
	return m.detailed(ctx, by), nil
}

// Concede ends a game in favor of the other side; in hot seat, of the side that leads.
func (g *Games) Concede(ctx context.Context, by protocol.Person, id string) (protocol.Game, error) {
	return g.change(ctx, by, id, func(_ *liveMatch, tx *match.Tx) error { return tx.Concede(by) })
}

// Join gives the open side to by. If by manages a side already, the game is returned unchanged.
func (g *Games) Join(ctx context.Context, by protocol.Person, id string) (protocol.Game, error) {
	return g.change(ctx, by, id, func(_ *liveMatch, tx *match.Tx) error { return tx.Join(by) })
}

// SetLineup submits, or replaces, the line-up of a side; with both submitted, the game starts.
func (g *Games) SetLineup(
	ctx context.Context, by protocol.Person, id string, side game.Side, l game.Lineup,
) (protocol.Game, error) {
	return g.change(ctx, by, id, func(m *liveMatch, tx *match.Tx) error {
		ready, err := tx.SubmitLineup(by, side, l)
		if err != nil || !ready {
			return err
		}
		return m.start(tx)
	})
}

// Suggest returns the line-up that the bot would submit for a side of by's. It changes nothing.
func (g *Games) Suggest(ctx context.Context, by protocol.Person, id string, side game.Side) (game.Lineup, error) {
	m, err := g.open(ctx, id)
	if err != nil {
		return game.Lineup{}, err
	}
	defer m.release()
	return m.Suggest(by, side)
}

// Start starts a game whose line-ups are submitted; one that has started is returned unchanged.
func (g *Games) Start(ctx context.Context, by protocol.Person, id string) (protocol.Game, error) {
	return g.change(ctx, by, id, func(m *liveMatch, tx *match.Tx) error {
		begun, err := tx.CheckStart(by)
		if err != nil || begun {
			return err
		}
		return m.start(tx)
	})
}

// start starts the match.
func (m *liveMatch) start(tx *match.Tx) error {
	return m.games.start(tx, m.Origin)
}

// start starts the match of an origin.
func (g *Games) start(tx *match.Tx, o *match.Origin) error {
	return tx.Start(g.gameOfDay(o.Clubs[game.Home].Abbrev, tx.Time().Format(day)))
}

// day is the layout of a date.
const day = "20060102"

// gameOfDay returns the number of a home team's game on a date: 0 for its first, 2 for its second, and so on to 9.
func (g *Games) gameOfDay(team, date string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, s := range g.summaries {
		if s.Seats[game.Home].Team.Abbrev == team && s.Started.Format(day) == date {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return min(n+1, 9)
}

// Cancel deletes a pending game; only its creator may.
func (g *Games) Cancel(ctx context.Context, by protocol.Person, id string) error {
	m, err := g.open(ctx, id)
	if err != nil {
		return err
	}
	defer m.release()
	if err := m.CheckCancel(by); err != nil {
		return err
	}
	return m.delete(ctx, nil)
}

// Decline deletes a rematch that is offered to by, and reports that to its creator.
func (g *Games) Decline(ctx context.Context, by protocol.Person, id string) error {
	m, err := g.open(ctx, id)
	if err != nil {
		return err
	}
	defer m.release()
	if err := m.CheckDecline(by); err != nil {
		return err
	}
	return m.delete(ctx, &protocol.Declined{Manager: by.Name})
}

// delete deletes the game, which may not be loaded. declined is the account that declined it, nil if none did.
func (m *liveMatch) delete(ctx context.Context, declined *protocol.Declined) error {
	if _, err := m.games.config.Journal.Append(ctx, Change{Game: m.id}); err != nil {
		return unavailable(err, "delete the game")
	}
	m.publish(&protocol.Message{Type: "bye", Game: m.id, Data: protocol.Bye{Code: "cancelled"}})
	clear(m.subscribers)
	m.evicted = true
	g := m.games
	g.mu.Lock()
	defer g.mu.Unlock()
	g.withdrawRematch(g.summaries[m.id].Summary, declined)
	public := g.summaries[m.id].Listed()
	delete(g.loaded, m.id)
	delete(g.summaries, m.id)
	if public {
		g.publishToLobby(&protocol.Message{Type: "gone", Game: m.id})
	}
	return nil
}

// Rematch creates the game that follows a finished one, or returns it; by joins it if a side is reserved for by.
func (g *Games) Rematch(ctx context.Context, by protocol.Person, id string) (protocol.Game, error) {
	m, err := g.open(ctx, id)
	if err != nil {
		return protocol.Game{}, err
	}
	next := m.Rematch
	if err = m.CheckRematch(by); err == nil && !g.exists(next) {
		next, err = m.rematch(ctx, by)
	}
	m.release()
	if err != nil {
		return protocol.Game{}, err
	}
	joined, err := g.Join(ctx, by, next)
	if refused, ok := errors.AsType[*protocol.Error](err); ok &&
		(refused.Code == protocol.SeatTaken || refused.Code == protocol.NotPending) {
		return g.Game(ctx, by, next)
	}
	return joined, err
}

// rematch creates the game that follows and links to it.
func (m *liveMatch) rematch(ctx context.Context, by protocol.Person) (string, error) {
	id := newID()
	if err := m.games.create(ctx, id, by, m.RematchOrigin(m.id, by)); err != nil {
		return "", err
	}
	return id, m.update(ctx, by, "", nil, func(tx *match.Tx) error { return tx.LinkRematch(id) })
}
