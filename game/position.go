package game

// A Position is where a player stands, numbered as in every scorebook.
type Position uint8

// The nine fielders and the three that stand only in a batting order. The zero value is no position.
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
	PinchHitter // until he takes the field
	PinchRunner // until he takes the field
)

const positionNames names = "|P|C|1B|2B|3B|SS|LF|CF|RF|DH|PH|PR"

// String returns the position's abbreviation, "SS".
func (p Position) String() string { return positionNames.name(uint8(p)) }

// IsFielder reports whether the position is one of the nine on the field.
func (p Position) IsFielder() bool { return p >= Pitcher && p <= RightField }

// MarshalText writes the abbreviation.
func (p Position) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads an abbreviation. An unknown word is [NoPosition], which every check refuses with its path.
func (p *Position) UnmarshalText(text []byte) error {
	i, _ := positionNames.value(string(text))
	*p = Position(i)
	return nil
}
