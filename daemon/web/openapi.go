package web

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas is what stands under components/schemas of the document.
//
//go:embed schemas.json
var schemas []byte

// gameSchemas stands there too: what is said of games.
//
//go:embed games.json
var gameSchemas []byte

// An operation is how a route is described.
type operation struct {
	id          string // unique
	tag         string
	summary     string
	description string
	headers     []string // names of components/parameters that it takes
	params      []string // the same, in the query
	request     string   // schema of its body; "" means that it reads none
	optional    bool     // whether the body may be missing
	form        string   // schema of its body as a form, instead
	answers     []success
	problems    []int // what it may answer besides what its class and its body may lead to
	limited     bool  // at NOTIFY_RATE
	once        bool  // each GET changes something, so there is no HEAD
}

// A success is one of the answers of an operation that is not a problem.
type success struct {
	status      int
	description string
	media       []string // nil means application/json
	schema      string   // "" means any bytes
	location    bool     // it has a Location header
}

// The members of the OpenAPI 3.1 document that we fill.
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

// document writes the OpenAPI document of the routes.
func document(routes []route, version string) ([]byte, error) {
	components, err := components()
	if err != nil {
		return nil, err
	}
	doc := apiDoc{
		OpenAPI: "3.1.0",
		Info: object{
			"title":       "Pressbox",
			"version":     version,
			"summary":     "Announcements that the house hears, and baseball that it plays.",
			"description": "Errors are application/problem+json (RFC 9457): `code` is for programs, `detail` for people, and `errors` lists everything that is wrong with a body.",
			"license":     object{"name": "MIT", "identifier": "MIT"},
		},
		Tags: []object{
			{"name": "announcements", "description": "What the house is told."},
			{"name": "speech", "description": "Speech as a file, not on the loudspeaker."},
			{"name": "appliance", "description": "How it is, and what it can do."},
			{"name": "games", "description": "Baseball. What is played is said on the websocket: /asyncapi.json describes it."},
			{"name": "sign-in", "description": "Accounts and sessions."},
			{"name": "page", "description": "For people."},
			{"name": "administration", "description": "Only on the administrator's unix socket."},
		},
		Paths: map[string]apiItem{},
		Components: object{
			"schemas":         components,
			"parameters":      parameters(),
			"headers":         headers(),
			"securitySchemes": securitySchemes(),
		},
	}
	for _, rt := range routes {
		path := openPath(rt.path)
		if doc.Paths[path] == nil {
			doc.Paths[path] = apiItem{}
		}
		doc.Paths[path][strings.ToLower(rt.method)] = rt.describe()
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	return append(text, '\n'), nil
}

// components are all schemas, by name.
func components() (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	for _, text := range [][]byte{schemas, gameSchemas} {
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, fmt.Errorf("read the schemas: %w", err)
		}
	}
	return all, nil
}

// describe writes a route's operation.
func (rt route) describe() apiOperation {
	op := apiOperation{
		ID:          rt.op.id,
		Tags:        []string{rt.op.tag},
		Summary:     rt.op.summary,
		Description: rt.op.description,
		Responses:   map[string]object{},
	}
	for part := range strings.SplitSeq(rt.path, "/") {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			op.Parameters = append(op.Parameters, object{
				"name": name, "in": "path", "required": true, "schema": object{"type": "string"},
			})
		}
	}
	for _, name := range slices.Concat(rt.op.headers, rt.op.params) {
		op.Parameters = append(op.Parameters, object{"$ref": "#/components/parameters/" + name})
	}
	if rt.op.request != "" {
		op.RequestBody = object{"required": !rt.op.optional, "content": content(rt.op.request, "application/json")}
	}
	if rt.op.form != "" {
		op.RequestBody = object{"required": true, "content": content(rt.op.form, "application/x-www-form-urlencoded")}
	}
	for _, a := range rt.op.answers {
		op.Responses[strconv.Itoa(a.status)] = a.describe()
	}
	for _, status := range rt.refusals() {
		op.Responses[strconv.Itoa(status)] = refusal(status)
	}
	switch rt.class {
	case everyone:
	case notifiers:
		op.Security = []map[string][]string{{}, {"token": {}}}
	case members:
		op.Security = []map[string][]string{{}, {"token": {}}, {"session": {}}}
	case people:
		op.Security = []map[string][]string{{"session": {}}, {"bearer": {}}}
	case admins, scrapers:
		op.Servers = []object{{"url": "http://localhost", "description": "the administrator's unix socket, admin.sock"}}
	}
	return op
}

// refusals lists the statuses of all problems that a route may answer,
// without those that do not depend on the route (404, 405).
func (rt route) refusals() []int {
	all := map[int]bool{http.StatusInternalServerError: true}
	add := func(statuses ...int) {
		for _, status := range statuses {
			all[status] = true
		}
	}
	if rt.class != admins {
		add(http.StatusMisdirectedRequest)
		if rt.method != http.MethodGet {
			add(http.StatusForbidden)
		}
	}
	if rt.class == notifiers || rt.class == members {
		add(http.StatusUnauthorized, http.StatusForbidden)
	}
	if rt.class == admins || rt.class == scrapers {
		add(http.StatusForbidden)
	}
	if rt.class == people {
		add(http.StatusUnauthorized)
	}
	if rt.op.request != "" {
		add(http.StatusBadRequest, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity)
	}
	if len(rt.op.params) > 0 {
		add(http.StatusUnprocessableEntity)
	}
	if rt.op.limited {
		add(http.StatusTooManyRequests)
	}
	add(rt.op.problems...)
	return slices.Sorted(maps.Keys(all))
}

func (a success) describe() object {
	media := a.media
	if media == nil {
		media = []string{"application/json"}
	}
	described := object{"X-Request-Id": object{"$ref": "#/components/headers/X-Request-Id"}}
	if a.location {
		described["Location"] = object{"$ref": "#/components/headers/Location"}
	}
	if a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable {
		described["Retry-After"] = object{"$ref": "#/components/headers/Retry-After"}
	}
	response := object{"description": a.description, "headers": described}
	if a.status != http.StatusNoContent && a.status/100 != 3 && a.status/100 != 1 {
		response["content"] = content(a.schema, media...)
	}
	return response
}

func refusal(status int) object {
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
		"content":     content("Problem", "application/problem+json"),
	}
}

// content says that a body of any of the media is as the schema describes it.
func content(schema string, media ...string) object {
	body := object{}
	if schema != "" {
		body["schema"] = object{"$ref": "#/components/schemas/" + schema}
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
			"description": "Any text that the client makes up for one announcement. The same key and body within 24 hours gives the first answer, and is spoken once.",
			"schema":      object{"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
		},
		"Last-Event-ID": object{
			"name": "Last-Event-ID", "in": "header",
			"description": "The id of the last event that the client has seen. Browsers send it by themselves.",
			"schema":      object{"type": "string"},
		},
		"season": query("season", "The season. Without it, DEFAULT_SEASON.", object{"type": "integer", "minimum": 1, "maximum": lastSeason}),
		"team":   query("team", "Only the players of this team.", object{"type": "string"}),
		"status": query("status", "Only games of this status.", object{"type": "string", "enum": []string{"pending", "active", "finished"}}),
		"before": query("before", "Only finished games that ended before: the id of one, or a time (RFC 3339).", object{"type": "string"}),
		"since":  query("since", "Only what came after this revision.", object{"type": "integer", "minimum": 0, "maximum": farthest}),
	}
}

// query describes a parameter of the address.
func query(name, description string, schema object) object {
	return object{"name": name, "in": "query", "description": description, "schema": schema}
}

func headers() object {
	text := object{"type": "string"}
	return object{
		"X-Request-Id":     object{"description": "Names the request in the appliance's log.", "schema": text},
		"Location":         object{"description": "Where to go.", "schema": text},
		"Retry-After":      object{"description": "Seconds after which to ask again.", "schema": object{"type": "integer", "minimum": 1}},
		"WWW-Authenticate": object{"description": "RFC 6750.", "schema": text},
	}
}

func securitySchemes() object {
	return object{
		"token":   object{"type": "http", "scheme": "bearer", "description": "A token that `pressbox tokens` made."},
		"session": object{"type": "apiKey", "in": "cookie", "name": "pressbox_access", "description": "A signed-in session; on https the name has the prefix __Secure-."},
		"bearer":  object{"type": "http", "scheme": "bearer", "description": "A session's access token, as POST /api/auth/refresh answers it."},
	}
}

// newBodies compiles the schemas of all requests out of the document.
func newBodies(document []byte, routes []route) (bodies, error) {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openapi.json", tree); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	b := bodies{}
	for _, rt := range routes {
		if rt.op.request == "" {
			continue
		}
		schema, err := c.Compile("openapi.json#/components/schemas/" + rt.op.request)
		if err != nil {
			return nil, fmt.Errorf("compile the schema %s: %w", rt.op.request, err)
		}
		b[rt.op.request] = schema
	}
	return b, nil
}
