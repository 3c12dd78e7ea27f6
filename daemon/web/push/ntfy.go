package push

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
	"pressbox/voice/announce/draft"
)

// ntfyRoutes returns the routes of ntfy below /ntfy, and at the root.
func (h *handlers) ntfyRoutes() []web.Route {
	root := h.topicRoutes("", "AtRoot")
	for i := range root {
		root[i].Operation.Fallback = true
	}
	all := slices.Concat(
		h.accountRoutes("/ntfy", ""), h.accountRoutes("", "AtRoot"), h.topicRoutes("/ntfy", ""), root,
		[]web.Route{h.jsonRoute("/ntfy", ""), h.jsonRoute("/", "AtRoot")},
	)
	for i := range all {
		op := &all[i].Operation
		op.Tag, op.Ntfy, op.Problems = "announcements", true, append(op.Problems, http.StatusNotFound)
	}
	return all
}

// messageFields describes the fields of a message in the document.
const messageFields = "Title, priority (1 to 5, min, low, default, high, max) and delay (30m, 2 hours, " +
	"tomorrow 10am, a Unix time) may be parameters or headers, such as `X-Title`. " +
	"A priority of 5 is urgent by default (NTFY_URGENT). Tags, links, attachments and actions have no effect: of a " +
	"message with a file, its message is spoken, or its name. A topic with the name of a room is spoken there."

// jsonRoute returns the route of messages in JSON.
func (h *handlers) jsonRoute(path, suffix string) web.Route {
	return web.NewRoute(http.MethodPost, path, web.NotifyAccess, h.publishJSON, operation(web.Operation{
		ID: "createNtfyMessage" + suffix, Summary: "Create an announcement as a message of ntfy in JSON",
		Description: "The topic may be absent. " + messageFields,
		Headers:     []string{"X-Title", "X-Priority", "X-Delay"},
		Request:     ntfyBody{},
		Responses:   published(),
	}))
}

// published describes the answer to a message.
func published() []web.Response {
	return []web.Response{{
		Status: http.StatusOK, Description: "The announcement is saved.", Body: ntfyMessage{}, Location: true,
	}}
}

// topicRoutes returns the routes of topics below a prefix.
func (h *handlers) topicRoutes(prefix, suffix string) []web.Route {
	const atRoot = " At the root, a body of another type than text is refused, as it may be meant for another path."
	publish := func(method, id string) web.Route {
		handle := h.publish(prefix == "")
		return web.NewRoute(method, prefix+"/:topic", web.NotifyAccess, handle, operation(web.Operation{
			ID: id + suffix, Summary: "Create an announcement as a message of ntfy",
			Description: "The body is the text of the message. " + messageFields + atRoot,
			Headers:     []string{"X-Title", "X-Priority", "X-Delay"},
			Params:      []string{"title", "priority", "delay", "token", "auth"},
			AnyMedia:    true, Responses: published(), QueryToken: true,
		}))
	}
	get := func(verb, id string) web.Route {
		path := prefix + "/:topic/" + verb
		return web.NewRoute(http.MethodGet, path, web.TokenRequired, h.publish(false), operation(web.Operation{
			ID: id + suffix, Summary: "Create an announcement as a message of ntfy by GET",
			Description: "It needs an API token, also where NOTIFY_ACCESS is lan or open. " + messageFields,
			Params:      []string{"message", "title", "priority", "delay", "token", "auth"},
			Responses:   published(), Once: true, QueryToken: true,
		}))
	}
	change := func(method, path, id, summary string, handle web.Handler) web.Route {
		return web.NewRoute(method, prefix+"/:topic/:sequence"+path, web.NotifyAccess, handle, operation(web.Operation{
			ID: id + suffix, Summary: summary,
			Responses: web.OK("It is done.", ntfyEvent{}),
		}))
	}
	return slices.Concat([]web.Route{
		publish(http.MethodPost, "postNtfyMessage"), publish(http.MethodPut, "putNtfyMessage"),
		get("publish", "publishNtfyMessage"), get("send", "sendNtfyMessage"), get("trigger", "triggerNtfyMessage"),
		change(http.MethodDelete, "", "deleteNtfyMessage", "Cancel a message of ntfy by its sequence id", h.remove),
		change(http.MethodPut, "/clear", "clearNtfyMessage", "End the repetitions of a message of ntfy", h.clear),
	}, h.subscribeRoutes(prefix, suffix))
}

// A ntfyMessage is the answer of ntfy.
type ntfyMessage struct {
	ID      string `json:"id"`      // of the announcement: GET /notify/{id}
	Time    int64  `json:"time"`    // Unix time
	Expires int64  `json:"expires"` // Unix time at which the announcement expires
	Event   string `json:"event" const:"message"`
	Topic   string `json:"topic"` // empty if the request had none
	// Of the request, or the id.
	Sequence string `json:"sequence_id"`
	Title    string `json:"title,omitempty"`
	Message  string `json:"message"`
	Priority int    `json:"priority,omitempty" minimum:"1" maximum:"5"` // present if the request set it
	// Names of fields of the request that are unknown and were ignored.
	Warnings []string `json:"warnings,omitempty" minItems:"1"`
}

// A ntfyBody is a message of ntfy. A topic with the name of a room is spoken there. Fields of AnnouncementRequest
// other than at and in are accepted too, those of ntfy that are not listed here have no effect, and others are
// ignored with a warning.
//
//	{"topic": "alerts", "title": "Backup", "message": "The backup failed.", "priority": 4, "tags": ["warning"]}
//
// Or:
//
//	{"message": "Dinner is ready."}
type ntfyBody struct {
	Topic   string `json:"topic" pattern:"^[-_A-Za-z0-9]{1,64}$"`
	Title   string `json:"title"`                       // as in AnnouncementRequest
	Message string `json:"message" default:"triggered"` // as in AnnouncementRequest; without one, the title is spoken
	// 1 to 5, or min, low, default, high, max; 5 is urgent by default (NTFY_URGENT).
	Priority string   `json:"priority" type:"integer,string"`
	Delay    string   `json:"delay" type:"integer,string"` // as X-Delay
	Tags     []string `json:"tags"`                        // no effect
	// Identifies the message in later requests; by default its id.
	Sequence string   `json:"sequence_id"`
	_        struct{} `additionalProperties:"true"`
}

// publishJSON creates an announcement from a JSON object, and headers.
func (h *handlers) publishJSON(w http.ResponseWriter, r *http.Request) error {
	body, err := web.ReadBody(w, r)
	if err != nil {
		return err
	}
	all, err := draft.ObjectFields(body)
	if err != nil {
		return err
	}
	n := ntfyRequest{urgentFrom: h.UrgentFrom()}
	for _, f := range slices.Concat(headerFields(r.Header), all) {
		n.set(f.Name, f.Text)
	}
	return h.respond(w, r, n)
}

// publish returns a handler that creates an announcement from a text, parameters and headers. Headers precede
// parameters, and the text precedes both. At the root only what is certainly meant for ntfy is accepted.
func (h *handlers) publish(atRoot bool) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		n := ntfyRequest{urgentFrom: h.UrgentFrom()}
		fields := slices.Concat(headerFields(r.Header), draft.FormFields(web.WithoutTokens(r.URL.RawQuery)))
		text, err := readMessage(w, r, fields)
		switch {
		case err != nil:
			return err
		case atRoot && !meant(r, text):
			return web.ErrNotFound
		case strings.TrimSpace(text) != "":
			n.set("message", text)
		}
		for _, f := range fields {
			n.set(f.Name, strings.ReplaceAll(f.Text, `\n`, "\n"))
		}
		n.topic = web.Param(r, "topic")
		return h.respond(w, r, n)
	}
}

// meant reports whether a request at the root is certainly one of ntfy: it has a text, or a header or a
// parameter of ntfy's. curl -d sends text as a form, which has no field.
func meant(r *http.Request, text string) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case media == "application/json":
		return false
	case isPublished(r):
		return true
	case strings.TrimSpace(text) == "":
		return false
	case media == "text/plain", r.Header.Get("Content-Type") == "":
		return true
	case err != nil || media != "application/x-www-form-urlencoded":
		return false
	}
	return !strings.ContainsAny(text, "=&{[")
}

// maxAttachment limits the bytes of a file, which is not kept; as ntfy does.
const maxAttachment = 15 << 20

// readMessage returns the text of a body: "" of a file, of which the message is one of the fields, or its name.
func readMessage(w http.ResponseWriter, r *http.Request, fields []draft.Field) (string, error) {
	has := func(name string) bool {
		return slices.ContainsFunc(fields, func(f draft.Field) bool { return fullName(f.Name) == name && f.Text != "" })
	}
	in := http.MaxBytesReader(w, r.Body, maxAttachment)
	text, err := io.ReadAll(io.LimitReader(in, web.MaxBody+1))
	large := len(text) > web.MaxBody
	switch {
	case err != nil:
		return "", web.BodyIncomplete(err, maxAttachment)
	case has("filename"), has("message") && (large || !utf8.Valid(text)):
		if _, err := io.Copy(io.Discard, in); err != nil {
			return "", web.BodyIncomplete(err, maxAttachment)
		}
		return "", nil
	case large:
		return "", web.ErrBodyTooLarge
	}
	if text, err = draft.UTF8(r.Header.Get("Content-Type"), text); err != nil {
		return "", err
	}
	return draft.Text(text)
}

// topics matches a topic, and what identifies a message in it.
var topics = regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`)

// respond creates the announcement of a message, and answers as ntfy does.
func (h *handlers) respond(w http.ResponseWriter, r *http.Request, n ntfyRequest) error {
	n.complete()
	if n.draft.Request.Room == nil && h.IsRoom(n.topic) {
		n.draft.Request.Room = announce.RoomList{n.topic}
	}
	view, err := h.announce(w, r, &n.draft, n.topic, n.sequence)
	if err != nil {
		return err
	}
	m := ntfyMessage{
		ID: view.ID, Time: view.Created.Unix(), Expires: expires(view), Event: "message", Topic: n.topic,
		Title: view.Title, Message: view.Message, Priority: n.priority, Warnings: n.draft.Warnings,
		Sequence: sequenceOf(view),
	}
	return web.WriteJSON(w, http.StatusOK, m)
}

// complete sets what is spoken of a message without a text, and refuses an invalid topic.
func (n *ntfyRequest) complete() {
	request := &n.draft.Request
	switch {
	case strings.TrimSpace(request.Message) != "":
	case n.draft.Given("sound"):
	case request.Title != "":
		request.Message, request.Title = request.Title, ""
	case n.filename != "":
		request.Message = "You received a file: " + n.filename
	default:
		request.Message = "triggered"
	}
	for name, text := range map[string]string{"topic": n.topic, "sequence_id": n.sequence} {
		if text != "" && !topics.MatchString(text) {
			n.draft.Refuse(name, "invalid", "must be 1 to 64 letters, digits, - and _")
		}
	}
}

// expires returns the Unix time at which an announcement expires.
func expires(view announce.View) int64 {
	if view.Expires.IsZero() {
		return view.Created.Unix()
	}
	return view.Expires.Unix()
}

// remove cancels the announcements of a topic with a sequence id.
func (h *handlers) remove(w http.ResponseWriter, r *http.Request) error {
	return h.change(w, r, "message_delete", func(v announce.View) error {
		_, err := h.Announcer.Cancel(r.Context(), v.ID)
		return err
	})
}

// clear ends the repetitions of the announcements of a topic with a sequence id.
func (h *handlers) clear(w http.ResponseWriter, r *http.Request) error {
	return h.change(w, r, "message_clear", func(v announce.View) error {
		_, err := h.Announcer.Acknowledge(r.Context(), v.ID)
		if errors.Is(err, announce.ErrNotRepeated) {
			return nil
		}
		return err
	})
}

// change does something with the announcements of a topic with a sequence id.
func (h *handlers) change(w http.ResponseWriter, r *http.Request, event string, do func(announce.View) error) error {
	topic, sequence, found := web.Param(r, "topic"), web.Param(r, "sequence"), false
	all := h.Announcer.List()
	for _, v := range slices.Concat(all.Queue, all.Scheduled, all.Recent) {
		if v.Sender.Topic != topic || sequenceOf(v) != sequence {
			continue
		}
		found = true
		if err := do(v); err != nil && !errors.Is(err, announce.ErrEnded) && !errors.Is(err, announce.ErrNotFound) {
			return err
		}
	}
	if !found {
		return web.ErrNotFound
	}
	e := newEvent(event, topic)
	e.Sequence = sequence
	return web.WriteJSON(w, http.StatusOK, e)
}
