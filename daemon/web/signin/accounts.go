package signin

import (
	"cmp"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"pressbox/auth"
	"pressbox/auth/session"
	"pressbox/daemon/web"
)

// adminCodeRoute returns the route that sets the administrator code: of the host alone, so
// that no administrator of the page makes others unseen.
func (h *handlers) adminCodeRoute() web.Route {
	return web.NewRoute(http.MethodPut, "/admin/code", web.AdminSocket, h.setAdminCode, web.Operation{
		ID: "setAdminCode", Tag: "administration", Summary: "Set the code that makes one account an administrator's",
		Request: adminCodeRequest{}, Responses: web.Done(),
	})
}

func (h *handlers) setAdminCode(w http.ResponseWriter, r *http.Request) error {
	var body adminCodeRequest
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	return web.WriteNoContent(w, refused(h.AdminCodes.Set(r.Context(), body.Code), "/code", web.Violation{}))
}

func (h *handlers) accountRoutes() []web.Route {
	const tag = "administration"
	return []web.Route{
		web.NewRoute(http.MethodGet, "/admin/tokens", web.AdminSocket, h.listTokens, web.Operation{
			ID: "listTokens", Tag: tag, Summary: "List the API tokens, without their secrets",
			Responses: web.OK("The tokens.", tokensReply{}),
		}),
		web.NewRoute(http.MethodPost, "/admin/tokens", web.AdminSocket, h.createToken, web.Operation{
			ID: "createToken", Tag: tag, Summary: "Create an API token; only this answer contains the secret",
			Request:   tokenRequest{},
			Responses: []web.Response{{Status: http.StatusCreated, Description: "The token.", Body: newToken{}}},
			Problems:  []int{http.StatusConflict},
		}),
		web.NewRoute(http.MethodDelete, "/admin/tokens/:id", web.AdminSocket, h.revokeToken, web.Operation{
			ID: "revokeToken", Tag: tag, Summary: "Revoke an API token",
			Responses: web.Done(), Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodGet, "/admin/users", web.AdminSocket, h.listUsers, web.Operation{
			ID: "listUsers", Tag: tag, Summary: "List the accounts",
			Responses: web.OK("The accounts.", usersReply{}),
		}),
		web.NewRoute(http.MethodPatch, "/admin/users/:id", web.AdminSocket, h.changeUser, web.Operation{
			ID: "changeUser", Tag: tag, Summary: "Disable or enable an account, or make it an administrator's or not",
			Request:   userChange{},
			Responses: web.Done(), Problems: []int{http.StatusNotFound, http.StatusConflict},
		}),
		web.NewRoute(http.MethodDelete, "/admin/users/:id", web.AdminSocket, h.deleteUser, web.Operation{
			ID: "deleteUser", Tag: tag, Summary: "Delete an account, its identity and its sessions",
			Responses: web.Done(), Problems: []int{http.StatusNotFound, http.StatusConflict},
		}),
		web.NewRoute(http.MethodPost, "/admin/passphrases", web.AdminSocket, h.resetPassphrase, web.Operation{
			ID: "resetPassphrase", Tag: tag,
			Summary: "Set a random passphrase for a local account and end its sessions", Request: passphraseReset{},
			Responses: web.OK("The new passphrase.", newPassphrase{}), Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodPost, "/admin/invites", web.AdminSocket, h.createInvite, web.Operation{
			ID: "createInvite", Tag: tag, Summary: "Create an invite: for one new account, valid for a week",
			Responses: []web.Response{{Status: http.StatusCreated, Description: "The invite.", Body: inviteReply{}}},
			Problems:  []int{http.StatusConflict},
		}),
		web.NewRoute(http.MethodGet, "/admin/invites", web.AdminSocket, h.listInvites, web.Operation{
			ID: "listInvites", Tag: tag, Summary: "List the unused invites, without their secrets",
			Responses: web.OK("The invites, the newest first.", invitesReply{}),
		}),
		web.NewRoute(http.MethodDelete, "/admin/invites/:id", web.AdminSocket, h.revokeInvite, web.Operation{
			ID: "revokeInvite", Tag: tag, Summary: "Revoke an invite",
			Responses: web.Done(), Problems: []int{http.StatusNotFound},
		}),
	}
}

// A tokenReply describes an API token to the administrator.
type tokenReply struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Network string    `json:"network,omitempty"` // network that may use the token; absent: any
	TTL     int64     `json:"ttl,omitempty"`     // lifetime in seconds from created_at; absent: unlimited
	Control bool      `json:"control"`
	Created time.Time `json:"created_at"`
}

func newTokenReply(t auth.APIToken) tokenReply {
	reply := tokenReply{
		ID: t.ID, Name: t.Name, TTL: int64(t.TTL.Seconds()), Control: t.Control,
		Created: t.Created.UTC().Truncate(time.Second),
	}
	if t.Network.IsValid() {
		reply.Network = t.Network.String()
	}
	return reply
}

// A tokensReply lists the API tokens.
type tokensReply struct {
	Tokens []tokenReply `json:"tokens"`
}

func (h *handlers) listTokens(w http.ResponseWriter, r *http.Request) error {
	tokens, err := h.Sessions.APITokens(r.Context())
	if err != nil {
		return err
	}
	all := tokensReply{Tokens: []tokenReply{}}
	for _, t := range tokens {
		all.Tokens = append(all.Tokens, newTokenReply(t))
	}
	return web.WriteJSON(w, http.StatusOK, all)
}

// A tokenRequest is the body of POST /admin/tokens.
type tokenRequest struct {
	Name    string `json:"name" required:"true" minLength:"1" maxLength:"100"`
	Network string `json:"network"`
	TTL     int64  `json:"ttl" minimum:"0" maximum:"3153600000"`
	// It may also change the volume, quiet, schedules and favorites.
	Control bool `json:"control" default:"false"`
}

// A newToken is an API token with its secret.
type newToken struct {
	tokenReply
	Token string `json:"token"` // the token; it cannot be read again
}

func (h *handlers) createToken(w http.ResponseWriter, r *http.Request) error {
	var body tokenRequest
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	network, ok := parseNetwork(body.Network)
	if !ok {
		return &web.BodyError{Violations: []web.Violation{{
			Path: "/network", Code: "invalid", Detail: "must be a network such as 192.168.1.0/24 or an IP address",
		}}}
	}
	token, created, err := h.Sessions.CreateAPIToken(r.Context(), auth.APIToken{
		Name: body.Name, Network: network, TTL: time.Duration(body.TTL) * time.Second, Control: body.Control,
	})
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusCreated, newToken{newTokenReply(created), token.Reveal()})
}

// parseNetwork parses a network in CIDR notation or a single address; "" means
// any network. The result has the form of [web.ClientAddr]: IPv4 instead of
// IPv4-mapped IPv6, no zone.
func parseNetwork(text string) (netip.Prefix, bool) {
	if text == "" {
		return netip.Prefix{}, true
	}
	network, err := netip.ParsePrefix(text)
	if a, addrErr := netip.ParseAddr(text); addrErr == nil {
		a = web.NormalizeAddr(a)
		network, err = netip.PrefixFrom(a, a.BitLen()), nil
	}
	if a := network.Addr(); a.Is4In6() {
		network = netip.PrefixFrom(a.Unmap(), network.Bits()-96) // invalid if the prefix is shorter than 96 bits
	}
	return network.Masked(), err == nil && network.IsValid()
}

func (h *handlers) revokeToken(w http.ResponseWriter, r *http.Request) error {
	return web.WriteNoContent(w, h.Sessions.RevokeAPIToken(r.Context(), web.Param(r, "id")))
}

// A userReply describes an account to the administrator.
type userReply struct {
	accountReply
	Disabled bool `json:"disabled"`
}

// A usersReply lists the accounts.
type usersReply struct {
	Users []userReply `json:"users"`
}

func (h *handlers) listUsers(w http.ResponseWriter, r *http.Request) error {
	accounts, err := h.Sessions.Accounts(r.Context())
	if err != nil {
		return err
	}
	all := usersReply{Users: []userReply{}}
	for _, a := range accounts {
		all.Users = append(all.Users, userReply{newAccountReply(a), a.Disabled})
	}
	return web.WriteJSON(w, http.StatusOK, all)
}

// A userChange changes an account.
type userChange struct {
	Disabled *bool `json:"disabled"`
	// An administrator's: it may use /api/admin and change what CONTROL_ACCESS guards.
	Admin *bool    `json:"admin"`
	_     struct{} `minProperties:"1"`
}

func (h *handlers) changeUser(w http.ResponseWriter, r *http.Request) error {
	var body userChange
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	lost := body.Disabled != nil && *body.Disabled || body.Admin != nil && !*body.Admin
	if err := refuseOwnAccount(r); lost && err != nil {
		return err
	}
	change := session.AccountChange{Disabled: body.Disabled, Admin: body.Admin}
	return web.WriteNoContent(w, h.Sessions.ChangeAccount(r.Context(), web.Param(r, "id"), change))
}

// refuseOwnAccount returns an error if a request concerns the account of its sender, so that
// the last administrator stays.
func refuseOwnAccount(r *http.Request) error {
	if web.Caller(r).Account.ID == web.Param(r, "id") {
		return errOwnAccount
	}
	return nil
}

func (h *handlers) deleteUser(w http.ResponseWriter, r *http.Request) error {
	if err := refuseOwnAccount(r); err != nil {
		return err
	}
	return web.WriteNoContent(w, h.deleteAccount(r.Context(), web.Param(r, "id")))
}

func (h *handlers) resetPassphrase(w http.ResponseWriter, r *http.Request) error {
	if h.Passphrases == nil {
		return errNoPassphrase
	}
	var body passphraseReset
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	passphrase, err := h.Passphrases.ResetPassphrase(r.Context(), body.Name)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, newPassphrase{passphrase})
}

// A passphraseReset names the account that gets a random passphrase.
type passphraseReset struct {
	Name string `json:"name" required:"true"`
}

// A newPassphrase is the random passphrase of an account.
type newPassphrase struct {
	Passphrase string `json:"passphrase"` // the new passphrase; it cannot be read again
}

func (h *handlers) createInvite(w http.ResponseWriter, r *http.Request) error {
	invite, err := h.Sessions.CreateInvite(r.Context())
	if err != nil {
		return err
	}
	reply := inviteReply{Invite: invite.Reveal()}
	if h.PublicOrigin != nil {
		if origin := h.PublicOrigin(); origin != "" {
			reply.URL = origin + web.LoginPath + "?" + url.Values{"invite": {reply.Invite}}.Encode()
		}
	}
	return web.WriteJSON(w, http.StatusCreated, reply)
}

// A listedInvite describes an unused invite to the administrator.
type listedInvite struct {
	ID      string `json:"id"`
	Expires int64  `json:"expires_in"` // seconds
}

// An invitesReply lists the unused invites.
type invitesReply struct {
	Invites []listedInvite `json:"invites"`
}

func (h *handlers) listInvites(w http.ResponseWriter, r *http.Request) error {
	invites, err := h.Sessions.Invites(r.Context())
	if err != nil {
		return err
	}
	slices.SortFunc(invites, func(a, b auth.Invite) int {
		return cmp.Or(cmp.Compare(b.Left, a.Left),
			cmp.Compare(a.ID, b.ID))
	})
	all := make([]listedInvite, len(invites))
	for i, invite := range invites {
		all[i] = listedInvite{invite.ID, int64(invite.Left.Seconds())}
	}
	return web.WriteJSON(w, http.StatusOK, invitesReply{all})
}

func (h *handlers) revokeInvite(w http.ResponseWriter, r *http.Request) error {
	return web.WriteNoContent(w, h.Sessions.RevokeInvite(r.Context(), web.Param(r, "id")))
}

// An inviteReply holds an invite, and the URL that starts a sign-in with it.
type inviteReply struct {
	Invite string `json:"invite"` // the invite; it cannot be read again
	// Link that starts a sign-in with the invite; absent if no address of the server is known that other hosts reach.
	URL string `json:"url,omitempty"`
}
