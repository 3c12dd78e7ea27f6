package live

import (
	"time"

	"pressbox/game"
	"pressbox/game/teams"
)

// Status is how far a game is.
type Status string

// The statuses.
const (
	Pending  Status = "pending"
	Active   Status = "active"
	Finished Status = "finished"
)

// A Game is a game as one person sees it. Its JSON is the game object of the API.
type Game struct {
	ID         string      `json:"id"`
	Status     Status      `json:"status"`
	Created    time.Time   `json:"created_at"`
	Started    time.Time   `json:"started_at,omitzero"`
	Finished   time.Time   `json:"finished_at,omitzero"`
	Rev        uint64      `json:"rev"`
	Season     int         `json:"season"`
	Home       Seat        `json:"home"`
	Away       Seat        `json:"away"`
	Options    Options     `json:"options"`
	YourSide   string      `json:"you"` // "home", "away", "both", or "" for who only looks on
	Scoreboard *Scoreboard `json:"now,omitzero"`
	Score      *Score      `json:"score,omitzero"`
	Inning     int         `json:"inning,omitzero"`
	Half       string      `json:"half,omitzero"` // "top", "bottom"
	Result     *Result     `json:"result,omitzero"`
	Dice       Dice        `json:"dice"`
	Rules      int         `json:"rules"`               // version of the rules it is played by
	Rematch    string      `json:"rematch,omitzero"`    // the game that was made to follow it
	RematchOf  string      `json:"rematch_of,omitzero"` // the game that it follows
	Reserved   bool        `json:"reserved,omitzero"`   // the open seat waits for the opponent of the game before
	*Detail                // nil in lists
}

// Detail is what only a single game tells.
type Detail struct {
	Rosters  BySide[Roster] `json:"rosters"`
	State    *View          `json:"state,omitzero"` // once it has begun
	Legal    []Choice       `json:"legal"`
	Offers   []Choice       `json:"offers"`
	Clock    *Clock         `json:"clock,omitzero"`
	Presence *Presence      `json:"presence"`
}

// BySide is something of both sides.
type BySide[T any] struct {
	Home T `json:"home"`
	Away T `json:"away"`
}

// of returns a side's.
func (s *BySide[T]) of(side game.Side) *T {
	if side == game.Home {
		return &s.Home
	}
	return &s.Away
}

// A Seat is a side of a game.
type Seat struct {
	Team            teams.Ref    `json:"team"`
	Manager         *Manager     `json:"manager"` // nil: the seat is open, or a bot's
	Bot             bool         `json:"bot"`
	LineupSubmitted bool         `json:"lineup_submitted"`
	Lineup          *game.Lineup `json:"lineup,omitzero"` // of a single game: before the start only one's own
}

// A Manager is who manages a side.
type Manager struct {
	ID   string `json:"id,omitzero"` // only for who has signed in
	Name string `json:"name"`
}

// A Roster is the players a club brought.
type Roster struct {
	Players []game.Player `json:"players"`
}

// Score is the runs of both sides.
type Score = BySide[int]

// A Result is how a game ended.
type Result struct {
	Winner string `json:"winner"` // "home", "away", or "" for a tie
	How    string `json:"how"`    // "final", "called", "conceded" or "forfeit"
}

// Dice are what makes chance checkable: the hash of the seed, and the seed once the last pitch is thrown; both in hex.
type Dice struct {
	Commitment string `json:"commitment"`
	Seed       string `json:"seed,omitzero"`
}

// Scoreboard is the scoreboard.
type Scoreboard struct {
	Inning  int              `json:"inning"`
	Half    game.Half        `json:"half"`
	Outs    int              `json:"outs"`
	Count   game.Count       `json:"count"`
	Score   Score            `json:"score"`
	Bases   [3]game.PlayerID `json:"bases"` // "" nobody
	Batter  game.PlayerID    `json:"batter"`
	Pitcher game.PlayerID    `json:"pitcher"`
}

// A View is the state of a game that has begun, and what it waits for. It is the same for everybody.
type View struct {
	Status Status `json:"status"`
	*game.State
	Batter     game.PlayerID `json:"batter"`
	Pitcher    game.PlayerID `json:"pitcher"`
	Batting    game.Side     `json:"batting"`
	Paused     *Pause        `json:"paused,omitzero"`
	Question   *QuestionView `json:"question,omitzero"`
	BotManages BySide[bool]  `json:"bot_manages"` // the bot decides for the side: its opponent, or an absent manager
	Waiting    []game.Side   `json:"waiting"`     // whose decision is awaited; empty while paused
	Decision   uint64        `json:"decision"`    // number of the decision that is open
	Hash       string        `json:"hash"`        // hex SHA-256 of game.State's JSON
}

// A Pause is who stopped a game, and when.
type Pause struct {
	By    game.Side `json:"by"`
	Since time.Time `json:"since"`
}

// QuestionView is a choice after contact.
type QuestionView struct {
	ID    uint64    `json:"id"` // number of the decision
	Asker game.Side `json:"asker"`
	Text  string    `json:"text"`
}

// A Choice is something a person may do now: the action is sent back as it is.
type Choice struct {
	Action  Action             `json:"action"`
	Label   string             `json:"label"`
	Group   string             `json:"group"`            // "offence", "defence", "answer", "substitution", "game"
	Side    string             `json:"side,omitzero"`    // in hot seat: for which side
	Odds    map[string]float64 `json:"odds,omitzero"`    // 0–1: "success", and for the batter's turn "hit", "walk", "out", …
	Success string             `json:"success,omitzero"` // what odds["success"] is the chance of: "safe at second"
}
