package live

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/teams"
)

// A head is what the hall knows of a game without its moves. Its JSON is kept beside them.
type head struct {
	Game     Game      `json:"game"` // as somebody who has signed in sees it, and does not manage a side
	Creator  Person    `json:"creator"`
	Reserved [2]Person `json:"reserved,omitzero"` // for whom an open seat is kept

	made time.Time // when the game was made, by a clock that nobody sets while this process lives
}

// readHeads reads what the journal has.
func (h *Games) readHeads(ctx context.Context) error {
	heads, err := h.config.Journal.Summaries(ctx)
	if err != nil {
		return err
	}
	for id, data := range heads {
		read := &head{}
		if err := json.Unmarshal(data, read); err != nil || read.Game.ID != id {
			h.config.Log.Error("a game cannot be read", "game", id, "err", err)
			continue
		}
		read.made = time.Now().Add(-max(0, time.Since(read.Game.Created)))
		h.heads[id] = read
	}
	return nil
}

// headOf returns the head of a game.
func headOf(id string, p *position) *head {
	o := p.origin
	g := Game{
		ID: id, Status: p.status, Created: p.created, Started: p.started, Finished: p.finished, Rev: p.rev, Season: o.Season,
		Options: o.Options, Result: p.result, Rules: o.Rules, Rematch: p.rematch, RematchOf: o.Former,
		Dice: Dice{Commitment: o.commitment()},
	}
	h := &head{Creator: p.creator}
	for side := game.Away; side <= game.Home; side++ {
		s, c := &p.seats[side], &o.Clubs[side]
		seat := Seat{
			Team: teams.Ref{ID: c.ID, Abbrev: c.Abbrev, Name: c.Name, Color: c.Color, TextColor: c.TextColor}, Bot: s.bot, LineupSubmitted: s.lineup != nil,
		}
		if s.manager.ID != "" {
			seat.Manager = &Manager{ID: s.manager.ID, Name: s.manager.Name}
		}
		if s.reserved.ID != "" {
			h.Reserved[side], g.Reserved = s.reserved, true
		}
		*g.side(side) = seat
	}
	if p.status != Pending {
		g.Scoreboard = scoreboard(&p.state)
		g.Score, g.Inning, g.Half = &g.Scoreboard.Score, g.Scoreboard.Inning, g.Scoreboard.Half.String()
	}
	if p.status == Finished {
		g.Dice.Seed = o.Seed.String()
	}
	h.Game = g
	return h
}

// side returns a side's seat.
func (g *Game) side(side game.Side) *Seat {
	if side == game.Home {
		return &g.Home
	}
	return &g.Away
}

// commitment returns the hash of the seed, in hex.
func (o *origin) commitment() string {
	sum := chance.Seed(o.Seed).Commitment()
	return hex.EncodeToString(sum[:])
}

// sides returns the sides a person manages.
func (h *head) sides(by Person) []game.Side {
	var sides []game.Side
	for side := game.Away; side <= game.Home; side++ {
		if m := h.Game.side(side).Manager; m != nil && by.ID != "" && m.ID == by.ID {
			sides = append(sides, side)
		}
	}
	return sides
}

// concerns reports whether a game is a person's: he manages a side, made it, or has a seat kept for him.
func (h *head) concerns(by Person) bool {
	return by.ID != "" && (len(h.sides(by)) > 0 || h.Creator.ID == by.ID || h.Reserved[0].ID == by.ID || h.Reserved[1].ID == by.ID)
}

// seen returns the game as somebody sees it.
func (h *head) seen(viewer Person) Game {
	g := h.Game
	switch sides := h.sides(viewer); len(sides) {
	case 0:
	case 1:
		g.YourSide = sides[0].String()
	default:
		g.YourSide = "both"
	}
	if viewer.ID == "" {
		for _, s := range [...]*Seat{&g.Home, &g.Away} {
			if s.Manager != nil {
				s.Manager = &Manager{Name: s.Manager.Name}
			}
		}
	}
	return g
}

// note takes over the head of a game that has changed, and tells the lobby what it may see.
func (h *Games) note(changed *head, events []told) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed.made = time.Now()
	if was := h.heads[changed.Game.ID]; was != nil {
		changed.made = was.made
	}
	h.heads[changed.Game.ID] = changed
	if changed.Game.Options.Visibility != Listed || len(h.lobby) == 0 {
		return
	}
	for i := range events {
		if events[i].public.Type == "event" {
			h.tellLobby(events[i].public)
		}
	}
	g := changed.seen(Person{})
	h.tellLobby(&Message{Type: "game", Game: g.ID, Revision: g.Rev, Data: &g})
}

// tellLobby tells everybody who watches the lobby. h.mu must be held.
func (h *Games) tellLobby(m *Message) {
	for o := range h.lobby {
		if !o.tell(m) {
			delete(h.lobby, o)
		}
	}
}

// WatchLobby lets tell be told of listed games: "event" for what happens in one, as the public sees it, "game" when what
// a list shows of it has changed, "gone" when it was cancelled. It returns what is listed and not finished, oldest first.
func (h *Games) WatchLobby(tell Send) (games []Game, leave func()) {
	o := &onlooker{tell: tell}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, head := range h.heads {
		if head.Game.Options.Visibility == Listed && head.Game.Status != Finished {
			games = append(games, head.seen(Person{}))
		}
	}
	slices.SortFunc(games, func(a, b Game) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	h.lobby[o] = struct{}{}
	return games, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.lobby, o)
	}
}

// A Query says which games to list.
type Query struct {
	Status Status // "" all
	Before string // only finished games that ended before: the id of one, or an RFC 3339 time
}

// Lists are the games somebody may see: the listed ones and his own. Newest first, at most 100 finished.
type Lists struct {
	Pending  []Game `json:"pending"`
	Active   []Game `json:"active"`
	Finished []Game `json:"finished"`
}

// mostFinished games in one list.
const mostFinished = 100

// List returns games without their details. The error says that the query is none.
func (h *Games) List(viewer Person, q Query) (Lists, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, err := h.end(q.Before)
	if err != nil {
		return Lists{}, err
	}
	if !slices.Contains([]Status{"", Pending, Active, Finished}, q.Status) {
		return Lists{}, invalid("status", "not_an_option", "it is pending, active or finished")
	}
	found := map[Status][]*head{}
	for _, head := range h.heads {
		g := &head.Game
		switch {
		case q.Status != "" && g.Status != q.Status, g.Options.Visibility != Listed && !head.concerns(viewer):
		case g.Status == Finished && !earlierThan(g, q.Before, before, h.heads[q.Before] != nil):
		default:
			found[g.Status] = append(found[g.Status], head)
		}
	}
	newest := func(status Status, most int, at func(*Game) time.Time) []Game {
		heads := found[status]
		slices.SortFunc(heads, func(a, b *head) int {
			return cmp.Or(at(&b.Game).Compare(at(&a.Game)), cmp.Compare(b.Game.ID, a.Game.ID))
		})
		games := []Game{}
		for _, head := range heads[:min(most, len(heads))] {
			games = append(games, head.seen(viewer))
		}
		return games
	}
	return Lists{
		Pending:  newest(Pending, math.MaxInt, func(g *Game) time.Time { return g.Created }),
		Active:   newest(Active, math.MaxInt, func(g *Game) time.Time { return g.Started }),
		Finished: newest(Finished, mostFinished, func(g *Game) time.Time { return g.Finished }),
	}, nil
}

// earlierThan reports whether a finished game comes after another one, or a time, in a list of the newest first. That is
// zero for all.
func earlierThan(g *Game, id string, at time.Time, isGame bool) bool {
	return at.IsZero() || g.Finished.Before(at) || g.Finished.Equal(at) && isGame && g.ID < id
}

// end returns the time of a query's Before. h.mu must be held.
func (h *Games) end(before string) (time.Time, error) {
	if before == "" {
		return time.Time{}, nil
	}
	if head := h.heads[before]; head != nil && head.Game.Status == Finished {
		return head.Game.Finished, nil
	}
	at, err := time.Parse(time.RFC3339Nano, before)
	if err != nil {
		return at, invalid("before", "not_found", "%.40q is neither a finished game nor a time", before)
	}
	return at, nil
}

// invalid refuses one field.
func invalid(path, code, format string, args ...any) error {
	detail := fmt.Sprintf(format, args...)
	return &Error{Code: Invalid, Detail: detail, Errors: []game.Violation{{Path: "/" + path, Code: game.ViolationCode(code), Detail: detail}}}
}
