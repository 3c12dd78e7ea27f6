package admin

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"pressbox/daemon/settings"
	"pressbox/daemon/web"
)

// Settings are the settings that administrators may change on the page.
type Settings interface {
	// List returns them in the order of the documents.
	List() ([]settings.Value, error)
	// Change saves and applies values by name; nil resets a setting to its value in the files.
	Change(ctx context.Context, values map[string]*string) error
}

type setting struct {
	Name        string `json:"name"`
	Value       string `json:"value"`  // as in pressbox.env
	Origin      string `json:"origin"` // as "pressbox config" prints it; "page": set here
	Fixed       bool   `json:"fixed"`  // by a flag or in the environment: it cannot be changed here
	Type        string `json:"type"`   // for people
	Description string `json:"description"`
	// Choices are its possible values, if only the running server knows them: the usable voices.
	Choices []choice `json:"choices,omitempty"`
}

// A choice is a possible value of a setting.
type choice struct {
	Value string `json:"value"`
	Label string `json:"label"` // for people
}

// settingRoutes returns the routes of settings on the administrator's socket.
func (h *handlers) settingRoutes() []web.Route {
	const tag = "administration"
	ok := []web.Response{{Status: http.StatusOK, Description: "The settings.", Schema: "SettingList"}}
	return []web.Route{
		web.NewRoute(http.MethodGet, "/admin/settings", web.AdminSocket, h.listSettings, web.Operation{
			ID: "listSettings", Tag: tag, Summary: "List the settings that administrators may change on the page",
			Responses: ok,
		}),
		web.NewRoute(http.MethodPatch, "/admin/settings", web.AdminSocket, h.changeSettings, web.Operation{
			ID: "changeSettings", Tag: tag, Summary: "Change settings, all or none of them", Request: "SettingChange",
			Description: "They are stored and take precedence over the files, " +
				"but not over flags and the environment, until they are reset.",
			Responses: ok,
			Problems:  []int{http.StatusConflict, http.StatusServiceUnavailable},
		}),
	}
}

func (h *handlers) listSettings(w http.ResponseWriter, _ *http.Request) error {
	all, err := h.Settings.List()
	if err != nil {
		return err
	}
	list := []setting{}
	for _, v := range all {
		one := setting{
			Name: v.Name, Value: v.Text, Origin: v.Origin,
			Fixed: v.Fixed, Type: v.Type(), Description: v.Setting.Text(),
		}
		if v.Name == "DEFAULT_VOICE" {
			one.Choices = h.voiceChoices()
		}
		list = append(list, one)
	}
	return web.WriteJSON(w, http.StatusOK, map[string][]setting{"settings": list})
}

// voiceChoices returns the usable voices.
func (h *handlers) voiceChoices() (all []choice) {
	for _, v := range h.Voices.Voices() {
		if v.Error == "" {
			all = append(all, choice{v.Name, v.Label})
		}
	}
	return all
}

func (h *handlers) changeSettings(w http.ResponseWriter, r *http.Request) error {
	var values map[string]*string
	if err := h.Decode(w, r, "SettingChange", &values); err != nil {
		return err
	}
	if err := h.Settings.Change(r.Context(), values); err != nil {
		return err
	}
	sender := h.Sender(r)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		to := "reset"
		if value := values[name]; value != nil {
			to = *value
		}
		h.Log().Info("setting changed", "key", name, "to", to, "sender", string(sender.Kind)+" "+sender.Name)
	}
	return h.listSettings(w, r)
}
