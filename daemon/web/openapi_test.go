package web_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pressbox/daemon/web"
)

// A checker holds answers against the OpenAPI document.
type checker struct {
	paths   map[string]map[string]operation // path, method
	schemas *schemas
}

type operation struct {
	ID        string `json:"operationId"`
	Servers   []any  `json:"servers"`
	Security  []map[string][]string
	Body      struct{ Content map[string]media } `json:"requestBody"`
	Responses map[string]struct {
		Headers map[string]any   `json:"headers"`
		Content map[string]media `json:"content"`
	} `json:"responses"`
}

// media is how a body of some media type is described.
type media struct {
	Schema struct {
		Ref string `json:"$ref"`
	} `json:"schema"`
}

func newChecker(tb testing.TB) *checker {
	tb.Helper()
	text, err := web.OpenAPI("1.2.3")
	if err != nil {
		tb.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]operation `json:"paths"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		tb.Fatal(err)
	}
	all, err := newSchemas("openapi.json", text)
	if err != nil {
		tb.Fatal(err)
	}
	return &checker{doc.Paths, all}
}

var inBraces = regexp.MustCompile(`\{[a-z]+\}`)

// find returns the operation of a request, and whether there is one.
func (c *checker) find(method, path string) (operation, bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	asked := strings.Split(path, "/")
	for template, methods := range c.paths {
		same := slices.EqualFunc(strings.Split(template, "/"), asked, func(want, got string) bool {
			return want == got || strings.HasPrefix(want, "{") && got != ""
		})
		if op, ok := methods[strings.ToLower(method)]; ok && same {
			return op, true
		}
	}
	return operation{}, false
}

// response fails the test unless the answer is one that the document promises.
// Of addresses and methods that it does not know, the answer must be a
// problem.
func (c *checker) response(tb testing.TB, req *http.Request, resp *http.Response) {
	tb.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	failed := tb.Failed()
	defer func() {
		if tb.Failed() && !failed {
			tb.Logf("%s %s: status %d, %v\n%s", req.Method, req.URL, resp.StatusCode, resp.Header, body)
		}
	}()
	if resp.Header.Get("X-Request-Id") == "" {
		tb.Error("the answer has no X-Request-Id")
	}
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect: // from an address with a slash too many
		return
	}
	if req.Method == http.MethodOptions {
		return
	}
	schema := "#/components/schemas/Problem"
	op, ok := c.find(req.Method, req.URL.Path)
	switch {
	case ok && resp.StatusCode != http.StatusMethodNotAllowed:
		schema = op.promises(tb, resp)
	case resp.StatusCode < 400:
		tb.Errorf("%s %s is not documented", req.Method, req.URL.Path)
	case resp.StatusCode == http.StatusNotFound && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"): // to somebody who reads
		return
	case resp.Header.Get("Content-Type") != "application/problem+json":
		tb.Errorf("a refusal of the type %q", resp.Header.Get("Content-Type"))
	}
	if schema == "" || req.Method == http.MethodHead {
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		tb.Errorf("the body is not JSON: %v", err)
		return
	}
	if err := c.schema(tb, schema).Validate(value); err != nil {
		tb.Errorf("the body is not as documented: %v", err)
	}
}

// promises fails the test unless the operation documents such an answer, and
// returns the schema of its body; "" when any will do, or there is none.
func (op operation) promises(tb testing.TB, resp *http.Response) (schema string) {
	tb.Helper()
	documented, ok := op.Responses[strconv.Itoa(resp.StatusCode)]
	if !ok {
		tb.Errorf("%s does not document status %d", op.ID, resp.StatusCode)
	}
	for name := range documented.Headers {
		if resp.Header.Get(name) == "" {
			tb.Errorf("%s documents the header %s of status %d, the answer has none", op.ID, name, resp.StatusCode)
		}
	}
	if len(documented.Content) == 0 {
		return ""
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		tb.Errorf("Content-Type %q: %v", resp.Header.Get("Content-Type"), err)
	}
	content, ok := documented.Content[kind]
	if _, open := documented.Content["*/*"]; !ok && !open {
		tb.Errorf("%s documents %v for status %d, not %q", op.ID, slices.Collect(maps.Keys(documented.Content)), resp.StatusCode, kind)
	}
	return content.Schema.Ref
}

func (c *checker) schema(tb testing.TB, ref string) *jsonschema.Schema {
	tb.Helper()
	schema, err := c.schemas.at(ref)
	if err != nil {
		tb.Fatal(err)
	}
	return schema
}

func TestDocumentIsOpenAPI31(t *testing.T) {
	t.Parallel()
	text, err := web.OpenAPI("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	published, err := os.Open("testdata/openapi-3.1.json")
	if err != nil {
		t.Fatal(err)
	}
	defer published.Close()
	keeps(t, text, jsonschema.Draft2020, "https://spec.openapis.org/oas/3.1/schema", published)
}

// Every schema of the document is one, and is used; every reference leads
// somewhere; every operation has its own id.
func TestDocumentHoldsTogether(t *testing.T) {
	t.Parallel()
	text, err := web.OpenAPI("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components map[string]map[string]any
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	check := newChecker(t)
	for name := range doc.Components["schemas"] {
		check.schema(t, "#/components/schemas/"+name)
	}
	used := map[string]bool{}
	for _, ref := range regexp.MustCompile(`"#/components/([A-Za-z]+)/([A-Za-z-]+)"`).FindAllStringSubmatch(string(text), -1) {
		used[ref[1]+"/"+ref[2]] = true
		if doc.Components[ref[1]][ref[2]] == nil {
			t.Errorf("%s leads nowhere", ref[0])
		}
	}
	for kind, all := range doc.Components {
		for name := range all {
			if kind != "securitySchemes" && !used[kind+"/"+name] {
				t.Errorf("nothing uses %s/%s", kind, name)
			}
		}
	}
	ids := map[string]string{}
	for path, methods := range check.paths {
		for method, op := range methods {
			if other := ids[op.ID]; other != "" || op.ID == "" {
				t.Errorf("operation id %q of %s %s is also that of %s", op.ID, method, path, other)
			}
			ids[op.ID] = method + " " + path
		}
	}
}

// The document and the router cover each other: an address answers to exactly
// the methods that are documented for it (HEAD comes with GET), and there are
// no more addresses than the document has.
func TestDocumentAndRouterCoverEachOther(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for path, methods := range r.check.paths {
		want := []string{http.MethodOptions}
		public := true
		for method, op := range methods {
			want = append(want, strings.ToUpper(method))
			if method == "get" && op.ID != "beginSignIn" && op.ID != "finishSignIn" {
				want = append(want, http.MethodHead)
			}
			public = len(op.Servers) == 0
		}
		slices.Sort(want)
		handler, other := r.Handler(), r.AdminHandler()
		if !public {
			handler, other = other, handler
		}
		asked := inBraces.ReplaceAllString(path, "x")
		resp := r.send(t, handler, newRequest(http.MethodOptions, asked, ""))
		if got := resp.Header().Get("Allow"); resp.Code != http.StatusNoContent || got != strings.Join(want, ", ") {
			t.Errorf("OPTIONS %s: status %d, Allow %q, want 204, %q", path, resp.Code, got, strings.Join(want, ", "))
		}
		elsewhere := httptest.NewRecorder()
		other.ServeHTTP(elsewhere, newRequest(http.MethodOptions, asked, ""))
		if elsewhere.Code != http.StatusNotFound {
			t.Errorf("OPTIONS %s on the other socket: status %d, want 404", path, elsewhere.Code)
		}
	}
	for _, rt := range web.Routes() {
		if _, ok := r.check.paths[rt.Path][strings.ToLower(rt.Method)]; !ok {
			t.Errorf("%s %s is routed and not documented", rt.Method, rt.Path)
		}
	}
}

func TestServedDocumentIsTheOneOfTheCommand(t *testing.T) {
	t.Parallel()
	want, err := web.OpenAPI("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	if got := r.do(t, "GET", "/openapi.json", "").want(200, ""); got.Body.String() != string(want) {
		t.Error("GET /openapi.json differs from OpenAPI(version)")
	}
}
