package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"pressbox/daemon/web"
	"pressbox/store"
)

// Backups are the backups of the store.
type Backups interface {
	List() ([]store.Backup, error) // newest first
	// Create makes a backup and checks it.
	Create(ctx context.Context) (store.Backup, error)
	// Open checks a backup and opens it. It returns [fs.ErrNotExist] or [store.ErrCorrupt].
	Open(ctx context.Context, name string) (*os.File, error)
}

// A backup describes a copy of the store.
type backup struct {
	Name    string        `json:"name"`
	Created web.Timestamp `json:"created_at"`
	Size    int64         `json:"size_bytes" minimum:"0"`
}

// A backupsReply lists the backups.
type backupsReply struct {
	Backups []backup `json:"backups"`
}

func newBackup(b store.Backup) backup {
	return backup{filepath.Base(b.Path), web.Timestamp{Time: b.Made}, b.Size}
}

// backupTimeout is the time limit of making and checking a backup.
const backupTimeout = 3 * time.Minute

// backupRoutes returns the routes of backups for administrators' accounts. The administrator's
// socket has GET /admin/backup instead, whose client checks what it receives.
func (h *handlers) backupRoutes() []web.Route {
	const tag, path = "administration", "/api/admin/backups"
	return []web.Route{
		web.NewRoute(http.MethodGet, path, web.RecentAdministrator, h.listBackups, web.Operation{
			ID: "listBackups", Tag: tag, Summary: "List the backups of the store: the last three, one a day",
			Responses: web.OK("The backups, newest first.", backupsReply{}),
		}),
		web.NewRoute(http.MethodPost, path, web.RecentAdministrator, h.createBackup, web.Operation{
			ID: "createBackup", Tag: tag, Summary: "Create a backup of the store now, and check it",
			Responses: []web.Response{{
				Status: http.StatusCreated, Description: "The backup.", Body: backup{}, Location: true,
			}},
			Problems: []int{http.StatusServiceUnavailable},
		}),
		web.NewRoute(http.MethodGet, path+"/:name", web.RecentAdministrator, h.downloadBackup, web.Operation{
			ID: "downloadBackup", Tag: tag, Summary: "Get a backup, which is checked again before",
			Description: "It contains all data, including the hashes of passphrases. \"pressbox restore\" restores it.",
			Responses: []web.Response{{
				Status: http.StatusOK, Description: "The backup.", Media: []string{"application/octet-stream"},
			}},
			Problems: []int{http.StatusNotFound},
		}),
	}
}

func (h *handlers) listBackups(w http.ResponseWriter, _ *http.Request) error {
	all, err := h.Backups.List()
	if err != nil {
		return err
	}
	list := []backup{}
	for _, b := range all {
		list = append(list, newBackup(b))
	}
	return web.WriteJSON(w, http.StatusOK, backupsReply{list})
}

func (h *handlers) createBackup(w http.ResponseWriter, r *http.Request) error {
	// httptest.ResponseRecorder has none
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(backupTimeout))
	made, err := h.Backups.Create(r.Context())
	if err != nil {
		return fmt.Errorf("%w: %w", errBackupFailed, err)
	}
	b := newBackup(made)
	w.Header().Set("Location", r.URL.Path+"/"+b.Name)
	return web.WriteJSON(w, http.StatusCreated, b)
}

func (h *handlers) downloadBackup(w http.ResponseWriter, r *http.Request) error {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(backupTimeout)) // as above
	f, err := h.Backups.Open(r.Context(), web.Param(r, "name"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", web.ErrNotFound, err)
	case errors.Is(err, store.ErrCorrupt):
		return fmt.Errorf("%w: %w", errBackupDamaged, err)
	case err != nil:
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": info.Name()}))
	header.Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	if r.Method == http.MethodHead {
		return nil
	}
	if _, err := io.Copy(&deadlineWriter{w: w, control: control}, f); err != nil {
		web.LogError(r, err) // less than Content-Length: the client sees that it is incomplete
	}
	return nil
}
