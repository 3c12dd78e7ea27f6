package push

import (
	"net/http"

	"pressbox/daemon/web"
	"pressbox/voice/announce/draft"
)

func (h *handlers) gotifyRoutes() []web.Route {
	return []web.Route{web.NewRoute(http.MethodPost, "/message", web.NotifyAccess, h.gotify, operation(web.Operation{
		ID: "createGotifyMessage", Summary: "Create an announcement as a message of Gotify",
		Description: "JSON or a form. A priority of 8 to 10 is urgent by default (NTFY_URGENT); " +
			"one of 0 to 3 is spoken without a chime, and only when no other announcement waits. " +
			"The token may be X-Gotify-Key or the parameter `token`. " +
			"Unknown fields are ignored and listed in `warnings`.",
		Request:  gotifyRequest{},
		AnyMedia: true,
		Params:   []string{"token"},
		Responses: []web.Response{{
			Status: http.StatusOK, Description: "The announcement is saved.", Body: gotifyMessage{}, Location: true,
		}},
		QueryToken: true,
	}))}
}

// A gotifyMessage is the answer of Gotify.
type gotifyMessage struct {
	ID       uint64        `json:"id"` // order of acceptance; Location has the id of the announcement
	AppID    int           `json:"appid" const:"1"`
	Message  string        `json:"message"`
	Title    string        `json:"title,omitempty"`
	Priority int           `json:"priority" minimum:"0" maximum:"10"`
	Date     web.Timestamp `json:"date"`
	// Names of fields of the request that are unknown and were ignored.
	Warnings []string `json:"warnings,omitempty" minItems:"1"`
}

// A gotifyRequest is a message of Gotify. Fields of AnnouncementRequest are accepted too; extras have no effect,
// and others are ignored with a warning.
//
//	{"title": "Backup", "message": "The backup failed.", "priority": 5}
type gotifyRequest struct {
	Title   string `json:"title"`                   // as in AnnouncementRequest
	Message string `json:"message" required:"true"` // as in AnnouncementRequest
	// 0 to 10; 8 to 10 are urgent by default (NTFY_URGENT), 0 to 3 are spoken without a chime, and only when no other
	// announcement waits.
	Priority int            `json:"priority" default:"5"`
	Extras   map[string]any `json:"extras"`
	_        struct{}       `additionalProperties:"true"`
}

func (h *handlers) gotify(w http.ResponseWriter, r *http.Request) error {
	body, err := web.ReadBody(w, r)
	if err != nil {
		return err
	}
	all, err := draft.Fields(r.Header.Get("Content-Type"), body)
	if err != nil {
		return err
	}
	d, priority := &draft.Draft{}, gotifyUsual
	for _, f := range append(all, draft.FormFields(web.WithoutTokens(r.URL.RawQuery))...) {
		switch f.Name {
		case "extras", "id", "appid", "date": // no effect on speech
		case "priority":
			n, ok := number(f.Text, gotifyMost)
			if !ok {
				d.Refuse("priority", "out_of_range", "must be 0 to 10")
				continue
			}
			priority = n
			d.Prioritize(gotifyPriorities()[n], h.UrgentFrom())
		default:
			d.Set(f.Name, f.Text)
		}
	}
	view, err := h.announce(w, r, d, "", "")
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, gotifyMessage{
		ID: view.Seq, AppID: 1, Message: view.Message, Title: view.Title, Priority: priority,
		Date: web.Timestamp{Time: view.Created}, Warnings: d.Warnings,
	})
}

// Priorities of Gotify.
const (
	gotifyUsual = 5 // of messages without one
	gotifyMost  = 10
)

// gotifyPriorities returns the priority of ntfy for each of Gotify, from 0 to 10. Gotify's
// own client makes a sound from 4 on, and vibrates from 8 on.
func gotifyPriorities() [gotifyMost + 1]int {
	return [...]int{2, 2, 2, 2, 3, 3, 4, 4, 5, 5, 5}
}
