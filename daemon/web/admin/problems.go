package admin

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"pressbox/daemon/downloads"
	"pressbox/daemon/settings"
	"pressbox/daemon/web"
	"pressbox/voice/announce"
	"pressbox/voice/catalog"
)

var (
	errBackupFailed  = errors.New("the backup cannot be made; \"pressbox doctor\" on the host names the reason")
	errBackupDamaged = errors.New("the backup is damaged; create another one")
)

var statuses = web.Statuses{
	web.NewStatus(errBackupFailed, http.StatusServiceUnavailable, "backup_failed", time.Minute),
	web.NewStatus(errBackupDamaged, http.StatusInternalServerError, "backup_damaged", 0),
	web.NewStatus(settings.ErrNotSaved, http.StatusServiceUnavailable, "not_saved", 10*time.Second),
	web.NewStatus(downloads.ErrBusy, http.StatusConflict, "installing", 0),
	web.NewStatus(downloads.ErrDefault, http.StatusConflict, "default_voice", 0),
	web.NewStatus(downloads.ErrShared, http.StatusConflict, "shared_voice", 0),
	web.NewStatus(catalog.ErrUnknown, http.StatusNotFound, "not_found", 0),
}

// explained are the statuses of errors whose cause administrators read too.
var explained = web.Statuses{ //nolint:gochecknoglobals // as statuses
	web.NewStatus(settings.ErrFixed, http.StatusConflict, "fixed_setting", 0),
	web.NewStatus(settings.ErrInvalid, http.StatusConflict, "invalid_settings", 0),
	web.NewStatus(downloads.ErrUnavailable, http.StatusServiceUnavailable, "catalog_unavailable", 30*time.Second),
}

// Problem returns the problem that an error of these routes is to the client.
func Problem(err error) (web.Problem, bool) {
	if wrong, ok := errors.AsType[settings.ValueError](err); ok {
		var all []web.Violation
		for _, name := range slices.Sorted(maps.Keys(wrong)) {
			all = append(all, violation(name, wrong[name]))
		}
		return web.Invalid(all), true
	}
	if p, ok := explained.Problem(err); ok {
		p.Detail = err.Error()
		return p, true
	}
	return statuses.Problem(err)
}

// violation returns why a setting cannot have a value.
func violation(name string, err error) web.Violation {
	v := web.Violation{Path: "/" + name, Code: "invalid", Detail: err.Error()}
	if errors.Is(err, settings.ErrNotOnPage) {
		v.Code, v.Detail = "unknown_field", "is not a setting that can be changed here"
	} else if _, unknown := errors.AsType[*announce.UnknownVoiceError](err); unknown {
		v.Code = announce.CodeUnknownVoice
	}
	return v
}
