package chance

import "pressbox/game"

// Rates are how often a plate appearance ends in each way, as shares of all plate appearances without intentional walks.
// What is left is outs on batted balls. The zero value is unknown.
type Rates struct {
	K      float64 `json:"k"`
	BB     float64 `json:"bb"` // unintentional
	HBP    float64 `json:"hbp"`
	Single float64 `json:"single"`
	Double float64 `json:"double"`
	Triple float64 `json:"triple"`
	HR     float64 `json:"hr"`
}

// Out returns the share of batted balls that end in an out, or an error.
func (r Rates) Out() float64 { return 1 - r.K - r.BB - r.HBP - r.Single - r.Double - r.Triple - r.HR }

// Totals are a batter's or a pitcher's season: plate appearances (batters faced) and how they ended.
type Totals struct {
	PA, K, BB, HBP, Single, Double, Triple, HR int // PA and BB without intentional walks
}

// Rates shrinks a season towards the rates of the league that it was played in, the more the less was seen: an event
// with k plate appearances of ballast counts (n + k·league)/(PA + k). The ballast of each is measured: the set of
// constants that predicted odd games best from even games, 502,787 plate appearances. Without anything seen the answer
// is the league's.
func (c Totals) Rates(league Rates) Rates {
	shrink := func(n int, l, ballast float64) float64 { return (float64(n) + ballast*l) / (float64(c.PA) + ballast) }
	r := Rates{
		K:      shrink(c.K, league.K, 35),
		BB:     shrink(c.BB, league.BB, 120),
		HBP:    shrink(c.HBP, league.HBP, 250),
		HR:     shrink(c.HR, league.HR, 300),
		Single: shrink(c.Single, league.Single, 700),
		Double: shrink(c.Double, league.Double, 600),
		Triple: shrink(c.Triple, league.Triple, 1000),
	}
	outs := c.PA - c.K - c.BB - c.HBP - c.Single - c.Double - c.Triple - c.HR
	return r.fill(shrink(outs, league.Out(), 400))
}

// fill scales the rates so that they and the outs, which were shrunk by themselves, make one.
func (r Rates) fill(out float64) Rates {
	f := 1 / (1 - r.Out() + out)
	return Rates{K: f * r.K, BB: f * r.BB, HBP: f * r.HBP, HR: f * r.HR, Single: f * r.Single, Double: f * r.Double, Triple: f * r.Triple}
}

// Rating is how good a player is. The skills without a unit are in standard deviations among regulars: 0 is average,
// 2 is among the best. The zero value is an average player.
type Rating struct {
	Batting  Rates   `json:"batting,omitzero"`  // zero: the league's; for a pitcher those of pitchers at bat
	Pitching Rates   `json:"pitching,omitzero"` // what he allows; zero: the league's; for one who is no pitcher something worse
	Speed    float64 `json:"speed,omitzero"`    // on the bases
	Arm      float64 `json:"arm,omitzero"`      // of a catcher or an outfielder
	Range    float64 `json:"range,omitzero"`    // reaches balls in play
	Hands    float64 `json:"hands,omitzero"`    // avoids errors
	Hold     float64 `json:"hold,omitzero"`     // of a pitcher: keeps runners close
	Stamina  int     `json:"stamina,omitzero"`  // of a pitcher: batters he faces before he tires; 0 means 22 for an SP, 6 for others
}

// Ratings are the players that a game's source knows; who is not there is average.
type Ratings map[game.PlayerID]Rating

// ParkFactors is how a ballpark changes what happens in it. 0 means 1, no change.
type ParkFactors struct {
	HR     float64 `json:"hr,omitzero"`     // home runs
	Double float64 `json:"double,omitzero"` // doubles and triples
	Single float64 `json:"single,omitzero"`
	K      float64 `json:"k,omitzero"`
}
