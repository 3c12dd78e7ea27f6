package web

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/netip"
	"os/user"
	"slices"
	"strconv"

	"pressbox/auth/netblock"
	"pressbox/voice/announce"
)

// ClientID returns the identity of the client of an authorized request:
// "account:ID" with a session, "token:DIGEST" with an API token, otherwise
// "address:BLOCK" with the block of the client's address, or of the peer's if that is unknown. On
// the administrator's socket it is "user:UID".
func (s *Server) ClientID(r *http.Request) string {
	info := infoOf(r.Context())
	if p, ok := r.Context().Value(peerKey{}).(peer); ok && info.local {
		return "user:" + strconv.Itoa(p.uid)
	}
	if s.SignedIn(r) {
		return "account:" + info.caller.Account.ID
	}
	if info.token != "" {
		digest := sha256.Sum256([]byte(info.token))
		return "token:" + hex.EncodeToString(digest[:])
	}
	return s.cfg.Blocks.Client(addressOf(r))
}

// Sender returns the sender of an announcement by an authorized request: the
// account of a session, the name of an API token, the user of the administrator's
// socket, otherwise the client's address.
func (s *Server) Sender(r *http.Request) announce.Sender {
	info := infoOf(r.Context())
	sender := announce.Sender{Kind: announce.FromAddress, Name: addressOf(r).String(), Client: s.ClientID(r)}
	switch {
	case info.local:
		sender.Kind, sender.Name = announce.FromCLI, peerName(r)
	case s.SignedIn(r):
		sender.Kind, sender.Name = announce.FromPage, info.caller.Account.Name
	case info.caller.APIToken.ID != "":
		sender.Kind, sender.Name = announce.FromToken, info.caller.APIToken.Name
	}
	return sender
}

// maxKey is the maximum length of an Idempotency-Key in bytes.
const maxKey = 255

// RequestBy returns a request with the sender and the idempotency key of an authorized
// request. It is limited unless its client is this host or the administrator's socket.
func (s *Server) RequestBy(r *http.Request) (announce.Request, error) {
	key, err := idempotencyKey(r.Header)
	if err != nil {
		return announce.Request{}, err
	}
	return announce.Request{Sender: s.Sender(r), Limited: s.ClientBlock(r).IsValid(), IdempotencyKey: key}, nil
}

// idempotencyKey returns the Idempotency-Key of a request; "" means none.
func idempotencyKey(h http.Header) (string, error) {
	values := h.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	hidden := func(c rune) bool { return c < '!' || c > '~' }
	if len(values) > 1 || key == "" || len(key) > maxKey || slices.ContainsFunc([]rune(key), hidden) {
		return "", ErrIdempotencyKey
	}
	return key, nil
}

// SignedIn reports whether a request to a route whose class counts sessions has
// one.
func (s *Server) SignedIn(r *http.Request) bool {
	c := infoOf(r.Context()).class
	return (c == NotifyOrSession || c == ControlOrSession || c == SessionRequired || c.Administers()) &&
		s.access.requireSession(r) == nil
}

// Administrator reports whether a request came on the administrator's socket, or
// has the session of an administrator's account.
func (s *Server) Administrator(r *http.Request) bool {
	info := infoOf(r.Context())
	return info.local || s.SignedIn(r) && info.caller.Account.Admin
}

// peerName returns the name of the user at the other end of the administrator's
// socket, or the number of one without a name; "" if it is unknown.
func peerName(r *http.Request) string {
	p, ok := r.Context().Value(peerKey{}).(peer)
	if !ok {
		return ""
	}
	id := strconv.Itoa(p.uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// addressOf returns the address of the request's client, or of its peer if that
// is unknown.
func addressOf(r *http.Request) netip.Addr {
	if client := infoOf(r.Context()).client; client.IsValid() {
		return client
	}
	return netblock.RemoteAddr(r.RemoteAddr)
}
