package history_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/bot/bottest"
	"pressbox/game/chance"
	"pressbox/game/gametest"
	"pressbox/game/history"
	"pressbox/game/retro"
	"pressbox/game/retro/eventfile"
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
			check.That(t, p.Name == c.name && p.Bats == c.bats && p.Throws == c.throws &&
				string(p.Positions[0]) == c.positions, "%+v, want %+v", p.Player, c)
		}
		check.That(t, found, "%s is not on the roster of %s", c.name, c.team)
	}
	_, ok := s.Roster("XXX")
	check.That(t, !ok, "a club that does not exist has a roster")
	if l := s.List(); len(l.Teams) != 30 || l.Notice != history.Notice || l.Teams[0].Name != "Anaheim Angels" {
		t.Errorf("list: %+v", l.Teams[0])
	}
}

const (
	teamsText = "AAA,A,Ashton,Anchors\nBBB,N,Bray,Bells\n"
)

// smallSeason returns two clubs that played one game, of which the visitors' first inning is recorded.
func smallSeason() fstest.MapFS {
	var game strings.Builder
	game.WriteString(
		"id,BBB193004150\nversion,2\ninfo,visteam,AAA\ninfo,hometeam,BBB\ninfo,innings,9\ninfo,forfeit,H\n")
	rosters := map[string]*strings.Builder{"AAA": {}, "BBB": {}}
	for side, club := range []string{"AAA", "BBB"} {
		letter := strings.ToLower(club[:1])
		for i, position := range strings.Fields("7 8 9 3 4 5 6 2 1") {
			id := letter + "play00" + string(rune('1'+i))
			rosters[club].WriteString(id + ",Player" + position + ",Pat,B,L," + club + ",X\n")
			game.WriteString("start," + id + ",\"Pat Player\"," + string(rune('0'+side)) + "," + string(rune('1'+i)) +
				"," + position + "\n")
		}
	}
	game.WriteString(
		"play,1,0,aplay001,??,,HR/78\nplay,1,0,aplay002,??,,K\nplay,1,0,aplay003,??,,W\n" +
			"play,1,0,aplay004,??,,64(1)3/GDP\n")
	return fstest.MapFS{
		"1930/TEAM1930":    {Data: []byte(teamsText)},
		"1930/AAA1930.ROS": {Data: []byte(rosters["AAA"].String())},
		"1930/bbb1930.ros": {Data: []byte(rosters["BBB"].String() + "\x1a")},
		"1930/1930BBB.EVN": {Data: []byte(game.String())},
		"1930/readme.txt":  {Data: []byte("not of interest")},
	}
}

func TestRead_small(t *testing.T) {
	t.Parallel()
	s, err := history.Read(smallSeason())
	check.NoError(t, err)
	r, _ := s.Roster("AAA")
	check.Require(t, s.Year == 1930 && s.Games == 1 && len(r.Players) == 9 && r.Team.Name == "Ashton Anchors" &&
		r.Players[0].Bats == "S" && r.Players[0].Throws == "L", "%+v", r)
	powerful, other := r.Players[0].Rating.Batting, r.Players[3].Rating.Batting
	check.That(t, r.Players[0].ID == "aplay001" && powerful.HR > other.HR,
		"who hit a home run has %v, another %v", powerful.HR, other.HR)
}

// Each damage of the files is rejected with an error that names it.
func TestRead_damaged(t *testing.T) {
	t.Parallel()
	small := func(name string) []byte { return smallSeason()[name].Data }
	replace := func(name, from, to string) func(fstest.MapFS) {
		return func(f fstest.MapFS) {
			check.That(t, bytes.Contains(small(name), []byte(from)), "%s lacks %q", name, from)
			f[name] = &fstest.MapFile{Data: bytes.Replace(small(name), []byte(from), []byte(to), 1)}
		}
	}
	for name, c := range map[string]struct {
		damage func(fstest.MapFS)
		want   string
	}{
		"nothing":  {func(f fstest.MapFS) { clear(f) }, "no list of teams"},
		"no teams": {func(f fstest.MapFS) { delete(f, "1930/TEAM1930") }, "no list of teams"},
		"no rosters": {
			func(f fstest.MapFS) { delete(f, "1930/AAA1930.ROS"); delete(f, "1930/bbb1930.ros") }, "no rosters",
		},
		"no events":     {func(f fstest.MapFS) { delete(f, "1930/1930BBB.EVN") }, "no event files"},
		"two seasons":   {func(f fstest.MapFS) { f["TEAM1931"] = &fstest.MapFile{} }, "2 seasons"},
		"short team":    {replace("1930/TEAM1930", "N,Bray,Bells", "N"), "line 2 has 2 fields, expected 4"},
		"team's id":     {replace("1930/TEAM1930", "AAA", "A/A"), "line 1: "},
		"unknown club":  {replace("1930/TEAM1930", "AAA", "CCC"), `lacks "AAA"`},
		"short player":  {replace("1930/AAA1930.ROS", "Player7,Pat,B,L,AAA,X", "x"), "line 1 has 2 fields, expected 6"},
		"player's id":   {replace("1930/AAA1930.ROS", "aplay001", "../../x"), "line 1: "},
		"no game":       {replace("1930/1930BBB.EVN", "HR/78", "QQ"), "1 games cannot be replayed"},
		"damaged event": {replace("1930/1930BBB.EVN", "play,1,0,aplay002", "play,1,7,aplay002"), "event file line"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(smallSeason())
			c.damage(files)
			_, err := history.Read(files)
			check.That(t, errors.Is(err, history.ErrFiles) && strings.Contains(err.Error(), c.want),
				"error %v, want %q", err, c.want)
		})
	}
}

// All files together may have MaxBytes, and not one more.
func TestRead_size(t *testing.T) {
	t.Parallel()
	files := smallSeason()
	size := 0
	for name, f := range files {
		if name != "1930/readme.txt" {
			size += len(f.Data)
		}
	}
	comment := append(bytes.Repeat([]byte("com,\"a comment of which there are very many in this file\"\n"),
		(history.MaxBytes-size)/58), '\n')
	comment = append(comment, make([]byte, history.MaxBytes-size-len(comment))...)
	for i := range comment {
		if comment[i] == 0 {
			comment[i] = '\n'
		}
	}
	events := files["1930/1930BBB.EVN"].Data
	files["1930/1930BBB.EVN"] = &fstest.MapFile{Data: append(bytes.Clone(events), comment...)}
	_, err := history.Read(files)
	check.That(t, err == nil, "with %d bytes: %v", history.MaxBytes, err)
	files["1930/1930BBB.EVN"] = &fstest.MapFile{Data: append(append(bytes.Clone(events), comment...), '\n')}
	if _, err := history.Read(files); !errors.Is(err, history.ErrFiles) || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("with one byte more: %v", err)
	}
}

// Whatever the files hold, they are read or rejected, and what was read can be kept and played.
func FuzzRead(f *testing.F) {
	small := smallSeason()
	f.Add(small["1930/TEAM1930"].Data, small["1930/AAA1930.ROS"].Data, small["1930/1930BBB.EVN"].Data)
	f.Fuzz(func(t *testing.T, teams, roster, events []byte) {
		files := smallSeason()
		files["1930/TEAM1930"] = &fstest.MapFile{Data: teams}
		files["1930/AAA1930.ROS"] = &fstest.MapFile{Data: roster}
		files["1930/1930BBB.EVN"] = &fstest.MapFile{Data: events}
		s, err := history.Read(files)
		if err != nil {
			return
		}
		for _, r := range s.Rosters {
			for _, p := range r.Players {
				checkRating(t, p)
			}
		}
		data, err := s.Encode()
		check.NoError(t, err)
		if _, err := history.Decode(data); err != nil {
			t.Fatal(err)
		}
	})
}

// results counts ends of plate appearances: strikeouts, walks, hit batters, singles, doubles, triples, home runs.
type results struct {
	n  float64
	by [7]float64
}

func (r *results) add(p *game.Play) {
	if !p.Kind.EndsPlateAppearance() || p.Kind == game.IntentionalWalk || p.Kind == game.CatchersInterference ||
		p.Flags.Has(game.SacrificeHit) {
		return
	}
	r.n++
	for i, kind := range []game.PlayKind{
		game.Strikeout, game.Walk, game.HitByPitch, game.Single, game.Double, game.Triple, game.HomeRun,
	} {
		if p.Kind == kind {
			r.by[i]++
		}
	}
}

// A season counts what batters did, and what was done against pitchers.
type season struct{ batters, pitchers map[game.PlayerID]*results }

func newSeason() season { return season{map[game.PlayerID]*results{}, map[game.PlayerID]*results{}} }

func (s season) add(at *game.State, p *game.Play) {
	batter := p.Batter
	if batter == "" {
		batter = at.Batter()
	}
	of(s.batters, batter).add(p)
	of(s.pitchers, at.Teams[at.Fielding()].Pitcher).add(p)
}

func of(players map[game.PlayerID]*results, id game.PlayerID) *results {
	if players[id] == nil {
		players[id] = &results{}
	}
	return players[id]
}

// season2020Plays counts the season of 2020.
func season2020Plays(t *testing.T) season {
	t.Helper()
	all := newSeason()
	for name, file := range files2020(t) {
		if name[0] != '2' {
			continue
		}
		for g, err := range eventfile.Read(bytes.NewReader(file.Data)) {
			check.NoError(t, err)
			_, err := g.Replay(func(s *retro.Step, _ *game.Scorebook) { all.add(&s.Before, &s.Play) })
			check.NoError(t, err)
		}
	}
	return all
}

// Every club plays rounds of games against every other; then the regulars have their rates of 2020 back: 95 % of
// them lie within two standard errors of the difference. The clubs play with their best 26, so that batters meet
// better pitchers than in the season and the other way round: what remains of that is less than one standard
// error, on both sides.
func TestAll_ratesComeBack(t *testing.T) {
	s := season2020(t)
	const rounds = 2
	simulated := newSeason()
	for round := range rounds {
		for i := range s.Rosters {
			for j := range i {
				away, home := s.Rosters[i], s.Rosters[j]
				if round%2 == 1 {
					away, home = home, away
				}
				play(t, uint64(round*1000+i*30+j), away, home, simulated)
			}
		}
	}
	played := season2020Plays(t)
	compare(t, "batters", played.batters, simulated.batters, 3.1*60)
	compare(t, "pitchers", played.pitchers, simulated.pitchers, 200)
}

// compare compares the rates of players with at least regular plate appearances.
func compare(t *testing.T, kind string, played, simulated map[game.PlayerID]*results, regular float64) {
	t.Helper()
	within, all := 0, 0
	var bias [7]float64
	for id, r := range played {
		got := simulated[id]
		if r.n < regular || got == nil || got.n < regular/2 {
			continue
		}
		for i := range r.by {
			p := (r.by[i] + .5) / (r.n + 1)
			z := (got.by[i]/got.n - r.by[i]/r.n) / math.Sqrt(p*(1-p)*(1/r.n+1/got.n))
			bias[i] += z
			all++
			if math.Abs(z) <= 2 {
				within++
			}
		}
	}
	for i := range bias {
		bias[i] *= 7 / float64(all)
	}
	share := float64(within) / float64(all)
	t.Logf("%d rates of %s: %.3f within two standard errors; mean in standard errors %.2f", all, kind, share, bias)
	check.That(t, all >= 70 && share >= .95,
		"%d of %d rates of %s are within two standard errors: %.3f, want .95", within, all, kind, share)
}

func play(t *testing.T, n uint64, away, home teams.Roster, simulated season) {
	t.Helper()
	g := bottest.Pair(t, away, home, true).Start(t, n, game.Options{Innings: 9}, [2]bool{true, true})
	g.OnPlay = func(before *game.State, _ *chance.Resolution, p *game.Play, _ *game.State) { simulated.add(before, p) }
	g.Finish()
}
