package web

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"time"
)

// Admin is what the administrator may do besides looking.
type Admin struct {
	Level   *slog.LevelVar        // of the log
	Backup  func(io.Writer) error // writes a copy of the store
	Metrics http.Handler
	// OpenMetrics says that everyone may read them.
	OpenMetrics bool
	// Examine says of each part whether it works; it takes seconds where one does not.
	Diagnose func(context.Context) []Finding
	// Counts says how many there are of what: "games", "sessions" and so on.
	Counts func(context.Context) (map[string]int, error)
	// Observe is told of every request that was answered; nil means nobody is.
	// route is its path in the table of routes, "" for one that is not in it; method
	// is "other" where no route has it.
	Observe func(route, method string, status int, took time.Duration)
}

// A Finding is what was found of one part of the appliance.
type Finding struct {
	Name   string `json:"name"`
	Result string `json:"result"` // "ok", "warning" or "failure"
	Detail string `json:"detail"`
	Remedy   string `json:"remedy,omitempty"` // what to do, usually a command
}

func (s *Server) adminRoutes() []route {
	const tag = "administration"
	return []route{
		{http.MethodGet, "/admin/status", admins, s.status, operation{
			id: "getStatus", tag: tag, summary: "All that the appliance knows of itself",
			answers: []success{{status: http.StatusOK, description: "Its status.", schema: "Status"}},
		}},
		{http.MethodGet, "/admin/examination", admins, s.examination, operation{
			id: "getExamination", tag: tag, summary: "Whether each part works, and how to mend it",
			description: "The daemon looks for itself, as \"pressbox doctor\" would.",
			answers:     []success{{status: http.StatusOK, description: "What it found.", schema: "Examination"}},
		}},
		{http.MethodGet, "/admin/log-level", admins, s.logLevel, operation{
			id: "getLogLevel", tag: tag, summary: "The least important messages that are logged",
			answers: []success{{status: http.StatusOK, description: "The level.", schema: "LogLevel"}},
		}},
		{http.MethodPut, "/admin/log-level", admins, s.setLogLevel, operation{
			id: "setLogLevel", tag: tag, summary: "Log more, or less, until the next reload or restart", request: "LogLevel",
			answers: []success{{status: http.StatusOK, description: "The level from now on.", schema: "LogLevel"}},
		}},
		{http.MethodGet, "/admin/backup", admins, s.backup, operation{
			id: "getBackup", tag: tag, summary: "A copy of the store as it is now",
			description: "An answer that is cut off is no backup.",
			answers:     []success{{status: http.StatusOK, description: "The store.", media: []string{"application/octet-stream"}}},
		}},
		{http.MethodGet, "/metrics", scrapers, s.metrics, operation{
			id: "getMetrics", tag: "appliance", summary: "Figures for Prometheus",
			description: "On the administrator's socket, and on the network with METRICS=on.",
			answers:     []success{{status: http.StatusOK, description: "The figures.", media: []string{"text/plain"}}},
		}},
	}
}

// A statusReply is the body of GET /admin/status.
type statusReply struct {
	Health   healthReply       `json:"health"`
	Queue    queueReply        `json:"queue"`
	Versions map[string]string `json:"versions"`
	Counts   map[string]int    `json:"counts"`
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) error {
	versions := map[string]string{"pressbox": s.cfg.Version}
	maps.Copy(versions, s.cfg.Versions)
	counts := map[string]int{}
	if s.cfg.Admin.Counts != nil {
		var err error
		if counts, err = s.cfg.Admin.Counts(r.Context()); err != nil {
			return err
		}
	}
	return reply(w, http.StatusOK, statusReply{s.healthReply(), s.queueReply(), versions, counts})
}

// An examinationReply is the body of GET /admin/examination.
type examinationReply struct {
	Findings []Finding `json:"findings"`
}

// examinationPatience is for the whole examination, so that there is time to write it.
const examinationPatience = writeTimeout - 5*time.Second

func (s *Server) examination(w http.ResponseWriter, r *http.Request) error {
	ctx, stop := context.WithTimeout(r.Context(), examinationPatience)
	defer stop()
	return reply(w, http.StatusOK, examinationReply{s.cfg.Admin.Diagnose(ctx)})
}

type logLevel struct {
	Level string `json:"level"`
}

func (s *Server) logLevel(w http.ResponseWriter, _ *http.Request) error {
	return reply(w, http.StatusOK, logLevel{s.cfg.Admin.Level.Level().String()})
}

func (s *Server) setLogLevel(w http.ResponseWriter, r *http.Request) error {
	var body logLevel
	if err := s.bodies.decode(w, r, "LogLevel", &body); err != nil {
		return err
	}
	var level slog.Level
	// The schema has let through nothing else.
	if err := level.UnmarshalText([]byte(strings.Replace(body.Level, "WARNING", "WARN", 1))); err != nil {
		return err
	}
	s.cfg.Admin.Level.Set(level)
	return s.logLevel(w, r)
}

// backup sends a copy of the store. When that fails in the middle it hangs up, so
// that nobody takes the beginning for the whole.
func (s *Server) backup(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/octet-stream")
	out := &patient{w: w, control: http.NewResponseController(w)}
	err := s.cfg.Admin.Backup(out)
	if err != nil && out.begun {
		s.cfg.Log.Error("a backup was cut off", "err", err)
		panic(http.ErrAbortHandler)
	}
	return err
}

// A patient writer gives the client a while for each write, however long all of
// them take.
type patient struct {
	w       io.Writer
	control *http.ResponseController
	begun   bool
}

func (p *patient) Write(data []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // only a test's recorder has none
	p.begun = true
	return p.w.Write(data)
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	s.cfg.Admin.Metrics.ServeHTTP(w, r)
	return nil
}
