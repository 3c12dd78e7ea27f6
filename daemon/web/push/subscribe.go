package push

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/voice/announce"
	"pressbox/voice/announce/draft"
	"pressbox/voice/announce/policy"
)

const (
	maxTopics = 10 // of a subscription
	keepalive = 3  // heartbeats of a stream, of 15 s each
)

// subscribeRoutes returns the routes by which clients of ntfy receive what is published in topics.
func (h *handlers) subscribeRoutes(prefix, suffix string) []web.Route {
	route := func(form, id string, answer web.Response, begin opener) web.Route {
		subscribe := func(w http.ResponseWriter, r *http.Request) error { return h.subscribe(w, r, begin) }
		return web.NewRoute(http.MethodGet, prefix+"/:topic/"+form, web.NotifyAccess, subscribe, web.Operation{
			ID: "subscribe" + id + suffix, Summary: "Receive what is published by ntfy in topics: " + form,
			Description: "Up to ten topics, with commas between them. A message is sent when its announcement is " +
				"queued. What is no longer in GET /notify is not sent, and nothing of the past with HISTORY=off.",
			Params: []string{
				"since-message", "poll", "scheduled", "id", "message", "title", "priority", "tags", "auth",
			},
			Responses:  []web.Response{answer},
			Problems:   []int{http.StatusBadRequest, http.StatusServiceUnavailable},
			QueryToken: true,
		})
	}
	stream := func(media string) web.Response {
		return web.Response{Status: http.StatusOK, Description: "A stream that does not end.", Media: []string{media}}
	}
	socket := web.Response{Status: http.StatusSwitchingProtocols, Description: "The websocket is open."}
	return []web.Route{
		route("json", "JSON", stream("application/x-ndjson"), lines("application/x-ndjson", jsonLine)),
		route("sse", "Events", stream("text/event-stream"), lines("text/event-stream", serverSentEvent)),
		route("raw", "Text", stream("text/plain"), lines("text/plain; charset=utf-8", rawLine)),
		route("ws", "Websocket", socket, h.websocket),
		web.NewRoute(http.MethodGet, prefix+"/:topic/auth", web.NotifyAccess, reply(ntfySuccess{true}), web.Operation{
			ID: "authorizeNtfy" + suffix, Summary: "Get whether a client of ntfy may subscribe to a topic",
			Responses: web.OK("It may.", ntfySuccess{}), Params: []string{"auth"}, QueryToken: true,
		}),
	}
}

// A ntfySuccess tells that a client may do something.
type ntfySuccess struct {
	Success bool `json:"success"`
}

// A ntfyEvent is what a subscriber of ntfy receives.
type ntfyEvent struct {
	ID       string `json:"id"`
	Time     int64  `json:"time"` // Unix time
	Expires  int64  `json:"expires,omitempty"`
	Event    string `json:"event" enum:"open,keepalive,message,message_delete,message_clear"`
	Topic    string `json:"topic"`
	Sequence string `json:"sequence_id,omitempty"`
	Title    string `json:"title,omitempty"`
	Message  string `json:"message,omitempty"`
	Priority int    `json:"priority,omitempty" minimum:"1" maximum:"5"` // 3 is absent
}

// newEvent returns an event that is no message.
func newEvent(kind, topic string) ntfyEvent {
	now := time.Now()
	return ntfyEvent{ID: strconv.FormatInt(now.UnixNano(), 36), Time: now.Unix(), Event: kind, Topic: topic}
}

// messageEvent returns the event of a published announcement.
func messageEvent(v announce.View) ntfyEvent {
	e := ntfyEvent{
		ID: v.ID, Time: publishedAt(v), Expires: expires(v), Event: "message", Topic: v.Sender.Topic,
		Sequence: sequenceOf(v), Title: v.Title, Message: v.Message, Priority: v.Priority,
	}
	if v.Priority == policy.Usual {
		e.Priority = 0
	}
	return e
}

// publishedAt returns the Unix time at which subscribers receive an announcement.
func publishedAt(v announce.View) int64 {
	if v.At.After(v.Created) {
		return v.At.Unix()
	}
	return v.Created.Unix()
}

// sequenceOf returns what identifies a message in its topic.
func sequenceOf(v announce.View) string { return cmp.Or(v.Sender.Sequence, v.ID) }

// A subscription is what a client receives.
type subscription struct {
	topics []string
	past   func(announce.View) bool // which of those that are there; it is asked from the newest to the oldest
	wanted func(announce.View) bool // which of all
	poll   bool
	sent   map[string]bool // the ids of those that have not ended
	outlet
}

// subscribe sends what is published in topics until the client disconnects or loses its permission, or until the
// server stops.
func (h *handlers) subscribe(w http.ResponseWriter, r *http.Request, begin opener) error {
	s, err := h.subscription(r)
	if err != nil {
		return err
	}
	if s.outlet, err = begin(w, r); err != nil {
		return err
	}
	defer s.end()
	if r.Method == http.MethodHead {
		return nil
	}
	changes, stop := h.Announcer.Watch()
	defer stop()
	if s.begin(announcements.Snapshot(changes, h.Announcer.List)) != nil || s.poll {
		return nil // the client has disconnected, or has all
	}
	beats := 0
	h.Stream(r, func() error {
		if beats++; beats%keepalive > 0 {
			return s.beat()
		}
		return s.send(newEvent("keepalive", s.name()))
	}, web.From(changes, func(e announce.Event) error { return s.follow(*e.View) }), web.Ends(s.gone))
	return nil
}

// name returns the topics as the client named them.
func (s *subscription) name() string { return strings.Join(s.topics, ",") }

// subscription returns what a request asks for.
func (h *handlers) subscription(r *http.Request) (*subscription, error) {
	s := &subscription{topics: strings.Split(web.Param(r, "topic"), ","), sent: map[string]bool{}}
	invalid := func(name string) bool { return !topics.MatchString(name) }
	if len(s.topics) > maxTopics || slices.ContainsFunc(s.topics, invalid) {
		return nil, web.QueryError("topic", "invalid", "must be 1 to 10 topics of 1 to 64 letters, digits, - and _")
	}
	scheduled, err := web.BoolParam(r, "scheduled")
	if err == nil {
		s.poll, err = web.BoolParam(r, "poll")
	}
	if err != nil {
		return nil, err
	}
	query := map[string]string{}
	for _, f := range draft.FormFields(web.WithoutTokens(r.URL.RawQuery)) {
		name := fullName(f.Name)
		if name == ignored { // for speech
			name = f.Name
		}
		query[name] = f.Text
	}
	usual := "none"
	if s.poll {
		usual = "all"
	}
	past, ok := since(cmp.Or(query["since"], usual), time.Now())
	if !ok {
		return nil, web.QueryError("since", "invalid",
			"must be all, none, latest, a duration such as 10m, a Unix time, or the id of a message")
	}
	s.past = func(v announce.View) bool {
		return h.History() && (scheduled || v.Status != announce.Scheduled) && past(v)
	}
	s.wanted = filter(query)
	return s, nil
}

// filter returns which announcements fulfill the conditions of a query, whose fields have their full names. Tags are
// not kept, so that none has one.
func filter(query map[string]string) func(announce.View) bool {
	priorities := strings.FieldsFunc(query["priority"], func(c rune) bool { return c == ',' })
	is := func(wanted, text string) bool { return wanted == "" || wanted == text }
	return func(v announce.View) bool {
		return is(query["id"], v.ID) && query["tags"] == "" && is(query["message"], v.Message) &&
			is(query["title"], v.Title) &&
			(len(priorities) == 0 || slices.Contains(priorities, strconv.Itoa(v.Priority)))
	}
}

// since returns which announcements of the past a text asks for, from the newest to the oldest.
func since(text string, now time.Time) (wanted func(announce.View) bool, ok bool) {
	after := func(first int64) func(announce.View) bool {
		return func(v announce.View) bool { return publishedAt(v) >= first }
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return after(n), true
	}
	if d, ok := parseDuration(text); ok {
		return after(now.Add(-d).Unix()), true
	}
	ended := text == "none"
	return func(v announce.View) bool {
		ended = ended || v.ID == text
		wanted := !ended
		ended = ended || text == "latest"
		return wanted
	}, topics.MatchString(text)
}

// begin sends that the subscription begins, and then the announcements of the past, the oldest first.
func (s *subscription) begin(l announce.List) error {
	if !s.poll {
		if err := s.send(newEvent("open", s.name())); err != nil {
			return err
		}
	}
	all := slices.Concat(l.Queue, l.Scheduled, l.Recent)
	slices.SortFunc(all, func(a, b announce.View) int {
		return cmp.Or(cmp.Compare(publishedAt(b), publishedAt(a)), cmp.Compare(b.Seq, a.Seq))
	})
	var past []announce.View
	for _, v := range all {
		if !slices.Contains(s.topics, v.Sender.Topic) {
			continue
		}
		if !v.Status.Ended() && v.Status != announce.Scheduled {
			s.sent[v.ID] = true
		}
		if s.past(v) && s.wanted(v) {
			past = append(past, v)
		}
	}
	for _, v := range slices.Backward(past) {
		if err := s.send(messageEvent(v)); err != nil {
			return err
		}
	}
	return nil
}

// follow sends an announcement when it is queued for the first time, or has ended unspoken without that.
func (s *subscription) follow(v announce.View) error {
	if !slices.Contains(s.topics, v.Sender.Topic) || v.Status == announce.Scheduled {
		return nil
	}
	sent := s.sent[v.ID]
	s.sent[v.ID] = true
	if v.Status.Ended() {
		delete(s.sent, v.ID)
		sent = sent || v.Status == announce.Cancelled
	}
	if sent || !s.wanted(v) {
		return nil
	}
	return s.send(messageEvent(v))
}
