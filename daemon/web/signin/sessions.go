package signin

import (
	"errors"
	"net/http"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
)

func (h *handlers) sessionRoutes() []web.Route {
	const base = "/api/auth"
	gone := []web.Response{{Status: http.StatusNoContent, Description: "Done."}}
	return []web.Route{
		web.NewRoute(http.MethodGet, base+"/me", web.SessionRequired, h.me, web.Operation{
			ID: "getMe", Tag: "sign-in", Summary: "Who is signed in",
			Responses: []web.Response{{Status: http.StatusOK, Description: "The account.", Schema: "Account"}},
		}),
		web.NewRoute(http.MethodDelete, base+"/me", web.SessionRequired, h.forgetMe, web.Operation{
			ID: "deleteMe", Tag: "sign-in", Summary: "Delete the account, its identity and its sessions",
			Responses: gone,
		}),
		web.NewRoute(http.MethodPost, base+"/refresh", web.Public, h.refresh, web.Operation{
			ID: "refresh", Tag: "sign-in", Summary: "Renew the session",
			Description: "With a token in the body, the answer's body has the new pair and no cookie is set. Otherwise the cookie is renewed, and the answer has no token.",
			Request:     "RefreshRequest", Optional: true,
			Responses: []web.Response{{Status: http.StatusOK, Description: "Renewed.", Schema: "Renewal"}},
			Problems:  []int{http.StatusUnauthorized},
		}),
		web.NewRoute(http.MethodPost, base+"/logout", web.Public, h.logout, web.Operation{
			ID: "logout", Tag: "sign-in", Summary: "End the session and clear both cookies",
			Responses: gone,
		}),
		web.NewRoute(http.MethodPost, base+"/logout-all", web.SessionRequired, h.logoutAll, web.Operation{
			ID: "logoutAll", Tag: "sign-in", Summary: "End all sessions of the account",
			Responses: gone,
		}),
		web.NewRoute(http.MethodGet, base+"/sessions", web.SessionRequired, h.listSessions, web.Operation{
			ID: "listSessions", Tag: "sign-in", Summary: "Where the account is signed in",
			Responses: []web.Response{{Status: http.StatusOK, Description: "The sessions, the one used last first.", Schema: "SessionList"}},
		}),
		web.NewRoute(http.MethodDelete, base+"/sessions/:id", web.SessionRequired, h.endSession, web.Operation{
			ID: "endSession", Tag: "sign-in", Summary: "End one session of the account",
			Responses: gone, Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodPut, base+"/passphrase", web.SessionRequired, h.changePassphrase, web.Operation{
			ID: "changePassphrase", Tag: "sign-in", Summary: "Change the passphrase of an account that the appliance keeps",
			Request: "PassphraseChange", Responses: gone,
			Problems: []int{http.StatusNotFound, http.StatusTooManyRequests},
		}),
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

func (h *handlers) me(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	return web.WriteJSON(w, http.StatusOK, showAccount(web.Caller(r).Account))
}

func (h *handlers) forgetMe(w http.ResponseWriter, r *http.Request) error {
	return h.leave(w, h.Sessions.DeleteAccount(r.Context(), web.Caller(r).Account.ID))
}

// leave clears the cookies of a session that has ended, unless it has not.
func (h *handlers) leave(w http.ResponseWriter, err error) error {
	if err != nil {
		return err
	}
	h.cookies.clearSession(w)
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

func (h *handlers) refresh(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	given, err := h.tokenInBody(w, r)
	if err != nil {
		return err
	}
	renewal := renewalReply{TokenType: "Bearer", ExpiresIn: int(auth.AccessTTL.Seconds())}
	if given != "" {
		pair, err := h.renew(r, given)
		if err != nil {
			return err
		}
		renewal.Access, renewal.Refresh = pair.Access.Reveal(), pair.Refresh.Reveal()
		return web.WriteJSON(w, http.StatusOK, renewal)
	}
	pair, err := h.renew(r, h.cookies.values(r, refreshCookie)...)
	if errors.Is(err, auth.ErrSessionEnded) {
		h.cookies.clearSession(w)
	}
	if err != nil {
		return err
	}
	h.cookies.setSession(w, pair)
	return web.WriteJSON(w, http.StatusOK, renewal)
}

// tokenInBody returns the refresh token in the body; "" when there is none.
func (h *handlers) tokenInBody(w http.ResponseWriter, r *http.Request) (string, error) {
	var body struct {
		Refresh string `json:"refresh_token"`
	}
	err := h.DecodeOptional(w, r, "RefreshRequest", &body)
	return body.Refresh, err
}

// renew is the pair that follows the first of the tokens that is good. That a
// session has ended is worth more than that another token is unknown.
func (h *handlers) renew(r *http.Request, values ...string) (auth.TokenPair, error) {
	verdict := web.ErrMissingToken
	for _, value := range values {
		token, _ := auth.ParseToken(value) // what is none is refused as an unknown one
		pair, err := h.Sessions.Refresh(r.Context(), token)
		if err == nil || !errors.Is(err, auth.ErrInvalidToken) {
			return pair, err
		}
		if !errors.Is(verdict, auth.ErrSessionEnded) {
			verdict = err
		}
	}
	return auth.TokenPair{}, verdict
}

func (h *handlers) logout(w http.ResponseWriter, r *http.Request) error {
	tokens := h.cookies.tokens(r)
	if t, ok := auth.Bearer(r.Header.Values("Authorization")); ok {
		tokens = append(tokens, t)
	}
	return h.leave(w, h.Sessions.Logout(r.Context(), tokens...))
}

func (h *handlers) logoutAll(w http.ResponseWriter, r *http.Request) error {
	_, err := h.Sessions.EndAll(r.Context(), web.Caller(r).Account.ID, auth.EndedByOwner)
	return h.leave(w, err)
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

func (h *handlers) listSessions(w http.ResponseWriter, r *http.Request) error {
	caller := web.Caller(r)
	live, err := h.Sessions.List(r.Context(), caller.Account.ID)
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
	return web.WriteJSON(w, http.StatusOK, all)
}

func (h *handlers) endSession(w http.ResponseWriter, r *http.Request) error {
	caller, id := web.Caller(r), web.Param(r, "id")
	if err := h.Sessions.End(r.Context(), caller.Account.ID, id, auth.EndedByOwner); err != nil {
		return err
	}
	if id == caller.Session.ID {
		h.cookies.clearSession(w)
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

func (h *handlers) changePassphrase(w http.ResponseWriter, r *http.Request) error {
	account := web.Caller(r).Account
	if h.Passphrases == nil || account.Provider != auth.Local {
		return web.ErrNoPassphrase
	}
	var body passphraseChange
	if err := h.Decode(w, r, "PassphraseChange", &body); err != nil {
		return err
	}
	claim := auth.Credentials{Name: account.Name, Passphrase: body.Current, From: web.ClientAddr(r)}
	if err := h.Passphrases.ChangePassphrase(r.Context(), claim, body.Passphrase); err != nil {
		return asViolation(err)
	}
	if body.Everywhere {
		return h.logoutAll(w, r)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// asViolation is what is wrong with a passphrase, as of its place in the body.
func asViolation(err error) error {
	if wait, ok := errors.AsType[*auth.ThrottledError](err); ok {
		return &web.RetryError{Err: web.ErrTooManyRequests, After: wait.Wait}
	}
	for wrong, v := range map[error]web.Violation{
		auth.ErrWrongCredentials:    {Path: "/current", Code: "wrong", Detail: "this is not the present passphrase"},
		auth.ErrPassphraseTooShort:  {Path: "/passphrase", Code: "too_short", Detail: auth.ErrPassphraseTooShort.Error()},
		auth.ErrPassphraseTooLong:   {Path: "/passphrase", Code: "too_long", Detail: auth.ErrPassphraseTooLong.Error()},
		auth.ErrPassphraseTooCommon: {Path: "/passphrase", Code: "too_common", Detail: auth.ErrPassphraseTooCommon.Error()},
	} {
		if errors.Is(err, wrong) {
			return &web.BodyError{Violations: []web.Violation{v}}
		}
	}
	return err
}
