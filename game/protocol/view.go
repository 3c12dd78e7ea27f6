package protocol

import (
	"time"

	"pressbox/game"
	"pressbox/game/card"
	"pressbox/game/chance"
	"pressbox/game/teams"
)

// A Person is a signed-in user. The zero value is an anonymous viewer, who sees listed matches.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// A Status is the stage of a game.
type Status string

// The statuses.
const (
	Pending  Status = "pending"
	Active   Status = "active"
	Finished Status = "finished"
)

// A Game is a game as one viewer sees it. Its JSON is the Game of the API.
type Game struct {
	ID         string      `json:"id"`
	Status     Status      `json:"status"`
	Created    time.Time   `json:"created_at"`
	Started    time.Time   `json:"started_at,omitzero"`
	Finished   time.Time   `json:"finished_at,omitzero"`
	Revision   uint64      `json:"rev"`
	Season     int         `json:"season"`
	Home       Seat        `json:"home"`
	Away       Seat        `json:"away"`
	Options    Options     `json:"options"`
	YourSide   string      `json:"you"` // "home", "away", "both", or "" for a spectator
	Scoreboard *Scoreboard `json:"now,omitzero"`
	Score      *Score      `json:"score,omitzero"`
	Inning     int         `json:"inning,omitzero"`
	Half       string      `json:"half,omitzero"` // "top", "bottom"
	Result     *Result     `json:"result,omitzero"`
	Dice       Dice        `json:"dice"`
	Rules      int         `json:"rules"`               // version of the rules
	Rematch    string      `json:"rematch,omitzero"`    // id of the game that follows it
	RematchOf  string      `json:"rematch_of,omitzero"` // id of the game that it follows
	Reserved   bool        `json:"reserved,omitzero"`   // the open side is reserved for the opponent of the former game

	Competition Competition `json:"competition,omitzero"` // that it belongs to

	*Detail // nil in lists
}

// A Competition is the league or the series that a game belongs to; zero: none.
type Competition struct {
	ID   string `json:"id"`
	Kind string `json:"kind"` // "league", "series"
	Name string `json:"name"`
}

// Detail holds what is left out in lists of games.
type Detail struct {
	Rosters  BySide[Roster] `json:"rosters"`
	State    *View          `json:"state,omitzero"` // after the start
	Legal    []Choice       `json:"legal"`
	Offers   []Choice       `json:"offers"`
	Clock    *Clock         `json:"clock,omitzero"`
	Presence *Presence      `json:"presence"`
	GoAhead  *GoAhead       `json:"go_ahead,omitzero"` // while a side leads
}

// GoAhead is the play that put the side in the lead ahead: of a finished game, the play that won it.
type GoAhead struct {
	Revision uint64    `json:"rev"`
	Inning   int       `json:"inning"`
	Half     game.Half `json:"half"`
	Text     string    `json:"text"`
}

// BySide holds one value for each side.
type BySide[T any] struct {
	Home T `json:"home"`
	Away T `json:"away"`
}

// Of returns a side's value.
func (s *BySide[T]) Of(side game.Side) *T {
	if side == game.Home {
		return &s.Home
	}
	return &s.Away
}

// A Seat is a side of a game.
type Seat struct {
	Team            teams.Ref    `json:"team"`
	Manager         *Manager     `json:"manager"`           // nil: the side is open, or the bot's
	Reserved        *Manager     `json:"reserved,omitzero"` // who alone may take the open side
	Bot             bool         `json:"bot"`
	LineupSubmitted bool         `json:"lineup_submitted"`
	Lineup          *game.Lineup `json:"lineup,omitzero"` // not in lists; before the start only the viewer's own
}

// A Manager is the person who manages a side.
type Manager struct {
	ID   string `json:"id,omitzero"` // only for signed-in viewers
	Name string `json:"name"`
}

// A Roster holds the players that a club brought, with their cards as they are now.
type Roster struct {
	Players []card.Player `json:"players"`
}

// A Score holds the runs of both sides.
type Score = BySide[int]

// A Result is the outcome of a game.
type Result struct {
	Winner string `json:"winner"` // "home", "away"; "": a tie
	How    string `json:"how"`    // "final", "called", "conceded" or "forfeit"
}

// Dice holds what makes the random outcomes verifiable: the hash of the seed and, after the end, the seed; both in hex.
type Dice struct {
	Commitment string `json:"commitment"`
	Seed       string `json:"seed,omitzero"`
}

// A Scoreboard holds what a scoreboard shows.
type Scoreboard struct {
	Inning  int              `json:"inning"`
	Half    game.Half        `json:"half"`
	Outs    int              `json:"outs"`
	Count   game.Count       `json:"count"`
	Score   Score            `json:"score"`
	Bases   [3]game.PlayerID `json:"bases"` // "": empty
	Batter  game.PlayerID    `json:"batter"`
	Pitcher game.PlayerID    `json:"pitcher"`
}

// A View is the state of a game and what it waits for. It is the same for every viewer.
type View struct {
	Status Status `json:"status"`
	*game.State
	Batter     game.PlayerID `json:"batter"`
	Pitcher    game.PlayerID `json:"pitcher"`
	Batting    game.Side     `json:"batting"`
	Paused     *Pause        `json:"paused,omitzero"`
	Question   *QuestionView `json:"question,omitzero"`
	BotManages BySide[bool]  `json:"bot_manages"` // the bot decides for the side: as the opponent, or for its manager
	Waiting    []game.Side   `json:"waiting"`     // whose managers have yet to decide; empty while paused
	Decision   uint64        `json:"decision"`    // number of the open decision
	Hash       string        `json:"hash"`        // hex SHA-256 of game.State's JSON
	AtBat      *AtBat        `json:"at_bat,omitzero"`
}

// AtBat holds what has changed, since the game began, on the cards of the two who face each other.
type AtBat struct {
	Batter  card.Form `json:"batter"`
	Pitcher card.Form `json:"pitcher"`
}

// A Pause holds which side paused a game, and when.
type Pause struct {
	By    game.Side `json:"by"`
	Since time.Time `json:"since"`
}

// QuestionView is a choice after contact.
type QuestionView struct {
	ID    uint64          `json:"id"` // number of the decision
	Asker game.Side       `json:"asker"`
	Kind  chance.Question `json:"kind"`
	Ball  game.BattedBall `json:"ball,omitzero"` // as it was hit
	Text  string          `json:"text"`          // the ball and the question, in English
}

// A Choice is an action that a person may send now, unchanged.
type Choice struct {
	Action  Action             `json:"action"`
	Label   string             `json:"label"`
	Group   string             `json:"group"`            // "offense", "defense", "answer", "substitution", "game"
	Side    string             `json:"side,omitzero"`    // in hot seat: the side that it is for
	Odds    map[string]float64 `json:"odds,omitzero"`    // 0–1: "success", or "hit", "walk", "out", … of the batter
	Success string             `json:"success,omitzero"` // the event that Odds["success"] is about: "safe at second"
	*Worth                     // nil: not valued
}

// A Worth is what a choice is worth to the side that may make it. It follows from what every viewer sees and from
// the calls that the other side is expected to make, never from a call that it has submitted.
type Worth struct {
	Runs           float64 `json:"runs"`            // gained in the half-inning over the usual choice, for the side
	WinProbability float64 `json:"win_probability"` // of the side, 0–1
	Coach          bool    `json:"coach,omitzero"`  // the coach's pick
}

// Seat returns a side's seat.
func (g *Game) Seat(side game.Side) *Seat {
	if side == game.Home {
		return &g.Home
	}
	return &g.Away
}

// WinProbability holds the home side's win probability after each play.
type WinProbability struct {
	Game   string                `json:"game"`
	Start  float64               `json:"start"`
	Points []WinProbabilityPoint `json:"points"`
}

// A WinProbabilityPoint is the win probability after one play.
type WinProbabilityPoint struct {
	Revision uint64    `json:"rev"`
	Inning   int       `json:"inning"`
	Half     game.Half `json:"half"`
	Home     float64   `json:"home"`
	Added    float64   `json:"added"` // by the play
}
