package game

// A Play is one thing that happened between two pitches, told completely: where the batter and each runner ended, which
// outs were made in which order and how, who is credited and who erred. The zero value is no play; it is refused.
//
// A plain out to short: Play{Kind: BattedOut, Ball: Ball{Contact: Ground, Place: "6"}, Outs: [4]Out{{Who: AtBat, At: First,
// How: BeforeFirst, By: "63"}}}. A play without outs and errors is its Kind and its Runs.
type Play struct {
	Kind           PlayKind   `json:"kind"`
	Also           PlayKind   `json:"also,omitzero"`   // second event on the same pitch: a strikeout or a walk with a steal, a wild pitch, …
	Batter         PlayerID   `json:"batter,omitzero"` // who bats; "" means who is due. Another one needs the OutOfTurn flag
	Flags          Flags      `json:"flags,omitzero"`
	Ball           BattedBall `json:"ball,omitzero"`
	Advances       [4]Advance `json:"runs"`             // by the base each started from: 0 the batter, then the runners from first, second, third
	Outs           [4]Out     `json:"outs,omitzero"`    // in the order they were made; ends at the first zero. The fourth only as an appeal that replaces the third
	Errors         [4]Error   `json:"errors,omitzero"`  // in the order they were made; ends at the first zero
	FieldedBy      string     `json:"touched,omitzero"` // digits of the fielders who handled a hit, or a fielder's choice without an out: "7" of a single to left, "6" of FC6
	Count          Count      `json:"count,omitzero"`   // before the pitch on which it happened; at the time, if there was none
	Pitches        string     `json:"pitches,omitzero"` // of the whole plate appearance so far, in Retrosheet's letters
	OtherModifiers string     `json:"notes,omitzero"`   // further Retrosheet modifiers without meaning to the rules: "R6/TH"
}

// PlayKind says what a play was. The numbers are those of Retrosheet's event codes, so that the two can be compared.
type PlayKind uint8

// The kinds. From StolenBase to FoulError the batter stays at bat.
const (
	NoKind    PlayKind = iota
	NoPlay             // nothing moved: the count at a dead ball, when someone is replaced in mid-count
	BattedOut          // a batted ball on which someone is out and no other kind fits: fly-outs, ground-outs, force-outs, double plays
	Strikeout
	StolenBase
	Indifference
	CaughtStealing
	_ // a pick-off error, which Retrosheet no longer uses
	PickOff
	WildPitch
	PassedBall
	Balk
	OtherAdvance // an advance that nothing else explains
	FoulError    // a foul fly dropped: the batter bats on
	Walk
	IntentionalWalk
	HitByPitch
	CatchersInterference // or another fielder's: the batter is awarded first
	ReachedOnError
	FieldersChoice // nobody out, or out trying for an extra base; the batter could have been
	Single
	Double
	Triple
	HomeRun
)

const kindsWords vocabulary = "|no play|out|strikeout|stolen base|indifference|caught stealing|?|pick-off|wild pitch|passed ball|balk|other advance|foul error|walk|intentional walk|hit by pitch|interference|error|fielder's choice|single|double|triple|home run"

func (k PlayKind) String() string { return kindsWords.text(uint8(k)) }

// MarshalText writes the kind's name.
func (k PlayKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name.
func (k *PlayKind) UnmarshalText(text []byte) error {
	i, err := kindsWords.parse("kind of play", text)
	*k = PlayKind(i)
	return err
}

// EndsPlateAppearance reports whether the play ends the batter's turn at bat.
func (k PlayKind) EndsPlateAppearance() bool { return k == BattedOut || k == Strikeout || k >= Walk }

// IsHit reports whether the kind is a safe hit; its bases are k-Single+1.
func (k PlayKind) IsHit() bool { return k >= Single && k <= HomeRun }

// IsInPlay reports whether the batter put the ball in play.
func (k PlayKind) IsInPlay() bool { return k == BattedOut || k >= ReachedOnError }

// A Base is a place of a runner: where he started or where he ended.
type Base uint8

// AtBat is where the batter starts, HomePlate where a run is scored. As a destination the zero value means "stays".
const (
	AtBat Base = iota
	First
	Second
	Third
	HomePlate
)

const basesWords vocabulary = "the plate|first|second|third|home"

func (b Base) String() string { return basesWords.text(uint8(b)) }

// An Advance is what one man on the bases did. The zero value: he stayed where he was, or is in Outs, or there is no one.
type Advance struct {
	To     Base          `json:"to,omitzero"` // 0 stays, or is out, or for the batter: bats on or was put out
	Reason AdvanceReason `json:"why,omitzero"`
	Earned Ruling        `json:"earned,omitzero"` // of a run scored: 0 lets the Book reconstruct the inning (9.16)
	RBI    Ruling        `json:"rbi,omitzero"`    // of a run scored: 0 lets the Book apply 9.04
}

// AdvanceReason says what moved a runner, where it is not simply the play's kind.
type AdvanceReason uint8

// The reasons. A runner with an attempt (Stole … PickedOffStealing) who is not in Outs was safe; when caught or picked off and yet
// safe, an error explains it.
const (
	ByPlay            AdvanceReason = iota // the batted ball, the walk, the balk: the Kind itself
	Stole                                  // is credited with the next base; if he went further, an error explains it
	Caught                                 // caught stealing, or would have been but for an error
	PickedOff                              // off the base he held
	PickedOffStealing                      // picked off going to the next base; counts as caught stealing
	OnWildPitch                            // beside a strikeout, walk or steal
	OnPassedBall
	OnError // an error let him advance to where he is
	OnThrow // while the defence threw elsewhere
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

// An Out is one put-out.
type Out struct {
	Runner   Base    `json:"who"` // AtBat or the base he started from
	At       Base    `json:"at"`  // the base where it was made; 0: in the air, at the plate before he ran, or nowhere
	Kind     OutKind `json:"how"`
	Fielders string  `json:"by"` // the fielders in order, the last has the put-out, the others assists: "643". "" if nobody knows
}

// OutKind says how an out was made; it decides whether runs on a third out count (5.08(a)).
type OutKind uint8

// The ways.
const (
	NotOut         OutKind = iota
	StruckOut              // third strike, caught or not
	FlyOut                 // batted ball caught, infield fly, or called out at the plate (foul bunt, batter's interference)
	OutBeforeFirst         // batter-runner put out before he touched first
	ForceOut               // runner put out at a base he had to leave for
	TagOut                 // runner put out where he was not forced
	AppealOut              // runner out on appeal: left early, missed a base
	CalledOut              // runner out by rule: interference, struck by the ball, passed another
)

// Error is a fielding error.
type Error struct {
	Fielder uint8     `json:"by"` // position 1–9; 0 is no error
	Kind    ErrorKind `json:"kind,omitzero"`
	Runner  Base      `json:"who"`            // the man it helped: AtBat or the base he started from
	Assists string    `json:"after,omitzero"` // fielders with an assist before it: "6" of 6E3
}

// ErrorKind says what went wrong.
type ErrorKind uint8

// The kinds of error.
const (
	FieldingError ErrorKind = iota // the ball in play, or a throw (then After says whose)
	ThrowingError                  // a bad throw
)

// BattedBall is a batted ball.
type BattedBall struct {
	Contact  Contact `json:"contact,omitzero"`
	Location string  `json:"place,omitzero"` // Retrosheet's zone: "7", "56", "89XD"
	Strength int8    `json:"force,omitzero"` // -1 soft, 1 hard
}

// Contact is how a batted ball left the bat.
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

// Flags are facts about a play that the rules or the scorer ask for.
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
	GroundRuleDouble       // a double by ground rule
	InsideTheParkHomeRun   // a home run inside the park: ends a game like any other hit (9.06(f))
	OutOfTurn              // Batter is not who was due and nobody appealed (6.03(b)(5))
	OutForBattingOutOfTurn // the proper batter is out on appeal (6.03(b)(3))
	AsRuled                // so it was ruled, although 5.08(a) or rule 9 says otherwise: for replays of real games only
)

// Has reports whether all flags of g are set.
func (f Flags) Has(g Flags) bool { return f&g == g }

// Count is balls and strikes.
type Count struct {
	Balls   int8 `json:"balls"`
	Strikes int8 `json:"strikes"`
}

// After returns the count after a pitch in Retrosheet's letters. Four balls or three strikes end the turn; letters that are
// no pitch, or put the ball in play, change nothing.
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

// countAfter returns the count after a play that leaves the batter at bat. A steal or a wild pitch has its pitch, the last
// of Pitches, on top of Count; a pick-off has none.
func (p *Play) countAfter() Count {
	if p.Kind == NoPlay || p.Pitches == "" {
		return p.Count
	}
	c := p.Count.After(p.Pitches[len(p.Pitches)-1])
	return Count{Balls: min(c.Balls, 3), Strikes: min(c.Strikes, 2)}
}
