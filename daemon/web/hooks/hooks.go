// Package hooks serves webhooks: programs post what has happened in their own format, and it is announced. It
// reads the operator's templates.
package hooks

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/voice/announce"
	"pressbox/voice/announce/draft"
	"pressbox/voice/announce/webhook"
)

var (
	errUnknownWebhook = errors.New("unknown webhook")
	errBrokenTemplate = errors.New("the template of this webhook is not valid")
	errTemplateFailed = errors.New("the template of this webhook does not accept this body")
)

var statuses = web.Statuses{
	web.NewStatus(errUnknownWebhook, http.StatusNotFound, "unknown_webhook", 0),
	web.NewStatus(errTemplateFailed, http.StatusUnprocessableEntity, "template_failed", 0),
	web.NewStatus(errBrokenTemplate, http.StatusInternalServerError, "broken_template", 0),
}

// Problem returns the problem that an error of these routes is to the client.
func Problem(err error) (web.Problem, bool) { return statuses.Problem(err) }

// A Config holds what the routes of this package use.
type Config struct {
	Announcer draft.Announcer
	Settings  func() Settings // called for every request
}

// Settings holds what a reload changes.
type Settings struct {
	On         bool // false: the routes respond 404
	Templates  *Templates
	UrgentFrom int // priority from which announcements are urgent; 0 means never
}

// handlers has the handlers of this package.
type handlers struct {
	*web.Server
	Config
	repeats   repeats
	executing chan struct{} // holds one for each template that is executed
}

// Routes returns the routes of this package.
func Routes(s *web.Server, cfg Config) []web.Route {
	h := &handlers{Server: s, Config: cfg, executing: make(chan struct{}, maxExecuting)}
	receive := web.NewRoute(http.MethodPost, "/hooks/:name", web.NotifyAccess, h.receive, web.Operation{
		ID: "receiveWebhook", Tag: "announcements", Summary: "Announce what another program reports",
		Description: "`alertmanager`, `grafana`, `uptime-kuma` and `apprise` are what these programs send; other " +
			"names, and these if they have one, are templates of the administrator. " +
			"A body that begins with { is JSON, whatever its media type; a form is an object of its fields; other " +
			"text is the member `message`. At most 1 MiB. " +
			"Parameters of the URL are fields of the announcement, and take precedence over those of the body. " +
			"An alert of Alertmanager or Grafana that was announced in the last five minutes is not announced again " +
			"unless its status has changed.",
		Request:  webhookBody{},
		AnyMedia: true,
		Responses: []web.Response{
			{Status: http.StatusAccepted, Description: "The announcement is saved.", Body: result{}},
			{
				Status: http.StatusOK,
				Description: "There is nothing to announce: all alerts were announced before, or the template writes " +
					"nothing.",
				Body: result{},
			},
		},
		Problems: []int{http.StatusNotFound, http.StatusServiceUnavailable},
		Limited:  true,
	})
	return web.When([]web.Route{receive}, func() bool { return h.Settings().On })
}

// maxExecuting is how many templates are executed at once; other requests wait.
const maxExecuting = 4

// A result is the response to a webhook.
type result struct {
	Announcement *announcements.Announcement `json:"announcement,omitempty"`
	// How many alerts are left out, because they were announced in the last five minutes.
	Repeated int `json:"repeated,omitempty" minimum:"1"`
	// Names of fields of the request that are unknown and were ignored.
	Warnings []string `json:"warnings,omitempty" minItems:"1"`
}

// A webhookBody is what the program sends, such as Alertmanager's webhook of version 4, Grafana's of version 1, or
// Uptime Kuma's.
//
//	{"title": "Kitchen", "message": "Dinner is ready.", "type": "info"}
type webhookBody map[string]any

func (h *handlers) receive(w http.ResponseWriter, r *http.Request) error {
	name, settings := web.Param(r, "name"), h.Settings()
	read, err := h.readerOf(r, name, settings.Templates) //nolint:contextcheck // the request's
	if err != nil {
		return err
	}
	sent, err := web.ReadLargeBody(w, r, webhook.MaxBody)
	if err != nil {
		return err
	}
	body, err := webhook.Object(r.Header.Get("Content-Type"), sent)
	if err != nil {
		return refused(err, webhook.Example(name))
	}
	events := h.repeats.claim(name, h.ClientID(r), time.Now())
	found, err := read(body, events.known)
	if err != nil {
		events.release()
		return refused(err, webhook.Example(name))
	}
	answer := result{Repeated: found.Repeated, Warnings: found.Unknown}
	if len(found.Fields) == 0 {
		return web.WriteJSON(w, http.StatusOK, answer)
	}
	d := draftOf(found.Fields, r.URL.RawQuery, settings.UrgentFrom)
	from := announce.Sender{Kind: announce.FromHook, Name: name, Client: h.ClientID(r)}
	by := announce.Request{Sender: from, Limited: h.ClientBlock(r).IsValid()}
	view, err := d.Announce(r.Context(), h.Announcer, by)
	if err != nil {
		events.release()
		return refused(err, webhook.Example(name))
	}
	queued := announcements.NewAnnouncement(view, announcements.ViewerOf(h.Server, r))
	answer.Announcement = &queued
	answer.Warnings = append(answer.Warnings, d.Warnings...)
	return web.WriteJSON(w, http.StatusAccepted, answer)
}

// A reader reads the body of a webhook.
type reader func(body []byte, known webhook.Known) (webhook.Result, error)

// readerOf returns the reader of a webhook: its template, if it has one, otherwise that of its format.
func (h *handlers) readerOf(r *http.Request, name string, templates *Templates) (reader, error) {
	own, ok := templates.byName[name]
	switch {
	case ok && own.err != nil:
		return nil, &web.DetailedError{Err: errBrokenTemplate, Detail: own.err.Error()}
	case ok:
		return func(body []byte, _ webhook.Known) (webhook.Result, error) {
			return h.execute(r.Context(), own.parsed, body)
		}, nil
	case slices.Contains(webhook.Formats(), name):
		return func(body []byte, known webhook.Known) (webhook.Result, error) {
			return webhook.Read(name, body, known)
		}, nil
	}
	exist, dir := webhook.Formats(), "HOOKS_DIR"
	if h.Administrator(r) { // others learn neither the names nor where the files are
		exist, dir = templates.Webhooks(), cmp.Or(templates.dir, dir)
	}
	return nil, &web.DetailedError{Err: errUnknownWebhook, Detail: "unknown webhook; these exist: " +
		strings.Join(exist, ", ") + "; your own are files NAME" + suffix + " in " + dir +
		", read at the start and on reload"}
}

// execute returns what a template makes of a body.
func (h *handlers) execute(ctx context.Context, t *webhook.Template, body []byte) (webhook.Result, error) {
	select {
	case h.executing <- struct{}{}:
		defer func() { <-h.executing }()
	case <-ctx.Done():
		return webhook.Result{}, ctx.Err()
	}
	found, err := t.Read(body)
	if _, ofBody := errors.AsType[*webhook.BodyError](err); err == nil || ofBody {
		return found, err
	}
	return found, &web.DetailedError{Err: errTemplateFailed, Detail: err.Error()}
}

// draftOf returns the announcement of the fields of a body and the parameters of a query.
func draftOf(fields map[string]string, query string, urgentFrom int) *draft.Draft {
	d := &draft.Draft{}
	d.SetForm(query)
	given, _ := url.ParseQuery(query) // what it cannot parse is no field either
	for name, text := range fields {
		if !given.Has(name) {
			d.Set(name, text)
		}
	}
	if p := d.Request.Priority; p >= 1 && p <= 5 {
		d.Prioritize(p, urgentFrom)
	}
	return d
}

// refused returns an error about a body as the client receives it, with an example of what is accepted; ""
// means none.
func refused(err error, example string) error {
	if wrong, ok := errors.AsType[*draft.Error](err); ok {
		wrong.Example = example
		return wrong
	}
	wrong, ok := errors.AsType[*webhook.BodyError](err)
	switch {
	case ok && wrong.Path == "":
		reason := "request body " + wrong.Detail
		if wrong.Err != nil {
			reason += ": " + wrong.Err.Error()
		}
		return &draft.Error{Code: "not_json", Reason: reason, Position: -1, Example: example}
	case ok:
		path := strings.TrimPrefix(wrong.Path, "/")
		invalid := announce.Violation{Path: path, Code: "invalid", Detail: wrong.Detail}
		violations := []draft.Violation{{Violation: invalid, Position: -1}}
		return &draft.Error{Position: -1, Violations: violations, Example: example}
	default:
		return err
	}
}
