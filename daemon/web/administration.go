package web

import (
	"net/http"
	"slices"

	"pressbox/auth"
	"pressbox/auth/netblock"
)

// Requests of administrators per minute and address, and the burst.
const (
	administrationRate  = 240
	administrationBurst = 120
)

// UnderAPIAdmin returns the routes of the administrator's socket below /api, for
// administrators' accounts: class is [Administrator] or [RecentAdministrator].
func UnderAPIAdmin(class Class, routes []Route) []Route {
	api := slices.Clone(routes)
	for i := range api {
		api[i].Path, api[i].Class = "/api"+api[i].Path, class
		api[i].Operation.ID += "AsAdministrator"
	}
	return api
}

// Administers reports whether routes of the class are for administrators' accounts.
func (c Class) Administers() bool { return c == Administrator || c == RecentAdministrator }

// administer calls the handler of a route for administrators' accounts, and logs each change
// with the account.
func (s *Server) administer(rt Route, w http.ResponseWriter, r *http.Request) error {
	err := rt.Handle(w, r)
	if err == nil && r.Method != http.MethodGet && r.Method != http.MethodHead {
		account := Caller(r).Account
		s.cfg.Log.Info("administered on the page",
			"method", r.Method, "path", r.URL.Path, "request", RequestID(r),
			"account", account.ID, "name", account.Name)
	}
	return err
}

// authorizeAdministrator returns nil for the session of an administrator's account, from a
// local address or over https. With recent, the user must have been authenticated within
// [auth.ReauthAge].
func (a accessRules) authorizeAdministrator(r *http.Request, recent bool) error {
	if err := a.requireSession(r); err != nil {
		return err
	}
	info := infoOf(r.Context())
	switch {
	case !info.caller.Account.Admin:
		return errNotAdmin
	case !info.https && !netblock.IsLocal(info.client):
		return errPlainHTTP
	case recent && info.caller.AuthAge > auth.ReauthAge:
		return ErrReauthenticate
	}
	return nil
}
