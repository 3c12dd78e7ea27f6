package signin

import (
	"net/http"
	"net/netip"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
)

func (h *handlers) accountRoutes() []web.Route {
	gone := []web.Response{{Status: http.StatusNoContent, Description: "Done."}}
	const tag = "administration"
	return []web.Route{
		web.NewRoute(http.MethodGet, "/admin/tokens", web.AdminSocket, h.listTokens, web.Operation{
			ID: "listTokens", Tag: tag, Summary: "The API tokens, without what is secret of them",
			Responses: []web.Response{{Status: http.StatusOK, Description: "The tokens.", Schema: "TokenList"}},
		}),
		web.NewRoute(http.MethodPost, "/admin/tokens", web.AdminSocket, h.createToken, web.Operation{
			ID: "createToken", Tag: tag, Summary: "Make an API token, which is told once", Request: "TokenRequest",
			Responses: []web.Response{{Status: http.StatusCreated, Description: "The token.", Schema: "NewToken"}},
		}),
		web.NewRoute(http.MethodDelete, "/admin/tokens/:id", web.AdminSocket, h.revokeToken, web.Operation{
			ID: "revokeToken", Tag: tag, Summary: "End an API token",
			Responses: gone, Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodGet, "/admin/users", web.AdminSocket, h.listUsers, web.Operation{
			ID: "listUsers", Tag: tag, Summary: "The accounts",
			Responses: []web.Response{{Status: http.StatusOK, Description: "The accounts.", Schema: "UserList"}},
		}),
		web.NewRoute(http.MethodPatch, "/admin/users/:id", web.AdminSocket, h.changeUser, web.Operation{
			ID: "changeUser", Tag: tag, Summary: "Shut an account out, or let it in again", Request: "UserChange",
			Responses: gone, Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodPost, "/admin/passphrases", web.AdminSocket, h.resetPassphrase, web.Operation{
			ID: "resetPassphrase", Tag: tag, Summary: "Give an account of the appliance a random passphrase, and end its sessions", Request: "PassphraseReset",
			Responses: []web.Response{{Status: http.StatusOK, Description: "The passphrase.", Schema: "NewPassphrase"}}, Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodPost, "/admin/invites", web.AdminSocket, h.createInvite, web.Operation{
			ID: "createInvite", Tag: tag, Summary: "Make an invite: one new account, within a week",
			Responses: []web.Response{{Status: http.StatusCreated, Description: "The invite.", Schema: "Invite"}},
		}),
	}
}

// A tokenReply is an API token as the administrator sees it.
type tokenReply struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Network string    `json:"network,omitempty"`
	TTL     int64     `json:"ttl,omitempty"` // seconds, from its making
	Created time.Time `json:"created_at"`
}

func showToken(t auth.APIToken) tokenReply {
	shown := tokenReply{ID: t.ID, Name: t.Name, TTL: int64(t.TTL.Seconds()), Created: t.Created.UTC().Truncate(time.Second)}
	if t.Network.IsValid() {
		shown.Network = t.Network.String()
	}
	return shown
}

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
		all.Tokens = append(all.Tokens, showToken(t))
	}
	return web.WriteJSON(w, http.StatusOK, all)
}

// A tokenRequest is the body of POST /admin/tokens.
type tokenRequest struct {
	Name    string `json:"name"`
	Network string `json:"network"`
	TTL     int64  `json:"ttl"` // seconds; 0 means for ever
}

type newTokenReply struct {
	tokenReply
	Token string `json:"token"`
}

func (h *handlers) createToken(w http.ResponseWriter, r *http.Request) error {
	var body tokenRequest
	if err := h.Decode(w, r, "TokenRequest", &body); err != nil {
		return err
	}
	network, ok := networkOf(body.Network)
	if !ok {
		return &web.BodyError{Violations: []web.Violation{{Path: "/network", Code: "invalid", Detail: "must be a network such as 192.168.1.0/24, or an address"}}}
	}
	token, kept, err := h.Sessions.CreateAPIToken(r.Context(), body.Name, network, time.Duration(body.TTL)*time.Second)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusCreated, newTokenReply{showToken(kept), token.Reveal()})
}

// networkOf reads a network; "" is none, and an address a network of one. It is
// written as addresses are when they come: IPv4 as IPv4, without a zone.
func networkOf(text string) (netip.Prefix, bool) {
	if text == "" {
		return netip.Prefix{}, true
	}
	network, err := netip.ParsePrefix(text)
	if a, addrErr := netip.ParseAddr(text); addrErr == nil {
		a = web.NormalizeAddr(a)
		network, err = netip.PrefixFrom(a, a.BitLen()), nil
	}
	if a := network.Addr(); a.Is4In6() {
		network = netip.PrefixFrom(a.Unmap(), network.Bits()-96) // of fewer than 96 bits there is none
	}
	return network.Masked(), err == nil && network.IsValid()
}

func (h *handlers) revokeToken(w http.ResponseWriter, r *http.Request) error {
	return done(w, h.Sessions.RevokeAPIToken(r.Context(), web.Param(r, "id")))
}

// done answers that something was done, unless it was not.
func done(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// A userReply is an account as the administrator sees it.
type userReply struct {
	accountReply
	Disabled bool `json:"disabled"`
}

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
		all.Users = append(all.Users, userReply{showAccount(a), a.Disabled})
	}
	return web.WriteJSON(w, http.StatusOK, all)
}

func (h *handlers) changeUser(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Disabled bool `json:"disabled"`
	}
	if err := h.Decode(w, r, "UserChange", &body); err != nil {
		return err
	}
	return done(w, h.Sessions.SetDisabled(r.Context(), web.Param(r, "id"), body.Disabled))
}

func (h *handlers) resetPassphrase(w http.ResponseWriter, r *http.Request) error {
	if h.Passphrases == nil {
		return web.ErrNoPassphrase
	}
	var body struct {
		Name string `json:"name"`
	}
	if err := h.Decode(w, r, "PassphraseReset", &body); err != nil {
		return err
	}
	passphrase, err := h.Passphrases.ResetPassphrase(r.Context(), body.Name)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, map[string]string{"passphrase": passphrase})
}

func (h *handlers) createInvite(w http.ResponseWriter, r *http.Request) error {
	invite, err := h.Sessions.CreateInvite(r.Context())
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusCreated, map[string]string{"invite": invite.Reveal()})
}
