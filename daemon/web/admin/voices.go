package admin

import (
	"context"
	"net/http"

	"pressbox/daemon/downloads"
	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
)

// Voices are the installed voices and those that can be installed.
type Voices interface {
	Voices() []downloads.Voice
	Last() downloads.Download
	Offers(ctx context.Context, language string) (downloads.Offers, error)
	Start(ctx context.Context, name string, standard bool) error
	Remove(name string) error
}

// installedVoices are the voices of the host.
type installedVoices struct {
	Voices  []installedVoice `json:"voices"`
	Install *install         `json:"install,omitempty"` // absent if there was none since the start
}

// An installedVoice is a voice that can speak, or says why it cannot.
type installedVoice struct {
	announcements.Voice
	Removable bool `json:"removable"` // it is in MODEL_DIR, and not the default voice
}

// An install is the present or last installation of a voice.
type install struct {
	Name  string `json:"name"`
	State string `json:"state" enum:"downloading,installed,failed"`
	Done  int64  `json:"done" minimum:"0"` // bytes
	Total int64  `json:"total" minimum:"0"`
	Error string `json:"error,omitempty"` // why it failed
}

// offers are the voices of a language that can be installed.
type offers struct {
	Language  string   `json:"language"`
	Languages []string `json:"languages"` // that can be asked for
	Voices    []offer  `json:"voices"`
}

// An offer is a voice that can be installed.
type offer struct {
	Name      string `json:"name"`
	Language  string `json:"language"` // in English, such as "German, Germany"
	Quality   string `json:"quality"`
	Speakers  int    `json:"speakers"`
	SizeBytes int64  `json:"size_bytes" minimum:"0"`
	License   string `json:"license,omitempty"` // absent if it is not stated, or could not be read
	// The best voice of the language whose license permits every use; at most one.
	Recommended bool `json:"recommended"`
	Installed   bool `json:"installed"`
}

// A voiceInstallation asks to install a voice.
//
//	{"default": true}
type voiceInstallation struct {
	Default bool `json:"default" default:"false"` // make it the default voice afterwards
}

func (h *handlers) voiceRoutes() []web.Route {
	const tag, path = "administration", "/api/admin/voices"
	return []web.Route{
		web.NewRoute(http.MethodGet, path, web.RecentAdministrator, h.listVoices, web.Operation{
			ID: "listInstalledVoices", Tag: tag,
			Summary:   "List the installed voices, and get the progress of an installation",
			Responses: web.OK("The voices.", installedVoices{}),
		}),
		web.NewRoute(http.MethodGet, "/api/admin/catalog", web.RecentAdministrator, h.catalog, web.Operation{
			ID: "getCatalog", Tag: tag, Summary: "List the voices of a language that can be installed (VOICES_URL)",
			Params:    []string{"language"},
			Responses: web.OK("The voices.", offers{}),
			Problems:  []int{http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodPost, path+"/:name", web.RecentAdministrator, h.installVoice, web.Operation{
			ID: "installVoice", Tag: tag, Summary: "Begin to install a voice of the catalog",
			Request: voiceInstallation{}, Optional: true,
			Description: "One is installed at a time; GET /api/admin/voices has the progress.",
			Responses: []web.Response{{
				Status: http.StatusAccepted, Description: "The voices, and the installation.",
				Body: installedVoices{},
			}},
			Problems: []int{http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodDelete, path+"/:name", web.RecentAdministrator, h.removeVoice, web.Operation{
			ID: "removeVoice", Tag: tag, Summary: "Remove a voice, or cancel its installation",
			Responses: web.Done(),
			Problems:  []int{http.StatusNotFound, http.StatusConflict},
		}),
	}
}

func (h *handlers) listVoices(w http.ResponseWriter, _ *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, h.installedVoices())
}

// installedVoices returns the installed voices and the present or last installation.
func (h *handlers) installedVoices() installedVoices {
	list := installedVoices{Voices: []installedVoice{}}
	for _, v := range h.Voices.Voices() {
		list.Voices = append(list.Voices, installedVoice{announcements.Voice(v.Info), v.Removable})
	}
	if last := h.Voices.Last(); last.Name != "" {
		list.Install = &install{Name: last.Name, State: last.State, Done: last.Done, Total: last.Total}
		if last.Err != nil {
			list.Install.Error = last.Err.Error()
		}
	}
	return list
}

func (h *handlers) catalog(w http.ResponseWriter, r *http.Request) error {
	language, err := web.QueryParam(r, "language")
	if err != nil {
		return err
	}
	found, err := h.Voices.Offers(r.Context(), language)
	if err != nil {
		return err
	}
	all := offers{Language: found.Language, Languages: found.Languages, Voices: []offer{}}
	for _, o := range found.Voices {
		all.Voices = append(all.Voices, offer{
			Name: o.Name, Language: o.Language, Quality: o.Quality, Speakers: o.Speakers, SizeBytes: o.Size(),
			License: o.License, Recommended: o.Recommended, Installed: o.Installed,
		})
	}
	return web.WriteJSON(w, http.StatusOK, all)
}

func (h *handlers) installVoice(w http.ResponseWriter, r *http.Request) error {
	var body voiceInstallation
	if err := h.DecodeOptional(w, r, &body); err != nil {
		return err
	}
	if err := h.Voices.Start(r.Context(), web.Param(r, "name"), body.Default); err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusAccepted, h.installedVoices())
}

func (h *handlers) removeVoice(w http.ResponseWriter, r *http.Request) error {
	if err := h.Voices.Remove(web.Param(r, "name")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
