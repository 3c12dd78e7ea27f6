package game

import (
	"encoding/json"
	"fmt"
)

// The names of a play's enumerations. Journals and clients store them: a name is never changed, only added.
const (
	baseNames          names = "batter|first|second|third|home"
	advanceReasonNames names = "|stolen base|caught stealing|picked off|picked off stealing|wild pitch|passed ball|error|throw"
	rulingNames        names = "|yes|no|team only"
	outKindNames       names = "|strikeout|fly out|before first|force out|tag out|appeal|called out"
	errorKindNames     names = "fielding|throwing"
	contactNames       names = "|ground ball|fly ball|line drive|pop-up|bunt ground ball|bunt pop-up|bunt line drive"
	flagNames          names = "sacrifice hit|sacrifice fly|grounded into double play|no double play|foul|infield fly|appeal|batter interference|runner interference|ground-rule double|inside-the-park home run|out of turn|out for batting out of turn|as ruled"
)

func (b Base) String() string { return baseNames.name(uint8(b)) }

// MarshalText returns the base's name.
func (b Base) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalJSON reads a base's name, or its number from a journal of version 1.
func (b *Base) UnmarshalJSON(data []byte) error {
	v, err := baseNames.parseJSON("base", data)
	*b = Base(v)
	return err
}

func (r AdvanceReason) String() string { return advanceReasonNames.name(uint8(r)) }

// MarshalText returns the reason's name.
func (r AdvanceReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalJSON reads a reason's name, or its number from a journal of version 1.
func (r *AdvanceReason) UnmarshalJSON(data []byte) error {
	v, err := advanceReasonNames.parseJSON("reason of an advance", data)
	*r = AdvanceReason(v)
	return err
}

func (r Ruling) String() string { return rulingNames.name(uint8(r)) }

// MarshalText returns the ruling's name.
func (r Ruling) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalJSON reads a ruling's name, or its number from a journal of version 1.
func (r *Ruling) UnmarshalJSON(data []byte) error {
	v, err := rulingNames.parseJSON("ruling", data)
	*r = Ruling(v)
	return err
}

func (k OutKind) String() string { return outKindNames.name(uint8(k)) }

// MarshalText returns the kind's name.
func (k OutKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalJSON reads a kind's name, or its number from a journal of version 1.
func (k *OutKind) UnmarshalJSON(data []byte) error {
	v, err := outKindNames.parseJSON("kind of out", data)
	*k = OutKind(v)
	return err
}

func (k ErrorKind) String() string { return errorKindNames.name(uint8(k)) }

// MarshalText returns the kind's name.
func (k ErrorKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalJSON reads a kind's name, or its number from a journal of version 1.
func (k *ErrorKind) UnmarshalJSON(data []byte) error {
	v, err := errorKindNames.parseJSON("kind of error", data)
	*k = ErrorKind(v)
	return err
}

func (c Contact) String() string { return contactNames.name(uint8(c)) }

// MarshalText returns the contact's name.
func (c Contact) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalJSON reads a contact's name, or its number from a journal of version 1.
func (c *Contact) UnmarshalJSON(data []byte) error {
	v, err := contactNames.parseJSON("contact", data)
	*c = Contact(v)
	return err
}

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

// UnmarshalJSON reads "soft" or "hard", or -1 or 1 from a journal of version 1.
func (s *Strength) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case `"soft"`, "-1":
		*s = Soft
	case `"hard"`, "1":
		*s = Hard
	case `""`, "0":
		*s = Unmarked
	default:
		return fmt.Errorf("unknown strength %s", data)
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

// UnmarshalJSON reads a list of names, or the sum of the flags from a journal of version 1.
func (f *Flags) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] != '[' {
		var sum uint16
		if err := json.Unmarshal(data, &sum); err != nil || Flags(sum) >= AsRuled<<1 {
			return fmt.Errorf("unknown flags %s", data)
		}
		*f = Flags(sum)
		return nil
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("read flags: %w", err)
	}
	*f = 0
	for _, name := range list {
		i, err := flagNames.parse("flag", []byte(name))
		if err != nil {
			return err
		}
		*f |= 1 << i
	}
	return nil
}

// MarshalJSON returns the outs without the empty rest.
func (o Outs) MarshalJSON() ([]byte, error) {
	n := 0
	for n < len(o) && o[n].Kind != NotOut {
		n++
	}
	return json.Marshal(o[:n])
}

// MarshalJSON returns the errors without the empty rest.
func (e Errors) MarshalJSON() ([]byte, error) {
	n := 0
	for n < len(e) && e[n].Fielder != 0 {
		n++
	}
	return json.Marshal(e[:n])
}
