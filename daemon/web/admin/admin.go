// Package admin serves operators and their monitoring: health, status, findings
// of the doctor, log level, backups and metrics.
package admin

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"pressbox/daemon/health"
	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/control"
	"pressbox/voice/announce/announcer"
	voicecontrol "pressbox/voice/control"
)

// A Config holds what the routes of this package serve.
type Config struct {
	Checks       []health.Check       // for GET /health
	Integrations []health.Integration // for GET /health
	Announcer    *announcer.Announcer
	Controls     *voicecontrol.Controls
	// Versions holds the versions of components by name, such as "onnxruntime",
	// for GET /admin/status; nil means none.
	Versions map[string]string

	Level   *slog.LevelVar        // of the log
	Backup  func(io.Writer) error // writes a copy of the store
	Metrics http.Handler
	// Diagnose checks every component; one that fails takes seconds.
	Diagnose func(context.Context) []health.Finding
	Settings Settings
	Backups  Backups
	Voices   Voices
	// Counts returns object counts by type: "games", "sessions" and so on; nil
	// means none.
	Counts func(context.Context) (map[string]int, error)
}

// handlers has the handlers of this package.
type handlers struct {
	*web.Server
	Config
	started time.Time
}

// Routes returns the routes of this package.
func Routes(s *web.Server, cfg Config) []web.Route {
	h := &handlers{s, cfg, time.Now()}
	return slices.Concat(h.healthRoutes(), h.adminRoutes(), h.backupRoutes(), h.voiceRoutes())
}

func (h *handlers) adminRoutes() []web.Route {
	const tag = "administration"
	shared := []web.Route{
		web.NewRoute(http.MethodGet, "/admin/status", web.AdminSocket, h.status, web.Operation{
			ID: "getStatus", Tag: tag, Summary: "Get the status: health, queue, versions and object counts",
			Responses: web.OK("The status.", statusReply{}),
		}),
		web.NewRoute(http.MethodGet, "/admin/examination", web.AdminSocket, h.diagnose, web.Operation{
			ID: "getFindings", Tag: tag, Summary: "Check every component, and get the findings",
			Description: "The server runs the checks of \"pressbox doctor\" in its own process.",
			Responses:   web.OK("The findings.", findingsReply{}),
		}),
	}
	shared = append(shared, h.settingRoutes()...)
	return slices.Concat(shared, web.UnderAPIAdmin(web.Administrator, shared), []web.Route{
		web.NewRoute(http.MethodGet, "/admin/log-level", web.AdminSocket, h.logLevel, web.Operation{
			ID: "getLogLevel", Tag: tag, Summary: "Get the log level",
			Responses: web.OK("The level.", logLevel{}),
		}),
		web.NewRoute(http.MethodPut, "/admin/log-level", web.AdminSocket, h.setLogLevel, web.Operation{
			ID: "setLogLevel", Tag: tag, Summary: "Set the log level until the next reload or restart",
			Request:   logLevel{},
			Responses: web.OK("The new level.", logLevel{}),
		}),
		web.NewRoute(http.MethodGet, "/admin/backup", web.AdminSocket, h.backup, web.Operation{
			ID: "getBackup", Tag: tag, Summary: "Get a backup of the store",
			Description: "An incomplete response is not a backup.",
			Responses: []web.Response{{
				Status: http.StatusOK, Description: "A copy of the store.", Media: []string{"application/octet-stream"},
			}},
		}),
		web.NewRoute(http.MethodGet, "/metrics", web.MetricsAccess, h.metrics, web.Operation{
			ID: "getMetrics", Tag: "server", Summary: "Get the metrics in Prometheus text format",
			Description: "Served on the administrator's socket, and with METRICS=on also on the network.",
			Responses: []web.Response{{
				Status: http.StatusOK, Description: "The metrics.", Media: []string{"text/plain"},
			}},
		}),
	})
}

// A statusReply is the body of GET /admin/status.
type statusReply struct {
	Health   healthReply              `json:"health"`
	Queue    announcements.QueueReply `json:"queue"`
	Versions map[string]string        `json:"versions"`
	Counts   map[string]int           `json:"counts"` // numbers of objects by type
	Volume   control.VolumeReply      `json:"volume"`
	Quiet    control.QuietReply       `json:"quiet"`
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
	return web.WriteJSON(w, http.StatusOK, statusReply{
		h.healthReply(true), announcements.Queue(h.Announcer), versions, counts,
		control.VolumeReply(h.Controls.Volume()), control.NewQuiet(h.Controls.Quiet(time.Now())),
	})
}

// A findingsReply is the body of GET /admin/examination.
type findingsReply struct {
	Findings []health.Finding `json:"findings"`
}

// diagnoseTimeout leaves 5 seconds of the write timeout for the response.
const diagnoseTimeout = web.WriteTimeout - 5*time.Second

func (h *handlers) diagnose(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), diagnoseTimeout)
	defer cancel()
	return web.WriteJSON(w, http.StatusOK, findingsReply{h.Diagnose(ctx)})
}

// A logLevel is the level of the log.
//
//	{"level": "DEBUG"}
type logLevel struct {
	Level string `json:"level" required:"true" enum:"DEBUG,INFO,WARN,WARNING,ERROR"`
}

func (h *handlers) logLevel(w http.ResponseWriter, _ *http.Request) error {
	return web.WriteJSON(w, http.StatusOK, logLevel{h.Level.Level().String()})
}

func (h *handlers) setLogLevel(w http.ResponseWriter, r *http.Request) error {
	var body logLevel
	if err := h.Decode(w, r, &body); err != nil {
		return err
	}
	var level slog.Level
	// The schema accepts only valid levels.
	if err := level.UnmarshalText([]byte(strings.Replace(body.Level, "WARNING", "WARN", 1))); err != nil {
		return err
	}
	h.Level.Set(level)
	return h.logLevel(w, r)
}

// backup responds with a copy of the store. After an error in the middle it
// closes the connection, so that the client sees that the copy is incomplete.
func (h *handlers) backup(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/octet-stream")
	out := &deadlineWriter{w: w, control: http.NewResponseController(w)}
	err := h.Backup(out)
	if err != nil && out.begun {
		h.Log().Error("backup download incomplete", "err", err)
		panic(http.ErrAbortHandler)
	}
	return err
}

// A deadlineWriter applies [web.WriteTimeout] to each write instead of to the
// whole response.
type deadlineWriter struct {
	w       io.Writer
	control *http.ResponseController
	begun   bool
}

func (d *deadlineWriter) Write(data []byte) (int, error) {
	_ = d.control.SetWriteDeadline(time.Now().Add(web.WriteTimeout)) // httptest.ResponseRecorder has none
	d.begun = true
	return d.w.Write(data)
}

func (h *handlers) metrics(w http.ResponseWriter, r *http.Request) error {
	h.Metrics.ServeHTTP(w, r)
	return nil
}
