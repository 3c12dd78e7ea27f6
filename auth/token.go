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

// A TokenKind is the purpose of a token and its first three characters, so that
// people and secret scanners recognize a leaked one.
type TokenKind string

// The kinds of token.
const (
	KindAccess  TokenKind = "xa_" // an hour of one session
	KindRefresh TokenKind = "xr_" // the next pair of a session, once
	KindAPI     TokenKind = "xt_" // permission to announce
	KindInvite  TokenKind = "xi_" // one new account
)

const secretLen = 43 // 32 bytes in unpadded base64url

// A Token is 256 random bits with a [TokenKind]. It prints, logs and marshals as
// its kind alone; only [Token.Reveal] returns the secret. The zero Token is none.
type Token struct{ kind, secret string }

// A Hash is the SHA-256 of a token or another secret. Only hashes are stored.
type Hash [sha256.Size]byte

// HashOf returns the hash of a secret.
func HashOf(secret string) Hash { return sha256.Sum256([]byte(secret)) }

// MarshalText returns the hash in hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h[:])), nil }

// UnmarshalText parses the output of [Hash.MarshalText].
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(h) {
		return fmt.Errorf("parse a hash of %d characters: want %d hexadecimal digits", len(text), 2*len(h))
	}
	copy(h[:], b)
	return nil
}

// NewToken returns a new random token.
func NewToken(kind TokenKind) Token { return Token{string(kind), NewSecret()} }

// NewSecret returns 256 random bits as 43 characters of base64url.
func NewSecret() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	return base64.RawURLEncoding.EncodeToString(b)
}

// NewID returns 80 random bits as 16 characters, for identifiers that are not
// secret.
func NewID() string { return strings.ToLower(rand.Text()[:16]) }

// ParseToken parses a token of a known kind. Each token has exactly one accepted
// spelling.
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
	_, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	if err != nil || strings.ContainsAny(secret, "\r\n") {
		return Token{}, false
	}
	return Token{kind, secret}, true
}

// Kind returns the kind of the token.
func (t Token) Kind() TokenKind { return TokenKind(t.kind) }

// Hash returns the hash under which the token is stored.
func (t Token) Hash() Hash { return HashOf(t.Reveal()) }

// Reveal returns the token as text, for the one response that carries it.
func (t Token) Reveal() string { return t.kind + t.secret }

// String hides the secret.
func (t Token) String() string { return t.kind + "…" }

// GoString hides the secret from %#v.
func (t Token) GoString() string { return t.String() }

// LogValue hides the secret.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText hides the secret.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Successors returns the pair that follows the refresh token t for a salt. The
// same t and salt always yield the same pair, so several tabs, a repeated request
// and a restarted server get one answer, although only the salt is stored. The
// salt alone reveals nothing.
func (t Token) Successors(salt []byte) TokenPair {
	return TokenPair{t.derive(KindAccess, salt), t.derive(KindRefresh, salt)}
}

func (t Token) derive(kind TokenKind, salt []byte) Token {
	mac := hmac.New(sha256.New, []byte(t.secret))
	mac.Write([]byte(kind))
	mac.Write(salt)
	return Token{string(kind), base64.RawURLEncoding.EncodeToString(mac.Sum(nil))}
}
