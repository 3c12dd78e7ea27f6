package play

import (
	"context"
	"errors"
	"net/http"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/game/live"
	"pressbox/game/protocol"
)

// guestRoutes returns the routes of the codes by which guests are admitted; that of the guests is of sign-in.
func (h *handlers) guestRoutes() []web.Route {
	const path = "/api/games/:id/guest"
	return []web.Route{
		web.NewRoute(http.MethodPost, path, web.SessionRequired, h.inviteGuest, web.Operation{
			ID: "inviteGuest", Summary: "Create a code by which a guest takes the open seat",
			Description: "Only the game's creator may. A code is valid for an hour, or until it is taken; of a game " +
				"the last four are.",
			Responses: []web.Response{{Status: http.StatusCreated, Description: "The code.", Body: guestReply{}}},
			Problems:  changeProblems(),
		}),
		web.NewRoute(http.MethodDelete, path, web.SessionRequired, h.revokeGuests, web.Operation{
			ID: "revokeGuests", Summary: "Revoke the codes of a game that are not taken",
			Responses: deletes("The codes are revoked."), Problems: changeProblems(),
		}),
	}
}

// A guestReply holds a code by which a guest is admitted to a game.
type guestReply struct {
	Code    string    `json:"code"`
	URL     string    `json:"url"` // of the page that asks for the guest's name
	Expires time.Time `json:"expires_at"`
}

func (h *handlers) inviteGuest(w http.ResponseWriter, r *http.Request) error {
	id := web.Param(r, "id")
	if err := h.Games.CheckGuestSeat(r.Context(), personOf(r), id); err != nil {
		return err
	}
	code, err := h.Sessions.CreateGuestCode(r.Context(), id)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusCreated, guestReply{
		Code: code, URL: h.JoinOrigin(r) + "/join/" + code,
		Expires: time.Now().Add(auth.GuestCodeTTL).UTC().Truncate(time.Second),
	})
}

func (h *handlers) revokeGuests(w http.ResponseWriter, r *http.Request) error {
	id := web.Param(r, "id")
	if err := h.Games.CheckCreator(personOf(r), id); err != nil {
		return err
	}
	return web.WriteNoContent(w, h.Sessions.RevokeGuestCodes(r.Context(), id))
}

// Seat gives a guest the open seat of the game.
func Seat(games *live.Games) func(context.Context, auth.Account) error {
	return func(ctx context.Context, guest auth.Account) error {
		_, err := games.Join(ctx, protocol.Person{ID: guest.ID, Name: guest.Name}, guest.Guest)
		if refused, ok := errors.AsType[*protocol.Error](err); ok && refused.Code == protocol.NotPending {
			return protocol.Refuse(protocol.SeatTaken, "the game has begun")
		}
		return err
	}
}
