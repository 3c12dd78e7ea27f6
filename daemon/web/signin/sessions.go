package signin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
)

func (h *handlers) sessionRoutes() []web.Route {
	const base = "/api/auth"
	return []web.Route{
		web.NewRoute(http.MethodGet, base+"/me", web.SessionRequired, h.me, web.Operation{
			ID: "getMe", Tag: "sign-in", Summary: "Get the account that is signed in",
			Responses: web.OK("The account.", accountReply{}),
		}),
		web.NewRoute(http.MethodDelete, base+"/me", web.SessionRequired, h.deleteMe, web.Operation{
			ID: "deleteMe", Tag: "sign-in", Summary: "Delete the account, its identity and its sessions",
			Description: "An administrator's asks for the passphrase again 15 minutes after it was entered.",
			Responses:   web.Done(),
		}),
		web.NewRoute(http.MethodPost, base+"/refresh", web.Public, h.refresh, web.Operation{
			ID: "refresh", Tag: "sign-in", Summary: "Refresh the session",
			Description: "With a refresh token in the body, the response body contains the new pair and sets no " +
				"cookie. Otherwise the refresh token in the cookie is used, " +
				"and the response sets the cookies and contains no token. A session is refreshed at most 12 times " +
				"an hour; the same token within 15 seconds, by several tabs, counts once.",
			Request: refreshRequest{}, Optional: true,
			Responses: web.OK("The session was refreshed.", refreshReply{}),
			Problems:  []int{http.StatusUnauthorized, http.StatusTooManyRequests},
		}),
		web.NewRoute(http.MethodPost, base+"/logout", web.Public, h.logout, web.Operation{
			ID: "logout", Tag: "sign-in", Summary: "End the session and clear its cookies",
			Responses: web.Done(),
		}),
		web.NewRoute(http.MethodPost, base+"/logout-all", web.SessionRequired, h.logoutAll, web.Operation{
			ID: "logoutAll", Tag: "sign-in", Summary: "End all sessions of the account",
			Responses: web.Done(),
		}),
		web.NewRoute(http.MethodGet, base+"/sessions", web.SessionRequired, h.listSessions, web.Operation{
			ID: "listSessions", Tag: "sign-in", Summary: "List the sessions of the account",
			Responses: web.OK("The sessions, most recently used first.", sessionsReply{}),
		}),
		web.NewRoute(http.MethodDelete, base+"/sessions/:id", web.SessionRequired, h.endSession, web.Operation{
			ID: "endSession", Tag: "sign-in", Summary: "End one session of the account",
			Responses: web.Done(), Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodPost, base+"/reauthenticate", web.SessionRequired, h.reauthenticate, web.Operation{
			ID: "reauthenticate", Tag: "sign-in",
			Summary:     "Enter the passphrase again, which administration requires every 15 minutes",
			Description: "Accounts of an external provider sign in again instead.",
			Request:     reauthentication{}, Responses: web.Done(),
			Problems: []int{http.StatusNotFound, http.StatusTooManyRequests},
		}),
		web.NewRoute(http.MethodPost, base+"/admin-code", web.SessionRequired, h.redeemAdminCode, web.Operation{
			ID: "redeemAdminCode", Tag: "administration",
			Summary:     "Become an administrator by the code of pressbox.txt, which is then used up",
			Description: "An account has five tries an hour from each network.",
			Request:     adminCodeRequest{}, Responses: web.Done(),
			Problems: []int{http.StatusNotFound, http.StatusTooManyRequests},
		}),
		web.NewRoute(http.MethodGet, "/api/admin", web.SessionRequired, h.administration, web.Operation{
			ID: "getAdministration", Tag: "administration",
			Summary:   "Get whether the account is an administrator's, and whether there is one",
			Responses: web.OK("Who administers.", administrationReply{}),
		}),
		web.NewRoute(http.MethodPut, base+"/passphrase", web.SessionRequired, h.changePassphrase, web.Operation{
			ID: "changePassphrase", Tag: "sign-in", Summary: "Change the passphrase of a local account",
			Request: passphraseChange{}, Responses: web.Done(),
			Problems: []int{http.StatusNotFound, http.StatusTooManyRequests},
		}),
	}
}

// An accountReply describes an account to its owner.
type accountReply struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`     // for display; not unique
	Provider string    `json:"provider"` // sign-in provider: local, discord, …
	Created  time.Time `json:"created_at"`
	Admin    bool      `json:"admin"` // it is an administrator's: "pressbox users admin"
	// Id of the one game that a guest may play; absent: the account is not a guest's.
	Guest string `json:"guest,omitempty"`
}

func newAccountReply(a auth.Account) accountReply {
	return accountReply{a.ID, a.Name, a.Provider, a.Created.UTC().Truncate(time.Second), a.Admin, a.Guest}
}

func (h *handlers) me(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	return web.WriteJSON(w, http.StatusOK, newAccountReply(web.Caller(r).Account))
}

func (h *handlers) deleteMe(w http.ResponseWriter, r *http.Request) error {
	caller := web.Caller(r)
	if caller.Account.Admin && caller.AuthAge > auth.ReauthAge {
		return web.ErrReauthenticate
	}
	return h.endCookies(w, h.deleteAccount(r.Context(), caller.Account.ID))
}

// deleteAccount deletes an account and what is stored of it.
func (h *handlers) deleteAccount(ctx context.Context, id string) error {
	err := h.Sessions.DeleteAccount(ctx, id)
	if err == nil && h.Forget != nil {
		err = h.Forget(ctx, id)
	}
	return err
}

// endCookies clears the session's cookies and answers 204 if err is nil;
// otherwise it returns err.
func (h *handlers) endCookies(w http.ResponseWriter, err error) error {
	if err == nil {
		h.cookies.clearSession(w)
	}
	return web.WriteNoContent(w, err)
}

// A refreshReply is the response to POST /api/auth/refresh. Its tokens are
// present only if the refresh token was sent in the body.
type refreshReply struct {
	Access    string `json:"access_token,omitempty"`  // present only if the refresh token was sent in the body
	Refresh   string `json:"refresh_token,omitempty"` // present only if the refresh token was sent in the body
	TokenType string `json:"token_type" const:"Bearer"`
	ExpiresIn int    `json:"expires_in"` // lifetime of the access token in seconds
}

func (h *handlers) refresh(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	token, err := h.tokenInBody(w, r)
	if err != nil {
		return err
	}
	reply := refreshReply{TokenType: "Bearer", ExpiresIn: int(auth.AccessTTL.Seconds())}
	if token != "" {
		result, err := h.refreshFirst(r, token)
		if err != nil {
			return err
		}
		reply.Access, reply.Refresh = result.Access.Reveal(), result.Refresh.Reveal()
		return web.WriteJSON(w, http.StatusOK, reply)
	}
	result, err := h.refreshFirst(r, h.cookies.values(r, refreshCookie)...)
	if errors.Is(err, auth.ErrSessionEnded) {
		h.cookies.clearSession(w)
	}
	if err != nil {
		return err
	}
	h.cookies.setSession(w, result)
	return web.WriteJSON(w, http.StatusOK, reply)
}

// A refreshRequest refreshes a session without its cookie.
type refreshRequest struct {
	Refresh string   `json:"refresh_token"` // takes precedence over the cookie
	_       struct{} `additionalProperties:"true"`
}

// tokenInBody returns the refresh token in the body; "" means none.
func (h *handlers) tokenInBody(w http.ResponseWriter, r *http.Request) (string, error) {
	var body refreshRequest
	err := h.DecodeOptional(w, r, &body)
	return body.Refresh, err
}

// refreshFirst refreshes the session of the first valid token. If no token is
// valid, auth.ErrSessionEnded takes precedence over auth.ErrInvalidToken.
func (h *handlers) refreshFirst(r *http.Request, values ...string) (auth.Result, error) {
	failure := errMissingToken
	for _, value := range values {
		token, _ := auth.ParseToken(value) // a malformed token is refused like an unknown one
		result, err := h.Sessions.Refresh(r.Context(), token)
		if wait, ok := errors.AsType[*auth.ThrottledError](err); ok {
			return result, &web.RetryError{Err: errTooManyRenewals, After: wait.Wait}
		}
		if err == nil || !errors.Is(err, auth.ErrInvalidToken) {
			return result, err
		}
		if !errors.Is(failure, auth.ErrSessionEnded) {
			failure = err
		}
	}
	return auth.Result{}, failure
}

func (h *handlers) logout(w http.ResponseWriter, r *http.Request) error {
	tokens := h.cookies.tokens(r)
	if t, ok := auth.Bearer(r.Header.Values("Authorization")); ok {
		tokens = append(tokens, t)
	}
	return h.endCookies(w, h.Sessions.Logout(r.Context(), tokens...))
}

func (h *handlers) logoutAll(w http.ResponseWriter, r *http.Request) error {
	_, err := h.Sessions.EndAll(r.Context(), web.Caller(r).Account.ID, auth.EndedByOwner)
	return h.endCookies(w, err)
}

// A sessionReply describes a session of an account. It contains ages instead of
// times because the host's clock may be wrong.
type sessionReply struct {
	ID      string `json:"id"`
	Current bool   `json:"current"`                  // true for the session of this request
	Device  string `json:"device"`                   // browser and system, such as Firefox on Linux
	Network string `json:"network"`                  // network of the client, such as 192.168.1.0/24
	Method  string `json:"method"`                   // sign-in provider
	Age     int64  `json:"age_seconds" minimum:"0"`  // seconds since the sign-in
	Idle    int64  `json:"idle_seconds" minimum:"0"` // seconds since the last refresh
}

type sessionsReply struct {
	Sessions []sessionReply `json:"sessions"`
}

func (h *handlers) listSessions(w http.ResponseWriter, r *http.Request) error {
	caller := web.Caller(r)
	sessions, err := h.Sessions.List(r.Context(), caller.Account.ID)
	if err != nil {
		return err
	}
	all := sessionsReply{Sessions: []sessionReply{}}
	for _, s := range sessions {
		all.Sessions = append(all.Sessions, sessionReply{
			ID: s.ID, Current: s.ID == caller.Session.ID, Device: s.Device.Agent, Network: s.Device.Network,
			Method: s.Method, Age: int64(s.Age.Seconds()), Idle: int64(s.Idle.Seconds()),
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
	return web.WriteNoContent(w, nil)
}

// A passphraseChange is the body of PUT /api/auth/passphrase.
type passphraseChange struct {
	Current string `json:"current" required:"true"`
	// 8 to 128 characters; not on the list of common passphrases.
	Passphrase string   `json:"passphrase" required:"true"`
	Everywhere bool     `json:"sign_out_everywhere" default:"false"`
	_          struct{} `additionalProperties:"true"`
}

func (h *handlers) changePassphrase(w http.ResponseWriter, r *http.Request) error {
	account := web.Caller(r).Account
	if h.Passphrases == nil || account.Provider != auth.Local {
		return errNoPassphrase
	}
	var body passphraseChange
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	credentials := auth.Credentials{Name: account.Name, Passphrase: body.Current, From: web.ClientAddr(r)}
	err := h.Passphrases.ChangePassphrase(r.Context(), credentials, body.Passphrase)
	if err == nil && body.Everywhere {
		return h.logoutAll(w, r)
	}
	return web.WriteNoContent(w, refused(err, "/passphrase", web.Violation{
		Path: "/current", Detail: "is not the current passphrase",
	}))
}

// A reauthentication is the passphrase, entered again.
type reauthentication struct {
	Passphrase string   `json:"passphrase" required:"true"` // of the account that is signed in
	_          struct{} `additionalProperties:"true"`
}

// reauthenticate checks the passphrase of the session's account.
func (h *handlers) reauthenticate(w http.ResponseWriter, r *http.Request) error {
	caller := web.Caller(r)
	if h.Passphrases == nil || caller.Account.Provider != auth.Local {
		return errNoPassphrase
	}
	var body reauthentication
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	credentials := auth.Credentials{Name: caller.Account.Name, Passphrase: body.Passphrase, From: web.ClientAddr(r)}
	err := h.Passphrases.CheckPassphrase(r.Context(), credentials)
	if err == nil {
		err = h.Sessions.Reauthenticated(r.Context(), caller.Session)
	}
	return web.WriteNoContent(w, refused(err, "/passphrase", web.Violation{
		Path: "/passphrase", Detail: "is not the passphrase of this account",
	}))
}

// An administrationReply is the body of GET /api/admin.
type administrationReply struct {
	Administrator bool `json:"administrator"` // the account that is signed in is an administrator's
	// There is an administrator's account. Without one, "pressbox users admin NAME" on the host makes one.
	Exists bool `json:"exists"`
	// There is an unused administrator code, which POST /api/auth/admin-code accepts.
	Code bool `json:"code"`
}

func (h *handlers) administration(w http.ResponseWriter, r *http.Request) error {
	exists, err := h.Sessions.HasAdministrator(r.Context())
	if err != nil {
		return err
	}
	code, err := h.Sessions.HasAdminCode(r.Context())
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, administrationReply{web.Caller(r).Account.Admin, exists, code})
}

// An adminCodeRequest is the body of POST /api/auth/admin-code and of PUT /admin/code.
type adminCodeRequest struct {
	Code string   `json:"code" required:"true"` // 8 to 128 characters; not on the list of common passphrases
	_    struct{} `additionalProperties:"true"`
}

func (h *handlers) redeemAdminCode(w http.ResponseWriter, r *http.Request) error {
	var body adminCodeRequest
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	err := h.AdminCodes.Redeem(r.Context(), web.Caller(r).Account.ID, web.ClientAddr(r), body.Code)
	wrong := web.Violation{Path: "/code", Detail: "is not the administrator code"}
	return web.WriteNoContent(w, refused(err, "/code", wrong))
}
