package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
)

// A TokenKind is what a token is for; it is also the token's first three characters,
// so that a leaked one can be recognised by sight and by secret scanners.
type TokenKind string

// The kinds of token.
const (
	KindAccess  TokenKind = "xa_" // an hour of one session
	KindRefresh TokenKind = "xr_" // the session's next pair, once
	KindAPI     TokenKind = "xt_" // a machine's permission to announce
	KindInvite  TokenKind = "xi_" // one new account
)

const secretLen = 43 // 32 bytes in unpadded base64url

// A Token is 256 random bits behind a [TokenKind]. It prints, logs and marshals as
// its kind alone; only [Token.Reveal] gives it away. The zero Token is none.
type Token struct{ kind, secret string }

// A Hash is the SHA-256 of a token or of another secret: what is kept of it.
type Hash [sha256.Size]byte

// HashOf is the hash of any secret string.
func HashOf(secret string) Hash { return sha256.Sum256([]byte(secret)) }

// MarshalText writes the hash in hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h[:])), nil }

// UnmarshalText reads what [Hash.MarshalText] wrote.
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(h) {
		return fmt.Errorf("read a hash of %d characters: want %d hexadecimal digits", len(text), 2*len(h))
	}
	copy(h[:], b)
	return nil
}

// NewToken makes a token.
func NewToken(kind TokenKind) Token { return Token{string(kind), NewSecret()} }

// NewSecret makes 256 random bits, as 43 characters of base64url.
func NewSecret() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseToken reads a token of a known kind. Whatever else it is given, it says
// ok = false: there is one spelling of a token and no other.
func ParseToken(s string) (t Token, ok bool) {
	if len(s) != len(KindAccess)+secretLen {
		return Token{}, false
	}
	kind, secret := s[:len(KindAccess)], s[len(KindAccess):]
	switch TokenKind(kind) {
	case KindAccess, KindRefresh, KindAPI, KindInvite:
	default:
		return Token{}, false
	}
	if _, err := base64.RawURLEncoding.Strict().DecodeString(secret); err != nil || strings.ContainsAny(secret, "\r\n") {
		return Token{}, false
	}
	return Token{kind, secret}, true
}

// Kind is what the token is for.
func (t Token) Kind() TokenKind { return TokenKind(t.kind) }

// Hash is what is kept of the token.
func (t Token) Hash() Hash { return HashOf(t.Reveal()) }

// Reveal is the token itself, for the one answer that carries it.
func (t Token) Reveal() string { return t.kind + t.secret }

// String hides the token.
func (t Token) String() string { return t.kind + "…" }

// GoString hides the token from %#v too.
func (t Token) GoString() string { return t.String() }

// LogValue hides the token.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText hides the token.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// next is the token of the given kind that follows t, for one salt. Whoever
// holds t and the salt finds the same one again, so that several tabs, a second
// attempt and a restarted daemon give one answer without any token being kept;
// from the salt alone, which is all that is kept, nothing follows.
func (t Token) next(kind TokenKind, salt []byte) Token {
	mac := hmac.New(sha256.New, []byte(t.secret))
	mac.Write([]byte(kind))
	mac.Write(salt)
	return Token{string(kind), base64.RawURLEncoding.EncodeToString(mac.Sum(nil))}
}

// newID makes 80 random bits as 16 characters, for names that are no secret.
func newID() string { return strings.ToLower(rand.Text()[:16]) }
