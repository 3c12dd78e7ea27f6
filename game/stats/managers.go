package stats

import (
	"cmp"
	"math"
	"slices"
)

// A Manager is a person, or the bot.
type Manager struct {
	ID   string `json:"id,omitempty"` // of the account; missing for the bot
	Name string `json:"name,omitempty"`
	Bot  bool   `json:"bot,omitempty"`
}

func (m Manager) key() string {
	if m.Bot {
		return "bot"
	}
	return "account " + m.ID
}

// A ManagedGame is a finished game for [Ladder.Add].
type ManagedGame struct {
	Managers [2]Manager // away, home
	Score    [2]int     // as it counts in the standings
}

// A ManagerRecord is a manager's row in the ladder.
type ManagerRecord struct {
	Manager Manager `json:"manager"`
	Games   int     `json:"g"`
	Record
	WinPercentage *float64       `json:"pct"`       // wins of the games not tied; null: no wins or losses
	Rating        int            `json:"rating"`    // 1500 at first; who is 200 higher wins three games of four
	Opponents     []HeadToHead   `json:"opponents"` // by games, most first
	exact         float64        // the rating
	against       map[string]int // indexes of Opponents
}

// HeadToHead is a manager's record against another.
type HeadToHead struct {
	Opponent Manager `json:"manager"`
	Record
}

// A Ladder ranks managers by the games that they finished. The zero value is empty.
type Ladder struct{ rows map[string]*ManagerRecord }

// Constants of the rating (Elo, The Rating of Chessplayers, 1978): a difference of 400 is odds of ten to one; a
// game moves the rating by at most 24, as a game of baseball depends much on chance.
const (
	firstRating  = 1500
	ratingScale  = 400
	ratingFactor = 24
)

// Add adds a game; games are added in the order in which they ended. A game of a manager against themselves does
// not count.
func (l *Ladder) Add(g ManagedGame) {
	if g.Managers[0].key() == g.Managers[1].key() {
		return
	}
	rows := [2]*ManagerRecord{l.row(g.Managers[0]), l.row(g.Managers[1])}
	won := .5
	result := [2]byte{'T', 'T'}
	switch {
	case g.Score[0] > g.Score[1]:
		won, result = 1, [2]byte{'W', 'L'}
	case g.Score[0] < g.Score[1]:
		won, result = 0, [2]byte{'L', 'W'}
	}
	expected := 1 / (1 + math.Pow(10, (rows[1].exact-rows[0].exact)/ratingScale))
	rows[0].exact += ratingFactor * (won - expected)
	rows[1].exact -= ratingFactor * (won - expected)
	for i, r := range rows {
		r.Games++
		r.add(result[i])
		r.opponent(g.Managers[1-i]).add(result[i])
	}
}

func (l *Ladder) row(m Manager) *ManagerRecord {
	if l.rows == nil {
		l.rows = map[string]*ManagerRecord{}
	}
	r := l.rows[m.key()]
	if r == nil {
		r = &ManagerRecord{exact: firstRating, against: map[string]int{}}
		l.rows[m.key()] = r
	}
	r.Manager = m // with the latest name
	return r
}

func (r *ManagerRecord) opponent(m Manager) *Record {
	i, known := r.against[m.key()]
	if !known {
		i = len(r.Opponents)
		r.against[m.key()] = i
		r.Opponents = append(r.Opponents, HeadToHead{})
	}
	r.Opponents[i].Opponent = m
	return &r.Opponents[i].Record
}

// Managers returns the rows by rating, the highest first; opponents by games.
func (l *Ladder) Managers() []ManagerRecord {
	all := make([]ManagerRecord, 0, len(l.rows))
	for _, r := range l.rows {
		row := *r
		row.Rating = int(math.Round(r.exact))
		row.WinPercentage = rate(float64(r.Wins), r.Wins+r.Losses)
		row.Opponents = slices.Clone(r.Opponents)
		slices.SortFunc(row.Opponents, func(a, b HeadToHead) int {
			return cmp.Or(cmp.Compare(b.Wins+b.Losses+b.Ties, a.Wins+a.Losses+a.Ties),
				cmp.Compare(a.Opponent.Name, b.Opponent.Name), cmp.Compare(a.Opponent.ID, b.Opponent.ID))
		})
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b ManagerRecord) int {
		return cmp.Or(cmp.Compare(b.exact, a.exact), cmp.Compare(b.Games, a.Games),
			cmp.Compare(a.Manager.Name, b.Manager.Name), cmp.Compare(a.Manager.ID, b.Manager.ID))
	})
	return all
}
