package web

import (
	"maps"
	"net/http"
)

func (s *Server) adminRoutes() []route {
	return []route{{http.MethodGet, "/admin/status", admins, s.status, operation{
		id: "getStatus", tag: "administration", summary: "All that the appliance knows of itself",
		answers: []success{{status: http.StatusOK, description: "Its status.", schema: "Status"}},
	}}}
}

// A statusReply is the body of GET /admin/status.
type statusReply struct {
	Health   healthReply       `json:"health"`
	Queue    queueReply        `json:"queue"`
	Versions map[string]string `json:"versions"`
}

func (s *Server) status(w http.ResponseWriter, _ *http.Request) error {
	versions := map[string]string{"pressbox": s.cfg.Version}
	maps.Copy(versions, s.cfg.Versions)
	return reply(w, http.StatusOK, statusReply{s.healthReply(), s.queueReply(), versions})
}
