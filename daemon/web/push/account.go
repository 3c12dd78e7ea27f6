package push

import (
	"net/http"

	"pressbox/daemon/web"
)

// accountRoutes returns what clients of ntfy ask a server before they publish or subscribe.
func (h *handlers) accountRoutes(prefix, suffix string) []web.Route {
	route := func(method, path string, class web.Class, handle web.Handler, op web.Operation) web.Route {
		op.ID += suffix
		op.Exact = prefix != "" // a topic could have this name
		return web.NewRoute(method, prefix+path, class, handle, op)
	}
	return []web.Route{
		route(http.MethodGet, "/v1/health", web.Public, reply(ntfyHealth{true}), web.Operation{
			ID: "getNtfyHealth", Summary: "Get whether a server of ntfy works",
			Responses: web.OK("It works.", ntfyHealth{}),
		}),
		route(http.MethodGet, "/v1/account", web.NotifyAccess, h.account, web.Operation{
			ID: "getNtfyAccount", Summary: "Get the account of a client of ntfy",
			Description: "Its name is that of the API token, or `*`.",
			Responses:   web.OK("The account.", ntfyAccount{}),
		}),
		route(http.MethodPost, "/v1/account/token", web.TokenRequired, ntfyToken, operation(web.Operation{
			ID: "createNtfyToken", Summary: "Get the API token that a client of ntfy has sent as a password",
			Responses: web.OK("The token.", ntfyTokenReply{}), Reads: true,
		})),
		route(http.MethodGet, "/v1/version", web.Public, noVersion, web.Operation{
			ID: "getNtfyVersion", Summary: "Refuse the version of ntfy, so that its clients offer no updates",
			Problems: []int{http.StatusNotFound},
		}),
	}
}

func reply(body any) web.Handler {
	return func(w http.ResponseWriter, _ *http.Request) error { return web.WriteJSON(w, http.StatusOK, body) }
}

func noVersion(http.ResponseWriter, *http.Request) error { return web.ErrNotFound }

// A ntfyHealth tells that the server works.
type ntfyHealth struct {
	Healthy bool `json:"healthy"`
}

// A ntfyAccount is an account of ntfy, of which only the name has a meaning here.
type ntfyAccount struct {
	Username string    `json:"username"`
	Role     string    `json:"role" enum:"anonymous,user"`
	Stats    ntfyStats `json:"stats"`
}

// ntfyStats are the counts of an account of ntfy, which nothing counts here.
type ntfyStats struct {
	Messages            int `json:"messages"`
	MessagesLeft        int `json:"messages_remaining"`
	Emails              int `json:"emails"`
	EmailsLeft          int `json:"emails_remaining"`
	Calls               int `json:"calls"`
	CallsLeft           int `json:"calls_remaining"`
	Reservations        int `json:"reservations"`
	ReservationsLeft    int `json:"reservations_remaining"`
	AttachmentBytes     int `json:"attachment_total_size"`
	AttachmentBytesLeft int `json:"attachment_total_size_remaining"`
}

func (h *handlers) account(w http.ResponseWriter, r *http.Request) error {
	account := ntfyAccount{Username: "*", Role: "anonymous"}
	if name := web.Caller(r).APIToken.Name; name != "" {
		account.Username, account.Role = name, "user"
	}
	return web.WriteJSON(w, http.StatusOK, account)
}

// A ntfyTokenReply is an API token.
type ntfyTokenReply struct {
	Token string `json:"token"`
}

func ntfyToken(w http.ResponseWriter, r *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, ntfyTokenReply{web.APIToken(r)})
}
