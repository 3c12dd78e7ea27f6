package game

// A BoxScore is the box score (9.02, 9.03): the visitors' half, then the home team's.
type BoxScore struct {
	Teams            [2]TeamBoxScore `json:"teams"`
	Innings          int             `json:"innings"`                  // that were begun
	WinningPitcher   PlayerID        `json:"winning_pitcher,omitzero"` // once the game is over
	WinnerByJudgment bool            `json:"win_judged,omitzero"`      // by the scorer's judgment: 9.17(b) or (c)
	LosingPitcher    PlayerID        `json:"losing_pitcher,omitzero"`
	SavingPitcher    PlayerID        `json:"save,omitzero"`
}

// A TeamBoxScore is one side's half of the box score.
type TeamBoxScore struct {
	// Runs by inning; no entry for an inning without a turn at bat.
	LineScore   []int `json:"line" nullable:"true"`
	Runs        int   `json:"runs"`
	Hits        int   `json:"hits"`
	Errors      int   `json:"errors"`
	LeftOnBase  int   `json:"left_on_base"` // in completed half-innings
	DoublePlays int   `json:"double_plays"` // turned in the field
	TriplePlays int   `json:"triple_plays"` // turned in the field
	// Allowed; can be fewer than the sum of the pitchers', 9.16(i).
	EarnedRuns       int            `json:"earned_runs"`
	AutomaticRunners int            `json:"automatic"`                // that began this side's half-innings
	Batting          []BattingLine  `json:"batting" nullable:"true"`  // in batting order, substitutes below
	Pitching         []PitchingLine `json:"pitching" nullable:"true"` // in order of appearance
	Fielding         []FieldingLine `json:"fielding" nullable:"true"` // by player and position, in order of appearance
}

// A BattingLine is the game of one batter or runner.
type BattingLine struct {
	Player                  PlayerID   `json:"player_id"`
	Name                    string     `json:"name"`
	Slot                    int        `json:"slot"`                      // 1–9; 0 for a pitcher who does not bat
	Positions               []Position `json:"positions" nullable:"true"` // in order
	PlateAppearances        int        `json:"pa"`
	AtBats                  int        `json:"ab"`
	Runs                    int        `json:"r"`
	Hits                    int        `json:"h"`
	Doubles                 int        `json:"doubles"`
	Triples                 int        `json:"triples"`
	HomeRuns                int        `json:"hr"`
	RunsBattedIn            int        `json:"rbi"`
	Walks                   int        `json:"bb"` // with intentional ones
	IntentionalWalks        int        `json:"ibb"`
	Strikeouts              int        `json:"so"`
	HitByPitch              int        `json:"hbp"`
	SacrificeHits           int        `json:"sh"`
	SacrificeFlies          int        `json:"sf"`
	Interference            int        `json:"ci"` // catcher's interference: times awarded first base
	GroundedIntoDoublePlays int        `json:"gdp"`
	StolenBases             int        `json:"sb"`
	CaughtStealing          int        `json:"cs"`
	// Runners left on base when this batter's turn ended in an out.
	LeftOnBase         int `json:"lob"`
	TwoOutRunsBattedIn int `json:"two_out_rbi"` // of the runs batted in
}

// A PitchingLine is the game of one pitcher.
type PitchingLine struct {
	Player           PlayerID `json:"player_id"`
	Name             string   `json:"name"`
	Outs             int      `json:"outs"` // three to an inning
	BattersFaced     int      `json:"bf"`
	Hits             int      `json:"h"`
	Runs             int      `json:"r"`
	EarnedRuns       int      `json:"er"`
	Walks            int      `json:"bb"` // with intentional ones
	IntentionalWalks int      `json:"ibb"`
	Strikeouts       int      `json:"so"`
	HomeRuns         int      `json:"hr"`
	HitByPitch       int      `json:"hbp"`
	WildPitches      int      `json:"wp"`
	Balks            int      `json:"bk"`
	Pitches          int      `json:"pitches"`
	Strikes          int      `json:"strikes"`
	InheritedRunners int      `json:"inherited"` // runners on base at entry
	// Inherited runners who scored during this pitcher's outing.
	InheritedRunnersScored int  `json:"inherited_scored"`
	Hold                   bool `json:"hold"`       // protected a lead in a save situation, and left with it
	BlownSave              bool `json:"blown_save"` // let in the tying run in a save situation
	// Started, with six innings or more and at most three earned runs.
	QualityStart    bool `json:"quality_start"`
	leadAtEntry     int  // of the pitcher's side, when last brought in
	runnersAtEntry  int  // runners on base
	outsAtEntry     int  // of this pitcher
	inSaveSituation bool // since entry
}

// A FieldingLine is the game of one player at one position.
type FieldingLine struct {
	Player         PlayerID `json:"player_id"`
	Name           string   `json:"name"`
	Position       Position `json:"position"`
	PutOuts        int      `json:"po"`
	Assists        int      `json:"a"`
	Errors         int      `json:"e"`
	ThrowingErrors int      `json:"te"` // of the errors
	DoublePlays    int      `json:"dp"` // with a put-out or an assist of this fielder
	PassedBalls    int      `json:"pb"`
}
