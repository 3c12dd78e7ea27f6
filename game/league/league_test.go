package league_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/gametest"
	"pressbox/game/league"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

func season(tb testing.TB, n int) []teams.Roster {
	tb.Helper()
	return check.Must(league.Season(n))(tb)
}

// rosters returns the rosters of all seasons.
func rosters(tb testing.TB) []teams.Roster {
	tb.Helper()
	var all []teams.Roster
	for n := 1; n <= league.LastSeason; n++ {
		all = append(all, season(tb, n)...)
	}
	return all
}

// The league never changes: its teams, players and ratings, rounded where hosts may differ, have this hash.
func TestSeason_neverChanges(t *testing.T) {
	t.Parallel()
	hash := sha256.New()
	for _, c := range rosters(t) {
		text := check.Must(json.Marshal([]any{c.Team, c.Team.Park.Factors, c.Players}))(t)
		hash.Write(text)
		for _, p := range c.Players {
			hash.Write([]byte(strconv.FormatFloat(p.Rating.Batting.HR+p.Rating.Pitching.K+p.Rating.Speed, 'f', 9, 64)))
		}
	}
	if got := hex.EncodeToString(hash.Sum(nil))[:16]; got != "08506131f76bea4d" {
		t.Errorf("the built-in league has changed: hash %s. Saved games refer to its players: only add seasons", got)
	}
}

// A league answers for its seasons, with season 0 as the default one.
func TestLeague_seasons(t *testing.T) {
	t.Parallel()
	l := league.New(2)
	for season, want := range map[int]int{0: 2, 1: 1, league.LastSeason: league.LastSeason} {
		list, err := l.Teams(t.Context(), season)
		check.That(t, err == nil && list.Season == want && len(list.Teams) == 8,
			"season %d: %d teams of season %d, %v", season, len(list.Teams), list.Season, err)
		if r, err := l.Roster(t.Context(), season, "DUN"); err != nil || r.Season != want || r.Team.ID != "DUN" {
			t.Errorf("DUN in season %d: %+v, %v", season, r.Team, err)
		}
	}
	for _, season := range []int{-1, league.LastSeason + 1} {
		_, err := l.Teams(t.Context(), season)
		check.That(t, errors.Is(err, teams.ErrUnknown), "season %d: %v", season, err)
	}
	_, err := l.Roster(t.Context(), 1, "XXX")
	check.That(t, errors.Is(err, teams.ErrUnknown), "team XXX: %v", err)
}

// Every club has 13 hitters who cover every position twice, 5 starters, 8 relief pitchers, unique names, ids and
// numbers, and a readable text color.
func TestSeason_completeClubs(t *testing.T) {
	t.Parallel()
	for n := 1; n <= league.LastSeason; n++ {
		ids, names, clubs := map[game.PlayerID]bool{}, map[string]bool{}, map[string]bool{}
		for _, c := range season(t, n) {
			check.That(t, !clubs[c.Team.ID] && c.Season == n, "season %d: club %s of season %d", n, c.Team.ID, c.Season)
			clubs[c.Team.ID] = true
			if want := teams.TextColor(c.Team.Color); c.Team.TextColor != want {
				t.Errorf("%s: text color %s on %s, want %s", c.Team.ID, c.Team.TextColor, c.Team.Color, want)
			}
			roles, numbers := map[game.Role]int{}, map[string]bool{}
			for _, p := range c.Players {
				check.That(t, !ids[p.ID] && !names[p.Name] && !numbers[p.Number] && len(p.ID) == 8,
					"season %d, %s: %s, %s, number %s is not unique", n, c.Team.ID, p.ID, p.Name, p.Number)
				ids[p.ID], names[p.Name], numbers[p.Number] = true, true, true
				check.That(t, p.Age >= 20 && p.Age <= 38, "%s is %d", p.Name, p.Age)
				for _, r := range p.Positions {
					roles[r]++
				}
			}
			for _, r := range []game.Role{"C", "1B", "2B", "3B", "SS", "LF", "CF", "RF", "DH"} {
				check.That(t, roles[r] >= 2, "season %d, %s: %s is covered %d times", n, c.Team.ID, r, roles[r])
			}
			check.That(t, len(c.Players) == 26 && roles["SP"] == 5 && roles["RP"] == 8,
				"season %d, %s: %d players, %d SP, %d RP", n, c.Team.ID, len(c.Players), roles["SP"], roles["RP"])
		}
		check.That(t, len(clubs) == 8, "season %d has %d clubs", n, len(clubs))
	}
}

// From one season to the next most players stay, a year older, with the same id and sides; a few change clubs.
func TestSeason_playersStay(t *testing.T) {
	t.Parallel()
	type where struct {
		club string
		p    teams.Player
	}
	before := map[game.PlayerID]where{}
	for n := 1; n <= league.LastSeason; n++ {
		stayed, moved, left := 0, 0, len(before)
		now := map[game.PlayerID]where{}
		for _, c := range season(t, n) {
			for _, p := range c.Players {
				now[p.ID] = where{c.Team.ID, p}
				w, known := before[p.ID]
				if !known {
					continue
				}
				left--
				check.That(t, w.p.Age+1 == p.Age && w.p.Name == p.Name && w.p.Bats == p.Bats && w.p.Throws == p.Throws,
					"season %d: %+v was %+v", n, p.Player, w.p.Player)
				if w.club == c.Team.ID {
					stayed++
				} else {
					moved++
				}
			}
		}
		check.That(t, n <= 1 || stayed >= 160 && moved >= 2 && left >= 1,
			"season %d: %d stayed, %d moved, %d left", n, stayed, moved, left)
		before = now
	}
}

// Rates spread as measured around the league's.
func TestSeason_talent(t *testing.T) {
	t.Parallel()
	l := chance.LeagueRates()
	var bat, pitch []chance.Rates
	for _, c := range rosters(t) {
		for i, p := range c.Players {
			switch {
			case i < 9:
				bat = append(bat, p.Rating.Batting)
			case i >= 13:
				pitch = append(pitch, p.Rating.Pitching)
			}
		}
	}
	tests := []struct {
		name           string
		of             []chance.Rates
		rate           func(chance.Rates) float64
		mean, sd, slip float64
	}{
		{"hitters' strikeouts", bat, func(r chance.Rates) float64 { return r.K }, l.K, .057, .012},
		{"hitters' walks", bat, func(r chance.Rates) float64 { return r.BB }, l.BB, .027, .006},
		{"hitters' home runs", bat, func(r chance.Rates) float64 { return r.HR }, l.HR, .014, .004},
		{"hitters' singles", bat, func(r chance.Rates) float64 { return r.Single }, l.Single, .026, .006},
		{"pitchers' strikeouts", pitch, func(r chance.Rates) float64 { return r.K }, l.K, .055, .012},
		{"pitchers' walks", pitch, func(r chance.Rates) float64 { return r.BB }, l.BB, .018, .005},
		{"pitchers' home runs", pitch, func(r chance.Rates) float64 { return r.HR }, l.HR, .008, .003},
	}
	for _, tt := range tests {
		var sum, square float64
		for _, r := range tt.of {
			sum += tt.rate(r)
			square += tt.rate(r) * tt.rate(r)
		}
		mean := sum / float64(len(tt.of))
		sd := math.Sqrt(square/float64(len(tt.of)) - mean*mean)
		check.That(t, math.Abs(mean/tt.mean-1) <= .06 && math.Abs(sd-tt.sd) <= tt.slip,
			"%s: %.4f ± %.4f, want %.4f ± %.4f", tt.name, mean, sd, tt.mean, tt.sd)
	}
}

// The park factors average 1.
func TestSeason_parkFactors(t *testing.T) {
	t.Parallel()
	var sum [4]float64
	clubs := season(t, 1)
	for _, c := range clubs {
		for i, f := range []float64{
			c.Team.Park.Factors.HR, c.Team.Park.Factors.Double, c.Team.Park.Factors.Single, c.Team.Park.Factors.K,
		} {
			sum[i] += f / float64(len(clubs))
		}
	}
	for i, mean := range sum {
		check.That(t, math.Abs(mean-1) <= .001, "factor %d averages %.4f", i, mean)
	}
}

// The players are fictional: no surname is on a roster of the 2020 season.
func TestSeason_fictionalPlayers(t *testing.T) {
	t.Parallel()
	surnames := map[string]string{}
	for _, c := range rosters(t) {
		for _, p := range c.Players {
			_, last, _ := strings.Cut(p.Name, " ")
			surnames[strings.ToLower(last)] = p.Name
		}
	}
	played := realSurnames(t)
	check.Require(t, len(played) >= 900, "%d surnames on the rosters of 2020", len(played))
	for last, name := range surnames {
		check.That(t, !played[last], "%s has the surname of a real player", name)
	}
}

// realSurnames returns the surnames on the rosters of the 2020 season, if there are any.
func realSurnames(tb testing.TB) map[string]bool {
	tb.Helper()
	found := map[string]bool{}
	err := gametest.ReadArchive(filepath.Join(gametest.SeasonDir(tb), "retrosheet-events-2020.tar.gz"), "ROS",
		func(r io.Reader) error {
			lines := bufio.NewScanner(r)
			for lines.Scan() {
				if f := strings.Split(lines.Text(), ","); len(f) > 2 { // id, last, first, …
					found[strings.ToLower(f[1])] = true
				}
			}
			return lines.Err()
		})
	if errors.Is(err, fs.ErrNotExist) {
		return found // RETROSHEET_DIR has no rosters
	}
	check.NoError(tb, err)
	return found
}
