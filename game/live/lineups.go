package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/game"
	"pressbox/game/protocol"
)

// Limits of saved line-ups.
const (
	MaxLineups    = 20   // of an account
	maxLineup     = 2048 // bytes of one, as JSON
	maxLineupName = 40   // characters
)

// A Shelf stores the line-ups that accounts have saved, as one record of an account.
type Shelf interface {
	// Lineups returns the record of an account, nil if there is none.
	Lineups(ctx context.Context, account string) ([]byte, error)
	// ChangeLineups changes the record of an account and returns when it is on disk. change returns nil to delete it;
	// after an error of change, which is returned, nothing has changed. The error wraps [ErrFull] if there is no room.
	ChangeLineups(ctx context.Context, account string, change func(old []byte) ([]byte, error)) error
}

// Saved are the line-ups of an account by name, in its order.
type Saved []protocol.SavedLineup

// index returns the index of a name, and whether it is there.
func (s Saved) index(name string) (int, bool) {
	return slices.BinarySearchFunc(s, name,
		func(l protocol.SavedLineup, name string) int { return cmp.Compare(l.Name, name) })
}

// decodeSaved decodes a record.
func decodeSaved(data []byte) (s Saved, err error) {
	if data == nil {
		return Saved{}, nil
	}
	err = json.Unmarshal(data, &s)
	return s, err
}

// SavedLineups returns the line-ups that an account has saved.
func (g *Games) SavedLineups(ctx context.Context, by protocol.Person) (Saved, error) {
	if g.config.Shelf == nil {
		return Saved{}, nil
	}
	data, err := g.config.Shelf.Lineups(ctx, by.ID)
	if err != nil {
		return nil, unavailable(err, "read the line-ups")
	}
	s, err := decodeSaved(data)
	return s, unreadable(err)
}

// SavedLineup returns one of the line-ups that an account has saved.
func (g *Games) SavedLineup(ctx context.Context, by protocol.Person, name string) (game.Lineup, error) {
	s, err := g.SavedLineups(ctx, by)
	if err != nil {
		return game.Lineup{}, err
	}
	i, ok := s.index(name)
	if !ok {
		return game.Lineup{}, errUnknownLineup()
	}
	return s[i].Lineup, nil
}

// SaveLineup saves a line-up under a name, in place of one that has it.
func (g *Games) SaveLineup(ctx context.Context, by protocol.Person, name string, l game.Lineup) error {
	var found game.Violations
	if n := utf8.RuneCountInString(name); strings.TrimSpace(name) != name || n == 0 || n > maxLineupName ||
		!utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		found.Add("/name", "out_of_range", "a name has 1 to %d printable characters", maxLineupName)
	}
	if len(l.Order) != 9 {
		found.Add("/batting_order", string(game.WrongOrderLength), "the order has %d entries, want 9", len(l.Order))
	}
	if data, err := json.Marshal(l); err != nil || len(data) > maxLineup {
		found.Add("", "too_long", "the line-up has %d bytes, more than %d", len(data), maxLineup)
	}
	if found != nil {
		return &protocol.Error{Code: protocol.Invalid, Detail: found[0].Detail, Errors: found}
	}
	return g.changeLineups(ctx, by, func(s Saved) (Saved, error) {
		i, known := s.index(name)
		entry := protocol.SavedLineup{Name: name, Lineup: l}
		switch {
		case known:
			s[i] = entry
			return s, nil
		case len(s) >= MaxLineups:
			return nil, protocol.Refuse(protocol.TooManyLineups, "you have saved %d line-ups: delete one", MaxLineups)
		}
		return slices.Insert(s, i, entry), nil
	})
}

// DeleteLineup deletes a saved line-up.
func (g *Games) DeleteLineup(ctx context.Context, by protocol.Person, name string) error {
	return g.changeLineups(ctx, by, func(s Saved) (Saved, error) {
		i, ok := s.index(name)
		if !ok {
			return nil, errUnknownLineup()
		}
		return slices.Delete(s, i, i+1), nil
	})
}

// ForgetLineups deletes all line-ups of an account that is deleted.
func (g *Games) ForgetLineups(ctx context.Context, account string) error {
	if g.config.Shelf == nil {
		return nil
	}
	return g.config.Shelf.ChangeLineups(ctx, account, func([]byte) ([]byte, error) { return nil, nil })
}

// changeLineups changes the line-ups of an account.
func (g *Games) changeLineups(ctx context.Context, by protocol.Person, change func(Saved) (Saved, error)) error {
	if g.config.Shelf == nil {
		return protocol.Refuse(protocol.Unavailable, "line-ups cannot be saved here")
	}
	var refused error
	err := g.config.Shelf.ChangeLineups(ctx, by.ID, func(old []byte) ([]byte, error) {
		s, err := decodeSaved(old)
		if err == nil {
			s, err = change(s)
		} else {
			err = unreadable(err)
		}
		if refused = err; err != nil || len(s) == 0 {
			return nil, err
		}
		return json.Marshal(s)
	})
	if refused != nil {
		return refused
	}
	if err != nil {
		return unavailable(err, "save the line-up")
	}
	return nil
}

func errUnknownLineup() error {
	return protocol.Refuse(protocol.UnknownLineup, "you have not saved a line-up of this name")
}

// unreadable wraps the error of a record that cannot be decoded.
func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return protocol.Wrap(fmt.Errorf("decode the line-ups: %w", err), protocol.UnreadableGame,
		"the line-ups cannot be read")
}

// SuggestSaved returns a saved line-up for a side of by's, if the club has its players and the rules permit it.
func (g *Games) SuggestSaved(
	ctx context.Context, by protocol.Person, id string, side game.Side, name string,
) (game.Lineup, error) {
	l, err := g.SavedLineup(ctx, by, name)
	if err != nil {
		return l, err
	}
	m, err := g.open(ctx, id)
	if err != nil {
		return game.Lineup{}, err
	}
	defer m.release()
	return l, m.CheckLineup(by, side, l)
}
