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

// For returns a person as viewer sees them, without the id if viewer is not signed in; nil for the zero Person.
func (p Person) For(viewer Person) *Manager {
	switch {
	case p.ID == "":
		return nil
	case viewer.ID == "":
		return &Manager{Name: p.Name}
	default:
		return &Manager{ID: p.ID, Name: p.Name}
	}
}

// A Status is the stage of a game.
type Status string

// The statuses.
const (
	Pending  Status = "pending"
	Active   Status = "active"
	Finished Status = "finished"
)

// Entries are those of the lobby whose games are not finished, as they were last, by id.
type Entries map[string]*Game

// NewEntries returns the entries of games.
func NewEntries(games []Game) Entries {
	all := Entries{}
	for _, g := range games {
		all[g.ID] = &g
	}
	return all
}

// A Game is a game as one viewer sees it.
type Game struct {
	ID       string    `json:"id"`
	Status   Status    `json:"status"`
	Created  time.Time `json:"created_at"`
	Started  time.Time `json:"started_at,omitzero"`
	Finished time.Time `json:"finished_at,omitzero"`
	Revision uint64    `json:"rev" minimum:"1"` // latest revision
	Season   int       `json:"season"`
	Home     Seat      `json:"home"`
	Away     Seat      `json:"away"`
	Options  Options   `json:"options"`
	// Side that the caller manages; empty for spectators.
	YourSide   string      `json:"you" enum:"[\"home\",\"away\",\"both\",\"\"]"`
	Scoreboard *Scoreboard `json:"now,omitzero"`
	Score      *Score      `json:"score,omitzero"`
	Inning     int         `json:"inning,omitzero" minimum:"1"`
	Half       string      `json:"half,omitzero" enum:"top,bottom"`
	Result     *Result     `json:"result,omitzero"`
	Dice       Dice        `json:"dice"`
	Rules      int         `json:"rules"`               // version of the rules of the game, fixed at its creation
	Rematch    string      `json:"rematch,omitzero"`    // id of the rematch of this game
	RematchOf  string      `json:"rematch_of,omitzero"` // id of the game of which this is a rematch
	// The open side is reserved for the opponent of the previous game.
	Reserved bool `json:"reserved,omitzero"`

	Competition Competition `json:"competition,omitzero"` // that it belongs to

	*Detail // nil in lists
}

// A Competition is the league or the series that a game belongs to.
type Competition struct {
	ID   string `json:"id"`
	Kind string `json:"kind" enum:"league,series"`
	Name string `json:"name"`
}

// Detail holds what is left out in lists of games.
type Detail struct {
	// Rosters at the creation of the game. These and the following members are present only in the response for
	// one game.
	Rosters  BySide[Roster] `json:"rosters"`
	State    *View          `json:"state,omitzero"` // after the start
	Legal    []Choice       `json:"legal"`          // decisions that the game waits for, default first
	Offers   []Choice       `json:"offers"`         // other actions
	Clock    *Clock         `json:"clock,omitzero"`
	Presence *Presence      `json:"presence"`
	GoAhead  *GoAhead       `json:"go_ahead,omitzero"` // while a side leads
}

// GoAhead is the play that put the side in the lead ahead: of a finished game, the play that won it.
type GoAhead struct {
	Revision uint64    `json:"rev" minimum:"1"` // revision of the play
	Inning   int       `json:"inning" minimum:"1"`
	Half     game.Half `json:"half"`
	Text     string    `json:"text"` // English play-by-play
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
	Manager         *Manager     `json:"manager"`           // null: the side is open, or the bot manages it
	Reserved        *Manager     `json:"reserved,omitzero"` // who alone may take the open side before the start
	Bot             bool         `json:"bot"`
	LineupSubmitted bool         `json:"lineup_submitted"`
	Lineup          *game.Lineup `json:"lineup,omitzero"` // not in lists; before the start only the caller's own
	// Before the start, of the caller's own side without a line-up: what the bot would submit. Not in lists.
	Suggested *game.Lineup `json:"suggested,omitzero"`
}

// A Manager is the person who manages a side.
type Manager struct {
	ID   string `json:"id,omitzero"` // only if the caller is signed in
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
	Winner string `json:"winner" enum:"[\"home\",\"away\",\"\"]"` // empty: a tie
	How    string `json:"how" enum:"final,called,conceded,forfeit"`
}

// Dice holds what makes the random outcomes verifiable.
type Dice struct {
	Commitment string `json:"commitment" pattern:"^[0-9a-f]{64}$"`    // SHA-256 of the random seed of the game
	Seed       string `json:"seed,omitzero" pattern:"^[0-9a-f]{64}$"` // published after the last pitch
}

// A Scoreboard holds what a scoreboard shows.
type Scoreboard struct {
	Inning int        `json:"inning" minimum:"1"`
	Half   game.Half  `json:"half"`
	Outs   int        `json:"outs" minimum:"0" maximum:"3"`
	Count  game.Count `json:"count"`
	Score  Score      `json:"score"`
	// Runners on first, second and third base; empty string: no runner.
	Bases   [3]game.PlayerID `json:"bases"`
	Batter  game.PlayerID    `json:"batter"`
	Pitcher game.PlayerID    `json:"pitcher"`
}

// A View is the state of a game by the rules, and the decisions that it waits for. Before the start, only the
// latter. It is the same for every viewer.
type View struct {
	Status Status `json:"status"`
	*game.State
	Batter     game.PlayerID `json:"batter"`
	Pitcher    game.PlayerID `json:"pitcher"`
	Batting    game.Side     `json:"batting"`
	Paused     *Pause        `json:"paused,omitzero"`
	Question   *QuestionView `json:"question,omitzero"`
	BotManages BySide[bool]  `json:"bot_manages"` // the bot decides for the side: as the opponent, or for its manager
	Skips      BySide[*Skip] `json:"skips"`       // turns that a side's manager leaves to the usual calls; null: none
	Waiting    []game.Side   `json:"waiting"`     // sides that have to decide; empty while paused
	Decision   uint64        `json:"decision"`    // number of the open decision
	// SHA-256 of the JSON of the members options to end, in this order and without spaces.
	Hash  string `json:"hash" pattern:"^([0-9a-f]{64})?$"`
	AtBat *AtBat `json:"at_bat,omitzero"` // absent once the game is over
}

// AtBat holds what has changed, since the game began, on the cards of the two who face each other. Those of
// others: GET /api/players/{id}?game=.
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
	ID    uint64          `json:"id"`            // number of the decision
	Asker game.Side       `json:"asker"`         // side that has to answer
	Kind  chance.Question `json:"kind"`          // the bold choice
	Ball  game.BattedBall `json:"ball,omitzero"` // as it was hit
	Text  string          `json:"text"`          // the ball and both choices, in English
}

// A Choice is an action that the caller may take now.
//
// In legal are the decisions that the game waits for, default first; in offers is the rest, also end: to end a
// game that the other manager has left, who forfeits it (three innings without a decision, or absent and a day
// without one); in games by correspondence claim instead, once the other manager's time is over. The margin of
// skip_until may be any from 0.1 to 5.
//
// Two kinds can be combined. In the group defense each action differs from the first in one field; one action may
// have such fields of several. A substitution of two players is a double switch, which is listed with one pitcher;
// the player_id of any other listed pitcher may replace it.
//
// The members runs and win_probability compare choices from the caller's view, against the calls that the other
// side is expected to make: they follow from what every viewer sees, and are the same whether or not, and
// whatever, the other side has submitted.
type Choice struct {
	Action Action `json:"action"` // send it back unchanged
	Label  string `json:"label"`  // text for people
	Group  string `json:"group" enum:"offense,defense,answer,substitution,game"`
	Side   string `json:"side,omitzero" enum:"home,away"` // side of the action, in hot seat
	// Probabilities, 0 to 1, of the turn against the usual call of the other side; of a substitution, with the
	// substitute.
	Odds map[string]float64 `json:"odds,omitzero"`
	// Event whose probability is odds.success, such as "safe at second".
	Success string `json:"success,omitzero"`
	*Worth         // nil: not valued
}

// A Worth is what a choice is worth to the side that may make it. It follows from what every viewer sees and from
// the calls that the other side is expected to make, never from a call that it has submitted.
type Worth struct {
	// Expected runs that the choice gains for the caller in the rest of this half-inning, over the first choice of
	// legal, or over no substitution; positive is good for the caller, scored or not allowed. To 0.001.
	Runs float64 `json:"runs"`
	// Probability that the caller's side wins after the choice, by average players from the end of this
	// half-inning on: what a substitution costs later is not in it. To 0.0001.
	WinProbability float64 `json:"win_probability" minimum:"0" maximum:"1"`
	// The coach's pick: one of legal for each side, and a substitution of offers if the coach would make one now.
	Coach bool `json:"coach,omitzero"`
}

// A SavedLineup is a line-up that an account has saved, for any game of the club.
type SavedLineup struct {
	Name string `json:"name"`
	game.Lineup
}

// Seat returns a side's seat.
func (g *Game) Seat(side game.Side) *Seat {
	if side == game.Home {
		return &g.Home
	}
	return &g.Away
}

// WinProbability holds the home side's win probability, by inning, outs, bases and score, after each play.
type WinProbability struct {
	Game   string                `json:"game"`
	Start  float64               `json:"start" minimum:"0" maximum:"1"`
	Points []WinProbabilityPoint `json:"points"`
}

// A WinProbabilityPoint is the win probability after one play.
type WinProbabilityPoint struct {
	Revision uint64    `json:"rev"` // revision of the play
	Inning   int       `json:"inning"`
	Half     game.Half `json:"half"`
	Home     float64   `json:"home" minimum:"0" maximum:"1"`   // after the play
	Added    float64   `json:"added" minimum:"-1" maximum:"1"` // change by the play
}
