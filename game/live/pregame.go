package live

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/teams"
)

// Create makes a game. by is its creator and takes the side he wished, in hot seat both.
func (h *Games) Create(ctx context.Context, by Person, r Request) (Game, error) {
	if by.ID == "" {
		return Game{}, refuse(Forbidden, "sign in first")
	}
	if found := r.check(); found != nil {
		return Game{}, &Error{Code: Invalid, Detail: found[0].Detail, Errors: found}
	}
	o := &origin{Season: r.Season, Options: r.Options}
	for side, id := range [2]string{r.AwayTeam, r.HomeTeam} {
		roster, err := h.config.Rosters.Roster(ctx, r.Season, id)
		if errors.Is(err, teams.ErrUnknown) || errors.Is(err, teams.ErrTooFewPlayers) {
			path := [2]string{"/away_team", "/home_team"}[side]
			found := []game.Violation{{Path: path, Code: game.ViolationCode(UnknownTeam), Detail: err.Error()}}
			return Game{}, &Error{Code: UnknownTeam, Detail: err.Error(), Errors: found}
		} else if err != nil {
			return Game{}, unavailable(err, fmt.Sprintf("ask for the roster of %.40q", id))
		}
		o.Clubs[side], o.Season = clubOf(&roster), roster.Season
	}
	side := r.Options.side()
	o.Managers[side] = by
	switch r.Options.Opponent {
	case HotSeat:
		o.Managers[side.Other()] = by
	case Bot:
		o.Bots[side.Other()] = true
	case Open:
	}
	return h.create(ctx, by, o)
}

// mostOpen games that one person has made may wait or be played. Each is kept, listed and in memory.
const mostOpen = 200

// open returns how many games that a person has made are not over.
func (h *Games) open(by Person) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, head := range h.heads {
		if head.Creator.ID == by.ID && head.Game.Status != Finished {
			n++
		}
	}
	return n
}

// create keeps a new game.
func (h *Games) create(ctx context.Context, by Person, o *origin) (Game, error) {
	if h.open(by) >= mostOpen {
		return Game{}, refuse(TooManyGames, "%d games that you have made are not over: end or take back some", mostOpen)
	}
	o.Rules = rules
	_, _ = rand.Read(o.Seed[:]) // it never fails
	d, err := newDugout(o)
	if err != nil {
		return Game{}, err
	}
	id := newID()
	s := newScript(d, position{}, by, "")
	if err := s.add(move{Kind: Created, Origin: o}); err != nil {
		return Game{}, err
	}
	for side := range o.Bots {
		if !o.Bots[side] {
			continue
		}
		l, err := suggest(o, game.Side(side))
		if err != nil {
			return Game{}, err
		}
		if err := s.add(move{Kind: LineupSubmitted, Side: game.Side(side), Lineup: &l}); err != nil {
			return Game{}, err
		}
	}
	made := headOf(id, &s.now)
	c, err := change(id, made, s)
	if err != nil {
		return Game{}, err
	}
	crowded, err := h.config.Journal.Append(ctx, c)
	for errors.Is(err, ErrFull) && h.makeRoom(ctx) {
		crowded, err = h.config.Journal.Append(ctx, c)
	}
	if err != nil {
		return Game{}, unavailable(err, "keep the game")
	}
	h.note(made, nil)
	h.expect(time.Now().Add(pendingFor))
	if crowded {
		h.makeRoom(ctx)
	}
	return h.Game(ctx, by, id)
}

// newID returns an id that nobody guesses: 80 bits in 16 letters and digits.
func newID() string {
	var bits [10]byte
	_, _ = rand.Read(bits[:]) // it never fails
	return strings.ToLower(base32.StdEncoding.EncodeToString(bits[:]))
}

// suggest returns the bot's line-up for a side.
func suggest(o *origin, side game.Side) (game.Lineup, error) {
	c := &o.Clubs[side]
	l, err := bot.SuggestLineup(c.Club, c.Ratings, o.Options.DH)
	if wrong, ok := errors.AsType[*game.LineupError](err); ok {
		return l, &Error{Code: Invalid, Detail: wrong.Error(), Errors: wrong.Violations}
	} else if err != nil {
		return l, fmt.Errorf("suggest a line-up: %w", err)
	}
	return l, nil
}

// do carries out what somebody wants of a game.
func (h *Games) do(ctx context.Context, by Person, id string, act func(*table, *script) error) (Game, error) {
	t, err := h.attend(ctx, id)
	if err != nil {
		return Game{}, err
	}
	defer t.release()
	s := newScript(t.dugout, t.now, by, "")
	if err := act(t, s); err != nil {
		return Game{}, err
	}
	if err := s.settle(); err != nil {
		return Game{}, err
	}
	if err := t.keep(ctx, s, nil); err != nil {
		return Game{}, err
	}
	return t.detail(by), nil
}

// Cancel removes a pending game; only its creator may.
func (h *Games) Cancel(ctx context.Context, by Person, id string) error {
	t, err := h.attend(ctx, id)
	if err != nil {
		return err
	}
	defer t.release()
	switch {
	case t.now.creator.ID != by.ID:
		return refuse(Forbidden, "only who made the game may cancel it")
	case t.now.status != Pending:
		return refuse(NotPending, "the game has begun")
	}
	return t.remove(ctx)
}

// remove forgets the game, which may not be loaded.
func (t *table) remove(ctx context.Context) error {
	if _, err := t.hall.config.Journal.Append(ctx, Change{Game: t.id}); err != nil {
		return unavailable(err, "remove the game")
	}
	t.tellAll(&Message{Type: "bye", Game: t.id, Data: Bye{Code: "cancelled"}})
	clear(t.onlookers)
	t.gone = true
	h := t.hall
	h.mu.Lock()
	defer h.mu.Unlock()
	listed := h.heads[t.id].Game.Options.Visibility == Listed
	delete(h.tables, t.id)
	delete(h.heads, t.id)
	if listed {
		h.tellLobby(&Message{Type: "gone", Game: t.id})
	}
	return nil
}

// Join gives the open side to by. Who manages a side already gets the game as it is.
func (h *Games) Join(ctx context.Context, by Person, id string) (Game, error) {
	return h.do(ctx, by, id, func(t *table, s *script) error {
		p := &t.now
		if len(p.sides(by)) > 0 && by.ID != p.creator.ID {
			return nil
		}
		switch {
		case by.ID == "":
			return refuse(Forbidden, "sign in first")
		case p.status != Pending:
			return refuse(NotPending, "the game has begun")
		case len(p.sides(by)) > 0:
			return refuse(SeatTaken, "you manage the other side already")
		}
		side, err := p.openSide(by)
		if err != nil {
			return err
		}
		return s.add(move{Kind: Joined, Side: side})
	})
}

// openSide returns the side that somebody can take.
func (p *position) openSide(by Person) (game.Side, error) {
	for side := game.Away; side <= game.Home; side++ {
		seat := &p.seats[side]
		switch {
		case seat.bot || seat.manager.ID != "":
		case seat.reserved.ID != "" && seat.reserved.ID != by.ID:
			return side, refuse(Forbidden, "the seat is kept for %s", seat.reserved.Name)
		default:
			return side, nil
		}
	}
	return game.Away, refuse(SeatTaken, "both sides have a manager")
}

// SetLineup hands in, or replaces, the line-up of a side; with both in, the game starts.
func (h *Games) SetLineup(ctx context.Context, by Person, id string, side game.Side, l game.Lineup) (Game, error) {
	return h.do(ctx, by, id, func(t *table, s *script) error {
		p := &t.now
		if err := p.mayManage(by, side); err != nil {
			return err
		}
		if p.status != Pending {
			return refuse(NotPending, "the game has begun")
		}
		if found := l.Check(p.origin.Clubs[side].Club, p.origin.Options.DH); found != nil {
			return &Error{Code: Invalid, Detail: "the line-up breaks the rules", Errors: found}
		}
		if was := p.seats[side].lineup; was != nil && was.Pitcher == l.Pitcher && slices.Equal(was.Order, l.Order) {
			return nil // as it is
		}
		l.Order = slices.Clone(l.Order)
		if err := s.add(move{Kind: LineupSubmitted, Side: side, Lineup: &l}); err != nil {
			return err
		}
		if s.now.missing() == "" {
			return t.start(s)
		}
		return nil
	})
}

// mayManage returns an error unless a person manages a side.
func (p *position) mayManage(by Person, side game.Side) error {
	switch sides := p.sides(by); {
	case len(sides) == 0:
		return refuse(Forbidden, "you manage no side of this game")
	case !slices.Contains(sides, side):
		return refuse(NotYourSide, "you do not manage the %s team", side)
	}
	return nil
}

// Suggest returns the line-up that the bot would hand in for a side of by's. It changes nothing.
func (h *Games) Suggest(ctx context.Context, by Person, id string, side game.Side) (game.Lineup, error) {
	t, err := h.attend(ctx, id)
	if err != nil {
		return game.Lineup{}, err
	}
	defer t.release()
	if err := t.now.mayManage(by, side); err != nil {
		return game.Lineup{}, err
	}
	return suggest(t.now.origin, side)
}

// Start begins a game whose line-ups are in; one that has begun is returned as it is.
func (h *Games) Start(ctx context.Context, by Person, id string) (Game, error) {
	return h.do(ctx, by, id, func(t *table, s *script) error {
		switch missing := t.now.missing(); {
		case len(t.now.sides(by)) == 0:
			return refuse(Forbidden, "you manage no side of this game")
		case t.now.status == Active:
			return nil
		case t.now.status == Finished:
			return refuse(NotPending, "the game is over")
		case missing != "":
			return refuse(NotReady, "%s", missing)
		}
		return t.start(s)
	})
}

// missing says what a game waits for to begin; "" if nothing.
func (p *position) missing() string {
	var found []string
	for side := game.Away; side <= game.Home; side++ {
		switch s := &p.seats[side]; {
		case !s.bot && s.manager.ID == "":
			found = append(found, fmt.Sprintf("the %s team has no manager", side))
		case s.lineup == nil:
			found = append(found, fmt.Sprintf("the line-up of the %s team is missing", side))
		}
	}
	return strings.Join(found, "; ")
}

// start begins the game.
func (t *table) start(s *script) error {
	return s.add(move{Kind: Started, Number: t.hall.gameOfDay(&s.now, s.at.Format("20060102"))})
}

// gameOfDay returns the number of a home team's game on a date: 0 for its first, 2 for its second, and so on to 9.
func (h *Games) gameOfDay(p *position, date string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, head := range h.heads {
		if g := &head.Game; g.Home.Team.Abbrev == p.origin.Clubs[game.Home].Abbrev && g.Started.Format("20060102") == date {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return min(n+1, 9)
}

// Rematch makes the game that follows a finished one, or returns it, taking the seat that is kept in it for by.
func (h *Games) Rematch(ctx context.Context, by Person, id string) (Game, error) {
	t, err := h.attend(ctx, id)
	if err != nil {
		return Game{}, err
	}
	old, next := t.now, t.now.rematch
	h.mu.Lock()
	there := h.heads[next] != nil
	h.mu.Unlock()
	switch {
	case len(old.sides(by)) == 0:
		err = refuse(Forbidden, "you manage no side of this game")
	case old.status != Finished:
		err = refuse(NotFinished, "the game is not over")
	case !there:
		next, err = t.rematch(ctx, by)
	}
	t.release()
	if err != nil {
		return Game{}, err
	}
	g, err := h.Join(ctx, by, next)
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == SeatTaken || ok && refused.Code == NotPending {
		return h.Game(ctx, by, next)
	}
	return g, err
}

// rematch makes the game that follows, between the same clubs: a new one every time but the first's, which is linked.
func (t *table) rematch(ctx context.Context, by Person) (string, error) {
	was := t.now.origin
	o := &origin{Options: was.Options, Season: was.Season, Clubs: was.Clubs, Bots: was.Bots, Former: t.id}
	if sides := t.now.sides(by); len(sides) == 1 {
		o.Options.Side = sides[0].String()
	}
	for side := range o.Managers {
		if m := t.now.seats[side].manager; m.ID == by.ID {
			o.Managers[side] = m
		} else {
			o.Reserved[side] = m
		}
	}
	made, err := t.hall.create(ctx, by, o)
	if err != nil {
		return "", err
	}
	s := newScript(t.dugout, t.now, by, "")
	if err := s.add(move{Kind: RematchCreated, Game: made.ID}); err != nil {
		return "", err
	}
	return made.ID, t.keep(ctx, s, nil)
}
