package auth

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Lengths of a passphrase, in characters.
const (
	MinPassphraseLength = 8
	MaxPassphraseLength = 128
)

// Errors of [CheckPassphrase].
var (
	ErrPassphraseTooShort  = fmt.Errorf("a passphrase has at least %d characters", MinPassphraseLength)
	ErrPassphraseTooLong   = fmt.Errorf("a passphrase has at most %d characters", MaxPassphraseLength)
	ErrPassphraseTooCommon = errors.New("this passphrase is among the most common ones")
)

//go:embed common.txt
var common string

// CheckPassphrase returns what is wrong with a new passphrase. Any characters are
// allowed; only exact entries of common.txt are refused.
func CheckPassphrase(passphrase string) error {
	switch n := utf8.RuneCountInString(passphrase); {
	case n < MinPassphraseLength:
		return ErrPassphraseTooShort
	case n > MaxPassphraseLength:
		return ErrPassphraseTooLong
	case !strings.Contains(passphrase, "\n") && strings.Contains("\n"+common, "\n"+passphrase+"\n"):
		return ErrPassphraseTooCommon
	default:
		return nil
	}
}
