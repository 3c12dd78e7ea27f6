package game

import "fmt"

// IllegalError says which rule a play, a substitution or a line-up breaks.
type IllegalError struct {
	Rule   string // paragraph of the Official Baseball Rules: "5.08(a)"; "" when the play does not even make sense
	Detail string // what is wrong, for people
}

func (e *IllegalError) Error() string {
	if e.Rule == "" {
		return e.Detail
	}
	return "rule " + e.Rule + ": " + e.Detail
}

func illegal(rule, format string, args ...any) error {
	return &IllegalError{Rule: rule, Detail: fmt.Sprintf(format, args...)}
}
