package history_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"testing/fstest"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/chance"
	"pressbox/game/gametest"
	"pressbox/game/history"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// files2020 returns the files of the 2020 season.
func files2020(tb testing.TB) fstest.MapFS {
	tb.Helper()
	archive := check.Must(os.Open(filepath.Join(gametest.SeasonDir(tb), "retrosheet-events-2020.tar.gz")))(tb)
	defer archive.Close()
	all := fstest.MapFS{}
	for files := tar.NewReader(check.Must(gzip.NewReader(archive))(tb)); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		check.NoError(tb, err)
		all[h.Name] = &fstest.MapFile{Data: check.Must(io.ReadAll(files))(tb)}
	}
}

var (
	once     sync.Once
	readOnce *history.Season
	errRead  error
)

// season2020 returns the season, which is read once.
func season2020(tb testing.TB) *history.Season {
	tb.Helper()
	once.Do(func() { readOnce, errRead = history.Read(files2020(tb)) })
	check.NoError(tb, errRead)
	return readOnce
}

func TestRead_season(t *testing.T) {
	s := season2020(t)
	check.Require(t, s.Year == 2020 && s.Games == 898 && len(s.Rejected) == 0 && len(s.Rosters) == 30,
		"season %d: %d games, %d clubs, rejected %q", s.Year, s.Games, len(s.Rosters), s.Rejected)
	seen := map[game.PlayerID]string{}
	for _, r := range s.Rosters {
		check.That(t, len(r.Players) >= 24 && len(r.Players) <= 26 && r.Source == teams.Retrosheet && r.Season == 2020,
			"%s: %d players, source %s, season %d", r.Team.Name, len(r.Players), r.Source, r.Season)
		ratings := teams.Ratings(r)
		for _, dh := range []bool{true, false} {
			_, err := bot.SuggestLineup(r.Club(), ratings, nil, dh)
			check.That(t, err == nil, "line-up of %s, designated hitter %v: %v", r.Team.Name, dh, err)
		}
		for _, p := range r.Players {
			check.That(t, seen[p.ID] == "", "%s plays for %s and for %s", p.Name, seen[p.ID], r.Team.ID)
			seen[p.ID] = r.Team.ID
			checkRating(t, p)
		}
	}
	decoded := check.Must(history.Decode(check.Must(s.Encode())(t)))(t)
	check.That(t, reflect.DeepEqual(decoded, s), "the decoded season differs from the encoded one")
}

func checkRating(t *testing.T, p teams.Player) {
	t.Helper()
	check.That(t, len(p.Positions) != 0 && p.Name != "" && p.Rating != (chance.Rating{}), "%+v lacks something", p)
	for _, r := range []chance.Rates{p.Rating.Batting, p.Rating.Pitching} {
		if r == (chance.Rates{}) {
			continue
		}
		for _, x := range []float64{r.K, r.BB, r.HBP, r.Single, r.Double, r.Triple, r.HR, r.Out()} {
			if !(x > 0 && x < 1) {
				t.Errorf("%s has the rates %+v", p.Name, r)
				break
			}
		}
	}
	for _, z := range []float64{p.Rating.Speed, p.Rating.Arm, p.Rating.Hands, p.Rating.Hold} {
		check.That(t, math.Abs(z) <= 2.5, "%s has a skill of %v", p.Name, z)
	}
}

// What is known of players of 2020 is what the files say.
func TestRead_players(t *testing.T) {
	s := season2020(t)
	for _, c := range []struct {
		team, id, name string
		bats, throws   game.Hand
		positions      string
	}{
		{"ANA", "troum001", "Mike Trout", game.Right, game.Right, "CF"},
		{"NYA", "coleg001", "Gerrit Cole", game.Right, game.Right, "SP"},
		{"CHN", "kimbc001", "Craig Kimbrel", game.Right, game.Right, "RP"},
		{"CLE", "lindf001", "Francisco Lindor", game.Switch, game.Right, "SS"},
		{"ANA", "ohtas001", "Shohei Ohtani", game.Left, game.Right, "DH"},
	} {
		r, _ := s.Roster(c.team)
		found := false
		for _, p := range r.Players {
			if string(p.ID) != c.id {
				continue
			}
			found = true
			if p.Name != c.name || p.Bats != c.bats || p.Throws != c.throws || string(p.Positions[0]) != c.positions {
				t.Errorf("%+v, want %+v", p.Player, c)
			}
		}
		check.That(t, found, "%s is not on the roster of %s", c.name, c.team)
	}
	_, ok := s.Roster("XXX")
	check.That(t, !ok, "a club that does not exist has a roster")
	if l := s.List(); len(l.Teams) != 30 || l.Notice != history.Notice || l.Teams[0].Name != "Anaheim Angels" {
		t.Errorf("list: %+v", l.Teams[0])
	}
}
