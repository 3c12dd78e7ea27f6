// Package admin serves what operators and their monitoring ask: health, status,
// findings, log level, backups and metrics.
package admin

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"time"

	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/voice/announce"
)

// A Config holds what these routes ask.
type Config struct {
	Checks    []Check // for GET /health, in their order
	Announcer *announce.Announcer
	// Versions holds the versions of what the program is built of, such as
	// "onnxruntime", for GET /admin/status; nil means none.
	Versions map[string]string

	Level   *slog.LevelVar        // of the log
	Backup  func(io.Writer) error // writes a copy of the store
	Metrics http.Handler
	// Diagnose checks every part; a part that does not work takes seconds.
	Diagnose func(context.Context) []Finding
	// Counts returns object counts by type: "games", "sessions" and so on; nil
	// means none.
	Counts func(context.Context) (map[string]int, error)
}

// handlers answer the routes of this package.
type handlers struct {
	*web.Server
	Config
	started time.Time
}

// Routes returns the routes of this package.
func Routes(s *web.Server, cfg Config) []web.Route {
	h := &handlers{s, cfg, time.Now()}
	return append(h.healthRoutes(), h.adminRoutes()...)
}

// A Finding is what was found of one part of the appliance.
type Finding struct {
	Name   string `json:"name"`
	Result string `json:"result"` // "ok", "warning" or "failure"
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"` // what to do, usually a command
}

func (h *handlers) adminRoutes() []web.Route {
	const tag = "administration"
	return []web.Route{
		web.NewRoute(http.MethodGet, "/admin/status", web.AdminSocket, h.status, web.Operation{
			ID: "getStatus", Tag: tag, Summary: "All that the appliance knows of itself",
			Responses: []web.Response{{Status: http.StatusOK, Description: "Its status.", Schema: "Status"}},
		}),
		web.NewRoute(http.MethodGet, "/admin/examination", web.AdminSocket, h.examination, web.Operation{
			ID: "getExamination", Tag: tag, Summary: "Whether each part works, and how to mend it",
			Description: "The daemon looks for itself, as \"pressbox doctor\" would.",
			Responses:   []web.Response{{Status: http.StatusOK, Description: "What it found.", Schema: "Examination"}},
		}),
		web.NewRoute(http.MethodGet, "/admin/log-level", web.AdminSocket, h.logLevel, web.Operation{
			ID: "getLogLevel", Tag: tag, Summary: "The least important messages that are logged",
			Responses: []web.Response{{Status: http.StatusOK, Description: "The level.", Schema: "LogLevel"}},
		}),
		web.NewRoute(http.MethodPut, "/admin/log-level", web.AdminSocket, h.setLogLevel, web.Operation{
			ID: "setLogLevel", Tag: tag, Summary: "Log more, or less, until the next reload or restart", Request: "LogLevel",
			Responses: []web.Response{{Status: http.StatusOK, Description: "The level from now on.", Schema: "LogLevel"}},
		}),
		web.NewRoute(http.MethodGet, "/admin/backup", web.AdminSocket, h.backup, web.Operation{
			ID: "getBackup", Tag: tag, Summary: "A copy of the store as it is now",
			Description: "An answer that is cut off is no backup.",
			Responses:   []web.Response{{Status: http.StatusOK, Description: "The store.", Media: []string{"application/octet-stream"}}},
		}),
		web.NewRoute(http.MethodGet, "/metrics", web.MetricsAccess, h.metrics, web.Operation{
			ID: "getMetrics", Tag: "appliance", Summary: "Figures for Prometheus",
			Description: "On the administrator's socket, and on the network with METRICS=on.",
			Responses:   []web.Response{{Status: http.StatusOK, Description: "The figures.", Media: []string{"text/plain"}}},
		}),
	}
}

// A statusReply is the body of GET /admin/status.
type statusReply struct {
	Health   healthReply              `json:"health"`
	Queue    announcements.QueueReply `json:"queue"`
	Versions map[string]string        `json:"versions"`
	Counts   map[string]int           `json:"counts"`
}

func (h *handlers) status(w http.ResponseWriter, r *http.Request) error {
	versions := map[string]string{"pressbox": h.Version()}
	maps.Copy(versions, h.Versions)
	counts := map[string]int{}
	if h.Counts != nil {
		var err error
		if counts, err = h.Counts(r.Context()); err != nil {
			return err
		}
	}
	return web.WriteJSON(w, http.StatusOK, statusReply{h.healthReply(), announcements.Queue(h.Announcer), versions, counts})
}

// An examinationReply is the body of GET /admin/examination.
type examinationReply struct {
	Findings []Finding `json:"findings"`
}

// examinationPatience is for the whole examination, so that there is time to write it.
const examinationPatience = web.WriteTimeout - 5*time.Second

func (h *handlers) examination(w http.ResponseWriter, r *http.Request) error {
	ctx, stop := context.WithTimeout(r.Context(), examinationPatience)
	defer stop()
	return web.WriteJSON(w, http.StatusOK, examinationReply{h.Diagnose(ctx)})
}

type logLevel struct {
	Level string `json:"level"`
}

func (h *handlers) logLevel(w http.ResponseWriter, _ *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, logLevel{h.Level.Level().String()})
}

func (h *handlers) setLogLevel(w http.ResponseWriter, r *http.Request) error {
	var body logLevel
	if err := h.Decode(w, r, "LogLevel", &body); err != nil {
		return err
	}
	var level slog.Level
	// The schema has let through nothing else.
	if err := level.UnmarshalText([]byte(strings.Replace(body.Level, "WARNING", "WARN", 1))); err != nil {
		return err
	}
	h.Level.Set(level)
	return h.logLevel(w, r)
}

// backup sends a copy of the store. web.When that fails in the middle it hangs up, so
// that nobody takes the beginning for the whole.
func (h *handlers) backup(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/octet-stream")
	out := &deadlineWriter{w: w, control: http.NewResponseController(w)}
	err := h.Backup(out)
	if err != nil && out.begun {
		h.Log().Error("a backup was cut off", "err", err)
		panic(http.ErrAbortHandler)
	}
	return err
}

// A deadlineWriter writer gives the client a while for each write, however long all of
// them take.
type deadlineWriter struct {
	w       io.Writer
	control *http.ResponseController
	begun   bool
}

func (p *deadlineWriter) Write(data []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(web.WriteTimeout)) // only a test's recorder has none
	p.begun = true
	return p.w.Write(data)
}

func (h *handlers) metrics(w http.ResponseWriter, r *http.Request) error {
	h.Metrics.ServeHTTP(w, r)
	return nil
}
