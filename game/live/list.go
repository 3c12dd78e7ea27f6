package live

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"pressbox/game"
	"pressbox/game/protocol"
)

// A Query selects games.
type Query struct {
	Status protocol.Status // "": all
	Before string          // only games that finished before this game, by id, or before this RFC 3339 time
}

// Lists holds games without their details, newest first, at most 100 finished ones.
type Lists struct {
	Pending  []protocol.Game `json:"pending"`
	Active   []protocol.Game `json:"active"`
	Finished []protocol.Game `json:"finished"`
}

// maxFinished is the most finished games in one list.
const maxFinished = 100

// List returns the games that viewer may see: the listed ones and those that involve viewer. The error reports an invalid
// query.
func (g *Games) List(viewer protocol.Person, q Query) (Lists, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before, err := g.listEnd(q.Before)
	if err != nil {
		return Lists{}, err
	}
	if !slices.Contains([]protocol.Status{"", protocol.Pending, protocol.Active, protocol.Finished}, q.Status) {
		return Lists{}, invalid("status", "not_an_option", "status must be pending, active or finished")
	}
	found := map[protocol.Status][]*summary{}
	for _, s := range g.summaries {
		switch {
		case q.Status != "" && s.Status != q.Status, !s.Listed() && !s.Involves(viewer):
		case s.Status == protocol.Finished && !precedes(s, q.Before, before, g.summaries[q.Before] != nil):
		default:
			found[s.Status] = append(found[s.Status], s)
		}
	}
	newest := func(status protocol.Status, most int, at func(*summary) time.Time) []protocol.Game {
		all := found[status]
		slices.SortFunc(all, func(a, b *summary) int { return byTime(at(b), at(a), b.ID, a.ID) })
		games := []protocol.Game{}
		for _, s := range all[:min(most, len(all))] {
			games = append(games, s.Game(viewer))
		}
		return games
	}
	return Lists{
		Pending:  newest(protocol.Pending, math.MaxInt, func(s *summary) time.Time { return s.Created }),
		Active:   newest(protocol.Active, math.MaxInt, func(s *summary) time.Time { return s.Started }),
		Finished: newest(protocol.Finished, maxFinished, func(s *summary) time.Time { return s.Finished }),
	}, nil
}

// byTime compares two games by time, then by id.
func byTime(a, b time.Time, idA, idB string) int { return cmp.Or(a.Compare(b), cmp.Compare(idA, idB)) }

// precedes reports whether a finished game comes after the game id, or the time at, in a list with the newest first. A
// zero at precedes all.
func precedes(s *summary, id string, at time.Time, isGame bool) bool {
	return at.IsZero() || s.Finished.Before(at) || s.Finished.Equal(at) && isGame && s.ID < id
}

// listEnd returns the time of a query's Before. g.mu must be held.
func (g *Games) listEnd(before string) (time.Time, error) {
	if before == "" {
		return time.Time{}, nil
	}
	if s := g.summaries[before]; s != nil && s.Status == protocol.Finished {
		return s.Finished, nil
	}
	at, err := time.Parse(time.RFC3339Nano, before)
	if err != nil {
		return at, invalid("before", "not_found", "before is %.40q, want a finished game's id or an RFC 3339 time", before)
	}
	return at, nil
}

// invalid refuses one field.
func invalid(path, code, format string, args ...any) error {
	detail := fmt.Sprintf(format, args...)
	violation := game.Violation{Path: "/" + path, Code: game.ViolationCode(code), Detail: detail}
	return &protocol.Error{Code: protocol.Invalid, Detail: detail, Errors: []game.Violation{violation}}
}
