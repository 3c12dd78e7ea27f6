package stats

import (
	"strconv"

	"pressbox/game"
	"pressbox/game/teams"
)

// A Record counts wins, losses and ties.
type Record struct {
	Wins   int `json:"w"`
	Losses int `json:"l"`
	Ties   int `json:"t"`
}

// A Standing is a team's row in the standings.
type Standing struct {
	Team  teams.Ref `json:"team"`
	Games int       `json:"g"`
	Record
	WinPercentage *float64 `json:"pct"` // wins of the games not tied; null: no wins or losses
	GamesBehind   float64  `json:"gb"`  // games behind the first team, in halves; negative with more games played
	RunsScored    int      `json:"rs"`  // a forfeit counts 9 to 0
	RunsAllowed   int      `json:"ra"`
	Streak        string   `json:"streak" pattern:"^([WLT][1-9][0-9]*)?$"`
	Home          Record   `json:"home"`
	Away          Record   `json:"away"`

	streakResult byte // W, L or T
	streakLength int
}

// add adds a game that the team played on a side.
func (s *Standing) add(side game.Side, score [2]int) {
	s.Games++
	s.RunsScored += score[side]
	s.RunsAllowed += score[side.Other()]
	record := &s.Away
	if side == game.Home {
		record = &s.Home
	}
	result := byte('T')
	switch d := score[side] - score[side.Other()]; {
	case d > 0:
		result = 'W'
	case d < 0:
		result = 'L'
	}
	s.Record.add(result)
	record.add(result)
	if result != s.streakResult {
		s.streakResult, s.streakLength = result, 0
	}
	s.streakLength++
	s.Streak = string(result) + strconv.Itoa(s.streakLength)
}

// winShare returns the winning percentage, .5 if all games were tied.
func (s *Standing) winShare() float64 {
	if s.Wins+s.Losses == 0 {
		return .5
	}
	return float64(s.Wins) / float64(s.Wins+s.Losses)
}

func (r *Record) add(result byte) {
	switch result {
	case 'W':
		r.Wins++
	case 'L':
		r.Losses++
	default:
		r.Ties++
	}
}

// A Batting is a player's batting and baserunning for a team.
type Batting struct {
	Player game.PlayerID `json:"player_id"`
	Name   string        `json:"name"`
	Team   teams.Ref     `json:"team"`
	BattingTotals
}

// BattingTotals add up what a batter did in games. Rates are rounded to three places, null without a denominator.
type BattingTotals struct {
	Games              int      `json:"g"` // in which the player had a batting slot
	PlateAppearances   int      `json:"pa"`
	AtBats             int      `json:"ab"`
	Runs               int      `json:"r"`
	Hits               int      `json:"h"`
	Doubles            int      `json:"doubles"`
	Triples            int      `json:"triples"`
	HomeRuns           int      `json:"hr"`
	RunsBattedIn       int      `json:"rbi"`
	Walks              int      `json:"bb"`
	Strikeouts         int      `json:"so"`
	HitByPitch         int      `json:"hbp"`
	SacrificeHits      int      `json:"sh"`
	SacrificeFlies     int      `json:"sf"`
	StolenBases        int      `json:"sb"`
	CaughtStealing     int      `json:"cs"`
	LeftOnBase         int      `json:"lob"`
	TwoOutRunsBattedIn int      `json:"two_out_rbi"`
	Average            *float64 `json:"avg"` // hits per at-bat, 9.21(b)
	OnBase             *float64 `json:"obp"` // 9.21(f)
	Slugging           *float64 `json:"slg"` // 9.21(c)
	OPS                *float64 `json:"ops"` // OBP + SLG; null if either is
}

func (b *BattingTotals) add(l *game.BattingLine) {
	b.Games++
	b.PlateAppearances += l.PlateAppearances
	b.AtBats += l.AtBats
	b.Runs += l.Runs
	b.Hits += l.Hits
	b.Doubles += l.Doubles
	b.Triples += l.Triples
	b.HomeRuns += l.HomeRuns
	b.RunsBattedIn += l.RunsBattedIn
	b.Walks += l.Walks
	b.Strikeouts += l.Strikeouts
	b.HitByPitch += l.HitByPitch
	b.SacrificeHits += l.SacrificeHits
	b.SacrificeFlies += l.SacrificeFlies
	b.StolenBases += l.StolenBases
	b.CaughtStealing += l.CaughtStealing
	b.LeftOnBase += l.LeftOnBase
	b.TwoOutRunsBattedIn += l.TwoOutRunsBattedIn
}

func (b *Batting) withRates() Batting {
	l := *b
	on, of := b.Hits+b.Walks+b.HitByPitch, b.AtBats+b.Walks+b.HitByPitch+b.SacrificeFlies
	bases := b.Hits + b.Doubles + 2*b.Triples + 3*b.HomeRuns
	l.Average = rate(float64(b.Hits), b.AtBats)
	l.OnBase = rate(float64(on), of)
	l.Slugging = rate(float64(bases), b.AtBats)
	if b.AtBats > 0 {
		l.OPS = round(float64(on)/float64(of) + float64(bases)/float64(b.AtBats))
	}
	return l
}

// A Pitching is a player's pitching for a team.
type Pitching struct {
	Player game.PlayerID `json:"player_id"`
	Name   string        `json:"name"`
	Team   teams.Ref     `json:"team"`
	PitchingTotals
}

// PitchingTotals add up what a pitcher did in games. Rates are rounded to three places, null before the first out.
type PitchingTotals struct {
	Games         int      `json:"g"`
	Started       int      `json:"gs"`
	Wins          int      `json:"w"`
	Losses        int      `json:"l"`
	Saves         int      `json:"sv"`
	Holds         int      `json:"hld"`
	BlownSaves    int      `json:"bs"`
	QualityStarts int      `json:"qs"`
	Outs          int      `json:"outs"`
	Innings       string   `json:"ip"` // "12.2": 12⅔
	BattersFaced  int      `json:"bf"`
	Hits          int      `json:"h"`
	Runs          int      `json:"r"`
	EarnedRuns    int      `json:"er"`
	Walks         int      `json:"bb"`
	Strikeouts    int      `json:"so"`
	HomeRuns      int      `json:"hr"`
	ERA           *float64 `json:"era"`  // earned runs per nine innings, 9.21(e)
	WHIP          *float64 `json:"whip"` // walks and hits per inning
}

func (p *PitchingTotals) add(l *game.PitchingLine) {
	p.Games++
	p.Outs += l.Outs
	p.BattersFaced += l.BattersFaced
	p.Hits += l.Hits
	p.Runs += l.Runs
	p.EarnedRuns += l.EarnedRuns
	p.Walks += l.Walks
	p.Strikeouts += l.Strikeouts
	p.HomeRuns += l.HomeRuns
}

func (p *Pitching) withRates() Pitching {
	l := *p
	l.Innings = innings(p.Outs)
	l.ERA = rate(27*float64(p.EarnedRuns), p.Outs)
	l.WHIP = rate(3*float64(p.Walks+p.Hits), p.Outs)
	return l
}
