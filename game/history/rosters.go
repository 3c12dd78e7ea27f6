package history

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/retro"
	"pressbox/game/teams"
)

// The players of a roster: those who played most for the club.
const (
	rosterPitchers = 13
	rosterHitters  = 13
)

// Read makes the clubs of a season out of the files. Errors wrap [ErrFiles] if the files are not what they should be.
func Read(source fs.FS) (*Season, error) {
	f, err := find(source)
	if err != nil {
		return nil, err
	}
	clubs, err := f.readTeams()
	if err != nil {
		return nil, err
	}
	season := &Season{Year: f.year}
	c := counts{}
	if c.players, err = f.readRosters(); err != nil {
		return nil, err
	}
	err = f.readGames(func(g *retro.Game) error {
		if err := c.replay(g); err != nil {
			season.Rejected = append(season.Rejected, err.Error())
		} else {
			season.Games++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n := len(season.Rejected); season.Games == 0 || n > 20 && n*20 > season.Games {
		return nil,
			fmt.Errorf("%w: %d games cannot be replayed, and %d can; the first: %s",
				ErrFiles, n, season.Games, first(season.Rejected))
	}
	season.Rosters, err = c.rosters(clubs)
	return season, err
}

func first(reasons []string) string {
	if len(reasons) == 0 {
		return "there are none"
	}
	return reasons[0]
}

// rosters chooses and rates the players of each club.
func (c *counts) rosters(clubs map[string]teams.Team) ([]teams.Roster, error) {
	of := map[string][]*player{}
	for _, id := range slices.Sorted(maps.Keys(c.players)) {
		if p := c.players[id]; len(p.byClub) > 0 {
			of[p.club()] = append(of[p.club()], p)
		}
	}
	rated := map[*player]*chance.Rating{}
	for id, players := range of {
		of[id] = chooseRoster(players)
		for _, p := range of[id] {
			rated[p] = &chance.Rating{}
		}
	}
	c.rate(rated)
	var rosters []teams.Roster
	for _, id := range slices.Sorted(maps.Keys(of)) {
		team, known := clubs[id]
		if !known {
			return nil, fmt.Errorf("%w: the list of teams lacks %.40q, which played", ErrFiles, id)
		}
		r := teams.Roster{Team: team, Season: team.Season, Source: teams.Retrosheet}
		for _, p := range of[id] {
			person := p.Player
			person.Positions = p.roles()
			r.Players = append(r.Players, teams.Player{Player: person, Rating: *rated[p]})
		}
		if err := check(&r); err != nil {
			return nil, err
		}
		rosters = append(rosters, r)
	}
	return rosters, nil
}

// check reports a club that cannot play.
func check(r *teams.Roster) error {
	hitters, pitchers := 0, 0
	for _, p := range r.Players {
		if p.CanPitch() {
			pitchers++
		}
		if !p.CanPitch() || len(p.Positions) > 1 {
			hitters++
		}
	}
	if hitters < 8 || pitchers == 0 || len(r.Players) < 9 {
		return fmt.Errorf("%w: %s has %d players for the field and %d who pitch: %w",
			ErrFiles, r.Team.Name, hitters, pitchers, teams.ErrTooFewPlayers)
	}
	return nil
}

// chooseRoster returns the pitchers and the hitters who played most, two catchers among them if there were two.
func chooseRoster(players []*player) []*player {
	slices.SortStableFunc(players, func(a, b *player) int { return cmp.Compare(b.workload(), a.workload()) })
	var hitters, pitchers []*player
	for _, p := range players {
		switch {
		case p.bats():
			hitters = append(hitters, p)
		case p.pitches():
			pitchers = append(pitchers, p)
		}
	}
	slices.SortStableFunc(hitters,
		func(a, b *player) int { return cmp.Compare(b.catcherRank(hitters), a.catcherRank(hitters)) })
	hitters = hitters[:min(len(hitters), rosterHitters)]
	pitchers = pitchers[:min(len(pitchers), rosterPitchers)]
	chosen := slices.Concat(hitters, pitchers)
	slices.SortStableFunc(chosen, func(a, b *player) int { return cmp.Compare(b.workload(), a.workload()) })
	return chosen
}

// club returns the club for which the player played most.
func (p *player) club() string {
	best := ""
	for _, id := range slices.Sorted(maps.Keys(p.byClub)) {
		if best == "" || p.byClub[id] > p.byClub[best] {
			best = id
		}
	}
	return best
}

// workload returns plate appearances and batters faced for the player's club.
func (p *player) workload() float64 { return p.byClub[p.club()] }

// fieldGames returns the games at positions other than the mound.
func (p *player) fieldGames() int {
	n := 0
	for _, games := range p.games {
		n += games
	}
	return n
}

// bats reports whether the player is one for the batting order: someone who played in the field or as designated
// hitter, and not only in between as a pitcher.
func (p *player) bats() bool { return p.fieldGames() > p.outings/2 }

// pitches reports whether the player is a pitcher, and not one of another position who helped out.
func (p *player) pitches() bool { return p.outings > 0 && (!p.bats() || p.starts >= 5) }

func (p *player) isStarter() bool { return 2*p.starts >= p.outings }

// roles returns where the player played, most often first: at least a tenth of the games, at most five positions.
func (p *player) roles() []game.Role {
	var roles []game.Role
	if p.bats() {
		total := p.fieldGames()
		var at []game.Position
		for position, n := range p.games {
			if isRole(position) && n*10 >= total {
				at = append(at, position)
			}
		}
		slices.SortFunc(at,
			func(a, b game.Position) int { return cmp.Or(cmp.Compare(p.games[b], p.games[a]), cmp.Compare(a, b)) })
		for _, position := range at[:min(len(at), 5)] {
			roles = append(roles, game.Role(position.String()))
		}
	}
	if p.pitches() {
		role := game.Role("RP")
		if p.isStarter() {
			role = "SP"
		}
		roles = append(roles, role)
	}
	return roles
}

// isRole reports whether a player can be listed at a position: not at those of pinch hitters and pinch runners.
func isRole(p game.Position) bool { return p.IsFielder() || p == game.DesignatedHitter }

// catcherRank is 1 for the two hitters who caught most, who are always on the roster.
func (p *player) catcherRank(all []*player) int {
	if p.games[game.Catcher] == 0 {
		return 0
	}
	ahead := 0
	for _, o := range all {
		if o.games[game.Catcher] > p.games[game.Catcher] {
			ahead++
		}
	}
	if ahead < 2 {
		return 1
	}
	return 0
}
