package play

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"time"

	"pressbox/daemon/web"
	"pressbox/game/history"
)

// Seasons keeps imported seasons. Errors wrap [history.ErrFiles] if the files are at fault, and
// [teams.ErrUnknown].
type Seasons interface {
	Import(ctx context.Context, files fs.FS) (*history.Season, error)
	List(ctx context.Context) ([]*history.Season, error)
	Remove(ctx context.Context, year int) error
}

const (
	maxArchive    = 32 << 20 // bytes; its files may have history.MaxBytes
	importTimeout = 10 * time.Minute
)

func (h *handlers) seasonRoutes() []web.Route {
	return web.When([]web.Route{
		web.NewRoute(http.MethodGet, "/admin/teams", web.AdminSocket, h.seasons, web.Operation{
			ID: "listSeasons", Summary: "List the imported seasons",
			Responses: answers("The seasons.", seasonsReply{}),
			Problems:  []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodPost, "/admin/teams", web.AdminSocket, h.importSeason, web.Operation{
			ID: "importSeason", Summary: "Import the clubs of a season",
			Description: "The body is a zip archive of at most 32 MiB with Retrosheet's files of one season, " +
				"unpacked at most 64 MiB: the list of teams (TEAM2020), the rosters (ANA2020.ROS) and the event " +
				"files (2020ANA.EVA). A season of the same year is replaced.",
			Responses: []web.Response{
				{Status: http.StatusCreated, Description: "The season is imported.", Body: seasonReply{}},
			},
			Problems: []int{
				http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge,
				http.StatusUnprocessableEntity, http.StatusServiceUnavailable,
			},
		}),
		web.NewRoute(http.MethodDelete, "/admin/teams/:id", web.AdminSocket, h.removeSeason, web.Operation{
			ID: "removeSeason", Summary: "Delete an imported season",
			Description: "Games that were created keep their players.",
			Responses:   deletes("The season is deleted."),
			Problems:    []int{http.StatusNotFound, http.StatusServiceUnavailable},
		}),
	}, func() bool { return h.Seasons != nil })
}

// A seasonReply describes an imported season.
type seasonReply struct {
	history.Season
	Clubs  int    `json:"clubs"`
	Notice string `json:"notice"` // what Retrosheet asks to be shown with its data
}

// A seasonsReply lists the imported seasons.
type seasonsReply struct {
	Seasons []seasonReply `json:"seasons"`
}

func newSeasonReply(s *history.Season) seasonReply {
	return seasonReply{*s, len(s.Rosters), history.Notice}
}

func (h *handlers) seasons(w http.ResponseWriter, r *http.Request) error {
	all, err := h.Seasons.List(r.Context())
	if err != nil {
		return err
	}
	replies := []seasonReply{}
	for _, s := range all {
		replies = append(replies, newSeasonReply(s))
	}
	return web.WriteJSON(w, http.StatusOK, seasonsReply{replies})
}

func (h *handlers) importSeason(w http.ResponseWriter, r *http.Request) error {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(importTimeout)) // httptest.ResponseRecorder has none
	_ = control.SetWriteDeadline(time.Now().Add(importTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxArchive))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return web.ErrBodyTooLarge
	}
	if err != nil {
		return fmt.Errorf("read the archive: %w", err)
	}
	files, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return web.QueryError("", "not_zip", "must be a zip archive: "+err.Error())
	}
	season, err := h.Seasons.Import(r.Context(), files)
	if errors.Is(err, history.ErrFiles) {
		return web.QueryError("", "not_a_season", err.Error())
	}
	if err != nil {
		return err
	}
	h.Log().Info("season imported by the administrator", "season", season.Year, "games", season.Games, "rejected",
		len(season.Rejected))
	return web.WriteJSON(w, http.StatusCreated, newSeasonReply(season))
}

func (h *handlers) removeSeason(w http.ResponseWriter, r *http.Request) error {
	year, err := parseSeason(web.Param(r, "id"))
	if err != nil {
		return web.ErrNotFound
	}
	if err := h.Seasons.Remove(r.Context(), year); err != nil {
		return err
	}
	h.Log().Info("season removed by the administrator", "season", year)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
