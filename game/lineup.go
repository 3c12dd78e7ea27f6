package game

// A Lineup is the card a manager hands in before the game. With a designated hitter either one of the nine is DH and the
// pitcher is not among them, or that one is the pitcher himself (two-way, 5.11(b)). Without, the pitcher bats at P.
type Lineup struct {
	Order   []Slot   `json:"batting_order"` // nine
	Pitcher PlayerID `json:"pitcher_id"`
}

// A Slot is one place in the batting order.
type Slot struct {
	Player   PlayerID `json:"player_id"`
	Position Position `json:"position"`
}

// A Violation is one thing wrong with a line-up.
type Violation struct {
	Path   string `json:"path"` // JSON pointer into the line-up: "/batting_order/3/position"
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// Check returns everything that is wrong with the line-up for a game of the club, nil if nothing is.
func (l Lineup) Check(c Club, dh bool) []Violation { return nil }
