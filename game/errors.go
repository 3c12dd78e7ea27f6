package game

import (
	"errors"
	"fmt"
	"strings"
)

// IllegalError is the rule that a play, a substitution or a line-up breaks.
type IllegalError struct {
	Rule   string // paragraph of the Official Baseball Rules: "5.08(a)"; "" for a contradictory or malformed play
	Detail string // what is wrong, in English
}

func (e *IllegalError) Error() string {
	if e.Rule == "" {
		return e.Detail
	}
	return "rule " + e.Rule + ": " + e.Detail
}

// IsJudgment reports whether the umpire or scorer of a real game may have ruled otherwise. A play that breaks such a
// rule is legal with the flag AsRuled.
func (e *IllegalError) IsJudgment() bool {
	return strings.HasPrefix(e.Rule, "9.") || strings.HasPrefix(e.Rule, "5.08(a)") ||
		strings.HasPrefix(e.Rule, "5.06(b)(3)") || strings.HasPrefix(e.Rule, "5.06(b)(4)") || // awards
		e.Rule == "5.05(a)(2)" || e.Rule == "5.09(a)(5)"
}

func isJudgmentError(err error) bool {
	var broken *IllegalError
	return errors.As(err, &broken) && broken.IsJudgment()
}

func illegal(rule, format string, args ...any) error {
	return &IllegalError{Rule: rule, Detail: fmt.Sprintf(format, args...)}
}
