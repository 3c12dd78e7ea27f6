package game

// State is the situation of a game: inning, outs, runners, line-ups and score.
type State struct {
	Options Options      `json:"options"`
	Inning  int          `json:"inning" minimum:"0"` // from 1
	Half    Half         `json:"half"`
	Outs    int          `json:"outs" minimum:"0" maximum:"3"`
	Count   Count        `json:"count"` // of the batter due, when a play interrupted the plate appearance
	Bases   [3]Runner    `json:"bases"` // first, second, third
	Score   [2]int       `json:"score"` // runs, away and home
	Teams   [2]TeamState `json:"teams"` // away and home
	End     End          `json:"end,omitzero"`
}

// A Runner is a player on a base; without members, the base is empty.
type Runner struct {
	Player    PlayerID `json:"player,omitzero"`
	Automatic bool     `json:"automatic,omitzero"` // placed there by 7.01(b), or a pinch runner for one who was
}

// A TeamState is one side's part of the state.
type TeamState struct {
	Order [9]Slot `json:"order"`
	// Empty between a pinch hitter for the pitcher and the next pitcher.
	Pitcher    PlayerID `json:"pitcher"`
	DH         int      `json:"dh" minimum:"0" maximum:"9"`   // place of the designated hitter; 0: the pitcher bats
	NextBatter int      `json:"next" minimum:"0" maximum:"8"` // index of the next batter, from 0
	// By the pitcher; at most the minimum of three batters.
	BattersFaced int `json:"faced" minimum:"0"`
	// The designated hitter's place has completed a plate appearance.
	DHBatted bool `json:"dh_batted,omitzero"`
	Relieved bool `json:"relieved,omitzero"` // the starting pitcher has left the mound
	// Players who may still enter the game; never written to.
	Bench   []PlayerID `json:"bench" nullable:"true"`
	Removed []PlayerID `json:"gone" nullable:"true"` // players who have left the game; never written to
}

// End is the way a game ended.
type End uint8

// The endings.
const (
	Playing     End = iota
	Final           // played out, 7.01
	CalledGame      // stopped by the umpire, 7.01(c)
	AwayForfeit     // lost by the visitors, 7.03
	HomeForfeit     // lost by the home team, 7.03
)

const endNames names = "|final|called|forfeit by away|forfeit by home"

func (e End) String() string { return endNames.name(uint8(e)) }

// MarshalText returns the ending's name, "" for a game in progress.
func (e End) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads an ending's name.
func (e *End) UnmarshalText(text []byte) error { return parse(e, "ending", endNames, text) }

// Batting returns the side at bat.
func (s *State) Batting() Side {
	if (s.Half == Top) == s.Options.HomeBatsFirst {
		return Home
	}
	return Away
}

// Fielding returns the side in the field.
func (s *State) Fielding() Side { return s.Batting().Other() }

// Batter returns the batter due.
func (s *State) Batter() PlayerID {
	t := &s.Teams[s.Batting()]
	return t.Order[t.NextBatter].Player
}

// Pitcher returns the current pitcher.
func (s *State) Pitcher() PlayerID { return s.Teams[s.Fielding()].Pitcher }

// RunnerOn returns the runner on first, second or third; the zero Runner for none.
func (s *State) RunnerOn(b Base) Runner { return s.Bases[b-1] }

// Fielder returns the player at one of the nine positions; "" for none.
func (t *TeamState) Fielder(p Position) PlayerID {
	if p == Pitcher {
		return t.Pitcher
	}
	for _, s := range t.Order {
		if s.Position == p {
			return s.Player
		}
	}
	return ""
}

// orderIndex returns the index of a player in the order, -1 for none.
func (t *TeamState) orderIndex(id PlayerID) int {
	for i := range t.Order {
		if t.Order[i].Player == id {
			return i
		}
	}
	return -1
}

// Over reports whether the game has ended.
func (s *State) Over() bool { return s.End != Playing }

// Winner returns the side that won a completed game; false for a tie and before the end.
func (s *State) Winner() (Side, bool) {
	switch {
	case s.End == Playing:
		return Away, false
	case s.End == AwayForfeit:
		return Home, true
	case s.End == HomeForfeit:
		return Away, true
	case s.Score[Away] > s.Score[Home]:
		return Away, true
	default:
		return Home, s.Score[Home] > s.Score[Away]
	}
}

// IsForced reports whether the runner on a base must leave it when the batter becomes a runner.
func (s *State) IsForced(b Base) bool {
	for i := First; i <= b; i++ {
		if s.Bases[i-1].Player == "" {
			return false
		}
	}
	return true
}

// Lead returns the lead of the side at bat in runs.
func (s *State) Lead() int { return s.Score[s.Batting()] - s.Score[s.Fielding()] }

// isLastHalf reports whether a lead of the side at bat would end the game now (7.01(g)(3)).
func (s *State) isLastHalf() bool {
	return s.Half == Bottom && s.Inning >= s.Options.ScheduledInnings()
}
