package leagues

import (
	"context"
	"time"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/game/season"
	"pressbox/game/teams"
)

// A View is a series or a league as one viewer sees it. Seats are named by their index.
type View struct {
	ID         string           `json:"id"`
	Kind       Kind             `json:"kind"`
	Name       string           `json:"name"`
	Status     Status           `json:"status"` // pending: a seat is open; it is deleted after 7 days
	Creator    protocol.Manager `json:"creator"`
	Created    time.Time        `json:"created_at"`
	Started    time.Time        `json:"started_at,omitzero"`
	Finished   time.Time        `json:"finished_at,omitzero"`
	Season     int              `json:"season"`
	Meetings   int              `json:"meetings,omitzero"` // games of each pair; missing in a series
	BestOf     int              `json:"best_of"`
	Options    Options          `json:"options"`
	PlayAt     string           `json:"play_at,omitzero"`
	CoverHours int              `json:"cover_hours"`
	Seats      []SeatView       `json:"seats"`
	You        *int             `json:"you,omitzero"`      // your seat
	Creates    bool             `json:"yours"`             // you created it
	Day        int              `json:"day,omitzero"`      // day of the calendar that is played
	CoverAt    time.Time        `json:"cover_at,omitzero"` // from which the bot acts for absent managers of the day
	Champion   *int             `json:"champion,omitzero"` // seat of the champion
	Stalled    string           `json:"stalled,omitzero"`  // reason why it cannot advance; it is tried again
}

// A SeatView is a seat of a league.
type SeatView struct {
	Team    teams.Ref         `json:"team"`
	Manager *protocol.Manager `json:"manager"` // null: the seat is open, or the bot's
	Bot     bool              `json:"bot"`
	Left    string            `json:"left,omitzero"` // name of the manager who left the seat to the bot
}

// A GameView is a game of the calendar.
type GameView struct {
	Day     int    `json:"day"`  // day of the calendar, from 1
	Away    int    `json:"away"` // seat
	Home    int    `json:"home"` // seat
	Playoff bool   `json:"playoff,omitzero"`
	Status  string `json:"status" enum:"scheduled,pending,active,finished"`
	// Id of the game, once it exists; finished games can have been deleted since.
	Game     string          `json:"game,omitzero"`
	PlaysAt  time.Time       `json:"plays_at,omitzero"` // time at which the bots play it
	Score    *protocol.Score `json:"score,omitzero"`
	Conceded string          `json:"conceded,omitzero" enum:"away,home"` // the side that lost whatever the score
}

// A Schedule is the calendar of a league: a play-off has only the games that are needed so far.
type Schedule struct {
	ID    string     `json:"id"`
	Seats []SeatView `json:"seats"`
	Day   int        `json:"day,omitzero"` // day of the calendar that is played
	Games []GameView `json:"games"`
}

// Standings are the standings of a league, the first first; of a series, over all its games.
type Standings struct {
	ID        string            `json:"id"`
	Seats     []SeatView        `json:"seats"`
	Standings []season.Standing `json:"standings"`
	Playoff   []Wins            `json:"playoff,omitzero"`  // the two sides of the play-off
	Champion  *int              `json:"champion,omitzero"` // seat
}

// Wins are the games that a seat has won in a play-off.
type Wins struct {
	Seat int `json:"seat"`
	Wins int `json:"w"`
}

// List returns the series or the leagues that viewer may see, the newest first: the listed ones and those that
// involve viewer.
func (l *Leagues) List(viewer protocol.Person, k Kind) []View {
	views := []View{}
	for _, league := range l.snapshot() {
		if league.Kind == k && (league.Listed() || league.Involves(viewer)) {
			views = append(views, l.view(league, viewer))
		}
	}
	return views
}

// Get returns a series or a league.
func (l *Leagues) Get(viewer protocol.Person, k Kind, id string) (View, error) {
	league, err := l.find(k, id)
	if err != nil {
		return View{}, err
	}
	return l.view(league, viewer), nil
}

func (l *Leagues) find(k Kind, id string) (*League, error) {
	e, err := l.entry(k, id)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return e.league, nil
}

func (l *Leagues) view(league *League, viewer protocol.Person) View {
	v := View{
		ID: league.ID, Kind: league.Kind, Name: league.Name, Status: league.Status(),
		Creator: *league.Creator.For(viewer), Created: league.Created, Started: league.Started,
		Finished: league.Finished, Season: league.Season, Meetings: league.Format.Meetings,
		BestOf: league.Format.BestOf, Options: league.Options, PlayAt: league.PlayAt, CoverHours: league.CoverHours,
		Seats: league.seatsFor(viewer), Creates: viewer.ID != "" && league.Creator.ID == viewer.ID,
		Champion: league.champion(), Stalled: l.stalled(league.ID),
	}
	if seat := league.Seat(viewer); seat >= 0 {
		v.You = &seat
	}
	if league.Status() == Active {
		v.Day = league.Competition.Day()
		v.CoverAt, _ = league.coverAt()
	}
	return v
}

// champion returns the seat of the champion, nil before the end.
func (l *League) champion() *int {
	if l.Status() != Finished {
		return nil
	}
	return &l.Competition.Champion
}

func (l *League) seatsFor(viewer protocol.Person) []SeatView {
	views := make([]SeatView, len(l.Seats))
	for i, s := range l.Seats {
		views[i] = SeatView{Team: s.Team, Bot: s.Bot, Left: s.Left.Name, Manager: s.Manager.For(viewer)}
	}
	return views
}

// Schedule returns the calendar of a series or a league; it has no games before the start.
func (l *Leagues) Schedule(ctx context.Context, viewer protocol.Person, k Kind, id string) (Schedule, error) {
	league, err := l.find(k, id)
	if err != nil {
		return Schedule{}, err
	}
	s := Schedule{ID: id, Seats: league.seatsFor(viewer), Games: []GameView{}}
	if league.Competition == nil {
		return s, nil
	}
	s.Day = league.Competition.Day()
	for n := range league.Competition.Games {
		v, err := l.gameView(ctx, league, n)
		if err != nil {
			return Schedule{}, err
		}
		s.Games = append(s.Games, v)
	}
	return s, nil
}

func (l *Leagues) gameView(ctx context.Context, league *League, n int) (GameView, error) {
	g := &league.Competition.Games[n]
	v := GameView{Day: g.Day, Away: g.Away, Home: g.Home, Playoff: g.Playoff, Game: g.ID, Status: "scheduled"}
	switch r := g.Result; {
	case r != nil:
		v.Status, v.Score, v.Conceded = string(protocol.Finished),
			&protocol.Score{Away: r.Away, Home: r.Home}, r.Conceded
	case g.ID != "":
		o, err := l.config.Games.Outcome(ctx, g.ID)
		if err != nil {
			return v, err
		}
		if o.Status == "" {
			break
		}
		if v.Status = string(o.Status); o.Status == protocol.Finished {
			v.Score, v.Conceded = &protocol.Score{Away: o.Score[game.Away], Home: o.Score[game.Home]}, o.Conceded
		}
	case g.Day == league.Competition.Day():
		if at := league.playsAt(n, l.config.Zone); at.After(league.Opened) {
			v.PlaysAt = at
		}
	}
	return v, nil
}

// Standings returns the standings of a series or a league; before the start all managers are level.
func (l *Leagues) Standings(viewer protocol.Person, k Kind, id string) (Standings, error) {
	league, err := l.find(k, id)
	if err != nil {
		return Standings{}, err
	}
	c := league.Competition
	if c == nil {
		c = &season.Competition{Format: league.Format, Entrants: len(league.Seats), Champion: -1}
	}
	s := Standings{ID: id, Seats: league.seatsFor(viewer), Standings: c.Standings(), Champion: league.champion()}
	if first, second := c.Finalists(); first >= 0 && k == RoundRobin {
		wins := c.SeriesWins()
		s.Playoff = []Wins{{first, wins[first]}, {second, wins[second]}}
	}
	return s, nil
}

var _ Games = (*live.Games)(nil)
