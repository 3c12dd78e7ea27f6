package game

// State is the game as the umpires see it.
type State struct {
	Options Options      `json:"options"`
	Inning  int          `json:"inning"` // from 1
	Half    Half         `json:"half"`
	Outs    int          `json:"outs"`  // 0–2
	Count   Count        `json:"count"` // of the batter due, when a play interrupted his turn
	Bases   [3]Runner    `json:"bases"` // first, second, third
	Score   [2]int       `json:"score"` // runs, away and home
	Teams   [2]TeamState `json:"teams"` // away and home
	End     End          `json:"end,omitzero"`
}

// A Runner stands on a base. The zero value is nobody.
type Runner struct {
	Player    PlayerID `json:"player,omitzero"`
	Automatic bool     `json:"automatic,omitzero"` // began the half-inning there, 7.01(b), or runs for one who did
}

// A TeamState is one side's part of the state.
type TeamState struct {
	Order        [9]Slot    `json:"order"`
	Pitcher      PlayerID   `json:"pitcher"`            // "" between his pinch hitter and his successor
	DH           int        `json:"dh"`                 // place in the order, 1–9, of the designated hitter; 0: the pitcher bats
	NextBatter   int        `json:"next"`               // index in Order of who is due, 0–8
	BattersFaced int        `json:"faced"`              // batters whose turn ended against Pitcher since he came in; 3 once he may leave
	DHBatted     bool       `json:"dh_batted,omitzero"` // the designated hitter's place has completed a turn
	Relieved     bool       `json:"relieved,omitzero"`  // the starting pitcher has left the mound
	Bench        []PlayerID `json:"bench"`              // may still come in; never written to
	Removed      []PlayerID `json:"gone"`               // may not come back (5.10(d)); never written to
}

// End says whether and how the game ended.
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

// MarshalText writes the ending in words, "" while the game goes on.
func (e End) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads the ending's words.
func (e *End) UnmarshalText(text []byte) error {
	i, err := endNames.parse("ending", text)
	*e = End(i)
	return err
}

// Batting returns the side at bat.
func (s *State) Batting() Side {
	if (s.Half == Top) == s.Options.HomeBatsFirst {
		return Home
	}
	return Away
}

// Fielding returns the side in the field.
func (s *State) Fielding() Side { return s.Batting().Other() }

// Batter returns who is due at bat.
func (s *State) Batter() PlayerID {
	t := &s.Teams[s.Batting()]
	return t.Order[t.NextBatter].Player
}

// Pitcher returns who is pitching.
func (s *State) Pitcher() PlayerID { return s.Teams[s.Fielding()].Pitcher }

// RunnerOn returns who stands on first, second or third; the zero Runner if nobody does.
func (s *State) RunnerOn(b Base) Runner { return s.Bases[b-1] }

// Fielder returns who plays one of the nine positions; "" if nobody does yet.
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

// orderIndex returns the index in the order of a player, -1 if he does not bat.
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

// Winner returns the side that won a game that is over; false for a tie and while it goes on.
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

// Lead returns by how many runs the side at bat leads.
func (s *State) Lead() int { return s.Score[s.Batting()] - s.Score[s.Fielding()] }

// isLastHalf reports whether a lead of the side at bat would end the game now (7.01(g)(3)).
func (s *State) isLastHalf() bool {
	return s.Half == Bottom && s.Inning >= s.Options.ScheduledInnings()
}
