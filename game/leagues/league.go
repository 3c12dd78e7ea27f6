package leagues

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/game/season"
	"pressbox/game/teams"
	"pressbox/store/clock"
)

// A Kind distinguishes series from leagues.
type Kind string

// The kinds.
const (
	Series     Kind = "series" // of two managers
	RoundRobin Kind = "league" // of two to eight, with a play-off or without
)

// A Status is the stage of a league.
type Status string

// The statuses.
const (
	Pending  Status = "pending" // waits for managers
	Active   Status = "active"
	Finished Status = "finished"
)

// leagueVersion is the version in which leagues are stored.
const leagueVersion = 1

// A League is the state of a series or a league. It is a value: its changes return another one, and what it points
// to is never written to. Its JSON is stored.
type League struct {
	Version    int             `json:"v"`
	ID         string          `json:"id"`
	Kind       Kind            `json:"kind"`
	Name       string          `json:"name"`
	Creator    protocol.Person `json:"creator"`
	Created    time.Time       `json:"created_at"`
	Started    time.Time       `json:"started_at,omitzero"`
	Finished   time.Time       `json:"finished_at,omitzero"`
	Season     int             `json:"season"` // of the clubs
	Format     season.Format   `json:"format"`
	Options    Options         `json:"options"`
	PlayAt     string          `json:"play_at,omitzero"` // "20:00": when games between bots are played; "": at once
	CoverHours int             `json:"cover_hours"`
	Seats      []Seat          `json:"seats"` // the entrants of the competition

	// From the start on:
	Competition *season.Competition   `json:"competition,omitzero"`
	Opened      time.Time             `json:"opened_at,omitzero"` // when the present day began
	Work        chance.RecentWork     `json:"work,omitzero"`      // of pitchers, before the present day
	Today       map[game.PlayerID]int `json:"today,omitzero"`     // pitches in the games of the day that have ended
}

// A Seat is a place in a league.
type Seat struct {
	Team    teams.Ref       `json:"team"`
	Manager protocol.Person `json:"manager,omitzero"` // zero: the seat is open, or the bot's
	Bot     bool            `json:"bot,omitzero"`
	Left    protocol.Person `json:"left,omitzero"` // who managed it until leaving the league
}

func (s *Seat) open() bool { return !s.Bot && s.Manager.ID == "" }

// Status returns the stage of the league.
func (l *League) Status() Status {
	switch {
	case l.Competition == nil:
		return Pending
	case l.Competition.Champion < 0:
		return Active
	default:
		return Finished
	}
}

// Seat returns the index of a person's seat, −1 without one.
func (l *League) Seat(p protocol.Person) int {
	return slices.IndexFunc(l.Seats, func(s Seat) bool { return p.ID != "" && s.Manager.ID == p.ID })
}

// Involves reports whether a person has a seat or created the league.
func (l *League) Involves(p protocol.Person) bool {
	return l.Seat(p) >= 0 || p.ID != "" && l.Creator.ID == p.ID
}

// Listed reports whether the league is in the public list.
func (l *League) Listed() bool { return l.Options.Visibility == protocol.Listed }

// join returns the league with a person in a seat, the first open one for −1. The league starts when no seat is
// open. It returns the league unchanged if the person has a seat already.
func (l *League) join(p protocol.Person, seat int, at time.Time) (*League, error) {
	if l.Seat(p) >= 0 {
		return l, nil
	}
	if l.Status() != Pending {
		return nil, protocol.Refuse(protocol.NotPending, "the league has already started")
	}
	if seat < 0 {
		seat = slices.IndexFunc(l.Seats, func(s Seat) bool { return s.open() })
	}
	if seat < 0 || seat >= len(l.Seats) || !l.Seats[seat].open() {
		return nil, protocol.Refuse(protocol.SeatTaken, "the seat is not open")
	}
	after := *l
	after.Seats = slices.Clone(l.Seats)
	after.Seats[seat].Manager = p
	if slices.ContainsFunc(after.Seats, func(s Seat) bool { return s.open() }) {
		return &after, nil
	}
	return after.start(at)
}

// leave returns the league without a person: the seat is open before the start, and the bot's afterwards.
func (l *League) leave(p protocol.Person) (*League, error) {
	seat := l.Seat(p)
	switch {
	case seat < 0:
		return nil, protocol.Refuse(protocol.Forbidden, "you have no seat in the league")
	case l.Status() == Finished:
		return nil, protocol.Refuse(protocol.NotActive, "the league is finished")
	}
	after := *l
	after.Seats = slices.Clone(l.Seats)
	after.Seats[seat].Manager = protocol.Person{}
	if l.Status() == Active {
		after.Seats[seat].Bot, after.Seats[seat].Left = true, p
	}
	return &after, nil
}

// start returns the league at its first day; the bot takes the open seats.
func (l *League) start(at time.Time) (*League, error) {
	c, err := season.New(l.Format, len(l.Seats))
	if err != nil {
		return nil, protocol.Wrap(err, protocol.Invalid, err.Error())
	}
	after := *l
	after.Competition, after.Started, after.Opened = &c, at, at
	after.Seats = slices.Clone(l.Seats)
	for i := range after.Seats {
		after.Seats[i].Bot = after.Seats[i].Manager.ID == ""
	}
	return &after, nil
}

// assign returns the league with the id of a game of its calendar.
func (l *League) assign(n int, id string) *League {
	after, c := *l, *l.Competition
	c.Games = slices.Clone(c.Games)
	c.Games[n].ID = id
	after.Competition = &c
	return &after
}

// record returns the league after the end of a game of its calendar. With the last game of a day the next day begins.
func (l *League) record(n int, o live.Outcome, at time.Time) (*League, error) {
	day := l.Competition.Day()
	c, err := l.Competition.Record(n,
		season.Result{Away: o.Score[game.Away], Home: o.Score[game.Home], Conceded: o.Conceded})
	if err != nil {
		return nil, fmt.Errorf("record game %d of league %s: %w", n, l.ID, err)
	}
	after := *l
	after.Competition, after.Today = &c, maps.Clone(l.Today)
	if after.Today == nil {
		after.Today = map[game.PlayerID]int{}
	}
	for id, pitches := range o.Pitches {
		after.Today[id] += pitches
	}
	switch c.Day() {
	case day:
	case 0:
		after.Finished, after.Work, after.Today = at, nil, nil
	default:
		after.Opened, after.Work, after.Today = at, l.Work.Tomorrow(after.Today), nil
	}
	return &after, nil
}

// fixture returns a game of the calendar that has an id.
func (l *League) fixture(n int) *live.Fixture {
	g := &l.Competition.Games[n]
	f := &live.Fixture{
		ID: g.ID, Creator: l.Creator, Season: l.Season, Options: l.Options.game(), Recent: l.Work,
		Competition: protocol.Competition{ID: l.ID, Kind: string(l.Kind), Name: l.Name},
	}
	if f.Recent == nil {
		f.Recent = chance.RecentWork{} // all pitchers are rested
	}
	for side, seat := range [2]int{g.Away, g.Home} {
		f.Teams[side], f.Managers[side] = l.Seats[seat].Team.ID, l.Seats[seat].Manager
	}
	if l.Seats[g.Away].Bot || l.Seats[g.Home].Bot {
		f.Options.Opponent = protocol.Bot
	}
	if l.Seats[g.Home].Bot {
		f.Options.Side = game.Away.String()
	}
	return f
}

// playsAt returns the earliest time of a game of the present day: between bots, the first [League.PlayAt] after
// the day began.
func (l *League) playsAt(n int, zone *time.Location) time.Time {
	g := &l.Competition.Games[n]
	minute, ok := minuteOf(l.PlayAt)
	if !ok || !l.Seats[g.Away].Bot || !l.Seats[g.Home].Bot {
		return l.Opened
	}
	from := l.Opened.In(zone)
	at := clock.FirstAt(from.Year(), from.Month(), from.Day(), minute, zone)
	if !at.After(l.Opened) {
		at = clock.FirstAt(from.Year(), from.Month(), from.Day()+1, minute, zone)
	}
	return at
}

// coverAt returns when the bot acts for absent managers in the games of the present day, and when for those who
// are present and do not decide either.
func (l *League) coverAt() (absent, everyone time.Time) {
	limit := time.Duration(l.CoverHours) * time.Hour
	return l.Opened.Add(limit), l.Opened.Add(2 * limit)
}

// encode returns the league as it is stored.
func (l *League) encode() ([]byte, error) {
	data, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("encode league %s: %w", l.ID, err)
	}
	return data, nil
}

func decode(id string, data []byte) (*League, error) {
	l := &League{}
	if err := json.Unmarshal(data, l); err != nil {
		return nil, fmt.Errorf("decode league %s: %w", id, err)
	}
	if l.Version != leagueVersion || l.ID != id {
		return nil,
			fmt.Errorf("decode league %s: id %q, version %d, this server reads version %d",
				id, l.ID, l.Version, leagueVersion)
	}
	return l, nil
}
