package stats_test

import (
	"testing"

	"pressbox/game/stats"
	"pressbox/packaging/check"
)

// Managers are ranked by rating; each has the record against each other; games against oneself do not count.
func TestLadder(t *testing.T) {
	t.Parallel()
	anna, ben, bot := stats.Manager{ID: "1", Name: "Anna"}, stats.Manager{ID: "2", Name: "Ben"},
		stats.Manager{Bot: true}
	var l stats.Ladder
	for _, g := range []stats.ManagedGame{
		{[2]stats.Manager{anna, ben}, [2]int{5, 3}},
		{[2]stats.Manager{ben, anna}, [2]int{0, 9}},
		{[2]stats.Manager{ben, bot}, [2]int{2, 1}},
		{[2]stats.Manager{anna, bot}, [2]int{2, 2}},
		{[2]stats.Manager{anna, anna}, [2]int{7, 1}},
	} {
		l.Add(g)
	}
	rows := l.Managers()
	check.Require(t, len(rows) == 3 && rows[0].Manager == anna && (rows[1].Manager == bot || rows[1].Manager == ben),
		"ladder: %+v", rows)
	if r := rows[0]; r.Games != 3 || r.Wins != 2 || r.Ties != 1 || r.Rating <= 1500 || *r.WinPercentage != 1 ||
		len(r.Opponents) != 2 || r.Opponents[0].Opponent != ben || r.Opponents[0].Wins != 2 ||
		r.Opponents[1].Ties != 1 {
		t.Errorf("Anna: %+v", r)
	}
	sum := 0
	for _, r := range rows {
		sum += r.Rating
	}
	check.That(t, sum >= 4499 && sum <= 4501, "the ratings add up to %d, want 4500", sum)
}

// A win over an equal moves the rating by 12; who is 400 higher is expected to win ten of eleven.
func TestLadder_rating(t *testing.T) {
	t.Parallel()
	a, b := stats.Manager{ID: "a"}, stats.Manager{ID: "b"}
	var l stats.Ladder
	l.Add(stats.ManagedGame{[2]stats.Manager{a, b}, [2]int{1, 0}})
	r := l.Managers()
	check.That(t, r[0].Rating == 1512 && r[1].Rating == 1488, "after one game: %d and %d", r[0].Rating, r[1].Rating)
	for range 2000 { // a wins ten of eleven
		for i := range 11 {
			score := [2]int{1, 0}
			if i == 5 {
				score = [2]int{0, 1}
			}
			l.Add(stats.ManagedGame{[2]stats.Manager{a, b}, score})
		}
	}
	if r := l.Managers(); r[0].Rating-r[1].Rating < 370 || r[0].Rating-r[1].Rating > 430 {
		t.Errorf("after ten wins of eleven the difference is %d, want 400", r[0].Rating-r[1].Rating)
	}
}
