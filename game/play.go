package game

// A Play describes everything that happened between two pitches: where the batter and each runner ended, which
// outs were made in which order and how, and which fielders get credits and errors.
//
//	Play{ // a ground-out to short
//		Kind: BattedOut,
//		Ball: BattedBall{Contact: GroundBall, Location: "6"},
//		Outs: Outs{{Runner: AtBat, At: First, Kind: OutBeforeFirst, Fielders: "63"}},
//	}
type Play struct {
	Kind     PlayKind   `json:"kind"`
	Also     PlayKind   `json:"also,omitzero"`                     // second event on the same pitch
	Batter   PlayerID   `json:"batter,omitzero"`                   // only if another player than the batter due bats
	Flags    Flags      `json:"flags,omitzero" uniqueItems:"true"` // circumstances
	Ball     BattedBall `json:"ball,omitzero"`
	Advances [4]Advance `json:"runs"` // what the batter and the runners from first, second and third did
	// In the order they were made; the fourth only as an appeal that replaces the third.
	Outs   Outs   `json:"outs,omitzero" minItems:"1" maxItems:"4"`
	Errors Errors `json:"errors,omitzero" minItems:"1" maxItems:"4"` // in the order they were made
	// Positions of the fielders who handled a hit, or a fielder's choice without an out.
	FieldedBy      string `json:"touched,omitzero"`
	Count          Count  `json:"count,omitzero"`   // before the pitch of the play; at its time, if there was no pitch
	Pitches        string `json:"pitches,omitzero"` // of the whole plate appearance so far, Retrosheet's codes
	OtherModifiers string `json:"notes,omitzero"`   // further Retrosheet modifiers
}

// PlayKind classifies a play. The values are Retrosheet's event codes.
type PlayKind uint8

// The kinds of play. From StolenBase to FoulError the batter stays at bat.
const (
	NoKind    PlayKind = iota
	NoPlay             // nothing moved: records the count when a player is replaced in mid-count
	BattedOut          // a batted ball with an out and no other kind: fly-outs, ground-outs, force-outs, double plays
	Strikeout
	StolenBase
	Indifference
	CaughtStealing
	_ // pick-off error, no longer used by Retrosheet
	PickOff
	WildPitch
	PassedBall
	Balk
	OtherAdvance // an advance of no other kind
	FoulError    // a dropped foul fly: the batter stays at bat
	Walk
	IntentionalWalk
	HitByPitch
	CatchersInterference // or another fielder's: the batter is awarded first
	ReachedOnError
	FieldersChoice // no out, or out trying for an extra base; the batter could have been
	Single
	Double
	Triple
	HomeRun
)

const playKindNames names = "|no play|out|strikeout|stolen base|indifference|caught stealing|?|pick-off|" +
	"wild pitch|passed ball|balk|" +
	"other advance|foul error|walk|intentional walk|hit by pitch|interference|error|fielder's choice|" +
	"single|double|triple|home run"

func (k PlayKind) String() string { return playKindNames.name(uint8(k)) }

// MarshalText returns the kind's name.
func (k PlayKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name.
func (k *PlayKind) UnmarshalText(text []byte) error {
	return parse(k, "kind of play", playKindNames, text)
}

// EndsPlateAppearance reports whether the play ends the batter's plate appearance.
func (k PlayKind) EndsPlateAppearance() bool { return k == BattedOut || k == Strikeout || k >= Walk }

// IsHit reports whether the kind is a safe hit; its bases are k-Single+1.
func (k PlayKind) IsHit() bool { return k >= Single && k <= HomeRun }

// IsInPlay reports whether the batter put the ball in play.
func (k PlayKind) IsInPlay() bool { return k == BattedOut || k >= ReachedOnError }

// A Base is where a runner starts or ends a play.
type Base uint8

// AtBat is the batter's start, HomePlate a run. As a destination AtBat means that the runner stays.
const (
	AtBat Base = iota
	First
	Second
	Third
	HomePlate
)

// An Advance is what the batter or one runner did. Empty: stayed, was put out, or does not exist.
type Advance struct {
	To     Base          `json:"to,omitzero"`
	Reason AdvanceReason `json:"why,omitzero"`    // if it is not the play itself
	Earned Ruling        `json:"earned,omitzero"` // of a run; missing: by the rules (9.16)
	RBI    Ruling        `json:"rbi,omitzero"`    // of a run; missing: by the rules (9.04)
}

// AdvanceReason explains an advance or an attempt that the play's kind does not.
type AdvanceReason uint8

// The reasons. A runner with an attempt (Stole to PickedOffStealing) who is not in Outs was safe; one caught or
// picked off and yet safe needs an error.
const (
	ByPlay            AdvanceReason = iota // the batted ball, the walk, the balk: the PlayKind itself
	Stole                                  // credited with the next base; anything beyond needs an error
	Caught                                 // caught stealing, or would have been but for an error
	PickedOff                              // off the base the runner occupied
	PickedOffStealing                      // picked off going to the next base; counts as caught stealing
	OnWildPitch                            // with a strikeout, walk or steal
	OnPassedBall
	OnError // took the base because of an error
	OnThrow // during a throw to another base
)

// A Ruling is the scorer's decision on a run.
type Ruling uint8

// The rulings. TeamOnly: unearned for the team, earned for the relief pitcher (9.16(i)).
const (
	ByRule Ruling = iota
	Yes
	No
	TeamOnly
)

// Outs are the outs of a play.
type Outs [4]Out // the first zero Out ends the list

// Count returns the number of outs.
func (o *Outs) Count() int {
	n := 0
	for n < len(o) && o[n].Kind != NotOut {
		n++
	}
	return n
}

// An Out is one put-out.
type Out struct {
	Runner   Base    `json:"who"`         // where the player who is out started
	At       Base    `json:"at,omitzero"` // base of the put-out, if it was made at one
	Kind     OutKind `json:"how"`
	Fielders string  `json:"by"` // positions in order: the last gets the put-out, the others assists
}

// OutKind classifies an out. It decides whether a run on the third out counts (5.08(a)).
type OutKind uint8

// The kinds of out.
const (
	NotOut         OutKind = iota
	StruckOut              // third strike, caught or not
	FlyOut                 // batted ball caught, infield fly, or out at the plate (foul bunt, batter interference)
	OutBeforeFirst         // batter-runner put out before touching first
	ForceOut               // runner put out at a base that had to be reached
	TagOut                 // runner put out where no force was on
	AppealOut              // runner out on appeal: left early, missed a base
	CalledOut              // runner out by rule: interference, touched by the ball, passed another runner
)

// Errors are the fielding errors of a play.
type Errors [4]Error // the first zero Error ends the list

// Error is one fielding error.
type Error struct {
	Fielder uint8     `json:"by" minimum:"1" maximum:"9"` // position of the fielder
	Kind    ErrorKind `json:"kind"`
	Runner  Base      `json:"who"`            // where the player who profits started
	Assists string    `json:"after,omitzero"` // positions of fielders with an assist before it
}

// ErrorKind classifies a fielding error.
type ErrorKind uint8

// The kinds of error.
const (
	FieldingError ErrorKind = iota // a ball in play, or a throw (then Assists names the thrower), not handled
	ThrowingError
)

// BattedBall describes how and where the ball was hit.
type BattedBall struct {
	Contact  Contact  `json:"contact,omitzero"`
	Location string   `json:"place,omitzero"` // Retrosheet's hit location
	Strength Strength `json:"force,omitzero"`
}

// Contact is the trajectory of a batted ball.
type Contact uint8

// The contacts.
const (
	NoContact Contact = iota
	GroundBall
	FlyBall
	LineDrive
	PopUp
	BuntGround
	BuntPopUp
	BuntLineDrive
)

// IsBunt reports whether the ball was bunted.
func (c Contact) IsBunt() bool { return c >= BuntGround }

// Strength is the hardness of a batted ball, Retrosheet's + and -.
type Strength int8

// The strengths.
const (
	Soft     Strength = -1
	Unmarked Strength = 0
	Hard     Strength = 1
)

// Flags are facts about a play that the rules or the scorer need.
type Flags uint16

// The flags.
const (
	SacrificeHit           Flags = 1 << iota // 9.08(a)
	SacrificeFly                             // 9.08(d)
	GroundedIntoDoublePlay                   // 9.02(a)(17): force or reverse-force double play
	NoDoublePlay                             // two outs, but not in one continuous play (9.11)
	Foul                                     // a foul ball caught or dropped
	InfieldFly                               // called
	Appeal                                   // an appeal play
	BatterInterference
	RunnerInterference
	GroundRuleDouble
	InsideTheParkHomeRun   // ends a game like any other hit (9.06(f))
	OutOfTurn              // Batter is not the batter due, and there was no appeal (6.03(b)(5))
	OutForBattingOutOfTurn // the proper batter is out on appeal (6.03(b)(3))
	AsRuled                // ruled so although 5.08(a) or rule 9 disagrees: for replays of real games only
)

// Has reports whether all flags of g are set.
func (f Flags) Has(g Flags) bool { return f&g == g }

// Count is balls and strikes.
type Count struct {
	Balls   int8 `json:"balls" minimum:"0" maximum:"4"`
	Strikes int8 `json:"strikes" minimum:"0" maximum:"3"`
}

// After returns the count after a pitch in Retrosheet's letters. Four balls or three strikes end the plate
// appearance; letters that are no pitch, or put the ball in play, change nothing.
func (c Count) After(letter byte) Count {
	switch letter {
	case 'B', 'I', 'P', 'V':
		c.Balls++
	case 'A', 'C', 'K', 'M', 'O', 'Q', 'S', 'T':
		c.Strikes++
	case 'F', 'L', 'R':
		c.Strikes = min(c.Strikes+1, 2)
	}
	return c
}

// countAfter returns the count after a play that leaves the batter at bat. A steal or a wild pitch has its pitch,
// the last of Pitches, on top of Count; a pick-off has none.
func (p *Play) countAfter() Count {
	if p.Kind == NoPlay || p.Pitches == "" {
		return p.Count
	}
	c := p.Count.After(p.Pitches[len(p.Pitches)-1])
	return Count{Balls: min(c.Balls, 3), Strikes: min(c.Strikes, 2)}
}
