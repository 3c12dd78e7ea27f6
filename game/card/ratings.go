package card

import (
	"math"

	"pressbox/game"
	"pressbox/game/chance"
)

// Ratings are grades as scouts write them, 20–80: 50 is the average of a league's regulars and 10 a standard
// deviation. Every player has all of them; those of a hitter's pitching are what a position player does on the
// mound.
type Ratings struct {
	Contact int `json:"contact" minimum:"20" maximum:"80"` // hits other than home runs; strikeouts avoided
	Power   int `json:"power" minimum:"20" maximum:"80"`   // extra bases
	Eye     int `json:"eye" minimum:"20" maximum:"80"`     // walks
	Speed   int `json:"speed" minimum:"20" maximum:"80"`   // on the bases
	Arm     int `json:"arm" minimum:"20" maximum:"80"`     // of a catcher or an outfielder
	Glove   int `json:"glove" minimum:"20" maximum:"80"`   // balls reached; errors avoided
	Control int `json:"control" minimum:"20" maximum:"80"` // walks avoided
	Stuff   int `json:"stuff" minimum:"20" maximum:"80"`   // strikeouts and weak contact
	// Batters faced before tiring, among all pitchers: starters have about 62, relief pitchers 42.
	Stamina int `json:"stamina" minimum:"20" maximum:"80"`
}

// grade turns a measure into a grade, by its mean and standard deviation among the regulars of the built-in
// league, which TestRate_scale measures.
func grade(x, mean, deviation float64) int {
	return int(math.Round(max(20, min(80, 50+10*(x-mean)/deviation))))
}

// Rate returns the grades of a player; a zero rating is that of an average player.
func Rate(p game.Player, r chance.Rating) Ratings {
	r = chance.Effective(p, r)
	b, pitching := &r.Batting, &r.Pitching
	return Ratings{
		Contact: grade((b.Single+b.Double+b.Triple)/(atBats(b)-b.HR), .2238, .0268),
		Power:   grade((b.Double+2*b.Triple+3*b.HR)/atBats(b), .1646, .0463),
		Eye:     grade(b.BB, .0790, .0270),
		Speed:   grade(r.Speed, -.03, 1.1), // in standard deviations, as the next two
		Arm:     grade(r.Arm, 0, 1),
		Glove:   grade(r.Range+r.Hands, 0, 1.24),
		Control: grade(-pitching.BB, -.0782, .0161),
		Stuff: grade(-(pitching.Single+2*pitching.Double+3*pitching.Triple+4*pitching.HR)/atBats(pitching),
			-.4180, .0442),
		Stamina: grade(float64(r.Stamina), 12.5, 8.4),
	}
}

// atBats returns the share of plate appearances that are at-bats, but for sacrifices.
func atBats(r *chance.Rates) float64 { return 1 - r.BB - r.HBP }
