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
	MinPassphrase = 8
	MaxPassphrase = 128
)

// What is wrong with a passphrase.
var (
	ErrTooShort  = fmt.Errorf("a passphrase has at least %d characters", MinPassphrase)
	ErrTooLong   = fmt.Errorf("a passphrase has at most %d characters", MaxPassphrase)
	ErrTooCommon = errors.New("this passphrase is among the first that anybody would try")
)

//go:embed common.txt
var common string

// CheckPassphrase says what is wrong with a new passphrase. Any characters will
// do; only the very passphrases of common.txt are refused.
func CheckPassphrase(passphrase string) error {
	switch n := utf8.RuneCountInString(passphrase); {
	case n < MinPassphrase:
		return ErrTooShort
	case n > MaxPassphrase:
		return ErrTooLong
	case !strings.Contains(passphrase, "\n") && strings.Contains("\n"+common, "\n"+passphrase+"\n"):
		return ErrTooCommon
	default:
		return nil
	}
}
