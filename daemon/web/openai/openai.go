// Package openai serves speech in the form of OpenAI's API
// (https://platform.openai.com/docs/api-reference/audio), so that its clients speak with
// the installed voices.
//
// Errors are problems as everywhere; those below /v1 also have the member "error", the
// only one that OpenAI's clients read (package web).
package openai

import (
	"net/http"
	"slices"
	"time"

	"pressbox/audio/ffmpeg"
	"pressbox/daemon/limits"
	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/voice/announce/announcer"
)

var statuses = web.Statuses{
	web.NewStatus(limits.ErrClientBusy, http.StatusTooManyRequests, "too_many_requests", 2*time.Second),
	web.NewStatus(limits.ErrBusy, http.StatusServiceUnavailable, "busy", 2*time.Second),
}

// Problem returns the problem that an error of these routes is to the client.
func Problem(err error) (web.Problem, bool) { return statuses.Problem(err) }

// A Config holds what the routes of this package use.
type Config struct {
	Announcer   *announcer.Announcer           // checks requests
	Voices      func() announcements.VoiceList // called for every request
	Speaker     announcer.Speaker
	DefaultRate func() int     // words per minute at speed 1.0
	Speeches    *limits.Slots  // of speech that is synthesized for clients; each runs at most one ffmpeg
	FFmpeg      ffmpeg.Program // encodes mp3, opus and aac
	// On reports whether the network is served at /v1 (OPENAI); nil means that it is. The
	// page and the administrator's socket are served in any case.
	On func() bool
}

// handlers has the handlers of this package.
type handlers struct {
	*web.Server
	Config
}

// Routes returns the routes of this package. They are also served below /api, where a
// session permits them as well.
func Routes(s *web.Server, cfg Config) []web.Route {
	h := &handlers{s, cfg}
	ok := func(description string, body any) []web.Response {
		return []web.Response{{Status: http.StatusOK, Description: description, Body: body}}
	}
	routes := []web.Route{
		web.NewRoute(http.MethodGet, "/v1/models", web.NotifyAccess, h.models, web.Operation{
			ID: "listModels", Tag: "speech", Summary: "List the models of the OpenAI API",
			Description: "Requests may name any model; voices differ, models do not.",
			Responses:   ok("The models.", modelsReply{}),
		}),
		web.NewRoute(http.MethodGet, "/v1/models/:id", web.NotifyAccess, h.model, web.Operation{
			ID: "getModel", Tag: "speech", Summary: "Get a model of the OpenAI API",
			Responses: ok("The model.", Model{}), Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodGet, "/v1/audio/voices", web.NotifyAccess, h.voices, web.Operation{
			ID: "listSpeechVoices", Tag: "speech", Summary: "List the voices as clients of the OpenAI API expect them",
			Description: "Some clients read `data`, others `voices`.",
			Responses:   ok("The installed voices.", voicesReply{}),
		}),
		web.NewRoute(http.MethodPost, "/v1/audio/speech", web.NotifyAccess, h.speech, web.Operation{
			ID: "createSpeech", Tag: "speech", Summary: "Synthesize speech as a file",
			Description: "Compatible with clients of the OpenAI API. " +
				"The server sends each part when it is synthesized, the first clause first. " +
				"mp3, opus and aac need the program ffmpeg on the server.",
			Request: speechRequest{},
			Responses: []web.Response{{
				Status: http.StatusOK, Description: "The speech; with `stream_format` sse, " +
					"events `speech.audio.delta` with base64, then `speech.audio.done`.",
				Media: []string{
					"audio/wav", "audio/pcm", "audio/flac", "audio/mpeg", "audio/ogg", "audio/aac", "text/event-stream",
				},
			}},
			Problems: []int{http.StatusServiceUnavailable},
			Limited:  true,
			Reads:    true,
		}),
	}
	return slices.Concat(h.switched(routes), web.UnderAPI(routes))
}

// errOff is the error of a request over the network while the interface is off.
var errOff = &web.DetailedError{
	Err: web.ErrNotFound,
	Detail: "speech as a file is disabled by OPENAI=off: set OPENAI=on, " +
		`or run "sudo pressbox say --out FILE" on the server's host`,
}

// switched returns the routes with handlers that respond 404 to the network while the
// interface is off.
func (h *handlers) switched(routes []web.Route) []web.Route {
	all := slices.Clone(routes)
	for i, rt := range routes {
		all[i].Handle = func(w http.ResponseWriter, r *http.Request) error {
			if h.On != nil && !h.On() && !web.OnAdminSocket(r) {
				return errOff
			}
			return rt.Handle(w, r)
		}
	}
	return all
}
