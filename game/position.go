package game

// A Position is a fielding position or a role in the batting order, numbered as in every scorebook.
type Position uint8

// The nine fielders and the three roles without a fielding position. The zero value is no position.
const (
	NoPosition Position = iota
	Pitcher
	Catcher
	FirstBase
	SecondBase
	ThirdBase
	Shortstop
	LeftField
	CenterField
	RightField
	DesignatedHitter
	PinchHitter // until moved to the field
	PinchRunner // until moved to the field
)

const positionNames names = "|P|C|1B|2B|3B|SS|LF|CF|RF|DH|PH|PR"

// String returns the position's abbreviation, "SS".
func (p Position) String() string { return positionNames.name(uint8(p)) }

// IsFielder reports whether the position is one of the nine on the field.
func (p Position) IsFielder() bool { return p >= Pitcher && p <= RightField }

// MarshalText returns the abbreviation.
func (p Position) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads an abbreviation. An unknown one becomes [NoPosition], which line-up and substitution checks
// refuse.
func (p *Position) UnmarshalText(text []byte) error {
	i, _ := positionNames.value(string(text))
	*p = Position(i)
	return nil
}
