package announcements

import (
	"net/http"

	"pressbox/daemon/web"
)

type room struct {
	Name   string `json:"name"`
	Here   bool   `json:"here"`
	Online bool   `json:"online"`
}

func (h *handlers) roomRoutes() []web.Route {
	return []web.Route{
		web.NewRoute(http.MethodGet, "/rooms", web.NotifyAccess, h.limited(h.reads, h.listRooms), web.Operation{
			ID: "listRooms", Tag: "announcements", Summary: "List the rooms that announcements can be sent to",
			Responses: []web.Response{{Status: http.StatusOK, Description: "The rooms.", Schema: "RoomList"}},
			Problems:  []int{http.StatusTooManyRequests},
		}),
	}
}

func (h *handlers) listRooms(w http.ResponseWriter, _ *http.Request) error {
	list := []room{}
	for _, r := range h.Rooms.List() {
		list = append(list, room(r))
	}
	return web.WriteJSON(w, http.StatusOK, struct {
		Rooms []room `json:"rooms"`
	}{list})
}
