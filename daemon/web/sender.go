package web

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
)

// Sender returns the identity of the client of an authorized request:
// "account:ID" with a session, "token:DIGEST" with an API token, otherwise
// "address:IP" with the client's address, or the peer's if that is unknown. On
// the administrator's socket it is "user:UID".
func (s *Server) Sender(r *http.Request) string {
	info := infoOf(r.Context())
	if p, ok := r.Context().Value(peerKey{}).(peer); ok && info.local {
		return "user:" + strconv.Itoa(p.uid)
	}
	if info.class == NotifyOrSession && s.access.requireSession(r) == nil {
		return "account:" + info.caller.Account.ID
	}
	if token, sent := bearer(r.Header); sent {
		digest := sha256.Sum256([]byte(token))
		return "token:" + hex.EncodeToString(digest[:])
	}
	client := info.client
	if !client.IsValid() {
		client = remoteAddr(r.RemoteAddr)
	}
	return "address:" + client.String()
}
