package push

import (
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"pressbox/voice/announce/draft"
	"pressbox/voice/control/boolean"
)

// A ntfyRequest is a message of ntfy. Of a field that is sent several times, the first
// value counts.
type ntfyRequest struct {
	draft      draft.Draft
	topic      string
	sequence   string
	filename   string
	priority   int // 1–5; 0 means none
	urgentFrom int
	given      []string
}

// set sets a field of ntfy, by any of its names, or of an announcement.
func (n *ntfyRequest) set(name, text string) {
	name = fullName(name)
	if slices.Contains(n.given, name) || text == "" && name == "message" {
		return
	}
	n.given = append(n.given, name)
	switch name {
	case "topic":
		n.topic = text
	case "sequence":
		n.sequence = text
	case "filename":
		n.filename = text
	case "priority":
		n.setPriority(strings.ToLower(strings.TrimSpace(text)))
	case "delay":
		n.setDelay(text)
	case "template":
		if on, is := boolean.Parse(text); text != "" && (on || !is) {
			n.draft.Refuse("template", "invalid",
				"templates are not filled in here: use POST /hooks/NAME, or send the text")
		}
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
	case "sequence_id", "sequence-id", "sid":
		return "sequence"
	case "file", "f":
		return "filename"
	case "tpl":
		return "template"
	case "tags", "tag", "ta", "click", "attach", "a", "markdown", "md", "icon", "actions", "action",
		"email", "e-mail", "mail", "e", "call", "cache", "firebase", "id", "time", "event", "expires",
		"poll_id", "unifiedpush", "up":
		return ignored
	}
	return name
}

// headerFields returns the fields of a message that are headers, such as X-Title, Title or
// t, in UTF-8 or encoded by RFC 2047.
func headerFields(h http.Header) (all []draft.Field) {
	for _, name := range []string{
		"message", "m", "title", "ti", "t", "priority", "prio", "p", "delay", "at", "in", "filename", "file", "f",
		"template", "tpl", "sequence-id", "sid",
	} {
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

// setDelay sets the time of a message; see [parseDelay].
func (n *ntfyRequest) setDelay(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	d, ok := parseDelay(text, time.Now())
	if !ok {
		n.draft.Refuse("delay", "invalid", delayForms)
	}
	n.draft.Request.At, n.draft.Request.In = d.at, d.in
}

// isPublished reports whether a request has a header or a parameter of a message of ntfy.
func isPublished(r *http.Request) bool {
	if len(headerFields(r.Header)) > 0 {
		return true
	}
	for _, name := range []string{"Tags", "Click", "Attach", "Icon", "Actions", "Markdown", "Email", "Call"} {
		if r.Header.Get(name) != "" || r.Header.Get("X-"+name) != "" {
			return true
		}
	}
	return slices.ContainsFunc(draft.FormFields(r.URL.RawQuery), func(f draft.Field) bool {
		name := fullName(f.Name)
		return name != f.Name || slices.Contains([]string{"message", "title", "priority", "delay"}, name)
	})
}
