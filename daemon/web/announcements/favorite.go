package announcements

import (
	"cmp"
	"net/http"
	"strings"

	"pressbox/daemon/web"
)

func (h *handlers) favoriteRoutes() []web.Route {
	return []web.Route{
		web.NewRoute(
			http.MethodPost, "/favorites/:id/announce", web.NotifyAccess, h.announceFavorite,
			web.Operation{
				ID: "announceFavorite", Tag: "announcements", Summary: "Announce a favorite",
				Description: "Fields of the body, or of the URL, take the place of the favorite's. If its voice was " +
					"removed, the default one of its language speaks.",
				Headers:  []string{"Idempotency-Key"},
				Request:  favoriteOverride{},
				AnyMedia: true,
				Responses: []web.Response{{
					Status: http.StatusAccepted, Description: "The announcement is saved.", Body: Accepted{},
					Location: true,
				}},
				Problems: []int{http.StatusNotFound, http.StatusServiceUnavailable},
				Limited:  true,
			},
		),
	}
}

// A favoriteOverride has the fields of an announcement, as those of AnnouncementRequest, that differ from the
// favorite's.
//
//	{"volume": 30}
type favoriteOverride struct{}

// JSONSchemaBytes returns the schema of any object: the fields are checked as those of other announcements.
func (favoriteOverride) JSONSchemaBytes() ([]byte, error) { return []byte(`{"type": "object"}`), nil }

func (h *handlers) announceFavorite(w http.ResponseWriter, r *http.Request) error {
	d, by, err := h.draft(w, r, []byte("{}"))
	if err != nil {
		return err
	}
	id := web.Param(r, "id")
	favorite, err := h.Favorite(id)
	if err != nil {
		return err
	}
	by.Stored = cmp.Or(d.Request.Voice, favorite.Voice) == favorite.Voice
	d.Default(favorite.Payload)
	return h.create(w, r, strings.TrimSuffix(r.URL.Path, "/favorites/"+id+"/announce")+"/notify", d, by)
}
