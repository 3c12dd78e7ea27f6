package control

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
	"pressbox/voice/control"
)

func (h *handlers) scheduleRoutes() []web.Route {
	one := ok("The schedule.", scheduleReply{})
	return []web.Route{
		h.read("/schedules", h.schedules, web.Operation{
			ID: "listSchedules", Summary: "List the schedules",
			Responses: ok("The schedules; those that are due first come first.", scheduleList{}),
		}),
		h.change(http.MethodPost, "/schedules", h.createSchedule, web.Operation{
			ID: "createSchedule", Summary: "Create a schedule", Request: control.Plan{},
			Description: "At most 100, and 20 of one client. A time that a daylight saving change skips is the time " +
				"of the change, and of one that it repeats the first counts. " +
				"What was missed by more than 10 minutes, because the server did not run, is not made up for.",
			Responses: []web.Response{{
				Status: http.StatusCreated, Description: "The schedule.", Body: scheduleReply{}, Location: true,
			}},
			Problems: []int{http.StatusConflict},
		}),
		h.read("/schedules/:id", h.schedule, web.Operation{
			ID: "getSchedule", Summary: "Get a schedule", Responses: one, Problems: []int{http.StatusNotFound},
		}),
		h.change(http.MethodPut, "/schedules/:id", h.replaceSchedule, web.Operation{
			ID: "replaceSchedule", Summary: "Replace a schedule", Request: control.Plan{}, Responses: one,
			Problems: []int{http.StatusNotFound},
		}),
		h.change(http.MethodDelete, "/schedules/:id", h.deleteSchedule, web.Operation{
			ID: "deleteSchedule", Summary: "Delete a schedule",
			Responses: []web.Response{{Status: http.StatusNoContent, Description: "It is deleted."}},
			Problems:  []int{http.StatusNotFound},
		}),
		h.change(http.MethodPost, "/schedules/:id/skip", h.skip, web.Operation{
			ID: "skipSchedule", Summary: "Leave out the next time of a schedule",
			Description: "The time is `skip_at` of the answer. While one is left out, no other is.",
			Responses:   one, Problems: []int{http.StatusNotFound, http.StatusConflict},
		}),
		h.change(http.MethodDelete, "/schedules/:id/skip", h.restore, web.Operation{
			ID: "restoreSchedule", Summary: "Leave out no time of a schedule", Responses: one,
			Problems: []int{http.StatusNotFound},
		}),
	}
}

// A scheduleReply is an announcement that recurs.
type scheduleReply struct {
	ID string `json:"id"`
	control.Plan
	// Absent while it is disabled, or the host's clock is not set.
	NextAt web.Timestamp `json:"next_at,omitzero"`
	SkipAt web.Timestamp `json:"skip_at,omitzero"` // a time that is left out
}

func newSchedule(s control.Schedule) scheduleReply {
	return scheduleReply{s.ID, s.Plan, web.Timestamp{Time: s.Next}, web.Timestamp{Time: s.Skip}}
}

// A scheduleList lists the schedules.
type scheduleList struct {
	Schedules []scheduleReply `json:"schedules" maxItems:"100"`
}

func newScheduleList(all []control.Schedule) scheduleList {
	list := scheduleList{[]scheduleReply{}} // [] instead of null
	for _, s := range all {
		list.Schedules = append(list.Schedules, newSchedule(s))
	}
	return list
}

func (h *handlers) schedules(w http.ResponseWriter, _ *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, newScheduleList(h.Schedules.List()))
}

func (h *handlers) schedule(w http.ResponseWriter, r *http.Request) error {
	s, err := h.Schedules.Find(web.Param(r, "id"))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, newSchedule(s))
}

// plan returns the body of a request.
func (h *handlers) plan(w http.ResponseWriter, r *http.Request) (control.Plan, error) {
	p := control.Plan{Enabled: true}
	err := h.Decode(w, r, &p)
	return p, err
}

func (h *handlers) createSchedule(w http.ResponseWriter, r *http.Request) error {
	p, err := h.plan(w, r)
	if err != nil {
		return err
	}
	s, err := h.Schedules.Create(r.Context(), h.ClientID(r), p)
	if err != nil {
		return err
	}
	h.logChange(r, "schedules", "created "+s.ID)
	w.Header().Set("Location", strings.TrimSuffix(r.URL.Path, "/")+"/"+s.ID)
	return web.WriteJSON(w, http.StatusCreated, newSchedule(s))
}

func (h *handlers) replaceSchedule(w http.ResponseWriter, r *http.Request) error {
	p, err := h.plan(w, r)
	if err != nil {
		return err
	}
	s, err := h.Schedules.Replace(r.Context(), web.Param(r, "id"), p)
	return h.edited(w, r, s, "replaced", err)
}

func (h *handlers) skip(w http.ResponseWriter, r *http.Request) error {
	s, err := h.Schedules.Skip(r.Context(), web.Param(r, "id"))
	return h.edited(w, r, s, "skipped", err)
}

func (h *handlers) restore(w http.ResponseWriter, r *http.Request) error {
	s, err := h.Schedules.Restore(r.Context(), web.Param(r, "id"))
	return h.edited(w, r, s, "restored", err)
}

// edited responds with a schedule that was changed, or returns err.
func (h *handlers) edited(w http.ResponseWriter, r *http.Request, s control.Schedule, how string, err error) error {
	if err != nil {
		return err
	}
	h.logChange(r, "schedules", how+" "+s.ID)
	return web.WriteJSON(w, http.StatusOK, newSchedule(s))
}

func (h *handlers) deleteSchedule(w http.ResponseWriter, r *http.Request) error {
	id := web.Param(r, "id")
	if err := h.Schedules.Delete(r.Context(), id); err != nil {
		return err
	}
	h.logChange(r, "schedules", "deleted "+id)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (h *handlers) favoriteRoutes() []web.Route {
	return []web.Route{
		h.read("/favorites", h.favorites, web.Operation{
			ID: "listFavorites", Summary: "List the favorites", Responses: ok("The favorites.", favorites{}),
		}),
		h.change(http.MethodPut, "/favorites", h.setFavorites, web.Operation{
			ID: "setFavorites", Summary: "Replace the favorites: messages that the page offers", Request: favorites{},
			Responses: ok("The favorites.", favorites{}),
		}),
	}
}

// favorites are announcements that the page offers.
//
//	{"favorites": [{"message": "Dinner is ready."}]}
type favorites struct {
	Favorites []control.Favorite `json:"favorites" required:"true" maxItems:"50"`
}

func newFavorites(all []control.Favorite) favorites {
	named := append([]control.Favorite{}, all...) // [] instead of null
	for i, f := range named {
		named[i].Name = cmp.Or(f.Name, f.DefaultName())
	}
	return favorites{named}
}

func (h *handlers) favorites(w http.ResponseWriter, _ *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, newFavorites(h.Controls.Favorites()))
}

func (h *handlers) setFavorites(w http.ResponseWriter, r *http.Request) error {
	var body favorites
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	if err := h.checkFavorites(body.Favorites); err != nil {
		return err
	}
	for i, f := range body.Favorites {
		if f.Name == f.DefaultName() { // it was read, and follows the text
			body.Favorites[i].Name = ""
		}
	}
	all, err := h.Controls.SetFavorites(r.Context(), body.Favorites)
	if err != nil {
		return err
	}
	h.logChange(r, "favorites", len(all))
	return web.WriteJSON(w, http.StatusOK, newFavorites(all))
}

// checkFavorites returns the violations of all favorites, except of those that are saved already: the voice of
// one may have been removed, and others can be saved nevertheless.
func (h *handlers) checkFavorites(all []control.Favorite) error {
	var wrong []web.Violation
	saved := h.Controls.Favorites()
	for i, f := range all {
		if v, ok := announce.ControlViolation("name", f.Name); ok {
			wrong = append(wrong, web.Violation{
				Path: fmt.Sprintf("/favorites/%d/name", i), Code: v.Code, Detail: v.Detail,
			})
		}
		if slices.ContainsFunc(saved, func(s control.Favorite) bool { return s.Equal(f.Payload) }) {
			continue
		}
		_, err := h.Check(f.Request())
		if _, invalid := errors.AsType[*announce.RequestError](err); err != nil && !invalid {
			return err
		}
		for _, v := range h.Problem(err).Errors {
			v.Path = fmt.Sprintf("/favorites/%d%s", i, v.Path)
			wrong = append(wrong, v)
		}
	}
	if len(wrong) > 0 {
		return &web.BodyError{Violations: wrong}
	}
	return nil
}
