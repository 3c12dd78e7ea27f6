package push

import (
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
	"pressbox/voice/announce/draft"
)

func (h *handlers) ntfyRoutes() []web.Route {
	const fields = "Title, priority (1 to 5, min, low, default, high, max) and delay (30m, 2h, " +
		"a Unix time) may be parameters or headers, such as `X-Title`. " +
		"A priority of 5 is urgent by default (NTFY_URGENT). Tags, links, attachments and actions have no effect."
	ok := []web.Response{{
		Status: http.StatusOK, Description: "The announcement is saved.", Body: ntfyMessage{}, Location: true,
	}}
	topic := func(method, id string) web.Route {
		return web.NewRoute(method, "/ntfy/:topic", web.NotifyAccess, h.ntfyText, operation(web.Operation{
			ID: id, Summary: "Create an announcement as a message of ntfy",
			Description: "The body is the text of the message. " + fields,
			Headers:     []string{"X-Title", "X-Priority", "X-Delay"},
			Params:      []string{"title", "priority", "delay", "token", "auth"},
			AnyMedia:    true, Responses: ok, QueryToken: true,
		}))
	}
	return []web.Route{
		web.NewRoute(http.MethodPost, "/", web.NotifyAccess, h.ntfyJSON, operation(web.Operation{
			ID: "createNtfyMessage", Summary: "Create an announcement as a message of ntfy in JSON",
			Description: "The topic may be absent. " + fields,
			Headers:     []string{"X-Title", "X-Priority", "X-Delay"},
			Request:     ntfyBody{},
			Responses:   ok,
		})),
		topic(http.MethodPost, "postNtfyMessage"),
		topic(http.MethodPut, "putNtfyMessage"),
		web.NewRoute(http.MethodGet, "/ntfy/:topic/publish", web.TokenRequired, h.ntfyText, operation(web.Operation{
			ID: "publishNtfyMessage", Summary: "Create an announcement as a message of ntfy by GET",
			Description: "It needs an API token, also where NOTIFY_ACCESS is lan or open. " + fields,
			Params:      []string{"message", "title", "priority", "delay", "token", "auth"},
			Responses:   ok, Once: true, QueryToken: true,
		})),
	}
}

// A ntfyMessage is the answer of ntfy.
type ntfyMessage struct {
	ID       string `json:"id"`      // of the announcement: GET /notify/{id}
	Time     int64  `json:"time"`    // Unix time
	Expires  int64  `json:"expires"` // Unix time at which the announcement expires
	Event    string `json:"event" const:"message"`
	Topic    string `json:"topic"` // empty if the request had none
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
	Message string `json:"message" default:"triggered"` // as in AnnouncementRequest
	// 1 to 5, or min, low, default, high, max; 5 is urgent by default (NTFY_URGENT).
	Priority string   `json:"priority" type:"integer,string"`
	Delay    string   `json:"delay" type:"integer,string"` // a duration such as 30m or 2 hours, seconds, or a Unix time
	Tags     []string `json:"tags"`                        // no effect
	_        struct{} `additionalProperties:"true"`
}

// ntfyJSON creates an announcement from a JSON object, and headers.
func (h *handlers) ntfyJSON(w http.ResponseWriter, r *http.Request) error {
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
	return h.respondNtfy(w, r, n)
}

// ntfyText creates an announcement from a text, parameters and headers. Headers precede
// parameters, and the text precedes both.
func (h *handlers) ntfyText(w http.ResponseWriter, r *http.Request) error {
	body, err := web.ReadBody(w, r)
	if err != nil {
		return err
	}
	text, err := draft.Text(body)
	if err != nil {
		return err
	}
	n := ntfyRequest{urgentFrom: h.UrgentFrom()}
	if strings.TrimSpace(text) != "" {
		n.set("message", text)
	}
	for _, f := range slices.Concat(headerFields(r.Header), draft.FormFields(web.WithoutTokens(r.URL.RawQuery))) {
		f.Text = strings.ReplaceAll(f.Text, `\n`, "\n")
		n.set(f.Name, f.Text)
	}
	n.topic = web.Param(r, "topic")
	return h.respondNtfy(w, r, n)
}

func (h *handlers) respondNtfy(w http.ResponseWriter, r *http.Request, n ntfyRequest) error {
	if n.draft.Request.Message == "" {
		n.draft.Set("message", "triggered")
	}
	if n.topic != "" && !topicPattern().MatchString(n.topic) {
		n.draft.Refuse("topic", "invalid", "must be 1 to 64 letters, digits, - and _")
	}
	if n.draft.Request.Room == nil && h.IsRoom(n.topic) {
		n.draft.Request.Room = announce.RoomList{n.topic}
	}
	view, err := h.announce(w, r, &n.draft)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, ntfyMessage{
		ID: view.ID, Time: view.Created.Unix(), Expires: expires(view), Event: "message", Topic: n.topic,
		Title: view.Title, Message: view.Message, Priority: n.priority, Warnings: n.draft.Warnings,
	})
}

// expires returns the Unix time at which an announcement expires.
func expires(view announce.View) int64 {
	if view.Expires.IsZero() {
		return view.Created.Unix()
	}
	return view.Expires.Unix()
}

// topicPattern returns the pattern of ntfy's topics.
func topicPattern() *regexp.Regexp { return regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`) }

// A ntfyRequest is a message of ntfy. Of a field that is sent several times, the first
// value counts.
type ntfyRequest struct {
	draft      draft.Draft
	topic      string
	priority   int // 1–5; 0 means none
	urgentFrom int
	given      []string
}

// set sets a field of ntfy, by any of its names, or of an announcement.
func (n *ntfyRequest) set(name, text string) {
	name = fullName(name)
	if slices.Contains(n.given, name) {
		return
	}
	n.given = append(n.given, name)
	switch name {
	case "topic":
		n.topic = text
	case "priority":
		n.setPriority(strings.ToLower(strings.TrimSpace(text)))
	case "delay":
		n.setDelay(strings.TrimSpace(text))
	case ignored:
	default:
		n.draft.Set(name, text)
	}
}

// ignored stands for fields without an effect on speech.
const ignored = "-"

// fullName returns the name of a field of ntfy for any of its names in lower case, and
// other names as they are.
func fullName(name string) string {
	switch name {
	case "m":
		return "message"
	case "t", "ti":
		return "title"
	case "prio", "p":
		return "priority"
	case "at", "in":
		return "delay"
	case "tags", "tag", "ta", "click", "attach", "a",
		"markdown", "md", "icon", "filename", "file", "f", "actions", "action",
		"email", "e-mail", "mail", "e", "call", "cache",
		"firebase", "template", "tpl", "id", "time", "event", "expires",
		"poll_id", "unifiedpush", "up", "sequence_id", "sequence-id", "sid":
		return ignored
	}
	return name
}

// headerFields returns the fields of a message that are headers, such as X-Title, Title or
// t, in UTF-8 or encoded by RFC 2047.
func headerFields(h http.Header) (all []draft.Field) {
	for _, name := range []string{"message", "m", "title", "ti", "t", "priority", "prio", "p", "delay", "at", "in"} {
		for _, header := range []string{"X-" + name, name} {
			text := h.Get(header)
			if text == "" || strings.HasPrefix(text, "u=") { // the priority of a response (RFC 9218)
				continue
			}
			if decoded, err := new(mime.WordDecoder).DecodeHeader(text); err == nil {
				text = decoded
			}
			all = append(all, draft.Field{Name: name, Text: strings.ToValidUTF8(text, "\ufffd")})
		}
	}
	return all
}

func (n *ntfyRequest) setPriority(text string) {
	if text == "" {
		return
	}
	words := []string{"min", "low", "default", "high", "max"}
	p, ok := number(text, len(words))
	switch {
	case ok && p == 0: // none
		return
	case text == "urgent":
		p = len(words)
	case slices.Contains(words, text):
		p = slices.Index(words, text) + 1
	case !ok:
		n.draft.Refuse("priority", "out_of_range", "must be 1 to 5, min, low, default, high or max")
		return
	}
	n.priority = p
	n.draft.Prioritize(p, n.urgentFrom)
}

// setDelay sets the time of a message: a duration such as 30m or 2 hours, seconds, or a
// Unix time.
func (n *ntfyRequest) setDelay(text string) {
	const firstTime = 1_000_000_000 // smaller numbers are seconds
	if text == "" {
		return
	}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	count, err := strconv.Atoi(digits)
	unit := units(strings.ToLower(strings.TrimSpace(text[len(digits):])))
	switch {
	case err != nil || count < 1 || unit == 0 || count > int(announce.MaxAhead/time.Second) &&
		(len(digits) < len(text) || count < firstTime):
		n.draft.Refuse("delay", "invalid", "must be a duration such as 30m or 2 hours, seconds, or a Unix time")
	case count >= firstTime:
		n.draft.Request.At = time.Unix(int64(count), 0)
	default:
		n.draft.Request.In = count * int(unit/time.Second)
	}
}

// units returns a unit of time by its name; 0 if it is unknown.
func units(name string) time.Duration {
	switch name {
	case "", "s", "sec", "secs", "second", "seconds":
		return time.Second
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "h", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return 24 * time.Hour
	}
	return 0
}
