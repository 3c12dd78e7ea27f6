package chance

import "pressbox/game"

// Rates are the shares of plate appearances, without intentional walks, that end in each way. The rest are outs on
// batted balls. The zero value means unknown.
type Rates struct {
	K      float64 `json:"k"`
	BB     float64 `json:"bb"` // unintentional
	HBP    float64 `json:"hbp"`
	Single float64 `json:"single"`
	Double float64 `json:"double"`
	Triple float64 `json:"triple"`
	HR     float64 `json:"hr"`
}

// Out returns the share of plate appearances that end in an out on a batted ball, or an error.
func (r Rates) Out() float64 { return 1 - r.K - r.BB - r.HBP - r.Single - r.Double - r.Triple - r.HR }

func (r Rates) times(f Rates) Rates {
	return Rates{
		r.K * f.K, r.BB * f.BB, r.HBP * f.HBP, r.Single * f.Single, r.Double * f.Double, r.Triple * f.Triple,
		r.HR * f.HR,
	}
}

// ratesOf returns what the rates have of values by class, over their sum.
func ratesOf(w *[classes]float64, sum float64) Rates {
	return Rates{
		w[strikeout] / sum, w[walk] / sum, w[hitByPitch] / sum, w[single] / sum, w[double] / sum, w[triple] / sum,
		w[homeRun] / sum,
	}
}

// A Rating is the ability of a player. Skills without a unit are in standard deviations among regulars: 0 is average, 2
// among the best. The zero value is an average player.
type Rating struct {
	Batting  Rates   `json:"batting,omitzero"`  // zero: the league's, or pitchers' for a player who only pitches
	Pitching Rates   `json:"pitching,omitzero"` // allowed; zero: the league's, or worse for a position player
	Speed    float64 `json:"speed,omitzero"`    // on the bases
	Arm      float64 `json:"arm,omitzero"`      // of a catcher or an outfielder
	Range    float64 `json:"range,omitzero"`    // balls in play reached
	Hands    float64 `json:"hands,omitzero"`    // errors avoided
	Hold     float64 `json:"hold,omitzero"`     // of a pitcher: holding runners
	Stamina  int     `json:"stamina,omitzero"`  // batters faced before tiring; 0: StarterStamina or RelieverStamina
}

// Ratings holds the known ratings of players; other players are average.
type Ratings map[game.PlayerID]Rating

// ParkFactors are the factors of a ballpark on the frequency of events. 0 means 1.
type ParkFactors struct {
	HR     float64 `json:"hr,omitzero"`     // home runs
	Double float64 `json:"double,omitzero"` // doubles and triples
	Single float64 `json:"single,omitzero"`
	K      float64 `json:"k,omitzero"`
}
