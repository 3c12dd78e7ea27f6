package announcements

import (
	"net/http"

	"pressbox/daemon/web"
	"pressbox/voice/announce/draft"
)

// publishRoutes returns the route of a GET that speaks. It needs a token, as pages of other sites can cause a
// GET without any header that shows where it comes from; so it is not served below /api, where a browser's
// session would permit it.
func (h *handlers) publishRoutes() []web.Route {
	return []web.Route{web.NewRoute(http.MethodGet, "/notify/publish", web.TokenRequired, h.publish, web.Operation{
		ID: "publishAnnouncement", Tag: "announcements", Summary: "Create an announcement by GET",
		Description: "For programs that can only open an address. The parameters are the fields of POST /notify; " +
			"unknown ones are ignored and listed in `warnings`. " +
			"It needs an API token, also where NOTIFY_ACCESS is lan or open: as Bearer, the password of Basic, " +
			"X-Gotify-Key, or the parameter `token`.",
		Headers: []string{"Idempotency-Key"},
		Params:  []string{"message", "title", "urgent", "token", "auth"},
		Responses: []web.Response{{
			Status: http.StatusAccepted, Description: "The announcement is saved.", Body: Accepted{}, Location: true,
		}},
		Problems:   []int{http.StatusBadRequest, http.StatusServiceUnavailable},
		Limited:    true,
		Once:       true,
		Exact:      true,
		QueryToken: true,
	})}
}

func (h *handlers) publish(w http.ResponseWriter, r *http.Request) error {
	by, err := h.RequestBy(r)
	if err != nil {
		return err
	}
	d, err := draft.Read("", nil, web.WithoutTokens(r.URL.RawQuery))
	if err != nil {
		return err
	}
	return h.create(w, r, "/notify", d, by)
}
