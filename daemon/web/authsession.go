package web

import (
	"bytes"
	"errors"
	"net/http"
	"time"

	"pressbox/auth"
)

func (s *Server) sessionRoutes() []route {
	const base = "/api/auth"
	gone := []success{{status: http.StatusNoContent, description: "Done."}}
	return []route{
		{http.MethodGet, base + "/me", people, s.me, operation{
			id: "getMe", tag: "sign-in", summary: "Who is signed in",
			answers: []success{{status: http.StatusOK, description: "The account.", schema: "Account"}},
		}},
		{http.MethodDelete, base + "/me", people, s.forgetMe, operation{
			id: "deleteMe", tag: "sign-in", summary: "Delete the account, its identity and its sessions",
			answers: gone,
		}},
		{http.MethodPost, base + "/refresh", everyone, s.refresh, operation{
			id: "refresh", tag: "sign-in", summary: "Renew the session",
			description: "With a token in the body, the answer's body has the new pair and no cookie is set. Otherwise the cookie is renewed, and the answer has no token.",
			request:     "RefreshRequest", optional: true,
			answers:  []success{{status: http.StatusOK, description: "Renewed.", schema: "Renewal"}},
			problems: []int{http.StatusUnauthorized},
		}},
		{http.MethodPost, base + "/logout", everyone, s.logout, operation{
			id: "logout", tag: "sign-in", summary: "End the session and clear both cookies",
			answers: gone,
		}},
		{http.MethodPost, base + "/logout-all", people, s.logoutAll, operation{
			id: "logoutAll", tag: "sign-in", summary: "End all sessions of the account",
			answers: gone,
		}},
		{http.MethodGet, base + "/sessions", people, s.listSessions, operation{
			id: "listSessions", tag: "sign-in", summary: "Where the account is signed in",
			answers: []success{{status: http.StatusOK, description: "The sessions, the one used last first.", schema: "SessionList"}},
		}},
		{http.MethodDelete, base + "/sessions/:id", people, s.endSession, operation{
			id: "endSession", tag: "sign-in", summary: "End one session of the account",
			answers: gone, problems: []int{http.StatusNotFound},
		}},
		{http.MethodPut, base + "/passphrase", people, s.changePassphrase, operation{
			id: "changePassphrase", tag: "sign-in", summary: "Change the passphrase of an account that the appliance keeps",
			request: "PassphraseChange", answers: gone,
			problems: []int{http.StatusNotFound, http.StatusTooManyRequests},
		}},
	}
}

// An accountReply is an account as its owner sees it.
type accountReply struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Provider string    `json:"provider"`
	Created  time.Time `json:"created_at"`
}

func showAccount(a auth.Account) accountReply {
	return accountReply{a.ID, a.Name, a.Provider, a.Created.UTC().Truncate(time.Second)}
}

func (s *Server) me(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	return reply(w, http.StatusOK, showAccount(callerOf(r).Account))
}

func (s *Server) forgetMe(w http.ResponseWriter, r *http.Request) error {
	return s.leave(w, s.cfg.SignIn.Book.DeleteAccount(r.Context(), callerOf(r).Account.ID))
}

// leave clears the cookies of a session that has ended, unless it has not.
func (s *Server) leave(w http.ResponseWriter, err error) error {
	if err != nil {
		return err
	}
	s.jar.clear(w)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// A renewalReply is the body of POST /api/auth/refresh. It has tokens only for
// who sent one in the body.
type renewalReply struct {
	Access    string `json:"access_token,omitempty"`
	Refresh   string `json:"refresh_token,omitempty"`
	TokenType string `json:"token_type"`
	ExpiresIn int    `json:"expires_in"` // seconds
}

func (s *Server) refresh(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	given, err := s.tokenInBody(w, r)
	if err != nil {
		return err
	}
	renewal := renewalReply{TokenType: "Bearer", ExpiresIn: int(auth.AccessTTL.Seconds())}
	if given != "" {
		pair, err := s.renew(r, given)
		if err != nil {
			return err
		}
		renewal.Access, renewal.Refresh = pair.Access.Reveal(), pair.Refresh.Reveal()
		return reply(w, http.StatusOK, renewal)
	}
	pair, err := s.renew(r, s.jar.values(r, refreshCookie)...)
	if errors.Is(err, auth.ErrSessionEnded) {
		s.jar.clear(w)
	}
	if err != nil {
		return err
	}
	s.jar.keep(w, pair)
	return reply(w, http.StatusOK, renewal)
}

// tokenInBody is the refresh token in the body; "" when there is none.
func (s *Server) tokenInBody(w http.ResponseWriter, r *http.Request) (string, error) {
	text, err := readBody(w, r)
	if err != nil {
		return "", err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return "", nil
	}
	if err := checkContentType(r); err != nil {
		return "", err
	}
	var body struct {
		Refresh string `json:"refresh_token"`
	}
	err = s.bodies.parse(text, "RefreshRequest", &body)
	return body.Refresh, err
}

// renew is the pair that follows the first of the tokens that is good. That a
// session has ended is worth more than that another token is unknown.
func (s *Server) renew(r *http.Request, values ...string) (auth.TokenPair, error) {
	verdict := errMissingToken
	for _, value := range values {
		token, _ := auth.ParseToken(value) // what is none is refused as an unknown one
		pair, err := s.cfg.SignIn.Book.Refresh(r.Context(), token)
		if err == nil || !errors.Is(err, auth.ErrInvalidToken) {
			return pair, err
		}
		if !errors.Is(verdict, auth.ErrSessionEnded) {
			verdict = err
		}
	}
	return auth.TokenPair{}, verdict
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	tokens := s.jar.tokens(r)
	if t, ok := auth.Bearer(r.Header.Values("Authorization")); ok {
		tokens = append(tokens, t)
	}
	return s.leave(w, s.cfg.SignIn.Book.Logout(r.Context(), tokens...))
}

func (s *Server) logoutAll(w http.ResponseWriter, r *http.Request) error {
	_, err := s.cfg.SignIn.Book.EndAll(r.Context(), callerOf(r).Account.ID, auth.EndedByOwner)
	return s.leave(w, err)
}

// A sessionReply is one of the places where an account is signed in. Ages are
// in seconds: the appliance's clock may be wrong.
type sessionReply struct {
	ID      string `json:"id"`
	Current bool   `json:"current"`
	Device  string `json:"device"`
	Network string `json:"network"`
	Method  string `json:"method"`
	Age     int64  `json:"age_seconds"`
	Idle    int64  `json:"idle_seconds"`
}

type sessionsReply struct {
	Sessions []sessionReply `json:"sessions"`
}

func (s *Server) listSessions(w http.ResponseWriter, r *http.Request) error {
	caller := callerOf(r)
	live, err := s.cfg.SignIn.Book.List(r.Context(), caller.Account.ID)
	if err != nil {
		return err
	}
	all := sessionsReply{Sessions: []sessionReply{}}
	for _, l := range live {
		all.Sessions = append(all.Sessions, sessionReply{
			ID: l.ID, Current: l.ID == caller.Session.ID, Device: l.Device.Agent, Network: l.Device.Network,
			Method: l.Method, Age: int64(l.Age.Seconds()), Idle: int64(l.Idle.Seconds()),
		})
	}
	return reply(w, http.StatusOK, all)
}

func (s *Server) endSession(w http.ResponseWriter, r *http.Request) error {
	caller, id := callerOf(r), param(r, "id")
	if err := s.cfg.SignIn.Book.End(r.Context(), caller.Account.ID, id, auth.EndedByOwner); err != nil {
		return err
	}
	if id == caller.Session.ID {
		s.jar.clear(w)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// A passphraseChange is the body of PUT /api/auth/passphrase.
type passphraseChange struct {
	Current    string `json:"current"`
	Passphrase string `json:"passphrase"`
	Everywhere bool   `json:"sign_out_everywhere"`
}

func (s *Server) changePassphrase(w http.ResponseWriter, r *http.Request) error {
	account := callerOf(r).Account
	if s.cfg.SignIn.Passphrases == nil || account.Provider != auth.Local {
		return errNoPassphrase
	}
	var body passphraseChange
	if err := s.bodies.decode(w, r, "PassphraseChange", &body); err != nil {
		return err
	}
	claim := auth.Credentials{Name: account.Name, Passphrase: body.Current, From: visitOf(r.Context()).client}
	if err := s.cfg.SignIn.Passphrases.ChangePassphrase(r.Context(), claim, body.Passphrase); err != nil {
		return asViolation(err)
	}
	if body.Everywhere {
		return s.logoutAll(w, r)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// asViolation is what is wrong with a passphrase, as of its place in the body.
func asViolation(err error) error {
	if wait, ok := errors.AsType[*auth.ThrottledError](err); ok {
		return &retryError{errTooMany, wait.Wait}
	}
	for wrong, v := range map[error]violation{
		auth.ErrWrongCredentials:    {"/current", "wrong", "this is not the present passphrase"},
		auth.ErrPassphraseTooShort:  {"/passphrase", "too_short", auth.ErrPassphraseTooShort.Error()},
		auth.ErrPassphraseTooLong:   {"/passphrase", "too_long", auth.ErrPassphraseTooLong.Error()},
		auth.ErrPassphraseTooCommon: {"/passphrase", "too_common", auth.ErrPassphraseTooCommon.Error()},
	} {
		if errors.Is(err, wrong) {
			return &bodyError{[]violation{v}}
		}
	}
	return err
}
