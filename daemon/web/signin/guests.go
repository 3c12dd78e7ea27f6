package signin

import (
	"errors"
	"net/http"

	"pressbox/auth"
	"pressbox/auth/session"
	"pressbox/daemon/web"
)

func (h *handlers) guestRoutes() []web.Route {
	opens := []web.Response{
		{Status: http.StatusCreated, Description: "The account; the cookies of its session.", Body: accountReply{}},
	}
	return []web.Route{
		web.NewRoute(http.MethodPost, "/api/auth/guest", web.Public, h.admitGuest, web.Operation{
			ID: "admitGuest", Tag: "sign-in", Summary: "Take the seat of a game by the code of its creator",
			Description: "A guest may read and command that game, and nothing else. The session ends with the game, " +
				"or after seven days without use. A code is valid for an hour and one guest; 20 tries a minute.",
			Request: guestRequest{}, Responses: opens,
			Problems: []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests},
		}),
		web.NewRoute(http.MethodPost, "/api/auth/keep", web.Public, h.keepGuest, web.Operation{
			ID: "keepGuest", Tag: "sign-in", Summary: "Make the guest of this session a local account",
			Description: "The account keeps the guest's games. It needs SIGN_UP=open, or a valid invite. Possible " +
				"for an hour after the end of the game.",
			Request: keepRequest{}, Responses: opens,
			Problems: []int{
				http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusTooManyRequests,
			},
		}),
	}
}

// A guestRequest is the body of POST /api/auth/guest.
type guestRequest struct {
	Code string   `json:"code" required:"true"` // in any case
	Name string   `json:"name" required:"true"` // 1 to 32 characters; shown as "NAME (guest)"
	_    struct{} `additionalProperties:"true"`
}

func (h *handlers) admitGuest(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	var body guestRequest
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	if h.Seat == nil || h.signUp() == auth.SignUpClosed {
		return errSignUpClosed
	}
	result, err := h.Sessions.OpenGuest(r.Context(), session.Guest{
		Code: body.Code, Name: body.Name, Device: deviceOf(r), Replaces: h.cookies.tokens(r),
	})
	if errors.Is(err, auth.ErrInvalidGuest) {
		return nameRefused(auth.ErrInvalidGuest)
	} else if err != nil {
		return err
	}
	if err := h.Seat(r.Context(), result.Account); err != nil {
		return errors.Join(err, h.Sessions.DeleteAccount(r.Context(), result.Account.ID))
	}
	h.cookies.setSession(w, result)
	return web.WriteJSON(w, http.StatusCreated, newAccountReply(result.Account))
}

// signUp returns the policy by which accounts are made.
func (h *handlers) signUp() auth.SignUpPolicy {
	if h.Local != nil {
		return h.Local.SignUp()
	}
	return h.SignIn.SignUp
}

// nameRefused returns an error of the name in a body.
func nameRefused(err error) error {
	return &web.BodyError{Violations: []web.Violation{{Path: "/name", Code: "invalid", Detail: err.Error()}}}
}

// A keepRequest is the body of POST /api/auth/keep.
type keepRequest struct {
	Name string `json:"name" required:"true"` // 1 to 40 characters
	// 8 to 128 characters; not on the list of common passphrases.
	Passphrase string   `json:"passphrase" required:"true"`
	Invite     string   `json:"invite"`
	_          struct{} `additionalProperties:"true"`
}

func (h *handlers) keepGuest(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	var body keepRequest
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	tokens := h.cookies.tokens(r)
	if t, ok := auth.Bearer(r.Header.Values("Authorization")); ok {
		tokens = append(tokens, t)
	}
	guest, err := h.Sessions.KeptGuest(r.Context(), tokens...)
	if err != nil {
		return err
	}
	if h.Passphrases == nil || h.signUp() == auth.SignUpClosed {
		return errSignUpClosed
	}
	device := deviceOf(r)
	result, err := h.Passphrases.Keep(r.Context(), guest.ID, auth.Credentials{
		Name: body.Name, Passphrase: body.Passphrase, Invite: body.Invite, From: web.ClientAddr(r),
	}, device, tokens)
	switch {
	case errors.Is(err, auth.ErrInvalidName):
		return nameRefused(auth.ErrInvalidName)
	case err != nil:
		return refused(err, "/passphrase", web.Violation{})
	}
	h.cookies.setSession(w, result)
	return web.WriteJSON(w, http.StatusCreated, newAccountReply(result.Account))
}

// deviceOf returns where a request comes from.
func deviceOf(r *http.Request) auth.Device {
	return auth.Device{Agent: auth.Agent(r.UserAgent()), Network: auth.Network(web.ClientAddr(r))}
}
