package game

// State is the game as the umpires see it.
type State struct {
	Options Options   `json:"options"`
	Inning  int       `json:"inning"` // from 1
	Half    Half      `json:"half"`
	Outs    int       `json:"outs"`  // 0–2
	Count   Count     `json:"count"` // of the batter due, when a play interrupted his turn
	Bases   [3]Runner `json:"bases"` // first, second, third
	Score   [2]int    `json:"score"` // runs, away and home
	Teams   [2]Team   `json:"teams"` // away and home
	End     End       `json:"end,omitzero"`
}

// A Runner stands on a base. The zero value is nobody.
type Runner struct {
	Player    PlayerID `json:"player,omitzero"`
	Automatic bool     `json:"automatic,omitzero"` // began the half-inning there, 7.01(b), or runs for one who did
}

// A Team is one side's part of the state.
type Team struct {
	Order   [9]Slot    `json:"order"`
	Pitcher PlayerID   `json:"pitcher"`
	DH      bool       `json:"dh"`    // a designated hitter bats, so the pitcher does not
	Next    int        `json:"next"`  // index in Order of who is due, 0–8
	Faced   int        `json:"faced"` // batters whose turn ended against Pitcher since he came in, up to 3, then it stays
	Bench   []PlayerID `json:"bench"` // may still come in; never written to
	Gone    []PlayerID `json:"gone"`  // may not come back (5.10(d)); never written to
}

// End says whether and how the game ended.
type End uint8

// The endings.
const (
	Playing       End = iota
	Final             // played out, 7.01
	CalledGame        // stopped by the umpire, 7.01(c)
	ForfeitByAway     // lost by the visitors, 7.03
	ForfeitByHome     // lost by the home team, 7.03
)

var staticEnds = vocabulary{"", "final", "called", "forfeit by away", "forfeit by home"}

func (e End) String() string { return staticEnds.text(uint8(e)) }

// MarshalText writes the ending in words, "" while the game goes on.
func (e End) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads the ending's words.
func (e *End) UnmarshalText(text []byte) error {
	i, err := staticEnds.parse("ending", text)
	*e = End(i)
	return err
}

// New starts a game: top of the first, nobody on. The clubs and line-ups are the visitors' and the home team's.
func New(o Options, clubs [2]Club, lineups [2]Lineup) (State, error) { return State{}, nil }

// Batting returns the side at bat.
func (s *State) Batting() Side {
	if (s.Half == Top) == s.Options.HomeFirst {
		return Home
	}
	return Away
}

// Fielding returns the side in the field.
func (s *State) Fielding() Side { return s.Batting().Other() }

// Batter returns who is due at bat.
func (s *State) Batter() PlayerID {
	t := &s.Teams[s.Batting()]
	return t.Order[t.Next].Player
}

// Pitcher returns who is pitching.
func (s *State) Pitcher() PlayerID { return s.Teams[s.Fielding()].Pitcher }

// On returns who stands on first, second or third; the zero Runner if nobody does.
func (s *State) On(b Base) Runner { return s.Bases[b-1] }

// Fielder returns who plays one of the nine positions; "" if nobody does yet.
func (t *Team) Fielder(p Position) PlayerID {
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
