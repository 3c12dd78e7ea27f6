package stats_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pressbox/game"
	"pressbox/game/stats"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// Every run checks the same properties of the same values.
var _ = flag.Set("rapid.seed", "1")

func team(id string) teams.Ref { return teams.Ref{ID: id, Abbrev: id, Name: "The " + id} }

// played returns a game of two clubs without a box score.
func played(away, home string, score ...int) stats.FinishedGame {
	return stats.FinishedGame{Teams: [2]teams.Ref{team(away), team(home)}, Score: [2]int(score)}
}

// The standings add up games: by percentage without ties, with games behind and streaks.
func TestAccumulator_standings(t *testing.T) {
	t.Parallel()
	var acc stats.Accumulator
	if got, err := json.Marshal([]any{acc.Standings(), acc.Batting(""), acc.Pitching("OAK")}); err != nil ||
		string(got) != "[[],[],[]]" {
		t.Errorf("empty: %s, %v", got, err)
	}
	for _, r := range []stats.FinishedGame{
		played("ELM", "OAK", 2, 3), played("ELM", "OAK", 5, 1), played("OAK", "ELM", 0, 9), played("ASH", "OAK", 4, 4),
		played("ASH", "ELM", 1, 2),
	} {
		acc.Add(r)
	}
	got := check.Must(json.Marshal(acc.Standings()))(t)
	const want = `[` +
		`{"team":{"id":"ELM","abbrev":"ELM","name":"The ELM"},"g":4,"w":3,"l":1,"t":0,"pct":0.75,"gb":0,"rs":18,` +
		`"ra":5,"streak":"W3",` +
		`"home":{"w":2,"l":0,"t":0},"away":{"w":1,"l":1,"t":0}},` +
		`{"team":{"id":"OAK","abbrev":"OAK","name":"The OAK"},"g":4,"w":1,"l":2,"t":1,"pct":0.333,"gb":1.5,` +
		`"rs":8,"ra":20,"streak":"T1",` +
		`"home":{"w":1,"l":1,"t":1},"away":{"w":0,"l":1,"t":0}},` +
		`{"team":{"id":"ASH","abbrev":"ASH","name":"The ASH"},"g":2,"w":0,"l":1,"t":1,"pct":0,"gb":1.5,"rs":5,` +
		`"ra":6,"streak":"L1",` +
		`"home":{"w":0,"l":0,"t":0},"away":{"w":0,"l":1,"t":1}}]`
	check.That(t, string(got) == want, "standings are\n%s\nwant\n%s", got, want)
}

// Teams with the same percentage are ordered by wins less losses, then runs, then id. A team with only ties has no
// percentage and stands between winners and losers.
func TestAccumulator_standingsOrder(t *testing.T) {
	t.Parallel()
	var acc stats.Accumulator
	for _, r := range []stats.FinishedGame{
		played("A", "B", 1, 0), played("C", "D", 0, 3), played("C", "D", 0, 1), played("E", "F", 2, 2),
		played("G", "H", 5, 0),
	} {
		acc.Add(r)
	}
	var order string
	for _, s := range acc.Standings() {
		order += s.Team.ID
		check.That(t, (s.WinPercentage == nil) == (s.Wins+s.Losses == 0),
			"%s with %d-%d: percentage %v", s.Team.ID, s.Wins, s.Losses, s.WinPercentage)
	}
	check.Equal(t, order, "DGAEFBHC", "order")
}

// Rates are those of the rule book to three places, null without a denominator.
func TestAccumulator_rates(t *testing.T) {
	t.Parallel()
	var acc stats.Accumulator
	r := played("ELM", "OAK", 2, 3)
	r.Box.Teams[game.Home].Batting = []game.BattingLine{
		{
			Player: "a", Name: "A", Slot: 1, PlateAppearances: 7, AtBats: 3, Hits: 2, Doubles: 1, Walks: 1,
			HitByPitch: 1, SacrificeFlies: 1, SacrificeHits: 1, RunsBattedIn: 4, StolenBases: 2, CaughtStealing: 1,
			LeftOnBase: 5, TwoOutRunsBattedIn: 3,
		},
		{Player: "b", Name: "B", Slot: 2, PlateAppearances: 1, Walks: 1},
		{Player: "c", Name: "C", Slot: 2},
		{Player: "p", Name: "P", Slot: 0},
	}
	r.Box.Teams[game.Home].Pitching = []game.PitchingLine{
		{
			Player: "p", Name: "P", Outs: 17, Hits: 6, Walks: 2, Runs: 3, EarnedRuns: 2, BattersFaced: 25,
			Strikeouts: 5, HomeRuns: 1, QualityStart: true,
		},
		{Player: "q", Name: "Q", Walks: 1, BattersFaced: 1, Hold: true, BlownSave: true},
	}
	r.Box.WinningPitcher, r.Box.SavingPitcher = "p", "q"
	acc.Add(r)
	const oak = `{"id":"OAK","abbrev":"OAK","name":"The OAK"}`
	for team, want := range map[string]string{
		"OAK": `[[{"player_id":"a","name":"A","team":` + oak +
			`,"g":1,"pa":7,"ab":3,"r":0,"h":2,"doubles":1,"triples":0,"hr":0,"rbi":4,"bb":1,"so":0,"hbp":1,` +
			`"sh":1,"sf":1,"sb":2,"cs":1,"lob":5,"two_out_rbi":3,"avg":0.667,"obp":0.667,"slg":1,` +
			`"ops":1.667},` +
			`{"player_id":"b","name":"B","team":` + oak +
			`,"g":1,"pa":1,"ab":0,"r":0,"h":0,"doubles":0,"triples":0,"hr":0,"rbi":0,"bb":1,"so":0,"hbp":0,` +
			`"sh":0,"sf":0,"sb":0,"cs":0,"lob":0,"two_out_rbi":0,"avg":null,"obp":1,"slg":null,"ops":null},` +
			`{"player_id":"c","name":"C","team":` + oak +
			`,"g":1,"pa":0,"ab":0,"r":0,"h":0,"doubles":0,"triples":0,"hr":0,"rbi":0,"bb":0,"so":0,"hbp":0,` +
			`"sh":0,"sf":0,"sb":0,"cs":0,"lob":0,"two_out_rbi":0,"avg":null,"obp":null,"slg":null,` +
			`"ops":null}],` +
			`[{"player_id":"p","name":"P","team":` + oak +
			`,"g":1,"gs":1,"w":1,"l":0,"sv":0,"hld":0,"bs":0,"qs":1,"outs":17,"ip":"5.2","bf":25,"h":6,"r":3,` +
			`"er":2,"bb":2,"so":5,"hr":1,"era":3.176,"whip":1.412},` +
			`{"player_id":"q","name":"Q","team":` + oak +
			`,"g":1,"gs":0,"w":0,"l":0,"sv":1,"hld":1,"bs":1,"qs":0,"outs":0,"ip":"0.0","bf":1,"h":0,"r":0,` +
			`"er":0,"bb":1,"so":0,"hr":0,"era":null,"whip":null}]]`,
		"ELM": `[[],[]]`,
	} {
		got, err := json.Marshal([]any{acc.Batting(team), acc.Pitching(team)})
		check.That(t, err == nil && string(got) == want, "%s: %v\n%s\nwant\n%s", team, err, got, want)
	}
}

// A team's lines sum up to its games, also if players change teams.
func TestAccumulator_sums(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var acc stats.Accumulator
		ids := []string{"ELM", "OAK", "ASH"}
		runs, outs, hits, games := map[string]int{}, map[string]int{}, map[string]int{}, 0
		for range rapid.IntRange(1, 12).Draw(t, "games") {
			at := rapid.Permutation(ids).Draw(t, "clubs")
			r := played(at[0], at[1], rapid.IntRange(0, 9).Draw(t, "away"), rapid.IntRange(0, 9).Draw(t, "home"))
			for side := range r.Teams {
				box, id := &r.Box.Teams[side], r.Teams[side].ID
				for _, p := range rapid.SliceOfNDistinct(rapid.SampledFrom([]game.PlayerID{"a", "b", "c", "d"}), 1, 4,
					rapid.ID).Draw(t, "players") {
					n := rapid.IntRange(0, 5).Draw(t, "n")
					box.Batting = append(box.Batting,
						game.BattingLine{Player: p, Slot: 1, PlateAppearances: n, AtBats: n, Hits: n / 2})
					box.Pitching = append(box.Pitching, game.PitchingLine{Player: p, Outs: n})
					hits[id] += n / 2
					outs[id] += n
				}
				runs[id] += r.Score[side]
			}
			acc.Add(r)
			games++
		}
		rs, ra, w, l, g := 0, 0, 0, 0, 0
		for _, s := range acc.Standings() {
			check.Require(t, s.RunsScored == runs[s.Team.ID] && s.Wins+s.Losses+s.Ties == s.Games,
				"%+v, want %d runs", s, runs[s.Team.ID])
			rs, ra, w, l, g = rs+s.RunsScored, ra+s.RunsAllowed, w+s.Wins, l+s.Losses, g+s.Games
		}
		check.Require(t, rs == ra && w == l && g == 2*games,
			"%d runs scored and %d allowed, %d won and %d lost in %d games", rs, ra, w, l, games)
		var all int
		for _, id := range ids {
			h, o := 0, 0
			for _, b := range acc.Batting(id) {
				h += b.Hits
				check.Require(t, b.Team.ID == id, "%s has the line of %s", id, b.Team.ID)
			}
			for _, p := range acc.Pitching(id) {
				o += p.Outs
			}
			check.Require(t, h == hits[id] && o == outs[id],
				"%s: %d hits and %d outs, want %d and %d", id, h, o, hits[id], outs[id])
			all += len(acc.Batting(id))
		}
		check.Require(t, all == len(acc.Batting("")), "%d lines of clubs, %d of all", all, len(acc.Batting("")))
	})
}

// Every count of a box score line is added to the count of the same name.
func TestAccumulator_everyCount(t *testing.T) {
	t.Parallel()
	var b game.BattingLine
	var p game.PitchingLine
	fill(reflect.ValueOf(&b).Elem())
	fill(reflect.ValueOf(&p).Elem())
	b.Slot = 1
	r := played("ELM", "OAK", 0, 1)
	r.Box.Teams[0].Batting, r.Box.Teams[0].Pitching = []game.BattingLine{b}, []game.PitchingLine{p}
	var acc stats.Accumulator
	acc.Add(r)
	acc.Add(r)
	same(t, reflect.ValueOf(acc.Batting("ELM")[0].BattingTotals), reflect.ValueOf(b))
	same(t, reflect.ValueOf(acc.Pitching("ELM")[0].PitchingTotals), reflect.ValueOf(p))
}

// fill sets each count to a different number.
func fill(line reflect.Value) {
	for i := range line.NumField() {
		if f := line.Field(i); f.Kind() == reflect.Int && f.CanSet() {
			f.SetInt(int64(100 + i))
		}
	}
}

// same checks that the counts of a season line are twice those of a game line.
func same(t *testing.T, season, line reflect.Value) {
	t.Helper()
	n := 0
	for i := range season.NumField() {
		name := season.Type().Field(i).Name
		if f := line.FieldByName(name); f.IsValid() && f.Kind() == reflect.Int {
			n++
			check.Equal(t, season.Field(i).Int(), 2*f.Int(), "%s", name)
		}
	}
	check.That(t, n >= 8, "only %d counts in common", n)
	for i := range season.NumField() {
		p, ok := reflect.TypeAssert[*float64](season.Field(i))
		check.That(t, !ok || p == nil || math.Abs(*p*1000-math.Round(*p*1000)) <= 1e-6,
			"%s is not of three places", season.Type().Field(i).Name)
	}
}

// rated returns a game of nine innings between clubs of one strength.
func rated(away, home stats.Manager, score [2]int) stats.ManagedGame {
	return stats.ManagedGame{
		Managers: [2]stats.Manager{away, home}, Score: score, Clubs: [2]string{"A", "A"}, Innings: 9,
	}
}

// Managers are ranked by rating; each has the record against each other; games against oneself do not count.
func TestLadder(t *testing.T) {
	t.Parallel()
	anna, ben, bot := stats.Manager{ID: "1", Name: "Anna"}, stats.Manager{ID: "2", Name: "Ben"},
		stats.Manager{Bot: true, Level: 2}
	var l stats.Ladder
	for _, g := range []stats.ManagedGame{
		rated(anna, ben, [2]int{5, 3}), rated(ben, anna, [2]int{0, 9}), rated(ben, bot, [2]int{2, 1}),
		rated(anna, bot, [2]int{2, 2}), rated(anna, anna, [2]int{7, 1}),
	} {
		l.Add(g)
	}
	rows := l.Managers()
	check.Require(t, len(rows) == 3 && rows[0].Manager == anna && (rows[1].Manager == bot || rows[1].Manager == ben),
		"ladder: %+v", rows)
	if r := rows[0]; r.Games != 3 || r.Rated != 3 || r.Wins != 2 || r.Ties != 1 || r.Rating <= 1500 ||
		*r.WinPercentage != 1 || len(r.Opponents) != 2 || r.Opponents[0].Opponent != ben ||
		r.Opponents[0].Wins != 2 || r.Opponents[1].Ties != 1 || r.Error <= 50 || r.Error >= 120 {
		t.Errorf("Anna: %+v", r)
	}
	sum := 0
	for _, r := range rows {
		sum += r.Rating
	}
	check.That(t, sum >= 4499 && sum <= 4501, "the ratings add up to %d, want 4500", sum)
}

// What would raise a rating without better decisions: games that are given up at once, the same opponent again and
// again, the stronger club at home.
func TestLadder_farming(t *testing.T) {
	t.Parallel()
	anna, ben := stats.Manager{ID: "1"}, stats.Manager{ID: "2"}
	var l stats.Ladder
	for range 12 {
		g := rated(ben, anna, [2]int{0, 9})
		g.Unrated = true
		l.Add(g)
	}
	for _, r := range l.Managers() {
		check.That(t, r.Games == 12 && r.Rated == 0 && r.Rating == 1500, "after games that were given up: %+v", r)
	}
	gain := func(games int) int {
		var l stats.Ladder
		for range games {
			l.Add(rated(ben, anna, [2]int{0, 9}))
		}
		return l.Managers()[0].Rating - 1500
	}
	check.That(t, gain(100)-gain(10) < gain(10), "90 more games with one opponent gain %d, ten %d",
		gain(100)-gain(10), gain(10))

	var clubs stats.Ladder
	for i := range 400 { // the strong club wins two of three, whoever manages it; Anna always does, Ben half the time
		score := [2]int{0, 1}
		if i%3 == 0 {
			score = [2]int{1, 0}
		}
		other := stats.Manager{ID: fmt.Sprint("o", i%40)}
		g := rated(other, []stats.Manager{anna, ben, other}[i%2], score)
		g.Clubs = [2]string{"weak", "strong"}
		if i%4 == 1 { // Ben with the weak club
			g.Managers, g.Clubs, g.Score = [2]stats.Manager{ben, other}, [2]string{"weak", "strong"}, score
		}
		clubs.Add(g)
	}
	by := map[string]int{}
	for _, r := range clubs.Managers() {
		by[r.Manager.ID] = r.Rating
	}
	check.That(t, by["1"]-by["2"] < 25, "who always takes the strong club is rated %d, who does half the time %d",
		by["1"], by["2"])
}

// spearman returns the rank correlation of two lists.
func spearman(a, b []float64) float64 {
	ranks := func(of []float64) []int {
		order := make([]int, len(of))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(of[i], of[j]) })
		at := make([]int, len(of))
		for rank, i := range order {
			at[i] = rank
		}
		return at
	}
	x, y, sum := ranks(a), ranks(b), 0.
	for i := range x {
		sum += float64((x[i] - y[i]) * (x[i] - y[i]))
	}
	n := float64(len(a))
	return 1 - 6*sum/(n*(n*n-1))
}

// Of thirty managers with strengths of a deviation of 100 who choose clubs as people do, better ones more often the
// better clubs, the ladder ranks well after 200 games each, and nearly as well as if it were told what the clubs are
// worth.
func TestLadder_ranksByStrength(t *testing.T) {
	t.Parallel()
	const people, games, clubs = 30, 200, 16
	dice := rand.New(rand.NewPCG(1, 2))
	sum, told := 0., 0.
	const runs = 12
	for range runs {
		strength, club, managers := make([]float64, people+3), make([]float64, clubs), make([]stats.Manager, people+3)
		for i := range strength {
			strength[i], managers[i] = 100*dice.NormFloat64(), stats.Manager{ID: fmt.Sprint(i)}
		}
		for i := range 3 {
			strength[people+i], managers[people+i] = float64(30*i), stats.Manager{Bot: true, Level: i + 1}
		}
		for i := range club {
			club[i] = 45 * dice.NormFloat64()
		}
		choose := func(i int) int { // a club at random, or the better of two for who is strong
			a, b := dice.IntN(clubs), dice.IntN(clubs)
			if strength[i] > 0 && club[b] > club[a] {
				return b
			}
			return a
		}
		var ladder, knowing stats.Ladder
		for range people * games / 2 {
			h, a := dice.IntN(people), dice.IntN(people+3)
			if a == h {
				continue
			}
			ch, ca, innings := choose(h), choose(a), []int{3, 9}[dice.IntN(2)]
			g := stats.ManagedGame{
				Managers: [2]stats.Manager{managers[a], managers[h]}, Innings: innings,
				Clubs: [2]string{fmt.Sprint(ca), fmt.Sprint(ch)}, Score: [2]int{1, 0},
			}
			fair := g
			fair.Clubs = [2]string{"A", "A"}
			edge := strength[h] - strength[a] + 25
			luck := dice.Float64()
			wins := func(edge float64) bool {
				return luck < 1/(1+math.Exp(-edge*math.Sqrt(float64(innings)/9)*math.Ln10/400))
			}
			if wins(edge + club[ch] - club[ca]) {
				g.Score = [2]int{0, 1}
			}
			if wins(edge) { // the same game with equal clubs: what a rating that knows them would see
				fair.Score = [2]int{0, 1}
			} else {
				fair.Score = [2]int{1, 0}
			}
			ladder.Add(g)
			knowing.Add(fair)
		}
		rank := func(l *stats.Ladder) float64 {
			by := map[string]float64{}
			for _, r := range l.Managers() {
				by[r.Manager.ID] = float64(r.Rating)
			}
			found := make([]float64, people)
			for i := range found {
				found[i] = by[fmt.Sprint(i)]
			}
			return spearman(found, strength[:people])
		}
		sum += rank(&ladder) / runs
		told += rank(&knowing) / runs
	}
	t.Logf("rank correlation %.3f, knowing the clubs %.3f", sum, told)
	check.That(t, sum >= .9 && sum >= told-.02, "rank correlation %.3f, knowing the clubs %.3f", sum, told)
}

// batted returns a game of A at B in which players of A batted; their lines are hits of at-bats.
func batted(id string, lines ...game.BattingLine) stats.FinishedGame {
	r := stats.FinishedGame{ID: id, Teams: [2]teams.Ref{team("A"), team("B")}, Score: [2]int{1, 0}}
	r.Box.Innings = 9
	r.Box.Teams[0].Batting = lines
	for _, l := range lines {
		r.Box.Teams[0].Hits += l.Hits
	}
	return r
}

func line(player string, plateAppearances, hits, homeRuns int) game.BattingLine {
	return game.BattingLine{
		Player: game.PlayerID(player), Name: player, Slot: 1, PlateAppearances: plateAppearances,
		AtBats: plateAppearances, Hits: hits, HomeRuns: homeRuns,
	}
}

// find returns the leaders of a statistic as text.
func find(all []stats.Category, statistic string) string {
	for _, c := range all {
		if c.Statistic == statistic {
			text := ""
			for _, l := range c.Leaders {
				text += fmt.Sprintf("%s %g ", l.Name, l.Value)
			}
			return text
		}
	}
	return "no such statistic"
}

// Rates are led by those with 3.1 plate appearances for each game of the team (9.22(a)), counts by anyone who has one.
func TestLeaders_qualified(t *testing.T) {
	t.Parallel()
	var acc stats.Accumulator
	for n := range 10 {
		lines := []game.BattingLine{line("often", 4, 1, n%2)}
		if n < 3 {
			lines = append(lines, line("just", 10, 4, 0), line("seldom", 10, 9, 1))
		}
		if n == 9 {
			lines = append(lines, line("just", 1, 0, 0)) // 31 of 31
		}
		acc.Add(batted("", lines...))
	}
	l := acc.Leaders()
	check.Equal(t, find(l.Batting, "avg"), "just 0.387 often 0.25 ", "average")
	check.Equal(t, find(l.Batting, "hr"), "often 5 seldom 3 ", "home runs")
	check.Equal(t, find(l.Batting, "sb"), "", "stolen bases")
	check.Equal(t, find(l.Pitching, "era"), "", "earned-run average")
}

// A category has five leaders, and those who are equal to the fifth, up to ten.
func TestLeaders_equals(t *testing.T) {
	t.Parallel()
	for players, want := range map[int]int{4: 4, 5: 5, 7: 7, 12: 10} {
		var acc stats.Accumulator
		var lines []game.BattingLine
		for i := range players {
			lines = append(lines, line(fmt.Sprint("player", i), 4, 1, 1))
		}
		acc.Add(batted("", lines...))
		for _, c := range acc.Leaders().Batting {
			check.That(t, c.Statistic != "hr" || len(c.Leaders) == want,
				"%d equals: %d leaders, want %d", players, len(c.Leaders), want)
		}
	}
}

// A record belongs to the first who set it; an equal one later does not take it.
func TestLeaders_records(t *testing.T) {
	t.Parallel()
	var acc stats.Accumulator
	acc.Add(batted("first", line("x", 5, 3, 0)))
	acc.Add(batted("second", line("y", 5, 4, 2)))
	acc.Add(batted("third", line("z", 5, 4, 2)))
	for _, f := range acc.Leaders().Records {
		switch f.Statistic {
		case "player_h":
			check.That(t, f.Value == 4 && f.Name == "y" && f.Game == "second" && f.Opponent.ID == "B", "hits: %+v", f)
		case "innings":
			check.That(t, f.Value == 9 && f.Game == "first" && f.Player == "", "innings: %+v", f)
		}
	}
}
