// Package openapi serves the description of the API: the OpenAPI document, which
// is built from the table of routes, the AsyncAPI document of the websocket, and
// Swagger UI.
package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"pressbox/daemon/web"
)

// generated holds the [Components], which are made from the Go types.
//
//go:generate go test -run TestGenerated ../site -update
//go:embed components.json
var generated []byte

// Components is the part of the OpenAPI document that is generated: an OpenAPI document of schemas without paths,
// with extensions for what they belong to.
type Components struct {
	OpenAPI    string            `json:"openapi"`
	Info       map[string]string `json:"info"`
	Paths      struct{}          `json:"paths"`
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
	// Names of Go types → names of their schemas; "request " precedes those of requests.
	Types  map[string]string `json:"x-types"`
	Client map[string]Frame  `json:"x-client"` // messages that clients send on the websocket, by name
	Server map[string]Frame  `json:"x-server"`
}

// components returns the generated components.
func components() (all Components, err error) {
	if err := json.Unmarshal(generated, &all); err != nil {
		return all, fmt.Errorf("parse the schemas: %w", err)
	}
	return all, nil
}

// schemaOf returns a reference to the schema of a value's type, which for requests is another one.
func (c *Components) schemaOf(prefix string, v any) object {
	t := reflect.TypeOf(v)
	return reference("#/components/schemas/", c.Types[prefix+t.PkgPath()+"."+t.Name()])
}

// The types of the OpenAPI 3.1 document.
type (
	object  = map[string]any
	apiItem map[string]apiOperation // by method
	apiDoc  struct {
		OpenAPI    string             `json:"openapi"`
		Info       object             `json:"info"`
		Tags       []object           `json:"tags"`
		Paths      map[string]apiItem `json:"paths"`
		Components object             `json:"components"`
	}
	apiOperation struct {
		ID          string                `json:"operationId"`
		Tags        []string              `json:"tags"`
		Summary     string                `json:"summary"`
		Description string                `json:"description,omitempty"`
		Parameters  []object              `json:"parameters,omitempty"`
		RequestBody object                `json:"requestBody,omitempty"`
		Responses   map[string]object     `json:"responses"`
		Security    []map[string][]string `json:"security,omitempty"`
		Servers     []object              `json:"servers,omitempty"`
	}
)

// Document returns the OpenAPI document of the routes.
func Document(routes []web.Route, version string) ([]byte, error) {
	all, err := components()
	if err != nil {
		return nil, err
	}
	schemas := map[string]json.RawMessage{}
	doc := apiDoc{
		OpenAPI: "3.1.0",
		Info: object{
			"title":   "Pressbox",
			"version": version,
			"summary": "Spoken announcements and turn-based baseball for your house.",
			"description": "Errors are application/problem+json (RFC 9457): `code` is for programs, `detail` for " +
				"people, and `errors` lists every violation in the request.",
			"license": object{"name": "MIT", "identifier": "MIT"},
		},
		Tags:  tags(),
		Paths: map[string]apiItem{},
		Components: object{
			"schemas":         schemas,
			"parameters":      parameters(),
			"headers":         headers(),
			"securitySchemes": securitySchemes(),
		},
	}
	for _, rt := range routes {
		path := rt.Template()
		if doc.Paths[path] == nil {
			doc.Paths[path] = apiItem{}
		}
		doc.Paths[path][strings.ToLower(rt.Method)] = all.describe(rt)
	}
	paths, err := json.Marshal(doc.Paths)
	if err != nil {
		return nil, fmt.Errorf("encode the OpenAPI document: %w", err)
	}
	addReferenced(schemas, all.Components.Schemas, paths) // those of frames belong to the websocket
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the OpenAPI document: %w", err)
	}
	return append(text, '\n'), nil
}

// tags returns the groups of operations.
func tags() (all []object) {
	for _, tag := range [][2]string{
		{
			"announcements",
			"Announcements on the loudspeaker. /notify and /events are also served on the administrator's Unix " +
				"socket, as are /speakable and /v1, without a token and whatever NOTIFY_ACCESS is.",
		},
		{
			"control",
			"Volume, quiet, schedules and favorites. NOTIFY_ACCESS permits to read them, CONTROL_ACCESS to change " +
				"them.",
		},
		{"speech", "Speech as a file."},
		{"server", "Health, voices and metrics."},
		{"games", "Baseball. Clients play over the websocket, which /asyncapi.json describes."},
		{"leagues", "Series and leagues. NOTIFY_ACCESS permits to read them without an account."},
		{"sign-in", "Accounts and sessions."},
		{"page", "Web pages and documents."},
		{
			"administration",
			"Served on the administrator's Unix socket, and below /api to administrators' accounts: from local " +
				"addresses or over https. What concerns accounts, tokens, voices and backups requires an " +
				"authentication within 15 minutes (403 `reauthentication_required`).",
		},
	} {
		all = append(all, object{"name": tag[0], "description": tag[1]})
	}
	return all
}

// describe returns the operation of a route.
func (c *Components) describe(rt web.Route) apiOperation {
	op := apiOperation{
		ID:          rt.Operation.ID,
		Tags:        []string{rt.Operation.Tag},
		Summary:     rt.Operation.Summary,
		Description: rt.Operation.Description,
		Responses:   map[string]object{},
	}
	for part := range strings.SplitSeq(rt.Path, "/") {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			op.Parameters = append(op.Parameters, object{
				"name": name, "in": "path", "required": true, "schema": object{"type": "string"},
			})
		}
	}
	for _, name := range slices.Concat(rt.Operation.Headers, rt.Operation.Params) {
		op.Parameters = append(op.Parameters, reference("#/components/parameters/", name))
	}
	if rt.Operation.Request != nil {
		body := c.schemaOf("request ", rt.Operation.Request)
		op.RequestBody = object{"required": !rt.Operation.Optional, "content": content(body, "application/json")}
	}
	if rt.Operation.AnyMedia {
		op.RequestBody = object{"content": c.anyMedia(rt.Operation.Request)}
	}
	if rt.Operation.Sound {
		op.RequestBody = withSound(op.RequestBody)
	}
	if rt.Operation.Form != nil {
		body := c.schemaOf("request ", rt.Operation.Form)
		op.RequestBody = object{"required": true, "content": content(body, "application/x-www-form-urlencoded")}
	}
	for _, a := range rt.Operation.Responses {
		op.Responses[strconv.Itoa(a.Status)] = c.response(a)
	}
	isJSON := func(a web.Response) bool { return a.Media == nil }
	if rt.Class == web.SessionOrVisitor && slices.ContainsFunc(rt.Operation.Responses, isJSON) {
		op.Responses[strconv.Itoa(http.StatusNotModified)] = c.response(web.Response{
			Status: http.StatusNotModified, Description: "The client has it already (If-None-Match).",
		})
	}
	for _, status := range problemStatuses(rt) {
		if code := strconv.Itoa(status); op.Responses[code] == nil {
			op.Responses[code] = c.response(web.Response{
				Status: status, Description: http.StatusText(status), Media: []string{"application/problem+json"},
				Body: web.Problem{},
			})
			if all, ok := op.Responses[code]["content"].(object); ok && rt.Operation.Ntfy { // once its route is known
				maps.Copy(all, content(c.schemaOf("", web.NtfyError{}), "application/json"))
			}
		}
	}
	switch rt.Class {
	case web.Public:
	case web.NotifyAccess, web.ControlAccess:
		op.Security = []map[string][]string{{}, {"token": {}}}
	case web.TokenRequired:
		op.Security = []map[string][]string{{"token": {}}}
	case web.NotifyOrSession, web.ControlOrSession, web.SessionOrVisitor:
		op.Security = []map[string][]string{{}, {"token": {}}, {"session": {}}}
	case web.SessionRequired, web.Administrator, web.RecentAdministrator:
		op.Security = []map[string][]string{{"session": {}}, {"bearer": {}}}
	case web.AdminSocket, web.MetricsAccess:
		op.Servers = []object{{"url": "http://localhost", "description": "the administrator's Unix socket, admin.sock"}}
	}
	return op
}

// anyMedia returns the content of a body that may also be a form or text; only text without
// a schema.
func (c *Components) anyMedia(request any) object {
	all := object{}
	if request != nil {
		all = content(c.schemaOf("request ", request), "application/json", "application/x-www-form-urlencoded",
			"multipart/form-data")
	}
	all["text/plain"] = object{"schema": object{"type": "string", "description": "The message."}}
	return all
}

// withSound returns a body that may also be a sound; nil means that it must be one.
func withSound(body object) object {
	media := map[string]any{}
	if body != nil {
		media, _ = body["content"].(object)
	} else {
		file := object{"type": "string", "contentMediaType": "application/octet-stream"}
		media["multipart/form-data"] = object{"schema": object{
			"type": "object", "properties": object{"file": file}, "required": []string{"file"},
		}}
		body = object{"required": true, "content": media}
	}
	media["audio/*"] = object{}
	return body
}

// problemStatuses returns the statuses of all problems of a route, without those
// that do not depend on the route (404, 405).
func problemStatuses(rt web.Route) []int {
	all := map[int]bool{http.StatusInternalServerError: true}
	add := func(statuses ...int) {
		for _, status := range statuses {
			all[status] = true
		}
	}
	if rt.Class != web.AdminSocket {
		add(http.StatusMisdirectedRequest)
		if rt.Method != http.MethodGet {
			add(http.StatusForbidden)
		}
	}
	switch rt.Class {
	case web.NotifyAccess, web.NotifyOrSession, web.SessionOrVisitor, web.ControlAccess, web.ControlOrSession,
		web.TokenRequired, web.SessionRequired: // which guests may not use
		add(http.StatusUnauthorized, http.StatusForbidden)
	case web.AdminSocket, web.MetricsAccess:
		add(http.StatusForbidden)
	case web.Public, web.Administrator, web.RecentAdministrator:
	}
	if rt.Class.Administers() {
		add(http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests)
	}
	if rt.Operation.Request != nil || rt.Operation.AnyMedia {
		add(http.StatusBadRequest, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity)
	}
	if len(rt.Operation.Params) > 0 {
		add(http.StatusUnprocessableEntity)
	}
	if rt.Operation.Limited || rt.Method != http.MethodGet && rt.Class != web.AdminSocket {
		add(http.StatusTooManyRequests)
	}
	add(rt.Operation.Problems...)
	return slices.Sorted(maps.Keys(all))
}

func (c *Components) response(a web.Response) object {
	media := a.Media
	if media == nil {
		media = []string{"application/json"}
	}
	described := object{}
	for name, is := range map[string]bool{
		"X-Request-Id":     true,
		"Location":         a.Location,
		"Retry-After":      a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable,
		"WWW-Authenticate": a.Status == http.StatusUnauthorized,
	} {
		if is {
			described[name] = reference("#/components/headers/", name)
		}
	}
	all := object{"description": a.Description, "headers": described}
	if a.Status != http.StatusNoContent && a.Status/100 != 3 && a.Status/100 != 1 {
		var schema object
		if a.Body != nil {
			schema = c.schemaOf("", a.Body)
		}
		all["content"] = content(schema, media...)
	}
	return all
}

// content returns the content of a body with the schema, nil for any bytes, in each of the media.
func content(schema object, media ...string) object {
	body := object{}
	if schema != nil {
		body["schema"] = schema
	}
	all := object{}
	for _, m := range media {
		all[m] = body
	}
	return all
}

// parameters returns the parameters that operations refer to by their names.
func parameters() object {
	text, number, truth := object{"type": "string"}, object{"type": "integer"}, object{"type": "boolean"}
	off, all := with(truth, object{"default": false}), object{}
	for _, p := range []struct {
		in, name, description string
		schema                object
	}{
		{
			"header", "Idempotency-Key",
			"Any text, unique for each announcement of a client. A request with the key and body of an earlier one " +
				"of this client within 24 hours gets the earlier announcement, and nothing is spoken twice.",
			with(text, object{"minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"}),
		},
		{
			"header", "Last-Event-ID",
			"The id of the last event that the client has received. Browsers send it automatically.", text,
		},
		{
			"header", "X-Title",
			"Spoken before the message, as a sentence; UTF-8 or encoded by RFC 2047. Also Title or t.", text,
		},
		{"header", "X-Priority", "1 to 5, or min, low, default, high, max. Also Priority, prio or p.", text},
		{
			"header", "X-Delay",
			"A duration such as 30m or 2 hours, seconds, or a Unix time. Also Delay, At or In.", text,
		},
		{
			"query", "season", "The season; default DEFAULT_SEASON.",
			with(number, object{"minimum": 1, "maximum": web.MaxSeason}),
		},
		{"query", "controls", "Begin with the volume, quiet, schedules and favorites.", off},
		{"query", "scheduled", "Also scheduled announcements.", off},
		{"query", "message", "Text to speak.", text},
		{"query", "title", "Spoken before the message, as a sentence.", text},
		{"query", "urgent", "Speak it at once, and louder.", truth},
		{"query", "priority", "1 to 5, or min, low, default, high, max.", text},
		{"query", "delay", "A duration such as 30m or 2 hours, seconds, or a Unix time.", text},
		{"query", "token", "An API token. Queries are not logged.", text},
		{"query", "auth", "An Authorization header (Bearer or Basic) in base64, as ntfy has it.", text},
		{"query", "language", "Such as de; default: that of the default voice.", with(text, object{"maxLength": 16})},
		{"query", "team", "Only the players of this team.", text},
		{"query", "saved", "Name of a line-up that you have saved.", text},
		{"query", "game", "Id of a game.", text},
		{
			"query", "status", "Only games with this status.",
			with(text, object{"enum": []string{"pending", "active", "finished"}}),
		},
		{
			"query", "people", "Only games that a person manages a side of: not those between two bots.", off,
		},
		{
			"query", "league",
			"Id of a league or a series: rest_days and fatigue are those before its next games, and season is its " +
				"season by default.", text,
		},
		{
			"query", "before",
			"Only the games after this one (a game id) in its list, the newest first; or the finished games that " +
				"ended before this time (RFC 3339).", text,
		},
		{
			"query", "limit",
			"The most games in each list. Without it, all pending and active and 100 finished ones.",
			with(number, object{"minimum": 1, "maximum": 100}),
		},
		{
			"query", "since", "Only events after this revision.",
			with(number, object{"minimum": 0, "maximum": web.MaxInteger}),
		},
		{"query", "poll", "End after the messages that are there.", off},
		{"query", "id", "Only the message with this id.", text},
		{"query", "tags", "Tags are not kept: with any, no message is sent.", text},
	} {
		all[p.name] = object{"name": p.name, "in": p.in, "description": p.description, "schema": p.schema}
	}
	all["since-message"] = object{"name": "since", "in": "query", "schema": text, "description": sinceMessage}
	return all
}

// sinceMessage describes another parameter since than that of events.
const sinceMessage = "Begin with the messages since a Unix time, of a duration such as 10m, after an id, or `all`."

// with returns the members of both objects.
func with(o, more object) object {
	all := maps.Clone(o)
	maps.Copy(all, more)
	return all
}

func headers() object {
	text := object{"type": "string"}
	return object{
		"X-Request-Id": object{"description": "Id of the request in the server's log.", "schema": text},
		"Location":     object{"description": "URL of the created or other resource.", "schema": text},
		"Retry-After": object{
			"description": "Seconds after which to retry.", "schema": object{"type": "integer", "minimum": 1},
		},
		"WWW-Authenticate": object{"description": "Challenge (RFC 6750).", "schema": text},
	}
}

func securitySchemes() object {
	return object{
		"token": object{
			"type": "http", "scheme": "bearer", "description": "An API token; `pressbox tokens create` creates one.",
		},
		"session": object{
			"type": "apiKey", "in": "cookie", "name": "pressbox_access",
			"description": "The session of a signed-in account; over https the name has the prefix __Secure-.",
		},
		"bearer": object{
			"type": "http", "scheme": "bearer",
			"description": "The access token of a session, from POST /api/auth/refresh.",
		},
	}
}
