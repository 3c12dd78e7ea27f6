// Package sounds serves the sounds that announcements can name: reading to clients that NOTIFY_ACCESS permits, changing
// to those that CONTROL_ACCESS permits.
package sounds

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"pressbox/audio"
	"pressbox/audio/decode"
	"pressbox/daemon/limits"
	"pressbox/daemon/web"
	"pressbox/voice/announce"
	"pressbox/voice/sounds"
)

// A Config holds what the routes of this package serve.
type Config struct {
	Sounds *sounds.Sounds
	// Users returns what names a sound: settings, schedules and favorites, for people.
	Users func(name string) []string
}

// handlers has the handlers of this package.
type handlers struct {
	*web.Server
	Config
	reads *limits.Limiter // by address
}

// readRate is the requests per minute of one address.
const readRate = 600

// Routes returns the routes of this package.
func Routes(s *web.Server, cfg Config) []web.Route {
	h := &handlers{Server: s, Config: cfg, reads: s.NewLimiter(readRate, readRate/2)}
	const tag, one = "announcements", "/sounds/:name"
	routes := []web.Route{
		web.NewRoute(http.MethodGet, "/sounds", web.NotifyAccess, h.Limited(h.reads, h.list), web.Operation{
			ID: "listSounds", Tag: tag, Summary: "List the sounds that announcements can name",
			Responses: web.OK("The sounds, the built-in ones first.", soundList{}),
			Problems:  []int{http.StatusTooManyRequests},
		}),
		web.NewRoute(http.MethodGet, one, web.NotifyAccess, h.Limited(h.reads, h.get), web.Operation{
			ID: "getSound", Tag: tag, Summary: "Get a sound",
			Responses: []web.Response{{
				Status: http.StatusOK, Description: "Mono, 16 bits, 24 kHz.", Media: []string{"audio/wav"},
			}},
			Problems: []int{http.StatusNotFound, http.StatusTooManyRequests},
		}),
		web.NewRoute(http.MethodPut, one, web.ControlAccess, h.put, web.Operation{
			ID: "putSound", Tag: tag, Summary: "Install a sound, or replace one",
			Description: "The body is an audio/* file, or a multipart form with a `file`, of at most 10 MB and a " +
				"minute: WAV, FLAC or MP3; where ffmpeg is installed also Ogg, Opus, AAC, M4A, AMR and WebM. It is " +
				"stored as mono of 16 bits at 24 kHz, without its constant part, as loud as speech. " +
				"At most 100 are installed. A name has 1 to 64 of a-z, 0-9 and -.",
			Sound: true,
			Responses: append(web.OK("The sound, which replaces another.", sound{}), web.Response{
				Status: http.StatusCreated, Description: "The sound.", Body: sound{},
			}),
			Problems: []int{
				http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge,
				http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusTooManyRequests,
				http.StatusServiceUnavailable,
			},
		}),
		web.NewRoute(http.MethodDelete, one, web.ControlAccess, h.delete, web.Operation{
			ID: "deleteSound", Tag: tag, Summary: "Remove a sound that nothing names",
			Responses: web.Done(),
			Problems:  []int{http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests},
		}),
	}
	return append(routes, web.UnderAPI(routes)...)
}

// A soundList lists the sounds.
type soundList struct {
	Sounds []sound `json:"sounds"`
}

// A sound is one that announcements can name.
type sound struct {
	Name      string        `json:"name"`
	Seconds   float64       `json:"seconds" minimum:"0"`
	Bytes     int64         `json:"bytes" minimum:"0"` // of the answer to GET
	BuiltIn   bool          `json:"built_in"`
	CreatedAt web.Timestamp `json:"created_at,omitzero"` // absent if it is built in
}

func newSound(s sounds.Sound) sound {
	return sound{s.Name, web.Seconds(s.Length), s.Bytes, s.BuiltIn, web.Timestamp{Time: s.Created}}
}

func (h *handlers) list(w http.ResponseWriter, _ *http.Request) error {
	list := soundList{[]sound{}}
	for _, s := range h.Sounds.List() {
		list.Sounds = append(list.Sounds, newSound(s))
	}
	return web.WriteJSON(w, http.StatusOK, list)
}

func (h *handlers) get(w http.ResponseWriter, r *http.Request) error {
	clip, err := h.Sounds.Clip(web.Param(r, "name"))
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := audio.WriteWAV(&file, clip); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "audio/wav")
	_, _ = w.Write(file.Bytes()) // the client may have disconnected
	return nil
}

func (h *handlers) put(w http.ResponseWriter, r *http.Request) error {
	if !web.HasUpload(r) {
		return errNoSound
	}
	var put sounds.Sound
	var created, received bool
	_, err := web.Upload(w, r, sounds.MaxBytes, func(file io.Reader) (err error) {
		received = true
		put, created, err = h.Sounds.Put(r.Context(), web.Param(r, "name"), file)
		return err
	})
	switch {
	case err != nil:
		return err
	case !received:
		return errNoSound
	}
	h.logChange(r, "installed "+put.Name)
	if created {
		return web.WriteJSON(w, http.StatusCreated, newSound(put))
	}
	return web.WriteJSON(w, http.StatusOK, newSound(put))
}

func (h *handlers) delete(w http.ResponseWriter, r *http.Request) error {
	name := web.Param(r, "name")
	if by := h.Users(name); len(by) > 0 {
		return &web.DetailedError{Err: errInUse, Detail: fmt.Sprintf("%q is used by %s", name, strings.Join(by, ", "))}
	}
	if err := h.Sounds.Remove(name); err != nil {
		return err
	}
	h.logChange(r, "removed "+name)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// logChange logs a change of a client.
func (h *handlers) logChange(r *http.Request, to string) {
	sender := h.Sender(r)
	h.Log().Info("control changed", "control", "sounds", "to", to, "sender", string(sender.Kind)+" "+sender.Name)
}

// Errors of requests.
var (
	errNoSound = errors.New("the body must be a sound: audio/*, or a multipart form with a file in the field \"file\"")
	errInUse   = errors.New("the sound is used")
)

var statuses = web.Statuses{
	web.NewStatus(sounds.ErrNotFound, http.StatusNotFound, "not_found", 0),
	web.NewStatus(sounds.ErrName, http.StatusUnprocessableEntity, "invalid_name", 0),
	web.NewStatus(sounds.ErrBuiltIn, http.StatusConflict, "built_in", 0),
	web.NewStatus(errInUse, http.StatusConflict, "in_use", 0),
	web.NewStatus(sounds.ErrTooLarge, http.StatusRequestEntityTooLarge, "body_too_large", 0),
	web.NewStatus(sounds.ErrIncomplete, http.StatusBadRequest, "incomplete", 0),
	web.NewStatus(errNoSound, http.StatusUnsupportedMediaType, "unsupported_media_type", 0),
	web.NewStatus(sounds.ErrFull, http.StatusServiceUnavailable, "sounds_full", time.Minute),
	web.NewStatus(sounds.ErrRecordings, http.StatusServiceUnavailable, "recordings_full", 10*time.Second),
	web.NewStatus(sounds.ErrUnavailable, http.StatusServiceUnavailable, "not_saved", 10*time.Second),
	web.NewStatus(sounds.ErrBusy, http.StatusServiceUnavailable, "busy", 5*time.Second),
	web.NewStatus(decode.ErrNeedsFFmpeg, http.StatusUnprocessableEntity, "needs_ffmpeg", 0),
	web.NewStatus(announce.ErrGone, http.StatusGone, "gone", 0),
}

// Problem returns the problem that an error about a sound is to the client.
func Problem(err error) (web.Problem, bool) {
	if errors.Is(err, decode.ErrBad) {
		return web.Problem{Status: http.StatusUnprocessableEntity, Code: "bad_sound", Detail: err.Error()}, true
	}
	if unknown, ok := errors.AsType[*announce.UnknownSoundError](err); ok {
		return web.Problem{Status: http.StatusNotFound, Code: "not_found", Detail: unknown.Error()}, true
	}
	return statuses.Problem(err)
}
