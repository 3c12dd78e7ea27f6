package web

import (
	"net/http"
	"net/netip"
	"time"

	"pressbox/auth"
)

func (s *Server) authAdminRoutes() []route {
	gone := []success{{status: http.StatusNoContent, description: "Done."}}
	const tag = "administration"
	return s.withSignIn([]route{
		{http.MethodGet, "/admin/tokens", admins, s.listTokens, operation{
			id: "listTokens", tag: tag, summary: "The API tokens, without what is secret of them",
			answers: []success{{status: http.StatusOK, description: "The tokens.", schema: "TokenList"}},
		}},
		{http.MethodPost, "/admin/tokens", admins, s.createToken, operation{
			id: "createToken", tag: tag, summary: "Make an API token, which is told once", request: "TokenRequest",
			answers: []success{{status: http.StatusCreated, description: "The token.", schema: "NewToken"}},
		}},
		{http.MethodDelete, "/admin/tokens/:id", admins, s.revokeToken, operation{
			id: "revokeToken", tag: tag, summary: "End an API token",
			answers: gone, problems: []int{http.StatusNotFound},
		}},
		{http.MethodGet, "/admin/users", admins, s.listUsers, operation{
			id: "listUsers", tag: tag, summary: "The accounts",
			answers: []success{{status: http.StatusOK, description: "The accounts.", schema: "UserList"}},
		}},
		{http.MethodPatch, "/admin/users/:id", admins, s.changeUser, operation{
			id: "changeUser", tag: tag, summary: "Shut an account out, or let it in again", request: "UserChange",
			answers: gone, problems: []int{http.StatusNotFound},
		}},
		{http.MethodPost, "/admin/passphrases", admins, s.resetPassphrase, operation{
			id: "resetPassphrase", tag: tag, summary: "Give an account of the appliance a random passphrase, and end its sessions", request: "PassphraseReset",
			answers: []success{{status: http.StatusOK, description: "The passphrase.", schema: "NewPassphrase"}}, problems: []int{http.StatusNotFound},
		}},
		{http.MethodPost, "/admin/invites", admins, s.createInvite, operation{
			id: "createInvite", tag: tag, summary: "Make an invite: one new account, within a week",
			answers: []success{{status: http.StatusCreated, description: "The invite.", schema: "Invite"}},
		}},
	})
}

// NewAdministration is the administrator's handler of accounts and tokens alone,
// for when no daemon runs.
func NewAdministration(cfg Config) (http.Handler, error) {
	s := &Server{cfg: cfg, started: time.Now()}
	var err error
	if s.document, err = document(s.routes(), cfg.Version); err != nil {
		return nil, err
	}
	if s.bodies, err = newBodies(s.document, s.authAdminRoutes()); err != nil {
		return nil, err
	}
	return s.identified(s.routerOf(s.authAdminRoutes(), true)), nil
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

func (s *Server) listTokens(w http.ResponseWriter, r *http.Request) error {
	tokens, err := s.cfg.SignIn.Book.APITokens(r.Context())
	if err != nil {
		return err
	}
	all := tokensReply{Tokens: []tokenReply{}}
	for _, t := range tokens {
		all.Tokens = append(all.Tokens, showToken(t))
	}
	return reply(w, http.StatusOK, all)
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

func (s *Server) createToken(w http.ResponseWriter, r *http.Request) error {
	var body tokenRequest
	if err := s.bodies.decode(w, r, "TokenRequest", &body); err != nil {
		return err
	}
	network, ok := networkOf(body.Network)
	if !ok {
		return &bodyError{[]violation{{"/network", "invalid", "must be a network such as 192.168.1.0/24, or an address"}}}
	}
	token, kept, err := s.cfg.SignIn.Book.CreateAPIToken(r.Context(), body.Name, network, time.Duration(body.TTL)*time.Second)
	if err != nil {
		return err
	}
	return reply(w, http.StatusCreated, newTokenReply{showToken(kept), token.Reveal()})
}

// networkOf reads a network; "" is none, and an address a network of one. It is
// written as addresses are when they come: IPv4 as IPv4, without a zone.
func networkOf(text string) (netip.Prefix, bool) {
	if text == "" {
		return netip.Prefix{}, true
	}
	network, err := netip.ParsePrefix(text)
	if a, addrErr := netip.ParseAddr(text); addrErr == nil {
		a = plain(a)
		network, err = netip.PrefixFrom(a, a.BitLen()), nil
	}
	if a := network.Addr(); a.Is4In6() {
		network = netip.PrefixFrom(a.Unmap(), network.Bits()-96) // of fewer than 96 bits there is none
	}
	return network.Masked(), err == nil && network.IsValid()
}

func (s *Server) revokeToken(w http.ResponseWriter, r *http.Request) error {
	return done(w, s.cfg.SignIn.Book.RevokeAPIToken(r.Context(), param(r, "id")))
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

func (s *Server) listUsers(w http.ResponseWriter, r *http.Request) error {
	accounts, err := s.cfg.SignIn.Book.Accounts(r.Context())
	if err != nil {
		return err
	}
	all := usersReply{Users: []userReply{}}
	for _, a := range accounts {
		all.Users = append(all.Users, userReply{showAccount(a), a.Disabled})
	}
	return reply(w, http.StatusOK, all)
}

func (s *Server) changeUser(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Disabled bool `json:"disabled"`
	}
	if err := s.bodies.decode(w, r, "UserChange", &body); err != nil {
		return err
	}
	return done(w, s.cfg.SignIn.Book.SetDisabled(r.Context(), param(r, "id"), body.Disabled))
}

func (s *Server) resetPassphrase(w http.ResponseWriter, r *http.Request) error {
	if s.cfg.SignIn.Passphrases == nil {
		return errNoPassphrase
	}
	var body struct {
		Name string `json:"name"`
	}
	if err := s.bodies.decode(w, r, "PassphraseReset", &body); err != nil {
		return err
	}
	passphrase, err := s.cfg.SignIn.Passphrases.ResetPassphrase(r.Context(), body.Name)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, map[string]string{"passphrase": passphrase})
}

func (s *Server) createInvite(w http.ResponseWriter, r *http.Request) error {
	invite, err := s.cfg.SignIn.Book.CreateInvite(r.Context())
	if err != nil {
		return err
	}
	return reply(w, http.StatusCreated, map[string]string{"invite": invite.Reveal()})
}
