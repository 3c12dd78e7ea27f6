package announcements

import (
	"net/http"

	"pressbox/daemon/web"
)

// A room is a host that speaks announcements.
type room struct {
	Name   string `json:"name"`
	Here   bool   `json:"here"`   // true for the room of this server
	Online bool   `json:"online"` // true if its server is connected to the broker
}

// A roomsReply lists the rooms.
type roomsReply struct {
	Rooms []room `json:"rooms"` // this room first, the others by name
}

func (h *handlers) roomRoutes() []web.Route {
	list := h.Limited(h.reads, h.listRooms)
	return []web.Route{web.NewRoute(http.MethodGet, "/rooms", web.NotifyAccess, list, web.Operation{
		ID: "listRooms", Tag: "announcements", Summary: "List the rooms that announcements can be sent to",
		Responses: []web.Response{{Status: http.StatusOK, Description: "The rooms.", Body: roomsReply{}}},
		Problems:  []int{http.StatusTooManyRequests},
	})}
}

func (h *handlers) listRooms(w http.ResponseWriter, _ *http.Request) error {
	list := []room{}
	for _, r := range h.Rooms.List() {
		list = append(list, room(r))
	}
	return web.WriteJSON(w, http.StatusOK, roomsReply{list})
}
