package stats

import (
	"cmp"
	"slices"

	"pressbox/game"
	"pressbox/game/teams"
)

// A Feat is the most that a player or a team did in one game.
type Feat struct {
	Statistic string        `json:"statistic"`
	Value     int           `json:"value"`
	Player    game.PlayerID `json:"player_id,omitempty"` // not of a team's record
	Name      string        `json:"name,omitempty"`
	Team      teams.Ref     `json:"team"`
	Opponent  teams.Ref     `json:"opponent"`
	Game      string        `json:"game,omitempty"` // id of the game, if it was listed
}

// feats holds the first game in which each record was set, by statistic.
type feats map[string]Feat

// add compares a game with the records.
func (f feats) add(r *FinishedGame) {
	for _, side := range game.Sides() {
		here := Feat{Team: r.Teams[side], Opponent: r.Teams[side.Other()], Game: r.ID}
		box := &r.Box.Teams[side]
		for i := range box.Batting {
			l := &box.Batting[i]
			here.Player, here.Name = l.Player, l.Name
			f.offer(here, "player_h", l.Hits)
			f.offer(here, "player_hr", l.HomeRuns)
			f.offer(here, "player_rbi", l.RunsBattedIn)
			f.offer(here, "player_sb", l.StolenBases)
		}
		for i := range box.Pitching {
			l := &box.Pitching[i]
			here.Player, here.Name = l.Player, l.Name
			f.offer(here, "pitcher_so", l.Strikeouts)
			f.offer(here, "pitcher_outs", l.Outs)
		}
		here.Player, here.Name = "", ""
		f.offer(here, "team_r", box.Runs)
		f.offer(here, "team_h", box.Hits)
		f.offer(here, "margin", box.Runs-r.Box.Teams[side.Other()].Runs)
		f.offer(here, "innings", r.Box.Innings)
	}
}

// offer keeps a value that is higher than the record.
func (f feats) offer(here Feat, statistic string, value int) {
	if value > f[statistic].Value {
		here.Statistic, here.Value = statistic, value
		f[statistic] = here
	}
}

// list returns the records by statistic.
func (f feats) list() []Feat {
	all := make([]Feat, 0, len(f))
	for _, feat := range f {
		all = append(all, feat)
	}
	slices.SortFunc(all, func(a, b Feat) int { return cmp.Compare(a.Statistic, b.Statistic) })
	return all
}
