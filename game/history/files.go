package history

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"pressbox/game"
	"pressbox/game/retro"
	"pressbox/game/retro/eventfile"
	"pressbox/game/teams"
)

// The names of the files, in any folder and in upper or lower case. Other files are ignored.
var (
	teamsFile  = regexp.MustCompile(`^TEAM(\d{4})$`)
	rosterFile = regexp.MustCompile(`^([A-Z0-9]{3})(\d{4})\.ROS$`)
	eventsFile = regexp.MustCompile(`^(\d{4})([A-Z0-9]{3})\.EV[ANFR]$`)
)

// IsFile reports whether a file with this path can be one of a season's.
func IsFile(name string) bool {
	base := strings.ToUpper(path.Base(name))
	return teamsFile.MatchString(base) || rosterFile.MatchString(base) || eventsFile.MatchString(base)
}

// files are the files of a season.
type files struct {
	source          fs.FS
	year            int
	teams           string
	rosters, events []string
	left            int64 // bytes that may still be read
}

// find finds the files. They must be of one season, with all three kinds.
func find(source fs.FS) (*files, error) {
	f := &files{source: source, left: MaxBytes}
	years := map[string]bool{}
	walk := func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := strings.ToUpper(path.Base(name))
		switch m := teamsFile.FindStringSubmatch(base); {
		case entry.IsDir():
			return nil
		case m != nil:
			years[m[1]], f.teams = true, name
		case rosterFile.MatchString(base):
			years[rosterFile.FindStringSubmatch(base)[2]] = true
			f.rosters = append(f.rosters, name)
		case eventsFile.MatchString(base):
			years[eventsFile.FindStringSubmatch(base)[1]] = true
			f.events = append(f.events, name)
		}
		if len(f.rosters)+len(f.events) > maxFiles {
			return fmt.Errorf("%w: more than %d rosters and event files", ErrFiles, maxFiles)
		}
		for year := range years {
			f.year, _ = strconv.Atoi(year)
		}
		return nil
	}
	if err := fs.WalkDir(source, ".", walk); err != nil {
		return nil, fmt.Errorf("list the files: %w", err)
	}
	switch {
	case len(years) > 1:
		return nil, fmt.Errorf("%w: they are of %d seasons; import one at a time", ErrFiles, len(years))
	case f.teams == "":
		return nil, fmt.Errorf("%w: no list of teams, such as TEAM2020", ErrFiles)
	case f.rosters == nil:
		return nil, fmt.Errorf("%w: no rosters, such as ANA2020.ROS", ErrFiles)
	case f.events == nil:
		return nil, fmt.Errorf("%w: no event files, such as 2020ANA.EVA", ErrFiles)
	}
	return f, nil
}

// budget counts what the file system delivers, whatever it says about the sizes of files.
type budget struct {
	r    io.Reader
	left *int64
}

func (b budget) Read(p []byte) (int, error) {
	if *b.left < 0 {
		return 0, fmt.Errorf("%w: more than %d MiB", ErrFiles, MaxBytes>>20)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), *b.left+1)])
	if *b.left -= int64(n); *b.left < 0 {
		return 0, fmt.Errorf("%w: more than %d MiB", ErrFiles, MaxBytes>>20)
	}
	return n, err
}

// read calls do with the content of a file. Its errors wrap [ErrFiles].
func (f *files) read(name string, do func(io.Reader) error) error {
	file, err := f.source.Open(name)
	if err == nil {
		err = do(budget{bufio.NewReader(file), &f.left})
		err = errors.Join(err, file.Close())
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrFiles):
		return fmt.Errorf("%s: %w", path.Base(name), err)
	default:
		return fmt.Errorf("%s: %w: %w", path.Base(name), ErrFiles, err)
	}
}

// records calls do with the fields of each line of a roster or list of teams.
func (f *files) records(name string, fields int, do func([]string) error) error {
	return f.read(name, func(r io.Reader) error {
		lines := csv.NewReader(r)
		lines.FieldsPerRecord, lines.LazyQuotes, lines.ReuseRecord = -1, true, true
		for n := 1; ; n++ {
			record, err := lines.Read()
			switch {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			case len(record) == 1 && strings.Trim(record[0], "\x1a \r") == "":
				continue // DOS ends files so
			case len(record) < fields:
				return fmt.Errorf("%w: line %d has %d fields, expected %d", ErrFiles, n, len(record), fields)
			}
			for i := range record {
				record[i] = clean(record[i])
			}
			if err := do(record); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
		}
	})
}

var (
	clubID   = regexp.MustCompile(`^[A-Z0-9]{3}$`)
	playerID = regexp.MustCompile(`^[a-zA-Z0-9_'-]{1,12}$`)
)

// readTeams reads the list of teams: id, league, city, nickname.
func (f *files) readTeams() (map[string]teams.Team, error) {
	clubs := map[string]teams.Team{}
	err := f.records(f.teams, 4, func(r []string) error {
		if !clubID.MatchString(r[0]) || r[3] == "" {
			return fmt.Errorf("%w: expected a team's id of three letters, league, city and nickname", ErrFiles)
		}
		name := strings.TrimSpace(r[2] + " " + r[3])
		clubs[r[0]] = teams.Team{ID: r[0], Season: f.year, Abbrev: r[0], Name: name, ShortName: r[3], City: r[2]}
		if len(clubs) > maxClubs {
			return fmt.Errorf("%w: more than %d teams", ErrFiles, maxClubs)
		}
		return nil
	})
	return clubs, err
}

// readRosters reads who the players are: id, last name, given name, batting side, throwing hand, team, position.
func (f *files) readRosters() (map[game.PlayerID]*player, error) {
	players := map[game.PlayerID]*player{}
	for _, name := range f.rosters {
		err := f.records(name, 6, func(r []string) error {
			if !playerID.MatchString(r[0]) || !clubID.MatchString(r[5]) {
				return fmt.Errorf("%w: expected a player's id, last and given name, side, hand and team", ErrFiles)
			}
			p := newPlayer(game.PlayerID(r[0]), cmp.Or(strings.TrimSpace(r[2]+" "+r[1]), r[0]))
			if r[3] == "L" || r[3] == "B" {
				p.Bats = map[string]game.Hand{"L": game.Left, "B": game.Switch}[r[3]]
			}
			if r[4] == "L" {
				p.Throws = game.Left
			}
			players[p.ID] = p
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return players, nil
}

// readGames calls do with each game.
func (f *files) readGames(do func(*retro.Game) error) error {
	slices.Sort(f.events)
	for _, name := range f.events {
		err := f.read(name, func(r io.Reader) error {
			for g, err := range eventfile.Read(r) {
				if err != nil {
					return err
				}
				if err := do(g); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// clean returns text as printable characters on one line, at most 60.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
	chars := []rune(strings.TrimSpace(s))
	return string(chars[:min(len(chars), 60)])
}
