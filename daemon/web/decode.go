package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// MaxBody is the size limit of bodies, in bytes.
const MaxBody = 64 << 10

// Limits of numbers in requests.
const (
	MaxInteger uint64 = 1<<53 - 1 // that every JSON client can represent
	MaxSeason         = 9999
)

// schemas holds the schemas of request bodies by their names in the document, so a
// body is checked against what is documented.
type schemas map[string]*jsonschema.Schema

// Decode reads the body of a request into v. The body must be one JSON object
// that is valid by the named schema of the OpenAPI document. With a
// [BodyError], v holds the members that are valid.
func (s *Server) Decode(w http.ResponseWriter, r *http.Request, schema string, v any) error {
	text, err := readBody(w, r)
	if err != nil {
		return err
	}
	return s.schemas.decode(text, schema, v)
}

// DecodeOptional is Decode for a body that may be missing, which leaves v as
// it is.
func (s *Server) DecodeOptional(w http.ResponseWriter, r *http.Request, schema string, v any) error {
	text, err := readBody(w, r)
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return err
	}
	if err := checkContentType(r); err != nil {
		return err
	}
	return s.schemas.decode(text, schema, v)
}

// readBody reads all of a body that is to be JSON.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, ErrBodyTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotJSON, err) // it was cut off
	}
	return text, nil
}

func (c schemas) decode(text []byte, schema string, v any) error {
	object := jsontext.Value(text)
	if object.Kind() != '{' {
		return errNotJSON
	}
	// In its canonical form (RFC 8785), 170.0 is 170. Duplicate names,
	// trailing data and bad UTF-8 have none.
	if err := object.Canonicalize(); err != nil {
		return fmt.Errorf("%w: %w", errNotJSON, err)
	}
	var tree map[string]any
	if err := json.Unmarshal(object, &tree); err != nil {
		return fmt.Errorf("%w: %w", errNotJSON, err)
	}
	err := c[schema].Validate(tree)
	if err == nil {
		return fill(v, object)
	}
	wrong, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return fmt.Errorf("check a body against %s: %w", schema, err)
	}
	shape := &BodyError{violationsIn(wrong)}
	for _, violation := range shape.Violations {
		for member := range jsontext.Pointer(violation.Path).Tokens() {
			delete(tree, member)
			break
		}
	}
	rest, err := json.Marshal(tree)
	if err != nil {
		return fmt.Errorf("keep what is right of a body: %w", err)
	}
	if err := fill(v, rest); err != nil {
		return err
	}
	return shape
}

// fill reads an object that is of the right shape into v.
func fill(v any, object []byte) error {
	if err := json.Unmarshal(object, v); err != nil {
		return fmt.Errorf("read a body: %w", err)
	}
	return nil
}

// violationsIn lists the leaves of a validation error.
func violationsIn(e *jsonschema.ValidationError) []Violation {
	if len(e.Causes) > 0 {
		var all []Violation
		for _, cause := range e.Causes {
			all = append(all, violationsIn(cause)...)
		}
		return all
	}
	at := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		return forEach(at, k.Properties, "unknown_field", "there is no such field")
	case *kind.Required:
		return forEach(at, k.Missing, "required", "this field is needed")
	case *kind.Type:
		detail := fmt.Sprintf("must be %s, not %s", strings.Join(k.Want, " or "), k.Got)
		return []Violation{{pointer(at), "wrong_type", detail}}
	case *kind.Minimum:
		return []Violation{{pointer(at), "out_of_range", "must be at least " + k.Want.RatString()}}
	case *kind.Maximum:
		return []Violation{{pointer(at), "out_of_range", "must be at most " + k.Want.RatString()}}
	case *kind.MinLength:
		return []Violation{{pointer(at), "too_short", fmt.Sprintf("must have at least %s", characters(k.Want))}}
	case *kind.MaxLength:
		return []Violation{{pointer(at), "too_long", fmt.Sprintf("must have at most %s, has %d", characters(k.Want), k.Got)}}
	case *kind.Enum:
		return []Violation{{pointer(at), "not_offered", fmt.Sprintf("must be one of %v", k.Want)}}
	default:
		return []Violation{{pointer(at), "invalid", "is not as the API describes it"}}
	}
}

// characters counts them in words.
func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}

// forEach makes a violation for each of the named members of the object at a
// place.
func forEach(at, names []string, code, detail string) []Violation {
	all := make([]Violation, len(names))
	for i, name := range names {
		all[i] = Violation{pointer(append(slices.Clone(at), name)), code, detail}
	}
	return all
}

// pointer writes a place in a body as a JSON pointer.
func pointer(at []string) string {
	p := jsontext.Pointer("")
	for _, name := range at {
		p = p.AppendToken(name)
	}
	return string(p)
}

// QueryParam is a parameter of the address; "" when it is not there. One that is there
// twice is refused, as nobody knows which of both is meant.
func QueryParam(r *http.Request, name string) (string, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", QueryError(name, "invalid", "what stands behind the question mark cannot be read")
	}
	if len(q[name]) > 1 {
		return "", QueryError(name, "given_twice", "must be given once")
	}
	return q.Get(name), nil
}

// QueryError says what is wrong with a parameter of the address.
func QueryError(name, code, detail string) error {
	return &BodyError{[]Violation{{Path: "/" + name, Code: code, Detail: detail}}}
}

// checkContentType returns nil when a body may be read as JSON. A browser has
// to say that it is JSON, because a page of another site cannot say so
// without being asked first; curl -d, which says that it is a form, may.
func checkContentType(r *http.Request) error {
	values := r.Header.Values("Content-Type")
	browser := r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get("Sec-Fetch-Mode") != ""
	if len(values) == 0 && !browser {
		return nil
	}
	if len(values) != 1 {
		return ErrContentType
	}
	media, _, err := mime.ParseMediaType(values[0])
	if err == nil && (media == "application/json" || media == "application/x-www-form-urlencoded" && !browser) {
		return nil
	}
	return ErrContentType
}

// compileSchemas returns the schemas of all request bodies out of the document.
func compileSchemas(document []byte, routes []Route) (schemas, error) {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openapi.json", tree); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	all := schemas{}
	for _, rt := range routes {
		if rt.Operation.Request == "" {
			continue
		}
		schema, err := c.Compile("openapi.json#/components/schemas/" + rt.Operation.Request)
		if err != nil {
			return nil, fmt.Errorf("compile the schema %s: %w", rt.Operation.Request, err)
		}
		all[rt.Operation.Request] = schema
	}
	return all, nil
}
