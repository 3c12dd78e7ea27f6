package stats

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// A Manager is a person, or a level of the bot.
type Manager struct {
	ID    string `json:"id,omitempty"` // of the account; missing for the bot
	Name  string `json:"name,omitempty"`
	Bot   bool   `json:"bot,omitempty"`
	Level int    `json:"level,omitempty" minimum:"1" maximum:"3"` // of the bot
}

func (m Manager) key() string {
	if m.Bot {
		return "bot " + strconv.Itoa(m.Level)
	}
	return "account " + m.ID
}

// A ManagedGame is a finished game for [Ladder.Add].
type ManagedGame struct {
	Managers [2]Manager // away, home
	Score    [2]int     // as it counts in the standings
	Clubs    [2]string  // with their seasons
	Innings  int        // scheduled
	Unrated  bool       // it ended too early to say who is the better manager
}

// A ManagerRecord is a manager's row in the ladder.
type ManagerRecord struct {
	Manager Manager `json:"manager"`
	Games   int     `json:"g"`
	Record
	WinPercentage *float64 `json:"pct"` // wins of the games not tied; null: no wins or losses
	// 1500 at first; who is 200 higher wins three games of four, with equal clubs and nine innings.
	Rating    int            `json:"rating"`
	Rated     int            `json:"rated"`                    // games that the rating counts
	Error     int            `json:"rating_error" minimum:"0"` // standard error of the rating
	Opponents []HeadToHead   `json:"opponents"`                // by games, most first
	exact     float64        // the rating
	against   map[string]int // indexes of Opponents
}

// HeadToHead is a manager's record against another.
type HeadToHead struct {
	Opponent Manager `json:"manager"`
	Record
}

// A Ladder ranks managers by the games that they finished. The zero value is empty.
type Ladder struct {
	rows  map[string]*ManagerRecord
	rated []ManagedGame
}

// Add adds a game; games are added in the order in which they ended. A game of a manager against themselves does
// not count.
func (l *Ladder) Add(g ManagedGame) {
	if g.Managers[0].key() == g.Managers[1].key() {
		return
	}
	rows := [2]*ManagerRecord{l.row(g.Managers[0]), l.row(g.Managers[1])}
	result := [2]byte{'T', 'T'}
	switch {
	case g.Score[0] > g.Score[1]:
		result = [2]byte{'W', 'L'}
	case g.Score[0] < g.Score[1]:
		result = [2]byte{'L', 'W'}
	}
	for i, r := range rows {
		r.Games++
		r.add(result[i])
		r.opponent(g.Managers[1-i]).add(result[i])
	}
	if !g.Unrated {
		l.rated = append(l.rated, g)
	}
}

// rate sets the ratings of all rows.
func (l *Ladder) rate() {
	var f fit
	atHome, managers, clubs, met := f.newTerm(home, priorHome), map[string]int{}, map[string]int{}, map[[2]string]int{}
	find := func(of map[string]int, key string, deviation float64) int {
		at, known := of[key]
		if !known {
			at = f.newTerm(0, deviation)
			of[key] = at
		}
		return at
	}
	for i := range l.rated {
		g := &l.rated[i]
		var sides [2][]int
		var pair [2]string
		for side, m := range g.Managers {
			pair[side] = m.key()
			sides[side] = []int{
				find(managers, m.key(), priorManager), find(clubs, g.Clubs[side], priorClub),
			}
		}
		if pair[0] > pair[1] {
			pair[0], pair[1] = pair[1], pair[0]
		}
		if met[pair]++; g.Managers[0].Bot && g.Managers[1].Bot {
			met[pair] = 0 // they do not arrange games
		}
		won := .5
		if g.Score[0] != g.Score[1] {
			won = 0
			if g.Score[1] > g.Score[0] {
				won = 1
			}
		}
		f.add(append(sides[1], atHome), sides[0], won, g.Innings, fewRepeats/float64(max(met[pair], fewRepeats)))
	}
	f.solve()
	for key, r := range l.rows {
		r.exact, r.Rated, r.Error = firstRating, 0, int(priorManager)
		if at, ok := managers[key]; ok {
			t := f.terms[at]
			r.exact, r.Rated, r.Error = firstRating+t.value, len(t.of), int(math.Round(1/math.Sqrt(t.information)))
		}
	}
}

func (l *Ladder) row(m Manager) *ManagerRecord {
	if l.rows == nil {
		l.rows = map[string]*ManagerRecord{}
	}
	r := l.rows[m.key()]
	if r == nil {
		r = &ManagerRecord{against: map[string]int{}}
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
	l.rate()
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
