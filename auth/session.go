package auth

import (
	"net/netip"
	"strings"
	"time"

	"pressbox/auth/netblock"
	"pressbox/store/clock"
)

// A Device describes where a session was opened, enough for users to recognize
// their own devices.
type Device struct {
	Agent   string `json:"agent"`   // "Firefox on Linux", see [Agent]
	Network string `json:"network"` // "192.168.1.0/24", see [Network]
}

// A Session is one sign-in of one browser or program: a family of refresh
// tokens, each the successor of another.
type Session struct {
	ID       string          `json:"id"`
	Account  string          `json:"account"`
	Method   string          `json:"method"` // provider that opened it
	Device   Device          `json:"device"`
	Started  clock.Instant   `json:"made"`
	Renewed  clock.Instant   `json:"used"`
	Renewals []clock.Instant `json:"recent,omitempty"` // of the last hour, at most [MaxRenewals], the oldest first
	Proven   clock.Instant   `json:"proven,omitzero"`  // when the passphrase was entered again; zero: never
	Ended    EndReason       `json:"ended,omitempty"`  // "" while it is live
	// Tokens has the keys of its tokens in base64: of pairs of an access and a refresh token, the current pair last.
	Tokens string `json:"tokens,omitempty"`
}

// An EndReason records why a session ended before its time.
type EndReason string

// The reasons.
const (
	EndedByLogout    EndReason = "logout"
	EndedByNewSignIn EndReason = "replaced" // another sign-in in the same browser
	EndedByReuse     EndReason = "reuse"    // a refresh token was used a second time
	EndedByOwner     EndReason = "revoked"  // by the account's user, from another device
	EndedByOperator  EndReason = "operator"
)

// A TokenPair holds the two tokens of a session.
type TokenPair struct {
	Access  Token
	Refresh Token
}

// A SessionInfo is a live session as its user sees it.
type SessionInfo struct {
	Session
	Age  time.Duration // since the sign-in
	Idle time.Duration // since the last renewal; a session in use is renewed every hour
}

// An APIToken describes a token that lets a program announce, and, with Control,
// change the volume, quiet, schedules and favorites.
type APIToken struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`          // for display
	Network netip.Prefix  `json:"network"`       // where it is valid; zero: anywhere
	TTL     time.Duration `json:"ttl,omitempty"` // nanoseconds; 0: unlimited
	Control bool          `json:"control,omitempty"`
	Issued  clock.Instant `json:"made"`
	Created time.Time     `json:"created_at"`
}

// An Invite permits one new account. Its secret is not stored.
type Invite struct {
	ID   string
	Left time.Duration // until it expires
}

// RequestCredentials are the credentials of one request: its cookies and
// Authorization header, or a websocket's cookies and first frame.
type RequestCredentials struct {
	Cookies       []string   // all values of the access cookie, in order
	Authorization []string   // values of the Authorization header; none if absent
	FrameToken    string     // token of a websocket's auth frame; "" if absent
	From          netip.Addr // client address, for tokens bound to a network
}

// A Caller is what [RequestCredentials] authenticate: a signed-in account or an
// API token.
type Caller struct {
	Account Account // zero for an API token
	Session Session // zero for an API token
	// AuthAge is the time since the user was authenticated: since the sign-in, or since the
	// passphrase was entered again.
	AuthAge  time.Duration
	APIToken APIToken // zero for an account
}

// SignedIn reports whether the caller is an account, not an API token.
func (c Caller) SignedIn() bool { return c.Account.ID != "" }

// Bearer parses an Authorization header (RFC 6750 §2.1): one value, the scheme
// in any case, one token.
func Bearer(header []string) (Token, bool) {
	if len(header) != 1 {
		return Token{}, false
	}
	scheme, rest, _ := strings.Cut(header[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Token{}, false
	}
	return ParseToken(strings.TrimLeft(rest, " "))
}

// Network returns the network of an address, wide enough to identify no single
// host: /24, or /48 for IPv6. It returns "" for the zero address.
func Network(a netip.Addr) string {
	if p := netblock.WideOf(a); p.IsValid() {
		return p.String()
	}
	return ""
}

// Agent returns the browser and operating system of a User-Agent header, and
// nothing that identifies a single browser.
func Agent(header string) string {
	browser := firstMatch(header, "Unknown program", [][2]string{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"Firefox/", "Firefox"},
		{"Chromium", "Chromium"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
		{"curl/", "curl"},
	})
	system := firstMatch(header, "", [][2]string{
		{"Android", "Android"},
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Windows", "Windows"},
		{"Mac OS X", "macOS"},
		{"CrOS", "ChromeOS"},
		{"Linux", "Linux"},
	})
	if system == "" {
		return browser
	}
	return browser + " on " + system
}

// firstMatch returns the name of the first (substring, name) pair whose
// substring is in s, or fallback.
func firstMatch(s, fallback string, names [][2]string) string {
	for _, name := range names {
		if strings.Contains(s, name[0]) {
			return name[1]
		}
	}
	return fallback
}
