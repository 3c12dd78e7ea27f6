package live

import (
	"cmp"
	"math"
	"slices"
	"time"

	"pressbox/game/protocol"
)

// A Query selects games.
type Query struct {
	Status protocol.Status // "": all
	Before string          // only games after this one, by id, in its list; or that finished before this RFC 3339 time
	People bool            // only games that a person manages a side of
	Limit  int             // the most games in each list; 0: all, but at most 100 finished ones
}

// placeOf returns the time by which a list is ordered.
func placeOf(s *summary) time.Time {
	switch s.Status {
	case protocol.Pending:
		return s.Created
	case protocol.Active:
		return s.Started
	default:
		return s.Finished
	}
}

// Lists holds listed games and those of the caller, without their details, newest first.
type Lists struct {
	Pending  []protocol.Game `json:"pending"`
	Active   []protocol.Game `json:"active"`
	Finished []protocol.Game `json:"finished" maxItems:"100"`
}

// maxFinished is the most finished games in one list.
const maxFinished = 100

// List returns the games that viewer may see: the listed ones and those that involve viewer. The error reports an
// invalid query.
func (g *Games) List(viewer protocol.Person, q Query) (Lists, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	begin, err := g.placeBefore(q.Before)
	if err != nil {
		return Lists{}, err
	}
	if !slices.Contains([]protocol.Status{"", protocol.Pending, protocol.Active, protocol.Finished}, q.Status) {
		return Lists{}, invalid("/status", "not_an_option", "status must be pending, active or finished")
	}
	found := map[protocol.Status][]*summary{}
	for _, s := range g.summaries {
		switch {
		case q.Status != "" && s.Status != q.Status, !s.Listed() && !s.Involves(viewer):
		case s.Status == begin.list && !begin.precedes(s), q.People && s.Seats[0].Bot && s.Seats[1].Bot:
		default:
			found[s.Status] = append(found[s.Status], s)
		}
	}
	newest := func(status protocol.Status, most int) []protocol.Game {
		all := found[status]
		slices.SortFunc(all, func(a, b *summary) int { return byTime(placeOf(b), placeOf(a), b.ID, a.ID) })
		games := []protocol.Game{}
		for _, s := range all[:min(cmp.Or(q.Limit, most), most, len(all))] {
			games = append(games, s.Game(viewer))
		}
		return games
	}
	return Lists{
		Pending:  newest(protocol.Pending, math.MaxInt),
		Active:   newest(protocol.Active, math.MaxInt),
		Finished: newest(protocol.Finished, maxFinished),
	}, nil
}

// byTime compares two games by time, then by id.
func byTime(a, b time.Time, idA, idB string) int { return cmp.Or(a.Compare(b), cmp.Compare(idA, idB)) }

// A place is where a page of a list begins: after a game, or at a time.
type place struct {
	list protocol.Status // the list that it is in; "": none, all lists begin at their beginning
	at   time.Time
	id   string // of the game; "": games of this time are before the place
}

// precedes reports whether the place is before a game of its list, with the newest first.
func (p place) precedes(s *summary) bool {
	at := placeOf(s)
	return at.Before(p.at) || at.Equal(p.at) && s.ID < p.id
}

// placeBefore returns the place of a query's Before. g.mu must be held.
func (g *Games) placeBefore(before string) (place, error) {
	if before == "" {
		return place{}, nil
	}
	if s := g.summaries[before]; s != nil {
		return place{s.Status, placeOf(s), s.ID}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, before)
	if err != nil {
		return place{}, invalid("/before", "not_found", "before is %.40q, want a game's id or an RFC 3339 time", before)
	}
	return place{list: protocol.Finished, at: at}, nil
}

// invalid refuses one field.
func invalid(path, code, format string, args ...any) error {
	return protocol.RefuseField(protocol.Invalid, path, code, format, args...)
}
