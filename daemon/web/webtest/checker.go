package webtest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pressbox/daemon/web/openapi"
	"pressbox/daemon/web/site"
	"pressbox/packaging/check"
)

// Each calls f for every operation, in order of path and method.
func (c *Checker) Each(f func(op Operation, method, template string)) {
	var names []string
	for template, methods := range c.Paths {
		for method := range methods {
			names = append(names, template+" "+strings.ToUpper(method))
		}
	}
	slices.Sort(names)
	for _, name := range names {
		template, method, _ := strings.Cut(name, " ")
		f(c.Paths[template][strings.ToLower(method)], method, template)
	}
}

// RequestSchema returns the name of the schema of the request body; "" if there is none.
func (op Operation) RequestSchema() string {
	return strings.TrimPrefix(op.Body.Content["application/json"].Schema.Ref, "#/components/schemas/")
}

// A Checker checks responses against the OpenAPI document.
type Checker struct {
	Paths      map[string]map[string]Operation `json:"paths"` // path, method
	Components struct {
		Schemas map[string]struct{ Examples []any }
	}
	schemas *Schemas
}

// An Operation is an operation of the OpenAPI document.
type Operation struct {
	ID        string `json:"operationId"`
	Servers   []any  `json:"servers"`
	Tags      []string
	Security  []map[string][]string
	Body      struct{ Content map[string]media } `json:"requestBody"`
	Responses map[string]struct {
		Headers map[string]any   `json:"headers"`
		Content map[string]media `json:"content"`
	} `json:"responses"`
}

// media describes a body of one media type.
type media struct {
	Schema struct {
		Ref string `json:"$ref"`
	} `json:"schema"`
}

// NewChecker returns the checker with the server's document, which all tests of a package share.
func NewChecker(tb testing.TB) *Checker {
	tb.Helper()
	return check.Must(sharedChecker())(tb)
}

// sharedChecker makes the checker once: under the race detector the document takes a second.
var sharedChecker = sync.OnceValues(func() (*Checker, error) {
	text, err := site.OpenAPI("1.2.3")
	if err != nil {
		return nil, err
	}
	c := &Checker{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, err
	}
	c.schemas, err = NewSchemas("openapi.json", text)
	return c, err
})

// PathParameter matches a parameter in a path template.
var PathParameter = regexp.MustCompile(`\{[a-z]+\}`)

// find returns the operation of a request and reports whether there is one.
func (c *Checker) find(method, path string) (Operation, bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if op, ok := c.Paths[path][strings.ToLower(method)]; ok { // it precedes one with parameters
		return op, true
	}
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	first := func(template string) string { return strings.Split(template, "/")[1] }
	taken := map[string]bool{}
	for template := range c.Paths {
		taken[first(template)] = true
	}
	var found Operation
	for template, methods := range c.Paths {
		same := slices.EqualFunc(strings.Split(template, "/"), segments, func(want, got string) bool {
			return want == got || strings.HasPrefix(want, "{") && got != ""
		})
		op, ok := methods[strings.ToLower(method)]
		if ok && same && (first(template) != "{topic}" || !taken[first(path)]) {
			found = op
		}
	}
	return found, found.ID != ""
}

// CheckResponse fails the test unless the document describes the response. For an
// unknown path or method, the response must be a problem.
func (c *Checker) CheckResponse(tb testing.TB, req *http.Request, resp *http.Response) {
	tb.Helper()
	body := check.Must(io.ReadAll(resp.Body))(tb)
	failed := tb.Failed()
	defer func() {
		if tb.Failed() && !failed {
			tb.Logf("%s %s: status %d, %v\n%s", req.Method, req.URL, resp.StatusCode, resp.Header, body)
		}
	}()
	check.That(tb, resp.Header.Get("X-Request-Id") != "", "the response has no X-Request-Id")
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect: // a path with a trailing slash
		return
	}
	if req.Method == http.MethodOptions {
		return
	}
	schema := "#/components/schemas/Problem"
	op, ok := c.find(req.Method, req.URL.Path)
	switch {
	case ok && resp.StatusCode != http.StatusMethodNotAllowed:
		schema = op.checkResponse(tb, resp)
	case resp.StatusCode < 400:
		tb.Errorf("%s %s is not documented", req.Method, req.URL.Path)
	// a page for browsers
	case resp.StatusCode == http.StatusNotFound && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"):
		return
	case resp.Header.Get("Content-Type") != "application/problem+json":
		tb.Errorf("an error of the media type %q", resp.Header.Get("Content-Type"))
	}
	if schema == "" || req.Method == http.MethodHead {
		return
	}
	if resp.Header.Get("Content-Encoding") == "gzip" {
		body = check.Must(io.ReadAll(check.Must(gzip.NewReader(bytes.NewReader(body)))(tb)))(tb)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		tb.Errorf("the body is not JSON: %v", err)
		return
	}
	if err := c.Schema(tb, schema).Validate(value); err != nil {
		tb.Errorf("the body does not match its schema: %v", err)
	}
}

// checkResponse fails the test unless the operation documents the status, headers
// and media type. It returns the schema of the body; "" means any or no body.
func (op Operation) checkResponse(tb testing.TB, resp *http.Response) (schema string) {
	tb.Helper()
	documented, ok := op.Responses[strconv.Itoa(resp.StatusCode)]
	check.That(tb, ok, "%s does not document status %d", op.ID, resp.StatusCode)
	for name := range documented.Headers {
		check.That(tb, resp.Header.Get(name) != "",
			"%s documents the header %s of status %d, which is missing", op.ID, name, resp.StatusCode)
	}
	if len(documented.Content) == 0 {
		return ""
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	check.That(tb, err == nil, "Content-Type %q: %v", resp.Header.Get("Content-Type"), err)
	content, ok := documented.Content[kind]
	if _, anyType := documented.Content["*/*"]; !ok && !anyType {
		tb.Errorf("%s documents %v for status %d, not %q",
			op.ID, slices.Collect(maps.Keys(documented.Content)), resp.StatusCode, kind)
	}
	return content.Schema.Ref
}

// Schema returns the schema that ref leads to.
func (c *Checker) Schema(tb testing.TB, ref string) *jsonschema.Schema {
	tb.Helper()
	return check.Must(c.schemas.At(ref))(tb)
}

// FrameSchemas returns a function that returns the schema of a frame type. The schemas refuse unknown members.
var FrameSchemas = sync.OnceValue(func() func(string) *jsonschema.Schema {
	text, err := openapi.AsyncAPI("1.2.3")
	if err != nil {
		panic(err)
	}
	all, err := NewSchemas("asyncapi.json", text)
	if err != nil {
		panic(err)
	}
	return func(name string) *jsonschema.Schema {
		schema, err := all.At("#/components/messages/" + name + "/payload")
		if err != nil {
			panic(err)
		}
		return schema
	}
})

// Schemas compiles the schemas of a document at their first use.
type Schemas struct {
	name     string // of the document
	compiler *jsonschema.Compiler

	mu       sync.Mutex // guards compiled
	compiled map[string]*jsonschema.Schema
}

// NewSchemas parses a document. Its schemas refuse unknown members.
func NewSchemas(name string, document []byte) (*Schemas, error) {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, err
	}
	closeObjects(tree)
	s := &Schemas{name: name, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	s.compiler.AssertFormat()
	return s, s.compiler.AddResource(name, tree)
}

// closeObjects sets additionalProperties to false in each schema with properties that does not have it.
func closeObjects(tree any) {
	switch node := tree.(type) {
	case []any:
		for _, child := range node {
			closeObjects(child)
		}
	case map[string]any:
		_, open := node["additionalProperties"]
		if _, ok := node["properties"].(map[string]any); ok && !open {
			node["additionalProperties"] = false
		}
		for _, child := range node {
			closeObjects(child)
		}
	}
}

// At returns the schema that a reference leads to, such as "#/components/schemas/Problem".
func (s *Schemas) At(ref string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.compiled[ref] == nil {
		schema, err := s.compiler.Compile(s.name + ref)
		if err != nil {
			return nil, err
		}
		s.compiled[ref] = schema
	}
	return s.compiled[ref], nil
}

// WantValid fails the test unless document matches the published schema of address.
func WantValid(t *testing.T, document []byte, draft *jsonschema.Draft, address string, published io.Reader) {
	t.Helper()
	meta := check.Must(jsonschema.UnmarshalJSON(published))(t)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	check.NoError(t, c.AddResource(address, meta))
	schema := check.Must(c.Compile(address))(t)
	value := check.Must(jsonschema.UnmarshalJSON(bytes.NewReader(document)))(t)
	check.NoError(t, schema.Validate(value))
}
