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
			"title":       "Pressbox",
			"version":     version,
			"summary":     "Spoken announcements and turn-based baseball for your house.",
			"description": "Errors are application/problem+json (RFC 9457): `code` is for programs, `detail` for people, and `errors` lists every violation in the request.",
			"license":     object{"name": "MIT", "identifier": "MIT"},
		},
		Tags: []object{
			{"name": "announcements", "description": "Announcements on the loudspeaker. /notify and /events are also served on the administrator's Unix socket, as are /speakable and /v1, without a token and whatever NOTIFY_ACCESS is."},
			{"name": "control", "description": "Volume, quiet, schedules and favorites. NOTIFY_ACCESS permits to read them, CONTROL_ACCESS to change them."},
			{"name": "speech", "description": "Speech as a file."},
			{"name": "server", "description": "Health, voices and metrics."},
			{"name": "games", "description": "Baseball. Clients play over the websocket, which /asyncapi.json describes."},
			{"name": "leagues", "description": "Series and leagues. NOTIFY_ACCESS permits to read them without an account."},
			{"name": "sign-in", "description": "Accounts and sessions."},
			{"name": "page", "description": "Web pages and documents."},
			{"name": "administration", "description": "Served on the administrator's Unix socket, and below /api to administrators' accounts: from local addresses or over https. What concerns accounts, tokens, voices and backups requires an authentication within 15 minutes (403 `reauthentication_required`)."},
		},
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
		op.Parameters = append(op.Parameters, object{"$ref": "#/components/parameters/" + name})
	}
	if rt.Operation.Request != nil {
		body := c.schemaOf("request ", rt.Operation.Request)
		op.RequestBody = object{"required": !rt.Operation.Optional, "content": content(body, "application/json")}
	}
	if rt.Operation.AnyMedia {
		op.RequestBody = object{"content": c.anyMedia(rt.Operation.Request)}
	}
	if rt.Operation.Form != nil {
		body := c.schemaOf("request ", rt.Operation.Form)
		op.RequestBody = object{"required": true, "content": content(body, "application/x-www-form-urlencoded")}
	}
	for _, a := range rt.Operation.Responses {
		op.Responses[strconv.Itoa(a.Status)] = c.response(a)
	}
	if rt.Class == web.SessionOrVisitor && slices.ContainsFunc(rt.Operation.Responses, func(a web.Response) bool { return a.Media == nil }) {
		op.Responses[strconv.Itoa(http.StatusNotModified)] = c.response(web.Response{
			Status: http.StatusNotModified, Description: "The client has it already (If-None-Match).",
		})
	}
	for _, status := range problemStatuses(rt) {
		op.Responses[strconv.Itoa(status)] = c.problemResponse(status)
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
	if slices.Contains([]web.Class{web.NotifyAccess, web.NotifyOrSession, web.SessionOrVisitor, web.ControlAccess, web.ControlOrSession, web.TokenRequired}, rt.Class) {
		add(http.StatusUnauthorized, http.StatusForbidden)
	}
	if rt.Class == web.AdminSocket || rt.Class == web.MetricsAccess {
		add(http.StatusForbidden)
	}
	if rt.Class == web.SessionRequired {
		add(http.StatusUnauthorized)
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
	if rt.Operation.Limited {
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
	described := object{"X-Request-Id": object{"$ref": "#/components/headers/X-Request-Id"}}
	if a.Location {
		described["Location"] = object{"$ref": "#/components/headers/Location"}
	}
	if a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable {
		described["Retry-After"] = object{"$ref": "#/components/headers/Retry-After"}
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

func (c *Components) problemResponse(status int) object {
	described := object{"X-Request-Id": object{"$ref": "#/components/headers/X-Request-Id"}}
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		described["Retry-After"] = object{"$ref": "#/components/headers/Retry-After"}
	case http.StatusUnauthorized:
		described["WWW-Authenticate"] = object{"$ref": "#/components/headers/WWW-Authenticate"}
	}
	return object{
		"description": http.StatusText(status),
		"headers":     described,
		"content":     content(c.schemaOf("", web.Problem{}), "application/problem+json"),
	}
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

func parameters() object {
	return object{
		"Idempotency-Key": object{
			"name": "Idempotency-Key", "in": "header",
			"description": "Any text, unique for each announcement of a client. A request with the key and body of an earlier one of this client within 24 hours gets the earlier announcement, and nothing is spoken twice.",
			"schema":      object{"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
		},
		"Last-Event-ID": object{
			"name": "Last-Event-ID", "in": "header",
			"description": "The id of the last event that the client has received. Browsers send it automatically.",
			"schema":      object{"type": "string"},
		},
		"X-Title":    header("X-Title", "Spoken before the message, as a sentence; UTF-8 or encoded by RFC 2047. Also Title or t."),
		"X-Priority": header("X-Priority", "1 to 5, or min, low, default, high, max. Also Priority, prio or p."),
		"X-Delay":    header("X-Delay", "A duration such as 30m or 2 hours, seconds, or a Unix time. Also Delay, At or In."),
		"season":     query("season", "The season; default DEFAULT_SEASON.", object{"type": "integer", "minimum": 1, "maximum": web.MaxSeason}),
		"controls":   query("controls", "Begin with the volume, quiet, schedules and favorites.", object{"type": "boolean", "default": false}),
		"message":    query("message", "Text to speak.", object{"type": "string"}),
		"title":      query("title", "Spoken before the message, as a sentence.", object{"type": "string"}),
		"urgent":     query("urgent", "Speak it at once, and louder.", object{"type": "boolean"}),
		"priority":   query("priority", "1 to 5, or min, low, default, high, max.", object{"type": "string"}),
		"delay":      query("delay", "A duration such as 30m or 2 hours, seconds, or a Unix time.", object{"type": "string"}),
		"token":      query("token", "An API token. Queries are not logged.", object{"type": "string"}),
		"auth":       query("auth", "An Authorization header (Bearer or Basic) in base64, as ntfy has it.", object{"type": "string"}),
		"language":   query("language", "Such as de; default: that of the default voice.", object{"type": "string", "maxLength": 16}),
		"team":       query("team", "Only the players of this team.", object{"type": "string"}),
		"game":       query("game", "Id of a game.", object{"type": "string"}),
		"status":     query("status", "Only games with this status.", object{"type": "string", "enum": []string{"pending", "active", "finished"}}),
		"people":     query("people", "Only games that a person manages a side of: not those between two bots.", object{"type": "boolean", "default": false}),
		"league":     query("league", "Id of a league or a series: rest_days and fatigue are those before its next games, and season is its season by default.", object{"type": "string"}),
		"before":     query("before", "Only the games after this one (a game id) in its list, the newest first; or the finished games that ended before this time (RFC 3339).", object{"type": "string"}),
		"limit":      query("limit", "The most games in each list. Without it, all pending and active and 100 finished ones.", object{"type": "integer", "minimum": 1, "maximum": 100}),
		"since":      query("since", "Only events after this revision.", object{"type": "integer", "minimum": 0, "maximum": web.MaxInteger}),
	}
}

// header returns a header parameter.
func header(name, description string) object {
	return object{"name": name, "in": "header", "description": description, "schema": object{"type": "string"}}
}

// query returns a query parameter.
func query(name, description string, schema object) object {
	return object{"name": name, "in": "query", "description": description, "schema": schema}
}

func headers() object {
	text := object{"type": "string"}
	return object{
		"X-Request-Id":     object{"description": "Id of the request in the server's log.", "schema": text},
		"Location":         object{"description": "URL of the created or other resource.", "schema": text},
		"Retry-After":      object{"description": "Seconds after which to retry.", "schema": object{"type": "integer", "minimum": 1}},
		"WWW-Authenticate": object{"description": "Challenge (RFC 6750).", "schema": text},
	}
}

func securitySchemes() object {
	return object{
		"token":   object{"type": "http", "scheme": "bearer", "description": "An API token; `pressbox tokens create` creates one."},
		"session": object{"type": "apiKey", "in": "cookie", "name": "pressbox_access", "description": "The session of a signed-in account; over https the name has the prefix __Secure-."},
		"bearer":  object{"type": "http", "scheme": "bearer", "description": "The access token of a session, from POST /api/auth/refresh."},
	}
}
