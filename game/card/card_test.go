package card_test

import (
	"encoding/json"
	"math"
	"testing"

	"pressbox/game"
	"pressbox/game/card"
	"pressbox/game/chance"
	"pressbox/game/league"
	"pressbox/game/stats"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// Better players have better grades, within 20 and 80.
func TestRate_directions(t *testing.T) {
	t.Parallel()
	l := chance.LeagueRates()
	better, worse := l, l
	better.K, better.BB, better.HR, better.Single = .5*l.K, 3*l.BB, 4*l.HR, 1.5*l.Single
	worse.K, worse.BB, worse.HR, worse.Single = 2*l.K, .1*l.BB, .1*l.HR, .7*l.Single
	p := game.Player{Positions: []game.Role{"SP", "DH"}}
	high := card.Rate(p,
		chance.Rating{Batting: better, Pitching: worse, Speed: 9, Arm: 9, Range: 9, Hands: 9, Stamina: 99})
	low := card.Rate(p,
		chance.Rating{Batting: worse, Pitching: better, Speed: -9, Arm: -9, Range: -9, Hands: -9, Stamina: 1})
	want := (card.Ratings{80, 80, 80, 80, 80, 80, 80, 80, 80})
	check.That(t, high == want, "the best: %+v", high)
	for name, grades := range map[string][2]int{
		"contact": {low.Contact, 35}, "power": {low.Power, 35}, "eye": {low.Eye, 35}, "speed": {low.Speed, 20},
		"arm": {low.Arm, 20}, "glove": {low.Glove, 20},
		"control": {low.Control, 20}, "stuff": {low.Stuff, 35}, "stamina": {low.Stamina, 40},
	} {
		check.That(t, grades[0] >= 20 && grades[0] <= grades[1],
			"%s of the worst: %d, want at most %d", name, grades[0], grades[1])
	}
}

// A pitcher bats badly, a position player pitches badly, a starter lasts longer than a relief pitcher.
func TestRate_average(t *testing.T) {
	t.Parallel()
	of := func(role game.Role) card.Ratings {
		return card.Rate(game.Player{Positions: []game.Role{role}}, chance.Rating{})
	}
	hitter, starter, reliever := of("SS"), of("SP"), of("RP")
	if starter.Contact > hitter.Contact-20 || hitter.Stuff > starter.Stuff-20 || starter.Stamina < reliever.Stamina+15 {
		t.Errorf("hitter %+v, starter %+v, relief pitcher %+v", hitter, starter, reliever)
	}
}

// The source of a card says whose ratings they are: of a league without ratings those of the position.
func TestRoster_source(t *testing.T) {
	t.Parallel()
	short := teams.Player{
		Player: game.Player{ID: "x", Positions: []game.Role{"SS"}}, Rating: chance.PositionAverage([]game.Role{"SS"}),
	}
	for source, want := range map[string]card.Source{
		teams.BuiltIn: card.BuiltIn, teams.Retrosheet: card.Retrosheet, "api.example.org": card.PositionAverage,
	} {
		got := card.Roster(&teams.Roster{Source: source, Players: []teams.Player{short}},
			map[game.PlayerID]*card.Season{"x": {}})
		check.That(t, len(got) == 1 && got[0].Source == want && got[0].Season != nil && got[0].Today == nil &&
			got[0].RestDays == 5, "%s: %+v, want %s", source, got, want)
		check.That(t, got[0].Ratings.Speed >= 53 && got[0].Ratings.Power <= 47,
			"a shortstop of %s: %+v", source, got[0].Ratings)
	}
}

// A pitcher who never came to bat has no batting line; a player of two teams has the first one.
func TestSeasons(t *testing.T) {
	t.Parallel()
	batting := []stats.Batting{
		{Player: "hitter", BattingTotals: stats.BattingTotals{PlateAppearances: 9}},
		{Player: "pitcher"},
		{Player: "hitter", BattingTotals: stats.BattingTotals{PlateAppearances: 1}},
	}
	all := card.Seasons(batting, []stats.Pitching{{Player: "pitcher", PitchingTotals: stats.PitchingTotals{Games: 3}}})
	check.That(t, len(all) == 2 && all["pitcher"].Batting == nil && all["pitcher"].Pitching.Games == 3 &&
		all["hitter"].Pitching == nil && all["hitter"].Batting.PlateAppearances == 9, "%+v", all)
}

// A form has the lines of the box score, without zeros that need not be sent.
func TestFormOf(t *testing.T) {
	t.Parallel()
	box := &game.TeamBoxScore{
		Batting: []game.BattingLine{
			{Player: "both", Slot: 4, AtBats: 3, Hits: 2, Doubles: 1, RunsBattedIn: 2, Walks: 1, StolenBases: 1},
			{Player: "runner", Slot: 0},
		},
		Pitching: []game.PitchingLine{
			{Player: "both", Outs: 14, Hits: 3, Runs: 2, EarnedRuns: 1, Strikeouts: 6, Pitches: 71},
		},
	}
	for id, want := range map[game.PlayerID]string{
		"both": `{"today":{"batting":{"ab":3,"h":2,"doubles":1,"rbi":2,"bb":1,"sb":1},"pitching":{"outs":14,` +
			`"h":3,"r":2,"er":1,"so":6}},"pitches":71,"fatigue":0.68}`,
		"runner": `{"today":null,"pitches":0,"fatigue":0.68}`,
	} {
		check.Equal(t, string(check.Must(json.Marshal(card.FormOf(box, id, .6789)))(t)), want, "%s", id)
	}
}

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
