package card_test

import (
	"math"
	"testing"

	"pressbox/game/card"
	"pressbox/game/league"
	"pressbox/packaging/check"
)

// sample adds up grades.
type sample struct{ n, sum, squares float64 }

func (s *sample) add(grade int) {
	s.n++
	s.sum += float64(grade)
	s.squares += float64(grade * grade)
}

func (s *sample) mean() float64 { return s.sum / s.n }

func (s *sample) deviation() float64 { return math.Sqrt(s.squares/s.n - s.mean()*s.mean()) }

// Among the regulars of the built-in league each grade has the mean 50 and the standard deviation 10: hitters in
// hitting and fielding, pitchers in pitching.
func TestRate_scale(t *testing.T) {
	t.Parallel()
	grades := map[string]*sample{}
	add := func(name string, grade int) {
		if grades[name] == nil {
			grades[name] = &sample{}
		}
		grades[name].add(grade)
	}
	for season := 1; season <= league.LastSeason; season++ {
		for _, r := range check.Must(league.Season(season))(t) {
			for i, p := range r.Players {
				g := card.Rate(p.Player, p.Rating)
				switch {
				case p.CanPitch():
					add("control", g.Control)
					add("stuff", g.Stuff)
					add("stamina", g.Stamina)
				case i < 9: // the bench follows
					add("contact", g.Contact)
					add("power", g.Power)
					add("eye", g.Eye)
					add("speed", g.Speed)
					add("arm", g.Arm)
					add("glove", g.Glove)
				}
			}
		}
	}
	check.Equal(t, len(grades), 9, "grades")
	for name, s := range grades {
		if math.Abs(s.mean()-50) > 1 || math.Abs(s.deviation()-10) > 1 {
			t.Errorf("%s of %.0f players: mean %.2f, deviation %.2f", name, s.n, s.mean(), s.deviation())
		}
	}
}
