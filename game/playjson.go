package game

import (
	"encoding/json"
	"fmt"
)

// The names of a play's enumerations. Journals and clients store them: a name is never changed, only added.
const (
	baseNames          names = "batter|first|second|third|home"
	advanceReasonNames names = "|stolen base|caught stealing|picked off|picked off stealing|wild pitch|" +
		"passed ball|error|throw"
	rulingNames    names = "|yes|no|team only"
	outKindNames   names = "|strikeout|fly out|before first|force out|tag out|appeal|called out"
	errorKindNames names = "fielding|throwing"
	contactNames   names = "|ground ball|fly ball|line drive|pop-up|bunt ground ball|bunt pop-up|bunt line drive"
	flagNames      names = "sacrifice hit|sacrifice fly|grounded into double play|no double play|foul|" +
		"infield fly|appeal|" +
		"batter interference|runner interference|ground-rule double|inside-the-park home run|out of turn|" +
		"out for batting out of turn|as ruled"
)

func (b Base) String() string { return baseNames.name(uint8(b)) }

// MarshalText returns the base's name.
func (b Base) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads a base's name.
func (b *Base) UnmarshalText(text []byte) error { return parse(b, "base", baseNames, text) }

func (r AdvanceReason) String() string { return advanceReasonNames.name(uint8(r)) }

// MarshalText returns the reason's name.
func (r AdvanceReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a reason's name.
func (r *AdvanceReason) UnmarshalText(text []byte) error {
	return parse(r, "reason of an advance", advanceReasonNames, text)
}

func (r Ruling) String() string { return rulingNames.name(uint8(r)) }

// MarshalText returns the ruling's name.
func (r Ruling) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a ruling's name.
func (r *Ruling) UnmarshalText(text []byte) error { return parse(r, "ruling", rulingNames, text) }

func (k OutKind) String() string { return outKindNames.name(uint8(k)) }

// MarshalText returns the kind's name.
func (k OutKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name.
func (k *OutKind) UnmarshalText(text []byte) error {
	return parse(k, "kind of out", outKindNames, text)
}

func (k ErrorKind) String() string { return errorKindNames.name(uint8(k)) }

// MarshalText returns the kind's name.
func (k ErrorKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name.
func (k *ErrorKind) UnmarshalText(text []byte) error {
	return parse(k, "kind of error", errorKindNames, text)
}

func (c Contact) String() string { return contactNames.name(uint8(c)) }

// MarshalText returns the contact's name.
func (c Contact) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a contact's name.
func (c *Contact) UnmarshalText(text []byte) error { return parse(c, "contact", contactNames, text) }

func (s Strength) String() string {
	switch {
	case s < Unmarked:
		return "soft"
	case s > Unmarked:
		return "hard"
	default:
		return ""
	}
}

// MarshalText returns "soft" or "hard".
func (s Strength) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads "soft", "hard" or "".
func (s *Strength) UnmarshalText(text []byte) error {
	switch string(text) {
	case "soft":
		*s = Soft
	case "hard":
		*s = Hard
	case "":
		*s = Unmarked
	default:
		return fmt.Errorf("unknown strength %q", text)
	}
	return nil
}

// MarshalJSON returns the list of the flags' names, lowest flag first.
func (f Flags) MarshalJSON() ([]byte, error) {
	list := []string{}
	for i := uint8(0); f>>i != 0; i++ {
		if f>>i&1 != 0 {
			list = append(list, flagNames.name(i))
		}
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads a list of names.
func (f *Flags) UnmarshalJSON(data []byte) error {
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("read flags: %w", err)
	}
	*f = 0
	for _, name := range list {
		i, ok := flagNames.value(name)
		if !ok {
			return fmt.Errorf("unknown flag %q", name)
		}
		*f |= 1 << i
	}
	return nil
}

// MarshalJSON returns the outs without the empty rest.
func (o Outs) MarshalJSON() ([]byte, error) {
	return json.Marshal(o[:o.Count()])
}

// MarshalJSON returns the errors without the empty rest.
func (e Errors) MarshalJSON() ([]byte, error) {
	n := 0
	for n < len(e) && e[n].Fielder != 0 {
		n++
	}
	return json.Marshal(e[:n])
}
