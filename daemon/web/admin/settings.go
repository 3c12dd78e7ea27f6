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

// A setting is a setting that administrators may change.
type setting struct {
	Name        string `json:"name"`   // such as QUIET_HOURS
	Value       string `json:"value"`  // as in pressbox.env
	Origin      string `json:"origin"` // as "pressbox config" prints it; `page` if it was set here
	Fixed       bool   `json:"fixed"`  // a flag or the environment has it, so that it cannot be changed here
	Type        string `json:"type"`   // for people
	Description string `json:"description"`
	// Its possible values, if only the running server knows them: the usable voices.
	Choices []choice `json:"choices,omitempty"`
}

// A choice is a possible value of a setting.
type choice struct {
	Value string `json:"value"`
	Label string `json:"label"` // for people
}

// A settingsReply lists the settings.
type settingsReply struct {
	Settings []setting `json:"settings"`
}

// A settingChange has values by the names of settings, as in pressbox.env. An empty one is the default; null resets a
// setting to its value in the files.
//
//	{"QUIET_HOURS": "22:00-07:00", "QUIET_MODE": "hold"}
//
// Or:
//
//	{"VOLUME": null}
type settingChange map[string]*string

// JSONSchemaBytes returns the schema.
func (settingChange) JSONSchemaBytes() ([]byte, error) {
	return []byte(`{"type": "object", "minProperties": 1, "maxProperties": 50,
		"additionalProperties": {"type": ["string", "null"], "maxLength": 1000}}`), nil
}

// settingRoutes returns the routes of settings on the administrator's socket.
func (h *handlers) settingRoutes() []web.Route {
	const tag = "administration"
	ok := web.OK("The settings.", settingsReply{})
	return []web.Route{
		web.NewRoute(http.MethodGet, "/admin/settings", web.AdminSocket, h.listSettings, web.Operation{
			ID: "listSettings", Tag: tag, Summary: "List the settings that administrators may change on the page",
			Responses: ok,
		}),
		web.NewRoute(http.MethodPatch, "/admin/settings", web.AdminSocket, h.changeSettings, web.Operation{
			ID: "changeSettings", Tag: tag, Summary: "Change settings, all or none of them", Request: settingChange{},
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
	return web.WriteJSON(w, http.StatusOK, settingsReply{list})
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
	var values settingChange
	if err := h.Decode(w, r, &values); err != nil {
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
