package history_test

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"pressbox/game/history"
	"pressbox/packaging/check"
)

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
		r.Players[0].Bats == "S" && r.Players[0].Throws == "L",
		"%+v", r)
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
